/* Entries of reductions.  Sixteen invocations make the partial result of one block of the innermost
   dimension, each what one lane of the CPU adds up, in that order; lanes are added in halves, as on
   the CPU (codegen/cpu/sum.c).  Of values that have lanes themselves the first makes all, as on the
   CPU.  So sums have the CPU's bits.  The host combines the blocks. */
#include "codegen/ptx/entry.h"

enum { LANES = DEVICE_SUM_LANES, BLOCK = DEVICE_SUM_BLOCK };
_Static_assert(LANES == 1 << 4 && BLOCK == 1 << 8, "the shifts below");

/* One block, as the invocation sees it. */
typedef struct Part {
    LLVMValueRef lane, unit, valid, begin, len;
    LLVMValueRef few, whole; /* shorter than LANES; places in whole steps */
    LLVMValueRef trips;
} Part;

static LLVMValueRef less(Emit *e, LLVMValueRef a, LLVMValueRef b) {
    return LLVMBuildICmp(e->b, LLVMIntSLT, a, b, "");
}

static LLVMValueRef size_of(const Entry *x, uint32_t k) {
    return x->vals[ir_resolve(x->kernel->inst->operands[k])->id].at;
}

/* The block that belongs to place I of the grid, and the outer indices. */
static Part find_part(Entry *x, LLVMValueRef i) {
    Emit *e = &x->g->e;
    const IrInst *inst = x->kernel->inst;
    uint32_t n = (uint32_t)inst->imm;
    LLVMValueRef count = size_of(x, n - 1), zero = gen_int(e, 0);
    LLVMValueRef many[] = {LLVMBuildAShr(e->b, count, gen_int(e, 8), ""), gen_int(e, 1)};
    LLVMValueRef blocks = emit_intrinsic(e, "llvm.smax", e->i64, many, 2), units = blocks;
    Part p = {.lane = LLVMBuildAnd(e->b, i, gen_int(e, LANES - 1), ""),
              .unit = LLVMBuildLShr(e->b, i, gen_int(e, 4), "")};
    for (uint32_t k = 0; k + 1 < n; k++) units = emit_size_mul(e, units, size_of(x, k));
    p.valid = less(e, p.unit, units);
    LLVMValueRef block = LLVMBuildURem(e->b, p.unit, blocks, "");
    LLVMValueRef rest = LLVMBuildUDiv(e->b, p.unit, blocks, "");
    for (uint32_t k = n - 1; k-- > 0;) {
        LLVMValueRef index = k ? LLVMBuildURem(e->b, rest, size_of(x, k), "") : rest;
        x->vals[inst->regions[0]->params[k]->id].at = index;
        if (k) rest = LLVMBuildUDiv(e->b, rest, size_of(x, k), "");
    }
    p.begin = emit_size_mul(e, block, gen_int(e, BLOCK));
    LLVMValueRef last =
        LLVMBuildICmp(e->b, LLVMIntEQ, block, LLVMBuildSub(e->b, blocks, gen_int(e, 1), ""), "");
    p.len =
        LLVMBuildSelect(e->b, last, LLVMBuildSub(e->b, count, p.begin, ""), gen_int(e, BLOCK), "");
    p.few = less(e, p.len, gen_int(e, LANES));
    p.whole = LLVMBuildLShr(e->b, p.len, gen_int(e, 4), "");
    LLVMValueRef left = LLVMBuildAnd(e->b, p.len, gen_int(e, LANES - 1), "");
    LLVMValueRef from_end = LLVMBuildSub(e->b, gen_int(e, LANES), p.lane, "");
    LLVMValueRef more = LLVMBuildICmp(e->b, LLVMIntSLE, from_end, left, "");
    LLVMValueRef wide = emit_size_add(e, p.whole, LLVMBuildZExt(e->b, more, e->i64, ""));
    LLVMValueRef first = LLVMBuildICmp(e->b, LLVMIntEQ, p.lane, zero, "");
    LLVMValueRef alone = LLVMBuildSelect(e->b, first, p.len, zero, "");
    p.trips = LLVMBuildSelect(e->b, p.few, alone, wide, "");
    p.trips = LLVMBuildSelect(e->b, p.valid, p.trips, zero, "");
    return p;
}

/* The place in the block of step T. */
static LLVMValueRef place_of(Emit *e, const Part *p, LLVMValueRef t) {
    LLVMValueRef in_row = emit_size_add(e, LLVMBuildShl(e->b, t, gen_int(e, 4), ""), p->lane);
    LLVMValueRef at_end =
        emit_size_add(e, LLVMBuildSub(e->b, p->len, gen_int(e, LANES), ""), p->lane);
    LLVMValueRef wide = LLVMBuildSelect(e->b, less(e, t, p->whole), in_row, at_end, "");
    return emit_size_add(e, p->begin, LLVMBuildSelect(e->b, p->few, t, wide, ""));
}

static bool has_lanes(const IrInst *inst, uint32_t r) {
    return ir_scalar_lanes(inst->results[r]->type->scalar) > 1;
}

/* The block is the first invocation's alone. */
static Part taken_alone(Emit *e, const Part *p) {
    Part alone = *p;
    LLVMValueRef first = LLVMBuildICmp(e->b, LLVMIntEQ, p->lane, gen_int(e, 0), "");
    alone.few = LLVMConstInt(e->i1, 1, false);
    alone.trips =
        LLVMBuildSelect(e->b, LLVMBuildAnd(e->b, first, p->valid, ""), p->len, gen_int(e, 0), "");
    return alone;
}

/* What the invocation's steps give for the results that have LANES, or for the others, into SUMS. */
static void run_steps(Entry *x, const Part *p, bool lanes, LLVMValueRef *sums) {
    Ptx *g = x->g;
    Emit *e = &g->e;
    const IrInst *inst = x->kernel->inst;
    uint32_t n = inst->nresults;
    LLVMBasicBlockRef before = LLVMGetInsertBlock(e->b), head = ptx_block(g, "steps"),
                      body = ptx_block(g, ""), done = ptx_block(g, "");
    LLVMValueRef zero = gen_int(e, 0);
    LLVMBuildBr(e->b, head);
    LLVMPositionBuilderAtEnd(e->b, head);
    LLVMValueRef t = LLVMBuildPhi(e->b, e->i64, "");
    LLVMAddIncoming(t, &zero, &before, 1);
    for (uint32_t r = 0; r < n; r++) {
        if (has_lanes(inst, r) != lanes) continue;
        LLVMValueRef none = emit_zero(e, inst->results[r]->type->scalar);
        sums[r] = LLVMBuildPhi(e->b, LLVMTypeOf(none), "");
        LLVMAddIncoming(sums[r], &none, &before, 1);
    }
    LLVMBuildCondBr(e->b, less(e, t, p->trips), body, done);
    LLVMPositionBuilderAtEnd(e->b, body);
    x->vals[inst->regions[0]->params[inst->imm - 1]->id].at = place_of(e, p, t);
    Val *values = ARENA_ARRAY(g->arena, Val, n + 1);
    Scope scope;
    ptx_scope_open(g, &scope);
    ptx_region(g, inst->regions[0], x->vals, values);
    if (*g->error) return;
    ptx_scope_close(g);
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(e->b);
    LLVMValueRef first = LLVMBuildICmp(e->b, LLVMIntEQ, t, zero, "");
    for (uint32_t r = 0; r < n; r++) {
        if (has_lanes(inst, r) != lanes) continue;
        IrScalar scalar = inst->results[r]->type->scalar;
        LLVMValueRef value = emit_widened(e, values[r].at, scalar);
        LLVMValueRef next = emit_combine(e, (IrReduce)inst->flags, scalar, sums[r], value);
        next = LLVMBuildSelect(e->b, first, value, next, "");
        latch = LLVMGetInsertBlock(e->b);
        LLVMAddIncoming(sums[r], &next, &latch, 1);
    }
    LLVMValueRef up = LLVMBuildAdd(e->b, t, gen_int(e, 1), "");
    LLVMAddIncoming(t, &up, &latch, 1);
    LLVMBuildBr(e->b, head);
    LLVMPositionBuilderAtEnd(e->b, done);
}

static void store_parts(Entry *x, const Part *p, LLVMValueRef *sums) {
    Ptx *g = x->g;
    Emit *e = &g->e;
    const IrInst *inst = x->kernel->inst;
    LLVMBasicBlockRef store = ptx_block(g, ""), done = ptx_block(g, "");
    for (uint32_t r = 0; r < inst->nresults; r++) {
        IrScalar scalar = inst->results[r]->type->scalar;
        LLVMValueRef folded = sums[r];
        if (has_lanes(inst, r)) continue;
        for (int half = LANES / 2; half >= 1; half /= 2)
            folded = emit_combine(e, (IrReduce)inst->flags, scalar, folded,
                                  ptx_shuffle(e, emit_int32(e, -1), folded, half, LANES));
        sums[r] = LLVMBuildSelect(e->b, p->few, sums[r], folded, "");
    }
    LLVMValueRef first = LLVMBuildICmp(e->b, LLVMIntEQ, p->lane, gen_int(e, 0), "");
    LLVMBuildCondBr(e->b, LLVMBuildAnd(e->b, first, p->valid, ""), store, done);
    LLVMPositionBuilderAtEnd(e->b, store);
    for (uint32_t r = 0; r < inst->nresults; r++) {
        IrScalar scalar = inst->results[r]->type->scalar;
        ptx_store(g, scalar, sums[r], ptx_element(g, scalar, x->outs[r], p->unit));
    }
    LLVMBuildBr(e->b, done);
    LLVMPositionBuilderAtEnd(e->b, done);
}

/* The grid's width is a multiple of a warp, all of which comes to the exchange between lanes. */
void entry_reduce(Entry *x) {
    Ptx *g = x->g;
    Axis axis;
    const IrInst *inst = x->kernel->inst;
    uint32_t n = inst->nresults;
    LLVMValueRef *sums = ARENA_ARRAY(g->arena, LLVMValueRef, n + 1);
    axis_open(g, &axis, 'x', x->extents[0]);
    Part part = find_part(x, axis.i);
    bool wide[2] = {false, false};
    for (uint32_t r = 0; r < n; r++) wide[has_lanes(inst, r)] = true;
    if (wide[0] || !n) run_steps(x, &part, false, sums);
    if (wide[1] && !*g->error) {
        Part alone = taken_alone(&g->e, &part);
        run_steps(x, &alone, true, sums);
    }
    if (*g->error) return;
    ptx_meet(g, n, sums, false);
    store_parts(x, &part, sums);
    axis_close(g, &axis);
}
