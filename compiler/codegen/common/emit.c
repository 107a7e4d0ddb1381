#include "codegen/common/emit.h"

#include <string.h>

#include "base/fatal.h"

void emit_init(Emit *e, LLVMContextRef context, const char *module_name) {
    e->context = context;
    e->module = LLVMModuleCreateWithNameInContext(module_name, context);
    e->b = LLVMCreateBuilderInContext(context);
    e->none = LLVMVoidTypeInContext(context);
    e->i1 = LLVMInt1TypeInContext(context);
    e->i8 = LLVMInt8TypeInContext(context);
    e->i16 = LLVMInt16TypeInContext(context);
    e->i32 = LLVMInt32TypeInContext(context);
    e->i64 = LLVMInt64TypeInContext(context);
    e->f32 = LLVMFloatTypeInContext(context);
    e->f64 = LLVMDoubleTypeInContext(context);
    e->ptr = LLVMPointerTypeInContext(context, 0);
}

/* ---- types and constants ---- */

/* Without its lanes. */
static LLVMTypeRef base_type(const Emit *e, IrScalar scalar) {
    switch (ir_scalar_base(scalar)) {
    case IR_BOOL: return e->i1;
    case IR_I8:
    case IR_U8: return e->i8;
    case IR_I16:
    case IR_U16:
    case IR_F16:
    case IR_BF16: return e->i16;
    case IR_I32:
    case IR_U32: return e->i32;
    case IR_I64:
    case IR_U64: return e->i64;
    case IR_F32: return e->f32;
    case IR_F64: return e->f64;
    case IR_C64:
    case IR_C128:
    case IR_SCALAR_COUNT: break;
    }
    UNREACHABLE("scalar type %d in code generation", (int)scalar);
}

static LLVMTypeRef with_lanes(LLVMTypeRef type, IrScalar scalar) {
    uint32_t lanes = ir_scalar_lanes(scalar);
    return lanes > 1 ? LLVMVectorType(type, lanes) : type;
}

static bool is_bool(IrScalar scalar) {
    return ir_scalar_base(scalar) == IR_BOOL;
}

LLVMTypeRef emit_type(const Emit *e, IrScalar scalar) {
    return with_lanes(base_type(e, scalar), scalar);
}

LLVMTypeRef emit_memory_type(const Emit *e, IrScalar scalar) {
    return with_lanes(is_bool(scalar) ? e->i8 : base_type(e, scalar), scalar);
}

LLVMTypeRef emit_element_type(const Emit *e, IrScalar scalar) {
    uint32_t lanes = ir_scalar_lanes(scalar);
    LLVMTypeRef one = is_bool(scalar) ? e->i8 : base_type(e, scalar);
    return lanes > 1 ? LLVMArrayType2(one, lanes) : one;
}

LLVMValueRef emit_to_memory(Emit *e, IrScalar scalar, LLVMValueRef value) {
    if (!is_bool(scalar)) return value;
    return LLVMBuildZExt(e->b, value, emit_memory_type(e, scalar), "");
}

LLVMValueRef emit_from_memory(Emit *e, IrScalar scalar, LLVMValueRef value) {
    if (!is_bool(scalar)) return value;
    return LLVMBuildICmp(e->b, LLVMIntNE, value, LLVMConstNull(LLVMTypeOf(value)), "");
}

LLVMValueRef emit_load(Emit *e, IrScalar scalar, LLVMValueRef from, LLVMValueRef *made) {
    *made = LLVMBuildLoad2(e->b, emit_memory_type(e, scalar), from, "");
    LLVMSetAlignment(*made, ir_scalar_align(scalar));
    return emit_from_memory(e, scalar, *made);
}

LLVMValueRef emit_store(Emit *e, IrScalar scalar, LLVMValueRef value, LLVMValueRef to) {
    LLVMValueRef store = LLVMBuildStore(e->b, emit_to_memory(e, scalar, value), to);
    LLVMSetAlignment(store, ir_scalar_align(scalar));
    return store;
}

LLVMValueRef emit_splat(Emit *e, LLVMValueRef x, unsigned lanes) {
    LLVMTypeRef type = LLVMVectorType(LLVMTypeOf(x), lanes);
    LLVMValueRef zero = LLVMConstInt(e->i32, 0, false);
    LLVMValueRef one = LLVMBuildInsertElement(e->b, LLVMGetPoison(type), x, zero, "");
    return LLVMBuildShuffleVector(e->b, one, one, LLVMConstNull(LLVMVectorType(e->i32, lanes)), "");
}

LLVMValueRef emit_widened(Emit *e, LLVMValueRef x, IrScalar scalar) {
    uint32_t lanes = ir_scalar_lanes(scalar);
    if (lanes == 1 || LLVMGetTypeKind(LLVMTypeOf(x)) == LLVMVectorTypeKind) return x;
    return emit_splat(e, x, lanes);
}

LLVMValueRef gen_int(const Emit *e, int64_t value) {
    return LLVMConstInt(e->i64, (unsigned long long)value, true);
}

LLVMValueRef emit_int32(const Emit *e, int32_t value) {
    return LLVMConstInt(e->i32, (unsigned long long)value, true);
}

LLVMValueRef emit_null(const Emit *e) {
    return LLVMConstPointerNull(e->ptr);
}

LLVMValueRef emit_const(const Emit *e, const IrInst *inst) {
    IrScalar scalar = inst->results[0]->type->scalar;
    LLVMTypeRef type = base_type(e, scalar);
    LLVMValueRef all[IR_MAX_LANES], one;
    if (ir_scalar_float(scalar)) one = LLVMConstReal(type, inst->fimm);
    else one = LLVMConstInt(type, (unsigned long long)inst->imm, true);
    uint32_t lanes = ir_scalar_lanes(scalar);
    for (uint32_t k = 0; k < lanes; k++) all[k] = one;
    return lanes > 1 ? LLVMConstVector(all, lanes) : one;
}

LLVMValueRef emit_zero(const Emit *e, IrScalar scalar) {
    return LLVMConstNull(emit_type(e, scalar));
}

/* ---- small helpers ---- */

LLVMValueRef emit_intrinsic(Emit *e, const char *name, LLVMTypeRef type, LLVMValueRef *args,
                            unsigned n) {
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    CHECK_INTERNAL(id != 0);
    unsigned overloads = type ? 1 : 0;
    LLVMValueRef fn = LLVMGetIntrinsicDeclaration(e->module, id, &type, overloads);
    return LLVMBuildCall2(e->b, LLVMIntrinsicGetType(e->context, id, &type, overloads), fn, args, n,
                          "");
}

LLVMValueRef emit_offset(Emit *e, LLVMValueRef p, int64_t bytes) {
    LLVMValueRef offset = gen_int(e, bytes);
    return LLVMBuildInBoundsGEP2(e->b, e->i8, p, &offset, 1, "");
}

static bool is_constant(LLVMValueRef value, int64_t wanted) {
    return LLVMIsAConstantInt(value) && LLVMConstIntGetSExtValue(value) == wanted;
}

LLVMValueRef emit_size_mul(Emit *e, LLVMValueRef a, LLVMValueRef b) {
    if (is_constant(a, 1)) return b;
    if (is_constant(b, 1)) return a;
    LLVMValueRef product = LLVMBuildNSWMul(e->b, a, b, "");
    if (!LLVMIsConstant(product)) LLVMSetNUW(product, true);
    return product;
}

LLVMValueRef emit_size_add(Emit *e, LLVMValueRef a, LLVMValueRef b) {
    if (is_constant(a, 0)) return b;
    if (is_constant(b, 0)) return a;
    LLVMValueRef sum = LLVMBuildNSWAdd(e->b, a, b, "");
    if (!LLVMIsConstant(sum)) LLVMSetNUW(sum, true);
    return sum;
}

LLVMValueRef emit_strided(Emit *e, LLVMValueRef start, LLVMValueRef i, LLVMValueRef step) {
    return LLVMBuildNSWAdd(e->b, start, LLVMBuildNSWMul(e->b, i, step, ""), "");
}
