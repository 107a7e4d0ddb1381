/* Neighbours on a ring, x[(i + 1) % n] in a loop over 0..n: only the first and the last few steps
   go round.  They get loops of their own, so that the loop of all others takes no remainder and has
   its neighbours side by side in memory. */
#include "ir/build.h"
#include "opt/opt.h"
#include "opt/uses.h"

enum { FARTHEST = 16, MOST_COST = 1500 };

typedef struct Ring {
    OptContext *context;
    IrInst *build;
    IrValue *step, *size;         /* the innermost index, and its range */
    int64_t before, behind;       /* how far neighbours are */
    IrValue *start[3], *count[3]; /* of the parts: the first steps, those in between, the last */
} Ring;

enum { FIRST, BETWEEN, LAST };

/* There are no first steps of note if nobody looks back. */
static bool has_part(const Ring *r, uint32_t k) {
    return k == FIRST ? r->before > 0 : k == LAST ? r->behind > 0 : true;
}

/* Is INST the place STEP + *OFFSET, taken round a ring of SIZE? */
static bool goes_round(const IrInst *inst, const IrValue *step, const IrValue *size,
                       int64_t *offset) {
    if (inst->op != IR_MOD || !ir_is_scalar(inst->results[0]->type, IR_I64)) return false;
    if (ir_resolve(inst->operands[1]) != size) return false;
    const IrInst *at = ir_resolve(inst->operands[0])->def;
    if (!at || (at->op != IR_ADD && at->op != IR_SUB)) return false;
    const IrValue *a = ir_resolve(at->operands[0]), *b = ir_resolve(at->operands[1]);
    if (at->op == IR_ADD && b == step) {
        b = a;
        a = step;
    }
    if (a != step || !ir_const_int(b, offset)) return false;
    if (at->op == IR_SUB) *offset = -*offset;
    return *offset >= -FARTHEST && *offset <= FARTHEST;
}

static bool find(Ring *r, IrInst *build) {
    int64_t offset;
    if (build->op != IR_BUILD || build->imm < 1) return false;
    for (uint32_t k = 0; k < build->nresults; k++)
        if (build->ints[k]) return false;
    r->build = build;
    r->step = build->regions[0]->params[build->imm - 1];
    r->size = ir_resolve(build->operands[build->imm - 1]);
    r->before = r->behind = 0;
    for (const IrInst *inst = build->regions[0]->first; inst; inst = inst->next) {
        if (inst->nregions || inst->op == IR_CALL) return false;
        if (!goes_round(inst, r->step, r->size, &offset)) continue;
        if (-offset > r->before) r->before = -offset;
        if (offset > r->behind) r->behind = offset;
    }
    if ((!r->before && !r->behind) || ir_const_int(r->size, &offset)) return false;
    return opt_region_cost(build->regions[0]) <= MOST_COST;
}

/* 0, before, size - behind, size, in order also if the size is small. */
static void cut(Ring *r, IrBuilder *b) {
    IrValue *first = irb_int(b, 0), *last = r->size;
    IrValue *low = irb_binary(b, IR_MIN, irb_int(b, r->before), r->size);
    IrValue *high = irb_binary(b, IR_SUB, r->size, irb_int(b, r->behind));
    if (!r->before) low = first;
    high = r->behind ? irb_binary(b, IR_MAX, high, low) : last;
    IrValue *ends[4] = {first, low, high, last};
    for (uint32_t k = FIRST; k <= LAST; k++) {
        r->start[k] = ends[k];
        r->count[k] = irb_binary(b, IR_SUB, ends[k + 1], ends[k]);
    }
}

/* Nobody goes round in BODY. */
static void straighten(const Ring *r, IrRegion *body, const IrValue *step) {
    int64_t offset;
    for (IrInst *inst = body->first; inst; inst = inst->next)
        if (goes_round(inst, step, r->size, &offset))
            ir_replace(inst->results[0], ir_resolve(inst->operands[0]));
}

/* Part K of the loop; the first OUTER indices of it are AT, others are its own. */
static IrInst *part(const Ring *r, IrBuilder *b, uint32_t k, uint32_t outer, IrValue *const *at) {
    IrInst *build = r->build;
    uint32_t rank = (uint32_t)build->imm, own = rank - outer;
    IrValue *sizes[IR_MAX_RANK];
    IrType *elems = ARENA_ARRAY(r->context->scratch, IrType, build->nresults + 1);
    for (uint32_t i = 0; i < build->nresults; i++)
        elems[i] = ir_scalar(b->module, build->results[i]->type->scalar);
    for (uint32_t d = 0; d + 1 < own; d++) sizes[d] = build->operands[outer + d];
    sizes[own - 1] = r->count[k];
    IrInst *loop = irb_build(b, own, sizes, build->nresults, elems, 0, NULL);
    IrBuilder in = {.module = b->module, .func = b->func, .pos = b->pos};
    irb_at_end(&in, loop->regions[0]);
    Map map = {0};
    IrValue *step = irb_binary(&in, IR_ADD, loop->regions[0]->params[own - 1], r->start[k]);
    for (uint32_t d = 0; d < outer; d++) map_setp(&map, build->regions[0]->params[d], at[d]);
    for (uint32_t d = 0; d + 1 < own; d++)
        map_setp(&map, build->regions[0]->params[outer + d], loop->regions[0]->params[d]);
    map_setp(&map, r->step, step);
    irb_yield(&in, build->nresults, ir_clone_body(&in, build->regions[0], &map));
    if (k == BETWEEN) straighten(r, loop->regions[0], step);
    map_free(&map);
    return loop;
}

/* The results of all parts, put together. */
static IrValue **together(const Ring *r, IrBuilder *b, uint32_t outer, IrValue *const *at) {
    uint32_t n = r->build->nresults;
    uint32_t nparts = 0;
    IrInst *parts[3];
    IrValue **all = ARENA_ARRAY(r->context->scratch, IrValue *, n + 1);
    for (uint32_t k = FIRST; k <= LAST; k++)
        if (has_part(r, k)) parts[nparts++] = part(r, b, k, outer, at);
    for (uint32_t i = 0; i < n; i++) {
        IrValue *own[3];
        for (uint32_t k = 0; k < nparts; k++) own[k] = parts[k]->results[i];
        all[i] = irb_concat(b, nparts, own);
    }
    return all;
}

/* Rows that are put together of three parts. */
static IrValue **rows(const Ring *r, IrBuilder *b) {
    IrInst *build = r->build;
    uint32_t n = build->nresults, outer = (uint32_t)build->imm - 1;
    IrType *elems = ARENA_ARRAY(r->context->scratch, IrType, n);
    IrValue **sizes = ARENA_ARRAY(r->context->scratch, IrValue *, n);
    for (uint32_t i = 0; i < n; i++) {
        elems[i] = ir_array(b->module, build->results[i]->type->scalar, 1, NULL);
        sizes[i] = r->size;
    }
    IrInst *all = irb_build(b, outer, build->operands, n, elems, n, sizes);
    IrBuilder in = {.module = b->module, .func = b->func, .pos = b->pos};
    irb_at_end(&in, all->regions[0]);
    irb_yield(&in, n, together(r, &in, outer, all->regions[0]->params));
    return all->results;
}

static void split(Ring *r) {
    IrInst *build = r->build;
    IrBuilder b = {.module = r->context->module, .func = r->context->func};
    irb_before(&b, build);
    cut(r, &b);
    IrValue **all = NULL;
    if (!build->nresults)
        for (uint32_t k = FIRST; k <= LAST; k++) {
            if (has_part(r, k)) part(r, &b, k, 0, NULL);
        }
    else all = build->imm == 1 ? together(r, &b, 0, NULL) : rows(r, &b);
    for (uint32_t i = 0; i < build->nresults; i++) {
        all[i]->name = build->results[i]->name;
        ir_replace(build->results[i], all[i]);
    }
    ir_remove(build);
    r->context->changed = true;
}

static void walk(Ring *r, IrRegion *region) {
    for (IrInst *inst = region->first, *next; inst; inst = next) {
        next = inst->next;
        for (uint32_t k = 0; k < inst->nregions; k++) walk(r, inst->regions[k]);
        if (find(r, inst)) split(r);
    }
}

void opt_ring(OptContext *c) {
    Ring r = {.context = c};
    walk(&r, c->func->body);
    ir_settle(c->func);
}
