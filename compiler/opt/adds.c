#include "opt/adds.h"

#include "ir/build.h"

enum { LOOKED_BACK = 32 };

bool adds_same_cell(const IrInst *a, const IrInst *b) {
    if (a->op != IR_ACC_ADD || b->op != IR_ACC_ADD || a->noperands != b->noperands) return false;
    for (uint32_t k = 0; k + 1 < a->noperands; k++)
        if (ir_resolve(a->operands[k]) != ir_resolve(b->operands[k])) return false;
    return true;
}

bool adds_never_meet(const IrInst *a, const IrInst *b) {
    for (uint32_t k = 1; k + 1 < a->noperands && k + 1 < b->noperands; k++) {
        int64_t x, y;
        if (ir_const_int(ir_resolve(a->operands[k]), &x) &&
            ir_const_int(ir_resolve(b->operands[k]), &y) && x != y)
            return true;
    }
    return false;
}

bool adds_is_shifted(const IrValue *value, const IrValue *index) {
    value = ir_resolve((IrValue *)value);
    if (value == index) return true;
    const IrInst *def = value->def;
    if (!def || (def->op != IR_ADD && def->op != IR_SUB)) return false;
    for (uint32_t k = 0; k < (def->op == IR_ADD ? 2 : 1); k++) {
        int64_t c;
        const IrValue *other = ir_resolve(def->operands[1 - k]);
        bool same = ir_visible(other, index->region->owner->parent) || ir_const_int(other, &c);
        if (same && adds_is_shifted(def->operands[k], index)) return true;
    }
    return false;
}

static void sum_first(IrInst *add, void *data) {
    OptContext *c = data;
    uint32_t last = add->noperands - 1, n = 0;
    if (add->op != IR_ACC_ADD) return;
    if (ir_resolve(add->operands[last])->type->kind != IR_T_SCALAR) return;
    for (IrInst *inst = add->prev; inst && n < LOOKED_BACK; inst = inst->prev) {
        n += inst->op == IR_ACC_ADD;
        if (!adds_same_cell(inst, add)) continue;
        IrBuilder b = {.module = c->module, .func = c->func};
        irb_before(&b, add);
        IrValue *first = ir_resolve(inst->operands[last]);
        IrValue *second = ir_resolve(add->operands[last]);
        add->operands[last] = irb_binary(&b, IR_ADD, first, second);
        ir_remove(inst);
        c->changed = true;
        return;
    }
}

void adds_sum(OptContext *c, IrRegion *region) {
    ir_walk(region, sum_first, c);
}
