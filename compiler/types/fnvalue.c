/* Function values: which function it is, what a lambda captures, and the instance for a call. */
#include "types/internal.h"

#include <string.h>

static const FnValue *intern_value(Checker *c, const void *key, FnValue value) {
    const FnValue *known = map_getp(&c->fn_values, key);
    if (known) return known;
    FnValue *fn = ARENA_NEW(c->arena, FnValue);
    *fn = value;
    map_setp(&c->fn_values, key, fn);
    return fn;
}

const FnValue *fnvalue_of_decl(Checker *c, const FnDecl *decl, int32_t math, int32_t builtin) {
    return intern_value(c, decl,
                        (FnValue){.kind = decl->ast ? FN_NAMED : FN_EXTERN,
                                  .decl = decl,
                                  .math = math,
                                  .builtin = builtin,
                                  .name = decl->name->text});
}

const FnValue *fnvalue_of_row(Checker *c, int32_t math, int32_t builtin) {
    static const char keys[MATH_ROWS + BUILTIN_ROWS]; /* by address only */
    const char *name = math >= 0 ? math_row_name(math) : builtin_row_name(builtin);
    return intern_value(c, &keys[math >= 0 ? math : MATH_ROWS + builtin],
                        (FnValue){.kind = FN_ROW, .math = math, .builtin = builtin, .name = name});
}

const FnValue *fnvalue_opaque(Checker *c, Type fn_type) {
    return intern_value(
        c, fn_type,
        (FnValue){
            .kind = FN_OPAQUE, .math = -1, .builtin = -1, .opaque = fn_type, .name = "function"});
}

const char *fnvalue_name(const FnValue *fn) {
    if (fn->kind == FN_LAMBDA) return "the lambda";
    return fn->name ? fn->name : "the function";
}

Tree *fnvalue_tree(FnChecker *f, const FnValue *fn, Span span) {
    Tree *tree = make(f, T_FN, type_fnval(f->c->types, fn), span);
    tree->nargs = fn->ncaptures;
    tree->args = ARENA_ARRAY(f->c->arena, Tree *, fn->ncaptures);
    for (uint32_t i = 0; i < fn->ncaptures; i++)
        tree->args[i] = make_local(f, fn->captures[i], span);
    return tree;
}

/* ---- lambdas ---- */

typedef struct Capture {
    FnChecker *f;
    VEC(Binding) names;
    Map seen;   /* Sym -> anything */
    Map sizes;  /* size variables that are known inside without a capture of their own */
    Map needed; /* size variables that occur */
} Capture;

static void capture_name(Capture *cap, Sym name) {
    if (map_hasp(&cap->seen, name)) return;
    Binding *b = scope_find(cap->f, name);
    if (!b) return;
    map_setp(&cap->seen, name, cap);
    Binding copy = *b;
    vec_push(&cap->names, copy);
}

static void capture_node(AstNode *node, void *data) {
    if (node->kind == AST_Name) capture_name(data, ((AstName *)node)->name.sym);
    ast_children(node, capture_node, data);
}

static bool need_var(Size var, void *data) {
    map_set(data, var->id, (void *)var);
    return false;
}

/* Size variables of what is captured that no captured dimension gives. */
static void capture_sizes(Capture *cap) {
    for (uint32_t i = 0; i < cap->names.len; i++) {
        Local *local = cap->names.at[i].local;
        Type type = local->type;
        type_mentions(type, need_var, &cap->needed);
        if (local->size) size_mentions(local->size, need_var, &cap->needed);
        if (local->size && local->size->kind == SIZE_VAR)
            map_set(&cap->sizes, local->size->id, local);
        for (uint32_t k = 0; is_array(type) && k < type->rank; k++)
            if (type->dims[k]->kind == SIZE_VAR) map_set(&cap->sizes, type->dims[k]->id, local);
    }
    for (uint32_t i = 0; i < cap->needed.len; i++) {
        Size var = cap->needed.values[i];
        if (map_has(&cap->sizes, var->id)) continue;
        Local *local = new_local(cap->f, var->name, ty_i64(cap->f), (Span){0});
        local->size = var;
        local->is_size = true;
        Binding b = {.local = local};
        vec_push(&cap->names, b);
    }
}

Tree *check_lambda(FnChecker *f, AstLambda *node) {
    Capture cap = {.f = f};
    capture_node(node->body, &cap);
    for (uint32_t i = 0; i < node->params.len; i++) {
        AstLambdaParam *p = AST_AS(LambdaParam, node->params.at[i]);
        if (p->type) capture_node(p->type, &cap);
    }
    capture_sizes(&cap);
    FnValue *fn = ARENA_NEW(f->c->arena, FnValue);
    *fn = (FnValue){.kind = FN_LAMBDA,
                    .lambda = node,
                    .lambda_in = f->inst,
                    .math = -1,
                    .builtin = -1,
                    .ncaptures = cap.names.len,
                    .name = "lambda"};
    fn->captures = ARENA_ARRAY(f->c->arena, Local *, cap.names.len);
    LambdaInfo *info = ARENA_NEW(f->c->arena, LambdaInfo);
    *info = (LambdaInfo){
        .value = fn, .module = f->module, .generics = f->generics, .nnames = cap.names.len};
    info->names = ARENA_ARRAY(f->c->arena, Binding, cap.names.len);
    for (uint32_t i = 0; i < cap.names.len; i++) {
        fn->captures[i] = cap.names.at[i].local;
        info->names[i] = cap.names.at[i];
        info->names[i].parallel = 0;
    }
    map_setp(&f->c->lambdas, fn, info);
    vec_free(&cap.names);
    map_free(&cap.seen);
    map_free(&cap.sizes);
    map_free(&cap.needed);
    return fnvalue_tree(f, fn, node->node.span);
}

typedef struct Canonical {
    Checker *c;
    Map numbers; /* id of a size -> canonical variable */
    bool fresh;  /* variables of their own instead of canonical ones */
} Canonical;

static Size canonical_dim(TypeTable *t, Size size, void *data) {
    Canonical *canon = data;
    if (size->kind == SIZE_CONST) return size;
    Size known = map_get(&canon->numbers, size->id);
    if (known) return known;
    if (canon->fresh || size->kind == SIZE_ANY) {
        known = size_var(t, size->kind == SIZE_VAR ? size->name : NULL);
    } else {
        while (canon->c->canonical.len <= canon->numbers.len)
            vec_push(&canon->c->canonical, size_var(t, NULL));
        known = canon->c->canonical.at[canon->numbers.len];
    }
    if (size->kind != SIZE_ANY) map_set(&canon->numbers, size->id, (void *)known);
    return known;
}

/* `_` in a type gives one canonical variable: which are equal is not known. */
static Type canonical_type(Canonical *canon, Type type) {
    return type_map_sizes(canon->c->types, canon->fresh ? type : type, canonical_dim, canon);
}

static Sym lambda_param_name(const AstLambda *lambda, uint32_t i) {
    AstNode *pattern = AST_AS(LambdaParam, lambda->params.at[i])->pattern;
    return pattern->kind == AST_PatName ? ((AstPatName *)pattern)->name.sym : NULL;
}

typedef struct Outside {
    Map vars; /* id of a size variable that is known outside the lambda -> it */
} Outside;

static bool is_outside(Size var, void *data) {
    return map_has(&((Outside *)data)->vars, var->id);
}

static bool add_outside(Size var, void *data) {
    map_set(&((Outside *)data)->vars, var->id, (void *)var);
    return false;
}

static Size forget_outside(TypeTable *t, Size size, void *data) {
    return size_mentions(size, is_outside, data) ? size_var(t, NULL) : size;
}

/* The types of a lambda's parameters: as written where written, else as the arguments'.  Where a
   written one has sizes of the outside, the parameter takes any, and the body begins with a check
   against DECLARED. */
static bool lambda_types(Checker *c, const LambdaInfo *info, Instance *inst, uint32_t nargs,
                         const Type *arg_types, Span span, Type *out, Type *declared) {
    Outside outside = {0};
    AstLambda *lambda = info->value->lambda;
    InstanceInfo *ii = info_of(c, inst);
    for (uint32_t i = 0; i < info->nnames; i++) {
        Size size = info->names[i].local->size;
        if (!size || !info->names[i].name) continue;
        map_setp(&ii->sizes, info->names[i].name, (void *)size);
        size_mentions(size, add_outside, &outside);
    }
    /* An i64 parameter is the size of its name, as a function's is. */
    for (uint32_t i = 0; i < nargs; i++) {
        Sym name = lambda_param_name(lambda, i);
        if (name && is_scalar_of(arg_types[i], SCALAR_I64))
            map_setp(&ii->sizes, name, (void *)size_var(c->types, name));
    }
    TypeScope s = {.c = c,
                   .module = info->module,
                   .generics = info->generics,
                   .sizes = &ii->sizes,
                   .bind = true};
    for (uint32_t i = 0; i < nargs; i++) {
        AstLambdaParam *p = AST_AS(LambdaParam, lambda->params.at[i]);
        out[i] = arg_types[i];
        if (!p->type) continue;
        Type written = resolve_type(&s, p->type);
        if (!same_shape(written, arg_types[i])) {
            diag_report(c->diags, DIAG_ARGUMENT_TYPE, span,
                        "parameter %u of the lambda is of type %s, not %s", i + 1,
                        type_text(c->types, written), type_text(c->types, arg_types[i]));
            diag_note(c->diags, p->node.span, "it is declared here");
            map_free(&outside.vars);
            return false;
        }
        if (is_poison(written)) continue;
        out[i] = type_map_sizes(c->types, written, forget_outside, &outside);
        if (out[i] != written) declared[i] = written;
    }
    map_free(&outside.vars);
    return true;
}

/* Parameters that are declared as scalars take arrays element by element. */
static const Type *lambda_elements(Checker *c, const LambdaInfo *info, uint32_t nargs,
                                   const Type *arg_types) {
    Type *types = ARENA_ARRAY(c->arena, Type, nargs);
    bool scalars = true;
    for (uint32_t i = 0; i < nargs; i++) {
        Type hint = lambda_param_hint(c, info->value, i);
        scalars = scalars && hint && is_scalar(hint);
        types[i] = elem_of(arg_types[i]);
    }
    return scalars ? types : arg_types;
}

Instance *instance_of_lambda(Checker *c, const FnValue *fn, uint32_t nargs, const Type *arg_types,
                             Span span) {
    const LambdaInfo *info = map_getp(&c->lambdas, fn);
    AstLambda *lambda = fn->lambda;
    if (lambda->params.len != nargs) {
        diag_report(c->diags, DIAG_ARGUMENT_COUNT, span, "the lambda takes %u argument%s, not %u",
                    lambda->params.len, lambda->params.len == 1 ? "" : "s", nargs);
        diag_note(c->diags, lambda->node.span, "it is written here");
        return NULL;
    }
    arg_types = lambda_elements(c, info, nargs, arg_types);
    VEC(const void *) key = {0};
    Canonical canon = {.c = c};
    vec_push(&key, (const void *)fn);
    for (uint32_t i = 0; i < nargs; i++)
        vec_push(&key, (const void *)canonical_type(&canon, arg_types[i]));
    map_free(&canon.numbers);
    InstanceInfo *known = instance_find(c, key.len, key.at);
    Instance *inst = known ? known->instance : NULL;
    if (!inst) {
        inst = instance_new(c, INSTANCE_LAMBDA, "lambda", lambda->node.span);
        known = info_of(c, inst);
        instance_add_key(c, known, key.len, key.at);
        known->module = info->module;
        known->lambda = info;
        known->asked_at = span;
        for (uint32_t i = 0; info->generics && i < info->generics->len; i++)
            map_set(&known->generics, info->generics->keys[i], info->generics->values[i]);
        inst->small = true;
        inst->ncaptures = fn->ncaptures;
        inst->nparams = fn->ncaptures + nargs;
        inst->params = ARENA_ARRAY(c->arena, Local *, inst->nparams);
        inst->act = ARENA_ARRAY(c->arena, uint8_t, inst->nparams);
        for (uint32_t i = 0; i < fn->ncaptures; i++) {
            Local *outer = fn->captures[i];
            instance_set_param(c, inst, i, outer->name, outer->type, false, ACT_CONST, outer->span);
            inst->params[i]->size = outer->size;
        }
        Type *types = ARENA_ARRAY(c->arena, Type, nargs);
        Canonical fresh = {.c = c, .fresh = true};
        for (uint32_t i = 0; i < nargs; i++) types[i] = canonical_type(&fresh, arg_types[i]);
        map_free(&fresh.numbers);
        known->declared = ARENA_ARRAY(c->arena, Type, inst->nparams);
        inst->failed = !lambda_types(c, info, inst, nargs, types, span, types,
                                     known->declared + fn->ncaptures);
        for (uint32_t i = 0; i < nargs; i++) {
            AstLambdaParam *p = AST_AS(LambdaParam, lambda->params.at[i]);
            Sym name = lambda_param_name(lambda, i);
            instance_set_param(c, inst, fn->ncaptures + i, name, types[i], false,
                               activity_default(types[i], false), p->node.span);
            if (!is_scalar_of(types[i], SCALAR_I64)) continue;
            Size size = name ? map_getp(&known->sizes, name) : NULL;
            inst->params[fn->ncaptures + i]->size = size ? size : size_var(c->types, name);
        }
        instance_collect_sizes(inst, known);
        known->body = (AstNode *)lambda;
        if (!inst->failed) check_body(c, inst);
        inst->result_act = inst->result->has_floats ? ACT_ACTIVE : ACT_CONST;
    }
    vec_free(&key);
    if (known->in_progress) {
        diag_report(c->diags, DIAG_ENDLESS, span, "the lambda would call itself without end");
        return NULL;
    }
    return inst->failed ? NULL : inst;
}

/* ---- opaque functions ---- */

static Instance *instance_of_opaque(Checker *c, const FnValue *fn) {
    const void *key[2] = {fn, fn->opaque};
    InstanceInfo *known = instance_find(c, 2, key);
    if (known) return known->instance;
    Instance *inst = instance_new(c, INSTANCE_EXTERN, "function", (Span){0});
    InstanceInfo *info = info_of(c, inst);
    instance_add_key(c, info, 2, key);
    Type type = fn->opaque;
    inst->nparams = type->nparts;
    inst->params = ARENA_ARRAY(c->arena, Local *, type->nparts);
    inst->act = ARENA_ARRAY(c->arena, uint8_t, type->nparts);
    for (uint32_t i = 0; i < type->nparts; i++) {
        const TypePart *p = &type->parts[i];
        instance_set_param(c, inst, i, NULL, p->type, p->mut,
                           p->act ? (uint8_t)(p->act - 1) : activity_default(p->type, p->mut),
                           (Span){0});
    }
    instance_collect_sizes(inst, info);
    inst->result = type->elem ? type->elem : type_unit(c->types);
    inst->result_act = type->result_act           ? (uint8_t)(type->result_act - 1)
                       : inst->result->has_floats ? ACT_ACTIVE
                                                  : ACT_CONST;
    inst->checked = true;
    return inst;
}

/* ---- rows as functions ---- */

Instance *instance_of_row(Checker *c, const FnValue *fn, uint32_t nargs, const Type *arg_types,
                          Span span) {
    VEC(const void *) key = {0};
    vec_push(&key, (const void *)fn);
    for (uint32_t i = 0; i < nargs; i++)
        vec_push(&key, (const void *)type_erase(c->types, arg_types[i]));
    InstanceInfo *known = instance_find(c, key.len, key.at);
    if (known) {
        vec_free(&key);
        return known->instance;
    }
    Instance *inst = instance_new(c, INSTANCE_FN, fn->name, span);
    InstanceInfo *info = info_of(c, inst);
    instance_add_key(c, info, key.len, key.at);
    vec_free(&key);
    info->module = c->main;
    info->asked_at = span;
    inst->small = true;
    inst->nparams = nargs;
    inst->params = ARENA_ARRAY(c->arena, Local *, nargs);
    inst->act = ARENA_ARRAY(c->arena, uint8_t, nargs);
    Canonical fresh = {.c = c, .fresh = true};
    for (uint32_t i = 0; i < nargs; i++) {
        Type type = canonical_type(&fresh, arg_types[i]);
        instance_set_param(c, inst, i, intern(c->interner, i ? i > 1 ? "c" : "b" : "a"), type,
                           false, activity_default(type, false), span);
        if (is_scalar_of(type, SCALAR_I64)) inst->params[i]->size = size_var(c->types, NULL);
    }
    map_free(&fresh.numbers);
    instance_collect_sizes(inst, info);
    uint32_t before = diags_errors(c->diags);
    FnChecker f;
    fn_checker_begin(&f, c, inst, c->main);
    AstCall call = {.node = {.kind = AST_Call, .span = span}};
    AstNode **args = ARENA_ARRAY(c->arena, AstNode *, nargs);
    for (uint32_t i = 0; i < nargs; i++) {
        bind_local(&f, inst->params[i])->quiet = true;
        AstName *name = ARENA_NEW(c->arena, AstName);
        name->node = (AstNode){.kind = AST_Name, .span = span};
        name->name = (AstIdent){inst->params[i]->name, span};
        AstArg *arg = ARENA_NEW(c->arena, AstArg);
        arg->node = (AstNode){.kind = AST_Arg, .span = span};
        arg->value = (AstNode *)name;
        args[i] = (AstNode *)arg;
    }
    call.args = (AstList){args, nargs};
    inst->body = call_named(&f, fn->name, fn->decl, fn->math, fn->builtin, &call, NULL);
    inst->result = inst->body->type;
    inst->result_act = inst->result->has_floats ? ACT_ACTIVE : ACT_CONST;
    fn_checker_end(&f);
    inst->checked = true;
    inst->failed = diags_errors(c->diags) > before || is_poison(inst->result);
    return inst->failed ? NULL : inst;
}

/* ---- instances of function values ---- */

static bool decl_fits(Checker *c, const FnDecl *decl, uint32_t nargs, const Type *arg_types) {
    Signature *sig = signature_of(c, decl);
    if (sig->nparams != nargs) return false;
    Map bound = {0};
    bool fits = true;
    for (uint32_t i = 0; fits && i < nargs; i++) {
        if (sig->params[i].is_fn) continue;
        fits = infer_type(c, decl->module, sig->params[i].ast->type, arg_types[i], sig->generics,
                          &bound);
        TypeScope s = {
            .c = c, .module = decl->module, .generics = &bound, .any = true, .hint = true};
        if (fits) fits = same_shape(resolve_type(&s, sig->params[i].ast->type), arg_types[i]);
    }
    for (uint32_t i = 0; fits && i < sig->generics->len; i++) {
        AstGeneric *g = AST_AS(Generic, sig->generics->at[i]);
        Type type = map_getp(&bound, g->name.sym);
        fits = !type || class_has(g->cls.sym, type);
    }
    map_free(&bound);
    return fits;
}

static Instance *instance_of_named(Checker *c, const FnValue *fn, uint32_t nargs,
                                   const Type *arg_types, Span span) {
    const FnDecl *decl = fn->decl;
    if (!arg_types) {
        Signature *sig = signature_of(c, decl);
        bool plain = !sig->generics->len && !decl->next && fn->math < 0;
        for (uint32_t i = 0; i < sig->nparams; i++) plain = plain && !sig->params[i].is_fn;
        if (plain) return instance_of_decl(c, decl, NULL, NULL, span);
        diag_report(c->diags, DIAG_CANNOT_INFER, span,
                    "which `%s` is meant is not known here: its types come from arguments",
                    decl->name->text);
        if (sig->generics->len)
            diag_help(c->diags, (Span){0}, "name the types: `%s<f64>`", decl->name->text);
        return NULL;
    }
    const FnDecl *found = NULL;
    for (const FnDecl *d = decl; d && !found; d = d->next)
        if (decl_fits(c, d, nargs, arg_types)) found = d;
    if (!found && (fn->math >= 0 || fn->builtin >= 0))
        return instance_of_row(c, fn, nargs, arg_types, span);
    if (!found && decl->next) return instance_of_row(c, fn, nargs, arg_types, span);
    if (!found) found = decl;
    Signature *sig = signature_of(c, found);
    if (sig->nparams != nargs) {
        diag_report(c->diags, DIAG_ARGUMENT_COUNT, span, "`%s` takes %u argument%s, not %u",
                    found->name->text, sig->nparams, sig->nparams == 1 ? "" : "s", nargs);
        return NULL;
    }
    Map bound = {0};
    Instance *inst = NULL;
    bool ok = true;
    for (uint32_t i = 0; i < nargs; i++)
        ok = ok &&
             infer_type(c, found->module, sig->params[i].ast->type,
                        sig->scalar ? elem_of(arg_types[i]) : arg_types[i], sig->generics, &bound);
    for (uint32_t i = 0; ok && i < sig->generics->len; i++) {
        AstGeneric *g = AST_AS(Generic, sig->generics->at[i]);
        Type type = map_getp(&bound, g->name.sym);
        ok = type && class_has(g->cls.sym, type);
    }
    if (ok) {
        inst = instance_of_decl(c, found, &bound, arg_types, span);
    } else {
        diag_report(c->diags, DIAG_ARGUMENT_TYPE, span, "`%s` does not take these types",
                    found->name->text);
        for (uint32_t i = 0; i < nargs; i++)
            diag_note(c->diags, (Span){0}, "argument %u is of type %s", i + 1,
                      type_text(c->types, arg_types[i]));
    }
    map_free(&bound);
    return inst;
}

Type lambda_param_hint(Checker *c, const FnValue *fn, uint32_t i) {
    const LambdaInfo *info = map_getp(&c->lambdas, fn);
    AstLambdaParam *p = AST_AS(LambdaParam, fn->lambda->params.at[i]);
    TypeScope s = {
        .c = c, .module = info->module, .generics = info->generics, .any = true, .hint = true};
    return p->type ? resolve_type(&s, p->type) : NULL;
}

Instance *instance_of_fnvalue(Checker *c, const FnValue *fn, uint32_t nargs, const Type *arg_types,
                              Span span) {
    if (fn->instance) return fn->instance;
    switch (fn->kind) {
    case FN_LAMBDA:
        if (!arg_types) {
            diag_report(c->diags, DIAG_LAMBDA_TYPE, span,
                        "the types of the lambda's parameters are not known here");
            return NULL;
        }
        return instance_of_lambda(c, fn, nargs, arg_types, span);
    case FN_NAMED:
    case FN_EXTERN: return instance_of_named(c, fn, nargs, arg_types, span);
    case FN_ROW:
        if (!arg_types) {
            diag_report(c->diags, DIAG_CANNOT_INFER, span,
                        "which `%s` is meant is not known here: its types come from arguments",
                        fn->name);
            return NULL;
        }
        return instance_of_row(c, fn, nargs, arg_types, span);
    case FN_OPAQUE: return instance_of_opaque(c, fn);
    case FN_DERIV: return instance_of_deriv(c, fn, nargs, arg_types, span);
    }
    return NULL;
}

/* ---- passing a function where a type is declared ---- */

bool fnvalue_fits(FnChecker *f, const FnValue *fn, Type fn_type, Span span, const char *what,
                  Type *result) {
    uint32_t n = fn_type->nparts;
    Type *types = ARENA_ARRAY(f->c->arena, Type, n);
    for (uint32_t i = 0; i < n; i++) types[i] = fn_type->parts[i].type;
    if (fn->kind == FN_OPAQUE) {
        if (result) *result = fn->opaque->elem;
        return true;
    }
    Instance *inst = instance_of_fnvalue(f->c, fn, n, types, span);
    if (!inst) return false;
    if (inst->nparams - inst->ncaptures != n) {
        diag_report(f->c->diags, DIAG_ARGUMENT_COUNT, span,
                    "%s takes %u argument%s where it is called, not %u", what, n, n == 1 ? "" : "s",
                    inst->nparams - inst->ncaptures);
        return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        const Local *p = inst->params[inst->ncaptures + i];
        if (same_shape(p->type, types[i]) && p->mut == fn_type->parts[i].mut) continue;
        diag_report(f->c->diags, DIAG_ARGUMENT_TYPE, span,
                    "%s must be %s, but parameter %u of %s is %s%s", what, tt(f, fn_type), i + 1,
                    fnvalue_name(fn), p->mut ? "mut " : "", tt(f, p->type));
        return false;
    }
    if (result) *result = inst->result;
    Type want = fn_type->elem ? fn_type->elem : ty_unit(f);
    if (want->has_fns || same_shape(want, inst->result)) return true;
    diag_report(f->c->diags, DIAG_ARGUMENT_TYPE, span, "%s must be %s, but %s returns %s", what,
                tt(f, fn_type), fnvalue_name(fn), tt(f, inst->result));
    return false;
}
