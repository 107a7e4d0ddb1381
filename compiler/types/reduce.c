/* Reductions: with a head, or of a whole array of any rank. */
#include "types/internal.h"

#include <string.h>

typedef struct Reduction {
    FnChecker *f;
    TreeReduce op;
    const char *name;
    const FnDecl *floats; /* min, max, prod of floats: the prelude's function */
    Span span;
} Reduction;

static const TreeReduce OPS[] = {
    [BUILTIN_SUM - BUILTIN_SUM] = REDUCE_SUM,      [BUILTIN_PROD - BUILTIN_SUM] = REDUCE_PROD,
    [BUILTIN_MIN - BUILTIN_SUM] = REDUCE_MIN,      [BUILTIN_MAX - BUILTIN_SUM] = REDUCE_MAX,
    [BUILTIN_ALL - BUILTIN_SUM] = REDUCE_ALL,      [BUILTIN_ANY - BUILTIN_SUM] = REDUCE_ANY,
    [BUILTIN_COUNT - BUILTIN_SUM] = REDUCE_COUNT,  [BUILTIN_ARGMIN - BUILTIN_SUM] = REDUCE_ARGMIN,
    [BUILTIN_ARGMAX - BUILTIN_SUM] = REDUCE_ARGMAX};

static bool wants_bool(TreeReduce op) {
    return op == REDUCE_ALL || op == REDUCE_ANY || op == REDUCE_COUNT;
}

static bool is_arg(TreeReduce op) {
    return op == REDUCE_ARGMIN || op == REDUCE_ARGMAX;
}

static bool wants_fn(const Reduction *r, Type elem) {
    return r->floats && is_floating(elem) &&
           (r->op == REDUCE_PROD || r->op == REDUCE_MIN || r->op == REDUCE_MAX);
}

static bool takes(const Reduction *r, Type elem) {
    if (wants_bool(r->op)) return is_bool(elem);
    if (r->op == REDUCE_SUM || r->op == REDUCE_PROD) return is_numeric(elem);
    return is_integer(elem) || is_floating(elem);
}

static Tree *refuse(const Reduction *r, Type type, Span span) {
    FnChecker *f = r->f;
    diag_report(f->c->diags, DIAG_ARGUMENT_TYPE, span, "`%s` does not take values of type %s",
                r->name, tt(f, type));
    if (is_bool(elem_of(type)) && r->op == REDUCE_SUM)
        diag_help(f->c->diags, (Span){0}, "the number of those that are true is `count(…)`");
    return tree_poison(f, span);
}

/* A function of the prelude on an array of rank 1. */
static Tree *call_on_array(FnChecker *f, const FnDecl *decl, Tree *array, AstCall *rest,
                           Span span) {
    AstNode *dummy = ARENA_NEW(f->c->arena, AstNode);
    *dummy = (AstNode){.kind = AST_Tuple, .span = array->span};
    AstArg *arg = ARENA_NEW(f->c->arena, AstArg);
    *arg = (AstArg){.node = {.kind = AST_Arg, .span = array->span}, .value = dummy};
    uint32_t n = 1;
    uint32_t nrest = rest ? rest->args.len : 0;
    AstNode **args = ARENA_ARRAY(f->c->arena, AstNode *, nrest + 1);
    args[0] = (AstNode *)arg;
    for (uint32_t i = 1; i < nrest; i++) args[n++] = rest->args.at[i];
    AstCall *call = ARENA_NEW(f->c->arena, AstCall);
    *call = (AstCall){.node = {.kind = AST_Call, .span = span}, .args = {args, n}};
    dummy->kind = AST_Index; /* not made of literals; never looked into: its value is known */
    AstIndex *index = ARENA_NEW(f->c->arena, AstIndex);
    index->node = *dummy;
    arg->value = (AstNode *)index;
    f->pre_node = (AstNode *)index;
    f->pre_value = array;
    Tree *tree = call_decl(f, decl, call, NULL);
    f->pre_node = NULL;
    return tree;
}

Tree *flatten(FnChecker *f, Tree *array) {
    Type type = array->type;
    if (type->rank == 1) return array;
    Size n = type->dims[0];
    for (uint32_t i = 1; i < type->rank; i++) n = size_times(f->c->types, n, type->dims[i]);
    Tree *tree =
        make_args(f, T_BUILTIN, type_array(f->c->types, type->elem, 1, &n), array->span, 1, &array);
    tree->builtin = BUILTIN_FLATTEN;
    return tree;
}

static Tree *reduce_node(const Reduction *r, uint32_t nheads, TreeHead *heads, Tree *where,
                         Tree *body, Tree *checks) {
    FnChecker *f = r->f;
    Tree *tree = checks ? checks : make(f, T_REDUCE, ty_poison(f), r->span);
    tree->kind = T_REDUCE;
    tree->reduce = r->op;
    tree->nheads = nheads;
    tree->heads = heads;
    tree->where = where;
    tree->body = body;
    tree->type = body->type;
    if (r->op == REDUCE_COUNT) {
        Type i64 = ty_i64(f), b = body->type;
        tree->type = is_array(b) ? type_array(f->c->types, i64, b->rank, b->dims) : i64;
    } else if (is_arg(r->op)) {
        TypePart *parts = ARENA_ARRAY(f->c->arena, TypePart, nheads);
        for (uint32_t i = 0; i < nheads; i++) parts[i].type = ty_i64(f);
        tree->type = nheads == 1 ? ty_i64(f) : type_tuple(f->c->types, nheads, parts);
    }
    return tree;
}

/* ARRAY[i...] over made-up indices, one for each of the first N dimensions. */
static Tree *element_at(FnChecker *f, Tree *array, uint32_t n, TreeHead *heads) {
    Type type = array->type;
    Tree *index =
        make_args(f, T_INDEX, type_drop_dims(f->c->types, type, n), array->span, 1, &array);
    index->nsubs = n;
    index->subs = ARENA_ARRAY(f->c->arena, TreeSub, n);
    for (uint32_t i = 0; i < n; i++) {
        Local *local = new_local(f, NULL, ty_i64(f), array->span);
        heads[i] = (TreeHead){.hi = make_size(f, type->dims[i], array->span),
                              .count = type->dims[i],
                              .span = array->span};
        heads[i].pattern.local = local;
        index->subs[i] = (TreeSub){
            .kind = SUB_INDEX, .lo = make_local(f, local, array->span), .span = array->span};
    }
    return index;
}

/* A whole array. */
static Tree *reduce_array(const Reduction *r, Tree *array) {
    FnChecker *f = r->f;
    Type type = array->type;
    if (is_poison(type)) return array;
    if (!is_array(type)) {
        diag_report(f->c->diags, DIAG_ARGUMENT_TYPE, array->span,
                    "`%s` takes an array, not a value of type %s", r->name, tt(f, type));
        return tree_poison(f, r->span);
    }
    if (!takes(r, type->elem)) return refuse(r, type, array->span);
    if (wants_fn(r, type->elem))
        return call_on_array(f, r->floats, flatten(f, array), NULL, r->span);
    if (is_arg(r->op) && type->rank > 1) {
        Tree *let = NULL;
        array = hoist(f, array, NULL, &let);
        TreeHead *heads = ARENA_ARRAY(f->c->arena, TreeHead, type->rank);
        Tree *body = element_at(f, array, type->rank, heads);
        Tree *tree = reduce_node(r, type->rank, heads, NULL, body, NULL);
        return with_lets(f, let != NULL, &let, tree);
    }
    TreeHead *head = ARENA_NEW(f->c->arena, TreeHead);
    *head = (TreeHead){.array = flatten(f, array), .span = array->span};
    head->count = head->array->type->dims[0];
    Local *local = new_local(f, NULL, type->elem, array->span);
    head->pattern.local = local;
    return reduce_node(r, 1, head, NULL, make_local(f, local, array->span), NULL);
}

/* COMP is an array over the heads' indices (N of them), then the body's dimensions: each element of
   the body is reduced, by a function of rank 1 or, without one, by REDUCTION. */
static Tree *map_columns(FnChecker *f, const FnDecl *decl, const Reduction *reduction, Tree *comp,
                         uint32_t n, Span span) {
    Type type = comp->type;
    uint32_t inner = type->rank - n;
    if (!inner) return call_on_array(f, decl, flatten(f, comp), NULL, span);
    Tree *let = NULL;
    Tree *array = hoist(f, comp, NULL, &let);
    TreeHead *heads = ARENA_ARRAY(f->c->arena, TreeHead, inner);
    Tree *column =
        make_args(f, T_INDEX, type_array(f->c->types, type->elem, n, type->dims), span, 1, &array);
    column->nsubs = type->rank;
    column->subs = ARENA_ARRAY(f->c->arena, TreeSub, type->rank);
    for (uint32_t i = 0; i < n; i++) column->subs[i] = (TreeSub){.kind = SUB_RANGE, .span = span};
    for (uint32_t i = 0; i < inner; i++) {
        Local *local = new_local(f, NULL, ty_i64(f), span);
        heads[i] = (TreeHead){
            .hi = make_size(f, type->dims[n + i], span), .count = type->dims[n + i], .span = span};
        heads[i].pattern.local = local;
        column->subs[n + i] =
            (TreeSub){.kind = SUB_INDEX, .lo = make_local(f, local, span), .span = span};
    }
    Tree *body = decl ? call_on_array(f, decl, flatten(f, column), NULL, span)
                      : reduce_array(reduction, column);
    if (is_poison(body->type)) return body;
    Tree *tree = make(f, T_COMP, ty_poison(f), span);
    tree->nheads = inner;
    tree->heads = heads;
    tree->body = body;
    tree->type = type_array(f->c->types, body->type, inner, type->dims + n);
    return with_lets(f, let != NULL, &let, tree);
}

static Tree *reduce_heads(const Reduction *r, AstComp *comp, Type expected) {
    FnChecker *f = r->f;
    Heads heads = {.node = make(f, T_REDUCE, ty_poison(f), r->span)};
    bool ok = heads_enter(f, comp, &heads, true);
    Type hint = is_arg(r->op) || r->op == REDUCE_COUNT ? NULL : expected;
    Tree *body = check_value(f, comp->body, hint);
    Type type = body->type;
    Tree *result;
    if (!ok || is_poison(type)) {
        result = tree_poison(f, r->span);
    } else if (!is_scalar_like(type) || !takes(r, elem_of(type)) ||
               (is_arg(r->op) && is_array(type))) {
        result = refuse(r, type, body->span);
    } else if (wants_fn(r, elem_of(type)) ||
               (is_array(type) &&
                (r->op == REDUCE_MIN || r->op == REDUCE_MAX || r->op == REDUCE_PROD))) {
        heads.node->kind = T_COMP;
        if (heads.dependent && !heads.where) { /* of rank 1 */
            heads.where = make(f, T_BOOL, ty_bool(f), r->span);
            heads.where->value = 1;
        }
        result = finish_comp(f, &heads, body, r->span);
        heads_leave(f, &heads);
        uint32_t n = heads.where ? 1 : heads.n;
        if (is_poison(result->type)) return result;
        return map_columns(f, wants_fn(r, elem_of(type)) ? r->floats : NULL, r, result, n, r->span);
    } else {
        result = reduce_node(r, heads.n, heads.heads, heads.where, body, heads.node);
        result->type = type_leave(f, result->type, heads.size_mark);
    }
    heads_leave(f, &heads);
    return result;
}

/* sum(X, 0) */
static Tree *axis_trap(const Reduction *r, AstCall *call) {
    FnChecker *f = r->f;
    const char *x = ast_text(f, call->args.at[0]);
    diag_report(f->c->diags, DIAG_AXIS, call->node.span, "`%s` takes no axis", r->name);
    diag_help(f->c->diags, (Span){0},
              "say over which index: `[for j: %s(for i: %s[i, j])]`, or "
              "`%s(for i: %s[i])`",
              r->name, x, r->name, x);
    return tree_poison(f, call->node.span);
}

/* The prelude's function of one array of floats with the reduction's name. */
static const FnDecl *float_form(FnChecker *f, const char *name) {
    if (!f->c->modules.prelude) return NULL;
    const Item *item = module_item(f->c->modules.prelude, intern(f->c->interner, name));
    for (const FnDecl *d = item && item->kind == ITEM_FN ? item->fn : NULL; d; d = d->next) {
        if (!d->ast || d->ast->params.len != 1) continue;
        if (AST_AS(Param, d->ast->params.at[0])->type->kind == AST_TypeArray) return d;
    }
    return NULL;
}

Tree *check_reduction(FnChecker *f, AstCall *node, int32_t builtin, Type expected) {
    Reduction r = {.f = f, .op = OPS[builtin - BUILTIN_SUM], .span = node->node.span};
    r.name = fnvalue_of_row(f->c, -1, builtin)->name;
    r.floats = float_form(f, r.name);
    bool two = r.op == REDUCE_MIN || r.op == REDUCE_MAX;
    if (node->args.len != 1) {
        if (two && node->args.len == 2 && node->args.at[1]->kind != AST_Comp) return NULL;
        if (node->args.len == 2 && node->args.at[1]->kind == AST_Arg &&
            ((AstArg *)node->args.at[1])->value->kind == AST_Int)
            return axis_trap(&r, node);
        diag_report(f->c->diags, DIAG_ARGUMENT_COUNT, r.span, "`%s` takes one array or a head",
                    r.name);
        return tree_poison(f, r.span);
    }
    AstNode *arg = node->args.at[0];
    if (arg->kind == AST_Comp) return reduce_heads(&r, (AstComp *)arg, expected);
    AstArg *plain = AST_AS(Arg, arg);
    Type hint = expected && is_numeric(elem_of(expected)) && !is_arg(r.op) && !wants_bool(r.op)
                    ? elem_of(expected)
                    : NULL;
    return reduce_array(&r, check_arg(f, plain->value, hint));
}

/* ---- mean, norm, ...: functions of the prelude on arrays of any rank ---- */

bool is_reduction_name(FnChecker *f, const FnDecl *decl) {
    static const char *const names[] = {"mean", "norm",  "logsumexp", "variance",
                                        "sd",   "norm1", "norm_inf"};
    if (decl->module != f->c->modules.prelude || !decl->ast) return false;
    for (uint32_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(decl->name->text, names[i])) return true;
    return false;
}

Tree *call_reduction_fn(FnChecker *f, const FnDecl *decl, AstCall *call, Type expected) {
    if (!call->args.len) return NULL;
    AstNode *last = call->args.at[call->args.len - 1];
    Span span = call->node.span;
    if (last->kind == AST_Comp && call->args.len == 1) {
        AstComp *comp = (AstComp *)last;
        Heads heads = {.node = make(f, T_COMP, ty_poison(f), span)};
        bool ok = heads_enter(f, comp, &heads, false);
        Tree *body = check_value(f, comp->body, expected ? elem_of(expected) : NULL);
        Tree *array = ok ? finish_comp(f, &heads, body, span) : tree_poison(f, span);
        heads_leave(f, &heads);
        if (is_poison(array->type)) return array;
        return map_columns(f, decl, NULL, array, heads.where ? 1 : heads.n, span);
    }
    AstNode *first = call->args.at[0];
    if (first->kind != AST_Arg || ((AstArg *)first)->name.sym) return NULL;
    AstNode *node = ((AstArg *)first)->value;
    Type hint = NULL;
    if (is_flexible(f, node)) {
        if (literal_rank(f, node) < 2) return NULL;
        hint = expected && is_floating(elem_of(expected)) ? elem_of(expected) : ty_f64(f);
    }
    Tree *value = check_arg(f, node, hint);
    if (is_array(value->type) && value->type->rank > 1 && is_floating(value->type->elem))
        return call_on_array(f, decl, flatten(f, value), call, span);
    f->pre_node = node;
    f->pre_value = value;
    return NULL;
}
