/* The interpreter's array operations but for the parallel ones. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "ir/interp-internal.h"

bool ir_new_array(IrFrame *frame, const IrInst *inst, IrScalar scalar, uint32_t rank,
                  const int64_t *dims, IrDatum *array) {
    int64_t bytes = ir_scalar_bytes(scalar);
    bool empty = false, fits = true;
    for (uint32_t k = 0; k < rank; k++) {
        if (dims[k] < 0)
            return ir_interp_fail(frame->interp, IR_ERROR_SIZE, inst->pos,
                                  "the size %" PRId64 " is negative", dims[k]);
        empty = empty || dims[k] == 0;
        fits = fits && !__builtin_mul_overflow(bytes, dims[k] ? dims[k] : 1, &bytes);
    }
    /* An empty array may have large dimensions beside the one that is 0. */
    if (!fits || (!empty && bytes > IR_INTERP_MAX_BYTES))
        return ir_interp_fail(frame->interp, IR_ERROR_MEMORY, inst->pos, "an array is too large");
    *array = ir_datum_array(scalar, rank, dims);
    return true;
}

static const IrArray *peek_array(const IrFrame *frame, const IrInst *inst, uint32_t i) {
    return ir_peek(frame, inst, i).as.array;
}

static bool same_dims(const int64_t *a, const int64_t *b, uint32_t n) {
    return n == 0 || memcmp(a, b, n * sizeof *a) == 0;
}

/* The place of ARRAY[operands 1 ... N] and the number of elements there. */
static bool find_part(IrFrame *frame, const IrInst *inst, const IrArray *array, uint32_t n,
                      int64_t *at, int64_t *count) {
    *at = 0;
    *count = 1;
    for (uint32_t k = 0; k < n; k++) {
        int64_t i = ir_peek_int(frame, inst, k + 1);
        if (i < 0 || i >= array->dims[k])
            return ir_invalid(frame, inst, "index %" PRId64 " is out of range 0..%" PRId64, i,
                              array->dims[k]);
        *at = *at * array->dims[k] + i;
    }
    for (uint32_t k = n; k < array->rank; k++) *count *= array->dims[k];
    *at *= *count;
    return true;
}

static bool run_index(IrFrame *frame, const IrInst *inst) {
    const IrArray *array = peek_array(frame, inst, 0);
    uint32_t n = inst->noperands - 1;
    int64_t at, count;
    if (!find_part(frame, inst, array, n, &at, &count)) return false;
    if (n == array->rank) return ir_give(frame, inst, 0, ir_array_get(array, at));
    IrDatum part = ir_datum_array(array->scalar, array->rank - n, array->dims + n);
    ir_array_copy(part.as.array, 0, array, at, count);
    return ir_give(frame, inst, 0, part);
}

/* Does V have the shape of ARRAY behind its first N dimensions? */
static bool part_fits(IrFrame *frame, const IrInst *inst, const IrArray *array, uint32_t n,
                      IrDatum v) {
    if (n == array->rank) return true;
    return same_dims(v.as.array->dims, array->dims + n, array->rank - n) ||
           ir_invalid(frame, inst, "the value has another shape than its place");
}

static bool run_update(IrFrame *frame, const IrInst *inst) {
    uint32_t n = inst->noperands - 2;
    int64_t at, count;
    const IrArray *old = peek_array(frame, inst, 0);
    if (!find_part(frame, inst, old, n, &at, &count) ||
        !part_fits(frame, inst, old, n, ir_peek(frame, inst, n + 1)))
        return false;
    IrDatum x = ir_take(frame, inst, 0), v = ir_take(frame, inst, n + 1);
    IrDatum result = {IR_D_ARRAY, {.array = ir_array_own(&x)}};
    if (v.kind == IR_D_ARRAY) ir_array_copy(result.as.array, at, v.as.array, 0, count);
    else ir_array_set(result.as.array, at, v);
    ir_datum_drop(&v);
    return ir_give(frame, inst, 0, result);
}

static IrDatum add(IrScalar scalar, IrDatum x, IrDatum y) {
    IrDatum args[] = {x, y}, sum = {0};
    ir_eval_datum(IR_ADD, scalar, scalar, 0, args, 2, &sum);
    return sum;
}

bool ir_run_acc_add(IrFrame *frame, const IrInst *inst) {
    uint32_t n = inst->noperands - 2;
    int64_t at, count;
    IrArray *acc = ir_peek(frame, inst, 0).as.array;
    IrDatum v = ir_peek(frame, inst, n + 1);
    if (!find_part(frame, inst, acc, n, &at, &count) || !part_fits(frame, inst, acc, n, v))
        return false;
    for (int64_t i = 0; i < count; i++) {
        IrDatum term = v.kind == IR_D_ARRAY ? ir_array_get(v.as.array, i) : ir_datum_share(v);
        IrDatum old = ir_array_get(acc, at + i), sum = add(acc->scalar, old, term);
        ir_array_set(acc, at + i, sum);
        ir_datum_drop(&term);
        ir_datum_drop(&old);
        ir_datum_drop(&sum);
    }
    return true;
}

/* ---- slices ---- */

/* The next index vector below DIMS, in row-major order. */
static void advance(int64_t *index, const int64_t *dims, uint32_t rank) {
    for (uint32_t k = rank; k-- > 0;) {
        if (++index[k] < dims[k]) return;
        index[k] = 0;
    }
}

/* A part of an array whose element i stands at start + step * i. */
typedef struct Grid {
    const IrArray *array;
    int64_t start[IR_MAX_RANK], step[IR_MAX_RANK];
} Grid;

/* Operands START..., STEP...; COUNT are the sizes of the part, all of which must be inside. */
static bool read_grid(IrFrame *frame, const IrInst *inst, const IrArray *array, uint32_t start,
                      uint32_t step, const int64_t *count, Grid *grid) {
    bool empty = false;
    grid->array = array;
    for (uint32_t k = 0; k < array->rank; k++) empty = empty || count[k] == 0;
    for (uint32_t k = 0; k < array->rank; k++) {
        int64_t span, last;
        grid->start[k] = ir_peek_int(frame, inst, start + k);
        grid->step[k] = ir_peek_int(frame, inst, step + k);
        if (empty) continue;
        bool inside = grid->start[k] >= 0 && grid->start[k] < array->dims[k] &&
                      !__builtin_mul_overflow(grid->step[k], count[k] - 1, &span) &&
                      !__builtin_add_overflow(grid->start[k], span, &last) && last >= 0 &&
                      last < array->dims[k];
        if (!inside) return ir_invalid(frame, inst, "dimension %u of the slice is out of range", k);
    }
    return true;
}

static int64_t grid_place(const Grid *grid, const int64_t *index) {
    int64_t at = 0;
    for (uint32_t k = 0; k < grid->array->rank; k++)
        at = at * grid->array->dims[k] + grid->start[k] + grid->step[k] * index[k];
    return at;
}

static bool run_slice(IrFrame *frame, const IrInst *inst) {
    const IrArray *array = peek_array(frame, inst, 0);
    uint32_t r = array->rank;
    int64_t count[IR_MAX_RANK], index[IR_MAX_RANK] = {0};
    Grid grid;
    IrDatum part;
    for (uint32_t k = 0; k < r; k++) count[k] = ir_peek_int(frame, inst, 1 + r + k);
    if (!ir_new_array(frame, inst, array->scalar, r, count, &part)) return false;
    if (!read_grid(frame, inst, array, 1, 1 + 2 * r, count, &grid)) {
        ir_datum_drop(&part);
        return false;
    }
    for (int64_t i = 0; i < part.as.array->count; i++, advance(index, count, r))
        ir_array_copy(part.as.array, i, array, grid_place(&grid, index), 1);
    return ir_give(frame, inst, 0, part);
}

static bool run_assign(IrFrame *frame, const IrInst *inst) {
    const IrArray *old = peek_array(frame, inst, 0);
    uint32_t r = old->rank;
    int64_t index[IR_MAX_RANK] = {0};
    Grid grid;
    const IrArray *shape = peek_array(frame, inst, 1 + 2 * r);
    if (!read_grid(frame, inst, old, 1, 1 + r, shape->dims, &grid)) return false;
    IrDatum x = ir_take(frame, inst, 0), v = ir_take(frame, inst, 1 + 2 * r);
    IrArray *array = ir_array_own(&x);
    const IrArray *part = v.as.array;
    grid.array = array;
    for (int64_t i = 0; i < part->count; i++, advance(index, part->dims, r))
        ir_array_copy(array, grid_place(&grid, index), part, i, 1);
    ir_datum_drop(&v);
    return ir_give(frame, inst, 0, (IrDatum){IR_D_ARRAY, {.array = array}});
}

/* ---- shapes ---- */

static bool run_transpose(IrFrame *frame, const IrInst *inst) {
    const IrArray *array = peek_array(frame, inst, 0);
    uint32_t r = array->rank;
    int64_t dims[IR_MAX_RANK], index[IR_MAX_RANK] = {0}, strides[IR_MAX_RANK], stride = 1;
    for (uint32_t k = r; k-- > 0; stride *= array->dims[k]) strides[k] = stride;
    for (uint32_t k = 0; k < r; k++) dims[k] = array->dims[inst->ints[k]];
    IrDatum result = ir_datum_array(array->scalar, r, dims);
    for (int64_t i = 0; i < array->count; i++, advance(index, dims, r)) {
        int64_t at = 0;
        for (uint32_t k = 0; k < r; k++) at += index[k] * strides[inst->ints[k]];
        ir_array_copy(result.as.array, i, array, at, 1);
    }
    return ir_give(frame, inst, 0, result);
}

static bool run_reshape(IrFrame *frame, const IrInst *inst) {
    const IrArray *array = peek_array(frame, inst, 0);
    uint32_t r = inst->noperands - 1;
    int64_t dims[IR_MAX_RANK];
    IrDatum result;
    for (uint32_t k = 0; k < r; k++) dims[k] = ir_peek_int(frame, inst, k + 1);
    if (!ir_new_array(frame, inst, array->scalar, r, dims, &result)) return false;
    if (result.as.array->count != array->count) {
        ir_datum_drop(&result);
        return ir_invalid(frame, inst, "the number of elements differs");
    }
    ir_array_copy(result.as.array, 0, array, 0, array->count);
    return ir_give(frame, inst, 0, result);
}

static bool run_assume(IrFrame *frame, const IrInst *inst) {
    const IrArray *array = peek_array(frame, inst, 0);
    for (uint32_t k = 0; k < array->rank; k++) {
        int64_t size = ir_peek_int(frame, inst, k + 1);
        if (size != array->dims[k])
            return ir_invalid(frame, inst, "dimension %u is %" PRId64 ", not %" PRId64, k,
                              array->dims[k], size);
    }
    return ir_give(frame, inst, 0, ir_take(frame, inst, 0));
}

static bool run_pack(IrFrame *frame, const IrInst *inst) {
    IrDatum first = ir_peek(frame, inst, 0);
    int64_t dims[IR_MAX_RANK] = {inst->noperands}, count = 1;
    uint32_t r = first.kind == IR_D_ARRAY ? first.as.array->rank : 0;
    IrDatum result;
    for (uint32_t k = 0; k < r; k++) count *= dims[k + 1] = first.as.array->dims[k];
    if (!ir_new_array(frame, inst, inst->operands[0]->type->scalar, r + 1, dims, &result))
        return false;
    for (uint32_t i = 0; i < inst->noperands; i++) {
        IrDatum part = ir_peek(frame, inst, i);
        if (r == 0) ir_array_set(result.as.array, i, part);
        else if (same_dims(part.as.array->dims, dims + 1, r))
            ir_array_copy(result.as.array, i * count, part.as.array, 0, count);
        else {
            ir_datum_drop(&result);
            return ir_invalid(frame, inst, "operand %u has another shape than the first", i);
        }
    }
    return ir_give(frame, inst, 0, result);
}

static bool run_concat(IrFrame *frame, const IrInst *inst) {
    const IrArray *first = peek_array(frame, inst, 0);
    int64_t dims[IR_MAX_RANK], at = 0;
    IrDatum result;
    memcpy(dims, first->dims, sizeof dims);
    dims[0] = 0;
    for (uint32_t i = 0; i < inst->noperands; i++) {
        const IrArray *part = peek_array(frame, inst, i);
        if (!same_dims(part->dims + 1, first->dims + 1, first->rank - 1))
            return ir_invalid(frame, inst, "operand %u has another shape than the first", i);
        dims[0] += part->dims[0];
    }
    if (!ir_new_array(frame, inst, first->scalar, first->rank, dims, &result)) return false;
    for (uint32_t i = 0; i < inst->noperands; i++) {
        const IrArray *part = peek_array(frame, inst, i);
        ir_array_copy(result.as.array, at, part, 0, part->count);
        at += part->count;
    }
    return ir_give(frame, inst, 0, result);
}

/* ---- sorting, products ---- */

/* Does element I stand before element J?  NaN behind everything; equal ones keep their order. */
static bool before(const IrArray *array, int64_t i, int64_t j) {
    IrBits args[] = {ir_datum_bits(ir_array_get(array, i)), ir_datum_bits(ir_array_get(array, j))};
    IrBits less = {0};
    if (ir_scalar_float(array->scalar)) {
        if (isnan(args[0].f)) return false;
        if (isnan(args[1].f)) return true;
    }
    ir_eval(IR_LT, array->scalar, IR_BOOL, 0, args, &less);
    return less.i != 0;
}

/* Merges the sorted FROM[LOW .. MIDDLE] and FROM[MIDDLE .. HIGH]. */
static void merge(const IrArray *array, const int64_t *from, int64_t *to, int64_t low,
                  int64_t middle, int64_t high) {
    int64_t i = low, j = middle;
    for (int64_t k = low; k < high; k++) {
        bool right = i == middle || (j < high && before(array, from[j], from[i]));
        to[k] = right ? from[j++] : from[i++];
    }
}

static bool run_argsort(IrFrame *frame, const IrInst *inst) {
    const IrArray *array = peek_array(frame, inst, 0);
    int64_t n = array->count;
    int64_t *order = memory_zeroed((size_t)n + 1, sizeof *order);
    int64_t *other = memory_zeroed((size_t)n + 1, sizeof *other);
    for (int64_t i = 0; i < n; i++) order[i] = i;
    for (int64_t run = 1; run < n; run *= 2) {
        for (int64_t low = 0; low < n; low += 2 * run) {
            int64_t middle = low + run < n ? low + run : n;
            merge(array, order, other, low, middle, middle + run < n ? middle + run : n);
        }
        int64_t *swap = order;
        order = other;
        other = swap;
    }
    IrDatum result = ir_datum_array(IR_I64, 1, &n);
    for (int64_t i = 0; i < n; i++) ir_array_set(result.as.array, i, ir_datum_int(order[i]));
    free(order);
    free(other);
    return ir_give(frame, inst, 0, result);
}

/* A factor of CONTRACT as a matrix, with strides. */
typedef struct Factor {
    const IrArray *array;
    int64_t rows, cols, row_stride, col_stride;
} Factor;

static Factor factor(const IrArray *array, bool transposed, bool left) {
    if (array->rank == 1)
        return left ? (Factor){array, 1, array->dims[0], 0, 1}
                    : (Factor){array, array->dims[0], 1, 1, 0};
    if (transposed) return (Factor){array, array->dims[1], array->dims[0], 1, array->dims[1]};
    return (Factor){array, array->dims[0], array->dims[1], array->dims[1], 1};
}

static IrDatum product(const Factor *x, const Factor *y, IrScalar scalar, int64_t row,
                       int64_t col) {
    IrDatum sum = ir_bits_datum(scalar, (IrBits){0});
    if (ir_scalar_lanes(scalar) > 1) sum = ir_datum_lanes(scalar);
    for (int64_t k = 0; k < x->cols; k++) {
        IrDatum a = ir_array_get(x->array, row * x->row_stride + k * x->col_stride);
        IrDatum b = ir_array_get(y->array, k * y->row_stride + col * y->col_stride);
        IrDatum args[] = {a, b}, term = {0}, old = sum;
        ir_eval_datum(IR_MUL, scalar, scalar, 0, args, 2, &term);
        sum = add(scalar, old, term);
        ir_datum_drop(&a);
        ir_datum_drop(&b);
        ir_datum_drop(&term);
        ir_datum_drop(&old);
    }
    return sum;
}

static bool run_contract(IrFrame *frame, const IrInst *inst) {
    Factor x = factor(peek_array(frame, inst, 0), inst->flags & IR_CONTRACT_TA, true);
    Factor y = factor(peek_array(frame, inst, 1), inst->flags & IR_CONTRACT_TB, false);
    int64_t dims[2];
    uint32_t rank = 0;
    IrDatum result;
    IrScalar scalar = inst->results[0]->type->scalar;
    if (x.cols != y.rows) return ir_invalid(frame, inst, "inner dimensions differ");
    if (x.array->rank == 1 && y.array->rank == 1)
        return ir_give(frame, inst, 0, product(&x, &y, scalar, 0, 0));
    if (x.array->rank == 2) dims[rank++] = x.rows;
    if (y.array->rank == 2) dims[rank++] = y.cols;
    if (!ir_new_array(frame, inst, scalar, rank, dims, &result)) return false;
    for (int64_t row = 0; row < x.rows; row++)
        for (int64_t col = 0; col < y.cols; col++) {
            IrDatum sum = product(&x, &y, scalar, row, col);
            ir_array_set(result.as.array, row * y.cols + col, sum);
            ir_datum_drop(&sum);
        }
    return ir_give(frame, inst, 0, result);
}

bool ir_run_array(IrFrame *frame, const IrInst *inst) {
    switch ((int)inst->op) {
    case IR_DIM:
        return ir_give(frame, inst, 0, ir_datum_int(peek_array(frame, inst, 0)->dims[inst->imm]));
    case IR_INDEX: return run_index(frame, inst);
    case IR_UPDATE: return run_update(frame, inst);
    case IR_SLICE: return run_slice(frame, inst);
    case IR_ASSIGN: return run_assign(frame, inst);
    case IR_TRANSPOSE: return run_transpose(frame, inst);
    case IR_RESHAPE: return run_reshape(frame, inst);
    case IR_PACK: return run_pack(frame, inst);
    case IR_CONCAT: return run_concat(frame, inst);
    case IR_ASSUME: return run_assume(frame, inst);
    case IR_ARGSORT: return run_argsort(frame, inst);
    case IR_CONTRACT: return run_contract(frame, inst);
    default: return ir_invalid(frame, inst, "cannot be run");
    }
}
