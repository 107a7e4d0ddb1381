/* Which `deferred` requests can be left open until objects are linked: of functions of other
   modules, not of the standard library, that nothing in this program differentiates further, and in
   which no rule of another module than their own has a say.  Such a request is kept as a text, so
   that it can be asked again where the function's module is at hand. */
#include "types/analyse.h"
#include "types/deriv.h"

#include <string.h>

/* The function that a chain of operators is applied to; NULL: not one that has a name elsewhere. */
static const FnDecl *innermost(Checker *c, const Instance *inst) {
    if (deriv_needs_types(c, inst->deriv->base)) return NULL;
    const FnValue *fn = inst->deriv->base;
    while (fn->kind == FN_DERIV) fn = fn->deriv->base;
    if ((fn->kind != FN_NAMED && fn->kind != FN_EXTERN) || fn->instance) return NULL;
    return fn->decl->module == c->main || fn->decl->module->is_std ? NULL : fn->decl;
}

static bool foreign_rule(const Checker *c, const Instance *base) {
    Reach r = {0};
    bool found = false;
    reach_instance(&r, (Instance *)base);
    for (uint32_t i = 0; i < r.found.len; i++) {
        const RuleDecl *rule = r.found.at[i]->rule_decl;
        found |= rule && rule->module == c->main;
    }
    vec_free(&r.found);
    bitset_free(&r.seen);
    return found;
}

/* ---- the request as a text ---- */

static void add_word(StrBuf *out, const DerivSpec *spec, uint8_t act) {
    static const char *const words[] = {"Const",           "Active",
                                        "Duplicated",      "DuplicatedNoNeed",
                                        "BatchDuplicated", "BatchDuplicatedNoNeed"};
    strbuf_add(out, words[act]);
    if (act == ACT_BATCH || act == ACT_BATCH_NONEED) strbuf_printf(out, "<%u>", spec->width);
}

static void add_option(StrBuf *out, bool *first, const char *text) {
    strbuf_printf(out, "%s%s", *first ? "[" : ", ", text);
    *first = false;
}

static void add_options(Checker *c, StrBuf *out, const Instance *inst) {
    const DerivSpec *spec = inst->deriv;
    const Instance *base = spec->base_instance;
    bool first = true;
    if (spec->primal) add_option(out, &first, "primal");
    if (spec->seed) add_option(out, &first, "seed");
    if (spec->strong_zero) add_option(out, &first, "strong_zero");
    if (spec->holomorphic) add_option(out, &first, "holomorphic");
    if (spec->width) add_option(out, &first, arena_printf(c->arena, "batch(%u)", spec->width));
    if (spec->checkpoint > 0)
        add_option(out, &first,
                   arena_printf(c->arena, "checkpoint(%lld)", (long long)spec->checkpoint));
    if (spec->checkpoint == CHECKPOINT_SQRT) add_option(out, &first, "checkpoint(sqrt)");
    if (spec->checkpoint == CHECKPOINT_ALL) add_option(out, &first, "checkpoint(all)");
    if (spec->checkpoint == CHECKPOINT_NONE) add_option(out, &first, "checkpoint(none)");
    for (uint32_t p = 0; spec->unmodified && p < base->nparams; p++)
        if (spec->unmodified[p])
            add_option(out, &first,
                       arena_printf(c->arena, "unmodified(%s)", base->params[p]->name->text));
    if (!first) strbuf_char(out, ']');
}

static void add_request(Checker *c, StrBuf *out, const Instance *inst) {
    static const char *const operators[] = {"grad", "jvp", "split", "split"};
    const DerivSpec *spec = inst->deriv;
    strbuf_add(out, operators[spec->part]);
    add_options(c, out, inst);
    strbuf_add(out, " ");
    if (spec->base->kind == FN_DERIV) {
        strbuf_char(out, '(');
        add_request(c, out, spec->base_instance);
        strbuf_char(out, ')');
    } else {
        strbuf_printf(out, "m.%s", spec->base->decl->name->text);
    }
    strbuf_char(out, '(');
    for (uint32_t p = 0; p < spec->base_instance->nparams; p++) {
        if (p) strbuf_add(out, ", ");
        add_word(out, spec, spec->act[p]);
    }
    strbuf_char(out, ')');
}

static const OpenRequest *request_of(Checker *c, const Instance *inst, const FnDecl *decl) {
    StrBuf text = {0};
    OpenRequest *open = ARENA_NEW(c->arena, OpenRequest);
    add_request(c, &text, inst);
    *open = (OpenRequest){decl->module->name->text, decl->name->text,
                          arena_strndup(c->arena, text.text, text.len)};
    strbuf_free(&text);
    return open;
}

void check_open(Checker *c) {
    Program *program = c->program;
    Reach further = {0}; /* what other derivatives are made of */
    for (uint32_t i = 0; i < program->instances.len; i++) {
        Instance *inst = program->instances.at[i];
        if (!inst->deriv) continue;
        const FnDecl *decl = inst->deriv->deferred ? innermost(c, inst) : NULL;
        if (decl && inst->ncaptures == 0 && !foreign_rule(c, inst->deriv->base_instance))
            inst->deriv->open = request_of(c, inst, decl);
        else reach_instance(&further, inst->deriv->base_instance);
    }
    for (uint32_t i = 0; i < program->instances.len; i++) {
        Instance *inst = program->instances.at[i];
        reach_instance(&further, inst->rule);
        reach_instance(&further, inst->rule_reverse);
        reach_instance(&further, inst->rule_augmented);
    }
    for (uint32_t i = 0; i < further.found.len; i++)
        if (further.found.at[i]->deriv) further.found.at[i]->deriv->open = NULL;
    vec_free(&further.found);
    bitset_free(&further.seen);
}
