/* From IR to an LLVM module for a CPU. */
#ifndef ADL_CODEGEN_CPU_GENERATE_H
#define ADL_CODEGEN_CPU_GENERATE_H

#include "codegen/common/machine.h"

/* The module of all that IR holds, not yet optimised.  What LLVM reports as an error while it works
   in CONTEXT, now or later, goes to *ERROR. */
LLVMModuleRef generate_module(const IrModule *ir, const CodegenOptions *options,
                              const Machine *machine, LLVMContextRef context, char **error);

#endif
