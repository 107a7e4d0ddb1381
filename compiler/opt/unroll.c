/* Loops of a few iterations inside of others are written out, if their number is known: subscripts
   become constants, tables of constants numbers, small arrays scalars, and the loop outside is left
   as the innermost one, with its neighbours in memory.

   The terms of a sum are added in the order that they have anyway: so few one after the other. */
#include "opt/unroll.h"

#include "ir/build.h"
#include "opt/opt.h"
#include "opt/uses.h"

enum { MOST_TRIPS = 9, MOST_COST = 200 };

static bool has_regions(const IrRegion *region) {
    for (const IrInst *inst = region->first; inst; inst = inst->next)
        if (inst->nregions) return true;
    return false;
}

/* The number of iterations; 0: it is not known, or too large. */
static uint32_t trips(const IrInst *inst) {
    int64_t n = 1, size;
    for (uint32_t k = 0; k < (uint32_t)inst->imm; k++) {
        if (!ir_const_int(inst->operands[k], &size) || size < 1 || size > MOST_TRIPS) return 0;
        n *= size;
    }
    return n <= MOST_TRIPS ? (uint32_t)n : 0;
}

static bool is_sum(const IrInst *inst) {
    if (inst->op != IR_REDUCE || inst->flags != IR_SUM) return false;
    for (uint32_t i = 0; i < inst->nresults; i++)
        if (!ir_is_float(inst->results[i]->type) || inst->results[i]->type->kind != IR_T_SCALAR)
            return false;
    return true;
}

/* A map that only adds to accumulators, or whose elements make vectors. */
static bool is_map(const IrInst *inst) {
    if (inst->op != IR_BUILD) return false;
    for (uint32_t i = 0; i < inst->nresults; i++)
        if (inst->imm != 1 || inst->ints[i] != 0) return false;
    return true;
}

/* Only what is nothing but computing: an iteration may not fail, since it would say so in another
 * order. */
static bool is_plain(const IrRegion *region) {
    for (const IrInst *inst = region->first; inst; inst = inst->next)
        if (inst->op != IR_YIELD && inst->op != IR_ACC_ADD && !ir_removable(inst)) return false;
    return true;
}

uint32_t unroll_trips(const IrInst *inst) {
    uint32_t n = is_sum(inst) || is_map(inst) ? trips(inst) : 0;
    const IrRegion *body = n ? inst->regions[0] : NULL;
    if (!n || has_regions(body) || !is_plain(body)) return 0;
    return opt_region_cost(body) * n <= MOST_COST ? n : 0;
}

/* What iteration K yields. */
static IrValue **iteration(IrBuilder *b, const IrInst *inst, uint32_t k) {
    const IrRegion *body = inst->regions[0];
    Map map = {0};
    for (uint32_t d = body->nparams; d-- > 0;) {
        int64_t size = 1;
        ir_const_int(inst->operands[d], &size);
        map_setp(&map, body->params[d], irb_int(b, k % (uint32_t)size));
        k /= (uint32_t)size;
    }
    IrValue **values = ir_clone_body(b, body, &map);
    map_free(&map);
    return values;
}

void unroll_loop(IrInst *inst) {
    uint32_t n = unroll_trips(inst);
    IrBuilder b = {0};
    IrValue **values[MOST_TRIPS];
    irb_before(&b, inst);
    for (uint32_t k = 0; k < n; k++) values[k] = iteration(&b, inst, k);
    for (uint32_t r = 0; r < inst->nresults; r++) {
        IrValue *row[MOST_TRIPS], *all = values[0][r];
        for (uint32_t k = 0; k < n; k++) row[k] = values[k][r];
        if (inst->op == IR_REDUCE) {
            for (uint32_t k = 1; k < n; k++) all = irb_binary(&b, IR_ADD, all, row[k]);
            all = irb_binary(&b, IR_ADD, inst->operands[(uint32_t)inst->imm + r], all);
        } else {
            all = irb_pack(&b, n, row);
        }
        ir_replace(inst->results[r], all);
    }
    ir_remove(inst);
}

static void unroll_region(OptContext *c, IrRegion *region, bool inside) {
    for (IrInst *inst = region->first, *next; inst; inst = next) {
        bool loop = inst->op == IR_BUILD || inst->op == IR_REDUCE || inst->op == IR_LOOP;
        next = inst->next;
        for (uint32_t r = 0; r < inst->nregions; r++)
            unroll_region(c, inst->regions[r], inside || loop);
        if (!inside || !unroll_trips(inst)) continue;
        unroll_loop(inst);
        c->changed = true;
    }
}

void opt_unroll(OptContext *c) {
    unroll_region(c, c->func->body, false);
    ir_settle(c->func);
}
