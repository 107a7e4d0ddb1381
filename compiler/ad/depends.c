/* Which results of a function depend on which of its parameters in a way that has a derivative.
   Asked for lazily; all functions that the asked one can reach are worked out together, from "no
   result on no parameter" upwards until nothing changes, so that recursion needs no care. */
#include "ad/internal.h"

#include <string.h>

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
