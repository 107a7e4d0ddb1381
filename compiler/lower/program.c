/* The whole: from the roots to a module. */
#include "lower/internal.h"

void lower_pending(Lower *lw) {
    for (uint32_t i = 0; i < lw->pending.len; i++) lower_instance(lw, lw->pending.at[i]);
    lw->pending.len = 0;
}

Lower lower_open(const Program *program, const Sources *sources, Diags *diags,
                 const LowerOptions *options) {
    Lower lw = {
        .module = ir_module_new(sources),
        .arena = arena_new(),
        .program = program,
        .sources = sources,
        .diags = diags,
        .options = options,
    };
    lw.module->unchecked = options->unchecked;
    lw.module->device = options->device;
    return lw;
}

IrModule *lower_close(Lower *lw) {
    lower_pending(lw);
    lower_rules(lw);
    lower_pending(lw);
    launch_lower(lw);
    open_effects(lw);
    for (uint32_t i = 0; i < lw->module->funcs.len; i++) {
        IrFunc *func = lw->module->funcs.at[i];
        if (func->body) ir_settle(func);
    }
    vec_free(&lw->open);
    map_free(&lw->funcs);
    map_free(&lw->shapes);
    map_free(&lw->flows);
    map_free(&lw->c_structs);
    vec_free(&lw->pending);
    arena_free(lw->arena);
    return lw->module;
}

IrModule *lower_program(const Program *program, const Sources *sources, Diags *diags,
                        const LowerOptions *options) {
    static const LowerOptions plain;
    Lower lw = lower_open(program, sources, diags, options ? options : &plain);
    export_roots(&lw);
    return lower_close(&lw);
}
