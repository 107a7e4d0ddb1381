/* Speelpenning's product.  Sizes: n factors. */
#include "suite.h"

#include "speelpenning.h"
#include "speelpenning_gradient.h"

SHARED struct {
    int64_t n;
    double *x;
} speelpenning_data;
#define P speelpenning_data

REFERENCE double c_speelpenning(int64_t n, const double *restrict x) {
    double product = 1.0;
    for (int64_t i = 0; i < n; i++) product *= x[i];
    return product;
}

/* Products of what stands before times products of what stands behind: right for zeros too. */
REFERENCE void c_gradient(int64_t n, const double *restrict x, double *restrict g) {
    double product = 1.0;
    for (int64_t i = 0; i < n; i++) g[i] = product, product *= x[i];
    product = 1.0;
    for (int64_t i = n - 1; i >= 0; i--) g[i] *= product, product *= x[i];
}

static void make(const int64_t *size) {
    P.n = size[0];
    P.x = suite_numbers(P.n);
    for (int64_t i = 0; i < P.n; i++) P.x[i] = 1.0 + (suite_uniform() - 0.5) / sqrt((double)P.n);
}

static void read(const char *path) {
    FILE *file = suite_open(path);
    suite_read_integers(file, &P.n, 1);
    P.x = suite_numbers(P.n);
    suite_read(file, P.x, P.n);
    fclose(file);
}

static int64_t inputs(void) {
    return P.n;
}
static int adl_primal(double *out) {
    return speelpenning(P.n, P.x, out);
}
static int adl_gradient(double *out) {
    return speelpenning_gradient(P.n, P.x, out);
}
static void c_primal(double *out) {
    *out = c_speelpenning(P.n, P.x);
}
static void c_grad(double *out) {
    c_gradient(P.n, P.x, out);
}

const Program PROGRAM = {make,
                         read,
                         {{"primal", "F", suite_one, adl_primal, c_primal, NULL},
                          {"gradient", "J", inputs, adl_gradient, c_grad, NULL}}};
