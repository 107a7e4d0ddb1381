/* Control that need not be there: branches that are known, loops that do not loop, carried values
   that do not change. */
#include "ir/build.h"
#include "ir/shared.h"
#include "opt/simplify.h"
#include "opt/uses.h"

/* Puts a region's instructions in front of its owner; its YIELD stays behind. */
static void splice(IrInst *owner, IrRegion *region) {
    for (IrInst *inst = region->first, *next; inst && inst->op != IR_YIELD; inst = next) {
        next = inst->next;
        ir_move_before(inst, owner);
    }
}

static void finish(IrInst *inst, IrInst *first, IrInst **next) {
    /* What was moved is looked at again where it stands now. */
    if (first && first->op != IR_YIELD) *next = first;
    ir_remove(inst);
}

/* What the condition of INST is: a constant, or that of an IF round it, whose side this is. */
static bool known_condition(const IrInst *inst, int64_t *known) {
    const IrValue *cond = ir_resolve(inst->operands[0]);
    if (ir_const_int(cond, known)) return true;
    for (const IrRegion *r = inst->parent; r->owner; r = r->owner->parent) {
        if (r->owner->op != IR_IF || ir_resolve(r->owner->operands[0]) != cond) continue;
        *known = r == r->owner->regions[0];
        return true;
    }
    return false;
}

static bool simplify_if(IrInst *inst, IrInst **next) {
    int64_t cond;
    if (!known_condition(inst, &cond)) return false;
    IrRegion *side = inst->regions[cond ? 0 : 1];
    IrInst *first = side->first;
    splice(inst, side);
    for (uint32_t k = 0; k < inst->nresults; k++)
        ir_replace(inst->results[k], ir_resolve(side->last->operands[k]));
    finish(inst, first, next);
    return true;
}

static bool simplify_loop(IrInst *inst, IrInst **next) {
    int64_t count;
    if (!ir_const_int(ir_resolve(inst->operands[0]), &count) || count > 1) return false;
    if (count <= 0) {
        for (uint32_t k = 0; k < inst->nresults; k++)
            ir_replace(inst->results[k], ir_resolve(inst->operands[1 + k]));
        ir_remove(inst);
        return true;
    }
    IrRegion *body = inst->regions[0];
    IrBuilder b = {.module = body->func->module, .func = body->func};
    irb_before(&b, inst);
    ir_replace(body->params[0], irb_int(&b, 0));
    for (uint32_t k = 0; k < inst->nresults; k++)
        ir_replace(body->params[1 + k], ir_resolve(inst->operands[1 + k]));
    IrInst *first = body->first;
    splice(inst, body);
    uint32_t exit = inst->flags & IR_LOOP_EXIT ? 1 : 0;
    for (uint32_t k = 0; k < inst->nresults; k++)
        ir_replace(inst->results[k], ir_resolve(body->last->operands[exit + k]));
    finish(inst, first, next);
    return true;
}

/* A carried value that every trip passes on as it came is the initial one. */
static bool carried_invariants(IrInst *loop) {
    IrRegion *body = loop->regions[0];
    uint32_t exit = loop->flags & IR_LOOP_EXIT ? 1 : 0;
    bool any = false;
    for (uint32_t k = 0; k < loop->nresults; k++) {
        IrValue *param = body->params[1 + k];
        if (param->forward || ir_resolve(body->last->operands[exit + k]) != param) continue;
        IrValue *init = ir_resolve(loop->operands[1 + k]);
        ir_replace(param, init);
        ir_replace(loop->results[k], init);
        any = true;
    }
    return any;
}

static bool simplify_with_acc(IrInst *inst, IrInst **next) {
    if (inst->noperands) return false;
    IrRegion *body = inst->regions[0];
    IrInst *first = body->first;
    splice(inst, body);
    for (uint32_t k = 0; k < inst->nresults; k++)
        ir_replace(inst->results[k], ir_resolve(body->last->operands[k]));
    finish(inst, first, next);
    return true;
}

/* An IF whose sides give the same value gives that value. */
static bool equal_sides(IrInst *inst) {
    bool any = false;
    for (uint32_t k = 0; k < inst->nresults; k++) {
        IrValue *x = ir_resolve(inst->regions[0]->last->operands[k]);
        if (inst->results[k]->forward || x != ir_resolve(inst->regions[1]->last->operands[k]))
            continue;
        ir_replace(inst->results[k], x);
        any = true;
    }
    return any;
}

/* What a map reads at its own indices, if that is a whole array of outside. */
static IrValue *read_whole(const IrInst *map, uint32_t k) {
    const IrRegion *body = map->regions[0];
    const IrInst *index = ir_resolve(body->last->operands[k])->def;
    if (map->ints[k] || !index || index->op != IR_INDEX || index->parent != body) return NULL;
    IrValue *x = ir_resolve(index->operands[0]);
    if (x->type != map->results[k]->type || index->noperands != 1 + (uint32_t)map->imm) return NULL;
    if (!ir_visible(x, map->parent) || ir_is_changing(x)) return NULL;
    for (uint32_t i = 0; i < (uint32_t)map->imm; i++) {
        if (ir_resolve(index->operands[1 + i]) != body->params[i]) return NULL;
        if (!opt_has_size(x, i, ir_resolve(map->operands[i]))) return NULL;
    }
    return x;
}

/* A map that only reads an array is that array. */
static bool equal_arrays(IrInst *map) {
    bool any = false;
    for (uint32_t k = 0; k < map->nresults; k++) {
        IrValue *x = map->results[k]->forward || !map->imm ? NULL : read_whole(map, k);
        if (x) ir_replace(map->results[k], x);
        any = any || x;
    }
    return any;
}

bool opt_simplify_control(OptContext *c, IrBuilder *b, IrInst *inst, IrInst **next) {
    int64_t cond;
    (void)b;
    switch (inst->op) {
    case IR_IF:
        if (simplify_if(inst, next)) return true;
        c->changed |= equal_sides(inst);
        return false;
    case IR_BUILD: c->changed |= equal_arrays(inst); return false;
    case IR_LOOP:
        if (simplify_loop(inst, next)) return true;
        c->changed |= carried_invariants(inst);
        return false;
    case IR_WITH_ACC: return simplify_with_acc(inst, next);
    case IR_CHECK:
        if (!ir_const_int(ir_resolve(inst->operands[0]), &cond) || !cond) return false;
        ir_remove(inst);
        return true;
    default: return false;
    }
}
