/* Adds to an array where it stands.  A transpose adds up what reads contribute, from zero, and what
   a shadow had before is added behind it: a = a + with_acc zeros {...}.  Where that is all that is
   done with the sum, the accumulator begins with the array itself: no zeros, no memory for them, no
   second pass. */
#include "opt/opt.h"
#include "opt/uses.h"

/* X, where ELEMENT is x[i, ...] of MAP's indices, all of them in order; else NULL. */
static IrValue *whole_array(const IrInst *map, const IrValue *element) {
    const IrInst *index = element->def;
    if (!index || index->op != IR_INDEX || index->noperands != (uint32_t)map->imm + 1) return NULL;
    for (uint32_t k = 1; k < index->noperands; k++)
        if (ir_resolve(index->operands[k]) != map->regions[0]->params[k - 1]) return NULL;
    IrValue *x = ir_resolve(index->operands[0]);
    return x->type->rank == (uint32_t)map->imm && ir_visible(x, map->parent) ? x : NULL;
}

static bool has_sizes_of(const IrValue *x, const IrInst *map) {
    for (uint32_t k = 0; k < x->type->rank; k++)
        if (!opt_has_size(x, k, ir_resolve(map->operands[k]))) return false;
    return true;
}

/* MAP is TERMS[0] + TERMS[1], element by element, and nothing else. */
static bool is_sum(const IrInst *map, IrValue *terms[2]) {
    if (map->op != IR_BUILD || map->nresults != 1 || map->ints[0] || !map->imm) return false;
    const IrValue *value = ir_resolve(map->regions[0]->last->operands[0]);
    if (!value->def || value->def->op != IR_ADD || value->def->parent != map->regions[0])
        return false;
    for (uint32_t k = 0; k < 2; k++)
        if (!(terms[k] = whole_array(map, ir_resolve(value->def->operands[k])))) return false;
    return true;
}

static bool is_before(const IrInst *a, const IrInst *b) {
    while (a && a != b) a = a->next;
    return a == b;
}

/* Can X be had at INST, which stands in the region of what uses X now? */
static bool had_at(const IrValue *x, const IrInst *inst) {
    if (x->def == inst) return false;
    return !x->def || x->def->parent != inst->parent || is_before(x->def, inst);
}

/* The WITH_ACC whose one result Z, begun with zeros, is used once. */
static IrInst *sum_from_zero(const Uses *uses, const IrValue *z, const IrInst *map) {
    const UseList *list = uses_of(uses, z);
    IrInst *with = z->def;
    if (!with || with->op != IR_WITH_ACC || with->parent != map->parent) return NULL;
    if (!list || list->at.len != 1) return NULL;
    return ir_is_zeros(ir_resolve(with->operands[z->index])) ? with : NULL;
}

static void try_map(OptContext *c, const Uses *uses, IrInst *map) {
    IrValue *terms[2];
    if (!is_sum(map, terms)) return;
    for (uint32_t k = 0; k < 2; k++) {
        IrValue *sum = terms[k], *into = terms[1 - k];
        IrInst *with = sum_from_zero(uses, sum, map);
        if (!with || into->type != sum->type || sum == into || !had_at(into, with)) continue;
        if (!has_sizes_of(into, map)) continue;
        if (!has_sizes_of(ir_resolve(with->operands[sum->index]), map)) continue;
        with->operands[sum->index] = into;
        ir_replace(map->results[0], sum);
        ir_remove(map);
        c->changed = true;
        return;
    }
}

static void into_region(OptContext *c, const Uses *uses, IrRegion *region) {
    for (IrInst *inst = region->first, *next; inst; inst = next) {
        next = inst->next;
        for (uint32_t r = 0; r < inst->nregions; r++) into_region(c, uses, inst->regions[r]);
        try_map(c, uses, inst);
    }
}

void opt_into(OptContext *c) {
    Uses uses;
    uses_init(&uses, c->func, c->scratch);
    into_region(c, &uses, c->func->body);
    uses_free(&uses);
    ir_settle(c->func);
}
