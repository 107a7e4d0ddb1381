/* product.c: products of matrices and vectors.

   Through CBLAS where there is one and the product is worth its start-up, else by loops.  Zero
   sizes never reach CBLAS, which refuses the leading dimension 0. */
#include <limits.h>
#include <stdbool.h>
#include <string.h>

#include "core/calls.h"

#ifdef ADL_WITH_CBLAS
#include <cblas.h>
#endif

/* The loops: op(B) is packed in panels of TILE_N columns and BLOCK_K rows, op(A) in strips of
   TILE_M rows, both filled with zeros at the edges, so that one kernel with all its sums in
   registers serves every shape.  For each element of C the sum goes over k in order, in blocks of
   BLOCK_K. */
enum { TILE_M = 4, TILE_N = 8, BLOCK_K = 256 };

typedef struct Shape {
    bool ta, tb;
    int64_t m, n, k;
} Shape;

static int64_t smaller(int64_t a, int64_t b) {
    return a < b ? a : b;
}

#define DEFINE_LOOPS(T, suffix)                                                                    \
    typedef T Row_##suffix __attribute__((vector_size(TILE_N * sizeof(T))));                       \
                                                                                                   \
    static void pack_a_##suffix(const Shape *shape, const T *a, int64_t i0, int64_t p0,            \
                                int64_t count, T strip[][TILE_M]) {                                \
        for (int64_t r = 0; r < TILE_M; r++)                                                       \
            for (int64_t p = 0; p < count; p++) {                                                  \
                int64_t i = i0 + r, q = p0 + p;                                                    \
                strip[p][r] = i >= shape->m ? 0                                                    \
                              : shape->ta   ? a[q * shape->m + i]                                  \
                                            : a[i * shape->k + q];                                   \
            }                                                                                      \
    }                                                                                              \
                                                                                                   \
    static void pack_b_##suffix(const Shape *shape, const T *b, int64_t j0, int64_t p0,            \
                                int64_t count, Row_##suffix *panel) {                              \
        for (int64_t p = 0; p < count; p++)                                                        \
            for (int64_t c = 0; c < TILE_N; c++) {                                                 \
                int64_t j = j0 + c, q = p0 + p;                                                    \
                panel[p][c] = j >= shape->n ? 0                                                    \
                              : shape->tb   ? b[j * shape->k + q]                                  \
                                            : b[q * shape->n + j];                                   \
            }                                                                                      \
    }                                                                                              \
                                                                                                   \
    /* One tile: OUT = STRIP . PANEL. */                                                           \
    static void kernel_##suffix(int64_t count, T strip[][TILE_M], const Row_##suffix *panel,       \
                                Row_##suffix out[TILE_M]) {                                        \
        Row_##suffix s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};                                       \
        for (int64_t p = 0; p < count; p++) {                                                      \
            s0 += strip[p][0] * panel[p];                                                          \
            s1 += strip[p][1] * panel[p];                                                          \
            s2 += strip[p][2] * panel[p];                                                          \
            s3 += strip[p][3] * panel[p];                                                          \
        }                                                                                          \
        out[0] = s0;                                                                               \
        out[1] = s1;                                                                               \
        out[2] = s2;                                                                               \
        out[3] = s3;                                                                               \
    }                                                                                              \
                                                                                                   \
    static void panel_##suffix(const Shape *shape, const T *a, const T *b, T *c, int64_t j0,       \
                               int64_t p0) {                                                       \
        T strip[BLOCK_K][TILE_M];                                                                  \
        Row_##suffix panel[BLOCK_K], tile[TILE_M];                                                 \
        int64_t count = smaller(BLOCK_K, shape->k - p0);                                           \
        int64_t width = smaller(TILE_N, shape->n - j0);                                            \
        pack_b_##suffix(shape, b, j0, p0, count, panel);                                           \
        for (int64_t i0 = 0; i0 < shape->m; i0 += TILE_M) {                                        \
            pack_a_##suffix(shape, a, i0, p0, count, strip);                                       \
            kernel_##suffix(count, strip, panel, tile);                                            \
            for (int64_t r = 0; r < smaller(TILE_M, shape->m - i0); r++)                           \
                for (int64_t j = 0; j < width; j++) c[(i0 + r) * shape->n + j0 + j] += tile[r][j]; \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static void gemm_loops_##suffix(bool ta, bool tb, int64_t m, int64_t n, int64_t k, const T *a, \
                                    const T *b, T *c, bool accumulate) {                           \
        Shape shape = {ta, tb, m, n, k};                                                           \
        if (!accumulate) memset(c, 0, (size_t)(m * n) * sizeof(T));                                \
        for (int64_t j = 0; j < n; j += TILE_N)                                                    \
            for (int64_t p = 0; p < k; p += BLOCK_K) panel_##suffix(&shape, a, b, c, j, p);        \
    }                                                                                              \
                                                                                                   \
    /* The sum of a row in TILE_N parts. */                                                        \
    static T dot_##suffix(int64_t n, const T *x, const T *y) {                                     \
        Row_##suffix sums = {0};                                                                   \
        T sum = 0;                                                                                 \
        int64_t j = 0;                                                                             \
        for (; j + TILE_N <= n; j += TILE_N) {                                                     \
            Row_##suffix a, b;                                                                     \
            memcpy(&a, x + j, sizeof a);                                                           \
            memcpy(&b, y + j, sizeof b);                                                           \
            sums += a * b;                                                                         \
        }                                                                                          \
        for (; j < n; j++) sum += x[j] * y[j];                                                     \
        for (int c = 0; c < TILE_N; c++) sum += sums[c];                                           \
        return sum;                                                                                \
    }                                                                                              \
                                                                                                   \
    static void gemv_loops_##suffix(bool trans, int64_t rows, int64_t cols, const T *a,            \
                                    const T *x, T *y, bool accumulate) {                           \
        if (!accumulate) memset(y, 0, (size_t)(trans ? cols : rows) * sizeof(T));                  \
        for (int64_t i = 0; i < rows; i++) {                                                       \
            const T *row = a + i * cols;                                                           \
            if (!trans) y[i] += dot_##suffix(cols, row, x);                                        \
            for (int64_t j = 0; trans && j < cols; j++) y[j] += x[i] * row[j];                     \
        }                                                                                          \
    }

DEFINE_LOOPS(double, f64)
DEFINE_LOOPS(float, f32)

/* The same through CBLAS; false, with nothing done, where that cannot be or does not pay. */
#ifdef ADL_WITH_CBLAS

static bool pays(int64_t m, int64_t n, int64_t k) {
    return m <= INT_MAX && n <= INT_MAX && k <= INT_MAX &&
           (double)m * (double)n * (double)k >= 4096;
}

#define DEFINE_BLAS(T, suffix, gemm, gemv)                                                         \
    static bool gemm_blas_##suffix(bool ta, bool tb, int64_t m, int64_t n, int64_t k, const T *a,  \
                                   const T *b, T *c, bool accumulate) {                            \
        if (!pays(m, n, k)) return false;                                                          \
        gemm(CblasRowMajor, ta ? CblasTrans : CblasNoTrans, tb ? CblasTrans : CblasNoTrans,        \
             (int)m, (int)n, (int)k, 1, a, (int)(ta ? m : k), b, (int)(tb ? k : n),                \
             accumulate ? 1 : 0, c, (int)n);                                                       \
        return true;                                                                               \
    }                                                                                              \
                                                                                                   \
    static bool gemv_blas_##suffix(bool trans, int64_t rows, int64_t cols, const T *a, const T *x, \
                                   T *y, bool accumulate) {                                        \
        if (!pays(rows, cols, 1)) return false;                                                    \
        gemv(CblasRowMajor, trans ? CblasTrans : CblasNoTrans, (int)rows, (int)cols, 1, a,         \
             (int)cols, x, 1, accumulate ? 1 : 0, y, 1);                                           \
        return true;                                                                               \
    }

#else

#define DEFINE_BLAS(T, suffix, gemm, gemv)                                                         \
    static bool gemm_blas_##suffix(bool ta, bool tb, int64_t m, int64_t n, int64_t k, const T *a,  \
                                   const T *b, T *c, bool accumulate) {                            \
        (void)ta, (void)tb, (void)m, (void)n, (void)k, (void)a, (void)b, (void)c,                  \
            (void)accumulate;                                                                      \
        return false;                                                                              \
    }                                                                                              \
                                                                                                   \
    static bool gemv_blas_##suffix(bool trans, int64_t rows, int64_t cols, const T *a, const T *x, \
                                   T *y, bool accumulate) {                                        \
        (void)trans, (void)rows, (void)cols, (void)a, (void)x, (void)y, (void)accumulate;          \
        return false;                                                                              \
    }

#endif

DEFINE_BLAS(double, f64, cblas_dgemm, cblas_dgemv)
DEFINE_BLAS(float, f32, cblas_sgemm, cblas_sgemv)

void adl__gemm_f64(int32_t ta, int32_t tb, int64_t m, int64_t n, int64_t k, const double *a,
                   const double *b, double *c, int32_t accumulate) {
    if (m > 0 && n > 0 && !gemm_blas_f64(ta, tb, m, n, k, a, b, c, accumulate))
        gemm_loops_f64(ta, tb, m, n, k, a, b, c, accumulate);
}

void adl__gemm_f32(int32_t ta, int32_t tb, int64_t m, int64_t n, int64_t k, const float *a,
                   const float *b, float *c, int32_t accumulate) {
    if (m > 0 && n > 0 && !gemm_blas_f32(ta, tb, m, n, k, a, b, c, accumulate))
        gemm_loops_f32(ta, tb, m, n, k, a, b, c, accumulate);
}

void adl__gemv_f64(int32_t trans, int64_t rows, int64_t cols, const double *a, const double *x,
                   double *y, int32_t accumulate) {
    if (!gemv_blas_f64(trans, rows, cols, a, x, y, accumulate))
        gemv_loops_f64(trans, rows, cols, a, x, y, accumulate);
}

void adl__gemv_f32(int32_t trans, int64_t rows, int64_t cols, const float *a, const float *x,
                   float *y, int32_t accumulate) {
    if (!gemv_blas_f32(trans, rows, cols, a, x, y, accumulate))
        gemv_loops_f32(trans, rows, cols, a, x, y, accumulate);
}
