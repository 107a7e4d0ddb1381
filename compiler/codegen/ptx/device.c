/* What invocations do together: places, barriers, shared arrays, additions to one cell. */
#include "codegen/ptx/gen.h"

#include <stdio.h>
#include <string.h>

/* ---- what knows of blocks ---- */

LLVMValueRef ptx_special(Ptx *g, const char *what, char axis) {
    char name[64];
    snprintf(name, sizeof name, "llvm.nvvm.read.ptx.sreg.%s.%c", what, axis);
    return LLVMBuildZExt(g->e.b, emit_intrinsic(&g->e, name, NULL, NULL, 0), g->e.i64, "");
}

LLVMValueRef ptx_own_block(Ptx *g, char axis) {
    LLVMValueRef first = g->first[axis - 'x'], block = ptx_special(g, "ctaid", axis);
    return first ? emit_size_add(&g->e, first, block) : block;
}

LLVMValueRef ptx_own_index(Ptx *g, char axis) {
    Emit *e = &g->e;
    LLVMValueRef before = emit_size_mul(e, ptx_own_block(g, axis), ptx_special(g, "ntid", axis));
    return emit_size_add(e, before, ptx_special(g, "tid", axis));
}

/* Which axis the first operand says. */
static char axis_of(const IrInst *inst) {
    int64_t dim = 0;
    ir_const_int(inst->operands[0], &dim);
    return "xyz"[dim];
}

static void gen_barrier(Body *b, const IrInst *inst) {
    Emit *e = &b->g->e;
    static const char old[] = "llvm.nvvm.barrier0";
    if (LLVMLookupIntrinsicID(old, strlen(old))) {
        emit_intrinsic(e, old, NULL, NULL, 0);
    } else {
        LLVMValueRef zero = emit_int32(e, 0);
        emit_intrinsic(e, "llvm.nvvm.barrier.cta.sync.aligned.all", NULL, &zero, 1);
    }
    for (uint32_t k = 0; k < inst->nresults; k++)
        b->vals[inst->results[k]->id] = ptx_written(ptx_current(b, inst->operands[k]));
}

static void gen_shared(Body *b, const IrInst *inst) {
    Emit *e = &b->g->e;
    IrType type = inst->results[0]->type;
    uint64_t count = 1;
    for (uint32_t k = 0; k < type->rank; k++) count *= (uint64_t)type->dims[k];
    LLVMTypeRef memory = LLVMArrayType2(emit_memory_type(e, type->scalar), count);
    LLVMValueRef global = LLVMAddGlobalInAddressSpace(e->module, memory, "shared", 3);
    LLVMSetLinkage(global, LLVMInternalLinkage);
    LLVMSetInitializer(global, LLVMGetUndef(memory));
    b->vals[inst->results[0]->id] = ptx_array(b->g, global, type, NULL, true);
}

static void gen_atomic_add(Body *b, const IrInst *inst) {
    Emit *e = &b->g->e;
    const Val *x = ptx_current(b, inst->operands[0]);
    IrType type = ir_resolve(inst->operands[0])->type;
    bool real = ir_scalar_float(type->scalar);
    uint32_t n = inst->noperands - 2;
    LLVMValueRef i[IR_MAX_RANK], v = ptx_scalar(b, inst->operands[1]);
    for (uint32_t k = 0; k < n; k++) i[k] = ptx_scalar(b, inst->operands[k + 2]);
    LLVMValueRef at = ptx_address(b->g, x, type, n, i);
    if (real) ptx_add_to(b->g, at, type->scalar, v, x->root->kind == ROOT_OWN);
    else LLVMBuildAtomicRMW(e->b, LLVMAtomicRMWBinOpAdd, at, v, LLVMAtomicOrderingMonotonic, false);
    b->vals[inst->results[0]->id] = ptx_written(x);
}

/* ---- accumulators ---- */

/* The dimensions of the launch of which VALUE is the invocation's own index, as bits. */
static unsigned own_dimension(const Ptx *g, const IrValue *value) {
    value = ir_resolve((IrValue *)value);
    const IrInst *def = value->def;
    int64_t dim;
    if (!def && g->region && value->region == g->region) return 1U << value->index;
    bool own = def && def->op == IR_RUNTIME && strcmp(def->text, "adl__device_index") == 0;
    return own && ir_const_int(def->operands[0], &dim) ? 1U << dim : 0;
}

typedef struct Additions {
    const IrValue *acc;
    const IrInst *first;
    bool alike; /* all at the place of the first */
} Additions;

static void look_at_addition(IrInst *inst, void *data) {
    Additions *a = data;
    for (uint32_t k = 0; k < inst->noperands; k++) {
        if (ir_resolve(inst->operands[k]) != a->acc) continue;
        if (inst->op != IR_ACC_ADD || k) a->alike = false;
        else if (!a->first) a->first = inst;
        if (!a->first || inst->noperands != a->first->noperands) a->alike = false;
        for (uint32_t i = 1; a->alike && i + 1 < inst->noperands; i++)
            a->alike = ir_resolve(inst->operands[i]) == ir_resolve(a->first->operands[i]);
    }
}

bool ptx_is_alone(Ptx *g, const IrRegion *region, const IrValue *acc) {
    Additions a = {.acc = acc, .alike = true};
    ir_walk((IrRegion *)(uintptr_t)region, look_at_addition, &a);
    unsigned own = 0;
    for (uint32_t i = 1; a.first && i + 1 < a.first->noperands; i++)
        own |= own_dimension(g, a.first->operands[i]);
    return a.alike && own == (1U << g->rank) - 1;
}

/* A number of the invocation's, to which the region adds. */
static Val open_number(Body *b, const IrValue *init) {
    IrScalar scalar = init->type->scalar;
    Val acc = {.at = ptx_alloca(b->g, emit_memory_type(&b->g->e, scalar), "sum"), .alone = true};
    ptx_store(b->g, scalar, ptx_scalar(b, init), acc.at);
    return acc;
}

void ptx_with_acc(Body *b, const IrInst *inst) {
    const IrRegion *body = inst->regions[0];
    Val *accs = ARENA_ARRAY(b->g->arena, Val, body->nparams + 1);
    for (uint32_t k = 0; k < body->nparams; k++) {
        const IrValue *init = ir_resolve(inst->operands[k]);
        if (init->type->kind == IR_T_ARRAY) {
            Val base = ptx_base(b, inst, k);
            accs[k] = ptx_written(&base);
            accs[k].alone =
                base.root->kind == ROOT_OWN || ptx_is_alone(b->g, body, body->params[k]);
        } else {
            accs[k] = open_number(b, init);
        }
        b->vals[body->params[k]->id] = accs[k];
    }
    ptx_instructions(b, body);
    if (*b->g->error) return;
    Val *more = ARENA_ARRAY(b->g->arena, Val, inst->nresults + 1);
    ptx_yields(b, body, 0, more);
    for (uint32_t k = 0; k < inst->nresults; k++) {
        IrValue *result = inst->results[k];
        if (k >= body->nparams) b->vals[result->id] = more[k - body->nparams];
        else if (accs[k].root) b->vals[result->id] = ptx_written(&accs[k]);
        else ptx_set_scalar(b, result, ptx_load(b->g, result->type->scalar, accs[k].at));
    }
}

void ptx_add_to(Ptx *g, LLVMValueRef at, IrScalar scalar, LLVMValueRef v, bool alone) {
    Emit *e = &g->e;
    uint32_t lanes = ir_scalar_lanes(scalar);
    v = emit_widened(e, v, scalar);
    if (alone) {
        LLVMValueRef old = ptx_load(g, scalar, at);
        ptx_store(g, scalar, emit_combine(e, IR_SUM, scalar, old, v), at);
        return;
    }
    LLVMTypeRef type = emit_type(e, ir_scalar_base(scalar));
    if (type != e->f64 && type != e->f32) {
        ptx_refuse(g, "half floats to which several invocations add");
        return;
    }
    for (uint32_t k = 0; k < lanes; k++) {
        LLVMValueRef flat = gen_int(e, k), to = at, one = v;
        if (lanes > 1) {
            to = LLVMBuildInBoundsGEP2(e->b, type, at, &flat, 1, "");
            one = LLVMBuildExtractElement(e->b, v, emit_int32(e, (int32_t)k), "");
        }
        LLVMBuildAtomicRMW(e->b, LLVMAtomicRMWBinOpFAdd, to, one, LLVMAtomicOrderingMonotonic,
                           false);
    }
}

void ptx_acc_add(Body *b, const IrInst *inst) {
    Ptx *g = b->g;
    const IrValue *acc = ir_resolve(inst->operands[0]);
    const IrValue *v = ir_resolve(inst->operands[inst->noperands - 1]);
    const Val *x = ptx_get(b, acc);
    uint32_t n = inst->noperands - 2;
    IrScalar scalar = acc->type->scalar;
    LLVMValueRef i[IR_MAX_RANK];
    for (uint32_t k = 0; k < n; k++) i[k] = ptx_scalar(b, inst->operands[k + 1]);
    LLVMValueRef at = ptx_address(g, x, acc->type, n, i);
    if (v->type->kind == IR_T_SCALAR) {
        ptx_add_to(g, at, scalar, ptx_scalar(b, v), x->alone);
        return;
    }
    const Val *part = ptx_current(b, v);
    LLVMValueRef count = ptx_count(g, part, v->type);
    Nest nest;
    ptx_nest_open(g, &nest, 1, &count);
    LLVMValueRef one =
        ptx_load(g, v->type->scalar, ptx_element(g, v->type->scalar, part->at, nest.i[0]));
    ptx_add_to(g, ptx_element(g, scalar, at, nest.i[0]), scalar, one, x->alone);
    ptx_nest_close(g, &nest);
}

static void gen_own_index(Body *b, const IrInst *inst) {
    LLVMValueRef first = ptx_scalar(b, inst->operands[1]);
    LLVMValueRef own = ptx_own_index(b->g, axis_of(inst));
    ptx_set_scalar(b, inst->results[0], LLVMBuildAdd(b->g->e.b, first, own, ""));
}

static void gen_own_block(Body *b, const IrInst *inst) {
    ptx_set_scalar(b, inst->results[0], ptx_own_block(b->g, axis_of(inst)));
}

void ptx_runtime(Body *b, const IrInst *inst) {
    static const struct {
        const char *name, *special;
        void (*run)(Body *, const IrInst *);
    } rows[] = {
        {"adl__device_local", "tid", NULL},
        {"adl__device_block", NULL, gen_own_block},
        {"adl__device_index", NULL, gen_own_index},
        {"adl__device_size", "ntid", NULL},
        {"adl__device_barrier", NULL, gen_barrier},
        {"adl__device_shared", NULL, gen_shared},
        {"adl__device_atomic_add", NULL, gen_atomic_add},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strcmp(inst->text, rows[i].name) != 0) continue;
        if (rows[i].run) rows[i].run(b, inst);
        else ptx_set_scalar(b, inst->results[0], ptx_special(b->g, rows[i].special, axis_of(inst)));
        return;
    }
    /* Texts are for messages, and what stops there has none. */
    if (inst->nresults == 1 && inst->results[0]->type->kind == IR_T_STR)
        ptx_set_scalar(b, inst->results[0], emit_null(&b->g->e));
    else ptx_refuse(b->g, "a function of the runtime library (%s)", inst->text);
}
