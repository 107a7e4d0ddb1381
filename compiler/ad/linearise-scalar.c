/* Tangents of scalar operations.  The table of kinks and singular points (reference, "What a
   derivative means") holds here: what loses in `min`, `max`, `select` contributes nothing. */
#include "ad/linearise.h"

#include "base/fatal.h"

typedef struct Scalar {
    Lin *l;
    IrInst *inst;
    IrValue *x, *y, *z; /* primal operands and result; y may be NULL */
    IrValue *dx, *dy;
    IrScalar type;
} Scalar;

static IrValue *binary(Scalar *s, IrOp op, IrValue *x, IrValue *y) {
    return irb_binary(s->l->b, op, x, y);
}

static IrValue *constant(Scalar *s, double value) {
    return irb_scalar_const(s->l->b, s->type, 0, value);
}

static IrValue *product(Scalar *s) {
    return linear_add(s->l, linear_mul(s->l, s->dx, s->y), linear_mul(s->l, s->dy, s->x));
}

/* (dx - z dy) / y, with one division. */
static IrValue *quotient(Scalar *s) {
    return linear_div(s->l, linear_sub(s->l, s->dx, linear_mul(s->l, s->dy, s->z)), s->y);
}

static IrValue *product_and_sum(Scalar *s) {
    return linear_add(s->l, tangent_of(s->l, s->inst->operands[2]), product(s));
}

static IrValue *absolute(Scalar *s) {
    IrValue *zero = constant(s, 0);
    IrValue *below = binary(s, IR_LT, s->x, zero), *at = binary(s, IR_EQ, s->x, zero);
    IrValue *up = linear_select(s->l, at, NULL, s->dx);
    return linear_select(s->l, below, linear_neg(s->l, s->dx), up);
}

/* C1: x wins or is NaN; C2: the same for y; both or neither is a tie. */
static IrValue *extremum(Scalar *s, IrOp better) {
    IrValue *x_wins = binary(s, better, s->x, s->y), *y_wins = binary(s, better, s->y, s->x);
    IrValue *c1 = binary(s, IR_OR, x_wins, binary(s, IR_NE, s->x, s->x));
    IrValue *c2 = binary(s, IR_OR, y_wins, binary(s, IR_NE, s->y, s->y));
    IrValue *half = linear_mul(s->l, linear_add(s->l, s->dx, s->dy), constant(s, 0.5));
    IrValue *one = linear_select(s->l, c1, s->dx, s->dy);
    return linear_select(s->l, binary(s, IR_XOR, c1, c2), one, half);
}

static IrValue *modulo(Scalar *s) {
    if (!s->dy) return s->dx;
    IrValue *ratio = binary(s, IR_DIV, s->x, s->y);
    IrValue *floored = irb_math(s->l->b, IR_MATH_FLOOR, &ratio);
    return linear_sub(s->l, s->dx, linear_mul(s->l, s->dy, floored));
}

/* n x**(n-1); 0 for n = 0. */
static IrValue *power_slope(Scalar *s) {
    IrBuilder *b = s->l->b;
    IrValue *n = s->y, *args[2] = {s->x, NULL};
    IrType type = ir_scalar(b->module, s->type);
    int64_t known;
    bool is_known = ir_const_int(n, &known);
    IrValue *lower = s->x;
    if (!is_known || known != 2) {
        args[1] = irb_binary(b, IR_SUB, n, irb_int(b, 1));
        lower = irb_inst(b, IR_POWI, 2, args, 1, &type, 0)->results[0];
    }
    IrValue *slope = binary(s, IR_MUL, irb_cast(b, n, s->type), lower);
    if (!is_known) {
        IrValue *is_zero = irb_binary(b, IR_EQ, n, irb_int(b, 0));
        slope = irb_select(b, is_zero, constant(s, 0), slope);
    }
    return slope;
}

static IrValue *power(Scalar *s) {
    int64_t known;
    bool is_known = ir_const_int(s->y, &known);
    if (is_known && known == 0) return NULL;
    if (is_known && known == 1) return s->dx;
    return linear_mul(s->l, s->dx, power_slope(s));
}

static IrValue *selected(Scalar *s) {
    return linear_select(s->l, s->x, s->dy, tangent_of(s->l, s->inst->operands[2]));
}

static IrValue *converted(Scalar *s) {
    return s->dx ? mark_linear(s->l, irb_cast(s->l->b, s->dx, s->type)) : NULL;
}

/* Side by side; where any has a tangent. */
static IrValue *side_by_side(Scalar *s) {
    IrValue *lanes[IR_MAX_LANES];
    bool any = false;
    for (uint32_t k = 0; k < s->inst->noperands; k++)
        any |= tangent_of(s->l, s->inst->operands[k]) != NULL;
    if (!any) return NULL;
    for (uint32_t k = 0; k < s->inst->noperands; k++)
        lanes[k] = tangent_or_zero(s->l, s->inst->operands[k]);
    return mark_linear(s->l, irb_lanes(s->l->b, s->inst->noperands, lanes));
}

/* By its rule. */
static void mathematical(Scalar *s) {
    Lin *l = s->l;
    IrMath fn = (IrMath)s->inst->imm;
    IrFunc *rule = l->ad->module->math_rules[fn][s->type == IR_F64];
    IrValue *args[7] = {0}, *like[7] = {0}, *tangents[7] = {0};
    IrValue *result = NULL;
    uint32_t n = s->inst->noperands;
    RuleCall call = {rule, args, like, tangents, &result};
    if (!rule) {
        ad_report(l->ad, DIAG_DERIV_NONE, s->inst->pos, "the function '%s' has no derivative",
                  ir_math_name(fn));
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        args[i] = primal_of(l, s->inst->operands[i]);
        like[n + i] = args[i];
        tangents[n + i] = tangent_of(l, s->inst->operands[i]);
    }
    args[2 * n] = s->z;
    CHECK_INTERNAL(rule->nparams == 2 * n + 1);
    linearise_rule(l, &call);
    set_tangent(l, s->inst->results[0], result);
}

static IrValue *tangent(Scalar *s) {
    switch ((int)s->inst->op) {
    case IR_NEG: return linear_neg(s->l, s->dx);
    case IR_ABS: return s->dx ? absolute(s) : NULL;
    case IR_ADD: return linear_add(s->l, s->dx, s->dy);
    case IR_SUB: return linear_sub(s->l, s->dx, s->dy);
    case IR_MUL: return product(s);
    case IR_MULADD: return product_and_sum(s);
    case IR_DIV: return quotient(s);
    case IR_MOD: return modulo(s);
    case IR_POWI: return s->dx ? power(s) : NULL;
    case IR_MIN: return s->dx || s->dy ? extremum(s, IR_LT) : NULL;
    case IR_MAX: return s->dx || s->dy ? extremum(s, IR_GT) : NULL;
    case IR_SELECT: return selected(s);
    case IR_CAST: return converted(s);
    case IR_LANES: return side_by_side(s);
    case IR_LANE: return s->dx ? mark_linear(s->l, irb_lane(s->l->b, s->dx, s->y)) : NULL;
    case IR_LANE_SUM: return s->dx ? mark_linear(s->l, irb_lane_sum(s->l->b, s->dx)) : NULL;
    default: UNREACHABLE("no tangent for %s", ir_op_info(s->inst->op)->name);
    }
}

void linearise_scalar(Lin *l, IrInst *inst) {
    Scalar s = {.l = l, .inst = inst, .z = primal_of(l, inst->results[0])};
    uint32_t n = inst->noperands;
    s.type = inst->results[0]->type->scalar;
    if (n > 0) s.x = primal_of(l, inst->operands[0]);
    if (n > 1) s.y = primal_of(l, inst->operands[1]);
    if (inst->op == IR_MATH) {
        mathematical(&s);
        return;
    }
    s.dx = n > 0 ? tangent_of(l, inst->operands[0]) : NULL;
    s.dy = n > 1 ? tangent_of(l, inst->operands[1]) : NULL;
    set_tangent(l, inst->results[0], tangent(&s));
}
