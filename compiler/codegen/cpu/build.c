/* BUILD, and results that are made where they are wanted. */
#include "codegen/cpu/gen.h"

#include "codegen/cpu/device.h"

/* ---- destinations ---- */

/* Does the operation make its result in memory that it is given? */
static bool makes_memory(const IrInst *inst, IrType type) {
    switch ((int)inst->op) {
    case IR_BUILD:
    case IR_PACK:
    case IR_CONCAT:
    case IR_CONTRACT:
    case IR_ARGSORT:
    case IR_REDUCE:
    case IR_WITH_ACC:
    case IR_IF:
    case IR_UPDATE:
    case IR_ASSIGN: return true;
    case IR_SLICE:
    case IR_TRANSPOSE: return !mem_is_view(inst);
    case IR_CALL: return mem_is_small(type);
    default: return false;
    }
}

/* The operand that becomes result INDEX of INST in place, or NULL. */
static IrValue *base_of(Fn *f, const IrInst *inst, uint32_t index) {
    uint32_t k = 0;
    const MemInst *plan = gen_plan(f, inst);
    if (inst->op == IR_BUILD)
        return plan->reuse && plan->reuse[index].sure ? plan->reuse[index].roots[0] : NULL;
    if (inst->op == IR_REDUCE) k = (uint32_t)inst->imm + index;
    else if (inst->op == IR_WITH_ACC) k = index;
    else if (inst->op != IR_UPDATE && inst->op != IR_ASSIGN) return NULL;
    if (k >= inst->noperands || gen_plan(f, inst)->base[k] != MEM_IN_PLACE) return NULL;
    return ir_resolve(inst->operands[k]);
}

/* A place that may be nowhere is for an operation that makes memory anew; one on the way there
   works in place. */
static bool want_maybe(Fn *f, IrValue *value, const IrRegion *region, Dest dest) {
    const IrInst *def = value->def;
    if (!def || def->parent != region || f->dests[value->id].at) return false;
    IrValue *base = base_of(f, def, value->index);
    if (base && want_maybe(f, base, region, dest)) return true;
    if (base && def->op != IR_BUILD) return false;
    if (def->op == IR_IF || !makes_memory(def, value->type)) return false;
    f->dests[value->id] = dest;
    return true;
}

static void want(Fn *f, IrValue *value, const IrRegion *region, Dest dest) {
    while (value && value->def && value->def->parent == region && !f->dests[value->id].at) {
        const IrInst *def = value->def;
        if (!makes_memory(def, value->type)) return;
        if (dest.combine && (def->op != IR_BUILD || f->uses[value->id] != 1)) return;
        f->dests[value->id] = dest;
        if (dest.combine) return; /* what it is made of is not added */
        value = base_of(f, def, value->index);
    }
}

void gen_want(Fn *f, const IrInst *yield, uint32_t k, Dest dest) {
    IrValue *value = ir_resolve(yield->operands[k]);
    if (!dest.at || value->type->kind != IR_T_ARRAY) return;
    if (dest.maybe) want_maybe(f, value, yield->parent, dest);
    else want(f, value, yield->parent, dest);
}

/* Combines COUNT elements at FROM into those at TO. */
static void combine_all(Fn *f, IrReduce kind, IrScalar scalar, const Val *to, const Val *from,
                        LLVMValueRef count) {
    Loop loop;
    loop_open_group(f);
    gen_loop_open(f, &loop, "combine");
    loop_enter(f, &loop, count);
    LLVMValueRef x = gen_load(f, to, scalar, loop.i), y = gen_load(f, from, scalar, loop.i);
    gen_store(f, to, scalar, loop.i, emit_combine(f->e, kind, scalar, x, y));
    gen_loop_close(f, &loop, loop_close_group(f, false));
}

void gen_put(Fn *f, const IrInst *yield, uint32_t k, Dest dest) {
    const IrValue *value = ir_resolve(yield->operands[k]);
    const Val *val = gen_val(f, value);
    if (val->at == dest.at) return;
    LLVMValueRef count = gen_count(f, val, value->type);
    Val to = {.at = dest.at, .depth = f->groups.len};
    if (dest.combine) combine_all(f, dest.kind, value->type->scalar, &to, val, count);
    else gen_copy(f, value->type->scalar, dest.at, val->at, count);
}

/* ---- BUILD ---- */

static Dest row_of(Fn *f, const IrInst *inst, uint32_t r, const Val *out, LLVMValueRef const *at) {
    const IrValue *result = inst->results[r];
    Dest dest = f->dests[result->id];
    LLVMValueRef flat = gen_flat(f, out, result->type, (uint32_t)inst->imm, at);
    dest.at = gen_element_at(f, result->type, out->at, flat);
    dest.depth = out->depth;
    return dest;
}

static void put_scalar(Fn *f, const IrInst *inst, uint32_t r, const Val *out, const Sink *sink,
                       LLVMValueRef const *at, LLVMValueRef value) {
    const IrValue *result = inst->results[r];
    const Dest *dest = &f->dests[result->id];
    IrScalar scalar = result->type->scalar;
    LLVMValueRef flat = sink && sink->strided
                            ? sink_place(f, sink, at)
                            : gen_flat(f, out, result->type, (uint32_t)inst->imm, at);
    if (dest->combine)
        value = emit_combine(f->e, dest->kind, scalar, gen_load(f, out, scalar, flat), value);
    gen_store(f, out, scalar, flat, value);
}

static void body(Fn *f, const IrInst *inst, const Val *outs, const Sink *sink,
                 LLVMValueRef const *at) {
    Dest *rows = ARENA_ARRAY(f->g->plan->arena, Dest, inst->nresults);
    const IrRegion *region = inst->regions[0];
    for (uint32_t r = 0; r < inst->nresults; r++) {
        if (!inst->ints[r]) continue;
        rows[r] = row_of(f, inst, r, &outs[r], at);
        gen_want(f, region->last, r, rows[r]);
    }
    const IrInst *yield = gen_region(f, region);
    for (uint32_t r = 0; r < inst->nresults; r++) {
        if (inst->ints[r]) gen_put(f, yield, r, rows[r]);
        else put_scalar(f, inst, r, &outs[r], sink, at, gen_scalar(f, yield->operands[r]));
    }
    gen_dead(f, yield);
}

/* What may be written over, and what of it is to be released behind the loop. */
typedef struct Olds {
    Val *at;
    uint32_t n;
} Olds;

/* Over the memory of an array that is read for the last time, unless the result is wanted
 * elsewhere. */
static Val write_over(Fn *f, const IrInst *inst, uint32_t r, LLVMValueRef const *dims, Olds *olds) {
    const MemReuse *reuse = &gen_plan(f, inst)->reuse[r];
    const IrValue *result = inst->results[r];
    const Dest *dest = &f->dests[result->id];
    olds->n = reuse->n;
    olds->at = ARENA_ARRAY(f->g->plan->arena, Val, reuse->n);
    for (uint32_t k = 0; k < reuse->n; k++) olds->at[k] = *gen_val(f, reuse->roots[k]);
    if (!dest->at && reuse->sure) {
        Val val = olds->at[0];
        olds->at[0].block = emit_null(f->e);
        val.dims = gen_dims(f, result->type, dims);
        return val;
    }
    if (!dest->at || (dest->maybe && !reuse->sure))
        return gen_over(f, result, dims, reuse->n, olds->at);
    return gen_new_array(f, result, dims);
}

static Val *new_results(Fn *f, const IrInst *inst, Olds *olds) {
    Val *outs = ARENA_ARRAY(f->g->plan->arena, Val, inst->nresults);
    uint32_t n = (uint32_t)inst->imm, inner = n;
    for (uint32_t r = 0; r < inst->nresults; r++) {
        LLVMValueRef dims[IR_MAX_RANK];
        for (uint32_t k = 0; k < n; k++) dims[k] = gen_scalar(f, inst->operands[k]);
        for (uint32_t k = 0; k < (uint32_t)inst->ints[r]; k++)
            dims[n + k] = gen_scalar(f, inst->operands[inner++]);
        const MemInst *plan = gen_plan(f, inst);
        if (plan->reuse && plan->reuse[r].n) outs[r] = write_over(f, inst, r, dims, &olds[r]);
        else outs[r] = gen_new_array(f, inst->results[r], dims);
    }
    return outs;
}

/* The loops from dimension FROM on, and the body. */
static void inner_loops(Fn *f, const IrInst *inst, uint32_t from, LLVMValueRef *at, const Val *outs,
                        const Sink *sink) {
    uint32_t n = (uint32_t)inst->imm;
    Loop loops[IR_MAX_RANK];
    for (uint32_t k = from; k < n; k++) {
        loop_open_group(f);
        gen_loop_open(f, &loops[k], "build");
        loop_enter(f, &loops[k], gen_scalar(f, inst->operands[k]));
        at[k] = loops[k].i;
        f->indices.at[f->indices.len - 1] = inst->regions[0]->params[k];
        gen_set_scalar(f, inst->regions[0]->params[k], at[k]);
    }
    body(f, inst, outs, sink, at);
    for (uint32_t k = n; k-- > from;) {
        bool fold_tail = f->g->used_libm && k + 1 == n;
        gen_loop_close(f, &loops[k], loop_close_group(f, fold_tail));
    }
}

/* Rows BEGIN..END of a BUILD. */
static void build_piece(Piece *piece, void *data) {
    const IrInst *inst = data;
    Fn *f = &piece->f;
    Emit *e = f->e;
    LLVMValueRef at[IR_MAX_RANK];
    Loop loop;
    loop_open_group(f);
    gen_loop_open(f, &loop, "build");
    loop_enter(f, &loop, LLVMBuildSub(e->b, piece->end, piece->begin, ""));
    at[0] = emit_size_add(e, piece->begin, loop.i);
    gen_set_scalar(f, inst->regions[0]->params[0], at[0]);
    inner_loops(f, inst, 1, at, piece->extras, NULL);
    gen_loop_close(f, &loop, loop_close_group(f, f->g->used_libm && inst->imm == 1));
    f->g->used_libm = false;
}

static bool on_threads(Fn *f, const IrInst *inst, const Val *outs) {
    const MemInst *plan = gen_plan(f, inst);
    const IrRegion *region = inst->regions[0];
    bool alone = !plan->reuse;
    int64_t own;
    if (inst->imm == 0 || !parallel_pays(f, region)) return false;
    IrType *types = ARENA_ARRAY(f->g->plan->arena, IrType, inst->nresults);
    for (uint32_t r = 0; r < inst->nresults; r++) {
        if (f->dests[inst->results[r]->id].combine) return false;
        types[r] = inst->results[r]->type;
    }
    LLVMValueRef work = cost_of_region(f, region, &own);
    for (uint32_t k = 1; k < (uint32_t)inst->imm; k++)
        work = LLVMBuildMul(f->e->b, work, gen_scalar(f, inst->operands[k]), "");
    parallel_run(f, region, gen_scalar(f, inst->operands[0]), work, outs, types, inst->nresults,
                 alone, build_piece, (void *)(uintptr_t)inst);
    return true;
}

typedef struct Loops {
    const IrInst *inst;
    const Val *outs;
    const Sink *sink; /* NULL: none */
} Loops;

static void gen_loops(Fn *f, void *data) {
    const Loops *loops = data;
    LLVMValueRef at[IR_MAX_RANK];
    if (loops->sink || !on_threads(f, loops->inst, loops->outs))
        inner_loops(f, loops->inst, 0, at, loops->outs, loops->sink);
    f->g->used_libm = false;
}

void gen_build(Fn *f, const IrInst *inst) {
    Olds *olds = ARENA_ARRAY(f->g->plan->arena, Olds, inst->nresults);
    Sink sink;
    const DeviceKernel *kernel = device_kernel(f, inst);
    if (!kernel) gen_wholes(f, inst);
    bool sunk = sink_open(f, inst, !kernel, &sink);
    if (sunk) f->dests[inst->results[0]->id] = sink.dest;
    Val *outs = new_results(f, inst, olds);
    Loops loops = {inst, outs, sunk ? &sink : NULL};
    if (kernel) launch_build(f, kernel, outs, loops.sink, gen_loops, &loops);
    else gen_loops(f, &loops);
    for (uint32_t r = 0; r < inst->nresults; r++) {
        for (uint32_t k = 0; k < olds[r].n; k++)
            gen_release(f, &olds[r].at[k], inst->results[r]->type);
        gen_set(f, inst->results[r], outs[r]);
    }
}
