/* Launches of kernels, and of their derivatives.  The call of the function that does the same on
   the CPU asks for the device first.  What the kernel writes is made the launch's own before that;
   what the device leaves is put where the function would have put it. */
#include "codegen/cpu/device.h"

#include <string.h>

#include "runtime/layout.h"

const DeviceKernel *device_launched(const Fn *f, const IrInst *call) {
    return f->device && call->op == IR_CALL ? map_getp(&f->g->device->launches, call->func) : NULL;
}

typedef struct Run {
    Fn *f;
    const IrInst *call;
    const IrLaunch *launch;
    Val *args;            /* as the function of the CPU gets them */
    Val *written;         /* by result: the memory that the kernel writes */
    LLVMValueRef *memory; /* by result: where the function leaves it */
    const bool *owned;    /* by parameter: the function's to release */
} Run;

/* ---- what is written ---- */

static Val copy_of(Fn *f, const Val *val, IrType from, IrType type, LLVMValueRef to) {
    Val copy = {.at = to, .block = emit_null(f->e), .dims = val->dims};
    if (!to) copy = gen_heap_array(f, type, val->dims);
    device_copy(f, type->scalar, &copy, val, gen_count(f, val, from));
    return copy;
}

/* The last value of parameter P, which is result R, begins as the argument.  The function of the
   CPU takes over what it owns, and so the copy. */
static void own_memory(Run *run, uint32_t r, uint32_t p) {
    Fn *f = run->f;
    IrType type = run->call->func->params[p];
    IrType from = ir_resolve(run->call->operands[p])->type;
    bool small = mem_is_small(type);
    if (type->kind == IR_T_SCALAR) { /* which the kernel does not change */
        emit_store(f->e, type->scalar, run->args[p].at, run->memory[r]);
        return;
    }
    if (run->owned[p] && !small) run->written[r] = run->args[p] = gen_own(f, &run->args[p], type);
    else run->written[r] = copy_of(f, &run->args[p], from, type, small ? run->memory[r] : NULL);
}

/* A sum over all invocations, which begins with zeros there. */
static void open_sum(Run *run, uint32_t r) {
    Fn *f = run->f;
    IrType type = run->call->func->results[r];
    int32_t like = run->launch->like[r];
    run->written[r] = (Val){.at = run->memory[r], .block = emit_null(f->e)};
    if (like < 0) return;
    run->written[r].dims = run->args[like].dims;
    if (!mem_is_small(type)) run->written[r] = gen_heap_array(f, type, run->args[like].dims);
}

/* ---- the launch ---- */

static LLVMValueRef pass_all(Run *run, int32_t *count) {
    Fn *f = run->f;
    const IrFunc *func = run->launch->func;
    LaunchArgs args = {.f = f};
    const Val **written = ARENA_ARRAY(f->g->plan->arena, const Val *, func->nparams + 1);
    for (uint32_t r = 0; r < func->nresults; r++)
        if (run->launch->memory[r] >= 0) written[run->launch->memory[r]] = &run->written[r];
    for (uint32_t p = 0; p < func->nparams; p++) {
        IrType type = func->params[p];
        bool more = p >= run->call->func->nparams;
        const Val *val = written[p] && type->kind == IR_T_ARRAY ? written[p] : &run->args[p];
        if (type->kind == IR_T_SCALAR) {
            launch_pass_scalar(&args, emit_to_memory(f->e, type->scalar, val->at));
            continue;
        }
        int kind = more ? ADL_GPU_SUM : written[p] ? ADL_GPU_UPDATE : ADL_GPU_READ;
        launch_pass_memory(&args, kind, val, type);
        for (uint32_t k = 0; k < type->rank; k++)
            if (type->dims[k] < 0) launch_pass_scalar(&args, val->dims[k]);
    }
    for (uint32_t r = 0; r < func->nresults; r++)
        if (run->launch->memory[r] < 0)
            launch_pass_memory(&args, ADL_GPU_SUM, &run->written[r], func->results[r]);
    *count = launch_passed(&args);
    return launch_args(&args);
}

/* Extents and sizes of blocks along x, y and z; the last index runs along x. */
static LLVMValueRef geometry(Run *run) {
    Fn *f = run->f;
    Emit *e = f->e;
    const IrLaunch *launch = run->launch;
    LLVMValueRef memory = gen_alloca(f, LLVMArrayType2(e->i64, 6), NULL, 8, "geometry");
    for (uint32_t axis = 0; axis < 3; axis++) {
        LLVMValueRef extent = gen_int(e, 1), size = extent;
        if (axis < launch->n) {
            uint32_t d = launch->n - 1 - axis;
            extent = LLVMBuildSub(e->b, run->args[launch->end[d]].at,
                                  run->args[launch->begin[d]].at, "");
            size = run->args[launch->size[d]].at;
        }
        LLVMBuildStore(e->b, extent, emit_offset(e, memory, 8 * (int64_t)axis));
        LLVMBuildStore(e->b, size, emit_offset(e, memory, 8 * (int64_t)(3 + axis)));
    }
    return memory;
}

static LLVMValueRef size_of(const Run *run, const DeviceBound *bound) {
    if (bound->param < 0) return gen_int(run->f->e, bound->value);
    const Val *val = &run->args[bound->param];
    return bound->dim < 0 ? val->at : val->dims[bound->dim];
}

/* May a check fail?  Not if the ranges are within the arrays, where that is all that is checked;
   then the device is not asked, and the host goes on while the kernel runs. */
static LLVMValueRef may_fail(Run *run, const DeviceKernel *kernel) {
    Emit *e = run->f->e;
    LLVMValueRef bad = LLVMConstInt(e->i1, kernel->checks && !kernel->bounded, false);
    for (uint32_t i = 0; i < kernel->nbounds && kernel->bounded; i++) {
        const DeviceBound *bound = &kernel->bounds[i];
        LLVMValueRef begin = run->args[run->launch->begin[bound->d]].at;
        LLVMValueRef end = run->args[run->launch->end[bound->d]].at;
        LLVMValueRef before = LLVMBuildICmp(e->b, LLVMIntSLT, begin, gen_int(e, 0), "");
        LLVMValueRef behind = LLVMBuildICmp(e->b, LLVMIntSGT, end, size_of(run, bound), "");
        bad = LLVMBuildOr(e->b, bad, LLVMBuildOr(e->b, before, behind, ""), "");
    }
    return LLVMBuildZExt(e->b, bad, e->i32, "");
}

static LLVMValueRef ask_to_run(Run *run, const DeviceKernel *kernel) {
    Fn *f = run->f;
    int32_t count;
    LLVMValueRef args = pass_all(run, &count);
    LLVMValueRef call[] = {f->context,
                           gen_site(f->g, f->ir, run->call->pos),
                           device_module(f->g),
                           emit_int32(f->e, (int32_t)kernel->number),
                           geometry(run),
                           may_fail(run, kernel),
                           emit_int32(f->e, count),
                           args};
    return gen_runtime(f->g, "adl__gpu_run", call, 8);
}

/* ---- the two ways ---- */

/* Here is what the function owns taken over by it, but not what was copied for the device alone. */
static void run_here(Run *run) {
    Fn *f = run->f;
    const IrFunc *func = run->call->func;
    for (uint32_t p = 0; p < func->nparams; p++)
        if (func->params[p]->kind == IR_T_ARRAY) device_ask(f, &run->args[p], run->owned[p]);
    call_make(f, run->call, run->args, run->memory);
    for (uint32_t r = 0; r < func->nresults; r++) {
        IrType type = func->results[r];
        int32_t p = run->launch->memory[r];
        bool handed_over = p >= 0 && p < (int32_t)func->nparams && run->owned[p];
        if (type->kind == IR_T_ARRAY && !mem_is_small(type) && !handed_over)
            gen_release(f, &run->written[r], type);
    }
}

static void store_word(Fn *f, LLVMValueRef to, uint32_t word, LLVMValueRef value) {
    LLVMSetAlignment(LLVMBuildStore(f->e->b, value, emit_offset(f->e, to, 8 * (int64_t)word)), 8);
}

static bool is_written(const Run *run, uint32_t p) {
    for (uint32_t r = 0; r < run->call->func->nresults; r++)
        if (run->launch->memory[r] == (int32_t)p) return true;
    return false;
}

static void leave_there(Run *run) {
    Fn *f = run->f;
    const IrFunc *func = run->call->func;
    for (uint32_t r = 0; r < func->nresults; r++) {
        IrType type = func->results[r];
        const Val *val = &run->written[r];
        if (type->kind == IR_T_SCALAR || mem_is_small(type)) continue;
        store_word(f, run->memory[r], 0, val->at);
        store_word(f, run->memory[r], 1, val->block);
        for (uint32_t k = 0, word = 2; k < type->rank; k++)
            if (type->dims[k] < 0) store_word(f, run->memory[r], word++, val->dims[k]);
    }
    for (uint32_t p = 0; p < func->nparams; p++)
        if (run->owned[p] && !is_written(run, p) && func->params[p]->kind == IR_T_ARRAY)
            gen_release(f, &run->args[p], func->params[p]);
}

void launch_call(Fn *f, const IrInst *call, const DeviceKernel *kernel, Val *args,
                 LLVMValueRef *memory) {
    Emit *e = f->e;
    const IrFunc *func = call->func;
    Run run = {f,
               call,
               kernel->launch,
               args,
               ARENA_ARRAY(f->g->plan->arena, Val, func->nresults + 1),
               memory,
               f->g->plan->funcs[func->id].owned_param};
    for (uint32_t r = 0; r < func->nresults; r++)
        if (run.launch->memory[r] < 0 || run.launch->like[r] >= 0) open_sum(&run, r);
        else own_memory(&run, r, (uint32_t)run.launch->memory[r]);
    LLVMValueRef status = ask_to_run(&run, kernel);
    LLVMBasicBlockRef here = gen_block(f, "here"), there = gen_block(f, "there"),
                      done = gen_block(f, "launched");
    LLVMValueRef elsewhere =
        LLVMBuildICmp(e->b, LLVMIntEQ, status, emit_int32(e, ADL_GPU_ELSEWHERE), "");
    LLVMBuildCondBr(e->b, elsewhere, here, there);
    LLVMPositionBuilderAtEnd(e->b, here);
    run_here(&run);
    LLVMBuildBr(e->b, done);
    LLVMPositionBuilderAtEnd(e->b, there);
    gen_check_status(f, status);
    leave_there(&run);
    LLVMBuildBr(e->b, done);
    LLVMPositionBuilderAtEnd(e->b, done);
}
