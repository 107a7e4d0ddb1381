/* test_errors.c: error codes and messages. */
#include <string.h>

#include "support.h"

static const AdlSite site = {"model.adl", "nll", 12, 5, 0, 0};

START_TEST(the_message_names_the_line) {
    AdlContext context;
    adl__context_begin(&context);
    ck_assert_int_eq(adl__fail_index(&context, &site, 7, 5, -1, "x"), ADL_ERROR_INDEX);
    ck_failed(&context, ADL_ERROR_INDEX, "model.adl:12: index 7 is out of range 0..5 for x");
    adl__context_begin(&context);
    adl__fail_index(&context, &site, -1, 3, 1, "A");
    ck_failed(&context, ADL_ERROR_INDEX,
              "model.adl:12: index -1 is out of range 0..3 for A, dimension 1");
    adl__context_begin(&context);
    adl__fail_size(&context, &site, "n of X", 3, "n of y", 4);
    ck_failed(&context, ADL_ERROR_SIZE, "model.adl:12: n of X is 3, but n of y is 4");
}
END_TEST

START_TEST(a_template_takes_arguments) {
    AdlContext context;
    AdlArg args[] = {{ADL_ARG_F64, {.f = 0.1}, 0},    {ADL_ARG_STR, {.s = "abcdef"}, 3},
                     {ADL_ARG_U64, {.i = -1}, 0},     {ADL_ARG_BOOL, {.i = 1}, 0},
                     {ADL_ARG_STR, {.s = "{0}"}, -1}, {ADL_ARG_I64, {.i = -5}, 0}};
    adl__context_begin(&context);
    adl__fail(&context, ADL_ERROR_ASSERT, &site, "{1} {0} {2} {3} {4} {5} {6} {{x}} {", 6, args);
    ck_failed(&context, ADL_ERROR_ASSERT,
              "model.adl:12: abc 0.1 18446744073709551615 true {0} -5 {6} {x} {");
}
END_TEST

START_TEST(the_first_error_wins) {
    AdlContext context;
    adl__context_begin(&context);
    adl__fail_text(&context, ADL_ERROR_DOMAIN, &site, "division by zero");
    ck_assert_int_eq(adl__fail_text(&context, ADL_ERROR_IO, &site, "other"), ADL_ERROR_IO);
    ck_failed(&context, ADL_ERROR_DOMAIN, "model.adl:12: division by zero");
}
END_TEST

START_TEST(success_leaves_the_last_message) {
    AdlContext context;
    adl__context_begin(&context);
    adl__fail_text(&context, ADL_ERROR_DOMAIN, NULL, "first");
    adl__context_end(&context, ADL_ERROR_DOMAIN);
    adl__context_begin(&context);
    ck_assert_int_eq(adl__context_end(&context, 0), 0);
    ck_assert_str_eq(adl_last_error_message(), "first");
}
END_TEST

START_TEST(a_long_message_is_cut_between_characters) {
    static char longer[6001];
    for (int i = 0; i < 3000; i++) memcpy(longer + 2 * i, "\xc3\xa9", 2);
    AdlContext context;
    adl__context_begin(&context);
    adl__fail_text(&context, ADL_ERROR_ASSERT, NULL, longer);
    adl__context_end(&context, ADL_ERROR_ASSERT);
    ck_assert_uint_eq(strlen(adl_last_error_message()), 4094);
}
END_TEST

START_TEST(the_library_is_told_at_the_call) {
    static const AdlSite inside = {"prelude.adl", "max", 228, 5, 1, 0};
    static const AdlSite other = {"other.adl", "f", 1, 1, 0, 0};
    AdlContext context;
    adl__context_begin(&context);
    adl__fail_text(&context, ADL_ERROR_EMPTY, &inside, "max of nothing");
    ck_assert_int_eq(adl__fail_called(&context, ADL_ERROR_EMPTY, &site), ADL_ERROR_EMPTY);
    adl__fail_called(&context, ADL_ERROR_EMPTY, &other);
    ck_failed(&context, ADL_ERROR_EMPTY, "model.adl:12: max of nothing");
    /* What the library calls keeps its place. */
    adl__context_begin(&context);
    adl__fail_text(&context, ADL_ERROR_DOMAIN, &site, "division by zero");
    adl__fail_called(&context, ADL_ERROR_DOMAIN, &other);
    ck_failed(&context, ADL_ERROR_DOMAIN, "model.adl:12: division by zero");
    /* Nobody's call: the library's own place. */
    adl__context_begin(&context);
    adl__fail_index(&context, &inside, 7, 5, -1, "x");
    ck_failed(&context, ADL_ERROR_INDEX, "prelude.adl:228: index 7 is out of range 0..5 for x");
}
END_TEST

START_TEST(without_memory_the_code_speaks) {
    AdlContext context;
    failing_install(1);
    adl__context_begin(&context);
    adl__fail_index(&context, &site, 7, 5, -1, "x");
    ck_failed(&context, ADL_ERROR_INDEX, "index out of range");
    ck_assert_int_eq(failing_remove(), 0);
}
END_TEST

START_TEST(every_code_has_a_text) {
    for (int code = ADL_OK; code <= ADL_ERROR_DEVICE; code++)
        ck_assert_str_ne(adl_strerror(code), "unknown error");
    ck_assert_str_eq(adl_strerror(-1), "unknown error");
    ck_assert_str_eq(adl_strerror(999), "unknown error");
    ck_assert_str_eq(adl_version(), ADL_VERSION);
}
END_TEST

TCase *tests_of_errors(void) {
    TCase *tests = tcase_create("errors");
    tcase_add_test(tests, the_message_names_the_line);
    tcase_add_test(tests, a_template_takes_arguments);
    tcase_add_test(tests, the_first_error_wins);
    tcase_add_test(tests, success_leaves_the_last_message);
    tcase_add_test(tests, a_long_message_is_cut_between_characters);
    tcase_add_test(tests, the_library_is_told_at_the_call);
    tcase_add_test(tests, without_memory_the_code_speaks);
    tcase_add_test(tests, every_code_has_a_text);
    return tests;
}
