/* Reductions with heads.

   What the IR can reduce by itself becomes REDUCE, one for each group of heads whose ranges do not
   depend on each other.  The rest (a condition in min, max, argmin, argmax; argmin and argmax over
   dependent ranges; products of complex numbers) becomes loops that carry what was found. */
#include "lower/internal.h"

#include <math.h>

typedef struct Reduce {
    const Tree *tree;
    IrReduce kind;
    const Shape *shape;
    Vals inits;
    Head *heads;
} Reduce;

/* How many heads from FIRST on do not depend on each other. */
static uint32_t group_size(const Tree *t, uint32_t first) {
    for (uint32_t i = first + 1; i < t->nheads; i++)
        for (uint32_t k = first; k < i; k++)
            if (head_depends(&t->heads[i], &t->heads[k])) return i - first;
    return t->nheads - first;
}

static IrReduce reduce_kind(TreeReduce reduce) {
    switch (reduce) {
    case REDUCE_SUM:
    case REDUCE_COUNT: return IR_SUM;
    case REDUCE_PROD: return IR_PROD;
    case REDUCE_ALL: return IR_ALL;
    case REDUCE_ANY: return IR_ANY;
    case REDUCE_ARGMIN: return IR_ARGMIN;
    case REDUCE_ARGMAX: return IR_ARGMAX;
    case REDUCE_MIN: return IR_MINIMUM;
    case REDUCE_MAX: return IR_MAXIMUM;
    }
    UNREACHABLE("reduction %d", reduce);
}

static const char *reduce_name(TreeReduce reduce) {
    switch (reduce) {
    case REDUCE_SUM: return "sum";
    case REDUCE_COUNT: return "count";
    case REDUCE_PROD: return "prod";
    case REDUCE_ALL: return "all";
    case REDUCE_ANY: return "any";
    case REDUCE_ARGMIN: return "argmin";
    case REDUCE_ARGMAX: return "argmax";
    case REDUCE_MIN: return "min";
    case REDUCE_MAX: return "max";
    }
    UNREACHABLE("reduction %d", reduce);
}

/* What changes nothing: the least or greatest value, 0, 1. */
IrValue *reduce_neutral(Fn *f, IrReduce kind, IrScalar scalar) {
    int bits = (int)ir_scalar_bytes(scalar) * 8;
    bool sign = scalar_is_integer(scalar) && ir_scalar_signed(scalar);
    int64_t most = sign ? (int64_t)(UINT64_MAX >> (65 - bits)) : -1;
    switch (kind) {
    case IR_PROD: return irb_scalar_const(&f->b, scalar, 1, 1.0);
    case IR_ALL: return emit_bool(f, true);
    case IR_MINIMUM: return irb_scalar_const(&f->b, scalar, most, (double)INFINITY);
    case IR_MAXIMUM:
        return irb_scalar_const(&f->b, scalar, sign ? -most - 1 : 0, -(double)INFINITY);
    case IR_SUM:
    case IR_ANY:
    case IR_ARGMIN:
    case IR_ARGMAX: break;
    }
    return irb_zero(&f->b, scalar);
}

static Vals cast_element(Fn *f, const Vals *args, void *data) {
    return vals_one(f->lw, irb_cast(&f->b, args[0].at[0], *(IrScalar *)data));
}

static IrValue *cast_array(Fn *f, IrValue *x, IrScalar to, Type result) {
    Vals arg = vals_one(f->lw, x);
    bool lifted = true;
    return lift(f, result, 1, &arg, &lifted, cast_element, &to).at[0];
}

/* The body's value, in the scalar types of the result. */
static Vals body_value(Fn *f, const Reduce *r) {
    Vals value = vals_copy(f->lw, lower_expr(f, r->tree->body));
    if (r->kind == IR_ARGMIN || r->kind == IR_ARGMAX) {
        IrScalar scalar = value.at[0]->type->scalar;
        if (scalar_is_store(scalar)) value.at[0] = irb_cast(&f->b, value.at[0], IR_F32);
        return value;
    }
    CHECK_INTERNAL(value.n == r->shape->n);
    for (uint32_t i = 0; i < value.n; i++) {
        IrScalar to = r->shape->leaf[i].scalar;
        IrType type = value.at[i]->type;
        if (type->kind == IR_T_SCALAR) value.at[i] = irb_cast(&f->b, value.at[i], to);
        else if (type->scalar != to) value.at[i] = cast_array(f, value.at[i], to, r->tree->type);
    }
    return value;
}

typedef struct Where {
    const Reduce *r;
    uint32_t slot;
} Where;

static void where_side(Fn *f, bool taken, void *data) {
    Where *where = data;
    env_set(f, where->slot, taken ? body_value(f, where->r) : where->r->inits);
}

static Vals filtered_value(Fn *f, const Reduce *r) {
    if (!r->tree->where) return body_value(f, r);
    Where where = {r, env_new_slot(f, r->shape)};
    SlotSet set = {0};
    slots_add(&set, where.slot);
    merge_if(f, lower_scalar(f, r->tree->where), &set, where_side, &where);
    vec_free(&set);
    return env_get(f, where.slot);
}

/* ---- by REDUCE ---- */

static void check_some(Fn *f, const Reduce *r, uint32_t n, IrValue *const *sizes) {
    IrValue *some = emit_bool(f, true);
    for (uint32_t k = 0; k < n; k++)
        some = emit_and(f, some, emit_binary(f, IR_GT, sizes[k], emit_int(f, 0)));
    emit_check(f, some, LOWER_ERROR_EMPTY,
               module_text(f->lw, "%s of nothing", reduce_name(r->tree->reduce)), 0, NULL);
}

static Vals reduce_level(Fn *f, const Reduce *r, uint32_t first) {
    const Tree *t = r->tree;
    uint32_t n = group_size(t, first);
    bool arg = r->kind == IR_ARGMIN || r->kind == IR_ARGMAX;
    IrValue *sizes[IR_MAX_RANK];
    for (uint32_t k = 0; k < n; k++) {
        head_open(f, &t->heads[first + k], &r->heads[first + k]);
        sizes[k] = emit_at_least_zero(f, r->heads[first + k].count);
        size_note_nonneg(f, sizes[k]);
    }
    if (!first) size_checks(f, t);
    if (arg || t->reduce == REDUCE_MIN || t->reduce == REDUCE_MAX) check_some(f, r, n, sizes);
    IrInst *inst = irb_reduce(&f->b, r->kind, n, sizes, arg ? 1 : r->inits.n, r->inits.at);
    IrRegion *outside = f->b.region;
    uint32_t mark = env_mark(f);
    irb_at_end(&f->b, inst->regions[0]);
    for (uint32_t k = 0; k < n; k++)
        head_bind(f, &r->heads[first + k], inst->regions[0]->params[k]);
    bool last = first + n == t->nheads;
    Vals value = last ? filtered_value(f, r) : reduce_level(f, r, first + n);
    irb_yield(&f->b, value.n, value.at);
    env_rollback(f, mark);
    irb_at_end(&f->b, outside);
    Vals out = vals_new(f->lw, inst->nresults);
    for (uint32_t i = 0; i < out.n; i++) out.at[i] = inst->results[i];
    return out;
}

/* The indices that belong to a flat index over all heads. */
static Vals split_index(Fn *f, const Reduce *r, IrValue *flat) {
    uint32_t n = r->tree->nheads;
    Vals out = vals_new(f->lw, n);
    for (uint32_t k = n; k-- > 0;) {
        IrValue *size = emit_at_least_zero(f, r->heads[k].count);
        IrValue *own = k ? emit_binary(f, IR_MOD, flat, size) : flat;
        if (k) flat = emit_binary(f, IR_DIV, flat, size);
        out.at[k] = head_index(f, &r->heads[k], own);
    }
    return out;
}

/* ---- sizes of arrays that are reduced element by element ---- */

static Vals probe_body(Fn *f, IrValue *const *indices, void *data) {
    const Reduce *r = data;
    for (uint32_t k = 0; k < r->tree->nheads; k++) head_bind(f, &r->heads[k], indices[k]);
    return body_value(f, r);
}

static void make_inits(Fn *f, Reduce *r) {
    uint32_t total = 0, at = 0;
    IrValue *sizes[IR_MAX_RANK];
    r->inits = vals_new(f->lw, r->shape->n);
    for (uint32_t i = 0; i < r->shape->n; i++) total += r->shape->leaf[i].rank;
    IrValue **inner = ARENA_ARRAY(f->lw->arena, IrValue *, total);
    uint32_t n = group_size(r->tree, 0);
    bool known = true;
    for (uint32_t i = 0; i < r->shape->n && known; i++)
        for (uint32_t k = 0; k < r->shape->leaf[i].rank; k++)
            known = known && size_value(f, r->shape->leaf[i].dims[k]);
    if (!known && n < r->tree->nheads) {
        lower_unsupported(f, r->tree->span,
                          "a reduction of arrays of unknown size over dependent ranges");
        r->inits = emit_nothing(f, r->shape);
        return;
    }
    if (!known)
        for (uint32_t k = 0; k < n; k++) {
            head_open(f, &r->tree->heads[k], &r->heads[k]);
            sizes[k] = emit_at_least_zero(f, r->heads[k].count);
        }
    emit_inner_sizes(f, n, sizes, r->shape, 0, probe_body, r, inner);
    for (uint32_t i = 0; i < r->shape->n; i++) {
        const Leaf *leaf = &r->shape->leaf[i];
        r->inits.at[i] =
            emit_fill(f, reduce_neutral(f, r->kind, leaf->scalar), leaf->rank, inner + at);
        at += leaf->rank;
    }
}

/* ---- by loops ---- */

typedef struct Found {
    const Reduce *r;
    uint32_t some, best; /* slots: anything yet; the best value (the product) */
    uint32_t *index;     /* slots of the best trip's indices */
    IrValue **now;       /* of this trip */
    SlotSet all;
} Found;

static IrValue *slot_value(Fn *f, uint32_t slot) {
    return env_get(f, slot).at[0];
}

static void set_value(Fn *f, uint32_t slot, IrValue *value) {
    env_set(f, slot, vals_one(f->lw, value));
}

static IrValue *is_better(Fn *f, const Found *found, IrValue *value, IrValue *best) {
    bool least = found->r->tree->reduce == REDUCE_ARGMIN || found->r->tree->reduce == REDUCE_MIN;
    IrValue *better = emit_binary(f, least ? IR_LT : IR_GT, value, best);
    if (!ir_scalar_float(value->type->scalar)) return better;
    IrValue *nan =
        emit_and(f, emit_binary(f, IR_NE, value, value), emit_binary(f, IR_EQ, best, best));
    return emit_or(f, better, nan);
}

static void found_value(Fn *f, Found *found, Vals value) {
    const Reduce *r = found->r;
    Vals best = env_get(f, found->best);
    if (r->tree->reduce == REDUCE_PROD) {
        Type types[] = {r->tree->type, r->tree->type};
        Vals args[] = {best, value};
        env_set(f, found->best, scalar_op(f, AST_OP_MUL, r->tree->type, types, args));
        return;
    }
    IrValue *take = is_better(f, found, value.at[0], best.at[0]);
    take = emit_or(f, take, emit_not(f, slot_value(f, found->some)));
    set_value(f, found->best, irb_select(&f->b, take, value.at[0], best.at[0]));
    set_value(f, found->some, emit_bool(f, true));
    for (uint32_t k = 0; k < r->tree->nheads; k++) {
        IrValue *old = slot_value(f, found->index[k]);
        set_value(f, found->index[k], irb_select(&f->b, take, found->now[k], old));
    }
}

static void found_side(Fn *f, bool taken, void *data) {
    Found *found = data;
    if (taken) found_value(f, found, body_value(f, found->r));
}

static void loop_level(Fn *f, Found *found, uint32_t level) {
    const Tree *t = found->r->tree;
    Head head;
    Loop loop = {0};
    head_open(f, &t->heads[level], &head);
    if (!level) size_checks(f, t);
    for (uint32_t i = 0; i < found->all.len; i++) slots_add(&loop.carried, found->all.at[i]);
    IrValue *trip = loop_open(f, &loop, head.count, false);
    head_bind(f, &head, trip);
    found->now[level] = head_index(f, &head, trip);
    if (level + 1 < t->nheads) loop_level(f, found, level + 1);
    else if (t->where) merge_if(f, lower_scalar(f, t->where), &found->all, found_side, found);
    else found_value(f, found, body_value(f, found->r));
    loop_close(f, &loop, NULL);
}

static uint32_t new_slot(Fn *f, Found *found, Type type, Vals first) {
    uint32_t slot = env_new_slot(f, shape_of(f->lw, type));
    env_set(f, slot, first);
    slots_add(&found->all, slot);
    return slot;
}

static Vals reduce_by_loop(Fn *f, const Reduce *r) {
    const Tree *t = r->tree;
    TypeTable *types = f->lw->program->types;
    Type flag = type_scalar(types, SCALAR_BOOL), i64 = type_scalar(types, SCALAR_I64);
    Found found = {.r = r};
    bool prod = t->reduce == REDUCE_PROD;
    Vals first = scalar_const(f, t->body->type, prod ? 1 : 0, prod ? 1.0 : 0.0);
    found.best = new_slot(f, &found, t->body->type, first);
    found.some = new_slot(f, &found, flag, vals_one(f->lw, emit_bool(f, false)));
    found.index = ARENA_ARRAY(f->lw->arena, uint32_t, t->nheads);
    found.now = ARENA_ARRAY(f->lw->arena, IrValue *, t->nheads);
    for (uint32_t k = 0; k < t->nheads; k++)
        found.index[k] = new_slot(f, &found, i64, vals_one(f->lw, emit_int(f, 0)));
    loop_level(f, &found, 0);
    vec_free(&found.all);
    if (prod) return env_get(f, found.best);
    emit_check(f, slot_value(f, found.some), LOWER_ERROR_EMPTY,
               module_text(f->lw, "%s of nothing", reduce_name(t->reduce)), 0, NULL);
    if (t->reduce == REDUCE_MIN || t->reduce == REDUCE_MAX) return env_get(f, found.best);
    Vals out = vals_new(f->lw, t->nheads);
    for (uint32_t k = 0; k < t->nheads; k++) out.at[k] = slot_value(f, found.index[k]);
    return out;
}

/* The shape in which to calculate: 16-bit floats are added as f32. */
static const Shape *wide_shape(Lower *lw, const Shape *shape) {
    Shape *wide = ARENA_NEW(lw->arena, Shape);
    *wide = *shape;
    wide->leaf = ARENA_ARRAY(lw->arena, Leaf, shape->n);
    bool any = false;
    for (uint32_t i = 0; i < shape->n; i++) {
        Leaf *leaf = &wide->leaf[i];
        *leaf = shape->leaf[i];
        if (!scalar_is_store(leaf->scalar)) continue;
        any = true;
        leaf->scalar = IR_F32;
        leaf->type = leaf->rank ? ir_array(lw->module, IR_F32, leaf->rank, leaf->type->dims)
                                : ir_scalar(lw->module, IR_F32);
    }
    return any ? wide : shape;
}

static Vals narrow(Fn *f, const Tree *t, Vals vals) {
    const Shape *shape = shape_of(f->lw, t->type);
    vals = vals_copy(f->lw, vals);
    for (uint32_t i = 0; i < vals.n; i++) {
        const Leaf *leaf = &shape->leaf[i];
        if (leaf->rank) vals.at[i] = cast_array(f, vals.at[i], leaf->scalar, t->type);
        else vals.at[i] = irb_cast(&f->b, vals.at[i], leaf->scalar);
    }
    return vals;
}

Vals lower_reduce(Fn *f, const Tree *t) {
    const Shape *shape = shape_of(f->lw, t->type);
    Reduce r = {.tree = t, .kind = reduce_kind(t->reduce), .shape = wide_shape(f->lw, shape)};
    bool arg = t->reduce == REDUCE_ARGMIN || t->reduce == REDUCE_ARGMAX;
    bool best = arg || t->reduce == REDUCE_MIN || t->reduce == REDUCE_MAX;
    bool dependent = group_size(t, 0) < t->nheads;
    r.heads = ARENA_ARRAY(f->lw->arena, Head, t->nheads);
    if (best && (t->where || dependent)) return reduce_by_loop(f, &r);
    if (t->reduce == REDUCE_PROD && type_is_complex(t->type)) return reduce_by_loop(f, &r);
    if (!arg) make_inits(f, &r);
    Vals out = reduce_level(f, &r, 0);
    if (r.shape != shape) out = narrow(f, t, out);
    return arg ? split_index(f, &r, out.at[0]) : out;
}
