/* Which results of a function depend on which of its parameters in a way that has a derivative.
   Asked for lazily; all functions that the asked one can reach are worked out together, from "no
   result on no parameter" upwards until nothing changes, so that recursion needs no care. */
#include "ad/internal.h"

#include <string.h>

#include "ir/export.h"

typedef struct Depends {
    IrFunc *func;
    bool is_done;
    uint8_t *on; /* [param * nresults + result] */
} Depends;

typedef VEC(Depends *) Group;

/* Nothing can be seen, or a rule says it: every result on every parameter. */
static bool is_opaque(const IrFunc *func) {
    return func->rule || !func->body || !func->body->last || func->body->last->op != IR_YIELD;
}

static Depends *enter(Ad *ad, IrFunc *func) {
    Depends *d = ARENA_NEW(ad->arena, Depends);
    size_t n = (size_t)func->nparams * func->nresults;
    d->func = func;
    d->on = ARENA_ARRAY(ad->arena, uint8_t, n);
    d->is_done = is_opaque(func);
    if (d->is_done && n) memset(d->on, 1, n);
    map_setp(&ad->depends, func, d);
    return d;
}

/* The functions that can be reached from the first one, with their bodies made. */
typedef struct Reach {
    Ad *ad;
    Map seen;
    VEC(IrFunc *) funcs;
} Reach;

static void reach(Reach *r, IrFunc *func) {
    if (map_hasp(&r->ad->depends, func) || map_hasp(&r->seen, func)) return;
    map_setp(&r->seen, func, func);
    ad_ensure(r->ad, func);
    vec_push(&r->funcs, func);
}

static void reach_call(IrInst *inst, void *data) {
    if (inst->op == IR_CALL) reach(data, inst->func);
}

static bool update(Ad *ad, Depends *d) {
    const IrInst *yield = d->func->body->last;
    bool changed = false;
    for (uint32_t p = 0; p < d->func->nparams; p++) {
        Bitset varied = {0};
        if (!ad_carries(d->func->params[p])) continue;
        ad_varied(ad, d->func, p, &varied);
        for (uint32_t r = 0; r < d->func->nresults; r++) {
            uint8_t *on = &d->on[(size_t)p * d->func->nresults + r];
            if (*on || !bitset_has(&varied, yield->operands[r]->id)) continue;
            *on = 1;
            changed = true;
        }
        bitset_free(&varied);
    }
    return changed;
}

static void work_out(Ad *ad, IrFunc *first) {
    Group group = {0};
    Reach r = {.ad = ad};
    bool changed = true;
    reach(&r, first);
    for (uint32_t i = 0; i < r.funcs.len; i++)
        if (!is_opaque(r.funcs.at[i])) ir_walk(r.funcs.at[i]->body, reach_call, &r);
    for (uint32_t i = 0; i < r.funcs.len; i++) {
        if (map_hasp(&ad->depends, r.funcs.at[i])) continue;
        Depends *d = enter(ad, r.funcs.at[i]);
        if (!d->is_done) vec_push(&group, d);
    }
    while (changed) {
        changed = false;
        for (uint32_t i = group.len; i-- > 0;) changed |= update(ad, group.at[i]);
    }
    for (uint32_t i = 0; i < group.len; i++) group.at[i]->is_done = true;
    vec_free(&group);
    vec_free(&r.funcs);
    map_free(&r.seen);
}

bool ad_depends(Ad *ad, IrFunc *func, uint32_t p, uint32_t r) {
    Depends *d = map_getp(&ad->depends, func);
    if (!d) {
        work_out(ad, func);
        d = map_getp(&ad->depends, func);
    }
    return d->on[(size_t)p * func->nresults + r];
}

/* ---- derivatives that are zero ---- */

typedef struct Requests {
    Map sites; /* a derivative to where it is asked for first, a Pos */
} Requests;

static void note_request(IrInst *inst, void *data) {
    Requests *r = data;
    if (inst->op != IR_CALL || inst->func->deriv.mode == IR_DERIV_NONE || !inst->pos) return;
    if (!map_hasp(&r->sites, inst->func))
        map_setp(&r->sites, inst->func, (void *)(uintptr_t)inst->pos);
}

/* Is every result that FUNC differentiates free of every parameter? */
static bool gives_nothing(Ad *ad, const IrFunc *func) {
    const IrDeriv *deriv = &func->deriv;
    for (uint32_t p = 0; p < deriv->base->nparams; p++)
        for (uint32_t r = 0; deriv->in_active[p] && r < deriv->base->nresults; r++)
            if (deriv->out_active[r] && ad_depends(ad, deriv->base, p, r)) return false;
    return true;
}

static void find_derivative(IrInst *inst, void *data) {
    if (inst->op == IR_CALL && inst->func->deriv.mode != IR_DERIV_NONE) *(bool *)data = true;
}

/* Derivatives of derivatives may well be zero, and those that the library asks for are its own. */
static bool may_be_zero(const IrFunc *base) {
    bool derived = base->deriv.mode != IR_DERIV_NONE;
    if (base->body) ir_walk(base->body, find_derivative, &derived);
    return derived || (base->flags & IR_FUNC_LIBRARY);
}

void ad_warn_of_zeros(Ad *ad, uint32_t n) {
    const IrModule *module = ad->module;
    Requests requests = {0};
    for (uint32_t k = 0; k < module->exports.len; k++) {
        IrFunc *func = module->exports.at[k]->func;
        if (func && func->deriv.mode != IR_DERIV_NONE)
            map_setp(&requests.sites, func, (void *)(uintptr_t)module->exports.at[k]->pos);
    }
    for (uint32_t k = 0; k < n; k++) {
        IrFunc *func = module->funcs.at[k];
        if (func->body && func->deriv.mode == IR_DERIV_NONE && !(func->flags & IR_FUNC_LIBRARY))
            ir_walk(func->body, note_request, &requests);
    }
    for (uint32_t k = 0; k < requests.sites.len; k++) {
        const IrFunc *func = (const IrFunc *)(uintptr_t)requests.sites.keys[k];
        Pos pos = (Pos)(uintptr_t)requests.sites.values[k];
        const IrFunc *base = func->deriv.base;
        if (func->deriv.mode == IR_DERIV_REVERSE || may_be_zero(base) || !gives_nothing(ad, func))
            continue;
        diag_report(ad->diags, DIAG_ZERO_DERIVATIVE, (Span){pos, pos},
                    "this derivative is zero: no result of `%s` depends on what is differentiated",
                    base->name);
    }
    map_free(&requests.sites);
}
