/* Additions to cells that invocations have in common: atomic ones, accumulators, and sums over all
   invocations. */
#include "codegen/ptx/gen.h"

#include <string.h>

enum { WARP = 32 };

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

void ptx_atomic_add(Body *b, const IrInst *inst) {
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

/* ---- sums over all invocations ---- */

static LLVMValueRef shuffle_word(Emit *e, LLVMValueRef mask, LLVMValueRef word, int delta,
                                 int width) {
    bool up = delta < 0;
    LLVMValueRef args[] = {mask, word, emit_int32(e, up ? -delta : delta),
                           emit_int32(e, (WARP - width) << 8 | (up ? 0 : WARP - 1))};
    return emit_intrinsic(e, up ? "llvm.nvvm.shfl.sync.up.i32" : "llvm.nvvm.shfl.sync.down.i32",
                          NULL, args, 4);
}

LLVMValueRef ptx_shuffle(Emit *e, LLVMValueRef mask, LLVMValueRef value, int delta, int width) {
    LLVMTypeRef type = LLVMTypeOf(value);
    unsigned bits = type == e->f64 ? 64 : type == e->f32 ? 32 : LLVMGetIntTypeWidth(type);
    LLVMTypeRef whole = LLVMIntTypeInContext(e->context, bits);
    LLVMValueRef x = LLVMBuildBitCast(e->b, value, whole, "");
    if (bits == 64) {
        LLVMValueRef low = LLVMBuildTrunc(e->b, x, e->i32, "");
        LLVMValueRef high = LLVMBuildLShr(e->b, x, LLVMConstInt(e->i64, 32, false), "");
        low = LLVMBuildZExt(e->b, shuffle_word(e, mask, low, delta, width), e->i64, "");
        high = shuffle_word(e, mask, LLVMBuildTrunc(e->b, high, e->i32, ""), delta, width);
        high = LLVMBuildZExt(e->b, high, e->i64, "");
        high = LLVMBuildShl(e->b, high, LLVMConstInt(e->i64, 32, false), "");
        x = LLVMBuildOr(e->b, low, high, "");
    } else if (bits == 32) {
        x = shuffle_word(e, mask, x, delta, width);
    } else {
        x = shuffle_word(e, mask, LLVMBuildZExt(e->b, x, e->i32, ""), delta, width);
        x = LLVMBuildTrunc(e->b, x, whole, "");
    }
    return LLVMBuildBitCast(e->b, x, type, "");
}

/* Adds what the invocations of a warp have of VALUE to the word AT: the first lane does, for the
   LANES that there are. */
static void add_warp(Ptx *g, LLVMValueRef at, LLVMValueRef value, LLVMValueRef lane,
                     LLVMValueRef lanes) {
    Emit *e = &g->e;
    LLVMValueRef none = LLVMConstNull(LLVMTypeOf(value));
    LLVMValueRef bits = LLVMBuildSub(e->b, gen_int(e, WARP), lanes, "");
    LLVMValueRef mask =
        LLVMBuildLShr(e->b, emit_int32(e, -1), LLVMBuildTrunc(e->b, bits, e->i32, ""), "");
    for (int delta = WARP / 2; delta >= 1; delta /= 2) {
        LLVMValueRef other = ptx_shuffle(e, mask, value, delta, WARP);
        LLVMValueRef there = emit_size_add(e, lane, gen_int(e, delta));
        there = LLVMBuildICmp(e->b, LLVMIntSLT, there, lanes, "");
        other = LLVMBuildSelect(e->b, there, other, none, "");
        value = LLVMBuildFAdd(e->b, value, other, "");
    }
    LLVMBasicBlockRef add = ptx_block(g, "add"), done = ptx_block(g, "");
    LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntEQ, lane, gen_int(e, 0), ""), add, done);
    LLVMPositionBuilderAtEnd(e->b, add);
    LLVMBuildAtomicRMW(e->b, LLVMAtomicRMWBinOpFAdd, at, value, LLVMAtomicOrderingMonotonic, false);
    LLVMBuildBr(e->b, done);
    LLVMPositionBuilderAtEnd(e->b, done);
}

void ptx_add_results(Ptx *g, uint32_t n, LLVMValueRef const *at, LLVMValueRef *values) {
    Emit *e = &g->e;
    LLVMValueRef place, count;
    if (!n || *g->error) return;
    if (g->options->deterministic)
        ptx_refuse(g, "a returned derivative, to which all invocations add in an order that "
                      "differs from run to run (--deterministic)");
    ptx_meet(g, n, values, true);
    ptx_place_in_block(g, &place, &count);
    LLVMValueRef lane = LLVMBuildAnd(e->b, place, gen_int(e, WARP - 1), "");
    LLVMValueRef args[] = {gen_int(e, WARP),
                           emit_size_add(e, LLVMBuildSub(e->b, count, place, ""), lane)};
    LLVMValueRef lanes = emit_intrinsic(e, "llvm.smin", e->i64, args, 2);
    for (uint32_t i = 0; i < n; i++) add_warp(g, at[i], values[i], lane, lanes);
}
