/* Maps that read different results of one map, each at its own place, become one map: then fusing takes
   in what they read once, not once for each of them.  So it is with cotangents of several values that
   come from one map and go into one map each. */
#include "opt/opt.h"
#include "opt/uses.h"

enum { MOST_READERS = 16, FROM_COST = 8 };

typedef struct Siblings {
    OptContext *context;
    Uses uses;
    Map gone;           /* maps that were put into another */
    const IrInst *from; /* what they read */
    IrInst *readers[MOST_READERS];
    uint32_t n;
} Siblings;

/* Are all its results arrays of its own indices only? */
static bool is_plain(const IrInst *build) {
    if (build->op != IR_BUILD) return false;
    for (uint32_t i = 0; i < build->nresults; i++)
        if (build->ints[i]) return false;
    return opt_region_pure(build->regions[0]);
}

static bool same_sizes(const IrInst *a, const IrInst *b) {
    if (a->imm != b->imm) return false;
    for (uint32_t k = 0; k < (uint32_t)a->imm; k++)
        if (ir_resolve(a->operands[k]) != ir_resolve(b->operands[k])) return false;
    return true;
}

/* The map beside FROM that reads result R of it, once and at its own place; NULL: there is none. */
static IrInst *reader_of(const Siblings *s, const IrInst *from, uint32_t r) {
    const UseList *list = uses_of(&s->uses, from->results[r]);
    if (list->at.len != 1) return NULL;
    const IrInst *use = list->at.at[0];
    IrInst *build = use->op == IR_INDEX ? use->parent->owner : NULL;
    if (!build || map_hasp(&s->gone, build) || build->parent != from->parent) return NULL;
    if (!is_plain(build) || !same_sizes(from, build)) return NULL;
    if (use->noperands - 1 != (uint32_t)from->imm) return NULL;
    for (uint32_t k = 0; k < (uint32_t)from->imm; k++)
        if (ir_resolve(use->operands[1 + k]) != build->regions[0]->params[k]) return NULL;
    return build;
}

static void find_readers(Siblings *s, const IrInst *from) {
    s->n = 0;
    s->from = from;
    for (uint32_t r = 0; r < from->nresults && s->n < MOST_READERS; r++) {
        IrInst *build = reader_of(s, from, r);
        bool known = !build;
        for (uint32_t k = 0; k < s->n; k++) known = known || s->readers[k] == build;
        if (!known) s->readers[s->n++] = build;
    }
}

/* In the order of the program. */
static void sort_readers(Siblings *s) {
    uint32_t n = 0;
    for (IrInst *inst = s->from->next; inst && n < s->n; inst = inst->next)
        for (uint32_t k = n; k < s->n; k++)
            if (s->readers[k] == inst) {
                s->readers[k] = s->readers[n];
                s->readers[n++] = inst;
            }
}

typedef struct Changing {
    const Siblings *s;
    bool any;
} Changing;

/* What is written over between the first and the last cannot be read at the last. */
static void check_captured(IrValue *value, void *data) {
    Changing *c = data;
    if (value->type->kind != IR_T_ARRAY) return;
    const UseList *list = uses_of(&c->s->uses, value);
    for (uint32_t k = 0; k < list->at.len; k++) {
        IrOp op = list->at.at[k]->op;
        if (op == IR_UPDATE || op == IR_ASSIGN || op == IR_WITH_ACC || op == IR_LOOP) c->any = true;
    }
}

/* Does something before the last reader use a result of READER? */
static bool used_before_last(const Siblings *s, const IrInst *reader) {
    const IrRegion *region = s->from->parent;
    const IrInst *last = s->readers[s->n - 1];
    for (uint32_t i = 0; i < reader->nresults; i++) {
        const UseList *list = uses_of(&s->uses, reader->results[i]);
        for (uint32_t k = 0; k < list->at.len; k++) {
            const IrInst *use = list->at.at[k];
            while (use->parent != region && use->parent->owner) use = use->parent->owner;
            for (const IrInst *at = reader; at; at = at == last ? NULL : at->next)
                if (at == use) return true;
        }
    }
    return false;
}

static bool can_merge(const Siblings *s) {
    Changing changing = {s, false};
    for (uint32_t k = 0; k + 1 < s->n; k++) {
        if (used_before_last(s, s->readers[k])) return false;
        ir_captures(s->readers[k]->regions[0], check_captured, &changing);
    }
    return !changing.any;
}

/* One map, still empty, with all results of the readers. */
static IrInst *empty_map(Siblings *s, IrBuilder *b, uint32_t n) {
    IrInst *last = s->readers[s->n - 1];
    IrType *types = ARENA_ARRAY(s->context->scratch, IrType, n);
    uint32_t at = 0, rank = (uint32_t)last->imm;
    for (uint32_t k = 0; k < s->n; k++)
        for (uint32_t i = 0; i < s->readers[k]->nresults; i++)
            types[at++] = s->readers[k]->results[i]->type;
    irb_before(b, last);
    b->pos = last->pos;
    IrInst *all = irb_inst(b, IR_BUILD, rank, last->operands, n, types, 1);
    all->imm = rank;
    all->nints = n;
    all->ints = ARENA_ARRAY(s->context->module->arena, int64_t, n);
    for (uint32_t k = 0; k < rank; k++)
        ir_region_param(all->regions[0], last->regions[0]->params[k]->type,
                        last->regions[0]->params[k]->name);
    irb_at_end(b, all->regions[0]);
    return all;
}

static void replace_readers(Siblings *s, IrInst *all) {
    uint32_t at = 0;
    for (uint32_t k = 0; k < s->n; k++) {
        IrInst *reader = s->readers[k];
        for (uint32_t i = 0; i < reader->nresults; i++, at++) {
            all->results[at]->name = reader->results[i]->name;
            ir_replace(reader->results[i], all->results[at]);
        }
        map_setp(&s->gone, reader, all);
        ir_remove(reader);
    }
    s->context->changed = true;
}

static void merge(Siblings *s) {
    IrBuilder b = {.module = s->context->module, .func = s->context->func};
    uint32_t n = 0, at = 0;
    for (uint32_t k = 0; k < s->n; k++) n += s->readers[k]->nresults;
    IrInst *all = empty_map(s, &b, n);
    IrValue **yields = ARENA_ARRAY(s->context->scratch, IrValue *, n);
    for (uint32_t k = 0; k < s->n; k++) {
        const IrInst *reader = s->readers[k];
        Map map = {0};
        for (uint32_t i = 0; i < (uint32_t)all->imm; i++)
            map_setp(&map, reader->regions[0]->params[i], all->regions[0]->params[i]);
        IrValue **values = ir_clone_body(&b, reader->regions[0], &map);
        for (uint32_t i = 0; i < reader->nresults; i++) yields[at++] = values[i];
        map_free(&map);
    }
    irb_yield(&b, n, yields);
    replace_readers(s, all);
}

static void walk(Siblings *s, IrRegion *region) {
    for (IrInst *inst = region->first, *next; inst; inst = next) {
        for (uint32_t r = 0; r < inst->nregions; r++) walk(s, inst->regions[r]);
        bool dear = inst->op == IR_BUILD && inst->nresults > 1 && is_plain(inst) &&
                    opt_region_cost(inst->regions[0]) > FROM_COST;
        if (dear) {
            find_readers(s, inst);
            sort_readers(s);
            if (s->n > 1 && can_merge(s)) merge(s);
        }
        next = inst->next; /* what was merged stands behind */
    }
}

void opt_siblings(OptContext *c) {
    Siblings s = {.context = c};
    uses_init(&s.uses, c->func, c->scratch);
    walk(&s, c->func->body);
    uses_free(&s.uses);
    map_free(&s.gone);
    ir_settle(c->func);
}
