#include "opt/device.h"

#include "ir/build.h"
#include "opt/memory.h"
#include "opt/scan.h"

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

static bool is_long(const IrInst *inst) {
    int64_t all = 1;
    for (int64_t k = 0; k < inst->imm; k++) {
        int64_t size;
        if (!ir_const_int(inst->operands[k], &size)) return true;
        if (__builtin_mul_overflow(all, size, &all)) return true;
    }
    return inst->imm > 0 && all >= WORTH_LAUNCHING;
}

static bool is_large(IrType type) {
    return type->kind == IR_T_ARRAY && !mem_is_small(type) && ir_scalar_lanes(type->scalar) == 1;
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
    return is_large(inst->results[0]->type) && larger >= WORTH_LAUNCHING * WORTH_LAUNCHING;
}

/* Of what can be combined in any order, numbers. */
static bool can_be_launched(const IrInst *inst) {
    if (inst->op == IR_BUILD) return is_long(inst);
    if (inst->op == IR_CONTRACT) return is_large_product(inst);
    if (inst->op != IR_REDUCE || inst->flags >= IR_ARGMIN) return false;
    for (uint32_t i = 0; i < inst->nresults; i++)
        if (inst->results[i]->type->kind != IR_T_SCALAR) return false;
    return inst->nresults > 0 && is_long(inst);
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
    return !ir_const_int(inst->operands[0], &trips) || trips >= WORTH_LAUNCHING * WORTH_LAUNCHING;
}

static void find_regions(DevicePlan *plan, const IrRegion *region) {
    for (const IrInst *inst = region->first; inst; inst = inst->next) {
        if (is_long_scan(inst)) {
            vec_push(&plan->regions, inst);
            if (is_scan(inst)) continue;
        }
        if (can_be_launched(inst)) vec_push(&plan->regions, inst);
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

/* ---- maps of copies ---- */

typedef IrValue *(*Element)(IrBuilder *b, const IrInst *inst, IrValue *const *at);

/* [for at...: ELEMENT], in front of INST. */
static IrInst *make_map(IrBuilder *b, const IrInst *inst, uint32_t n, IrValue *const *sizes,
                        IrType scalar, Element element) {
    IrInst *map = irb_build(b, n, sizes, 1, &scalar, 0, NULL);
    IrBuilder inner = {.module = b->module, .func = b->func, .pos = b->pos};
    irb_at_end(&inner, map->regions[0]);
    IrValue *value = element(&inner, inst, map->regions[0]->params);
    irb_yield(&inner, 1, &value);
    return map;
}

/* An element of the array that INST puts into another one. */
static IrValue *same_element(IrBuilder *b, const IrInst *inst, IrValue *const *at) {
    IrValue *v = ir_resolve(inst->operands[inst->noperands - 1]);
    return irb_index(b, v, v->type->rank, at);
}

static IrValue *sliced_element(IrBuilder *b, const IrInst *inst, IrValue *const *at) {
    IrValue *x = ir_resolve(inst->operands[0]), *from[IR_MAX_RANK];
    uint32_t rank = x->type->rank;
    for (uint32_t k = 0; k < rank; k++) {
        IrValue *step = irb_binary(b, IR_MUL, at[k], inst->operands[1 + 2 * rank + k]);
        from[k] = irb_binary(b, IR_ADD, inst->operands[1 + k], step);
    }
    return irb_index(b, x, rank, from);
}

static IrValue *transposed_element(IrBuilder *b, const IrInst *inst, IrValue *const *at) {
    IrValue *x = ir_resolve(inst->operands[0]), *from[IR_MAX_RANK];
    for (uint32_t k = 0; k < x->type->rank; k++) from[inst->ints[k]] = at[k];
    return irb_index(b, x, x->type->rank, from);
}

typedef struct Capture {
    const IrValue *value;
    bool found;
} Capture;

static void look_for(IrValue *value, void *data) {
    Capture *c = data;
    c->found = c->found || ir_resolve(value) == c->value;
}

/* Is V a map's that reads nothing of BASE and stands just before, so that it is made in its place?
 */
static bool goes_there(const IrValue *v, const IrInst *inst) {
    Capture c = {ir_resolve(inst->operands[0]), false};
    if (!v->def || v->def->op != IR_BUILD || v->def->next != inst || v->def->nresults != 1)
        return false;
    ir_captures(v->def->regions[0], look_for, &c);
    return !c.found;
}

/* The array that is put into another one comes from a map. */
static void prepare_source(IrModule *module, IrInst *inst) {
    IrBuilder b = {.module = module, .func = inst->parent->func};
    IrValue *v = ir_resolve(inst->operands[inst->noperands - 1]), *sizes[IR_MAX_RANK];
    if (!is_large(v->type) || goes_there(v, inst)) return;
    irb_before(&b, inst);
    for (uint32_t k = 0; k < v->type->rank; k++) sizes[k] = irb_dim(&b, v, k);
    IrInst *map =
        make_map(&b, inst, v->type->rank, sizes, ir_scalar(module, v->type->scalar), same_element);
    inst->operands[inst->noperands - 1] = map->results[0];
}

/* INST, which takes elements out of an array, is a map of RANK dimensions. */
static void prepare_result(IrModule *module, IrInst *inst, IrValue *const *sizes, Element element) {
    IrBuilder b = {.module = module, .func = inst->parent->func};
    IrType type = inst->results[0]->type;
    irb_before(&b, inst);
    IrInst *map = make_map(&b, inst, type->rank, sizes, ir_scalar(module, type->scalar), element);
    map->results[0]->type = type;
    map->results[0]->name = inst->results[0]->name;
    ir_replace(inst->results[0], map->results[0]);
    ir_remove(inst);
}

static void prepare_transpose(IrModule *module, IrInst *inst) {
    IrBuilder b = {.module = module, .func = inst->parent->func};
    IrValue *sizes[IR_MAX_RANK];
    irb_before(&b, inst);
    for (uint32_t k = 0; k < inst->nints; k++)
        sizes[k] = irb_dim(&b, inst->operands[0], (uint32_t)inst->ints[k]);
    prepare_result(module, inst, sizes, transposed_element);
}

/* An inner product is a sum, in the order in which the CPU makes both. */
static void prepare_dot(IrModule *module, IrInst *inst) {
    IrBuilder b = {.module = module, .func = inst->parent->func}, inner;
    IrValue *x = ir_resolve(inst->operands[0]), *y = ir_resolve(inst->operands[1]);
    IrType type = inst->results[0]->type;
    irb_before(&b, inst);
    IrValue *size = irb_dim(&b, x, 0), *none = irb_zero(&b, type->scalar);
    IrInst *sum = irb_reduce(&b, IR_SUM, 1, &size, 1, &none);
    inner = (IrBuilder){.module = module, .func = b.func, .pos = b.pos};
    irb_at_end(&inner, sum->regions[0]);
    IrValue **at = sum->regions[0]->params;
    IrValue *product =
        irb_binary(&inner, IR_MUL, irb_index(&inner, x, 1, at), irb_index(&inner, y, 1, at));
    irb_yield(&inner, 1, &product);
    ir_replace(inst->results[0], sum->results[0]);
    ir_remove(inst);
}

static bool is_long_dot(const IrInst *inst) {
    if (inst->op != IR_CONTRACT || inst->results[0]->type->kind != IR_T_SCALAR) return false;
    IrType a = ir_resolve(inst->operands[0])->type, b = ir_resolve(inst->operands[1])->type;
    return is_large(a) && is_large(b) && a->scalar == b->scalar;
}

static void prepare_region(IrModule *module, IrRegion *region) {
    for (IrInst *inst = region->first, *next; inst; inst = next) {
        next = inst->next;
        for (uint32_t r = 0; r < inst->nregions && !is_parallel(inst); r++)
            prepare_region(module, inst->regions[r]);
        if (is_long_dot(inst)) {
            prepare_dot(module, inst);
            continue;
        }
        bool takes = inst->op == IR_SLICE || inst->op == IR_TRANSPOSE;
        if (inst->op == IR_ASSIGN || inst->op == IR_UPDATE) prepare_source(module, inst);
        if (!takes || mem_is_view(inst) || !is_large(inst->results[0]->type)) continue;
        if (inst->op == IR_TRANSPOSE) prepare_transpose(module, inst);
        else
            prepare_result(module, inst,
                           inst->operands + 1 + ir_resolve(inst->operands[0])->type->rank,
                           sliced_element);
    }
}

void device_prepare(IrModule *module) {
    Arena *arena = arena_new();
    const bool *level = find_levels(module, arena);
    for (uint32_t i = 0; i < module->funcs.len; i++) {
        IrFunc *func = module->funcs.at[i];
        if (!func->body || !level[func->id]) continue;
        prepare_region(module, func->body);
        ir_settle(func);
    }
    arena_free(arena);
}
