/* test_tables.c: numbers in text files. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support.h"

static AdlContext context;
static void *data;
static int64_t dims[2];
static const char *path;

static void setup(void) {
    adl__context_begin(&context);
    path = scratch("t.csv");
}

static void teardown(void) {
    adl__context_end(&context, context.error);
    unlink(path);
}

static int32_t load(const char *text, int32_t kind, int32_t rank) {
    write_file(path, text, strlen(text));
    dims[0] = dims[1] = -1;
    return adl__load_csv(&context, NULL, path, (int64_t)strlen(path), kind, rank, &data, dims);
}

static void fails(const char *text, int32_t kind, int32_t rank, const char *message) {
    char expected[1024];
    snprintf(expected, sizeof expected, "%s: %s", path, message);
    int32_t status = load(text, kind, rank);
    ck_assert_int_ne(status, 0);
    ck_failed(&context, status, expected);
    adl__context_begin(&context);
}

/* TEXT is a table of ROWS rows, with the numbers 1, 2, 3, …. */
static void counts(const char *text, int64_t rows, int64_t columns) {
    ck_assert_int_eq(load(text, ADL_KIND_F64, 2), 0);
    ck_assert_int_eq(dims[0], rows);
    ck_assert_int_eq(dims[1], columns);
    for (int64_t i = 0; i < rows * columns; i++)
        ck_assert_double_eq(((double *)data)[i], (double)i + 1);
}

START_TEST(tables_of_many_kinds) {
    counts("1,2\n3,4\n", 2, 2);
    counts("1,2\n3,4", 2, 2);
    counts("1;2\r\n3;4\r\n", 2, 2);
    counts("1\t2\n3\t4\n", 2, 2);
    counts("  1 2\n3   4  \n", 2, 2);
    counts("a,b\n1,2\n3,4\n", 2, 2);
    counts("\xef\xbb\xbf\"first, name\",b\n1,2\n3,4\n", 2, 2);
    counts("# made by hand\n\n1 , 2\n\n\"3\",\" 4 \"\n", 2, 2);
    counts("1\n2\n3\n", 3, 1);
    counts("1,2,3\n", 1, 3);
    counts("x\n1\n2\n", 2, 1);
    counts("1.0e0,+2,0x3p0\n", 1, 3);
    counts("", 0, 0);
    counts("only,a,header\n", 0, 0);
}
END_TEST

START_TEST(a_vector_is_a_column_or_a_row) {
    ck_assert_int_eq(load("1\n2\n3\n", ADL_KIND_F64, 1), 0);
    ck_assert_int_eq(dims[0], 3);
    ck_assert_int_eq(load("1,2,3,4\n", ADL_KIND_F64, 1), 0);
    ck_assert_int_eq(dims[0], 4);
    ck_assert_int_eq(load("", ADL_KIND_F64, 1), 0);
    ck_assert_int_eq(dims[0], 0);
    fails("1,2\n3,4\n5,6\n", ADL_KIND_F64, 1,
          "the array has 2 dimensions, [3, 2], but 1 is wanted");
    fails("1,2\n", ADL_KIND_F64, 3, "the array has 2 dimensions, [1, 2], but 3 are wanted");
}
END_TEST

START_TEST(mistakes_have_a_place) {
    fails("1,2\n3\n", ADL_KIND_F64, 2, "line 2, column 2: 1 column, but the lines before have 2");
    fails("a,b\n1,2\n3,4,5\n", ADL_KIND_F64, 2,
          "line 3, column 3: 3 columns, but the lines before have 2");
    fails("1,2\n3,x4\n", ADL_KIND_F64, 2, "line 2, column 2: \"x4\" is not a number");
    fails("1,x2\n3,4\n", ADL_KIND_F64, 2, "line 1, column 2: \"x2\" is not a number");
    fails("1,2\n\n3,\n", ADL_KIND_F64, 2, "line 3, column 2: a number is missing");
    fails("1,2\n3,4.5\n", ADL_KIND_I64, 2, "line 2, column 2: 4.5 is no value that i64 can hold");
    fails("1\n256\n", ADL_KIND_U8, 1, "line 2, column 1: 256 is no value that u8 can hold");
    fails("1\n2 3\n", ADL_KIND_F64, 1, "line 2, column 2: 2 columns, but the lines before have 1");
    fails("1\n1.2.3\n", ADL_KIND_F64, 1, "line 2, column 1: \"1.2.3\" is not a number");
    fails("1\n1e\n", ADL_KIND_F64, 1, "line 2, column 1: \"1e\" is not a number");
}
END_TEST

START_TEST(numbers_are_exact) {
    ck_assert_int_eq(load("9223372036854775807\n-9223372036854775808\n1e3\n", ADL_KIND_I64, 1), 0);
    ck_assert_int_eq(((int64_t *)data)[0], INT64_MAX);
    ck_assert_int_eq(((int64_t *)data)[1], INT64_MIN);
    ck_assert_int_eq(((int64_t *)data)[2], 1000);
    ck_assert_int_eq(load("18446744073709551615\n", ADL_KIND_U64, 1), 0);
    ck_assert_uint_eq(((uint64_t *)data)[0], UINT64_MAX);
    ck_assert_int_eq(load("true\n0\n", ADL_KIND_BOOL, 1), 0);
    ck_assert_mem_eq(data, "\1\0", 2);
    ck_assert_int_eq(load("inf\n-nan\n-0\n1e-400\n1e999\n", ADL_KIND_F64, 1), 0);
    ck_assert_double_eq(((double *)data)[0], INFINITY);
    ck_assert(isnan(((double *)data)[1]));
    ck_assert(signbit(((double *)data)[2]));
    ck_assert_double_eq(((double *)data)[4], INFINITY);
    ck_assert_int_eq(load("1.5-2i\n3i\n-1e-1-1e-1i\n4\n", ADL_KIND_C128, 1), 0);
    ck_assert_mem_eq(data, ((double[]){1.5, -2, 0, 3, -0.1, -0.1, 4, 0}), 64);
    char text[64];
    srand(3);
    for (int i = 0; i < 3000; i++) {
        int digits = 1 + rand() % 17;
        double value = (double)rand() / 1e5 + (double)rand() * 1e-12;
        snprintf(text, sizeof text, "%.*f\n", digits, value);
        ck_assert_int_eq(load(text, ADL_KIND_F64, 1), 0);
        ck_assert_double_eq(((double *)data)[0], strtod(text, NULL));
        adl__context_end(&context, 0);
        adl__context_begin(&context);
    }
}
END_TEST

START_TEST(long_tables_grow) {
    size_t len = 0;
    char *text = malloc(400000);
    for (int i = 0; i < 30000; i += 3)
        len += (size_t)sprintf(text + len, "%d,%d,%d\n", i + 1, i + 2, i + 3);
    counts(text, 10000, 3);
    free(text);
}
END_TEST

START_TEST(random_tables_do_no_harm) {
    static const char letters[] = "0123456789..,,;\t\"\"\n\n\r#+-eEixnaft \xef\xbb\xbf";
    srand(12);
    for (int round = 0; round < 6000; round++) {
        char text[64];
        size_t count = (size_t)rand() % sizeof text;
        for (size_t i = 0; i < count; i++) text[i] = letters[(size_t)rand() % (sizeof letters - 1)];
        write_file(path, text, count);
        int64_t len = (int64_t)strlen(path);
        int32_t kind = rand() % (ADL_KIND_C128 + 1);
        int32_t status =
            adl__load_csv(&context, NULL, path, len, kind, 1 + rand() % 2, &data, dims);
        ck_assert_int_eq(status, context.error);
        adl__context_end(&context, status);
        adl__context_begin(&context);
        status = adl__load_text(&context, NULL, path, len, rand() % 2, &data, dims);
        ck_assert_int_eq(status, context.error);
        adl__context_end(&context, status);
        adl__context_begin(&context);
    }
}
END_TEST

static int32_t load_text(const char *text, int words) {
    write_file(path, text, strlen(text));
    return adl__load_text(&context, NULL, path, (int64_t)strlen(path), words, &data, dims);
}

START_TEST(lists_of_numbers) {
    ck_assert_int_eq(load_text("1 2,3;4:5\n\n 6\t7e0", 0), 0);
    ck_assert_int_eq(dims[0], 7);
    for (int i = 0; i < 7; i++) ck_assert_double_eq(((double *)data)[i], i + 1);
    ck_assert_int_eq(load_text("", 0), 0);
    ck_assert_int_eq(dims[0], 0);
    ck_assert_int_eq(load_text("1 two 3", 1), 0);
    ck_assert_int_eq(dims[0], 3);
    ck_assert(isnan(((double *)data)[1]));
    char expected[512];
    snprintf(expected, sizeof expected, "%s: line 2, column 3: \"two\" is not a number", path);
    int32_t status = load_text("1\n2 two 3", 0);
    ck_failed(&context, status, expected);
    adl__context_begin(&context);
}
END_TEST

START_TEST(what_is_saved_comes_back) {
    static const char *const endings[] = {"a.csv", "a.tsv", "a.txt", "a.npy"};
    double x[] = {0.1, -2, INFINITY, 1e-300, 5, 1.0 / 3};
    for (int i = 0; i < 4; i++) {
        const char *file = scratch(endings[i]);
        int64_t len = (int64_t)strlen(file), shape[] = {2, 3};
        ck_assert_int_eq(adl__save(&context, NULL, file, len, ADL_KIND_F64, 2, shape, x), 0);
        ck_assert_int_eq(adl__load(&context, NULL, file, len, ADL_KIND_F64, 2, &data, dims), 0);
        ck_assert_int_eq(dims[0], 2);
        ck_assert_int_eq(dims[1], 3);
        ck_assert_mem_eq(data, x, sizeof x);
        unlink(file);
    }
    int64_t shape[] = {2};
    size_t count;
    ck_assert_int_eq(
        adl__save_csv(&context, NULL, path, (int64_t)strlen(path), ADL_KIND_F64, 1, shape, x), 0);
    char *file = read_file(path, &count);
    ck_assert_str_eq(file, "0.1\n-2.0\n");
    free(file);
    ck_assert_int_ne(adl__save(&context, NULL, S("a.xls"), ADL_KIND_F64, 1, shape, x), 0);
    ck_failed(&context, ADL_ERROR_IO, "a.xls: the name must end in .npy, .csv, .tsv or .txt");
    adl__context_begin(&context);
    int64_t cube[] = {1, 1, 1};
    ck_assert_int_ne(adl__save(&context, NULL, S("a.csv"), ADL_KIND_F64, 3, cube, x), 0);
    ck_failed(&context, ADL_ERROR_ARGUMENT,
              "a.csv: a table has at most 2 dimensions, the array has 3");
    adl__context_begin(&context);
}
END_TEST

TCase *tests_of_tables(void) {
    TCase *tests = tcase_create("tables");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, tables_of_many_kinds);
    tcase_add_test(tests, a_vector_is_a_column_or_a_row);
    tcase_add_test(tests, mistakes_have_a_place);
    tcase_add_test(tests, numbers_are_exact);
    tcase_add_test(tests, long_tables_grow);
    tcase_add_test(tests, random_tables_do_no_harm);
    tcase_add_test(tests, lists_of_numbers);
    tcase_add_test(tests, what_is_saved_comes_back);
    return tests;
}
