/* Target machines, the optimiser, object files: from a finished LLVM module to bytes. */
#ifndef ADL_CODEGEN_COMMON_MACHINE_H
#define ADL_CODEGEN_COMMON_MACHINE_H

#include "codegen/codegen.h"

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>

typedef struct Machine {
    LLVMTargetMachineRef target;
    char *triple;
    char *features;       /* what the target machine was made with */
    bool fused;           /* has a fast fused multiply-add */
    unsigned vector_bits; /* widest vectors for which libmvec functions may be called; 0: none */
} Machine;

/* The host's machine with the options' CPU, level and relocation model. */
bool machine_open(Machine *machine, const CodegenOptions *options, char **error);
void machine_close(Machine *machine);

/* Runs the standard pipeline of the options' level. */
bool machine_optimise(const Machine *machine, LLVMModuleRef module, const CodegenOptions *options,
                      char **error);
bool machine_emit(const Machine *machine, LLVMModuleRef module, CodegenKind kind, StrBuf *out,
                  char **error);
/* A text in malloc'ed memory. */
char *machine_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
