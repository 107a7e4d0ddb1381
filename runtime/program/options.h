/* options.h: the command line of a program, by a table of its parameters. */
#ifndef ADL_RUNTIME_PROGRAM_OPTIONS_H
#define ADL_RUNTIME_PROGRAM_OPTIONS_H

#include <stdbool.h>

#include "core/calls.h"
#include "core/text.h"

/* The words of the command line that are no options. */
struct AdlArguments {
    int64_t count;
    const char **words;
};

typedef struct Options {
    AdlContext *context;
    const AdlMain *main;
    AdlParamValue *values; /* zeroed, one for each parameter */
    struct AdlArguments *arguments;
    bool help;  /* asked for; nothing else was checked */
    Text wrong; /* what is wrong, if anything */
} Options;

/* Reads ARGC words at ARGV, without the program's name, into OPTIONS.  False if something is wrong:
   then it is in options->wrong. */
bool options_read(Options *options, int argc, char **argv);

/* The text for --help. */
void options_help(Text *text, const AdlMain *main, const char *program);

#endif
