/* Lattice Boltzmann in two dimensions.  Sizes: n rows and columns, steps.

   C works on grids with a ghost rim, copied from and to the periodic ones. */
#include "suite.h"

#include "lbm.h"
#include "lbm_gradient.h"

#define OMEGA 1.2
#define W0 (4.0 / 9.0)
#define W1 (1.0 / 9.0)
#define W5 (1.0 / 36.0)

SHARED struct {
    int64_t n, steps;
    double *first, *target;
} lbm_data;
#define P lbm_data

/* What streams into one cell, and its density and velocity. */
typedef struct Cell {
    double f[9], r, x, y;
} Cell;

INLINE Cell gather(const double *restrict f, int64_t m, int64_t s, int64_t c) {
    Cell g = {{f[c], f[m + c - s], f[2 * m + c - 1], f[3 * m + c + s], f[4 * m + c + 1],
               f[5 * m + c - s - 1], f[6 * m + c + s - 1], f[7 * m + c + s + 1],
               f[8 * m + c - s + 1]},
              0.0,
              0.0,
              0.0};
    g.r = g.f[0] + g.f[1] + g.f[2] + g.f[3] + g.f[4] + g.f[5] + g.f[6] + g.f[7] + g.f[8];
    double inverse = 1.0 / g.r;
    g.x = (g.f[1] - g.f[3] + g.f[5] - g.f[6] - g.f[7] + g.f[8]) * inverse;
    g.y = (g.f[2] - g.f[4] + g.f[5] + g.f[6] - g.f[7] - g.f[8]) * inverse;
    return g;
}

INLINE void collide(const Cell *g, double *restrict o, int64_t m, int64_t c) {
    const double *f = g->f;
    double x = g->x, y = g->y, p = x + y, d = x - y, k = 1.0 - 1.5 * (x * x + y * y);
    double a = OMEGA * W0 * g->r, b = OMEGA * W1 * g->r, e = OMEGA * W5 * g->r, z = 1.0 - OMEGA;
    o[c] = z * f[0] + a * k;
    o[m + c] = z * f[1] + b * (k + 3.0 * x + 4.5 * x * x);
    o[2 * m + c] = z * f[2] + b * (k + 3.0 * y + 4.5 * y * y);
    o[3 * m + c] = z * f[3] + b * (k - 3.0 * x + 4.5 * x * x);
    o[4 * m + c] = z * f[4] + b * (k - 3.0 * y + 4.5 * y * y);
    o[5 * m + c] = z * f[5] + e * (k + 3.0 * p + 4.5 * p * p);
    o[6 * m + c] = z * f[6] + e * (k - 3.0 * d + 4.5 * d * d);
    o[7 * m + c] = z * f[7] + e * (k - 3.0 * p + 4.5 * p * p);
    o[8 * m + c] = z * f[8] + e * (k + 3.0 * d + 4.5 * d * d);
}

INLINE void fill_rim(int64_t n, double *f) {
    int64_t s = n + 2;
    for (int64_t q = 0; q < 9; q++) {
        double *g = f + q * s * s;
        memcpy(g + 1, g + n * s + 1, (size_t)n * sizeof *g);
        memcpy(g + (n + 1) * s + 1, g + s + 1, (size_t)n * sizeof *g);
        for (int64_t i = 0; i <= n + 1; i++)
            g[i * s] = g[i * s + n], g[i * s + n + 1] = g[i * s + 1];
    }
}

/* A step from F to O; the velocities go to VX, VY unless they are NULL. */
INLINE void step(int64_t n, const double *restrict f, double *restrict o, double *restrict vx,
                 double *restrict vy) {
    int64_t s = n + 2, m = s * s;
    for (int64_t i = 1; i <= n; i++)
        for (int64_t j = 1; j <= n; j++) {
            Cell g = gather(f, m, s, i * s + j);
            if (vx) vx[(i - 1) * n + j - 1] = g.x, vy[(i - 1) * n + j - 1] = g.y;
            collide(&g, o, m, i * s + j);
        }
}

/* Copies the nine grids of n by n into such with a rim. */
INLINE void widen(int64_t n, const double *restrict x, double *restrict f) {
    for (int64_t r = 0; r < 9 * n; r++)
        memcpy(f + (r / n * (n + 2) + r % n + 1) * (n + 2) + 1, x + r * n, (size_t)n * sizeof *f);
}

REFERENCE double c_lbm(int64_t n, int64_t steps, const double *restrict first,
                       const double *restrict target) {
    int64_t s = n + 2;
    double *f = take(9 * s * s), *o = take(9 * s * s), loss = 0.0;
    widen(n, first, f);
    for (int64_t t = 0; t < steps; t++) {
        fill_rim(n, f);
        step(n, f, o, NULL, NULL);
        double *other = f;
        f = o, o = other;
    }
    for (int64_t r = 0; r < 9 * n; r++) {
        const double *row = f + (r / n * s + r % n + 1) * s + 1;
        for (int64_t j = 0; j < n; j++) {
            double d = row[j] - target[r * n + j];
            loss += 0.5 * d * d;
        }
    }
    give(f), give(o);
    return loss;
}

/* A step backwards from B to O.  Each population is read by one cell, so that nothing is added
   up: the nine stores go to nine planes, and no two to the same place. */
INLINE void back(int64_t n, const double *restrict vx, const double *restrict vy,
                 const double *restrict b, double *restrict o) {
    int64_t s = n + 2, m = s * s;
    for (int64_t i = 1; i <= n; i++)
#ifdef __clang__
#pragma clang loop vectorize(assume_safety)
#else
#pragma GCC ivdep
#endif
        for (int64_t j = 1; j <= n; j++) {
            int64_t c = i * s + j, k = (i - 1) * n + j - 1;
            double x = vx[k], y = vy[k], p = x + y, d = x - y;
            double b0 = b[c] * W0, b1 = b[m + c] * W1, b2 = b[2 * m + c] * W1;
            double b3 = b[3 * m + c] * W1, b4 = b[4 * m + c] * W1, b5 = b[5 * m + c] * W5;
            double b6 = b[6 * m + c] * W5, b7 = b[7 * m + c] * W5, b8 = b[8 * m + c] * W5;
            double sum = b0 + b1 + b2 + b3 + b4 + b5 + b6 + b7 + b8;
            double sx = b1 - b3 + b5 - b6 - b7 + b8, sy = b2 - b4 + b5 + b6 - b7 - b8;
            double s57 = b5 + b7, s68 = b6 + b8;
            double square =
                4.5 * (x * x * (b1 + b3) + y * y * (b2 + b4) + p * p * s57 + d * d * s68) -
                1.5 * (x * x + y * y) * sum;
            double ar = OMEGA * (sum - square), z = 1.0 - OMEGA;
            double ax =
                OMEGA * (3.0 * sx + 9.0 * (x * (b1 + b3) + p * s57 + d * s68) - 3.0 * x * sum);
            double ay =
                OMEGA * (3.0 * sy + 9.0 * (y * (b2 + b4) + p * s57 - d * s68) - 3.0 * y * sum);
            o[c] = z * b[c] + ar;
            o[m + c - s] = z * b[m + c] + ar + ax;
            o[2 * m + c - 1] = z * b[2 * m + c] + ar + ay;
            o[3 * m + c + s] = z * b[3 * m + c] + ar - ax;
            o[4 * m + c + 1] = z * b[4 * m + c] + ar - ay;
            o[5 * m + c - s - 1] = z * b[5 * m + c] + ar + ax + ay;
            o[6 * m + c + s - 1] = z * b[6 * m + c] + ar - ax + ay;
            o[7 * m + c + s + 1] = z * b[7 * m + c] + ar - ax - ay;
            o[8 * m + c - s + 1] = z * b[8 * m + c] + ar + ax - ay;
        }
}

/* Zeroes what `back` may leave unwritten: the two outer rows and columns on each side. */
INLINE void clear_rim(int64_t n, double *b) {
    int64_t s = n + 2;
    for (int64_t q = 0; q < 9; q++) {
        double *h = b + q * s * s;
        memset(h, 0, (size_t)(2 * s) * sizeof *h);
        memset(h + n * s, 0, (size_t)(2 * s) * sizeof *h);
        for (int64_t i = 0; i <= n + 1; i++)
            h[i * s] = h[i * s + 1] = h[i * s + n] = h[i * s + n + 1] = 0.0;
    }
}

/* The transpose of fill_rim. */
INLINE void fold_rim(int64_t n, double *b) {
    int64_t s = n + 2;
    for (int64_t q = 0; q < 9; q++) {
        double *h = b + q * s * s;
        for (int64_t i = 0; i <= n + 1; i++) {
            h[i * s + n] += h[i * s], h[i * s + 1] += h[i * s + n + 1];
            h[i * s] = h[i * s + n + 1] = 0.0;
        }
        for (int64_t j = 1; j <= n; j++) {
            h[n * s + j] += h[j], h[s + j] += h[(n + 1) * s + j];
            h[j] = h[(n + 1) * s + j] = 0.0;
        }
    }
}

/* The collision is the density times a form linear and quadratic in the velocity, so its transpose
   needs only the velocity of each cell and step: two numbers are kept, not nine. */
REFERENCE void c_gradient(int64_t n, int64_t steps, const double *restrict first,
                          const double *restrict target, double *restrict g) {
    int64_t s = n + 2, m = s * s, cells = n * n;
    double *tape = take(2 * cells * steps), *a = take_zeroed(9 * m), *b = take_zeroed(9 * m);
    widen(n, first, a);
    for (int64_t t = 0; t < steps; t++) {
        double *v = tape + 2 * cells * t, *other = a;
        fill_rim(n, a);
        step(n, a, b, v, v + cells);
        a = b, b = other;
    }
    for (int64_t r = 0; r < 9 * n; r++) {
        double *row = a + (r / n * s + r % n + 1) * s + 1;
        for (int64_t j = 0; j < n; j++) row[j] -= target[r * n + j];
    }
    for (int64_t t = steps - 1; t >= 0; t--) {
        double *v = tape + 2 * cells * t, *other = a;
        clear_rim(n, b);
        back(n, v, v + cells, a, b);
        fold_rim(n, b);
        a = b, b = other;
    }
    for (int64_t r = 0; r < 9 * n; r++)
        memcpy(g + r * n, a + (r / n * s + r % n + 1) * s + 1, (size_t)n * sizeof *g);
    give(tape), give(a), give(b);
}

static int64_t inputs(void) {
    return 9 * P.n * P.n;
}

static void allocate(void) {
    P.first = suite_numbers(inputs());
    P.target = suite_numbers(inputs());
}

static void make(const int64_t *size) {
    static const double ex[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
    static const double ey[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
    static const double weight[9] = {W0, W1, W1, W1, W1, W5, W5, W5, W5};
    P.n = size[0], P.steps = size[1];
    allocate();
    for (int64_t k = 0; k < inputs(); k++) {
        int64_t q = k / (P.n * P.n), i = k / P.n % P.n, j = k % P.n;
        double x = 0.05 * sin(2.0 * M_PI * (double)j / (double)P.n);
        double y = 0.05 * cos(2.0 * M_PI * (double)i / (double)P.n), eu = ex[q] * x + ey[q] * y;
        P.first[k] = weight[q] * (1.0 + 3.0 * eu + 4.5 * eu * eu - 1.5 * (x * x + y * y)) +
                     1e-3 * suite_uniform();
        P.target[k] = weight[q] * (1.0 + 0.1 * suite_normal());
    }
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
    return lbm(P.n, P.first, P.target, P.steps, out);
}
static int adl_gradient(double *out) {
    return lbm_gradient(P.n, P.first, P.target, P.steps, out);
}
static void c_primal(double *out) {
    *out = c_lbm(P.n, P.steps, P.first, P.target);
}
static void c_grad(double *out) {
    c_gradient(P.n, P.steps, P.first, P.target, out);
}

const Program PROGRAM = {make,
                         read,
                         {{"primal", "F", suite_one, adl_primal, c_primal, NULL},
                          {"gradient", "J", inputs, adl_gradient, c_grad, NULL}}};
