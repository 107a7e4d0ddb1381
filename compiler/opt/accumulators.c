/* Accumulation whose targets are known.  What transposition makes of a read x[i] is an accumulator
   that is added to at [i]; where each cell is met once, that is a map, and where all additions go
   to one number, it is a sum, which has a better order than one addition after the other.  Several
   additions to the same cell in one region are one.

   Looked at are accumulators with a single ACC_ADD in a nest of BUILDs right below the WITH_ACC. It
   runs unconditionally, or under one IF in the innermost of them, beside zeros: then the map has
   them in the other branch. */
#include "ir/build.h"
#include "ir/shared.h"
#include "opt/adds.h"
#include "opt/opt.h"
#include "opt/uses.h"

enum { NEST = 8 };

typedef struct Nest {
    IrInst *build[NEST]; /* outermost first */
    uint32_t depth;
    uint32_t indices; /* of all levels together */
    IrInst *branch;   /* the IF in the innermost, or NULL */
} Nest;

/* The BUILDs from WITH to ADD, if there is nothing else between them but an IF round ADD. */
static bool find_nest(const IrInst *with, const IrInst *add, Nest *nest) {
    IrInst *reversed[NEST];
    const IrRegion *from = add->parent;
    *nest = (Nest){0};
    if (from->owner->op == IR_IF) {
        nest->branch = from->owner;
        from = from->owner->parent;
    }
    for (const IrRegion *r = from; r != with->regions[0]; r = r->owner->parent) {
        if (!r->owner || r->owner->op != IR_BUILD || nest->depth == NEST) return false;
        reversed[nest->depth++] = r->owner;
        nest->indices += (uint32_t)r->owner->imm;
    }
    for (uint32_t k = 0; k < nest->depth; k++) nest->build[k] = reversed[nest->depth - 1 - k];
    return nest->depth > 0;
}

/* Are ADD's subscripts the indices of the nest in order, over the whole of INIT? */
static bool covers(const Nest *nest, const IrInst *add, const IrValue *init) {
    uint32_t n = add->noperands - 2, at = 0;
    if (n != nest->indices) return false;
    for (uint32_t level = 0; level < nest->depth; level++) {
        const IrInst *build = nest->build[level];
        for (uint32_t k = 0; k < (uint32_t)build->imm; k++, at++) {
            if (ir_resolve(add->operands[1 + at]) != build->regions[0]->params[k]) return false;
            if (!opt_has_size(init, at, ir_resolve(build->operands[k]))) return false;
        }
    }
    return true;
}

/* A map whose indices are ADD's subscripts in another order, over the whole of INIT, runs over them
   in ADD's order: without results, the order of its dimensions means nothing. */
static void straighten(const Nest *nest, const IrInst *add, const IrValue *init) {
    IrInst *build = nest->build[0];
    IrRegion *body = build->regions[0];
    uint32_t n = add->noperands - 2;
    IrValue *params[IR_MAX_RANK], *sizes[IR_MAX_RANK];
    bool seen[IR_MAX_RANK] = {false};
    if (nest->depth != 1 || build->nresults || n != (uint32_t)build->imm) return;
    for (uint32_t k = 0; k < n; k++) {
        IrValue *at = ir_resolve(add->operands[1 + k]);
        if (at->def || at->region != body || seen[at->index]) return;
        seen[at->index] = true;
        params[k] = at;
        sizes[k] = ir_resolve(build->operands[at->index]);
        if (!opt_has_size(init, k, sizes[k])) return;
    }
    for (uint32_t k = 0; k < n; k++) {
        body->params[k] = params[k];
        params[k]->index = k;
        build->operands[k] = sizes[k];
    }
}

/* INST with its regions moved to a new instruction that has more operands and one more result. */
static IrInst *regrow(OptContext *c, IrInst *inst, uint32_t nextra, IrValue **extra, IrType result,
                      int64_t extra_int) {
    IrBuilder b = {.module = c->module, .func = c->func};
    irb_before(&b, inst);
    uint32_t n = inst->noperands, m = inst->nresults;
    IrValue **operands = ARENA_ARRAY(c->scratch, IrValue *, n + nextra);
    IrType *types = ARENA_ARRAY(c->scratch, IrType, m + 1);
    for (uint32_t k = 0; k < n; k++) operands[k] = ir_resolve(inst->operands[k]);
    for (uint32_t k = 0; k < nextra; k++) operands[n + k] = extra[k];
    for (uint32_t k = 0; k < m; k++) types[k] = inst->results[k]->type;
    types[m] = result;
    IrInst *fresh = irb_inst(&b, inst->op, n + nextra, operands, m + 1, types, inst->nregions);
    for (uint32_t r = 0; r < inst->nregions; r++) {
        fresh->regions[r] = inst->regions[r];
        fresh->regions[r]->owner = fresh;
    }
    fresh->imm = inst->imm;
    fresh->flags = inst->flags;
    fresh->pos = inst->pos;
    fresh->nints = inst->nints + (extra_int >= 0);
    fresh->ints = ARENA_ARRAY(c->module->arena, int64_t, fresh->nints + 1);
    for (uint32_t k = 0; k < inst->nints; k++) fresh->ints[k] = inst->ints[k];
    if (extra_int >= 0) fresh->ints[inst->nints] = extra_int;
    for (uint32_t k = 0; k < m; k++) {
        fresh->results[k]->name = inst->results[k]->name;
        /* One that was replaced already stays so. */
        if (inst->results[k]->forward) fresh->results[k]->forward = inst->results[k]->forward;
        else ir_replace(inst->results[k], fresh->results[k]);
    }
    ir_remove(inst);
    return fresh;
}

static void yield_more(OptContext *c, IrRegion *region, IrValue *value) {
    IrInst *yield = region->last;
    IrValue **operands = ARENA_ARRAY(c->module->arena, IrValue *, yield->noperands + 1);
    for (uint32_t k = 0; k < yield->noperands; k++) operands[k] = yield->operands[k];
    operands[yield->noperands++] = value;
    yield->operands = operands;
}

/* VALUE, made in one side of the IF BRANCH, and zero from the other. */
static IrValue *choose_value(OptContext *c, IrInst *branch, const IrRegion *side, IrValue *value) {
    IrBuilder b = {.module = c->module, .func = c->func};
    for (uint32_t r = 0; r < 2; r++) {
        IrRegion *region = branch->regions[r];
        irb_before(&b, region->last);
        yield_more(c, region, region == side ? value : irb_zero(&b, value->type->scalar));
    }
    return regrow(c, branch, 0, NULL, value->type, -1)->results[branch->nresults];
}

/* Each level of the nest yields VALUE, or what the level below makes of it; the outermost result.
 */
static IrValue *map_value(OptContext *c, const Nest *nest, IrValue *value) {
    for (uint32_t level = nest->depth; level-- > 0;) {
        IrInst *build = nest->build[level];
        IrRegion *body = build->regions[0];
        uint32_t rank = value->type->kind == IR_T_ARRAY ? value->type->rank : 0;
        IrValue *inner[IR_MAX_RANK];
        int64_t dims[IR_MAX_RANK];
        IrBuilder b = {.module = c->module, .func = c->func};
        irb_before(&b, build);
        for (uint32_t k = 0; k < rank; k++) {
            IrValue *known = value->type->dims[k] >= 0 ? irb_int(&b, value->type->dims[k])
                                                       : ir_known_dim(value, k);
            if (!known || !ir_visible(ir_resolve(known), build->parent)) return NULL;
            inner[k] = ir_resolve(known);
        }
        for (uint32_t k = 0; k < (uint32_t)build->imm; k++)
            if (!ir_const_int(ir_resolve(build->operands[k]), &dims[k])) dims[k] = -1;
        IrType type = ir_type_outer(c->module, value->type, (uint32_t)build->imm, dims);
        yield_more(c, body, value);
        value = regrow(c, build, rank, inner, type, rank)->results[build->nresults];
    }
    return value;
}

static bool inner_sizes_known(const Nest *nest, const IrValue *value) {
    if (value->type->kind != IR_T_ARRAY) return true;
    for (uint32_t k = 0; k < value->type->rank; k++) {
        if (value->type->dims[k] >= 0) continue;
        IrValue *known = ir_known_dim(value, k);
        if (!known || !ir_visible(ir_resolve(known), nest->build[0]->parent)) return false;
    }
    return true;
}

/* The WITH_ACC's final value K becomes INIT plus VALUE, which is computed in its region. */
static IrInst *finish(OptContext *c, IrInst *with, uint32_t k, IrValue *value, bool add_init) {
    IrValue *init = ir_resolve(with->operands[k]);
    yield_more(c, with->regions[0], value);
    IrInst *fresh = regrow(c, with, 0, NULL, value->type, -1);
    IrValue *final = fresh->results[fresh->nresults - 1];
    if (add_init && !ir_is_zeros(init)) {
        IrBuilder b = {.module = c->module, .func = c->func};
        irb_before(&b, fresh->next);
        final = irb_elementwise(&b, IR_ADD, init, final);
    }
    ir_replace(fresh->results[k], final);
    c->changed = true;
    return fresh;
}

/* A BUILD that does nothing but add to one scalar accumulator, as a sum that starts with INIT. */
static IrValue *as_sum(OptContext *c, IrInst *build, IrInst *add, IrValue *init) {
    IrBuilder b = {.module = c->module, .func = c->func};
    irb_before(&b, build);
    uint32_t n = (uint32_t)build->imm;
    IrValue *sizes[IR_MAX_RANK];
    for (uint32_t k = 0; k < n; k++) sizes[k] = ir_resolve(build->operands[k]);
    IrInst *sum = irb_reduce(&b, IR_SUM, n, sizes, 1, &init);
    sum->regions[0] = build->regions[0];
    sum->regions[0]->owner = sum;
    IrValue *value = ir_resolve(add->operands[add->noperands - 1]);
    ir_remove(add);
    yield_more(c, sum->regions[0], value);
    ir_remove(build);
    return sum->results[0];
}

static bool only_effect(const IrInst *build, const IrInst *add) {
    for (const IrInst *i = build->regions[0]->first; i; i = i->next) {
        if (i == add || i->op == IR_YIELD) continue;
        if (i->op == IR_ACC_ADD || !ir_removable(i)) return false;
        for (uint32_t r = 0; r < i->nregions; r++)
            if (!opt_region_pure(i->regions[r])) return false;
    }
    return build->nresults == 0;
}

static IrInst *single_add(const Uses *uses, const IrValue *acc) {
    const UseList *list = uses_of(uses, acc);
    if (list->at.len != 1) return NULL;
    IrInst *add = list->at.at[0];
    return add->op == IR_ACC_ADD && add->parent ? add : NULL;
}

/* One accumulator at most; true if WITH was replaced (by *FRESH). */
static bool improve(OptContext *c, const Uses *uses, IrInst *with, IrInst **fresh) {
    for (uint32_t k = 0; k < with->noperands; k++) {
        IrInst *add = single_add(uses, with->regions[0]->params[k]);
        IrValue *init = ir_resolve(with->operands[k]);
        Nest nest;
        if (!add || with->results[k]->forward || !find_nest(with, add, &nest)) continue;
        if (ir_is_shared(init)) continue;
        IrValue *value = ir_resolve(add->operands[add->noperands - 1]);
        if (init->type->kind == IR_T_SCALAR) {
            if (nest.branch || nest.depth != 1 || !only_effect(nest.build[0], add)) continue;
            *fresh = finish(c, with, k, as_sum(c, nest.build[0], add, init), false);
            return true;
        }
        straighten(&nest, add, init);
        if (!covers(&nest, add, init) || !inner_sizes_known(&nest, value)) continue;
        if (nest.branch && (value->type->kind != IR_T_SCALAR || !ir_is_zeros(init))) continue;
        const IrRegion *side = add->parent;
        ir_remove(add);
        if (nest.branch) value = choose_value(c, nest.branch, side, value);
        *fresh = finish(c, with, k, map_value(c, &nest, value), true);
        return true;
    }
    return false;
}

static void accumulators_region(OptContext *c, Uses *uses, IrRegion *region) {
    for (IrInst *inst = region->first; inst; inst = inst->next) {
        for (uint32_t r = 0; r < inst->nregions; r++)
            accumulators_region(c, uses, inst->regions[r]);
        IrInst *fresh;
        while (inst->op == IR_WITH_ACC && improve(c, uses, inst, &fresh)) inst = fresh;
    }
}

void opt_accumulators(OptContext *c) {
    Uses uses;
    adds_sum(c, c->func->body);
    uses_init(&uses, c->func, c->scratch);
    accumulators_region(c, &uses, c->func->body);
    uses_free(&uses);
    ir_settle(c->func);
}
