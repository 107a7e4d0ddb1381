/* GRAD, and FORWARD with REVERSE, from a mixed function: the frame of the two sweeps. */
#include "ad/internal.h"
#include "ir/shared.h"

typedef struct Frame {
    const AdRequest *request;
    Mixed *mixed;
    Transposer t;
} Frame;

static void begin(Frame *frame, Ad *ad, const AdRequest *request, Mixed *mixed, ScopeKind kind) {
    Transposer *t = &frame->t;
    *frame = (Frame){.request = request, .mixed = mixed};
    t->ad = ad;
    t->mixed = mixed;
    t->options = request->options;
    t->plan = ad_plan(ad, mixed, kind);
    ad_remark(ad, request, mixed, t->plan);
    uint32_t n = mixed->func->nvalues;
    t->forward = ARENA_ARRAY(ad->arena, IrValue *, n);
    t->now = ARENA_ARRAY(ad->arena, IrValue *, n);
    t->ct = ARENA_ARRAY(ad->arena, Ct, n);
    t->is_kernel = ir_is_kernel(request->base);
}

static void end(Frame *frame) {
    map_free(&frame->t.tapes);
    plan_free(frame->t.plan);
}

/* The whole forward sweep at the end of FUNC's body; its results are put into VALUES. */
static uint32_t forward_sweep(Frame *frame, IrFunc *func, IrValue **values) {
    Transposer *t = &frame->t;
    const IrFunc *base = frame->request->base;
    const IrRegion *body = frame->mixed->func->body;
    Emit emit = {t->forward, true, true, NULL};
    irb_at_end(&t->b, func->body);
    for (uint32_t i = 0; i < base->nparams; i++)
        t->forward[body->params[i]->id] = func->body->params[i];
    emit_region(t, body, &emit);
    for (uint32_t i = 0; i < base->nresults; i++)
        values[i] = emit_value(&emit, body->last->operands[i]);
    emit_pushes(t, plan_scope(t->plan, body), &emit);
    return base->nresults;
}

/* The whole reverse sweep from the seeds on; the cotangents of the active parameters are put into
   VALUES. */
static uint32_t reverse_sweep(Frame *frame, IrValue *const *seeds, IrValue **values) {
    Transposer *t = &frame->t;
    const IrFunc *base = frame->request->base, *mixed = frame->mixed->func;
    const IrInst *yield = mixed->body->last;
    uint32_t n = 0;
    reverse_begin(t, plan_scope(t->plan, mixed->body));
    for (uint32_t i = base->nresults; i < yield->noperands; i++) {
        IrValue *seed = seeds[i - base->nresults];
        When when = {0};
        /* What another function passes, or one of several, may stand for nothing. */
        if (frame->request->threaded) when = ct_given(seed);
        else if (yield->noperands > base->nresults + 1) when = ct_element(seed, when);
        if (seed->type->kind == IR_T_TAPE) when = (When){.present = ct_tape_present(t, seed)};
        ct_add(t, yield->operands[i], seed, when);
    }
    ct_open_shared(t, mixed->body);
    reverse_region(t, mixed->body);
    for (uint32_t i = base->nparams; i < mixed->nparams; i++)
        values[n++] = ct_value(t, mixed->body->params[i]);
    return n;
}

/* ---- on a device ---- */

/* The reverse sweep within accumulators of the cotangents of what is shared, so that each addition
   to them is told from a write. */
static uint32_t reverse_shared(Frame *frame, IrValue *const *seeds, IrValue **values) {
    Transposer *t = &frame->t;
    const IrFunc *base = frame->request->base, *mixed = frame->mixed->func;
    uint32_t n = mixed->nparams - base->nparams, nshared = 0, nown = 0;
    IrValue *const *params = mixed->body->params + base->nparams;
    IrValue **inits = ARENA_ARRAY(t->ad->arena, IrValue *, n);
    IrType *types = ARENA_ARRAY(t->ad->arena, IrType, n);
    bool *shared = ARENA_ARRAY(t->ad->arena, bool, n);
    Bitset changed = {0};
    ir_shared_changes(mixed, &changed);
    const IrInst *yield = mixed->body->last;
    for (uint32_t i = 0; i < yield->noperands; i++) bitset_add(&changed, yield->operands[i]->id);
    for (uint32_t i = 0; i < n; i++) {
        shared[i] = params[i]->type->kind == IR_T_ARRAY && !bitset_has(&changed, params[i]->id);
        if (shared[i]) inits[nshared++] = zeros_of(t, params[i]);
        else types[nown++] = params[i]->type;
    }
    bitset_free(&changed);
    IrInst *with = irb_with_acc(&t->b, nshared, inits, nown, types);
    IrBuilder outer = t->b;
    irb_at_end(&t->b, with->regions[0]);
    Additions *added = ARENA_ARRAY(t->ad->arena, Additions, n);
    for (uint32_t i = 0, k = 0; i < n; i++) {
        if (!shared[i]) continue;
        added[i] = (Additions){.inst = mixed->body->last, .guards = t->guards, .n = 1};
        *ct_at(t, params[i]) =
            (Ct){.value = with->regions[0]->params[k++], .is_acc = true, .additions = &added[i]};
    }
    IrValue **own = ARENA_ARRAY(t->ad->arena, IrValue *, n);
    reverse_sweep(frame, seeds, values);
    for (uint32_t i = 0, k = 0; i < n; i++)
        if (!shared[i]) own[k++] = values[i];
    irb_yield(&t->b, nown, own);
    t->b = outer;
    for (uint32_t i = 0, k = 0; i < n; i++)
        values[i] = with->results[shared[i] ? i - k : nshared + k], k += !shared[i];
    return n;
}

/* ---- functions ---- */

void ad_make_grad(Ad *ad, const AdRequest *request, Mixed *mixed) {
    Frame frame;
    Transposer *t = &frame.t;
    const IrFunc *base = request->base;
    IrFunc *func = request->func;
    IrValue **values = ARENA_ARRAY(ad->arena, IrValue *, base->nresults + base->nparams);
    begin(&frame, ad, request, mixed, SCOPE_FULL);
    if (!ad->failed) {
        uint32_t n = forward_sweep(&frame, func, values);
        for (uint32_t i = 0; i < mixed->func->nvalues; i++) t->now[i] = t->forward[i];
        IrValue *const *seeds = func->body->params + base->nparams;
        if (t->is_kernel) func->flags |= IR_FUNC_INLINE;
        n += t->is_kernel ? reverse_shared(&frame, seeds, values + n)
                          : reverse_sweep(&frame, seeds, values + n);
        irb_yield(&t->b, n, values);
    }
    end(&frame);
}

void ad_make_pair(Ad *ad, const AdRequest *request, Mixed *mixed) {
    Frame frame;
    Transposer *t = &frame.t;
    const IrFunc *base = request->base;
    IrFunc *func = request->func, *reverse = request->reverse;
    IrValue **values = ARENA_ARRAY(ad->arena, IrValue *, base->nresults + base->nparams + 1);
    begin(&frame, ad, request, mixed, SCOPE_SPLIT);
    if (!ad->failed && ir_option_lanes(request->options) == 1) {
        irb_at_end(&t->b, func->body);
        t->tape = request->threaded ? func->body->params[base->nparams] : irb_tape_new(&t->b);
        uint32_t n = forward_sweep(&frame, func, values);
        values[n++] = t->tape;
        irb_yield(&t->b, n, values);
    }
    if (!ad->failed) {
        irb_at_end(&t->b, reverse->body);
        t->tape = reverse->body->params[0];
        uint32_t n = reverse_sweep(&frame, reverse->body->params + 1, values);
        if (request->threaded) values[n++] = t->tape;
        irb_yield(&t->b, n, values);
    }
    end(&frame);
}
