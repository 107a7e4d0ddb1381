/* Transposes of parallel regions.  A transposed region runs over the same index space, computes
   again what it needs, and gives nothing: what it contributes to values from outside goes into
   accumulators, which stand round it. */
#include "ad/internal.h"

#include "base/fatal.h"

typedef struct Targets {
    Transposer *t;
    VEC(IrValue *) linear;
    Bitset seen;
} Targets;

static void add_target(IrValue *value, void *data) {
    Targets *targets = data;
    if (is_zero(targets->t->mixed, value) || !bitset_add(&targets->seen, value->id)) return;
    if (value->type->kind == IR_T_TAPE)
        ad_report(
            targets->t->ad, DIAG_NOT_IMPLEMENTED, targets->t->b.pos,
            "a derivative through a tape that a parallel region pulls is not implemented yet");
    else if (!targets->t->ct[value->id].is_acc) vec_push(&targets->linear, value);
}

/* WHEN of an element of a masked array, read at the indices of BODY. */
static When masked(Transposer *t, When when, const Ct *array, const IrRegion *body) {
    IrValue *counts = irb_index(&t->b, array->mask, body->nparams, body->params);
    if (when.zero != ZERO_MAY_BE_NOTHING) when.zero = array->masked;
    when.present = when.present ? irb_binary(&t->b, IR_AND, when.present, counts) : counts;
    return when;
}

/* The cotangents of what the body yields: an element of that of the result, or (REDUCE) the whole.
 */
static void seed_yields(Transposer *t, const IrInst *inst, const Ct *results, IrRegion *body) {
    IrValue **yields = inst->regions[0]->last->operands;
    for (uint32_t i = 0; i < inst->nresults; i++) {
        IrValue *ct = results[i].value;
        When when = results[i].when;
        if (!ct || is_zero(t->mixed, yields[i])) continue;
        if (inst->op == IR_BUILD && body->nparams) {
            ct = irb_index(&t->b, ct, body->nparams, body->params);
            when = ct_element(ct, when);
            if (results[i].mask) when = masked(t, when, &results[i], body);
        }
        ct_add(t, yields[i], ct, when);
    }
}

static IrInst *reverse_space(Transposer *t, IrInst *inst, const Ct *results) {
    const IrRegion *from = inst->regions[0], *around = t->region;
    uint32_t n = (uint32_t)inst->imm;
    IrValue **sizes = ARENA_ARRAY(t->ad->arena, IrValue *, n);
    IrValue *outer_tape = t->tape;
    for (uint32_t i = 0; i < n; i++) sizes[i] = now_of(t, inst->operands[i]);
    IrInst *build = irb_build(&t->b, n, sizes, 0, NULL, 0, NULL);
    IrRegion *body = build->regions[0];
    IrBuilder outer = t->b;
    irb_at_end(&t->b, body);
    for (uint32_t i = 0; i < n; i++) {
        body->params[i]->name = from->params[i]->name;
        t->now[from->params[i]->id] = body->params[i];
    }
    t->tape = NULL;
    reverse_begin(t, plan_scope(t->plan, from));
    t->region = from;
    seed_yields(t, inst, results, body);
    t->region = around;
    reverse_region(t, from);
    irb_yield(&t->b, 0, NULL);
    t->b = outer;
    t->tape = outer_tape;
    return build;
}

/* Does the transpose of what made LINEAR, a map, have loops, so that it pays to know which of its
   elements count? */
static bool has_dear_maker(const Transposer *t, const IrValue *linear) {
    const IrInst *def = linear->def;
    if (!def || def->op != IR_BUILD || linear->type->rank != (uint32_t)def->imm) return false;
    for (const IrInst *inst = def->regions[0]->first; inst; inst = inst->next)
        if (has_linear(t->mixed, inst) && (inst->nregions || inst->op == IR_CALL)) return true;
    return false;
}

/* Where the only addition to the cotangent of LINEAR stands in a branch, the array of the branch's
   conditions, given by BUILD and by WITH round it: the others are absent. */
static IrValue *mask_of(Transposer *t, const Additions *added, const IrValue *linear, IrInst *build,
                        IrInst *with) {
    if (!added->branch || added->n != 1 || !has_dear_maker(t, linear)) return NULL;
    const IrInst *branch = added->branch->owner;
    IrValue *counts = now_of(t, branch->operands[0]);
    IrBuilder b = {0};
    irb_before(&b, build->regions[0]->last);
    if (added->branch == branch->regions[1]) counts = irb_unary(&b, IR_NOT, counts);
    return ir_with_acc_give(with, ir_build_give(build, counts, 0, NULL));
}

/* When VALUE counts, to which the transpose of a region ADDED what is known, and which counted OLD
   before it. */
static When given_by(const Additions *added, When old, const IrValue *value) {
    bool is_scalar = value->type->kind == IR_T_SCALAR;
    When when = ct_given(value);
    if (added->are_sure && is_scalar) when.zero = added->zero;
    when.whole = added->are_sure && !is_scalar && added->zero == ZERO_IS_ZERO;
    if (!may_be_nothing(old)) when = (When){.whole = when.whole || old.whole};
    return when;
}

void transpose_parallel(Transposer *t, IrInst *inst) {
    Targets targets = {.t = t};
    Ct *results = ARENA_ARRAY(t->ad->arena, Ct, inst->nresults);
    if (transpose_is_idle(t, inst)) return;
    for (uint32_t i = 0; i < inst->nresults; i++)
        if (is_linear(t->mixed, inst->results[i])) results[i] = ct_take(t, inst->results[i]);
    for (uint32_t i = 0; i < inst->nresults && inst->op == IR_REDUCE; i++)
        if (results[i].value)
            ct_add(t, inst->operands[(uint32_t)inst->imm + i], results[i].value, results[i].when);
    ad_linear_captures(t->mixed, inst, add_target, &targets);
    uint32_t n = targets.linear.len;
    if (n == 0) {
        reverse_space(t, inst, results);
    } else {
        IrValue **inits = ARENA_ARRAY(t->ad->arena, IrValue *, n);
        bool *is_new = ARENA_ARRAY(t->ad->arena, bool, n);
        When *old = ARENA_ARRAY(t->ad->arena, When, n);
        Additions *added = ARENA_ARRAY(t->ad->arena, Additions, n);
        for (uint32_t i = 0; i < n; i++) {
            Ct *ct = &t->ct[targets.linear.at[i]->id];
            is_new[i] = !ct->value;
            old[i] = ct->value ? ct->when : (When){.zero = ZERO_MAY_BE_NOTHING};
            added[i] = (Additions){.inst = inst, .guards = t->guards};
            inits[i] = ct_value(t, targets.linear.at[i]);
        }
        IrInst *with = irb_with_acc(&t->b, n, inits, 0, NULL);
        IrBuilder outer = t->b;
        irb_at_end(&t->b, with->regions[0]);
        for (uint32_t i = 0; i < n; i++)
            t->ct[targets.linear.at[i]->id] =
                (Ct){.value = with->regions[0]->params[i], .is_acc = true, .additions = &added[i]};
        IrInst *build = reverse_space(t, inst, results);
        irb_yield(&t->b, 0, NULL);
        t->b = outer;
        for (uint32_t i = 0; i < n; i++) {
            const IrValue *linear = targets.linear.at[i];
            Ct *ct = &t->ct[linear->id];
            *ct = (Ct){.value = with->results[i], .masked = added[i].zero};
            ct->when = given_by(&added[i], old[i], ct->value);
            if (is_new[i]) ct->mask = mask_of(t, &added[i], linear, build, with);
        }
    }
    vec_free(&targets.linear);
    bitset_free(&targets.seen);
}

/* The region ran once: its transpose stands in line, with the finals' cotangents to be read. */
void transpose_with_acc(Transposer *t, IrInst *inst) {
    const IrRegion *from = inst->regions[0];
    uint32_t n = inst->noperands;
    IrValue *outer_tape = t->tape;
    for (uint32_t i = 0; i < n; i++) {
        if (!is_linear(t->mixed, inst->operands[i])) continue;
        Ct final = ct_take(t, inst->results[i]);
        t->ct[from->params[i]->id] = final;
        ct_add(t, inst->operands[i], final.value, final.when);
    }
    t->tape = NULL;
    reverse_begin(t, plan_scope(t->plan, from));
    for (uint32_t i = n; i < inst->nresults; i++) {
        if (!is_linear(t->mixed, inst->results[i])) continue;
        Ct ct = ct_take(t, inst->results[i]);
        ct_add(t, from->last->operands[i - n], ct.value, ct.when);
    }
    reverse_region(t, from);
    t->tape = outer_tape;
}
