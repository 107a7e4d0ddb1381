/* The Brusselator on a ring by Runge-Kutta.  Sizes: n cells, steps. */
#include "suite.h"

#include "brusselator.h"
#include "brusselator_gradient.h"

#define H 0.002

SHARED struct {
    int64_t n, steps;
    double *state, rates[3]; /* u, then v; A, B, alpha */
} brusselator_data;
#define P brusselator_data

/* One cell, I, with the neighbours L and R. */
INLINE void slope_at(int64_t n, const double *restrict s, const double *restrict rates,
                     double *restrict d, int64_t i, int64_t l, int64_t r) {
    const double *u = s, *v = s + n;
    double w = u[i] * u[i] * v[i];
    d[i] = rates[0] + w - (rates[1] + 1.0) * u[i] + rates[2] * (u[l] - 2.0 * u[i] + u[r]);
    d[n + i] = rates[1] * u[i] - w + rates[2] * (v[l] - 2.0 * v[i] + v[r]);
}

INLINE void slope(int64_t n, const double *restrict s, const double *restrict rates,
                  double *restrict d) {
    double r[3] = {rates[0], rates[1], rates[2]};
    slope_at(n, s, r, d, 0, n - 1, n > 1 ? 1 : 0);
    for (int64_t i = 1; i < n - 1; i++) slope_at(n, s, r, d, i, i - 1, i + 1);
    if (n > 1) slope_at(n, s, r, d, n - 1, n - 2, 0);
}

/* out = s + h d */
INLINE void along(int64_t m, const double *restrict s, double h, const double *restrict d,
                  double *restrict out) {
    for (int64_t i = 0; i < m; i++) out[i] = s[i] + h * d[i];
}

/* NEXT = the state one step behind S; WORK holds 5 m numbers. */
INLINE void step(int64_t n, const double *restrict s, const double *restrict rates,
                 double *restrict next, double *restrict work) {
    int64_t m = 2 * n;
    double *y = work, *k1 = work + m, *k2 = work + 2 * m, *k3 = work + 3 * m, *k4 = work + 4 * m;
    slope(n, s, rates, k1);
    along(m, s, 0.5 * H, k1, y);
    slope(n, y, rates, k2);
    along(m, s, 0.5 * H, k2, y);
    slope(n, y, rates, k3);
    along(m, s, H, k3, y);
    slope(n, y, rates, k4);
    for (int64_t i = 0; i < m; i++)
        next[i] = s[i] + H / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]);
}

REFERENCE double c_brusselator(int64_t n, int64_t steps, const double *restrict first,
                               const double *restrict rates) {
    double *s = take(2 * n), *next = take(2 * n), *work = take(10 * n), total = 0.0;
    memcpy(s, first, (size_t)(2 * n) * sizeof *s);
    for (int64_t t = 0; t < steps; t++) {
        step(n, s, rates, next, work);
        double *other = s;
        s = next, next = other;
    }
    for (int64_t i = 0; i < n; i++) total += 0.5 * s[i] * s[i];
    give(s), give(next), give(work);
    return total;
}

INLINE void back_at(int64_t n, const double *restrict s, const double *restrict rates,
                    const double *restrict a, double *restrict out, double *restrict g, int64_t i,
                    int64_t l, int64_t r) {
    const double *u = s, *v = s + n, *b = a + n;
    double d = a[i] - b[i];
    out[i] = 2.0 * u[i] * v[i] * d - (rates[1] + 1.0) * a[i] + rates[1] * b[i] +
             rates[2] * (a[l] - 2.0 * a[i] + a[r]);
    out[n + i] = u[i] * u[i] * d + rates[2] * (b[l] - 2.0 * b[i] + b[r]);
    g[0] += a[i];
    g[1] -= u[i] * d;
    g[2] += a[i] * (u[l] - 2.0 * u[i] + u[r]) + b[i] * (v[l] - 2.0 * v[i] + v[r]);
}

/* OUT = the transpose of the slope's derivative at S applied to A; the rates' part is added to DR.
 */
INLINE void slope_back(int64_t n, const double *restrict s, const double *restrict rates,
                       const double *restrict a, double *restrict out, double *restrict dr) {
    double r[3] = {rates[0], rates[1], rates[2]}, g[3] = {0.0, 0.0, 0.0};
    back_at(n, s, r, a, out, g, 0, n - 1, n > 1 ? 1 : 0);
    for (int64_t i = 1; i < n - 1; i++) back_at(n, s, r, a, out, g, i, i - 1, i + 1);
    if (n > 1) back_at(n, s, r, a, out, g, n - 1, n - 2, 0);
    for (int k = 0; k < 3; k++) dr[k] += g[k];
}

/* G becomes the cotangent of the state S before a step; WORK holds 8 m numbers. */
INLINE void step_back(int64_t n, const double *restrict s, const double *restrict rates,
                      double *restrict g, double *restrict dr, double *restrict work) {
    int64_t m = 2 * n;
    double *k = work, *s2 = work + m, *s3 = work + 2 * m, *s4 = work + 3 * m, *a = work + 4 * m;
    double *d4 = work + 5 * m, *d3 = work + 6 * m, *d2 = work + 7 * m;
    slope(n, s, rates, k);
    along(m, s, 0.5 * H, k, s2);
    slope(n, s2, rates, k);
    along(m, s, 0.5 * H, k, s3);
    slope(n, s3, rates, k);
    along(m, s, H, k, s4);
    for (int64_t i = 0; i < m; i++) a[i] = H / 6.0 * g[i];
    slope_back(n, s4, rates, a, d4, dr);
    for (int64_t i = 0; i < m; i++) a[i] = H / 3.0 * g[i] + H * d4[i];
    slope_back(n, s3, rates, a, d3, dr);
    for (int64_t i = 0; i < m; i++) a[i] = H / 3.0 * g[i] + 0.5 * H * d3[i];
    slope_back(n, s2, rates, a, d2, dr);
    for (int64_t i = 0; i < m; i++) a[i] = H / 6.0 * g[i] + 0.5 * H * d2[i];
    slope_back(n, s, rates, a, k, dr);
    for (int64_t i = 0; i < m; i++) g[i] += d4[i] + d3[i] + d2[i] + k[i];
}

/* Keeps the state before each step; the states inside it are computed again. */
REFERENCE void c_gradient(int64_t n, int64_t steps, const double *restrict first,
                          const double *restrict rates, double *restrict g, double *restrict dr) {
    int64_t m = 2 * n;
    double *tape = take(m * (steps + 1)), *work = take(8 * m);
    memcpy(tape, first, (size_t)m * sizeof *tape);
    for (int64_t t = 0; t < steps; t++) step(n, tape + t * m, rates, tape + (t + 1) * m, work);
    for (int64_t i = 0; i < m; i++) g[i] = i < n ? tape[steps * m + i] : 0.0;
    dr[0] = dr[1] = dr[2] = 0.0;
    for (int64_t t = steps - 1; t >= 0; t--) step_back(n, tape + t * m, rates, g, dr, work);
    give(tape), give(work);
}

static void make(const int64_t *size) {
    P.n = size[0], P.steps = size[1];
    P.state = suite_numbers(2 * P.n);
    for (int64_t i = 0; i < P.n; i++) {
        P.state[i] = 1.0 + sin(2.0 * M_PI * (double)i / (double)P.n);
        P.state[P.n + i] = 3.0 + 0.1 * suite_normal();
    }
    P.rates[0] = 1.0, P.rates[1] = 3.0, P.rates[2] = 20.0;
}

static void read(const char *path) {
    FILE *file = suite_open(path);
    suite_read_integers(file, &P.n, 1);
    suite_read_integers(file, &P.steps, 1);
    P.state = suite_numbers(2 * P.n);
    suite_read(file, P.state, 2 * P.n);
    suite_read(file, P.rates, 3);
    fclose(file);
}

static int64_t inputs(void) {
    return 2 * P.n + 3;
}

static int adl_primal(double *out) {
    return brusselator(P.n, P.state, P.state + P.n, P.rates[0], P.rates[1], P.rates[2], P.steps,
                       out);
}

static int adl_gradient(double *out) {
    double *rates = out + 2 * P.n;
    return brusselator_gradient(P.n, P.state, P.state + P.n, P.rates[0], P.rates[1], P.rates[2],
                                P.steps, out, out + P.n, rates, rates + 1, rates + 2);
}

static void c_primal(double *out) {
    *out = c_brusselator(P.n, P.steps, P.state, P.rates);
}

static void c_grad(double *out) {
    c_gradient(P.n, P.steps, P.state, P.rates, out, out + 2 * P.n);
}

const Program PROGRAM = {make,
                         read,
                         {{"primal", "F", suite_one, adl_primal, c_primal, NULL},
                          {"gradient", "J", inputs, adl_gradient, c_grad, NULL}}};
