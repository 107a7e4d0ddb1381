/* A BUILD whose result goes into a part of another array and nowhere else fills that part itself:
   x[1..n] = [for ...], x[t] = [for ...], and additions to accumulators.  The array is made ready,
   at the BUILD's place, as its instruction would do a little later; nothing in between may touch
   it. */
#include "codegen/cpu/gen.h"

#include <string.h>

/* The instruction that uses *RESULT, with only scalar operations before it; NULL if there is none.
 *VIEW: the RESHAPE in between that adds dimensions of size 1, whose result *RESULT is then. */
static const IrInst *near_user(Fn *f, const IrInst *build, const IrValue **result,
                               const IrInst **view) {
    *view = NULL;
    for (const IrInst *inst = build->next; inst; inst = inst->next) {
        uint32_t from[IR_MAX_RANK];
        bool uses = false;
        for (uint32_t k = 0; k < inst->noperands; k++)
            uses = uses || ir_resolve(inst->operands[k]) == *result;
        bool adds = uses && inst->op == IR_RESHAPE && ir_adds_unit_dims(inst, from);
        if (uses && (!adds || *view || f->uses[inst->results[0]->id] != 1)) return inst;
        if (adds) {
            *view = inst;
            *result = inst->results[0];
            continue;
        }
        bool scalar = inst->op <= IR_MATH && inst->nresults == 1;
        if (!scalar && inst->op != IR_DIM) return NULL;
    }
    return NULL;
}

/* Can VALUE be had already? */
static bool ready(Fn *f, const IrValue *value) {
    value = ir_resolve((IrValue *)value);
    if (f->vals[value->id].at) return true;
    if (!value->def || value->def->op != IR_CONST) return false;
    gen_set_scalar(f, value, emit_const(f->e, value->def));
    return true;
}

static bool all_ready(Fn *f, const IrInst *inst, const IrValue *except) {
    for (uint32_t k = 0; k < inst->noperands; k++)
        if (ir_resolve(inst->operands[k]) != except && !ready(f, inst->operands[k])) return false;
    return true;
}

/* The last operand is the result; the base is another array that BUILD does not read. */
static bool takes_result(Fn *f, const IrInst *user, const IrInst *build, const IrValue *result) {
    if (user->op != IR_UPDATE && user->op != IR_ASSIGN && user->op != IR_ACC_ADD) return false;
    if (ir_resolve(user->operands[user->noperands - 1]) != result) return false;
    if (!all_ready(f, user, result)) return false;
    if (user->op == IR_ACC_ADD) return true;
    const IrValue *base = ir_resolve(user->operands[0]), *root = f->plan->root[base->id];
    return root && root != result && !mem_region_uses(f->plan, build->regions[0], root);
}

static LLVMValueRef part_at(Fn *f, const IrInst *user, const Val *base, IrType type) {
    LLVMValueRef at[IR_MAX_RANK];
    uint32_t n = user->noperands - 2;
    for (uint32_t k = 0; k < n; k++) at[k] = gen_scalar(f, user->operands[1 + k]);
    return gen_element_at(f, type, base->at, gen_flat(f, base, type, n, at));
}

static void open_assign(Fn *f, const IrInst *user, const IrInst *view, Sink *sink) {
    uint32_t rank = sink->type->rank;
    sink->strided = true;
    for (uint32_t k = 0; k < rank; k++) sink->from[k] = k;
    if (view) ir_adds_unit_dims(view, sink->from);
    for (uint32_t k = 0; k < rank; k++) {
        sink->start[k] = gen_scalar(f, user->operands[1 + k]);
        sink->step[k] = gen_scalar(f, user->operands[1 + rank + k]);
    }
    sink->dest = (Dest){.at = sink->base.at, .depth = sink->base.depth};
}

bool sink_open(Fn *f, const IrInst *build, bool adds, Sink *sink) {
    const IrValue *result = build->results[0];
    if (build->nresults != 1 || f->uses[result->id] != 1 || f->dests[result->id].at) return false;
    const IrInst *view, *user = near_user(f, build, &result, &view);
    if (!user || !takes_result(f, user, build, result)) return false;
    if (view && user->op != IR_ASSIGN) return false;
    if (user->op == IR_ACC_ADD && !adds) return false;
    const IrValue *base = ir_resolve(user->operands[0]);
    bool rows = build->ints[0] > 0;
    if (user->op == IR_ASSIGN && rows) return false;
    *sink = (Sink){.type = base->type};
    sink->base = user->op == IR_ACC_ADD ? *gen_val(f, base) : gen_base(f, user, 0);
    if (user->op == IR_ASSIGN) {
        open_assign(f, user, view, sink);
    } else {
        bool add = user->op == IR_ACC_ADD;
        sink->dest = (Dest){part_at(f, user, &sink->base, base->type),
                            add ? f->groups.len : sink->base.depth, add, IR_SUM, false};
    }
    if (user->nresults) gen_set(f, user->results[0], sink->base);
    if (view) map_setp(&f->done, view, (void *)(uintptr_t)view);
    map_setp(&f->done, user, (void *)(uintptr_t)user);
    return true;
}

LLVMValueRef sink_place(Fn *f, const Sink *sink, LLVMValueRef const *i) {
    Emit *e = f->e;
    LLVMValueRef to[IR_MAX_RANK];
    for (uint32_t k = 0; k < sink->type->rank; k++) {
        to[k] = sink->start[k];
        if (sink->from[k] == IR_MAX_RANK) continue;
        LLVMValueRef along = LLVMBuildNSWMul(e->b, i[sink->from[k]], sink->step[k], "");
        to[k] = LLVMBuildNSWAdd(e->b, to[k], along, "");
    }
    return gen_flat(f, &sink->base, sink->type, sink->type->rank, to);
}
