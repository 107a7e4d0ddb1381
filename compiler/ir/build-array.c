/* The builder's part for arrays and accumulators: works out the result types. */
#include "ir/ir.h"

#include <string.h>

#include "base/fatal.h"
#include "ir/internal.h"

/* The size if it is a constant, else -1. */
static int64_t known(const IrValue *size) {
    int64_t value;
    return ir_const_int(size, &value) && value >= 0 ? value : -1;
}

static int64_t either(int64_t a, int64_t b) {
    return a >= 0 ? a : b;
}

/* An unlinked instruction with N operands and one result. */
static IrInst *begin(IrBuilder *b, IrOp op, uint32_t n, uint32_t nregions) {
    IrInst *inst = ir_inst_alloc(b->func, op, n, 1, nregions);
    inst->pos = b->pos;
    return inst;
}

static IrValue *finish(IrBuilder *b, IrInst *inst, IrType type) {
    inst->results[0]->type = type;
    ir_link(inst, b->region, b->before);
    return inst->results[0];
}

static void put(IrInst *inst, uint32_t at, uint32_t n, IrValue *const *values) {
    for (uint32_t i = 0; i < n; i++) inst->operands[at + i] = ir_resolve(values[i]);
}

IrValue *irb_dim(IrBuilder *b, IrValue *x, uint32_t k) {
    x = ir_resolve(x);
    CHECK_INTERNAL(k < x->type->rank);
    if (x->type->dims[k] >= 0) return irb_int(b, x->type->dims[k]);
    IrValue *size = ir_known_dim(x, k);
    if (size) return size;
    IrInst *inst = begin(b, IR_DIM, 1, 0);
    put(inst, 0, 1, &x);
    inst->imm = k;
    return finish(b, inst, ir_scalar(b->module, IR_I64));
}

/* ---- parallel regions ---- */

static void index_params(IrBuilder *b, IrRegion *region, uint32_t n) {
    static const char *const names[] = {"i", "j", "k", "l", "m", "n"};
    for (uint32_t i = 0; i < n; i++)
        ir_region_param(region, ir_scalar(b->module, IR_I64), i < 6 ? names[i] : NULL);
}

IrInst *irb_build(IrBuilder *b, uint32_t n, IrValue *const *sizes, uint32_t nresults,
                  const IrType *elems, uint32_t ninner, IrValue *const *inner) {
    IrInst *build = ir_inst_alloc(b->func, IR_BUILD, n + ninner, nresults, 1);
    int64_t dims[IR_MAX_RANK];
    uint32_t at = n;
    CHECK_INTERNAL(n <= IR_MAX_RANK);
    put(build, 0, n, sizes);
    put(build, n, ninner, inner);
    build->imm = n;
    build->nints = nresults;
    build->ints = ARENA_ARRAY(b->module->arena, int64_t, nresults);
    build->pos = b->pos;
    for (uint32_t k = 0; k < n; k++) dims[k] = known(build->operands[k]);
    for (uint32_t r = 0; r < nresults; r++) {
        IrType elem = elems[r];
        build->ints[r] = elem->rank;
        CHECK_INTERNAL(n + elem->rank <= IR_MAX_RANK && at + elem->rank <= n + ninner);
        for (uint32_t k = 0; k < elem->rank; k++)
            dims[n + k] = either(known(build->operands[at++]), elem->dims[k]);
        build->results[r]->type = ir_array(b->module, elem->scalar, n + elem->rank, dims);
    }
    CHECK_INTERNAL(at == n + ninner);
    index_params(b, build->regions[0], n);
    ir_link(build, b->region, b->before);
    return build;
}

static void *longer(Arena *arena, const void *elements, uint32_t n, uint32_t more, size_t size) {
    char *copy = arena_alloc(arena, (n + more) * size);
    if (n) memcpy(copy, elements, n * size);
    return copy;
}

IrValue *ir_build_give(IrInst *build, IrValue *value, uint32_t n, IrValue *const *sizes) {
    IrFunc *func = build->parent->func;
    Arena *arena = func->module->arena;
    IrInst *yield = build->regions[0]->last;
    int64_t dims[IR_MAX_RANK];
    uint32_t r = build->nresults, rank = (uint32_t)build->imm;
    build->operands = longer(arena, build->operands, build->noperands, n, sizeof(IrValue *));
    put(build, build->noperands, n, sizes);
    build->noperands += n;
    for (uint32_t k = 0; k < rank; k++) dims[k] = known(build->operands[k]);
    for (uint32_t k = 0; k < n; k++) dims[rank + k] = either(known(sizes[k]), value->type->dims[k]);
    build->ints = longer(arena, build->ints, r, 1, sizeof *build->ints);
    build->ints[build->nints++] = n;
    build->results = longer(arena, build->results, r, 1, sizeof(IrValue *));
    build->results[r] =
        ir_value_new(func, ir_array(func->module, value->type->scalar, rank + n, dims), build, r);
    build->results[r]->name = value->name;
    build->nresults++;
    yield->operands = longer(arena, yield->operands, yield->noperands, 1, sizeof(IrValue *));
    yield->operands[yield->noperands++] = value;
    return build->results[r];
}

IrInst *irb_reduce(IrBuilder *b, IrReduce kind, uint32_t n, IrValue *const *sizes,
                   uint32_t nresults, IrValue *const *inits) {
    bool arg = kind == IR_ARGMIN || kind == IR_ARGMAX;
    uint32_t ninits = arg ? 0 : nresults;
    IrInst *reduce = ir_inst_alloc(b->func, IR_REDUCE, n + ninits, nresults, 1);
    put(reduce, 0, n, sizes);
    put(reduce, n, ninits, inits);
    reduce->imm = n;
    reduce->flags = kind;
    reduce->pos = b->pos;
    for (uint32_t r = 0; r < nresults; r++)
        reduce->results[r]->type =
            arg ? ir_scalar(b->module, IR_I64) : reduce->operands[n + r]->type;
    index_params(b, reduce->regions[0], n);
    ir_link(reduce, b->region, b->before);
    return reduce;
}

IrInst *irb_with_acc(IrBuilder *b, uint32_t n, IrValue *const *inits, uint32_t nextra,
                     const IrType *extra) {
    IrInst *inst = ir_inst_alloc(b->func, IR_WITH_ACC, n, n + nextra, 1);
    put(inst, 0, n, inits);
    inst->pos = b->pos;
    for (uint32_t i = 0; i < n; i++) {
        IrType type = inst->operands[i]->type;
        inst->results[i]->type = type;
        ir_region_param(inst->regions[0], ir_acc(b->module, type), "acc");
    }
    for (uint32_t i = 0; i < nextra; i++) inst->results[n + i]->type = extra[i];
    ir_link(inst, b->region, b->before);
    return inst;
}

IrValue *ir_with_acc_give(IrInst *with, IrValue *value) {
    IrFunc *func = with->parent->func;
    Arena *arena = func->module->arena;
    IrInst *yield = with->regions[0]->last;
    uint32_t r = with->nresults++;
    with->results = longer(arena, with->results, r, 1, sizeof(IrValue *));
    with->results[r] = ir_value_new(func, value->type, with, r);
    yield->operands = longer(arena, yield->operands, yield->noperands, 1, sizeof(IrValue *));
    yield->operands[yield->noperands++] = value;
    return with->results[r];
}

void irb_acc_add(IrBuilder *b, IrValue *acc, uint32_t n, IrValue *const *indices, IrValue *v) {
    IrInst *inst = ir_inst_alloc(b->func, IR_ACC_ADD, n + 2, 0, 0);
    put(inst, 0, 1, &acc);
    put(inst, 1, n, indices);
    put(inst, n + 1, 1, &v);
    inst->pos = b->pos;
    ir_link(inst, b->region, b->before);
}

/* ---- parts of arrays ---- */

IrValue *irb_index(IrBuilder *b, IrValue *x, uint32_t n, IrValue *const *indices) {
    if (n == 0) return ir_resolve(x);
    IrInst *inst = begin(b, IR_INDEX, n + 1, 0);
    put(inst, 0, 1, &x);
    put(inst, 1, n, indices);
    return finish(b, inst, ir_type_inner(b->module, inst->operands[0]->type, n));
}

IrValue *irb_update(IrBuilder *b, IrValue *x, uint32_t n, IrValue *const *indices, IrValue *v) {
    if (n == 0) return ir_resolve(v);
    IrInst *inst = begin(b, IR_UPDATE, n + 2, 0);
    put(inst, 0, 1, &x);
    put(inst, 1, n, indices);
    put(inst, n + 1, 1, &v);
    return finish(b, inst, inst->operands[0]->type);
}

IrValue *irb_slice(IrBuilder *b, IrValue *x, IrValue *const *start, IrValue *const *count,
                   IrValue *const *step) {
    uint32_t r = x->type->rank;
    int64_t dims[IR_MAX_RANK];
    IrInst *inst = begin(b, IR_SLICE, 1 + 3 * r, 0);
    put(inst, 0, 1, &x);
    put(inst, 1, r, start);
    put(inst, 1 + r, r, count);
    put(inst, 1 + 2 * r, r, step);
    for (uint32_t k = 0; k < r; k++) dims[k] = known(count[k]);
    return finish(b, inst, ir_array(b->module, x->type->scalar, r, dims));
}

IrValue *irb_assign(IrBuilder *b, IrValue *x, IrValue *const *start, IrValue *const *step,
                    IrValue *v) {
    uint32_t r = x->type->rank;
    IrInst *inst = begin(b, IR_ASSIGN, 2 + 2 * r, 0);
    put(inst, 0, 1, &x);
    put(inst, 1, r, start);
    put(inst, 1 + r, r, step);
    put(inst, 1 + 2 * r, 1, &v);
    return finish(b, inst, inst->operands[0]->type);
}

IrValue *irb_transpose(IrBuilder *b, IrValue *x, const int64_t *perm) {
    int64_t dims[IR_MAX_RANK];
    IrInst *inst = begin(b, IR_TRANSPOSE, 1, 0);
    put(inst, 0, 1, &x);
    inst->nints = x->type->rank;
    inst->ints = ir_copy(b->module->arena, perm, x->type->rank, sizeof *perm);
    for (uint32_t k = 0; k < x->type->rank; k++) dims[k] = x->type->dims[perm[k]];
    return finish(b, inst, ir_array(b->module, x->type->scalar, x->type->rank, dims));
}

IrValue *irb_reshape(IrBuilder *b, IrValue *x, uint32_t n, IrValue *const *sizes) {
    int64_t dims[IR_MAX_RANK];
    IrInst *inst = begin(b, IR_RESHAPE, n + 1, 0);
    CHECK_INTERNAL(n <= IR_MAX_RANK);
    put(inst, 0, 1, &x);
    put(inst, 1, n, sizes);
    for (uint32_t k = 0; k < n; k++) dims[k] = known(sizes[k]);
    return finish(b, inst, ir_array(b->module, x->type->scalar, n, dims));
}

IrValue *irb_assume(IrBuilder *b, IrValue *x, IrValue *const *sizes) {
    uint32_t r = x->type->rank;
    int64_t dims[IR_MAX_RANK];
    IrInst *inst = begin(b, IR_ASSUME, r + 1, 0);
    put(inst, 0, 1, &x);
    put(inst, 1, r, sizes);
    for (uint32_t k = 0; k < r; k++) dims[k] = either(known(sizes[k]), x->type->dims[k]);
    return finish(b, inst, ir_array(b->module, x->type->scalar, r, dims));
}

/* What is known of dimension K from any of the values. */
static int64_t common_dim(uint32_t n, IrValue *const *values, uint32_t k) {
    int64_t dim = -1;
    for (uint32_t i = 0; i < n; i++) dim = either(dim, values[i]->type->dims[k]);
    return dim;
}

IrValue *irb_pack(IrBuilder *b, uint32_t n, IrValue *const *values) {
    int64_t dims[IR_MAX_RANK];
    CHECK_INTERNAL(n > 0 && values[0]->type->rank < IR_MAX_RANK);
    IrInst *inst = begin(b, IR_PACK, n, 0);
    put(inst, 0, n, values);
    dims[0] = n;
    uint32_t rank = values[0]->type->rank;
    for (uint32_t k = 0; k < rank; k++) dims[k + 1] = common_dim(n, values, k);
    return finish(b, inst, ir_array(b->module, values[0]->type->scalar, rank + 1, dims));
}

IrValue *irb_concat(IrBuilder *b, uint32_t n, IrValue *const *values) {
    int64_t dims[IR_MAX_RANK];
    CHECK_INTERNAL(n > 0);
    IrInst *inst = begin(b, IR_CONCAT, n, 0);
    put(inst, 0, n, values);
    dims[0] = 0;
    for (uint32_t i = 0; i < n; i++) {
        int64_t first = values[i]->type->dims[0];
        if (first < 0 || dims[0] < 0 || __builtin_add_overflow(dims[0], first, &dims[0]))
            dims[0] = -1;
    }
    uint32_t rank = values[0]->type->rank;
    for (uint32_t k = 1; k < rank; k++) dims[k] = common_dim(n, values, k);
    return finish(b, inst, ir_array(b->module, values[0]->type->scalar, rank, dims));
}

/* ---- the rest ---- */

IrValue *irb_argsort(IrBuilder *b, IrValue *x) {
    IrInst *inst = begin(b, IR_ARGSORT, 1, 0);
    put(inst, 0, 1, &x);
    return finish(b, inst, ir_array(b->module, IR_I64, 1, x->type->dims));
}

IrValue *irb_stop(IrBuilder *b, IrValue *x) {
    IrInst *inst = begin(b, IR_STOP, 1, 0);
    put(inst, 0, 1, &x);
    return finish(b, inst, inst->operands[0]->type);
}

/* A map over the elements of X that gives ELEM; the builder INNER stands in its body. */
static IrInst *map_over(IrBuilder *b, IrValue *x, IrScalar elem, IrBuilder *inner) {
    IrValue *sizes[IR_MAX_RANK];
    IrType type = ir_scalar(b->module, elem);
    for (uint32_t k = 0; k < x->type->rank; k++) sizes[k] = irb_dim(b, x, k);
    IrInst *build = irb_build(b, x->type->rank, sizes, 1, &type, 0, NULL);
    *inner = *b;
    irb_at_end(inner, build->regions[0]);
    return build;
}

IrValue *irb_lanes_of_arrays(IrBuilder *b, uint32_t n, IrValue *const *values) {
    IrBuilder inner;
    IrValue *lanes[IR_MAX_LANES], *x = ir_resolve(values[0]);
    IrInst *build = map_over(b, x, ir_scalar_with(x->type->scalar, n), &inner);
    for (uint32_t k = 0; k < n; k++)
        lanes[k] = irb_index(&inner, values[k], x->type->rank, build->regions[0]->params);
    IrValue *all = irb_lanes(&inner, n, lanes);
    irb_yield(&inner, 1, &all);
    return build->results[0];
}

IrValue *irb_lane_of_array(IrBuilder *b, IrValue *x, IrValue *lane) {
    IrBuilder inner;
    IrInst *build = map_over(b, x, ir_scalar_base(x->type->scalar), &inner);
    IrValue *element = irb_index(&inner, x, x->type->rank, build->regions[0]->params);
    element = irb_lane(&inner, element, lane);
    irb_yield(&inner, 1, &element);
    return build->results[0];
}

/* The scalar of X with the lanes that one of the two has.  Y may be NULL. */
static IrScalar with_lanes(const IrValue *x, const IrValue *y) {
    uint32_t lanes = ir_scalar_lanes(x->type->scalar);
    if (y && lanes == 1) lanes = ir_scalar_lanes(y->type->scalar);
    return ir_scalar_with(x->type->scalar, lanes);
}

IrValue *irb_contract(IrBuilder *b, IrValue *x, IrValue *y, uint32_t flags) {
    int64_t dims[2];
    uint32_t rank = 0;
    IrInst *inst = begin(b, IR_CONTRACT, 2, 0);
    put(inst, 0, 1, &x);
    put(inst, 1, 1, &y);
    inst->flags = flags;
    if (x->type->rank == 2) dims[rank++] = x->type->dims[flags & IR_CONTRACT_TA ? 1 : 0];
    if (y->type->rank == 2) dims[rank++] = y->type->dims[flags & IR_CONTRACT_TB ? 0 : 1];
    return finish(b, inst, ir_array(b->module, with_lanes(x, y), rank, dims));
}

static IrValue *apply(IrBuilder *b, IrOp op, IrValue *x, IrValue *y) {
    if (op == IR_LANE_SUM) return irb_lane_sum(b, x);
    return y ? irb_binary(b, op, x, y) : irb_unary(b, op, x);
}

IrValue *irb_elementwise(IrBuilder *b, IrOp op, IrValue *x, IrValue *y) {
    IrValue *shape = x->type->kind == IR_T_ARRAY ? x : y;
    IrValue *sizes[IR_MAX_RANK];
    if (!shape || shape->type->kind != IR_T_ARRAY) return apply(b, op, x, y);
    uint32_t rank = shape->type->rank;
    IrScalar scalar = with_lanes(x, y);
    if (ir_is_comparison(op)) scalar = ir_scalar_with(IR_BOOL, ir_scalar_lanes(scalar));
    if (op == IR_LANE_SUM) scalar = ir_scalar_base(scalar);
    IrType elem = ir_scalar(b->module, scalar);
    for (uint32_t k = 0; k < rank; k++) sizes[k] = irb_dim(b, shape, k);
    IrInst *build = irb_build(b, rank, sizes, 1, &elem, 0, NULL);
    IrRegion *body = build->regions[0];
    IrBuilder inner = *b;
    irb_at_end(&inner, body);
    if (x->type->kind == IR_T_ARRAY) x = irb_index(&inner, x, rank, body->params);
    if (y && y->type->kind == IR_T_ARRAY) y = irb_index(&inner, y, rank, body->params);
    IrValue *value = apply(&inner, op, x, y);
    irb_yield(&inner, 1, &value);
    return build->results[0];
}
