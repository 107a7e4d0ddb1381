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

/* Two barriers with nothing between them are one. */
static void gen_wait(Emit *e) {
    static const char old[] = "llvm.nvvm.barrier0";
    LLVMValueRef last = LLVMGetLastInstruction(LLVMGetInsertBlock(e->b)), callee;
    callee = last && LLVMIsACallInst(last) ? LLVMGetCalledValue(last) : NULL;
    size_t len;
    if (callee && strstr(LLVMGetValueName2(callee, &len), "llvm.nvvm.barrier")) return;
    if (LLVMLookupIntrinsicID(old, strlen(old))) {
        emit_intrinsic(e, old, NULL, NULL, 0);
    } else {
        LLVMValueRef zero = emit_int32(e, 0);
        emit_intrinsic(e, "llvm.nvvm.barrier.cta.sync.aligned.all", NULL, &zero, 1);
    }
}

static void gen_barrier(Body *b, const IrInst *inst) {
    gen_wait(&b->g->e);
    for (uint32_t k = 0; k < inst->nresults; k++)
        b->vals[inst->results[k]->id] = ptx_written(ptx_current(b, inst->operands[k]));
}

static uint64_t shared_count(IrType type) {
    uint64_t count = 1;
    for (uint32_t k = 0; k < type->rank; k++) count *= (uint64_t)type->dims[k];
    return count;
}

static LLVMValueRef open_shared(Body *b, IrValue *result) {
    Emit *e = &b->g->e;
    IrType type = result->type;
    LLVMTypeRef memory = LLVMArrayType2(emit_memory_type(e, type->scalar), shared_count(type));
    LLVMValueRef global = LLVMAddGlobalInAddressSpace(e->module, memory, "shared", 3);
    LLVMSetLinkage(global, LLVMInternalLinkage);
    LLVMSetInitializer(global, LLVMGetUndef(memory));
    b->vals[result->id] = ptx_array(b->g, global, type, NULL, true);
    return global;
}

static void gen_shared(Body *b, const IrInst *inst) {
    open_shared(b, inst->results[0]);
}

/* The place of the invocation in its block, and how many there are. */
static void place_in_block(Ptx *g, LLVMValueRef *place, LLVMValueRef *count) {
    *place = gen_int(&g->e, 0);
    *count = gen_int(&g->e, 1);
    for (int k = 3; k-- > 0;) {
        LLVMValueRef size = ptx_special(g, "ntid", "xyz"[k]);
        *place = emit_size_add(&g->e, emit_size_mul(&g->e, *place, size),
                               ptx_special(g, "tid", "xyz"[k]));
        *count = emit_size_mul(&g->e, *count, size);
    }
}

/* Each invocation sets every so-manieth element. */
static void gen_zeros(Body *b, const IrInst *inst) {
    Ptx *g = b->g;
    Emit *e = &g->e;
    LLVMValueRef place, step;
    place_in_block(g, &place, &step);
    for (uint32_t r = 0; r < inst->nresults; r++) {
        IrScalar scalar = inst->results[r]->type->scalar;
        LLVMValueRef global = open_shared(b, inst->results[r]);
        LLVMValueRef count = gen_int(e, (int64_t)shared_count(inst->results[r]->type)), i;
        LLVMBasicBlockRef before = LLVMGetInsertBlock(e->b), head = ptx_block(g, "zeros"),
                          body = ptx_block(g, ""), done = ptx_block(g, "");
        LLVMBuildBr(e->b, head);
        LLVMPositionBuilderAtEnd(e->b, head);
        i = LLVMBuildPhi(e->b, e->i64, "");
        LLVMAddIncoming(i, &place, &before, 1);
        LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntSLT, i, count, ""), body, done);
        LLVMPositionBuilderAtEnd(e->b, body);
        ptx_store(g, scalar, emit_zero(e, scalar), ptx_element(g, scalar, global, i));
        LLVMValueRef next = emit_size_add(e, i, step);
        LLVMAddIncoming(i, &next, &body, 1);
        LLVMBuildBr(e->b, head);
        LLVMPositionBuilderAtEnd(e->b, done);
    }
    gen_wait(e);
}

/* ---- additions to cells ---- */

/* The dimensions of the launch of which VALUE is the invocation's own index, as bits; with WITHIN
   its own in the block. */
static unsigned own_dimension(const Ptx *g, const IrValue *value, bool within) {
    value = ir_resolve((IrValue *)value);
    const IrInst *def = value->def;
    int64_t dim;
    if (!def && g->region && value->region == g->region) return 1U << value->index;
    if (!def || def->op != IR_RUNTIME) return 0;
    bool own = !strcmp(def->text, "adl__device_index") ||
               (within && !strcmp(def->text, "adl__device_local"));
    return own && ir_const_int(def->operands[0], &dim) ? 1U << dim : 0;
}

/* Has each cell at the N subscripts AT one invocation? */
static bool is_own_place(const Ptx *g, const Root *root, uint32_t n, IrValue *const *at) {
    unsigned own = 0;
    for (uint32_t i = 0; i < n; i++) own |= own_dimension(g, at[i], root->kind == ROOT_SHARED);
    return own == (1U << g->rank) - 1;
}

static void add_plainly(Ptx *g, LLVMValueRef at, IrScalar scalar, LLVMValueRef v) {
    LLVMValueRef old = ptx_load(g, scalar, at);
    ptx_store(g, scalar, emit_combine(&g->e, IR_SUM, scalar, old, v), at);
}

/* Adds V, of a SCALAR, to the cell AT of ROOT's memory (NULL: a number of the invocation), which
   is its OWN. */
static void add_to(Ptx *g, Root *root, LLVMValueRef at, IrScalar scalar, LLVMValueRef v, bool own) {
    Emit *e = &g->e;
    uint32_t lanes = ir_scalar_lanes(scalar);
    v = emit_widened(e, v, scalar);
    bool alone = !root || root->kind == ROOT_OWN;
    LLVMTypeRef type = emit_type(e, ir_scalar_base(scalar));
    bool half = type == e->i16 && ir_scalar_float(scalar);
    if (!alone && !own && !root->meets) root->pos = g->pos;
    if (!alone) root->meets |= !own;
    if (!alone) root->halves |= half;
    if (!alone) root->adds_floats |= ir_scalar_float(scalar);
    if (alone || half) {
        add_plainly(g, at, scalar, v);
        return;
    }
    LLVMAtomicRMWBinOp op =
        ir_scalar_float(scalar) ? LLVMAtomicRMWBinOpFAdd : LLVMAtomicRMWBinOpAdd;
    for (uint32_t k = 0; k < lanes; k++) {
        LLVMValueRef flat = gen_int(e, k), to = at, one = v;
        if (lanes > 1) {
            to = LLVMBuildInBoundsGEP2(e->b, type, at, &flat, 1, "");
            one = LLVMBuildExtractElement(e->b, v, emit_int32(e, (int32_t)k), "");
        }
        vec_push(&root->adds,
                 LLVMBuildAtomicRMW(e->b, op, to, one, LLVMAtomicOrderingMonotonic, false));
    }
}

static void make_plain(Emit *e, LLVMValueRef add) {
    LLVMValueRef at = LLVMGetOperand(add, 0), v = LLVMGetOperand(add, 1);
    bool real = LLVMGetAtomicRMWBinOp(add) == LLVMAtomicRMWBinOpFAdd;
    LLVMPositionBuilderBefore(e->b, add);
    LLVMValueRef old = LLVMBuildLoad2(e->b, LLVMTypeOf(v), at, "");
    LLVMValueRef sum = real ? LLVMBuildFAdd(e->b, old, v, "") : LLVMBuildAdd(e->b, old, v, "");
    LLVMBuildStore(e->b, sum, at);
    LLVMInstructionEraseFromParent(add);
}

void ptx_settle_additions(Ptx *g) {
    for (uint32_t i = 0; i < g->seen.len; i++) {
        Root *root = g->seen.at[i];
        g->pos = root->meets ? root->pos : g->pos;
        if (root->meets && root->halves)
            ptx_refuse(g, "half floats to which several invocations add");
        if (root->meets && root->adds_floats && g->options->deterministic)
            ptx_refuse(g, "additions of several invocations to one cell, in an order that differs "
                          "from run to run (--deterministic)");
        for (uint32_t k = 0; k < root->adds.len && !root->meets && !*g->error; k++)
            make_plain(&g->e, root->adds.at[k]);
        vec_free(&root->adds);
    }
    vec_free(&g->seen);
}

void ptx_add_result(Ptx *g, LLVMValueRef at, LLVMValueRef value) {
    if (g->options->deterministic)
        ptx_refuse(g, "a returned derivative, to which all invocations add in an order that "
                      "differs from run to run (--deterministic)");
    LLVMBuildAtomicRMW(g->e.b, LLVMAtomicRMWBinOpFAdd, at, value, LLVMAtomicOrderingMonotonic,
                       false);
}

static void gen_atomic_add(Body *b, const IrInst *inst) {
    const Val *x = ptx_current(b, inst->operands[0]);
    IrType type = ir_resolve(inst->operands[0])->type;
    uint32_t n = inst->noperands - 2;
    LLVMValueRef i[IR_MAX_RANK], v = ptx_scalar(b, inst->operands[1]);
    for (uint32_t k = 0; k < n; k++) i[k] = ptx_scalar(b, inst->operands[k + 2]);
    LLVMValueRef at = ptx_address(b->g, x, type, n, i);
    add_to(b->g, x->root, at, type->scalar, v, is_own_place(b->g, x->root, n, inst->operands + 2));
    b->vals[inst->results[0]->id] = ptx_written(x);
}

/* ---- accumulators ---- */

/* A number of the invocation's, to which the region adds. */
static Val open_number(Body *b, const IrValue *init) {
    IrScalar scalar = init->type->scalar;
    Val acc = {.at = ptx_alloca(b->g, emit_memory_type(&b->g->e, scalar), "sum")};
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
    bool own = x->root && is_own_place(g, x->root, n, inst->operands + 1);
    if (v->type->kind == IR_T_SCALAR) {
        add_to(g, x->root, at, scalar, ptx_scalar(b, v), own);
        return;
    }
    const Val *part = ptx_current(b, v);
    LLVMValueRef count = ptx_count(g, part, v->type);
    Nest nest;
    ptx_nest_open(g, &nest, 1, &count);
    LLVMValueRef one =
        ptx_load(g, v->type->scalar, ptx_element(g, v->type->scalar, part->at, nest.i[0]));
    add_to(g, x->root, ptx_element(g, scalar, at, nest.i[0]), scalar, one, own);
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
        {"adl__device_zeros", NULL, gen_zeros},
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
