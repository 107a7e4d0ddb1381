/* Bundle adjustment: residuals, and the stored values of their Jacobian.  Sizes: n cameras, m
   points, p observations. */
#include "suite.h"

#include "ba.h"

enum { CAMERA = 11, ROW = 15 };

SHARED struct {
    int64_t n, m, p, *obs;
    double *cams, *x, *w, *feat;
} ba_data;
#define P ba_data

/* The vector X turned by the angle-axis vector R. */
INLINE void rotate(const double *r, const double *x, double *y) {
    double square = r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
    if (square != 0.0) {
        double theta = sqrt(square), c = cos(theta), s = sin(theta), i = 1.0 / theta;
        double a = r[0] * i, b = r[1] * i, d = r[2] * i;
        double t = (a * x[0] + b * x[1] + d * x[2]) * (1.0 - c);
        y[0] = x[0] * c + (b * x[2] - d * x[1]) * s + a * t;
        y[1] = x[1] * c + (d * x[0] - a * x[2]) * s + b * t;
        y[2] = x[2] * c + (a * x[1] - b * x[0]) * s + d * t;
    } else {
        y[0] = x[0] + r[1] * x[2] - r[2] * x[1];
        y[1] = x[1] + r[2] * x[0] - r[0] * x[2];
        y[2] = x[2] + r[0] * x[1] - r[1] * x[0];
    }
}

INLINE void residual(const double *restrict cam, const double *restrict x, double w,
                     const double *restrict feat, double *restrict e) {
    double d[3] = {x[0] - cam[3], x[1] - cam[4], x[2] - cam[5]}, y[3];
    rotate(cam, d, y);
    double a = y[0] / y[2], b = y[1] / y[2], q = a * a + b * b;
    double l = 1.0 + cam[9] * q + cam[10] * q * q;
    e[0] = w * (a * l * cam[6] + cam[7] - feat[0]);
    e[1] = w * (b * l * cam[6] + cam[8] - feat[1]);
}

REFERENCE void c_ba(int64_t p, const double *restrict cams, const double *restrict x,
                    const double *restrict w, const int64_t *restrict obs,
                    const double *restrict feat, double *restrict e, double *restrict g) {
    for (int64_t i = 0; i < p; i++)
        residual(cams + CAMERA * obs[2 * i], x + 3 * obs[2 * i + 1], w[i], feat + 2 * i, e + 2 * i);
    for (int64_t i = 0; i < p; i++) g[i] = 1.0 - w[i] * w[i];
}

/* Y = X turned by R; D[k]: its derivative by r[k], D[3 + k]: by x[k]. */
INLINE void rotate_derivative(const double *r, const double *x, double *y, double D[6][3]) {
    double square = r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
    double c = 1.0, s = 1.0, n[3] = {r[0], r[1], r[2]};
    if (square != 0.0) {
        double theta = sqrt(square), i = 1.0 / theta, v;
        c = cos(theta), s = sin(theta), v = 1.0 - c;
        for (int k = 0; k < 3; k++) n[k] *= i;
        double t = n[0] * x[0] + n[1] * x[1] + n[2] * x[2];
        double cross[3] = {n[1] * x[2] - n[2] * x[1], n[2] * x[0] - n[0] * x[2],
                           n[0] * x[1] - n[1] * x[0]};
        for (int k = 0; k < 3; k++) y[k] = x[k] * c + cross[k] * s + n[k] * t * v;
        for (int k = 0; k < 3; k++) {
            double e[3];
            for (int j = 0; j < 3; j++) e[j] = ((j == k) - n[j] * n[k]) * i;
            double et = e[0] * x[0] + e[1] * x[1] + e[2] * x[2];
            double ex[3] = {e[1] * x[2] - e[2] * x[1], e[2] * x[0] - e[0] * x[2],
                            e[0] * x[1] - e[1] * x[0]};
            for (int j = 0; j < 3; j++) {
                D[k][j] = n[k] * (-s * x[j] + c * cross[j] + s * n[j] * t) + s * ex[j] +
                          v * (e[j] * t + n[j] * et);
                D[3 + k][j] = v * n[k] * n[j] + (j == k ? c : 0.0);
            }
        }
    } else {
        y[0] = x[0] + r[1] * x[2] - r[2] * x[1];
        y[1] = x[1] + r[2] * x[0] - r[0] * x[2];
        y[2] = x[2] + r[0] * x[1] - r[1] * x[0];
        memset(D, 0, 6 * sizeof *D);
        D[0][1] = -x[2], D[0][2] = x[1], D[1][0] = x[2];
        D[1][2] = -x[0], D[2][0] = -x[1], D[2][1] = x[0];
        for (int k = 0; k < 3; k++) D[3 + k][k] = 1.0;
    }
    D[3][1] += s * n[2], D[3][2] -= s * n[1], D[4][0] -= s * n[2];
    D[4][2] += s * n[0], D[5][0] += s * n[1], D[5][1] -= s * n[0];
}

/* Both rows of an observation: camera, point, weight. */
INLINE void rows(const double *restrict cam, const double *restrict point, double w,
                 const double *restrict feat, double *restrict u, double *restrict v) {
    double x[3] = {point[0] - cam[3], point[1] - cam[4], point[2] - cam[5]}, y[3], D[6][3];
    rotate_derivative(cam, x, y, D);
    double iz = 1.0 / y[2], a = y[0] * iz, b = y[1] * iz, q = a * a + b * b, f = cam[6];
    double l = 1.0 + cam[9] * q + cam[10] * q * q, lq = 2.0 * (cam[9] + 2.0 * cam[10] * q);
    for (int k = 0; k < 6; k++) {
        double da = (D[k][0] - a * D[k][2]) * iz, db = (D[k][1] - b * D[k][2]) * iz;
        double dl = lq * (a * da + b * db);
        double du = w * f * (l * da + a * dl), dv = w * f * (l * db + b * dl);
        if (k < 3) u[k] = du, v[k] = dv;
        else u[k] = -du, v[k] = -dv, u[8 + k] = du, v[8 + k] = dv;
    }
    u[6] = w * a * l, v[6] = w * b * l;
    u[7] = w, u[8] = 0.0, v[7] = 0.0, v[8] = w;
    u[9] = w * f * a * q, v[9] = w * f * b * q;
    u[10] = w * f * a * q * q, v[10] = w * f * b * q * q;
    u[14] = a * l * f + cam[7] - feat[0], v[14] = b * l * f + cam[8] - feat[1];
}

REFERENCE void c_jacobian(int64_t p, const double *restrict cams, const double *restrict x,
                          const double *restrict w, const int64_t *restrict obs,
                          const double *restrict feat, double *restrict de, double *restrict dg) {
    for (int64_t i = 0; i < p; i++)
        rows(cams + CAMERA * obs[2 * i], x + 3 * obs[2 * i + 1], w[i], feat + 2 * i,
             de + 2 * ROW * i, de + 2 * ROW * i + ROW);
    for (int64_t i = 0; i < p; i++) dg[i] = -2.0 * w[i];
}

static void allocate(void) {
    P.cams = suite_numbers(CAMERA * P.n);
    P.x = suite_numbers(3 * P.m);
    P.w = suite_numbers(P.p);
    P.feat = suite_numbers(2 * P.p);
    P.obs = suite_integers(2 * P.p);
    for (int64_t i = 0; i < P.p; i++) P.obs[2 * i] = i % P.n, P.obs[2 * i + 1] = i % P.m;
}

static void make(const int64_t *size) {
    static const double cam[CAMERA] = {0.7, -1.1, 0.8, 30, 20, 40, 400, 5, -8, 0.05, 0.003};
    P.n = size[0], P.m = size[1], P.p = size[2];
    allocate();
    for (int64_t i = 0; i < CAMERA * P.n; i++)
        P.cams[i] = cam[i % CAMERA] * (1.0 + 0.1 * suite_normal());
    for (int64_t i = 0; i < 3 * P.m; i++) P.x[i] = 3.0 + suite_normal();
    for (int64_t i = 0; i < P.p; i++) {
        P.w[i] = suite_uniform();
        P.feat[2 * i] = 300.0 * suite_normal(), P.feat[2 * i + 1] = 300.0 * suite_normal();
    }
}

/* The file has one of each, of which all are copies. */
static void read(const char *path) {
    FILE *file = suite_open(path);
    suite_read_integers(file, &P.n, 1);
    suite_read_integers(file, &P.m, 1);
    suite_read_integers(file, &P.p, 1);
    allocate();
    suite_read(file, P.cams, CAMERA);
    suite_read(file, P.x, 3);
    suite_read(file, P.w, 1);
    suite_read(file, P.feat, 2);
    fclose(file);
    for (int64_t i = CAMERA; i < CAMERA * P.n; i++) P.cams[i] = P.cams[i - CAMERA];
    for (int64_t i = 3; i < 3 * P.m; i++) P.x[i] = P.x[i - 3];
    for (int64_t i = 1; i < P.p; i++) P.w[i] = P.w[i - 1];
    for (int64_t i = 2; i < 2 * P.p; i++) P.feat[i] = P.feat[i - 2];
}

/* COUNT numbers of one observation and that of its weight, for all observations. */
static void spread(double *golden, int64_t count) {
    double weight = golden[count];
    for (int64_t i = count; i < count * P.p; i++) golden[i] = golden[i - count];
    for (int64_t i = 0; i < P.p; i++) golden[count * P.p + i] = weight;
}

static void spread_residuals(double *golden) {
    spread(golden, 2);
}
static void spread_jacobian(double *golden) {
    spread(golden, 2 * ROW);
}
static int64_t residuals(void) {
    return 3 * P.p;
}
static int64_t entries(void) {
    return (2 * ROW + 1) * P.p;
}

static int adl_primal(double *out) {
    return ba(P.n, P.m, P.p, P.cams, P.x, P.w, P.obs, P.feat, out, out + 2 * P.p);
}

static int adl_jacobian(double *out) {
    return ba_jacobian(P.n, P.m, P.p, P.cams, P.x, P.w, P.obs, P.feat, out, out + 2 * ROW * P.p);
}

static void c_primal(double *out) {
    c_ba(P.p, P.cams, P.x, P.w, P.obs, P.feat, out, out + 2 * P.p);
}

static void c_jac(double *out) {
    c_jacobian(P.p, P.cams, P.x, P.w, P.obs, P.feat, out, out + 2 * ROW * P.p);
}

const Program PROGRAM = {make,
                         read,
                         {{"primal", "F", residuals, adl_primal, c_primal, spread_residuals},
                          {"jacobian", "J", entries, adl_jacobian, c_jac, spread_jacobian}}};
