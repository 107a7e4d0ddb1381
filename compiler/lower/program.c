/* The whole: from the roots to a module. */
#include "lower/internal.h"

static void lower_pending(Lower *lw) {
    for (uint32_t i = 0; i < lw->pending.len; i++) lower_instance(lw, lw->pending.at[i]);
    lw->pending.len = 0;
}

IrModule *lower_program(const Program *program, const Sources *sources, Diags *diags,
                        const LowerOptions *options) {
    static const LowerOptions plain;
    Lower lw = {
        .module = ir_module_new(sources),
        .arena = arena_new(),
        .program = program,
        .sources = sources,
        .diags = diags,
        .options = options ? options : &plain,
    };
    lw.module->unchecked = lw.options->unchecked;
    lw.module->device = lw.options->device;
    export_roots(&lw);
    lower_pending(&lw);
    lower_rules(&lw);
    lower_pending(&lw);
    open_effects(&lw);
    kernel_check_derivatives(&lw);
    for (uint32_t i = 0; i < lw.module->funcs.len; i++) {
        IrFunc *func = lw.module->funcs.at[i];
        if (func->body) ir_settle(func);
    }
    vec_free(&lw.open);
    map_free(&lw.funcs);
    map_free(&lw.shapes);
    map_free(&lw.flows);
    map_free(&lw.c_structs);
    vec_free(&lw.pending);
    arena_free(lw.arena);
    return lw.module;
}
