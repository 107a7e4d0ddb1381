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

/* Result R of MAP is TERMS[0] + TERMS[1], element by element, and nothing else. */
static bool is_sum(const IrInst *map, uint32_t r, IrValue *terms[2]) {
    if (map->ints[r] || map->results[r]->forward) return false;
    const IrValue *value = ir_resolve(map->regions[0]->last->operands[r]);
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

/* X that can be had at INST: itself, or, being another name of what can, moved there. */
static bool have_at(IrValue *x, IrInst *inst) {
    if (had_at(x, inst)) return true;
    if (x->def->op != IR_ASSUME) return false;
    for (uint32_t k = 0; k < x->def->noperands; k++)
        if (!had_at(ir_resolve(x->def->operands[k]), inst)) return false;
    ir_move_before(x->def, inst);
    return true;
}

/* The WITH_ACC whose one result Z, begun with zeros, is used once. */
static IrInst *sum_from_zero(const Uses *uses, const IrValue *z, const IrInst *map) {
    const UseList *list = uses_of(uses, z);
    IrInst *with = z->def;
    if (!with || with->op != IR_WITH_ACC || with->parent != map->parent) return NULL;
    if (!list || list->at.len != 1) return NULL;
    return ir_is_zeros(ir_resolve(with->operands[z->index])) ? with : NULL;
}

static void try_result(OptContext *c, const Uses *uses, IrInst *map, uint32_t r) {
    IrValue *terms[2];
    if (!is_sum(map, r, terms)) return;
    for (uint32_t k = 0; k < 2; k++) {
        IrValue *sum = terms[k], *into = terms[1 - k];
        IrInst *with = sum_from_zero(uses, sum, map);
        if (!with || into->type != sum->type || sum == into || !has_sizes_of(into, map)) continue;
        if (!has_sizes_of(ir_resolve(with->operands[sum->index]), map)) continue;
        if (!have_at(into, with)) continue;
        with->operands[sum->index] = into;
        ir_replace(map->results[r], sum);
        c->changed = true;
        return;
    }
}

static void into_region(OptContext *c, const Uses *uses, IrRegion *region) {
    for (IrInst *inst = region->first, *next; inst; inst = next) {
        next = inst->next;
        for (uint32_t r = 0; r < inst->nregions; r++) into_region(c, uses, inst->regions[r]);
        bool given = inst->op == IR_BUILD && inst->imm && inst->nresults;
        for (uint32_t r = 0; given && r < inst->nresults; r++) try_result(c, uses, inst, r);
        for (uint32_t r = 0; given && r < inst->nresults; r++) given = inst->results[r]->forward;
        if (given) ir_remove(inst);
    }
}

void opt_into(OptContext *c) {
    Uses uses;
    uses_init(&uses, c->func, c->scratch);
    into_region(c, &uses, c->func->body);
    uses_free(&uses);
    ir_settle(c->func);
}
