/* Parallel bodies have no effects: neither by themselves nor through what they call.  Effects are
   printing, writing files, and extern functions that give nothing back. */
#include "types/internal.h"

typedef struct Effects {
    Checker *c;
    Bitset has; /* ids of instances with an effect */
    bool changed;
    const Instance *in; /* whose body is walked */
    const Tree *body;   /* of the parallel construct around, or NULL */
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
    e->body = t;
    if (t->where) check(t->where, data);
    check(t->body, data);
    e->body = outer;
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
            if (e.in->deriv && calls_effect(&e, e.in->deriv->base_instance))
                e.changed |= bitset_add(&e.has, e.in->id);
        }
    } while (e.changed);
    for (uint32_t i = 0; i < c->all.len; i++) {
        e.in = c->all.at[i];
        e.body = NULL;
        if (e.in->body) check(e.in->body, &e);
    }
    bitset_free(&e.has);
}
