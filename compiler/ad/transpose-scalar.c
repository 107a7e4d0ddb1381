/* Transposes of linear scalar operations. */
#include "ad/internal.h"

#include <math.h>

#include "base/fatal.h"

/* Functions whose value is not infinite for any argument that is not. */
static bool is_tame_math(const IrInst *def) {
    switch ((int)def->imm) {
    case IR_MATH_LOG:
    case IR_MATH_LOG2:
    case IR_MATH_LOG10:
    case IR_MATH_LOG1P:
    case IR_MATH_POW:
    case IR_MATH_ATANH:
    case IR_MATH_LGAMMA:
    case IR_MATH_TGAMMA:
    case IR_MATH_DIGAMMA:
    case IR_MATH_TRIGAMMA:
    case IR_MATH_FMOD:
    case IR_MATH_REMAINDER: return false;
    default: return true;
    }
}

static bool is_tame(const IrValue *value, uint32_t depth);

static bool all_tame(uint32_t n, IrValue *const *values, uint32_t depth) {
    for (uint32_t i = 0; i < n; i++)
        if (!is_tame(values[i], depth)) return false;
    return true;
}

/* By its form, VALUE is infinite or NaN only where something it is made of is. */
static bool is_tame(const IrValue *value, uint32_t depth) {
    const IrInst *def = value->def;
    double f;
    int64_t i;
    if (!def || !ir_is_float(value->type)) return true;
    if (ir_const_float(value, &f)) return isfinite(f);
    if (depth == 0) return false;
    switch ((int)def->op) {
    case IR_DIV:
        return is_tame(def->operands[0], depth - 1) && ir_const_float(def->operands[1], &f) &&
               f != 0;
    case IR_MOD: return false;
    case IR_POWI:
        return ir_const_int(def->operands[1], &i) && i >= 0 && is_tame(def->operands[0], depth - 1);
    case IR_MATH: return is_tame_math(def) && all_tame(def->noperands, def->operands, depth - 1);
    case IR_NEG:
    case IR_ABS:
    case IR_ADD:
    case IR_SUB:
    case IR_MUL:
    case IR_MULADD:
    case IR_MIN:
    case IR_MAX:
    case IR_SELECT:
    case IR_CAST: return all_tame(def->noperands, def->operands, depth - 1);
    case IR_IF:
        return is_tame(def->regions[0]->last->operands[value->index], depth - 1) &&
               is_tame(def->regions[1]->last->operands[value->index], depth - 1);
    default: return true;
    }
}

enum { TAME_DEPTH = 8 };

IrValue *ad_zero_for_nan(IrBuilder *b, IrValue *product, IrValue *none) {
    IrValue *nan = irb_binary(b, IR_NE, product, product);
    return irb_select(b, irb_binary(b, IR_AND, none, nan), irb_zero(b, product->type->scalar),
                      product);
}

/* VALUE, a product of the cotangent CT with a factor: zero where CT counts for nothing, whatever
   the factor is.  Where its zero may count for something, too, it is its product that is zero,
   unless that is none: so the derivative of the product is that of a product. */
static IrValue *guarded(Transposer *t, IrValue *value, Ct ct, bool is_tame_factor) {
    IrValue *zero = irb_zero(&t->b, value->type->scalar);
    if (ct.when.zero == ZERO_MAY_BE_NOTHING || (ct.when.zero == ZERO_OF_ELEMENT && !is_tame_factor))
        value = ad_zero_for_nan(&t->b, value, irb_binary(&t->b, IR_EQ, ct.value, zero));
    return ct.when.present ? irb_select(&t->b, ct.when.present, value, zero) : value;
}

/* strong_zero: zero times anything is zero, whichever factor is the zero. */
static IrValue *strong(Transposer *t, IrValue *product, IrValue *ct, IrValue *factor) {
    if (!(t->options & IR_STRONG_ZERO)) return product;
    IrValue *zero = irb_zero(&t->b, product->type->scalar);
    IrValue *none = irb_binary(&t->b, IR_EQ, ct, zero);
    if (factor) none = irb_binary(&t->b, IR_OR, none, irb_binary(&t->b, IR_EQ, factor, zero));
    return ad_zero_for_nan(&t->b, product, none);
}

static void transpose_product(Transposer *t, const IrInst *inst, Ct ct) {
    uint32_t k = is_linear(t->mixed, inst->operands[0]) ? 0 : 1;
    IrValue *factor = now_of(t, inst->operands[1 - k]);
    IrValue *value = irb_binary(&t->b, IR_MUL, ct.value, factor);
    value = strong(t, value, ct.value, factor);
    bool tame = is_tame(inst->operands[1 - k], TAME_DEPTH);
    ct_add(t, inst->operands[k], guarded(t, value, ct, tame), ct.when);
}

static void transpose_quotient(Transposer *t, const IrInst *inst, Ct ct) {
    IrValue *value = irb_binary(&t->b, IR_DIV, ct.value, now_of(t, inst->operands[1]));
    value = strong(t, value, ct.value, NULL);
    double divisor;
    bool tame = ir_const_float(inst->operands[1], &divisor) && divisor != 0;
    ct_add(t, inst->operands[0], guarded(t, value, ct, tame), ct.when);
}

/* A condition for each lane is none of a branch. */
static When both(Transposer *t, When when, IrValue *c) {
    if (ir_scalar_lanes(c->type->scalar) > 1) when.zero = ZERO_MAY_BE_NOTHING;
    else when.present = when.present ? irb_binary(&t->b, IR_AND, when.present, c) : c;
    return when;
}

static void transpose_select(Transposer *t, const IrInst *inst, Ct ct) {
    IrValue *c = now_of(t, inst->operands[0]);
    IrValue *zero = irb_zero(&t->b, ct.value->type->scalar);
    if (!is_zero(t->mixed, inst->operands[1]))
        ct_add(t, inst->operands[1], irb_select(&t->b, c, ct.value, zero), both(t, ct.when, c));
    if (!is_zero(t->mixed, inst->operands[2]))
        ct_add(t, inst->operands[2], irb_select(&t->b, c, zero, ct.value),
               both(t, ct.when, irb_unary(&t->b, IR_NOT, c)));
}

static void transpose_cast(Transposer *t, const IrInst *inst, Ct ct) {
    ct_add(t, inst->operands[0], irb_cast(&t->b, ct.value, inst->operands[0]->type->scalar),
           ct.when);
}

static void transpose_lanes(Transposer *t, const IrInst *inst, Ct ct) {
    for (uint32_t k = 0; k < inst->noperands; k++)
        ct_add(t, inst->operands[k], irb_lane(&t->b, ct.value, irb_int(&t->b, k)), ct.when);
}

/* The cotangent in the lane that was read, zeros in the others. */
static void transpose_lane(Transposer *t, const IrInst *inst, Ct ct) {
    IrValue *lanes[IR_MAX_LANES], *x = inst->operands[0], *at = now_of(t, inst->operands[1]);
    IrValue *zero = irb_zero(&t->b, ct.value->type->scalar);
    uint32_t n = ir_scalar_lanes(x->type->scalar);
    for (uint32_t k = 0; k < n; k++) {
        IrValue *is_it = irb_binary(&t->b, IR_EQ, at, irb_int(&t->b, k));
        lanes[k] = irb_select(&t->b, is_it, ct.value, zero);
    }
    ct_add(t, x, irb_lanes(&t->b, n, lanes), (When){.zero = ZERO_MAY_BE_NOTHING});
}

void transpose_scalar(Transposer *t, IrInst *inst) {
    Ct ct = ct_take(t, inst->results[0]);
    if (!ct.value) return;
    switch ((int)inst->op) {
    case IR_NEG: ct_add(t, inst->operands[0], irb_unary(&t->b, IR_NEG, ct.value), ct.when); break;
    case IR_ADD:
        ct_add(t, inst->operands[0], ct.value, ct.when);
        ct_add(t, inst->operands[1], ct.value, ct.when);
        break;
    case IR_SUB:
        ct_add(t, inst->operands[0], ct.value, ct.when);
        ct_add(t, inst->operands[1], irb_unary(&t->b, IR_NEG, ct.value), ct.when);
        break;
    case IR_MUL: transpose_product(t, inst, ct); break;
    case IR_DIV: transpose_quotient(t, inst, ct); break;
    case IR_SELECT: transpose_select(t, inst, ct); break;
    case IR_CAST: transpose_cast(t, inst, ct); break;
    case IR_LANES: transpose_lanes(t, inst, ct); break;
    case IR_LANE: transpose_lane(t, inst, ct); break;
    case IR_LANE_SUM: {
        uint32_t lanes = ir_scalar_lanes(inst->operands[0]->type->scalar);
        ct_add(t, inst->operands[0], irb_splat(&t->b, ct.value, lanes), ct.when);
        break;
    }
    default: UNREACHABLE("no transpose of %s", ir_op_info(inst->op)->name);
    }
}
