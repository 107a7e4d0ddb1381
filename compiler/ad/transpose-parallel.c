/* Transposes of parallel regions.  A transposed region runs over the same index space, computes
   again what it needs, and gives nothing: what it contributes to values from outside goes into
   accumulators, which stand round it. */
#include "ad/internal.h"

#include "base/fatal.h"

typedef struct Targets {
    Transposer *t;
    VEC(IrValue *) linear, tapes;
    Bitset seen;
} Targets;

static void add_target(IrValue *value, void *data) {
    Targets *targets = data;
    if (is_zero(targets->t->mixed, value) || !bitset_add(&targets->seen, value->id)) return;
    if (value->type->kind == IR_T_TAPE) vec_push(&targets->tapes, value);
    else if (!ct_at(targets->t, value)->is_acc) vec_push(&targets->linear, value);
}

/* WHEN of an element of a masked array, read at the indices AT. */
static When masked(Transposer *t, When when, const Ct *array, uint32_t n, IrValue *const *at) {
    IrValue *counts = irb_index(&t->b, array->mask, n, at);
    if (when.zero != ZERO_MAY_BE_NOTHING) when.zero = array->masked;
    when.present = when.present ? irb_binary(&t->b, IR_AND, when.present, counts) : counts;
    return when;
}

/* The cotangents of what the body yields: an element of that of the result, or (REDUCE) the whole.
 */
static void seed_yields(Transposer *t, const IrInst *inst, const Ct *results, IrValue *const *at) {
    IrValue **yields = inst->regions[0]->last->operands;
    uint32_t n = (uint32_t)inst->imm;
    for (uint32_t i = 0; i < inst->nresults; i++) {
        IrValue *ct = results[i].value;
        When when = results[i].when;
        if (!ct || is_zero(t->mixed, yields[i])) continue;
        if (inst->op == IR_BUILD && n) {
            ct = irb_index(&t->b, ct, n, at);
            when = ct_element(ct, when);
            if (results[i].mask) when = masked(t, when, &results[i], n, at);
        }
        ct_add(t, yields[i], ct, when);
    }
}

/* The transpose of one iteration, that of the indices AT. */
static void reverse_iteration(Transposer *t, IrInst *inst, const Ct *results, IrValue *const *at) {
    const IrRegion *from = inst->regions[0], *around = t->region;
    IrValue *outer_tape = t->tape;
    for (uint32_t i = 0; i < from->nparams; i++) {
        at[i]->name = from->params[i]->name;
        t->now[from->params[i]->id] = at[i];
    }
    t->tape = NULL;
    reverse_begin(t, plan_scope(t->plan, from));
    t->region = from;
    seed_yields(t, inst, results, at);
    t->region = around;
    reverse_region(t, from);
    t->tape = outer_tape;
}

static IrInst *reverse_space(Transposer *t, IrInst *inst, const Ct *results) {
    uint32_t n = (uint32_t)inst->imm;
    IrValue **sizes = ARENA_ARRAY(t->ad->arena, IrValue *, n);
    for (uint32_t i = 0; i < n; i++) sizes[i] = now_of(t, inst->operands[i]);
    IrInst *build = irb_build(&t->b, n, sizes, 0, NULL, 0, NULL);
    IrBuilder outer = t->b;
    irb_at_end(&t->b, build->regions[0]);
    reverse_iteration(t, inst, results, build->regions[0]->params);
    irb_yield(&t->b, 0, NULL);
    t->b = outer;
    return build;
}

static void take_tapes(Transposer *t, const Targets *targets, IrValue **values) {
    for (uint32_t i = 0; i < targets->tapes.len; i++) values[i] = ct_value(t, targets->tapes.at[i]);
}

static void set_tapes(Transposer *t, const Targets *targets, IrValue *const *values) {
    for (uint32_t i = 0; i < targets->tapes.len; i++)
        *ct_at(t, targets->tapes.at[i]) = (Ct){.value = values[i]};
}

/* The same in order, for a region that pulls tapes from outside: their cotangents, which are sums
   of tapes, go from one iteration to the next.  AT: the indices of the first DEPTH dimensions. */
static void reverse_in_order(Transposer *t, IrInst *inst, const Ct *results, const Targets *targets,
                             uint32_t depth, IrValue **at) {
    uint32_t n = targets->tapes.len;
    IrValue **values = ARENA_ARRAY(t->ad->arena, IrValue *, n);
    if (depth == (uint32_t)inst->imm) {
        reverse_iteration(t, inst, results, at);
        return;
    }
    take_tapes(t, targets, values);
    IrInst *loop = irb_loop(&t->b, now_of(t, inst->operands[depth]), n, values, false);
    IrBuilder outer = t->b;
    irb_at_end(&t->b, loop->regions[0]);
    at[depth] = loop->regions[0]->params[0];
    set_tapes(t, targets, loop->regions[0]->params + 1);
    reverse_in_order(t, inst, results, targets, depth + 1, at);
    take_tapes(t, targets, values);
    irb_yield(&t->b, n, values);
    t->b = outer;
    set_tapes(t, targets, loop->results);
}

/* NULL: in order. */
static IrInst *reverse_all(Transposer *t, IrInst *inst, const Ct *results, const Targets *targets) {
    IrValue *at[IR_MAX_RANK];
    if (!targets->tapes.len) return reverse_space(t, inst, results);
    reverse_in_order(t, inst, results, targets, 0, at);
    return NULL;
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
    if (!added->branch || added->n != 1 || !build || !has_dear_maker(t, linear)) return NULL;
    const IrInst *branch = added->branch->owner;
    IrValue *counts = now_of(t, branch->operands[0]);
    IrBuilder b = {0};
    irb_before(&b, build->regions[0]->last);
    if (added->branch == branch->regions[1]) counts = irb_unary(&b, IR_NOT, counts);
    return ir_with_acc_give(with, ir_build_give(build, counts, 0, NULL));
}

/* The condition under which anything that the transpose of INST, a map that does not stand under it
   as a whole, adds counts. */
static When when_any(Transposer *t, const IrInst *inst, const Ct *results) {
    When any = {0};
    if (region_adds(t, inst->regions[0])) return any;
    for (uint32_t i = 0; i < inst->nresults; i++) {
        When when = results[i].when;
        if (!results[i].value) continue;
        if (!when.present || !when.soft) return (When){0};
        any = any.present ? ct_either(t, any, when) : when;
    }
    return (When){.present = any.present, .soft = any.present != NULL};
}

/* When VALUE counts, to which the transpose of a region ADDED what is known, and which counted OLD
   before it. */
static When given_by(Transposer *t, const Additions *added, When old, When any,
                     const IrValue *value, bool is_new) {
    bool is_scalar = value->type->kind == IR_T_SCALAR;
    When when = ct_given(value);
    if (added->are_sure && is_scalar) when.zero = added->zero;
    when.whole = added->are_sure && !is_scalar && added->zero == ZERO_IS_ZERO;
    if (!may_be_nothing(old)) when = (When){.whole = when.whole || old.whole};
    else if (any.present && is_new) when.present = any.present, when.soft = true;
    else if (any.present && old.present && !is_scalar) when = ct_either(t, old, any);
    return when;
}

/* What the tapes of cotangents have become, which iterations need not have pulled. */
static void give_tapes(Transposer *t, const Targets *targets, IrValue *const *values) {
    for (uint32_t i = 0; i < targets->tapes.len; i++) {
        *ct_at(t, targets->tapes.at[i]) = (Ct){0};
        ct_add_given(t, targets->tapes.at[i], values[i]);
    }
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
    When any = when_any(t, inst, results);
    ad_linear_captures(t->mixed, inst, add_target, &targets);
    uint32_t n = targets.linear.len, ntapes = targets.tapes.len;
    IrValue **tapes = ARENA_ARRAY(t->ad->arena, IrValue *, ntapes);
    IrType *types = ARENA_ARRAY(t->ad->arena, IrType, ntapes);
    for (uint32_t i = 0; i < ntapes; i++) types[i] = ir_tape(t->b.module);
    if (n == 0) {
        reverse_all(t, inst, results, &targets);
        take_tapes(t, &targets, tapes);
        give_tapes(t, &targets, tapes);
    } else {
        IrValue **inits = ARENA_ARRAY(t->ad->arena, IrValue *, n);
        bool *is_new = ARENA_ARRAY(t->ad->arena, bool, n);
        When *old = ARENA_ARRAY(t->ad->arena, When, n);
        Additions *added = ARENA_ARRAY(t->ad->arena, Additions, n);
        for (uint32_t i = 0; i < n; i++) {
            Ct *ct = ct_at(t, targets.linear.at[i]);
            is_new[i] = !ct->value;
            old[i] = ct->value ? ct->when : (When){.zero = ZERO_MAY_BE_NOTHING};
            added[i] = (Additions){.inst = inst, .guards = t->guards};
            inits[i] = ct_value(t, targets.linear.at[i]);
        }
        IrInst *with = irb_with_acc(&t->b, n, inits, ntapes, types);
        IrBuilder outer = t->b;
        irb_at_end(&t->b, with->regions[0]);
        for (uint32_t i = 0; i < n; i++)
            *ct_at(t, targets.linear.at[i]) =
                (Ct){.value = with->regions[0]->params[i], .is_acc = true, .additions = &added[i]};
        IrInst *build = reverse_all(t, inst, results, &targets);
        take_tapes(t, &targets, tapes);
        irb_yield(&t->b, ntapes, tapes);
        t->b = outer;
        give_tapes(t, &targets, with->results + n);
        for (uint32_t i = 0; i < n; i++) {
            const IrValue *linear = targets.linear.at[i];
            Ct *ct = ct_at(t, linear);
            *ct = (Ct){.value = with->results[i], .masked = added[i].zero};
            ct->when = given_by(t, &added[i], old[i], any, ct->value, is_new[i]);
            if (is_new[i]) ct->mask = mask_of(t, &added[i], linear, build, with);
        }
    }
    vec_free(&targets.linear);
    vec_free(&targets.tapes);
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
        *ct_at(t, from->params[i]) = final;
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
