/* A launch is one call to the end, so that a device can run it as a whole.  Derivatives of
   functions that launch are the CPU's, and are best made of what is put in place.  So what is
   differentiated becomes a function of its own, in which launches are calls like any. */
#include "base/map.h"
#include "opt/opt.h"

typedef struct Copier {
    IrModule *module;
    bool *launches; /* by IrFunc.id: it, or something that it calls, launches */
    bool changed;
    Map copies; /* IrFunc to IrFunc */
} Copier;

static bool is_launch(const IrFunc *func) {
    return func->launch && func->launch->func;
}

static void look_at_call(IrInst *inst, void *data) {
    Copier *c = data;
    const IrFunc *caller = inst->parent->func;
    if (inst->op != IR_CALL || c->launches[caller->id]) return;
    if (!is_launch(inst->func) && !c->launches[inst->func->id]) return;
    c->launches[caller->id] = c->changed = true;
}

static void find_launches(Copier *c) {
    do {
        c->changed = false;
        for (uint32_t i = 0; i < c->module->funcs.len; i++)
            if (c->module->funcs.at[i]->body)
                ir_walk(c->module->funcs.at[i]->body, look_at_call, c);
    } while (c->changed);
}

static IrFunc *copy_of(Copier *c, IrFunc *func);

static void redirect(IrInst *inst, void *data) {
    Copier *c = data;
    if (inst->op == IR_CALL && is_launch(inst->func))
        vec_push(&c->module->unlaunched, ((IrUnlaunched){inst->pos, inst->func->launch->name,
                                                         "it is part of a derivative"}));
    if (inst->op == IR_CALL && (is_launch(inst->func) || c->launches[inst->func->id]))
        inst->func = copy_of(c, inst->func);
}

static IrFunc *copy_of(Copier *c, IrFunc *func) {
    IrFunc *copy = map_getp(&c->copies, func);
    if (copy || !func->body) return copy ? copy : func;
    copy = ir_func_new(c->module, func->name, func->nparams, func->params, func->param_names,
                       func->nresults, func->results);
    map_setp(&c->copies, func, copy);
    copy->flags = func->flags & ~(uint32_t)IR_FUNC_ROOT;
    copy->pos = func->pos;
    copy->rule = func->rule;
    copy->rule_active = func->rule_active;
    copy->reverse_rule = func->reverse_rule;
    copy->augmented = func->augmented;
    Map values = {0};
    for (uint32_t i = 0; i < func->nparams; i++)
        map_setp(&values, func->body->params[i], copy->body->params[i]);
    ir_clone_region(copy, copy->body, func->body, &values);
    map_free(&values);
    ir_walk(copy->body, redirect, c);
    return copy;
}

void opt_derived(OptContext *context) {
    IrModule *module = context->module;
    Copier c = {.module = module};
    /* Of copies nothing is asked. */
    uint32_t n = module->funcs.len;
    c.launches = ARENA_ARRAY(context->scratch, bool, ir_func_ids(module));
    find_launches(&c);
    for (uint32_t i = 0; i < n; i++) {
        IrFunc *func = module->funcs.at[i];
        if (func->body || func->deriv.mode == IR_DERIV_NONE) continue;
        if (!c.launches[func->deriv.base->id]) continue;
        func->deriv.base = copy_of(&c, func->deriv.base);
        context->changed = true;
    }
    map_free(&c.copies);
}
