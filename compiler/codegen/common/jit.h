/* Object code in this process. */
#ifndef ADL_CODEGEN_COMMON_JIT_H
#define ADL_CODEGEN_COMMON_JIT_H

#include "codegen/codegen.h"

/* Links the object file that OBJECT holds. */
CodegenCode *jit_load(const StrBuf *object, const CodegenSymbol *symbols, size_t nsymbols,
                      bool debug, char **error);
void *jit_find(CodegenCode *code, const char *name, char **error);
void jit_unload(CodegenCode *code);

#endif
