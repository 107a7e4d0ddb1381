/* Functions of the C library that stand in a map or a sum beside values with lanes.  Such a loop is
   not vectorised over its places, so that each would be a call for itself; here they get a map of
   their own in front, over the same places, which is.  The checks in front of what they read go
   there, too. */
#include "base/bitset.h"
#include "ir/build.h"
#include "opt/opt.h"

enum { MOST_CALLS = 16 };

typedef struct Apart {
    OptContext *context;
    Bitset needed; /* ids of values */
    Map checks;    /* checks that are wanted with them */
    IrInst *calls[MOST_CALLS];
    uint32_t n;
} Apart;

static bool has_lanes(const IrRegion *region) {
    for (const IrInst *inst = region->first; inst; inst = inst->next)
        for (uint32_t i = 0; i < inst->nresults; i++)
            if (ir_scalar_lanes(inst->results[i]->type->scalar) > 1) return true;
    return false;
}

/* One that takes its time. */
static bool is_call(const IrInst *inst) {
    if (inst->op != IR_MATH) return false;
    switch ((int)inst->imm) {
    case IR_MATH_SQRT:
    case IR_MATH_FLOOR:
    case IR_MATH_CEIL:
    case IR_MATH_TRUNC:
    case IR_MATH_ROUND:
    case IR_MATH_RINT:
    case IR_MATH_COPYSIGN:
    case IR_MATH_FMA: return false;
    default: return true;
    }
}

static bool is_check(const IrInst *inst) {
    return inst->op == IR_CHECK || inst->op == IR_CHECK_INDEX;
}

/* Can it be made for itself: a scalar without lanes, from such ones and elements of arrays? */
static bool is_plain(const IrInst *inst) {
    if (is_check(inst)) return true;
    if (inst->nresults != 1) return false;
    if (inst->op > IR_MATH && inst->op != IR_INDEX && inst->op != IR_DIM) return false;
    IrType type = inst->results[0]->type;
    return type->kind == IR_T_SCALAR && ir_scalar_lanes(type->scalar) == 1;
}

static bool is_needed(const Apart *a, const IrInst *inst) {
    for (uint32_t i = 0; i < inst->nresults; i++)
        if (bitset_has(&a->needed, inst->results[i]->id)) return true;
    return false;
}

static void need_operands(Apart *a, const IrInst *inst) {
    for (uint32_t i = 0; i < inst->noperands; i++)
        bitset_add(&a->needed, ir_resolve(inst->operands[i])->id);
}

/* Finds the calls of BODY and what they need; false if there are none, or they need something else.
 */
static bool find(Apart *a, IrRegion *body) {
    bool behind = false; /* is something needed that stands behind? */
    a->n = 0;
    for (IrInst *inst = body->last; inst; inst = inst->prev) {
        if (inst->nregions) return false;
        bool needed = is_needed(a, inst);
        if (is_call(inst) && a->n < MOST_CALLS) {
            a->calls[a->n++] = inst;
            needed = true;
            bitset_add(&a->needed, inst->results[0]->id);
        }
        if (behind && is_check(inst)) {
            map_setp(&a->checks, inst, inst);
            needed = true;
        }
        if (!needed) continue;
        if (!is_plain(inst)) return false;
        need_operands(a, inst);
        behind = true;
    }
    return a->n > 0;
}

static void take_apart(Apart *a, IrInst *inst) {
    IrRegion *body = inst->regions[0];
    IrType types[MOST_CALLS];
    IrValue *values[MOST_CALLS];
    IrBuilder b = {.module = a->context->module, .func = a->context->func};
    Map map = {0};
    irb_before(&b, inst);
    for (uint32_t k = 0; k < a->n; k++) types[k] = a->calls[k]->results[0]->type;
    IrInst *apart = irb_build(&b, (uint32_t)inst->imm, inst->operands, a->n, types, 0, NULL);
    irb_at_end(&b, apart->regions[0]);
    for (uint32_t k = 0; k < body->nparams; k++)
        map_setp(&map, body->params[k], apart->regions[0]->params[k]);
    for (IrInst *in = body->first, *next; in != body->last; in = next) {
        next = in->next;
        bool check = map_hasp(&a->checks, in);
        if (!check && !is_needed(a, in)) continue;
        (void)ir_clone(&b, in, &map);
        if (check) ir_remove(in);
    }
    for (uint32_t k = 0; k < a->n; k++) values[k] = map_getp(&map, a->calls[k]->results[0]);
    irb_yield(&b, a->n, values);
    map_free(&map);
    for (uint32_t k = 0; k < a->n; k++) {
        irb_before(&b, a->calls[k]);
        ir_replace(a->calls[k]->results[0],
                   irb_index(&b, apart->results[k], body->nparams, body->params));
        ir_remove(a->calls[k]);
    }
    a->context->changed = true;
}

static void apart_region(Apart *a, IrRegion *region) {
    for (IrInst *inst = region->first; inst; inst = inst->next) {
        for (uint32_t r = 0; r < inst->nregions; r++) apart_region(a, inst->regions[r]);
        if (inst->op != IR_BUILD && inst->op != IR_REDUCE) continue;
        if (inst->imm < 1 || !has_lanes(inst->regions[0])) continue;
        bitset_clear(&a->needed);
        map_clear(&a->checks);
        if (find(a, inst->regions[0])) take_apart(a, inst);
    }
}

void opt_apart(OptContext *c) {
    Apart apart = {.context = c};
    apart_region(&apart, c->func->body);
    bitset_free(&apart.needed);
    map_free(&apart.checks);
    ir_settle(c->func);
}
