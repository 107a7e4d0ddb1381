/* The reverse sweep: the linear instructions of a region are transposed from the last to the first.
   This file has what all kinds share: cotangents, the start of a region, the dispatch.

   A cotangent comes with a condition if it went through a `select` or a branch on its way: where
   the condition fails it is zero and stands for a side that was not taken, so that it must not meet
   an infinite slope.  So does a zero that comes out of a region or a call, which need not have
   added to it.  Products guard against that (0 * inf is NaN), and nothing else may: a zero that is
   there, but for its value, has a derivative. */
#include "ad/internal.h"

#include "base/fatal.h"
#include "ir/shared.h"

/* ---- values of the mixed function in the reverse sweep ---- */

IrValue *now_of(Transposer *t, const IrValue *value) {
    IrValue *now = t->now[value->id];
    if (!now) UNREACHABLE("value %%%u is not available in the reverse sweep", value->id);
    return now;
}

IrValue **now_dims_of(Transposer *t, IrValue *linear) {
    uint32_t rank = linear->type->rank;
    IrValue **sizes = ARENA_ARRAY(t->ad->arena, IrValue *, rank);
    const Dim *dims = mixed_dims(t->mixed, linear);
    for (uint32_t k = 0; k < rank; k++)
        sizes[k] = dims[k].value ? now_of(t, dims[k].value) : irb_int(&t->b, dims[k].size);
    return sizes;
}

IrValue *zeros_of(Transposer *t, IrValue *linear) {
    IrType type = linear->type;
    if (type->kind == IR_T_TAPE) return irb_tape_new(&t->b);
    if (type->kind == IR_T_SCALAR) return irb_zero(&t->b, type->scalar);
    IrType elem = ir_scalar(t->b.module, type->scalar);
    IrInst *build = irb_build(&t->b, type->rank, now_dims_of(t, linear), 1, &elem, 0, NULL);
    IrBuilder inner = t->b;
    irb_at_end(&inner, build->regions[0]);
    IrValue *zero = irb_zero(&inner, type->scalar);
    irb_yield(&inner, 1, &zero);
    return build->results[0];
}

/* ---- cotangents ---- */

When ct_given(const IrValue *value) {
    bool is_scalar = value->type->kind == IR_T_SCALAR;
    return (When){.zero = is_scalar ? ZERO_MAY_BE_NOTHING : ZERO_IS_ZERO};
}

When ct_element(const IrValue *element, When when) {
    if (element->type->kind != IR_T_SCALAR) return when;
    if (!may_be_nothing(when) && !when.whole) when.zero = ZERO_OF_ELEMENT;
    when.whole = false;
    return when;
}

When ct_either(Transposer *t, When a, When b) {
    When either = {.zero = ZERO_MAY_BE_NOTHING};
    bool a_counts = !may_be_nothing(a), b_counts = !may_be_nothing(b);
    if (a_counts || b_counts)
        return (When){.whole = (a_counts && a.whole) || (b_counts && b.whole)};
    if (a.present && b.present)
        either.present =
            a.present == b.present ? a.present : irb_binary(&t->b, IR_OR, a.present, b.present);
    either.soft = a.soft && b.soft;
    if (either.present ? !a.zero && !b.zero : a.zero == b.zero && !a.present && !b.present)
        either.zero = a.zero;
    return either;
}

IrValue *ct_sum(Transposer *t, IrValue *a, IrValue *b) {
    if (a->type->kind == IR_T_ARRAY) return irb_elementwise(&t->b, IR_ADD, a, b);
    if (a->type->kind == IR_T_TAPE) return irb_tape_sum(&t->b, a, b);
    return irb_binary(&t->b, IR_ADD, a, b);
}

Ct *ct_at(const Transposer *t, const IrValue *linear) {
    const IrValue *root = t->is_kernel ? ir_shared_root(linear) : NULL;
    return &t->ct[root ? root->id : linear->id];
}

void ct_add(Transposer *t, IrValue *linear, IrValue *value, When when) {
    Ct *ct = ct_at(t, linear);
    if (!value || is_zero(t->mixed, linear)) return;
    ct->mask = NULL;
    /* What stood for all lanes gets the sum of what comes from each. */
    if (value->type->kind != IR_T_TAPE &&
        ir_scalar_lanes(value->type->scalar) > ir_scalar_lanes(linear->type->scalar))
        value = irb_lane_sum(&t->b, value);
    if (ct->is_acc) {
        irb_acc_add(&t->b, ct->value, 0, NULL, value);
        ct_added(t, linear, 0, NULL, when);
    } else if (!ct->value) {
        ct->value = value;
        ct->when = when;
    } else {
        ct->value = ct_sum(t, ct->value, value);
        ct->when = ct_either(t, ct->when, when);
    }
}

static bool is_among(const IrValue *value, uint32_t n, IrValue *const *at, uint32_t *place) {
    for (*place = 0; *place < n; ++*place)
        if (at[*place] == value) return true;
    return false;
}

/* Is the region at hand a branch in the body of INST, which runs for each element of LINEAR, in
   order, of which AT is the subscript? */
static bool is_masking(Transposer *t, const IrInst *inst, IrValue *linear, uint32_t n,
                       IrValue *const *at) {
    const IrInst *branch = t->region->owner;
    if (branch->op != IR_IF || branch->parent != inst->regions[0] || n != (uint32_t)inst->imm)
        return false;
    if (n != linear->type->rank || inst->op == IR_WITH_ACC) return false;
    for (uint32_t k = 0; k < n; k++)
        if (at[k] != inst->regions[0]->params[k] ||
            !mixed_dim_is(t->mixed, linear, k, inst->operands[k]))
            return false;
    return true;
}

/* Does INST run its region for each of the subscripts that are its indices, over the whole
   dimension of LINEAR, and at least once for each index that is none? */
static bool meets_all(Transposer *t, const IrInst *inst, IrValue *linear, uint32_t n,
                      IrValue *const *at, uint32_t *used) {
    uint32_t place;
    int64_t size;
    if (inst->op == IR_WITH_ACC) return true;
    if (inst->op != IR_BUILD && inst->op != IR_REDUCE) return false;
    for (uint32_t i = 0; i < inst->regions[0]->nparams; i++) {
        if (is_among(inst->regions[0]->params[i], n, at, &place)) {
            if (!mixed_dim_is(t->mixed, linear, place, inst->operands[i])) return false;
            *used += 1;
        } else if (!ir_const_int(inst->operands[i], &size) || size <= 0) {
            return false;
        }
    }
    return true;
}

void ct_added(Transposer *t, IrValue *linear, uint32_t n, IrValue *const *at, When when) {
    Additions *known = ct_at(t, linear)->additions;
    uint32_t used = 0;
    bool is_part = linear->type->kind == IR_T_ARRAY && linear->type->rank > n;
    bool is_first = known->n++ == 0;
    if (is_first && n && t->guards == known->guards && is_masking(t, known->inst, linear, n, at)) {
        known->branch = t->region;
        known->zero = when.present ? ZERO_MAY_BE_NOTHING : when.zero;
        return;
    }
    if (when.present || when.zero == ZERO_MAY_BE_NOTHING || t->guards != known->guards) return;
    if (is_part && !when.whole) return;
    if (known->are_sure && known->zero == ZERO_IS_ZERO) return;
    for (const IrRegion *r = t->region; r != known->inst->parent; r = r->owner->parent)
        if (!meets_all(t, r->owner, linear, n, at, &used)) return;
    if (used != n) return;
    known->are_sure = true;
    known->branch = NULL;
    known->zero = when.zero;
}

IrValue *ct_tape_present(Transposer *t, IrValue *tape) {
    int64_t known;
    IrValue *empty = irb_tape_empty(&t->b, tape);
    if (ir_const_int(empty, &known) && !known) return NULL;
    return irb_unary(&t->b, IR_NOT, empty);
}

void ct_add_given(Transposer *t, IrValue *linear, IrValue *value) {
    When when = ct_given(value);
    if (value->type->kind == IR_T_TAPE) when.present = ct_tape_present(t, value);
    ct_add(t, linear, value, when);
}

Ct ct_take(Transposer *t, IrValue *linear) {
    Ct ct = *ct_at(t, linear);
    *ct_at(t, linear) = (Ct){0};
    return ct;
}

IrValue *ct_value(Transposer *t, IrValue *linear) {
    Ct ct = ct_take(t, linear);
    return ct.value ? ct.value : zeros_of(t, linear);
}

/* ---- regions ---- */

static bool any_again(const Transposer *t, const IrInst *inst) {
    for (uint32_t i = 0; i < inst->nresults; i++)
        if (bitset_has(&t->plan->again, inst->results[i]->id)) return true;
    return false;
}

static void pop_saved(Transposer *t, const Scope *scope) {
    uint32_t n = scope->saved.len;
    IrType *types = ARENA_ARRAY(t->ad->arena, IrType, n);
    if (!n) return;
    for (uint32_t i = 0; i < n; i++) types[i] = scope->saved.at[i]->type;
    IrInst *pop = irb_tape_pop(&t->b, t->tape, n, types);
    t->tape = pop->results[0];
    t->tape->name = "tape";
    for (uint32_t i = 0; i < n; i++) {
        pop->results[1 + i]->name = scope->saved.at[i]->name;
        t->now[scope->saved.at[i]->id] = pop->results[1 + i];
    }
}

/* In a LITE scope a loop leaves its tape when it runs again; so does a call that has to do with
   tapes itself (others are those of GRAD, see transpose_call). */
static bool leaves_tape(const Transposer *t, const IrInst *inst) {
    if (!has_linear(t->mixed, inst)) return false;
    if (inst->op == IR_LOOP) return plan_scope(t->plan, inst->regions[0])->tape;
    if (inst->op != IR_CALL || is_rule_call(t->mixed, inst)) return false;
    for (uint32_t i = 0; i < inst->noperands; i++)
        if (inst->operands[i]->type->kind == IR_T_TAPE) return true;
    for (uint32_t i = 0; i < inst->nresults; i++)
        if (inst->results[i]->type->kind == IR_T_TAPE) return true;
    return false;
}

/* What INST computes, where that was kept by index. */
static bool read_kept(Transposer *t, const IrInst *inst) {
    const IrRegion *region = inst->parent;
    bool all = inst->nresults > 0;
    for (uint32_t i = 0; i < inst->nresults; i++) {
        const IrValue *value = inst->results[i], *kept = ad_kept(t->mixed, value);
        IrValue *indices[IR_MAX_RANK];
        if (!bitset_has(&t->plan->again, value->id)) continue;
        all = all && kept;
        if (!kept) continue;
        for (uint32_t k = 0; k < region->nparams; k++) indices[k] = now_of(t, region->params[k]);
        t->now[value->id] = irb_index(&t->b, now_of(t, kept), region->nparams, indices);
    }
    return all;
}

void reverse_begin(Transposer *t, const Scope *scope) {
    bool is_lite = scope->kind == SCOPE_LITE;
    if (scope->kind == SCOPE_FULL) return;
    if (scope->kind == SCOPE_SPLIT) pop_saved(t, scope);
    for (const IrInst *inst = scope->region->first; inst; inst = inst->next) {
        Emit emit = {t->now, false, is_lite, inst};
        bool is_wanted = any_again(t, inst) && !read_kept(t, inst);
        if (is_wanted || (is_lite && leaves_tape(t, inst))) emit_inst(t, inst, &emit);
    }
}

static void transpose_region_op(Transposer *t, IrInst *inst) {
    switch ((int)inst->op) {
    case IR_IF: transpose_if(t, inst); break;
    case IR_LOOP: transpose_loop(t, inst); break;
    case IR_CALL: transpose_call(t, inst); break;
    case IR_BUILD:
    case IR_REDUCE: transpose_parallel(t, inst); break;
    default: transpose_with_acc(t, inst);
    }
}

static void transpose_inst(Transposer *t, IrInst *inst) {
    t->b.pos = inst->pos;
    switch ((int)inst->op) {
    case IR_IF:
    case IR_LOOP:
    case IR_CALL:
    case IR_BUILD:
    case IR_REDUCE:
    case IR_WITH_ACC:
        if (!transpose_guarded(t, inst, transpose_region_op)) transpose_region_op(t, inst);
        break;
    case IR_TAPE_PUSH:
        if (!transpose_guarded(t, inst, transpose_tape)) transpose_tape(t, inst);
        break;
    case IR_CONTRACT:
        if (!transpose_guarded(t, inst, transpose_array)) transpose_array(t, inst);
        break;
    case IR_TAPE_POP: transpose_tape(t, inst); break;
    case IR_RUNTIME: transpose_shared(t, inst); break;
    case IR_TAPE_NEW:
    case IR_CONST: break;
    case IR_NEG:
    case IR_ADD:
    case IR_SUB:
    case IR_MUL:
    case IR_DIV:
    case IR_SELECT:
    case IR_LANES:
    case IR_LANE:
    case IR_LANE_SUM:
    case IR_CAST: transpose_scalar(t, inst); break;
    default: transpose_array(t, inst);
    }
}

static bool is_zero_inst(const Transposer *t, const IrInst *inst) {
    for (uint32_t i = 0; i < inst->nresults; i++)
        if (!is_zero(t->mixed, inst->results[i])) return false;
    return inst->nresults > 0;
}

void reverse_region(Transposer *t, const IrRegion *region) {
    const IrRegion *outer = t->region;
    for (IrInst *inst = region->last; inst; inst = inst->prev) {
        if (inst->op == IR_YIELD || !has_linear(t->mixed, inst) || is_zero_inst(t, inst)) continue;
        t->region = region;
        transpose_inst(t, inst);
    }
    t->region = outer;
}
