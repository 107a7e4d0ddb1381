/* main.c: what an executable's main function does, and `dslc run` in its own process.

   Nothing here ends the process: the exit status is returned. */
#include <stdio.h>
#include <string.h>

#include "core/allocator.h"
#include "core/error.h"
#include "program/options.h"

enum { EXIT_RUN_TIME = 1, EXIT_USAGE = 2 };

int64_t adl__args_count(AdlContext *context) {
    return context->arguments ? context->arguments->count : 0;
}

int32_t adl__args_get(AdlContext *context, const AdlSite *site, int64_t i, AdlStr *out) {
    int64_t count = adl__args_count(context);
    if (i < 0 || i >= count) return adl__fail_index(context, site, i, count, -1, "args");
    const char *word = context->arguments->words[i];
    return adl__str_concat(context, word, (int64_t)strlen(word), NULL, 0, out);
}

static int32_t show_help(const AdlMain *main, const char *program) {
    Text text = {0};
    options_help(&text, main, program);
    bool ok = !text.failed && fwrite(text.ptr, 1, text.len, stdout) == text.len;
    text_free(&text);
    return ok && fflush(stdout) == 0 ? 0 : EXIT_RUN_TIME;
}

static int32_t report_usage(Options *options, const char *program) {
    fflush(stdout);
    fprintf(stderr, "%s: %s\nTry '%s --help'.\n", program,
            options->wrong.failed || !options->wrong.ptr ? "out of memory" : options->wrong.ptr,
            program);
    return EXIT_USAGE;
}

/* Runs the program with values that are read; what went wrong is on standard error. */
static int32_t run(AdlContext *context, const AdlMain *main, AdlParamValue *values,
                   const char *program) {
    int32_t exit_status = 0;
    int32_t status = main->run(context, values, &exit_status);
    bool flushed = fflush(stdout) == 0 && !ferror(stdout);
    if (status != 0) {
        fprintf(stderr, "%s\n", error_message(context, status));
        return EXIT_RUN_TIME;
    }
    if (!flushed) {
        fprintf(stderr, "%s: cannot write to standard output\n", program);
        return EXIT_RUN_TIME;
    }
    return exit_status;
}

int32_t adl__main_read(AdlContext *context, const AdlMain *main, int32_t argc, char **argv,
                       void *values) {
    const char *program = argc > 0 && argv[0] ? argv[0] : "program";
    struct AdlArguments arguments = {0, NULL}; /* stays empty without ADL_MAIN_ARGS */
    Options options = {.context = context, .main = main, .values = values, .arguments = &arguments};
    int32_t result = 0;
    if (!options_read(&options, argc > 0 ? argc - 1 : 0, argv + 1))
        result = report_usage(&options, program);
    else if (options.help) result = show_help(main, program) == 0 ? -1 : EXIT_USAGE;
    text_free(&options.wrong);
    return result;
}

int32_t adl__main_run(const AdlMain *main, int32_t argc, char **argv) {
    const char *program = argc > 0 && argv[0] ? argv[0] : "program";
    size_t value_bytes = ((size_t)main->count + 1) * sizeof(AdlParamValue);
    size_t word_bytes = ((size_t)argc + 1) * sizeof(char *);
    AdlParamValue *values = allocator_take(value_bytes);
    const char **words = allocator_take(word_bytes);
    int32_t result = EXIT_RUN_TIME;
    if (values && words) {
        AdlContext context;
        struct AdlArguments arguments = {0, words};
        adl__context_begin(&context);
        memset(values, 0, value_bytes);
        Options options = {
            .context = &context, .main = main, .values = values, .arguments = &arguments};
        bool ok = options_read(&options, argc > 0 ? argc - 1 : 0, argv + 1);
        context.arguments = &arguments;
        if (options.help) result = show_help(main, program);
        else if (!ok) result = report_usage(&options, program);
        else result = run(&context, main, values, program);
        text_free(&options.wrong);
        adl__context_end(&context, context.error);
    } else fprintf(stderr, "%s: out of memory\n", program);
    allocator_give(values, value_bytes);
    allocator_give(words, word_bytes);
    return result;
}
