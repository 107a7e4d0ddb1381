/* Operations on parts of arrays, and those that put arrays together. */
#include "codegen/ptx/gen.h"

static void scalars(Body *b, IrValue *const *operands, uint32_t n, LLVMValueRef *out) {
    for (uint32_t k = 0; k < n; k++) out[k] = ptx_scalar(b, operands[k]);
}

static void set(Body *b, const IrInst *inst, Val val) {
    b->vals[inst->results[0]->id] = val;
}

/* ---- views ---- */

void ptx_index(Body *b, const IrInst *inst) {
    const Val *x = ptx_current(b, inst->operands[0]);
    IrType type = ir_resolve(inst->operands[0])->type;
    uint32_t n = inst->noperands - 1;
    LLVMValueRef i[IR_MAX_RANK];
    scalars(b, inst->operands + 1, n, i);
    LLVMValueRef at = ptx_address(b->g, x, type, n, i);
    if (n == type->rank) {
        ptx_set_scalar(b, inst->results[0], ptx_load(b->g, type->scalar, at));
        return;
    }
    Val part = *x;
    part.at = at;
    for (uint32_t k = n; k < type->rank; k++) part.dims[k - n] = x->dims[k];
    set(b, inst, part);
}

void ptx_reshape(Body *b, const IrInst *inst) {
    Val val = *ptx_current(b, inst->operands[0]);
    scalars(b, inst->operands + 1, inst->noperands - 1, val.dims);
    set(b, inst, val);
}

void ptx_slice(Body *b, const IrInst *inst) {
    Ptx *g = b->g;
    IrType type = ir_resolve(inst->operands[0])->type, out_type = inst->results[0]->type;
    uint32_t rank = type->rank;
    LLVMValueRef start[IR_MAX_RANK], count[IR_MAX_RANK], step[IR_MAX_RANK], from[IR_MAX_RANK];
    Val x = *ptx_current(b, inst->operands[0]);
    scalars(b, inst->operands + 1, rank, start);
    scalars(b, inst->operands + 1 + rank, rank, count);
    scalars(b, inst->operands + 1 + 2 * rank, rank, step);
    if (mem_is_view(inst)) {
        x.at = ptx_address(g, &x, type, rank, start);
        for (uint32_t k = 0; k < rank; k++) x.dims[k] = count[k];
        set(b, inst, x);
        return;
    }
    Val out = ptx_new_array(g, out_type, count);
    Nest nest;
    ptx_nest_open(g, &nest, rank, out.dims);
    for (uint32_t k = 0; k < rank; k++) from[k] = emit_strided(&g->e, start[k], nest.i[k], step[k]);
    ptx_store(g, type->scalar, ptx_load(g, type->scalar, ptx_address(g, &x, type, rank, from)),
              ptx_address(g, &out, out_type, rank, nest.i));
    ptx_nest_close(g, &nest);
    set(b, inst, out);
}

void ptx_transpose(Body *b, const IrInst *inst) {
    Ptx *g = b->g;
    IrType type = ir_resolve(inst->operands[0])->type, out_type = inst->results[0]->type;
    LLVMValueRef dims[IR_MAX_RANK], from[IR_MAX_RANK];
    Val x = *ptx_current(b, inst->operands[0]);
    if (mem_is_view(inst)) {
        set(b, inst, x);
        return;
    }
    for (uint32_t k = 0; k < type->rank; k++) dims[k] = x.dims[inst->ints[k]];
    Val out = ptx_new_array(g, out_type, dims);
    Nest nest;
    ptx_nest_open(g, &nest, type->rank, out.dims);
    for (uint32_t k = 0; k < type->rank; k++) from[inst->ints[k]] = nest.i[k];
    ptx_store(g, type->scalar,
              ptx_load(g, type->scalar, ptx_address(g, &x, type, type->rank, from)),
              ptx_address(g, &out, out_type, type->rank, nest.i));
    ptx_nest_close(g, &nest);
    set(b, inst, out);
}

/* ---- writing ---- */

/* V, which is written into BASE: not what is being written over. */
static Val apart_from(Body *b, const IrValue *v, const Val *base) {
    Val val = *ptx_current(b, v);
    return val.root == base->root ? ptx_copied(b->g, &val, v->type) : val;
}

void ptx_update(Body *b, const IrInst *inst) {
    Ptx *g = b->g;
    IrType type = ir_resolve(inst->operands[0])->type;
    uint32_t n = inst->noperands - 2;
    const IrValue *v = ir_resolve(inst->operands[n + 1]);
    LLVMValueRef i[IR_MAX_RANK];
    Val base = ptx_base(b, inst, 0);
    scalars(b, inst->operands + 1, n, i);
    LLVMValueRef at = ptx_address(g, &base, type, n, i);
    if (v->type->kind == IR_T_SCALAR) {
        ptx_store(g, type->scalar, ptx_scalar(b, v), at);
    } else {
        Val part = apart_from(b, v, &base);
        ptx_copy(g, type->scalar, at, part.at, ptx_count(g, &part, v->type));
    }
    set(b, inst, ptx_written(&base));
}

void ptx_assign(Body *b, const IrInst *inst) {
    Ptx *g = b->g;
    IrType type = ir_resolve(inst->operands[0])->type;
    uint32_t rank = type->rank;
    const IrValue *v = ir_resolve(inst->operands[1 + 2 * rank]);
    LLVMValueRef start[IR_MAX_RANK], step[IR_MAX_RANK], to[IR_MAX_RANK];
    Val base = ptx_base(b, inst, 0), part = apart_from(b, v, &base);
    scalars(b, inst->operands + 1, rank, start);
    scalars(b, inst->operands + 1 + rank, rank, step);
    Nest nest;
    ptx_nest_open(g, &nest, rank, part.dims);
    for (uint32_t k = 0; k < rank; k++) to[k] = emit_strided(&g->e, start[k], nest.i[k], step[k]);
    ptx_store(g, type->scalar,
              ptx_load(g, type->scalar, ptx_address(g, &part, v->type, rank, nest.i)),
              ptx_address(g, &base, type, rank, to));
    ptx_nest_close(g, &nest);
    set(b, inst, ptx_written(&base));
}

/* ---- putting together ---- */

void ptx_pack(Body *b, const IrInst *inst) {
    Ptx *g = b->g;
    Emit *e = &g->e;
    IrType type = inst->results[0]->type;
    const IrValue *first = ir_resolve(inst->operands[0]);
    bool of_scalars = first->type->kind == IR_T_SCALAR;
    LLVMValueRef dims[IR_MAX_RANK] = {gen_int(e, inst->noperands)}, count = gen_int(e, 1);
    if (!of_scalars) {
        const Val *val = ptx_current(b, first);
        for (uint32_t k = 0; k < first->type->rank; k++) dims[k + 1] = val->dims[k];
        count = ptx_count(g, val, first->type);
    }
    Val out = ptx_new_array(g, type, dims);
    for (uint32_t i = 0; i < inst->noperands; i++) {
        LLVMValueRef flat = emit_size_mul(e, gen_int(e, i), count);
        LLVMValueRef to = ptx_element(g, type->scalar, out.at, flat);
        if (of_scalars) ptx_store(g, type->scalar, ptx_scalar(b, inst->operands[i]), to);
        else ptx_copy(g, type->scalar, to, ptx_current(b, inst->operands[i])->at, count);
    }
    set(b, inst, out);
}

void ptx_concat(Body *b, const IrInst *inst) {
    Ptx *g = b->g;
    Emit *e = &g->e;
    IrType type = inst->results[0]->type;
    Val first = *ptx_current(b, inst->operands[0]);
    LLVMValueRef flat = gen_int(e, 0);
    for (uint32_t i = 1; i < inst->noperands; i++)
        first.dims[0] = emit_size_add(e, first.dims[0], ptx_current(b, inst->operands[i])->dims[0]);
    Val out = ptx_new_array(g, type, first.dims);
    for (uint32_t i = 0; i < inst->noperands; i++) {
        const IrValue *value = ir_resolve(inst->operands[i]);
        const Val *val = ptx_current(b, value);
        LLVMValueRef count = ptx_count(g, val, value->type);
        ptx_copy(g, type->scalar, ptx_element(g, type->scalar, out.at, flat), val->at, count);
        flat = emit_size_add(e, flat, count);
    }
    set(b, inst, out);
}

/* Does X stand behind Y?  NaNs stand last; equals stay as they are. */
static LLVMValueRef is_behind(Emit *e, IrScalar scalar, LLVMValueRef x, LLVMValueRef y) {
    if (ir_scalar_float(scalar)) {
        LLVMValueRef greater = LLVMBuildFCmp(e->b, LLVMRealUGT, x, y, "");
        return LLVMBuildAnd(e->b, greater, LLVMBuildFCmp(e->b, LLVMRealORD, y, y, ""), "");
    }
    return LLVMBuildICmp(e->b, ir_scalar_signed(scalar) ? LLVMIntSGT : LLVMIntUGT, x, y, "");
}

/* Inserts one place after the other, from the right end of what is sorted. */
void ptx_argsort(Body *b, const IrInst *inst) {
    Ptx *g = b->g;
    Emit *e = &g->e;
    IrType type = ir_resolve(inst->operands[0])->type;
    const Val *x = ptx_current(b, inst->operands[0]);
    Val out = ptx_new_array(g, inst->results[0]->type, x->dims);
    if (LLVMGetTypeKind(emit_type(e, type->scalar)) == LLVMIntegerTypeKind &&
        ir_scalar_float(type->scalar)) {
        ptx_refuse(g, "sorting half floats");
        return;
    }
    Nest nest;
    ptx_nest_open(g, &nest, 1, x->dims);
    LLVMBasicBlockRef before = LLVMGetInsertBlock(e->b), head = ptx_block(g, "insert"),
                      look = ptx_block(g, ""), move = ptx_block(g, ""), done = ptx_block(g, "");
    LLVMValueRef mine = ptx_load(g, type->scalar, ptx_element(g, type->scalar, x->at, nest.i[0]));
    LLVMBuildBr(e->b, head);
    LLVMPositionBuilderAtEnd(e->b, head);
    LLVMValueRef at = LLVMBuildPhi(e->b, e->i64, "");
    LLVMAddIncoming(at, &nest.i[0], &before, 1);
    LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntSGT, at, gen_int(e, 0), ""), look, done);
    LLVMPositionBuilderAtEnd(e->b, look);
    LLVMValueRef left = LLVMBuildSub(e->b, at, gen_int(e, 1), "");
    LLVMValueRef place = ptx_load(g, IR_I64, ptx_element(g, IR_I64, out.at, left));
    LLVMValueRef other = ptx_load(g, type->scalar, ptx_element(g, type->scalar, x->at, place));
    LLVMBuildCondBr(e->b, is_behind(e, type->scalar, other, mine), move, done);
    LLVMPositionBuilderAtEnd(e->b, move);
    ptx_store(g, IR_I64, place, ptx_element(g, IR_I64, out.at, at));
    LLVMAddIncoming(at, &left, &move, 1);
    LLVMBuildBr(e->b, head);
    LLVMPositionBuilderAtEnd(e->b, done);
    ptx_store(g, IR_I64, nest.i[0], ptx_element(g, IR_I64, out.at, at));
    ptx_nest_close(g, &nest);
    set(b, inst, out);
}
