/* A unit test program is one file: Check test cases, and a list of them at its end.

     START_TEST(vec_grows) { ... }
     END_TEST

     UNIT_MAIN("base", vec_grows, vec_pops)

   It prints TAP.  Arguments are names of tests: only these run, without a fork, for a debugger. */
#ifndef ADL_TESTS_UNIT_H
#define ADL_TESTS_UNIT_H

#include <check.h>

int unit_main(const char *name, const TTest *const *tests, int count, int argc, char **argv);

#define UNIT_MAIN(name, ...)                                                                       \
    int main(int argc, char **argv) {                                                              \
        const TTest *const tests[] = {__VA_ARGS__};                                                \
        return unit_main(name, tests, (int)(sizeof tests / sizeof *tests), argc, argv);            \
    }

#endif
