/* A map and the next one that reads it at its own place only become one map with the results of
   both: what is computed for one place is computed in one pass over memory, and what nobody else
   reads is never stored.  So it is with values in planes, and with cotangents of several values
   that come from one map and go into one map each.

   The joined map stands where the second stood: so nothing may use the first in between, and what
   the first reads may not be written over by then. */
#include "ir/build.h"
#include "ir/shared.h"
#include "opt/opt.h"
#include "opt/uses.h"

enum { MOST_BETWEEN = 200, MOST_COST = 1000, CHEAP = 8 }; /* cheap ones are fused */

typedef struct Join {
    OptContext *context;
    Uses uses;
} Join;

/* Are all its results arrays of its own indices only? */
static bool is_plain(const IrInst *build) {
    if (build->op != IR_BUILD || !build->nresults) return false;
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

/* The instruction of REGION that USE stands in. */
static IrInst *lifted(IrInst *use, const IrRegion *region) {
    while (use->parent && use->parent != region && use->parent->owner) use = use->parent->owner;
    return use;
}

/* The first that uses a result of FROM, if it is not far away. */
static IrInst *first_user(const Join *j, const IrInst *from) {
    Map users = {0};
    for (uint32_t r = 0; r < from->nresults; r++) {
        const UseList *list = uses_of(&j->uses, from->results[r]);
        for (uint32_t k = 0; k < list->at.len; k++) {
            IrInst *user = lifted(list->at.at[k], from->parent);
            if (user->parent == from->parent) map_setp(&users, user, user);
        }
    }
    IrInst *at = from->next;
    for (uint32_t n = 0; at && !map_hasp(&users, at); at = at->next)
        if (++n == MOST_BETWEEN) at = from->parent->last;
    map_free(&users);
    return at;
}

/* Does USE read the element at the place of TO's iteration? */
static bool reads_own_place(const IrInst *use, const IrValue *array, const IrInst *to) {
    if (use->op != IR_INDEX || use->noperands - 1 != (uint32_t)to->imm) return false;
    if (ir_resolve(use->operands[0]) != array) return false;
    for (uint32_t k = 0; k < (uint32_t)to->imm; k++)
        if (ir_resolve(use->operands[1 + k]) != to->regions[0]->params[k]) return false;
    return true;
}

typedef struct Changing {
    const Join *join;
    bool any;
} Changing;

/* What is written over between the two cannot be read at the second. */
static void check_captured(IrValue *value, void *data) {
    Changing *c = data;
    if (value->type->kind != IR_T_ARRAY) return;
    const UseList *list = uses_of(&c->join->uses, value);
    for (uint32_t k = 0; k < list->at.len; k++) {
        IrOp op = list->at.at[k]->op;
        if (op == IR_UPDATE || op == IR_ASSIGN || op == IR_WITH_ACC || op == IR_LOOP) c->any = true;
        if (ir_shared_call(list->at.at[k])) c->any = true;
    }
}

static bool can_join(const Join *j, const IrInst *from, const IrInst *to) {
    if (!is_plain(to) || !same_sizes(from, to)) return false;
    if (from->nresults < 2 && to->nresults < 2) return false;
    uint32_t cost = opt_region_cost(from->regions[0]);
    if (cost <= CHEAP || cost + opt_region_cost(to->regions[0]) > MOST_COST) return false;
    for (uint32_t r = 0; r < from->nresults; r++) {
        const UseList *list = uses_of(&j->uses, from->results[r]);
        for (uint32_t k = 0; k < list->at.len; k++)
            if (lifted(list->at.at[k], from->parent) == to &&
                !reads_own_place(list->at.at[k], from->results[r], to))
                return false;
    }
    Changing changing = {j, false};
    ir_captures(from->regions[0], check_captured, &changing);
    return !changing.any;
}

/* One map, still empty, with the results of both. */
static IrInst *empty_map(const Join *j, IrBuilder *b, const IrInst *from, IrInst *to) {
    uint32_t n = from->nresults + to->nresults, rank = (uint32_t)to->imm;
    IrType *types = ARENA_ARRAY(j->context->scratch, IrType, n);
    for (uint32_t r = 0; r < from->nresults; r++) types[r] = from->results[r]->type;
    for (uint32_t r = 0; r < to->nresults; r++) types[from->nresults + r] = to->results[r]->type;
    irb_before(b, to);
    IrInst *both = irb_inst(b, IR_BUILD, rank, to->operands, n, types, 1);
    both->imm = rank;
    both->nints = n;
    both->ints = ARENA_ARRAY(j->context->module->arena, int64_t, n);
    for (uint32_t k = 0; k < rank; k++)
        ir_region_param(both->regions[0], to->regions[0]->params[k]->type,
                        to->regions[0]->params[k]->name);
    irb_at_end(b, both->regions[0]);
    return both;
}

/* What TO reads of FROM is at hand. */
static void read_values(Join *j, const IrInst *from, const IrInst *to) {
    for (uint32_t r = 0; r < from->nresults; r++) {
        const UseList *list = uses_of(&j->uses, from->results[r]);
        for (uint32_t k = 0; k < list->at.len; k++) {
            IrInst *use = list->at.at[k];
            if (!use->parent || lifted(use, from->parent) != to) continue;
            ir_replace(use->results[0], ir_resolve(from->regions[0]->last->operands[r]));
            ir_remove(use);
        }
    }
}

/* Moves MAP's body in front of END, and its results to those of BOTH from FIRST on. */
static void move_in(Join *j, IrInst *map, IrInst *both, uint32_t first) {
    IrRegion *body = map->regions[0];
    IrInst *end = both->regions[0]->last;
    for (uint32_t k = 0; k < body->nparams; k++)
        ir_replace(body->params[k], both->regions[0]->params[k]);
    while (body->first != body->last) ir_move_before(body->first, end);
    for (uint32_t r = 0; r < map->nresults; r++) {
        IrValue *result = both->results[first + r];
        const UseList *list = uses_of(&j->uses, map->results[r]);
        result->name = map->results[r]->name;
        while (j->uses.lists.len <= result->id) vec_push(&j->uses.lists, NULL);
        UseList *moved = j->uses.lists.at[result->id] = ARENA_NEW(j->uses.arena, UseList);
        for (uint32_t k = 0; k < list->at.len; k++)
            if (list->at.at[k]->parent) vec_push(&moved->at, list->at.at[k]);
        ir_replace(map->results[r], result);
    }
    ir_remove(map);
}

static void join(Join *j, IrInst *from, IrInst *to) {
    IrBuilder b = {.module = j->context->module, .func = j->context->func};
    uint32_t nf = from->nresults, nt = to->nresults;
    IrValue **yields = ARENA_ARRAY(j->context->scratch, IrValue *, nf + nt);
    read_values(j, from, to);
    for (uint32_t r = 0; r < nf; r++) yields[r] = ir_resolve(from->regions[0]->last->operands[r]);
    for (uint32_t r = 0; r < nt; r++)
        yields[nf + r] = ir_resolve(to->regions[0]->last->operands[r]);
    IrInst *both = empty_map(j, &b, from, to);
    irb_yield(&b, nf + nt, yields);
    move_in(j, from, both, 0);
    move_in(j, to, both, nf);
    j->context->changed = true;
}

/* ---- a map that only one other loop reads ---- */

/* The loop whose first index USE has as its first subscript. */
static IrInst *loop_of(const IrInst *use) {
    if (use->op != IR_INDEX || use->noperands < 2) return NULL;
    const IrValue *index = ir_resolve(use->operands[1]);
    return index->def ? NULL : index->region->owner;
}

/* The BUILD, in FROM's region or in a WITH_ACC there, that all uses of FROM's results stand in,
   each at its own place; NULL: there is none. */
static IrInst *only_reader(const Join *j, const IrInst *from) {
    IrInst *to = NULL;
    for (uint32_t r = 0; r < from->nresults; r++) {
        const UseList *list = uses_of(&j->uses, from->results[r]);
        for (uint32_t k = 0; k < list->at.len; k++) {
            IrInst *loop = loop_of(list->at.at[k]);
            if (!loop || (to && loop != to)) return NULL;
            to = loop;
            if (!reads_own_place(list->at.at[k], from->results[r], to)) return NULL;
        }
    }
    if (!to || to->op != IR_BUILD || !same_sizes(from, to)) return NULL;
    const IrRegion *region = to->parent;
    while (region != from->parent && region->owner && region->owner->op == IR_WITH_ACC)
        region = region->owner->parent;
    return region == from->parent ? to : NULL;
}

/* Nothing of FROM is left but what its only reader TO computes with. */
static bool can_absorb(const Join *j, const IrInst *from, const IrInst *to) {
    if (from->nresults < 2) return false; /* else it is fused */
    uint32_t cost = opt_region_cost(from->regions[0]) + opt_region_cost(to->regions[0]);
    Changing changing = {j, false};
    ir_captures(from->regions[0], check_captured, &changing);
    return cost <= MOST_COST && !changing.any;
}

static void absorb(Join *j, IrInst *from, IrInst *to) {
    IrRegion *body = from->regions[0];
    IrInst *first = to->regions[0]->first;
    for (uint32_t r = 0; r < from->nresults; r++) {
        const UseList *list = uses_of(&j->uses, from->results[r]);
        for (uint32_t k = 0; k < list->at.len; k++)
            ir_replace(list->at.at[k]->results[0], ir_resolve(body->last->operands[r]));
    }
    for (uint32_t k = 0; k < body->nparams; k++)
        ir_replace(body->params[k], to->regions[0]->params[k]);
    while (body->first != body->last) ir_move_before(body->first, first);
    for (uint32_t r = 0; r < from->nresults; r++) {
        const UseList *list = uses_of(&j->uses, from->results[r]);
        for (uint32_t k = 0; k < list->at.len; k++) ir_remove(list->at.at[k]);
    }
    ir_remove(from);
    j->context->changed = true;
}

static bool try_absorb(Join *j, IrInst *from) {
    IrInst *to = only_reader(j, from);
    bool can = to && can_absorb(j, from, to);
    if (can) absorb(j, from, to);
    return can;
}

static void walk(Join *j, IrRegion *region) {
    for (IrInst *inst = region->first, *next; inst; inst = next) {
        for (uint32_t r = 0; r < inst->nregions; r++) walk(j, inst->regions[r]);
        IrInst *before = inst->prev;
        bool plain = is_plain(inst), joined = plain && try_absorb(j, inst);
        IrInst *to = plain && !joined ? first_user(j, inst) : NULL;
        if (to && can_join(j, inst, to)) {
            join(j, inst, to);
            joined = true;
        }
        next = !joined ? inst->next : before ? before->next : region->first;
    }
}

void opt_join(OptContext *c) {
    Join j = {.context = c};
    uses_init(&j.uses, c->func, c->scratch);
    walk(&j, c->func->body);
    uses_free(&j.uses);
    ir_settle(c->func);
}
