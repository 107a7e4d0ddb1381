/* The option `unmodified`: what a tape borrows may not be written while the tape is still to be
   used. Within one body, by the order in which it stands there; round a loop, also the other way.
 */
#include "types/analyse.h"
#include "types/deriv.h"

typedef enum EventKind { FORWARD, WRITE, USE } EventKind;

typedef struct Event {
    EventKind kind;
    const Local *local; /* borrowed, written, used */
    const Local *tape;  /* FORWARD: the tape, or a record with it */
    uint32_t loop;      /* the innermost round it */
    Span span;
} Event;

typedef struct Borrows {
    Checker *c;
    VEC(Event) events; /* in order */
    VEC(uint32_t) up;  /* of each loop, the one round it; 0: none */
    uint32_t loop;
    bool any;
} Borrows;

static void note(Borrows *b, EventKind kind, const Local *local, const Local *tape, Span span) {
    Event event = {kind, local, tape, b->loop, span};
    if (local) vec_push(&b->events, event);
}

static const Local *variable_of(const Tree *t) {
    while (t->kind == T_BLOCK && t->body) t = t->body;
    return t->kind == T_LOCAL && t->local->var ? t->local : NULL;
}

/* A call of a forward pass, whose result goes to TAPE. */
static void note_forward(Borrows *b, const Tree *call, const Local *tape) {
    while (call->kind == T_BLOCK && call->body) call = call->body;
    const DerivSpec *spec = call->kind == T_CALL ? call->instance->deriv : NULL;
    if (!spec || !spec->unmodified || !tape) return;
    for (uint32_t k = 0; k < spec->nparams; k++) {
        uint32_t at = call->instance->ncaptures + k;
        if (!spec->unmodified[spec->params[k].of]) continue;
        b->any = true;
        note(b, FORWARD, variable_of(call->args[at]), tape, call->span);
    }
}

static void walk(const Tree *t, void *data) {
    Borrows *b = data;
    uint32_t loop = b->loop;
    /* The primal beside a tape is no use of the tape. */
    if (t->kind == T_PART && t->index > 0 && t->args[0]->kind == T_LOCAL) return;
    if (t->kind == T_FOR || t->kind == T_WHILE) {
        vec_push(&b->up, loop);
        b->loop = b->up.len;
    }
    tree_children(t, walk, b);
    b->loop = loop;
    if (t->kind == T_LOCAL) note(b, USE, t->local, NULL, t->span);
    for (uint32_t k = 0; k < t->nplaces; k++) note(b, WRITE, t->targets[k].local, NULL, t->span);
    for (uint32_t k = 0; t->kind == T_CALL && t->places && k < t->instance->nparams; k++)
        if (t->places[k]) note(b, WRITE, t->places[k]->local, NULL, t->span);
    if (t->kind == T_LET) {
        const TreePattern *pattern = &t->pattern;
        note_forward(b, t->args[0], pattern->nparts ? pattern->parts[0].local : pattern->local);
    }
    if (t->kind == T_ASSIGN) note_forward(b, t->args[0], t->targets[0].local);
}

static bool is_within(const Borrows *b, const Event *event, uint32_t loop) {
    for (uint32_t at = event->loop; at; at = b->up.at[at - 1])
        if (at == loop) return true;
    return false;
}

/* Is there a loop with both, begun after the tape was made? */
static bool comes_round(const Borrows *b, const Event *forward, const Event *write,
                        const Event *use) {
    for (uint32_t at = write->loop; at; at = b->up.at[at - 1])
        if (is_within(b, use, at) && !is_within(b, forward, at)) return true;
    return false;
}

static void check_write(const Borrows *b, uint32_t f, uint32_t w) {
    const Event *forward = &b->events.at[f], *write = &b->events.at[w];
    for (uint32_t u = f + 1; u < b->events.len; u++) {
        const Event *use = &b->events.at[u];
        if (use->kind != USE || use->local != forward->tape) continue;
        if (u < w && !comes_round(b, forward, write, use)) continue;
        const char *name = write->local->name ? write->local->name->text : "?";
        diag_report(b->c->diags, DIAG_BORROWED, write->span,
                    "`%s` is written while a tape borrows it", name);
        diag_note(b->c->diags, forward->span, "the tape that borrows it is made here");
        diag_note(b->c->diags, use->span, "and used here");
        return;
    }
}

static void check_instance(Checker *c, const Instance *inst) {
    Borrows b = {.c = c};
    walk(inst->body, &b);
    for (uint32_t f = 0; b.any && f < b.events.len; f++) {
        if (b.events.at[f].kind != FORWARD) continue;
        for (uint32_t w = f + 1; w < b.events.len; w++)
            if (b.events.at[w].kind == WRITE && b.events.at[w].local == b.events.at[f].local)
                check_write(&b, f, w);
    }
    vec_free(&b.events);
    vec_free(&b.up);
}

void check_borrows(Checker *c) {
    bool any = false;
    for (uint32_t i = 0; i < c->all.len; i++)
        any |= c->all.at[i]->deriv && c->all.at[i]->deriv->unmodified;
    for (uint32_t i = 0; any && i < c->all.len; i++)
        if (c->all.at[i]->body) check_instance(c, c->all.at[i]);
}
