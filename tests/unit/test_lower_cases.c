/* Lowering of whole programs: each file of tests/cases/lower is checked, lowered and verified, and
   the calls in its comments are run by the interpreter:

     // @f([1.0, 2.0], 3) = 6.0
     // @f([], 3) fails 1: index 3 is out of range 0..0 for x */
#include "tests/unit/ircalls.h"
#include "tests/unit/unit.h"

#include "ad/ad.h"
#include "base/file.h"
#include "lower/lower.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *source_dir(void) {
    const char *dir = getenv("ADL_SOURCE_DIR");
    return dir ? dir : ".";
}

/* The interpreter's cases begin with ';'. */
static char *as_calls(const char *text) {
    size_t len = strlen(text);
    char *calls = malloc(len + 1);
    memcpy(calls, text, len + 1);
    for (char *at = calls; (at = strstr(at, "// @")) != NULL; at += 4) {
        if (at != calls && at[-1] != '\n') continue;
        memmove(at + 1, at + 2, strlen(at + 2) + 1);
        at[0] = ';';
    }
    return calls;
}

static void run_file(const char *path, const char *text, size_t len, bool derive) {
    char stdlib[512];
    StrBuf messages = {0};
    Arena *arena = arena_new();
    Interner *interner = interner_new();
    Sources sources;
    sources_init(&sources, arena);
    Diags *diags = diags_new(arena, &sources);
    snprintf(stdlib, sizeof stdlib, "%s/stdlib", source_dir());
    CheckOptions options = {.stdlib_dir = stdlib};
    Checker *checker = checker_new(arena, interner, &sources, diags, &options);
    const SourceFile *file = sources_add(&sources, path, text, len);
    Program *program = check_program(checker, file, 1u << ROOT_EXPORT);
    diags_render(diags, &messages);
    ck_assert_msg(!diags_errors(diags), "%s", messages.text);
    IrModule *module = lower_program(program, &sources, diags, NULL);
    const char *fault = ir_verify(module);
    ck_assert_msg(!fault, "%s: %s", path, fault ? fault : "");
    if (derive) ad_run(module, diags);
    diags_render(diags, &messages);
    ck_assert_msg(!diags_errors(diags), "%s", messages.text);
    char *calls = as_calls(text);
    ir_case_calls(module, calls, path);
    free(calls);
    strbuf_free(&messages);
    ir_module_free(module);
    checker_free(checker);
    diags_free(diags);
    sources_free(&sources);
    interner_free(interner);
    arena_free(arena);
}

static void run_case(const char *name) {
    char path[512], *text;
    size_t len;
    FileError error;
    snprintf(path, sizeof path, "%s/tests/cases/lower/%s.adl", source_dir(), name);
    ck_assert_msg(file_read_all(path, &text, &len, &error), "%s", path);
    run_file(path, text, len, true);
    free(text);
}

#define CASE(name)                                                                                 \
    START_TEST(name) {                                                                             \
        run_case(#name);                                                                           \
    }                                                                                              \
    END_TEST

CASE(scalars)
CASE(control)
CASE(arrays)
CASE(places)
CASE(reductions)
CASE(complex)
CASE(text)
CASE(derivatives)
CASE(values)
CASE(sizes)
CASE(mixed)
CASE(split)
CASE(lambdas)

UNIT_MAIN("lower-cases", scalars, control, arrays, places, reductions, complex, text, derivatives,
          values, sizes, mixed, split, lambdas)
