/* What is changed of a module so that more of it can be launched. */
#include "opt/device-internal.h"

#include "ir/build.h"
#include "opt/memory.h"

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
    if (!device_is_large(v->type) || goes_there(v, inst)) return;
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

/* ---- sums of products ---- */

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
    return device_is_large(a) && device_is_large(b) && a->scalar == b->scalar &&
           ir_scalar_lanes(a->scalar) == 1;
}

/* ---- places of the best ---- */

enum { BEST_BLOCK = 256 };

static bool is_long_search(const IrInst *inst) {
    return inst->op == IR_REDUCE && inst->flags >= IR_ARGMIN && device_is_long(inst);
}

/* What REDUCE's body gives at the place FLAT of all. */
static IrValue *value_at(IrBuilder *b, const IrInst *reduce, IrValue *flat) {
    Map map = {0};
    uint32_t n = (uint32_t)reduce->imm;
    for (uint32_t k = n; k-- > 0;) {
        IrValue *at = k ? irb_binary(b, IR_MOD, flat, reduce->operands[k]) : flat;
        if (k) flat = irb_binary(b, IR_DIV, flat, reduce->operands[k]);
        map_setp(&map, reduce->regions[0]->params[k], at);
    }
    IrValue *value = ir_clone_body(b, reduce->regions[0], &map)[0];
    map_free(&map);
    return value;
}

/* The place in the LEN elements from BEGIN on. */
static IrValue *search_block(IrBuilder *b, const IrInst *reduce, IrValue *begin, IrValue *len) {
    IrInst *found = irb_reduce(b, (IrReduce)reduce->flags, 1, &len, 1, NULL);
    IrBuilder inner = {.module = b->module, .func = b->func, .pos = b->pos};
    irb_at_end(&inner, found->regions[0]);
    IrValue *at = irb_binary(&inner, IR_ADD, begin, found->regions[0]->params[0]);
    IrValue *value = value_at(&inner, reduce, at);
    irb_yield(&inner, 1, &value);
    return irb_binary(b, IR_ADD, begin, found->results[0]);
}

/* A search is a map, which finds the best of each block and where that is, and a search over the
   blocks.  The first of equals is the first of the first block that has one. */
static void prepare_search(IrModule *module, IrInst *inst) {
    IrBuilder b = {.module = module, .func = inst->parent->func}, in = b;
    irb_before(&b, inst);
    b.pos = in.pos = inst->pos;
    IrValue *all = irb_int(&b, 1), *size = irb_int(&b, BEST_BLOCK);
    for (uint32_t k = 0; k < (uint32_t)inst->imm; k++)
        all = irb_binary(&b, IR_MUL, all, inst->operands[k]);
    IrValue *up = irb_binary(&b, IR_ADD, all, irb_int(&b, BEST_BLOCK - 1));
    IrValue *blocks = irb_binary(&b, IR_DIV, up, size);
    IrType types[] = {ir_scalar(module, IR_I64),
                      ir_resolve(inst->regions[0]->last->operands[0])->type};
    IrInst *map = irb_build(&b, 1, &blocks, 2, types, 0, NULL);
    irb_at_end(&in, map->regions[0]);
    IrValue *begin = irb_binary(&in, IR_MUL, map->regions[0]->params[0], size);
    IrValue *rest = irb_binary(&in, IR_SUB, all, begin), *found[2];
    found[0] = search_block(&in, inst, begin, irb_binary(&in, IR_MIN, size, rest));
    found[1] = value_at(&in, inst, found[0]);
    irb_yield(&in, 2, found);
    IrInst *best = irb_reduce(&b, (IrReduce)inst->flags, 1, &blocks, 1, NULL);
    irb_at_end(&in, best->regions[0]);
    IrValue *value = irb_index(&in, map->results[1], 1, best->regions[0]->params);
    irb_yield(&in, 1, &value);
    ir_replace(inst->results[0], irb_index(&b, map->results[0], 1, &best->results[0]));
    ir_remove(inst);
}

/* ---- all ---- */

static void prepare_region(IrModule *module, IrRegion *region) {
    for (IrInst *inst = region->first, *next; inst; inst = next) {
        next = inst->next;
        for (uint32_t r = 0; r < inst->nregions && !device_is_parallel(inst); r++)
            prepare_region(module, inst->regions[r]);
        if (is_long_dot(inst)) {
            prepare_dot(module, inst);
            continue;
        }
        if (is_long_search(inst)) {
            prepare_search(module, inst);
            continue;
        }
        bool takes = inst->op == IR_SLICE || inst->op == IR_TRANSPOSE;
        if (inst->op == IR_ASSIGN || inst->op == IR_UPDATE) prepare_source(module, inst);
        if (!takes || mem_is_view(inst) || !device_is_large(inst->results[0]->type)) continue;
        if (inst->op == IR_TRANSPOSE) prepare_transpose(module, inst);
        else
            prepare_result(module, inst,
                           inst->operands + 1 + ir_resolve(inst->operands[0])->type->rank,
                           sliced_element);
    }
}

void device_prepare(IrModule *module) {
    Arena *arena = arena_new();
    const bool *level = device_levels(module, arena);
    for (uint32_t i = 0; i < module->funcs.len; i++) {
        IrFunc *func = module->funcs.at[i];
        if (!func->body || !level[func->id]) continue;
        prepare_region(module, func->body);
        ir_settle(func);
    }
    arena_free(arena);
}
