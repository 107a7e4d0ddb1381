#include "base/fatal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { STATUS_INTERNAL = 70 };

void fatal_memory(void) {
    fputs("dslc: error: out of memory\n", stderr);
    fflush(NULL);
    _Exit(STATUS_INTERNAL);
}

void fatal_internal(const char *file, int line, const char *format, ...) {
    va_list args;
    fprintf(stderr, "dslc: error[E0099]: fault of the compiler at %s:%d: ", file, line);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    fflush(NULL);
    _Exit(STATUS_INTERNAL);
}
