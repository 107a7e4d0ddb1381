/* Transposes of branches, loops and calls.  The cotangents of values that come from outside of a
   region are threaded through it: a branch yields them, a loop carries them. */
#include "ad/threads.h"

#include "base/fatal.h"

static void add_thread(IrValue *value, void *data) {
    Threads *threads = data;
    if (is_zero(threads->t->mixed, value) || !bitset_add(&threads->seen, value->id)) return;
    if (ct_at(threads->t, value)->is_acc) threads->adds = true;
    else vec_push(&threads->linear, value);
}

static void find_threads(Transposer *t, const IrInst *inst, Threads *threads) {
    *threads = (Threads){.t = t};
    ad_linear_captures(t->mixed, inst, add_thread, threads);
}

void threads_free(Threads *threads) {
    vec_free(&threads->linear);
    bitset_free(&threads->seen);
}

static bool any_ct(const Transposer *t, const IrInst *inst) {
    for (uint32_t i = 0; i < inst->nresults; i++)
        if (is_linear(t->mixed, inst->results[i]) && ct_at(t, inst->results[i])->value) return true;
    return false;
}

bool region_adds(const Transposer *t, const IrRegion *region) {
    for (const IrInst *inst = region->first; inst; inst = inst->next) {
        if (inst->op == IR_ACC_ADD && ct_at(t, inst->operands[0])->value) return true;
        for (uint32_t r = 0; r < inst->nregions; r++)
            if (region_adds(t, inst->regions[r])) return true;
    }
    return false;
}

/* Does CALL take from a tape of tangents? */
static bool call_pops(const Transposer *t, const IrInst *call) {
    bool takes = false, gives = false;
    for (uint32_t i = 0; i < call->noperands; i++)
        takes |=
            call->operands[i]->type->kind == IR_T_TAPE && is_linear(t->mixed, call->operands[i]);
    for (uint32_t i = 0; i < call->nresults; i++)
        gives |= call->results[i]->type->kind == IR_T_TAPE;
    return takes && !gives;
}

/* Does REGION pop from a tape of tangents?  Its reverse pushes then, zeros if nothing else: what
   pushed there pops as much. */
static bool region_pops(const Transposer *t, const IrRegion *region) {
    for (const IrInst *inst = region->first; inst; inst = inst->next) {
        if (inst->op == IR_TAPE_POP && is_linear(t->mixed, inst->operands[0])) return true;
        if (inst->op == IR_CALL && call_pops(t, inst)) return true;
        for (uint32_t r = 0; r < inst->nregions; r++)
            if (region_pops(t, inst->regions[r])) return true;
    }
    return false;
}

bool transpose_is_idle(const Transposer *t, const IrInst *inst) {
    if (any_ct(t, inst)) return false;
    for (uint32_t r = 0; r < inst->nregions; r++)
        if (region_pops(t, inst->regions[r])) return false;
    for (uint32_t r = 0; r < inst->nregions; r++)
        if (region_adds(t, inst->regions[r])) return false;
    return true;
}

/* Does INST take its residuals from a tape?  Which one it starts with. */
static bool is_taped(const Transposer *t, const IrInst *inst) {
    for (uint32_t r = 0; r < inst->nregions; r++)
        if (plan_scope(t->plan, inst->regions[r])->tape) return true;
    return inst->op == IR_CALL && !is_rule_call(t->mixed, inst);
}

static IrValue *tape_of(const Transposer *t, const IrInst *inst) {
    IrValue *own = map_getp(&t->tapes, inst);
    return t->tape ? t->tape : own;
}

void threads_set(Transposer *t, const Threads *threads, IrValue *const *values) {
    for (uint32_t i = 0; i < threads->linear.len; i++)
        *ct_at(t, threads->linear.at[i]) = (Ct){.value = values[i]};
}

/* The same behind a region, which need not have added to them. */
static void threads_given(Transposer *t, const Threads *threads, IrValue *const *values) {
    for (uint32_t i = 0; i < threads->linear.len; i++) {
        *ct_at(t, threads->linear.at[i]) = (Ct){0};
        ct_add_given(t, threads->linear.at[i], values[i]);
    }
}

/* ---- what stands on a side that was not taken ---- */

static bool is_guarded(const Transposer *t, const IrInst *inst) {
    bool any = false;
    for (uint32_t i = 0; i < inst->nresults; i++) {
        if (!is_linear(t->mixed, inst->results[i])) continue;
        Ct ct = *ct_at(t, inst->results[i]);
        if (ct.value && !ct.when.present) return false;
        if (ct.value && ct.when.soft && inst->op == IR_BUILD) return false;
        any |= ct.value != NULL;
    }
    for (uint32_t r = 0; r < inst->nregions; r++)
        if (region_adds(t, inst->regions[r])) return false;
    return any;
}

/* The condition under which any of the results counts, which is taken off them; but a tape keeps
   its own, if that is another. */
static IrValue *take_present(Transposer *t, const IrInst *inst) {
    When any = {0};
    for (uint32_t i = 0; i < inst->nresults; i++) {
        const Ct *ct = ct_at(t, inst->results[i]);
        if (!is_linear(t->mixed, inst->results[i]) || !ct->value) continue;
        any = any.present ? ct_either(t, any, ct->when) : ct->when;
    }
    for (uint32_t i = 0; i < inst->nresults; i++) {
        Ct *ct = ct_at(t, inst->results[i]);
        if (!is_linear(t->mixed, inst->results[i]) || !ct->value) continue;
        bool own = ct->value->type->kind == IR_T_TAPE && ct->when.present != any.present;
        if (!own) ct->when.present = NULL;
    }
    return any.present;
}

/* Is the cotangent of LINEAR a tape that need not be there, where this region ends? */
static bool is_unsure(const Transposer *t, const IrValue *linear) {
    Ct ct = *ct_at(t, linear);
    return ct.value && ct.value->type->kind == IR_T_TAPE && ct.when.present;
}

static void yield_threads(Transposer *t, const Threads *threads, bool *unsure) {
    uint32_t n = threads->linear.len;
    IrValue **values = ARENA_ARRAY(t->ad->arena, IrValue *, n);
    for (uint32_t i = 0; i < n; i++) {
        unsure[i] |= is_unsure(t, threads->linear.at[i]);
        values[i] = ct_value(t, threads->linear.at[i]);
    }
    irb_yield(&t->b, n, values);
}

static bool any_tape(const Threads *threads) {
    for (uint32_t i = 0; i < threads->linear.len; i++)
        if (threads->linear.at[i]->type->kind == IR_T_TAPE) return true;
    return false;
}

/* Does INST give a tape whose cotangents there may not be, so that they must not be popped? */
static bool gives_tape(const Transposer *t, const IrInst *inst) {
    for (uint32_t i = 0; i < inst->nresults; i++)
        if (inst->results[i]->type->kind == IR_T_TAPE && ct_at(t, inst->results[i])->value)
            return true;
    return false;
}

/* A tape is to be walked to its end, whether what it holds counts or not. */
static bool must_run(const Transposer *t, const IrInst *inst, const Threads *threads) {
    if (gives_tape(t, inst)) return false;
    return (is_taped(t, inst) && tape_of(t, inst)) || any_tape(threads);
}

/* What other invocations see has no older value to choose. */
static bool any_shared(const Transposer *t, const Threads *threads) {
    for (uint32_t i = 0; i < threads->linear.len; i++)
        if (ct_is_shared(t, threads->linear.at[i])) return true;
    return false;
}

/* PRESENT ? what TRANSPOSE gives : what was there.  An instruction without a tape is put into the
   branch; one with a tape has to run, since tapes are to be walked to their end, and its outcome
   is chosen. */
static void guard(Transposer *t, IrInst *inst, IrValue *present, const Threads *threads,
                  void (*transpose)(Transposer *, IrInst *), bool *unsure) {
    uint32_t n = threads->linear.len;
    bool run = must_run(t, inst, threads);
    IrValue **start = ARENA_ARRAY(t->ad->arena, IrValue *, n);
    IrValue **done = ARENA_ARRAY(t->ad->arena, IrValue *, n);
    IrType *types = ARENA_ARRAY(t->ad->arena, IrType, n);
    for (uint32_t i = 0; i < n; i++) {
        types[i] = threads->linear.at[i]->type;
        start[i] = ct_at(t, threads->linear.at[i])->value;
        ct_at(t, threads->linear.at[i])->when = (When){0};
    }
    t->guards++;
    if (run) {
        transpose(t, inst);
        for (uint32_t i = 0; i < n; i++) {
            unsure[i] |= is_unsure(t, threads->linear.at[i]);
            done[i] = ct_value(t, threads->linear.at[i]);
        }
        for (uint32_t i = 0; i < n; i++)
            if (done[i]->type->kind == IR_T_TAPE) start[i] = done[i];
    }
    IrInst *copy = irb_if(&t->b, present, n, types);
    IrBuilder outer = t->b;
    for (uint32_t r = 0; r < 2; r++) {
        irb_at_end(&t->b, copy->regions[r]);
        threads_set(t, threads, r == 0 && run ? done : start);
        if (r == 0 && !run) transpose(t, inst);
        yield_threads(t, threads, unsure);
    }
    t->b = outer;
    t->guards--;
    threads_given(t, threads, copy->results);
}

bool transpose_guarded(Transposer *t, IrInst *inst, void (*transpose)(Transposer *, IrInst *)) {
    Threads threads;
    if (!is_guarded(t, inst)) return false;
    /* A tape of residuals has to be walked; what walks it hands the condition on to what it holds.
     */
    bool tapes = gives_tape(t, inst);
    if (tapes && t->tape && is_taped(t, inst)) return false;
    find_threads(t, inst, &threads);
    for (uint32_t i = 0; i < inst->noperands; i++)
        if (is_linear(t->mixed, inst->operands[i])) add_thread(inst->operands[i], &threads);
    if (any_shared(t, &threads) && must_run(t, inst, &threads)) {
        threads_free(&threads);
        return false;
    }
    uint32_t n = threads.linear.len;
    bool *is_new = ARENA_ARRAY(t->ad->arena, bool, n);
    When *old = ARENA_ARRAY(t->ad->arena, When, n);
    for (uint32_t i = 0; i < n; i++) {
        is_new[i] = !ct_at(t, threads.linear.at[i])->value;
        old[i] = ct_at(t, threads.linear.at[i])->when;
    }
    bool *unsure = ARENA_ARRAY(t->ad->arena, bool, n);
    IrValue *present = take_present(t, inst);
    guard(t, inst, present, &threads, transpose, unsure);
    for (uint32_t i = 0; i < n; i++) {
        Ct *ct = ct_at(t, threads.linear.at[i]);
        bool is_array = threads.linear.at[i]->type->kind == IR_T_ARRAY;
        if (!unsure[i] && is_new[i] && (tapes || threads.linear.at[i]->type->kind != IR_T_TAPE))
            ct->when.present = present;
        else if (is_array && !is_new[i] && old[i].present)
            ct->when = ct_either(t, old[i], (When){.present = present});
    }
    threads_free(&threads);
    return true;
}

/* ---- branches ---- */

static bool region_uses(const IrRegion *region, const IrValue *value) {
    for (const IrInst *inst = region->first; inst; inst = inst->next) {
        for (uint32_t i = 0; i < inst->noperands; i++)
            if (inst->operands[i] == value) return true;
        for (uint32_t r = 0; r < inst->nregions; r++)
            if (region_uses(inst->regions[r], value)) return true;
    }
    return false;
}

/* ABSENT: which linear values the branch has nothing to do with; UNSURE: see is_unsure. */
static void reverse_branch(Transposer *t, IrInst *inst, uint32_t r, IrRegion *region,
                           const Ct *results, const Threads *threads, bool taped, bool *absent,
                           bool *unsure) {
    const IrRegion *from = inst->regions[r], *around = t->region;
    IrValue **values = ARENA_ARRAY(t->ad->arena, IrValue *, threads->linear.len + 1);
    IrBuilder outer = t->b;
    uint32_t n = 0;
    irb_at_end(&t->b, region);
    reverse_begin(t, plan_scope(t->plan, from));
    t->region = from;
    for (uint32_t i = 0; i < inst->nresults; i++)
        if (is_linear(t->mixed, inst->results[i]))
            ct_add(t, from->last->operands[i], results[i].value, results[i].when);
    t->region = around;
    reverse_region(t, from);
    for (uint32_t i = 0; i < threads->linear.len; i++) {
        IrValue *linear = threads->linear.at[i];
        absent[i] = !region_uses(from, linear);
        unsure[i] |= is_unsure(t, linear);
        values[n++] = ct_value(t, threads->linear.at[i]);
    }
    if (taped) values[n++] = t->tape;
    irb_yield(&t->b, n, values);
    t->b = outer;
}

/* A cotangent to which only one branch contributes counts only if that branch ran; so does a tape
   of cotangents that only one branch walks. */
static void mark_absent(Transposer *t, const Threads *threads, IrValue *c, const Ct *entry,
                        bool *const absent[2], const bool *unsure) {
    for (uint32_t i = 0; i < threads->linear.len; i++) {
        Ct *ct = ct_at(t, threads->linear.at[i]);
        IrValue *old = entry[i].when.present;
        bool is_array = threads->linear.at[i]->type->kind == IR_T_ARRAY;
        if (unsure[i] || (entry[i].value && !(old && is_array))) continue;
        if (absent[0][i]) ct->when.present = irb_unary(&t->b, IR_NOT, c);
        else if (absent[1][i]) ct->when.present = c;
        if (entry[i].value && ct->when.present)
            ct->when.present = irb_binary(&t->b, IR_OR, old, ct->when.present);
    }
}

void transpose_if(Transposer *t, IrInst *inst) {
    bool taped = is_taped(t, inst);
    IrValue *outer = t->tape, *start = taped ? tape_of(t, inst) : NULL;
    if (transpose_is_idle(t, inst) && !(taped && outer)) return;
    Threads threads;
    find_threads(t, inst, &threads);
    uint32_t n = threads.linear.len;
    Ct *results = ARENA_ARRAY(t->ad->arena, Ct, inst->nresults);
    Ct *entry = ARENA_ARRAY(t->ad->arena, Ct, n);
    IrType *types = ARENA_ARRAY(t->ad->arena, IrType, n + 1);
    IrValue *c = now_of(t, inst->operands[0]);
    bool *absent[2], *unsure = ARENA_ARRAY(t->ad->arena, bool, n);
    for (uint32_t i = 0; i < inst->nresults; i++)
        if (is_linear(t->mixed, inst->results[i])) results[i] = ct_take(t, inst->results[i]);
    for (uint32_t i = 0; i < n; i++) {
        types[i] = threads.linear.at[i]->type;
        entry[i] = ct_take(t, threads.linear.at[i]);
    }
    types[n] = ir_tape(t->b.module);
    IrInst *copy = irb_if(&t->b, c, n + taped, types);
    for (uint32_t r = 0; r < 2; r++) {
        absent[r] = ARENA_ARRAY(t->ad->arena, bool, n);
        for (uint32_t i = 0; i < n; i++)
            *ct_at(t, threads.linear.at[i]) = (Ct){.value = entry[i].value};
        t->tape = start;
        reverse_branch(t, inst, r, copy->regions[r], results, &threads, taped, absent[r], unsure);
    }
    threads_given(t, &threads, copy->results);
    mark_absent(t, &threads, c, entry, absent, unsure);
    t->tape = outer && taped ? copy->results[n] : outer;
    threads_free(&threads);
}

/* ---- loops ---- */

/* Arrays: of a number it is known by its value whether it may stand for nothing. */
static void find_flags(Transposer *t, Carried *c) {
    uint32_t n = c->threads.linear.len;
    c->flagged = ARENA_ARRAY(t->ad->arena, uint32_t, n);
    c->flags = ARENA_ARRAY(t->ad->arena, IrValue *, n);
    c->always = ARENA_ARRAY(t->ad->arena, bool, n);
    for (uint32_t i = 0; i < n; i++) {
        const Ct *ct = ct_at(t, c->threads.linear.at[i]);
        bool is_array = c->threads.linear.at[i]->type->kind == IR_T_ARRAY;
        if (!is_array || (ct->value && !ct->when.present)) continue;
        c->flags[c->nflags] = ct->value ? ct->when.present : irb_bool(&t->b, false);
        c->flagged[c->nflags++] = i;
    }
}

Carried carried_find(Transposer *t, const IrInst *inst) {
    Carried c = {.at = ARENA_ARRAY(t->ad->arena, uint32_t, inst->nresults),
                 .unsure = ARENA_ARRAY(t->ad->arena, bool, inst->nresults)};
    bool any_sure = false;
    for (uint32_t i = 0; i < inst->nresults; i++) {
        if (!is_linear(t->mixed, inst->results[i])) continue;
        bool tape = inst->results[i]->type->kind == IR_T_TAPE;
        Ct ct = *ct_at(t, inst->results[i]);
        c.unsure[c.n] = tape && (!ct.value || ct.when.present);
        c.at[c.n++] = i;
        if (ct.when.present || ct.when.zero == ZERO_MAY_BE_NOTHING) c.may_lack = true;
        else if (ct.value && !tape) any_sure = true;
    }
    c.may_lack |= !any_sure;
    find_threads(t, inst, &c.threads);
    find_flags(t, &c);
    c.taped = is_taped(t, inst);
    return c;
}

uint32_t carried_count(const Carried *c) {
    return c->n + c->threads.linear.len + c->nflags;
}

uint32_t carried_inits(Transposer *t, const IrInst *inst, const Carried *c, IrValue **inits) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->n; i++) inits[n++] = ct_value(t, inst->results[c->at[i]]);
    for (uint32_t i = 0; i < c->threads.linear.len; i++)
        inits[n++] = ct_value(t, c->threads.linear.at[i]);
    for (uint32_t k = 0; k < c->nflags; k++) inits[n++] = c->flags[k];
    return n;
}

/* Sizes may change from trip to trip where the type of the original says so. */
static void set_type(IrInst *loop, uint32_t i, IrType type) {
    loop->results[i]->type = type;
    loop->regions[0]->params[1 + i]->type = type;
}

void carried_types(const IrInst *inst, const Carried *c, IrInst *loop) {
    for (uint32_t i = 0; i < c->n; i++)
        set_type(loop, i, inst->regions[0]->params[1 + c->at[i]]->type);
    for (uint32_t i = 0; i < c->threads.linear.len; i++)
        set_type(loop, c->n + i, c->threads.linear.at[i]->type);
}

static When *flagged_when(Transposer *t, const Carried *c, uint32_t k) {
    return &ct_at(t, c->threads.linear.at[c->flagged[k]])->when;
}

uint32_t carried_trip(Transposer *t, const IrInst *inst, const Carried *c, IrValue *const *params,
                      IrValue **next) {
    const IrRegion *from = inst->regions[0], *around = t->region;
    uint32_t n = 0, exit = inst->flags & IR_LOOP_EXIT ? 1 : 0;
    threads_set(t, &c->threads, params + c->n);
    for (uint32_t k = 0; k < c->nflags; k++)
        flagged_when(t, c, k)->present = params[carried_count(c) - c->nflags + k];
    t->region = from;
    for (uint32_t i = 0; i < c->n; i++)
        ct_add(t, from->last->operands[c->at[i] + exit], params[i],
               c->unsure[i]  ? (When){.present = ct_tape_present(t, params[i])}
               : c->may_lack ? ct_given(params[i])
                             : ct_element(params[i], (When){0}));
    t->region = around;
    reverse_region(t, from);
    for (uint32_t k = 0; k < c->nflags; k++) {
        IrValue *present = flagged_when(t, c, k)->present;
        c->always[k] = !present;
        next[carried_count(c) - c->nflags + k] = present ? present : irb_bool(&t->b, true);
    }
    for (uint32_t i = 0; i < c->n; i++) next[n++] = ct_value(t, from->params[1 + c->at[i]]);
    for (uint32_t i = 0; i < c->threads.linear.len; i++)
        next[n++] = ct_value(t, c->threads.linear.at[i]);
    return n + c->nflags;
}

/* Was there a trip of LOOP, or was OLD?  NULL: certainly. */
static IrValue *any_trip(Transposer *t, const IrInst *loop, IrValue *old) {
    int64_t trips;
    bool is_none = old->def && old->def->op == IR_CONST && !old->def->imm;
    if (ir_const_int(loop->operands[0], &trips) && trips > 0) return NULL;
    IrValue *any = irb_binary(&t->b, IR_GT, loop->operands[0], irb_int(&t->b, 0));
    return is_none ? any : irb_binary(&t->b, IR_OR, old, any);
}

void carried_finish(Transposer *t, const IrInst *inst, const Carried *c, const IrInst *loop) {
    threads_given(t, &c->threads, loop->results + c->n);
    for (uint32_t k = 0; k < c->nflags; k++) {
        IrValue *present = loop->results[carried_count(c) - c->nflags + k];
        if (c->always[k]) present = any_trip(t, loop, c->flags[k]);
        *flagged_when(t, c, k) = (When){.present = present, .soft = present != NULL};
    }
    for (uint32_t i = 0; i < c->n; i++)
        ct_add_given(t, inst->operands[1 + c->at[i]], loop->results[i]);
}

static void reverse_loop_body(Transposer *t, IrInst *inst, const Carried *c, IrInst *loop,
                              IrValue *trips) {
    const IrRegion *from = inst->regions[0];
    IrRegion *body = loop->regions[0];
    IrValue **next = ARENA_ARRAY(t->ad->arena, IrValue *, loop->nresults);
    IrBuilder outer = t->b;
    irb_at_end(&t->b, body);
    IrValue *last = irb_binary(&t->b, IR_SUB, trips, irb_int(&t->b, 1));
    t->now[from->params[0]->id] = irb_binary(&t->b, IR_SUB, last, body->params[0]);
    if (c->taped) t->tape = body->params[loop->nresults];
    reverse_begin(t, plan_scope(t->plan, from));
    uint32_t n = carried_trip(t, inst, c, body->params + 1, next);
    if (c->taped) next[n++] = t->tape;
    irb_yield(&t->b, n, next);
    t->b = outer;
}

void transpose_loop(Transposer *t, IrInst *inst) {
    IrValue *outer = t->tape;
    if (transpose_is_idle(t, inst) && !(is_taped(t, inst) && outer)) return;
    if (plan_scope(t->plan, inst->regions[0])->checkpoint) {
        transpose_checkpointed(t, inst);
        return;
    }
    Carried c = carried_find(t, inst);
    IrValue *count =
        inst->flags & IR_LOOP_EXIT ? inst->results[inst->nresults - 1] : inst->operands[0];
    IrValue *trips = now_of(t, count);
    IrValue **inits = ARENA_ARRAY(t->ad->arena, IrValue *, carried_count(&c) + 1);
    uint32_t n = carried_inits(t, inst, &c, inits);
    if (c.taped) inits[n++] = tape_of(t, inst);
    IrInst *loop = irb_loop(&t->b, trips, n, inits, false);
    loop->flags |= inst->flags & IR_LOOP_SCAN;
    carried_types(inst, &c, loop);
    reverse_loop_body(t, inst, &c, loop, trips);
    carried_finish(t, inst, &c, loop);
    t->tape = outer && c.taped ? loop->results[n - 1] : outer;
    threads_free(&c.threads);
}

/* ---- calls ---- */

/* The cotangents of the active results, behind FIRST operands that are there already. */
static uint32_t add_seeds(Transposer *t, const IrInst *inst, IrValue **operands, uint32_t n) {
    const MixedCall *info = map_getp(&t->mixed->calls, inst);
    for (uint32_t i = info->callee->nresults; i < inst->nresults; i++)
        operands[n++] = ct_value(t, inst->results[i]);
    return n;
}

/* Are the N cotangents zeros that may all stand for nothing?  NULL: they are not. */
static IrValue *are_nothing(Transposer *t, IrValue *const *linear, uint32_t n) {
    IrValue *none = NULL;
    for (uint32_t i = 0; i < n; i++) {
        Ct ct = *ct_at(t, linear[i]);
        if (!ct.value) continue;
        if (!may_be_nothing(ct.when) || ct.value->type->kind != IR_T_SCALAR) return NULL;
        IrValue *zero = irb_zero(&t->b, ct.value->type->scalar);
        IrValue *is_zero = irb_binary(&t->b, IR_EQ, ct.value, zero);
        none = none ? irb_binary(&t->b, IR_AND, none, is_zero) : is_zero;
    }
    return none;
}

/* VALUE, or 0 for its NaN where NONE of the seeds counts; for a value without lanes: in any
   lane. */
static IrValue *zero_if_nothing(Transposer *t, IrValue *value, IrValue *none) {
    uint32_t lanes = none ? ir_scalar_lanes(none->type->scalar) : 1;
    if (!none || value->type->kind != IR_T_SCALAR) return value;
    if (lanes > ir_scalar_lanes(value->type->scalar)) {
        IrValue *all = irb_lane(&t->b, none, irb_int(&t->b, 0));
        for (uint32_t k = 1; k < lanes; k++)
            all = irb_binary(&t->b, IR_AND, all, irb_lane(&t->b, none, irb_int(&t->b, k)));
        none = all;
    }
    return ad_zero_for_nan(&t->b, value, none);
}

/* Where nothing else needs its results, a call in a LITE scope is one of GRAD. */
static void transpose_call_again(Transposer *t, IrInst *inst, const MixedCall *info) {
    const IrFunc *callee = info->callee;
    uint32_t n = callee->nparams, given = inst->noperands - n;
    IrValue **operands = ARENA_ARRAY(t->ad->arena, IrValue *, n + inst->nresults);
    IrFunc *grad = ad_grad(t->ad, info->callee, info->in_active, info->out_active, t->options);
    for (uint32_t i = 0; i < n; i++) operands[i] = now_of(t, inst->operands[i]);
    IrValue *none =
        are_nothing(t, inst->results + callee->nresults, inst->nresults - callee->nresults);
    add_seeds(t, inst, operands, n);
    IrInst *call = irb_call(&t->b, grad, operands);
    for (uint32_t i = 0; i < given; i++) {
        IrValue *value = call->results[callee->nresults + i];
        ct_add_given(t, inst->operands[n + i], zero_if_nothing(t, value, none));
    }
}

void transpose_call(Transposer *t, IrInst *inst) {
    const MixedCall *info = map_getp(&t->mixed->calls, inst);
    IrValue *outer = t->tape, *tape = tape_of(t, inst);
    if (info->is_rule) {
        if (any_ct(t, inst)) transpose_rule(t, inst, info);
        return;
    }
    if (!outer && !any_ct(t, inst) && !call_pops(t, inst)) return;
    if (!tape) {
        transpose_call_again(t, inst, info);
        return;
    }
    const AdRequest *pair =
        ad_pair(t->ad, info->callee, info->in_active, info->out_active, t->options);
    IrValue **operands = ARENA_ARRAY(t->ad->arena, IrValue *, inst->nresults + 1);
    operands[0] = tape;
    add_seeds(t, inst, operands, 1);
    IrInst *call = irb_call(&t->b, pair->reverse, operands);
    for (uint32_t i = info->callee->nparams, at = 0; i < inst->noperands; i++)
        ct_add_given(t, inst->operands[i], call->results[at++]);
    if (outer) t->tape = call->results[call->nresults - 1];
}
