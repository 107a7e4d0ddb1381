/* What can be read off the tables and off the instructions. */
#include "ir/ir.h"

#include "ir/internal.h"

enum { P = 1, C = 2, T = 4, E = 8 };

const IrOpInfo *ir_op_info(IrOp op) {
    static const IrOpInfo infos[] = {
#define IR_OP(name, text, cls, regions, flags)                                                     \
    {text, regions, ((flags)&P) != 0, ((flags)&C) != 0, ((flags)&T) != 0, ((flags)&E) != 0},
#include "ir/op.def"
#undef IR_OP
    };
    return &infos[op];
}

bool ir_is_comparison(IrOp op) {
    return op >= IR_EQ && op <= IR_GE;
}

const char *ir_reduce_name(IrReduce kind) {
    static const char *const names[] = {"sum", "prod", "min",    "max",
                                        "all", "any",  "argmin", "argmax"};
    return names[kind];
}

const char *ir_math_name(IrMath fn) {
    static const char *const names[] = {
#define MATH(name, text, arity, libm) text,
#include "lang/math.def"
#undef MATH
    };
    return names[fn];
}

uint32_t ir_math_arity(IrMath fn) {
    static const uint8_t arities[] = {
#define MATH(name, text, arity, libm) arity,
#include "lang/math.def"
#undef MATH
    };
    return arities[fn];
}

typedef enum ScalarClass {
    CLASS_BOOL,
    CLASS_SINT,
    CLASS_UINT,
    CLASS_STORE,
    CLASS_FLOAT,
    CLASS_COMPLEX
} ScalarClass;

typedef struct ScalarInfo {
    const char *name;
    ScalarClass cls;
    uint32_t bytes;
} ScalarInfo;

static const ScalarInfo scalars[] = {
#define SCALAR(name, text, cls, bytes) {text, CLASS_##cls, bytes},
#include "lang/scalars.def"
#undef SCALAR
};

const char *ir_scalar_name(IrScalar scalar) {
    return scalars[ir_scalar_base(scalar)].name;
}

uint32_t ir_scalar_bytes(IrScalar scalar) {
    return scalars[ir_scalar_base(scalar)].bytes * ir_scalar_lanes(scalar);
}

uint32_t ir_scalar_align(IrScalar scalar) {
    return scalars[ir_scalar_base(scalar)].bytes;
}

bool ir_scalar_float(IrScalar scalar) {
    return scalars[ir_scalar_base(scalar)].cls == CLASS_FLOAT;
}

bool ir_scalar_signed(IrScalar scalar) {
    return scalars[ir_scalar_base(scalar)].cls == CLASS_SINT;
}

/* ---- constants and sizes ---- */

bool ir_const_int(const IrValue *value, int64_t *result) {
    const IrInst *def = ir_resolve((IrValue *)value)->def;
    if (!def || def->op != IR_CONST || ir_scalar_float(def->results[0]->type->scalar)) return false;
    *result = def->imm;
    return true;
}

bool ir_const_float(const IrValue *value, double *result) {
    const IrInst *def = ir_resolve((IrValue *)value)->def;
    if (!def || def->op != IR_CONST || !ir_scalar_float(def->results[0]->type->scalar))
        return false;
    *result = def->fimm;
    return true;
}

/* Dimension K of result R of a BUILD. */
static IrValue *build_dim(const IrInst *build, uint32_t r, uint32_t k) {
    uint32_t at = (uint32_t)build->imm;
    if (k < at) return build->operands[k];
    k -= at;
    for (uint32_t i = 0; i < r; i++) at += (uint32_t)build->ints[i];
    return build->operands[at + k];
}

/* One step: dimension *K of *X is that of another value (true, both are set), or *SIZE, or unknown
   (*SIZE is NULL). */
static bool follow_dim(const IrValue **x, uint32_t *k, IrValue **size) {
    const IrInst *def = (*x)->def;
    IrValue **operands = def->operands;
    uint32_t rank = (*x)->type->rank;
    *size = NULL;
    switch ((int)def->op) {
    case IR_BUILD: *size = build_dim(def, (*x)->index, *k); return false;
    case IR_RESHAPE:
    case IR_ASSUME: *size = operands[1 + *k]; return false;
    case IR_SLICE: *size = operands[1 + rank + *k]; return false;
    case IR_UPDATE:
    case IR_ASSIGN:
    case IR_STOP:
    case IR_ARGSORT: *x = operands[0]; return true;
    case IR_TRANSPOSE:
        *x = operands[0];
        *k = (uint32_t)def->ints[*k];
        return true;
    case IR_INDEX:
        *x = operands[0];
        *k += def->noperands - 1;
        return true;
    case IR_PACK:
        if (*k == 0) return false;
        *x = operands[0];
        --*k;
        return true;
    case IR_CONCAT: *x = operands[0]; return *k > 0;
    case IR_REDUCE:
        if (rank == 0) return false;
        *x = operands[(uint32_t)def->imm + (*x)->index];
        return true;
    case IR_WITH_ACC: {
        const IrInst *yield = def->regions[0]->last;
        if ((*x)->index < def->noperands) *x = operands[(*x)->index];
        else if (yield && yield->op == IR_YIELD) *x = yield->operands[(*x)->index - def->noperands];
        else return false;
        return true;
    }
    case IR_CONTRACT:
        if (*k == 0 && operands[0]->type->rank == 2) {
            *x = operands[0];
            *k = def->flags & IR_CONTRACT_TA ? 1 : 0;
        } else {
            *x = operands[1];
            *k = def->flags & IR_CONTRACT_TB ? 0 : 1;
        }
        return true;
    default: return false;
    }
}

IrValue *ir_known_dim(const IrValue *x, uint32_t k) {
    const IrRegion *place = NULL; /* where it must be seen, if X came out of a region */
    for (;;) {
        IrValue *size;
        x = ir_resolve((IrValue *)x);
        if (!x->def) return NULL;
        if (!place && x->def->op == IR_WITH_ACC) place = x->def->parent;
        if (follow_dim(&x, &k, &size)) continue;
        size = size ? ir_resolve(size) : NULL;
        return size && (!place || ir_visible(size, place)) ? size : NULL;
    }
}

/* ---- places ---- */

IrRegion *ir_home(const IrValue *value) {
    return value->def ? value->def->parent : value->region;
}

bool ir_encloses(const IrRegion *region, const IrRegion *inner) {
    while (inner && inner != region) inner = inner->owner ? inner->owner->parent : NULL;
    return inner == region;
}

bool ir_is_zeros(const IrValue *x) {
    double f;
    x = ir_resolve((IrValue *)x);
    if (ir_const_float(x, &f)) return f == 0.0;
    if (!x->def || x->def->op != IR_BUILD || x->def->ints[x->index] != 0) return false;
    const IrValue *element = ir_resolve(x->def->regions[0]->last->operands[x->index]);
    return ir_const_float(element, &f) && f == 0.0;
}

bool ir_visible(const IrValue *value, const IrRegion *region) {
    const IrRegion *home = ir_home(value);
    return home && ir_encloses(home, region);
}

typedef struct Captures {
    const IrRegion *region;
    void (*visit)(IrValue *value, void *data);
    void *data;
    Map seen;
} Captures;

static void capture_operands(IrInst *inst, void *data) {
    Captures *captures = data;
    for (uint32_t i = 0; i < inst->noperands; i++) {
        IrValue *value = ir_resolve(inst->operands[i]);
        if (map_hasp(&captures->seen, value)) continue;
        map_setp(&captures->seen, value, value);
        if (!ir_encloses(captures->region, ir_home(value))) captures->visit(value, captures->data);
    }
}

void ir_captures(const IrRegion *region, void (*visit)(IrValue *value, void *data), void *data) {
    Captures captures = {region, visit, data, {0}};
    ir_walk((IrRegion *)region, capture_operands, &captures);
    map_free(&captures.seen);
}

bool ir_adds_unit_dims(const IrInst *reshape, uint32_t *from) {
    uint32_t rank = reshape->results[0]->type->rank, n = 0;
    for (uint32_t k = 0; k < rank; k++) {
        int64_t size;
        bool unit = ir_const_int(ir_resolve(reshape->operands[1 + k]), &size) && size == 1;
        from[k] = unit ? IR_MAX_RANK : n++;
    }
    return n == ir_resolve(reshape->operands[0])->type->rank;
}
