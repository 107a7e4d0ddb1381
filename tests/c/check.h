/* What the C programs of this folder test with.  They print TAP. */
#ifndef ADL_TESTS_C_CHECK_H
#define ADL_TESTS_C_CHECK_H

#include <adl/adl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static int number, failed;
static bool good;

static inline void expect(bool holds, const char *what, int line)
{
    if (holds) return;
    printf("# line %d: %s (%s)\n", line, what, adl_last_error_message());
    good = false;
}

#define EXPECT(...) expect((__VA_ARGS__), #__VA_ARGS__, __LINE__)
#define FINE(call) EXPECT((call) == ADL_OK)
/* A refusal with a code, and a message that has SAID in it. */
#define REFUSED(code, said, call)                                                                  \
    EXPECT((call) == (code));                                                                      \
    EXPECT(strstr(adl_last_error_message(), (said)) != NULL)

static inline void run(const char *name, void (*test)(void))
{
    good = true;
    test();
    number++;
    failed += !good;
    printf("%s %d - %s\n", good ? "ok" : "not ok", number, name);
}

#endif
