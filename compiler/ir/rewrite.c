/* Replacing, removing, moving, walking, counting. */
#include "ir/ir.h"

#include "base/fatal.h"
#include "ir/internal.h"

IrValue *ir_resolve(IrValue *value) {
    IrValue *end = value;
    if (!value || !value->forward) return value;
    while (end->forward) end = end->forward;
    while (value != end) {
        IrValue *next = value->forward;
        value->forward = end;
        value = next;
    }
    return end;
}

void ir_replace(IrValue *old, IrValue *new_value) {
    old = ir_resolve(old);
    new_value = ir_resolve(new_value);
    if (old == new_value) return;
    old->forward = new_value;
    if (!new_value->name) new_value->name = old->name;
}

static void settle_inst(IrInst *inst, void *data) {
    (void)data;
    for (uint32_t i = 0; i < inst->noperands; i++)
        inst->operands[i] = ir_resolve(inst->operands[i]);
}

void ir_settle(IrFunc *func) {
    if (func->body) ir_walk(func->body, settle_inst, NULL);
}

/* The links of INST itself stay, so that a walk that stands on it can go on. */
static void unlink_inst(IrInst *inst) {
    IrRegion *region = inst->parent;
    CHECK_INTERNAL(region);
    if (inst->prev) inst->prev->next = inst->next;
    else region->first = inst->next;
    if (inst->next) inst->next->prev = inst->prev;
    else region->last = inst->prev;
}

void ir_remove(IrInst *inst) {
    unlink_inst(inst);
    inst->parent = NULL;
}

void ir_move_before(IrInst *inst, IrInst *place) {
    if (inst == place) return;
    unlink_inst(inst);
    ir_link(inst, place->parent, place);
}

void ir_walk(IrRegion *region, void (*visit)(IrInst *inst, void *data), void *data) {
    for (IrInst *inst = region->first, *next; inst; inst = next) {
        next = inst->next;
        visit(inst, data);
        if (!inst->parent) continue;
        for (uint32_t i = 0; i < inst->nregions; i++) ir_walk(inst->regions[i], visit, data);
    }
}

static void count_operands(IrInst *inst, void *data) {
    uint32_t *uses = data;
    for (uint32_t i = 0; i < inst->noperands; i++) uses[ir_resolve(inst->operands[i])->id]++;
}

uint32_t *ir_count_uses(const IrFunc *func, Arena *arena) {
    uint32_t *uses = ARENA_ARRAY(arena, uint32_t, func->nvalues);
    if (func->body) ir_walk(func->body, count_operands, uses);
    return uses;
}
