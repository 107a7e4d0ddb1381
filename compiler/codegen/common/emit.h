/* What every back end needs to build LLVM IR: types, constants, scalar operations. */
#ifndef ADL_CODEGEN_COMMON_EMIT_H
#define ADL_CODEGEN_COMMON_EMIT_H

#include "ir/ir.h"

#include <llvm-c/Core.h>

typedef struct Emit Emit;
struct Emit {
    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMBuilderRef b; /* the builder at hand */
    LLVMTypeRef none, i1, i8, i16, i32, i64, f32, f64, ptr;
    bool fast_math;
    bool fused; /* the target rounds a product and a sum once, quickly */
    /* How the back end calls a scalar function NAME (of the C library or the runtime), which
       touches no memory. */
    LLVMValueRef (*call)(Emit *e, const char *name, LLVMTypeRef result, LLVMValueRef *args,
                         unsigned n);
    void *data; /* of `call` */
};

void emit_init(Emit *e, LLVMContextRef context, const char *module_name);

/* f16 and bf16 are their bits in an i16; bool is an i1, and an i8 in memory; lanes are a vector.
   As an element of arrays a vector has no more bytes and no larger alignment than its lanes. */
LLVMTypeRef emit_type(const Emit *e, IrScalar scalar);
LLVMTypeRef emit_memory_type(const Emit *e, IrScalar scalar);
LLVMTypeRef emit_element_type(const Emit *e, IrScalar scalar);
LLVMValueRef emit_to_memory(Emit *e, IrScalar scalar, LLVMValueRef value);
LLVMValueRef emit_from_memory(Emit *e, IrScalar scalar, LLVMValueRef value);
/* The same with the access: *MADE is the load; the store. */
LLVMValueRef emit_load(Emit *e, IrScalar scalar, LLVMValueRef from, LLVMValueRef *made);
LLVMValueRef emit_store(Emit *e, IrScalar scalar, LLVMValueRef value, LLVMValueRef to);

LLVMValueRef gen_int(const Emit *e, int64_t value); /* an i64 */
LLVMValueRef emit_int32(const Emit *e, int32_t value);
LLVMValueRef emit_null(const Emit *e);
LLVMValueRef emit_const(const Emit *e, const IrInst *inst);
LLVMValueRef emit_zero(const Emit *e, IrScalar scalar);
/* X in each of LANES, as a vector. */
LLVMValueRef emit_splat(Emit *e, LLVMValueRef x, unsigned lanes);
/* X, or if it is no vector and SCALAR has lanes, X in each of them. */
LLVMValueRef emit_widened(Emit *e, LLVMValueRef x, IrScalar scalar);

/* An LLVM intrinsic, overloaded on TYPE (NULL: not overloaded). */
LLVMValueRef emit_intrinsic(Emit *e, const char *name, LLVMTypeRef type, LLVMValueRef *args,
                            unsigned n);
/* The address BYTES behind P. */
LLVMValueRef emit_offset(Emit *e, LLVMValueRef p, int64_t bytes);
/* a * b and a + b of sizes and offsets, which cannot overflow. */
LLVMValueRef emit_size_mul(Emit *e, LLVMValueRef a, LLVMValueRef b);
LLVMValueRef emit_size_add(Emit *e, LLVMValueRef a, LLVMValueRef b);
/* START + I * STEP, which may run backwards. */
LLVMValueRef emit_strided(Emit *e, LLVMValueRef start, LLVMValueRef i, LLVMValueRef step);

/* An operation of the SCALAR class, but for CONST; operands in ARGS. */
LLVMValueRef emit_scalar(Emit *e, const IrInst *inst, LLVMValueRef *args);
/* DIV, MOD or REM of signed integers; Y is not 0. */
LLVMValueRef emit_divide(Emit *e, IrOp op, LLVMValueRef x, LLVMValueRef y);
/* x y + z, rounded once where the target does it; floats or vectors of them. */
LLVMValueRef emit_muladd(Emit *e, LLVMValueRef x, LLVMValueRef y, LLVMValueRef z);
/* Two scalars combined as a REDUCE of KIND does it. */
LLVMValueRef emit_combine(Emit *e, IrReduce kind, IrScalar scalar, LLVMValueRef x, LLVMValueRef y);
/* A MATH of FN, and one that LLVM knows exactly (sqrt, floor, fma, ...) on any TYPE, vectors too.
 */
LLVMValueRef emit_math(Emit *e, IrMath fn, IrScalar scalar, LLVMValueRef *args);
LLVMValueRef emit_math_wide(Emit *e, IrMath fn, LLVMTypeRef type, LLVMValueRef *args);

#endif
