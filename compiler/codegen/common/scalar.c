/* Scalar operations, bit for bit what ir/eval.c computes. */
#include "codegen/common/emit.h"

#include <string.h>

#include "base/fatal.h"

static LLVMValueRef one(Emit *e, const char *name, LLVMValueRef x) {
    return emit_intrinsic(e, name, LLVMTypeOf(x), &x, 1);
}

static LLVMValueRef two(Emit *e, const char *name, LLVMValueRef x, LLVMValueRef y) {
    LLVMValueRef args[] = {x, y};
    return emit_intrinsic(e, name, LLVMTypeOf(x), args, 2);
}

/* The runtime's function adl__BASE_f64 or _f32. */
static LLVMValueRef runtime(Emit *e, const char *base, IrScalar scalar, LLVMValueRef *args,
                            unsigned n) {
    char name[64];
    size_t len = strlen(base);
    CHECK_INTERNAL(len + 8 < sizeof name);
    memcpy(name, base, len);
    strcpy(name + len, scalar == IR_F32 ? "_f32" : "_f64");
    return e->call(e, name, emit_type(e, scalar), args, n);
}

/* ---- floats ---- */

static LLVMValueRef flagged(Emit *e, LLVMValueRef value) {
    if (e->fast_math && LLVMCanValueUseFastMathFlags(value))
        LLVMSetFastMathFlags(value, LLVMFastMathAllowReassoc | LLVMFastMathAllowContract |
                                        LLVMFastMathAllowReciprocal | LLVMFastMathNoSignedZeros);
    return value;
}

static LLVMValueRef float_binary(Emit *e, IrOp op, IrScalar scalar, LLVMValueRef x,
                                 LLVMValueRef y) {
    LLVMValueRef args[] = {x, y};
    switch ((int)op) {
    case IR_ADD: return flagged(e, LLVMBuildFAdd(e->b, x, y, ""));
    case IR_SUB: return flagged(e, LLVMBuildFSub(e->b, x, y, ""));
    case IR_MUL: return flagged(e, LLVMBuildFMul(e->b, x, y, ""));
    case IR_DIV: return flagged(e, LLVMBuildFDiv(e->b, x, y, ""));
    case IR_MOD: return runtime(e, "adl__mod", scalar, args, 2);
    case IR_MIN: return two(e, "llvm.minimum", x, y);
    case IR_MAX: return two(e, "llvm.maximum", x, y);
    default: UNREACHABLE("float operation %s", ir_op_info(op)->name);
    }
}

static LLVMValueRef compare(Emit *e, IrOp op, IrScalar scalar, LLVMValueRef x, LLVMValueRef y) {
    static const LLVMRealPredicate reals[] = {LLVMRealOEQ, LLVMRealUNE, LLVMRealOLT,
                                              LLVMRealOLE, LLVMRealOGT, LLVMRealOGE};
    static const LLVMIntPredicate signeds[] = {LLVMIntEQ,  LLVMIntNE,  LLVMIntSLT,
                                               LLVMIntSLE, LLVMIntSGT, LLVMIntSGE};
    static const LLVMIntPredicate unsigneds[] = {LLVMIntEQ,  LLVMIntNE,  LLVMIntULT,
                                                 LLVMIntULE, LLVMIntUGT, LLVMIntUGE};
    int at = (int)op - IR_EQ;
    if (ir_scalar_float(scalar)) return LLVMBuildFCmp(e->b, reals[at], x, y, "");
    return LLVMBuildICmp(e->b, ir_scalar_signed(scalar) ? signeds[at] : unsigneds[at], x, y, "");
}

/* ---- integers ---- */

/* By -1 it is a negation, which the machine's instruction would trap on. */
LLVMValueRef emit_divide(Emit *e, IrOp op, LLVMValueRef x, LLVMValueRef y) {
    LLVMTypeRef type = LLVMTypeOf(x);
    LLVMValueRef zero = LLVMConstNull(type), minus = LLVMConstAllOnes(type);
    bool known = LLVMIsAConstantInt(y) && LLVMConstIntGetSExtValue(y) != -1;
    LLVMValueRef negated = known ? NULL : LLVMBuildICmp(e->b, LLVMIntEQ, y, minus, "");
    LLVMValueRef by =
        known ? y : LLVMBuildSelect(e->b, negated, LLVMConstInt(type, 1, false), y, "");
    LLVMValueRef rest = LLVMBuildSRem(e->b, x, by, "");
    LLVMValueRef differ = LLVMBuildXor(e->b, rest, by, "");
    LLVMValueRef apart = LLVMBuildICmp(e->b, LLVMIntSLT, differ, zero, "");
    LLVMValueRef uneven = LLVMBuildICmp(e->b, LLVMIntNE, rest, zero, "");
    LLVMValueRef down = LLVMBuildAnd(e->b, apart, uneven, "");
    if (op == IR_REM) return rest;
    if (op == IR_MOD)
        return LLVMBuildSelect(e->b, down, LLVMBuildAdd(e->b, rest, by, ""), rest, "");
    LLVMValueRef quotient = LLVMBuildSDiv(e->b, x, by, "");
    quotient = LLVMBuildSub(e->b, quotient, LLVMBuildZExt(e->b, down, type, ""), "");
    return known ? quotient
                 : LLVMBuildSelect(e->b, negated, LLVMBuildNeg(e->b, x, ""), quotient, "");
}

/* X modulo Y where X is mostly near 0..Y, as in indices that wrap round: then no division.  The
   builder must stand in a function. */
static LLVMValueRef wrap_index(Emit *e, LLVMValueRef x, LLVMValueRef y) {
    LLVMTypeRef type = LLVMTypeOf(x);
    LLVMValueRef zero = LLVMConstNull(type), three = LLVMConstInt(type, 3, false);
    LLVMBasicBlockRef near_by = LLVMGetInsertBlock(e->b);
    LLVMValueRef fn = LLVMGetBasicBlockParent(near_by);
    LLVMBasicBlockRef far_off = LLVMAppendBasicBlockInContext(e->context, fn, "divide");
    LLVMBasicBlockRef done = LLVMAppendBasicBlockInContext(e->context, fn, "");
    /* -y <= x < 2 y */
    LLVMValueRef moved = LLVMBuildAdd(e->b, x, y, "");
    LLVMValueRef limit = LLVMBuildMul(e->b, y, three, "");
    LLVMValueRef in = LLVMBuildAnd(e->b, LLVMBuildICmp(e->b, LLVMIntULT, moved, limit, ""),
                                   LLVMBuildICmp(e->b, LLVMIntSGT, y, zero, ""), "");
    LLVMValueRef up =
        LLVMBuildSelect(e->b, LLVMBuildICmp(e->b, LLVMIntSLT, x, zero, ""), moved, x, "");
    LLVMValueRef down = LLVMBuildSelect(e->b, LLVMBuildICmp(e->b, LLVMIntSGE, x, y, ""),
                                        LLVMBuildSub(e->b, x, y, ""), up, "");
    LLVMBuildCondBr(e->b, in, done, far_off);
    LLVMPositionBuilderAtEnd(e->b, far_off);
    LLVMValueRef divided = emit_divide(e, IR_MOD, x, y);
    LLVMBuildBr(e->b, done);
    LLVMPositionBuilderAtEnd(e->b, done);
    LLVMValueRef phi = LLVMBuildPhi(e->b, type, ""), values[] = {down, divided};
    LLVMBasicBlockRef from[] = {near_by, far_off};
    LLVMAddIncoming(phi, values, from, 2);
    return phi;
}

static LLVMValueRef divide(Emit *e, IrOp op, IrScalar scalar, LLVMValueRef x, LLVMValueRef y) {
    bool wide = scalar == IR_I64 && LLVMGetTypeKind(LLVMTypeOf(x)) == LLVMIntegerTypeKind;
    if (op == IR_MOD && wide && !LLVMIsConstant(y)) return wrap_index(e, x, y);
    if (ir_scalar_signed(scalar)) return emit_divide(e, op, x, y);
    return op == IR_DIV ? LLVMBuildUDiv(e->b, x, y, "") : LLVMBuildURem(e->b, x, y, "");
}

static LLVMValueRef high_half(Emit *e, IrScalar scalar, LLVMValueRef x, LLVMValueRef y) {
    unsigned bits = ir_scalar_bytes(scalar) * 8;
    LLVMTypeRef wide = LLVMIntTypeInContext(e->context, bits * 2);
    bool is_signed = ir_scalar_signed(scalar);
    LLVMValueRef a =
        is_signed ? LLVMBuildSExt(e->b, x, wide, "") : LLVMBuildZExt(e->b, x, wide, "");
    LLVMValueRef b =
        is_signed ? LLVMBuildSExt(e->b, y, wide, "") : LLVMBuildZExt(e->b, y, wide, "");
    LLVMValueRef product = LLVMBuildMul(e->b, a, b, "");
    LLVMValueRef high = LLVMBuildLShr(e->b, product, LLVMConstInt(wide, bits, false), "");
    return LLVMBuildTrunc(e->b, high, emit_type(e, scalar), "");
}

static LLVMValueRef int_binary(Emit *e, IrOp op, IrScalar scalar, LLVMValueRef x, LLVMValueRef y) {
    bool is_signed = ir_scalar_signed(scalar);
    switch ((int)op) {
    case IR_ADD: return LLVMBuildAdd(e->b, x, y, "");
    case IR_SUB: return LLVMBuildSub(e->b, x, y, "");
    case IR_MUL: return LLVMBuildMul(e->b, x, y, "");
    case IR_DIV:
    case IR_MOD:
    case IR_REM: return divide(e, op, scalar, x, y);
    case IR_MIN: return two(e, is_signed ? "llvm.smin" : "llvm.umin", x, y);
    case IR_MAX: return two(e, is_signed ? "llvm.smax" : "llvm.umax", x, y);
    case IR_AND: return LLVMBuildAnd(e->b, x, y, "");
    case IR_OR: return LLVMBuildOr(e->b, x, y, "");
    case IR_XOR: return LLVMBuildXor(e->b, x, y, "");
    case IR_SHL: return LLVMBuildShl(e->b, x, y, "");
    case IR_SHR: return is_signed ? LLVMBuildAShr(e->b, x, y, "") : LLVMBuildLShr(e->b, x, y, "");
    case IR_MULHI: return high_half(e, scalar, x, y);
    default: UNREACHABLE("integer operation %s", ir_op_info(op)->name);
    }
}

static LLVMValueRef unary(Emit *e, IrOp op, IrScalar scalar, LLVMValueRef x) {
    bool real = ir_scalar_float(scalar);
    if (op == IR_NOT) return LLVMBuildNot(e->b, x, "");
    if (op == IR_NEG) return real ? LLVMBuildFNeg(e->b, x, "") : LLVMBuildNeg(e->b, x, "");
    if (real) return one(e, "llvm.fabs", x);
    if (!ir_scalar_signed(scalar)) return x;
    LLVMValueRef args[] = {x, LLVMConstNull(e->i1)};
    return emit_intrinsic(e, "llvm.abs", LLVMTypeOf(x), args, 2);
}

/* ---- powers ---- */

static LLVMValueRef times(Emit *e, IrScalar scalar, LLVMValueRef x, LLVMValueRef y) {
    return ir_scalar_float(scalar) ? LLVMBuildFMul(e->b, x, y, "") : LLVMBuildMul(e->b, x, y, "");
}

/* X to the constant power N by squaring, least significant bit first, as the runtime does it. */
static LLVMValueRef constant_power(Emit *e, IrScalar scalar, LLVMValueRef x, uint64_t n) {
    LLVMValueRef result = NULL;
    for (; n; n >>= 1) {
        if (n & 1) result = result ? times(e, scalar, result, x) : x;
        if (n > 1) x = times(e, scalar, x, x);
    }
    if (result) return result;
    LLVMTypeRef type = emit_type(e, scalar);
    return ir_scalar_float(scalar) ? LLVMConstReal(type, 1) : LLVMConstInt(type, 1, false);
}

/* An integer to any power >= 0. */
static LLVMValueRef int_power(Emit *e, IrScalar scalar, LLVMValueRef x, LLVMValueRef n) {
    LLVMTypeRef type = emit_type(e, scalar);
    LLVMBasicBlockRef before = LLVMGetInsertBlock(e->b);
    LLVMValueRef fn = LLVMGetBasicBlockParent(before);
    LLVMBasicBlockRef head = LLVMAppendBasicBlockInContext(e->context, fn, "power");
    LLVMBasicBlockRef body = LLVMAppendBasicBlockInContext(e->context, fn, "power.step");
    LLVMBasicBlockRef done = LLVMAppendBasicBlockInContext(e->context, fn, "power.done");
    LLVMBuildBr(e->b, head);
    LLVMPositionBuilderAtEnd(e->b, head);
    LLVMValueRef left = LLVMBuildPhi(e->b, e->i64, ""), square = LLVMBuildPhi(e->b, type, ""),
                 result = LLVMBuildPhi(e->b, type, "");
    LLVMValueRef over = LLVMBuildICmp(e->b, LLVMIntEQ, left, gen_int(e, 0), "");
    LLVMBuildCondBr(e->b, over, done, body);
    LLVMPositionBuilderAtEnd(e->b, body);
    LLVMValueRef odd = LLVMBuildTrunc(e->b, left, e->i1, "");
    LLVMValueRef multiplied = LLVMBuildMul(e->b, result, square, "");
    LLVMValueRef ins[][2] = {
        {n, LLVMBuildLShr(e->b, left, gen_int(e, 1), "")},
        {x, LLVMBuildMul(e->b, square, square, "")},
        {LLVMConstInt(type, 1, false), LLVMBuildSelect(e->b, odd, multiplied, result, "")}};
    LLVMBuildBr(e->b, head);
    LLVMBasicBlockRef from[] = {before, body};
    LLVMAddIncoming(left, ins[0], from, 2);
    LLVMAddIncoming(square, ins[1], from, 2);
    LLVMAddIncoming(result, ins[2], from, 2);
    LLVMPositionBuilderAtEnd(e->b, done);
    return result;
}

static LLVMValueRef power(Emit *e, const IrInst *inst, LLVMValueRef *args) {
    IrScalar scalar = inst->results[0]->type->scalar;
    int64_t n;
    bool known = ir_const_int(inst->operands[1], &n);
    if (known && n >= 0 && n <= 1024) return constant_power(e, scalar, args[0], (uint64_t)n);
    if (known && n == -1)
        return LLVMBuildFDiv(e->b, LLVMConstReal(emit_type(e, scalar), 1), args[0], "");
    if (!ir_scalar_float(scalar)) return int_power(e, scalar, args[0], args[1]);
    return runtime(e, "adl__pown", scalar, args, 2);
}

/* ---- conversions ---- */

static LLVMValueRef from_half(Emit *e, IrScalar scalar, LLVMValueRef x) {
    return e->call(e, scalar == IR_F16 ? "adl__f16_to_f32" : "adl__bf16_to_f32", e->f32, &x, 1);
}

static LLVMValueRef to_half(Emit *e, IrScalar scalar, LLVMValueRef x) {
    bool half = scalar == IR_F16, single = LLVMTypeOf(x) == e->f32;
    const char *name = half ? (single ? "adl__f16_from_f32" : "adl__f16_from_f64")
                            : (single ? "adl__bf16_from_f32" : "adl__bf16_from_f64");
    return e->call(e, name, e->i16, &x, 1);
}

/* Saturates; NaN gives 0. */
static LLVMValueRef float_to_int(Emit *e, IrScalar to, LLVMValueRef x) {
    LLVMTypeRef types[] = {emit_type(e, to), LLVMTypeOf(x)};
    if (to == IR_BOOL) return LLVMBuildFCmp(e->b, LLVMRealUNE, x, LLVMConstNull(LLVMTypeOf(x)), "");
    const char *name = ir_scalar_signed(to) ? "llvm.fptosi.sat" : "llvm.fptoui.sat";
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    LLVMValueRef fn = LLVMGetIntrinsicDeclaration(e->module, id, types, 2);
    return LLVMBuildCall2(e->b, LLVMIntrinsicGetType(e->context, id, types, 2), fn, &x, 1, "");
}

static LLVMValueRef int_to_int(Emit *e, IrScalar from, IrScalar to, LLVMValueRef x) {
    LLVMTypeRef type = emit_type(e, to);
    if (to == IR_BOOL) return LLVMBuildICmp(e->b, LLVMIntNE, x, LLVMConstNull(LLVMTypeOf(x)), "");
    uint32_t wide = ir_scalar_bytes(to), have = from == IR_BOOL ? 0 : ir_scalar_bytes(from);
    if (wide == have) return x;
    if (wide < have) return LLVMBuildTrunc(e->b, x, type, "");
    return ir_scalar_signed(from) ? LLVMBuildSExt(e->b, x, type, "")
                                  : LLVMBuildZExt(e->b, x, type, "");
}

static LLVMValueRef int_to_float(Emit *e, IrScalar from, LLVMTypeRef type, LLVMValueRef x) {
    return ir_scalar_signed(from) ? LLVMBuildSIToFP(e->b, x, type, "")
                                  : LLVMBuildUIToFP(e->b, x, type, "");
}

static LLVMValueRef cast(Emit *e, IrScalar from, IrScalar to, LLVMValueRef x) {
    LLVMTypeRef type = emit_type(e, to);
    from = ir_scalar_base(from);
    to = ir_scalar_base(to);
    bool to_half_type = to == IR_F16 || to == IR_BF16;
    if (from == to) return x;
    if (from == IR_F16 || from == IR_BF16) {
        x = from_half(e, from, x);
        from = IR_F32;
    }
    if (from == to) return x;
    if (!ir_scalar_float(from)) {
        if (ir_scalar_float(to)) return int_to_float(e, from, type, x);
        if (to_half_type) return to_half(e, to, int_to_float(e, from, e->f64, x));
        return int_to_int(e, from, to, x);
    }
    if (to_half_type) return to_half(e, to, x);
    if (!ir_scalar_float(to)) return float_to_int(e, to, x);
    return to == IR_F64 ? LLVMBuildFPExt(e->b, x, type, "") : LLVMBuildFPTrunc(e->b, x, type, "");
}

/* ---- functions ---- */

/* Functions that LLVM knows exactly. */
static const char *exact_intrinsic(IrMath fn) {
    switch ((int)fn) {
    case IR_MATH_SQRT: return "llvm.sqrt";
    case IR_MATH_FLOOR: return "llvm.floor";
    case IR_MATH_CEIL: return "llvm.ceil";
    case IR_MATH_TRUNC: return "llvm.trunc";
    case IR_MATH_ROUND: return "llvm.round";
    case IR_MATH_RINT: return "llvm.rint";
    case IR_MATH_COPYSIGN: return "llvm.copysign";
    case IR_MATH_FMA: return "llvm.fma";
    default: return NULL;
    }
}

LLVMValueRef emit_math_wide(Emit *e, IrMath fn, LLVMTypeRef type, LLVMValueRef *args) {
    const char *intrinsic = exact_intrinsic(fn);
    CHECK_INTERNAL(intrinsic != NULL);
    return flagged(e, emit_intrinsic(e, intrinsic, type, args, ir_math_arity(fn)));
}

LLVMValueRef emit_math(Emit *e, IrMath fn, IrScalar scalar, LLVMValueRef *args) {
    static const char *const names[] = {
#define MATH(name, text, arity, libm) libm,
#include "lang/math.def"
#undef MATH
    };
    unsigned n = ir_math_arity(fn);
    const char *intrinsic = exact_intrinsic(fn), *name = names[fn];
    LLVMTypeRef type = emit_type(e, scalar);
    char single[32];
    if (intrinsic) return flagged(e, emit_intrinsic(e, intrinsic, type, args, n));
    if (fn == IR_MATH_LGAMMA) name = "adl__lgamma"; /* the C library's writes a global */
    if (strncmp(name, "adl__", 5) == 0) return runtime(e, name, scalar, args, n);
    if (scalar == IR_F32) {
        size_t len = strlen(name);
        CHECK_INTERNAL(len + 2 <= sizeof single);
        memcpy(single, name, len);
        memcpy(single + len, "f", 2);
        name = single;
    }
    return e->call(e, name, type, args, n);
}

LLVMValueRef emit_muladd(Emit *e, LLVMValueRef x, LLVMValueRef y, LLVMValueRef z) {
    LLVMValueRef args[] = {x, y, z};
    if (e->fused) return flagged(e, emit_intrinsic(e, "llvm.fma", LLVMTypeOf(x), args, 3));
    return flagged(e, LLVMBuildFAdd(e->b, flagged(e, LLVMBuildFMul(e->b, x, y, "")), z, ""));
}

LLVMValueRef emit_combine(Emit *e, IrReduce kind, IrScalar scalar, LLVMValueRef x, LLVMValueRef y) {
    static const uint8_t ops[] = {[IR_SUM] = IR_ADD,     [IR_PROD] = IR_MUL, [IR_MINIMUM] = IR_MIN,
                                  [IR_MAXIMUM] = IR_MAX, [IR_ALL] = IR_AND,  [IR_ANY] = IR_OR};
    CHECK_INTERNAL(kind <= IR_ANY);
    IrOp op = (IrOp)ops[kind];
    if (ir_scalar_float(scalar)) return float_binary(e, op, scalar, x, y);
    return int_binary(e, op, scalar, x, y);
}

/* ---- lanes ---- */

static LLVMValueRef put_lanes(Emit *e, LLVMValueRef const *args, unsigned n) {
    bool same = true;
    for (unsigned k = 1; k < n; k++) same = same && args[k] == args[0];
    if (same) return emit_splat(e, args[0], n);
    LLVMValueRef all = LLVMGetPoison(LLVMVectorType(LLVMTypeOf(args[0]), n));
    for (unsigned k = 0; k < n; k++)
        all = LLVMBuildInsertElement(e->b, all, args[k], emit_int32(e, (int32_t)k), "");
    return all;
}

static LLVMValueRef sum_lanes(Emit *e, LLVMValueRef x, unsigned n) {
    LLVMValueRef sum = LLVMBuildExtractElement(e->b, x, emit_int32(e, 0), "");
    for (unsigned k = 1; k < n; k++) {
        LLVMValueRef lane = LLVMBuildExtractElement(e->b, x, emit_int32(e, (int32_t)k), "");
        sum = flagged(e, LLVMBuildFAdd(e->b, sum, lane, ""));
    }
    return sum;
}

LLVMValueRef emit_scalar(Emit *e, const IrInst *inst, LLVMValueRef *args) {
    IrScalar result = inst->results[0]->type->scalar;
    IrScalar scalar = ir_resolve(inst->operands[0])->type->scalar;
    if (inst->op == IR_LANES) return put_lanes(e, args, inst->noperands);
    if (inst->op == IR_LANE) return LLVMBuildExtractElement(e->b, args[0], args[1], "");
    if (inst->op == IR_LANE_SUM) return sum_lanes(e, args[0], ir_scalar_lanes(scalar));
    /* A choice by one condition stays one. */
    for (uint32_t k = inst->op == IR_SELECT; k < inst->noperands; k++)
        args[k] = emit_widened(e, args[k], result);
    switch ((int)inst->op) {
    case IR_NEG:
    case IR_ABS:
    case IR_NOT: return unary(e, inst->op, scalar, args[0]);
    case IR_SELECT: return LLVMBuildSelect(e->b, args[0], args[1], args[2], "");
    case IR_CAST: return cast(e, scalar, result, args[0]);
    case IR_MATH: return emit_math(e, (IrMath)inst->imm, result, args);
    case IR_MULADD: return emit_muladd(e, args[0], args[1], args[2]);
    case IR_POWI: return power(e, inst, args);
    default: break;
    }
    if (ir_is_comparison(inst->op)) return compare(e, inst->op, scalar, args[0], args[1]);
    if (ir_scalar_float(scalar)) return float_binary(e, inst->op, scalar, args[0], args[1]);
    return int_binary(e, inst->op, scalar, args[0], args[1]);
}
