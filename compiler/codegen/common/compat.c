#include "codegen/common/compat.h"

#include <llvm-c/IRReader.h>
#include <llvm/Config/llvm-config.h>
#include <stdbool.h>
#include <string.h>

#include "base/fatal.h"
#include "base/strbuf.h"

LLVMAttributeRef compat_nocapture(LLVMContextRef context) {
    unsigned kind = LLVMGetEnumAttributeKindForName("nocapture", strlen("nocapture"));
    if (!kind) kind = LLVMGetEnumAttributeKindForName("captures", strlen("captures"));
    return LLVMCreateEnumAttribute(context, kind, 0);
}

void compat_distinct_nodes(LLVMContextRef context, LLVMMetadataRef *nodes) {
    StrBuf text = {0};
    char *error = NULL;
    LLVMModuleRef module = NULL;
    LLVMValueRef values[COMPAT_NODES];
    strbuf_add(&text, "!n = !{");
    for (int i = 0; i < COMPAT_NODES; i++) strbuf_printf(&text, "%s!%d", i ? ", " : "", i);
    strbuf_add(&text, "}\n");
    for (int i = 0; i < COMPAT_NODES; i++) strbuf_printf(&text, "!%d = distinct !{}\n", i);
    LLVMMemoryBufferRef buffer =
        LLVMCreateMemoryBufferWithMemoryRangeCopy(text.text, text.len, "nodes");
    bool failed = LLVMParseIRInContext(context, buffer, &module, &error);
    CHECK_INTERNAL(!failed && LLVMGetNamedMetadataNumOperands(module, "n") == COMPAT_NODES);
    LLVMGetNamedMetadataOperands(module, "n", values);
    for (int i = 0; i < COMPAT_NODES; i++) nodes[i] = LLVMValueAsMetadata(values[i]);
    LLVMDisposeModule(module);
    strbuf_free(&text);
}

const char *compat_version(void) {
    return "LLVM " LLVM_VERSION_STRING;
}
