/* Moves what only one side of an IF needs into that side.  Besides the work that is saved, this
   matters to derivatives: what stands in a branch that was not taken contributes nothing, whatever
   its partial derivatives are. */
#include "opt/opt.h"
#include "opt/uses.h"

/* The region below FROM that holds USE; NULL if USE stands in FROM itself. */
static IrRegion *branch_of(const IrInst *use, const IrRegion *from) {
    IrRegion *region = use->parent;
    while (region != from && region->owner && region->owner->parent != from)
        region = region->owner->parent;
    return region == from ? NULL : region;
}

static IrRegion *only_branch(const Uses *uses, const IrInst *inst) {
    IrRegion *branch = NULL;
    bool used = false;
    for (uint32_t k = 0; k < inst->nresults; k++) {
        const UseList *list = uses_of(uses, inst->results[k]);
        for (uint32_t j = 0; j < list->at.len; j++) {
            IrRegion *here = branch_of(list->at.at[j], inst->parent);
            if (!here || !here->owner || here->owner->op != IR_IF) return NULL;
            if (used && here != branch) return NULL;
            branch = here;
            used = true;
        }
    }
    return branch;
}

static bool can_sink(const IrInst *inst) {
    if (inst->op == IR_YIELD || inst->op == IR_TAPE_NEW || inst->op == IR_TAPE_PUSH) return false;
    return inst->op != IR_CONST && ir_removable(inst);
}

static void sink_region(OptContext *c, const Uses *uses, IrRegion *region) {
    for (IrInst *inst = region->last, *prev; inst; inst = prev) {
        prev = inst->prev;
        IrRegion *branch = can_sink(inst) ? only_branch(uses, inst) : NULL;
        if (branch) {
            ir_move_before(inst, branch->first);
            c->changed = true;
        }
    }
    for (IrInst *inst = region->first; inst; inst = inst->next)
        for (uint32_t r = 0; r < inst->nregions; r++) sink_region(c, uses, inst->regions[r]);
}

void opt_sink(OptContext *c) {
    Uses uses;
    uses_init(&uses, c->func, c->scratch);
    sink_region(c, &uses, c->func->body);
    uses_free(&uses);
}
