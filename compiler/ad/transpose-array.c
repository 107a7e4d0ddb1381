/* Transposes of the linear operations on arrays, tapes and accumulators.  A read adds into the
   cotangent of the array: in place where that is a value of this region, through its accumulator
   where the array comes from outside of a parallel region. */
#include "ad/internal.h"

#include "base/fatal.h"

static IrValue **now_operands(Transposer *t, const IrInst *inst, uint32_t first, uint32_t n) {
    IrValue **values = ARENA_ARRAY(t->ad->arena, IrValue *, n);
    for (uint32_t i = 0; i < n; i++) values[i] = now_of(t, inst->operands[first + i]);
    return values;
}

static IrValue **constants(Transposer *t, uint32_t n, int64_t value) {
    IrValue **values = ARENA_ARRAY(t->ad->arena, IrValue *, n);
    for (uint32_t i = 0; i < n; i++) values[i] = irb_int(&t->b, value);
    return values;
}

/* ---- elements ---- */

static void transpose_index(Transposer *t, IrInst *inst, Ct ct) {
    uint32_t n = inst->noperands - 1;
    IrValue *x = inst->operands[0], **indices = now_operands(t, inst, 1, n);
    Ct *sum = ct_at(t, x);
    if (is_zero(t->mixed, x)) return;
    if (sum->is_acc) {
        irb_acc_add(&t->b, sum->value, n, indices, ct.value);
        ct_added(t, x, n, inst->operands + 1, ct.when);
    } else if (ct_is_shared(t, x)) {
        ct_add_shared(t, x, n, indices, ct.value, ct.when);
    } else if (!sum->value) {
        ct.when.whole = false;
        *sum =
            (Ct){.value = irb_update(&t->b, zeros_of(t, x), n, indices, ct.value), .when = ct.when};
    } else {
        IrValue *old = irb_index(&t->b, sum->value, n, indices);
        sum->value = irb_update(&t->b, sum->value, n, indices, ct_sum(t, old, ct.value));
        sum->when = ct_either(t, sum->when, ct.when);
        sum->mask = NULL;
    }
}

static void transpose_update(Transposer *t, IrInst *inst, Ct ct) {
    uint32_t n = inst->noperands - 2;
    IrValue *x = inst->operands[0], *v = inst->operands[n + 1];
    IrValue **indices = now_operands(t, inst, 1, n);
    if (!is_zero(t->mixed, v)) {
        IrValue *element = irb_index(&t->b, ct.value, n, indices);
        ct_add(t, v, element, ct_element(element, ct.when));
    }
    ct.when.whole = false;
    if (!is_zero(t->mixed, x))
        ct_add(t, x, irb_update(&t->b, ct.value, n, indices, zeros_of(t, v)), ct.when);
}

/* ---- slices ---- */

/* Adds each element of VALUE to the accumulator, at START + index * STEP. */
static void scatter(IrBuilder *b, IrValue *acc, IrValue **start, IrValue **count, IrValue **step,
                    IrValue *value) {
    uint32_t rank = value->type->rank;
    IrInst *build = irb_build(b, rank, count, 0, NULL, 0, NULL);
    IrRegion *body = build->regions[0];
    IrBuilder inner = *b;
    IrValue *at[IR_MAX_RANK];
    irb_at_end(&inner, body);
    for (uint32_t k = 0; k < rank; k++)
        at[k] = irb_binary(&inner, IR_ADD, start[k],
                           irb_binary(&inner, IR_MUL, body->params[k], step[k]));
    irb_acc_add(&inner, acc, rank, at, irb_index(&inner, value, rank, body->params));
    irb_yield(&inner, 0, NULL);
}

static void transpose_slice(Transposer *t, IrInst *inst, Ct ct) {
    IrValue *x = inst->operands[0];
    uint32_t rank = x->type->rank;
    IrValue **start = now_operands(t, inst, 1, rank),
            **count = now_operands(t, inst, 1 + rank, rank);
    IrValue **step = now_operands(t, inst, 1 + 2 * rank, rank);
    Ct *sum = ct_at(t, x);
    if (is_zero(t->mixed, x)) return;
    if (sum->is_acc) {
        scatter(&t->b, sum->value, start, count, step, ct.value);
        sum->additions->n++;
    } else if (ct_is_shared(t, x)) {
        IrInst *with = irb_with_acc(&t->b, 1, &sum->value, 0, NULL);
        IrBuilder inner = t->b;
        irb_at_end(&inner, with->regions[0]);
        scatter(&inner, with->regions[0]->params[0], start, count, step, ct.value);
        irb_yield(&inner, 0, NULL);
        *sum = (Ct){.value = with->results[0], .when = ct_either(t, sum->when, ct.when)};
    } else if (!sum->value) {
        ct.when.whole = false;
        *sum = (Ct){.value = irb_assign(&t->b, zeros_of(t, x), start, step, ct.value),
                    .when = ct.when};
    } else {
        IrValue *old = irb_slice(&t->b, sum->value, start, count, step);
        sum->value = irb_assign(&t->b, sum->value, start, step, ct_sum(t, old, ct.value));
        sum->when = ct_either(t, sum->when, ct.when);
        sum->mask = NULL;
    }
}

static void transpose_assign(Transposer *t, IrInst *inst, Ct ct) {
    IrValue *x = inst->operands[0], *v = inst->operands[inst->noperands - 1];
    uint32_t rank = x->type->rank;
    IrValue **start = now_operands(t, inst, 1, rank),
            **step = now_operands(t, inst, 1 + rank, rank);
    if (!is_zero(t->mixed, v))
        ct_add(t, v, irb_slice(&t->b, ct.value, start, now_dims_of(t, v), step), ct.when);
    ct.when.whole = false;
    if (!is_zero(t->mixed, x))
        ct_add(t, x, irb_assign(&t->b, ct.value, start, step, zeros_of(t, v)), ct.when);
}

/* ---- whole arrays ---- */

static void transpose_transpose(Transposer *t, IrInst *inst, Ct ct) {
    int64_t inverse[IR_MAX_RANK];
    for (uint32_t k = 0; k < inst->nints; k++) inverse[inst->ints[k]] = k;
    ct_add(t, inst->operands[0], irb_transpose(&t->b, ct.value, inverse), ct.when);
}

static void transpose_reshape(Transposer *t, IrInst *inst, Ct ct) {
    IrValue *x = inst->operands[0];
    ct_add(t, x, irb_reshape(&t->b, ct.value, x->type->rank, now_dims_of(t, x)), ct.when);
}

static void transpose_pack(Transposer *t, IrInst *inst, Ct ct) {
    for (uint32_t i = 0; i < inst->noperands; i++) {
        if (is_zero(t->mixed, inst->operands[i])) continue;
        IrValue *at = irb_int(&t->b, i);
        IrValue *element = irb_index(&t->b, ct.value, 1, &at);
        ct_add(t, inst->operands[i], element, ct_element(element, ct.when));
    }
}

static void transpose_concat(Transposer *t, IrInst *inst, Ct ct) {
    uint32_t rank = ct.value->type->rank;
    IrValue **start = constants(t, rank, 0), **step = constants(t, rank, 1);
    for (uint32_t i = 0; i < inst->noperands; i++) {
        IrValue *x = inst->operands[i], **count = now_dims_of(t, x);
        if (!is_zero(t->mixed, x))
            ct_add(t, x, irb_slice(&t->b, ct.value, start, count, step), ct.when);
        start[0] = irb_binary(&t->b, IR_ADD, start[0], count[0]);
    }
}

/* ---- products: C = op(A) op(B), where op transposes what the flags say ---- */

/* x[i] * y[j] */
static IrValue *outer_product(Transposer *t, IrValue *x, IrValue *y) {
    IrValue *sizes[2] = {irb_dim(&t->b, x, 0), irb_dim(&t->b, y, 0)};
    uint32_t lanes = ir_scalar_lanes(x->type->scalar), other = ir_scalar_lanes(y->type->scalar);
    IrType elem =
        ir_scalar(t->b.module, ir_scalar_with(x->type->scalar, lanes > other ? lanes : other));
    IrInst *build = irb_build(&t->b, 2, sizes, 1, &elem, 0, NULL);
    IrBuilder inner = t->b;
    irb_at_end(&inner, build->regions[0]);
    IrValue *a = irb_index(&inner, x, 1, &build->regions[0]->params[0]);
    IrValue *b = irb_index(&inner, y, 1, &build->regions[0]->params[1]);
    IrValue *product = irb_binary(&inner, IR_MUL, a, b);
    irb_yield(&inner, 1, &product);
    return build->results[0];
}

/* The cotangent of A. */
static IrValue *left(Transposer *t, IrValue *c, IrValue *b, uint32_t ra, bool ta, bool tb) {
    uint32_t rb = b->type->rank;
    if (ra == 1 && rb == 1) return irb_elementwise(&t->b, IR_MUL, b, c);
    if (ra == 1) return irb_contract(&t->b, b, c, tb ? IR_CONTRACT_TA : 0);
    if (rb == 1) return ta ? outer_product(t, b, c) : outer_product(t, c, b);
    if (ta) return irb_contract(&t->b, b, c, (tb ? IR_CONTRACT_TA : 0) | IR_CONTRACT_TB);
    return irb_contract(&t->b, c, b, tb ? 0 : IR_CONTRACT_TB);
}

/* The cotangent of B. */
static IrValue *right(Transposer *t, IrValue *c, IrValue *a, uint32_t rb, bool ta, bool tb) {
    uint32_t ra = a->type->rank;
    if (ra == 1 && rb == 1) return irb_elementwise(&t->b, IR_MUL, a, c);
    if (rb == 1) return irb_contract(&t->b, a, c, ta ? 0 : IR_CONTRACT_TA);
    if (ra == 1) return tb ? outer_product(t, c, a) : outer_product(t, a, c);
    if (tb) return irb_contract(&t->b, c, a, IR_CONTRACT_TA | (ta ? IR_CONTRACT_TB : 0));
    return irb_contract(&t->b, a, c, ta ? 0 : IR_CONTRACT_TA);
}

static void transpose_contract(Transposer *t, IrInst *inst, Ct ct) {
    IrValue *a = inst->operands[0], *b = inst->operands[1];
    bool ta = inst->flags & IR_CONTRACT_TA, tb = inst->flags & IR_CONTRACT_TB;
    ct.when.whole = false;
    if (is_linear(t->mixed, a))
        ct_add(t, a, left(t, ct.value, now_of(t, b), a->type->rank, ta, tb), ct.when);
    else ct_add(t, b, right(t, ct.value, now_of(t, a), b->type->rank, ta, tb), ct.when);
}

/* ---- accumulators and tapes ---- */

/* The cotangent of an accumulator is that of its final value, which can be read. */
static void transpose_acc_add(Transposer *t, IrInst *inst) {
    uint32_t n = inst->noperands - 2;
    IrValue *v = inst->operands[n + 1];
    Ct ct = *ct_at(t, inst->operands[0]);
    if (!ct.value || is_zero(t->mixed, v)) return;
    IrValue **indices = now_operands(t, inst, 1, n);
    IrValue *element = n ? irb_index(&t->b, ct.value, n, indices) : ct.value;
    ct_add(t, v, element, n ? ct_element(element, ct.when) : ct.when);
}

/* A push of tangents becomes a pop of cotangents, and the other way round. */
void transpose_tape(Transposer *t, IrInst *inst) {
    bool is_push = inst->op == IR_TAPE_PUSH;
    uint32_t n = is_push ? inst->noperands - 1 : inst->nresults - 1;
    IrValue **of = is_push ? inst->operands + 1 : inst->results + 1;
    Ct tape = ct_take(t, inst->results[0]);
    if (is_push) {
        IrType *types = ARENA_ARRAY(t->ad->arena, IrType, n);
        if (!tape.value) return;
        for (uint32_t i = 0; i < n; i++) types[i] = of[i]->type;
        IrInst *pop = irb_tape_pop_typed(&t->b, tape.value, n, types);
        for (uint32_t i = 0; i < n; i++) ct_add_given(t, of[i], pop->results[1 + i]);
        ct_add(t, inst->operands[0], pop->results[0], (When){0});
    } else {
        IrValue **values = ARENA_ARRAY(t->ad->arena, IrValue *, n);
        IrValue *lower = tape.value ? tape.value : irb_tape_new(&t->b);
        for (uint32_t i = 0; i < n; i++) values[i] = ct_value(t, of[i]);
        ct_add(t, inst->operands[0], irb_tape_push_typed(&t->b, lower, n, values), (When){0});
    }
}

void transpose_array(Transposer *t, IrInst *inst) {
    if (inst->op == IR_ACC_ADD) {
        transpose_acc_add(t, inst);
        return;
    }
    Ct ct = ct_take(t, inst->results[0]);
    if (!ct.value) return;
    switch ((int)inst->op) {
    case IR_INDEX: transpose_index(t, inst, ct); break;
    case IR_UPDATE: transpose_update(t, inst, ct); break;
    case IR_SLICE: transpose_slice(t, inst, ct); break;
    case IR_ASSIGN: transpose_assign(t, inst, ct); break;
    case IR_TRANSPOSE: transpose_transpose(t, inst, ct); break;
    case IR_RESHAPE: transpose_reshape(t, inst, ct); break;
    case IR_PACK: transpose_pack(t, inst, ct); break;
    case IR_CONCAT: transpose_concat(t, inst, ct); break;
    case IR_CONTRACT: transpose_contract(t, inst, ct); break;
    case IR_TAPE_SUM:
        ct_add(t, inst->operands[0], ct.value, ct.when);
        ct_add(t, inst->operands[1], ct.value, ct.when);
        break;
    default: UNREACHABLE("no transpose of %s", ir_op_info(inst->op)->name);
    }
}
