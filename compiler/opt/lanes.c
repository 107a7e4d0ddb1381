/* A map of batched derivatives, one for each group of columns, say, gives blocks: its body takes
   the lanes of what it got apart.  Here the map gives what it got, with lanes, and they are taken
   apart behind it, where fusing does so as the elements are read: the blocks are never stored. */
#include "ir/build.h"
#include "opt/opt.h"

/* What stands in the body of a map that yields [k, i, ...]: lane k of x[i, ...].  X, or NULL. */
static IrValue *lanes_behind(const IrInst *block, const IrValue *value) {
    if (block->op != IR_BUILD || block->ints[value->index] != 0) return NULL;
    const IrRegion *body = block->regions[0];
    const IrValue *element = ir_resolve(body->last->operands[value->index]);
    if (!element->def || element->def->op != IR_LANE) return NULL;
    const IrValue *read = ir_resolve(element->def->operands[0]);
    if (ir_resolve(element->def->operands[1]) != body->params[0]) return NULL;
    if (!read->def || read->def->op != IR_INDEX || read->def->noperands != body->nparams)
        return NULL;
    IrValue *x = ir_resolve(read->def->operands[0]);
    for (uint32_t k = 1; k < body->nparams; k++)
        if (ir_resolve(read->def->operands[k]) != body->params[k]) return NULL;
    return x->type->rank + 1u == body->nparams ? x : NULL;
}

/* The value with lanes behind result R of MAP, if it comes from the map's own body. */
static IrValue *lanes_of(const IrInst *map, uint32_t r) {
    const IrRegion *body = map->regions[0];
    const IrValue *value = ir_resolve(body->last->operands[r]);
    if (!value->def || value->def->parent != body || map->ints[r] < 2) return NULL;
    IrValue *x = lanes_behind(value->def, value);
    return x && !ir_visible(x, map->parent) ? x : NULL;
}

/* MAP with X for its result R, whose inner sizes but the first are those of X.  AT: where the inner
   sizes of R begin. */
static IrInst *with_lanes(OptContext *c, IrInst *map, uint32_t r, IrValue *x, uint32_t at) {
    IrBuilder b = {.module = c->module, .func = c->func};
    IrValue **operands = ARENA_ARRAY(c->scratch, IrValue *, map->noperands);
    IrType *types = ARENA_ARRAY(c->scratch, IrType, map->nresults);
    uint32_t n = 0;
    irb_before(&b, map);
    for (uint32_t k = 0; k < map->noperands; k++)
        if (k != at) operands[n++] = map->operands[k];
    for (uint32_t k = 0; k < map->nresults; k++) types[k] = map->results[k]->type;
    types[r] = ir_type_outer(c->module, x->type, (uint32_t)map->imm, types[r]->dims);
    IrInst *fresh = irb_inst(&b, IR_BUILD, n, operands, map->nresults, types, 1);
    fresh->imm = map->imm;
    fresh->nints = map->nints;
    fresh->ints = ARENA_ARRAY(c->module->arena, int64_t, map->nints);
    for (uint32_t k = 0; k < map->nints; k++) fresh->ints[k] = map->ints[k] - (k == r ? 1 : 0);
    fresh->regions[0] = map->regions[0];
    fresh->regions[0]->owner = fresh;
    fresh->regions[0]->last->operands[r] = x;
    return fresh;
}

/* The block of LANES, a result of MAP, behind it: FIRST lanes stand behind the map's own indices.
 */
static IrValue *block_of(OptContext *c, const IrInst *map, IrValue *lanes, IrValue *first) {
    IrBuilder b = {.module = c->module, .func = c->func};
    IrValue *sizes[IR_MAX_RANK], *at[IR_MAX_RANK];
    IrType elem = ir_scalar(c->module, ir_scalar_base(lanes->type->scalar));
    uint32_t n = (uint32_t)map->imm, rank = lanes->type->rank + 1;
    irb_before(&b, map->next);
    b.pos = map->pos;
    for (uint32_t k = 0; k < rank; k++)
        sizes[k] = k == n ? first : irb_dim(&b, lanes, k < n ? k : k - 1);
    IrInst *block = irb_build(&b, rank, sizes, 1, &elem, 0, NULL);
    IrValue **params = block->regions[0]->params;
    for (uint32_t k = 0; k + 1 < rank; k++) at[k] = params[k < n ? k : k + 1];
    irb_at_end(&b, block->regions[0]);
    IrValue *element = irb_index(&b, lanes, rank - 1, at);
    element = irb_lane(&b, element, params[n]);
    irb_yield(&b, 1, &element);
    return block->results[0];
}

static IrInst *keep_lanes(OptContext *c, IrInst *map) {
    uint32_t at = (uint32_t)map->imm;
    for (uint32_t r = 0; r < map->nresults; r++) {
        IrValue *x = lanes_of(map, r);
        if (x) {
            IrValue *first = ir_resolve(map->operands[at]);
            IrInst *fresh = with_lanes(c, map, r, x, at);
            for (uint32_t k = 0; k < map->nresults; k++) {
                fresh->results[k]->name = map->results[k]->name;
                if (k != r) ir_replace(map->results[k], fresh->results[k]);
            }
            ir_replace(map->results[r], block_of(c, fresh, fresh->results[r], first));
            ir_remove(map);
            map = fresh;
            c->changed = true;
        }
        at += (uint32_t)map->ints[r];
    }
    return map;
}

static void lanes_region(OptContext *c, IrRegion *region) {
    for (IrInst *inst = region->first; inst; inst = inst->next) {
        for (uint32_t r = 0; r < inst->nregions; r++) lanes_region(c, inst->regions[r]);
        if (inst->op == IR_BUILD) inst = keep_lanes(c, inst);
    }
}

void opt_lanes(OptContext *c) {
    lanes_region(c, c->func->body);
    ir_settle(c->func);
}
