/* The element-wise LSTM.  Sizes: l layers, c characters, b bits. */
#include "suite.h"

#include "lstm.h"
#include "lstm_gradient.h"

SHARED struct {
    int64_t l, c, b;
    double *w, *extra, *state, *seq;
} lstm_data;
#define P lstm_data

INLINE double sigmoid(double v) {
    return 1.0 / (1.0 + exp(-v));
}

INLINE void first_state(int64_t l, int64_t b, const double *restrict state, double *restrict hidden,
                        double *restrict cell) {
    for (int64_t i = 0; i < l; i++) {
        memcpy(hidden + i * b, state + 2 * i * b, (size_t)b * sizeof *hidden);
        memcpy(cell + i * b, state + (2 * i + 1) * b, (size_t)b * sizeof *cell);
    }
}

/* w: l x (2, 4, b), weights, then biases, gates in the order forget, in, out, change; extra:
   in-weight, out-weight, out-bias. */
REFERENCE double c_lstm(int64_t l, int64_t c, int64_t b, const double *restrict w,
                        const double *restrict extra, const double *restrict state,
                        const double *restrict seq) {
    double *hidden = take(l * b), *cell = take(l * b), *y = take(b), total = 0.0;
    first_state(l, b, state, hidden, cell);
    for (int64_t t = 0; t + 1 < c; t++) {
        for (int64_t j = 0; j < b; j++) y[j] = seq[t * b + j] * extra[j];
        for (int64_t i = 0; i < l; i++) {
            const double *W = w + i * 8 * b, *B = W + 4 * b;
            for (int64_t j = 0; j < b; j++) {
                double in = y[j], h = hidden[i * b + j];
                double f = sigmoid(in * W[j] + B[j]), g = sigmoid(h * W[b + j] + B[b + j]);
                double o = sigmoid(in * W[2 * b + j] + B[2 * b + j]);
                double a = tanh(h * W[3 * b + j] + B[3 * b + j]);
                double next = cell[i * b + j] * f + g * a;
                cell[i * b + j] = next;
                hidden[i * b + j] = o * tanh(next);
                y[j] = hidden[i * b + j];
            }
        }
        double s = 2.0;
        for (int64_t j = 0; j < b; j++) {
            y[j] = y[j] * extra[b + j] + extra[2 * b + j];
            s += exp(y[j]);
        }
        s = log(s);
        for (int64_t j = 0; j < b; j++) total += seq[(t + 1) * b + j] * (y[j] - s);
    }
    give(hidden), give(cell), give(y);
    return -total / (double)(b * (c - 1));
}

/* One step forward from Y, keeping the gates f g o a, tanh(cell), the cell and hidden state before,
   and the layer's input in KEEP (8 b numbers a layer); Y becomes the last hidden state. */
INLINE void step(int64_t l, int64_t b, const double *restrict w, double *restrict hidden,
                 double *restrict cell, double *restrict y, double *restrict keep) {
    for (int64_t i = 0; i < l; i++, keep += 8 * b) {
        const double *W = w + i * 8 * b, *B = W + 4 * b;
        for (int64_t j = 0; j < b; j++) {
            double in = y[j], h = hidden[i * b + j], before = cell[i * b + j];
            double f = sigmoid(in * W[j] + B[j]), g = sigmoid(h * W[b + j] + B[b + j]);
            double o = sigmoid(in * W[2 * b + j] + B[2 * b + j]);
            double a = tanh(h * W[3 * b + j] + B[3 * b + j]);
            double next = before * f + g * a, tc = tanh(next);
            keep[j] = f, keep[b + j] = g, keep[2 * b + j] = o, keep[3 * b + j] = a;
            keep[4 * b + j] = tc, keep[5 * b + j] = before, keep[6 * b + j] = h;
            keep[7 * b + j] = in;
            cell[i * b + j] = next;
            hidden[i * b + j] = y[j] = o * tc;
        }
    }
}

/* The step of one layer backwards: Y has the cotangent of its output, and gets that of its input.
 */
INLINE void layer_back(int64_t b, const double *restrict keep, const double *restrict W,
                       double *restrict dw, double *restrict dh, double *restrict dc,
                       double *restrict y) {
    double *db = dw + 4 * b;
    for (int64_t j = 0; j < b; j++) {
        double f = keep[j], g = keep[b + j], o = keep[2 * b + j], a = keep[3 * b + j];
        double tc = keep[4 * b + j], h = keep[6 * b + j], in = keep[7 * b + j];
        double d = dh[j] + y[j], dcell = dc[j] + d * o * (1.0 - tc * tc);
        double zo = d * tc * o * (1.0 - o), zf = dcell * keep[5 * b + j] * f * (1.0 - f);
        double zg = dcell * a * g * (1.0 - g), za = dcell * g * (1.0 - a * a);
        dw[j] += zf * in, dw[b + j] += zg * h, dw[2 * b + j] += zo * in, dw[3 * b + j] += za * h;
        db[j] += zf, db[b + j] += zg, db[2 * b + j] += zo, db[3 * b + j] += za;
        dc[j] = dcell * f;
        dh[j] = zg * W[b + j] + za * W[3 * b + j];
        y[j] = zf * W[j] + zo * W[2 * b + j];
    }
}

REFERENCE void c_gradient(int64_t l, int64_t c, int64_t b, const double *restrict w,
                          const double *restrict extra, const double *restrict state,
                          const double *restrict seq, double *restrict dw,
                          double *restrict dextra) {
    int64_t per = 8 * b, all = l * per + b; /* and the exponentials of the prediction */
    double *tape = take((c - 1) * all), *hidden = take(l * b), *cell = take(l * b), *y = take(b);
    double *dh = take_zeroed(l * b), *dc = take_zeroed(l * b);
    memset(dw, 0, (size_t)(8 * l * b) * sizeof *dw);
    memset(dextra, 0, (size_t)(3 * b) * sizeof *dextra);
    first_state(l, b, state, hidden, cell);
    for (int64_t t = 0; t + 1 < c; t++) {
        double *keep = tape + t * all, *e = keep + l * per, s = 2.0;
        for (int64_t j = 0; j < b; j++) y[j] = seq[t * b + j] * extra[j];
        step(l, b, w, hidden, cell, y, keep);
        for (int64_t j = 0; j < b; j++) {
            e[j] = exp(y[j] * extra[b + j] + extra[2 * b + j]);
            s += e[j];
        }
        for (int64_t j = 0; j < b; j++) e[j] /= s;
    }
    double scale = -1.0 / (double)(b * (c - 1));
    for (int64_t t = c - 2; t >= 0; t--) {
        const double *keep = tape + t * all, *e = keep + l * per;
        const double *last = keep + (l - 1) * per, *gold = seq + (t + 1) * b;
        double count = 0.0;
        for (int64_t j = 0; j < b; j++) count += gold[j];
        for (int64_t j = 0; j < b; j++) {
            double d = scale * (gold[j] - count * e[j]);
            dextra[b + j] += d * last[2 * b + j] * last[4 * b + j];
            dextra[2 * b + j] += d;
            y[j] = d * extra[b + j];
        }
        for (int64_t i = l - 1; i >= 0; i--)
            layer_back(b, keep + i * per, w + i * 8 * b, dw + i * 8 * b, dh + i * b, dc + i * b, y);
        for (int64_t j = 0; j < b; j++) dextra[j] += y[j] * seq[t * b + j];
    }
    give(tape), give(hidden), give(cell), give(y), give(dh), give(dc);
}

static void allocate(void) {
    P.w = suite_numbers(8 * P.l * P.b);
    P.extra = suite_numbers(3 * P.b);
    P.state = suite_numbers(2 * P.l * P.b);
    P.seq = suite_numbers(P.c * P.b);
}

static void make(const int64_t *size) {
    P.l = size[0], P.c = size[1], P.b = size[2];
    allocate();
    for (int64_t i = 0; i < 8 * P.l * P.b; i++) P.w[i] = suite_uniform();
    for (int64_t i = 0; i < 3 * P.b; i++) P.extra[i] = suite_uniform();
    for (int64_t i = 0; i < 2 * P.l * P.b; i++) P.state[i] = suite_uniform();
    for (int64_t i = 0; i < P.c * P.b; i++) P.seq[i] = suite_uniform() < 0.4 ? 1.0 : 0.0;
}

static void read(const char *path) {
    FILE *file = suite_open(path);
    suite_read_integers(file, &P.l, 1);
    suite_read_integers(file, &P.c, 1);
    suite_read_integers(file, &P.b, 1);
    allocate();
    suite_read(file, P.w, 8 * P.l * P.b);
    suite_read(file, P.extra, 3 * P.b);
    suite_read(file, P.state, 2 * P.l * P.b);
    suite_read(file, P.seq, P.c * P.b);
    fclose(file);
}

static int64_t inputs(void) {
    return (8 * P.l + 3) * P.b;
}

static int adl_primal(double *out) {
    return lstm(P.l, P.b, P.c, P.w, P.extra, P.state, P.seq, out);
}

static int adl_gradient(double *out) {
    return lstm_gradient(P.l, P.b, P.c, P.w, P.extra, P.state, P.seq, out, out + 8 * P.l * P.b);
}

static void c_primal(double *out) {
    *out = c_lstm(P.l, P.c, P.b, P.w, P.extra, P.state, P.seq);
}

static void c_grad(double *out) {
    c_gradient(P.l, P.c, P.b, P.w, P.extra, P.state, P.seq, out, out + 8 * P.l * P.b);
}

const Program PROGRAM = {make,
                         read,
                         {{"primal", "F", suite_one, adl_primal, c_primal, NULL},
                          {"gradient", "J", inputs, adl_gradient, c_grad, NULL}}};
