/* test_texts.c: values and arrays as text. */
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

static AdlContext context;

static void setup(void) {
    adl__context_begin(&context);
}

static void teardown(void) {
    adl__context_end(&context, context.error);
}

/* The text of STR, zero-terminated. */
static const char *shown(int32_t status, const AdlStr *str) {
    static char buffer[8192];
    ck_assert_int_eq(status, 0);
    ck_assert_int_lt(str->len, 8192);
    memcpy(buffer, str->ptr, (size_t)str->len);
    buffer[str->len] = '\0';
    return buffer;
}

static const char *f64_text(const char *form, double value) {
    AdlStr out = {0};
    int32_t status = adl__format_f64(&context, form, (int64_t)strlen(form), value, &out);
    return shown(status, &out);
}

static const char *i64_text(const char *form, int64_t value) {
    AdlStr out = {0};
    int32_t status = adl__format_i64(&context, form, (int64_t)strlen(form), value, &out);
    return shown(status, &out);
}

static const char *array_text(const char *form, int32_t kind, int32_t rank, const int64_t *dims,
                              const void *data) {
    AdlStr out = {0};
    int32_t status =
        adl__format_array(&context, form, (int64_t)strlen(form), kind, rank, dims, data, &out);
    return shown(status, &out);
}

START_TEST(floats_are_as_short_as_they_can_be) {
    static const struct {
        double value;
        const char *text;
    } cases[] = {{0.1, "0.1"},
                 {2, "2.0"},
                 {-0.0, "-0.0"},
                 {0.1 + 0.2, "0.30000000000000004"},
                 {1e16, "1e+16"},
                 {1e15, "1000000000000000.0"},
                 {123456789012345680, "1.2345678901234568e+17"},
                 {0.0001, "0.0001"},
                 {0.00001234, "1.234e-05"},
                 {1e-300, "1e-300"},
                 {5e-324, "5e-324"},
                 {1.7976931348623157e308, "1.7976931348623157e+308"},
                 {INFINITY, "inf"},
                 {-INFINITY, "-inf"},
                 {NAN, "nan"},
                 {9.5, "9.5"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ck_assert_str_eq(f64_text("", cases[i].value), cases[i].text);
    AdlStr out;
    ck_assert_str_eq(shown(adl__format_f32(&context, S(""), 0.1f, &out), &out), "0.1");
    ck_assert_str_eq(shown(adl__format_f32(&context, S(""), 16777216.0f, &out), &out),
                     "16777216.0");
    srand(1);
    for (int i = 0; i < 20000; i++) {
        uint64_t bits = 0;
        for (int j = 0; j < 5; j++) bits = bits << 15 ^ (uint64_t)rand();
        double value;
        memcpy(&value, &bits, 8);
        if (!isnan(value)) ck_assert_double_eq(strtod(f64_text("", value), NULL), value);
        adl__context_end(&context, 0);
        adl__context_begin(&context);
    }
}
END_TEST

START_TEST(forms_are_those_of_printf) {
    ck_assert_str_eq(f64_text(".3f", 3.14159), "3.142");
    ck_assert_str_eq(f64_text("8.2e", 31415.9), "3.14e+04");
    ck_assert_str_eq(f64_text(".17g", 0.1), "0.10000000000000001");
    ck_assert_str_eq(f64_text("8", 0.5), "     0.5");
    ck_assert_str_eq(f64_text("-8", 0.5), "0.5     ");
    ck_assert_str_eq(f64_text("+", 0.5), "+0.5");
    ck_assert_str_eq(f64_text(".3", 2.0 / 3), "0.667");
    ck_assert_str_eq(i64_text("", INT64_MIN), "-9223372036854775808");
    ck_assert_str_eq(i64_text("5d", 42), "   42");
    ck_assert_str_eq(i64_text("-5d", 42), "42   ");
    ck_assert_str_eq(i64_text("05d", -42), "-0042");
    ck_assert_str_eq(i64_text("x", 255), "ff");
    ck_assert_str_eq(i64_text("#x", 255), "0xff");
    ck_assert_str_eq(i64_text("b", 5), "101");
    ck_assert_str_eq(i64_text("6", 42), "    42");
    ck_assert_str_eq(i64_text(".1f", 42), "42.0");
    AdlStr out;
    ck_assert_str_eq(shown(adl__format_u64(&context, S(""), -1, &out), &out),
                     "18446744073709551615");
    ck_assert_str_eq(shown(adl__format_bool(&context, S("6"), 1, &out), &out), "  true");
    ck_assert_str_eq(shown(adl__format_bool(&context, S("d"), 0, &out), &out), "0");
    ck_assert_str_eq(shown(adl__format_str(&context, S("-6s"), S("abc"), &out), &out), "abc   ");
    ck_assert_str_eq(shown(adl__format_str(&context, S(".2s"), S("abc"), &out), &out), "ab");
    ck_assert_str_eq(shown(adl__format_str(&context, S("4"), S("\xc3\xa9"), &out), &out),
                     "   \xc3\xa9");
    int8_t byte = -1;
    ck_assert_str_eq(shown(adl__format_value(&context, S("x"), ADL_KIND_I8, &byte, &out), &out),
                     "ff");
    double z[] = {1, -2.5};
    ck_assert_str_eq(shown(adl__format_value(&context, S(""), ADL_KIND_C128, z, &out), &out),
                     "1.0-2.5i");
    ck_assert_str_eq(shown(adl__format_value(&context, S(".2f"), ADL_KIND_C128, z, &out), &out),
                     "1.00-2.50i");
    uint16_t half = 0x3555;
    ck_assert_str_eq(shown(adl__format_value(&context, S(""), ADL_KIND_F16, &half, &out), &out),
                     "0.33325195");
}
END_TEST

START_TEST(a_wrong_form_is_an_error) {
    AdlStr out;
    ck_assert_int_ne(adl__format_f64(&context, S("d"), 1, &out), 0);
    ck_failed(&context, ADL_ERROR_ARGUMENT, "\"d\" is no form for a value of type f64");
    static const char *const wrong[] = {"n", "5.f.", "%d", "*d", "99999d", "ld", "5d ", "d5"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        adl__context_begin(&context);
        ck_assert_int_eq(adl__format_i64(&context, wrong[i], (int64_t)strlen(wrong[i]), 1, &out),
                         ADL_ERROR_ARGUMENT);
        adl__context_end(&context, 0);
    }
    adl__context_begin(&context);
}
END_TEST

START_TEST(the_locale_changes_nothing) {
    if (!setlocale(LC_ALL, "de_DE.UTF-8")) return;
    ck_assert_str_eq(f64_text("", 0.5), "0.5");
    ck_assert_str_eq(f64_text(".2f", 0.5), "0.50");
}
END_TEST

START_TEST(arrays_nest) {
    double x[] = {1, 2.5, -3, 4, 5, 600};
    int64_t dims[] = {6};
    ck_assert_str_eq(array_text("", ADL_KIND_F64, 1, dims, x), "[1.0, 2.5, -3.0, 4.0, 5.0, 600.0]");
    ck_assert_str_eq(array_text(".1e", ADL_KIND_F64, 1, (int64_t[]){2}, x), "[1.0e+00, 2.5e+00]");
    ck_assert_str_eq(array_text("", ADL_KIND_F64, 2, (int64_t[]){2, 3}, x),
                     "[[  1.0,   2.5,  -3.0],\n [  4.0,   5.0, 600.0]]");
    int32_t k[] = {1, 2, 3, 4, 5, 6, 7, 8};
    ck_assert_str_eq(array_text("", ADL_KIND_I32, 3, (int64_t[]){2, 2, 2}, k),
                     "[[[1, 2],\n  [3, 4]],\n\n [[5, 6],\n  [7, 8]]]");
    uint8_t b[] = {1, 0};
    ck_assert_str_eq(array_text("", ADL_KIND_BOOL, 1, (int64_t[]){2}, b), "[true, false]");
    ck_assert_str_eq(array_text("", ADL_KIND_F64, 1, (int64_t[]){0}, x), "[]");
    ck_assert_str_eq(array_text("", ADL_KIND_F64, 2, (int64_t[]){3, 0}, x), "[] (shape [3, 0])");
}
END_TEST

START_TEST(long_arrays_are_elided) {
    static int64_t k[2000];
    for (int i = 0; i < 2000; i++) k[i] = i;
    ck_assert_str_eq(array_text("", ADL_KIND_I64, 1, (int64_t[]){2000}, k),
                     "[0, 1, 2, ..., 1997, 1998, 1999] (shape [2000])");
    ck_assert_str_eq(array_text("", ADL_KIND_I64, 2, (int64_t[]){500, 4}, k),
                     "[[   0,    1,    2,    3],\n"
                     " [   4,    5,    6,    7],\n"
                     " [   8,    9,   10,   11],\n"
                     " ...,\n"
                     " [1988, 1989, 1990, 1991],\n"
                     " [1992, 1993, 1994, 1995],\n"
                     " [1996, 1997, 1998, 1999]] (shape [500, 4])");
    const char *whole = array_text("", ADL_KIND_I64, 1, (int64_t[]){1000}, k);
    ck_assert_ptr_null(strstr(whole, "..."));
}
END_TEST

START_TEST(strings_may_hold_zero_bytes) {
    AdlStr out;
    ck_assert_int_eq(adl__str_concat(&context, S("a\0b"), S("\0c"), &out), 0);
    ck_assert_int_eq(out.len, 5);
    ck_assert_mem_eq(out.ptr, "a\0b\0c", 5);
    ck_assert_int_eq(adl__str_equal(out.ptr, 5, S("a\0b\0c")), 1);
    ck_assert_int_eq(adl__str_equal(out.ptr, 5, S("a\0b\0d")), 0);
    ck_assert_int_eq(adl__str_equal(NULL, 0, S("")), 1);
    ck_assert_int_eq(adl__str_concat(&context, NULL, 0, NULL, 0, &out), 0);
    ck_assert_int_eq(out.len, 0);
}
END_TEST

START_TEST(formatting_without_memory_is_an_error) {
    double x[] = {1, 2, 3, 4};
    for (int n = 1; n < 12; n++) {
        AdlStr out;
        failing_install(n);
        AdlContext inner;
        adl__context_begin(&inner);
        int32_t status =
            adl__format_array(&inner, S(""), ADL_KIND_F64, 2, (int64_t[]){2, 2}, x, &out);
        ck_assert(status == 0 || status == ADL_ERROR_MEMORY);
        ck_assert_int_eq(inner.error, status);
        adl__context_end(&inner, status);
        ck_assert_int_eq(failing_remove(), 0);
    }
}
END_TEST

TCase *tests_of_texts(void) {
    TCase *tests = tcase_create("texts");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, floats_are_as_short_as_they_can_be);
    tcase_add_test(tests, forms_are_those_of_printf);
    tcase_add_test(tests, a_wrong_form_is_an_error);
    tcase_add_test(tests, the_locale_changes_nothing);
    tcase_add_test(tests, arrays_nest);
    tcase_add_test(tests, long_arrays_are_elided);
    tcase_add_test(tests, strings_may_hold_zero_bytes);
    tcase_add_test(tests, formatting_without_memory_is_an_error);
    return tests;
}
