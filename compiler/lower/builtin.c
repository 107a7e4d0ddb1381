/* Built-in functions of arrays and values. */
#include "lower/internal.h"

#include <string.h>

static Vals builtin_len(Fn *f, const Tree *t, const Vals *args) {
    Type type = t->args[0]->type;
    if (type->kind != TYPE_ARRAY) return vals_one(f->lw, emit_int(f, type->nparts));
    return vals_one(f->lw, irb_dim(&f->b, args[0].at[0], 0));
}

static Vals builtin_shape(Fn *f, const Tree *t, const Vals *args) {
    Type type = t->args[0]->type;
    Vals out = vals_new(f->lw, type->rank);
    for (uint32_t k = 0; k < type->rank; k++) out.at[k] = irb_dim(&f->b, args[0].at[0], k);
    return out;
}

/* zeros, ones: an array with the sizes given. */
static Vals builtin_filled(Fn *f, const Tree *t, const Vals *args, int64_t value) {
    const Shape *shape = shape_of(f->lw, t->type);
    IrValue *sizes[IR_MAX_RANK];
    Vals first = scalar_const(f, type_element(t->type), value, (double)value);
    Vals out = vals_new(f->lw, shape->n);
    for (uint32_t k = 0; k < t->nargs; k++) {
        sizes[k] = emit_to_i64(f, args[k].at[0]);
        size_check_nonneg(f, sizes[k], value ? "a size of ones" : "a size of zeros");
    }
    for (uint32_t i = 0; i < shape->n; i++) out.at[i] = emit_fill(f, first.at[i], t->nargs, sizes);
    return out;
}

static IrValue *like(Fn *f, IrValue *x, int64_t value) {
    IrValue *sizes[IR_MAX_RANK];
    if (x->type->kind == IR_T_STR || x->type->kind == IR_T_TAPE) return x;
    IrScalar scalar = x->type->scalar;
    bool real = scalar_is_real_float(scalar);
    IrValue *one = real && scalar_is_store(scalar)
                       ? irb_cast(&f->b, irb_scalar_const(&f->b, IR_F32, 0, (double)value), scalar)
                       : irb_scalar_const(&f->b, scalar, real ? value : 0, (double)value);
    if (x->type->kind == IR_T_SCALAR) return one;
    size_dims(f, x, sizes);
    return emit_fill(f, one, x->type->rank, sizes);
}

/* Which leaves of TYPE are imaginary parts: ones_like gives 1 + 0i. */
static void mark_imaginary(Lower *lw, Type type, bool *marks, uint32_t *at) {
    type = type_element(type);
    if (type->kind == TYPE_TUPLE || type->kind == TYPE_STRUCT) {
        for (uint32_t k = 0; k < type->nparts; k++)
            mark_imaginary(lw, type->parts[k].type, marks, at);
        return;
    }
    uint32_t n = shape_count(lw, type);
    if (type_is_complex(type)) marks[*at + 1] = true;
    *at += n;
}

static Vals builtin_like(Fn *f, const Tree *t, const Vals *args, int64_t value) {
    Vals out = vals_new(f->lw, args[0].n);
    bool *imaginary = ARENA_ARRAY(f->lw->arena, bool, args[0].n + 1);
    uint32_t at = 0;
    mark_imaginary(f->lw, t->args[0]->type, imaginary, &at);
    for (uint32_t i = 0; i < out.n; i++)
        out.at[i] = like(f, args[0].at[i], imaginary[i] ? 0 : value);
    return out;
}

static Vals iota_body(Fn *f, IrValue *const *indices, void *data) {
    const IrScalar *to = data;
    return vals_one(f->lw, irb_cast(&f->b, indices[0], *to));
}

static Vals builtin_iota(Fn *f, const Tree *t, const Vals *args) {
    IrValue *n = emit_to_i64(f, args[0].at[0]);
    IrScalar to = ir_of_scalar(type_element(t->type)->scalar);
    size_check_nonneg(f, n, "the size of iota");
    return emit_build(f, 1, &n, shape_of(f->lw, t->type), iota_body, &to);
}

static Vals select_scalars(Fn *f, const Vals *args, void *data) {
    (void)data;
    Vals out = vals_new(f->lw, args[1].n);
    for (uint32_t i = 0; i < out.n; i++)
        out.at[i] = irb_select(&f->b, args[0].at[0], args[1].at[i], args[2].at[i]);
    return out;
}

/* SELECT's operands are scalars, so values of other kinds become an IF of what is there already. */
static Vals builtin_select(Fn *f, const Tree *t, const Vals *args) {
    bool lifted[3];
    for (uint32_t i = 0; i < 3; i++) lifted[i] = t->args[i]->type->kind == TYPE_ARRAY;
    return lift(f, t->type, 3, args, lifted, select_scalars, NULL);
}

/* The first COUNT dimensions turned by one: all of a matrix's for its transpose. */
static Vals turn_dimensions(Fn *f, const Vals *args, uint32_t count) {
    Vals out = vals_new(f->lw, args[0].n);
    for (uint32_t i = 0; i < out.n; i++) {
        int64_t perm[IR_MAX_RANK];
        uint32_t rank = args[0].at[i]->type->rank;
        for (uint32_t k = 0; k < rank; k++) perm[k] = k < count ? (k + 1) % count : k;
        out.at[i] = irb_transpose(&f->b, args[0].at[i], perm);
    }
    return out;
}

static IrValue *element_count(Fn *f, IrValue *x, uint32_t rank) {
    IrValue *count = emit_int(f, 1);
    for (uint32_t k = 0; k < rank; k++) count = emit_mul(f, count, irb_dim(&f->b, x, k));
    return count;
}

static IrValue *reshaped(Fn *f, IrValue *x, uint32_t rank, uint32_t n, IrValue *const *sizes) {
    IrValue *all[IR_MAX_RANK];
    uint32_t extra = x->type->rank - rank; /* dimensions of the elements */
    CHECK_INTERNAL(n + extra <= IR_MAX_RANK);
    for (uint32_t k = 0; k < n; k++) all[k] = sizes[k];
    for (uint32_t k = 0; k < extra; k++) all[n + k] = irb_dim(&f->b, x, rank + k);
    return irb_reshape(&f->b, x, n + extra, all);
}

/* That the numbers of elements agree is among the checker's checks. */
static Vals builtin_reshape(Fn *f, const Tree *t, const Vals *args) {
    IrValue *sizes[IR_MAX_RANK];
    uint32_t rank = t->args[0]->type->rank, n = t->nargs - 1;
    for (uint32_t k = 0; k < n; k++) {
        sizes[k] = emit_to_i64(f, args[k + 1].at[0]);
        size_check_nonneg(f, sizes[k], "a size of reshape");
    }
    Vals out = vals_new(f->lw, args[0].n);
    for (uint32_t i = 0; i < out.n; i++) out.at[i] = reshaped(f, args[0].at[i], rank, n, sizes);
    return out;
}

static Vals builtin_flatten(Fn *f, const Tree *t, const Vals *args) {
    uint32_t rank = t->args[0]->type->rank;
    if (t->args[0]->type->kind != TYPE_ARRAY || rank == 1) return args[0];
    Vals out = vals_new(f->lw, args[0].n);
    for (uint32_t i = 0; i < out.n; i++) {
        IrValue *count = element_count(f, args[0].at[i], rank);
        size_note_nonneg(f, count);
        out.at[i] = reshaped(f, args[0].at[i], rank, 1, &count);
    }
    return out;
}

static Vals join_all(Fn *f, const Tree *t, const Vals *args, bool stack) {
    IrValue **row = ARENA_ARRAY(f->lw->arena, IrValue *, t->nargs);
    Vals out = vals_new(f->lw, args[0].n);
    for (uint32_t i = 0; i < out.n; i++) {
        for (uint32_t k = 0; k < t->nargs; k++) row[k] = args[k].at[i];
        out.at[i] = stack ? irb_pack(&f->b, t->nargs, row) : irb_concat(&f->b, t->nargs, row);
    }
    return out;
}

static Vals builtin_extreme(Fn *f, const Vals *args, IrReduce kind) {
    IrValue *x = args[0].at[0], *sizes[IR_MAX_RANK];
    IrScalar scalar = x->type->scalar;
    uint32_t rank = x->type->rank;
    IrValue *some = emit_bool(f, true);
    size_dims(f, x, sizes);
    for (uint32_t k = 0; k < rank; k++)
        some = emit_and(f, some, emit_binary(f, IR_GT, sizes[k], emit_int(f, 0)));
    emit_check(f, some, LOWER_ERROR_EMPTY, kind == IR_MINIMUM ? "min of nothing" : "max of nothing",
               0, NULL);
    IrValue *init = reduce_neutral(f, kind, scalar);
    IrInst *inst = irb_reduce(&f->b, kind, rank, sizes, 1, &init);
    IrRegion *outside = f->b.region;
    irb_at_end(&f->b, inst->regions[0]);
    IrValue *value = emit_index(f, x, rank, inst->regions[0]->params);
    irb_yield(&f->b, 1, &value);
    irb_at_end(&f->b, outside);
    return vals_one(f->lw, inst->results[0]);
}

static Vals conj_scalar(Fn *f, const Vals *args, void *data) {
    (void)data;
    Vals out = vals_copy(f->lw, args[0]);
    if (out.n > 1) out.at[1] = irb_unary(&f->b, IR_NEG, out.at[1]);
    return out;
}

static Vals builtin_conj(Fn *f, const Tree *t, const Vals *args) {
    bool lifted = t->type->kind == TYPE_ARRAY;
    return lift(f, t->type, 1, args, &lifted, conj_scalar, NULL);
}

static Vals complex_scalar(Fn *f, const Vals *args, void *data) {
    (void)data;
    return vals_join(f->lw, 2, args);
}

/* complex(a, b) of arrays is free, of an array and a scalar not. */
static Vals builtin_complex(Fn *f, const Tree *t, const Vals *args) {
    bool lifted[2];
    for (uint32_t i = 0; i < 2; i++) lifted[i] = t->args[i]->type->kind == TYPE_ARRAY;
    if (lifted[0] == lifted[1]) return vals_join(f->lw, 2, args);
    return lift(f, t->type, 2, args, lifted, complex_scalar, NULL);
}

static Vals builtin_argsort(Fn *f, const Vals *args) {
    IrValue *x = args[0].at[0];
    return vals_one(f->lw, irb_argsort(&f->b, x));
}

Vals lower_builtin(Fn *f, const Tree *t) {
    Vals *args = ARENA_ARRAY(f->lw->arena, Vals, t->nargs + 1);
    switch (t->builtin) {
    case ROW_REDUCE: return builtin_reduce(f, t);
    case ROW_SCAN: return builtin_scan(f, t);
    case ROW_ACCUMULATE: return builtin_accumulate(f, t);
    case ROW_PARTS: return builtin_parts(f, t);
    case ROW_DOT_PARTS: return builtin_dot_parts(f, t);
    case ROW_NEAR: return builtin_near(f, t);
    case ROW_PRINT:
    case ROW_SAVE:
    case ROW_LOAD_NPY:
    case ROW_LOAD_CSV:
    case ROW_LOAD_TEXT:
    case ROW_ARGS:
    case ROW_TIME:
    case ROW_PROGRESS:
    case ROW_TAPE_BYTES: return builtin_text(f, t);
    default: break;
    }
    lower_args(f, t, args);
    switch (t->builtin) {
    case ROW_LEN: return builtin_len(f, t, args);
    case ROW_SHAPE: return builtin_shape(f, t, args);
    case ROW_ZEROS: return builtin_filled(f, t, args, 0);
    case ROW_ONES: return builtin_filled(f, t, args, 1);
    case ROW_ZEROS_LIKE: return builtin_like(f, t, args, 0);
    case ROW_ONES_LIKE: return builtin_like(f, t, args, 1);
    case ROW_IOTA: return builtin_iota(f, t, args);
    case ROW_SELECT: return builtin_select(f, t, args);
    case ROW_STOP: return emit_stop(f, args[0]);
    case ROW_TRANSPOSE: return turn_dimensions(f, args, 2);
    case ROW_ROTATE: return turn_dimensions(f, args, t->args[0]->type->rank);
    case ROW_RESHAPE: return builtin_reshape(f, t, args);
    case ROW_FLATTEN: return builtin_flatten(f, t, args);
    case ROW_CONCAT: return join_all(f, t, args, false);
    case ROW_STACK: return join_all(f, t, args, true);
    case ROW_ZIP: return vals_join(f->lw, t->nargs, args);
    case ROW_UNZIP: return args[0];
    case ROW_ARGSORT: return builtin_argsort(f, args);
    case ROW_MINIMUM: return builtin_extreme(f, args, IR_MINIMUM);
    case ROW_MAXIMUM: return builtin_extreme(f, args, IR_MAXIMUM);
    case ROW_COMPLEX: return builtin_complex(f, t, args);
    case ROW_RE: return vals_slice(args[0], 0, 1);
    case ROW_IM: return vals_slice(args[0], 1, 1);
    case ROW_CONJ: return builtin_conj(f, t, args);
    default: break;
    }
    UNREACHABLE("built-in row %d", t->builtin);
}
