/* What a tree consists of. */
#include "types/analyse.h"
#include "types/internal.h"

static void visit_subs(const TreeSub *subs, uint32_t n, void (*visit)(const Tree *, void *),
                       void *data) {
    for (uint32_t i = 0; i < n; i++) {
        if (subs[i].lo) visit(subs[i].lo, data);
        if (subs[i].hi) visit(subs[i].hi, data);
        if (subs[i].step) visit(subs[i].step, data);
    }
}

static void visit_place(const TreePlace *place, void (*visit)(const Tree *, void *), void *data) {
    for (uint32_t i = 0; i < place->nsteps; i++)
        visit_subs(place->steps[i].subs, place->steps[i].nsubs, visit, data);
}

void tree_children(const Tree *t, void (*visit)(const Tree *child, void *data), void *data) {
    for (uint32_t i = 0; i < t->nheads; i++) {
        const TreeHead *h = &t->heads[i];
        if (h->lo) visit(h->lo, data);
        if (h->hi) visit(h->hi, data);
        if (h->step) visit(h->step, data);
        if (h->array) visit(h->array, data);
    }
    for (uint32_t i = 0; i < t->nplaces; i++) visit_place(&t->targets[i], visit, data);
    for (uint32_t i = 0; t->places && i < t->nargs; i++)
        if (t->places[i]) visit_place(t->places[i], visit, data);
    for (uint32_t i = 0; i < t->nargs; i++)
        if (t->args[i]) visit(t->args[i], data);
    visit_subs(t->subs, t->nsubs, visit, data);
    for (uint32_t i = 0; i < t->nstmts; i++) visit(t->stmts[i], data);
    if (t->where) visit(t->where, data);
    if (t->body) visit(t->body, data);
    if (t->other) visit(t->other, data);
}
