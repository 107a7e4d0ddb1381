/* Names of the prelude that have several forms: functions told apart by their arguments, rows of
   math.def and builtins.def beside them. */
#include "types/internal.h"

#include <string.h>

static uint32_t least_args(const Signature *sig) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < sig->nparams; i++) n += sig->params[i].ast->value == NULL;
    return n;
}

/* How well an overload takes an argument of a type at place AT: 2 as it is, 1 element by element,
   0 no. */
static int overload_fit(FnChecker *f, const FnDecl *decl, uint32_t at, Type arg) {
    Signature *sig = signature_of(f->c, decl);
    if (at >= sig->nparams) return 0;
    for (int lifted = 0; lifted < 2; lifted++) {
        if (lifted && (!sig->scalar || !is_array(arg))) return 0;
        Type type = lifted ? arg->elem : arg;
        Map bound = {0};
        AstNode *written = sig->params[at].ast->type;
        bool fits = infer_type(f->c, decl->module, written, type, sig->generics, &bound);
        if (fits) {
            TypeScope s = {
                .c = f->c, .module = decl->module, .generics = &bound, .any = true, .hint = true};
            fits = same_shape(resolve_type(&s, written), type);
        }
        for (uint32_t i = 0; fits && i < sig->generics->len; i++) {
            AstGeneric *g = AST_AS(Generic, sig->generics->at[i]);
            Type t = map_getp(&bound, g->name.sym);
            fits = !t || class_has(g->cls.sym, t);
        }
        map_free(&bound);
        if (fits) return 2 - lifted;
    }
    return 0;
}

static AstNode *nth_arg(const AstCall *call, uint32_t n) {
    AstNode *node = call->args.at[n];
    return node->kind == AST_Arg ? ((AstArg *)node)->value : node;
}

/* The first place at which the written types of two overloads are not of one rank. */
static uint32_t telling_place(FnChecker *f, const FnDecl *a, const FnDecl *b) {
    Signature *x = signature_of(f->c, a), *y = signature_of(f->c, b);
    uint32_t n = x->nparams < y->nparams ? x->nparams : y->nparams;
    for (uint32_t i = 0; i < n; i++) {
        AstNode *s = x->params[i].ast->type, *t = y->params[i].ast->type;
        if (s->kind != t->kind || s->kind != AST_TypeArray) return i;
        if (((AstTypeArray *)s)->dims.len != ((AstTypeArray *)t)->dims.len) return i;
    }
    return 0;
}

/* The first of N overloads that at place AT takes an array of RANK (0: a scalar), else one that is
   called element by element, else the first. */
static const FnDecl *overload_of_rank(FnChecker *f, uint32_t n, const FnDecl *const *decls,
                                      uint32_t at, uint32_t rank) {
    const FnDecl *lifted = NULL;
    for (uint32_t i = 0; i < n; i++) {
        const Signature *sig = signature_of(f->c, decls[i]);
        const AstNode *type = at < sig->nparams ? sig->params[at].ast->type : NULL;
        if (!type) continue;
        bool array = type->kind == AST_TypeArray;
        if ((array ? ((const AstTypeArray *)type)->dims.len : 0) == rank && (array || !rank))
            return decls[i];
        if (!lifted && !array) lifted = decls[i];
    }
    return lifted ? lifted : decls[0];
}

uint32_t literal_rank(FnChecker *f, AstNode *node) {
    Type type = check_value(f, node, NULL)->type;
    return is_array(type) ? type->rank : 0;
}

/* A row of math.def, its arguments in order. */
static Tree *math_call(FnChecker *f, const char *name, int32_t row, AstCall *call, Type expected) {
    uint32_t n = math_row_arity(row);
    static const char *const letters[] = {"x", "y", "z"};
    Sym names[3];
    CallArg args[3];
    for (uint32_t i = 0; i < 3; i++) names[i] = intern(f->c->interner, letters[i]);
    if (!match_args(f, call, name, n, names, NULL, args)) return tree_poison(f, call->node.span);
    return call_math(f, row, n, args, expected, call->node.span);
}

static Tree *no_overload(FnChecker *f, const char *name, AstCall *call, Type first) {
    diag_report(f->c->diags, DIAG_OVERLOAD, call->node.span,
                "no form of `%s` takes %u argument%s%s%s", name, call->args.len,
                call->args.len == 1 ? "" : "s", first ? ", the first of type " : "",
                first ? tt(f, first) : "");
    if (first && is_integer(elem_of(first)))
        diag_help(f->c->diags, (Span){0}, "numbers do not convert by themselves: write `f64(…)`");
    return tree_poison(f, call->node.span);
}

/* dot and norm of structs, tuples and matrices: over all their floats.  NULL: an ordinary call. */
static Tree *call_on_parts(FnChecker *f, const FnDecl *decl, AstCall *call, Type expected) {
    bool dot = !strcmp(decl->name->text, "dot") && call->args.len == 2;
    bool norm = !strcmp(decl->name->text, "norm") && call->args.len == 1;
    if ((!dot && !norm) || call->args.at[0]->kind != AST_Arg) return NULL;
    AstNode *node = nth_arg(call, 0);
    if (is_flexible(f, node) && (!dot || literal_rank(f, node) < 2)) return NULL;
    Tree *value = check_arg(f, node, is_flexible(f, node) && expected ? elem_of(expected) : NULL);
    Type type = value->type;
    bool parts = elem_of(type)->kind == TYPE_STRUCT || elem_of(type)->kind == TYPE_TUPLE ||
                 (dot && is_array(type) && type->rank > 1);
    f->pre_node = node;
    f->pre_value = value;
    if (!parts) return NULL;
    if (dot) return call_builtin(f, BUILTIN_DOT_PARTS, call, expected, false);
    Tree *let = NULL;
    value = hoist(f, value, NULL, &let);
    f->pre_node = NULL;
    Tree *square = dot_parts(f, value, value, call->node.span);
    CallArg arg = {.value = square};
    Tree *root = is_poison(square->type)
                     ? square
                     : call_math(f, MATH_SQRT, 1, &arg, expected, call->node.span);
    return with_lets(f, let != NULL, &let, root);
}

Tree *call_named(FnChecker *f, const char *name, const FnDecl *decl, int32_t math, int32_t builtin,
                 AstCall *call, Type expected) {
    if (builtin >= 0) {
        Tree *tree = call_builtin(f, builtin, call, expected, decl || math >= 0);
        if (tree) return tree;
    }
    if (decl && decl->module == f->c->modules.prelude && call->args.len) {
        Tree *tree = call_on_parts(f, decl, call, expected);
        if (tree) return tree;
    }
    if (decl && is_reduction_name(f, decl)) {
        Tree *tree = call_reduction_fn(f, decl, call, expected);
        if (tree) return tree;
    }
    if (!decl)
        return math >= 0 ? math_call(f, name, math, call, expected)
                         : tree_poison(f, call->node.span);
    if (!decl->next && math < 0) return call_decl(f, decl, call, expected);
    VEC(const FnDecl *) fits = {0};
    for (const FnDecl *d = decl; d; d = d->next) {
        Signature *sig = signature_of(f->c, d);
        if (call->args.len <= sig->nparams && call->args.len >= least_args(sig)) vec_push(&fits, d);
    }
    bool with_math = math >= 0 && math_row_arity(math) == call->args.len;
    const FnDecl *chosen = fits.len ? fits.at[0] : NULL;
    uint32_t choices = fits.len + with_math;
    Type first = NULL;
    uint32_t at = fits.len > 1 && !with_math ? telling_place(f, fits.at[0], fits.at[1]) : 0;
    if (at >= call->args.len) at = 0;
    if (choices > 1 && call->args.len && !is_flexible(f, nth_arg(call, at))) {
        AstNode *node = nth_arg(call, at);
        Tree *value = check_arg(f, node, NULL);
        if (is_poison(value->type)) {
            vec_free(&fits);
            mark_names(f, (AstNode *)call);
            return value;
        }
        f->pre_node = node;
        f->pre_value = value;
        first = value->type;
        int best = with_math && is_floating(elem_of(first)) ? 1 : 0;
        if (best) chosen = NULL;
        else with_math = false;
        for (uint32_t i = 0; i < fits.len; i++) {
            int fit = overload_fit(f, fits.at[i], at, first);
            if (fit > best) {
                best = fit;
                chosen = fits.at[i];
                with_math = false;
            }
        }
        if (!best && is_scalar_like(first) && math >= 0 && math_row_arity(math) == call->args.len)
            chosen = NULL, with_math = true; /* its message says what is wrong */
        else if (!best) choices = 0;
    } else if (with_math) {
        chosen = NULL;
    } else if (fits.len > 1 && call->args.len) {
        uint32_t rank = literal_rank(f, nth_arg(call, at));
        chosen = overload_of_rank(f, fits.len, fits.at, at, rank);
    }
    vec_free(&fits);
    Tree *result;
    if (!choices || (!chosen && !with_math)) result = no_overload(f, name, call, first);
    else
        result = chosen ? call_decl(f, chosen, call, expected)
                        : math_call(f, name, math, call, expected);
    f->pre_node = NULL;
    return result;
}

/* ---- scalar functions of math.def ---- */

Tree *call_math(FnChecker *f, int32_t row, uint32_t n, CallArg *args, Type expected, Span span) {
    const char *name = fnvalue_of_row(f->c, row, -1)->name;
    Type hint = NULL;
    for (uint32_t i = 0; i < n; i++) {
        if (args[i].value || is_flexible(f, args[i].node)) continue;
        args[i].value = check_arg(f, args[i].node, NULL);
    }
    for (uint32_t i = 0; i < n; i++)
        if (args[i].value && !hint) hint = elem_of(args[i].value->type);
    if (!hint) hint = expected && is_floating(elem_of(expected)) ? elem_of(expected) : ty_f64(f);
    Tree *node = make(f, T_MATH, ty_poison(f), span);
    node->builtin = row;
    node->nargs = n;
    node->args = ARENA_ARRAY(f->c->arena, Tree *, n);
    Type elem = NULL;
    for (uint32_t i = 0; i < n; i++) {
        Tree *value = args[i].value ? args[i].value : check_arg(f, args[i].node, hint);
        Type t = elem_of(value->type);
        if (is_poison(t)) return tree_poison(f, span);
        if (is_scalar_of(t, SCALAR_F16) || is_scalar_of(t, SCALAR_BF16)) {
            value = make_cast(f, value, SCALAR_F32, value->span);
            t = elem_of(value->type);
        }
        if (!is_floating(t) || (elem && t != elem)) {
            diag_report(f->c->diags, DIAG_ARGUMENT_TYPE, value->span,
                        "argument %u of `%s` is of type %s, not %s", i + 1, name,
                        tt(f, value->type), elem ? tt(f, elem) : "f32 or f64");
            if (is_integer(t) || is_floating(t))
                diag_help(
                    f->c->diags, (Span){0}, "numbers do not convert by themselves: write `%s(%s)`",
                    elem ? tt(f, elem) : "f64", args[i].node ? ast_text(f, args[i].node) : "…");
            return tree_poison(f, span);
        }
        elem = t;
        node->args[i] = value;
    }
    Type shape;
    if (!lift_shape(f, node, 0, &shape, name)) return tree_poison(f, span);
    node->lifted = shape != NULL;
    node->type = lift_type(f, elem, shape);
    need_math_rule(f->c, row, elem->scalar, span);
    return node;
}
