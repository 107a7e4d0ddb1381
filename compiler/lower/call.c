/* Calls: mut arguments go in by value and come back as results. */
#include "lower/internal.h"

/* The results of a call, and the last values of its mut parameters (FINALS, one for each). */
static Vals call_with_finals(Fn *f, const Instance *inst, const Vals *args, Vals *finals) {
    IrFunc *func = lower_func(f->lw, inst);
    launch_note(f->lw, inst, func);
    Vals all = vals_join(f->lw, inst->nparams, args);
    CHECK_INTERNAL(all.n == func->nparams);
    IrInst *call = irb_call(&f->b, func, all.at);
    Vals results = vals_new(f->lw, call->nresults);
    for (uint32_t i = 0; i < results.n; i++) results.at[i] = call->results[i];
    uint32_t at = shape_count(f->lw, inst->result);
    Vals own = vals_slice(results, 0, at);
    for (uint32_t i = 0, k = 0; i < inst->nparams; i++) {
        if (!inst->params[i]->mut) continue;
        uint32_t n = shape_count(f->lw, inst->params[i]->type);
        if (finals) finals[k++] = vals_slice(results, at, n);
        at += n;
    }
    return own;
}

Vals call_values(Fn *f, const Instance *inst, uint32_t n, const Vals *args) {
    CHECK_INTERNAL(n == inst->nparams);
    return call_with_finals(f, inst, args, NULL);
}

typedef struct Lifted {
    const Instance *inst;
} Lifted;

static Vals lifted_call(Fn *f, const Vals *args, void *data) {
    const Lifted *lifted = data;
    return call_with_finals(f, lifted->inst, args, NULL);
}

static Vals lower_lifted_call(Fn *f, const Tree *t) {
    const Instance *inst = t->instance;
    Lifted lifted = {inst};
    Vals *args = ARENA_ARRAY(f->lw->arena, Vals, t->nargs);
    bool *over = ARENA_ARRAY(f->lw->arena, bool, t->nargs);
    lower_args(f, t, args);
    for (uint32_t i = 0; i < t->nargs; i++)
        over[i] = t->args[i]->type->kind == TYPE_ARRAY && inst->params[i]->type->kind != TYPE_ARRAY;
    return lift(f, t->type, t->nargs, args, over, lifted_call, &lifted);
}

static void check_overlaps(Fn *f, const Tree *t, Place **places) {
    for (uint32_t i = 0; i < t->noverlaps; i++) {
        const TreeOverlap *o = &t->overlaps[i];
        Pos pos = f->b.pos;
        if (o->span.begin) f->b.pos = o->span.begin;
        for (int s = 0; s < 2; s++) {
            uint32_t p = s ? o->b : o->a;
            if (!places[p]) places[p] = lower_place_open(f, t->places[p]);
        }
        lower_place_apart(f, places[o->a], places[o->b]);
        f->b.pos = pos;
    }
}

/* A constant is made once, where the function begins, so that no loop makes it again. */
static Vals constant(Fn *f, const Instance *inst) {
    Vals *known = map_getp(&f->constants, inst);
    if (known) return *known;
    IrBuilder here = f->b;
    if (f->func->body->first) irb_before(&f->b, f->func->body->first);
    else irb_at_end(&f->b, f->func->body);
    f->b.pos = here.pos;
    known = ARENA_NEW(f->lw->arena, Vals);
    *known = call_with_finals(f, inst, NULL, NULL);
    f->b = here;
    map_setp(&f->constants, inst, known);
    return *known;
}

Vals lower_call(Fn *f, const Tree *t) {
    const Instance *inst = t->instance;
    if (inst->constant && !inst->nparams) return constant(f, inst);
    if (t->lifted) return lower_lifted_call(f, t);
    CHECK_INTERNAL(t->nargs == inst->nparams);
    Vals *args = ARENA_ARRAY(f->lw->arena, Vals, t->nargs);
    Place **places = ARENA_ARRAY(f->lw->arena, Place *, t->nargs);
    Vals *finals = ARENA_ARRAY(f->lw->arena, Vals, t->nargs);
    for (uint32_t i = 0; i < t->nargs; i++) {
        if (!inst->params[i]->mut) {
            args[i] = lower_expr(f, t->args[i]);
            continue;
        }
        CHECK_INTERNAL(t->places && t->places[i]);
        places[i] = lower_place_open(f, t->places[i]);
        args[i] = lower_place_read(f, places[i]);
        size_bind(f, t->places[i]->type, args[i]);
    }
    size_checks(f, t);
    check_overlaps(f, t, places);
    Vals own = call_with_finals(f, inst, args, finals);
    for (uint32_t i = 0, k = 0; i < t->nargs; i++)
        if (inst->params[i]->mut) {
            Vals value = size_assume(f, t->places[i]->type, finals[k++]);
            lower_place_write(f, places[i], value);
        }
    return own.n ? size_assume(f, t->type, own) : own;
}
