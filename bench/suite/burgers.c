/* Burgers' equation on a grid.  Sizes: n rows and columns, steps. */
#include "suite.h"

#include "burgers.h"
#include "burgers_gradient.h"

#define C 0.05
#define D 0.1

SHARED struct {
    int64_t n, steps;
    double *first, *target; /* u, then v */
} burgers_data;
#define P burgers_data

/* The inner cells of the new fields (A, B) from the old ones. */
INLINE void step(int64_t n, const double *restrict u, const double *restrict v, double *restrict a,
                 double *restrict b) {
    for (int64_t i = 1; i < n - 1; i++)
        for (int64_t j = 1; j < n - 1; j++) {
            int64_t q = i * n + j;
            a[q] = u[q] - C * (u[q] * (u[q + n] - u[q - n]) + v[q] * (u[q + 1] - u[q - 1])) +
                   D * (u[q + n] + u[q - n] + u[q + 1] + u[q - 1] - 4.0 * u[q]);
            b[q] = v[q] - C * (u[q] * (v[q + n] - v[q - n]) + v[q] * (v[q + 1] - v[q - 1])) +
                   D * (v[q + n] + v[q - n] + v[q + 1] + v[q - 1] - 4.0 * v[q]);
        }
}

REFERENCE double c_burgers(int64_t n, int64_t steps, const double *restrict first,
                           const double *restrict target) {
    int64_t m = n * n;
    double *p = take(2 * m), *q = take(2 * m), loss = 0.0;
    memcpy(p, first, (size_t)(2 * m) * sizeof *p);
    memcpy(q, first, (size_t)(2 * m) * sizeof *q); /* the rim, which stays */
    for (int64_t t = 0; t < steps; t++) {
        step(n, p, p + m, q, q + m);
        double *other = p;
        p = q, q = other;
    }
    for (int64_t i = 0; i < 2 * m; i++) {
        double d = p[i] - target[i];
        loss += 0.5 * d * d;
    }
    give(p), give(q);
    return loss;
}

INLINE void copy_rim(int64_t n, const double *restrict p, double *restrict q) {
    memcpy(q, p, (size_t)n * sizeof *q);
    memcpy(q + (n - 1) * n, p + (n - 1) * n, (size_t)n * sizeof *q);
    for (int64_t i = 1; i < n - 1; i++) q[i * n] = p[i * n], q[i * n + n - 1] = p[i * n + n - 1];
}

/* Adds the rim of G to SUM and makes it zero. */
INLINE void move_rim(int64_t n, double *restrict g, double *restrict sum) {
    for (int64_t i = 0; i < n; i++) {
        int64_t step = i == 0 || i == n - 1 ? 1 : n - 1;
        for (int64_t j = 0; j < n; j += step) sum[i * n + j] += g[i * n + j], g[i * n + j] = 0.0;
    }
}

/* A step backwards from (A, B), which are zero on the rim, to the inner cells of (X, Y): gathers,
   so that there is no scatter. */
INLINE void back(int64_t n, const double *restrict u, const double *restrict v,
                 const double *restrict a, const double *restrict b, double *restrict x,
                 double *restrict y) {
    for (int64_t i = 1; i < n - 1; i++)
        for (int64_t j = 1; j < n - 1; j++) {
            int64_t q = i * n + j;
            double ux = u[q + n] - u[q - n], uy = u[q + 1] - u[q - 1];
            double vx = v[q + n] - v[q - n], vy = v[q + 1] - v[q - 1];
            x[q] = a[q] * (1.0 - 4.0 * D - C * ux) - C * b[q] * vx +
                   D * (a[q + n] + a[q - n] + a[q + 1] + a[q - 1]) -
                   C * (a[q - n] * u[q - n] - a[q + n] * u[q + n] + a[q - 1] * v[q - 1] -
                        a[q + 1] * v[q + 1]);
            y[q] = b[q] * (1.0 - 4.0 * D - C * vy) - C * a[q] * uy +
                   D * (b[q + n] + b[q - n] + b[q + 1] + b[q - 1]) -
                   C * (b[q - n] * u[q - n] - b[q + n] * u[q + n] + b[q - 1] * v[q - 1] -
                        b[q + 1] * v[q + 1]);
        }
}

/* What the rim of one field gets from its neighbours; nothing reads the corners. */
INLINE void back_rim(int64_t n, const double *restrict u, const double *restrict v,
                     const double *restrict a, double *restrict rim) {
    for (int64_t k = 1; k < n - 1; k++) {
        int64_t top = n + k, low = (n - 2) * n + k, left = k * n + 1, right = k * n + n - 2;
        rim[k] += a[top] * (C * u[top] + D);
        rim[low + n] += a[low] * (-C * u[low] + D);
        rim[left - 1] += a[left] * (C * v[left] + D);
        rim[right + 1] += a[right] * (-C * v[right] + D);
    }
}

/* Keeps every state. */
REFERENCE void c_gradient(int64_t n, int64_t steps, const double *restrict first,
                          const double *restrict target, double *restrict g) {
    int64_t m = n * n;
    double *tape = take(2 * m * (steps + 1)), *a = take_zeroed(2 * m), *x = take_zeroed(2 * m);
    double *last = tape + 2 * m * steps;
    memcpy(tape, first, (size_t)(2 * m) * sizeof *tape);
    for (int64_t t = 0; t < steps; t++) {
        double *p = tape + 2 * m * t, *q = p + 2 * m;
        copy_rim(n, p, q);
        copy_rim(n, p + m, q + m);
        step(n, p, p + m, q, q + m);
    }
    memset(g, 0, (size_t)(2 * m) * sizeof *g);
    for (int64_t i = 0; i < 2 * m; i++) a[i] = last[i] - target[i];
    move_rim(n, a, g);
    move_rim(n, a + m, g + m);
    for (int64_t t = steps - 1; t >= 0; t--) {
        const double *u = tape + 2 * m * t, *v = u + m;
        back(n, u, v, a, a + m, x, x + m);
        back_rim(n, u, v, a, g);
        back_rim(n, u, v, a + m, g + m);
        double *other = a;
        a = x, x = other;
    }
    for (int64_t i = 0; i < 2 * m; i++) g[i] += a[i];
    give(tape), give(a), give(x);
}

static int64_t inputs(void) {
    return 2 * P.n * P.n;
}

static void allocate(void) {
    P.first = suite_numbers(inputs());
    P.target = suite_numbers(inputs());
}

static void make(const int64_t *size) {
    P.n = size[0], P.steps = size[1];
    allocate();
    for (int64_t i = 0; i < P.n; i++)
        for (int64_t j = 0; j < P.n; j++) {
            double x = M_PI * (double)i / (double)(P.n - 1),
                   y = M_PI * (double)j / (double)(P.n - 1);
            P.first[i * P.n + j] = sin(2.0 * x) * cos(y);
            P.first[P.n * P.n + i * P.n + j] = cos(x) * sin(2.0 * y);
        }
    for (int64_t i = 0; i < inputs(); i++) P.target[i] = 0.1 * suite_normal();
}

static void read(const char *path) {
    FILE *file = suite_open(path);
    suite_read_integers(file, &P.n, 1);
    suite_read_integers(file, &P.steps, 1);
    allocate();
    suite_read(file, P.first, inputs());
    suite_read(file, P.target, inputs());
    fclose(file);
}

static int adl_primal(double *out) {
    int64_t m = P.n * P.n;
    return burgers(P.n, P.first, P.first + m, P.target, P.target + m, P.steps, out);
}

static int adl_gradient(double *out) {
    int64_t m = P.n * P.n;
    return burgers_gradient(P.n, P.first, P.first + m, P.target, P.target + m, P.steps, out,
                            out + m);
}

static void c_primal(double *out) {
    *out = c_burgers(P.n, P.steps, P.first, P.target);
}
static void c_grad(double *out) {
    c_gradient(P.n, P.steps, P.first, P.target, out);
}

const Program PROGRAM = {make,
                         read,
                         {{"primal", "F", suite_one, adl_primal, c_primal, NULL},
                          {"gradient", "J", inputs, adl_gradient, c_grad, NULL}}};
