/* What the program launches, for a device: the same instances once more, each lowered for one
   invocation (kernel.c), in a module of their own beside that of the CPU.  A function of it has the
   parameters and results of the CPU's, so that the code generator can call either. */
#include "lower/internal.h"

#include <string.h>

void launch_note(Lower *lw, const Instance *inst, IrFunc *func) {
    if (!lw->options->launches || lw->options->device || func->launch || !kernel_behind(inst))
        return;
    func->launch = ARENA_NEW(lw->module->arena, IrLaunch);
    vec_push(&lw->launched, inst);
}

/* ---- ranges and memory ---- */

/* Parameter I of INST is a part of a range: 3 times the index and 0 (begin), 1 (end) or 2 (size of
   blocks); else -1. */
static int32_t range_part(const Instance *inst, uint32_t i) {
    if (inst->kind == INSTANCE_DERIV) {
        const DerivSlot *slot = &inst->deriv->params[i];
        if (slot->role != ROLE_PRIMAL) return -1;
        return range_part(inst->deriv->base_instance, slot->of);
    }
    return i < 3 * inst->decl->nindices ? (int32_t)i : -1;
}

static void describe(Lower *lw, const Instance *inst, IrLaunch *launch, const IrFunc *func) {
    uint32_t *const parts[] = {launch->begin, launch->end, launch->size};
    uint32_t param = 0, result = shape_count(lw, inst->result);
    launch->name = arena_strndup(lw->module->arena, inst->name, strlen(inst->name));
    launch->n = kernel_behind(inst)->nindices;
    launch->memory = ARENA_ARRAY(lw->module->arena, int32_t, func->nresults);
    launch->like = ARENA_ARRAY(lw->module->arena, int32_t, func->nresults);
    for (uint32_t i = 0; i < func->nresults; i++) launch->memory[i] = launch->like[i] = -1;
    for (uint32_t i = 0; i < inst->nparams; i++) {
        int32_t part = range_part(inst, i);
        uint32_t n = shape_count(lw, inst->params[i]->type);
        if (part >= 0) parts[part % 3][part / 3] = param;
        for (uint32_t k = 0; k < n; k++, param++)
            if (inst->params[i]->mut) launch->memory[result++] = (int32_t)param;
    }
}

/* ---- arrays that are returned ---- */

/* The first parameter of INST's function that is of its base's parameter OF; -1: none is. */
static int32_t param_of(Lower *lw, const Instance *inst, uint32_t of) {
    int32_t param = 0;
    for (uint32_t i = 0; i < inst->deriv->nparams; i++) {
        const DerivSlot *slot = &inst->deriv->params[i];
        if (slot->role == ROLE_PRIMAL && slot->of == of) return param;
        param += (int32_t)shape_count(lw, slot->type);
    }
    return -1;
}

/* FUNC, with memory for the derivatives that it returns, if they are arrays: each has the sizes of
   what it is of. */
static IrFunc *with_memory(Lower *device, const Instance *inst, IrLaunch *launch, IrFunc *func) {
    bool *added = ARENA_ARRAY(device->arena, bool, func->nresults);
    const char **names = ARENA_ARRAY(device->arena, const char *, func->nresults);
    int32_t more = (int32_t)func->nparams;
    uint32_t result = 0;
    if (inst->kind != INSTANCE_DERIV) return func;
    for (uint32_t i = 0; i < inst->deriv->nresults; i++) {
        const DerivSlot *slot = &inst->deriv->results[i];
        uint32_t n = shape_count(device, slot->type);
        int32_t like = slot->role == ROLE_COTANGENT ? param_of(device, inst, slot->of) : -1;
        for (uint32_t k = 0; k < n; k++, result++) {
            IrType type = func->results[result];
            int32_t param = like + (int32_t)k;
            if (type->kind != IR_T_ARRAY || like < 0) continue;
            if (func->params[param]->rank != type->rank) continue;
            added[result] = true;
            names[result] = func->param_names[param];
            launch->like[result] = param;
            launch->memory[result] = more++;
        }
    }
    return device_adding(device, inst, func, added, names);
}

/* ---- what a device cannot have ---- */

typedef struct Twins {
    Lower device;
    Map failed; /* instances of kernels that could not be lowered */
} Twins;

static const Instance *kernel_instance(const Instance *inst) {
    while (inst->kind == INSTANCE_DERIV) inst = inst->deriv->base_instance;
    return inst;
}

static const char *refusal(const Twins *t, const Instance *inst) {
    const Instance *kernel = kernel_instance(inst);
    if (map_hasp(&t->failed, kernel)) return "--emit=ptx does not compile it";
    if (inst == kernel) return NULL;
    if (inst->deriv->open) return "it is made when objects are linked";
    if (inst->deriv->part == DERIV_PART_FORWARD) return "it gives a tape";
    return NULL;
}

/* ---- all ---- */

/* Lowers INST and what it calls.  What only a device cannot have is no error. */
static IrFunc *lower_one(Twins *t, const Instance *inst) {
    uint32_t errors = diags_errors(t->device.diags);
    IrFunc *func = lower_func(&t->device, inst);
    lower_pending(&t->device);
    if (diags_errors(t->device.diags) > errors)
        map_setp(&t->failed, kernel_instance(inst), (void *)inst);
    return func;
}

void launch_lower(Lower *lw) {
    LowerOptions options = *lw->options;
    if (!lw->launched.len || diags_errors(lw->diags)) return;
    options.device = true;
    Arena *arena = arena_new();
    Diags *quiet = diags_new(arena, lw->sources);
    Twins t = {.device = lower_open(lw->program, lw->sources, quiet, &options)};
    for (uint32_t i = 0; i < lw->launched.len; i++) {
        const Instance *inst = lw->launched.at[i];
        IrLaunch *launch = ((IrFunc *)map_getp(&lw->funcs, inst))->launch;
        IrFunc *func = lower_one(&t, inst);
        describe(lw, inst, launch, func);
        const char *why = refusal(&t, inst);
        IrUnlaunched unlaunched = {inst->span.begin, launch->name, why};
        if (why) {
            vec_push(&lw->module->unlaunched, unlaunched);
            continue;
        }
        launch->func = with_memory(&t.device, inst, launch, func);
        launch->func->flags |= IR_FUNC_ROOT;
    }
    lw->module->kernels = lower_close(&t.device);
    vec_free(&lw->launched);
    map_free(&t.failed);
    diags_free(quiet);
    arena_free(arena);
}
