/* REDUCE on a device, which makes partial results of blocks as the CPU would; the rest is done
 * here. */
#include "codegen/cpu/device.h"
#include "codegen/cpu/reduce.h"

_Static_assert((int)SUM_LANES == (int)DEVICE_SUM_LANES && (int)SUM_BLOCK == (int)DEVICE_SUM_BLOCK,
               "the device's blocks are the CPU's");

static IrScalar part_scalar(const Reduction *r, uint32_t i) {
    return r->inst->results[i]->type->scalar;
}

static LLVMValueRef part_size(const Reduction *r, uint32_t k) {
    return gen_scalar(r->f, r->inst->operands[k]);
}

/* Blocks that the device has added up. */
void reduce_parts(Reduction *r, LLVMValueRef *sums) {
    Fn *f = r->f;
    Emit *e = f->e;
    LLVMValueRef row = gen_int(e, 0);
    for (uint32_t k = 0; k + 1 < r->n; k++)
        row = emit_size_add(e, emit_size_mul(e, row, part_size(r, k)), r->at[k]);
    row = emit_size_mul(e, row, r->blocks);
    for (uint32_t i = 0; i < r->results; i++) {
        LLVMTypeRef type = emit_element_type(e, part_scalar(r, i));
        LLVMValueRef at = LLVMBuildInBoundsGEP2(e->b, type, r->parts[i].at, &row, 1, "");
        sums[i] = sum_pairs(f, r->kind, part_scalar(r, i), at, r->blocks);
    }
}

/* Partial results in any order: a reduction over them. */
static void combine_parts(Reduction *r, LLVMValueRef units, LLVMValueRef *values) {
    Fn *f = r->f;
    Emit *e = f->e;
    Loop loop;
    LLVMValueRef *phis = ARENA_ARRAY(f->g->plan->arena, LLVMValueRef, r->results);
    gen_loop_open(f, &loop, "parts");
    for (uint32_t i = 0; i < r->results; i++)
        phis[i] = LLVMBuildPhi(e->b, emit_type(e, part_scalar(r, i)), "");
    loop_enter(f, &loop, units);
    for (uint32_t i = 0; i < r->results; i++)
        values[i] = emit_combine(e, r->kind, part_scalar(r, i), phis[i],
                                 gen_load(f, &r->parts[i], part_scalar(r, i), loop.i));
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(e->b);
    for (uint32_t i = 0; i < r->results; i++)
        loop_phi(&loop, phis[i], gen_scalar(f, r->inst->operands[r->n + i]), values[i], latch);
    gen_loop_close(f, &loop, NULL);
    for (uint32_t i = 0; i < r->results; i++) values[i] = phis[i];
}

void reduce_on_device(Reduction *r, const DeviceKernel *kernel, LLVMValueRef *values) {
    Fn *f = r->f;
    Emit *e = f->e;
    Arena *arena = f->g->plan->arena;
    IrType *types = ARENA_ARRAY(arena, IrType, r->results);
    Out *outs = ARENA_ARRAY(arena, Out, r->results);
    Val *parts = ARENA_ARRAY(arena, Val, r->results);
    LLVMValueRef *there = ARENA_ARRAY(arena, LLVMValueRef, r->results);
    int64_t own;
    r->blocks = sum_blocks(e, part_size(r, r->n - 1));
    LLVMValueRef units = r->blocks, one = gen_int(e, 1);
    LLVMValueRef empty = LLVMBuildICmp(e->b, LLVMIntEQ, part_size(r, r->n - 1), gen_int(e, 0), "");
    for (uint32_t k = 0; k + 1 < r->n; k++) units = emit_size_mul(e, units, part_size(r, k));
    for (uint32_t i = 0; i < r->results; i++) {
        types[i] = ir_array(f->ir->module, part_scalar(r, i), 1, NULL);
        parts[i] = gen_heap_array(f, types[i], &units);
        outs[i] = (Out){.val = parts[i], .type = types[i]};
    }
    /* Whole warps; none where there is nothing. */
    LLVMValueRef width = emit_size_mul(e, units, gen_int(e, SUM_LANES));
    width = LLVMBuildAnd(e->b, emit_size_add(e, width, gen_int(e, 31)), gen_int(e, -32), "");
    width = LLVMBuildSelect(e->b, empty, gen_int(e, 0), width, "");
    LLVMValueRef extents[] = {width, one, one};
    LLVMValueRef work = cost_of_region(f, r->inst->regions[0], &own);
    work = LLVMBuildMul(e->b, work, gen_int(e, SUM_BLOCK / SUM_LANES), "");
    Launch launch = launch_open(f, kernel, outs, extents, work);
    reduce_scalars(r, values);
    launch_done(f, &launch);
    for (uint32_t i = 0; i < r->results; i++) device_ask(f, &parts[i], false);
    Reduction rest = *r;
    rest.parts = parts;
    if (reduce_is_ordered(r)) reduce_scalars(&rest, there);
    else combine_parts(&rest, units, there);
    launch_close(f, &launch, r->results, values, there);
    for (uint32_t i = 0; i < r->results; i++) gen_release(f, &parts[i], types[i]);
}
