/* The arguments of an exported function, as the C compiler of the target passes them. */
#ifndef ADL_CODEGEN_CPU_C_ARGS_H
#define ADL_CODEGEN_CPU_C_ARGS_H

#include "codegen/cpu/gen.h"
#include "ir/export.h"

/* How a struct of two reals comes by value.  All else is one parameter of LLVM's function. */
typedef enum CPassing { C_ONE, C_TWO, C_VECTOR, C_ARRAY, C_MEMORY } CPassing;

typedef struct CPlace {
    CPassing how;
    unsigned first; /* parameter of LLVM's function */
} CPlace;

/* Fills PLACES, one for each argument; returns the type of the function. */
LLVMTypeRef c_args_type(const Emit *e, const IrExport *export, CPlace *places);
/* Attributes of FN's parameters. */
void c_args_describe(Gen *g, LLVMValueRef fn, const IrExport *export, const CPlace *places);
/* What leaf I of EXPORT is, in FN: the value of what is read, else the address to write to. */
LLVMValueRef c_args_leaf(Emit *e, LLVMValueRef fn, const IrExport *export, const CPlace *places,
                         uint32_t i);

#endif
