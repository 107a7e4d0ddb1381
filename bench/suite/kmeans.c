/* k-means: cost, gradient, and gradient with the diagonal of the Hessian.  Sizes: k centres, d
   columns, n points. */
#include "suite.h"

#include "kmeans.h"
#include "kmeans_gradient.h"

SHARED struct {
    int64_t k, d, n;
    double *centres, *points;
} kmeans_data;
#define P kmeans_data

/* Squared distance of a point to the nearest centre, *WHICH. */
INLINE double nearest(int64_t k, int64_t d, const double *restrict centres,
                      const double *restrict point, int64_t *which) {
    double best = 0.0;
    for (int64_t c = 0; c < k; c++) {
        double s = 0.0;
        for (int64_t j = 0; j < d; j++) {
            double u = point[j] - centres[c * d + j];
            s += u * u;
        }
        if (c == 0 || s < best) best = s, *which = c;
    }
    return best;
}

REFERENCE double c_kmeans(int64_t k, int64_t d, int64_t n, const double *restrict centres,
                          const double *restrict points) {
    double total = 0.0;
    int64_t which = 0;
    for (int64_t p = 0; p < n; p++) total += nearest(k, d, centres, points + p * d, &which);
    return total;
}

/* The gradient into G and, unless H is NULL, the diagonal of the Hessian into H. */
REFERENCE void c_newton(int64_t k, int64_t d, int64_t n, const double *restrict centres,
                        const double *restrict points, double *restrict g, double *restrict h) {
    double *members = take_zeroed(k);
    int64_t which = 0;
    memset(g, 0, (size_t)(k * d) * sizeof *g);
    for (int64_t p = 0; p < n; p++) {
        nearest(k, d, centres, points + p * d, &which);
        members[which] += 1.0;
        for (int64_t j = 0; j < d; j++) g[which * d + j] -= points[p * d + j];
    }
    for (int64_t c = 0; c < k; c++)
        for (int64_t j = 0; j < d; j++) {
            g[c * d + j] = 2.0 * (g[c * d + j] + members[c] * centres[c * d + j]);
            if (h) h[c * d + j] = 2.0 * members[c];
        }
    give(members);
}

static void allocate(void) {
    P.centres = suite_numbers(P.k * P.d);
    P.points = suite_numbers(P.n * P.d);
}

static void make(const int64_t *size) {
    P.k = size[0], P.d = size[1], P.n = size[2];
    allocate();
    for (int64_t i = 0; i < P.n * P.d; i++) P.points[i] = suite_uniform();
    for (int64_t c = 0; c < P.k; c++)
        memcpy(P.centres + c * P.d, P.points + (P.n - 1 - c) * P.d, (size_t)P.d * sizeof(double));
}

static void read(const char *path) {
    FILE *file = suite_open(path);
    suite_read_integers(file, &P.k, 1);
    suite_read_integers(file, &P.d, 1);
    suite_read_integers(file, &P.n, 1);
    allocate();
    suite_read(file, P.centres, P.k * P.d);
    suite_read(file, P.points, P.n * P.d);
    fclose(file);
}

static int64_t inputs(void) {
    return P.k * P.d;
}
static int64_t both(void) {
    return 2 * P.k * P.d;
}
static int adl_primal(double *out) {
    return kmeans(P.k, P.d, P.n, P.centres, P.points, out);
}

static int adl_gradient(double *out) {
    return kmeans_gradient(P.k, P.d, P.n, P.centres, P.points, out);
}

static int adl_newton(double *out) {
    return kmeans_newton(P.k, P.d, P.n, P.centres, P.points, out, out + inputs());
}

static void c_primal(double *out) {
    *out = c_kmeans(P.k, P.d, P.n, P.centres, P.points);
}
static void c_grad(double *out) {
    c_newton(P.k, P.d, P.n, P.centres, P.points, out, NULL);
}

static void c_both(double *out) {
    c_newton(P.k, P.d, P.n, P.centres, P.points, out, out + inputs());
}

const Program PROGRAM = {make,
                         read,
                         {{"primal", "F", suite_one, adl_primal, c_primal, NULL},
                          {"gradient", "J", inputs, adl_gradient, c_grad, NULL},
                          {"newton", "JH", both, adl_newton, c_both, NULL}}};
