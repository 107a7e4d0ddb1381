/* Subscripts: elements, slices, gathers. */
#include "types/internal.h"

typedef struct Subs {
    FnChecker *f;
    Type base;
    const AstNode *base_ast;
    VEC(Size) dims; /* of the result */
    bool gathered, ok;
} Subs;

/* The value of a size that is a constant difference away from another: INDEX - SIZE. */
static bool known_difference(FnChecker *f, Size a, Size b, int64_t *diff) {
    Size d = size_minus(f->c->types, a, b);
    *diff = d->value;
    return d->kind == SIZE_CONST;
}

static void out_of_range(Subs *s, Span span, const char *what, Size index, Size dim) {
    s->ok = false;
    diag_report(s->f->c->diags, DIAG_INDEX_RANGE, span, "%s %s is out of range: the size is %s",
                what, size_text(s->f->c->types, index), size_text(s->f->c->types, dim));
}

static void check_known_index(Subs *s, Tree *index, Size dim) {
    Size at = size_of_tree(s->f, index);
    int64_t d;
    if (!at || dim->kind == SIZE_ANY) return;
    bool below = at->kind == SIZE_CONST && at->value < 0;
    bool above = known_difference(s->f, at, dim, &d) && d >= 0;
    if (!below && !above) return;
    out_of_range(s, index->span, "index", at, dim);
    if (below)
        diag_help(s->f->c->diags, (Span){0}, "indices do not count from the end: write `n - 1`");
}

/* The number of elements of LO..HI by STEP. */
static Size range_size(FnChecker *f, Size lo, Size hi, const Tree *step) {
    TypeTable *t = f->c->types;
    if (!lo || !hi) return size_var(t, NULL);
    Size n = size_minus(t, hi, lo);
    if (!step) return n;
    Size by = size_of_tree(f, step);
    if (!by || by->kind != SIZE_CONST || by->value <= 0) return size_var(t, NULL);
    n = size_plus(t, n, size_const(t, by->value - 1));
    return size_binary(t, SIZE_DIV, n, by);
}

Size head_count(FnChecker *f, const Tree *lo, const Tree *hi, const Tree *step) {
    Size from = lo ? size_of_tree(f, lo) : size_const(f->c->types, 0);
    Size to = hi ? size_of_tree(f, hi) : NULL;
    if (!from || !to) return NULL;
    if (step) {
        Size by = size_of_tree(f, step);
        if (!by || by->kind != SIZE_CONST || by->value <= 0) return NULL;
    }
    Size n = range_size(f, from, to, step);
    return n->kind == SIZE_CONST && n->value < 0 ? size_const(f->c->types, 0) : n;
}

static void wrong_way(Subs *s, const AstRange *range, int64_t by) {
    s->ok = false;
    diag_report(s->f->c->diags, DIAG_INDEX_RANGE, range->node.span,
                "the slice ends %lld before it starts", (long long)by);
}

/* What is known of a slice to be wrong: 0 <= LO <= HI <= DIM must hold. */
static void known_range(Subs *s, const AstRange *range, const TreeSub *sub, Size lo, Size hi,
                        Size dim) {
    int64_t d;
    if (lo && lo->kind == SIZE_CONST && lo->value < 0)
        out_of_range(s, sub->lo->span, "start", lo, dim);
    else if (sub->hi && hi && known_difference(s->f, hi, dim, &d) && d > 0)
        out_of_range(s, sub->hi->span, "end", hi, dim);
    else if (lo && hi && known_difference(s->f, hi, lo, &d) && d < 0) wrong_way(s, range, -d);
}

/* By a negative step: -1 <= HI <= LO < DIM. */
static void known_range_down(Subs *s, const AstRange *range, const TreeSub *sub, Size lo, Size hi,
                             Size dim) {
    int64_t d;
    if (sub->lo && lo && known_difference(s->f, lo, dim, &d) && d >= 0)
        out_of_range(s, sub->lo->span, "start", lo, dim);
    else if (hi && hi->kind == SIZE_CONST && hi->value < -1)
        out_of_range(s, sub->hi->span, "end", hi, dim);
    else if (lo && hi && known_difference(s->f, hi, lo, &d) && d > 0) wrong_way(s, range, d);
}

static void sub_range(Subs *s, AstRange *range, Size dim, TreeSub *out) {
    FnChecker *f = s->f;
    out->kind = SUB_RANGE;
    if (range->lo) out->lo = check_integer(f, range->lo, "the start of the slice");
    if (range->hi) out->hi = check_integer(f, range->hi, "the end of the slice");
    if (range->step) out->step = check_integer(f, range->step, "the step of the slice");
    if ((out->lo && is_poison(out->lo->type)) || (out->hi && is_poison(out->hi->type)) ||
        (out->step && is_poison(out->step->type))) {
        s->ok = false;
        vec_push(&s->dims, size_var(f->c->types, NULL));
        return;
    }
    Size lo = out->lo ? size_of_tree(f, out->lo) : size_const(f->c->types, 0);
    Size hi = out->hi ? size_of_tree(f, out->hi) : dim;
    Size step = out->step ? size_of_tree(f, out->step) : size_const(f->c->types, 1);
    if (step && step->kind == SIZE_CONST && step->value) {
        if (step->value > 0) known_range(s, range, out, lo, hi, dim);
        else known_range_down(s, range, out, lo, hi, dim);
    }
    vec_push(&s->dims, range_size(f, lo, hi, out->step));
}

static void sub_array(Subs *s, Tree *index, AstNode *node, Size dim, TreeSub *out) {
    FnChecker *f = s->f;
    Type elem = index->type->elem;
    if (is_bool(elem)) {
        diag_report(f->c->diags, DIAG_BOOL_INDEX, node->span, "a bool array is no index");
        const char *base = s->base_ast ? ast_text(f, s->base_ast) : "x";
        diag_help(f->c->diags, (Span){0}, "write `[for i where %s[i]: %s[i]]`", ast_text(f, node),
                  base);
        s->ok = false;
        return;
    }
    if (!is_integer(elem) || index->type->rank != 1 || s->gathered) {
        diag_report(f->c->diags, DIAG_INDEX_TYPE, node->span,
                    s->gathered ? "only one index may be an array"
                                : "an index of type %s: an array index has one dimension and "
                                  "integer elements",
                    tt(f, index->type));
        s->ok = false;
        return;
    }
    (void)dim;
    s->gathered = true;
    out->kind = SUB_GATHER;
    out->lo = index;
    vec_push(&s->dims, index->type->dims[0]);
}

static void sub_one(Subs *s, AstNode *node, Size dim, TreeSub *out) {
    FnChecker *f = s->f;
    out->span = node->span;
    if (node->kind == AST_Range) {
        sub_range(s, (AstRange *)node, dim, out);
        return;
    }
    Tree *index = check_value(f, node, is_flexible(f, node) ? ty_i64(f) : NULL);
    Type type = index->type;
    if (is_poison(type)) {
        s->ok = false;
    } else if (is_array(type)) {
        sub_array(s, index, node, dim, out);
    } else if (is_integer(type)) {
        out->kind = SUB_INDEX;
        out->lo = index;
        check_known_index(s, index, dim);
    } else {
        diag_report(f->c->diags, DIAG_INDEX_TYPE, node->span, "an index of type %s, not an integer",
                    tt(f, type));
        if (is_floating(type))
            diag_help(f->c->diags, (Span){0}, "write `i64(%s)`", ast_text(f, node));
        s->ok = false;
    }
}

bool check_subs(FnChecker *f, Type base, const AstList *subs, TreeSub **out, Type *result,
                Span span, const AstNode *base_ast, bool place) {
    (void)place;
    *result = ty_poison(f);
    *out = ARENA_ARRAY(f->c->arena, TreeSub, subs->len);
    if (is_poison(base)) {
        for (uint32_t i = 0; i < subs->len; i++) mark_names(f, subs->at[i]);
        return false;
    }
    if (!is_array(base)) {
        diag_report(f->c->diags, DIAG_INDEX_COUNT, span, "a value of type %s has no elements",
                    tt(f, base));
        if (base->kind == TYPE_TUPLE || base->kind == TYPE_STRUCT)
            diag_help(f->c->diags, (Span){0}, "parts are taken by a dot: `.0`");
        return false;
    }
    if (subs->len > base->rank) {
        diag_report(f->c->diags, DIAG_INDEX_COUNT, span,
                    "%u indices for an array of %u dimension%s", subs->len, base->rank,
                    base->rank == 1 ? "" : "s");
        return false;
    }
    Subs s = {.f = f, .base = base, .base_ast = base_ast, .ok = true};
    for (uint32_t i = 0; i < subs->len; i++) sub_one(&s, subs->at[i], base->dims[i], &(*out)[i]);
    for (uint32_t i = subs->len; i < base->rank; i++) vec_push(&s.dims, base->dims[i]);
    if (s.ok) *result = type_add_dims(f->c->types, base->elem, s.dims.len, s.dims.at);
    vec_free(&s.dims);
    return s.ok;
}

Tree *check_index(FnChecker *f, AstIndex *node) {
    Tree *base = check_value(f, node->base, NULL);
    TreeSub *subs;
    Type type;
    if (!check_subs(f, base->type, &node->subs, &subs, &type, node->node.span, node->base, false))
        return tree_poison(f, node->node.span);
    Tree *tree = make_args(f, T_INDEX, type, node->node.span, 1, &base);
    tree->nsubs = node->subs.len;
    tree->subs = subs;
    return tree;
}
