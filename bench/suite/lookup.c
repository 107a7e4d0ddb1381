/* Monte-Carlo cross-section look-up.  Sizes: particles, g grid points, u nuclides. */
#include "suite.h"

#include "lookup.h"
#include "lookup_gradient.h"

enum { MATERIALS = 12, SECTIONS = 5 };

SHARED struct {
    int64_t particles, g, u, start[MATERIALS + 1], *nuclide;
    double *energy, *xs, *density;
} lookup_data;
#define P lookup_data

/* Three rounds of x^5 and an affine map modulo the prime 2^31 - 1. */
INLINE int64_t hash(int64_t stream, int64_t counter) {
    const int64_t prime = 2147483647;
    int64_t h = counter % prime;
    for (int round = 0; round < 3; round++) {
        int64_t square = h * h % prime;
        h = (square * square % prime * h % prime * 48271 + stream + 1) % prime;
    }
    return h;
}

INLINE double draw(int64_t stream, int64_t counter) {
    return ((double)hash(stream, counter) + 0.5) / 2147483647.0;
}

/* The cell of the grid that holds E. */
INLINE int64_t find(int64_t g, const double *restrict grid, double e) {
    int64_t low = 0, high = g - 1;
    while (high - low > 1) {
        int64_t middle = (low + high) / 2;
        if (grid[middle] <= e) low = middle;
        else high = middle;
    }
    return low;
}

REFERENCE double c_lookup(int64_t g, const double *restrict energy, const double *restrict xs,
                          const int64_t *restrict start, const int64_t *restrict nuclide,
                          const double *restrict density, int64_t particles) {
    double total = 0.0;
    for (int64_t p = 0; p < particles; p++) {
        double e = draw(0, p), s = 0.0;
        int64_t material = hash(1, p) % MATERIALS, i = find(g, energy, e);
        double f = (e - energy[i]) / (energy[i + 1] - energy[i]);
        for (int64_t k = start[material]; k < start[material + 1]; k++) {
            const double *restrict x = xs + (nuclide[k] * g + i) * SECTIONS;
            double t = 0.0;
            for (int c = 0; c < SECTIONS; c++) t += (1.0 - f) * x[c] + f * x[SECTIONS + c];
            s += density[k] * t;
        }
        total += s;
    }
    return total;
}

/* The value is linear in xs, with weights that depend on the particle and the nuclide only; for the
   energies the slope in f is summed over the nuclides first. */
REFERENCE void c_gradient(int64_t g, int64_t u, const double *restrict energy,
                          const double *restrict xs, const int64_t *restrict start,
                          const int64_t *restrict nuclide, const double *restrict density,
                          int64_t particles, double *restrict denergy, double *restrict dxs) {
    memset(denergy, 0, (size_t)g * sizeof *denergy);
    memset(dxs, 0, (size_t)(u * g * SECTIONS) * sizeof *dxs);
    for (int64_t p = 0; p < particles; p++) {
        double e = draw(0, p), slope = 0.0;
        int64_t material = hash(1, p) % MATERIALS, i = find(g, energy, e);
        double width = energy[i + 1] - energy[i], f = (e - energy[i]) / width;
        for (int64_t k = start[material]; k < start[material + 1]; k++) {
            int64_t at = (nuclide[k] * g + i) * SECTIONS;
            const double *restrict x = xs + at;
            double *restrict d = dxs + at, t = 0.0;
            double low = density[k] * (1.0 - f), high = density[k] * f;
            for (int c = 0; c < SECTIONS; c++) {
                t += x[SECTIONS + c] - x[c];
                d[c] += low;
                d[SECTIONS + c] += high;
            }
            slope += density[k] * t;
        }
        denergy[i] -= slope * (1.0 - f) / width;
        denergy[i + 1] -= slope * f / width;
    }
}

static int order(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The data of the program's `main`. */
static void make(const int64_t *size) {
    static const int64_t counts[MATERIALS] = {34, 5, 4, 4, 27, 21, 21, 21, 21, 21, 9, 9};
    P.particles = size[0], P.g = size[1], P.u = size[2];
    for (int i = 0; i < MATERIALS; i++) P.start[i + 1] = P.start[i] + counts[i];
    P.energy = suite_numbers(P.g);
    P.xs = suite_numbers(P.u * P.g * SECTIONS);
    P.nuclide = suite_integers(P.start[MATERIALS]);
    P.density = suite_numbers(P.start[MATERIALS]);
    for (int64_t i = 0; i < P.g; i++) P.energy[i] = draw(2, i);
    qsort(P.energy, (size_t)P.g, sizeof(double), order);
    P.energy[0] = 0.0, P.energy[P.g - 1] = 1.0;
    for (int64_t i = 0; i < P.u * P.g * SECTIONS; i++) P.xs[i] = draw(3, i);
    for (int64_t k = 0; k < P.start[MATERIALS]; k++) {
        P.nuclide[k] = hash(4, k) % P.u;
        P.density[k] = 10.0 * draw(5, k);
    }
}

static int64_t inputs(void) {
    return P.g + P.u * P.g * SECTIONS;
}

static int adl_primal(double *out) {
    return lookup(P.g, P.u, MATERIALS + 1, P.start[MATERIALS], P.energy, P.xs, P.start, P.nuclide,
                  P.density, P.particles, out);
}

static int adl_gradient(double *out) {
    return lookup_gradient(P.g, P.u, MATERIALS + 1, P.start[MATERIALS], P.energy, P.xs, P.start,
                           P.nuclide, P.density, P.particles, out, out + P.g);
}

static void c_primal(double *out) {
    *out = c_lookup(P.g, P.energy, P.xs, P.start, P.nuclide, P.density, P.particles);
}

static void c_grad(double *out) {
    c_gradient(P.g, P.u, P.energy, P.xs, P.start, P.nuclide, P.density, P.particles, out,
               out + P.g);
}

const Program PROGRAM = {make,
                         NULL,
                         {{"primal", NULL, suite_one, adl_primal, c_primal, NULL},
                          {"gradient", NULL, inputs, adl_gradient, c_grad, NULL}}};
