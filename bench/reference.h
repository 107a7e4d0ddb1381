/* The kernels in C: see reference.c. */
#ifndef ADL_BENCH_REFERENCE_H
#define ADL_BENCH_REFERENCE_H

#include <stdint.h>

/* KERNEL(name, the type of its functions) */
#define REFERENCE_KERNELS(KERNEL)                                                                  \
    KERNEL(axpy, (int64_t n, double a, const double *x, double *y))                                \
    KERNEL(inner, (int64_t n, const double *x, const double *y, double *result))                   \
    KERNEL(soft, (int64_t n, const double *x, double *result))                                     \
    KERNEL(stencil, (int64_t n, int64_t m, double k, const double *u, double *v))                  \
    KERNEL(lse_rows, (int64_t n, int64_t m, const double *X, double *result))                      \
    KERNEL(matvec, (int64_t n, int64_t m, const double *A, const double *x, double *result))       \
    KERNEL(logistic, (int64_t d, int64_t n, const double *w, const double *X, const double *y,     \
                      double *result))                                                             \
    KERNEL(logistic_grad, (int64_t d, int64_t n, const double *w, const double *X,                 \
                           const double *y, double *value, double *dw))

#define REFERENCE_DECLARE(name, type)                                                              \
    int c_##name type;                                                                             \
    int f_##name type;
REFERENCE_KERNELS(REFERENCE_DECLARE)
#undef REFERENCE_DECLARE

#endif
