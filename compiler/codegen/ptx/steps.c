/* What entries that share work in a block are made of: code for some of the invocations, and loops
   that all of them go through together. */
#include "codegen/ptx/entry.h"

Side side_open(Ptx *g, LLVMValueRef holds) {
    Side side = {LLVMGetInsertBlock(g->e.b), ptx_block(g, "")};
    LLVMBasicBlockRef inside = ptx_block(g, "");
    LLVMBuildCondBr(g->e.b, holds, inside, side.done);
    LLVMPositionBuilderAtEnd(g->e.b, inside);
    return side;
}

void side_close(Ptx *g, const Side *side) {
    LLVMBuildBr(g->e.b, side->done);
    LLVMPositionBuilderAtEnd(g->e.b, side->done);
}

LLVMValueRef side_give(Ptx *g, const Side *side, LLVMValueRef value, LLVMValueRef otherwise) {
    LLVMBasicBlockRef inside = LLVMGetInsertBlock(g->e.b);
    side_close(g, side);
    LLVMValueRef phi = LLVMBuildPhi(g->e.b, LLVMTypeOf(value), "");
    LLVMAddIncoming(phi, &value, &inside, 1);
    LLVMAddIncoming(phi, &otherwise, (LLVMBasicBlockRef *)&side->from, 1);
    return phi;
}

Axis steps_open(Ptx *g, LLVMValueRef first, LLVMValueRef step, LLVMValueRef end) {
    Emit *e = &g->e;
    LLVMBasicBlockRef before = LLVMGetInsertBlock(e->b), body = ptx_block(g, "");
    Axis axis = {.head = ptx_block(g, "steps"), .done = ptx_block(g, ""), .step = step};
    LLVMBuildBr(e->b, axis.head);
    LLVMPositionBuilderAtEnd(e->b, axis.head);
    axis.i = LLVMBuildPhi(e->b, e->i64, "");
    LLVMAddIncoming(axis.i, &first, &before, 1);
    LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntSLT, axis.i, end, ""), body, axis.done);
    LLVMPositionBuilderAtEnd(e->b, body);
    return axis;
}
