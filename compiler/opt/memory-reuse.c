/* A BUILD that reads an array of its own shape only at the place that it is about to write may
   write into that array's memory, if nobody needs the old elements afterwards. */
#include "opt/memory.h"

#include "opt/memory-internal.h"

/* What X is without what is said of its sizes. */
static const IrValue *unassumed(const IrValue *x) {
    x = ir_resolve((IrValue *)x);
    while (x->def && x->def->op == IR_ASSUME) x = ir_resolve(x->def->operands[0]);
    return x;
}

/* INST reads ROOT only as ROOT[i, j, ...] with INDICES. */
static bool reads_own_place(const MemFunc *f, const IrInst *inst, const IrValue *root,
                            IrValue *const *indices) {
    bool used = false;
    for (uint32_t k = 0; k < inst->noperands; k++)
        used = used || mem_root(f, inst->operands[k]) == root;
    if (!used) return true;
    if (inst->op == IR_DIM) return true;
    if (inst->op != IR_INDEX || unassumed(inst->operands[0]) != root) return false;
    if (inst->noperands - 1 != root->type->rank) return false;
    for (uint32_t k = 0; k < root->type->rank; k++)
        if (ir_resolve(inst->operands[1 + k]) != indices[k]) return false;
    return true;
}

static bool region_reads_own_place(const MemFunc *f, const IrRegion *region, const IrValue *root,
                                   IrValue *const *indices) {
    for (const IrInst *inst = region->first; inst; inst = inst->next) {
        if (!reads_own_place(f, inst, root, indices)) return false;
        for (uint32_t r = 0; r < inst->nregions; r++)
            if (!region_reads_own_place(f, inst->regions[r], root, indices)) return false;
    }
    return true;
}

/* Could they have the same sizes? */
static bool like_shape(const IrInst *build, uint32_t r, const IrValue *root) {
    IrType type = build->results[r]->type;
    if (build->ints[r] || type->scalar != root->type->scalar || type->rank != root->type->rank)
        return false;
    for (uint32_t k = 0; k < type->rank; k++)
        if (type->dims[k] >= 0 && root->type->dims[k] >= 0 && type->dims[k] != root->type->dims[k])
            return false;
    return true;
}

bool mem_same_shape(const IrInst *build, const IrValue *root) {
    for (uint32_t k = 0; k < root->type->rank; k++)
        if (!mem_same_size(build->operands[k], root, k)) return false;
    return true;
}

int mem_reusing_result(const MemFunc *f, const IrInst *build, const IrValue *root) {
    if (build->op != IR_BUILD || root->type->kind != IR_T_ARRAY || mem_is_small(root->type))
        return -1;
    for (uint32_t r = 0; r < build->nresults; r++) {
        if (mem_is_small(build->results[r]->type) || !like_shape(build, r, root)) continue;
        const IrRegion *body = build->regions[0];
        return region_reads_own_place(f, body, root, body->params) ? (int)r : -1;
    }
    return -1;
}
