/* Which instructions and functions have no effects.  Functions are summarised all at once: first by
   what stands in them, then effects spread from callees to callers until nothing changes. */
#include "ir/ir.h"

#include <string.h>

#include "ir/internal.h"

enum { UNKNOWN, PURE, IMPURE };

typedef struct Edge {
    IrFunc *caller, *callee;
} Edge;
typedef VEC(Edge) Edges;

/* Does INST add to an accumulator that is made inside of (or by) TOP? */
static bool adds_inside(const IrInst *inst, const IrInst *top) {
    const IrRegion *home = ir_home(ir_resolve(inst->operands[0]));
    if (!top) return true;
    for (; home && home->owner; home = home->owner->parent)
        if (home->owner == top) return true;
    return false;
}

/* CALLS collects the calls; NULL: the summary of the callee is asked.  Effects on accumulators of
   TOP (NULL: of the whole function) do not count. */
static bool is_impure(const IrInst *inst, const IrInst *top, IrFunc *caller, Edges *calls) {
    if (inst->op == IR_CALL) {
        if (inst->flags & IR_CALL_AHEAD) return false;
        if (!calls) return !ir_func_pure(inst->func);
        vec_push(calls, ((Edge){caller, inst->func}));
        return false;
    }
    if (inst->op == IR_ACC_ADD) return !adds_inside(inst, top);
    return ir_op_info(inst->op)->effect;
}

static bool region_impure(const IrRegion *region, const IrInst *top, IrFunc *caller, Edges *calls) {
    bool impure = false;
    for (const IrInst *inst = region->first; inst; inst = inst->next) {
        impure |= is_impure(inst, top, caller, calls);
        for (uint32_t i = 0; i < inst->nregions; i++)
            impure |= region_impure(inst->regions[i], top, caller, calls);
        if (impure && !calls) return true;
    }
    return impure;
}

static bool starts_impure(IrFunc *func, Edges *calls) {
    if (func->body) return region_impure(func->body, NULL, func, calls);
    if (func->deriv.mode == IR_DERIV_NONE) return !(func->flags & IR_FUNC_PURE_EXTERN);
    vec_push(calls, ((Edge){func, func->deriv.base}));
    return false;
}

static void summarise(IrModule *module) {
    Edges calls = {0};
    bool changed = true;
    for (uint32_t i = 0; i < module->funcs.len; i++) {
        IrFunc *func = module->funcs.at[i];
        func->purity = starts_impure(func, &calls) ? IMPURE : PURE;
    }
    while (changed) {
        changed = false;
        for (uint32_t i = calls.len; i-- > 0;) {
            Edge edge = calls.at[i];
            if (edge.callee->purity != IMPURE || edge.caller->purity == IMPURE) continue;
            edge.caller->purity = IMPURE;
            changed = true;
        }
    }
    vec_free(&calls);
}

bool ir_func_pure(IrFunc *func) {
    if (func->purity == UNKNOWN) summarise(func->module);
    return func->purity == PURE;
}

void ir_forget_purity(IrModule *module) {
    for (uint32_t i = 0; i < module->funcs.len; i++) module->funcs.at[i]->purity = UNKNOWN;
}

bool ir_runtime_repeats(const IrInst *inst) {
    const char *name = inst->text;
    if (strncmp(name, "adl__", 5) == 0) name += 5;
    return strncmp(name, "str_", 4) == 0 || strncmp(name, "format_", 7) == 0 ||
           strcmp(name, "tape_bytes") == 0;
}

bool ir_removable(const IrInst *inst) {
    if (!ir_op_info(inst->op)->pure) return false;
    if (inst->op == IR_CALL) return inst->flags & IR_CALL_AHEAD || ir_func_pure(inst->func);
    for (uint32_t i = 0; i < inst->nregions; i++)
        if (region_impure(inst->regions[i], inst, NULL, NULL)) return false;
    return true;
}
