/* Activity inside a definition: nothing that depends on an Active parameter may be stored in memory
   that is declared Const (`Const mut`), where its derivative would be lost without a word.

   Dependence is followed through the variables of the body, to a fixpoint, without regard to order:
   a variable that ever holds something active counts as active. */
#include "base/bitset.h"
#include "types/analyse.h"
#include "types/internal.h"

typedef struct Flow {
    Checker *c;
    const Instance *inst;
    Bitset active; /* locals by id */
    bool changed;
    bool report;         /* the last round: stores are reported */
    ActivityVisit *look; /* ... and this is called, if it is there */
    void *data;
} Flow;

static bool visit(Flow *f, const Tree *t);

static void mark(Flow *f, const Local *local) {
    if (local->is_const || local->owner != f->inst || !local->type->has_floats) return;
    if (bitset_add(&f->active, local->id)) f->changed = true;
}

static void mark_pattern(Flow *f, const TreePattern *pattern) {
    if (pattern->local) mark(f, pattern->local);
    for (uint32_t k = 0; k < pattern->nparts; k++) mark_pattern(f, &pattern->parts[k]);
}

static bool is_constant_memory(const Flow *f, const Local *local) {
    for (uint32_t k = f->inst->ncaptures; k < f->inst->nparams; k++)
        if (f->inst->params[k] == local)
            return local->mut && local->type->has_floats && f->inst->act[k] == ACT_CONST;
    return false;
}

static void store(Flow *f, const TreePlace *place, Span span) {
    if (!is_constant_memory(f, place->local)) {
        mark(f, place->local);
        return;
    }
    if (!f->report || f->look) return;
    diag_report(f->c->diags, DIAG_ACT_STORE, span,
                "what is stored in `%s`, which is Const, depends on an Active parameter",
                place->local->name->text);
    diag_note(f->c->diags, place->local->span,
              "declare `%s` Duplicated, or cut the flow: stop(...)", place->local->name->text);
}

static bool visit_subs(Flow *f, const TreeSub *subs, uint32_t n) {
    for (uint32_t k = 0; k < n; k++) {
        visit(f, subs[k].lo);
        visit(f, subs[k].hi);
        visit(f, subs[k].step);
    }
    return false;
}

static void visit_heads(Flow *f, const Tree *t) {
    for (uint32_t k = 0; k < t->nheads; k++) {
        const TreeHead *head = &t->heads[k];
        visit(f, head->lo);
        visit(f, head->hi);
        visit(f, head->step);
        if (visit(f, head->array)) mark_pattern(f, &head->pattern);
    }
}

static void visit_statement(Flow *f, const Tree *t, bool active) {
    if (t->kind == T_LET && active) mark_pattern(f, &t->pattern);
    for (uint32_t k = 0; k < t->nplaces; k++) {
        for (uint32_t s = 0; s < t->targets[k].nsteps; s++)
            visit_subs(f, t->targets[k].steps[s].subs, t->targets[k].steps[s].nsubs);
        if (active) store(f, &t->targets[k], t->span);
    }
    if (t->kind == T_CALL && t->places && active)
        for (uint32_t k = 0; k < t->instance->nparams; k++)
            if (t->places[k]) store(f, t->places[k], t->span);
}

/* Does the value depend on something active? */
static bool visit(Flow *f, const Tree *t) {
    if (!t) return false;
    bool active =
        t->kind == T_LOCAL && t->local->owner == f->inst && bitset_has(&f->active, t->local->id);
    bool *args = f->look && f->report ? ARENA_ARRAY(f->c->arena, bool, t->nargs + 1) : NULL;
    for (uint32_t k = 0; k < t->nargs; k++) {
        bool arg = visit(f, t->args[k]);
        if (args) args[k] = arg;
        active |= arg;
    }
    if (args) f->look(t, args, f->data);
    visit_heads(f, t);
    visit_subs(f, t->subs, t->nsubs);
    for (uint32_t k = 0; k < t->nstmts; k++) visit(f, t->stmts[k]);
    visit(f, t->where);
    active |= visit(f, t->body);
    active |= visit(f, t->other);
    visit_statement(f, t, active);
    if (t->kind == T_BUILTIN && t->builtin == BUILTIN_STOP) return false;
    /* Integers carry nothing; statements have no value. */
    return active && (t->type->has_floats || t->type->has_fns);
}

/* Marks until nothing changes, then reports. */
static void settle(Flow *f) {
    do {
        f->changed = false;
        visit(f, f->inst->body);
    } while (f->changed);
    f->report = true;
    visit(f, f->inst->body);
    bitset_free(&f->active);
}

void check_activity(Checker *c, const Instance *inst) {
    bool wanted = false;
    for (uint32_t k = inst->ncaptures; k < inst->nparams; k++)
        wanted |= is_constant_memory(&(Flow){.inst = inst}, inst->params[k]);
    if (!wanted || !inst->body) return;
    Flow f = {.c = c, .inst = inst};
    for (uint32_t k = inst->ncaptures; k < inst->nparams; k++)
        if (inst->act[k] != ACT_CONST) mark(&f, inst->params[k]);
    settle(&f);
}

void activity_visit(Checker *c, const Instance *inst, const bool *active, ActivityVisit *look,
                    void *data) {
    Flow f = {.c = c, .inst = inst, .look = look, .data = data};
    for (uint32_t k = 0; k < inst->nparams; k++)
        if (active[k]) mark(&f, inst->params[k]);
    settle(&f);
}
