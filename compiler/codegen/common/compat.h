/* The differences between LLVM versions, all of them. */
#ifndef ADL_CODEGEN_COMMON_COMPAT_H
#define ADL_CODEGEN_COMMON_COMPAT_H

#include <llvm-c/Core.h>

/* Values of the attribute `memory` that mean the same in all versions: two bits (1 reads, 2 writes)
   for what the arguments point to, two for memory that this module cannot see, ... */
enum { COMPAT_MEMORY_NONE = 0, COMPAT_MEMORY_READS_ARGS = 1, COMPAT_MEMORY_ARGS_HIDDEN = 15 };

/* The parameter attribute "nobody keeps this pointer". */
LLVMAttributeRef compat_nocapture(LLVMContextRef context);
/* COMPAT_NODES distinct nodes without operands, which the C API cannot make. */
enum { COMPAT_NODES = 64 };
void compat_distinct_nodes(LLVMContextRef context, LLVMMetadataRef *nodes);
/* "LLVM 19.1.7" */
const char *compat_version(void);

#endif
