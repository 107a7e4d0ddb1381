/* Running compiled code in this process: `dslc run` and `dslc test`. */
#ifndef ADL_TOOLS_SCRIPT_H
#define ADL_TOOLS_SCRIPT_H

#include "codegen/codegen.h"

#include <stdio.h>

/* The runtime library, opened for the life of the process so that generated code finds it. */
typedef struct ScriptRuntime {
    void *library;
} ScriptRuntime;

/* Opens the file PATH.  False: *ERROR is a text to be freed. */
bool script_open_runtime(ScriptRuntime *runtime, const char *path, char **error);

/* Opens a shared library for the life of the process, so that its functions are found: of a file's
   name with a slash that file, else where the system looks.  False: *ERROR is a text to be freed.
 */
bool script_open_library(const char *path, char **error);

/* Puts the runtime's function NAME into *FUNCTION, a pointer to a function.  False: see *ERROR. */
bool script_runtime_function(const ScriptRuntime *runtime, const char *name, void *function,
                             char **error);

/* Runs the program's main with ARGV (argv[0] is its name for messages); the result is the exit
   status.  -1: the code has no main, or is not usable: *ERROR is a text to be freed. */
int script_run(const ScriptRuntime *runtime, const CodegenApi *api, CodegenCode *code, int argc,
               const char *const *argv, char **error);

typedef struct ScriptCounts {
    uint32_t passed, failed;
} ScriptCounts;

/* Runs the tests of MODULE whose names contain FILTER (NULL: all), with FOLDER as the working
   directory, and writes a line for each to OUT.  False: *ERROR is a text to be freed. */
bool script_test(const ScriptRuntime *runtime, const CodegenApi *api, CodegenCode *code,
                 const IrModule *module, const char *filter, const char *folder, FILE *out,
                 ScriptCounts *counts, char **error);

#endif
