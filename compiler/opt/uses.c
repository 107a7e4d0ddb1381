#include "opt/uses.h"

static void add_use(IrInst *inst, void *data) {
    Uses *uses = data;
    for (uint32_t k = 0; k < inst->noperands; k++) {
        uint32_t id = ir_resolve(inst->operands[k])->id;
        while (uses->lists.len <= id) vec_push(&uses->lists, NULL);
        if (!uses->lists.at[id]) uses->lists.at[id] = ARENA_NEW(uses->arena, UseList);
        vec_push(&uses->lists.at[id]->at, inst);
    }
}

void uses_init(Uses *uses, IrFunc *func, Arena *arena) {
    *uses = (Uses){.arena = arena};
    ir_walk(func->body, add_use, uses);
}

void uses_add(Uses *uses, IrInst *inst) {
    add_use(inst, uses);
    for (uint32_t r = 0; r < inst->nregions; r++) ir_walk(inst->regions[r], add_use, uses);
}

const UseList *uses_of(const Uses *uses, const IrValue *value) {
    static const UseList none = {0};
    if (value->id >= uses->lists.len || !uses->lists.at[value->id]) return &none;
    return uses->lists.at[value->id];
}

void uses_free(Uses *uses) {
    for (uint32_t k = 0; k < uses->lists.len; k++)
        if (uses->lists.at[k]) vec_free(&uses->lists.at[k]->at);
    vec_free(&uses->lists);
}

static bool region_speculatable(const IrRegion *region) {
    for (const IrInst *inst = region->first; inst; inst = inst->next)
        if (inst->op != IR_YIELD && !opt_speculatable(inst)) return false;
    return true;
}

static bool divisor_known(const IrInst *inst) {
    int64_t c;
    if (ir_scalar_float(inst->results[0]->type->scalar)) return true;
    return ir_const_int(ir_resolve(inst->operands[1]), &c) && c != 0 && c != -1;
}

bool opt_speculatable(const IrInst *inst) {
    const IrOpInfo *info = ir_op_info(inst->op);
    if (!info->pure || info->terminator) return false;
    switch (inst->op) {
    case IR_INDEX:
    case IR_SLICE:
    case IR_UPDATE:
    case IR_ASSIGN:
    case IR_CALL:
    case IR_LOOP:
    case IR_TAPE_NEW:
    case IR_TAPE_PUSH:
    case IR_TAPE_POP:
    case IR_TAPE_SUM:
    case IR_WITH_ACC:
    case IR_RESHAPE:
    case IR_ASSUME: return false;
    case IR_DIV:
    case IR_MOD:
    case IR_REM: return divisor_known(inst);
    case IR_POWI: return ir_scalar_float(inst->results[0]->type->scalar);
    case IR_SHL:
    case IR_SHR: return false;
    default: break;
    }
    for (uint32_t r = 0; r < inst->nregions; r++)
        if (!region_speculatable(inst->regions[r])) return false;
    return true;
}

bool opt_is_free_of(const IrValue *value, const IrValue *index) {
    value = ir_resolve((IrValue *)value);
    if (value == index) return false;
    if (ir_visible(value, index->region->owner->parent)) return true;
    if (!value->def) return value->region == index->region;
    if (value->def->nregions) return false;
    for (uint32_t k = 0; k < value->def->noperands; k++)
        if (!opt_is_free_of(value->def->operands[k], index)) return false;
    return true;
}

bool opt_moves_with(const IrValue *value, const IrValue *index) {
    value = ir_resolve((IrValue *)value);
    const IrInst *def = value->def;
    if (value == index) return true;
    if (!def || (def->op != IR_ADD && def->op != IR_SUB)) return false;
    if (opt_moves_with(def->operands[0], index)) return opt_is_free_of(def->operands[1], index);
    return def->op == IR_ADD && opt_is_free_of(def->operands[0], index) &&
           opt_moves_with(def->operands[1], index);
}

bool opt_region_pure(const IrRegion *region) {
    for (const IrInst *inst = region->first; inst; inst = inst->next) {
        if (inst->op == IR_YIELD) continue;
        if (inst->op == IR_ACC_ADD || inst->op == IR_TAPE_PUSH || !ir_removable(inst)) return false;
        for (uint32_t r = 0; r < inst->nregions; r++)
            if (!opt_region_pure(inst->regions[r])) return false;
    }
    return true;
}

enum { DEAR = 200 };

uint32_t opt_region_cost(const IrRegion *region) {
    uint32_t cost = 0;
    for (const IrInst *inst = region->first; inst; inst = inst->next) {
        switch (inst->op) {
        case IR_YIELD:
        case IR_CONST:
        case IR_DIM:
        case IR_ASSUME: break;
        case IR_MATH: cost += inst->imm == IR_MATH_SQRT ? 4 : 20; break;
        case IR_DIV:
        case IR_MOD:
        case IR_REM: cost += 4; break;
        case IR_BUILD:
        case IR_REDUCE:
        case IR_LOOP:
        case IR_CALL:
        case IR_CONTRACT:
        case IR_ARGSORT:
        case IR_CONCAT:
        case IR_PACK:
        case IR_TRANSPOSE:
        case IR_SLICE:
        case IR_UPDATE:
        case IR_ASSIGN:
        case IR_WITH_ACC: cost += DEAR; break;
        default: cost += 1; break;
        }
        for (uint32_t r = 0; r < inst->nregions; r++) cost += opt_region_cost(inst->regions[r]);
    }
    return cost;
}

bool opt_region_dear(const IrRegion *region) {
    return opt_region_cost(region) >= DEAR;
}

bool opt_has_size(const IrValue *x, uint32_t k, const IrValue *size) {
    int64_t c;
    const IrValue *known = ir_known_dim(x, k);
    if (known && ir_resolve((IrValue *)known) == size) return true;
    if (ir_const_int(size, &c)) return x->type->dims[k] == c;
    return size->def && size->def->op == IR_DIM && size->def->imm == (int64_t)k &&
           ir_resolve(size->def->operands[0]) == x;
}
