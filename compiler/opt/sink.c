/* Moves what only one side of an IF needs into that side.  Besides the work that is saved, this
   matters to derivatives: what stands in a branch that was not taken contributes nothing, whatever
   its partial derivatives are.

   And moves a map behind the run-time checks of the part of an array that it is assigned to: what
   directly follows a map can be filled by it, without an array in between. */
#include "ir/shared.h"
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

static IrInst *only_user(const Uses *uses, const IrValue *value) {
    const UseList *list = uses_of(uses, value);
    return list && list->at.len == 1 ? list->at.at[0] : NULL;
}

/* Before which instruction to put the map: the one that takes its one result as the new value of a
   part of another array (or the view of it that is taken), where only scalar operations and checks
   stand between.  NULL: nowhere. */
static IrInst *place_behind_checks(const Uses *uses, const IrInst *map) {
    if (map->op != IR_BUILD || map->nresults != 1 || !ir_removable(map)) return NULL;
    const IrValue *result = map->results[0];
    IrInst *user = only_user(uses, result), *view = NULL;
    uint32_t from[IR_MAX_RANK];
    if (user && user->op == IR_RESHAPE && ir_adds_unit_dims(user, from)) {
        view = user;
        result = view->results[0];
        user = only_user(uses, result);
    }
    if (!user) return NULL;
    if (user->op != IR_ASSIGN && user->op != IR_UPDATE && user->op != IR_ACC_ADD) return NULL;
    if (ir_resolve(user->operands[user->noperands - 1]) != result) return NULL;
    bool checked = false;
    for (const IrInst *inst = map->next; inst != (view ? view : user); inst = inst->next) {
        if (!inst) return NULL;
        bool check = inst->op == IR_CHECK || inst->op == IR_CHECK_INDEX;
        checked |= check;
        if (!check && (inst->nresults != 1 || inst->results[0]->type->kind != IR_T_SCALAR))
            return NULL;
        if (!check && !ir_removable(inst)) return NULL;
    }
    return !checked ? NULL : view ? view : user;
}

static void sink_region(OptContext *c, const Uses *uses, IrRegion *region) {
    for (IrInst *inst = region->last, *prev; inst; inst = prev) {
        prev = inst->prev;
        IrRegion *branch = can_sink(inst) ? only_branch(uses, inst) : NULL;
        IrInst *to = branch ? branch->first : place_behind_checks(uses, inst);
        if (to && ir_reads_changing(inst)) continue;
        if (to) {
            ir_move_before(inst, to);
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
