/* Entries of ARGSORT: a merge sort in which each element finds its place by itself, as in section 5
   of N. Satish, M. Harris and M. Garland, Designing Efficient Sorting Algorithms for Manycore GPUs,
   IPDPS 2009.  An element of one of two sorted runs comes behind those before it in its own run and
   those of the other run that are less (of the left run also those that are equal, so that the
   order is stable), which a binary search counts.

   Elements are sorted by unsigned keys of the same order, as in runtime/core/sort.c: NaN last, -0.0
   equal to 0.0.  In the first launch each block sorts a tile in its shared memory, where the key
   behind the last element is the largest, so that it stays there; each of the others merges pairs
   of runs, an element for each invocation. */
#include "codegen/ptx/entry.h"

enum { TILE = DEVICE_SORT_TILE, TILE_BITS = 8 };
_Static_assert(TILE == 1 << TILE_BITS, "tiles are powers of two");

/* Where keys are, and of each the place that it had at first. */
typedef struct Items {
    LLVMValueRef keys, order;
} Items;

typedef struct SortEntry {
    Entry *x;
    IrScalar scalar, key;    /* of the elements, of keys */
    LLVMValueRef values;     /* the elements */
    LLVMValueRef count, run; /* i64s */
    Items from, to;
} SortEntry;

static LLVMValueRef load(const SortEntry *s, IrScalar scalar, LLVMValueRef from, LLVMValueRef i) {
    return ptx_load(s->x->g, scalar, ptx_element(s->x->g, scalar, from, i));
}

static void store_item(const SortEntry *s, const Items *to, LLVMValueRef i, LLVMValueRef key,
                       LLVMValueRef place) {
    Ptx *g = s->x->g;
    ptx_store(g, s->key, key, ptx_element(g, s->key, to->keys, i));
    ptx_store(g, IR_I64, place, ptx_element(g, IR_I64, to->order, i));
}

/* ---- keys ---- */

static IrScalar key_scalar(IrScalar scalar) {
    switch (ir_scalar_bytes(scalar)) {
    case 1: return IR_U8;
    case 2: return IR_U16;
    case 4: return IR_U32;
    default: return IR_U64;
    }
}

/* The bits of infinity. */
static uint64_t infinity_of(IrScalar scalar) {
    switch ((int)scalar) {
    case IR_F16: return UINT64_C(0x1f) << 10;
    case IR_BF16: return UINT64_C(0xff) << 7;
    case IR_F32: return UINT64_C(0xff) << 23;
    default: return UINT64_C(0x7ff) << 52;
    }
}

static LLVMValueRef float_key(const SortEntry *s, LLVMValueRef value) {
    Emit *e = &s->x->g->e;
    LLVMTypeRef type = emit_type(e, s->key);
    LLVMValueRef bits = LLVMBuildBitCast(e->b, value, type, "");
    LLVMValueRef all = LLVMConstAllOnes(type), zero = LLVMConstNull(type);
    LLVMValueRef sign = LLVMConstInt(type, UINT64_C(1) << (8 * ir_scalar_bytes(s->key) - 1), false);
    LLVMValueRef size = LLVMBuildAnd(e->b, bits, LLVMConstNot(sign), "");
    LLVMValueRef negative = LLVMBuildICmp(e->b, LLVMIntSLT, bits, zero, "");
    LLVMValueRef is_zero = LLVMBuildICmp(e->b, LLVMIntEQ, size, zero, "");
    LLVMValueRef is_nan = LLVMBuildICmp(e->b, LLVMIntUGT, size,
                                        LLVMConstInt(type, infinity_of(s->scalar), false), "");
    LLVMValueRef key = LLVMBuildSelect(e->b, negative, LLVMBuildNot(e->b, bits, ""),
                                       LLVMBuildOr(e->b, bits, sign, ""), "");
    key = LLVMBuildSelect(e->b, is_zero, sign, key, "");
    return LLVMBuildSelect(e->b, is_nan, all, key, "");
}

static LLVMValueRef key_of(const SortEntry *s, LLVMValueRef value) {
    Emit *e = &s->x->g->e;
    if (ir_scalar_float(s->scalar)) return float_key(s, value);
    if (!ir_scalar_signed(s->scalar)) return value;
    uint64_t sign = UINT64_C(1) << (8 * ir_scalar_bytes(s->key) - 1);
    return LLVMBuildXor(e->b, value, LLVMConstInt(LLVMTypeOf(value), sign, false), "");
}

/* ---- merging ---- */

/* Where KEY, the I-th of the COUNT, goes if the runs of length RUN are merged in pairs. */
static LLVMValueRef merged_place(const SortEntry *s, LLVMValueRef keys, LLVMValueRef count,
                                 LLVMValueRef run, LLVMValueRef i, LLVMValueRef key) {
    Ptx *g = s->x->g;
    Emit *e = &g->e;
    LLVMBasicBlockRef before = LLVMGetInsertBlock(e->b), head = ptx_block(g, "search"),
                      body = ptx_block(g, ""), done = ptx_block(g, "");
    LLVMValueRef zero = gen_int(e, 0), pair = LLVMBuildShl(e->b, run, gen_int(e, 1), "");
    LLVMValueRef begin = LLVMBuildAnd(e->b, i, LLVMBuildSub(e->b, zero, pair, ""), "");
    LLVMValueRef middle = emit_size_add(e, begin, run);
    LLVMValueRef is_right =
        LLVMBuildICmp(e->b, LLVMIntNE, LLVMBuildAnd(e->b, i, run, ""), zero, "");
    LLVMValueRef first = LLVMBuildSelect(e->b, is_right, begin, middle, "");
    LLVMValueRef ends[] = {emit_size_add(e, first, run), count};
    LLVMValueRef end = emit_intrinsic(e, "llvm.smin", e->i64, ends, 2);
    LLVMBuildBr(e->b, head);
    LLVMPositionBuilderAtEnd(e->b, head);
    LLVMValueRef low = LLVMBuildPhi(e->b, e->i64, ""), high = LLVMBuildPhi(e->b, e->i64, "");
    LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntSLT, low, high, ""), body, done);
    LLVMPositionBuilderAtEnd(e->b, body);
    LLVMValueRef at = LLVMBuildLShr(e->b, emit_size_add(e, low, high), gen_int(e, 1), "");
    LLVMValueRef other = load(s, s->key, keys, at);
    LLVMValueRef less = LLVMBuildICmp(e->b, LLVMIntULT, other, key, "");
    LLVMValueRef up_to = LLVMBuildICmp(e->b, LLVMIntULE, other, key, "");
    LLVMValueRef is_before = LLVMBuildSelect(e->b, is_right, up_to, less, "");
    LLVMValueRef next = emit_size_add(e, at, gen_int(e, 1));
    LLVMValueRef lower = LLVMBuildSelect(e->b, is_before, next, low, "");
    LLVMValueRef higher = LLVMBuildSelect(e->b, is_before, high, at, "");
    LLVMBuildBr(e->b, head);
    LLVMAddIncoming(low, (LLVMValueRef[]){first, lower}, (LLVMBasicBlockRef[]){before, body}, 2);
    LLVMAddIncoming(high, (LLVMValueRef[]){end, higher}, (LLVMBasicBlockRef[]){before, body}, 2);
    LLVMPositionBuilderAtEnd(e->b, done);
    /* Both runs begin at BEGIN or RUN behind it. */
    return LLVMBuildSub(e->b, emit_size_add(e, i, low), middle, "");
}

/* ---- launches ---- */

/* The tile in SHARED; each invocation has an item, THREAD its place. */
static void sort_tile(const SortEntry *s, const Items *shared, LLVMValueRef thread) {
    Ptx *g = s->x->g;
    Emit *e = &g->e;
    LLVMValueRef one = gen_int(e, 1);
    ptx_barrier(g);
    Axis step = steps_open(g, gen_int(e, 0), one, gen_int(e, TILE_BITS));
    LLVMValueRef run = LLVMBuildShl(e->b, one, step.i, "");
    LLVMValueRef key = load(s, s->key, shared->keys, thread);
    LLVMValueRef place = load(s, IR_I64, shared->order, thread);
    LLVMValueRef to = merged_place(s, shared->keys, gen_int(e, TILE), run, thread, key);
    ptx_barrier(g); /* all have looked */
    store_item(s, shared, to, key, place);
    ptx_barrier(g);
    axis_close(g, &step);
}

static void sort_tiles(const SortEntry *s) {
    Ptx *g = s->x->g;
    Emit *e = &g->e;
    LLVMValueRef thread = ptx_special(g, "tid", 'x');
    Items shared = {ptx_shared(g, LLVMArrayType2(emit_memory_type(e, s->key), TILE)),
                    ptx_shared(g, LLVMArrayType2(e->i64, TILE))};
    LLVMValueRef up = emit_size_add(e, s->count, gen_int(e, TILE - 1));
    LLVMValueRef tiles = LLVMBuildLShr(e->b, up, gen_int(e, TILE_BITS), "");
    Axis tile = steps_open(g, ptx_special(g, "ctaid", 'x'), ptx_special(g, "nctaid", 'x'), tiles);
    LLVMValueRef begin = LLVMBuildShl(e->b, tile.i, gen_int(e, TILE_BITS), "");
    LLVMValueRef i = emit_size_add(e, begin, thread);
    LLVMValueRef valid = LLVMBuildICmp(e->b, LLVMIntSLT, i, s->count, "");
    Side in = side_open(g, valid);
    LLVMValueRef key = key_of(s, load(s, s->scalar, s->values, i));
    key = side_give(g, &in, key, LLVMConstAllOnes(LLVMTypeOf(key)));
    store_item(s, &shared, thread, key, i);
    sort_tile(s, &shared, thread);
    Side out = side_open(g, valid);
    store_item(s, &s->to, i, load(s, s->key, shared.keys, thread),
               load(s, IR_I64, shared.order, thread));
    side_close(g, &out);
    axis_close(g, &tile);
}

static void merge_runs(const SortEntry *s) {
    Ptx *g = s->x->g;
    Axis axis;
    axis_open(g, &axis, 'x', s->count);
    LLVMValueRef key = load(s, s->key, s->from.keys, axis.i);
    LLVMValueRef place = load(s, IR_I64, s->from.order, axis.i);
    LLVMValueRef to = merged_place(s, s->from.keys, s->count, s->run, axis.i, key);
    store_item(s, &s->to, to, key, place);
    axis_close(g, &axis);
}

/* The spare memory has other places, the keys of the result, and the keys of those. */
static void find_memory(SortEntry *s) {
    const Entry *x = s->x;
    Ptx *g = x->g;
    Emit *e = &g->e;
    LLVMValueRef spare = LLVMGetParam(g->entry, LLVMCountParams(g->entry) - 1);
    LLVMValueRef keys = ptx_element(g, IR_I64, spare, s->count);
    Items result = {keys, x->outs[0]}, other = {ptx_element(g, s->key, keys, s->count), spare};
    LLVMValueRef turned = LLVMBuildICmp(e->b, LLVMIntNE, x->extents[2], gen_int(e, 0), "");
    s->to.keys = LLVMBuildSelect(e->b, turned, other.keys, result.keys, "");
    s->to.order = LLVMBuildSelect(e->b, turned, other.order, result.order, "");
    s->from.keys = LLVMBuildSelect(e->b, turned, result.keys, other.keys, "");
    s->from.order = LLVMBuildSelect(e->b, turned, result.order, other.order, "");
}

void entry_sort(Entry *x) {
    Ptx *g = x->g;
    Emit *e = &g->e;
    const IrValue *values = ir_resolve(x->kernel->inst->operands[0]);
    SortEntry s = {.x = x,
                   .scalar = values->type->scalar,
                   .key = key_scalar(values->type->scalar),
                   .values = x->vals[values->id].at,
                   .count = x->extents[0],
                   .run = x->extents[1]};
    find_memory(&s);
    LLVMBasicBlockRef tiles = ptx_block(g, "tiles"), runs = ptx_block(g, "runs"),
                      done = ptx_block(g, "");
    LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntEQ, s.run, gen_int(e, 0), ""), tiles, runs);
    LLVMPositionBuilderAtEnd(e->b, tiles);
    sort_tiles(&s);
    LLVMBuildBr(e->b, done);
    LLVMPositionBuilderAtEnd(e->b, runs);
    merge_runs(&s);
    LLVMBuildBr(e->b, done);
    LLVMPositionBuilderAtEnd(e->b, done);
}
