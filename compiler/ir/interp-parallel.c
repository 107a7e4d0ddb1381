/* BUILD and REDUCE in the interpreter.

   Sums are made as the language promises: one after the other in blocks of 128 places, and the
   blocks in pairs, so that the error grows with log n.  The other reductions go the same way. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "ir/interp-internal.h"

enum { BLOCK = 128 };

/* ---- index spaces ---- */

typedef struct Space {
    uint32_t rank;
    int64_t sizes[IR_MAX_RANK], index[IR_MAX_RANK];
    int64_t count;
} Space;

static bool read_space(IrFrame *frame, const IrInst *inst, Space *space) {
    *space = (Space){.rank = (uint32_t)inst->imm, .count = 1};
    for (uint32_t k = 0; k < space->rank; k++) {
        int64_t size = ir_peek_int(frame, inst, k);
        space->sizes[k] = size;
        if (size < 0)
            return ir_interp_fail(frame->interp, IR_ERROR_SIZE, inst->pos,
                                  "the size %lld is negative", (long long)size);
    }
    for (uint32_t k = 0; k < space->rank; k++)
        if (space->sizes[k] == 0) space->count = 0;
    for (uint32_t k = 0; k < space->rank; k++)
        if (__builtin_mul_overflow(space->count, space->sizes[k], &space->count))
            return ir_interp_fail(frame->interp, IR_ERROR_MEMORY, inst->pos,
                                  "there are too many places");
    return true;
}

static void advance(Space *space) {
    for (uint32_t k = space->rank; k-- > 0;) {
        if (++space->index[k] < space->sizes[k]) return;
        space->index[k] = 0;
    }
}

/* Runs the body at the place where SPACE stands, and goes on. */
static bool run_place(IrFrame *frame, const IrInst *inst, Space *space, IrDatum *out) {
    const IrRegion *body = inst->regions[0];
    for (uint32_t k = 0; k < space->rank; k++)
        ir_set_param(frame, inst, body->params[k], ir_datum_int(space->index[k]));
    advance(space);
    return ir_run_region(frame, inst, body, out);
}

static IrDatum *room(uint32_t n) {
    return memory_zeroed((size_t)n + 1, sizeof(IrDatum));
}

static void drop_all(IrDatum *data, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) ir_datum_drop(&data[i]);
}

/* ---- BUILD ---- */

static bool make_results(IrFrame *frame, const IrInst *inst, const Space *space, IrDatum *results) {
    int64_t dims[IR_MAX_RANK];
    uint32_t at = space->rank;
    memcpy(dims, space->sizes, sizeof dims);
    for (uint32_t r = 0; r < inst->nresults; r++) {
        uint32_t inner = (uint32_t)inst->ints[r];
        for (uint32_t k = 0; k < inner; k++) dims[space->rank + k] = ir_peek_int(frame, inst, at++);
        if (!ir_new_array(frame, inst, inst->results[r]->type->scalar, space->rank + inner, dims,
                          &results[r]))
            return false;
    }
    return true;
}

/* VALUE becomes element (or sub-array) AT of ARRAY. */
static bool store(IrFrame *frame, const IrInst *inst, IrArray *array, uint32_t outer, int64_t at,
                  IrDatum value) {
    if (value.kind != IR_D_ARRAY) {
        ir_array_set(array, at, value);
        return true;
    }
    const IrArray *part = value.as.array;
    if (memcmp(part->dims, array->dims + outer, part->rank * sizeof part->dims[0]) != 0)
        return ir_invalid(frame, inst, "the body yields an array of another size");
    ir_array_copy(array, at * part->count, part, 0, part->count);
    return true;
}

static bool fill(IrFrame *frame, const IrInst *inst, Space *space, IrDatum *results) {
    IrDatum *out = room(inst->nresults);
    bool ok = true;
    for (int64_t at = 0; ok && at < space->count; at++) {
        ok = run_place(frame, inst, space, out);
        for (uint32_t r = 0; ok && r < inst->nresults; r++)
            ok = store(frame, inst, results[r].as.array, space->rank, at, out[r]);
        drop_all(out, inst->nresults);
    }
    free(out);
    return ok;
}

/* Gives the RESULTS of INST if it went well; frees what is left of them. */
static bool give_all(IrFrame *frame, const IrInst *inst, IrDatum *results, bool ok) {
    for (uint32_t r = 0; ok && r < inst->nresults; r++) {
        ok = ir_give(frame, inst, r, results[r]);
        results[r] = (IrDatum){0};
    }
    drop_all(results, inst->nresults);
    free(results);
    return ok;
}

bool ir_run_build(IrFrame *frame, const IrInst *inst) {
    Space space;
    if (!read_space(frame, inst, &space)) return false;
    IrDatum *results = room(inst->nresults);
    bool ok = make_results(frame, inst, &space, results) && fill(frame, inst, &space, results);
    return give_all(frame, inst, results, ok);
}

/* ---- REDUCE ---- */

static IrDatum combine_scalars(IrReduce kind, IrScalar scalar, IrDatum x, IrDatum y) {
    static const IrOp ops[] = {IR_ADD, IR_MUL, IR_MIN, IR_MAX, IR_AND, IR_OR};
    IrDatum args[] = {x, y}, value = {0};
    ir_eval_datum(ops[kind], scalar, scalar, 0, args, 2, &value);
    return value;
}

/* Element I of both combined, in INTO. */
static void combine_element(IrReduce kind, IrArray *into, const IrArray *from, int64_t i) {
    IrDatum x = ir_array_get(into, i), y = ir_array_get(from, i);
    IrDatum sum = combine_scalars(kind, into->scalar, x, y);
    ir_array_set(into, i, sum);
    ir_datum_drop(&x);
    ir_datum_drop(&y);
    ir_datum_drop(&sum);
}

/* Each *INTO becomes *INTO combined with *FROM, which is dropped. */
static bool combine(IrFrame *frame, const IrInst *inst, IrDatum *into, IrDatum *from) {
    IrReduce kind = (IrReduce)inst->flags;
    bool ok = true;
    for (uint32_t r = 0; r < inst->nresults; r++) {
        IrScalar scalar = inst->results[r]->type->scalar;
        if (into[r].kind != IR_D_ARRAY) {
            IrDatum old = into[r];
            into[r] = combine_scalars(kind, scalar, old, from[r]);
            ir_datum_drop(&old);
            continue;
        }
        const IrArray *other = from[r].as.array;
        IrArray *array = ir_array_own(&into[r]);
        into[r] = (IrDatum){IR_D_ARRAY, {.array = array}};
        bool fits = memcmp(array->dims, other->dims, array->rank * sizeof other->dims[0]) == 0;
        if (!fits) ok = ir_invalid(frame, inst, "the body yields an array of another size");
        for (int64_t i = 0; fits && i < array->count; i++) combine_element(kind, array, other, i);
    }
    drop_all(from, inst->nresults);
    return ok;
}

/* The values of finished blocks: entry k stands for a power of two of them. */
typedef struct Blocks {
    IrDatum *at[64];
    uint32_t n;
    uint64_t finished;
} Blocks;

/* Takes over BLOCK's data and the array itself. */
static bool add_block(IrFrame *frame, const IrInst *inst, Blocks *blocks, IrDatum *block) {
    bool ok = true;
    for (uint64_t k = ++blocks->finished; !(k & 1); k >>= 1) {
        IrDatum *left = blocks->at[--blocks->n];
        ok = combine(frame, inst, left, block) && ok;
        free(block);
        block = left;
    }
    blocks->at[blocks->n++] = block;
    return ok;
}

/* RESULTS combined with all that is left, which is freed. */
static bool finish_blocks(IrFrame *frame, const IrInst *inst, Blocks *blocks, IrDatum *results) {
    bool ok = true;
    while (blocks->n > 1) {
        IrDatum *right = blocks->at[--blocks->n];
        ok = combine(frame, inst, blocks->at[blocks->n - 1], right) && ok;
        free(right);
    }
    if (blocks->n) {
        ok = combine(frame, inst, results, blocks->at[0]) && ok;
        free(blocks->at[0]);
    }
    return ok;
}

/* One block of at most BLOCK places. */
static bool run_block(IrFrame *frame, const IrInst *inst, Space *space, int64_t places,
                      IrDatum *block) {
    IrDatum *out = room(inst->nresults);
    bool ok = run_place(frame, inst, space, block);
    for (int64_t i = 1; ok && i < places; i++)
        ok = run_place(frame, inst, space, out) && combine(frame, inst, block, out);
    drop_all(out, inst->nresults);
    free(out);
    return ok;
}

static bool reduce(IrFrame *frame, const IrInst *inst, Space *space, IrDatum *results) {
    Blocks blocks = {.n = 0};
    bool ok = true;
    for (int64_t at = 0; ok && at < space->count; at += BLOCK) {
        IrDatum *block = room(inst->nresults);
        int64_t left = space->count - at;
        ok = run_block(frame, inst, space, left < BLOCK ? left : BLOCK, block);
        if (ok) {
            ok = add_block(frame, inst, &blocks, block);
        } else {
            drop_all(block, inst->nresults);
            free(block);
        }
    }
    if (ok) return finish_blocks(frame, inst, &blocks, results);
    while (blocks.n) {
        drop_all(blocks.at[--blocks.n], inst->nresults);
        free(blocks.at[blocks.n]);
    }
    return false;
}

/* Is VALUE better than BEST?  The first NaN is the best of all. */
static bool better(IrReduce kind, IrScalar scalar, IrDatum value, IrDatum best) {
    IrBits args[] = {ir_datum_bits(value), ir_datum_bits(best)}, is = {0};
    if (ir_scalar_float(scalar)) {
        if (isnan(best.as.f)) return false;
        if (isnan(value.as.f)) return true;
    }
    ir_eval(kind == IR_ARGMIN ? IR_LT : IR_GT, scalar, IR_BOOL, 0, args, &is);
    return is.i != 0;
}

static bool run_arg(IrFrame *frame, const IrInst *inst, Space *space) {
    IrScalar scalar = inst->regions[0]->last->operands[0]->type->scalar;
    IrDatum best = {0}, value = {0};
    int64_t place = 0;
    if (space->count == 0) return ir_invalid(frame, inst, "there is no best of nothing");
    for (int64_t at = 0; at < space->count; at++) {
        if (!run_place(frame, inst, space, &value)) return false;
        if (at && !better((IrReduce)inst->flags, scalar, value, best)) continue;
        best = value;
        place = at;
    }
    return ir_give(frame, inst, 0, ir_datum_int(place));
}

bool ir_run_reduce(IrFrame *frame, const IrInst *inst) {
    Space space;
    if (!read_space(frame, inst, &space)) return false;
    if (inst->flags >= IR_ARGMIN) return run_arg(frame, inst, &space);
    IrDatum *results = room(inst->nresults);
    for (uint32_t r = 0; r < inst->nresults; r++) results[r] = ir_take(frame, inst, space.rank + r);
    bool ok = reduce(frame, inst, &space, results);
    return give_all(frame, inst, results, ok);
}
