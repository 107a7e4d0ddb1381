/* A stand-in for cuBLAS, libcublas.so: the calls that the runtime makes, on the memory of the
   stand-in for the driver, which checks all that is read and written.  As the real one it is given
   matrices by columns. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/ptxsim/cuda.h"

#define EXPORT __attribute__((visibility("default")))

enum { GOOD = 0, NOT_INITIALIZED = 1, INVALID_VALUE = 7, EXECUTION_FAILED = 13 };

struct Blas {
    CUstream stream;
    bool trace;
};
typedef struct Blas *Handle;

int cublasCreate_v2(Handle *handle);
int cublasDestroy_v2(Handle handle);
int cublasSetStream_v2(Handle handle, CUstream stream);

EXPORT int cublasCreate_v2(Handle *handle) {
    CUcontext context = NULL;
    if (cuCtxGetCurrent(&context) || !context) return NOT_INITIALIZED;
    *handle = calloc(1, sizeof **handle);
    if (!*handle) abort();
    (*handle)->trace = getenv("PTXSIM_TRACE") != NULL;
    return getenv("PTXSIM_NO_CUBLAS") ? NOT_INITIALIZED : GOOD;
}

EXPORT int cublasDestroy_v2(Handle handle) {
    free(handle);
    return GOOD;
}

EXPORT int cublasSetStream_v2(Handle handle, CUstream stream) {
    if (!handle) return NOT_INITIALIZED;
    handle->stream = stream;
    return GOOD;
}

#define DEFINE_BLAS(T, letter)                                                                     \
    int cublas##letter##gemm_v2(Handle handle, int ta, int tb, int m, int n, int k,                \
                                const T *alpha, const T *a, int lda, const T *b, int ldb,          \
                                const T *beta, T *c, int ldc);                                     \
    int cublas##letter##gemv_v2(Handle handle, int t, int m, int n, const T *alpha, const T *a,    \
                                int lda, const T *x, int incx, const T *beta, T *y, int incy);     \
                                                                                                   \
    /* COUNT numbers of the device. */                                                             \
    static T *fetch_##letter(const T *from, size_t count) {                                        \
        T *here = malloc(count * sizeof *here + 1);                                                \
        if (!here) abort();                                                                        \
        if (!cuMemcpyDtoH_v2(here, (CUdeviceptr)(uintptr_t)from, count * sizeof *here))            \
            return here;                                                                           \
        free(here);                                                                                \
        return NULL;                                                                               \
    }                                                                                              \
                                                                                                   \
    EXPORT int cublas##letter##gemm_v2(Handle handle, int ta, int tb, int m, int n, int k,         \
                                       const T *alpha, const T *a, int lda, const T *b, int ldb,   \
                                       const T *beta, T *c, int ldc) {                             \
        if (!handle) return NOT_INITIALIZED;                                                       \
        if (*beta != 0 || lda < (ta ? k : m) || ldb < (tb ? n : k) || ldc != m)                    \
            return INVALID_VALUE;                                                                  \
        if (handle->trace) fprintf(stderr, "ptxsim: product of %d x %d by %d x %d\n", n, k, k, m); \
        T *x = fetch_##letter(a, (size_t)lda * (size_t)(ta ? m : k));                              \
        T *y = fetch_##letter(b, (size_t)ldb * (size_t)(tb ? k : n));                              \
        T *z = calloc((size_t)m * (size_t)n, sizeof *z);                                           \
        bool ok = x && y && z;                                                                     \
        for (int j = 0; j < n && ok; j++)                                                          \
            for (int i = 0; i < m; i++) {                                                          \
                T sum = 0;                                                                         \
                for (int l = 0; l < k; l++)                                                        \
                    sum += (ta ? x[l + i * lda] : x[i + l * lda]) *                                \
                           (tb ? y[j + l * ldb] : y[l + j * ldb]);                                 \
                z[i + j * m] = *alpha * sum;                                                       \
            }                                                                                      \
        ok = ok &&                                                                                 \
             !cuMemcpyHtoD_v2((CUdeviceptr)(uintptr_t)c, z, (size_t)m * (size_t)n * sizeof *z);    \
        free(x);                                                                                   \
        free(y);                                                                                   \
        free(z);                                                                                   \
        return ok ? GOOD : EXECUTION_FAILED;                                                       \
    }                                                                                              \
                                                                                                   \
    EXPORT int cublas##letter##gemv_v2(Handle handle, int t, int m, int n, const T *alpha,         \
                                       const T *a, int lda, const T *x, int incx, const T *beta,   \
                                       T *y, int incy) {                                           \
        if (incx != 1 || incy != 1) return INVALID_VALUE;                                          \
        int rows = t ? n : m, inner = t ? m : n;                                                   \
        return cublas##letter##gemm_v2(handle, t, 0, rows, 1, inner, alpha, a, lda, x, inner,      \
                                       beta, y, rows);                                             \
    }

DEFINE_BLAS(double, D)
DEFINE_BLAS(float, S)
