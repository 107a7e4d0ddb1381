/* The builder: instructions, scalars, control. */
#include "ir/ir.h"

#include <string.h>

#include "base/fatal.h"
#include "ir/eval.h"
#include "ir/internal.h"

/* ---- regions, values, instructions ---- */

IrRegion *ir_region_new(IrFunc *func, IrInst *owner) {
    IrRegion *region = ARENA_NEW(func->module->arena, IrRegion);
    region->func = func;
    region->owner = owner;
    return region;
}

IrValue *ir_value_new(IrFunc *func, IrType type, IrInst *def, uint32_t index) {
    IrValue *value = ARENA_NEW(func->module->arena, IrValue);
    value->type = type;
    value->def = def;
    value->index = index;
    value->id = func->nvalues++;
    return value;
}

IrValue *ir_region_param(IrRegion *region, IrType type, const char *name) {
    if (region->nparams == region->params_cap) {
        uint32_t cap = region->params_cap ? region->params_cap * 2 : 4;
        IrValue **params = ARENA_ARRAY(region->func->module->arena, IrValue *, cap);
        if (region->nparams) memcpy(params, region->params, region->nparams * sizeof *params);
        region->params = params;
        region->params_cap = cap;
    }
    IrValue *value = ir_value_new(region->func, type, NULL, region->nparams);
    value->region = region;
    value->name = name;
    region->params[region->nparams++] = value;
    return value;
}

IrInst *ir_inst_alloc(IrFunc *func, IrOp op, uint32_t noperands, uint32_t nresults,
                      uint32_t nregions) {
    Arena *arena = func->module->arena;
    size_t pointers = (size_t)noperands + nresults + nregions;
    IrInst *inst = arena_alloc(arena, sizeof(IrInst) + pointers * sizeof(void *));
    void *tail = inst + 1;
    inst->op = op;
    inst->noperands = noperands;
    inst->operands = tail;
    inst->nresults = nresults;
    inst->results = (IrValue **)(inst->operands + noperands);
    inst->nregions = nregions;
    inst->regions = (IrRegion **)(void *)(inst->results + nresults);
    for (uint32_t i = 0; i < nresults; i++) inst->results[i] = ir_value_new(func, NULL, inst, i);
    for (uint32_t i = 0; i < nregions; i++) inst->regions[i] = ir_region_new(func, inst);
    return inst;
}

void ir_link(IrInst *inst, IrRegion *region, IrInst *before) {
    inst->parent = region;
    inst->next = before;
    inst->prev = before ? before->prev : region->last;
    if (inst->prev) inst->prev->next = inst;
    else region->first = inst;
    if (before) before->prev = inst;
    else region->last = inst;
}

void irb_at_end(IrBuilder *b, IrRegion *region) {
    b->region = region;
    b->before = NULL;
    b->func = region->func;
    b->module = region->func->module;
}

void irb_before(IrBuilder *b, IrInst *inst) {
    irb_at_end(b, inst->parent);
    b->before = inst;
    b->pos = inst->pos;
}

IrInst *irb_inst(IrBuilder *b, IrOp op, uint32_t noperands, IrValue *const *operands,
                 uint32_t nresults, const IrType *results, uint32_t nregions) {
    IrInst *inst = ir_inst_alloc(b->func, op, noperands, nresults, nregions);
    for (uint32_t i = 0; i < noperands; i++) inst->operands[i] = ir_resolve(operands[i]);
    for (uint32_t i = 0; i < nresults; i++) inst->results[i]->type = results[i];
    inst->pos = b->pos;
    ir_link(inst, b->region, b->before);
    return inst;
}

static IrValue *one(IrBuilder *b, IrOp op, uint32_t noperands, IrValue *const *operands,
                    IrType type) {
    return irb_inst(b, op, noperands, operands, 1, &type, 0)->results[0];
}

/* ---- constants ---- */

IrValue *irb_scalar_const(IrBuilder *b, IrScalar type, int64_t i, double f) {
    IrValue *value = one(b, IR_CONST, 0, NULL, ir_scalar(b->module, type));
    if (!ir_scalar_float(type)) value->def->imm = ir_wrap(type, i);
    else value->def->fimm = ir_scalar_base(type) == IR_F32 ? (double)(float)f : f;
    return value;
}

IrValue *irb_int(IrBuilder *b, int64_t value) {
    return irb_scalar_const(b, IR_I64, value, 0);
}

IrValue *irb_bool(IrBuilder *b, bool value) {
    return irb_scalar_const(b, IR_BOOL, value, 0);
}

IrValue *irb_zero(IrBuilder *b, IrScalar type) {
    return irb_scalar_const(b, type, 0, 0);
}

IrValue *irb_zeros_like(IrBuilder *b, IrValue *x) {
    return irb_zeros_of(b, x->type, x);
}

IrValue *irb_zeros_of(IrBuilder *b, IrType type, IrValue *x) {
    if (type->kind == IR_T_SCALAR) return irb_zero(b, type->scalar);
    CHECK_INTERNAL(type->kind == IR_T_ARRAY);
    IrValue *sizes[IR_MAX_RANK];
    IrType elem = ir_scalar(b->module, type->scalar);
    for (uint32_t k = 0; k < x->type->rank; k++) sizes[k] = irb_dim(b, x, k);
    IrInst *build = irb_build(b, x->type->rank, sizes, 1, &elem, 0, NULL);
    IrBuilder inner = *b;
    irb_at_end(&inner, build->regions[0]);
    IrValue *zero = irb_zero(&inner, type->scalar);
    irb_yield(&inner, 1, &zero);
    return build->results[0];
}

IrValue *irb_string(IrBuilder *b, const char *text) {
    IrValue *value = one(b, IR_STRING, 0, NULL, ir_str(b->module));
    value->def->text = arena_strndup(b->module->arena, text, strlen(text));
    return value;
}

/* ---- scalar operations ---- */

static bool const_bits(const IrValue *value, IrBits *bits) {
    return ir_const_int(value, &bits->i) || ir_const_float(value, &bits->f);
}

static bool is_const(const IrValue *value, int64_t wanted) {
    int64_t i;
    return ir_const_int(value, &i) && i == wanted;
}

/* SCALAR with as many lanes as there are among the values. */
static IrScalar lanes_of(IrScalar scalar, uint32_t n, IrValue *const *values) {
    uint32_t lanes = 1;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t own = ir_scalar_lanes(values[i]->type->scalar);
        if (own > lanes) lanes = own;
    }
    return ir_scalar_with(scalar, lanes);
}

/* What X op Y is without an instruction, for integers; else NULL. */
static IrValue *simplify(IrOp op, IrValue *x, IrValue *y) {
    if (ir_scalar_float(x->type->scalar) || x->type != y->type) return NULL;
    if (op == IR_ADD && is_const(x, 0)) return y;
    if ((op == IR_ADD || op == IR_SUB) && is_const(y, 0)) return x;
    if (op == IR_MUL && is_const(x, 1)) return y;
    if ((op == IR_MUL || op == IR_DIV) && is_const(y, 1)) return x;
    if (op == IR_MUL && is_const(x, 0)) return x;
    if (op == IR_MUL && is_const(y, 0)) return y;
    if (x->type->scalar != IR_BOOL) return NULL;
    if (op == IR_AND)
        return is_const(x, 1) || is_const(y, 0) ? y : is_const(y, 1) || is_const(x, 0) ? x : NULL;
    if (op == IR_OR)
        return is_const(x, 0) || is_const(y, 1) ? y : is_const(y, 0) || is_const(x, 1) ? x : NULL;
    return NULL;
}

/* OP on constants that are no floats. */
static IrValue *fold(IrBuilder *b, IrOp op, IrScalar result, uint32_t n, IrValue *const *args) {
    IrBits bits[2], value;
    if (ir_scalar_float(args[0]->type->scalar)) return NULL;
    for (uint32_t i = 0; i < n; i++)
        if (!ir_const_int(args[i], &bits[i].i)) return NULL;
    if (!ir_eval(op, args[0]->type->scalar, result, 0, bits, &value)) return NULL;
    return irb_scalar_const(b, result, value.i, 0);
}

IrValue *irb_unary(IrBuilder *b, IrOp op, IrValue *a) {
    a = ir_resolve(a);
    IrValue *known = fold(b, op, a->type->scalar, 1, &a);
    return known ? known : one(b, op, 1, &a, a->type);
}

IrValue *irb_binary(IrBuilder *b, IrOp op, IrValue *x, IrValue *y) {
    IrValue *args[] = {ir_resolve(x), ir_resolve(y)};
    IrScalar scalar = ir_is_comparison(op) ? IR_BOOL : args[0]->type->scalar;
    IrType type = ir_scalar(b->module, lanes_of(scalar, 2, args));
    IrValue *known = fold(b, op, type->scalar, 2, args);
    if (!known) known = simplify(op, args[0], args[1]);
    return known ? known : one(b, op, 2, args, type);
}

IrValue *irb_select(IrBuilder *b, IrValue *c, IrValue *x, IrValue *y) {
    IrValue *args[] = {ir_resolve(c), ir_resolve(x), ir_resolve(y)};
    int64_t known;
    IrType type = args[1]->type;
    if (type->kind == IR_T_SCALAR) type = ir_scalar(b->module, lanes_of(type->scalar, 3, args));
    IrValue *chosen = ir_const_int(c, &known) ? args[known ? 1 : 2]
                      : args[1] == args[2]    ? args[1]
                                              : NULL;
    if (chosen && chosen->type == type) return chosen;
    return one(b, IR_SELECT, 3, args, type);
}

IrValue *irb_cast(IrBuilder *b, IrValue *x, IrScalar to) {
    IrBits bits, value;
    x = ir_resolve(x);
    to = lanes_of(ir_scalar_base(to), 1, &x);
    if (x->type->scalar == to) return x;
    if (const_bits(x, &bits) && ir_eval(IR_CAST, x->type->scalar, to, 0, &bits, &value))
        return ir_scalar_float(to) ? irb_scalar_const(b, to, 0, value.f)
                                   : irb_scalar_const(b, to, value.i, 0);
    return one(b, IR_CAST, 1, &x, ir_scalar(b->module, to));
}

IrValue *irb_math(IrBuilder *b, IrMath fn, IrValue *const *args) {
    IrValue *value = one(b, IR_MATH, ir_math_arity(fn), args, args[0]->type);
    value->def->imm = fn;
    return value;
}

/* ---- lanes ---- */

IrValue *irb_lanes(IrBuilder *b, uint32_t n, IrValue *const *values) {
    if (n == 1) return ir_resolve(values[0]);
    IrType type = values[0]->type;
    if (type->kind == IR_T_ARRAY) return irb_lanes_of_arrays(b, n, values);
    return one(b, IR_LANES, n, values, ir_scalar(b->module, ir_scalar_with(type->scalar, n)));
}

IrValue *irb_splat(IrBuilder *b, IrValue *x, uint32_t lanes) {
    IrValue *all[IR_MAX_LANES];
    for (uint32_t k = 0; k < lanes; k++) all[k] = x;
    return irb_lanes(b, lanes, all);
}

IrValue *irb_lane(IrBuilder *b, IrValue *x, IrValue *lane) {
    IrValue *args[] = {ir_resolve(x), ir_resolve(lane)};
    IrScalar scalar = args[0]->type->scalar;
    if (ir_scalar_lanes(scalar) == 1) return args[0];
    if (args[0]->type->kind == IR_T_ARRAY) return irb_lane_of_array(b, args[0], lane);
    return one(b, IR_LANE, 2, args, ir_scalar(b->module, ir_scalar_base(scalar)));
}

IrValue *irb_lane_sum(IrBuilder *b, IrValue *x) {
    x = ir_resolve(x);
    if (ir_scalar_lanes(x->type->scalar) == 1) return x;
    if (x->type->kind == IR_T_ARRAY) return irb_elementwise(b, IR_LANE_SUM, x, NULL);
    return one(b, IR_LANE_SUM, 1, &x, ir_scalar(b->module, ir_scalar_base(x->type->scalar)));
}

/* ---- control ---- */

IrInst *irb_yield(IrBuilder *b, uint32_t n, IrValue *const *values) {
    return irb_inst(b, IR_YIELD, n, values, 0, NULL, 0);
}

IrInst *irb_if(IrBuilder *b, IrValue *c, uint32_t nresults, const IrType *results) {
    return irb_inst(b, IR_IF, 1, &c, nresults, results, 2);
}

IrInst *irb_loop(IrBuilder *b, IrValue *count, uint32_t n, IrValue *const *inits, bool has_exit) {
    IrInst *loop = ir_inst_alloc(b->func, IR_LOOP, n + 1, n, 1);
    IrRegion *body = loop->regions[0];
    loop->operands[0] = ir_resolve(count);
    loop->flags = has_exit ? IR_LOOP_EXIT : 0;
    loop->pos = b->pos;
    ir_region_param(body, ir_scalar(b->module, IR_I64), "t");
    for (uint32_t i = 0; i < n; i++) {
        IrValue *init = ir_resolve(inits[i]);
        loop->operands[1 + i] = init;
        loop->results[i]->type = init->type;
        ir_region_param(body, init->type, init->name);
    }
    ir_link(loop, b->region, b->before);
    return loop;
}

IrInst *irb_call(IrBuilder *b, IrFunc *func, IrValue *const *args) {
    IrInst *call = irb_inst(b, IR_CALL, func->nparams, args, func->nresults, func->results, 0);
    call->func = func;
    return call;
}

/* ---- tapes, effects ---- */

IrValue *irb_tape_new(IrBuilder *b) {
    return one(b, IR_TAPE_NEW, 0, NULL, ir_tape(b->module));
}

IrValue *irb_tape_empty(IrBuilder *b, IrValue *tape) {
    tape = ir_resolve(tape);
    if (tape->def && tape->def->op == IR_TAPE_NEW) return irb_bool(b, true);
    if (tape->def && tape->def->op == IR_TAPE_PUSH) return irb_bool(b, false);
    return one(b, IR_TAPE_EMPTY, 1, &tape, ir_scalar(b->module, IR_BOOL));
}

/* Operands FIRST, then N more. */
static IrInst *with_first(IrBuilder *b, IrOp op, IrValue *first, uint32_t n, IrValue *const *more,
                          uint32_t nresults, const IrType *results) {
    IrInst *inst = ir_inst_alloc(b->func, op, n + 1, nresults, 0);
    inst->operands[0] = ir_resolve(first);
    for (uint32_t i = 0; i < n; i++) inst->operands[i + 1] = ir_resolve(more[i]);
    for (uint32_t i = 0; i < nresults; i++) inst->results[i]->type = results[i];
    inst->pos = b->pos;
    ir_link(inst, b->region, b->before);
    return inst;
}

IrValue *irb_tape_push(IrBuilder *b, IrValue *tape, uint32_t n, IrValue *const *values) {
    IrType type = ir_tape(b->module);
    return with_first(b, IR_TAPE_PUSH, tape, n, values, 1, &type)->results[0];
}

IrInst *irb_tape_pop(IrBuilder *b, IrValue *tape, uint32_t n, const IrType *types) {
    IrInst *pop = ir_inst_alloc(b->func, IR_TAPE_POP, 1, n + 1, 0);
    pop->operands[0] = ir_resolve(tape);
    pop->results[0]->type = ir_tape(b->module);
    for (uint32_t i = 0; i < n; i++) pop->results[i + 1]->type = types[i];
    pop->pos = b->pos;
    ir_link(pop, b->region, b->before);
    return pop;
}

IrValue *irb_tape_push_typed(IrBuilder *b, IrValue *tape, uint32_t n, IrValue *const *values) {
    IrValue *pushed = irb_tape_push(b, tape, n, values);
    pushed->def->flags |= IR_TAPE_TYPED;
    return pushed;
}

IrInst *irb_tape_pop_typed(IrBuilder *b, IrValue *tape, uint32_t n, const IrType *types) {
    IrInst *pop = irb_tape_pop(b, tape, n, types);
    pop->flags |= IR_TAPE_TYPED;
    return pop;
}

IrValue *irb_tape_sum(IrBuilder *b, IrValue *x, IrValue *y) {
    IrValue *both[] = {ir_resolve(x), ir_resolve(y)};
    for (int i = 0; i < 2; i++)
        if (both[i]->def && both[i]->def->op == IR_TAPE_NEW) return both[1 - i];
    return one(b, IR_TAPE_SUM, 2, both, ir_tape(b->module));
}

void irb_check(IrBuilder *b, IrValue *cond, uint32_t error, const char *text, uint32_t n,
               IrValue *const *args) {
    if (is_const(cond, 1)) return;
    IrInst *check = with_first(b, IR_CHECK, cond, n, args, 0, NULL);
    check->flags = error;
    check->text = arena_strndup(b->module->arena, text, strlen(text));
}

void irb_check_index(IrBuilder *b, IrValue *i, IrValue *n, const char *name) {
    int64_t index, size;
    IrValue *args[] = {i, n};
    if (ir_const_int(i, &index) && ir_const_int(n, &size) && index >= 0 && index < size) return;
    IrInst *check = irb_inst(b, IR_CHECK_INDEX, 2, args, 0, NULL, 0);
    check->text = name ? arena_strndup(b->module->arena, name, strlen(name)) : NULL;
}

void irb_fail(IrBuilder *b, uint32_t error, IrValue *message) {
    irb_inst(b, IR_FAIL, 1, &message, 0, NULL, 0)->flags = error;
}

IrInst *irb_runtime(IrBuilder *b, const char *name, uint32_t n, IrValue *const *args,
                    uint32_t nresults, const IrType *results) {
    IrInst *inst = irb_inst(b, IR_RUNTIME, n, args, nresults, results, 0);
    inst->text = arena_strndup(b->module->arena, name, strlen(name));
    return inst;
}
