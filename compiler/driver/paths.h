/* Where the parts of the installation are.  Each is looked for on its own: under the directory that
   the environment variable ADL_HOME names (a prefix or a build tree), then relative to the
   executable (in the build tree, or as installed, which may have been moved as a whole), then
   where it was configured to be installed. */
#ifndef ADL_DRIVER_PATHS_H
#define ADL_DRIVER_PATHS_H

#include "base/arena.h"

/* NULL for what was not found. */
typedef struct Paths {
    const char *stdlib;  /* folder of prelude.adl */
    const char *backend; /* the file libdslc-llvm.so */
    const char *library; /* folder of libadl.so and libadl.a */
    const char *runtime; /* the file libadl.so */
    const char *include; /* folder of adl/adl.h */
    const char *cuda;    /* the CUDA Toolkit */
    const char *ptxas;   /* its assembler */
} Paths;

/* HOME is the value of ADL_HOME, or NULL; EXECUTABLE the path of the running program, or NULL. */
void paths_find(Paths *paths, Arena *arena, const char *home, const char *executable);
/* The same for this process. */
void paths_find_own(Paths *paths, Arena *arena);

#endif
