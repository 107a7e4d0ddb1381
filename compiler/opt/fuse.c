/* Fusion: an element of a map is computed where it is read, and the array is never stored.

   A BUILD is taken in if all its uses are reads of elements and this costs nothing: it is read once
   for each of its elements (the subscripts are the indices of all the loops between it and the
   read), or what it computes is about as cheap as a load. */
#include "ir/build.h"
#include "ir/shared.h"
#include "opt/opt.h"
#include "opt/uses.h"

enum { CHEAP_ALWAYS = 3, CHEAP_FEW = 8, FEW_READS = 3 };

typedef struct Fuser {
    OptContext *context;
    Uses uses;
} Fuser;

/* The number of indices (of maps, reductions, loops) between REGION and USE. */
static uint32_t loop_indices(const IrInst *use, const IrRegion *region) {
    uint32_t n = 0;
    for (const IrRegion *r = use->parent; r != region && r->owner; r = r->owner->parent) {
        if (r->owner->op == IR_BUILD || r->owner->op == IR_REDUCE) n += r->nparams;
        if (r->owner->op == IR_LOOP) n++;
    }
    return n;
}

/* An index of a loop inside REGION, or one plus or minus something that does not change in there.
 */
static const IrValue *loop_index(const IrValue *i, const IrRegion *region) {
    i = ir_resolve((IrValue *)i);
    if (i->def && (i->def->op == IR_ADD || i->def->op == IR_SUB)) {
        const IrValue *a = ir_resolve(i->def->operands[0]), *b = ir_resolve(i->def->operands[1]);
        if (ir_visible(b, region)) i = a;
        else if (ir_visible(a, region)) i = b;
    }
    if (i->def || ir_visible(i, region) || !i->region->owner) return NULL;
    IrOp op = i->region->owner->op;
    if (op == IR_LOOP && i->index > 0) return NULL;
    return op == IR_LOOP || op == IR_BUILD || op == IR_REDUCE ? i : NULL;
}

/* Is each element read at most once by USE, over all its runs? */
static bool reads_once(const IrInst *use, const IrInst *build) {
    uint32_t n = use->noperands - 1;
    const IrValue *seen[2 * IR_MAX_RANK];
    if (loop_indices(use, build->parent) > n) return false;
    uint32_t distinct = 0;
    for (uint32_t k = 0; k < n; k++) {
        const IrValue *i = loop_index(use->operands[1 + k], build->parent);
        if (!i) continue;
        for (uint32_t j = 0; j < distinct; j++)
            if (seen[j] == i) return false;
        seen[distinct++] = i;
    }
    return distinct == loop_indices(use, build->parent);
}

typedef struct Changing {
    const Fuser *fuser;
    bool any;
} Changing;

/* Reading VALUE later than now would force a copy: it is updated in place somewhere. */
static void check_updated(IrValue *value, void *data) {
    Changing *c = data;
    if (value->type->kind != IR_T_ARRAY) return;
    /* Another name of the same array. */
    while (value->def && value->def->op == IR_ASSUME) value = ir_resolve(value->def->operands[0]);
    const UseList *list = uses_of(&c->fuser->uses, value);
    for (uint32_t k = 0; k < list->at.len; k++) {
        const IrInst *use = list->at.at[k];
        bool base = (use->op == IR_UPDATE || use->op == IR_ASSIGN || use->op == IR_WITH_ACC) &&
                    ir_resolve(use->operands[0]) == value;
        if (base || use->op == IR_LOOP || ir_shared_call(use)) c->any = true;
    }
    /* A carried value is about to be replaced. */
    if (!value->def && value->region->owner && value->region->owner->op == IR_LOOP) c->any = true;
}

/* Is another of its results used, so that the loop stays? */
static bool gives_more(const Fuser *f, const IrInst *build, uint32_t r) {
    for (uint32_t i = 0; i < build->nresults; i++)
        if (i != r && uses_of(&f->uses, build->results[i])->at.len) return true;
    return false;
}

static bool worth_it(const Fuser *f, const IrInst *build, uint32_t r) {
    const UseList *list = uses_of(&f->uses, build->results[r]);
    if (!list->at.len || build->ints[r] != 0) return false;
    bool once = list->at.len == 1;
    for (uint32_t k = 0; k < list->at.len; k++) {
        const IrInst *use = list->at.at[k];
        if (use->op != IR_INDEX || use->noperands - 1 != build->imm ||
            ir_resolve(use->operands[0]) != build->results[r])
            return false;
        once = once && reads_once(use, build);
    }
    if (!opt_region_pure(build->regions[0])) return false;
    /* What is dear is stored for the derivative to find, which would compute it again. */
    if (!f->context->after_ad && opt_region_dear(build->regions[0])) return false;
    uint32_t cost = opt_region_cost(build->regions[0]);
    bool cheap = cost <= CHEAP_ALWAYS || (cost <= CHEAP_FEW && list->at.len <= FEW_READS);
    if (!cheap && (!once || gives_more(f, build, r))) return false;
    Changing changing = {f, false};
    ir_captures(build->regions[0], check_updated, &changing);
    return !changing.any;
}

static void read_directly(Fuser *f, IrInst *build, uint32_t r, IrInst *use) {
    IrBuilder b = {.module = f->context->module, .func = f->context->func};
    irb_before(&b, use);
    IrInst *before = use->prev;
    Map map = {0};
    for (uint32_t k = 0; k < (uint32_t)build->imm; k++)
        map_setp(&map, build->regions[0]->params[k], ir_resolve(use->operands[1 + k]));
    IrValue **values = ir_clone_body(&b, build->regions[0], &map);
    map_free(&map);
    IrInst *first = before ? before->next : use->parent->first;
    for (IrInst *inst = first; inst != use; inst = inst->next) uses_add(&f->uses, inst);
    /* What used the element now uses its value. */
    const UseList *readers = uses_of(&f->uses, use->results[0]);
    IrValue *value = ir_resolve(values[r]);
    ir_replace(use->results[0], value);
    for (uint32_t k = 0; k < readers->at.len; k++) {
        while (f->uses.lists.len <= value->id) vec_push(&f->uses.lists, NULL);
        UseList **list = &f->uses.lists.at[value->id];
        if (!*list) *list = ARENA_NEW(f->uses.arena, UseList);
        vec_push(&(*list)->at, readers->at.at[k]);
    }
    ir_remove(use);
}

static void fuse_region(Fuser *f, IrRegion *region) {
    for (IrInst *inst = region->first; inst; inst = inst->next) {
        for (uint32_t r = 0; r < inst->nregions; r++) fuse_region(f, inst->regions[r]);
        if (inst->op != IR_BUILD) continue;
        for (uint32_t r = 0; r < inst->nresults; r++) {
            if (!worth_it(f, inst, r)) continue;
            const UseList *list = uses_of(&f->uses, inst->results[r]);
            uint32_t n = list->at.len;
            for (uint32_t k = 0; k < n; k++)
                read_directly(f, inst, r, uses_of(&f->uses, inst->results[r])->at.at[k]);
            UseList *done = f->uses.lists.at[inst->results[r]->id];
            done->at.len = 0;
            f->context->changed = true;
        }
    }
}

void opt_fuse(OptContext *c) {
    Fuser f = {.context = c};
    uses_init(&f.uses, c->func, c->scratch);
    fuse_region(&f, c->func->body);
    uses_free(&f.uses);
    ir_settle(c->func);
}
