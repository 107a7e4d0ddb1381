/* Derivatives that are made when objects are linked.  The one who asks has a function without a
   body, whose symbol names the function, the request and the types that are passed; who meets the
   request exports the derivative under that symbol. */
#include "lower/internal.h"

#include <string.h>

enum { DIGITS = 8 };
static const char prefix[] = "adl_deferred__";

static uint32_t hash_text(const StrBuf *text) {
    uint64_t hash = hash_bytes(text->text ? text->text : "", text->len);
    return (uint32_t)(hash ^ hash >> 32);
}

/* The types that both sides must agree on. */
static uint32_t hash_signature(const IrFunc *func) {
    StrBuf text = {0};
    for (uint32_t i = 0; i < func->nparams; i++) {
        ir_print_type(&text, func->params[i]);
        strbuf_char(&text, ',');
    }
    strbuf_add(&text, "->");
    for (uint32_t i = 0; i < func->nresults; i++) {
        ir_print_type(&text, func->results[i]);
        strbuf_char(&text, ',');
    }
    uint32_t hash = hash_text(&text);
    strbuf_free(&text);
    return hash;
}

static const char *symbol_of(Lower *lw, const Instance *inst, const IrFunc *func) {
    const OpenRequest *open = inst->deriv->open;
    StrBuf text = {0};
    strbuf_printf(&text, "%s%s", open->text,
                  inst->deriv->part == DERIV_PART_REVERSE ? " reverse" : "");
    char *symbol = arena_printf(lw->module->arena, "%s%s_%s__%08x%08x", prefix, open->module,
                                open->function, hash_text(&text), hash_signature(func));
    strbuf_free(&text);
    for (char *p = symbol; *p; p++)
        if (*p == '.') *p = '_';
    return symbol;
}

void open_request(Lower *lw, const Instance *inst, IrFunc *func) {
    const OpenRequest *open = inst->deriv->open;
    const Instance *base = inst;
    while (base->deriv) base = base->deriv->base_instance;
    func->body = NULL;
    func->flags |= IR_FUNC_EXTERN | IR_FUNC_OPEN;
    func->symbol = symbol_of(lw, inst, func);
    IrRequest request = {func->symbol, module_text(lw, "%s", open->module),
                         module_text(lw, "%s", open->text), inst->deriv->part == DERIV_PART_FORWARD,
                         inst->deriv->part == DERIV_PART_REVERSE};
    vec_push(&lw->module->requests, request);
    /* Its effects are those of the function, which nothing else may need. */
    vec_push(&lw->open, ((Open){func, lower_func(lw, base)}));
}

void open_effects(Lower *lw) {
    for (uint32_t i = 0; i < lw->open.len; i++)
        if (ir_func_pure(lw->open.at[i].base)) lw->open.at[i].func->flags |= IR_FUNC_PURE_EXTERN;
    ir_forget_purity(lw->module);
}

void export_open(Lower *lw, const Root *root) {
    if (strncmp(root->name, prefix, strlen(prefix)) != 0) return; /* the other half of a split */
    IrExport *export = ARENA_NEW(lw->module->arena, IrExport);
    export->kind = IR_EXPORT_OPEN;
    export->name = module_text(lw, "%s", root->name);
    export->func = lower_func(lw, root->instance);
    const char *asked = export->name + strlen(export->name) - DIGITS;
    if (strcmp(asked, module_text(lw, "%08x", hash_signature(export->func))) != 0) {
        const Instance *base = root->instance;
        while (base->deriv) base = base->deriv->base_instance;
        diag_report(lw->diags, DIAG_OPEN_REQUEST, base->span,
                    "the parameters or results of `%s` are not those that a deferred derivative "
                    "was asked for",
                    base->name);
        return;
    }
    export_put(lw, root, export);
}
