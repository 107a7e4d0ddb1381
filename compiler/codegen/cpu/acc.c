/* Accumulators: memory that a region adds to. */
#include "codegen/cpu/gen.h"

static Val open_acc(Fn *f, const IrInst *inst, uint32_t k) {
    IrType type = ir_resolve(inst->operands[k])->type;
    Emit *e = f->e;
    if (type->kind != IR_T_SCALAR) return gen_base(f, inst, k);
    LLVMTypeRef memory = emit_memory_type(e, type->scalar);
    Val val = {.at = gen_alloca(f, memory, NULL, ir_scalar_bytes(type->scalar), "acc"),
               .block = emit_null(e)};
    LLVMBuildStore(e->b, gen_scalar(f, inst->operands[k]), val.at);
    return val;
}

void gen_with_acc(Fn *f, const IrInst *inst) {
    Emit *e = f->e;
    const IrRegion *region = inst->regions[0];
    uint32_t n = inst->noperands;
    Val *accs = ARENA_ARRAY(f->g->plan->arena, Val, n);
    for (uint32_t k = 0; k < n; k++) {
        accs[k] = open_acc(f, inst, k);
        gen_set(f, region->params[k], accs[k]);
    }
    for (uint32_t i = n; i < inst->nresults; i++)
        gen_want(f, region->last, i - n, f->dests[inst->results[i]->id]);
    const IrInst *yield = gen_region(f, region);
    for (uint32_t i = n; i < inst->nresults; i++) {
        IrType type = inst->results[i]->type;
        Val val = gen_hand_over(f, yield, i - n, type);
        if (mem_is_small(type) && !(val.slot && gen_plan(f, yield)->take[i - n]) &&
            val.at != f->dests[inst->results[i]->id].at) {
            val = gen_new_array(f, inst->results[i], val.dims);
            gen_hand_into(f, yield, i - n, val.at);
        }
        gen_set(f, inst->results[i], val);
    }
    gen_dead(f, yield);
    for (uint32_t k = 0; k < n; k++) {
        IrType type = inst->results[k]->type;
        if (type->kind == IR_T_SCALAR)
            gen_set_scalar(f, inst->results[k],
                           LLVMBuildLoad2(e->b, emit_memory_type(e, type->scalar), accs[k].at, ""));
        else gen_set(f, inst->results[k], accs[k]);
    }
}

static void add_scalar(Fn *f, const Val *acc, IrScalar scalar, LLVMValueRef at, LLVMValueRef v) {
    Val plain = *acc;
    plain.depth = f->groups.len; /* iterations may add to the same place */
    LLVMValueRef old = gen_load(f, &plain, scalar, at);
    gen_store(f, &plain, scalar, at, emit_combine(f->e, IR_SUM, scalar, old, v));
}

void gen_acc_add(Fn *f, const IrInst *inst) {
    const IrValue *acc = ir_resolve(inst->operands[0]);
    uint32_t n = inst->noperands - 2;
    const IrValue *v = ir_resolve(inst->operands[n + 1]);
    const Val *val = gen_val(f, v);
    IrScalar scalar = acc->type->scalar;
    Val to = *gen_val(f, acc);
    LLVMValueRef at[IR_MAX_RANK];
    for (uint32_t k = 0; k < n; k++) at[k] = gen_scalar(f, inst->operands[1 + k]);
    LLVMValueRef flat = gen_flat(f, &to, acc->type, n, at);
    if (v->type->kind == IR_T_SCALAR) {
        add_scalar(f, &to, scalar, flat, val->at);
        return;
    }
    to.at = gen_element_at(f, acc->type, to.at, flat);
    to.depth = f->groups.len;
    Loop loop;
    loop_open_group(f);
    gen_loop_open(f, &loop, "add");
    loop_enter(f, &loop, gen_count(f, val, v->type));
    LLVMValueRef old = gen_load(f, &to, scalar, loop.i), more = gen_load(f, val, scalar, loop.i);
    gen_store(f, &to, scalar, loop.i, emit_combine(f->e, IR_SUM, scalar, old, more));
    gen_loop_close(f, &loop, loop_close_group(f, false));
}
