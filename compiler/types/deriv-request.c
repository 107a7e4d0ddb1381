/* Requests: the words and options of an operator, and what they make of each parameter's
   activity. */
#include "types/deriv.h"

#include <string.h>

static const char *param_text(FnChecker *f, const DerivParam *p) {
    return p->name ? arena_printf(f->c->arena, "`%s`", p->name->text) : "the parameter";
}

static void note_declared(FnChecker *f, const DerivParam *p) {
    if (p->span.begin) diag_note(f->c->diags, p->span, "%s is declared here", param_text(f, p));
}

/* ---- what is known of parameters ---- */

bool deriv_needs_types(Checker *c, const FnValue *fn) {
    if (fn->kind == FN_DERIV) return deriv_needs_types(c, fn->deriv->base);
    if (fn->kind != FN_NAMED && fn->kind != FN_EXTERN) return true;
    if (fn->instance) return false;                                       /* dot<f32> */
    if (fn->math >= 0 || fn->builtin >= 0 || fn->decl->next) return true; /* several forms */
    const Signature *sig = signature_of(c, fn->decl);
    if (!sig || sig->failed || (sig->generics && sig->generics->len)) return true;
    for (uint32_t k = 0; k < sig->nparams; k++)
        if (sig->params[k].is_fn) return true;
    return false;
}

static uint8_t default_act(bool floats, bool mut) {
    if (!floats) return ACT_CONST;
    return mut ? ACT_DUPLICATED : ACT_ACTIVE;
}

static bool written_type_floats(FnChecker *f, const InstanceInfo *like, const FnDecl *decl,
                                AstNode *type) {
    const AstList *generics = decl->ast ? &decl->ast->generics : NULL;
    if (generics && type_is_generic(type, generics)) return true;
    (void)like;
    Map sizes = {0}, none = {0};
    TypeScope scope = {.c = f->c,
                       .module = decl->module,
                       .generics = &none,
                       .sizes = &sizes,
                       .bind = true,
                       .hint = true};
    Type resolved = resolve_type(&scope, type);
    map_free(&sizes);
    return resolved->has_floats;
}

static bool word_width(FnChecker *f, Module *module, const AstActivity *word, uint32_t *width);

static bool params_of_decl(FnChecker *f, const FnDecl *decl, const Signature *sig,
                           DerivParam *params) {
    bool ok = true;
    for (uint32_t k = 0; k < sig->nparams; k++) {
        AstParam *ast = sig->params[k].ast;
        DerivParam *p = &params[k];
        *p = (DerivParam){.name = sig->params[k].name,
                          .mut = ast->mut,
                          .function = sig->params[k].is_fn,
                          .scalar = sig->params[k].scalar,
                          .written = ast->act != NULL,
                          .span = ast->name.span};
        p->floats = !p->function && written_type_floats(f, NULL, decl, ast->type);
        p->declared =
            ast->act ? (uint8_t)AST_AS(Activity, ast->act)->kind : default_act(p->floats, p->mut);
        if (ast->act) ok &= word_width(f, decl->module, AST_AS(Activity, ast->act), &p->width);
    }
    return ok;
}

static void params_of_instance(const Instance *inst, DerivParam *params) {
    for (uint32_t k = inst->ncaptures; k < inst->nparams; k++) {
        const Local *local = inst->params[k];
        params[k - inst->ncaptures] = (DerivParam){.name = local->name,
                                                   .declared = inst->act[k],
                                                   .floats = local->type->has_floats,
                                                   .mut = local->mut,
                                                   .function = local->type->kind == TYPE_FNVAL,
                                                   .scalar = local->type->kind == TYPE_SCALAR,
                                                   .span = local->span};
    }
}

/* A lambda's parameters: their types are known where they are written, else when it is called;
   until then they count as floats. */
static void params_of_lambda(const AstLambda *lambda, DerivParam *params) {
    for (uint32_t k = 0; k < lambda->params.len; k++) {
        const AstLambdaParam *p = AST_AS(LambdaParam, lambda->params.at[k]);
        Sym name = p->pattern->kind == AST_PatName ? AST_AS(PatName, p->pattern)->name.sym : NULL;
        params[k] = (DerivParam){
            .name = name, .declared = ACT_ACTIVE, .floats = true, .span = p->node.span};
    }
}

/* Does the gradient of a function take a seed, as far as its declaration shows?  The type of a
   generic function's result is not known yet, but a type variable stands for a scalar there. */
static bool takes_seed(const FnValue *base) {
    if (base->kind != FN_NAMED || !base->decl || !base->decl->ast || !base->decl->ast->ret)
        return false;
    const AstRet *ret = AST_AS(Ret, base->decl->ast->ret);
    bool cut = ret->act && AST_AS(Activity, ret->act)->kind == ACT_CONST;
    return !cut && (ret->type->kind == AST_TypeArray || ret->type->kind == AST_TypeTuple);
}

static bool params_of_deriv(FnChecker *f, const FnValue *fn, Span span, uint32_t *n,
                            DerivParam **out) {
    const DerivRequest *request = (const DerivRequest *)fn->deriv;
    uint32_t nbase;
    DerivParam *base;
    if (!deriv_params(f, request->spec.base, span, &nbase, &base)) return false;
    if (!deriv_activities(f, request, nbase, base, span)) return false;
    DerivSlot *slots;
    *n = deriv_slots(f->c, request, nbase, base, &slots);
    DerivParam *params = ARENA_ARRAY(f->c->arena, DerivParam, *n + 2);
    for (uint32_t k = 0; k < *n; k++) {
        params[k] = base[slots[k].of];
        params[k].name = slots[k].name;
        params[k].mut = slots[k].mut;
        params[k].written = false;
        if (slots[k].role != ROLE_PRIMAL)
            params[k].declared = slots[k].mut ? ACT_DUPLICATED : ACT_ACTIVE;
        else if (params[k].act != ACT_CONST)
            params[k].declared = params[k].act == ACT_ACTIVE ? ACT_ACTIVE : ACT_DUPLICATED;
    }
    bool seed = request->spec.seed || takes_seed(request->spec.base);
    if (request->spec.part == DERIV_PART_GRAD && seed)
        params[(*n)++] = (DerivParam){
            .name = intern(f->c->interner, "seed"), .declared = ACT_ACTIVE, .floats = true};
    *out = params;
    return true;
}

/* Known by its type only. */
static void params_of_type(Type fn, DerivParam *params) {
    for (uint32_t k = 0; k < fn->nparts; k++) {
        const TypePart *part = &fn->parts[k];
        bool floats = part->type->has_floats;
        params[k] = (DerivParam){.declared = part->act ? (uint8_t)(part->act - 1)
                                                       : default_act(floats, part->mut),
                                 .written = part->act != 0,
                                 .floats = floats,
                                 .mut = part->mut,
                                 .function = part->type->has_fns,
                                 .scalar = part->type->kind == TYPE_SCALAR};
    }
}

bool deriv_params(FnChecker *f, const FnValue *base, Span span, uint32_t *n, DerivParam **out) {
    if (base->kind == FN_OPAQUE) {
        *n = base->opaque->nparts;
        *out = ARENA_ARRAY(f->c->arena, DerivParam, *n + 1);
        params_of_type(base->opaque, *out);
        return true;
    }
    if (base->kind == FN_DERIV) {
        const DerivRequest *request = (const DerivRequest *)base->deriv;
        /* The seed depends on the result's type, so an instance says it best where there is one. */
        if (deriv_needs_types(f->c, request->spec.base))
            return params_of_deriv(f, base, span, n, out);
        Instance *inst = instance_of_deriv(f->c, base, 0, NULL, span);
        if (!inst) return false;
        *n = inst->nparams - inst->ncaptures;
        *out = ARENA_ARRAY(f->c->arena, DerivParam, *n + 1);
        params_of_instance(inst, *out);
        return true;
    }
    if (base->kind == FN_LAMBDA) {
        *n = base->lambda->params.len;
        *out = ARENA_ARRAY(f->c->arena, DerivParam, *n + 1);
        params_of_lambda(base->lambda, *out);
        return true;
    }
    if (base->kind == FN_ROW) {
        /* A scalar function of the compiler: all its parameters are floats. */
        *n = base->math >= 0 ? math_row_arity(base->math) : 2;
        *out = ARENA_ARRAY(f->c->arena, DerivParam, *n + 1);
        for (uint32_t k = 0; k < *n; k++)
            (*out)[k] = (DerivParam){.declared = ACT_ACTIVE, .floats = true, .scalar = true};
        return true;
    }
    Signature *sig = signature_of(f->c, base->decl);
    if (!sig || sig->failed) return false;
    *n = sig->nparams;
    *out = ARENA_ARRAY(f->c->arena, DerivParam, *n + 1);
    return params_of_decl(f, base->decl, sig, *out);
}

/* ---- widths ---- */

static bool word_width(FnChecker *f, Module *module, const AstActivity *word, uint32_t *width) {
    int64_t n;
    *width = 0;
    if ((word->kind != ACT_BATCH && word->kind != ACT_BATCH_NONEED) || !word->width) return true;
    bool known = const_eval(f->c, module, word->width, &n);
    if (known && n >= 1 && n <= UINT16_MAX) {
        *width = (uint32_t)n;
        return true;
    }
    diag_report(f->c->diags, DIAG_DERIV_WIDTH, word->width->span,
                known ? "a width of %lld: it is at least 1 and at most 65535"
                      : "a width must be a constant",
                (long long)(known ? n : 0));
    return false;
}

bool deriv_word_width(FnChecker *f, const AstActivity *word, uint32_t *width) {
    return word_width(f, f->module ? f->module : f->c->main, word, width);
}

bool deriv_request_width(FnChecker *f, uint32_t option, uint32_t n, const DerivParam *params,
                         Span span, uint32_t *width) {
    const DerivParam *first = NULL;
    *width = option;
    for (uint32_t k = 0; k < n; k++) {
        const DerivParam *p = &params[k];
        if (p->act == ACT_CONST || !p->width) continue;
        if (*width && p->width != *width) {
            diag_report(f->c->diags, DIAG_DERIV_WIDTH, span,
                        "%s is asked for in a width of %u, %s in one of %u", param_text(f, p),
                        p->width, first ? param_text(f, first) : "the request", *width);
            return false;
        }
        *width = p->width;
        if (!first) first = p;
    }
    return true;
}

/* ---- activities ---- */

bool deriv_set_activity(FnChecker *f, DerivParam *p, ActKind act, DerivPart part, Span span) {
    Diags *d = f->c->diags;
    /* The width is the request's; apart from it a batch is as one. */
    if (act == ACT_BATCH) act = ACT_DUPLICATED;
    if (act == ACT_BATCH_NONEED) act = ACT_DUPLICATED_NONEED;
    p->act = (uint8_t)act;
    if (act == ACT_CONST) return true;
    if (!p->floats || p->function) {
        diag_report(d, DIAG_ACT_INTEGER, span, "%s holds no floats: it can only be Const",
                    param_text(f, p));
        note_declared(f, p);
        return false;
    }
    if (p->declared == ACT_CONST) {
        diag_report(d, DIAG_ACT_CONST_ACTIVE, span, "%s is declared Const and is asked to be %s",
                    param_text(f, p), act_name(act));
        note_declared(f, p);
        return false;
    }
    if (act == ACT_ACTIVE && p->mut) {
        diag_report(d, DIAG_ACT_ACTIVE_MUT, span,
                    "%s is `mut`: memory needs a shadow: write Duplicated", param_text(f, p));
        note_declared(f, p);
        return false;
    }
    if (act == ACT_DUPLICATED_NONEED && !p->mut) {
        diag_report(d, DIAG_ACT_NONEED, span, "%s is not `mut`, so it has no final value",
                    param_text(f, p));
        note_declared(f, p);
        return false;
    }
    if (act != ACT_ACTIVE && p->scalar && !p->mut && part != DERIV_PART_JVP) {
        diag_report(d, DIAG_ACT_DUPLICATED_SCALAR, span,
                    "%s is a scalar, an immutable value: write Active; its derivative is returned",
                    param_text(f, p));
        note_declared(f, p);
        return false;
    }
    return true;
}

static bool apply_wrt(FnChecker *f, const DerivRequest *request, uint32_t n, DerivParam *params) {
    for (uint32_t k = 0; k < n; k++) {
        bool listed = false;
        for (uint32_t j = 0; j < request->nwrt; j++) listed |= request->wrt[j] == params[k].name;
        if (!listed) params[k].act = ACT_CONST;
    }
    for (uint32_t j = 0; j < request->nwrt; j++) {
        bool found = false, fits = false;
        for (uint32_t k = 0; k < n; k++) {
            if (params[k].name != request->wrt[j]) continue;
            found = true;
            fits = params[k].act != ACT_CONST;
        }
        if (fits) continue;
        diag_report(f->c->diags, DIAG_DERIV_WRT, request->span,
                    found ? "`%s` in wrt is Const" : "`%s` in wrt is no parameter",
                    request->wrt[j]->text);
        return false;
    }
    return true;
}

/* How many of a kernel's PARAMS are parts of its ranges, which come first and have no words. */
static uint32_t ranges_among(uint32_t n, const DerivParam *params) {
    uint32_t count = 0;
    while (count < n && params[count].name && strchr(params[count].name->text, '.')) count++;
    return count;
}

bool deriv_activities(FnChecker *f, const DerivRequest *request, uint32_t n, DerivParam *params,
                      Span span) {
    DerivPart part = request->spec.part;
    uint32_t first = ranges_among(n, params);
    if (request->nwords && request->nwords != n && request->nwords != n - first) {
        diag_report(f->c->diags, DIAG_ACT_LIST, span,
                    "a list of %u activities for a function of %u parameters", request->nwords,
                    n - first);
        return false;
    }
    first = n - request->nwords;
    for (uint32_t k = 0; k < n; k++) {
        DerivParam *p = &params[k];
        ActKind act = (ActKind)p->declared;
        bool asked = request->nwords && k >= first && request->words[k - first];
        if (asked) {
            act = (ActKind)(request->words[k - first] - 1);
            p->width = request->widths ? request->widths[k - first] : 0;
        }
        /* A declared word is checked where it is declared; here what reverse mode adds. */
        if (asked || (act != ACT_CONST && p->written)) {
            if (!deriv_set_activity(f, p, act, part, span)) return false;
        } else p->act = p->floats && !p->function ? (uint8_t)act : ACT_CONST;
    }
    for (uint32_t j = 0; j < request->nunmodified; j++) {
        bool found = false;
        for (uint32_t k = 0; k < n; k++) found |= request->unmodified[j] == params[k].name;
        if (found) continue;
        diag_report(f->c->diags, DIAG_DERIV_OPTION, request->span,
                    "`%s` in unmodified is no parameter", request->unmodified[j]->text);
        return false;
    }
    return !request->nwrt || apply_wrt(f, request, n, params);
}
