/* A dense network with two hidden layers.  Sizes: n rows, then the layers d0 d1 d2 d3. */
#include "suite.h"

#include "mlp.h"
#include "mlp_gradient.h"

SHARED struct {
    int64_t n, d[4], *label;
    double *w, *x; /* w: W1 b1 W2 b2 W3 b3 */
} mlp_data;
#define P mlp_data

/* The two loops over rows in tiles of four, so that a row of W is read once for four rows. */
INLINE void dense(int64_t n, int64_t p, int64_t q, const double *restrict in,
                  const double *restrict w, const double *restrict bias, double *restrict out) {
    for (int64_t r = 0; r < n; r++) memcpy(out + r * q, bias, (size_t)q * sizeof *out);
    int64_t r = 0;
    for (; r + 4 <= n; r += 4) {
        double *restrict o = out + r * q;
        for (int64_t i = 0; i < p; i++) {
            const double *restrict row = w + i * q, *v = in + r * p + i;
            double a = v[0], b = v[p], c = v[2 * p], d = v[3 * p];
            for (int64_t j = 0; j < q; j++) {
                o[j] += a * row[j], o[q + j] += b * row[j];
                o[2 * q + j] += c * row[j], o[3 * q + j] += d * row[j];
            }
        }
    }
    for (; r < n; r++)
        for (int64_t i = 0; i < p; i++)
            for (int64_t j = 0; j < q; j++) out[r * q + j] += in[r * p + i] * w[i * q + j];
}

/* Adds to DW and DB; DIN, unless it is NULL, becomes the cotangent of what tanh made IN from. */
INLINE void dense_back(int64_t n, int64_t p, int64_t q, const double *restrict in,
                       const double *restrict w, const double *restrict dout, double *restrict dw,
                       double *restrict db, double *restrict din) {
    for (int64_t r = 0; r < n; r++)
        for (int64_t j = 0; j < q; j++) db[j] += dout[r * q + j];
    for (int64_t i = 0; i < p; i++) {
        double *restrict g = dw + i * q;
        int64_t r = 0;
        for (; r + 4 <= n; r += 4) {
            const double *restrict o = dout + r * q, *v = in + r * p + i;
            double a = v[0], b = v[p], c = v[2 * p], d = v[3 * p];
            for (int64_t j = 0; j < q; j++)
                g[j] += a * o[j] + b * o[q + j] + c * o[2 * q + j] + d * o[3 * q + j];
        }
        for (; r < n; r++)
            for (int64_t j = 0; j < q; j++) g[j] += in[r * p + i] * dout[r * q + j];
        if (!din) continue;
        for (r = 0; r < n; r++) {
            double s = 0.0, v = in[r * p + i];
            for (int64_t j = 0; j < q; j++) s += w[i * q + j] * dout[r * q + j];
            din[r * p + i] = s * (1.0 - v * v);
        }
    }
}

INLINE void tanh_all(int64_t count, double *restrict x) {
    for (int64_t i = 0; i < count; i++) x[i] = tanh(x[i]);
}

typedef struct Layers {
    const double *w1, *b1, *w2, *b2, *w3, *b3;
} Layers;

INLINE Layers layers(const double *w, const int64_t *d) {
    const double *b1 = w + d[0] * d[1], *w2 = b1 + d[1], *b2 = w2 + d[1] * d[2], *w3 = b2 + d[2];
    return (Layers){w, b1, w2, b2, w3, w3 + d[2] * d[3]};
}

INLINE void forward(int64_t n, const int64_t *d, Layers w, const double *restrict x, double *h1,
                    double *h2, double *o) {
    dense(n, d[0], d[1], x, w.w1, w.b1, h1);
    tanh_all(n * d[1], h1);
    dense(n, d[1], d[2], h1, w.w2, w.b2, h2);
    tanh_all(n * d[2], h2);
    dense(n, d[2], d[3], h2, w.w3, w.b3, o);
}

INLINE double greatest(int64_t count, const double *x) {
    double most = x[0];
    for (int64_t j = 1; j < count; j++)
        if (x[j] > most) most = x[j];
    return most;
}

REFERENCE double c_mlp(int64_t n, const int64_t *d, const double *restrict w,
                       const double *restrict x, const int64_t *restrict label) {
    double *h1 = take(n * d[1]), *h2 = take(n * d[2]), *o = take(n * d[3]), total = 0.0;
    forward(n, d, layers(w, d), x, h1, h2, o);
    for (int64_t r = 0; r < n; r++) {
        const double *z = o + r * d[3];
        double most = greatest(d[3], z), s = 0.0;
        for (int64_t j = 0; j < d[3]; j++) s += exp(z[j] - most);
        total += log(s) + most - z[label[r]];
    }
    give(h1), give(h2), give(o);
    return total / (double)n;
}

REFERENCE void c_gradient(int64_t n, const int64_t *d, const double *restrict w,
                          const double *restrict x, const int64_t *restrict label,
                          double *restrict g) {
    double *h1 = take(n * d[1]), *h2 = take(n * d[2]), *o = take(n * d[3]);
    double *d1 = take(n * d[1]), *d2 = take(n * d[2]);
    Layers at = layers(w, d), dw = layers(g, d);
    memset(g, 0, (size_t)(at.b3 + d[3] - w) * sizeof *g);
    forward(n, d, at, x, h1, h2, o);
    for (int64_t r = 0; r < n; r++) {
        double *z = o + r * d[3], most = greatest(d[3], z), s = 0.0;
        for (int64_t j = 0; j < d[3]; j++) z[j] = exp(z[j] - most), s += z[j];
        for (int64_t j = 0; j < d[3]; j++)
            z[j] = (z[j] / s - (j == label[r] ? 1.0 : 0.0)) / (double)n;
    }
    dense_back(n, d[2], d[3], h2, at.w3, o, (double *)dw.w3, (double *)dw.b3, d2);
    dense_back(n, d[1], d[2], h1, at.w2, d2, (double *)dw.w2, (double *)dw.b2, d1);
    dense_back(n, d[0], d[1], x, at.w1, d1, (double *)dw.w1, (double *)dw.b1, NULL);
    give(h1), give(h2), give(o), give(d1), give(d2);
}

static int64_t inputs(void) {
    return P.d[0] * P.d[1] + P.d[1] + P.d[1] * P.d[2] + P.d[2] + P.d[2] * P.d[3] + P.d[3];
}

static void allocate(void) {
    P.w = suite_numbers(inputs());
    P.x = suite_numbers(P.n * P.d[0]);
    P.label = suite_integers(P.n);
}

static void make(const int64_t *size) {
    P.n = size[0];
    memcpy(P.d, size + 1, sizeof P.d);
    allocate();
    for (int64_t i = 0; i < inputs(); i++) P.w[i] = 0.05 * suite_normal();
    for (int64_t i = 0; i < P.n * P.d[0]; i++) P.x[i] = suite_uniform();
    for (int64_t i = 0; i < P.n; i++) P.label[i] = (int64_t)(suite_uniform() * (double)P.d[3]);
}

static void read(const char *path) {
    FILE *file = suite_open(path);
    suite_read_integers(file, &P.n, 1);
    suite_read_integers(file, P.d, 4);
    allocate();
    suite_read(file, P.w, inputs());
    suite_read(file, P.x, P.n * P.d[0]);
    suite_read_integers(file, P.label, P.n);
    fclose(file);
}

static int adl_primal(double *out) {
    Layers w = layers(P.w, P.d);
    return mlp(P.d[0], P.d[1], P.d[2], P.d[3], P.n, w.w1, w.b1, w.w2, w.b2, w.w3, w.b3, P.x,
               P.label, out);
}

static int adl_gradient(double *out) {
    Layers w = layers(P.w, P.d), g = layers(out, P.d);
    return mlp_gradient(P.d[0], P.d[1], P.d[2], P.d[3], P.n, w.w1, w.b1, w.w2, w.b2, w.w3, w.b3,
                        P.x, P.label, (double *)g.w1, (double *)g.b1, (double *)g.w2,
                        (double *)g.b2, (double *)g.w3, (double *)g.b3);
}

static void c_primal(double *out) {
    *out = c_mlp(P.n, P.d, P.w, P.x, P.label);
}
static void c_grad(double *out) {
    c_gradient(P.n, P.d, P.w, P.x, P.label, out);
}

const Program PROGRAM = {make,
                         read,
                         {{"primal", "F", suite_one, adl_primal, c_primal, NULL},
                          {"gradient", "J", inputs, adl_gradient, c_grad, NULL}}};
