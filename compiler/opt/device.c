#include "opt/device.h"

/* Loops that are known to be shorter stay on the CPU. */
enum { WORTH_LAUNCHING = 64 };

static bool is_parallel(const IrInst *inst) {
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
            visit_calls(l, inst->regions[r], parallel || is_parallel(inst));
    }
}

static bool *find_levels(const IrModule *module, Arena *arena) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < module->funcs.len; i++)
        if (module->funcs.at[i]->id >= n) n = module->funcs.at[i]->id + 1;
    Levels l = {module, ARENA_ARRAY(arena, bool, n), true};
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

static bool is_long(const IrInst *inst) {
    int64_t all = 1;
    for (int64_t k = 0; k < inst->imm; k++) {
        int64_t size;
        if (!ir_const_int(inst->operands[k], &size)) return true;
        if (__builtin_mul_overflow(all, size, &all)) return true;
    }
    return inst->imm > 0 && all >= WORTH_LAUNCHING;
}

/* Of what can be combined in any order, numbers. */
static bool can_be_launched(const IrInst *inst) {
    if (inst->op == IR_BUILD) return true;
    if (inst->op != IR_REDUCE || inst->flags >= IR_ARGMIN) return false;
    for (uint32_t i = 0; i < inst->nresults; i++)
        if (inst->results[i]->type->kind != IR_T_SCALAR) return false;
    return inst->nresults > 0;
}

static void find_regions(DevicePlan *plan, const IrRegion *region) {
    for (const IrInst *inst = region->first; inst; inst = inst->next) {
        if (can_be_launched(inst) && is_long(inst)) vec_push(&plan->regions, inst);
        for (uint32_t r = 0; r < inst->nregions && !is_parallel(inst); r++)
            find_regions(plan, inst->regions[r]);
    }
}

DevicePlan device_plan(const IrModule *module, Arena *arena) {
    DevicePlan plan = {.level = find_levels(module, arena)};
    for (uint32_t i = 0; i < module->funcs.len; i++) {
        const IrFunc *func = module->funcs.at[i];
        if (func->body && plan.level[func->id]) find_regions(&plan, func->body);
    }
    return plan;
}

void device_plan_free(DevicePlan *plan) {
    vec_free(&plan->regions);
}
