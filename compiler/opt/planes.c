/* Planes: a map with a short leading index, [9, n, m] say, whose parts are read one by one is
   written as one map over the other indices that gives each part, a plane, as a result of its own.
   So what belongs to one place is computed together, in one pass over memory, and planes that are
   read by constant subscripts only are never put together.

   A map is taken apart if something reads its planes one by one, or if it does so itself with
   another array in planes, index by index; and if nothing reads it as a whole, but that its result
   may leave (yielded, passed on) where it reads planes.  The sums over planes are written out. */
#include "ir/build.h"
#include "opt/opt.h"
#include "opt/unroll.h"
#include "opt/uses.h"

enum { MOST_PLANES = 16, MOST_COST = 500 };

typedef struct Plane {
    IrInst *build;
    uint32_t n; /* planes */
    bool
        by_one; /* something reads single planes, or it reads those of an array that is in planes */
    bool out;   /* found not to be taken apart */
} Plane;

typedef struct Planes {
    OptContext *context;
    Uses uses;
    VEC(Plane) at;
    Map index; /* BUILD to its number in AT plus one */
} Planes;

static Plane *plane_of(const Planes *p, const IrInst *build) {
    uintptr_t k = build ? (uintptr_t)map_getp(&p->index, build) : 0;
    return k && !p->at.at[k - 1].out ? &p->at.at[k - 1] : NULL;
}

static bool is_short(const IrValue *size, uint32_t *n) {
    int64_t c;
    if (!ir_const_int(ir_resolve((IrValue *)size), &c) || c < 2 || c > MOST_PLANES) return false;
    *n = (uint32_t)c;
    return true;
}

static void collect(IrInst *inst, void *data) {
    Planes *p = data;
    Plane plane = {.build = inst};
    int64_t c;
    if (inst->op != IR_BUILD || inst->imm < 2 || !is_short(inst->operands[0], &plane.n)) return;
    if (inst->nresults * plane.n > 2 * MOST_PLANES) return;
    bool all = true; /* of constant sizes: that is unroll's business */
    for (uint32_t k = 1; k < (uint32_t)inst->imm; k++)
        all = all && ir_const_int(ir_resolve(inst->operands[k]), &c);
    for (uint32_t r = 0; r < inst->nresults; r++) all = all || inst->ints[r] != 0;
    if (all || !opt_region_pure(inst->regions[0])) return;
    if (opt_region_cost(inst->regions[0]) * plane.n > MOST_COST) return;
    vec_push(&p->at, plane);
    map_setp(&p->index, inst, (void *)(uintptr_t)p->at.len);
}

/* ---- which ---- */

/* The loop of which VALUE is the first index, of N iterations, or NULL. */
static IrInst *first_index_of(const IrValue *value, uint32_t n) {
    value = ir_resolve((IrValue *)value);
    uint32_t trips;
    if (value->def || !value->region->owner || value->index != 0) return NULL;
    IrInst *owner = value->region->owner;
    if (owner->op != IR_BUILD && owner->op != IR_REDUCE) return NULL;
    return owner->imm > 0 && is_short(owner->operands[0], &trips) && trips == n ? owner : NULL;
}

typedef enum Reading { WHOLE, PLANE_BY_PLANE, BESIDE, SUMMED } Reading;
/* How USE reads an array of N planes.  BESIDE: along with those of the map *BY; SUMMED: by the sum
 *BY, which can be written out. */
static Reading reading(const IrInst *use, const IrValue *array, uint32_t n, IrInst **by) {
    int64_t c;
    if (use->op != IR_INDEX || ir_resolve(use->operands[0]) != array || use->noperands < 2)
        return WHOLE;
    const IrValue *first = ir_resolve(use->operands[1]);
    if (ir_const_int(first, &c)) return c >= 0 && c < n ? PLANE_BY_PLANE : WHOLE;
    *by = first_index_of(first, n);
    if (!*by) return WHOLE;
    if ((*by)->op == IR_BUILD) return BESIDE;
    return (*by)->imm == 1 && unroll_trips(*by) ? SUMMED : WHOLE;
}

/* Is X put together of arrays, or the result of a map that is taken apart? */
static bool in_planes(const Planes *p, const IrValue *x, uint32_t n) {
    const IrInst *def = x->def;
    if (!def || x->type->kind != IR_T_ARRAY) return false;
    if (def->op == IR_PACK)
        return def->noperands == n && ir_resolve(def->operands[0])->type->kind == IR_T_ARRAY;
    const Plane *plane = plane_of(p, def);
    return plane && plane->n == n && plane->by_one;
}

typedef struct Reads {
    const Planes *p;
    const Plane *plane;
    bool any;
} Reads;

static void look_at_read(IrInst *inst, void *data) {
    Reads *reads = data;
    IrInst *by = NULL;
    if (inst->op != IR_INDEX) return;
    const IrValue *x = ir_resolve(inst->operands[0]);
    if (!in_planes(reads->p, x, reads->plane->n)) return;
    if (reading(inst, x, reads->plane->n, &by) == BESIDE && by == reads->plane->build)
        reads->any = true;
}

static bool reads_planes(const Planes *p, const Plane *plane) {
    Reads reads = {p, plane, false};
    ir_walk(plane->build->regions[0], look_at_read, &reads);
    return reads.any;
}

/* Does something read single planes, or their sum? */
static bool is_read_by_one(const Planes *p, const Plane *plane) {
    IrInst *by = NULL;
    for (uint32_t r = 0; r < plane->build->nresults; r++) {
        const IrValue *result = plane->build->results[r];
        const UseList *list = uses_of(&p->uses, result);
        for (uint32_t k = 0; k < list->at.len; k++) {
            Reading how = reading(list->at.at[k], result, plane->n, &by);
            if (how == PLANE_BY_PLANE || how == SUMMED) return true;
        }
    }
    return false;
}

/* May it be taken apart, if those that are not out yet are? */
static bool fits(const Planes *p, const Plane *plane) {
    IrInst *by = NULL;
    bool may_leave = reads_planes(p, plane);
    if (!may_leave && !is_read_by_one(p, plane)) return false;
    for (uint32_t r = 0; r < plane->build->nresults; r++) {
        const IrValue *result = plane->build->results[r];
        const UseList *list = uses_of(&p->uses, result);
        for (uint32_t k = 0; k < list->at.len; k++) {
            Reading how = reading(list->at.at[k], result, plane->n, &by);
            if (how == WHOLE && (!may_leave || list->at.at[k]->op == IR_INDEX)) return false;
            if (how == BESIDE && !plane_of(p, by)) return false;
        }
    }
    return true;
}

static void choose(Planes *p) {
    bool changed;
    do {
        changed = false;
        for (uint32_t k = 0; k < p->at.len; k++) {
            Plane *plane = &p->at.at[k];
            if (plane->by_one || (!is_read_by_one(p, plane) && !reads_planes(p, plane))) continue;
            plane->by_one = changed = true;
        }
    } while (changed);
    do {
        changed = false;
        for (uint32_t k = 0; k < p->at.len; k++) {
            Plane *plane = &p->at.at[k];
            if (plane->out || fits(p, plane)) continue;
            plane->out = changed = true;
        }
    } while (changed);
}

/* ---- taking apart ---- */

static void write_sums_out(const Planes *p, const Plane *plane) {
    IrInst *by = NULL;
    for (uint32_t r = 0; r < plane->build->nresults; r++) {
        const IrValue *result = plane->build->results[r];
        const UseList *list = uses_of(&p->uses, result);
        for (uint32_t k = 0; k < list->at.len; k++) {
            if (reading(list->at.at[k], result, plane->n, &by) != SUMMED || !by->parent) continue;
            unroll_loop(by);
        }
    }
}

static void take_apart(Planes *p, const Plane *plane) {
    IrInst *build = plane->build;
    IrBuilder b = {.module = p->context->module, .func = p->context->func};
    uint32_t n = plane->n, nr = build->nresults, inner = (uint32_t)build->imm - 1;
    IrType *elems = ARENA_ARRAY(p->context->scratch, IrType, n * nr);
    IrValue **yields = ARENA_ARRAY(p->context->scratch, IrValue *, n * nr);
    for (uint32_t r = 0; r < nr; r++)
        for (uint32_t k = 0; k < n; k++)
            elems[r * n + k] = ir_scalar(b.module, build->results[r]->type->scalar);
    irb_before(&b, build);
    IrInst *all = irb_build(&b, inner, build->operands + 1, n * nr, elems, 0, NULL);
    irb_at_end(&b, all->regions[0]);
    for (uint32_t k = 0; k < n; k++) {
        Map map = {0};
        map_setp(&map, build->regions[0]->params[0], irb_int(&b, k));
        for (uint32_t d = 0; d < inner; d++)
            map_setp(&map, build->regions[0]->params[1 + d], all->regions[0]->params[d]);
        IrValue **values = ir_clone_body(&b, build->regions[0], &map);
        map_free(&map);
        for (uint32_t r = 0; r < nr; r++) yields[r * n + k] = values[r];
    }
    irb_yield(&b, n * nr, yields);
    irb_before(&b, build);
    for (uint32_t r = 0; r < nr; r++) {
        IrValue *packed = irb_pack(&b, n, all->results + r * n);
        packed->name = build->results[r]->name;
        ir_replace(build->results[r], packed);
    }
    ir_remove(build);
    p->context->changed = true;
}

void opt_planes(OptContext *c) {
    Planes p = {.context = c};
    ir_walk(c->func->body, collect, &p);
    if (p.at.len) {
        uses_init(&p.uses, c->func, c->scratch);
        choose(&p);
        for (uint32_t k = 0; k < p.at.len; k++)
            if (!p.at.at[k].out) write_sums_out(&p, &p.at.at[k]);
        for (uint32_t k = 0; k < p.at.len; k++)
            if (!p.at.at[k].out) take_apart(&p, &p.at.at[k]);
        uses_free(&p.uses);
        ir_settle(c->func);
    }
    vec_free(&p.at);
    map_free(&p.index);
}
