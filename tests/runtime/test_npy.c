/* test_npy.c: .npy files, made byte by byte. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support.h"

static AdlContext context;
static const AdlSite site = {"m.adl", "main", 4, 1, 0, 0};
static void *data;
static int64_t dims[ADL_MAX_RANK];
static const char *path;

static void setup(void) {
    adl__context_begin(&context);
    path = scratch("a.npy");
}

static void teardown(void) {
    adl__context_end(&context, context.error);
    unlink(path);
}

/* A file of VERSION with DICTIONARY as its header and BYTES of data. */
static void make(int version, const char *dictionary, const void *bytes, size_t count) {
    unsigned char file[4096] = {0x93, 'N', 'U', 'M', 'P', 'Y', (unsigned char)version, 0};
    size_t len = strlen(dictionary), at = 8;
    file[at++] = (unsigned char)(len & 255);
    file[at++] = (unsigned char)(len >> 8);
    if (version > 1) at += 2;
    memcpy(file + at, dictionary, len);
    at += len;
    memcpy(file + at, bytes, count);
    write_file(path, file, at + count);
}

static int32_t load(int32_t kind, int32_t rank) {
    return adl__load_npy(&context, &site, path, (int64_t)strlen(path), kind, rank, &data, dims);
}

/* Loading fails with CODE and a message that ends in TEXT after "m.adl:4: PATH: ". */
static void fails(int32_t kind, int32_t rank, int32_t code, const char *text) {
    char expected[1024];
    snprintf(expected, sizeof expected, "m.adl:4: %s: %s", path, text);
    ck_assert_int_eq(load(kind, rank), code);
    ck_failed(&context, code, expected);
    adl__context_begin(&context);
}

START_TEST(a_matrix_of_doubles) {
    double x[] = {1, 2, 3, 4, 5, 6};
    for (int version = 1; version <= 3; version++) {
        make(version, "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }\n", x, sizeof x);
        ck_assert_int_eq(load(ADL_KIND_F64, 2), 0);
        ck_assert_int_eq(dims[0], 2);
        ck_assert_int_eq(dims[1], 3);
        ck_assert_mem_eq(data, x, sizeof x);
        ck_assert_uint_eq((uintptr_t)data % 64, 0);
    }
}
END_TEST

START_TEST(fortran_order_is_transposed) {
    float x[] = {1, 4, 2, 5, 3, 6};
    make(1, "{\"shape\":(2L,3L),\"fortran_order\":True,\"descr\":\"<f4\"}", x, sizeof x);
    ck_assert_int_eq(load(ADL_KIND_F64, 2), 0);
    for (int i = 0; i < 6; i++) ck_assert_double_eq(((double *)data)[i], i + 1);
    int16_t y[24];
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 4; k++) y[i + 2 * j + 6 * k] = (int16_t)(i * 12 + j * 4 + k);
    make(1, "{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3, 4)}", y, sizeof y);
    ck_assert_int_eq(load(ADL_KIND_I16, 3), 0);
    for (int i = 0; i < 24; i++) ck_assert_int_eq(((int16_t *)data)[i], i);
}
END_TEST

START_TEST(the_other_byte_order) {
    unsigned char f8[] = {0x3f, 0xf8, 0, 0, 0, 0, 0, 0};
    make(1, "{'descr': '>f8', 'fortran_order': False, 'shape': (1,)}", f8, sizeof f8);
    ck_assert_int_eq(load(ADL_KIND_F64, 1), 0);
    ck_assert_double_eq(*(double *)data, 1.5);
    unsigned char i4[] = {0xff, 0xff, 0xff, 0xfe, 0, 0, 1, 0};
    make(1, "{'descr': '>i4', 'fortran_order': False, 'shape': (2,)}", i4, sizeof i4);
    ck_assert_int_eq(load(ADL_KIND_I64, 1), 0);
    ck_assert_int_eq(((int64_t *)data)[0], -2);
    ck_assert_int_eq(((int64_t *)data)[1], 256);
    unsigned char c8[] = {0x3f, 0x80, 0, 0, 0x40, 0, 0, 0};
    make(1, "{'descr': '>c8', 'fortran_order': False, 'shape': (1,)}", c8, sizeof c8);
    ck_assert_int_eq(load(ADL_KIND_C128, 1), 0);
    ck_assert_double_eq(((double *)data)[0], 1);
    ck_assert_double_eq(((double *)data)[1], 2);
}
END_TEST

START_TEST(every_type_of_numbers) {
    static const struct {
        const char *descr;
        int32_t kind;
        unsigned char one[16];
        size_t bytes;
    } cases[] = {{"|b1", ADL_KIND_BOOL, {1}, 1},
                 {"?", ADL_KIND_BOOL, {1}, 1},
                 {"|i1", ADL_KIND_I8, {1}, 1},
                 {"|u1", ADL_KIND_U8, {1}, 1},
                 {"<i2", ADL_KIND_I16, {1, 0}, 2},
                 {"<u2", ADL_KIND_U16, {1, 0}, 2},
                 {"<i4", ADL_KIND_I32, {1, 0, 0, 0}, 4},
                 {"<u4", ADL_KIND_U32, {1, 0, 0, 0}, 4},
                 {"<i8", ADL_KIND_I64, {1}, 8},
                 {"=u8", ADL_KIND_U64, {1}, 8},
                 {"<f2", ADL_KIND_F16, {0, 0x3c}, 2},
                 {"<f4", ADL_KIND_F32, {0, 0, 0x80, 0x3f}, 4},
                 {"<f8", ADL_KIND_F64, {0, 0, 0, 0, 0, 0, 0xf0, 0x3f}, 8},
                 {"<c8", ADL_KIND_C64, {0, 0, 0x80, 0x3f}, 8},
                 {"<c16", ADL_KIND_C128, {0, 0, 0, 0, 0, 0, 0xf0, 0x3f}, 16}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char header[128];
        snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (1,)}",
                 cases[i].descr);
        make(1, header, cases[i].one, cases[i].bytes);
        ck_assert_int_eq(load(cases[i].kind, 1), 0);
        ck_assert_mem_eq(data, cases[i].one, cases[i].bytes);
        /* One fits everywhere. */
        for (int32_t kind = ADL_KIND_BOOL; kind <= ADL_KIND_C128; kind++) {
            ck_assert_int_eq(load(kind, 1), 0);
            AdlStr out;
            ck_assert_int_eq(adl__format_value(&context, S(".0f"), kind, data, &out), 0);
            ck_assert_int_eq(out.ptr[0], '1');
        }
    }
}
END_TEST

START_TEST(what_a_type_cannot_hold_is_an_error) {
    double x[] = {1, 2.5, 1e300};
    make(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (3,)}", x, sizeof x);
    fails(ADL_KIND_I64, 1, ADL_ERROR_FORMAT, "element [1] is 2.5, which i64 cannot hold");
    fails(ADL_KIND_F32, 1, ADL_ERROR_FORMAT, "element [2] is 1e+300, which f32 cannot hold");
    int64_t k[] = {1, 300, -1, INT64_C(9007199254740993)};
    make(1, "{'descr': '<i8', 'fortran_order': False, 'shape': (2, 2)}", k, sizeof k);
    fails(ADL_KIND_U8, 2, ADL_ERROR_FORMAT, "element [0, 1] is 300, which u8 cannot hold");
    fails(ADL_KIND_U64, 2, ADL_ERROR_FORMAT, "element [1, 0] is -1, which u64 cannot hold");
    fails(ADL_KIND_F64, 2, ADL_ERROR_FORMAT,
          "element [1, 1] is 9007199254740993, which f64 cannot hold");
    double z[] = {1, 2};
    make(1, "{'descr': '<c16', 'fortran_order': False, 'shape': (1,)}", z, sizeof z);
    fails(ADL_KIND_F64, 1, ADL_ERROR_FORMAT, "element [0] is 1.0+2.0i, which f64 cannot hold");
    double nan[] = {NAN};
    make(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (1,)}", nan, sizeof nan);
    fails(ADL_KIND_I32, 1, ADL_ERROR_FORMAT, "element [0] is nan, which i32 cannot hold");
    ck_assert_int_eq(load(ADL_KIND_F16, 1), 0);
    double edge[] = {-128, 127, 1};
    make(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (3,)}", edge, sizeof edge);
    ck_assert_int_eq(load(ADL_KIND_I8, 1), 0);
    ck_assert_mem_eq(data, ((int8_t[]){-128, 127, 1}), 3);
}
END_TEST

START_TEST(the_rank_must_be_right) {
    double x[6] = {0};
    make(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3)}", x, sizeof x);
    fails(ADL_KIND_F64, 1, ADL_ERROR_SIZE, "the array has 2 dimensions, [2, 3], but 1 is wanted");
    make(1, "{'descr': '<f8', 'fortran_order': False, 'shape': ()}", x, sizeof x);
    fails(ADL_KIND_F64, 2, ADL_ERROR_SIZE, "the array has 0 dimensions, [], but 2 are wanted");
    make(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (0, 3)}", x, 0);
    ck_assert_int_eq(load(ADL_KIND_F64, 2), 0);
    ck_assert_int_eq(dims[0], 0);
    ck_assert_int_eq(dims[1], 3);
}
END_TEST

START_TEST(damaged_files_are_errors) {
    static const struct {
        const char *header, *message;
    } cases[] = {
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (3,)}",
         "the data is cut off: 16 bytes of 24"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (4611686018427387904, 4)}",
         "the array has 2 dimensions, [4611686018427387904, 4], but 1 is wanted"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999,)}",
         "not a sound .npy header: a dimension is not a size"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}",
         "not a sound .npy header: a dimension is not a size"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (4611686018427387904,)}",
         "the data is cut off: 16 bytes of more than 9223372036854775807"},
        {"{'descr': '<f8', 'fortran_order': False}",
         "not a sound .npy header: descr, fortran_order or shape is missing"},
        {"{'descr': '<f8', 'fortran_order': Maybe, 'shape': (1,)}",
         "not a sound .npy header: fortran_order is neither True nor False"},
        {"{'descr': '<f8', 'x': 1}", "not a sound .npy header: an unknown key"},
        {"", "not a sound .npy header: no dictionary"},
        {"{'descr': '<f8'", "not a sound .npy header: no dictionary"},
        {"{'descr': '<f8", "the elements are records, not numbers"},
        {"{'descr': [('a', '<f8')], ", "the elements are records, not numbers"},
        {"{'descr': '<f16', ", "elements of type '<f16' are not supported"},
        {"{'descr': '|S5', ", "elements of type '|S5' are not supported"},
        {"{'descr': '', ", "elements of type '' are not supported"},
        {"{'descr': '<f8', 'shape': (1", "not a sound .npy header: the shape is not a tuple"},
        {"{'descr': '<f8', 'shape': [1]}", "not a sound .npy header: the shape is not a tuple"}};
    double x[] = {1, 2};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        make(1, cases[i].header, x, sizeof x);
        fails(ADL_KIND_F64, 1,
              strstr(cases[i].message, "wanted") ? ADL_ERROR_SIZE : ADL_ERROR_FORMAT,
              cases[i].message);
    }
    write_file(path, "PK\3\4 something", 14);
    fails(ADL_KIND_F64, 1, ADL_ERROR_FORMAT, "not an .npy file");
    write_file(path, "", 0);
    fails(ADL_KIND_F64, 1, ADL_ERROR_FORMAT, "not an .npy file");
    write_file(path, "\x93NUMPY\7\0\1\0{", 11);
    fails(ADL_KIND_F64, 1, ADL_ERROR_FORMAT, "version 7.0 of .npy is not supported");
    for (size_t cut = 6; cut < 30; cut++) {
        write_file(path, "\x93NUMPY\2\0\x20\0\0\0{'descr': '<f8'             ", cut);
        fails(ADL_KIND_F64, 1, ADL_ERROR_FORMAT, "the header is cut off");
    }
}
END_TEST

/* Random changes of a sound file: an array or an error, and nothing that a sanitizer minds. */
START_TEST(mutated_files_do_no_harm) {
    static const char sound[] = "\x93NUMPY\1\0\x3c\0"
                                "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }  \n"
                                "0123456789abcdefghijklmn";
    static const char letters[] = "0123456789'\"{}()[],:<>|=?biufcTFL \n\0\xff";
    srand(11);
    for (int round = 0; round < 4000; round++) {
        char file[sizeof sound];
        size_t count = sizeof sound - 1;
        memcpy(file, sound, sizeof sound);
        for (int changes = 1 + rand() % 4; changes > 0; changes--)
            file[(size_t)rand() % count] = letters[(size_t)rand() % sizeof letters];
        if (rand() % 8 == 0) count = (size_t)rand() % count;
        write_file(path, file, count);
        int32_t status = load(rand() % 2 ? ADL_KIND_F64 : ADL_KIND_I16, rand() % 3);
        ck_assert_int_eq(status, context.error);
        adl__context_end(&context, status);
        adl__context_begin(&context);
    }
}
END_TEST

START_TEST(missing_files_are_errors) {
    unlink(path);
    char expected[512];
    snprintf(expected, sizeof expected, "m.adl:4: cannot read %s: No such file or directory", path);
    ck_assert_int_eq(load(ADL_KIND_F64, 1), ADL_ERROR_IO);
    ck_failed(&context, ADL_ERROR_IO, expected);
    adl__context_begin(&context);
    ck_assert_int_eq(adl__load_npy(&context, &site, S("/"), ADL_KIND_F64, 1, &data, dims),
                     ADL_ERROR_IO);
    ck_failed(&context, ADL_ERROR_IO, "m.adl:4: cannot read /: Is a directory");
    adl__context_begin(&context);
    ck_assert_int_eq(adl__load_npy(&context, &site, S("a\0b"), ADL_KIND_F64, 1, &data, dims),
                     ADL_ERROR_IO);
    ck_failed(&context, ADL_ERROR_IO, "m.adl:4: the path of a file holds a zero byte");
    adl__context_begin(&context);
    ck_assert_int_eq(adl__load_npy(&context, &site, "", 0, ADL_KIND_F64, 1, &data, dims),
                     ADL_ERROR_IO);
    ck_failed(&context, ADL_ERROR_IO, "m.adl:4: the path of a file is empty");
    adl__context_begin(&context);
}
END_TEST

START_TEST(what_is_saved_comes_back) {
    int64_t shape[] = {2, 3};
    unsigned char bytes[96];
    for (int32_t kind = ADL_KIND_BOOL; kind <= ADL_KIND_C128; kind++) {
        memset(bytes, kind == ADL_KIND_BOOL ? 1 : 0x3c, sizeof bytes);
        ck_assert_int_eq(
            adl__save_npy(&context, &site, path, (int64_t)strlen(path), kind, 2, shape, bytes), 0);
        ck_assert_int_eq(load(kind, 2), 0);
        static const int sizes[] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8, 8, 16};
        ck_assert_mem_eq(data, bytes, (size_t)(6 * sizes[kind]));
    }
    double x[] = {1, 2, 3, 4, 5, 6};
    ck_assert_int_eq(
        adl__save_npy(&context, &site, path, (int64_t)strlen(path), ADL_KIND_F64, 1, shape, x), 0);
    size_t count;
    char *file = read_file(path, &count);
    ck_assert_uint_eq(count, 128 + 16);
    ck_assert_mem_eq(
        file, "\x93NUMPY\1\0\x76\0{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }  ", 69);
    ck_assert_int_eq(file[127], '\n');
    free(file);
}
END_TEST

START_TEST(a_failing_save_leaves_the_old_file) {
    write_file(path, "old", 3);
    int64_t negative[] = {-1};
    double x = 1;
    int32_t status =
        adl__save_npy(&context, &site, path, (int64_t)strlen(path), ADL_KIND_F64, 1, negative, &x);
    ck_assert_int_eq(status, ADL_ERROR_ARGUMENT);
    adl__context_end(&context, status);
    adl__context_begin(&context);
    size_t count;
    char *file = read_file(path, &count);
    ck_assert_str_eq(file, "old");
    free(file);
    ck_assert_int_eq(adl__save_npy(&context, &site, S("/nowhere/a.npy"), ADL_KIND_F64, 0, NULL, &x),
                     ADL_ERROR_IO);
    ck_failed(&context, ADL_ERROR_IO,
              "m.adl:4: cannot write /nowhere/a.npy: No such file or directory");
    adl__context_begin(&context);
    if (access("/dev/full", W_OK) == 0) {
        ck_assert_int_eq(adl__save_npy(&context, &site, S("/dev/full"), ADL_KIND_F64, 0, NULL, &x),
                         ADL_ERROR_IO);
        ck_failed(&context, ADL_ERROR_IO,
                  "m.adl:4: cannot write /dev/full: No space left on device");
        adl__context_begin(&context);
    }
}
END_TEST

START_TEST(links_and_modes_stay) {
    const char *link = scratch("link.npy");
    double x = 1;
    write_file(path, "old", 3);
    chmod(path, 0640);
    unlink(link);
    ck_assert_int_eq(symlink(path, link), 0);
    ck_assert_int_eq(
        adl__save_npy(&context, &site, link, (int64_t)strlen(link), ADL_KIND_F64, 0, NULL, &x), 0);
    struct stat info;
    ck_assert_int_eq(lstat(link, &info), 0);
    ck_assert(S_ISLNK(info.st_mode));
    ck_assert_int_eq(stat(path, &info), 0);
    ck_assert_int_eq(info.st_mode & 0777, 0640);
    ck_assert_int_eq(load(ADL_KIND_F64, 0), 0);
    ck_assert_double_eq(*(double *)data, 1);
    unlink(link);
}
END_TEST

START_TEST(loading_without_memory_is_an_error) {
    double x[] = {1, 2, 3, 4, 5, 6};
    make(1, "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3), }\n", x, sizeof x);
    for (int n = 1; n < 8; n++) {
        AdlContext inner;
        failing_install(n);
        adl__context_begin(&inner);
        int32_t status =
            adl__load_npy(&inner, &site, path, (int64_t)strlen(path), ADL_KIND_F32, 2, &data, dims);
        ck_assert(status == 0 || status == ADL_ERROR_MEMORY);
        adl__context_end(&inner, status);
        ck_assert_int_eq(failing_remove(), 0);
    }
}
END_TEST

TCase *tests_of_npy(void) {
    TCase *tests = tcase_create("npy");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, a_matrix_of_doubles);
    tcase_add_test(tests, fortran_order_is_transposed);
    tcase_add_test(tests, the_other_byte_order);
    tcase_add_test(tests, every_type_of_numbers);
    tcase_add_test(tests, what_a_type_cannot_hold_is_an_error);
    tcase_add_test(tests, the_rank_must_be_right);
    tcase_add_test(tests, damaged_files_are_errors);
    tcase_add_test(tests, mutated_files_do_no_harm);
    tcase_add_test(tests, missing_files_are_errors);
    tcase_add_test(tests, what_is_saved_comes_back);
    tcase_add_test(tests, a_failing_save_leaves_the_old_file);
    tcase_add_test(tests, links_and_modes_stay);
    tcase_add_test(tests, loading_without_memory_is_an_error);
    return tests;
}
