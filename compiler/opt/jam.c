/* Loops that only check.  Where a primal is wanted for nothing but its checks, they are left in a
   loop of their own, which computes all that leads to them, in front of the loop that computes the
   same for the derivative.  Such a loop, if it has loops that are no maps, moves into the next one
   over the same indices, where cse finds what is computed twice. */
#include "ir/build.h"
#include "opt/opt.h"
#include "opt/uses.h"

static bool has_loop(const IrRegion *region) {
    for (const IrInst *inst = region->first; inst; inst = inst->next) {
        if (inst->op == IR_LOOP) return true;
        for (uint32_t r = 0; r < inst->nregions; r++)
            if (has_loop(inst->regions[r])) return true;
    }
    return false;
}

/* Nothing in it has an effect but checks. */
static bool only_checks(const IrRegion *region) {
    for (const IrInst *inst = region->first; inst; inst = inst->next) {
        bool check = inst->op == IR_CHECK || inst->op == IR_CHECK_INDEX;
        if (inst->op == IR_WITH_ACC || inst->op == IR_TAPE_PUSH) return false;
        if (inst->op != IR_YIELD && !check && !inst->nregions && !ir_removable(inst)) return false;
        for (uint32_t r = 0; r < inst->nregions; r++)
            if (!only_checks(inst->regions[r])) return false;
    }
    return true;
}

static bool is_map_or_sum(const IrInst *inst) {
    return inst->op == IR_BUILD || (inst->op == IR_REDUCE && inst->flags < IR_ARGMIN);
}

static bool is_checking(const IrInst *inst) {
    return is_map_or_sum(inst) && !inst->nresults && inst->imm > 0 && !ir_removable(inst) &&
           only_checks(inst->regions[0]) && has_loop(inst->regions[0]);
}

static bool same_space(const IrInst *a, const IrInst *b) {
    if (!is_map_or_sum(b) || a->imm != b->imm || !has_loop(b->regions[0])) return false;
    for (uint32_t k = 0; k < (uint32_t)a->imm; k++)
        if (ir_resolve(a->operands[k]) != ir_resolve(b->operands[k])) return false;
    return true;
}

/* The loop over the space of CHECKING that comes next, from INST on, with no effect before it. */
static IrInst *next_loop(const IrInst *checking, IrInst *inst) {
    for (; inst && inst->op != IR_YIELD; inst = inst->next) {
        if (same_space(checking, inst)) return inst;
        if (inst->op == IR_WITH_ACC) return next_loop(checking, inst->regions[0]->first);
        if (!ir_removable(inst)) return NULL;
    }
    return NULL;
}

static void move_into(OptContext *c, IrInst *checking, IrInst *loop) {
    IrBuilder b = {.module = c->module, .func = c->func};
    Map map = {0};
    irb_before(&b, loop->regions[0]->first);
    for (uint32_t k = 0; k < (uint32_t)loop->imm; k++)
        map_setp(&map, checking->regions[0]->params[k], loop->regions[0]->params[k]);
    ir_clone_body(&b, checking->regions[0], &map);
    map_free(&map);
    ir_remove(checking);
    c->changed = true;
}

static void jam_region(OptContext *c, IrRegion *region) {
    for (IrInst *inst = region->first, *next; inst; inst = next) {
        next = inst->next;
        for (uint32_t r = 0; r < inst->nregions; r++) jam_region(c, inst->regions[r]);
        if (!is_checking(inst)) continue;
        IrInst *loop = next_loop(inst, next);
        if (loop) move_into(c, inst, loop);
    }
}

void opt_jam(OptContext *c) {
    jam_region(c, c->func->body);
}
