/* Instances to functions of the IR: signatures, entry, results. */
#include "lower/internal.h"

#include <string.h>

/* ---- signatures ---- */

typedef struct Signature {
    VEC(IrType) params;
    VEC(const char *) names;
    VEC(IrType) results;
} Signature;

static void add_param(Lower *lw, Signature *s, const Local *local) {
    const Shape *shape = shape_of(lw, local->type);
    const char *name = local->name ? local->name->text : "p";
    for (uint32_t i = 0; i < shape->n; i++) {
        vec_push(&s->params, shape->leaf[i].type);
        vec_push(&s->names,
                 shape->n == 1 ? module_text(lw, "%s", name) : module_text(lw, "%s_%u", name, i));
    }
}

static void add_results(Lower *lw, Signature *s, Type type) {
    const Shape *shape = shape_of(lw, type);
    for (uint32_t i = 0; i < shape->n; i++) vec_push(&s->results, shape->leaf[i].type);
}

/* Names of the text form: letters, digits, '_'. */
static const char *function_name(Lower *lw, const Instance *inst) {
    StrBuf buf = {0};
    for (const char *at = inst->name ? inst->name : "f"; *at; at++) {
        bool plain = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') ||
                     (*at >= '0' && *at <= '9') || *at == '_';
        if (plain || (buf.len && buf.text[buf.len - 1] != '_'))
            strbuf_char(&buf, plain ? *at : '_');
    }
    while (buf.len && buf.text[buf.len - 1] == '_') buf.len--;
    const char *name =
        arena_strndup(lw->module->arena, buf.len ? buf.text : "f", buf.len ? buf.len : 1);
    strbuf_free(&buf);
    return name;
}

static void make_extern(Lower *lw, const Instance *inst, IrFunc *func) {
    const AstExtern *ext = inst->decl ? inst->decl->ext : NULL;
    func->body = NULL;
    func->flags |= IR_FUNC_EXTERN;
    func->symbol = module_text(lw, "%s", inst->name);
    if (ext && ext->symbol.len)
        func->symbol = arena_strndup(lw->module->arena, ext->symbol.at, ext->symbol.len);
    else if (ext && ext->name.sym) func->symbol = module_text(lw, "%s", ext->name.sym->text);
    if (func->nresults) func->flags |= IR_FUNC_PURE_EXTERN;
}

IrFunc *lower_func(Lower *lw, const Instance *inst) {
    IrFunc *func = map_getp(&lw->funcs, inst);
    if (func) return func;
    Signature s = {0};
    for (uint32_t i = 0; i < inst->nparams; i++) add_param(lw, &s, inst->params[i]);
    add_results(lw, &s, inst->result);
    for (uint32_t i = 0; i < inst->nparams; i++)
        if (inst->params[i]->mut) add_results(lw, &s, inst->params[i]->type);
    if (inst->kind == INSTANCE_RULE && inst->rule_of)
        func = rule_func(lw, inst, function_name(lw, inst));
    else
        func = ir_func_new(lw->module, function_name(lw, inst), s.params.len, s.params.at,
                           s.names.at, s.results.len, s.results.at);
    vec_free(&s.params);
    vec_free(&s.names);
    vec_free(&s.results);
    func->pos = inst->span.begin;
    if (inst->small) func->flags |= IR_FUNC_INLINE;
    if ((inst->decl && inst->decl->module->is_std) || sources_in_library(lw->sources, func->pos))
        func->flags |= IR_FUNC_LIBRARY;
    if (inst->kind == INSTANCE_EXTERN) make_extern(lw, inst, func);
    else if (inst->deriv && inst->deriv->open) open_request(lw, inst, func);
    else vec_push(&lw->pending, (Instance *)inst);
    map_setp(&lw->funcs, inst, func);
    rule_attach(lw, inst, func);
    return func;
}

/* ---- entry ---- */

static void open_size_param(Fn *f, const Local *local, Vals value) {
    if (local->is_size) {
        if (local->size && local->size->kind == SIZE_VAR)
            env_bind_size(f, local->size->id, value.at[0]);
    } else {
        env_note_size(f, local, value);
    }
}

/* Sizes that are i64 parameters are dimensions of other parameters, so not negative. */
static void note_sizes(Fn *f, Type type) {
    const Shape *shape = shape_of(f->lw, type);
    for (uint32_t i = 0; i < shape->n; i++)
        for (uint32_t k = 0; k < shape->leaf[i].rank; k++) {
            Size size = shape->leaf[i].dims[k];
            IrValue *value = size->kind == SIZE_VAR ? env_size(f, size->id) : NULL;
            if (value) size_note_nonneg(f, value);
        }
}

void fn_bind_params(Fn *f, const Vals *own) {
    const Instance *inst = f->inst;
    for (uint32_t i = 0; i < inst->nparams; i++) open_size_param(f, inst->params[i], own[i]);
    for (uint32_t i = 0; i < inst->nparams; i++) size_bind(f, inst->params[i]->type, own[i]);
    for (uint32_t i = 0; i < inst->nparams; i++) {
        note_sizes(f, inst->params[i]->type);
        Vals value = size_assume(f, inst->params[i]->type, own[i]);
        if (inst->params[i]->is_const) value = emit_stop(f, value);
        env_bind(f, inst->params[i], value);
    }
}

static void open_params(Fn *f) {
    const Instance *inst = f->inst;
    Vals *own = ARENA_ARRAY(f->lw->arena, Vals, inst->nparams);
    uint32_t at = 0;
    for (uint32_t i = 0; i < inst->nparams; i++) {
        own[i] = vals_new(f->lw, shape_count(f->lw, inst->params[i]->type));
        for (uint32_t k = 0; k < own[i].n; k++) own[i].at[k] = f->func->body->params[at++];
    }
    fn_bind_params(f, own);
}

Fn *fn_open(Lower *lw, const Instance *inst, IrFunc *func) {
    Fn *f = ARENA_NEW(lw->arena, Fn);
    f->lw = lw;
    f->inst = inst;
    f->func = func;
    f->b.pos = func->pos;
    irb_at_end(&f->b, func->body);
    vec_push(&f->slots, ((Slot){0}));
    return f;
}

void fn_close(Fn *f) {
    map_free(&f->index);
    map_free(&f->nonneg);
    map_free(&f->constants);
    map_free(&f->hoisted);
    vec_free(&f->slots);
    vec_free(&f->trail);
}

/* ---- bodies ---- */

Vals fn_value(Fn *f) {
    const Shape *result = shape_of(f->lw, f->inst->result);
    CHECK_INTERNAL(f->inst->body);
    if (result->n) f->ret = env_new_slot(f, result);
    lower_body(f, f->inst->body);
    if (!f->ret) return (Vals){0};
    Vals value = env_get(f, f->ret);
    return value.at ? value : emit_nothing(f, result);
}

void lower_instance(Lower *lw, const Instance *inst) {
    IrFunc *func = map_getp(&lw->funcs, inst);
    if (inst->kind == INSTANCE_DERIV) {
        lower_deriv(lw, inst);
        return;
    }
    if (inst->kind == INSTANCE_RULE && inst->rule_of) {
        lower_rule(lw, inst);
        return;
    }
    Fn *f = fn_open(lw, inst, func);
    Vals *parts = ARENA_ARRAY(lw->arena, Vals, inst->nparams + 1);
    uint32_t n = 1;
    open_params(f);
    parts[0] = fn_value(f);
    for (uint32_t i = 0; i < inst->nparams; i++)
        if (inst->params[i]->mut) parts[n++] = env_get(f, env_slot(f, inst->params[i]));
    Vals all = vals_join(lw, n, parts);
    irb_yield(&f->b, all.n, all.at);
    fn_close(f);
}
