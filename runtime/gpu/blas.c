/* blas.c: products through cuBLAS.  Its matrices lie by columns, so that what lies by rows is
   transposed there: C = A B is C' = B' A'. */
#include "gpu/blas.h"

#include <dlfcn.h>
#include <limits.h>
#include <string.h>

#include "core/error.h"

/* Products of fewer multiplications do not wait for a library. */
enum { WORTH_A_LIBRARY = 64 * 64 * 64 };

typedef struct BlasHandle *Handle;
typedef int Result; /* 0: good */
enum { AS_IT_IS = 0, TRANSPOSED = 1 };

typedef struct Blas {
    bool tried, ready;
    Handle handle;
    Result (*create)(Handle *handle);
    Result (*set_stream)(Handle handle, CuStream stream);
    Result (*dgemm)(Handle handle, int ta, int tb, int m, int n, int k, const double *alpha,
                    const double *a, int lda, const double *b, int ldb, const double *beta,
                    double *c, int ldc);
    Result (*sgemm)(Handle handle, int ta, int tb, int m, int n, int k, const float *alpha,
                    const float *a, int lda, const float *b, int ldb, const float *beta, float *c,
                    int ldc);
    Result (*dgemv)(Handle handle, int t, int m, int n, const double *alpha, const double *a,
                    int lda, const double *x, int incx, const double *beta, double *y, int incy);
    Result (*sgemv)(Handle handle, int t, int m, int n, const float *alpha, const float *a, int lda,
                    const float *x, int incx, const float *beta, float *y, int incy);
} Blas;

/* Of a process, like the device; under its lock. */
static Blas blas;

static bool find_calls(void *library) {
    static const struct {
        const char *symbol;
        size_t place;
    } rows[] = {
        {"cublasCreate_v2", offsetof(Blas, create)},
        {"cublasSetStream_v2", offsetof(Blas, set_stream)},
        {"cublasDgemm_v2", offsetof(Blas, dgemm)},
        {"cublasSgemm_v2", offsetof(Blas, sgemm)},
        {"cublasDgemv_v2", offsetof(Blas, dgemv)},
        {"cublasSgemv_v2", offsetof(Blas, sgemv)},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        void *found = dlsym(library, rows[i].symbol);
        if (!found) return false;
        memcpy((char *)&blas + rows[i].place, &found, sizeof found);
    }
    return true;
}

/* Once: the newest there is.  What cannot be opened is not missed. */
static bool is_ready(void) {
    static const char *const names[] = {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11"};
    if (blas.tried) return blas.ready;
    blas.tried = true;
    for (size_t i = 0; i < sizeof names / sizeof *names && !blas.ready; i++) {
        void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
        blas.ready = library && find_calls(library) && blas.create(&blas.handle) == 0;
    }
    return blas.ready;
}

typedef struct Call {
    const GpuProduct *p;
    CuAddress a, b, c;
    bool ta, tb, wide; /* wide: f64 */
} Call;

/* Y = op(X) v, X of ROWS by COLUMNS as it lies. */
static Result by_vector(const Call *call, CuAddress x, bool transposed, int rows, int columns,
                        CuAddress v) {
    static const double one = 1, none = 0;
    static const float onef = 1, nonef = 0;
    int t = transposed ? AS_IT_IS : TRANSPOSED;
    void *m = (void *)(uintptr_t)x, *from = (void *)(uintptr_t)v, *to = (void *)(uintptr_t)call->c;
    return call->wide
               ? blas.dgemv(blas.handle, t, columns, rows, &one, m, columns, from, 1, &none, to, 1)
               : blas.sgemv(blas.handle, t, columns, rows, &onef, m, columns, from, 1, &nonef, to,
                            1);
}

static Result by_matrix(const Call *call, int m, int n, int k) {
    static const double one = 1, none = 0;
    static const float onef = 1, nonef = 0;
    int ta = call->ta ? TRANSPOSED : AS_IT_IS, tb = call->tb ? TRANSPOSED : AS_IT_IS;
    int lda = call->ta ? m : k, ldb = call->tb ? k : n;
    void *a = (void *)(uintptr_t)call->a, *b = (void *)(uintptr_t)call->b,
         *c = (void *)(uintptr_t)call->c;
    return call->wide
               ? blas.dgemm(blas.handle, tb, ta, n, m, k, &one, b, ldb, a, lda, &none, c, n)
               : blas.sgemm(blas.handle, tb, ta, n, m, k, &onef, b, ldb, a, lda, &nonef, c, n);
}

static bool is_for_blas(const GpuProduct *p) {
    if (!(p->how & (ADL_GPU_PRODUCT_F64 | ADL_GPU_PRODUCT_F32))) return false;
    if (p->m > INT_MAX || p->n > INT_MAX || p->k > INT_MAX || p->k <= 0) return false;
    return (double)p->m * (double)p->n * (double)p->k >= WORTH_A_LIBRARY;
}

int32_t blas_product(AdlContext *context, const AdlSite *site, const GpuProduct *p, CuAddress a,
                     CuAddress b, CuAddress c) {
    if (!is_for_blas(p) || !is_ready()) return ADL_GPU_ELSEWHERE;
    Call call = {p,
                 a,
                 b,
                 c,
                 p->how & ADL_GPU_PRODUCT_TA,
                 p->how & ADL_GPU_PRODUCT_TB,
                 p->how & ADL_GPU_PRODUCT_F64};
    int m = (int)p->m, n = (int)p->n, k = (int)p->k;
    Result result = blas.set_stream(blas.handle, gpu.stream);
    if (result) {
        /* told below */
    } else if (n == 1) {
        result = by_vector(&call, a, call.ta, call.ta ? k : m, call.ta ? m : k, b);
    } else if (m == 1) {
        result = by_vector(&call, b, !call.tb, call.tb ? n : k, call.tb ? k : n, a);
    } else {
        result = by_matrix(&call, m, n, k);
    }
    if (!result) return ADL_OK;
    return error_note(context, ADL_ERROR_DEVICE, site,
                      "on %s: cuBLAS, a product of %d x %d by %d x %d: status %d", gpu.name, m, k,
                      k, n, result);
}
