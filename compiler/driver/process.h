/* Programs that the compiler calls. */
#ifndef ADL_DRIVER_PROCESS_H
#define ADL_DRIVER_PROCESS_H

#include <stdbool.h>

#include "source/session.h"

/* Runs WORDS (a program, looked for in PATH, and its arguments; NULL at the end is added) and
   waits. With -v the command is shown on standard error, with -### it is shown only.  True if it
   ended with status 0; else E0014 is reported. */
bool process_run(Session *session, TextList *words);

#endif
