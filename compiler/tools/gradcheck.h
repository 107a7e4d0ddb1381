/* `dslc gradcheck`: derivatives against finite differences and against each other. */
#ifndef ADL_TOOLS_GRADCHECK_H
#define ADL_TOOLS_GRADCHECK_H

#include "tools/script.h"
#include "types/check.h"

typedef struct GradcheckCounts {
    uint32_t passed, failed, skipped;
} GradcheckCounts;

/* Compares what the CHECK roots of PROGRAM ask for, in CODE, which was made of MODULE with entries;
   ARGV gives inputs as it does to a program.  Writes a line for each to OUT.  The result is 0; 2 if
   the command line is wrong; -1 if the code is not usable: *ERROR is a text to be freed. */
int gradcheck_run(const ScriptRuntime *runtime, const CodegenApi *api, CodegenCode *code,
                  const Program *program, const IrModule *module, unsigned seed, int argc,
                  const char *const *argv, FILE *out, GradcheckCounts *counts, char **error);

#endif
