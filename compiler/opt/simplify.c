/* Folding and identities.  Nothing here changes a bit of a result: floats are folded where the
   operation is exactly rounded, and only identities that hold for signed zeros, infinities and NaN
   are used.  Arrays: simplify-array.c; control: simplify-control.c. */
#include "opt/simplify.h"

#include "ir/build.h"
#include "ir/eval.h"

#include <math.h>

static bool const_bits(const IrValue *value, IrBits *bits) {
    if (value->type->kind != IR_T_SCALAR || !value->def || value->def->op != IR_CONST) return false;
    if (ir_scalar_float(value->type->scalar)) bits->f = value->def->fimm;
    else bits->i = value->def->imm;
    return true;
}

/* Functions whose result is exactly rounded or a choice, on every target. */
static bool exact_math(const IrInst *inst) {
    switch ((IrMath)inst->imm) {
    case IR_MATH_SQRT:
    case IR_MATH_FLOOR:
    case IR_MATH_CEIL:
    case IR_MATH_TRUNC:
    case IR_MATH_ROUND:
    case IR_MATH_RINT:
    case IR_MATH_COPYSIGN:
    case IR_MATH_FMA: return true;
    default: return false;
    }
}

static IrValue *fold(IrBuilder *b, const IrInst *inst) {
    if (inst->op == IR_CONST || inst->noperands == 0 || inst->noperands > 3) return NULL;
    if ((inst->op == IR_MATH && !exact_math(inst)) || inst->op == IR_MULADD) return NULL;
    IrBits args[3], out;
    for (uint32_t k = 0; k < inst->noperands; k++)
        if (!const_bits(ir_resolve(inst->operands[k]), &args[k])) return NULL;
    IrScalar type = ir_resolve(inst->operands[inst->op == IR_SELECT ? 1 : 0])->type->scalar;
    IrScalar result = inst->results[0]->type->scalar;
    if (type == IR_F16 || type == IR_BF16 || result == IR_F16 || result == IR_BF16) return NULL;
    if (!ir_eval(inst->op, type, result, inst->imm, args, &out)) return NULL;
    if (ir_scalar_float(result)) return irb_scalar_const(b, result, 0, out.f);
    return irb_scalar_const(b, result, out.i, 0.0);
}

static bool is_int(const IrValue *x, int64_t value) {
    int64_t c;
    return ir_const_int(x, &c) && c == value;
}

static bool is_float(const IrValue *x, double value) {
    double c;
    return ir_const_float(x, &c) && c == value && signbit(c) == signbit(value);
}

static IrValue *operand_of(const IrValue *x, IrOp op, uint32_t k) {
    return x->def && x->def->op == op ? ir_resolve(x->def->operands[k]) : NULL;
}

static IrValue *simplify_float(IrBuilder *b, IrOp op, IrValue *x, IrValue *y) {
    IrValue *n;
    switch (op) {
    case IR_ADD:
        if (is_float(y, -0.0)) return x;
        if (is_float(x, -0.0)) return y;
        if ((n = operand_of(y, IR_NEG, 0))) return irb_binary(b, IR_SUB, x, n);
        if ((n = operand_of(x, IR_NEG, 0))) return irb_binary(b, IR_SUB, y, n);
        return NULL;
    case IR_SUB:
        if (is_float(y, 0.0)) return x;
        if ((n = operand_of(y, IR_NEG, 0))) return irb_binary(b, IR_ADD, x, n);
        return NULL;
    case IR_MUL:
        if (is_float(y, 1.0)) return x;
        if (is_float(x, 1.0)) return y;
        if (is_float(y, -1.0)) return irb_unary(b, IR_NEG, x);
        if (is_float(x, -1.0)) return irb_unary(b, IR_NEG, y);
        return NULL;
    case IR_DIV: return is_float(y, 1.0) ? x : NULL;
    default: return NULL;
    }
}

/* (x + c) + d as x + (c + d): so that equal subscripts are equal values. */
static IrValue *merge_constants(IrBuilder *b, IrOp op, IrValue *x, IrValue *y) {
    int64_t d, c;
    if (!ir_const_int(y, &d) || (op != IR_ADD && op != IR_SUB)) return NULL;
    if (op == IR_SUB) d = (int64_t)(0 - (uint64_t)d);
    if (!x->def || (x->def->op != IR_ADD && x->def->op != IR_SUB)) {
        if (op == IR_ADD) return NULL;
        return irb_binary(b, IR_ADD, x, irb_scalar_const(b, x->type->scalar, d, 0.0));
    }
    IrValue *inner = ir_resolve(x->def->operands[0]), *k = ir_resolve(x->def->operands[1]);
    if (!ir_const_int(k, &c)) {
        inner = ir_resolve(x->def->operands[1]);
        k = ir_resolve(x->def->operands[0]);
        if (x->def->op == IR_SUB || !ir_const_int(k, &c)) return NULL;
    }
    if (x->def->op == IR_SUB) c = (int64_t)(0 - (uint64_t)c);
    int64_t sum = (int64_t)((uint64_t)c + (uint64_t)d);
    if (sum == 0) return inner;
    return irb_binary(b, IR_ADD, inner, irb_scalar_const(b, x->type->scalar, sum, 0.0));
}

static IrValue *simplify_int(IrBuilder *b, IrOp op, IrValue *x, IrValue *y) {
    IrScalar type = x->type->scalar;
    IrValue *merged = type == IR_BOOL ? NULL : merge_constants(b, op, x, y);
    if (merged) return merged;
    switch (op) {
    case IR_ADD:
        if (is_int(y, 0)) return x;
        if (is_int(x, 0)) return y;
        /* (a - y) + y */
        if (operand_of(x, IR_SUB, 1) == y) return operand_of(x, IR_SUB, 0);
        if (operand_of(y, IR_SUB, 1) == x) return operand_of(y, IR_SUB, 0);
        return NULL;
    case IR_SUB:
        if (is_int(y, 0)) return x;
        if (x == y) return irb_scalar_const(b, type, 0, 0.0);
        if (operand_of(x, IR_ADD, 0) == y) return operand_of(x, IR_ADD, 1);
        if (operand_of(x, IR_ADD, 1) == y) return operand_of(x, IR_ADD, 0);
        return NULL;
    case IR_MUL:
        if (is_int(y, 1)) return x;
        if (is_int(x, 1)) return y;
        if (is_int(x, 0)) return x;
        return is_int(y, 0) ? y : NULL;
    case IR_DIV: return is_int(y, 1) ? x : NULL;
    case IR_MOD:
    case IR_REM: return is_int(y, 1) ? irb_scalar_const(b, type, 0, 0.0) : NULL;
    case IR_AND:
        if (x == y || is_int(x, 0)) return x;
        if (is_int(y, 0)) return y;
        if (type == IR_BOOL && is_int(x, 1)) return y;
        return type == IR_BOOL && is_int(y, 1) ? x : NULL;
    case IR_OR:
        if (x == y || is_int(y, 0)) return x;
        if (is_int(x, 0)) return y;
        if (type == IR_BOOL && is_int(x, 1)) return x;
        return type == IR_BOOL && is_int(y, 1) ? y : NULL;
    case IR_MIN:
    case IR_MAX: return x == y ? x : NULL;
    case IR_EQ:
    case IR_LE:
    case IR_GE: return x == y ? irb_bool(b, true) : NULL;
    case IR_NE:
    case IR_LT:
    case IR_GT: return x == y ? irb_bool(b, false) : NULL;
    default: return NULL;
    }
}

/* Small constant exponents: the products that squaring makes. */
static IrValue *simplify_powi(IrBuilder *b, IrValue *x, IrValue *n) {
    int64_t k;
    if (!ir_const_int(n, &k)) return NULL;
    if (k == 1) return x;
    if (k == 2) return irb_binary(b, IR_MUL, x, x);
    if (k != 3 && k != 4) return NULL;
    IrValue *square = irb_binary(b, IR_MUL, x, x);
    return irb_binary(b, IR_MUL, k == 3 ? x : square, square);
}

/* Reading one of what was put side by side, and putting together what was read. */
static IrValue *simplify_lanes(IrBuilder *b, const IrInst *inst) {
    const IrValue *x = ir_resolve(inst->operands[0]);
    int64_t k;
    double f;
    if (inst->op == IR_LANE) {
        if (ir_const_float(x, &f)) return irb_scalar_const(b, inst->results[0]->type->scalar, 0, f);
        if (!x->def || x->def->op != IR_LANES) return NULL;
        if (!ir_const_int(ir_resolve(inst->operands[1]), &k)) return NULL;
        return ir_resolve(x->def->operands[k]);
    }
    IrValue *whole = operand_of(x, IR_LANE, 0);
    bool all_same = ir_const_float(x, &f);
    for (uint32_t i = 0; i < inst->noperands; i++) {
        const IrValue *lane = ir_resolve(inst->operands[i]);
        all_same = all_same && lane == x;
        if (operand_of(lane, IR_LANE, 0) != whole) whole = NULL;
        if (whole && !is_int(ir_resolve(lane->def->operands[1]), i)) whole = NULL;
    }
    if (all_same) return irb_scalar_const(b, inst->results[0]->type->scalar, 0, f);
    return whole && whole->type == inst->results[0]->type ? whole : NULL;
}

static IrValue *simplify_scalar(OptContext *c, IrBuilder *b, const IrInst *inst) {
    if (!inst->noperands) return NULL;
    if (inst->op == IR_LANE || inst->op == IR_LANES) return simplify_lanes(b, inst);
    IrValue *folded = fold(b, inst);
    if (folded) return folded;
    IrValue *x = ir_resolve(inst->operands[0]);
    IrValue *y = inst->noperands > 1 ? ir_resolve(inst->operands[1]) : NULL;
    switch (inst->op) {
    case IR_NEG: return operand_of(x, IR_NEG, 0);
    case IR_NOT: return x->type->scalar == IR_BOOL ? operand_of(x, IR_NOT, 0) : NULL;
    case IR_CAST: return x->type == inst->results[0]->type ? x : NULL;
    case IR_POWI: return simplify_powi(b, x, y);
    case IR_SELECT: {
        IrValue *z = ir_resolve(inst->operands[2]);
        int64_t cond;
        if (y == z) return y;
        if (ir_const_int(x, &cond)) return cond ? y : z;
        return NULL;
    }
    default: break;
    }
    (void)c;
    if (inst->noperands != 2 || x->type->kind != IR_T_SCALAR) return NULL;
    return ir_scalar_float(x->type->scalar) ? simplify_float(b, inst->op, x, y)
                                            : simplify_int(b, inst->op, x, y);
}

static bool is_scalar_op(IrOp op) {
    return op > IR_CONST && op <= IR_MATH;
}

static void simplify_region(OptContext *c, IrRegion *region) {
    for (IrInst *inst = region->first, *next; inst; inst = next) {
        next = inst->next;
        IrBuilder b = {.module = c->module, .func = c->func};
        irb_before(&b, inst);
        if (opt_simplify_control(c, &b, inst, &next)) {
            c->changed = true;
            continue;
        }
        for (uint32_t r = 0; r < inst->nregions; r++) simplify_region(c, inst->regions[r]);
        if (inst->nresults != 1) continue;
        IrValue *value =
            is_scalar_op(inst->op) ? simplify_scalar(c, &b, inst) : opt_simplify_array(c, &b, inst);
        if (!value || value == inst->results[0]) continue;
        /* An identity that takes the lanes away: the other operand brought them. */
        if (value->type->scalar != inst->results[0]->type->scalar) continue;
        ir_replace(inst->results[0], value);
        ir_remove(inst);
        c->changed = true;
    }
}

void opt_simplify(OptContext *c) {
    simplify_region(c, c->func->body);
    ir_settle(c->func);
}
