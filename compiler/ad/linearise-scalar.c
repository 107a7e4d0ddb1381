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

static IrValue *absolute(Scalar *s) {
    IrValue *zero = constant(s, 0);
    IrValue *below = binary(s, IR_LT, s->x, zero), *at = binary(s, IR_EQ, s->x, zero);
    IrValue *up = linear_select(s->l, at, NULL, s->dx);
    return linear_select(s->l, below, linear_neg(s->l, s->dx), up);
}

/* C1: x wins or is NaN; C2: the same for y; both or neither is a tie. */
static IrValue *extremum(Scalar *s, IrOp better) {
    IrValue *c1 = binary(s, IR_OR, binary(s, better, s->x, s->y), binary(s, IR_NE, s->x, s->x));
    IrValue *c2 = binary(s, IR_OR, binary(s, better, s->y, s->x), binary(s, IR_NE, s->y, s->y));
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
static IrValue *power(Scalar *s) {
    IrBuilder *b = s->l->b;
    IrValue *n = s->y, *args[2] = {s->x, NULL};
    IrType type = ir_scalar(b->module, s->type);
    int64_t known;
    bool is_known = ir_const_int(n, &known);
    if (is_known && known == 0) return NULL;
    if (is_known && known == 1) return s->dx;
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
    return linear_mul(s->l, s->dx, slope);
}

static IrValue *selected(Scalar *s) {
    return linear_select(s->l, s->x, s->dy, tangent_of(s->l, s->inst->operands[2]));
}

static IrValue *converted(Scalar *s) {
    return s->dx ? mark_linear(s->l, irb_cast(s->l->b, s->dx, s->type)) : NULL;
}

static IrValue *mathematical(Scalar *s) {
    Lin *l = s->l;
    IrMath fn = (IrMath)s->inst->imm;
    IrFunc *rule = l->ad->module->math_rules[fn][s->type == IR_F64];
    IrValue *args[7] = {0}, *like[7] = {0}, *tangents[7] = {0}, *result = NULL;
    uint32_t n = s->inst->noperands;
    RuleCall call = {rule, args, like, tangents, &result};
    if (!rule) {
        ad_report(l->ad, DIAG_DERIV_NONE, s->inst->pos, "the function '%s' has no derivative",
                  ir_math_name(fn));
        return NULL;
    }
    for (uint32_t i = 0; i < n; i++) {
        args[i] = primal_of(l, s->inst->operands[i]);
        like[n + i] = args[i];
        tangents[n + i] = tangent_of(l, s->inst->operands[i]);
    }
    args[2 * n] = s->z;
    CHECK_INTERNAL(rule->nparams == 2 * n + 1);
    linearise_rule(l, &call);
    return result;
}

void linearise_scalar(Lin *l, IrInst *inst) {
    Scalar s = {.l = l, .inst = inst, .z = primal_of(l, inst->results[0])};
    IrValue *dz = NULL;
    s.type = inst->results[0]->type->scalar;
    if (inst->noperands > 0) {
        s.x = primal_of(l, inst->operands[0]);
        s.dx = tangent_of(l, inst->operands[0]);
    }
    if (inst->noperands > 1) {
        s.y = primal_of(l, inst->operands[1]);
        s.dy = tangent_of(l, inst->operands[1]);
    }
    switch ((int)inst->op) {
    case IR_NEG: dz = linear_neg(l, s.dx); break;
    case IR_ABS: dz = s.dx ? absolute(&s) : NULL; break;
    case IR_ADD: dz = linear_add(l, s.dx, s.dy); break;
    case IR_SUB: dz = linear_sub(l, s.dx, s.dy); break;
    case IR_MUL: dz = product(&s); break;
    case IR_DIV: dz = quotient(&s); break;
    case IR_MOD: dz = modulo(&s); break;
    case IR_POWI: dz = s.dx ? power(&s) : NULL; break;
    case IR_MIN: dz = s.dx || s.dy ? extremum(&s, IR_LT) : NULL; break;
    case IR_MAX: dz = s.dx || s.dy ? extremum(&s, IR_GT) : NULL; break;
    case IR_SELECT: dz = selected(&s); break;
    case IR_CAST: dz = converted(&s); break;
    case IR_MATH: dz = mathematical(&s); break;
    default: UNREACHABLE("no tangent for %s", ir_op_info(inst->op)->name);
    }
    set_tangent(l, inst->results[0], dz);
}
