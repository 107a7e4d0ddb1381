#include "opt/device-internal.h"

#include "ir/build.h"
#include "opt/memory.h"
#include "opt/scan.h"

bool device_is_parallel(const IrInst *inst) {
    return inst->op == IR_BUILD || inst->op == IR_REDUCE;
}

/* ---- functions ---- */

typedef struct Levels {
    const IrModule *module;
    bool *level;
    bool changed;
} Levels;

static void visit_calls(Levels *l, const IrRegion *region, bool parallel) {
    for (const IrInst *inst = region->first; inst; inst = inst->next) {
        if (inst->op == IR_CALL && parallel && l->level[inst->func->id]) {
            l->level[inst->func->id] = false;
            l->changed = true;
        }
        for (uint32_t r = 0; r < inst->nregions; r++)
            visit_calls(l, inst->regions[r], parallel || device_is_parallel(inst));
    }
}

bool *device_levels(const IrModule *module, Arena *arena) {
    Levels l = {module, ARENA_ARRAY(arena, bool, ir_func_ids(module)), true};
    for (uint32_t i = 0; i < module->funcs.len; i++)
        l.level[module->funcs.at[i]->id] = module->funcs.at[i]->body != NULL;
    while (l.changed) {
        l.changed = false;
        for (uint32_t i = 0; i < module->funcs.len; i++) {
            const IrFunc *func = module->funcs.at[i];
            if (func->body) visit_calls(&l, func->body, !l.level[func->id]);
        }
    }
    return l.level;
}

/* ---- regions ---- */

/* Loops that are known to be shorter stay on the CPU. */
static int64_t worth_launching(const IrInst *inst) {
    return inst->parent->func->module->launches;
}

/* Of products, scans and sorts, whose results are smaller than what they do, or which take several
   launches. */
static int64_t worth_several(const IrInst *inst) {
    int64_t many = worth_launching(inst);
    return many < INT32_MAX ? many * many : INT64_MAX;
}

bool device_is_long(const IrInst *inst) {
    int64_t all = 1;
    for (int64_t k = 0; k < inst->imm; k++) {
        int64_t size;
        if (!ir_const_int(inst->operands[k], &size)) return true;
        if (__builtin_mul_overflow(all, size, &all)) return true;
    }
    return inst->imm > 0 && all >= worth_launching(inst);
}

bool device_is_large(IrType type) {
    return type->kind == IR_T_ARRAY && !mem_is_small(type);
}

/* The number of elements, INT64_MAX if it is not known. */
static int64_t count_of(IrType type) {
    int64_t count = 1;
    for (uint32_t k = 0; k < type->rank; k++)
        if (type->dims[k] < 0 || __builtin_mul_overflow(count, type->dims[k], &count))
            return INT64_MAX;
    return count;
}

/* Products that give arrays. */
static bool is_large_product(const IrInst *inst) {
    IrType a = ir_resolve(inst->operands[0])->type, b = ir_resolve(inst->operands[1])->type;
    if (ir_scalar_lanes(a->scalar) > 1 || ir_scalar_lanes(b->scalar) > 1) return false;
    int64_t larger = count_of(a) > count_of(b) ? count_of(a) : count_of(b);
    return device_is_large(inst->results[0]->type) && larger >= worth_several(inst);
}

/* Of what can be combined in any order, numbers. */
static bool can_be_launched(const IrInst *inst) {
    if (inst->op == IR_BUILD) return device_is_long(inst);
    if (inst->op == IR_CONTRACT) return is_large_product(inst);
    if (inst->op == IR_ARGSORT) return count_of(inst->results[0]->type) >= worth_several(inst);
    if (inst->op != IR_REDUCE || inst->flags >= IR_ARGMIN) return false;
    for (uint32_t i = 0; i < inst->nresults; i++)
        if (inst->results[i]->type->kind != IR_T_SCALAR) return false;
    return inst->nresults > 0 && device_is_long(inst);
}

static bool is_scan(const IrInst *inst) {
    Scan scan;
    if (!scan_find(inst, &scan)) return false;
    scan_free(&scan);
    return true;
}

/* What the language calls a scan is named even if it cannot be launched, so that this is told. */
static bool is_long_scan(const IrInst *inst) {
    int64_t trips;
    if (inst->op != IR_LOOP || !(inst->flags & IR_LOOP_SCAN || is_scan(inst))) return false;
    return !ir_const_int(inst->operands[0], &trips) || trips >= worth_several(inst);
}

static void find_regions(DevicePlan *plan, const IrRegion *region) {
    for (const IrInst *inst = region->first; inst; inst = inst->next) {
        if (is_long_scan(inst)) {
            vec_push(&plan->regions, inst);
            if (is_scan(inst)) continue;
        }
        if (can_be_launched(inst)) vec_push(&plan->regions, inst);
        for (uint32_t r = 0; r < inst->nregions && !device_is_parallel(inst); r++)
            find_regions(plan, inst->regions[r]);
    }
}

DevicePlan device_plan(const IrModule *module, Arena *arena) {
    DevicePlan plan = {.level = device_levels(module, arena)};
    for (uint32_t i = 0; i < module->funcs.len; i++) {
        const IrFunc *func = module->funcs.at[i];
        if (func->body && plan.level[func->id]) find_regions(&plan, func->body);
    }
    return plan;
}

void device_plan_free(DevicePlan *plan) {
    vec_free(&plan->regions);
}
