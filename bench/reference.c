/* The kernels in C, as one would write them by hand.  Compiled twice: SIDE(name) is c_name for C as
   it stands, f_name for C whose sums the compiler may reorder.  Signatures are those that dslc
   gives to the same functions in kernels/. */
#include <math.h>
#include <stdint.h>

#include "reference.h"

#ifdef FAST
#define SIDE(name) f_##name
#else
#define SIDE(name) c_##name
#endif

int SIDE(axpy)(int64_t n, double a, const double *restrict x, double *restrict y) {
    for (int64_t i = 0; i < n; i++) y[i] += a * x[i];
    return 0;
}

int SIDE(inner)(int64_t n, const double *restrict x, const double *restrict y, double *result) {
    double s = 0.0;
    for (int64_t i = 0; i < n; i++) s += x[i] * y[i];
    *result = s;
    return 0;
}

int SIDE(soft)(int64_t n, const double *restrict x, double *restrict result) {
    double m = x[0], s = 0.0;
    for (int64_t i = 0; i < n; i++) m = x[i] > m ? x[i] : m;
    for (int64_t i = 0; i < n; i++) {
        result[i] = exp(x[i] - m);
        s += result[i];
    }
    for (int64_t i = 0; i < n; i++) result[i] /= s;
    return 0;
}

int SIDE(stencil)(int64_t n, int64_t m, double k, const double *restrict u, double *restrict v) {
    for (int64_t i = 1; i < n - 1; i++)
        for (int64_t j = 1; j < m - 1; j++) {
            const double *c = u + i * m + j;
            v[i * m + j] = *c + k * (c[-m] + c[m] + c[-1] + c[1] - 4.0 * *c);
        }
    return 0;
}

int SIDE(lse_rows)(int64_t n, int64_t m, const double *restrict X, double *restrict result) {
    for (int64_t i = 0; i < n; i++) {
        const double *x = X + i * m;
        double top = x[0], s = 0.0;
        for (int64_t j = 0; j < m; j++) top = x[j] > top ? x[j] : top;
        for (int64_t j = 0; j < m; j++) s += exp(x[j] - top);
        result[i] = top + log(s);
    }
    return 0;
}

int SIDE(matvec)(int64_t n, int64_t m, const double *restrict A, const double *restrict x,
                 double *restrict result) {
    for (int64_t i = 0; i < n; i++) {
        double s = 0.0;
        for (int64_t j = 0; j < m; j++) s += A[i * m + j] * x[j];
        result[i] = s;
    }
    return 0;
}

int SIDE(logistic)(int64_t d, int64_t n, const double *restrict w, const double *restrict X,
                   const double *restrict y, double *result) {
    double s = 0.0;
    for (int64_t i = 0; i < n; i++) {
        double z = 0.0;
        for (int64_t j = 0; j < d; j++) z += X[i * d + j] * w[j];
        s += (z > 0.0 ? z : 0.0) + log1p(exp(-fabs(z))) - y[i] * z;
    }
    *result = s / (double)n;
    return 0;
}

int SIDE(logistic_grad)(int64_t d, int64_t n, const double *restrict w, const double *restrict X,
                        const double *restrict y, double *value, double *restrict dw) {
    double s = 0.0;
    for (int64_t j = 0; j < d; j++) dw[j] = 0.0;
    for (int64_t i = 0; i < n; i++) {
        const double *x = X + i * d;
        double z = 0.0;
        for (int64_t j = 0; j < d; j++) z += x[j] * w[j];
        double e = exp(-fabs(z));
        s += (z > 0.0 ? z : 0.0) + log1p(e) - y[i] * z;
        double r = (z < 0.0 ? e : 1.0) / (1.0 + e) - y[i];
        for (int64_t j = 0; j < d; j++) dw[j] += r * x[j];
    }
    for (int64_t j = 0; j < d; j++) dw[j] /= (double)n;
    *value = s / (double)n;
    return 0;
}
