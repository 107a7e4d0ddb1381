/* The optimiser: passes from IR to IR.  Each keeps the module's meaning to the last bit (sums keep
   their order) and leaves valid IR behind.

   Adding a pass: write `void opt_NAME(OptContext *)` in a file of its own, add one row to pass.def,
   and a place in the order in opt.c. */
#ifndef ADL_OPT_OPT_H
#define ADL_OPT_OPT_H

#include "ir/ir.h"

typedef struct OptContext {
    IrModule *module;
    IrFunc *func;     /* the function at hand; NULL for passes over the module */
    Arena *scratch;   /* freed after each pass */
    bool changed;     /* set by passes that did something */
    bool marked_only; /* inline: only functions that are marked for it */
    bool after_ad;    /* no derivative is asked for any more: STOP has done its work */
} OptContext;

typedef struct OptHooks {
    /* Called after each pass, with its name: printing, verifying, timing.  May be NULL. */
    void (*after)(void *data, const char *pass, IrModule *module);
    void *data;
} OptHooks;

/* Before differentiation: what makes derivatives small (inlining, folding, fusion). */
void opt_before_ad(IrModule *module, int level, const OptHooks *hooks);
/* After it: everything. */
void opt_after_ad(IrModule *module, int level, const OptHooks *hooks);
/* One pass by its name in pass.def, over all functions; false if there is no such pass. */
bool opt_run_pass(IrModule *module, const char *name);
/* Names of all passes, in pass.def's order; ends with NULL. */
const char *const *opt_pass_names(void);

#define PASS(name, scope, title) void opt_##name(OptContext *context);
#include "opt/pass.def"
#undef PASS

#endif
