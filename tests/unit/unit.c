#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

static int is_wanted(const TTest *test, int argc, char **argv) {
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], test->name) == 0) return 1;
    return argc < 2;
}

int unit_main(const char *name, const TTest *const *tests, int count, int argc, char **argv) {
    Suite *suite = suite_create(name);
    for (int i = 0; i < count; i++) {
        if (!is_wanted(tests[i], argc, argv)) continue;
        TCase *tcase = tcase_create(tests[i]->name);
        tcase_set_timeout(tcase, 60);
        tcase_add_test(tcase, tests[i]);
        suite_add_tcase(suite, tcase);
    }
    SRunner *runner = srunner_create(suite);
    if (argc > 1) srunner_set_fork_status(runner, CK_NOFORK);
    srunner_set_tap(runner, "-");
    srunner_run_all(runner, CK_SILENT);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    /* The harness reads failures from the output, and takes a status for one more. */
    return argc > 1 && failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
