/* Transposes of linear scalar operations. */
#include "ad/internal.h"

#include "base/fatal.h"

static IrValue *guarded(Transposer *t, IrValue *value, IrValue *present) {
    if (!present) return value;
    return irb_select(&t->b, present, value, irb_zero(&t->b, value->type->scalar));
}

/* strong_zero: zero times anything is zero, whichever factor is the zero. */
static IrValue *strong(Transposer *t, IrValue *product, IrValue *ct, IrValue *factor) {
    if (!(t->options & IR_STRONG_ZERO)) return product;
    IrValue *zero = irb_zero(&t->b, product->type->scalar);
    IrValue *none = irb_binary(&t->b, IR_EQ, ct, zero);
    if (factor) none = irb_binary(&t->b, IR_OR, none, irb_binary(&t->b, IR_EQ, factor, zero));
    return irb_select(&t->b, none, zero, product);
}

static void transpose_product(Transposer *t, const IrInst *inst, Ct ct) {
    uint32_t k = is_linear(t->mixed, inst->operands[0]) ? 0 : 1;
    IrValue *factor = now_of(t, inst->operands[1 - k]);
    IrValue *value = irb_binary(&t->b, IR_MUL, ct.value, factor);
    value = strong(t, value, ct.value, factor);
    ct_add(t, inst->operands[k], guarded(t, value, ct.present), ct.present);
}

static void transpose_quotient(Transposer *t, const IrInst *inst, Ct ct) {
    IrValue *value = irb_binary(&t->b, IR_DIV, ct.value, now_of(t, inst->operands[1]));
    value = strong(t, value, ct.value, NULL);
    ct_add(t, inst->operands[0], guarded(t, value, ct.present), ct.present);
}

static IrValue *both(Transposer *t, IrValue *a, IrValue *b) {
    return a ? irb_binary(&t->b, IR_AND, a, b) : b;
}

static void transpose_select(Transposer *t, const IrInst *inst, Ct ct) {
    IrValue *c = now_of(t, inst->operands[0]);
    IrValue *zero = irb_zero(&t->b, ct.value->type->scalar);
    if (!is_zero(t->mixed, inst->operands[1]))
        ct_add(t, inst->operands[1], irb_select(&t->b, c, ct.value, zero),
               both(t, ct.present, c));
    if (!is_zero(t->mixed, inst->operands[2]))
        ct_add(t, inst->operands[2], irb_select(&t->b, c, zero, ct.value),
               both(t, ct.present, irb_unary(&t->b, IR_NOT, c)));
}

static void transpose_cast(Transposer *t, const IrInst *inst, Ct ct) {
    ct_add(t, inst->operands[0], irb_cast(&t->b, ct.value, inst->operands[0]->type->scalar),
           ct.present);
}

void transpose_scalar(Transposer *t, IrInst *inst) {
    Ct ct = ct_take(t, inst->results[0]);
    if (!ct.value) return;
    switch ((int)inst->op) {
    case IR_NEG:
        ct_add(t, inst->operands[0], irb_unary(&t->b, IR_NEG, ct.value), ct.present);
        break;
    case IR_ADD:
        ct_add(t, inst->operands[0], ct.value, ct.present);
        ct_add(t, inst->operands[1], ct.value, ct.present);
        break;
    case IR_SUB:
        ct_add(t, inst->operands[0], ct.value, ct.present);
        ct_add(t, inst->operands[1], irb_unary(&t->b, IR_NEG, ct.value), ct.present);
        break;
    case IR_MUL: transpose_product(t, inst, ct); break;
    case IR_DIV: transpose_quotient(t, inst, ct); break;
    case IR_SELECT: transpose_select(t, inst, ct); break;
    case IR_CAST: transpose_cast(t, inst, ct); break;
    default: UNREACHABLE("no transpose of %s", ir_op_info(inst->op)->name);
    }
}
