/* Entries of a device: the derivatives that a kernel's derivative returns are added up over all
   invocations, so that those that are arrays are memory which is added to, like shadows. */
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

void c_add_results(Lower *lw, const Instance *inst, IrExport *export) {
    IrFunc *inner = export->func;
    uint32_t n = inner->nparams, all = n;
    for (uint32_t i = 0; i < export->nparams; i++) all += is_added_to(&export->params[i]);
    if (all == n) return;
    IrType *types = ARENA_ARRAY(lw->arena, IrType, all);
    const char **names = ARENA_ARRAY(lw->arena, const char *, all);
    for (uint32_t i = 0; i < n; i++) {
        types[i] = inner->params[i];
        names[i] = inner->param_names[i];
    }
    for (uint32_t i = 0, at = n; i < export->nparams; i++) {
        IrCParam *p = &export->params[i];
        if (!is_added_to(p)) continue;
        p->kind = IR_C_MUT;
        p->param = (int32_t)at;
        types[at] = p->type;
        names[at++] = p->name;
    }
    IrFunc *func =
        ir_func_new(lw->module, "entry", all, types, names, inner->nresults, inner->results);
    Fn *f = fn_open(lw, inst, func);
    f->b.pos = inst->span.begin;
    IrInst *call = irb_call(&f->b, inner, func->body->params);
    IrValue **give = ARENA_ARRAY(lw->arena, IrValue *, inner->nresults);
    for (uint32_t i = 0; i < inner->nresults; i++) give[i] = call->results[i];
    for (uint32_t i = 0; i < export->nparams; i++) {
        const IrCParam *p = &export->params[i];
        if (p->kind == IR_C_MUT && p->param >= (int32_t)n)
            give[p->result] = add_into(f, func->body->params[p->param], give[p->result]);
    }
    irb_yield(&f->b, inner->nresults, give);
    fn_close(f);
    export->func = func;
}
