/* The containers, numbers and files of compiler/base. */
#include "tests/unit/unit.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/bitset.h"
#include "base/file.h"
#include "base/intern.h"
#include "base/map.h"
#include "base/num.h"
#include "base/strbuf.h"
#include "base/vec.h"

START_TEST(arena_gives_zeroed_aligned_memory) {
    Arena *arena = arena_new();
    for (size_t size = 0; size < 100000; size = size * 3 + 1) {
        unsigned char *at = arena_alloc(arena, size);
        ck_assert_ptr_nonnull(at);
        ck_assert_uint_eq((uintptr_t)at % 16, 0);
        for (size_t i = 0; i < size; i++) ck_assert_uint_eq(at[i], 0);
        memset(at, 0xFF, size);
    }
    ck_assert_uint_ge(arena_bytes(arena), 88573);
    arena_free(arena);
}
END_TEST

START_TEST(arena_blocks_do_not_overlap) {
    Arena *arena = arena_new();
    uint32_t *blocks[2000];
    for (uint32_t i = 0; i < 2000; i++) {
        size_t n = i % 50 == 0 ? 5000 : i % 17 + 1;
        blocks[i] = ARENA_ARRAY(arena, uint32_t, n);
        blocks[i][0] = blocks[i][n - 1] = i;
    }
    for (uint32_t i = 0; i < 2000; i++) ck_assert_uint_eq(blocks[i][0], i);
    arena_free(arena);
    arena_free(NULL);
}
END_TEST

START_TEST(arena_texts) {
    Arena *arena = arena_new();
    ck_assert_str_eq(arena_strndup(arena, "abcdef", 3), "abc");
    ck_assert_mem_eq(arena_strndup(arena, "a\0b", 3), "a\0b", 4);
    ck_assert_str_eq(arena_strndup(arena, NULL, 0), "");
    ck_assert_str_eq(arena_printf(arena, "%d-%s", 7, "x"), "7-x");
    ck_assert_uint_eq(strlen(arena_printf(arena, "%50000s", "x")), 50000);
    arena_free(arena);
}
END_TEST

START_TEST(vec_grows_and_shrinks) {
    VEC(int) v = {0};
    for (int i = 0; i < 1000; i++) vec_push(&v, i * i);
    ck_assert_uint_eq(v.len, 1000);
    for (int i = 0; i < 1000; i++) ck_assert_int_eq(v.at[i], i * i);
    ck_assert_int_eq(vec_last(&v), 999 * 999);
    ck_assert_int_eq(vec_pop(&v), 999 * 999);
    ck_assert_uint_eq(v.len, 999);
    vec_free(&v);
    ck_assert_ptr_null(v.at);
    ck_assert_uint_eq(v.len + v.cap, 0);
}
END_TEST

START_TEST(map_finds_what_was_set) {
    Map map = {0};
    static int values[5000];
    ck_assert_ptr_null(map_get(&map, 0));
    ck_assert(!map_has(&map, 0));
    for (uint32_t i = 0; i < 5000; i++) map_set(&map, (uint64_t)i << 32, &values[i]);
    ck_assert_uint_eq(map.len, 5000);
    for (uint32_t i = 0; i < 5000; i++) {
        ck_assert_ptr_eq(map_get(&map, (uint64_t)i << 32), &values[i]);
        ck_assert_uint_eq(map.keys[i], (uint64_t)i << 32); /* in order of insertion */
        ck_assert(!map_has(&map, i + 1));
    }
    map_free(&map);
}
END_TEST

START_TEST(map_replaces_and_clears) {
    Map map = {0};
    int a, b;
    map_setp(&map, &a, &b);
    map_setp(&map, &a, &a);
    map_setp(&map, &b, NULL);
    ck_assert_uint_eq(map.len, 2);
    ck_assert_ptr_eq(map_getp(&map, &a), &a);
    ck_assert_ptr_null(map_getp(&map, &b));
    ck_assert(map_hasp(&map, &b)); /* present, with the value NULL */
    map_clear(&map);
    ck_assert(!map_hasp(&map, &a));
    map_setp(&map, &a, &b);
    ck_assert_uint_eq(map.len, 1);
    map_free(&map);
}
END_TEST

START_TEST(hash_depends_on_every_byte) {
    char text[20] = "nineteen characters";
    uint64_t before = hash_bytes(text, 19);
    ck_assert_uint_eq(hash_bytes(text, 19), before);
    for (int i = 0; i < 19; i++) {
        text[i]++;
        ck_assert_uint_ne(hash_bytes(text, 19), before);
        text[i]--;
    }
    ck_assert_uint_ne(hash_bytes("\0", 1), hash_bytes("\0\0", 2));
    ck_assert_uint_ne(hash_mix(hash_mix(0, 1), 2), hash_mix(hash_mix(0, 2), 1));
}
END_TEST

START_TEST(intern_gives_one_pointer_for_one_text) {
    Interner *interner = interner_new();
    Sym syms[3000];
    char text[20];
    for (int i = 0; i < 3000; i++) {
        snprintf(text, sizeof text, "name%d", i);
        syms[i] = intern(interner, text);
        ck_assert_str_eq(syms[i]->text, text);
        ck_assert_uint_eq(syms[i]->len, strlen(text));
    }
    for (int i = 0; i < 3000; i++) {
        snprintf(text, sizeof text, "name%dxyz", i);
        ck_assert_ptr_eq(intern_n(interner, text, strlen(text) - 3), syms[i]);
    }
    ck_assert_ptr_ne(intern_n(interner, "a\0b", 3), intern_n(interner, "a\0c", 3));
    ck_assert_ptr_ne(intern(interner, ""), intern(interner, "a"));
    interner_free(interner);
    interner_free(NULL);
}
END_TEST

START_TEST(bitset_grows) {
    Bitset set = {0};
    ck_assert(!bitset_has(&set, 1000));
    bitset_remove(&set, 1000);
    ck_assert(bitset_add(&set, 1000));
    ck_assert(!bitset_add(&set, 1000));
    ck_assert(bitset_add(&set, 0));
    ck_assert(bitset_add(&set, 63));
    ck_assert(bitset_add(&set, 64));
    ck_assert_uint_eq(bitset_count(&set), 4);
    bitset_remove(&set, 63);
    ck_assert(!bitset_has(&set, 63));
    ck_assert(bitset_has(&set, 64));
    ck_assert(!bitset_has(&set, UINT32_MAX));
    bitset_clear(&set);
    ck_assert_uint_eq(bitset_count(&set), 0);
    bitset_free(&set);
    bitset_clear(&set);
}
END_TEST

START_TEST(bitset_union_says_what_is_new) {
    Bitset a = {0}, b = {0};
    ck_assert(!bitset_union(&a, &b));
    bitset_add(&b, 200);
    bitset_add(&a, 3);
    ck_assert(bitset_union(&a, &b));
    ck_assert(!bitset_union(&a, &b));
    ck_assert(bitset_has(&a, 200) && bitset_has(&a, 3));
    ck_assert(!bitset_has(&b, 3));
    bitset_free(&a);
    bitset_free(&b);
}
END_TEST

START_TEST(strbuf_collects) {
    StrBuf buf = {0};
    strbuf_add(&buf, "");
    ck_assert_str_eq(buf.text, "");
    for (int i = 0; i < 500; i++) strbuf_char(&buf, (char)('a' + i % 26));
    ck_assert_uint_eq(buf.len, 500);
    strbuf_clear(&buf);
    strbuf_printf(&buf, "%s=%d", "x", 42);
    strbuf_printf(&buf, "%300s", "y");
    ck_assert_uint_eq(buf.len, 304);
    ck_assert_mem_eq(buf.text, "x=42 ", 5);
    strbuf_clear(&buf);
    strbuf_add_n(&buf, "a\0b", 3);
    ck_assert_uint_eq(buf.len, 3);
    strbuf_free(&buf);
    ck_assert_ptr_null(buf.text);
}
END_TEST

static const char *double_text(StrBuf *buf, double x) {
    strbuf_clear(buf);
    strbuf_double(buf, x);
    return buf->text;
}

START_TEST(strbuf_double_reads_back) {
    StrBuf buf = {0};
    ck_assert_str_eq(double_text(&buf, 1), "1.0");
    ck_assert_str_eq(double_text(&buf, -0.0), "-0.0");
    ck_assert_str_eq(double_text(&buf, 0.1), "0.1");
    ck_assert_str_eq(double_text(&buf, 1e100), "1e+100");
    ck_assert_str_eq(double_text(&buf, 123456789012.0), "123456789012.0");
    ck_assert_str_eq(double_text(&buf, INFINITY), "inf");
    ck_assert_str_eq(double_text(&buf, -INFINITY), "-inf");
    ck_assert_str_eq(double_text(&buf, NAN), "nan");
    const double hard[] = {1.0 / 3, 5e-324, 1.7976931348623157e308, 0.1 + 0.2,
                           2.2250738585072014e-308};
    for (int i = 0; i < 5; i++)
        ck_assert_double_eq(strtod(double_text(&buf, hard[i]), NULL), hard[i]);
    strbuf_free(&buf);
}
END_TEST

START_TEST(strbuf_json_escapes) {
    StrBuf buf = {0};
    strbuf_json(&buf, "a\"\\\n\t\r\x01\x7f\0z\xC3\xA9", 12);
    ck_assert_str_eq(buf.text, "\"a\\\"\\\\\\n\\t\\r\\u0001\\u007f\\u0000z\xC3\xA9\"");
    strbuf_free(&buf);
}
END_TEST

START_TEST(size_arithmetic_is_checked) {
    size_t r = 0;
    ck_assert(size_mul(3, 4, &r) && r == 12);
    ck_assert(size_mul(0, SIZE_MAX, &r) && r == 0);
    ck_assert(!size_mul(SIZE_MAX / 2 + 1, 2, &r));
    ck_assert(size_add(SIZE_MAX - 1, 1, &r) && r == SIZE_MAX);
    ck_assert(!size_add(SIZE_MAX, 1, &r));
}
END_TEST

static bool u64(const char *text, uint64_t *value) {
    return num_parse_u64(text, strlen(text), value);
}

START_TEST(num_integers) {
    uint64_t v = 0;
    ck_assert(u64("0", &v) && v == 0);
    ck_assert(u64("1_000", &v) && v == 1000);
    ck_assert(u64("0xff", &v) && v == 255);
    ck_assert(u64("0xFFFF_FFFF_FFFF_FFFF", &v) && v == UINT64_MAX);
    ck_assert(u64("18446744073709551615", &v) && v == UINT64_MAX);
    ck_assert(!u64("18446744073709551616", &v));
    ck_assert(!u64("0x1_0000_0000_0000_0000", &v));
    ck_assert(!u64("", &v));
    ck_assert(!u64("_", &v));
    ck_assert(!u64("12a", &v));
    ck_assert(!u64("0x", &v));
    ck_assert(!u64("-1", &v));
    ck_assert(num_parse_u64("123", 2, &v) && v == 12);
}
END_TEST

static bool f64(const char *text, double *value) {
    return num_parse_double(text, strlen(text), value);
}

START_TEST(num_floats) {
    double v = 0;
    float f = 0;
    ck_assert(f64("1.5", &v) && v == 1.5);
    ck_assert(f64("1_0.2_5e-1_0", &v) && v == 10.25e-10);
    ck_assert(f64("0x1p-3", &v) && v == 0.125);
    ck_assert(f64("0x1.8p+1", &v) && v == 3.0);
    ck_assert(f64("1e400", &v) && isinf(v));
    ck_assert(!f64("inf", &v));
    ck_assert(!f64("nan", &v));
    ck_assert(!f64(" 1", &v));
    ck_assert(!f64("1.5x", &v));
    ck_assert(!f64("1e", &v));
    ck_assert(!f64("", &v));
    ck_assert(!f64("1,5", &v));
    /* Rounded once: through a double this would become 1 + 2^-23 by a second rounding. */
    ck_assert(num_parse_float("1.00000005960464477540", 22, &f) && f == 1.0f + 0x1p-23f);
    ck_assert(num_parse_float("0.1", 3, &f) && f == 0.1f);
    char digits[300];
    memset(digits, '3', sizeof digits);
    digits[1] = '.';
    ck_assert(num_parse_double(digits, sizeof digits, &v) && v == 10.0 / 3);
}
END_TEST

START_TEST(utf8_validity) {
    const char *good[] = {"",
                          "abc",
                          "\xC3\xA9",
                          "\xE2\x82\xAC",
                          "\xF0\x9F\x98\x80",
                          "\xED\x9F\xBF",
                          "\xEE\x80\x80",
                          "\xF4\x8F\xBF\xBF"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        ck_assert_uint_eq(utf8_check(good[i], strlen(good[i])), strlen(good[i]));
    /* Overlong, lone continuation, surrogate, beyond the end, cut off. */
    const char *bad[] = {"a\xC0\x80",     "a\x80",
                         "a\xED\xA0\x80", "a\xF4\x90\x80\x80",
                         "a\xE2\x82",     "a\xFF",
                         "a\xE0\x80\x80", "a\xF0\x80\x80\x80",
                         "a\xC3(",        "a\xF5\x80\x80\x80"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_uint_eq(utf8_check(bad[i], strlen(bad[i])), 1);
    ck_assert_uint_eq(utf8_check("a\0b", 3), 3);
    ck_assert_uint_eq(utf8_count("a\xE2\x82\xAC\xC3\xA9z", 7), 4);
}
END_TEST

/* ---- files, in a folder of their own ---- */

static char folder[] = "/tmp/adl-unit-XXXXXX";
static char path[200], other[200];

static void enter_folder(void) {
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/file", folder);
    snprintf(other, sizeof other, "%s/other", folder);
}

static void leave_folder(void) {
    unlink(path);
    unlink(other);
    ck_assert_int_eq(rmdir(folder), 0); /* no temporary is left */
}

START_TEST(file_written_is_read_back) {
    FileError error;
    char *text, big[100000];
    size_t len;
    enter_folder();
    memset(big, 'x', sizeof big);
    ck_assert(file_write_atomic(path, big, sizeof big, 0666, &error));
    ck_assert(file_read_all(path, &text, &len, &error));
    ck_assert_uint_eq(len, sizeof big);
    ck_assert_mem_eq(text, big, len);
    ck_assert_int_eq(text[len], 0);
    free(text);
    ck_assert(file_write_atomic(path, "", 0, 0666, &error));
    ck_assert(file_read_all(path, &text, &len, &error));
    ck_assert_uint_eq(len, 0);
    free(text);
    leave_folder();
}
END_TEST

START_TEST(file_keeps_permissions_and_links) {
    FileError error;
    struct stat info;
    enter_folder();
    ck_assert(file_write_atomic(path, "a", 1, 0666, &error));
    ck_assert_int_eq(chmod(path, 0600), 0);
    ck_assert_int_eq(symlink("file", other), 0);
    ck_assert(file_write_atomic(other, "bc", 2, 0666, &error));
    ck_assert_int_eq(lstat(other, &info), 0);
    ck_assert(S_ISLNK(info.st_mode));
    ck_assert_int_eq(stat(path, &info), 0);
    ck_assert_int_eq(info.st_size, 2);
    ck_assert_int_eq(info.st_mode & 0777, 0600);
    leave_folder();
}
END_TEST

START_TEST(file_errors) {
    FileError error;
    char *text;
    size_t len;
    enter_folder();
    ck_assert(!file_read_all(path, &text, &len, &error));
    ck_assert_int_eq(error.kind, FILE_UNREADABLE);
    ck_assert_str_eq(file_error_text(&error), "No such file or directory");
    ck_assert(!file_read_all(folder, &text, &len, &error));
    ck_assert_int_eq(error.kind, FILE_IS_DIRECTORY);
    ck_assert(!file_write_atomic(folder, "a", 1, 0666, &error));
    ck_assert_int_eq(error.kind, FILE_IS_DIRECTORY);
    ck_assert(!file_write_atomic("/nonexistent/dir/file", "a", 1, 0666, &error));
    ck_assert_int_eq(error.kind, FILE_UNWRITABLE);
    ck_assert(file_write_atomic("/dev/null", "a", 1, 0666, &error));
    /* Sparse, so that it takes no room. */
    ck_assert(file_write_atomic(path, "a", 1, 0666, &error));
    ck_assert_int_eq(truncate(path, ((off_t)1 << 31) + 1), 0);
    ck_assert(!file_read_all(path, &text, &len, &error));
    ck_assert_int_eq(error.kind, FILE_TOO_LARGE);
    leave_folder();
}
END_TEST

START_TEST(path_base_is_behind_the_last_slash) {
    ck_assert_str_eq(path_base("a/b/c.adl"), "c.adl");
    ck_assert_str_eq(path_base("c.adl"), "c.adl");
    ck_assert_str_eq(path_base("a/"), "");
}
END_TEST

UNIT_MAIN("base", arena_gives_zeroed_aligned_memory, arena_blocks_do_not_overlap, arena_texts,
          vec_grows_and_shrinks, map_finds_what_was_set, map_replaces_and_clears,
          hash_depends_on_every_byte, intern_gives_one_pointer_for_one_text, bitset_grows,
          bitset_union_says_what_is_new, strbuf_collects, strbuf_double_reads_back,
          strbuf_json_escapes, size_arithmetic_is_checked, num_integers, num_floats, utf8_validity,
          file_written_is_read_back, file_keeps_permissions_and_links, file_errors,
          path_base_is_behind_the_last_slash)
