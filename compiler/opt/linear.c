#include "opt/linear.h"

enum { DEPTH = 12, FACTS_TRIED = 48 };

static void add_term(Linear *form, IrValue *atom, int64_t coef) {
    for (uint32_t k = 0; k < form->n; k++) {
        if (form->term[k].atom != atom) continue;
        form->invalid |= __builtin_add_overflow(form->term[k].coef, coef, &form->term[k].coef);
        if (form->term[k].coef == 0) form->term[k] = form->term[--form->n];
        return;
    }
    if (coef == 0) return;
    if (form->n == LINEAR_TERMS) {
        form->invalid = true;
        return;
    }
    form->term[form->n].atom = atom;
    form->term[form->n++].coef = coef;
}

Linear opt_linear_const(int64_t value) {
    return (Linear){.constant = value};
}

Linear opt_linear_add(Linear a, int64_t factor, Linear b) {
    int64_t product;
    a.invalid |= b.invalid;
    a.invalid |= __builtin_mul_overflow(b.constant, factor, &product);
    a.invalid |= __builtin_add_overflow(a.constant, product, &a.constant);
    for (uint32_t k = 0; k < b.n; k++) {
        a.invalid |= __builtin_mul_overflow(b.term[k].coef, factor, &product);
        add_term(&a, b.term[k].atom, product);
    }
    return a;
}

static IrValue *representative(const LinearFacts *facts, IrValue *value) {
    value = ir_resolve(value);
    for (uint32_t k = 0; k + 1 < facts->equal.len; k += 2)
        if (facts->equal.at[k] == value) return representative(facts, facts->equal.at[k + 1]);
    return value;
}

static Linear form_of(const LinearFacts *facts, IrValue *value, int depth) {
    int64_t c;
    value = representative(facts, value);
    if (ir_const_int(value, &c)) return opt_linear_const(c);
    const IrInst *def = value->def;
    if (def && depth > 0 && value->type->scalar == IR_I64) {
        if (def->op == IR_ADD || def->op == IR_SUB)
            return opt_linear_add(form_of(facts, def->operands[0], depth - 1),
                                  def->op == IR_ADD ? 1 : -1,
                                  form_of(facts, def->operands[1], depth - 1));
        if (def->op == IR_NEG)
            return opt_linear_add(opt_linear_const(0), -1,
                                  form_of(facts, def->operands[0], depth - 1));
        if (def->op == IR_MUL)
            for (int side = 0; side < 2; side++)
                if (ir_const_int(ir_resolve(def->operands[side]), &c))
                    return opt_linear_add(opt_linear_const(0), c,
                                          form_of(facts, def->operands[1 - side], depth - 1));
    }
    Linear form = {0};
    add_term(&form, value, 1);
    return form;
}

Linear opt_linear_of(const LinearFacts *facts, IrValue *value) {
    return form_of(facts, value, DEPTH);
}

/* ---- what an atom can be ---- */

/* The number of values that a region's index takes, in its body, where there is at least one: there
   max(0, e) is e. */
static IrValue *positive_part(IrValue *size) {
    size = ir_resolve(size);
    const IrInst *def = size->def;
    int64_t c;
    if (!def) return size;
    if (def->op == IR_MAX)
        for (int side = 0; side < 2; side++)
            if (ir_const_int(ir_resolve(def->operands[side]), &c) && c <= 0)
                return ir_resolve(def->operands[1 - side]);
    if (def->op == IR_SELECT)
        for (int side = 1; side < 3; side++)
            if (ir_const_int(ir_resolve(def->operands[side]), &c) && c <= 0)
                return ir_resolve(def->operands[3 - side]);
    return size;
}

static IrValue *index_bound(const IrValue *atom) {
    if (atom->def || !atom->region->owner) return NULL;
    const IrInst *owner = atom->region->owner;
    switch (owner->op) {
    case IR_BUILD:
    case IR_REDUCE: return positive_part(owner->operands[atom->index]);
    case IR_LOOP: return atom->index == 0 ? positive_part(owner->operands[0]) : NULL;
    default: return NULL;
    }
}

/* The least and the greatest element of a table of constants, which is packed from them. */
static bool table_range(const IrValue *table, int depth, int64_t *least, int64_t *greatest) {
    const IrInst *def = ir_resolve((IrValue *)table)->def;
    if (!def || def->op != IR_PACK || def->noperands == 0 || depth == 0) return false;
    for (uint32_t k = 0; k < def->noperands; k++) {
        const IrValue *part = ir_resolve(def->operands[k]);
        int64_t low, high;
        if (ir_const_int(part, &low)) high = low;
        else if (!table_range(part, depth - 1, &low, &high)) return false;
        if (k == 0 || low < *least) *least = low;
        if (k == 0 || high > *greatest) *greatest = high;
    }
    return true;
}

static bool never_negative(const LinearFacts *facts, IrValue *atom) {
    int64_t c;
    if (ir_const_int(atom, &c)) return c >= 0;
    if (index_bound(atom)) return true;
    const IrInst *def = atom->def;
    if (!def) return false;
    switch (def->op) {
    case IR_DIM: return true;
    case IR_MOD: return never_negative(facts, representative(facts, def->operands[1]));
    case IR_INDEX: {
        int64_t least, greatest;
        return table_range(def->operands[0], IR_MAX_RANK, &least, &greatest) && least >= 0;
    }
    case IR_MAX:
        return never_negative(facts, representative(facts, def->operands[0])) ||
               never_negative(facts, representative(facts, def->operands[1]));
    case IR_MIN:
    case IR_DIV:
    case IR_MUL:
    case IR_ADD:
        return never_negative(facts, representative(facts, def->operands[0])) &&
               never_negative(facts, representative(facts, def->operands[1]));
    default: return false;
    }
}

static bool prove(const LinearFacts *facts, Linear form, int depth, bool use_facts);

/* form with term K's atom replaced by BOUND. */
static bool prove_with(const LinearFacts *facts, Linear form, uint32_t k, Linear bound, int depth,
                       bool use_facts) {
    int64_t coef = form.term[k].coef;
    form.term[k] = form.term[--form.n];
    return prove(facts, opt_linear_add(form, coef, bound), depth - 1, use_facts);
}

/* Term K at its worst: the atom's greatest value where its coefficient is negative. */
static bool prove_term(const LinearFacts *facts, Linear form, uint32_t k, int depth,
                       bool use_facts) {
    IrValue *atom = form.term[k].atom;
    bool upper = form.term[k].coef < 0;
    IrValue *bound = index_bound(atom);
    const IrInst *def = atom->def;
    if (bound) {
        Linear limit = upper ? opt_linear_add(opt_linear_of(facts, bound), 1, opt_linear_const(-1))
                             : opt_linear_const(0);
        return prove_with(facts, form, k, limit, depth, use_facts);
    }
    if (!def) return false;
    if (def->op == IR_MOD && never_negative(facts, representative(facts, def->operands[1]))) {
        Linear limit =
            upper ? opt_linear_add(opt_linear_of(facts, def->operands[1]), 1, opt_linear_const(-1))
                  : opt_linear_const(0);
        return prove_with(facts, form, k, limit, depth, use_facts);
    }
    int64_t least, greatest;
    if (def->op == IR_INDEX && table_range(def->operands[0], IR_MAX_RANK, &least, &greatest))
        return prove_with(facts, form, k, opt_linear_const(upper ? greatest : least), depth,
                          use_facts);
    if (def->op == (upper ? IR_MIN : IR_MAX))
        for (int side = 0; side < 2; side++)
            if (prove_with(facts, form, k, opt_linear_of(facts, def->operands[side]), depth,
                           use_facts))
                return true;
    if (def->op == (upper ? IR_MAX : IR_MIN))
        return prove_with(facts, form, k, opt_linear_of(facts, def->operands[0]), depth,
                          use_facts) &&
               prove_with(facts, form, k, opt_linear_of(facts, def->operands[1]), depth, use_facts);
    if (def->op == IR_SELECT)
        return prove_with(facts, form, k, opt_linear_of(facts, def->operands[1]), depth,
                          use_facts) &&
               prove_with(facts, form, k, opt_linear_of(facts, def->operands[2]), depth, use_facts);
    return false;
}

static bool all_terms_positive(const LinearFacts *facts, const Linear *form) {
    if (form->constant < 0) return false;
    for (uint32_t k = 0; k < form->n; k++)
        if (form->term[k].coef < 0 || !never_negative(facts, form->term[k].atom)) return false;
    return true;
}

static bool prove(const LinearFacts *facts, Linear form, int depth, bool use_facts) {
    if (form.invalid || depth < 0) return false;
    if (all_terms_positive(facts, &form)) return true;
    for (uint32_t k = 0; k < form.n; k++)
        if (prove_term(facts, form, k, depth, use_facts)) return true;
    if (!use_facts) return false;
    uint32_t tried = 0;
    for (uint32_t k = facts->forms.len; k-- > 0 && tried < FACTS_TRIED; tried++)
        if (prove(facts, opt_linear_add(form, -1, facts->forms.at[k]), depth - 4, false))
            return true;
    return false;
}

bool opt_linear_nonnegative(const LinearFacts *facts, Linear form) {
    return prove(facts, form, DEPTH, true);
}

/* ---- taking in facts ---- */

static void assume_form(LinearFacts *facts, Linear form) {
    if (!form.invalid && form.n) vec_push(&facts->forms, form);
}

static void assume_less(LinearFacts *facts, IrValue *a, IrValue *b, int64_t gap) {
    /* b - a - gap >= 0 */
    Linear form = opt_linear_add(opt_linear_of(facts, b), -1, opt_linear_of(facts, a));
    assume_form(facts, opt_linear_add(form, 1, opt_linear_const(-gap)));
}

static void assume_equal(LinearFacts *facts, IrValue *a, IrValue *b) {
    a = representative(facts, a);
    b = representative(facts, b);
    int64_t c;
    if (a == b) return;
    assume_less(facts, a, b, 0);
    assume_less(facts, b, a, 0);
    /* The one that was there first stands for the other; a constant for anything. */
    if (ir_const_int(a, &c) || (!ir_const_int(b, &c) && a->id < b->id)) {
        IrValue *swap = a;
        a = b;
        b = swap;
    }
    vec_push(&facts->equal, a);
    vec_push(&facts->equal, b);
}

void opt_linear_assume(LinearFacts *facts, IrValue *cond, bool holds) {
    cond = ir_resolve(cond);
    const IrInst *def = cond->def;
    if (!def) return;
    if (def->op == IR_NOT) {
        opt_linear_assume(facts, def->operands[0], !holds);
        return;
    }
    if (def->op == (holds ? IR_AND : IR_OR)) {
        opt_linear_assume(facts, def->operands[0], holds);
        opt_linear_assume(facts, def->operands[1], holds);
        return;
    }
    if (def->noperands != 2 || !ir_is_scalar(ir_resolve(def->operands[0])->type, IR_I64)) return;
    IrValue *a = ir_resolve(def->operands[0]), *b = ir_resolve(def->operands[1]);
    switch (def->op) {
    case IR_EQ:
        if (holds) assume_equal(facts, a, b);
        break;
    case IR_NE:
        if (!holds) assume_equal(facts, a, b);
        break;
    case IR_LT: holds ? assume_less(facts, a, b, 1) : assume_less(facts, b, a, 0); break;
    case IR_LE: holds ? assume_less(facts, a, b, 0) : assume_less(facts, b, a, 1); break;
    case IR_GT: holds ? assume_less(facts, b, a, 1) : assume_less(facts, a, b, 0); break;
    case IR_GE: holds ? assume_less(facts, b, a, 0) : assume_less(facts, a, b, 1); break;
    default: break;
    }
}

void opt_linear_assume_index(LinearFacts *facts, IrValue *i, IrValue *n) {
    assume_form(facts, opt_linear_of(facts, i));
    assume_less(facts, i, n, 1);
}

void opt_linear_assume_runs(LinearFacts *facts, const IrInst *loop) {
    uint32_t n = 0;
    if (loop->op == IR_BUILD || loop->op == IR_REDUCE) n = (uint32_t)loop->imm;
    if (loop->op == IR_LOOP) n = 1;
    for (uint32_t k = 0; k < n; k++) {
        Linear size = opt_linear_of(facts, positive_part(loop->operands[k]));
        assume_form(facts, opt_linear_add(size, 1, opt_linear_const(-1)));
    }
}
