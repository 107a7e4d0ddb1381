/* The whole program but for `main`, so that tests can run it in-process, any number of times. */
#ifndef ADL_DRIVER_DRIVER_H
#define ADL_DRIVER_DRIVER_H

#include <stdio.h>

enum {
    STATUS_DONE = 0,
    STATUS_ERROR = 1, /* in the source, a failing test, a run-time error */
    STATUS_USAGE = 2, /* wrong usage, a file that cannot be read or written */
    STATUS_FAULT = 70 /* a fault of dslc itself */
};

/* Runs one command line; the result is the exit status. */
int driver_main(int argc, char *const *argv, FILE *out, FILE *err);

#endif
