#include "tests/unit/generated.h"

#include "tests/unit/entry.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/core/calls.h"

StrBuf codegen_printed;

static int32_t note_print(AdlContext *context, const char *text, int64_t len) {
    (void)context;
    strbuf_add_n(&codegen_printed, text, (size_t)len);
    strbuf_char(&codegen_printed, '\n');
    return 0;
}

/* The runtime, whose prints are noted. */
static const CodegenSymbol *noting_symbols(size_t *n) {
    CodegenSymbol *symbols = entry_symbols(n);
    for (size_t i = 0; i < *n; i++)
        if (!strcmp(symbols[i].name, "adl__print"))
            symbols[i].address = entry_address((void (*)(void))note_print);
    return symbols;
}

const CodegenApi *codegen_api(void) {
    static const CodegenApi *api;
    char path[512], *error = NULL;
    const char *given = getenv("ADL_CODEGEN"), *build = getenv("ADL_BUILD_DIR");
    if (api) return api;
    snprintf(path, sizeof path, "%s/.libs/libdslc-llvm.so", build ? build : ".");
    api = codegen_open(given ? given : path, &error);
    ck_assert_msg(api, "%s", error ? error : "");
    return api;
}

CodegenCode *codegen_load(const IrModule *module, const CodegenOptions *options) {
    size_t n;
    char *error = NULL;
    const CodegenSymbol *symbols = noting_symbols(&n);
    if (getenv("CODEGEN_SHOW")) {
        StrBuf text = {0};
        codegen_api()->emit(module, options, CODEGEN_LLVM_RAW, &text, &error);
        fputs(text.text ? text.text : "", stderr);
        strbuf_free(&text);
    }
    CodegenCode *code = codegen_api()->load(module, options, symbols, n, &error);
    ck_assert_msg(code, "%s", error ? error : "");
    return code;
}
