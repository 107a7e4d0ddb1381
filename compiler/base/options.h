/* What the command line asked for: plain data, filled by the driver from lang/options.def, passed
   to each part that needs to know. */
#ifndef ADL_BASE_OPTIONS_H
#define ADL_BASE_OPTIONS_H

#include "base/vec.h"

typedef enum CommandKind {
#define COMMAND(name, word, args, help) COMMAND_##name,
#include "lang/options.def"
    COMMAND_COUNT
} CommandKind;

typedef enum EmitKind {
#define EMIT(name, word, help) EMIT_##name,
#include "lang/options.def"
    EMIT_COUNT
} EmitKind;

enum { CHECKS_DEFAULT, CHECKS_ALL, CHECKS_NONE };
enum { WORKSPACE_OWN, WORKSPACE_CALLER };
enum { DIAGNOSTICS_TEXT, DIAGNOSTICS_JSON };
enum { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

/* What stands for a file on the command line, in its order. */
typedef enum InputKind {
    INPUT_SOURCE,  /* an .adl file, or - */
    INPUT_OBJECT,  /* anything else: handed to the linker */
    INPUT_LIBRARY, /* -lNAME: text is NAME */
    INPUT_LINKER   /* -Wl,ARG: text is the whole word */
} InputKind;

typedef struct Input {
    InputKind kind;
    const char *text;
} Input;

typedef VEC(const char *) TextList;

typedef struct Options {
    CommandKind command;
    VEC(Input) inputs;
    TextList arguments; /* of the program (run, gradcheck), of explain */

    int emit; /* EmitKind */
    const char *output, *header, *prefix;
    const char *depfile_path, *depfile_target;
    int relocatable, shared, depfile, depfile_phony;

    TextList include_dirs, library_dirs;

    int opt_level, debug_info, fast_math, deterministic, checks, threads, workspace, sanitize;
    const char *target, *cpu;

    TextList remarks, print_after;
    TextList warnings; /* -W words, in order, as diags_set_warning takes them */
    const char *stop_after;
    int diagnostics, color, verbose, dry_run, save_temps, time_passes, verify;
    unsigned max_errors;
    unsigned launch_from; /* of parallel loops: see --launch-from */

    const char *filter;
    unsigned seed;
    int help, version;
} Options;

#endif
