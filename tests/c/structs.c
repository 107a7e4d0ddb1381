/* Structs, complex numbers and arrays of them as C passes them (structs.adl), against the same by hand.
   Prints TAP. */
#include "structs.h"
#include "structs-too.h"
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { N = 2, M = 3, K = 2 };

static bool same(int n, const double *a, const double *b)
{
    for (int i = 0; i < n; i++)
        if (!(fabs(a[i] - b[i]) <= 1e-14 * (1.0 + fabs(b[i])))) return false;
    return true;
}

static bool equals(adl_c128 z, double re, double im)
{
    return z.re == re && z.im == im;
}

/* ---- structs of arrays ---- */

static double W[N * M] = {0.5, -1.0, 2.0, 1.5, 0.25, -0.75}, c[N] = {1.0, -2.0};
static const double x[M] = {2.0, 4.0, -1.0}, seed[N] = {1.0, -0.5};
static const Dense d = {N, M, W, c};

typedef struct Hand {
    double y[N], dW[N * M], dc[N], dx[M];
} Hand;

/* (W x + c)^2 and its derivatives for the cotangent SEED. */
static Hand by_hand(const double cotangent[])
{
    Hand h = {{0}, {0}, {0}, {0}};
    for (int i = 0; i < N; i++) {
        double z = c[i];
        for (int j = 0; j < M; j++) z += W[i * M + j] * x[j];
        h.y[i] = z * z;
        h.dc[i] = 2.0 * z * cotangent[i];
        for (int j = 0; j < M; j++) {
            h.dW[i * M + j] = h.dc[i] * x[j];
            h.dx[j] += h.dc[i] * W[i * M + j];
        }
    }
    return h;
}

static void test_returned(void)
{
    double y[N], dW[N * M], dc[N], dx[M];
    Dense dd = {N, M, dW, dc};
    Hand h = by_hand(seed);
    adl_tape *tape = NULL;
    FINE(dense_grad(M, N, &d, x, seed, y, &dd, dx));
    EXPECT(same(N, y, h.y) && same(N * M, dW, h.dW) && same(N, dc, h.dc) && same(M, dx, h.dx));
    memset(dW, 0, sizeof dW);
    FINE(dense_forward(M, &d, x, &tape, y));
    FINE(dense_reverse(M, N, seed, tape, &dd, dx));
    EXPECT(same(N, y, h.y) && same(N * M, dW, h.dW) && same(N, dc, h.dc) && same(M, dx, h.dx));
    FINE(adl_tape_free(&tape));
}

static void test_tangents(void)
{
    static double tW[N * M] = {1.0, 0.5, -1.0, 2.0, 0.0, 3.0}, tc[N] = {0.5, 0.25};
    static const double tx[M] = {-1.0, 0.0, 2.0};
    const Dense t = {N, M, tW, tc};
    double y[N], ty[N], forward = 0.0, reverse = 0.0;
    Hand h = by_hand(seed);
    FINE(dense_jvp(M, &d, &t, x, tx, y, ty));
    for (int i = 0; i < N; i++) forward += seed[i] * ty[i], reverse += h.dc[i] * tc[i];
    for (int i = 0; i < N * M; i++) reverse += h.dW[i] * tW[i];
    for (int j = 0; j < M; j++) reverse += h.dx[j] * tx[j];
    EXPECT(same(1, &forward, &reverse) && same(N, y, h.y));
}

static void test_shadows(void)
{
    static const double ones[N] = {1.0, 1.0};
    double dW[N * M], dc[N] = {10.0, 20.0}, value;
    Dense dd = {N, M, dW, dc};
    Hand h = by_hand(ones);
    adl_tape *tape = NULL;
    for (int i = 0; i < N * M; i++) dW[i] = 1.0, h.dW[i] += 1.0;
    FINE(shaded_grad(M, &d, &dd, x, &value));
    EXPECT(same(N * M, dW, h.dW) && value == h.y[0] + h.y[1]);
    EXPECT(dc[0] == 10.0 + h.dc[0] && dc[1] == 20.0 + h.dc[1]);
    FINE(shaded_forward(M, &d, x, &tape));
    FINE(shaded_reverse(M, &dd, -1.0, tape));
    EXPECT(dc[0] == 10.0 && dc[1] == 20.0 && same(N * M, dW, (double[]){1, 1, 1, 1, 1, 1}));
    REFUSED(ADL_ERROR_SIZE, "n is 1", (dd.n = 1, shaded_reverse(M, &dd, 1.0, tape)));
    FINE(adl_tape_free(&tape));
}

/* ---- structs in structs ---- */

typedef struct Memory {
    double one[N * M], one_c[N], two[K * N], two_c[K], at[M];
    adl_c64 pairs[K];
    adl_c128 value[M];
    uint8_t bytes[M];
} Memory;

static Whole net_in(Memory *m)
{
    return (Whole){.n = N, .m = M, .k = K, .small = 1.5F, .one = {N, M, m->one, m->one_c},
                 .on = true, .two = {K, N, m->two, m->two_c}, .z = {1.0, 2.0},
                 .pairs = m->pairs, .parts_0 = 41, .parts_1 = m->bytes, .points_at = m->at,
                 .points_value = m->value};
}

static const Memory full = {{1, 2, 3, 4, 5, 6}, {7, 8}, {9, 10, 11, 12}, {13, 14}, {15, 16, 17},
                            {{1, 2}, {3, 4}}, {{5, 6}, {7, 8}, {9, 10}}, {200, 201, 255}};

static void test_nested(void)
{
    Memory given = full, made, blank;
    memset(&made, 0, sizeof made);
    memset(&blank, 0, sizeof blank);
    Whole p = net_in(&given), q = net_in(&made);
    q.small = 0.0F, q.z = (adl_c128){0.0, 0.0}, q.parts_0 = 0;
    FINE(other_net(&p, 2.0, &q));
    EXPECT(q.small == 2.5F && !q.on && equals(q.z, -4.0, 2.0) && q.parts_0 == 42);
    EXPECT(same(N * M, made.one, (double[]){2, 4, 6, 8, 10, 12}) && same(N, made.one_c, full.one_c));
    EXPECT(same(K * N, made.two, full.two) && same(K, made.two_c, full.two_c));
    EXPECT(made.pairs[0].re == 1.0F && made.pairs[0].im == -2.0F && made.pairs[1].re == 3.0F);
    EXPECT(!memcmp(made.bytes, full.bytes, sizeof full.bytes) && same(M, made.at, full.at));
    EXPECT(equals(made.value[0], 5, 6) && equals(made.value[2], 9, 10));
    EXPECT(same(N * M, given.one, full.one) && p.small == 1.5F && p.on);
    FINE(change_net(&p, 2.0));
    EXPECT(p.small == 2.5F && !p.on && equals(p.z, -4.0, 2.0) && p.parts_0 == 42);
    EXPECT(same(N * M, given.one, made.one) && given.pairs[1].im == -4.0F);
    EXPECT(same(K * N, given.two, full.two) && equals(given.value[1], 7, 8));
    REFUSED(ADL_ERROR_SIZE, "p.two.m is 3, but", (p.two.m = 3, change_net(&p, 2.0)));
    p.two.m = N;
    q.one.n = 1;
    made = blank;
    REFUSED(ADL_ERROR_SIZE, "result.one.n is 1, but", other_net(&p, 2.0, &q));
    EXPECT(!memcmp(&made, &blank, sizeof made));
}

/* ---- sizes that are computed ---- */

static void test_computed_sizes(void)
{
    static const double ones[32] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                                    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    double value;
    FINE(parts_of(5, ones, 2, ones, ones, &value));
    EXPECT(value == 5.0 + 10.0 * 2.0 + 100.0 * 9.0 * 2.0);
    FINE(parts_of(0, NULL, 3, NULL, NULL, &value));
    EXPECT(value == 0.0);
    REFUSED(ADL_ERROR_ARGUMENT, "n / k divides by 0", parts_of(5, ones, 0, ones, ones, &value));
    REFUSED(ADL_ERROR_ARGUMENT, "n / k is negative", parts_of(5, ones, -2, ones, ones, &value));
    REFUSED(ADL_ERROR_ARGUMENT, "is negative", parts_of(0, NULL, 2, NULL, NULL, &value));
}

/* ---- refusals ---- */

static void test_refusals(void)
{
    double y[N], dW[N * M], dc[N], dx[M], value;
    Dense dd = {N, M, dW, dc}, bad = d;
    REFUSED(ADL_ERROR_ARGUMENT, "d is NULL", dense_grad(M, N, NULL, x, seed, y, &dd, dx));
    REFUSED(ADL_ERROR_ARGUMENT, "dd is NULL", dense_grad(M, N, &d, x, seed, y, NULL, dx));
    bad.W = NULL;
    REFUSED(ADL_ERROR_ARGUMENT, "d.W is NULL", dense_grad(M, N, &bad, x, seed, y, &dd, dx));
    bad = d, bad.m = M + 1;
    REFUSED(ADL_ERROR_SIZE, "d.m is 4, but m is 3", dense_grad(M, N, &bad, x, seed, y, &dd, dx));
    bad = d, bad.n = -1;
    REFUSED(ADL_ERROR_ARGUMENT, "d.n is negative", dense_grad(M, N, &bad, x, seed, y, &dd, dx));
    dd.W = NULL;
    REFUSED(ADL_ERROR_ARGUMENT, "dd.W is NULL", dense_grad(M, N, &d, x, seed, y, &dd, dx));
    dd.W = dW, dd.n = N + 1;
    REFUSED(ADL_ERROR_SIZE, "dd.n is 3, but", dense_grad(M, N, &d, x, seed, y, &dd, dx));
    REFUSED(ADL_ERROR_SIZE, "d.m is 3", square(&d, &value));
    bad = (Dense){2, 2, W, c};
    FINE(square(&bad, &value));
    EXPECT(value == W[0] * W[3] - W[1] * W[2]);
    /* Nothing of nothing. */
    Dense none = {0, 0, NULL, NULL}, dnone = none;
    FINE(dense_grad(0, 0, &none, NULL, NULL, NULL, &dnone, NULL));
    adl_c128 one[1] = {{2, 0}}, w[1] = {{1, 0}}, old[1];
    adl_c64 last;
    REFUSED(ADL_ERROR_ARGUMENT, "z is NULL", turn(1, NULL, w, w[0], old, &last));
    REFUSED(ADL_ERROR_ARGUMENT, "w is NULL", turn(1, one, NULL, w[0], old, &last));
    REFUSED(ADL_ERROR_ARGUMENT, "old is NULL", turn(1, one, w, w[0], NULL, &last));
    REFUSED(ADL_ERROR_ARGUMENT, "last is NULL", turn(1, one, w, w[0], old, NULL));
}

/* ---- complex numbers ---- */

static void test_by_value(void)
{
    adl_c128 r;
    /* Each with a weight of its own, so that none stands in another's place. */
    FINE(weigh((adl_c128){1, 2}, 3.0, (adl_c128){4, 5}, (adl_c64){6, 7}, (adl_c128){8, 9},
               (adl_c128){10, 11}, 12.0, (adl_c64){13, 14}, (adl_c128){15, 16}, &r));
    EXPECT(equals(r, 1 + 3 + 8 + 18 + 32 + 50 + 72 + 91 + 120, 2 + 10 + 21 + 36 + 55 + 98 + 128));
    REFUSED(ADL_ERROR_ARGUMENT, "result is NULL",
            weigh(r, 3.0, r, (adl_c64){6, 7}, r, r, 12.0, (adl_c64){13, 14}, r, NULL));
}

static void test_arrays(void)
{
    const adl_c128 z[3] = {{1, 2}, {3, 4}, {5, 6}};
    adl_c128 w[3] = {{1, 0}, {0, 1}, {2, -1}}, old[3];
    adl_c64 last;
    FINE(turn(3, z, w, (adl_c128){0, 2}, old, &last));
    EXPECT(equals(old[0], 1, 0) && equals(old[1], 0, 1) && equals(old[2], 2, -1));
    EXPECT(equals(w[0], 1, 4) && equals(w[1], 1, 4) && equals(w[2], 7, 10));
    EXPECT(last.re == 1.0F && last.im == -2.0F);
    FINE(turn(0, NULL, NULL, (adl_c128){0, 2}, NULL, &last));
}

static void test_gradients(void)
{
    const adl_c128 z[4] = {{1, 2}, {3, 4}, {5, 6}, {-7, 8}}, s = {0.5, -0.25};
    adl_c128 dz[4], ds;
    double value;
    adl_tape *tape = NULL;
    FINE(power_grad(2, z, s, &value, dz, &ds));
    EXPECT(value == 1 + 4 + 9 + 16 + 25 + 36 + 49 + 64 + 0.25 + 0.0625 && equals(ds, 1.0, -0.5));
    for (int i = 0; i < 4; i++) EXPECT(equals(dz[i], 2 * z[i].re, 2 * z[i].im));
    FINE(power_forward(2, z, s, &tape));
    FINE(power_reverse(2, 3.0, tape, dz, &ds));
    for (int i = 0; i < 4; i++) EXPECT(equals(dz[i], 6 * z[i].re, 6 * z[i].im));
    EXPECT(equals(ds, 3.0, -1.5));
    EXPECT(power_reverse(1, 3.0, tape, dz, &ds) == ADL_ERROR_SIZE);
    FINE(adl_tape_free(&tape));
}

static void test_components(void)
{
    const double at[4] = {1, 2, 3, 4};
    const adl_c128 value[4] = {{1, -1}, {2, -2}, {3, -3}, {4, -4}};
    double to[4];
    adl_c128 values[4];
    FINE(swap_halves(2, at, value, to, values));
    EXPECT(same(4, to, (double[]){2, 1, 4, 3}) && equals(values[0], 2, -2));
    EXPECT(equals(values[3], 3, -3));
}

static void test_two_headers(void)
{
    double sum;
    FINE(total(&d, (adl_c128){10, 1}, &sum));
    EXPECT(sum == 0.5 - 1.0 + 2.0 + 1.5 + 0.25 - 0.75 + 1.0 - 2.0 + 9.0);
}

int main(void)
{
    run("sizes that are computed of others", test_computed_sizes);
    run("derivatives that are structs", test_returned);
    run("tangents that are structs", test_tangents);
    run("shadows that are structs", test_shadows);
    run("structs in structs", test_nested);
    run("structs that are refused", test_refusals);
    run("complex numbers by value", test_by_value);
    run("arrays of complex numbers", test_arrays);
    run("derivatives of complex numbers", test_gradients);
    run("arrays of structs", test_components);
    run("a struct of two headers", test_two_headers);
    printf("1..%d\n", number);
    return failed != 0;
}
