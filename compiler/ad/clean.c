/* Removes unused pure instructions of a function made here, from the last to the first. */
#include "ad/internal.h"

static void drop_uses(const IrInst *inst, uint32_t *uses) {
    for (uint32_t i = 0; i < inst->noperands; i++) uses[inst->operands[i]->id]--;
    for (uint32_t r = 0; r < inst->nregions; r++)
        for (const IrInst *inner = inst->regions[r]->first; inner; inner = inner->next)
            drop_uses(inner, uses);
}

static bool is_unused(const IrInst *inst, const uint32_t *uses) {
    for (uint32_t i = 0; i < inst->nresults; i++)
        if (uses[inst->results[i]->id]) return false;
    return true;
}

static void clean_region(IrRegion *region, uint32_t *uses) {
    for (IrInst *inst = region->last, *prev; inst; inst = prev) {
        prev = inst->prev;
        if (is_unused(inst, uses) && ir_removable(inst)) {
            drop_uses(inst, uses);
            ir_remove(inst);
            continue;
        }
        for (uint32_t r = inst->nregions; r-- > 0;) clean_region(inst->regions[r], uses);
    }
}

void ad_clean(IrFunc *func) {
    Arena *arena = arena_new();
    clean_region(func->body, ir_count_uses(func, arena));
    arena_free(arena);
}
