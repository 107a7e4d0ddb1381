/* k-means with points in CSR and dense centres.  Sizes: k centres, m columns, n points, entries of
   a point. */
#include "suite.h"

#include "kmeans_sparse.h"
#include "kmeans_sparse_gradient.h"

SHARED struct {
    int64_t k, m, n, entries, *start, *col;
    double *centres, *val;
} kmeans_sparse_data;
#define P kmeans_sparse_data

INLINE void norms(int64_t k, int64_t m, const double *restrict centres, double *restrict square) {
    for (int64_t c = 0; c < k; c++) {
        square[c] = 0.0;
        for (int64_t j = 0; j < m; j++) square[c] += centres[c * m + j] * centres[c * m + j];
    }
}

/* Cost of the entries BEGIN to END, and the nearest centre, *WHICH. */
INLINE double nearest(int64_t k, int64_t m, const double *restrict centres,
                      const double *restrict square, const int64_t *restrict col,
                      const double *restrict val, int64_t begin, int64_t end, int64_t *which) {
    double best = 0.0;
    for (int64_t c = 0; c < k; c++) {
        double s = square[c];
        for (int64_t i = begin; i < end; i++)
            s += (val[i] - 2.0 * centres[c * m + col[i]]) * val[i];
        if (c == 0 || s < best) best = s, *which = c;
    }
    return best;
}

REFERENCE double c_kmeans_sparse(int64_t k, int64_t m, int64_t n, const double *restrict centres,
                                 const int64_t *restrict start, const int64_t *restrict col,
                                 const double *restrict val) {
    double *square = take(k), total = 0.0;
    int64_t which = 0;
    norms(k, m, centres, square);
    for (int64_t p = 0; p < n; p++)
        total += nearest(k, m, centres, square, col, val, start[p], start[p + 1], &which);
    give(square);
    return total;
}

REFERENCE void c_newton(int64_t k, int64_t m, int64_t n, const double *restrict centres,
                        const int64_t *restrict start, const int64_t *restrict col,
                        const double *restrict val, double *restrict g, double *restrict h) {
    double *square = take(k), *members = take_zeroed(k);
    int64_t which = 0;
    memset(g, 0, (size_t)(k * m) * sizeof *g);
    norms(k, m, centres, square);
    for (int64_t p = 0; p < n; p++) {
        nearest(k, m, centres, square, col, val, start[p], start[p + 1], &which);
        members[which] += 1.0;
        for (int64_t i = start[p]; i < start[p + 1]; i++) g[which * m + col[i]] -= val[i];
    }
    for (int64_t c = 0; c < k; c++)
        for (int64_t j = 0; j < m; j++) {
            g[c * m + j] = 2.0 * (g[c * m + j] + members[c] * centres[c * m + j]);
            if (h) h[c * m + j] = 2.0 * members[c];
        }
    give(square), give(members);
}

static void allocate(void) {
    P.centres = suite_numbers(P.k * P.m);
    P.start = suite_integers(P.n + 1);
    P.col = suite_integers(P.entries);
    P.val = suite_numbers(P.entries);
}

/* The entries of a point are spread over the columns; the centres are its first points, with noise
   against ties. */
static void make(const int64_t *size) {
    P.k = size[0], P.m = size[1], P.n = size[2], P.entries = size[2] * size[3];
    int64_t row = size[3];
    allocate();
    for (int64_t p = 0; p <= P.n; p++) P.start[p] = p * row;
    for (int64_t i = 0; i < P.entries; i++) {
        P.col[i] = (int64_t)(((double)(i % row) + suite_uniform()) * (double)P.m / (double)row);
        P.val[i] = suite_uniform();
    }
    for (int64_t i = 0; i < P.k * row; i++) P.centres[i / row * P.m + P.col[i]] = P.val[i];
    for (int64_t i = 0; i < P.k * P.m; i++) P.centres[i] += 0.01 * suite_uniform();
}

static void read(const char *path) {
    FILE *file = suite_open(path);
    suite_read_integers(file, &P.k, 1);
    suite_read_integers(file, &P.m, 1);
    suite_read_integers(file, &P.n, 1);
    suite_read_integers(file, &P.entries, 1);
    allocate();
    suite_read(file, P.centres, P.k * P.m);
    suite_read_integers(file, P.start, P.n + 1);
    suite_read_integers(file, P.col, P.entries);
    suite_read(file, P.val, P.entries);
    fclose(file);
}

static int64_t inputs(void) {
    return P.k * P.m;
}
static int64_t both(void) {
    return 2 * P.k * P.m;
}

static int adl_primal(double *out) {
    return kmeans_sparse(P.k, P.m, P.n + 1, P.entries, P.centres, P.start, P.col, P.val, out);
}

static int adl_gradient(double *out) {
    return kmeans_sparse_gradient(P.k, P.m, P.n + 1, P.entries, P.centres, P.start, P.col, P.val,
                                  out);
}

static int adl_newton(double *out) {
    return kmeans_sparse_newton(P.k, P.m, P.n + 1, P.entries, P.centres, P.start, P.col, P.val, out,
                                out + inputs());
}

static void c_primal(double *out) {
    *out = c_kmeans_sparse(P.k, P.m, P.n, P.centres, P.start, P.col, P.val);
}

static void c_grad(double *out) {
    c_newton(P.k, P.m, P.n, P.centres, P.start, P.col, P.val, out, NULL);
}

static void c_both(double *out) {
    c_newton(P.k, P.m, P.n, P.centres, P.start, P.col, P.val, out, out + inputs());
}

const Program PROGRAM = {make,
                         read,
                         {{"primal", "F", suite_one, adl_primal, c_primal, NULL},
                          {"gradient", "J", inputs, adl_gradient, c_grad, NULL},
                          {"newton", "JH", both, adl_newton, c_both, NULL}}};
