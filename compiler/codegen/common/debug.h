/* Debug information: source files, functions, lines. */
#ifndef ADL_CODEGEN_COMMON_DEBUG_H
#define ADL_CODEGEN_COMMON_DEBUG_H

#include "ir/ir.h"

#include <llvm-c/Core.h>

typedef struct Debug Debug;

/* NULL if MODULE has no sources. */
Debug *debug_open(LLVMModuleRef module, LLVMContextRef context, const IrModule *ir,
                  const char *producer, bool optimised);
/* Ends the description; frees DEBUG.  NULL is allowed in all that follows. */
void debug_close(Debug *debug);
/* LLVM is code of FUNC; a derivative is called "grad of f", since nobody wrote it. */
void debug_function(Debug *debug, LLVMValueRef llvm, const IrFunc *func);
/* LLVM, described before, is the code of FUNC that is built from now on. */
void debug_back(Debug *debug, LLVMValueRef llvm, const IrFunc *func);
/* What is built from now on belongs to POS of FUNC (0: to its beginning). */
void debug_position(Debug *debug, LLVMBuilderRef builder, const IrFunc *func, Pos pos);
/* What is built from now on belongs nowhere. */
void debug_nowhere(Debug *debug, LLVMBuilderRef builder);

#endif
