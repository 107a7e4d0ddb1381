/* Copies of instructions and regions. */
#include "ir/ir.h"

#include "base/fatal.h"
#include "ir/internal.h"

static IrValue *mapped(const Map *map, IrValue *value) {
    value = ir_resolve(value);
    IrValue *copy = map_getp(map, value);
    return copy ? ir_resolve(copy) : value;
}

static IrInst *copy_inst(IrFunc *func, const IrInst *inst, Map *map) {
    Arena *arena = func->module->arena;
    IrInst *copy = ir_inst_alloc(func, inst->op, inst->noperands, inst->nresults, inst->nregions);
    copy->flags = inst->flags;
    copy->imm = inst->imm;
    copy->fimm = inst->fimm;
    copy->nints = inst->nints;
    copy->ints = ir_copy(arena, inst->ints, inst->nints, sizeof *inst->ints);
    copy->text = inst->text;
    copy->func = inst->func;
    copy->pos = inst->pos;
    for (uint32_t i = 0; i < inst->noperands; i++)
        copy->operands[i] = mapped(map, inst->operands[i]);
    for (uint32_t i = 0; i < inst->nregions; i++)
        ir_clone_region(func, copy->regions[i], inst->regions[i], map);
    for (uint32_t i = 0; i < inst->nresults; i++) {
        copy->results[i]->type = inst->results[i]->type;
        copy->results[i]->name = inst->results[i]->name;
        map_setp(map, inst->results[i], copy->results[i]);
    }
    return copy;
}

void ir_clone_region(IrFunc *func, IrRegion *into, const IrRegion *from, Map *map) {
    for (uint32_t i = 0; i < from->nparams; i++) {
        IrValue *param = from->params[i];
        if (!map_hasp(map, param))
            map_setp(map, param, ir_region_param(into, param->type, param->name));
    }
    for (const IrInst *inst = from->first; inst; inst = inst->next)
        ir_link(copy_inst(func, inst, map), into, NULL);
}

IrInst *ir_clone(IrBuilder *b, const IrInst *inst, Map *map) {
    IrInst *copy = copy_inst(b->func, inst, map);
    ir_link(copy, b->region, b->before);
    return copy;
}

IrValue **ir_clone_body(IrBuilder *b, const IrRegion *region, Map *map) {
    const IrInst *inst = region->first;
    for (; inst && inst->op != IR_YIELD; inst = inst->next) ir_clone(b, inst, map);
    CHECK_INTERNAL(inst);
    IrValue **values = ARENA_ARRAY(b->module->arena, IrValue *, inst->noperands);
    for (uint32_t i = 0; i < inst->noperands; i++) values[i] = mapped(map, inst->operands[i]);
    return values;
}
