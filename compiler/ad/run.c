/* Requests: which functions are made, in which order, and what they are called. */
#include "ad/internal.h"

#include <string.h>

#include "base/fatal.h"

/* ---- diagnostics ---- */

void ad_report(Ad *ad, DiagCode code, Pos pos, const char *format, ...) {
    va_list args;
    StrBuf text = {0};
    va_start(args, format);
    strbuf_vprintf(&text, format, args);
    va_end(args);
    diag_report(ad->diags, code, (Span){pos, pos}, "%s", text.text);
    strbuf_free(&text);
    ad->failed = true;
}

/* ---- functions that only derivatives call ---- */

static bool same_request(const AdRequest *a, const AdRequest *b) {
    return a->mode == b->mode && a->base == b->base && a->options == b->options &&
           memcmp(a->in_active, b->in_active, a->base->nparams) == 0 &&
           memcmp(a->out_active, b->out_active, a->base->nresults) == 0;
}

static uint64_t request_key(const AdRequest *request) {
    uint64_t key = hash_mix((uint64_t)request->mode << 32 | request->options, request->base->id);
    key = hash_mix(key, hash_bytes(request->in_active, request->base->nparams));
    return hash_mix(key, hash_bytes(request->out_active, request->base->nresults));
}

typedef struct Signature {
    IrType *types;
    const char **names;
    uint32_t n;
} Signature;

static Signature signature_new(Ad *ad, const AdRequest *request) {
    const IrFunc *base = request->base;
    uint32_t room = 2 * (base->nparams + base->nresults) + 1;
    return (Signature){ARENA_ARRAY(ad->arena, IrType, room),
                       ARENA_ARRAY(ad->arena, const char *, room), 0};
}

static void add_types(Signature *signature, uint32_t n, const IrType *types,
                      const char *const *names, const uint8_t *which) {
    for (uint32_t i = 0; i < n; i++) {
        if (which && !which[i]) continue;
        signature->names[signature->n] = names ? names[i] : NULL;
        signature->types[signature->n++] = types[i];
    }
}

/* The active ones, with lanes. */
static void add_lanes(Signature *signature, const AdRequest *request, uint32_t n,
                      const IrType *types, const uint8_t *which) {
    uint32_t first = signature->n;
    add_types(signature, n, types, NULL, which);
    for (uint32_t i = first; i < signature->n; i++)
        signature->types[i] = ad_tangent_type(request, signature->types[i]);
}

static void add_tape(Ad *ad, Signature *signature) {
    signature->names[signature->n] = "tape";
    signature->types[signature->n++] = ir_tape(ad->module);
}

/* What a derivative takes over from the function it is made of. */
static IrFunc *inherit(IrFunc *func, const IrFunc *base) {
    func->purity = base->purity;
    func->flags |= base->flags & (IR_FUNC_INLINE | IR_FUNC_LIBRARY);
    return func;
}

static IrFunc *func_new(Ad *ad, AdRequest *request, const char *suffix, const Signature *in,
                        const Signature *out) {
    const char *name = arena_printf(ad->module->arena, "%s.%s", request->base->name, suffix);
    IrFunc *func = ir_func_new(ad->module, name, in->n, in->types, in->names, out->n, out->types);
    func->pos = request->base->pos;
    map_setp(&ad->by_func, func, request);
    return inherit(func, request->base);
}

static void make_pair_funcs(Ad *ad, AdRequest *request) {
    const IrFunc *base = request->base;
    Signature in = signature_new(ad, request), out = signature_new(ad, request);
    if (ir_option_lanes(request->options) > 1) {
        request->func = ad_pair(ad, request->base, request->in_active, request->out_active,
                                ir_options_without_lanes(request->options))
                            ->func;
    } else {
        add_types(&in, base->nparams, base->params, base->param_names, NULL);
        add_tape(ad, &in);
        add_types(&out, base->nresults, base->results, NULL, NULL);
        add_tape(ad, &out);
        request->func = func_new(ad, request, "forward", &in, &out);
    }
    in.n = out.n = 0;
    add_tape(ad, &in);
    add_lanes(&in, request, base->nresults, base->results, request->out_active);
    add_lanes(&out, request, base->nparams, base->params, request->in_active);
    add_tape(ad, &out);
    request->reverse = func_new(ad, request, "reverse", &in, &out);
}

/* The request that is like WANTED, with its functions; their bodies are made later. */
static AdRequest *own_request(Ad *ad, const AdRequest *wanted) {
    uint64_t key = request_key(wanted);
    for (;; key++) {
        AdRequest *found = map_get(&ad->requests, key);
        if (!found) break;
        if (same_request(found, wanted)) return found;
    }
    AdRequest *request = ARENA_NEW(ad->arena, AdRequest);
    *request = *wanted;
    map_set(&ad->requests, key, request);
    make_pair_funcs(ad, request);
    return request;
}

IrFunc *ad_jvp(Ad *ad, IrFunc *base, const uint8_t *in_active, const uint8_t *out_active,
               uint32_t options) {
    return inherit(ir_deriv(ad->module, IR_DERIV_JVP, base, in_active, out_active, options), base);
}

IrFunc *ad_grad(Ad *ad, IrFunc *base, const uint8_t *in_active, const uint8_t *out_active,
                uint32_t options) {
    return inherit(ir_deriv(ad->module, IR_DERIV_GRAD, base, in_active, out_active, options), base);
}

const AdRequest *ad_pair(Ad *ad, IrFunc *base, const uint8_t *in_active, const uint8_t *out_active,
                         uint32_t options) {
    AdRequest wanted = {.mode = AD_PAIR,
                        .base = base,
                        .in_active = in_active,
                        .out_active = out_active,
                        .options = options,
                        .threaded = true};
    return own_request(ad, &wanted);
}

/* ---- making ---- */

static void give_body(IrFunc *func) {
    if (func->body) return;
    func->body = ir_region_new(func, NULL);
    for (uint32_t i = 0; i < func->nparams; i++)
        ir_region_param(func->body, func->params[i], func->param_names[i]);
}

/* A function that is in no module: parameters, then the tangents of the active ones. */
static IrFunc *scratch_func(Ad *ad, const AdRequest *request) {
    const IrFunc *base = request->base;
    IrFunc *func = ARENA_NEW(ad->module->arena, IrFunc);
    func->name = arena_printf(ad->module->arena, "%s.mixed", base->name);
    func->module = ad->module;
    func->pos = base->pos;
    func->body = ir_region_new(func, NULL);
    for (uint32_t i = 0; i < base->nparams; i++)
        ir_region_param(func->body, base->params[i], base->param_names[i]);
    for (uint32_t i = 0; i < base->nparams; i++)
        if (request->in_active[i])
            ir_region_param(func->body, ad_tangent_type(request, base->params[i]), NULL);
    func->nparams = func->body->nparams;
    return func;
}

static void finish(const Ad *ad, IrFunc *func) {
    if (ad->module->fused) {
        ir_form_muladds(func);
        ir_settle_sums(func, true);
    }
    ad_clean(func);
}

/* The forward function of a pair is the same for all widths. */
static bool makes_forward(const AdRequest *request) {
    return request->mode != AD_PAIR || ir_option_lanes(request->options) == 1;
}

static void make(Ad *ad, AdRequest *request) {
    Mixed *mixed;
    request->made = true;
    if (makes_forward(request)) give_body(request->func);
    if (request->reverse) give_body(request->reverse);
    if (ad_needs_apart(request)) {
        ad_make_apart(ad, request);
        return;
    }
    if (request->mode == AD_JVP) {
        mixed = ad_linearise(ad, request, request->func, false);
        ad_remark(ad, request, mixed, NULL);
    } else {
        mixed = ad_linearise(ad, request, scratch_func(ad, request), true);
        if (!ad->failed) ad_clean(mixed->func);
        if (!ad->failed && request->mode == AD_GRAD) ad_make_grad(ad, request, mixed);
        if (!ad->failed && request->mode == AD_PAIR) ad_make_pair(ad, request, mixed);
    }
    mixed_free(mixed);
    if (ad->failed) return;
    if (makes_forward(request)) finish(ad, request->func);
    if (request->reverse) finish(ad, request->reverse);
}

/* The request behind a function of the module; false if it is an ordinary one. */
static bool request_of(Ad *ad, IrFunc *func, AdRequest *request) {
    const IrDeriv *deriv = &func->deriv;
    *request = (AdRequest){.base = deriv->base,
                           .in_active = deriv->in_active,
                           .out_active = deriv->out_active,
                           .options = deriv->options,
                           .func = func};
    switch (deriv->mode) {
    case IR_DERIV_NONE: return false;
    case IR_DERIV_JVP: request->mode = AD_JVP; break;
    case IR_DERIV_GRAD: request->mode = AD_GRAD; break;
    case IR_DERIV_FORWARD:
        request->mode = AD_PAIR;
        request->reverse = ir_deriv(ad->module, IR_DERIV_REVERSE, deriv->base, deriv->in_active,
                                    deriv->out_active, deriv->options);
        break;
    case IR_DERIV_REVERSE:
        request->mode = AD_PAIR;
        request->reverse = func;
        request->func = ir_deriv(ad->module, IR_DERIV_FORWARD, deriv->base, deriv->in_active,
                                 deriv->out_active, ir_options_without_lanes(deriv->options));
        break;
    }
    return !func->body;
}

static bool is_finished(const IrFunc *func) {
    return func->body && func->body->last && func->body->last->op == IR_YIELD;
}

/* Makes FUNC, and what it is made of before it. */
static void make_func(Ad *ad, IrFunc *func) {
    AdRequest *own = map_getp(&ad->by_func, func), request;
    if (map_hasp(&ad->given_up, func)) ad->failed = true;
    if (ad->failed) return;
    if (own) {
        if (own->made) return;
        make_func(ad, own->base);
        if (!ad->failed && !own->made) make(ad, own);
        return;
    }
    if (!request_of(ad, func, &request)) return;
    make_func(ad, request.base);
    if (!ad->failed) make(ad, &request);
}

/* Behind a failure: goes on, but not with what is not finished. */
static void give_up(Ad *ad) {
    for (uint32_t i = 0; i < ad->module->funcs.len; i++) {
        IrFunc *func = ad->module->funcs.at[i];
        if (func->body && !is_finished(func)) map_setp(&ad->given_up, func, func);
    }
    ad->failed = false;
    ad->inlining.len = 0;
}

void ad_ensure(Ad *ad, IrFunc *func) {
    make_func(ad, func);
}

/* ---- derivatives that need themselves ---- */

typedef struct Search {
    Ad *ad;
    Map state; /* function to 1: on the path, 2: done */
    VEC(IrFunc *) path;
    VEC(bool) derived; /* did the step to this one differentiate? */
} Search;

static void search(Search *s, IrFunc *func, bool derived);

static void search_call(IrInst *inst, void *data) {
    if (inst->op == IR_CALL) search(data, inst->func, false);
}

static void report_cycle(Search *s, IrFunc *func, bool derived) {
    uint32_t start = s->path.len;
    StrBuf chain = {0};
    while (s->path.at[start - 1] != func) start--;
    for (uint32_t i = start; i < s->path.len; i++) derived |= s->derived.at[i];
    for (uint32_t i = start - 1; i < s->path.len; i++)
        strbuf_printf(&chain, "%s -> ", s->path.at[i]->name);
    strbuf_add(&chain, func->name);
    if (derived)
        ad_report(s->ad, DIAG_DERIV_ENDLESS, func->pos, "a derivative needs itself: %s",
                  chain.text);
    strbuf_free(&chain);
}

/* A function with a rule is called as it is, and its rule is what is differentiated. */
static void search_base(Search *s, IrFunc *base) {
    search(s, base, !base->rule);
    if (base->rule) search(s, base->rule, true);
    if (base->reverse_rule) search(s, base->reverse_rule, true);
}

static void search(Search *s, IrFunc *func, bool derived) {
    uintptr_t state = (uintptr_t)map_getp(&s->state, func);
    if (state == 2) return;
    if (state == 1) {
        report_cycle(s, func, derived);
        return;
    }
    map_setp(&s->state, func, (void *)(uintptr_t)1);
    vec_push(&s->path, func);
    vec_push(&s->derived, derived);
    if (func->deriv.mode != IR_DERIV_NONE && !func->body) search_base(s, func->deriv.base);
    if (func->body) ir_walk(func->body, search_call, s);
    (void)vec_pop(&s->path);
    (void)vec_pop(&s->derived);
    map_setp(&s->state, func, (void *)(uintptr_t)2);
}

static void find_endless(Ad *ad) {
    Search s = {.ad = ad};
    for (uint32_t i = 0; i < ad->module->funcs.len; i++)
        if (ad->module->funcs.at[i]->deriv.mode != IR_DERIV_NONE)
            search(&s, ad->module->funcs.at[i], false);
    map_free(&s.state);
    vec_free(&s.path);
    vec_free(&s.derived);
}

static void settle_sums(IrModule *module, bool settled) {
    for (uint32_t i = 0; module->fused && i < module->funcs.len; i++)
        ir_settle_sums(module->funcs.at[i], settled);
}

void ad_run(IrModule *module, Diags *diags) {
    Ad ad = {.module = module, .diags = diags, .arena = arena_new()};
    uint32_t given = module->funcs.len;
    find_endless(&ad);
    settle_sums(module, true);
    for (uint32_t i = 0; i < module->funcs.len; i++) (void)ir_func_pure(module->funcs.at[i]);
    bool failed = false;
    for (uint32_t i = 0; i < module->funcs.len && !ad.failed; i++) {
        make_func(&ad, module->funcs.at[i]);
        failed |= ad.failed;
        if (ad.failed && module->device) give_up(&ad);
    }
    if (!failed) ad_warn_of_zeros(&ad, given);
    settle_sums(module, false);
    ir_forget_purity(module);
    arena_free(ad.arena);
    map_free(&ad.by_func);
    map_free(&ad.requests);
    map_free(&ad.masks);
    map_free(&ad.depends);
    map_free(&ad.uses);
    map_free(&ad.worlds);
    map_free(&ad.given_up);
    vec_free(&ad.inlining);
}

typedef struct Whole {
    bool *whole, changed;
} Whole;

static void look_at_callee(IrInst *inst, void *data) {
    Whole *w = data;
    uint32_t caller = inst->parent->func->id;
    if (inst->op != IR_CALL || w->whole[inst->func->id] || !w->whole[caller]) return;
    w->whole[caller] = false;
    w->changed = true;
}

bool *ad_find_whole(const IrModule *module) {
    Whole w = {ARENA_ARRAY(module->arena, bool, ir_func_ids(module)), true};
    for (uint32_t i = 0; i < module->funcs.len; i++) {
        const IrFunc *func = module->funcs.at[i];
        w.whole[func->id] = is_finished(func) || (func->flags & IR_FUNC_EXTERN);
    }
    while (w.changed) {
        w.changed = false;
        for (uint32_t i = 0; i < module->funcs.len; i++)
            if (w.whole[module->funcs.at[i]->id] && module->funcs.at[i]->body)
                ir_walk(module->funcs.at[i]->body, look_at_callee, &w);
    }
    return w.whole;
}
