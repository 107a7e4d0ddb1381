#include "opt/scan.h"

#include "opt/memory.h"

typedef struct Finder {
    const IrRegion *body;
    Scan *scan;
    Bitset tainted; /* made of the number carried, by value id */
    IrValue *place; /* where the arrays carried are read and written; NULL so far */
} Finder;

static bool is_inside(const Finder *f, const IrValue *value) {
    return value->def ? value->def->parent == f->body : value->region == f->body;
}

static bool is_plain(IrType type, IrTypeKind kind) {
    return type->kind == kind && ir_scalar_lanes(type->scalar) == 1;
}

/* ---- arrays ---- */

/* The array carried that VALUE is a later value of; NULL: none. */
static const IrValue *chain_of(const Finder *f, const IrValue *value) {
    value = ir_resolve((IrValue *)value);
    while (value->def && value->def->parent == f->body) {
        if (value->def->op != IR_UPDATE && value->def->op != IR_ASSUME) return NULL;
        value = ir_resolve(value->def->operands[0]);
    }
    return !value->def && value->region == f->body && value->type->kind == IR_T_ARRAY ? value
                                                                                      : NULL;
}

/* How far VALUE moves from trip to trip, if that is a constant step of -1, 0 or 1; else 2. */
static int stride_of(const Finder *f, const IrValue *value, int depth) {
    value = ir_resolve((IrValue *)value);
    if (!is_inside(f, value)) return 0;
    if (value == f->body->params[0]) return 1;
    const IrInst *def = value->def;
    if (!def || depth == 0 || (def->op != IR_ADD && def->op != IR_SUB)) return 2;
    int a = stride_of(f, def->operands[0], depth - 1),
        b = stride_of(f, def->operands[1], depth - 1);
    if (a == 2 || b == 2) return 2;
    int sum = def->op == IR_ADD ? a + b : a - b;
    return sum < -1 || sum > 1 ? 2 : sum;
}

/* Is INST's place the one of the trip alone? */
static bool is_own_place(Finder *f, const IrInst *inst, uint32_t nindices) {
    enum { DEPTH = 6 };
    if (nindices != 1) return false;
    IrValue *place = ir_resolve(inst->operands[1]);
    int stride = f->place ? 0 : stride_of(f, place, DEPTH);
    if (!f->place && (stride == 1 || stride == -1)) f->place = place;
    return f->place == place;
}

static bool is_good_inst(Finder *f, const IrInst *inst) {
    if (inst->nregions) return false;
    switch ((int)inst->op) {
    case IR_INDEX:
        return inst->results[0]->type->kind == IR_T_SCALAR &&
               (!chain_of(f, inst->operands[0]) || is_own_place(f, inst, inst->noperands - 1));
    case IR_UPDATE:
        return chain_of(f, inst->operands[0]) && is_own_place(f, inst, inst->noperands - 2);
    case IR_DIM: return true;
    case IR_ASSUME: return chain_of(f, inst->operands[0]);
    default: return inst->op <= IR_MATH && ir_scalar_lanes(inst->results[0]->type->scalar) == 1;
    }
}

/* ---- the number ---- */

static bool find_kind(const IrInst *step, IrReduce *kind) {
    switch ((int)step->op) {
    case IR_ADD: *kind = IR_SUM; return true;
    case IR_MUL: *kind = IR_PROD; return true;
    case IR_MIN: *kind = IR_MINIMUM; return true;
    case IR_MAX: *kind = IR_MAXIMUM; return true;
    default: return false;
    }
}

static bool find_step(Finder *f) {
    Scan *s = f->scan;
    IrValue *next = ir_resolve(f->body->last->operands[s->carry]);
    const IrValue *number = f->body->params[1 + s->carry];
    s->step = next->def;
    if (!next->def || next->def->parent != f->body || !find_kind(next->def, &s->kind)) return false;
    bool rounds = ir_scalar_float(next->type->scalar) && s->kind <= IR_PROD;
    if (rounds && !(s->loop->flags & IR_LOOP_SCAN)) return false;
    IrValue *a = ir_resolve(next->def->operands[0]), *b = ir_resolve(next->def->operands[1]);
    if (a != number && b != number) return false;
    s->element = a == number ? b : a;
    return s->element != number && !bitset_has(&f->tainted, s->element->id);
}

static void find_tainted(Finder *f) {
    bitset_add(&f->tainted, f->body->params[1 + f->scan->carry]->id);
    for (const IrInst *inst = f->body->first; inst != f->body->last; inst = inst->next)
        for (uint32_t k = 0; k < inst->noperands; k++)
            if (bitset_has(&f->tainted, ir_resolve(inst->operands[k])->id))
                for (uint32_t r = 0; r < inst->nresults; r++)
                    bitset_add(&f->tainted, inst->results[r]->id);
}

/* False: it takes a write. */
static bool find_needed(Finder *f) {
    Bitset *needed = &f->scan->needed;
    bitset_add(needed, f->scan->element->id);
    for (const IrInst *inst = f->body->last->prev; inst; inst = inst->prev) {
        if (!inst->nresults || !bitset_has(needed, inst->results[0]->id)) continue;
        if (inst->op == IR_UPDATE) return false;
        for (uint32_t k = 0; k < inst->noperands; k++)
            bitset_add(needed, ir_resolve(inst->operands[k])->id);
    }
    return true;
}

/* ---- all ---- */

/* One number, and arrays of which each comes out where it went in. */
static bool find_carried(Finder *f) {
    const IrInst *loop = f->scan->loop;
    uint32_t numbers = 0;
    for (uint32_t i = 0; i < loop->nresults; i++) {
        IrType type = loop->results[i]->type;
        if (is_plain(type, IR_T_SCALAR) && type->scalar != IR_BOOL) {
            f->scan->carry = i;
            numbers++;
        } else if (!is_plain(type, IR_T_ARRAY) || type->rank != 1 || mem_is_small(type) ||
                   chain_of(f, f->body->last->operands[i]) != f->body->params[1 + i]) {
            return false;
        }
    }
    return numbers == 1;
}

static bool find_all(Finder *f) {
    if (!find_carried(f)) return false;
    for (const IrInst *inst = f->body->first; inst != f->body->last; inst = inst->next)
        if (!is_good_inst(f, inst)) return false;
    find_tainted(f);
    return find_step(f) && find_needed(f);
}

bool scan_find(const IrInst *loop, Scan *scan) {
    Finder f = {.body = loop->nregions ? loop->regions[0] : NULL, .scan = scan};
    *scan = (Scan){.loop = loop};
    if (loop->op != IR_LOOP || loop->flags & IR_LOOP_EXIT) return false;
    bool found = find_all(&f);
    bitset_free(&f.tainted);
    if (!found) scan_free(scan);
    return found;
}

void scan_free(Scan *scan) {
    bitset_free(&scan->needed);
}
