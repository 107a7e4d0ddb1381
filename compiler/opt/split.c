/* Reductions of what is dear to compute become a map and a reduction of its elements, so that a
   derivative finds the elements; `fuse` puts together again what has no derivative. */
#include "ir/build.h"
#include "ir/shared.h"
#include "opt/opt.h"
#include "opt/uses.h"

static void look_for_shared(IrValue *value, void *data) {
    if (ir_is_shared(value)) *(bool *)data = true;
}

/* Does it read what other invocations of a kernel may change, so that it cannot be read again? */
static bool reads_shared(const IrInst *inst) {
    bool found = false;
    ir_captures(inst->regions[0], look_for_shared, &found);
    return found;
}

static bool is_splittable(const IrInst *inst) {
    if (inst->op != IR_REDUCE || inst->flags == IR_ARGMIN || inst->flags == IR_ARGMAX) return false;
    for (uint32_t i = 0; i < inst->nresults; i++)
        if (inst->results[i]->type->kind != IR_T_SCALAR) return false;
    return opt_region_pure(inst->regions[0]) &&
           (opt_region_dear(inst->regions[0]) || reads_shared(inst));
}

static void split(IrInst *reduce) {
    IrBuilder b = {0};
    IrType types[IR_MAX_RANK * 2];
    uint32_t n = (uint32_t)reduce->imm;
    IrRegion *from = reduce->regions[0];
    if (reduce->nresults > IR_MAX_RANK * 2) return;
    irb_before(&b, reduce);
    for (uint32_t i = 0; i < reduce->nresults; i++) types[i] = from->last->operands[i]->type;
    IrInst *build = irb_build(&b, n, reduce->operands, reduce->nresults, types, 0, NULL);
    Map map = {0};
    IrBuilder inner = b;
    irb_at_end(&inner, build->regions[0]);
    for (uint32_t k = 0; k < n; k++) map_setp(&map, from->params[k], build->regions[0]->params[k]);
    IrValue **values = ir_clone_body(&inner, from, &map);
    irb_yield(&inner, reduce->nresults, values);
    map_free(&map);
    while (from->first != from->last) ir_remove(from->last->prev);
    irb_before(&b, from->last);
    for (uint32_t i = 0; i < reduce->nresults; i++)
        from->last->operands[i] = irb_index(&b, build->results[i], n, from->params);
}

static void split_region(OptContext *c, IrRegion *region) {
    for (IrInst *inst = region->first; inst; inst = inst->next) {
        for (uint32_t r = 0; r < inst->nregions; r++) split_region(c, inst->regions[r]);
        if (!is_splittable(inst)) continue;
        split(inst);
        c->changed = true;
    }
}

void opt_split(OptContext *c) {
    split_region(c, c->func->body);
}
