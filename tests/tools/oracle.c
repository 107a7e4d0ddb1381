/* Runs the `test` items of ADL files in the interpreter of the IR, as `dslc test` runs compiled code:

     oracle [-On] [-I DIR]... FILE...

   prints what the tests print, a line for each, and the totals, so that the two can be compared.
   The level is that of the passes before and behind differentiation; default 0. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ad/ad.h"
#include "ir/interp.h"
#include "ir/verify.h"
#include "lower/lower.h"
#include "opt/opt.h"
#include "source/load.h"

enum { MAX_INCLUDES = 4 };

typedef struct Oracle {
    const char *include[MAX_INCLUDES];
    uint32_t nincludes;
    int level;
    unsigned passed, failed;
} Oracle;

static void run_test(Oracle *oracle, IrModule *module, const IrExport *item) {
    IrInterp *interp = ir_interp_new(module);
    StrBuf printed = {0};
    ir_interp_set_output(interp, &printed);
    bool good = ir_interp_call(interp, item->func, NULL, NULL);
    if (printed.len) fwrite(printed.text, 1, printed.len, stdout);
    printf("%s - %s\n", good ? "ok" : "not ok", item->name);
    if (good) oracle->passed++;
    else {
        oracle->failed++;
        printf("    %s\n", ir_interp_error(interp).message);
    }
    strbuf_free(&printed);
    ir_interp_free(interp);
}

/* Also after every pass when it is a hook: a fault ends the run. */
static void verify(void *data, const char *pass, IrModule *module) {
    const char *fault = ir_verify(module);
    if (!fault) return;
    printf("%s: after '%s': %s\n", (const char *)data, pass, fault);
    exit(70);
}

static void run_module(Oracle *oracle, const char *path, IrModule *module, Diags *diags) {
    OptHooks hooks = {verify, (void *)path};
    verify((void *)path, "lower", module);
    opt_before_ad(module, oracle->level, &hooks);
    ad_run(module, diags);
    if (diags_errors(diags)) return;
    verify((void *)path, "differentiate", module);
    opt_after_ad(module, oracle->level, &hooks);
    for (uint32_t k = 0; k < module->exports.len; k++)
        if (module->exports.at[k]->kind == IR_EXPORT_TEST)
            run_test(oracle, module, module->exports.at[k]);
}

static void run_file(Oracle *oracle, const char *path) {
    char stdlib[512];
    const char *source = getenv("ADL_SOURCE_DIR");
    Arena *arena = arena_new();
    Interner *interner = interner_new();
    Sources sources;
    sources_init(&sources, arena);
    Diags *diags = diags_new(arena, &sources);
    snprintf(stdlib, sizeof stdlib, "%s/stdlib", source ? source : ".");
    CheckOptions options = {.include_dirs = oracle->include,
                            .ninclude_dirs = oracle->nincludes,
                            .stdlib_dir = stdlib};
    Checker *checker = checker_new(arena, interner, &sources, diags, &options);
    const SourceFile *file = source_load(&sources, diags, path, (Span){0, 0});
    if (file) {
        LowerOptions lower = {.roots = 1u << ROOT_TEST};
        Program *program = check_program(checker, file, 1u << ROOT_TEST);
        IrModule *module = NULL;
        if (!diags_errors(diags)) module = lower_program(program, &sources, diags, &lower);
        if (!diags_errors(diags)) run_module(oracle, path, module, diags);
        if (module) ir_module_free(module);
    }
    if (diags_errors(diags)) {
        StrBuf messages = {0};
        diags_render(diags, &messages);
        printf("%s", messages.text);
        strbuf_free(&messages);
        oracle->failed++;
    }
    checker_free(checker);
    diags_free(diags);
    sources_free(&sources);
    interner_free(interner);
    arena_free(arena);
}

int main(int argc, char **argv) {
    Oracle oracle = {0};
    for (int i = 1; i < argc; i++) {
        if (!strncmp(argv[i], "-O", 2)) oracle.level = atoi(argv[i] + 2);
        else if (!strcmp(argv[i], "-I") && i + 1 < argc && oracle.nincludes < MAX_INCLUDES)
            oracle.include[oracle.nincludes++] = argv[++i];
        else run_file(&oracle, argv[i]);
    }
    printf("%u passed, %u failed\n", oracle.passed, oracle.failed);
    return oracle.failed != 0;
}
