/* Softened gravitational energy.  Sizes: n bodies. */
#include "suite.h"

#include "nbody.h"
#include "nbody_gradient.h"

SHARED struct {
    int64_t n;
    double *r, *m;
} nbody_data;
#define P nbody_data

REFERENCE double c_nbody(int64_t n, const double *restrict x, const double *restrict y,
                         const double *restrict z, const double *restrict m) {
    double energy = 0.0;
    for (int64_t i = 0; i < n; i++) {
        double s = 0.0;
        for (int64_t j = i + 1; j < n; j++) {
            double a = x[i] - x[j], b = y[i] - y[j], c = z[i] - z[j];
            s += m[j] / sqrt(a * a + b * b + c * c + 1e-4);
        }
        energy -= m[i] * s;
    }
    return energy;
}

REFERENCE void c_gradient(int64_t n, const double *restrict x, const double *restrict y,
                          const double *restrict z, const double *restrict m, double *restrict gx,
                          double *restrict gy, double *restrict gz) {
    memset(gx, 0, (size_t)n * sizeof *gx);
    memset(gy, 0, (size_t)n * sizeof *gy);
    memset(gz, 0, (size_t)n * sizeof *gz);
    for (int64_t i = 0; i < n; i++) {
        double p = 0.0, q = 0.0, r = 0.0;
        for (int64_t j = i + 1; j < n; j++) {
            double a = x[i] - x[j], b = y[i] - y[j], c = z[i] - z[j];
            double d = a * a + b * b + c * c + 1e-4, w = m[i] * m[j] / (d * sqrt(d));
            p += w * a, q += w * b, r += w * c;
            gx[j] -= w * a, gy[j] -= w * b, gz[j] -= w * c;
        }
        gx[i] += p, gy[i] += q, gz[i] += r;
    }
}

static void allocate(void) {
    P.r = suite_numbers(3 * P.n);
    P.m = suite_numbers(P.n);
}

static void make(const int64_t *size) {
    P.n = size[0];
    allocate();
    for (int64_t i = 0; i < 3 * P.n; i++) P.r[i] = suite_normal();
    for (int64_t i = 0; i < P.n; i++) P.m[i] = (0.5 + suite_uniform()) / (double)P.n;
}

static void read(const char *path) {
    FILE *file = suite_open(path);
    suite_read_integers(file, &P.n, 1);
    allocate();
    suite_read(file, P.r, 3 * P.n);
    suite_read(file, P.m, P.n);
    fclose(file);
}

static int64_t inputs(void) {
    return 3 * P.n;
}
static int adl_primal(double *out) {
    return nbody(P.n, P.r, P.m, out);
}
static int adl_gradient(double *out) {
    return nbody_gradient(P.n, P.r, P.m, out);
}
static void c_primal(double *out) {
    *out = c_nbody(P.n, P.r, P.r + P.n, P.r + 2 * P.n, P.m);
}

static void c_grad(double *out) {
    c_gradient(P.n, P.r, P.r + P.n, P.r + 2 * P.n, P.m, out, out + P.n, out + 2 * P.n);
}

const Program PROGRAM = {make,
                         read,
                         {{"primal", "F", suite_one, adl_primal, c_primal, NULL},
                          {"gradient", "J", inputs, adl_gradient, c_grad, NULL}}};
