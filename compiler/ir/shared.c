#include "ir/shared.h"

#include <string.h>

static const char *const names[] = {
    [IR_SHARED_NONE] = "",
    [IR_SHARED_ARRAY] = "adl__device_shared",
    [IR_SHARED_ZEROS] = "adl__device_zeros",
    [IR_SHARED_BARRIER] = "adl__device_barrier",
    [IR_SHARED_ADD] = "adl__device_atomic_add",
};

const char *ir_shared_name(IrShared call) {
    return names[call];
}

IrShared ir_shared_call(const IrInst *inst) {
    if (inst->op != IR_RUNTIME) return IR_SHARED_NONE;
    for (int i = IR_SHARED_ARRAY; i <= IR_SHARED_ADD; i++)
        if (!strcmp(inst->text, names[i])) return (IrShared)i;
    return IR_SHARED_NONE;
}

static void look_for_place(IrInst *inst, void *data) {
    static const char place[] = "adl__device_index";
    if (inst->op == IR_RUNTIME && !strcmp(inst->text, place)) *(bool *)data = true;
}

bool ir_is_kernel(const IrFunc *func) {
    bool found = false;
    if (func->module->device) ir_walk(func->body, look_for_place, &found);
    return found;
}

/* The value that comes before VALUE, or VALUE itself if it is the first; NULL: a new array. */
static const IrValue *before(const IrValue *value) {
    const IrInst *def = value->def;
    if (!def) {
        const IrInst *owner = value->region->owner;
        if (!owner) return value;
        return owner->op == IR_LOOP && value->index ? owner->operands[value->index] : NULL;
    }
    switch ((int)def->op) {
    case IR_UPDATE:
    case IR_ASSIGN:
    case IR_ASSUME:
    case IR_STOP: return def->operands[0];
    case IR_IF: return def->regions[0]->last->operands[value->index];
    case IR_LOOP: return def->operands[1 + value->index];
    case IR_WITH_ACC: return value->index < def->noperands ? def->operands[value->index] : NULL;
    case IR_RUNTIME: break;
    default: return NULL;
    }
    switch (ir_shared_call(def)) {
    case IR_SHARED_NONE: return NULL;
    case IR_SHARED_ARRAY:
    case IR_SHARED_ZEROS: return value;
    case IR_SHARED_BARRIER: return def->operands[value->index];
    case IR_SHARED_ADD: return def->operands[0];
    }
    return NULL;
}

const IrValue *ir_shared_root(const IrValue *value) {
    for (value = ir_resolve((IrValue *)(uintptr_t)value); value;) {
        if (value->type->kind != IR_T_ARRAY) return NULL;
        const IrValue *next = before(value);
        if (next) next = ir_resolve((IrValue *)(uintptr_t)next);
        if (next == value) break;
        value = next;
    }
    return value;
}

const IrValue *ir_shared_seen(const IrValue *value) {
    for (;;) {
        value = ir_resolve((IrValue *)(uintptr_t)value);
        const IrInst *def = value->def;
        bool shows = def && value->type->kind == IR_T_ARRAY &&
                     (def->op == IR_INDEX || def->op == IR_SLICE || def->op == IR_TRANSPOSE ||
                      def->op == IR_RESHAPE);
        if (!shows) return ir_shared_root(value);
        value = def->operands[0];
    }
}

static const IrFunc *func_of(const IrValue *value) {
    return value->def ? value->def->parent->func : value->region->func;
}

bool ir_is_shared(const IrValue *value) {
    value = ir_resolve((IrValue *)(uintptr_t)value);
    return ir_shared_seen(value) && ir_is_kernel(func_of(value));
}

static void look_for_change(IrInst *inst, void *data) {
    for (uint32_t r = 0; r < inst->nresults; r++) {
        const IrValue *root = ir_shared_root(inst->results[r]);
        if (root && root != inst->results[r]) bitset_add((Bitset *)data, root->id);
    }
}

void ir_shared_changes(const IrFunc *func, Bitset *roots) {
    if (ir_is_kernel(func)) ir_walk(func->body, look_for_change, roots);
}

bool ir_is_changing(const IrValue *value) {
    Bitset roots = {0};
    if (!ir_is_shared(value)) return false;
    ir_shared_changes(func_of(ir_resolve((IrValue *)(uintptr_t)value)), &roots);
    bool changing = bitset_has(&roots, ir_shared_seen(value)->id);
    bitset_free(&roots);
    return changing;
}

static void look_for_changing(IrValue *value, void *data) {
    if (value->type->kind == IR_T_ARRAY && ir_is_changing(value)) *(bool *)data = true;
}

bool ir_reads_changing(const IrInst *inst) {
    bool found = false;
    if (!inst->parent->func->module->device || inst->op == IR_DIM) return false;
    for (uint32_t k = 0; k < inst->noperands; k++) look_for_changing(inst->operands[k], &found);
    for (uint32_t r = 0; r < inst->nregions && !found; r++)
        ir_captures(inst->regions[r], look_for_changing, &found);
    return found;
}
