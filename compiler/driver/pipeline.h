/* From source files to what the command asks for: every stage in order, on one screen. */
#ifndef ADL_DRIVER_PIPELINE_H
#define ADL_DRIVER_PIPELINE_H

#include "source/session.h"

/* Runs the command of the session's options on its inputs; the result is the exit status.
   Diagnostics are left in the session's diags. */
int pipeline_run(Session *session);

#endif
