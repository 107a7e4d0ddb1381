/* LOOP on a device, as a scan (opt/scan.h). */
#include "codegen/cpu/device.h"
#include "codegen/cpu/reduce.h"

/* Where the device leaves the totals of tiles, and what comes out behind the last. */
static Val totals_of(Fn *f, IrType type, LLVMValueRef trips, LLVMValueRef *tiles) {
    Emit *e = f->e;
    LLVMValueRef up = emit_size_add(e, trips, gen_int(e, DEVICE_SCAN_TILE - 1));
    *tiles = LLVMBuildUDiv(e->b, up, gen_int(e, DEVICE_SCAN_TILE), "");
    LLVMValueRef size = emit_size_add(e, *tiles, gen_int(e, 1));
    return gen_heap_array(f, type, &size);
}

static Out array_out(Fn *f, IrType type, const Val *val) {
    Out out = {.val = *val, .type = type, .read = true};
    out.to = ARENA_ARRAY(f->g->plan->arena, LLVMValueRef, type->rank + 1);
    for (uint32_t k = 0; k < type->rank; k++)
        if (type->dims[k] < 0) out.to[out.nto++] = val->dims[k];
    return out;
}

/* The values of both ways meet. */
static void close_scan(Fn *f, Launch *launch, const IrInst *loop, Val *here, Val *there) {
    uint32_t n = 0;
    LLVMValueRef *a, *b;
    a = ARENA_ARRAY(f->g->plan->arena, LLVMValueRef, loop->nresults * (IR_MAX_RANK + 2));
    b = ARENA_ARRAY(f->g->plan->arena, LLVMValueRef, loop->nresults * (IR_MAX_RANK + 2));
    for (uint32_t r = 0; r < loop->nresults; r++) {
        Parts p = gen_parts(f->e, loop->results[r]->type, &here[r]),
              q = gen_parts(f->e, loop->results[r]->type, &there[r]);
        for (unsigned i = 0; i < p.n; i++) a[n] = *p.at[i], b[n++] = *q.at[i];
    }
    launch_close(f, launch, n, a, b);
    n = 0;
    for (uint32_t r = 0; r < loop->nresults; r++) {
        Parts p = gen_parts(f->e, loop->results[r]->type, &here[r]);
        for (unsigned i = 0; i < p.n; i++) *p.at[i] = a[n++];
    }
}

void scan_on_device(Fn *f, const DeviceKernel *kernel, Val *init,
                    void (*otherwise)(Fn *f, const IrInst *loop, Val *init)) {
    const IrInst *loop = kernel->inst;
    Emit *e = f->e;
    Arena *arena = f->g->plan->arena;
    LLVMValueRef trips = gen_scalar(f, loop->operands[0]), tiles, first;
    Out *outs = ARENA_ARRAY(arena, Out, loop->nresults + 1);
    Val *there = ARENA_ARRAY(arena, Val, loop->nresults + 1);
    uint32_t n = 1, number = 0;
    int64_t own;
    for (uint32_t r = 0; r < loop->nresults; r++) {
        IrType type = loop->results[r]->type;
        if (type->kind == IR_T_SCALAR) {
            number = r;
            continue;
        }
        init[r] = gen_own(f, &init[r], type);
        outs[n++] = array_out(f, type, &init[r]);
    }
    IrScalar scalar = loop->results[number]->type->scalar;
    IrType type = ir_array(f->ir->module, scalar, 1, NULL);
    Val totals = totals_of(f, type, trips, &tiles);
    first = emit_to_memory(e, scalar, init[number].at);
    outs[0] = (Out){.val = totals, .type = type, .to = &first, .nto = 1};
    for (uint32_t r = 0; r < loop->nresults; r++) there[r] = init[r];
    LLVMValueRef work = cost_of_region(f, loop->regions[0], &own);
    Launch launch = launch_open_scan(f, kernel, outs, n, trips, work);
    otherwise(f, loop, init);
    launch_done(f, &launch);
    if (f->uses[loop->results[number]->id]) {
        device_ask(f, &totals, false);
        there[number].at = gen_load(f, &totals, scalar, tiles);
    }
    close_scan(f, &launch, loop, init, there);
    gen_release(f, &totals, type);
}
