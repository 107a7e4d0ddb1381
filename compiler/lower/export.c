/* Roots: exported functions with their C signatures, main with its options, tests. */
#include "lower/c-interface.h"

#include <stdio.h>
#include <string.h>

/* ---- names ---- */

static const char *keep(Lower *lw, const char *text) {
    return text ? arena_strndup(lw->module->arena, text, strlen(text)) : NULL;
}

static bool can_export(Lower *lw, const Root *root) {
    const Instance *inst = root->instance;
    bool functions = inst->result->has_fns;
    for (uint32_t i = 0; i < inst->nparams; i++)
        functions = functions || inst->params[i]->type->has_fns ||
                    inst->params[i]->type->kind == TYPE_FNVAL;
    if (!functions) return true;
    diag_report(lw->diags, DIAG_EXPORT_FUNCTION, root->span,
                "'%s' cannot be exported: C cannot pass a function to it", root->name);
    return false;
}

void export_put(Lower *lw, const Root *root, IrExport *export) {
    export->doc = keep(lw, root->doc);
    export->pos = root->span.begin;
    export->func->flags |= IR_FUNC_ROOT;
    vec_push(&lw->module->exports, export);
}

static void export_c(Lower *lw, const Root *root) {
    if (!can_export(lw, root)) return;
    IrExport *export = ARENA_NEW(lw->module->arena, IrExport);
    export->kind = IR_EXPORT_C;
    export->name =
        module_text(lw, "%s%s", lw->options->prefix ? lw->options->prefix : "", root->name);
    bool open = root->instance->deriv && root->instance->deriv->open;
    export->func =
        open ? export_entry(lw, root->instance, export->name) : lower_func(lw, root->instance);
    if (!c_signature(lw, root, export)) return;
    if (lw->options->device) c_add_results(lw, root->instance, export);
    export_put(lw, root, export);
}

/* ---- main ---- */

static void check_dim(Fn *f, const Instance *inst, uint32_t p, IrValue *x, uint32_t k, Size size) {
    IrValue *pair[] = {irb_dim(&f->b, x, k), size_value(f, size)};
    if (!pair[1] || pair[0] == pair[1] || size_is_dim_of(pair[1], x, k)) return;
    emit_check(f, emit_binary(f, IR_EQ, pair[0], pair[1]), LOWER_ERROR_SIZE,
               module_text(f->lw, "dimension %u of %s is {0}, but %s is {1}", k + 1,
                           inst->params[p]->name ? inst->params[p]->name->text : "a parameter",
                           size_text(f->lw->program->types, size)),
               2, pair);
}

IrFunc *export_entry(Lower *lw, const Instance *inst, const char *name) {
    IrFunc *inner = lower_func(lw, inst);
    IrFunc *func = ir_func_new(lw->module, name, inner->nparams, inner->params, inner->param_names,
                               inner->nresults, inner->results);
    Fn *f = fn_open(lw, inst, func);
    uint32_t at = 0;
    f->b.pos = inst->span.begin;
    for (uint32_t pass = 0; pass < 2; pass++) {
        at = 0;
        for (uint32_t p = 0; p < inst->nparams; p++) {
            const Shape *shape = shape_of(lw, inst->params[p]->type);
            Vals own = {func->body->params + at, shape->n};
            if (!pass) env_note_size(f, inst->params[p], own);
            if (pass) size_bind(f, inst->params[p]->type, own);
            for (uint32_t i = 0; pass && i < shape->n; i++)
                for (uint32_t k = 0; k < shape->leaf[i].rank; k++)
                    check_dim(f, inst, p, own.at[i], k, shape->leaf[i].dims[k]);
            at += shape->n;
        }
    }
    IrInst *call = irb_call(&f->b, inner, func->body->params);
    irb_yield(&f->b, call->nresults, call->results);
    fn_close(f);
    return func;
}

/* "[n, 3]" of an array: the sizes as they are called. */
static const char *shape_text(Lower *lw, Type type) {
    if (type->kind != TYPE_ARRAY) return NULL;
    StrBuf text = {0};
    for (uint32_t k = 0; k < type->rank; k++) {
        Size size = type->dims[k];
        strbuf_add(&text, k ? ", " : "[");
        if (size->kind == SIZE_ANY || (size->kind == SIZE_VAR && !size->name))
            strbuf_add(&text, "_");
        else size_print(&text, size);
    }
    strbuf_add(&text, "]");
    const char *kept = keep(lw, text.text);
    strbuf_free(&text);
    return kept;
}

static void export_main(Lower *lw, const Root *root) {
    const Instance *inst = root->instance;
    IrExport *export = ARENA_NEW(lw->module->arena, IrExport);
    export->kind = IR_EXPORT_MAIN;
    export->name = "main";
    export->noptions = inst->nparams;
    export->options = ARENA_ARRAY(lw->module->arena, IrOption, inst->nparams);
    for (uint32_t i = 0; i < inst->nparams; i++) {
        const Local *local = inst->params[i];
        IrOption *option = &export->options[i];
        const Shape *shape = shape_of(lw, local->type);
        option->name = keep(lw, local->name ? local->name->text : "");
        option->doc = keep(lw, root->param_docs ? root->param_docs[i] : NULL);
        option->param = (int32_t)i;
        if (shape->n != 1 || shape->leaf[0].kind == IR_T_TAPE) {
            diag_report(lw->diags, DIAG_MAIN_PARAMETER, local->span,
                        "parameter '%s' of main cannot come from the command line", option->name);
            diag_help(lw->diags, (Span){0, 0},
                      "parameters of main are numbers, bools, strings and arrays of numbers");
            return;
        }
        option->type = shape->leaf[0].type;
        option->shape = shape_text(lw, local->type);
        if (root->defaults && root->defaults[i]) {
            option->has_default = true;
            option->default_func = lower_func(lw, root->defaults[i]);
            option->default_func->flags |= IR_FUNC_ROOT;
            option->default_text = keep(lw, root->default_texts ? root->default_texts[i] : NULL);
        }
    }
    export->func = export_entry(lw, inst, "main_entry");
    export_put(lw, root, export);
}

static void export_test(Lower *lw, const Root *root) {
    IrExport *export = ARENA_NEW(lw->module->arena, IrExport);
    export->kind = root->kind == ROOT_TEST ? IR_EXPORT_TEST : IR_EXPORT_BENCH;
    export->name = keep(lw, root->name);
    export->func = lower_func(lw, root->instance);
    export_put(lw, root, export);
}

void export_roots(Lower *lw) {
    uint32_t wanted = lw->options->roots;
    for (uint32_t i = 0; i < lw->program->roots.len; i++) {
        const Root *root = &lw->program->roots.at[i];
        if (wanted && !(wanted >> root->kind & 1)) continue;
        switch (root->kind) {
        case ROOT_EXPORT: export_c(lw, root); break;
        case ROOT_MAIN: export_main(lw, root); break;
        case ROOT_TEST:
        case ROOT_BENCH: export_test(lw, root); break;
        case ROOT_CHECK: export_check(lw, root); break;
        case ROOT_OPEN: export_open(lw, root); break;
        }
    }
}
