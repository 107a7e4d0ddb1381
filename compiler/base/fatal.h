/* The two ways in which the compiler gives up on itself.  Neither is for errors in the user's
   program: those are diagnostics. */
#ifndef ADL_BASE_FATAL_H
#define ADL_BASE_FATAL_H

/* Ends the process with status 70 after a message that memory is exhausted. */
_Noreturn void fatal_memory(void);
/* Ends the process with status 70: the compiler is in a state that it should never reach. */
_Noreturn void fatal_internal(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A state that cannot be: UNREACHABLE("node kind %d", kind). */
#define UNREACHABLE(...) fatal_internal(__FILE__, __LINE__, __VA_ARGS__)
/* An assertion that release builds keep. */
#define CHECK_INTERNAL(cond)                                                                       \
    ((cond) ? (void)0 : fatal_internal(__FILE__, __LINE__, "assertion failed: %s", #cond))

#endif
