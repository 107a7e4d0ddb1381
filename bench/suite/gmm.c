/* Log-likelihood of a Gaussian mixture with a Wishart prior.  Sizes: d dimensions, k components, n
   points. */
#include "suite.h"

#include "gmm.h"
#include "gmm_gradient.h"

SHARED struct {
    int64_t d, k, n, m;
    double gamma, *alpha, *mu, *icf, *x;
} gmm_data;
#define P gmm_data

static int64_t icf_size(void) {
    return P.d * (P.d + 1) / 2;
}

/* What depends on the sizes and the prior only. */
static double constants(void) {
    double nu = (double)(P.d + P.m + 1), d = (double)P.d;
    double normal = 0.25 * d * (d - 1) * log(M_PI);
    for (int64_t j = 1; j <= P.d; j++) normal += lgamma(0.5 * nu + 0.5 * (double)(1 - j));
    return -0.5 * (double)P.n * d * log(2 * M_PI) -
           (double)P.k * (nu * d * (log(P.gamma) - 0.5 * log(2.0)) - normal);
}

/* z = Q (x - mu) of one component, y = x - mu; returns its squared norm. */
INLINE double whiten(int64_t d, const double *restrict x, const double *restrict mu,
                     const double *restrict q, const double *restrict l, double *restrict y,
                     double *restrict z) {
    double square = 0.0;
    for (int64_t i = 0; i < d; i++) y[i] = x[i] - mu[i];
    for (int64_t i = 0; i < d; i++) z[i] = q[i] * y[i];
    for (int64_t i = 0; i < d; i++) {
        for (int64_t j = i + 1; j < d; j++) z[j] += l[j - i - 1] * y[i];
        l += d - 1 - i;
    }
    for (int64_t i = 0; i < d; i++) square += z[i] * z[i];
    return square;
}

/* The diagonals of Q, and their log-determinants. */
INLINE void diagonals(int64_t d, int64_t k, const double *restrict icf, double *restrict q,
                      double *restrict logdet) {
    int64_t s = d * (d + 1) / 2;
    for (int64_t c = 0; c < k; c++) {
        logdet[c] = 0.0;
        for (int64_t i = 0; i < d; i++) {
            logdet[c] += icf[c * s + i];
            q[c * d + i] = exp(icf[c * s + i]);
        }
    }
}

/* The greatest of T; T becomes exp(T - greatest), *SUM their sum. */
INLINE double exponentials(int64_t k, double *restrict t, double *sum) {
    double most = t[0];
    for (int64_t c = 1; c < k; c++)
        if (t[c] > most) most = t[c];
    *sum = 0.0;
    for (int64_t c = 0; c < k; c++) {
        t[c] = exp(t[c] - most);
        *sum += t[c];
    }
    return most;
}

REFERENCE double c_gmm(int64_t d, int64_t k, int64_t n, const double *restrict alpha,
                       const double *restrict mu, const double *restrict icf,
                       const double *restrict x, double gamma, int64_t m) {
    int64_t s = d * (d + 1) / 2;
    double *q = take(d * k), *logdet = take(k), *y = take(d), *z = take(d), *t = take(k);
    double total = 0.0, squares = 0.0, sum;
    diagonals(d, k, icf, q, logdet);
    for (int64_t p = 0; p < n; p++) {
        for (int64_t c = 0; c < k; c++)
            t[c] = alpha[c] + logdet[c] -
                   0.5 * whiten(d, x + p * d, mu + c * d, q + c * d, icf + c * s + d, y, z);
        double most = exponentials(k, t, &sum);
        total += log(sum) + most;
    }
    memcpy(t, alpha, (size_t)k * sizeof *t);
    double most = exponentials(k, t, &sum);
    total -= (double)n * (log(sum) + most);
    for (int64_t c = 0; c < k; c++) {
        for (int64_t i = 0; i < d; i++) squares += q[c * d + i] * q[c * d + i];
        for (int64_t i = d; i < s; i++) squares += icf[c * s + i] * icf[c * s + i];
        total -= (double)m * logdet[c];
    }
    give(q), give(logdet), give(y), give(z), give(t);
    return total + 0.5 * gamma * gamma * squares;
}

/* Nothing is kept over the points.  For the means only the sum of weighted z is, and multiplied by
   Q' once. */
REFERENCE void c_gradient(int64_t d, int64_t k, int64_t n, const double *restrict alpha,
                          const double *restrict mu, const double *restrict icf,
                          const double *restrict x, double gamma, int64_t m,
                          double *restrict dalpha, double *restrict dmu, double *restrict dicf) {
    int64_t s = d * (d + 1) / 2;
    double *q = take(d * k), *logdet = take(k), *y = take(d * k), *z = take(d * k), *t = take(k);
    double *sums = take_zeroed(d * k), sum;
    memset(dalpha, 0, (size_t)k * sizeof *dalpha);
    memset(dicf, 0, (size_t)(k * s) * sizeof *dicf);
    diagonals(d, k, icf, q, logdet);
    for (int64_t p = 0; p < n; p++) {
        for (int64_t c = 0; c < k; c++)
            t[c] = alpha[c] + logdet[c] -
                   0.5 * whiten(d, x + p * d, mu + c * d, q + c * d, icf + c * s + d, y + c * d,
                                z + c * d);
        exponentials(k, t, &sum);
        for (int64_t c = 0; c < k; c++) {
            double w = t[c] / sum;
            const double *restrict yc = y + c * d;
            double *restrict zc = z + c * d, *restrict dq = dicf + c * s, *restrict dl = dq + d;
            double *restrict total = sums + c * d;
            dalpha[c] += w;
            for (int64_t i = 0; i < d; i++) {
                zc[i] *= w;
                total[i] += zc[i];
                dq[i] -= zc[i] * yc[i];
            }
            for (int64_t i = 0; i < d; i++) {
                for (int64_t j = i + 1; j < d; j++) dl[j - i - 1] -= zc[j] * yc[i];
                dl += d - 1 - i;
            }
        }
    }
    memcpy(t, alpha, (size_t)k * sizeof *t);
    exponentials(k, t, &sum);
    for (int64_t c = 0; c < k; c++) {
        const double *l = icf + c * s + d, *qc = q + c * d, *total = sums + c * d;
        double *dq = dicf + c * s;
        for (int64_t i = 0; i < d; i++)
            dq[i] = dq[i] * qc[i] + dalpha[c] - (double)m + gamma * gamma * qc[i] * qc[i];
        for (int64_t i = d; i < s; i++) dq[i] += gamma * gamma * icf[c * s + i];
        for (int64_t i = 0; i < d; i++) {
            double a = qc[i] * total[i];
            for (int64_t j = i + 1; j < d; j++) a += l[j - i - 1] * total[j];
            l += d - 1 - i;
            dmu[c * d + i] = a;
        }
        dalpha[c] -= (double)n * t[c] / sum;
    }
    give(q), give(logdet), give(y), give(z), give(t), give(sums);
}

static void allocate(void) {
    P.alpha = suite_numbers(P.k);
    P.mu = suite_numbers(P.k * P.d);
    P.icf = suite_numbers(P.k * icf_size());
    P.x = suite_numbers(P.n * P.d);
}

static void make(const int64_t *size) {
    P.d = size[0], P.k = size[1], P.n = size[2], P.m = 0, P.gamma = 1.0;
    allocate();
    for (int64_t i = 0; i < P.k; i++) P.alpha[i] = suite_normal();
    for (int64_t i = 0; i < P.k * P.d; i++) P.mu[i] = suite_uniform();
    for (int64_t i = 0; i < P.k * icf_size(); i++) P.icf[i] = suite_normal();
    for (int64_t i = 0; i < P.n * P.d; i++) P.x[i] = suite_normal();
}

static void read(const char *path) {
    FILE *file = suite_open(path);
    suite_read_integers(file, &P.d, 1);
    suite_read_integers(file, &P.k, 1);
    suite_read_integers(file, &P.n, 1);
    allocate();
    suite_read(file, P.alpha, P.k);
    suite_read(file, P.mu, P.k * P.d);
    suite_read(file, P.icf, P.k * icf_size());
    suite_read(file, P.x, P.n * P.d);
    suite_read(file, &P.gamma, 1);
    suite_read_integers(file, &P.m, 1);
    fclose(file);
}

static int64_t inputs(void) {
    return P.k * (1 + P.d + icf_size());
}

static int adl_primal(double *out) {
    return gmm(P.k, P.d, icf_size(), P.n, P.alpha, P.mu, P.icf, P.x, P.gamma, P.m, out);
}

static int adl_gradient(double *out) {
    return gmm_gradient(P.k, P.d, icf_size(), P.n, P.alpha, P.mu, P.icf, P.x, P.gamma, P.m, out,
                        out + P.k, out + P.k + P.k * P.d);
}

static void c_primal(double *out) {
    *out = constants() + c_gmm(P.d, P.k, P.n, P.alpha, P.mu, P.icf, P.x, P.gamma, P.m);
}

static void c_grad(double *out) {
    c_gradient(P.d, P.k, P.n, P.alpha, P.mu, P.icf, P.x, P.gamma, P.m, out, out + P.k,
               out + P.k + P.k * P.d);
}

const Program PROGRAM = {make,
                         read,
                         {{"primal", "F", suite_one, adl_primal, c_primal, NULL},
                          {"gradient", "J", inputs, adl_gradient, c_grad, NULL}}};
