/* What a parallel region computes dearly and its transpose needs again is kept in an array, by
   index: the map gives it beside its results.

   In the scope round the map it is then a value like any other.  Inside of another parallel region
   that is scratch of one iteration, of any size; elsewhere one number for each index is kept, and
   no more: an array for each could be as large as the tape that recomputing is there to avoid.

   So is what comes from outside of the program (the time), which could not be had again.

   What a map gives anyway is read from there, if computing it is dear and shares little with what
   else the transpose needs. */
#include "ad/plan.h"

#include "base/bitset.h"

/* So many times dearer to compute than to store: storing also costs memory. */
enum { DEAR = 2 };

static bool can_be_dear(const Mixed *mixed, const IrInst *inst) {
    switch ((int)inst->op) {
    case IR_BUILD:
    case IR_REDUCE: return true;
    case IR_LOOP:
    case IR_CALL: return !has_linear(mixed, inst);
    default: return false;
    }
}

/* Results that are kept: arrays of a BUILD whose sizes do not depend on the iteration, and scalars.
 */
static bool is_keepable(const Mixed *mixed, const IrInst *map, const IrInst *inst, uint32_t r,
                        bool scalars_only) {
    IrType type = inst->results[r]->type;
    int64_t known;
    if (is_linear(mixed, inst->results[r])) return false;
    if (type->kind == IR_T_SCALAR) return true;
    if (scalars_only || type->kind != IR_T_ARRAY || inst->op != IR_BUILD) return false;
    if ((uint32_t)map->imm + type->rank > IR_MAX_RANK) return false;
    for (uint32_t k = 0; k < inst->noperands; k++)
        if (!ir_visible(inst->operands[k], map->parent) && !ir_const_int(inst->operands[k], &known))
            return false;
    return true;
}

/* The sizes of result R of INST, a BUILD, as the scope of MAP has them. */
static uint32_t sizes_of(IrInst *map, const IrInst *inst, uint32_t r, IrValue **sizes) {
    uint32_t at = (uint32_t)inst->imm, n = 0;
    for (uint32_t i = 0; i < r; i++) at += (uint32_t)inst->ints[i];
    for (uint32_t k = 0; k < (uint32_t)inst->imm; k++) sizes[n++] = inst->operands[k];
    for (uint32_t k = 0; k < (uint32_t)inst->ints[r]; k++) sizes[n++] = inst->operands[at + k];
    for (uint32_t k = 0; k < n; k++) {
        IrBuilder b = {0};
        int64_t known;
        if (ir_visible(sizes[k], map->parent) || !ir_const_int(sizes[k], &known)) continue;
        irb_before(&b, map);
        sizes[k] = irb_int(&b, known);
    }
    return n;
}

static void keep_results(Mixed *mixed, IrInst *map, const IrInst *inst, bool scalars_only) {
    int64_t store = 0;
    for (uint32_t r = 0; r < inst->nresults; r++)
        if (is_keepable(mixed, map, inst, r, scalars_only))
            store += ad_cost_save(inst->results[r]->type);
    if (!store || ad_cost_again(mixed, inst) < DEAR * store) return;
    for (uint32_t r = 0; r < inst->nresults; r++) {
        IrValue *sizes[IR_MAX_RANK], *value = inst->results[r];
        if (!is_keepable(mixed, map, inst, r, scalars_only)) continue;
        uint32_t n = value->type->kind == IR_T_ARRAY ? sizes_of(map, inst, r, sizes) : 0;
        map_setp(&mixed->kept, value, ir_build_give(map, value, n, sizes));
    }
}

/* ---- results that are there anyway ---- */

/* Values of a map's body, and what they are computed from there. */
typedef struct Slice {
    Mixed *mixed;
    const IrRegion *body;
    const Bitset *except; /* values that are not looked at, by id; may be NULL */
    Bitset values;
    int64_t cost; /* of what was added */
} Slice;

static void slice_value(IrValue *value, void *data) {
    Slice *s = data;
    if (is_linear(s->mixed, value) || ad_home(value) != s->body) return;
    if (s->except && bitset_has(s->except, value->id)) return;
    if (!bitset_add(&s->values, value->id) || !value->def) return;
    int64_t cost = ad_cost_again(s->mixed, value->def);
    if (cost < CUT_INFINITE) s->cost += cost;
    ad_nonlinear_inputs(s->mixed, value->def, slice_value, s);
}

static void slice_needs(Slice *s, const IrRegion *region) {
    for (IrInst *inst = region->first; inst; inst = inst->next) {
        if (!has_linear(s->mixed, inst) || inst->op == IR_YIELD) continue;
        ad_linear_needs(s->mixed, inst, slice_value, s);
        if (!inst->nregions) continue;
        ad_nonlinear_captures(s->mixed, inst, slice_value, s);
        for (uint32_t r = 0; r < inst->nregions; r++) slice_needs(s, inst->regions[r]);
    }
}

/* Of MAP's results: the values that it yields, as far as they could be read from there. */
typedef struct Given {
    IrValue **values; /* by result; NULL: not this one */
    Bitset all;       /* their ids */
    int64_t store;    /* what storing them costs */
} Given;

/* What it costs to have those values of GIVEN beside what the transpose of MAP's body needs without
   them. */
static int64_t cost_beside(Mixed *mixed, const IrInst *map, const Given *given) {
    Slice slice = {.mixed = mixed, .body = map->regions[0], .except = &given->all};
    slice_needs(&slice, map->regions[0]);
    slice.except = NULL;
    slice.cost = 0;
    for (uint32_t r = 0; r < map->nresults; r++)
        if (given->values[r]) slice_value(given->values[r], &slice);
    bitset_free(&slice.values);
    return slice.cost;
}

static bool can_be_given(const Mixed *mixed, const IrInst *map, uint32_t r) {
    const IrValue *value = map->regions[0]->last->operands[r];
    return !map->ints[r] && !is_linear(mixed, value) && value->def && ir_is_float(value->type) &&
           ad_home(value) == map->regions[0] && !map_hasp(&mixed->kept, value);
}

/* Keeps result ONE, or all of them that are not kept yet, if that pays. */
static void keep_if_dear(Mixed *mixed, const IrInst *map, Arena *scratch, int64_t one) {
    Given given = {.values = ARENA_ARRAY(scratch, IrValue *, map->nresults)};
    for (uint32_t r = 0; r < map->nresults; r++) {
        if ((one >= 0 && r != one) || !can_be_given(mixed, map, r)) continue;
        given.values[r] = map->regions[0]->last->operands[r];
        if (bitset_add(&given.all, given.values[r]->id))
            given.store += ad_cost_save(given.values[r]->type);
    }
    if (given.store && cost_beside(mixed, map, &given) >= DEAR * given.store)
        for (uint32_t r = 0; r < map->nresults; r++)
            if (given.values[r]) map_setp(&mixed->kept, given.values[r], map->results[r]);
    bitset_free(&given.all);
}

/* Each by itself, then those that are left together: what they share is dear for none of them. */
static void keep_given(Mixed *mixed, const IrInst *map) {
    Arena *scratch = arena_new();
    for (uint32_t r = 0; r < map->nresults; r++) keep_if_dear(mixed, map, scratch, r);
    if (map->nresults > 1) keep_if_dear(mixed, map, scratch, -1);
    arena_free(scratch);
}

void ad_keep(Mixed *mixed, IrInst *map, const Scope *around) {
    if (map->op != IR_BUILD) return;
    if (map->imm > 0) keep_given(mixed, map);
    for (const IrInst *inst = map->regions[0]->first; inst; inst = inst->next) {
        bool asks = (inst->op == IR_RUNTIME && ad_asks_world(mixed->ad, inst)) ||
                    (!inst->nregions && ad_reads_shared(mixed, inst));
        if (asks || (around->kind != SCOPE_SPLIT && can_be_dear(mixed, inst)))
            keep_results(mixed, map, inst, around->kind != SCOPE_LITE);
    }
}

IrValue *ad_kept(const Mixed *mixed, const IrValue *value) {
    return map_getp(&mixed->kept, value);
}
