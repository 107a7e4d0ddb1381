/* The option `holomorphic`: a complex result whose derivative is one complex number.  Nothing
   active may go through what is not holomorphic; that is followed through the bodies of all
   callees. */
#include "types/analyse.h"
#include "types/deriv.h"

#include <string.h>

typedef struct Search {
    Checker *c;
    const DerivRequest *request;
    const Instance *base;
    Map seen;     /* hash of an instance and its active parameters */
    Span user;    /* in the library: the call from outside */
    bool library; /* the walked body belongs to it */
    bool failed;
} Search;

static void search(Search *s, const Instance *inst, const bool *active);

static void report(Search *s, Span span, const char *name) {
    if (s->failed) return;
    s->failed = true;
    diag_report(s->c->diags, DIAG_HOLOMORPHIC, s->library ? s->user : span,
                "`%s` of what is differentiated is not holomorphic", name);
    diag_note(s->c->diags, s->request->span, "f' of `%s` is asked for here", s->base->name);
}

static bool is_complex_like(Type type) {
    return is_complex(elem_of(type));
}

/* Functions of the library from complex numbers to a complex number have a derivative. */
static bool library_function(const Instance *inst) {
    if (!inst->decl || !inst->decl->module->is_std || !is_complex(inst->result)) return false;
    for (uint32_t i = 0; i < inst->nparams; i++)
        if (!is_complex(inst->params[i]->type)) return false;
    return inst->nparams > 0;
}

static const char *broken_by(const Search *s, const Tree *t) {
    static const char *const functions[] = {"abs", "abs2", "arg"};
    if (t->kind == T_PART && is_complex_like(t->args[0]->type)) return t->index ? "im" : "re";
    bool one = t->kind == T_CALL || t->kind == T_BUILTIN || t->kind == T_SCALAR_FN;
    if (!one || t->nargs != 1 || !is_complex_like(t->args[0]->type)) return NULL;
    if (t->kind == T_BUILTIN) {
        bool bad =
            t->builtin == BUILTIN_RE || t->builtin == BUILTIN_IM || t->builtin == BUILTIN_CONJ;
        return bad ? fnvalue_of_row(s->c, -1, t->builtin)->name : NULL;
    }
    if (t->kind != T_CALL || !t->instance->decl || !t->instance->decl->module->is_std) return NULL;
    for (int k = 0; k < 3; k++)
        if (!strcmp(t->instance->decl->name->text, functions[k])) return functions[k];
    return NULL;
}

/* A node of a body, with what is active of its arguments. */
static void look_at(const Tree *t, const bool *active, void *data) {
    Search *s = data;
    bool any = false;
    for (uint32_t i = 0; i < t->nargs; i++) any |= active[i];
    if (!any || s->failed) return;
    const char *name = broken_by(s, t);
    if (name) {
        report(s, t->span, name);
        return;
    }
    Span user = s->user;
    if (!s->library) s->user = t->span;
    if (t->kind == T_CALL) {
        if (!library_function(t->instance)) search(s, t->instance, active);
    } else if (t->instance) {
        bool *all = ARENA_ARRAY(s->c->arena, bool, t->instance->nparams + 1);
        for (uint32_t i = 0; i < t->instance->nparams; i++) all[i] = true;
        search(s, t->instance, all);
    }
    s->user = user;
}

static void search(Search *s, const Instance *inst, const bool *active) {
    uint64_t key = inst->id;
    bool library = s->library;
    if (!inst->body || inst->rule_decl) return; /* a rule says it */
    for (uint32_t i = 0; i < inst->nparams; i++) key = hash_mix(key, active[i]);
    if (map_has(&s->seen, key)) return;
    map_set(&s->seen, key, (void *)inst);
    s->library = inst->decl && inst->decl->module->is_std;
    activity_visit(s->c, inst, active, look_at, s);
    s->library = library;
}

static bool check_types(FnChecker *f, const Instance *base, const uint8_t *act, uint32_t n,
                        Span span) {
    if (!is_complex(base->result)) {
        diag_report(f->c->diags, DIAG_HOLOMORPHIC, span,
                    "holomorphic is for a complex result; that of `%s` is of type %s", base->name,
                    tt(f, base->result));
        return false;
    }
    for (uint32_t k = 0; k < n; k++) {
        const Local *p = base->params[base->ncaptures + k];
        if (act[k] == ACT_CONST || (is_complex_like(p->type) && !p->mut)) continue;
        diag_report(f->c->diags, DIAG_HOLOMORPHIC, span,
                    "holomorphic differentiates in complex values; `%s` is of type %s%s",
                    p->name ? p->name->text : "?", p->mut ? "mut " : "", tt(f, p->type));
        if (p->span.begin) diag_note(f->c->diags, p->span, "it is declared here");
        return false;
    }
    return true;
}

bool deriv_holomorphic(FnChecker *f, const DerivRequest *request, Instance *base,
                       const uint8_t *act, uint32_t n, Span span) {
    if (!request->spec.holomorphic) return true;
    if (!check_types(f, base, act, n, span)) return false;
    DerivRequest *here = ARENA_NEW(f->c->arena, DerivRequest);
    *here = *request;
    here->span = span;
    HolomorphicRequest later = {here, base, act, n};
    vec_push(&f->c->holomorphic, later);
    return true;
}

void check_holomorphic(Checker *c) {
    for (uint32_t i = 0; i < c->holomorphic.len; i++) {
        const HolomorphicRequest *r = &c->holomorphic.at[i];
        Search s = {.c = c, .request = r->request, .base = r->base};
        bool *active = ARENA_ARRAY(c->arena, bool, r->base->nparams + 1);
        for (uint32_t k = 0; k < r->n; k++) active[r->base->ncaptures + k] = r->act[k] != ACT_CONST;
        search(&s, r->base, active);
        map_free(&s.seen);
    }
}
