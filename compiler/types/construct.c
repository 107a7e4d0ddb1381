/* Conversions, structs, and functions with type arguments. */
#include "types/internal.h"

Tree *call_conversion(FnChecker *f, Scalar to, AstCall *call) {
    Span span = call->node.span;
    Sym none[1] = {NULL};
    CallArg arg;
    if (!match_args(f, call, scalar_name(to), 1, none, NULL, &arg)) return tree_poison(f, span);
    Type want = type_scalar(f->c->types, to);
    bool literal = is_flexible(f, arg.node) && !scalar_is_int(to) && to != SCALAR_BOOL;
    Tree *value = check_arg(f, arg.node, literal ? want : NULL);
    if (is_poison(value->type)) return value;
    Type from = elem_of(value->type);
    bool fits = is_scalar(from) && to != SCALAR_BOOL;
    if (fits && is_complex(from)) fits = scalar_is_complex(to);
    if (!fits) {
        diag_report(f->c->diags, DIAG_CONVERSION, span, "a value of type %s does not convert to %s",
                    tt(f, value->type), scalar_name(to));
        if (is_scalar(from) && is_complex(from))
            diag_help(f->c->diags, (Span){0}, "take its real part: `re(…)`");
        if (to == SCALAR_BOOL && is_numeric(from))
            diag_help(f->c->diags, (Span){0}, "write `%s != 0%s`", ast_text(f, arg.node),
                      is_integer(from) ? "" : ".0");
        return tree_poison(f, span);
    }
    Tree *cast = make_cast(f, value, to, span);
    return cast;
}

Tree *call_struct(FnChecker *f, const StructDecl *decl, AstCall *call, Type expected) {
    (void)expected;
    Span span = call->node.span;
    Type whole = struct_type(f->c, decl);
    if (is_poison(whole)) return tree_poison(f, span);
    uint32_t n = whole->nparts;
    Sym *names = ARENA_ARRAY(f->c->arena, Sym, n);
    CallArg *args = ARENA_ARRAY(f->c->arena, CallArg, n);
    Tree **values = ARENA_ARRAY(f->c->arena, Tree *, n);
    Type *wants = ARENA_ARRAY(f->c->arena, Type, n);
    Require *hows = ARENA_ARRAY(f->c->arena, Require, n);
    for (uint32_t i = 0; i < n; i++) names[i] = whole->parts[i].name;
    if (!match_args(f, call, decl->name->text, n, names, NULL, args)) return tree_poison(f, span);
    Map bind = {0};
    for (uint32_t i = 0; i < whole->nsizes; i++)
        map_set(&bind, whole->dims[i]->id, (void *)whole->dims[i]);
    Tree *node = make(f, T_TUPLE, ty_poison(f), span);
    for (uint32_t i = 0; i < n; i++) {
        wants[i] = whole->parts[i].type;
        values[i] = check_arg(f, args[i].node, wants[i]);
        hows[i] = (Require){.code = DIAG_ARGUMENT_TYPE,
                            .size_code = DIAG_SIZE_ARGUMENT,
                            .what = arena_printf(f->c->arena, "field `%s` of `%s`", names[i]->text,
                                                 decl->name->text),
                            .have = ast_text(f, args[i].node),
                            .bind = &bind};
    }
    node->nargs = n;
    node->args = values;
    if (require_all(f, n, values, wants, node, hows))
        node->type = type_subst(f->c->types, whole, &bind);
    map_free(&bind);
    return is_poison(node->type) ? tree_poison(f, span) : node;
}

/* ---- dot<f32> ---- */

/* `grad dot<f32>` is written behind the operators, but belongs to the function: a copy of the
   operators with the types at their operand. */
static AstNode *push_types(FnChecker *f, const AstTypeApply *node, AstNode *callee) {
    if (callee->kind != AST_Deriv) {
        AstTypeApply *apply = ARENA_NEW(f->c->arena, AstTypeApply);
        *apply = *node;
        apply->callee = callee;
        return (AstNode *)apply;
    }
    AstDeriv *copy = ARENA_NEW(f->c->arena, AstDeriv);
    *copy = *(AstDeriv *)callee;
    copy->operand = push_types(f, node, copy->operand);
    return (AstNode *)copy;
}

Tree *check_type_apply(FnChecker *f, AstTypeApply *node) {
    Span span = node->node.span;
    if (node->callee->kind == AST_Deriv)
        return check_expr(f, push_types(f, node, node->callee), NULL);
    Tree *base = check_expr(f, node->callee, NULL);
    if (is_poison(base->type)) return base;
    const FnDecl *decl = base->type->kind == TYPE_FNVAL ? base->type->fn->decl : NULL;
    Signature *sig = decl ? signature_of(f->c, decl) : NULL;
    if (!sig || sig->generics->len != node->types.len) {
        diag_report(f->c->diags, DIAG_TYPE_ARGUMENTS, span, "%s takes %u type argument%s, not %u",
                    decl ? arena_printf(f->c->arena, "`%s`", decl->name->text) : "this",
                    sig ? sig->generics->len : 0, sig && sig->generics->len == 1 ? "" : "s",
                    node->types.len);
        return tree_poison(f, span);
    }
    TypeScope s = {.f = f, .c = f->c, .module = f->module, .generics = f->generics};
    Map bound = {0};
    bool ok = true;
    for (uint32_t i = 0; i < node->types.len; i++) {
        AstGeneric *g = AST_AS(Generic, sig->generics->at[i]);
        Type type = resolve_type(&s, node->types.at[i]);
        map_setp(&bound, g->name.sym, (void *)type);
        if (is_poison(type)) ok = false;
        else if (!class_has(g->cls.sym, type)) {
            diag_report(f->c->diags, DIAG_CLASS, node->types.at[i]->span,
                        "`%s` is for `%s: %s`, and %s is not one", decl->name->text,
                        g->name.sym->text, g->cls.sym ? g->cls.sym->text : "any", tt(f, type));
            ok = false;
        }
    }
    for (uint32_t i = 0; ok && i < sig->nparams; i++)
        if (sig->params[i].is_fn) {
            diag_report(f->c->diags, DIAG_CANNOT_INFER, span,
                        "`%s` takes a function: which one is not known here", decl->name->text);
            ok = false;
        }
    Tree *tree = tree_poison(f, span);
    if (ok) {
        Instance *inst = instance_of_decl(f->c, decl, &bound, NULL, span);
        FnValue *fn = ARENA_NEW(f->c->arena, FnValue);
        *fn = (FnValue){.kind = FN_NAMED,
                        .decl = decl,
                        .math = -1,
                        .builtin = -1,
                        .instance = inst,
                        .name = inst->name};
        tree = fnvalue_tree(f, fn, span);
    }
    map_free(&bound);
    return tree;
}
