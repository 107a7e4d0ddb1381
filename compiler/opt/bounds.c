/* Checks that are proved.  Facts come from the ranges of indices, from checks that were passed, and
   from the conditions of branches; they are forgotten at the end of the region where they hold. */
#include "opt/linear.h"
#include "opt/opt.h"

static bool proved_index(const LinearFacts *facts, const IrInst *check) {
    Linear i = opt_linear_of(facts, check->operands[0]), n = opt_linear_of(facts, check->operands[1]);
    Linear above = opt_linear_add(opt_linear_add(n, -1, i), 1, opt_linear_const(-1));
    return opt_linear_nonnegative(facts, i) && opt_linear_nonnegative(facts, above);
}

static bool proved_less(const LinearFacts *facts, IrValue *a, IrValue *b, int64_t gap) {
    Linear form = opt_linear_add(opt_linear_of(facts, b), -1, opt_linear_of(facts, a));
    return opt_linear_nonnegative(facts, opt_linear_add(form, 1, opt_linear_const(-gap)));
}

static bool proved(const LinearFacts *facts, IrValue *cond) {
    cond = ir_resolve(cond);
    const IrInst *def = cond->def;
    int64_t c;
    if (ir_const_int(cond, &c)) return c != 0;
    if (!def) return false;
    if (def->op == IR_AND) return proved(facts, def->operands[0]) && proved(facts, def->operands[1]);
    if (def->op == IR_OR) return proved(facts, def->operands[0]) || proved(facts, def->operands[1]);
    if (def->noperands != 2 || !ir_is_scalar(ir_resolve(def->operands[0])->type, IR_I64))
        return false;
    IrValue *a = ir_resolve(def->operands[0]), *b = ir_resolve(def->operands[1]);
    switch (def->op) {
    case IR_EQ: {
        Linear d = opt_linear_add(opt_linear_of(facts, a), -1, opt_linear_of(facts, b));
        return !d.invalid && d.n == 0 && d.constant == 0;
    }
    case IR_NE: return proved_less(facts, a, b, 1) || proved_less(facts, b, a, 1);
    case IR_LT: return proved_less(facts, a, b, 1);
    case IR_LE: return proved_less(facts, a, b, 0);
    case IR_GT: return proved_less(facts, b, a, 1);
    case IR_GE: return proved_less(facts, b, a, 0);
    default: return false;
    }
}

static void bounds_region(OptContext *c, LinearFacts *facts, IrRegion *region) {
    uint32_t forms = facts->forms.len, equal = facts->equal.len;
    for (IrInst *inst = region->first, *next; inst; inst = next) {
        next = inst->next;
        if (inst->op == IR_CHECK_INDEX) {
            if (proved_index(facts, inst)) {
                ir_remove(inst);
                c->changed = true;
                continue;
            }
            opt_linear_assume_index(facts, inst->operands[0], inst->operands[1]);
        } else if (inst->op == IR_CHECK) {
            if (proved(facts, inst->operands[0])) {
                ir_remove(inst);
                c->changed = true;
                continue;
            }
            opt_linear_assume(facts, inst->operands[0], true);
        }
        for (uint32_t r = 0; r < inst->nregions; r++) {
            uint32_t f = facts->forms.len, e = facts->equal.len;
            if (inst->op == IR_IF) opt_linear_assume(facts, inst->operands[0], r == 0);
            opt_linear_assume_runs(facts, inst);
            bounds_region(c, facts, inst->regions[r]);
            facts->forms.len = f;
            facts->equal.len = e;
        }
    }
    facts->forms.len = forms;
    facts->equal.len = equal;
}

void opt_bounds(OptContext *c) {
    LinearFacts facts = {0};
    bounds_region(c, &facts, c->func->body);
    vec_free(&facts.forms);
    vec_free(&facts.equal);
}
