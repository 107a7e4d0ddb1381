/* Checks that are proved, and remainders that are.  Facts come from the ranges of indices, from
   checks that were passed, and from the conditions of branches; they are forgotten at the end of
   the region where they hold. */
#include "ir/build.h"
#include "opt/linear.h"
#include "opt/opt.h"

/* Is it an element of an ARGSORT, of as many elements as CHECK's size? */
static bool is_place(const IrInst *check) {
    const IrInst *index = ir_resolve(check->operands[0])->def;
    if (!index || index->op != IR_INDEX) return false;
    const IrInst *sort = ir_resolve(index->operands[0])->def;
    if (!sort || sort->op != IR_ARGSORT) return false;
    const IrValue *x = ir_resolve(sort->operands[0]), *size = ir_resolve(check->operands[1]);
    if (size->def && size->def->op == IR_DIM) return ir_resolve(size->def->operands[0]) == x;
    return size == ir_known_dim(x, 0);
}

static bool proved_index(const LinearFacts *facts, const IrInst *check) {
    if (is_place(check)) return true;
    Linear i = opt_linear_of(facts, check->operands[0]),
           n = opt_linear_of(facts, check->operands[1]);
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
    if (def->op == IR_AND)
        return proved(facts, def->operands[0]) && proved(facts, def->operands[1]);
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

/* x mod n of what is at most once beyond 0 .. n, as the neighbours on a ring are: selections alone.
   Generated code for the others finds out by a branch, which keeps a loop from being vectorised. */
static IrValue *wrapped(const LinearFacts *facts, IrInst *inst) {
    Linear x = opt_linear_of(facts, inst->operands[0]), n = opt_linear_of(facts, inst->operands[1]);
    Linear one = opt_linear_const(1), left = opt_linear_add(opt_linear_add(n, -1, x), -1, one);
    if (!opt_linear_nonnegative(facts, opt_linear_add(n, -1, one))) return NULL;
    bool below = !opt_linear_nonnegative(facts, x), above = !opt_linear_nonnegative(facts, left);
    if (below && !opt_linear_nonnegative(facts, opt_linear_add(x, 1, n))) return NULL;
    if (above && !opt_linear_nonnegative(facts, opt_linear_add(left, 1, n))) return NULL;
    IrBuilder b = {0};
    irb_before(&b, inst);
    IrValue *value = inst->operands[0], *size = inst->operands[1];
    IrValue *less = above ? irb_binary(&b, IR_SUB, value, size) : NULL;
    IrValue *more = below ? irb_binary(&b, IR_ADD, value, size) : NULL;
    IrValue *result = value;
    if (above) result = irb_select(&b, irb_binary(&b, IR_GE, value, size), less, result);
    if (below) result = irb_select(&b, irb_binary(&b, IR_LT, value, irb_int(&b, 0)), more, result);
    return result;
}

/* WRAPS: nothing will be proved of remainders any more. */
static void bounds_region(OptContext *c, LinearFacts *facts, IrRegion *region, bool wraps) {
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
        } else if (wraps && inst->op == IR_MOD && ir_is_scalar(inst->results[0]->type, IR_I64)) {
            IrValue *value = wrapped(facts, inst);
            if (!value) continue;
            ir_replace(inst->results[0], value);
            ir_remove(inst);
            c->changed = true;
            continue;
        }
        for (uint32_t r = 0; r < inst->nregions; r++) {
            uint32_t f = facts->forms.len, e = facts->equal.len;
            if (inst->op == IR_IF) opt_linear_assume(facts, inst->operands[0], r == 0);
            opt_linear_assume_runs(facts, inst);
            bounds_region(c, facts, inst->regions[r], wraps);
            facts->forms.len = f;
            facts->equal.len = e;
        }
    }
    facts->forms.len = forms;
    facts->equal.len = equal;
}

static void bounds(OptContext *c, bool wraps) {
    LinearFacts facts = {0};
    bounds_region(c, &facts, c->func->body, wraps);
    vec_free(&facts.forms);
    vec_free(&facts.equal);
    ir_settle(c->func);
}

void opt_bounds(OptContext *c) {
    bounds(c, false);
}

void opt_wrap(OptContext *c) {
    bounds(c, true);
}
