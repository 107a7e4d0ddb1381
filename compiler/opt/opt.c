/* The order of the passes.  Derivatives are made from simplified, fused code; what they leave
   behind goes through the same passes again. */
#include "opt/opt.h"

#include <string.h>

typedef enum PassScope { SCOPE_FUNC, SCOPE_MODULE } PassScope;

typedef struct PassRow {
    const char *name;
    PassScope scope;
    void (*run)(OptContext *);
} PassRow;

#define FUNC SCOPE_FUNC
#define MODULE SCOPE_MODULE
static const PassRow rows[] = {
#define PASS(name, scope, title) {#name, scope, opt_##name},
#include "opt/pass.def"
#undef PASS
};
static const char *const names[] = {
#define PASS(name, scope, title) #name,
#include "opt/pass.def"
#undef PASS
    NULL,
};
#undef FUNC
#undef MODULE

const char *const *opt_pass_names(void) {
    return names;
}

static const PassRow *find(const char *name) {
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        if (!strcmp(rows[k].name, name)) return &rows[k];
    return NULL;
}

/* True if something changed. */
static bool run(IrModule *module, const PassRow *row, bool after_ad, int level) {
    OptContext c = {
        .module = module, .scratch = arena_new(), .after_ad = after_ad, .marked_only = level == 0};
    if (row->scope == SCOPE_MODULE) row->run(&c);
    else
        for (uint32_t k = 0; k < module->funcs.len; k++) {
            c.func = module->funcs.at[k];
            if (c.func->body) row->run(&c);
        }
    arena_free(c.scratch);
    return c.changed;
}

bool opt_run_pass(IrModule *module, const char *name) {
    const PassRow *row = find(name);
    if (row) run(module, row, false, 1);
    return row != NULL;
}

typedef struct Sequence {
    IrModule *module;
    const OptHooks *hooks;
    bool after_ad;
    int level;
} Sequence;

static bool pass(const Sequence *s, const char *name) {
    bool changed = run(s->module, find(name), s->after_ad, s->level);
    if (s->hooks && s->hooks->after) s->hooks->after(s->hooks->data, name, s->module);
    return changed;
}

/* Folding until nothing changes, but not for ever: each round is linear. */
static void clean(const Sequence *s) {
    for (int round = 0; round < 4; round++) {
        bool changed = pass(s, "simplify");
        changed |= pass(s, "cse");
        changed |= pass(s, "dce");
        if (!changed) return;
    }
}

void opt_before_ad(IrModule *module, int level, const OptHooks *hooks) {
    Sequence s = {module, hooks, false, level};
    if (module->kernels) pass(&s, "derived");
    pass(&s, "prune");
    if (s.module->fused) {
        clean(&s);
        pass(&s, "bounds");
        pass(&s, "contract");
        pass(&s, "fuse");
        pass(&s, "muladd");
    }
    /* Also without optimisation: where a branch is not taken, what only it needs must stand in it
       for its derivative to be absent (see sink.c). */
    pass(&s, "inline");
    pass(&s, "prune");
    clean(&s);
    pass(&s, "bounds");
    pass(&s, "fuse");
    clean(&s);
    if (level > 0 && pass(&s, "planes")) clean(&s);
    pass(&s, "sink");
    if (level > 0) pass(&s, "split");
}

void opt_after_ad(IrModule *module, int level, const OptHooks *hooks) {
    Sequence s = {module, hooks, true, level};
    pass(&s, "prune");
    pass(&s, "inline");
    pass(&s, "prune");
    if (level == 0) return;
    clean(&s);
    pass(&s, "into");
    pass(&s, "accumulators");
    clean(&s);
    pass(&s, "shapes");
    pass(&s, "bounds");
    for (int round = 0; round < 2; round++) {
        pass(&s, "lanes");
        pass(&s, "rows");
        pass(&s, "join");
        pass(&s, "fuse");
        clean(&s);
        pass(&s, "licm");
        pass(&s, "bounds");
        clean(&s);
    }
    if (level > 1) {
        pass(&s, "unroll");
        clean(&s);
        pass(&s, "fuse");
        pass(&s, "bounds");
        clean(&s);
    }
    if (pass(&s, "jam")) clean(&s);
    if (pass(&s, "checks")) clean(&s);
    pass(&s, "once");
    /* On a device two launches more cost more than the remainders. */
    if (level > 1 && !module->launches && pass(&s, "ring")) clean(&s);
    if (pass(&s, "scatter")) clean(&s);
    pass(&s, "cells");
    if (pass(&s, "sink")) clean(&s);
    pass(&s, "shapes");
    pass(&s, "apart");
    pass(&s, "wrap");
    pass(&s, "dce");
}
