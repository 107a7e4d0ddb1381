/* main.c: runs the tests of the runtime and prints TAP. */
#include <stdlib.h>

#include "support.h"

int main(void) {
    Suite *suite = suite_create("runtime");
    suite_add_tcase(suite, tests_of_memory());
    suite_add_tcase(suite, tests_of_errors());
    suite_add_tcase(suite, tests_of_tapes());
    suite_add_tcase(suite, tests_of_texts());
    suite_add_tcase(suite, tests_of_sorting());
    suite_add_tcase(suite, tests_of_loops());
    suite_add_tcase(suite, tests_of_products());
    suite_add_tcase(suite, tests_of_functions());
    suite_add_tcase(suite, tests_of_npy());
    suite_add_tcase(suite, tests_of_tables());
    suite_add_tcase(suite, tests_of_programs());
    SRunner *runner = srunner_create(suite);
    srunner_set_tap(runner, "-");
    srunner_run_all(runner, CK_SILENT);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
