/* The sizes of linear arrays, as nonlinear values of the mixed function.  A tangent has the sizes
   of its primal partner; these are followed to the place where they are named.  What a loop carries
   is assumed to keep its sizes; each assumption is checked against what the body yields, and where
   one fails all is worked out again without it.  What is named nowhere is measured by a DIM behind
   the primal's definition. */
#include "ad/internal.h"

#include "base/fatal.h"

typedef enum Assumed { NOT_SEEN, KEPT, CHANGES } Assumed;

typedef struct Shapes {
    Mixed *mixed;
    Map assumed; /* carried parameter to Assumed */
    bool failed;
} Shapes;

static Dim dim_of(Shapes *shapes, IrValue *value, uint32_t k);

/* A size that an instruction names; one that it measured is that of what it measured. */
static Dim named(Shapes *shapes, IrValue *value) {
    Dim dim = {-1, ir_resolve(value)};
    int64_t size;
    if (ir_const_int(value, &size)) return (Dim){size, NULL};
    const IrInst *def = dim.value->def;
    if (def && def->op == IR_DIM) return dim_of(shapes, def->operands[0], (uint32_t)def->imm);
    return dim;
}

static bool same_dim(Dim a, Dim b) {
    return a.size == b.size && a.value == b.value;
}

/* DIM of a value that is named nowhere, put right behind its definition. */
static Dim measured(Shapes *shapes, IrValue *value, uint32_t k) {
    Mixed *mixed = shapes->mixed;
    IrBuilder b = {0};
    IrRegion *region = value->def ? value->def->parent : value->region;
    IrInst *next = value->def ? value->def->next : region->first;
    uint32_t rank = value->type->rank;
    CHECK_INTERNAL(!is_linear(mixed, value));
    Dim *known = map_getp(&mixed->dims, value);
    if (!known) {
        known = ARENA_ARRAY(mixed->ad->arena, Dim, rank);
        for (uint32_t i = 0; i < rank; i++) known[i].size = -1;
        map_setp(&mixed->dims, value, known);
    }
    if (known[k].value) return known[k];
    irb_at_end(&b, region);
    b.before = next;
    IrType type = ir_scalar(b.module, IR_I64);
    IrInst *inst = irb_inst(&b, IR_DIM, 1, &value, 1, &type, 0);
    inst->imm = k;
    known[k] = (Dim){-1, inst->results[0]};
    return known[k];
}

/* Does carried value I of LOOP keep its sizes? */
static bool is_kept(Shapes *shapes, const IrInst *loop, uint32_t i) {
    const IrRegion *body = loop->regions[0];
    IrValue *param = body->params[1 + i];
    Assumed before = (Assumed)(uintptr_t)map_getp(&shapes->assumed, param);
    if (before != NOT_SEEN) return before == KEPT;
    map_setp(&shapes->assumed, param, (void *)(uintptr_t)KEPT);
    IrValue *next = body->last->operands[i + (loop->flags & IR_LOOP_EXIT ? 1 : 0)];
    for (uint32_t k = 0; k < param->type->rank && !shapes->failed; k++) {
        if (same_dim(dim_of(shapes, loop->operands[1 + i], k), dim_of(shapes, next, k))) continue;
        map_setp(&shapes->assumed, param, (void *)(uintptr_t)CHANGES);
        shapes->failed = true;
    }
    return !shapes->failed;
}

static Dim carried_dim(Shapes *shapes, IrValue *value, const IrInst *loop, uint32_t i, uint32_t k) {
    if (is_kept(shapes, loop, i)) return dim_of(shapes, loop->operands[1 + i], k);
    return shapes->failed ? (Dim){-1, NULL} : measured(shapes, value, k);
}

static Dim branch_dim(Shapes *shapes, IrValue *value, uint32_t k) {
    const IrInst *inst = value->def;
    Dim a = dim_of(shapes, inst->regions[0]->last->operands[value->index], k);
    Dim b = dim_of(shapes, inst->regions[1]->last->operands[value->index], k);
    if (same_dim(a, b)) return a;
    return measured(shapes, value, k);
}

static Dim build_dim(Shapes *shapes, const IrInst *build, uint32_t result, uint32_t k) {
    uint32_t at = (uint32_t)build->imm;
    if (k < at) return named(shapes, build->operands[k]);
    k -= at;
    for (uint32_t i = 0; i < result; i++) at += (uint32_t)build->ints[i];
    return named(shapes, build->operands[at + k]);
}

static Dim contract_dim(Shapes *shapes, const IrInst *inst, uint32_t k) {
    IrValue *x = inst->operands[0], *y = inst->operands[1];
    if (k == 0 && x->type->rank == 2)
        return dim_of(shapes, x, inst->flags & IR_CONTRACT_TA ? 1 : 0);
    return dim_of(shapes, y, inst->flags & IR_CONTRACT_TB ? 0 : 1);
}

static Dim defined_dim(Shapes *shapes, IrValue *value, uint32_t k) {
    const IrInst *def = value->def;
    IrValue **operands = def->operands;
    uint32_t rank = value->type->rank;
    switch ((int)def->op) {
    case IR_BUILD: return build_dim(shapes, def, value->index, k);
    case IR_RESHAPE:
    case IR_ASSUME: return named(shapes, operands[1 + k]);
    case IR_SLICE: return named(shapes, operands[1 + rank + k]);
    case IR_UPDATE:
    case IR_ASSIGN:
    case IR_STOP: return dim_of(shapes, operands[0], k);
    case IR_TRANSPOSE: return dim_of(shapes, operands[0], (uint32_t)def->ints[k]);
    case IR_INDEX: return dim_of(shapes, operands[0], k + def->noperands - 1);
    case IR_PACK: return k ? dim_of(shapes, operands[0], k - 1) : (Dim){def->noperands, NULL};
    case IR_CONCAT: return k ? dim_of(shapes, operands[0], k) : measured(shapes, value, k);
    case IR_CONTRACT: return contract_dim(shapes, def, k);
    case IR_REDUCE: return dim_of(shapes, operands[(uint32_t)def->imm + value->index], k);
    case IR_WITH_ACC:
        if (value->index < def->noperands) return dim_of(shapes, operands[value->index], k);
        return measured(shapes, value, k);
    case IR_IF: return branch_dim(shapes, value, k);
    case IR_LOOP: return carried_dim(shapes, value, def, value->index, k);
    default: return measured(shapes, value, k);
    }
}

static Dim dim_of(Shapes *shapes, IrValue *value, uint32_t k) {
    if (value->type->dims[k] >= 0) return (Dim){value->type->dims[k], NULL};
    if (shapes->failed) return (Dim){-1, NULL};
    IrValue *partner = map_getp(&shapes->mixed->partners, value);
    if (partner && partner != value) return dim_of(shapes, partner, k);
    if (value->def) return defined_dim(shapes, value, k);
    const IrInst *owner = value->region->owner;
    if (owner && owner->op == IR_LOOP && value->index > 0)
        return carried_dim(shapes, value, owner, value->index - 1, k);
    return measured(shapes, value, k);
}

const Dim *mixed_dims(Mixed *mixed, IrValue *linear) {
    uint32_t rank = linear->type->rank;
    Shapes shapes = {.mixed = mixed};
    Dim *dims = map_getp(&mixed->dims, linear);
    if (dims) return dims;
    dims = ARENA_ARRAY(mixed->ad->arena, Dim, rank);
    do {
        shapes.failed = false;
        for (uint32_t i = 0; i < shapes.assumed.len; i++)
            if (shapes.assumed.values[i] == (void *)(uintptr_t)KEPT)
                shapes.assumed.values[i] = (void *)(uintptr_t)NOT_SEEN;
        for (uint32_t k = 0; k < rank; k++) dims[k] = dim_of(&shapes, linear, k);
    } while (shapes.failed);
    map_free(&shapes.assumed);
    map_setp(&mixed->dims, linear, dims);
    return dims;
}

bool mixed_dim_is(Mixed *mixed, IrValue *linear, uint32_t k, IrValue *size) {
    Shapes shapes = {.mixed = mixed};
    Dim dim = mixed_dims(mixed, linear)[k];
    bool same = same_dim(dim, named(&shapes, size));
    same = same && !shapes.failed;
    map_free(&shapes.assumed);
    return same;
}
