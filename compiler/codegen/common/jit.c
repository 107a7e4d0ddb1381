/* LLJIT on object files that the ordinary path makes, so that code in the process and code in files
   are the same, and no LLVM context outlives the generator. */
#include "codegen/common/jit.h"

#include <dlfcn.h>
#include <llvm-c/Core.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/LLJITUtils.h>
#include <stdlib.h>

#include "base/memory.h"
#include "codegen/common/machine.h"

struct CodegenCode {
    LLVMOrcLLJITRef jit;
};

static bool failed(LLVMErrorRef problem, char **error) {
    if (!problem) return false;
    char *text = LLVMGetErrorMessage(problem);
    if (!*error) *error = machine_text("%s", text);
    LLVMDisposeErrorMessage(text);
    return true;
}

static bool define_symbols(LLVMOrcLLJITRef jit, const CodegenSymbol *symbols, size_t n,
                           char **error) {
    if (!n) return true;
    LLVMOrcCSymbolMapPair *pairs = memory_zeroed(n, sizeof *pairs);
    for (size_t i = 0; i < n; i++) {
        pairs[i].Name = LLVMOrcLLJITMangleAndIntern(jit, symbols[i].name);
        pairs[i].Sym.Address = (LLVMOrcExecutorAddress)(uintptr_t)symbols[i].address;
        pairs[i].Sym.Flags.GenericFlags =
            LLVMJITSymbolGenericFlagsExported | LLVMJITSymbolGenericFlagsCallable;
    }
    LLVMOrcMaterializationUnitRef unit = LLVMOrcAbsoluteSymbols(pairs, n);
    free(pairs);
    if (!failed(LLVMOrcJITDylibDefine(LLVMOrcLLJITGetMainJITDylib(jit), unit), error)) return true;
    LLVMOrcDisposeMaterializationUnit(unit);
    return false;
}

static bool search_process(LLVMOrcLLJITRef jit, char **error) {
    LLVMOrcDefinitionGeneratorRef process = NULL;
    if (failed(LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess(
                   &process, LLVMOrcLLJITGetGlobalPrefix(jit), NULL, NULL),
               error))
        return false;
    LLVMOrcJITDylibAddGenerator(LLVMOrcLLJITGetMainJITDylib(jit), process);
    return true;
}

/* The same text comes back from the look-up that failed; LLVM would print it, too. */
static void stay_quiet(void *context, LLVMErrorRef problem) {
    (void)context;
    LLVMConsumeError(problem);
}

static bool fill(LLVMOrcLLJITRef jit, const StrBuf *object, const CodegenSymbol *symbols, size_t n,
                 bool debug, char **error) {
    LLVMOrcExecutionSessionSetErrorReporter(LLVMOrcLLJITGetExecutionSession(jit), stay_quiet, NULL);
    /* For gdb; where it cannot be had, code runs all the same. */
    if (debug) LLVMConsumeError(LLVMOrcLLJITEnableDebugSupport(jit));
    if (!define_symbols(jit, symbols, n, error) || !search_process(jit, error)) return false;
    LLVMMemoryBufferRef buffer =
        LLVMCreateMemoryBufferWithMemoryRangeCopy(object->text, object->len, "adl");
    return !failed(LLVMOrcLLJITAddObjectFile(jit, LLVMOrcLLJITGetMainJITDylib(jit), buffer), error);
}

CodegenCode *jit_load(const StrBuf *object, const CodegenSymbol *symbols, size_t nsymbols,
                      bool debug, char **error) {
    LLVMOrcLLJITRef jit;
    /* Vector functions are looked for among the global symbols. */
    (void)dlopen("libmvec.so.1", RTLD_NOW | RTLD_GLOBAL);
    if (failed(LLVMOrcCreateLLJIT(&jit, NULL), error)) return NULL;
    if (!fill(jit, object, symbols, nsymbols, debug, error)) {
        LLVMConsumeError(LLVMOrcDisposeLLJIT(jit));
        return NULL;
    }
    CodegenCode *code = memory_zeroed(1, sizeof *code);
    code->jit = jit;
    return code;
}

void *jit_find(CodegenCode *code, const char *name, char **error) {
    LLVMOrcExecutorAddress address = 0;
    if (failed(LLVMOrcLLJITLookup(code->jit, &address, name), error)) return NULL;
    return (void *)(uintptr_t)address;
}

void jit_unload(CodegenCode *code) {
    if (!code) return;
    LLVMConsumeError(LLVMOrcDisposeLLJIT(code->jit));
    free(code);
}
