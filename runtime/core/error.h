/* error.h: errors inside the runtime; what generated code uses is in calls.def. */
#ifndef ADL_RUNTIME_CORE_ERROR_H
#define ADL_RUNTIME_CORE_ERROR_H

#include "core/calls.h"

/* Notes an error with a printf text, if it is the first of CONTEXT.  Returns CODE. */
int32_t error_note(AdlContext *context, int32_t code, const AdlSite *site, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* "out of memory: BYTES bytes". */
int32_t error_memory(AdlContext *context, const AdlSite *site, int64_t bytes);
/* Makes CONTEXT's error, with code STATUS, the thread's last error, and frees its message. */
void error_publish(AdlContext *context, int32_t status);
/* Makes a fixed text the thread's last error. */
void error_publish_text(const char *message);
/* The message of CONTEXT's error, never NULL. */
const char *error_message(const AdlContext *context, int32_t status);

#endif
