/* Functions of the runtime library that kernels have written out; the same bits as runtime/math. */
#include "codegen/ptx/gen.h"

#include <float.h>
#include <math.h>
#include <string.h>

static LLVMValueRef magnitude(Emit *e, LLVMValueRef x) {
    return emit_intrinsic(e, "llvm.fabs", LLVMTypeOf(x), &x, 1);
}

static LLVMValueRef is_finite(Emit *e, LLVMValueRef x) {
    LLVMValueRef infinite = LLVMConstReal(LLVMTypeOf(x), HUGE_VAL);
    return LLVMBuildFCmp(e->b, LLVMRealOLT, magnitude(e, x), infinite, "");
}

/* x to the COUNT, from the lowest bit of COUNT up. */
static LLVMValueRef power(Ptx *g, LLVMValueRef x, LLVMValueRef count) {
    Emit *e = &g->e;
    LLVMBuilderRef b = e->b;
    LLVMTypeRef type = LLVMTypeOf(x);
    LLVMBasicBlockRef before = LLVMGetInsertBlock(b), head = ptx_block(g, "power"),
                      inside = ptx_block(g, ""), done = ptx_block(g, "");
    LLVMValueRef one = LLVMConstReal(type, 1);
    LLVMBuildBr(b, head);
    LLVMPositionBuilderAtEnd(b, head);
    LLVMValueRef left = LLVMBuildPhi(b, e->i64, ""), result = LLVMBuildPhi(b, type, ""),
                 square = LLVMBuildPhi(b, type, "");
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntNE, left, gen_int(e, 0), ""), inside, done);
    LLVMPositionBuilderAtEnd(b, inside);
    LLVMValueRef odd = LLVMBuildTrunc(b, left, e->i1, "");
    LLVMValueRef times = LLVMBuildFMul(b, result, square, "");
    LLVMValueRef next_result = LLVMBuildSelect(b, odd, times, result, "");
    LLVMValueRef next_square = LLVMBuildFMul(b, square, square, "");
    LLVMValueRef next_left = LLVMBuildLShr(b, left, gen_int(e, 1), "");
    LLVMBuildBr(b, head);
    LLVMAddIncoming(left, &count, &before, 1);
    LLVMAddIncoming(left, &next_left, &inside, 1);
    LLVMAddIncoming(result, &one, &before, 1);
    LLVMAddIncoming(result, &next_result, &inside, 1);
    LLVMAddIncoming(square, &x, &before, 1);
    LLVMAddIncoming(square, &next_square, &inside, 1);
    LLVMPositionBuilderAtEnd(b, done);
    return result;
}

static LLVMValueRef integer_power(Ptx *g, LLVMValueRef *args) {
    Emit *e = &g->e;
    LLVMBuilderRef b = e->b;
    LLVMValueRef x = args[0], n = args[1], none = gen_int(e, 0);
    LLVMTypeRef type = LLVMTypeOf(x);
    LLVMValueRef one = LLVMConstReal(type, 1), zero = LLVMConstReal(type, 0);
    LLVMValueRef least = LLVMConstReal(type, type == e->f32 ? (double)FLT_MIN : DBL_MIN);
    LLVMValueRef negative = LLVMBuildICmp(b, LLVMIntSLT, n, none, "");
    LLVMValueRef count = LLVMBuildSelect(b, negative, LLVMBuildNeg(b, n, ""), n, "");
    LLVMValueRef there = power(g, x, count);
    /* The power may leave the range where its reciprocal does not. */
    LLVMValueRef usable = LLVMBuildFCmp(b, LLVMRealOGE, magnitude(e, there), least, "");
    usable = LLVMBuildAnd(b, usable, is_finite(e, there), "");
    usable = LLVMBuildOr(b, usable, LLVMBuildFCmp(b, LLVMRealOEQ, x, zero, ""), "");
    usable = LLVMBuildOr(b, usable, LLVMBuildNot(b, is_finite(e, x), ""), "");
    LLVMValueRef plain = LLVMBuildOr(b, usable, LLVMBuildNot(b, negative, ""), "");
    LLVMValueRef other =
        power(g, LLVMBuildFDiv(b, one, x, ""), LLVMBuildSelect(b, plain, none, count, ""));
    LLVMValueRef back = LLVMBuildSelect(b, usable, LLVMBuildFDiv(b, one, there, ""), other, "");
    return LLVMBuildSelect(b, negative, back, there, "");
}

static LLVMValueRef floored_remainder(Ptx *g, LLVMTypeRef type, LLVMValueRef *args) {
    Emit *e = &g->e;
    LLVMBuilderRef b = e->b;
    LLVMValueRef y = args[1], zero = LLVMConstReal(type, 0), one = LLVMConstReal(type, 1);
    LLVMValueRef r = e->call(e, type == e->f32 ? "fmodf" : "fmod", type, args, 2);
    unsigned id = LLVMLookupIntrinsicID("llvm.copysign", strlen("llvm.copysign"));
    LLVMValueRef fn = LLVMGetIntrinsicDeclaration(e->module, id, &type, 1);
    LLVMTypeRef fn_type = LLVMIntrinsicGetType(e->context, id, &type, 1);
    LLVMValueRef of_zero[] = {zero, y}, of_r[] = {one, r}, of_y[] = {one, y};
    LLVMValueRef none = LLVMBuildCall2(b, fn_type, fn, of_zero, 2, "");
    LLVMValueRef apart = LLVMBuildFCmp(b, LLVMRealONE, LLVMBuildCall2(b, fn_type, fn, of_r, 2, ""),
                                       LLVMBuildCall2(b, fn_type, fn, of_y, 2, ""), "");
    LLVMValueRef whole = LLVMBuildSelect(b, apart, LLVMBuildFAdd(b, r, y, ""), r, "");
    return LLVMBuildSelect(b, LLVMBuildFCmp(b, LLVMRealOEQ, r, zero, ""), none, whole, "");
}

LLVMValueRef ptx_written_out(Ptx *g, const char *name, LLVMTypeRef type, LLVMValueRef *args) {
    if (strncmp(name, "adl__pown_", 10) == 0) return integer_power(g, args);
    if (strncmp(name, "adl__mod_", 9) == 0) return floored_remainder(g, type, args);
    return NULL;
}
