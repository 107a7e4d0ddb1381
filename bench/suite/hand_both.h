/* The articulated hand: residuals, and the dense Jacobian in the pose.  Sizes: n points, and how
   often the skin of the model stands in the problem (1 if it is 0).

   COMPLICATED: points lie in triangles, at barycentric coordinates that are parameters too; they
   are two more columns of the Jacobian. */
#include "suite.h"

#include "hand.h"

enum { BONES = 22, POSE = 26, COLUMNS = POSE + 2 * COMPLICATED };

SHARED struct {
    int64_t n, vertices, entries, triangles;
    int64_t *parent, *start, *bone, *triangle, *which;
    double *rest, *inverse, *vertex, *weight, *points, *us, *theta;
} hand_data;
#define P hand_data

/* -- transforms: affine 3 by 4 matrices, row-major -- */

INLINE void multiply(const double *a, const double *b, double *o) {
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++)
            o[4 * i + j] = a[4 * i] * b[j] + a[4 * i + 1] * b[4 + j] + a[4 * i + 2] * b[8 + j] +
                           (j == 3 ? a[4 * i + 3] : 0.0);
}

/* A transform, or a derivative of one, applied to a point. */
INLINE void apply(const double *a, const double *v, double *o) {
    for (int i = 0; i < 3; i++)
        o[i] = a[4 * i] * v[0] + a[4 * i + 1] * v[1] + a[4 * i + 2] * v[2] + a[4 * i + 3];
}

/* The place 0 .. 3 of a bone in its finger, or -1. */
INLINE int place_of(int b) {
    return b >= 1 && b <= 20 ? (b - 1) % 4 : -1;
}

/* The local rotation of bone B and, unless DX is NULL, its derivatives by both angles. */
INLINE void joint(const double *theta, int b, double *q, double *dx, double *dz) {
    static const double identity[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
    int k = place_of(b);
    memcpy(q, identity, sizeof identity);
    if (k < 1) return;
    const double *t = theta + 6 + 4 * ((b - 1) / 4);
    double x = k == 1 ? t[0] : t[k], z = k == 1 ? t[1] : 0.0;
    double cx = cos(x), sx = sin(x), cz = cos(z), sz = sin(z);
    q[0] = cz, q[1] = -sz * cx, q[2] = sz * sx, q[4] = sz, q[5] = cz * cx, q[6] = -cz * sx;
    q[9] = sx, q[10] = cx;
    if (!dx) return;
    const double by_x[12] = {0, sz * sx, sz * cx, 0, 0, -cz * sx, -cz * cx, 0, 0, cx, -sx, 0};
    const double by_z[12] = {-sz, -cz * cx, cz * sx, 0, cz, -sz * cx, sz * sx, 0, 0, 0, 0, 0};
    memcpy(dx, by_x, sizeof by_x);
    memcpy(dz, by_z, sizeof by_z);
}

INLINE void rotation(const double *w, double *R) {
    double n = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
    if (n < 1e-4) {
        for (int i = 0; i < 9; i++) R[i] = i % 4 == 0;
        return;
    }
    double x = w[0] / n, y = w[1] / n, z = w[2] / n, s = sin(n), c = cos(n);
    R[0] = x * x + (1 - x * x) * c, R[1] = x * y * (1 - c) - z * s;
    R[2] = x * z * (1 - c) + y * s, R[3] = x * y * (1 - c) + z * s;
    R[4] = y * y + (1 - y * y) * c, R[5] = y * z * (1 - c) - x * s;
    R[6] = x * z * (1 - c) - y * s, R[7] = z * y * (1 - c) + x * s;
    R[8] = z * z + (1 - z * z) * c;
}

INLINE void rotation_derivative(const double *w, double R[3][9]) {
    double n = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
    memset(R, 0, 3 * sizeof *R);
    if (n < 1e-4) return;
    double x = w[0] / n, y = w[1] / n, z = w[2] / n, s = sin(n), c = cos(n), v = 1 - c;
    double u[3] = {x, y, z};
    for (int k = 0; k < 3; k++) {
        double a = ((k == 0) - x * u[k]) / n, b = ((k == 1) - y * u[k]) / n;
        double d = ((k == 2) - z * u[k]) / n, dc = -s * u[k], ds = c * u[k], dv = -dc;
        double xy = (a * y + x * b) * v + x * y * dv, xz = (a * z + x * d) * v + x * z * dv;
        double yz = (b * z + y * d) * v + y * z * dv;
        double sx = a * s + x * ds, sy = b * s + y * ds, sz = d * s + z * ds;
        R[k][0] = 2 * x * a * v + (1 - x * x) * dc, R[k][4] = 2 * y * b * v + (1 - y * y) * dc;
        R[k][8] = 2 * z * d * v + (1 - z * z) * dc;
        R[k][1] = xy - sz, R[k][3] = xy + sz, R[k][2] = xz + sy;
        R[k][6] = xz - sy, R[k][5] = yz - sx, R[k][7] = yz + sx;
    }
}

/* T[b] = the transform of bone b from the model's frame; A, its own frame to the model's. */
INLINE void bones(const double *theta, double A[BONES][12], double T[BONES][12]) {
    for (int b = 0; b < BONES; b++) {
        double q[12], local[12];
        joint(theta, b, q, NULL, NULL);
        multiply(P.rest + 16 * b, q, local);
        if (P.parent[b] < 0) memcpy(A[b], local, sizeof local);
        else multiply(A[P.parent[b]], local, A[b]);
        multiply(A[b], P.inverse + 16 * b, T[b]);
    }
}

/* D[b][s] = the derivative of T[b] by the finger's parameter s = 0 .. 3 (x1 z1 x2 x3): a joint
   moves the bones of its finger from its own on. */
INLINE void bones_derivative(const double *theta, double A[BONES][12], double D[BONES][4][12]) {
    double q[12], dq[2][12], m[12], local[12], product[12];
    memset(D, 0, BONES * sizeof *D);
    for (int b = 0; b < BONES; b++) {
        int k = place_of(b), parent = (int)P.parent[b];
        if (k < 1) continue;
        joint(theta, b, q, dq[0], dq[1]);
        multiply(A[parent], P.rest + 16 * b, m);
        m[3] = m[7] = m[11] = 0.0; /* the derivative of a rotation moves nothing */
        multiply(m, dq[0], D[b][k == 1 ? 0 : k]);
        if (k == 1) multiply(m, dq[1], D[b][1]);
        multiply(P.rest + 16 * b, q, local);
        for (int s = 0; s < k; s++)
            if (k > 1) multiply(D[parent][s], local, D[b][s]);
    }
    for (int b = 0; b < BONES; b++)
        for (int s = 0; s < 4; s++) {
            multiply(D[b][s], P.inverse + 16 * b, product);
            memcpy(D[b][s], product, sizeof product);
        }
}

/* -- the skin -- */

/* Positions: in the hand's frame into U (unless it is NULL), turned and moved into O. */
INLINE void skin(const double *theta, double T[BONES][12], double *restrict u, double *restrict o) {
    double R[9];
    rotation(theta, R);
    for (int64_t v = 0; v < P.vertices; v++) {
        double p[3] = {0.0, 0.0, 0.0}, x[3];
        for (int64_t e = P.start[v]; e < P.start[v + 1]; e++) {
            apply(T[P.bone[e]], P.vertex + 3 * v, x);
            for (int i = 0; i < 3; i++) p[i] += P.weight[e] * x[i];
        }
        for (int i = 0; i < 3; i++) {
            if (u) u[3 * v + i] = p[i];
            o[3 * v + i] =
                R[3 * i] * p[0] + R[3 * i + 1] * p[1] + R[3 * i + 2] * p[2] + theta[3 + i];
        }
    }
}

/* The vertices of a point, and their shares in it; returns how many. */
INLINE int corners(int64_t i, int64_t *v, double *share) {
    v[0] = P.which[i], share[0] = 1.0;
    if (!COMPLICATED) return 1;
    memcpy(v, P.triangle + 3 * P.which[i], 3 * sizeof *v);
    share[0] = P.us[2 * i], share[1] = P.us[2 * i + 1], share[2] = 1.0 - share[0] - share[1];
    return 3;
}

REFERENCE void c_primal(double *restrict out) {
    double A[BONES][12], T[BONES][12], *o = take(3 * P.vertices), share[3];
    int64_t v[3];
    bones(P.theta, A, T);
    skin(P.theta, T, NULL, o);
    for (int64_t i = 0; i < P.n; i++) {
        int count = corners(i, v, share);
        for (int a = 0; a < 3; a++) {
            double x = 0.0;
            for (int c = 0; c < count; c++) x += share[c] * o[3 * v[c] + a];
            out[3 * i + a] = P.points[3 * i + a] - x;
        }
    }
    give(o);
}

/* Subtracts from the three rows of a point, ROW, what the fingers do to vertex V with SHARE. */
INLINE void fingers(int64_t v, double share, const double *restrict R, double D[BONES][4][12],
                    double *restrict row) {
    static const int slots[4] = {0, 2, 3, 4};
    for (int64_t e = P.start[v]; e < P.start[v + 1]; e++) {
        int b = (int)P.bone[e], k = place_of(b);
        if (k < 1) continue;
        double w = share * P.weight[e], *at = row + 6 + 4 * ((b - 1) / 4), x[3];
        for (int s = 0; s < slots[k]; s++) {
            apply(D[b][s], P.vertex + 3 * v, x);
            for (int a = 0; a < 3; a++)
                at[a * COLUMNS + s] -=
                    w * (R[3 * a] * x[0] + R[3 * a + 1] * x[1] + R[3 * a + 2] * x[2]);
        }
    }
}

REFERENCE void c_jacobian(double *restrict out) {
    double A[BONES][12], T[BONES][12], D[BONES][4][12], R[9], dR[3][9], share[3];
    double *u = take(3 * P.vertices), *o = take(3 * P.vertices);
    int64_t v[3];
    bones(P.theta, A, T);
    bones_derivative(P.theta, A, D);
    rotation(P.theta, R);
    rotation_derivative(P.theta, dR);
    skin(P.theta, T, u, o);
    memset(out, 0, (size_t)(3 * P.n * COLUMNS) * sizeof *out);
    for (int64_t i = 0; i < P.n; i++) {
        int count = corners(i, v, share);
        double *row = out + 3 * i * COLUMNS, x[3] = {0.0, 0.0, 0.0};
        for (int a = 0; COMPLICATED && a < 3; a++, row += COLUMNS) {
            row[0] = o[3 * v[2] + a] - o[3 * v[0] + a];
            row[1] = o[3 * v[2] + a] - o[3 * v[1] + a];
        }
        row = out + 3 * i * COLUMNS + COLUMNS - POSE;
        for (int c = 0; c < count; c++)
            for (int a = 0; a < 3; a++) x[a] += share[c] * u[3 * v[c] + a];
        for (int a = 0; a < 3; a++) {
            for (int k = 0; k < 3; k++)
                row[a * COLUMNS + k] =
                    -(dR[k][3 * a] * x[0] + dR[k][3 * a + 1] * x[1] + dR[k][3 * a + 2] * x[2]);
            row[a * COLUMNS + 3 + a] = -1.0;
        }
        for (int c = 0; c < count; c++) fingers(v[c], share[c], R, D, row);
    }
    give(u), give(o);
}

/* -- the problem -- */

static FILE *model_open(const char *name) {
    char path[4096];
    snprintf(path, sizeof path, "%s/data/hand_model/%s.txt", suite_data, name);
    return suite_open(path);
}

/* The next COUNT numbers of a file with numbers between colons. */
static void numbers(FILE *file, double *x, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        if (fscanf(file, " :%lf", x + i) != 1 && fscanf(file, "%lf", x + i) != 1) {
            fprintf(stderr, "suite: the model lacks a number\n");
            exit(1);
        }
}

static void load_bones(void) {
    FILE *file = model_open("bones");
    P.parent = suite_integers(BONES);
    P.rest = suite_numbers(16 * BONES);
    P.inverse = suite_numbers(16 * BONES);
    for (int64_t b = 0; b < BONES; b++) {
        double parent;
        if (fscanf(file, " %*[^:]") == EOF) break;
        numbers(file, &parent, 1);
        P.parent[b] = (int64_t)parent;
        numbers(file, P.rest + 16 * b, 16);
        numbers(file, P.inverse + 16 * b, 16);
    }
    fclose(file);
}

/* The skin, COPIES times side by side. */
static void load_skin(int64_t copies) {
    enum { MOST = 4096 };
    static double lines[MOST][64];
    int64_t vertices = 0, entries = 0;
    FILE *file = model_open("vertices");
    while (vertices < MOST && fscanf(file, "%lf", lines[vertices]) == 1) {
        double *line = lines[vertices++];
        numbers(file, line + 1, 8);
        numbers(file, line + 9, 2 * (int64_t)line[8]);
        entries += (int64_t)line[8];
    }
    fclose(file);
    P.vertices = vertices * copies, P.entries = entries * copies;
    P.vertex = suite_numbers(3 * P.vertices);
    P.start = suite_integers(P.vertices + 1);
    P.bone = suite_integers(P.entries);
    P.weight = suite_numbers(P.entries);
    for (int64_t v = 0; v < P.vertices; v++) {
        const double *line = lines[v % vertices];
        memcpy(P.vertex + 3 * v, line, 3 * sizeof *line);
        P.start[v + 1] = P.start[v] + (int64_t)line[8];
        for (int64_t e = P.start[v], k = 9; e < P.start[v + 1]; e++, k += 2)
            P.bone[e] = (int64_t)line[k], P.weight[e] = line[k + 1];
    }
}

static void load_triangles(void) {
    double three[3];
    FILE *file = model_open("triangles");
    int64_t count = 0;
    while (fscanf(file, "%lf", three) == 1) numbers(file, three + 1, 2), count++;
    rewind(file);
    P.triangles = count;
    P.triangle = suite_integers(3 * count);
    for (int64_t t = 0; t < count; t++) {
        numbers(file, three, 3);
        for (int a = 0; a < 3; a++) P.triangle[3 * t + a] = (int64_t)three[a];
    }
    fclose(file);
}

static void allocate(int64_t copies) {
    load_bones();
    load_skin(copies);
    load_triangles();
    P.which = suite_integers(P.n);
    P.points = suite_numbers(3 * P.n);
    P.us = suite_numbers(2 * P.n);
    P.theta = suite_numbers(POSE);
}

static void make(const int64_t *size) {
    P.n = size[0];
    allocate(size[1] > 0 ? size[1] : 1);
    int64_t places = COMPLICATED ? P.triangles : P.vertices;
    for (int64_t i = 0; i < P.n; i++) {
        P.which[i] = (int64_t)(suite_uniform() * (double)places);
        for (int a = 0; a < 3; a++) P.points[3 * i + a] = suite_uniform();
        P.us[2 * i] = 0.5 * suite_uniform(), P.us[2 * i + 1] = 0.5 * suite_uniform();
    }
    for (int k = 0; k < POSE; k++) P.theta[k] = 0.5 * suite_uniform();
}

static void read(const char *path) {
    int64_t pose;
    FILE *file = suite_open(path);
    suite_read_integers(file, &P.n, 1);
    suite_read_integers(file, &pose, 1);
    allocate(1);
    for (int64_t i = 0; i < P.n; i++) {
        suite_read_integers(file, P.which + i, 1);
        suite_read(file, P.points + 3 * i, 3);
    }
    if (COMPLICATED) suite_read(file, P.us, 2 * P.n);
    suite_read(file, P.theta, POSE);
    fclose(file);
}

static int64_t residuals(void) {
    return 3 * P.n;
}
static int64_t entries(void) {
    return 3 * P.n * COLUMNS;
}

static Hand hand(void) {
    return (Hand){.v = P.vertices,
                  .r = P.vertices + 1,
                  .e = P.entries,
                  .t = P.triangles,
                  .parent = P.parent,
                  .rest = P.rest,
                  .inverse = P.inverse,
                  .vertex = P.vertex,
                  .start = P.start,
                  .bone = P.bone,
                  .weight = P.weight,
                  .triangle = P.triangle};
}

static int adl_primal(double *out) {
    Hand own = hand();
#if COMPLICATED
    return hand_complicated(P.n, P.theta, P.us, &own, P.which, P.points, out);
#else
    return hand_simple(P.n, P.theta, &own, P.which, P.points, out);
#endif
}

static int adl_jacobian(double *out) {
    Hand own = hand();
#if COMPLICATED
    return hand_complicated_jacobian(P.n, P.theta, P.us, &own, P.which, P.points, out);
#else
    return hand_simple_jacobian(P.n, P.theta, &own, P.which, P.points, out);
#endif
}

const Program PROGRAM = {make,
                         read,
                         {{"primal", "F", residuals, adl_primal, c_primal, NULL},
                          {"jacobian", "J", entries, adl_jacobian, c_jacobian, NULL}}};
