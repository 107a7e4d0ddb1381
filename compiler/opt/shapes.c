/* Sizes that are constants, written into the types of values, so that small arrays of known size
   need no block and their loops can be unrolled.

   Supposes the best and takes it back: every dimension starts as not known yet, takes the constant
   that its definition gives it, and becomes open when two ways to it disagree.  Parameters of the
   function and results of calls have the types that the signatures say. */
#include "opt/opt.h"

enum { OPEN = -1, UNSET = -2 };

typedef struct Shapes {
    IrFunc *func;
    int64_t (*dims)[IR_MAX_RANK]; /* by value id */
    bool again;
} Shapes;

static int64_t *dims_of(const Shapes *s, IrValue *value) {
    return s->dims[ir_resolve(value)->id];
}

static bool has_dims(const IrValue *value) {
    return value->type->kind == IR_T_ARRAY || value->type->kind == IR_T_ACC;
}

/* One way to dimension K of VALUE has SIZE. */
static void meet(Shapes *s, IrValue *value, uint32_t k, int64_t size) {
    int64_t *at = &s->dims[value->id][k];
    if (size == UNSET || *at == OPEN || *at == size) return;
    *at = *at == UNSET ? size : OPEN;
    s->again = true;
}

static void meet_type(Shapes *s, IrValue *value, IrType type) {
    for (uint32_t k = 0; has_dims(value) && k < type->rank; k++) meet(s, value, k, type->dims[k]);
}

static void meet_value(Shapes *s, IrValue *value, IrValue *from) {
    for (uint32_t k = 0; has_dims(value) && k < value->type->rank; k++)
        meet(s, value, k, dims_of(s, from)[k]);
}

static int64_t size_of(const IrValue *value) {
    int64_t size;
    return ir_const_int(value, &size) && size >= 0 ? size : OPEN;
}

/* The constant that one of N values has as dimension K, all being equal. */
static int64_t any_dim(const Shapes *s, IrValue **values, uint32_t n, uint32_t k) {
    int64_t found = OPEN;
    for (uint32_t i = 0; i < n; i++) {
        int64_t size = dims_of(s, values[i])[k];
        if (size != OPEN && (found == OPEN || found == UNSET)) found = size;
    }
    return found;
}

/* ---- by operation ---- */

static void build_dims(Shapes *s, IrInst *inst) {
    uint32_t n = (uint32_t)inst->imm, inner = n;
    IrInst *yield = inst->regions[0]->last;
    for (uint32_t r = 0; r < inst->nresults; r++) {
        for (uint32_t k = 0; k < n; k++) meet(s, inst->results[r], k, size_of(inst->operands[k]));
        for (uint32_t k = 0; k < (uint32_t)inst->ints[r]; k++) {
            int64_t size = size_of(inst->operands[inner++]);
            meet(s, inst->results[r], n + k,
                 size != OPEN ? size : dims_of(s, yield->operands[r])[k]);
        }
    }
}

static void concat_dims(Shapes *s, IrInst *inst) {
    IrValue *result = inst->results[0];
    int64_t sum = 0;
    for (uint32_t i = 0; i < inst->noperands && sum >= 0; i++) {
        int64_t size = dims_of(s, inst->operands[i])[0];
        if (size < 0) sum = size;
        else if (__builtin_add_overflow(sum, size, &sum)) sum = OPEN;
    }
    meet(s, result, 0, sum);
    for (uint32_t k = 1; k < result->type->rank; k++)
        meet(s, result, k, any_dim(s, inst->operands, inst->noperands, k));
}

static void pack_dims(Shapes *s, IrInst *inst) {
    IrValue *result = inst->results[0];
    meet(s, result, 0, inst->noperands);
    for (uint32_t k = 1; k < result->type->rank; k++)
        meet(s, result, k, any_dim(s, inst->operands, inst->noperands, k - 1));
}

static void contract_dims(Shapes *s, IrInst *inst) {
    IrValue *a = inst->operands[0], *b = inst->operands[1], *result = inst->results[0];
    uint32_t k = 0;
    if (!has_dims(result)) return;
    if (a->type->rank == 2)
        meet(s, result, k++, dims_of(s, a)[inst->flags & IR_CONTRACT_TA ? 1 : 0]);
    if (b->type->rank == 2) meet(s, result, k, dims_of(s, b)[inst->flags & IR_CONTRACT_TB ? 0 : 1]);
}

/* The sizes stand as operands from AT on; where they are no constants, X's may be known (AS_X). */
static void given_dims(Shapes *s, IrInst *inst, uint32_t at, bool as_x) {
    for (uint32_t k = 0; k < inst->results[0]->type->rank; k++) {
        int64_t size = size_of(inst->operands[at + k]);
        if (size == OPEN && as_x) size = dims_of(s, inst->operands[0])[k];
        meet(s, inst->results[0], k, size);
    }
}

static void loop_dims(Shapes *s, IrInst *inst) {
    IrRegion *body = inst->regions[0];
    uint32_t skip = inst->flags & IR_LOOP_EXIT ? 1 : 0;
    for (uint32_t i = 0; i < inst->nresults; i++) {
        IrValue *param = body->params[1 + i];
        if (!has_dims(param)) continue;
        meet_value(s, param, inst->operands[1 + i]);
        meet_value(s, param, body->last->operands[skip + i]);
        meet_value(s, inst->results[i], param);
    }
}

static void acc_dims(Shapes *s, IrInst *inst) {
    IrRegion *body = inst->regions[0];
    for (uint32_t i = 0; i < inst->noperands; i++) {
        if (!has_dims(inst->results[i])) continue;
        meet_value(s, inst->results[i], inst->operands[i]);
        meet_value(s, body->params[i], inst->operands[i]);
    }
    for (uint32_t i = inst->noperands; i < inst->nresults; i++)
        if (has_dims(inst->results[i]))
            meet_value(s, inst->results[i], body->last->operands[i - inst->noperands]);
}

static void if_dims(Shapes *s, IrInst *inst) {
    for (uint32_t i = 0; i < inst->nresults; i++)
        for (uint32_t r = 0; r < 2 && has_dims(inst->results[i]); r++)
            meet_value(s, inst->results[i], inst->regions[r]->last->operands[i]);
}

static void visit(IrInst *inst, void *data) {
    Shapes *s = data;
    IrValue *result = inst->nresults ? inst->results[0] : NULL;
    uint32_t rank = result ? result->type->rank : 0;
    switch ((int)inst->op) {
    case IR_BUILD: build_dims(s, inst); return;
    case IR_LOOP: loop_dims(s, inst); return;
    case IR_IF: if_dims(s, inst); return;
    case IR_WITH_ACC: acc_dims(s, inst); return;
    case IR_CONCAT: concat_dims(s, inst); return;
    case IR_PACK: pack_dims(s, inst); return;
    case IR_CONTRACT: contract_dims(s, inst); return;
    case IR_RESHAPE: given_dims(s, inst, 1, false); return;
    case IR_ASSUME: given_dims(s, inst, 1, true); return;
    case IR_SLICE: given_dims(s, inst, 1 + rank, false); return;
    case IR_UPDATE:
    case IR_ASSIGN:
    case IR_ARGSORT:
    case IR_STOP:
        if (has_dims(result)) meet_value(s, result, inst->operands[0]);
        return;
    case IR_INDEX:
        for (uint32_t k = 0; k < rank; k++)
            meet(s, result, k, dims_of(s, inst->operands[0])[inst->noperands - 1 + k]);
        return;
    case IR_TRANSPOSE:
        for (uint32_t k = 0; k < rank; k++)
            meet(s, result, k, dims_of(s, inst->operands[0])[inst->ints[k]]);
        return;
    case IR_REDUCE:
        for (uint32_t i = 0; i < inst->nresults; i++)
            if (has_dims(inst->results[i]))
                meet_value(s, inst->results[i], inst->operands[(uint32_t)inst->imm + i]);
        return;
    default:
        for (uint32_t i = 0; i < inst->nresults; i++)
            meet_type(s, inst->results[i], inst->results[i]->type);
    }
}

/* ---- the result ---- */

static void unset(Shapes *s, IrValue *value) {
    for (uint32_t k = 0; k < IR_MAX_RANK; k++) s->dims[value->id][k] = UNSET;
}

static void unset_all(IrInst *inst, void *data) {
    for (uint32_t i = 0; i < inst->nresults; i++) unset(data, inst->results[i]);
    for (uint32_t r = 0; r < inst->nregions; r++)
        for (uint32_t i = 0; i < inst->regions[r]->nparams; i++)
            unset(data, inst->regions[r]->params[i]);
}

/* What was known stays known, also where nothing reaches. */
static void refine(Shapes *s, IrValue *value, bool *changed) {
    IrModule *module = s->func->module;
    int64_t dims[IR_MAX_RANK];
    bool better = false;
    if (!has_dims(value)) return;
    for (uint32_t k = 0; k < value->type->rank; k++) {
        int64_t found = s->dims[value->id][k];
        dims[k] = value->type->dims[k] >= 0 || found < 0 ? value->type->dims[k] : found;
        better = better || dims[k] != value->type->dims[k];
    }
    if (!better) return;
    IrType type = ir_array(module, value->type->scalar, value->type->rank, dims);
    value->type = value->type->kind == IR_T_ACC ? ir_acc(module, type) : type;
    *changed = true;
}

typedef struct Refining {
    Shapes *shapes;
    bool *changed;
} Refining;

static void refine_all(IrInst *inst, void *data) {
    const Refining *r = data;
    for (uint32_t i = 0; i < inst->nresults; i++) refine(r->shapes, inst->results[i], r->changed);
    for (uint32_t k = 0; k < inst->nregions; k++)
        for (uint32_t i = 0; i < inst->regions[k]->nparams; i++)
            refine(r->shapes, inst->regions[k]->params[i], r->changed);
}

void opt_shapes(OptContext *context) {
    IrFunc *func = context->func;
    Shapes s = {.func = func};
    s.dims = arena_alloc_array(context->scratch, func->nvalues, sizeof *s.dims);
    ir_walk(func->body, unset_all, &s);
    for (uint32_t i = 0; i < func->nparams; i++) {
        unset(&s, func->body->params[i]);
        meet_type(&s, func->body->params[i], func->body->params[i]->type);
    }
    do {
        s.again = false;
        ir_walk(func->body, visit, &s);
    } while (s.again);
    Refining refining = {&s, &context->changed};
    ir_walk(func->body, refine_all, &refining);
}
