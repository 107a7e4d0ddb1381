/* test_memory.c: contexts and blocks. */
#include <stdlib.h>
#include <string.h>

#include "support.h"

START_TEST(blocks_are_aligned_and_counted) {
    AdlContext context;
    adl__context_begin(&context);
    char *data = adl__alloc(&context, 100);
    ck_assert_ptr_nonnull(data);
    ck_assert_uint_eq((uintptr_t)data % 64, 0);
    memset(data, 7, 100);
    ck_assert_int_eq(adl__unique(&context, data), 1);
    adl__retain(&context, data);
    ck_assert_int_eq(adl__unique(&context, data), 0);
    adl__release(&context, data);
    ck_assert_int_eq(adl__unique(&context, data), 1);
    adl__release(&context, data);
    ck_assert_ptr_null(context.live);
    ck_assert_int_eq(adl__context_end(&context, 0), 0);
}
END_TEST

START_TEST(an_empty_array_has_a_block) {
    AdlContext context;
    adl__context_begin(&context);
    void *a = adl__alloc(&context, 0), *b = adl__alloc(&context, 0);
    ck_assert_ptr_nonnull(a);
    ck_assert_ptr_ne(a, b);
    int64_t dims[] = {INT64_MAX, 0, INT64_MAX};
    void *c = adl__alloc_array(&context, 8, 3, dims);
    ck_assert_ptr_nonnull(c);
    adl__release(&context, NULL);
    adl__context_end(&context, 0);
}
END_TEST

START_TEST(released_memory_is_used_again) {
    AdlContext context;
    failing_install(0);
    adl__context_begin(&context);
    void *a = adl__alloc(&context, 1000000);
    adl__release(&context, a);
    void *b = adl__alloc(&context, 999000);
    ck_assert_ptr_eq(a, b);
    /* Every size class gives back what it took. */
    for (int64_t bytes = 0; bytes < 100000; bytes = bytes * 9 / 8 + 1)
        adl__release(&context, adl__alloc(&context, bytes));
    adl__context_end(&context, 0);
    ck_assert_int_eq(failing_remove(), 0);
}
END_TEST

START_TEST(the_end_frees_what_an_error_left) {
    AdlContext context;
    failing_install(0);
    adl__context_begin(&context);
    for (int i = 0; i < 10; i++) adl__retain(&context, adl__alloc(&context, i * 1000));
    adl__fail_text(&context, ADL_ERROR_ASSERT, NULL, "no");
    ck_failed(&context, ADL_ERROR_ASSERT, "no");
    ck_assert_int_eq(failing_remove(), 0);
}
END_TEST

START_TEST(sizes_are_checked) {
    AdlContext context;
    adl__context_begin(&context);
    int64_t negative[] = {3, -1};
    ck_assert_ptr_null(adl__alloc_array(&context, 8, 2, negative));
    ck_failed(&context, ADL_ERROR_SIZE, "dimension 1 of an array is negative: -1");
    adl__context_begin(&context);
    int64_t huge[] = {INT64_C(1) << 40, INT64_C(1) << 40};
    ck_assert_ptr_null(adl__alloc_array(&context, 8, 2, huge));
    ck_failed(&context, ADL_ERROR_MEMORY, "out of memory: an array with 2^63 bytes or more");
}
END_TEST

START_TEST(a_failing_allocation_is_an_error) {
    AdlContext context;
    failing_install(2);
    adl__context_begin(&context);
    ck_assert_ptr_nonnull(adl__alloc(&context, 8));
    ck_assert_ptr_null(adl__alloc(&context, 12345));
    ck_failed(&context, ADL_ERROR_MEMORY, "out of memory: 12345 bytes");
    ck_assert_int_eq(failing_remove(), 0);
    adl__context_begin(&context);
    ck_assert_ptr_null(adl__alloc(&context, INT64_MAX));
    ck_failed(&context, ADL_ERROR_MEMORY, "out of memory: 9223372036854775807 bytes");
}
END_TEST

START_TEST(borrowed_memory_is_not_counted) {
    AdlContext context;
    double *mine = malloc(3 * sizeof *mine); /* no header before it */
    mine[0] = 1, mine[1] = 2, mine[2] = 3;
    _Alignas(64) static struct {
        AdlBlock block;
        double data[2];
    } constant = {{.refs = ADL_REFS_STATIC}, {5, 6}};
    adl__context_begin(&context);
    const void *foreign[] = {mine};
    context.foreign = foreign;
    context.foreign_count = 1;
    adl__retain(&context, mine);
    adl__release(&context, mine);
    adl__release(&context, mine);
    ck_assert_int_eq(adl__unique(&context, mine), 0);
    double *own = adl__own(&context, mine, 3 * sizeof *mine);
    ck_assert_ptr_ne(own, mine);
    ck_assert_double_eq(own[2], 3);
    ck_assert_ptr_eq(adl__own(&context, own, 24), own);
    adl__retain(&context, constant.data);
    adl__release(&context, constant.data);
    ck_assert_int_eq(constant.block.refs, ADL_REFS_STATIC);
    ck_assert_int_eq(adl__unique(&context, constant.data), 0);
    adl__context_end(&context, 0);
    free(mine);
}
END_TEST

START_TEST(a_shared_array_is_copied_when_owned) {
    AdlContext context;
    adl__context_begin(&context);
    int64_t *a = adl__alloc(&context, 16);
    a[0] = 1, a[1] = 2;
    adl__retain(&context, a);
    int64_t *b = adl__own(&context, a, 16);
    ck_assert_ptr_ne(a, b);
    b[0] = 9;
    ck_assert_int_eq(a[0], 1);
    ck_assert_int_eq(b[1], 2);
    ck_assert_int_eq(adl__unique(&context, a), 1);
    adl__context_end(&context, 0);
}
END_TEST

START_TEST(overlap_is_reported) {
    AdlContext context;
    double x[10];
    adl__context_begin(&context);
    ck_assert_int_eq(adl__check_overlap(&context, NULL, x, 40, "x", x + 5, 40, "y"), 0);
    ck_assert_int_eq(adl__check_overlap(&context, NULL, x, 0, "x", x, 40, "y"), 0);
    ck_assert_int_ne(adl__check_overlap(&context, NULL, x, 48, "x", x + 5, 40, "y"), 0);
    ck_failed(&context, ADL_ERROR_ARGUMENT, "x and y overlap in memory");
}
END_TEST

START_TEST(an_allocator_needs_both_functions) {
    adl_allocator nothing = {0};
    ck_assert_int_eq(adl_set_allocator(&nothing), ADL_ERROR_ARGUMENT);
    ck_assert_int_eq(adl_set_allocator(NULL), ADL_OK);
}
END_TEST

TCase *tests_of_memory(void) {
    TCase *tests = tcase_create("memory");
    tcase_add_test(tests, blocks_are_aligned_and_counted);
    tcase_add_test(tests, an_empty_array_has_a_block);
    tcase_add_test(tests, released_memory_is_used_again);
    tcase_add_test(tests, the_end_frees_what_an_error_left);
    tcase_add_test(tests, sizes_are_checked);
    tcase_add_test(tests, a_failing_allocation_is_an_error);
    tcase_add_test(tests, borrowed_memory_is_not_counted);
    tcase_add_test(tests, a_shared_array_is_copied_when_owned);
    tcase_add_test(tests, overlap_is_reported);
    tcase_add_test(tests, an_allocator_needs_both_functions);
    return tests;
}
