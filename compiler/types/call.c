/* Calls: what is called, which overload, type variables from arguments and context. */
#include "types/internal.h"

#include <string.h>

/* ---- type variables of one call ---- */

typedef struct Inference {
    FnChecker *f;
    Signature *sig;
    AstCall *call;
    CallArg *args;
    Map bound;
    Type *fn_args;
    bool ok;
} Inference;

static Type hint_type(Inference *in, AstNode *written) {
    Map sizes = {0};
    TypeScope s = {.c = in->f->c,
                   .module = in->sig->decl->module,
                   .generics = &in->bound,
                   .sizes = &sizes,
                   .bind = true,
                   .any = true,
                   .hint = true};
    Map all = {0}; /* variables that are not bound yet are poison */
    for (uint32_t i = 0; i < in->sig->generics->len; i++) {
        Sym name = AST_AS(Generic, in->sig->generics->at[i])->name.sym;
        map_setp(&all, name, map_getp(&in->bound, name));
    }
    s.generics = &all;
    Type type = resolve_type(&s, written);
    map_free(&all);
    map_free(&sizes);
    return type;
}

static void infer_arg(Inference *in, uint32_t i) {
    FnChecker *f = in->f;
    const ParamSig *p = &in->sig->params[i];
    Type actual = in->args[i].value->type;
    if (is_poison(actual)) {
        in->ok = false;
        return;
    }
    if (p->scalar && is_array(actual) && in->sig->scalar) actual = actual->elem;
    if (infer_type(f->c, in->sig->decl->module, p->ast->type, actual, in->sig->generics,
                   &in->bound))
        return;
    in->ok = false;
    diag_report(f->c->diags, DIAG_ARGUMENT_TYPE, in->args[i].value->span,
                "argument `%s` of `%s` is of type %s, not %s", p->name->text,
                in->sig->decl->name->text, tt(f, in->args[i].value->type),
                tt(f, hint_type(in, p->ast->type)));
}

static void check_one(Inference *in, uint32_t i) {
    const ParamSig *p = &in->sig->params[i];
    CallArg *arg = &in->args[i];
    if (p->ast->mut) {
        arg->place = check_place(in->f, arg->node, "passed as mut");
        arg->value =
            arg->place ? place_read(in->f, arg->place) : tree_poison(in->f, arg->node->span);
    } else {
        arg->value = check_arg(in->f, arg->node, hint_type(in, p->ast->type));
    }
    infer_arg(in, i);
}

static void infer_functions(Inference *in);

/* Arguments that know their types first, then the context, then literals, then functions. */
static void infer_all(Inference *in, Type expected) {
    Signature *sig = in->sig;
    for (uint32_t i = 0; i < sig->nparams; i++) {
        const CallArg *arg = &in->args[i];
        if (!arg->node || sig->params[i].is_fn) continue;
        if (sig->params[i].generic && !arg->is_default && is_flexible(in->f, arg->node)) continue;
        if (!arg->is_default) check_one(in, i);
    }
    if (expected && sig->ret && in->ok) {
        Type context = sig->scalar ? elem_of(expected) : expected;
        Map bound = {0};
        AstNode *written = sig->ret->type;
        if (written->kind == AST_TypeArray && is_scalar(context)) /* beside a scalar operand */
            written = ((AstTypeArray *)written)->elem;
        infer_type(in->f->c, sig->decl->module, written, context, sig->generics, &bound);
        /* arguments go before the context, which must fit the class */
        for (uint32_t i = 0; i < sig->generics->len; i++) {
            AstGeneric *g = AST_AS(Generic, sig->generics->at[i]);
            Type type = map_getp(&bound, g->name.sym);
            if (type && class_has(g->cls.sym, type) && !map_getp(&in->bound, g->name.sym))
                map_setp(&in->bound, g->name.sym, (void *)type);
        }
        map_free(&bound);
    }
    for (Natural n = NATURAL_COUNT; n-- > 0;) /* max(1, 2.0) is an f64 */
        for (uint32_t i = 0; i < sig->nparams; i++) {
            const CallArg *arg = &in->args[i];
            if (!arg->node || arg->value || sig->params[i].is_fn || arg->is_default) continue;
            if (n == NATURAL_INT || natural_of(in->f, arg->node) == n) check_one(in, i);
        }
    if (in->ok) infer_functions(in);
}

/* A function argument: its value, and what its result says about type variables. */
static void infer_function(Inference *in, uint32_t i) {
    FnChecker *f = in->f;
    const ParamSig *p = &in->sig->params[i];
    CallArg *arg = &in->args[i];
    Type want = hint_type(in, p->ast->type);
    if (!arg->value) arg->value = check_arg(f, arg->node, want);
    Type actual = arg->value->type;
    in->fn_args[i] = actual;
    if (is_poison(actual)) in->ok = false;
    if (!in->ok || want->kind != TYPE_FN) return;
    const char *what = arena_printf(f->c->arena, "argument `%s` of `%s`", p->name->text,
                                    in->sig->decl->name->text);
    if (actual->kind != TYPE_FNVAL) {
        diag_report(f->c->diags, DIAG_ARGUMENT_TYPE, arg->value->span, "%s is of type %s, not %s",
                    what, tt(f, actual), tt(f, want));
        in->ok = false;
        return;
    }
    Type result;
    if (!fnvalue_fits(f, actual->fn, want, arg->value->span, what, &result)) {
        in->ok = false;
        return;
    }
    const AstTypeFn *fn = (const AstTypeFn *)p->ast->type;
    if (fn->ret && p->generic)
        infer_type(f->c, in->sig->decl->module, ((AstRet *)fn->ret)->type, result,
                   in->sig->generics, &in->bound);
}

static void infer_functions(Inference *in) {
    for (uint32_t i = 0; i < in->sig->nparams && in->ok; i++)
        if (in->sig->params[i].is_fn && in->args[i].node) infer_function(in, i);
}

static bool check_classes(Inference *in) {
    FnChecker *f = in->f;
    for (uint32_t i = 0; i < in->sig->generics->len; i++) {
        AstGeneric *g = AST_AS(Generic, in->sig->generics->at[i]);
        Type type = map_getp(&in->bound, g->name.sym);
        const char *callee = in->sig->decl->name->text;
        if (!type && g->cls.sym && !strcmp(g->cls.sym->text, "float")) {
            type = ty_f64(f);
            map_setp(&in->bound, g->name.sym, (void *)type);
        }
        if (!type) {
            diag_report(f->c->diags, DIAG_CANNOT_INFER, in->call->node.span,
                        "the type `%s` of `%s` follows neither from the arguments nor from the "
                        "context",
                        g->name.sym->text, callee);
            diag_help(f->c->diags, (Span){0}, "declare the type of the result: `let x: … = …;`");
            return false;
        }
        if (class_has(g->cls.sym, type)) continue;
        diag_report(f->c->diags, DIAG_CLASS, in->call->node.span,
                    "`%s` is for `%s: %s`, and %s is not one", callee, g->name.sym->text,
                    g->cls.sym ? g->cls.sym->text : "any", tt(f, type));
        if (is_integer(elem_of(type)) && g->cls.sym && !strcmp(g->cls.sym->text, "float"))
            diag_help(f->c->diags, (Span){0}, "write `f64(…)` round the argument");
        return false;
    }
    return true;
}

/* ---- defaults ---- */

/* The default of parameter I: computed from the earlier arguments, which get names for that. */
static Tree *default_arg(FnChecker *f, Instance *inst, uint32_t i, CallArg *args, Span span,
                         Tree ***lets, uint32_t *nlets) {
    Instance *value = instance_of_default(f->c, inst, i, span);
    if (!value) return tree_poison(f, span);
    Tree *call = make(f, T_CALL, value->result, span);
    call->instance = value;
    call->nargs = value->nparams;
    call->args = ARENA_ARRAY(f->c->arena, Tree *, value->nparams);
    for (uint32_t k = 0; k < value->nparams; k++) {
        if (!args[k].value) args[k].value = check_arg(f, args[k].node, inst->params[k]->type);
        if (!args[k].place) {
            Tree *let = NULL;
            args[k].value = hoist(f, args[k].value, NULL, &let);
            if (let) {
                Tree **more = ARENA_ARRAY(f->c->arena, Tree *, *nlets + 1);
                for (uint32_t m = 0; m < *nlets; m++) more[m] = (*lets)[m];
                more[(*nlets)++] = let;
                *lets = more;
            }
        }
        call->args[k] = args[k].value;
    }
    return call;
}

Tree *call_decl(FnChecker *f, const FnDecl *decl, AstCall *call, Type expected) {
    Signature *sig = signature_of(f->c, decl);
    uint32_t n = sig->nparams;
    Span span = call->node.span;
    if (!check_launched(f, decl->nindices > 0, decl->name->text, span)) {
        mark_names(f, &call->node);
        return tree_poison(f, span);
    }
    Sym *names = ARENA_ARRAY(f->c->arena, Sym, n);
    bool *optional = ARENA_ARRAY(f->c->arena, bool, n);
    CallArg *args = ARENA_ARRAY(f->c->arena, CallArg, n);
    for (uint32_t i = 0; i < n; i++) {
        names[i] = sig->params[i].name;
        optional[i] = sig->params[i].ast->value != NULL;
    }
    if (!match_args(f, call, decl->name->text, n, names, optional, args)) {
        for (uint32_t i = 0; i < call->args.len; i++) /* names in them count as used */
            if (call->args.at[i]->kind == AST_Arg) mark_names(f, call->args.at[i]);
        return tree_poison(f, span);
    }
    Inference in = {.f = f, .sig = sig, .call = call, .args = args, .ok = true};
    in.fn_args = ARENA_ARRAY(f->c->arena, Type, n);
    Tree *result = NULL;
    bool simple = !sig->generics->len;
    for (uint32_t i = 0; i < n; i++) simple = simple && !sig->params[i].is_fn;
    if (!simple) infer_all(&in, expected);
    if (in.ok && check_classes(&in)) {
        Instance *inst = instance_of_decl(f->c, decl, &in.bound, in.fn_args, span);
        if (!inst) {
            map_free(&in.bound);
            return tree_poison(f, span);
        }
        Tree **lets = NULL;
        uint32_t nlets = 0;
        for (uint32_t i = 0; i < n; i++)
            if (!args[i].node && !args[i].value)
                args[i].value = default_arg(f, inst, i, args, span, &lets, &nlets);
        result = call_instance(f, inst, args, NULL, expected, decl->name->text, span);
        if (nlets) result = with_lets(f, nlets, lets, result);
    }
    map_free(&in.bound);
    return result ? result : tree_poison(f, span);
}

/* ---- function values ---- */

static bool open_var(Size var, void *data) {
    map_set(data, var->id, (void *)var);
    return false;
}

/* The arguments of a call against a declared function type; sizes that are the type's own are
   bound by the arguments. */
static Tree *call_declared(FnChecker *f, Tree *fn_value, Type fn_type, AstCall *call) {
    Span span = call->node.span;
    const FnValue *fn = fn_value->type->fn;
    uint32_t n = fn_type->nparts;
    Sym *names = ARENA_ARRAY(f->c->arena, Sym, n);
    CallArg *args = ARENA_ARRAY(f->c->arena, CallArg, n);
    const char *callee = ast_text(f, call->callee);
    if (!match_args(f, call, callee, n, names, NULL, args)) return tree_poison(f, span);
    Type *types = ARENA_ARRAY(f->c->arena, Type, n);
    for (uint32_t i = 0; i < n; i++) types[i] = fn_type->parts[i].type;
    Instance *inst = instance_of_fnvalue(f->c, fn, n, types, span);
    if (!inst) return tree_poison(f, span);
    Map bind = {0};
    for (uint32_t i = 0; f->info && i < f->info->fn_only.len; i++)
        map_set(&bind, f->info->fn_only.keys[i], f->info->fn_only.values[i]);
    Tree *holder = make(f, T_BLOCK, ty_unit(f), span);
    bool ok = true, lifted = false;
    Require *hows = ARENA_ARRAY(f->c->arena, Require, n);
    Tree **values = ARENA_ARRAY(f->c->arena, Tree *, n);
    for (uint32_t i = 0; i < n; i++) {
        if (fn_type->parts[i].mut) {
            args[i].place = check_place(f, args[i].node, "passed as mut");
            args[i].value = args[i].place ? place_read(f, args[i].place) : tree_poison(f, span);
        } else {
            args[i].value = check_arg(f, args[i].node, types[i]);
        }
        values[i] = args[i].value;
        if (is_scalar(types[i]) && is_array(values[i]->type)) lifted = true;
        hows[i] = (Require){.code = DIAG_ARGUMENT_TYPE,
                            .size_code = DIAG_SIZE_ARGUMENT,
                            .what = arena_printf(f->c->arena, "argument %u of `%s`", i + 1, callee),
                            .have = ast_text(f, args[i].node),
                            .bind = &bind};
    }
    if (!lifted) ok = require_all(f, n, values, types, holder, hows);
    Tree *result =
        ok ? call_instance(f, inst, args, fn_value, NULL, callee, span) : tree_poison(f, span);
    Type want = fn_type->elem ? fn_type->elem : ty_unit(f);
    if (!is_poison(result->type) && !lifted && !want->has_fns && want->kind != TYPE_UNIT) {
        Map open = {0};
        type_mentions(want, open_var, &open);
        for (uint32_t i = 0; i < open.len; i++)
            if (!map_has(&bind, open.keys[i]) && f->info &&
                !map_has(&f->info->bindable, open.keys[i]))
                map_set(&bind, open.keys[i], open.values[i]);
        map_free(&open);
        Require how = {.code = DIAG_ARGUMENT_TYPE,
                       .size_code = DIAG_SIZE_ARGUMENT,
                       .what = arena_printf(f->c->arena, "the result of `%s`", callee),
                       .have = callee,
                       .bind = &bind};
        result = require(f, result, want, NULL, &how);
    }
    if (holder->nchecks && !is_poison(result->type)) {
        Tree *inner = result->kind == T_CALL ? result : NULL;
        for (uint32_t i = 0; inner && i < holder->nchecks; i++)
            add_check(f, inner, holder->checks[i]);
    }
    map_free(&bind);
    return result;
}

/* A function value without a declared type: a lambda or another name of a function. */
static Tree *call_bare(FnChecker *f, Tree *fn_value, AstCall *call, Type expected) {
    const FnValue *fn = fn_value->type->fn;
    Span span = call->node.span;
    if (fn->instance || fn->kind == FN_LAMBDA || fn->kind == FN_OPAQUE) {
        uint32_t n = fn->kind == FN_LAMBDA   ? fn->lambda->params.len
                     : fn->kind == FN_OPAQUE ? fn->opaque->nparts
                                             : fn->instance->nparams;
        Sym *names = ARENA_ARRAY(f->c->arena, Sym, n);
        CallArg *args = ARENA_ARRAY(f->c->arena, CallArg, n);
        for (uint32_t i = 0; fn->instance && i < n; i++) names[i] = fn->instance->params[i]->name;
        if (!match_args(f, call, fnvalue_name(fn), n, names, NULL, args))
            return tree_poison(f, span);
        if (fn->instance)
            return call_instance(f, fn->instance, args, fn_value, expected, fnvalue_name(fn), span);
        Type *types = ARENA_ARRAY(f->c->arena, Type, n);
        bool arrays = false;
        for (uint32_t i = 0; i < n; i++) {
            Type hint = NULL;
            if (fn->kind == FN_LAMBDA) hint = lambda_param_hint(f->c, fn, i);
            args[i].value = check_arg(f, args[i].node, hint);
            types[i] = args[i].value->type;
            if (is_poison(types[i])) return tree_poison(f, span);
            /* an annotation that is a scalar: element by element */
            if (hint && is_scalar(hint) && is_array(types[i])) {
                types[i] = types[i]->elem;
                arrays = true;
            }
        }
        (void)arrays;
        Instance *inst = instance_of_fnvalue(f->c, fn, n, types, span);
        return inst ? call_instance(f, inst, args, fn_value, expected, fnvalue_name(fn), span)
                    : tree_poison(f, span);
    }
    if (fn->kind == FN_ROW)
        return call_named(f, fn->name, NULL, fn->math, fn->builtin, call, expected);
    return call_named(f, fn->name, fn->decl, fn->math, fn->builtin, call, expected);
}

Tree *call_value(FnChecker *f, Tree *fn_value, Type fn_type, AstCall *call, Type expected) {
    Type type = fn_value->type;
    if (is_poison(type)) {
        mark_names(f, (AstNode *)call);
        return fn_value;
    }
    if (type->kind != TYPE_FNVAL) {
        diag_report(f->c->diags, DIAG_NOT_CALLABLE, call->callee->span,
                    "a value of type %s cannot be called", tt(f, type));
        if (is_array(type))
            diag_help(f->c->diags, (Span){0}, "elements are taken by brackets: `%s[…]`",
                      ast_text(f, call->callee));
        return tree_poison(f, call->node.span);
    }
    if (type->fn->kind == FN_DERIV && !fn_type)
        return check_deriv_call(f, type->fn, call, fn_value, expected);
    if (fn_type && fn_type->kind == TYPE_FN) return call_declared(f, fn_value, fn_type, call);
    return call_bare(f, fn_value, call, expected);
}

/* ---- the dispatch ---- */

static Tree *call_item(FnChecker *f, const NameLookup *found, AstCall *call, Sym name,
                       Type expected) {
    switch (found->kind) {
    case ITEM_FN:
        if (!found->prelude)
            return call_named(f, name->text, found->item->fn, -1, -1, call, expected);
        return call_named(f, name->text, found->item->fn, found->math, found->builtin, call,
                          expected);
    case ITEM_BUILTIN:
    case ITEM_MATH:
        return call_named(f, name->text, NULL, found->math, found->builtin, call, expected);
    case ITEM_STRUCT: return call_struct(f, found->item->strct, call, expected);
    case ITEM_CONST:
    case ITEM_MODULE:
    case ITEM_AMBIGUOUS:
    case ITEM_POISON:
    case ITEM_NONE: break;
    }
    return NULL;
}

static int scalar_by_name(Sym name) {
    for (int i = 0; i < SCALAR_COUNT; i++)
        if (!strcmp(name->text, scalar_name((Scalar)i))) return i;
    return -1;
}

static Tree *call_name(FnChecker *f, AstName *callee, AstCall *call, Type expected) {
    Sym name = callee->name.sym;
    Binding *b = scope_find(f, name);
    if (b) {
        Type fn_type = b->fn_type;
        return call_value(f, check_name(f, callee, NULL), fn_type, call, expected);
    }
    Type generic = f->generics ? map_getp(f->generics, name) : NULL;
    if (generic) {
        if (is_scalar(elem_of(generic))) return call_conversion(f, elem_of(generic)->scalar, call);
        if (is_poison(generic)) return tree_poison(f, call->node.span);
    }
    NameLookup found = modules_lookup(&f->c->modules, f->module, name);
    Tree *tree = call_item(f, &found, call, name, expected);
    if (tree) return tree;
    tree = found.kind == ITEM_NONE ? check_kernel_call(f, name, call) : NULL;
    if (tree) return tree;
    int scalar = scalar_by_name(name);
    if (found.kind == ITEM_NONE && scalar >= 0) return call_conversion(f, (Scalar)scalar, call);
    Tree *value = check_name(f, callee, NULL);
    if (is_poison(value->type)) mark_names(f, (AstNode *)call);
    return call_value(f, value, NULL, call, expected);
}

static void mark_name(AstNode *node, void *data) {
    if (node->kind == AST_Name) scope_find(data, ((AstName *)node)->name.sym);
    ast_children(node, mark_name, data);
}

void mark_names(FnChecker *f, AstNode *node) {
    ast_children(node, mark_name, f);
}

Tree *check_call(FnChecker *f, AstCall *node, Type expected) {
    AstNode *callee = node->callee;
    if (callee->kind == AST_Name) return call_name(f, (AstName *)callee, node, expected);
    if (callee->kind == AST_Deriv) return check_deriv_apply(f, (AstDeriv *)callee, node, expected);
    if (callee->kind == AST_Field) {
        AstField *field = (AstField *)callee;
        Module *m = module_of(f, field->base);
        if (m) {
            NameLookup found = module_lookup(f, m, field->name);
            Tree *tree = call_item(f, &found, node, field->name.sym, expected);
            if (tree) return tree;
            if (found.kind == ITEM_NONE) {
                mark_names(f, (AstNode *)node);
                return tree_poison(f, node->node.span);
            }
        }
    }
    return call_value(f, check_value(f, callee, NULL), NULL, node, expected);
}
