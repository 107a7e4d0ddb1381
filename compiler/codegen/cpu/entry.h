/* Functions that are called from outside: what their bodies have in common. */
#ifndef ADL_CODEGEN_CPU_ENTRY_H
#define ADL_CODEGEN_CPU_ENTRY_H

#include "codegen/cpu/gen.h"
#include "ir/export.h"
#include "runtime/layout.h"

/* A function of TYPE with default visibility, its first block open; F is a frame to build in it. */
LLVMValueRef entry_begin(Gen *g, Fn *f, const char *name, LLVMTypeRef type, const IrFunc *func);

typedef VEC(LLVMValueRef) EntryArgs;
/* Adds VAL as parameter K of FUNC, which keeps its own reference. */
void entry_push_arg(Fn *f, const IrFunc *func, uint32_t k, const Val *val, EntryArgs *args);
/* The same where FUNC's reference, if it owns the parameter, is counted already. */
void entry_push_counted(const IrFunc *func, uint32_t k, const Val *val, EntryArgs *args);
/* Result memory for result I of FUNC. */
LLVMValueRef entry_result_memory(Fn *f, const IrFunc *func, uint32_t i);
LLVMValueRef entry_call(Fn *f, const IrFunc *func, const EntryArgs *args);
/* The flattened text of an argument without a block. */
Val entry_array(Fn *f, IrType type, LLVMValueRef data, LLVMValueRef block,
                LLVMValueRef const *dims);

#endif
