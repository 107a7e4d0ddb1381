/* Bodies of sums computed for SUM_LANES places at once, so that nothing needs to be stored on the
   way to the running sums.  For bodies of scalar operations on elements that lie side by side, or
   are the same for all places; what else there is goes through a buffer (reduce.c).  Each lane
   computes what the scalar code computes, bit for bit. */
#include "codegen/cpu/vector.h"

#include "base/fatal.h"

/* What a value is over the lanes. */
typedef enum LaneKind {
    LANES_NONE,    /* cannot be had this way */
    LANES_SAME,    /* one scalar */
    LANES_COUNTED, /* an i64 that is one more in each lane; the first lane's */
    LANES_ALL      /* a vector */
} LaneKind;

/* ---- what can be had ---- */

typedef struct Finder {
    Fn *f;
    Map kinds; /* IrValue to LaneKind; not there: from outside, the same for all */
} Finder;

static LaneKind kind_of(const Finder *v, const IrValue *value) {
    const IrValue *resolved = ir_resolve((IrValue *)value);
    if (!map_hasp(&v->kinds, resolved)) return LANES_SAME;
    return (LaneKind)(uintptr_t)map_getp(&v->kinds, resolved);
}

static LaneKind most(const Finder *v, const IrInst *inst) {
    LaneKind most = LANES_SAME;
    for (uint32_t k = 0; k < inst->noperands; k++) {
        LaneKind kind = kind_of(v, inst->operands[k]);
        if (kind == LANES_NONE) return LANES_NONE;
        if (kind > most) most = kind;
    }
    return most;
}

static LaneKind index_kind(const Finder *v, const IrInst *inst) {
    uint32_t rank = inst->noperands - 1;
    if (inst->results[0]->type->kind != IR_T_SCALAR) return LANES_NONE;
    for (uint32_t k = 0; k <= rank; k++) {
        LaneKind kind = kind_of(v, inst->operands[k]);
        if (kind == LANES_NONE || kind == LANES_ALL) return LANES_NONE;
        if (kind == LANES_COUNTED) return k == rank && k > 0 ? LANES_ALL : LANES_NONE;
    }
    return LANES_SAME;
}

static bool is_exact(IrMath fn) {
    return fn == IR_MATH_SQRT || fn == IR_MATH_FLOOR || fn == IR_MATH_CEIL || fn == IR_MATH_TRUNC ||
           fn == IR_MATH_RINT || fn == IR_MATH_COPYSIGN || fn == IR_MATH_FMA;
}

static bool is_half(const IrValue *value) {
    return value->type->scalar == IR_F16 || value->type->scalar == IR_BF16;
}

/* Operations that are the same on vectors as on scalars, or nearly so. */
static bool is_simple(const IrInst *inst) {
    switch ((int)inst->op) {
    case IR_NEG:
    case IR_ABS:
    case IR_ADD:
    case IR_SUB:
    case IR_MUL:
    case IR_MIN:
    case IR_MAX:
    case IR_EQ:
    case IR_NE:
    case IR_LT:
    case IR_LE:
    case IR_GT:
    case IR_GE:
    case IR_AND:
    case IR_OR:
    case IR_XOR:
    case IR_NOT:
    case IR_MULADD:
    case IR_SELECT: return true;
    case IR_DIV: return ir_scalar_float(inst->results[0]->type->scalar);
    case IR_MATH: return is_exact((IrMath)inst->imm);
    case IR_CAST:
        return ir_scalar_float(inst->results[0]->type->scalar) &&
               !is_half(ir_resolve(inst->operands[0]));
    case IR_POWI: return false;
    default: return false;
    }
}

/* A counted value moved by one that is the same for all. */
static bool stays_counted(const Finder *v, const IrInst *inst) {
    if (inst->op != IR_ADD && inst->op != IR_SUB) return false;
    LaneKind a = kind_of(v, inst->operands[0]), b = kind_of(v, inst->operands[1]);
    if (a == LANES_COUNTED && b == LANES_SAME) return true;
    return inst->op == IR_ADD && a == LANES_SAME && b == LANES_COUNTED;
}

/* Has anything of INST lanes of a batch?  They are vectors already. */
static bool has_lanes(const IrInst *inst) {
    for (uint32_t k = 0; k < inst->noperands; k++)
        if (ir_scalar_lanes(ir_resolve(inst->operands[k])->type->scalar) > 1) return true;
    for (uint32_t k = 0; k < inst->nresults; k++)
        if (ir_scalar_lanes(inst->results[k]->type->scalar) > 1) return true;
    return false;
}

static LaneKind inst_kind(const Finder *v, const IrInst *inst) {
    if (has_lanes(inst)) return LANES_NONE;
    if (inst->op == IR_CONST || inst->op == IR_DIM) return LANES_SAME;
    if (inst->op == IR_INDEX) return index_kind(v, inst);
    LaneKind kind = most(v, inst);
    if (kind == LANES_NONE || inst->nregions || inst->nresults != 1) return LANES_NONE;
    if (kind == LANES_SAME && inst->op <= IR_MATH) return LANES_SAME;
    if (!is_simple(inst)) return LANES_NONE;
    return stays_counted(v, inst) ? LANES_COUNTED : LANES_ALL;
}

static void note(Finder *v, const IrValue *value, LaneKind kind) {
    map_setp(&v->kinds, value, (void *)(uintptr_t)kind);
}

bool vector_can(Fn *f, const IrRegion *region, uint32_t lane) {
    Finder v = {.f = f};
    bool can = !has_lanes(region->last);
    note(&v, region->params[lane], LANES_COUNTED);
    for (const IrInst *inst = region->first; can && inst->op != IR_YIELD; inst = inst->next) {
        LaneKind kind = inst_kind(&v, inst);
        can = kind != LANES_NONE;
        if (can) note(&v, inst->results[0], kind);
    }
    map_free(&v.kinds);
    return can;
}

/* ---- making it ---- */

typedef struct Lanes {
    LaneKind kind;
    LLVMValueRef at;
} Lanes;

typedef struct Maker {
    Fn *f;
    Emit *e;
    Finder finder;
    Map values; /* IrValue to Lanes */
} Maker;

static LLVMTypeRef wide(LLVMTypeRef type) {
    return LLVMVectorType(type, SUM_LANES);
}

LLVMValueRef vector_splat(Emit *e, LLVMValueRef scalar) {
    return emit_splat(e, scalar, SUM_LANES);
}

static LLVMValueRef counted(Emit *e, LLVMValueRef first) {
    LLVMValueRef steps[SUM_LANES];
    for (unsigned k = 0; k < SUM_LANES; k++) steps[k] = LLVMConstInt(e->i64, k, false);
    return LLVMBuildAdd(e->b, vector_splat(e, first), LLVMConstVector(steps, SUM_LANES), "");
}

static Lanes lanes_of(Maker *m, const IrValue *value) {
    const IrValue *resolved = ir_resolve((IrValue *)value);
    const Lanes *known = map_getp(&m->values, resolved);
    if (known) return *known;
    return (Lanes){LANES_SAME, gen_scalar(m->f, resolved)};
}

static LLVMValueRef vector_of(Maker *m, const IrValue *value) {
    Lanes lanes = lanes_of(m, value);
    if (lanes.kind == LANES_SAME) return vector_splat(m->e, lanes.at);
    return lanes.kind == LANES_COUNTED ? counted(m->e, lanes.at) : lanes.at;
}

static void set(Maker *m, const IrValue *value, LaneKind kind, LLVMValueRef at) {
    Lanes *lanes = ARENA_NEW(m->f->g->plan->arena, Lanes);
    *lanes = (Lanes){kind, at};
    map_setp(&m->values, value, lanes);
    note(&m->finder, value, kind);
    /* Scalars can be used by what makes scalars. */
    if (kind != LANES_ALL) gen_set_scalar(m->f, value, at);
}

static LLVMValueRef make_index(Maker *m, const IrInst *inst, LaneKind kind) {
    Emit *e = m->e;
    const IrValue *x = ir_resolve(inst->operands[0]);
    const Val *val = gen_val(m->f, x);
    IrScalar scalar = x->type->scalar;
    LLVMValueRef at[IR_MAX_RANK];
    uint32_t n = inst->noperands - 1;
    for (uint32_t k = 0; k < n; k++) at[k] = lanes_of(m, inst->operands[1 + k]).at;
    LLVMValueRef flat = gen_flat(m->f, val, x->type, n, at);
    if (kind == LANES_SAME) return gen_load(m->f, val, scalar, flat);
    LLVMTypeRef type = wide(emit_memory_type(e, scalar));
    LLVMValueRef load =
        LLVMBuildLoad2(e->b, type, gen_element_at(m->f, x->type, val->at, flat), "");
    LLVMSetAlignment(load, ir_scalar_bytes(scalar));
    if (scalar != IR_BOOL) return load;
    return LLVMBuildICmp(e->b, LLVMIntNE, load, LLVMConstNull(type), "");
}

static LLVMValueRef make_cast(Maker *m, const IrInst *inst) {
    LLVMBuilderRef b = m->e->b;
    IrScalar from = ir_resolve(inst->operands[0])->type->scalar;
    IrScalar to = inst->results[0]->type->scalar;
    LLVMValueRef x = vector_of(m, inst->operands[0]);
    LLVMTypeRef type = wide(emit_type(m->e, to));
    if (from == to) return x;
    if (ir_scalar_float(from))
        return to == IR_F64 ? LLVMBuildFPExt(b, x, type, "") : LLVMBuildFPTrunc(b, x, type, "");
    return ir_scalar_signed(from) ? LLVMBuildSIToFP(b, x, type, "")
                                  : LLVMBuildUIToFP(b, x, type, "");
}

static LLVMValueRef make_all(Maker *m, const IrInst *inst) {
    LLVMValueRef args[4];
    if (inst->op == IR_CAST) return make_cast(m, inst);
    for (uint32_t k = 0; k < inst->noperands; k++) args[k] = vector_of(m, inst->operands[k]);
    if (inst->op == IR_MATH)
        return emit_math_wide(m->e, (IrMath)inst->imm, LLVMTypeOf(args[0]), args);
    return emit_scalar(m->e, inst, args);
}

static void make_inst(Maker *m, const IrInst *inst) {
    LaneKind kind = inst_kind(&m->finder, inst);
    const IrValue *result = inst->results[0];
    LLVMValueRef args[4], at;
    if (inst->op == IR_CONST) at = emit_const(m->e, inst);
    else if (inst->op == IR_DIM) at = gen_val(m->f, inst->operands[0])->dims[inst->imm];
    else if (inst->op == IR_INDEX) at = make_index(m, inst, kind);
    else if (kind == LANES_ALL) at = make_all(m, inst);
    else {
        for (uint32_t k = 0; k < inst->noperands; k++) args[k] = lanes_of(m, inst->operands[k]).at;
        at = emit_scalar(m->e, inst, args);
    }
    set(m, result, kind, at);
}

void vector_body(Fn *f, const IrRegion *region, uint32_t lane, LLVMValueRef first,
                 LLVMValueRef *values) {
    Maker m = {.f = f, .e = f->e, .finder = {.f = f}};
    const IrInst *inst = region->first;
    set(&m, region->params[lane], LANES_COUNTED, first);
    for (; inst->op != IR_YIELD; inst = inst->next) {
        debug_position(f->g->debug, f->e->b, f->ir, inst->pos);
        make_inst(&m, inst);
    }
    for (uint32_t i = 0; i < inst->noperands; i++) values[i] = vector_of(&m, inst->operands[i]);
    map_free(&m.finder.kinds);
    map_free(&m.values);
}
