/* Logistic regression.  Sizes: n rows, d columns. */
#include "suite.h"

#include "logreg.h"
#include "logreg_gradient.h"

SHARED struct {
    int64_t n, d;
    double *w, *a, *y;
} logreg_data;
#define P logreg_data

REFERENCE double c_logreg(int64_t n, int64_t d, const double *restrict w, const double *restrict a,
                          const double *restrict y) {
    double total = 0.0;
    for (int64_t p = 0; p < n; p++) {
        double z = 0.0;
        for (int64_t j = 0; j < d; j++) z += a[p * d + j] * w[j];
        total += log(1.0 + exp(-(y[p] * z)));
    }
    for (int64_t j = 0; j < d; j++) total += 0.005 * w[j] * w[j];
    return total;
}

REFERENCE void c_gradient(int64_t n, int64_t d, const double *restrict w, const double *restrict a,
                          const double *restrict y, double *restrict g) {
    for (int64_t j = 0; j < d; j++) g[j] = 0.01 * w[j];
    for (int64_t p = 0; p < n; p++) {
        double z = 0.0;
        for (int64_t j = 0; j < d; j++) z += a[p * d + j] * w[j];
        double c = -y[p] / (1.0 + exp(y[p] * z));
        for (int64_t j = 0; j < d; j++) g[j] += c * a[p * d + j];
    }
}

static void allocate(void) {
    P.w = suite_numbers(P.d);
    P.a = suite_numbers(P.n * P.d);
    P.y = suite_numbers(P.n);
}

static void make(const int64_t *size) {
    P.n = size[0], P.d = size[1];
    allocate();
    for (int64_t j = 0; j < P.d; j++) P.w[j] = 0.1 * suite_normal();
    for (int64_t i = 0; i < P.n * P.d; i++) P.a[i] = suite_normal();
    for (int64_t i = 0; i < P.n; i++) P.y[i] = suite_uniform() < 0.5 ? -1.0 : 1.0;
}

static void read(const char *path) {
    FILE *file = suite_open(path);
    suite_read_integers(file, &P.n, 1);
    suite_read_integers(file, &P.d, 1);
    allocate();
    suite_read(file, P.w, P.d);
    suite_read(file, P.a, P.n * P.d);
    suite_read(file, P.y, P.n);
    fclose(file);
}

static int64_t inputs(void) {
    return P.d;
}
static int adl_primal(double *out) {
    return logreg(P.d, P.n, P.w, P.a, P.y, out);
}
static int adl_gradient(double *out) {
    return logreg_gradient(P.d, P.n, P.w, P.a, P.y, out);
}
static void c_primal(double *out) {
    *out = c_logreg(P.n, P.d, P.w, P.a, P.y);
}
static void c_grad(double *out) {
    c_gradient(P.n, P.d, P.w, P.a, P.y, out);
}

const Program PROGRAM = {make,
                         read,
                         {{"primal", "F", suite_one, adl_primal, c_primal, NULL},
                          {"gradient", "J", inputs, adl_gradient, c_grad, NULL}}};
