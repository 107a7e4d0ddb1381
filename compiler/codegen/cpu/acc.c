/* Accumulators: memory that a region adds to. */
#include "codegen/cpu/device.h"
#include "opt/adds.h"

typedef struct Adds {
    const IrValue *acc;
    uint32_t once, others;
} Adds;

static void count_add(IrInst *inst, void *data) {
    Adds *adds = data;
    if (inst->op != IR_ACC_ADD || ir_resolve(inst->operands[0]) != adds->acc) return;
    if (inst->flags & IR_ACC_ONCE) adds->once++;
    else adds->others++;
}

/* Is each cell of accumulator K, which begins with zeros, added to once?  (A pass that makes other
   additions of marked ones does not mark them.) */
static bool is_met_once(const IrInst *with, uint32_t k) {
    Adds adds = {.acc = with->regions[0]->params[k]};
    ir_walk(with->regions[0], count_add, &adds);
    return adds.once && !adds.others;
}

/* As gen_base has it, but what is in the memory does not matter. */
static Val open_unset(Fn *f, const IrInst *with, uint32_t k) {
    const MemInst *plan = gen_plan(f, with);
    const IrValue *init = ir_resolve(with->operands[k]);
    Val val = *gen_val(f, init);
    if (plan->base[k] == MEM_COPY) {
        Val unset = gen_new_array(f, with->results[k], val.dims);
        if (plan->take[k]) gen_release(f, &val, init->type);
        val = unset;
    } else {
        val = gen_base(f, with, k);
    }
    val.unset = true;
    return val;
}

static Val open_acc(Fn *f, const IrInst *inst, uint32_t k) {
    IrType type = ir_resolve(inst->operands[k])->type;
    Emit *e = f->e;
    if (type->kind != IR_T_SCALAR) /* A launch adds to what is there. */
        return !f->device && is_met_once(inst, k) ? open_unset(f, inst, k) : gen_base(f, inst, k);
    LLVMTypeRef memory = emit_memory_type(e, type->scalar);
    Val val = {.at = gen_alloca(f, memory, NULL, ir_scalar_align(type->scalar), "acc"),
               .block = emit_null(e)};
    emit_store(e, type->scalar, gen_scalar(f, inst->operands[k]), val.at);
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
        accs[k].unset = false;
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
        LLVMValueRef load;
        if (type->kind == IR_T_SCALAR)
            gen_set_scalar(f, inst->results[k], emit_load(e, type->scalar, accs[k].at, &load));
        else gen_set(f, inst->results[k], accs[k]);
    }
}

/* Does the region of ADD also add to neighbours in memory, as the transpose of a stencil does? */
static bool adds_to_neighbours(const IrInst *add) {
    const IrValue *acc = ir_resolve(add->operands[0]);
    uint32_t last = add->noperands - 2;
    for (const IrInst *inst = add->parent->first; last > 0 && inst; inst = inst->next)
        if (inst->op == IR_ACC_ADD && ir_resolve(inst->operands[0]) == acc &&
            inst->noperands == add->noperands && !adds_never_meet(inst, add) &&
            ir_resolve(inst->operands[last]) != ir_resolve(add->operands[last]))
            return true;
    return false;
}

typedef struct Places {
    const IrInst *add;
    const IrValue *acc, *place;
    uint32_t at;
    bool same;
} Places;

static void compare_place(IrInst *inst, void *data) {
    Places *places = data;
    if (inst->op != IR_ACC_ADD || ir_resolve(inst->operands[0]) != places->acc) return;
    if (adds_never_meet(inst, places->add)) return;
    if (inst->noperands < places->at + 2 || ir_resolve(inst->operands[places->at]) != places->place)
        places->same = false;
}

/* Has each iteration of the loop with this INDEX places of its own in ADD's accumulator?  So if all
   additions that may meet it have the same subscript, which moves with the index. */
static bool is_apart(const IrInst *add, const IrValue *index) {
    for (uint32_t k = 1; index && k + 1 < add->noperands; k++) {
        const IrValue *place = ir_resolve(add->operands[k]);
        if (!adds_is_shifted(place, index)) continue;
        Places places = {add, ir_resolve(add->operands[0]), place, k, true};
        ir_walk(index->region, compare_place, &places);
        if (places.same) return true;
    }
    return false;
}

/* The loops from here on never meet at a place. */
static uint32_t apart_from(const Fn *f, const IrInst *add, uint32_t depth) {
    uint32_t from = f->groups.len;
    while (from > depth && is_apart(add, f->indices.at[from - 1])) from--;
    return from;
}

static void add_scalar(Fn *f, const IrInst *inst, const Val *acc, LLVMValueRef at, LLVMValueRef v) {
    Val to = *acc;
    Emit *e = f->e;
    IrScalar scalar = ir_resolve(inst->operands[0])->type->scalar;
    if (acc->unset) {
        /* 0.0 + v, which is v but for -0.0 */
        LLVMValueRef sum = emit_combine(e, IR_SUM, scalar, emit_zero(e, scalar), v);
        to.depth = acc->depth;
        gen_store(f, &to, scalar, at, sum);
        return;
    }
    to.depth = apart_from(f, inst, acc->depth);
    LLVMValueRef old = gen_load(f, &to, scalar, at);
    gen_store(f, &to, scalar, at, emit_combine(e, IR_SUM, scalar, old, v));
    if (ir_scalar_lanes(scalar) > 1 || !adds_to_neighbours(inst)) return;
    /* Neighbours that LLVM stores as a pair would be loaded by halves in the next iteration, which
       waits for the store to be done: "unordered" keeps each by itself. */
    LLVMSetOrdering(old, LLVMAtomicOrderingUnordered);
    LLVMSetOrdering(LLVMGetLastInstruction(LLVMGetInsertBlock(e->b)), LLVMAtomicOrderingUnordered);
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
        bool array = acc->type->rank > 0;
        if (array && !to.unset) device_element(f, &to, acc->type, flat, false);
        add_scalar(f, inst, &to, flat, val->at);
        if (array) device_element(f, &to, acc->type, flat, true);
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
