/* Checking one body: parameters and sizes into scope, the block, the result. */
#include "types/analyse.h"
#include "types/internal.h"

enum { DEPTH_LIMIT = 200 };

void fn_checker_begin(FnChecker *f, Checker *c, Instance *inst, Module *module) {
    InstanceInfo *info = info_of(c, inst);
    *f = (FnChecker){.c = c, .inst = inst, .info = info, .module = module, .outer = c->current};
    f->generics = info ? &info->generics : NULL;
    f->errors = diags_errors(c->diags);
    for (uint32_t i = 0; i < inst->nparams; i++) vec_push(&f->locals, inst->params[i]);
    c->current = f;
    c->depth++;
}

void fn_checker_end(FnChecker *f) {
    f->c->current = f->outer;
    f->c->depth--;
    scope_leave(f, 0);
    Instance *inst = f->inst;
    inst->nlocals = f->locals.len;
    inst->locals = ARENA_ARRAY(f->c->arena, Local *, f->locals.len);
    for (uint32_t i = 0; i < f->locals.len; i++) inst->locals[i] = f->locals.at[i];
    vec_free(&f->scope);
    vec_free(&f->locals);
    vec_free(&f->returns);
}

/* Sizes of the parameters' types are names of the body, unless a parameter has the name. */
static void bind_sizes(FnChecker *f) {
    InstanceInfo *info = f->info;
    for (uint32_t i = 0; i < info->sizes.len; i++) {
        Sym name = (Sym)(uintptr_t)info->sizes.keys[i];
        Size size = info->sizes.values[i];
        if (!map_has(&info->bindable, size->id)) continue;
        Local *local = new_local(f, name, ty_i64(f), f->inst->span);
        local->size = size;
        local->is_size = true;
        bind_local(f, local);
    }
}

static void bind_params(FnChecker *f) {
    Instance *inst = f->inst;
    for (uint32_t i = 0; i < inst->nparams; i++) {
        Local *p = inst->params[i];
        if (!p->name) continue;
        for (uint32_t k = 0; k < i; k++)
            if (inst->params[k]->name == p->name && inst->kind == INSTANCE_FN)
                diag_report(f->c->diags, DIAG_NAME_TWICE, p->span, "two parameters are called `%s`",
                            p->name->text);
        Binding *b = bind_local(f, p);
        b->quiet = true;
        if (f->info->declared) b->fn_type = f->info->declared[i];
    }
}

static bool open_var(Size var, void *data) {
    Map *open = data;
    map_set(open, var->id, (void *)var);
    return false;
}

/* Sizes that stand only in the declared result take those of each value returned. */
static void result_sizes(FnChecker *f, Map *open) {
    type_mentions(f->result, open_var, open);
    Map known = {0};
    for (uint32_t i = 0; i < f->info->bindable.len; i++)
        map_set(&known, f->info->bindable.keys[i], f->info->bindable.values[i]);
    for (uint32_t i = 0; i < f->info->fn_only.len; i++)
        map_set(&known, f->info->fn_only.keys[i], f->info->fn_only.values[i]);
    Map rest = {0};
    for (uint32_t i = 0; i < open->len; i++)
        if (!map_has(&known, open->keys[i])) map_set(&rest, open->keys[i], open->values[i]);
    map_free(&known);
    map_free(open);
    *open = rest;
}

/* A result that holds functions: its type is that of what is returned. */
static Type merge_functions(FnChecker *f, Type written, Type actual) {
    if (!written->has_fns || is_poison(actual)) return written;
    if (written->kind == TYPE_FN) return actual;
    TypePart *parts = ARENA_ARRAY(f->c->arena, TypePart, written->nparts);
    for (uint32_t i = 0; i < written->nparts; i++) {
        parts[i] = written->parts[i];
        parts[i].type = merge_functions(f, parts[i].type, actual->parts[i].type);
    }
    return type_tuple(f->c->types, written->nparts, parts);
}

static bool fits_functions(FnChecker *f, Type written, Type actual, Span span) {
    if (written->kind == TYPE_FN)
        return actual->kind == TYPE_FNVAL &&
               fnvalue_fits(f, actual->fn, written, span, "the result", NULL);
    if (written->kind != TYPE_TUPLE) return same_shape(written, actual);
    if (actual->kind != TYPE_TUPLE || actual->nparts != written->nparts) return false;
    for (uint32_t i = 0; i < written->nparts; i++)
        if (!fits_functions(f, written->parts[i].type, actual->parts[i].type, span)) return false;
    return true;
}

static Tree *result_with_functions(FnChecker *f, Tree *value) {
    if (is_poison(value->type)) return value;
    uint32_t before = diags_errors(f->c->diags);
    if (!fits_functions(f, f->result, value->type, value->span)) {
        if (diags_errors(f->c->diags) == before)
            diag_report(f->c->diags, DIAG_RESULT_TYPE, value->span,
                        "the result is of type %s, not %s", tt(f, value->type), tt(f, f->result));
        return tree_poison(f, value->span);
    }
    Type type = merge_functions(f, f->result, value->type);
    if (f->returns.len && f->returns.at[0] != type)
        diag_report(f->c->diags, DIAG_FUNCTION_PLACE, value->span,
                    "the function that is returned must be the same at every `return`");
    vec_push(&f->returns, type);
    return value;
}

Tree *require_result(FnChecker *f, Tree *value) {
    if (f->result->has_fns) return result_with_functions(f, value);
    Map open = {0};
    result_sizes(f, &open);
    Require how = {.code = DIAG_RESULT_TYPE,
                   .size_code = DIAG_SIZE_RESULT,
                   .what = "the result",
                   .have = value->kind == T_LOCAL && value->local->name ? value->local->name->text
                                                                        : NULL,
                   .bind = &open};
    Tree *result = require(f, value, f->result, NULL, &how);
    map_free(&open);
    return result;
}

static void report_unexpected_value(FnChecker *f, const Tree *value) {
    if (!f->inst->decl) {
        diag_report(f->c->diags, DIAG_TEST_RESULT, value->span, "a test has no value");
        diag_help(f->c->diags, (Span){0}, "add `;` behind it, or `assert` before it");
        return;
    }
    diag_report(f->c->diags, DIAG_VALUE_UNEXPECTED, value->span,
                "`%s` has no result, but its last expression is a value", f->inst->name);
    diag_help(f->c->diags, (Span){0}, "add `;` behind it, or `-> %s` to the function",
              tt(f, value->type));
}

static bool always_returns(const Tree *tree) {
    if (!tree) return false;
    switch (tree->kind) {
    case T_RETURN:
    case T_POISON: return true;
    case T_BLOCK:
        for (uint32_t i = 0; i < tree->nstmts; i++)
            if (always_returns(tree->stmts[i])) return true;
        return always_returns(tree->body);
    case T_IF: return tree->other && always_returns(tree->body) && always_returns(tree->other);
    case T_EXPR: return always_returns(tree->args[0]);
    case T_WHILE: return tree->args[0]->kind == T_BOOL && tree->args[0]->value;
    default: return false;
    }
}

/* The body of a function with a declared result. */
void check_fn_body(FnChecker *f, AstBlock *block) {
    bool wants = f->result->kind != TYPE_UNIT;
    Tree *body = check_block(f, block, wants ? f->result : NULL, wants && block->value);
    if (!wants) {
        if (body->type->kind != TYPE_UNIT && !is_poison(body->type))
            report_unexpected_value(f, body->body ? body->body : body);
    } else if (body->type->kind == TYPE_UNIT) {
        if (!always_returns(body)) {
            diag_report(f->c->diags, DIAG_RESULT_MISSING, f->inst->span,
                        "`%s` has a result of type %s, but its body ends without a value",
                        f->inst->name, tt(f, f->result));
            if (block->stmts.len &&
                vec_last(&((VEC(AstNode *)){block->stmts.at, block->stmts.len, 0}))->kind ==
                    AST_ExprStmt)
                diag_help(f->c->diags, (Span){0}, "leave out the last `;`");
        }
    } else {
        body = require_result(f, body);
    }
    f->inst->body = body;
    if (f->result->has_fns && f->returns.len) f->inst->result = f->returns.at[0];
}

/* A constant or a default: an expression with the declared type, if there is one. */
static void check_value_body(FnChecker *f, AstNode *node) {
    Type declared = f->info->declared_result;
    f->result = declared ? declared : ty_poison(f);
    Tree *value = check_value(f, node, declared);
    if (declared && !is_poison(declared)) value = require_result(f, value);
    f->inst->body = value;
    f->inst->result = value->type;
    if (is_poison(value->type) && declared) f->inst->result = declared;
}

/* Parameter I of a lambda, in a variable of the type as written where that has sizes of the
   outside, which are checked. */
static Tree *lambda_param(FnChecker *f, uint32_t i) {
    Local *local = f->inst->params[i];
    Tree *value = make_local(f, local, local->span);
    Type declared = f->info->declared[i];
    if (!declared) return value;
    const char *name = local->name ? local->name->text : NULL;
    Require how = {.code = DIAG_ARGUMENT_TYPE,
                   .size_code = DIAG_SIZE_ARGUMENT,
                   .what = name ? arena_printf(f->c->arena, "argument `%s` of the lambda", name)
                                : "the argument of the lambda",
                   .have = name};
    return require(f, value, declared, NULL, &how);
}

static void check_lambda_body(FnChecker *f, AstLambda *lambda) {
    Instance *inst = f->inst;
    const LambdaInfo *info = f->info->lambda;
    f->no_return = true;
    f->result = ty_poison(f);
    uint32_t ncap = inst->ncaptures;
    bind_sizes(f); /* what is captured or a parameter hides them */
    for (uint32_t i = 0; i < info->nnames; i++) {
        Binding b = info->names[i];
        b.local = inst->params[i];
        b.captured = true;
        vec_push(&f->scope, b);
    }
    VEC(Tree *) stmts = {0};
    for (uint32_t i = 0; i < lambda->params.len; i++) {
        AstLambdaParam *p = AST_AS(LambdaParam, lambda->params.at[i]);
        Local *local = inst->params[ncap + i];
        bool declared = f->info->declared[ncap + i] != NULL;
        if (p->pattern->kind == AST_PatName && !declared) {
            bind_local(f, local)->quiet = true;
        } else if (p->pattern->kind != AST_PatSkip || declared) {
            Tree *arg = lambda_param(f, ncap + i);
            Tree *let = make_args(f, T_LET, ty_unit(f), p->node.span, 1, &arg);
            check_pattern(f, p->pattern, arg->type, false, &let->pattern);
            if (p->pattern->kind == AST_PatName) vec_last(&f->scope).quiet = true;
            vec_push(&stmts, let);
        }
    }
    Tree *body = check_expr(f, lambda->body, NULL);
    if (stmts.len) {
        Tree *block = make(f, T_BLOCK, body->type, body->span);
        block->nstmts = stmts.len;
        block->stmts = ARENA_ARRAY(f->c->arena, Tree *, stmts.len);
        for (uint32_t i = 0; i < stmts.len; i++) block->stmts[i] = stmts.at[i];
        block->body = body;
        body = block;
    }
    vec_free(&stmts);
    inst->body = body;
    inst->result = body->type;
}

void check_body(Checker *c, Instance *inst) {
    InstanceInfo *info = info_of(c, inst);
    if (inst->checked || info->in_progress || !info->body) return;
    if (c->depth > DEPTH_LIMIT) {
        if (!c->too_deep)
            diag_report(c->diags, DIAG_ENDLESS, inst->span, "`%s` would be specialised without end",
                        inst->name);
        c->too_deep = true;
        inst->checked = inst->failed = true;
        inst->result = type_poison(c->types);
        inst->body = tree_new(c->arena, T_POISON, inst->result, inst->span);
        return;
    }
    info->in_progress = true;
    uint32_t before = diags_errors(c->diags);
    FnChecker f;
    fn_checker_begin(&f, c, inst, info->module);
    f.whole = info->body;
    if (info->body->kind == AST_Lambda) {
        check_lambda_body(&f, (AstLambda *)info->body);
    } else {
        bind_sizes(&f);
        bind_params(&f);
        f.result = inst->result;
        if (inst->kind == INSTANCE_RULE) check_rule_body(&f, (AstBlock *)info->body);
        else if (inst->decl && inst->decl->nindices && inst->kind == INSTANCE_FN)
            check_kernel_body(&f, (AstBlock *)info->body);
        else if (info->body->kind == AST_Block && !inst->constant)
            check_fn_body(&f, (AstBlock *)info->body);
        else check_value_body(&f, info->body);
    }
    fn_checker_end(&f);
    info->in_progress = false;
    inst->checked = true;
    inst->failed = diags_errors(c->diags) > before;
    if (!inst->failed) check_activity(c, inst);
}
