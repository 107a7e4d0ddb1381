/* Built-in functions of whole values: parts, the dot product of parts, near. */
#include "lower/internal.h"

#include <math.h>

/* ---- parts ---- */

typedef struct Parts {
    const Instance *op;
    Vals captures;
    uint32_t n;
    IrScalar scalar, param; /* of the leaf; of the function's parameters */
} Parts;

static Vals parts_scalar(Fn *f, const Vals *args, void *data) {
    const Parts *parts = data;
    Vals *cast = ARENA_ARRAY(f->lw->arena, Vals, parts->n);
    for (uint32_t i = 0; i < parts->n; i++)
        cast[i] = vals_one(f->lw, irb_cast(&f->b, args[i].at[0], parts->param));
    Vals value = call_closure(f, parts->op, parts->captures, parts->n, cast);
    return vals_one(f->lw, irb_cast(&f->b, value.at[0], parts->scalar));
}

/* The type of an array of the rank of LEAF whose sizes do not matter. */
static Type leaf_type(Fn *f, const Leaf *leaf) {
    Type type = type_scalar(f->lw->program->types, (Scalar)leaf->scalar);
    return leaf->rank ? type_array(f->lw->program->types, type, leaf->rank, leaf->dims) : type;
}

Vals builtin_parts(Fn *f, const Tree *t) {
    const Shape *shape = shape_of(f->lw, t->type);
    Vals *args = ARENA_ARRAY(f->lw->arena, Vals, t->nargs);
    uint32_t n = t->nargs - 1;
    lower_args(f, t, args);
    Vals out = vals_copy(f->lw, args[1]);
    for (uint32_t i = 0; i < shape->n; i++) {
        const Leaf *leaf = &shape->leaf[i];
        bool numbers = leaf->kind == IR_T_SCALAR || leaf->kind == IR_T_ARRAY;
        if (!numbers || !scalar_is_real_float(leaf->scalar)) continue;
        const Instance *op = leaf->scalar == IR_F64 ? t->instance : t->instance32;
        if (!op) op = t->instance ? t->instance : t->instance32;
        IrScalar param = ir_of_scalar(op->params[op->ncaptures]->type->scalar);
        Parts parts = {op, args[0], n, leaf->scalar, param};
        Vals *row = ARENA_ARRAY(f->lw->arena, Vals, n);
        bool *lifted = ARENA_ARRAY(f->lw->arena, bool, n);
        for (uint32_t k = 0; k < n; k++) {
            row[k] = vals_slice(args[k + 1], i, 1);
            lifted[k] = leaf->rank > 0;
        }
        out.at[i] = lift(f, leaf_type(f, leaf), n, row, lifted, parts_scalar, &parts).at[0];
    }
    return out;
}

/* ---- reductions over a leaf ---- */

typedef IrValue *(*PairFn)(Fn *f, IrValue *const *pair, void *data);

/* RUN on each pair of elements of VALUES (arrays or scalars), combined by KIND. */
static IrValue *over_elements(Fn *f, IrReduce kind, IrValue *init, uint32_t n,
                              IrValue *const *values, PairFn run, void *data) {
    IrValue *sizes[IR_MAX_RANK], *elements[8];
    uint32_t rank = 0;
    for (uint32_t i = 0; i < n && !rank; i++) {
        if (values[i]->type->kind != IR_T_ARRAY) continue;
        rank = values[i]->type->rank;
        size_dims(f, values[i], sizes);
    }
    if (!rank) return run(f, values, data);
    IrInst *inst = irb_reduce(&f->b, kind, rank, sizes, 1, &init);
    IrRegion *outside = f->b.region;
    irb_at_end(&f->b, inst->regions[0]);
    for (uint32_t i = 0; i < n; i++)
        elements[i] = values[i]->type->kind == IR_T_ARRAY
                          ? emit_index(f, values[i], rank, inst->regions[0]->params)
                          : values[i];
    IrValue *value = run(f, elements, data);
    irb_yield(&f->b, 1, &value);
    irb_at_end(&f->b, outside);
    return inst->results[0];
}

static IrValue *product_of(Fn *f, IrValue *const *pair, void *data) {
    IrScalar to = *(IrScalar *)data;
    return emit_mul(f, irb_cast(&f->b, pair[0], to), irb_cast(&f->b, pair[1], to));
}

Vals builtin_dot_parts(Fn *f, const Tree *t) {
    Vals args[2];
    IrScalar to = ir_of_scalar(t->type->scalar);
    lower_args(f, t, args);
    IrValue *sum = NULL;
    for (uint32_t i = 0; i < args[0].n; i++) {
        IrValue *pair[] = {args[0].at[i], args[1].at[i]};
        IrTypeKind kind = pair[0]->type->kind;
        if (kind != IR_T_SCALAR && kind != IR_T_ARRAY) continue;
        if (!scalar_is_real_float(pair[0]->type->scalar)) continue;
        IrValue *own = over_elements(f, IR_SUM, irb_zero(&f->b, to), 2, pair, product_of, &to);
        sum = sum ? emit_add(f, sum, own) : own;
    }
    return vals_one(f->lw, sum ? sum : irb_zero(&f->b, to));
}

/* ---- near ---- */

typedef struct Near {
    IrValue *rtol, *atol;
    bool complex_a, complex_b;
} Near;

static IrValue *is_finite(Fn *f, IrValue *x) {
    IrValue *infinite = irb_scalar_const(&f->b, IR_F64, 0, (double)INFINITY);
    return emit_binary(f, IR_LT, irb_unary(&f->b, IR_ABS, x), infinite);
}

static IrValue *magnitude(Fn *f, IrValue *re, IrValue *im) {
    IrValue *args[] = {re, im};
    return im ? irb_math(&f->b, IR_MATH_HYPOT, args) : irb_unary(&f->b, IR_ABS, re);
}

static IrValue *is_nan(Fn *f, IrValue *re, IrValue *im) {
    IrValue *nan = emit_binary(f, IR_NE, re, re);
    return im ? emit_or(f, nan, emit_binary(f, IR_NE, im, im)) : nan;
}

/* VALUES: re a, re b, then im a, im b of complex ones. */
static IrValue *near_element(Fn *f, IrValue *const *values, void *data) {
    const Near *near = data;
    IrValue *a[2] = {irb_cast(&f->b, values[0], IR_F64), NULL};
    IrValue *b[2] = {irb_cast(&f->b, values[1], IR_F64), NULL};
    if (near->complex_a || near->complex_b) {
        a[1] = irb_cast(&f->b, values[2], IR_F64);
        b[1] = irb_cast(&f->b, values[3], IR_F64);
    }
    IrValue *equal = emit_binary(f, IR_EQ, a[0], b[0]);
    if (a[1]) equal = emit_and(f, equal, emit_binary(f, IR_EQ, a[1], b[1]));
    IrValue *ma = magnitude(f, a[0], a[1]), *mb = magnitude(f, b[0], b[1]);
    IrValue *apart = magnitude(f, emit_binary(f, IR_SUB, a[0], b[0]),
                               a[1] ? emit_binary(f, IR_SUB, a[1], b[1]) : NULL);
    IrValue *allowed = emit_binary(f, IR_MUL, near->rtol, emit_binary(f, IR_MAX, ma, mb));
    allowed = emit_binary(f, IR_MAX, near->atol, allowed);
    IrValue *close = emit_binary(f, IR_LE, apart, allowed);
    close = emit_and(f, close, emit_and(f, is_finite(f, ma), is_finite(f, mb)));
    IrValue *nan = emit_and(f, is_nan(f, a[0], a[1]), is_nan(f, b[0], b[1]));
    return emit_or(f, emit_or(f, equal, close), nan);
}

static IrValue *near_values(Fn *f, Near *near, Type type, Vals a, Vals b) {
    Type element = type_element(type);
    IrValue *all = emit_bool(f, true);
    if (element->kind == TYPE_TUPLE || element->kind == TYPE_STRUCT) {
        for (uint32_t k = 0; k < element->nparts; k++) {
            Type part = element->parts[k].type;
            IrValue *own = near_values(f, near, part, lower_take_part(f, type, a, k),
                                       lower_take_part(f, type, b, k));
            all = emit_and(f, all, own);
        }
        return all;
    }
    near->complex_a = a.n == 2;
    near->complex_b = b.n == 2;
    IrValue *zero = irb_zero(&f->b, IR_F64);
    IrValue *values[] = {a.at[0], b.at[0], a.n == 2 ? a.at[1] : zero, b.n == 2 ? b.at[1] : zero};
    uint32_t n = near->complex_a || near->complex_b ? 4 : 2;
    return over_elements(f, IR_ALL, all, n, values, near_element, near);
}

IrValue *near_of(Fn *f, const Tree *t, const Vals *args) {
    Near near = {0};
    near.rtol = irb_cast(&f->b, args[2].at[0], IR_F64);
    near.atol = t->nargs > 3 && t->args[3] ? irb_cast(&f->b, args[3].at[0], IR_F64) : near.rtol;
    return near_values(f, &near, t->args[0]->type, args[0], args[1]);
}

Vals builtin_near(Fn *f, const Tree *t) {
    Vals args[4];
    lower_args(f, t, args);
    return vals_one(f->lw, near_of(f, t, args));
}
