/* Batches of batches.  A function that has values with lanes, as one that is made of batched
   derivatives has, is differentiated in one lane at a time; a request with lanes calls that
   derivative for each of its lanes.  There are no lanes of lanes. */
#include "ad/internal.h"

static void look_for_lanes(IrInst *inst, void *data) {
    bool *any = data;
    for (uint32_t i = 0; i < inst->nresults; i++)
        *any |= ir_scalar_lanes(inst->results[i]->type->scalar) > 1;
}

bool ad_needs_apart(const AdRequest *request) {
    const IrFunc *base = request->base;
    bool any = false;
    if (ir_option_lanes(request->options) == 1 || !base->body || base->rule) return false;
    ir_walk(base->body, look_for_lanes, &any);
    return any;
}

/* The values from FIRST on, in lane K. */
static void in_lane(IrBuilder *b, IrValue *const *values, uint32_t first, uint32_t n, uint32_t k,
                    IrValue **out) {
    IrValue *lane = irb_int(b, k);
    for (uint32_t i = first; i < n; i++)
        out[i] = values[i]->type->kind == IR_T_TAPE ? values[i] : irb_lane(b, values[i], lane);
}

/* Result I of the calls for all lanes, which a tape has not. */
static IrValue *of_all(IrBuilder *b, IrInst *const *calls, uint32_t lanes, uint32_t i) {
    IrValue *all[IR_MAX_LANES];
    if (calls[0]->results[i]->type->kind == IR_T_TAPE) return calls[0]->results[i];
    for (uint32_t k = 0; k < lanes; k++) all[k] = calls[k]->results[i];
    return irb_lanes(b, lanes, all);
}

static void report_tapes(Ad *ad, const AdRequest *request) {
    const IrFunc *base = request->base;
    bool any = false;
    for (uint32_t i = 0; i < base->nparams; i++)
        any |= request->in_active[i] && base->params[i]->kind == IR_T_TAPE;
    for (uint32_t i = 0; i < base->nresults; i++)
        any |= request->out_active[i] && base->results[i]->kind == IR_T_TAPE;
    if (any)
        ad_report(ad, DIAG_NOT_IMPLEMENTED, base->pos,
                  "a batch of derivatives through a tape of a batch is not implemented yet");
}

/* FUNC of the request, as calls of ONE for each lane, in operands from LINEAR on, whose results
   from PRIMAL on are put together. */
static void call_apart(Ad *ad, const AdRequest *request, IrFunc *func, IrFunc *one, uint32_t linear,
                       uint32_t primal) {
    uint32_t lanes = ir_option_lanes(request->options);
    IrBuilder b = {.pos = request->base->pos};
    IrInst *calls[IR_MAX_LANES];
    IrValue **operands = ARENA_ARRAY(ad->arena, IrValue *, func->nparams + 1);
    IrValue **values = ARENA_ARRAY(ad->arena, IrValue *, func->nresults + 1);
    irb_at_end(&b, func->body);
    for (uint32_t i = 0; i < linear; i++) operands[i] = func->body->params[i];
    for (uint32_t k = 0; k < lanes; k++) {
        in_lane(&b, func->body->params, linear, func->nparams, k, operands);
        calls[k] = irb_call(&b, one, operands);
    }
    for (uint32_t i = 0; i < func->nresults; i++)
        values[i] = i < primal ? calls[0]->results[i] : of_all(&b, calls, lanes, i);
    irb_yield(&b, func->nresults, values);
}

/* Forward once, then a pull for each lane. */
static void grad_apart(Ad *ad, const AdRequest *request, const AdRequest *pair) {
    const IrFunc *base = request->base;
    IrFunc *func = request->func;
    uint32_t lanes = ir_option_lanes(request->options), n = 0;
    IrBuilder b = {.pos = base->pos};
    IrInst *calls[IR_MAX_LANES];
    IrValue **operands =
        ARENA_ARRAY(ad->arena, IrValue *, base->nparams + base->nresults + func->nparams + 1);
    IrValue **values = ARENA_ARRAY(ad->arena, IrValue *, func->nresults + 1);
    irb_at_end(&b, func->body);
    for (uint32_t i = 0; i < base->nparams; i++) operands[i] = func->body->params[i];
    operands[base->nparams] = irb_tape_new(&b);
    IrInst *forward = irb_call(&b, pair->func, operands);
    for (; n < base->nresults; n++) values[n] = forward->results[n];
    operands[0] = forward->results[base->nresults];
    for (uint32_t k = 0; k < lanes; k++) {
        in_lane(&b, func->body->params + base->nparams, 0, func->nparams - base->nparams, k,
                operands + 1);
        calls[k] = irb_call(&b, pair->reverse, operands);
    }
    for (uint32_t i = 0; n < func->nresults; i++) values[n++] = of_all(&b, calls, lanes, i);
    irb_yield(&b, n, values);
}

void ad_make_apart(Ad *ad, const AdRequest *request) {
    IrFunc *base = request->base;
    uint32_t options = ir_options_without_lanes(request->options);
    const uint8_t *in = request->in_active, *out = request->out_active;
    report_tapes(ad, request);
    if (ad->failed) return;
    switch (request->mode) {
    case AD_JVP:
        call_apart(ad, request, request->func, ad_jvp(ad, base, in, out, options), base->nparams,
                   base->nresults);
        break;
    case AD_GRAD: grad_apart(ad, request, ad_pair(ad, base, in, out, options)); break;
    case AD_PAIR: {
        IrFunc *one = request->threaded
                          ? ad_pair(ad, base, in, out, options)->reverse
                          : ir_deriv(ad->module, IR_DERIV_REVERSE, base, in, out, options);
        call_apart(ad, request, request->reverse, one, 1, 0);
        break;
    }
    }
}
