/* Accumulators that begin with zeros, and each cell of which is added to once: nothing needs to be
   added, and no zeros be there, if code knows it.  It is told by a flag on the additions.

   So it is for the transpose of reads that go round a ring, or through planes of an array: in one
   map over all of a plane, each addition has subscripts that are the map's indices, or those moved
   round the whole range, and constants say in which plane. */
#include "opt/adds.h"
#include "opt/opt.h"
#include "opt/uses.h"

enum { MOST_ADDS = 16 };

typedef struct Once {
    OptContext *context;
    Uses uses;
    const IrInst *map;
    const IrValue *init;
    IrInst *adds[MOST_ADDS];
    uint32_t n;
} Once;

/* The index of the map that runs over dimension D, of which VALUE takes each value once; -1: none.
 */
static int index_of(const Once *o, const IrValue *value, uint32_t d) {
    value = ir_resolve((IrValue *)value);
    const IrInst *mod = value->def && value->def->op == IR_MOD ? value->def : NULL;
    for (uint32_t k = 0; k < (uint32_t)o->map->imm; k++) {
        const IrValue *size = ir_resolve(o->map->operands[k]);
        const IrValue *param = o->map->regions[0]->params[k];
        if (!opt_has_size(o->init, d, size)) continue;
        if (value == param) return (int)k;
        if (mod && ir_resolve(mod->operands[1]) == size && adds_is_shifted(mod->operands[0], param))
            return (int)k;
    }
    return -1;
}

/* Are the subscripts of ADD, but the constants, all indices of the map? */
static bool runs_over_plane(const Once *o, const IrInst *add) {
    uint32_t seen = 0;
    for (uint32_t d = 0; d + 2 < add->noperands; d++) {
        int64_t c;
        if (ir_const_int(ir_resolve(add->operands[1 + d]), &c)) {
            if (c < 0 || c >= o->init->type->dims[d]) return false;
            continue;
        }
        int k = index_of(o, add->operands[1 + d], d);
        if (k < 0 || seen & 1U << k) return false;
        seen |= 1U << k;
    }
    return seen == (1U << (uint32_t)o->map->imm) - 1U;
}

/* The planes of an array of which ADD has the constants; 0: not known. */
static int64_t planes(const Once *o, const IrInst *add) {
    int64_t n = 1, c;
    for (uint32_t d = 0; d + 2 < add->noperands; d++)
        if (ir_const_int(ir_resolve(add->operands[1 + d]), &c)) {
            int64_t size = o->init->type->dims[d];
            if (size < 1 || size > MOST_ADDS) return 0;
            n *= size;
        }
    return n;
}

/* Every addition to ACC, in one map right below WITH. */
static bool find_adds(Once *o, const IrInst *with, const IrValue *acc) {
    const UseList *list = uses_of(&o->uses, acc);
    o->n = 0;
    if (!list->at.len || list->at.len > MOST_ADDS) return false;
    o->map = list->at.at[0]->parent->owner;
    if (!o->map || o->map->op != IR_BUILD || o->map->parent != with->regions[0]) return false;
    for (uint32_t k = 0; k < list->at.len; k++) {
        IrInst *add = list->at.at[k];
        if (add->op != IR_ACC_ADD || add->parent != o->map->regions[0]) return false;
        if (add->noperands != (uint32_t)o->init->type->rank + 2) return false;
        o->adds[o->n++] = add;
    }
    return true;
}

static bool each_cell_once(const Once *o) {
    if (planes(o, o->adds[0]) != o->n) return false;
    for (uint32_t k = 0; k < o->n; k++) {
        if (!runs_over_plane(o, o->adds[k])) return false;
        for (uint32_t i = 0; i < k; i++)
            if (!adds_never_meet(o->adds[i], o->adds[k])) return false;
    }
    return true;
}

static void mark(IrInst *with, void *data) {
    Once *o = data;
    if (with->op != IR_WITH_ACC) return;
    for (uint32_t k = 0; k < with->noperands; k++) {
        o->init = ir_resolve(with->operands[k]);
        if (o->init->type->kind != IR_T_ARRAY || !ir_is_zeros(o->init)) continue;
        if (!find_adds(o, with, with->regions[0]->params[k]) || !each_cell_once(o)) continue;
        for (uint32_t i = 0; i < o->n; i++) o->adds[i]->flags |= IR_ACC_ONCE;
        o->context->changed = true;
    }
}

void opt_once(OptContext *c) {
    Once o = {.context = c};
    uses_init(&o.uses, c->func, c->scratch);
    ir_walk(c->func->body, mark, &o);
    uses_free(&o.uses);
}
