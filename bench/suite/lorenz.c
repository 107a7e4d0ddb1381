/* Lorenz's system by Runge-Kutta.  Sizes: m trajectories, steps. */
#include "suite.h"

#include "lorenz.h"
#include "lorenz_gradient.h"

#define H 0.005

SHARED struct {
    int64_t m, steps;
    double *first, rates[3]; /* sigma, rho, beta */
} lorenz_data;
#define P lorenz_data

typedef struct Vector {
    double x, y, z;
} Vector;

INLINE Vector slope(Vector s, const double *rates) {
    return (Vector){rates[0] * (s.y - s.x), s.x * (rates[1] - s.z) - s.y,
                    s.x * s.y - rates[2] * s.z};
}

/* a + f b */
INLINE Vector along(Vector a, double f, Vector b) {
    return (Vector){a.x + f * b.x, a.y + f * b.y, a.z + f * b.z};
}

INLINE Vector step(Vector s, const double *rates) {
    Vector a = slope(s, rates), b = slope(along(s, 0.5 * H, a), rates);
    Vector c = slope(along(s, 0.5 * H, b), rates), d = slope(along(s, H, c), rates);
    s.x += H / 6.0 * (a.x + 2.0 * b.x + 2.0 * c.x + d.x);
    s.y += H / 6.0 * (a.y + 2.0 * b.y + 2.0 * c.y + d.y);
    s.z += H / 6.0 * (a.z + 2.0 * b.z + 2.0 * c.z + d.z);
    return s;
}

REFERENCE double c_lorenz(int64_t m, int64_t steps, const double *restrict first,
                          const double *restrict rates) {
    double total = 0.0, r[3] = {rates[0], rates[1], rates[2]};
    for (int64_t q = 0; q < m; q++) {
        Vector s = {first[3 * q], first[3 * q + 1], first[3 * q + 2]};
        for (int64_t t = 0; t < steps; t++) s = step(s, r);
        total += 0.5 * (s.x * s.x + s.y * s.y + s.z * s.z);
    }
    return total;
}

/* The transpose of the slope's derivative at S applied to A; the rates' part is added to G. */
INLINE Vector slope_back(Vector s, const double *rates, Vector a, double *g) {
    g[0] += a.x * (s.y - s.x);
    g[1] += a.y * s.x;
    g[2] -= a.z * s.z;
    return (Vector){-rates[0] * a.x + (rates[1] - s.z) * a.y + s.y * a.z,
                    rates[0] * a.x - a.y + s.x * a.z, -s.x * a.y - rates[2] * a.z};
}

/* The cotangent of the state before the step from that behind it, G. */
INLINE Vector step_back(Vector s, const double *rates, Vector g, double *dr) {
    Vector zero = {0.0, 0.0, 0.0};
    Vector s2 = along(s, 0.5 * H, slope(s, rates));
    Vector s3 = along(s, 0.5 * H, slope(s2, rates));
    Vector s4 = along(s, H, slope(s3, rates));
    Vector d4 = slope_back(s4, rates, along(zero, H / 6.0, g), dr);
    Vector d3 = slope_back(s3, rates, along(along(zero, H / 3.0, g), H, d4), dr);
    Vector d2 = slope_back(s2, rates, along(along(zero, H / 3.0, g), 0.5 * H, d3), dr);
    Vector d1 = slope_back(s, rates, along(along(zero, H / 6.0, g), 0.5 * H, d2), dr);
    return along(along(along(along(g, 1.0, d4), 1.0, d3), 1.0, d2), 1.0, d1);
}

REFERENCE void c_gradient(int64_t m, int64_t steps, const double *restrict first,
                          const double *restrict rates, double *restrict g, double *restrict dr) {
    double r[3] = {rates[0], rates[1], rates[2]}, sums[3] = {0.0, 0.0, 0.0};
    Vector *tape = (Vector *)take(3 * steps);
    for (int64_t q = 0; q < m; q++) {
        Vector s = {first[3 * q], first[3 * q + 1], first[3 * q + 2]};
        for (int64_t t = 0; t < steps; t++) tape[t] = s, s = step(s, r);
        for (int64_t t = steps - 1; t >= 0; t--) s = step_back(tape[t], r, s, sums);
        g[3 * q] = s.x, g[3 * q + 1] = s.y, g[3 * q + 2] = s.z;
    }
    memcpy(dr, sums, sizeof sums);
    give(tape);
}

static void make(const int64_t *size) {
    P.m = size[0], P.steps = size[1];
    P.first = suite_numbers(3 * P.m);
    for (int64_t i = 0; i < 3 * P.m; i++) P.first[i] = 1.0 + suite_uniform();
    P.rates[0] = 10.0, P.rates[1] = 28.0, P.rates[2] = 8.0 / 3.0;
}

static void read(const char *path) {
    FILE *file = suite_open(path);
    suite_read_integers(file, &P.m, 1);
    suite_read_integers(file, &P.steps, 1);
    P.first = suite_numbers(3 * P.m);
    suite_read(file, P.first, 3 * P.m);
    suite_read(file, P.rates, 3);
    fclose(file);
}

static int64_t inputs(void) {
    return 3 * P.m + 3;
}

static int adl_primal(double *out) {
    return lorenz(P.m, P.first, P.rates[0], P.rates[1], P.rates[2], P.steps, out);
}

static int adl_gradient(double *out) {
    double *rates = out + 3 * P.m;
    return lorenz_gradient(P.m, P.first, P.rates[0], P.rates[1], P.rates[2], P.steps, out, rates,
                           rates + 1, rates + 2);
}

static void c_primal(double *out) {
    *out = c_lorenz(P.m, P.steps, P.first, P.rates);
}

static void c_grad(double *out) {
    c_gradient(P.m, P.steps, P.first, P.rates, out, out + 3 * P.m);
}

const Program PROGRAM = {make,
                         read,
                         {{"primal", "F", suite_one, adl_primal, c_primal, NULL},
                          {"gradient", "J", inputs, adl_gradient, c_grad, NULL}}};
