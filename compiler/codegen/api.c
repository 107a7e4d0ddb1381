/* The table that the shared object exports. */
#include "codegen/codegen.h"

#include <stdlib.h>

#include "codegen/common/compat.h"
#include "codegen/common/jit.h"
#include "codegen/common/machine.h"
#include "codegen/cpu/generate.h"
#include "codegen/ptx/generate.h"

#include <llvm-c/Analysis.h>

static bool verify(LLVMModuleRef module, char **error) {
    char *text = NULL;
    if (!LLVMVerifyModule(module, LLVMReturnStatusAction, &text)) {
        LLVMDisposeMessage(text);
        return true;
    }
    *error = machine_text("the generated code is invalid: %s", text);
    LLVMDisposeMessage(text);
    return false;
}

static bool emit(const IrModule *ir, const CodegenOptions *options, CodegenKind kind, StrBuf *out,
                 char **error) {
    Machine machine;
    char *reported = NULL;
    if (kind == CODEGEN_PTX) return ptx_emit(ir, options, out, error);
    if (!machine_open(&machine, options, error)) return false;
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module = generate_module(ir, options, &machine, context, &reported);
    bool ok = (!options->verify || verify(module, error)) &&
              (kind == CODEGEN_LLVM_RAW || machine_optimise(&machine, module, options, error)) &&
              machine_emit(&machine, module, kind, out, error);
    if (ok && reported) {
        *error = reported;
        reported = NULL;
        ok = false;
    }
    free(reported);
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
    machine_close(&machine);
    return ok;
}

static CodegenCode *load(const IrModule *ir, const CodegenOptions *options,
                         const CodegenSymbol *symbols, size_t nsymbols, char **error) {
    StrBuf object = {0};
    CodegenOptions pic = *options;
    CodegenCode *code = NULL;
    pic.pic = pic.in_process = true;
    if (emit(ir, &pic, CODEGEN_OBJECT, &object, error))
        code = jit_load(&object, symbols, nsymbols, options->debug, error);
    strbuf_free(&object);
    return code;
}

__attribute__((visibility("default"))) const CodegenApi *adl_codegen_api(void) {
    static CodegenApi api = {sizeof(CodegenApi), NULL, emit, load, jit_find, jit_unload};
    api.version = compat_version();
    return &api;
}
