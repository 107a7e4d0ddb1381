/* Loop-invariant code.  What is computed from outside values alone moves in front of the loop, map
   or reduction, if it may be computed although the loop might not run.  An element is read early
   only where its subscripts are proved to be in range. */
#include "opt/linear.h"
#include "opt/opt.h"
#include "opt/uses.h"

typedef struct Licm {
    OptContext *context;
    LinearFacts facts;
    Map dims; /* value -> array of its DIM values by dimension */
} Licm;

static void note_dim(IrInst *inst, void *data) {
    Licm *m = data;
    if (inst->op != IR_DIM) return;
    IrValue *x = ir_resolve(inst->operands[0]);
    IrValue **row = map_getp(&m->dims, x);
    if (!row) {
        row = ARENA_ARRAY(m->context->scratch, IrValue *, IR_MAX_RANK);
        map_setp(&m->dims, x, row);
    }
    row[inst->imm] = inst->results[0];
}

static bool dim_form(const Licm *m, const IrValue *x, uint32_t k, Linear *form) {
    if (x->type->dims[k] >= 0) {
        *form = opt_linear_const(x->type->dims[k]);
        return true;
    }
    IrValue *known = ir_known_dim(x, k);
    if (!known) {
        IrValue **row = map_getp(&m->dims, x);
        known = row ? row[k] : NULL;
    }
    if (!known) return false;
    *form = opt_linear_of(&m->facts, known);
    return true;
}

static bool index_in_range(const Licm *m, const IrInst *inst) {
    const IrValue *x = ir_resolve(inst->operands[0]);
    for (uint32_t k = 1; k < inst->noperands; k++) {
        Linear i = opt_linear_of(&m->facts, inst->operands[k]), n;
        if (!dim_form(m, x, k - 1, &n)) return false;
        Linear above = opt_linear_add(opt_linear_add(n, -1, i), 1, opt_linear_const(-1));
        if (!opt_linear_nonnegative(&m->facts, i) || !opt_linear_nonnegative(&m->facts, above))
            return false;
    }
    return true;
}

typedef struct Outside {
    const IrRegion *region;
    bool all;
} Outside;

static void check_outside(IrValue *value, void *data) {
    Outside *o = data;
    if (!ir_visible(value, o->region)) o->all = false;
}

/* Only uses what REGION sees? */
static bool invariant(const IrInst *inst, const IrRegion *region) {
    Outside o = {region, true};
    for (uint32_t k = 0; k < inst->noperands; k++) check_outside(ir_resolve(inst->operands[k]), &o);
    for (uint32_t r = 0; r < inst->nregions && o.all; r++)
        ir_captures(inst->regions[r], check_outside, &o);
    return o.all;
}

static bool regions_speculatable(const Licm *m, const IrInst *inst);

static bool may_move(const Licm *m, const IrInst *inst) {
    if (inst->op == IR_INDEX) return index_in_range(m, inst);
    if (inst->op == IR_BUILD || inst->op == IR_REDUCE || inst->op == IR_IF)
        return regions_speculatable(m, inst);
    return opt_speculatable(inst);
}

static bool regions_speculatable(const Licm *m, const IrInst *inst) {
    for (uint32_t r = 0; r < inst->nregions; r++)
        for (const IrInst *i = inst->regions[r]->first; i; i = i->next)
            if (i->op != IR_YIELD && !may_move(m, i)) return false;
    return true;
}

static bool is_loop(const IrInst *inst) {
    return inst->op == IR_LOOP || inst->op == IR_BUILD || inst->op == IR_REDUCE;
}

static void licm_region(Licm *m, IrRegion *region) {
    uint32_t forms = m->facts.forms.len, equal = m->facts.equal.len;
    IrInst *owner = region->owner;
    if (owner) opt_linear_assume_runs(&m->facts, owner);
    for (IrInst *inst = region->first, *next; inst; inst = next) {
        next = inst->next;
        if (inst->op == IR_CHECK) opt_linear_assume(&m->facts, inst->operands[0], true);
        for (uint32_t r = 0; r < inst->nregions; r++) licm_region(m, inst->regions[r]);
        if (!owner || !is_loop(owner) || inst->op == IR_YIELD) continue;
        if (!invariant(inst, owner->parent) || !may_move(m, inst)) continue;
        ir_move_before(inst, owner);
        m->context->changed = true;
    }
    m->facts.forms.len = forms;
    m->facts.equal.len = equal;
}

void opt_licm(OptContext *c) {
    Licm m = {.context = c};
    ir_walk(c->func->body, note_dim, &m);
    licm_region(&m, c->func->body);
    map_free(&m.dims);
    vec_free(&m.facts.forms);
    vec_free(&m.facts.equal);
}
