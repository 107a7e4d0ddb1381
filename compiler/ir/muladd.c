/* Products that are added are made one operation, which rounds once where the target can.

   This happens to a function as it is written (opt) and to a derivative as it is made (ad), before
   anything that depends on what stands around: so a value has the same bits wherever the function
   is called, inlined or differentiated.  While derivatives are made, the sums of what they are made
   from are settled: a copy of them is rounded as they are.  Sums of two products stay as they are:
   x * x - y * y is 0 where x == y, and never less. */
#include "ir/build.h"
#include "ir/ir.h"

/* The product behind X, if it stands in REGION. */
static const IrInst *product(const IrValue *x, const IrRegion *region) {
    const IrInst *def = x->def;
    return def && def->op == IR_MUL && def->parent == region ? def : NULL;
}

/* sx x y + sz z */
static IrValue *muladd(IrInst *inst, const IrInst *mul, IrValue *z, bool minus_xy, bool minus_z) {
    IrBuilder b = {0};
    irb_before(&b, inst);
    IrType type = inst->results[0]->type;
    IrValue *args[] = {ir_resolve(mul->operands[0]), ir_resolve(mul->operands[1]), z};
    if (minus_xy) args[0] = irb_unary(&b, IR_NEG, args[0]);
    if (minus_z) args[2] = irb_unary(&b, IR_NEG, args[2]);
    return irb_inst(&b, IR_MULADD, 3, args, 1, &type, 0)->results[0];
}

static bool form(IrInst *inst) {
    IrValue *x = ir_resolve(inst->operands[0]), *y = ir_resolve(inst->operands[1]);
    const IrInst *left = product(x, inst->parent), *right = product(y, inst->parent);
    bool minus = inst->op == IR_SUB;
    if (!left == !right) return false;
    IrValue *value =
        left ? muladd(inst, left, y, false, minus) : muladd(inst, right, x, minus, false);
    ir_replace(inst->results[0], value);
    ir_remove(inst);
    return true;
}

static bool is_sum(const IrInst *inst) {
    return (inst->op == IR_ADD || inst->op == IR_SUB) && ir_is_float(inst->results[0]->type);
}

static bool walk(IrRegion *region) {
    bool changed = false;
    for (IrInst *inst = region->first, *next; inst; inst = next) {
        next = inst->next;
        for (uint32_t r = 0; r < inst->nregions; r++) changed |= walk(inst->regions[r]);
        if (is_sum(inst) && inst->flags != IR_SUM_SETTLED) changed |= form(inst);
    }
    return changed;
}

static void settle(IrInst *inst, void *data) {
    const bool *settled = data;
    if (is_sum(inst)) inst->flags = *settled ? IR_SUM_SETTLED : 0;
}

void ir_settle_sums(IrFunc *func, bool settled) {
    if (func->body) ir_walk(func->body, settle, &settled);
}

bool ir_form_muladds(IrFunc *func) {
    if (!func->body || !walk(func->body)) return false;
    ir_settle(func);
    return true;
}
