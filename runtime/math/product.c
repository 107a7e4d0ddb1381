/* product.c: products of matrices and vectors.

   Through CBLAS where there is one and the product is worth its start-up, else by loops that go
   along rows.  Zero sizes never reach CBLAS, which refuses the leading dimension 0. */
#include <limits.h>
#include <stdbool.h>
#include <string.h>

#include "core/calls.h"

#ifdef ADL_WITH_CBLAS
#include <cblas.h>
#endif

enum { BLOCK_K = 128, BLOCK_N = 512 };

/* The loops for element type T.  BLOCK_K rows of op(B), BLOCK_N wide, stay in the cache while all
   rows of C pass; the innermost loop has unit stride unless B is transposed. */
#define DEFINE_LOOPS(T, suffix)                                                                    \
    static void gemm_block_##suffix(int64_t m, int64_t n, int64_t k, int64_t j0, int64_t j1,       \
                                    int64_t p0, int64_t p1, bool ta, const T *a, const T *b,       \
                                    T *c) {                                                        \
        for (int64_t i = 0; i < m; i++)                                                            \
            for (int64_t p = p0; p < p1; p++) {                                                    \
                T s = ta ? a[p * m + i] : a[i * k + p];                                            \
                const T *row = b + p * n;                                                          \
                T *to = c + i * n;                                                                 \
                for (int64_t j = j0; j < j1; j++) to[j] += s * row[j];                             \
            }                                                                                      \
    }                                                                                              \
                                                                                                   \
    static void gemm_dots_##suffix(int64_t m, int64_t n, int64_t k, bool ta, const T *a,           \
                                   const T *b, T *c) {                                             \
        for (int64_t i = 0; i < m; i++)                                                            \
            for (int64_t j = 0; j < n; j++) {                                                      \
                T s = 0;                                                                           \
                for (int64_t p = 0; p < k; p++)                                                    \
                    s += (ta ? a[p * m + i] : a[i * k + p]) * b[j * k + p];                        \
                c[i * n + j] += s;                                                                 \
            }                                                                                      \
    }                                                                                              \
                                                                                                   \
    static void gemm_loops_##suffix(bool ta, bool tb, int64_t m, int64_t n, int64_t k, const T *a, \
                                    const T *b, T *c, bool accumulate) {                           \
        if (!accumulate) memset(c, 0, (size_t)(m * n) * sizeof(T));                                \
        if (tb) {                                                                                  \
            gemm_dots_##suffix(m, n, k, ta, a, b, c);                                              \
            return;                                                                                \
        }                                                                                          \
        for (int64_t j = 0; j < n; j += BLOCK_N)                                                   \
            for (int64_t p = 0; p < k; p += BLOCK_K)                                               \
                gemm_block_##suffix(m, n, k, j, j + BLOCK_N < n ? j + BLOCK_N : n, p,              \
                                    p + BLOCK_K < k ? p + BLOCK_K : k, ta, a, b, c);               \
    }                                                                                              \
                                                                                                   \
    static void gemv_loops_##suffix(bool trans, int64_t rows, int64_t cols, const T *a,            \
                                    const T *x, T *y, bool accumulate) {                           \
        if (!accumulate) memset(y, 0, (size_t)(trans ? cols : rows) * sizeof(T));                  \
        for (int64_t i = 0; i < rows; i++) {                                                       \
            const T *row = a + i * cols;                                                           \
            T s = 0;                                                                               \
            if (trans)                                                                             \
                for (int64_t j = 0; j < cols; j++) y[j] += x[i] * row[j];                          \
            else {                                                                                 \
                for (int64_t j = 0; j < cols; j++) s += row[j] * x[j];                             \
                y[i] += s;                                                                         \
            }                                                                                      \
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
