/* Rows of a map whose elements cost no more than a load, and the transpose of a light one: what
   reads them is written element by element, so that fusing computes the elements there, and neither
   the map nor the rows are stored. */
#include "ir/build.h"
#include "opt/opt.h"
#include "opt/uses.h"

enum { CHEAP = 3, LIGHT = 12 }; /* of an element; of what finds a row: two divisions, and a bit */

typedef struct Rows {
    OptContext *context;
    uint32_t *uses, counted; /* by id, of so many values */
    Map stands_for;          /* a value made here to the one whose uses it got */
} Rows;

static uint32_t uses_of_value(const Rows *r, const IrValue *x) {
    const IrValue *old;
    while (x->id >= r->counted && (old = map_getp(&r->stands_for, x))) x = old;
    return x->id < r->counted ? r->uses[x->id] : 0;
}

static void replace(Rows *r, IrValue *old, IrValue *value) {
    map_setp(&r->stands_for, value, old);
    ir_replace(old, value);
    r->context->changed = true;
}

/* Is X a map of single elements of at most this COST that is used once? */
static bool is_map(const Rows *r, const IrValue *x, uint32_t cost) {
    const IrInst *def = x->def;
    return def && def->op == IR_BUILD && def->ints[x->index] == 0 && uses_of_value(r, x) == 1 &&
           opt_region_pure(def->regions[0]) && opt_region_cost(def->regions[0]) <= cost;
}

/* Could the body be gone through once more for each element of a row? */
static bool is_light(const IrRegion *body) {
    for (const IrInst *inst = body->first; inst; inst = inst->next)
        if (inst->nregions || inst->op == IR_CALL) return false;
    return opt_region_cost(body) <= LIGHT;
}

/* The row of a cheap map that BUILD's body yields, or NULL. */
static const IrInst *row_of(const Rows *r, const IrInst *build) {
    if (build->op != IR_BUILD || build->nresults != 1 || !build->ints[0]) return NULL;
    const IrInst *row = ir_resolve(build->regions[0]->last->operands[0])->def;
    if (!row || row->op != IR_INDEX || row->parent != build->regions[0]) return NULL;
    const IrValue *x = ir_resolve(row->operands[0]);
    bool fits = is_map(r, x, CHEAP) && ir_visible(x, build->parent) && is_light(build->regions[0]);
    return fits ? row : NULL;
}

/* Copies of what is in the body of FROM but its effects; MAP has the parameters. */
static void clone_pure(IrBuilder *b, const IrRegion *from, Map *map) {
    for (const IrInst *inst = from->first; inst != from->last; inst = inst->next)
        if (inst->nresults) (void)ir_clone(b, inst, map);
}

/* Behind BUILD, whose checks stay where they are. */
static void by_elements(Rows *r, IrInst *build, const IrInst *row) {
    IrBuilder b = {.module = r->context->module, .func = r->context->func};
    IrValue *at[IR_MAX_RANK];
    uint32_t n = (uint32_t)build->imm, given = row->noperands - 1;
    IrType elem = ir_scalar(b.module, build->results[0]->type->scalar);
    Map map = {0};
    irb_before(&b, build->next);
    b.pos = build->pos;
    IrInst *all = irb_build(&b, build->noperands, build->operands, 1, &elem, 0, NULL);
    IrRegion *body = all->regions[0];
    irb_at_end(&b, body);
    for (uint32_t k = 0; k < n; k++) map_setp(&map, build->regions[0]->params[k], body->params[k]);
    clone_pure(&b, build->regions[0], &map);
    for (uint32_t k = 0; k < given; k++) {
        IrValue *index = ir_resolve(row->operands[1 + k]), *copy = map_getp(&map, index);
        at[k] = copy ? copy : index;
    }
    for (uint32_t k = n; k < body->nparams; k++) at[given + k - n] = body->params[k];
    IrValue *element = irb_index(&b, row->operands[0], given + body->nparams - n, at);
    irb_yield(&b, 1, &element);
    replace(r, build->results[0], all->results[0]);
    map_free(&map);
}

static void transposed(Rows *r, IrInst *inst) {
    IrBuilder b = {.module = r->context->module, .func = r->context->func};
    IrValue *x = ir_resolve(inst->operands[0]), *sizes[IR_MAX_RANK], *at[IR_MAX_RANK];
    IrType elem = ir_scalar(b.module, x->type->scalar);
    uint32_t rank = inst->nints;
    irb_before(&b, inst);
    for (uint32_t k = 0; k < rank; k++) sizes[k] = irb_dim(&b, x, (uint32_t)inst->ints[k]);
    IrInst *all = irb_build(&b, rank, sizes, 1, &elem, 0, NULL);
    for (uint32_t k = 0; k < rank; k++) at[inst->ints[k]] = all->regions[0]->params[k];
    irb_at_end(&b, all->regions[0]);
    IrValue *element = irb_index(&b, x, rank, at);
    irb_yield(&b, 1, &element);
    replace(r, inst->results[0], all->results[0]);
    ir_remove(inst);
}

static void rows_region(Rows *r, IrRegion *region) {
    for (IrInst *inst = region->first, *next; inst; inst = next) {
        for (uint32_t k = 0; k < inst->nregions; k++) rows_region(r, inst->regions[k]);
        next = inst->next;
        const IrInst *row = row_of(r, inst);
        if (row) by_elements(r, inst, row);
        else if (inst->op == IR_TRANSPOSE && is_map(r, ir_resolve(inst->operands[0]), LIGHT))
            transposed(r, inst);
    }
}

void opt_rows(OptContext *c) {
    Rows rows = {c, ir_count_uses(c->func, c->scratch), c->func->nvalues, {0}};
    rows_region(&rows, c->func->body);
    map_free(&rows.stands_for);
    ir_settle(c->func);
}
