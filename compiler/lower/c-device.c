/* Entries of a device: the derivatives that a kernel's derivative returns are added up over all
   invocations, so that those that are arrays are memory which is added to, like shadows.  The same
   of what a program launches. */
#include "lower/c-interface.h"
#include "lower/internal.h"

static bool is_added_to(const IrCParam *p) {
    return p->kind == IR_C_OUT && p->type->kind == IR_T_ARRAY;
}

/* Result RESULT of CALL, added to INTO. */
static IrValue *add_into(Fn *f, IrValue *into, IrValue *result) {
    IrValue *sizes[IR_MAX_RANK];
    for (uint32_t k = 0; k < result->type->rank; k++) sizes[k] = irb_dim(&f->b, result, k);
    return irb_elementwise(&f->b, IR_ADD, irb_assume(&f->b, into, sizes), result);
}

IrFunc *device_adding(Lower *lw, const Instance *inst, IrFunc *inner, const bool *added,
                      const char *const *names) {
    uint32_t n = inner->nparams, all = n;
    for (uint32_t r = 0; r < inner->nresults; r++) all += added[r];
    if (all == n) return inner;
    IrType *types = ARENA_ARRAY(lw->arena, IrType, all);
    const char **params = ARENA_ARRAY(lw->arena, const char *, all);
    for (uint32_t i = 0; i < n; i++) {
        types[i] = inner->params[i];
        params[i] = inner->param_names[i];
    }
    for (uint32_t r = 0, at = n; r < inner->nresults; r++) {
        if (!added[r]) continue;
        types[at] = inner->results[r];
        params[at++] = names[r];
    }
    IrFunc *func =
        ir_func_new(lw->module, "entry", all, types, params, inner->nresults, inner->results);
    Fn *f = fn_open(lw, inst, func);
    f->b.pos = inst->span.begin;
    IrInst *call = irb_call(&f->b, inner, func->body->params);
    IrValue **give = ARENA_ARRAY(lw->arena, IrValue *, inner->nresults);
    for (uint32_t r = 0, at = n; r < inner->nresults; r++)
        give[r] =
            added[r] ? add_into(f, func->body->params[at++], call->results[r]) : call->results[r];
    irb_yield(&f->b, inner->nresults, give);
    fn_close(f);
    return func;
}

void c_add_results(Lower *lw, const Instance *inst, IrExport *export) {
    IrFunc *inner = export->func;
    bool *added = ARENA_ARRAY(lw->arena, bool, inner->nresults);
    const char **names = ARENA_ARRAY(lw->arena, const char *, inner->nresults);
    int32_t at = (int32_t)inner->nparams;
    /* Of the results these stand in order. */
    for (uint32_t i = 0; i < export->nparams; i++) {
        IrCParam *p = &export->params[i];
        if (!is_added_to(p)) continue;
        added[p->result] = true;
        names[p->result] = p->name;
        p->kind = IR_C_MUT;
        p->param = at++;
    }
    export->func = device_adding(lw, inst, inner, added, names);
}
