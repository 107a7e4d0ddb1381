/* test_loops.c: sorting, parallel loops, products. */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

/* -- sorting -- */

START_TEST(nan_comes_last_and_equals_keep_their_order) {
    AdlContext context;
    double x[] = {NAN, 2, -0.0, 0, -INFINITY, 2, INFINITY, -1, NAN};
    int64_t expected[] = {4, 7, 2, 3, 1, 5, 6, 0, 8}, out[9];
    adl__context_begin(&context);
    ck_assert_int_eq(adl__argsort(&context, ADL_KIND_F64, 9, x, out), 0);
    ck_assert_mem_eq(out, expected, sizeof out);
    float y[] = {3, 1, 2};
    ck_assert_int_eq(adl__argsort(&context, ADL_KIND_F32, 3, y, out), 0);
    ck_assert_mem_eq(out, ((int64_t[]){1, 2, 0}), 24);
    int8_t k[] = {3, -1, 2};
    ck_assert_int_eq(adl__argsort(&context, ADL_KIND_I8, 3, k, out), 0);
    ck_assert_mem_eq(out, ((int64_t[]){1, 2, 0}), 24);
    uint64_t u[] = {UINT64_MAX, 1, 0};
    ck_assert_int_eq(adl__argsort(&context, ADL_KIND_U64, 3, u, out), 0);
    ck_assert_mem_eq(out, ((int64_t[]){2, 1, 0}), 24);
    ck_assert_int_eq(adl__argsort(&context, ADL_KIND_F64, 0, x, out), 0);
    ck_assert_ptr_null(context.live);
    ck_assert_int_ne(adl__argsort(&context, ADL_KIND_C64, 0, x, out), 0);
    ck_failed(&context, ADL_ERROR_ARGUMENT, "values of type c64 have no order");
}
END_TEST

START_TEST(every_length_is_sorted) {
    AdlContext context;
    adl__context_begin(&context);
    static double x[5000];
    static int64_t out[5000];
    srand(7);
    for (int64_t n = 1; n < 5000; n = n * 5 / 4 + 1) {
        for (int64_t i = 0; i < n; i++) x[i] = rand() % 100 - 50;
        ck_assert_int_eq(adl__argsort(&context, ADL_KIND_F64, n, x, out), 0);
        for (int64_t i = 1; i < n; i++)
            ck_assert(x[out[i - 1]] < x[out[i]] ||
                      (x[out[i - 1]] == x[out[i]] && out[i - 1] < out[i]));
    }
    adl__context_end(&context, 0);
}
END_TEST

TCase *tests_of_sorting(void) {
    TCase *tests = tcase_create("sorting");
    tcase_add_test(tests, nan_comes_last_and_equals_keep_their_order);
    tcase_add_test(tests, every_length_is_sorted);
    return tests;
}

/* -- parallel loops -- */

typedef struct Marks {
    int64_t begin, end, grain;
    int32_t *seen;
    int64_t fail_at;
} Marks;

static int32_t mark_body(AdlContext *context, void *env, int64_t begin, int64_t end) {
    Marks *marks = env;
    if ((begin - marks->begin) % marks->grain != 0 ||
        (end != marks->end && end - begin != marks->grain))
        return adl__fail_text(context, ADL_ERROR_ASSERT, NULL, "uneven piece");
    for (int64_t i = begin; i < end; i++) {
        void *data = adl__alloc(context, 100 + i % 1000);
        if (!data) return context->error;
        memset(data, 1, (size_t)(100 + i % 1000));
        __atomic_fetch_add(&marks->seen[i - marks->begin], 1, __ATOMIC_RELAXED);
        if (i == marks->fail_at) return adl__fail_index(context, NULL, i, 10, -1, "x");
        adl__release(context, data);
    }
    return 0;
}

START_TEST(every_index_runs_once) {
    for (int threads = 0; threads < 5; threads++) {
        ck_assert_int_eq(adl_set_num_threads(threads), 0);
        for (int64_t grain = 1; grain < 3000; grain = grain * 3 + 1) {
            static int32_t seen[2000];
            memset(seen, 0, sizeof seen);
            Marks marks = {-7, 1993, grain, seen, INT64_MAX};
            AdlContext context;
            adl__context_begin(&context);
            ck_assert_int_eq(adl__parallel_for(&context, -7, 1993, grain, mark_body, &marks), 0);
            for (int i = 0; i < 2000; i++) ck_assert_int_eq(seen[i], 1);
            ck_assert_ptr_null(context.live);
            adl__context_end(&context, 0);
        }
    }
    ck_assert_int_eq(adl_set_num_threads(-1), ADL_ERROR_ARGUMENT);
    ck_assert_int_ge(adl_get_num_threads(), 1);
}
END_TEST

START_TEST(a_failing_piece_fails_the_loop) {
    static int32_t seen[100000];
    Marks marks = {0, 100000, 10, seen, 500};
    AdlContext context;
    adl_set_num_threads(3);
    adl__context_begin(&context);
    ck_assert_int_eq(adl__parallel_for(&context, 0, 100000, 10, mark_body, &marks),
                     ADL_ERROR_INDEX);
    ck_failed(&context, ADL_ERROR_INDEX, "index 500 is out of range 0..10 for x");
    adl__context_begin(&context);
    ck_assert_int_eq(adl__parallel_for(&context, 5, 5, 10, mark_body, &marks), 0);
    ck_assert_int_eq(adl__parallel_for(&context, 5, 4, 0, mark_body, &marks), 0);
    adl__context_end(&context, 0);
}
END_TEST

typedef struct Threads {
    pthread_t caller;
    int64_t spins; /* of a piece */
    int32_t others; /* pieces that ran on other threads */
} Threads;

static int32_t spin_body(AdlContext *context, void *env, int64_t begin, int64_t end) {
    Threads *threads = env;
    (void)context, (void)begin, (void)end;
    for (volatile int64_t i = 0; i < threads->spins; i++) {}
    if (!pthread_equal(pthread_self(), threads->caller))
        __atomic_fetch_add(&threads->others, 1, __ATOMIC_RELAXED);
    return 0;
}

/* A hundred pieces of a few nanoseconds wake nobody, a hundred of a millisecond do (the other threads
   may come late on a busy machine). */
START_TEST(short_loops_stay_on_their_thread) {
    AdlContext context;
    Threads threads = {pthread_self(), 1, 0};
    adl_set_num_threads(2);
    adl__context_begin(&context);
    ck_assert_int_eq(adl__parallel_for(&context, 0, 200, 2, spin_body, &threads), 0);
    ck_assert_int_eq(threads.others, 0);
    threads.spins = 1000000;
    for (int i = 0; i < 20 && !threads.others && adl_get_num_threads() > 1; i++)
        ck_assert_int_eq(adl__parallel_for(&context, 0, 200, 2, spin_body, &threads), 0);
    if (adl_get_num_threads() > 1) ck_assert_int_gt(threads.others, 0);
    adl__context_end(&context, 0);
    adl_set_num_threads(0);
}
END_TEST

TCase *tests_of_loops(void) {
    TCase *tests = tcase_create("loops");
    tcase_add_test(tests, every_index_runs_once);
    tcase_add_test(tests, a_failing_piece_fails_the_loop);
    tcase_add_test(tests, short_loops_stay_on_their_thread);
    return tests;
}

/* -- products: small integers, so that every order of sums is exact -- */

static void check_gemm(int ta, int tb, int64_t m, int64_t n, int64_t k, int accumulate) {
    double *a = malloc(sizeof *a * (size_t)(m * k + 1)),
           *b = malloc(sizeof *b * (size_t)(k * n + 1));
    double *c = malloc(sizeof *c * (size_t)(m * n + 1));
    float *a4 = malloc(sizeof *a4 * (size_t)(m * k + 1)),
          *b4 = malloc(sizeof *b4 * (size_t)(k * n + 1));
    float *c4 = malloc(sizeof *c4 * (size_t)(m * n + 1));
    for (int64_t i = 0; i < m * k; i++) a4[i] = (float)(a[i] = (double)(rand() % 9 - 4));
    for (int64_t i = 0; i < k * n; i++) b4[i] = (float)(b[i] = (double)(rand() % 9 - 4));
    for (int64_t i = 0; i < m * n; i++) c4[i] = (float)(c[i] = accumulate ? 100 : NAN);
    adl__gemm_f64(ta, tb, m, n, k, a, b, c, accumulate);
    adl__gemm_f32(ta, tb, m, n, k, a4, b4, c4, accumulate);
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            double sum = accumulate ? 100 : 0;
            for (int64_t p = 0; p < k; p++)
                sum += (ta ? a[p * m + i] : a[i * k + p]) * (tb ? b[j * k + p] : b[p * n + j]);
            ck_assert_double_eq(c[i * n + j], sum);
            ck_assert_float_eq(c4[i * n + j], (float)sum);
        }
    free(a), free(b), free(c), free(a4), free(b4), free(c4);
}

START_TEST(products_of_matrices) {
    static const int64_t sizes[][3] = {{1, 1, 1},    {2, 3, 4},   {0, 3, 2},    {3, 0, 2},
                                       {3, 2, 0},    {33, 17, 9}, {40, 50, 60}, {5, 700, 300},
                                       {70, 1, 100}, {1, 70, 100}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int flags = 0; flags < 8; flags++)
            check_gemm(flags & 1, flags >> 1 & 1, sizes[i][0], sizes[i][1], sizes[i][2],
                       flags >> 2);
}
END_TEST

START_TEST(products_with_a_vector) {
    static const int64_t sizes[][2] = {{1, 1}, {3, 5}, {0, 4}, {4, 0}, {100, 80}};
    for (size_t s = 0; s < 5; s++)
        for (int flags = 0; flags < 4; flags++) {
            int trans = flags & 1, accumulate = flags >> 1;
            int64_t rows = sizes[s][0], cols = sizes[s][1];
            static double a[8000], x[100], y[100];
            static float a4[8000], x4[100], y4[100];
            for (int64_t i = 0; i < rows * cols; i++) a4[i] = (float)(a[i] = rand() % 9 - 4);
            for (int64_t i = 0; i < 100; i++) {
                x4[i] = (float)(x[i] = rand() % 9 - 4);
                y4[i] = (float)(y[i] = accumulate ? 7 : NAN);
            }
            adl__gemv_f64(trans, rows, cols, a, x, y, accumulate);
            adl__gemv_f32(trans, rows, cols, a4, x4, y4, accumulate);
            for (int64_t i = 0; i < (trans ? cols : rows); i++) {
                double sum = accumulate ? 7 : 0;
                for (int64_t j = 0; j < (trans ? rows : cols); j++)
                    sum += (trans ? a[j * cols + i] : a[i * cols + j]) * x[j];
                ck_assert_double_eq(y[i], sum);
                ck_assert_float_eq(y4[i], (float)sum);
            }
        }
}
END_TEST

TCase *tests_of_products(void) {
    TCase *tests = tcase_create("products");
    tcase_add_test(tests, products_of_matrices);
    tcase_add_test(tests, products_with_a_vector);
    return tests;
}
