/* Entries of products.  An invocation makes an element of the result: the columns run along x, the
   rows along y.  The sum goes over the inner dimension in order, each step rounded once. */
#include "codegen/ptx/entry.h"

/* A factor, and the place in it of the element (0, 0) or the vector's first. */
typedef struct Factor {
    LLVMValueRef at, outer, inner; /* the address; what a step is worth */
    IrScalar scalar;
} Factor;

/* TURNED: what is summed over is the first dimension of two. */
static Factor factor_of(const Entry *x, uint32_t k, bool turned) {
    Emit *e = &x->g->e;
    const IrValue *value = ir_resolve(x->kernel->inst->operands[k]);
    const Val *val = &x->vals[value->id];
    LLVMValueRef one = gen_int(e, 1);
    Factor f = {val->at, gen_int(e, 0), one, value->type->scalar};
    if (value->type->rank == 1) return f;
    f.outer = turned ? one : val->dims[1];
    f.inner = turned ? val->dims[1] : one;
    return f;
}

/* How many products make one element. */
static LLVMValueRef inner_size(const Entry *x) {
    const IrInst *inst = x->kernel->inst;
    const IrValue *a = ir_resolve(inst->operands[0]);
    bool last = a->type->rank == 2 && !(inst->flags & IR_CONTRACT_TA);
    return x->vals[a->id].dims[last];
}

static LLVMValueRef take(Ptx *g, const Factor *f, LLVMValueRef outer, LLVMValueRef inner,
                         IrScalar scalar) {
    Emit *e = &g->e;
    LLVMValueRef at =
        emit_size_add(e, emit_size_mul(e, outer, f->outer), emit_size_mul(e, inner, f->inner));
    LLVMValueRef v = ptx_load(g, f->scalar, ptx_element(g, f->scalar, f->at, at));
    return emit_widened(e, v, scalar);
}

/* Element (ROW, COLUMN). */
static LLVMValueRef element(Entry *x, LLVMValueRef row, LLVMValueRef column) {
    Ptx *g = x->g;
    Emit *e = &g->e;
    const IrInst *inst = x->kernel->inst;
    IrScalar scalar = inst->results[0]->type->scalar;
    Factor a = factor_of(x, 0, inst->flags & IR_CONTRACT_TA),
           b = factor_of(x, 1, !(inst->flags & IR_CONTRACT_TB));
    LLVMBasicBlockRef before = LLVMGetInsertBlock(e->b), head = ptx_block(g, "product"),
                      body = ptx_block(g, ""), done = ptx_block(g, "");
    LLVMValueRef zero = gen_int(e, 0), none = emit_zero(e, scalar);
    LLVMBuildBr(e->b, head);
    LLVMPositionBuilderAtEnd(e->b, head);
    LLVMValueRef l = LLVMBuildPhi(e->b, e->i64, ""), sum = LLVMBuildPhi(e->b, LLVMTypeOf(none), "");
    LLVMValueRef more = LLVMBuildICmp(e->b, LLVMIntSLT, l, inner_size(x), "");
    LLVMBuildCondBr(e->b, more, body, done);
    LLVMPositionBuilderAtEnd(e->b, body);
    LLVMValueRef p = take(g, &a, row, l, scalar), q = take(g, &b, column, l, scalar);
    LLVMValueRef next =
        LLVMGetTypeKind(LLVMTypeOf(p)) != LLVMIntegerTypeKind
            ? emit_muladd(e, p, q, sum)
            : emit_combine(e, IR_SUM, scalar, sum, emit_combine(e, IR_PROD, scalar, p, q));
    LLVMValueRef up = emit_size_add(e, l, gen_int(e, 1));
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(e->b);
    LLVMBuildBr(e->b, head);
    LLVMAddIncoming(l, &zero, &before, 1);
    LLVMAddIncoming(l, &up, &latch, 1);
    LLVMAddIncoming(sum, &none, &before, 1);
    LLVMAddIncoming(sum, &next, &latch, 1);
    LLVMPositionBuilderAtEnd(e->b, done);
    return sum;
}

void entry_product(Entry *x) {
    Ptx *g = x->g;
    Emit *e = &g->e;
    IrScalar scalar = x->kernel->inst->results[0]->type->scalar;
    Axis rows, columns;
    axis_open(g, &rows, 'y', x->extents[1]);
    axis_open(g, &columns, 'x', x->extents[0]);
    LLVMValueRef value = element(x, rows.i, columns.i);
    LLVMValueRef at = emit_size_add(e, emit_size_mul(e, rows.i, x->extents[0]), columns.i);
    ptx_store(g, scalar, value, ptx_element(g, scalar, x->outs[0], at));
    axis_close(g, &columns);
    axis_close(g, &rows);
}
