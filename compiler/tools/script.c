#define _GNU_SOURCE /* get_current_dir_name */
#include "tools/script.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ir/export.h"
#include "runtime/layout.h"

typedef int32_t (*MainRun)(const AdlMain *program, int32_t argc, const char *const *argv);
typedef void (*ContextBegin)(AdlContext *context);
typedef int32_t (*ContextEnd)(AdlContext *context, int32_t status);
typedef const char *(*LastMessage)(void);
typedef int32_t (*TestFunction)(AdlContext *context);

static char *failure(const char *what, const char *why) {
    StrBuf text = {0};
    strbuf_printf(&text, "%s: %s", what, why);
    return text.text;
}

bool script_open_runtime(ScriptRuntime *runtime, const char *path, char **error) {
    runtime->library = path ? dlopen(path, RTLD_NOW | RTLD_GLOBAL) : NULL;
    if (!runtime->library)
        *error = failure("the runtime library cannot be opened",
                         path ? dlerror() : "libadl was not found");
    return runtime->library != NULL;
}

bool script_open_library(const char *path, char **error) {
    if (dlopen(path, RTLD_NOW | RTLD_GLOBAL)) return true;
    *error = failure("the library cannot be opened", dlerror());
    return false;
}

/* A function of the runtime, as the bytes of a function pointer. */
bool script_runtime_function(const ScriptRuntime *runtime, const char *name, void *function,
                             char **error) {
    void *symbol = dlsym(runtime->library, name);
    if (!symbol) {
        *error = failure("the runtime library lacks a function", name);
        return false;
    }
    memcpy(function, &symbol, sizeof symbol);
    return true;
}

int script_run(const ScriptRuntime *runtime, const CodegenApi *api, CodegenCode *code, int argc,
               const char *const *argv, char **error) {
    MainRun run;
    const AdlMain *program = api->find(code, "adl__program", error);
    if (!program || !script_runtime_function(runtime, "adl__main_run", &run, error)) return -1;
    return run(program, argc, argv);
}

/* ---- tests ---- */

typedef struct Tester {
    ContextBegin begin;
    ContextEnd end;
    LastMessage message;
    FILE *out;
} Tester;

static bool run_test(const Tester *t, TestFunction test, const char *name) {
    AdlContext context;
    fflush(stdout);
    t->begin(&context);
    int32_t status = t->end(&context, test(&context));
    fflush(stdout);
    fprintf(t->out, "%s - %s\n", status ? "not ok" : "ok", name);
    if (status) fprintf(t->out, "    %s\n", t->message());
    fflush(t->out);
    return status == 0;
}

static bool run_tests(const Tester *t, const CodegenApi *api, CodegenCode *code,
                      const IrModule *module, const char *filter, ScriptCounts *counts,
                      char **error) {
    for (uint32_t k = 0; k < module->exports.len; k++) {
        const IrExport *item = module->exports.at[k];
        char symbol[32];
        TestFunction test;
        if (item->kind != IR_EXPORT_TEST || (filter && !strstr(item->name, filter))) continue;
        snprintf(symbol, sizeof symbol, "adl__test_%u", k);
        void *address = api->find(code, symbol, error);
        if (!address) return false;
        memcpy(&test, &address, sizeof test);
        if (run_test(t, test, item->name)) counts->passed++;
        else counts->failed++;
    }
    return true;
}

bool script_test(const ScriptRuntime *runtime, const CodegenApi *api, CodegenCode *code,
                 const IrModule *module, const char *filter, const char *folder, FILE *out,
                 ScriptCounts *counts, char **error) {
    Tester t = {.out = out};
    if (!script_runtime_function(runtime, "adl__context_begin", &t.begin, error) ||
        !script_runtime_function(runtime, "adl__context_end", &t.end, error) ||
        !script_runtime_function(runtime, "adl_last_error_message", &t.message, error))
        return false;
    char *before = get_current_dir_name();
    if (folder && chdir(folder) != 0) {
        *error = failure("cannot enter the folder of the tests", folder);
        free(before);
        return false;
    }
    bool good = run_tests(&t, api, code, module, filter, counts, error);
    if (before && chdir(before) != 0) {
        *error = failure("cannot go back to the folder", before);
        good = false;
    }
    free(before);
    return good;
}
