/* Parallel bodies have no effects: neither by themselves nor through what they call.  Effects are
   printing, writing files, and extern functions that give nothing back.  In the same way a kernel
   launches no kernels. */
#include "types/analyse.h"
#include "types/internal.h"

typedef struct Effects {
    Checker *c;
    Bitset has;      /* ids of instances with an effect */
    Bitset launches; /* and of kernels, and what launches some */
    bool changed;
    const Instance *in; /* whose body is walked */
    const Tree *body;   /* of the parallel construct around, or NULL */
    bool kernel;        /* in a kernel */
} Effects;

static bool is_effect(const Tree *t) {
    return t->kind == T_BUILTIN && (t->builtin == BUILTIN_PRINT || t->builtin == BUILTIN_SAVE ||
                                    t->builtin == BUILTIN_PROGRESS);
}

static bool extern_effect(const Instance *inst) {
    if (inst->kind != INSTANCE_EXTERN || !inst->decl || inst->result->kind != TYPE_UNIT)
        return false;
    for (uint32_t i = 0; i < inst->nparams; i++)
        if (inst->params[i]->mut) return false;
    return true;
}

static bool calls_effect(const Effects *e, const Instance *inst) {
    return inst && bitset_has(&e->has, inst->id);
}

static void find(const Tree *t, void *data) {
    Effects *e = data;
    if (is_effect(t) || calls_effect(e, t->instance) || calls_effect(e, t->instance32))
        e->changed |= bitset_add(&e->has, e->in->id);
    bool launch = t->instance && bitset_has(&e->launches, t->instance->id);
    if (t->kind == T_KERNEL || launch) e->changed |= bitset_add(&e->launches, e->in->id);
    tree_children(t, find, data);
}

static void report(Effects *e, const Tree *t, const char *name) {
    diag_report(e->c->diags, DIAG_PARALLEL_EFFECT, t->span,
                "`%s` has an effect, which cannot be in %s", name,
                e->body->kind == T_KERNEL   ? "a kernel"
                : e->body->kind == T_COMP   ? "a comprehension"
                : e->body->kind == T_REDUCE ? "a reduction"
                                            : "a function that runs in parallel");
    diag_help(e->c->diags, (Span){0},
              e->body->kind == T_KERNEL
                  ? "its invocations run in any order: do it before or after the launch"
                  : "its iterations run in any order: use a `for` loop");
}

static void check(const Tree *t, void *data) {
    Effects *e = data;
    const Tree *outer = e->body;
    bool parallel = t->kind == T_COMP || t->kind == T_REDUCE || t->kind == T_KERNEL;
    if (e->kernel && t->instance && bitset_has(&e->launches, t->instance->id))
        diag_report(e->c->diags, DIAG_KERNEL_LAUNCH, t->span,
                    "`%s` launches a kernel, and a kernel launches none", t->instance->name);
    if (e->body && is_effect(t)) report(e, t, fnvalue_of_row(e->c, -1, t->builtin)->name);
    if (calls_effect(e, t->instance) && (e->body || t->kind == T_BUILTIN)) {
        if (!outer) e->body = t;
        report(e, t, t->instance->name);
    }
    e->body = outer;
    if (!parallel) {
        tree_children(t, check, data);
        return;
    }
    for (uint32_t i = 0; i < t->nheads; i++) {
        const TreeHead *h = &t->heads[i];
        if (h->lo) check(h->lo, data);
        if (h->hi) check(h->hi, data);
        if (h->step) check(h->step, data);
        if (h->array) check(h->array, data);
    }
    bool kernel = e->kernel;
    e->body = t;
    e->kernel = kernel || t->kind == T_KERNEL;
    if (t->where) check(t->where, data);
    check(t->body, data);
    e->body = outer;
    e->kernel = kernel;
}

/* A derivative of something with effects: reverse passes have none. */
static bool repeats_effect(const Effects *e, const Instance *inst) {
    const DerivSpec *d = inst->deriv;
    return d && d->part != DERIV_PART_REVERSE && calls_effect(e, d->base_instance);
}

/* Lanes of what has effects: all beside one run. */
static void check_lanes(Effects *e, const Instance *inst) {
    DerivSpec *d = inst->deriv;
    if (!repeats_effect(e, inst)) return;
    d->effects = true;
    if (d->part == DERIV_PART_FORWARD || d->width < 2) return;
    const DerivSpec *inner = d->base_instance->deriv;
    bool nested = inner && inner->width > 1;
    if (!nested && d->width <= DERIV_MOST_LANES) return;
    diag_report(e->c->diags, DIAG_BATCH_EFFECT, inst->span,
                "`%s` has an effect, which %s would repeat", d->base_instance->name,
                nested ? "a batch of a batch" : "a batch of more than 16 lanes");
    diag_help(e->c->diags, (Span){0},
              nested                      ? "keep the effect out of what is differentiated"
              : d->part == DERIV_PART_JVP ? "ask for at most 16 tangents at once"
                                          : "use `split`: its reverse pass has no effects");
}

void check_effects(Checker *c) {
    Effects e = {.c = c};
    for (uint32_t i = 0; i < c->all.len; i++)
        if (extern_effect(c->all.at[i])) bitset_add(&e.has, i);
    do {
        e.changed = false;
        for (uint32_t i = 0; i < c->all.len; i++) {
            e.in = c->all.at[i];
            if (e.in->body) find(e.in->body, &e);
            if (repeats_effect(&e, e.in)) e.changed |= bitset_add(&e.has, e.in->id);
            const DerivSpec *d = e.in->deriv;
            if (d && bitset_has(&e.launches, d->base_instance->id))
                e.changed |= bitset_add(&e.launches, e.in->id);
        }
    } while (e.changed);
    for (uint32_t i = 0; i < c->all.len; i++) {
        e.in = c->all.at[i];
        e.body = NULL;
        check_lanes(&e, e.in);
        if (e.in->body) check(e.in->body, &e);
    }
    bitset_free(&e.has);
    bitset_free(&e.launches);
}
