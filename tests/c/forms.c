/* A C program that links every form of derivative (forms.adl): values against the same by hand, tapes,
   refusals, threads, memory.  Prints TAP.  c-tests.sh builds it in several ways, sanitizers among them. */
#include "forms.h"
#include "check.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { M = 3, N = 4, MN = M * N, LANES = 8, THREADS = 8, ROUNDS = 40 };

/* ---- memory: what was taken and not given back ---- */

static atomic_llong areas;

static void *take(void *state, size_t alignment, size_t bytes)
{
    (void)state;
    void *memory = aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
    if (memory) atomic_fetch_add(&areas, 1);
    return memory;
}

static void give(void *state, void *memory, size_t bytes)
{
    (void)state;
    (void)bytes;
    if (memory) atomic_fetch_sub(&areas, 1);
    free(memory);
}

/* ---- the same by hand ---- */

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-13 * (1.0 + fabs(b));
}

static bool all_near(size_t n, const double a[], const double b[])
{
    bool same = true;
    for (size_t i = 0; i < n; i++) same = same && near(a[i], b[i]);
    return same;
}

static const double W[MN] = {0.5, -1.0, 0.25, 2.0, -0.75, 0.1, 1.5, -0.5, 1.0, 0.3, -0.2, 0.8};
static const double x[N] = {1.5, -0.5, 0.75, 2.0};

typedef struct Layer {
    double y[M], dW[MN], dx[N];
} Layer;

/* Of y = (W x)^2: its value and the derivatives for the cotangent SEED. */
static Layer layer_by_hand(const double seed[])
{
    Layer r = {{0}, {0}, {0}};
    for (int i = 0; i < M; i++) {
        double z = 0.0;
        for (int j = 0; j < N; j++) z += W[i * N + j] * x[j];
        r.y[i] = z * z;
        for (int j = 0; j < N; j++) {
            r.dW[i * N + j] = 2.0 * z * seed[i] * x[j];
            r.dx[j] += 2.0 * z * seed[i] * W[i * N + j];
        }
    }
    return r;
}

/* Eight seeds, tangents of W and of x: no two alike. */
static void fill(size_t n, double a[], double from)
{
    for (size_t i = 0; i < n; i++) a[i] = from + 0.25 * (double)(i % 7) - 0.125 * (double)(i % 5);
}

/* The wave: its last state in A, its value; the law of shadows from D and SEED, with k's part. */
static double wave_by_hand(int n, double a[], double k, int steps, double d[], double seed,
                           double *dk)
{
    double *tape = malloc((size_t)steps * sizeof *tape + 1), sum = 0.0;
    if (!tape) exit(1);
    for (int t = 0; t < steps; t++) {
        double v = tape[t] = a[t % n];
        a[t % n] = v > 0.0 ? sin(k * v) : v + k;
    }
    for (int i = 0; i < n; i++) sum += a[i], d[i] += seed;
    *dk = 0.0;
    for (int t = steps; t-- > 0;) {
        double v = tape[t], g = d[t % n];
        *dk += v > 0.0 ? g * cos(k * v) * v : g;
        if (v > 0.0) d[t % n] = g * cos(k * v) * k;
    }
    free(tape);
    return sum;
}

static const double start[5] = {0.9, -0.4, 0.3, -1.2, 0.05};

/* ---- values ---- */

static void test_grad_and_jvp(void)
{
    double y[M], dW[MN], dx[N], tW[MN], tx[N], ty[M], seed[M] = {1.0, -2.0, 0.5}, forward = 0.0;
    Layer hand = layer_by_hand(seed);
    FINE(layer_grad(M, N, W, x, seed, y, dW, dx));
    EXPECT(all_near(M, y, hand.y) && all_near(MN, dW, hand.dW) && all_near(N, dx, hand.dx));
    fill(MN, tW, 1.0);
    fill(N, tx, -0.5);
    FINE(layer_jvp(M, N, W, tW, x, tx, y, ty));
    EXPECT(all_near(M, y, hand.y));
    /* <seed, J t> is <J^T seed, t>. */
    double reverse = 0.0;
    for (int i = 0; i < M; i++) forward += seed[i] * ty[i];
    for (int i = 0; i < MN; i++) reverse += hand.dW[i] * tW[i];
    for (int j = 0; j < N; j++) reverse += hand.dx[j] * tx[j];
    EXPECT(near(forward, reverse));
}

static void test_batches(void)
{
    double seeds[LANES * M], y[M], dW[LANES * MN], dx[LANES * N];
    fill(LANES * M, seeds, 0.5);
    FINE(layer_grad8(M, N, W, x, seeds, y, dW, dx));
    for (int l = 0; l < LANES; l++) {
        Layer hand = layer_by_hand(seeds + l * M);
        EXPECT(all_near(M, y, hand.y) && all_near(MN, dW + l * MN, hand.dW));
        EXPECT(all_near(N, dx + l * N, hand.dx));
    }
    double tW[LANES * MN], tx[LANES * N], ty[LANES * M], one[M];
    fill(LANES * MN, tW, 1.0);
    fill(LANES * N, tx, -0.5);
    FINE(layer_jvp8(M, N, W, tW, x, tx, y, ty));
    for (int l = 0; l < LANES; l++) {
        FINE(layer_jvp(M, N, W, tW + l * MN, x, tx + l * N, y, one));
        EXPECT(all_near(M, ty + l * M, one));
    }
}

/* By the law, and with bits of the primal that do not depend on the form. */
static void test_memory_in_place(void)
{
    enum { STEPS = 23 };
    double a[5], b[5], d[5] = {0.5, 0.0, -1.0, 2.0, 0.25}, by_hand[5], dk, hand_dk, value, again;
    double k = 1.25;
    memcpy(a, start, sizeof a);
    memcpy(b, start, sizeof b);
    memcpy(by_hand, d, sizeof d);
    double hand = wave_by_hand(5, b, k, STEPS, by_hand, 1.0, &hand_dk);
    FINE(wave(5, a, k, STEPS, &value));
    EXPECT(near(value, hand) && all_near(5, a, b));
    memcpy(b, start, sizeof b);
    FINE(wave_grad(5, b, d, k, STEPS, &again, &dk));
    EXPECT(!memcmp(a, b, sizeof a) && again == value);
    EXPECT(all_near(5, d, by_hand) && near(dk, hand_dk));
    double lanes[4 * 5], dks[4];
    for (int l = 0; l < 4; l++)
        for (int i = 0; i < 5; i++) lanes[l * 5 + i] = (double)l;
    memcpy(b, start, sizeof b);
    FINE(wave_grad4(5, b, lanes, k, STEPS, dks));
    EXPECT(!memcmp(a, b, sizeof a));
    for (int l = 0; l < 4; l++) {
        for (int i = 0; i < 5; i++) by_hand[i] = (double)l;
        memcpy(b, start, sizeof b);
        wave_by_hand(5, b, k, STEPS, by_hand, 1.0, &hand_dk);
        EXPECT(all_near(5, lanes + l * 5, by_hand) && near(dks[l], hand_dk));
    }
}

static void test_memory_that_trades_places(void)
{
    double a[] = {1.0, 2.0, 3.0}, b[] = {4.0, 5.0, 6.0}, c[] = {7.0, 8.0, 9.0}, old[3];
    const double one[] = {1.0, 2.0, 3.0}, two[] = {4.0, 5.0, 6.0}, three[] = {7.0, 8.0, 9.0};
    FINE(exchange(3, a, b));
    EXPECT(all_near(3, a, two) && all_near(3, b, one));
    FINE(rotate(3, a, b, c)); /* was two, one, three */
    EXPECT(all_near(3, a, one) && all_near(3, b, three) && all_near(3, c, two));
    /* The cotangents of the memory after the call become those of the memory before it. */
    double da[] = {1.0, 2.0, 3.0}, db[] = {4.0, 5.0, 6.0};
    FINE(exchange_grad(3, a, da, b, db));
    EXPECT(all_near(3, a, three) && all_near(3, b, one));
    EXPECT(all_near(3, da, two) && all_near(3, db, one));
    FINE(replace(3, c, -1.0, old));
    EXPECT(all_near(3, old, two) && c[0] == -1.0 && all_near(2, c + 1, two + 1));
}

static void test_tuples_and_small_types(void)
{
    enum { ROWS = 2, COLUMNS = 3 };
    float w[ROWS * COLUMNS] = {1.0F, 2.0F, -1.0F, 0.5F, 0.0F, 4.0F}, c[ROWS] = {0.5F, -1.0F};
    const float q[COLUMNS] = {2.0F, -1.0F, 0.25F};
    float dw[ROWS * COLUMNS] = {0.0F}, dc[ROWS] = {1.0F, 1.0F}, dq[COLUMNS], value, part[ROWS];
    const Net p = {ROWS, COLUMNS, w, c};
    Net dp = {ROWS, COLUMNS, dw, dc};
    const adl_c128 z = {1.0, 2.0}, seed = {0.5, -1.0};
    adl_c128 square, dz;
    int32_t count = 7;
    adl_tape *tape = NULL;
    /* y = (0.25, 1); all numbers here are exact. */
    FINE(net_forward(COLUMNS, &p, q, 3, z, true, &tape, &value, part, &square));
    EXPECT(value == 1.0625F && part[0] == 0.25F && part[1] == 1.0F);
    EXPECT(square.re == -9.0 && square.im == 12.0);
    FINE(net_reverse(COLUMNS, &dp, 2.0F, seed, tape, dq, &count, &dz));
    EXPECT(dw[0] == 2.0F && dw[1] == -1.0F && dw[2] == 0.25F && dw[3] == 8.0F && dw[4] == -4.0F);
    EXPECT(dw[5] == 1.0F && dc[0] == 2.0F && dc[1] == 5.0F);
    EXPECT(dq[0] == 3.0F && dq[1] == 2.0F && dq[2] == 15.0F && count == 0);
    /* conj(6 (1 + 2i)) (0.5 - i) */
    EXPECT(dz.re == -9.0 && dz.im == -12.0);
    FINE(adl_tape_free(&tape));
    FINE(net_forward(COLUMNS, &p, q, 3, z, false, &tape, &value, part, &square));
    FINE(net_reverse(COLUMNS, &dp, 2.0F, seed, tape, dq, &count, &dz));
    EXPECT(value == 0.0F && dw[0] == 2.0F && dc[1] == 5.0F && dq[2] == 0.0F && dz.re == -9.0);
    FINE(adl_tape_free(&tape));
}

/* ---- tapes ---- */

static void test_pulls(void)
{
    double y[M], dW[MN], dx[N], seeds[LANES * M], first[MN];
    adl_tape *tape = NULL, *other = NULL;
    fill(LANES * M, seeds, 0.5);
    FINE(layer_forward(M, N, W, x, &tape, y));
    FINE(layer_forward(M, N, W, x, &other, y));
    EXPECT(tape && other && tape != other);
    for (int round = 0; round < 3; round++)
        for (int l = 0; l < LANES; l++) {
            Layer hand = layer_by_hand(seeds + l * M);
            FINE(layer_reverse(M, N, seeds + l * M, tape, dW, dx));
            EXPECT(all_near(MN, dW, hand.dW) && all_near(N, dx, hand.dx));
            if (l == 0 && round == 0) memcpy(first, dW, sizeof dW);
            EXPECT(l || !memcmp(first, dW, sizeof dW));
        }
    FINE(adl_tape_free(&tape));
    FINE(layer_reverse(M, N, seeds, other, dW, dx));
    EXPECT(!memcmp(first, dW, sizeof dW));
    FINE(adl_tape_free(&other));
}

/* One tape serves every width. */
static void test_widths_of_pulls(void)
{
    double y[M], dW[LANES * MN], dx[LANES * N], seeds[LANES * M], one[MN], each[N];
    adl_tape *narrow = NULL, *wide = NULL;
    fill(LANES * M, seeds, 0.5);
    FINE(layer_forward(M, N, W, x, &narrow, y));
    FINE(layer_forward8(M, N, W, x, &wide, y));
    for (int round = 0; round < 2; round++) {
        FINE(layer_reverse8(M, N, seeds, round ? wide : narrow, dW, dx));
        for (int l = 0; l < LANES; l++) {
            Layer hand = layer_by_hand(seeds + l * M);
            EXPECT(all_near(MN, dW + l * MN, hand.dW) && all_near(N, dx + l * N, hand.dx));
            FINE(layer_reverse(M, N, seeds + l * M, round ? narrow : wide, one, each));
            EXPECT(all_near(MN, one, hand.dW) && all_near(N, each, hand.dx));
        }
    }
    FINE(adl_tape_free(&narrow));
    FINE(adl_tape_free(&wide));
}

static void test_result_shadows(void)
{
    double y[N], shadow[N] = {9.0, 9.0, 9.0, 9.0}, d[N] = {1.0, 0.0, 0.0, 0.0};
    adl_tape *tape = NULL;
    FINE(square_forward(N, x, &tape, y, shadow));
    for (int i = 0; i < N; i++) EXPECT(y[i] == x[i] * x[i] && shadow[i] == 0.0);
    shadow[0] = 2.0;
    shadow[3] = -1.0;
    FINE(square_reverse(N, d, shadow, tape));
    FINE(square_reverse(N, d, shadow, tape));
    EXPECT(d[0] == 13.0 && d[1] == 0.0 && d[2] == 0.0 && d[3] == -8.0);
    EXPECT(shadow[0] == 2.0 && shadow[3] == -1.0);
    FINE(adl_tape_free(&tape));
}

/* Memory that the caller promises to keep; and without that promise it may do as it likes. */
static void test_kept_memory(void)
{
    double w[MN], v[N], y[M], dW[MN], dx[N], seed[M] = {1.0, -2.0, 0.5};
    Layer hand = layer_by_hand(seed);
    adl_tape *borrowing = NULL, *holding = NULL;
    memcpy(w, W, sizeof w);
    memcpy(v, x, sizeof v);
    FINE(layer_borrow(M, N, w, v, &borrowing, y));
    FINE(layer_forward(M, N, w, v, &holding, y));
    FINE(layer_return(M, N, seed, borrowing, dW, dx));
    EXPECT(all_near(MN, dW, hand.dW) && all_near(N, dx, hand.dx));
    EXPECT(!memcmp(w, W, sizeof w) && !memcmp(v, x, sizeof v));
    FINE(adl_tape_free(&borrowing));
    memset(w, 0, sizeof w);
    memset(v, 0, sizeof v);
    FINE(layer_reverse(M, N, seed, holding, dW, dx));
    EXPECT(all_near(MN, dW, hand.dW) && all_near(N, dx, hand.dx));
    FINE(adl_tape_free(&holding));
}

/* Large enough not to be copied. */
static void test_borrowed_memory(void)
{
    enum { ROWS = 30, COLUMNS = 40, ALL = ROWS * COLUMNS };
    double w[ALL], v[COLUMNS], y[ROWS], seed[ROWS], dW[ALL], dv[COLUMNS], eW[ALL], ev[COLUMNS];
    adl_tape *borrowing = NULL, *holding = NULL;
    fill(ALL, w, 0.1);
    fill(COLUMNS, v, -0.3);
    fill(ROWS, seed, 1.0);
    FINE(layer_borrow(ROWS, COLUMNS, w, v, &borrowing, y));
    FINE(layer_forward(ROWS, COLUMNS, w, v, &holding, y));
    EXPECT(adl_tape_bytes(borrowing) + sizeof w <= adl_tape_bytes(holding));
    FINE(layer_return(ROWS, COLUMNS, seed, borrowing, dW, dv));
    memset(w, 0, sizeof w);
    FINE(layer_reverse(ROWS, COLUMNS, seed, holding, eW, ev));
    EXPECT(!memcmp(dW, eW, sizeof dW) && !memcmp(dv, ev, sizeof dv));
    FINE(adl_tape_free(&borrowing));
    FINE(adl_tape_free(&holding));
}

/* What is overwritten is kept: bytes in proportion to the steps. */
static void test_tapes_of_loops(void)
{
    enum { STEPS = 1000 };
    double a[5], d[5], by_hand[5], value, dk, hand_dk, k = 1.25;
    size_t bytes = 0;
    EXPECT(adl_tape_bytes(NULL) == 0);
    for (int steps = STEPS; steps <= 3 * STEPS; steps += STEPS) {
        adl_tape *tape = NULL;
        memcpy(a, start, sizeof a);
        FINE(wave_forward(5, a, k, steps, &tape, &value));
        EXPECT(adl_tape_bytes(tape) > bytes);
        bytes = adl_tape_bytes(tape);
        EXPECT(bytes <= 32 * (size_t)steps + 256);
        for (int pull = 1; pull <= 3; pull++) {
            for (int i = 0; i < 5; i++) d[i] = by_hand[i] = 0.5 * i;
            memcpy(a, start, sizeof a);
            wave_by_hand(5, a, k, steps, by_hand, (double)pull, &hand_dk);
            FINE(wave_reverse(5, d, (double)pull, tape, &dk));
            EXPECT(all_near(5, d, by_hand) && near(dk, hand_dk));
        }
        EXPECT(adl_tape_bytes(tape) == bytes);
        FINE(adl_tape_free(&tape));
    }
}

/* The pull's change with the point, against a difference of pulls. */
static void test_tangents_of_tapes(void)
{
    enum { STEPS = 12 };
    double a[5], da[5] = {1.0, -0.5, 0.25, 2.0, -1.0}, d[5] = {0.0}, dd[5] = {0.0};
    double side[2][5], k = 1.25, direction = 0.5, h = 1e-5, dk, ddk, side_dk[2], value, tangent;
    adl_tape *tape = NULL, *dtape = NULL;
    for (int s = 0; s < 2; s++) {
        double step = s ? h : -h;
        for (int i = 0; i < 5; i++) a[i] = start[i] + step * da[i], side[s][i] = 0.0;
        wave_by_hand(5, a, k + step * direction, STEPS, side[s], 1.5, &side_dk[s]);
    }
    memcpy(a, start, sizeof a);
    FINE(wave_forward_jvp(5, a, da, k, direction, STEPS, &tape, &value, &dtape, &tangent));
    FINE(wave_reverse_jvp(5, d, dd, 1.5, 0.0, tape, dtape, &dk, &ddk));
    for (int i = 0; i < 5; i++)
        EXPECT(fabs(dd[i] - (side[1][i] - side[0][i]) / (2.0 * h)) < 1e-7);
    EXPECT(fabs(ddk - (side_dk[1] - side_dk[0]) / (2.0 * h)) < 1e-6);
    /* They are of two kinds. */
    EXPECT(wave_reverse_jvp(5, d, dd, 1.5, 0.0, dtape, tape, &dk, &ddk) == ADL_ERROR_TAPE);
    EXPECT(wave_reverse(5, d, 1.5, dtape, &dk) == ADL_ERROR_TAPE);
    FINE(wave_reverse(5, d, 1.5, tape, &dk));
    FINE(adl_tape_free(&dtape));
    FINE(adl_tape_free(&tape));
}

/* ---- refusals ---- */

static void test_tapes_refused(void)
{
    double y[N], dW[MN], dx[N], seed[M] = {1.0, 1.0, 1.0};
    adl_tape *tape = NULL, *other = NULL;
    EXPECT(layer_reverse(M, N, seed, NULL, dW, dx) == ADL_ERROR_TAPE);
    EXPECT(strstr(adl_last_error_message(), "layer_reverse"));
    EXPECT(adl_tape_free(NULL) == ADL_ERROR_TAPE);
    EXPECT(adl_tape_free(&tape) == ADL_ERROR_TAPE);
    EXPECT(strstr(adl_last_error_message(), "adl_tape_free"));
    EXPECT(layer_forward(M, N, W, x, NULL, y) == ADL_ERROR_ARGUMENT);
    FINE(layer_forward(M, N, W, x, &tape, y));
    FINE(square_forward(N, x, &other, y, dx));
    EXPECT(layer_reverse(M, N, seed, other, dW, dx) == ADL_ERROR_TAPE);
    EXPECT(strstr(adl_last_error_message(), "layer_reverse"));
    EXPECT(square_reverse(N, dx, seed, tape) == ADL_ERROR_TAPE);
    EXPECT(element_reverse(N, 1.0, tape, dx) == ADL_ERROR_TAPE);
    /* Other activities, other options: tapes of another kind. */
    EXPECT(layer_reverse_of_x(M, N, seed, tape, dx) == ADL_ERROR_TAPE);
    FINE(layer_reverse(M, N, seed, tape, dW, dx));
    FINE(adl_tape_free(&tape));
    EXPECT(!tape && adl_tape_free(&tape) == ADL_ERROR_TAPE);
    EXPECT(layer_reverse(M, N, seed, tape, dW, dx) == ADL_ERROR_TAPE);
    FINE(adl_tape_free(&other));
}

static void test_sizes_refused(void)
{
    double y[M], dW[2 * MN], dx[2 * N], seed[2 * M] = {0.0};
    adl_tape *tape = NULL;
    FINE(layer_forward(M, N, W, x, &tape, y));
    EXPECT(layer_reverse(M + 1, N, seed, tape, dW, dx) == ADL_ERROR_SIZE);
    EXPECT(layer_reverse(M, N + 1, seed, tape, dW, dx) == ADL_ERROR_SIZE);
    EXPECT(layer_reverse(M, N - 1, seed, tape, dW, dx) == ADL_ERROR_SIZE);
    EXPECT(layer_reverse(N, M, seed, tape, dW, dx) == ADL_ERROR_SIZE);
    EXPECT(layer_reverse(0, 0, seed, tape, dW, dx) == ADL_ERROR_SIZE);
    EXPECT(layer_reverse(-1, N, seed, tape, dW, dx) == ADL_ERROR_ARGUMENT);
    EXPECT(layer_reverse(M, N, NULL, tape, dW, dx) == ADL_ERROR_ARGUMENT);
    EXPECT(layer_reverse(M, N, seed, tape, NULL, dx) == ADL_ERROR_ARGUMENT);
    FINE(layer_reverse(M, N, seed, tape, dW, dx));
    FINE(adl_tape_free(&tape));
    FINE(square_forward(3, x, &tape, y, dx));
    EXPECT(square_reverse(2, dx, seed, tape) == ADL_ERROR_SIZE);
    EXPECT(square_reverse(4, dx, seed, tape) == ADL_ERROR_SIZE);
    FINE(square_reverse(3, dx, seed, tape));
    FINE(adl_tape_free(&tape));
    double a[5], d[6] = {0.0}, dk, value;
    memcpy(a, start, sizeof a);
    FINE(wave_forward(5, a, 1.0, 7, &tape, &value));
    EXPECT(wave_reverse(4, d, 1.0, tape, &dk) == ADL_ERROR_SIZE);
    EXPECT(wave_reverse(6, d, 1.0, tape, &dk) == ADL_ERROR_SIZE);
    FINE(adl_tape_free(&tape));
    /* Nothing at all is a size too. */
    FINE(square_forward(0, NULL, &tape, NULL, NULL));
    FINE(square_reverse(0, NULL, NULL, tape));
    FINE(adl_tape_free(&tape));
}

/* ---- threads ---- */

typedef struct Job {
    pthread_t thread;
    int at;
    const adl_tape *tape, *wave;
    adl_tape *own;
    bool fine;
} Job;

/* BODY in eight threads at once, each with its Job. */
static void in_threads(Job jobs[], void *(*body)(void *))
{
    for (int i = 0; i < THREADS; i++)
        EXPECT(pthread_create(&jobs[i].thread, NULL, body, &jobs[i]) == 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(jobs[i].thread, NULL);
        EXPECT(jobs[i].fine);
    }
}

/* Pulls the shared tapes at widths 1 and 8 with seeds of its own, and a tape that it made. */
static void *pull(void *data)
{
    Job *job = data;
    double seeds[LANES * M], dW[LANES * MN], dx[LANES * N], d[5], by_hand[5], a[5], dk, hand_dk;
    double y[M];
    fill(LANES * M, seeds, (double)job->at);
    Layer hand = layer_by_hand(seeds);
    job->fine = true;
    for (int round = 0; round < ROUNDS && job->fine; round++) {
        int status = layer_reverse(M, N, seeds, job->tape, dW, dx);
        job->fine = !status && all_near(MN, dW, hand.dW) && all_near(N, dx, hand.dx);
        status = layer_reverse8(M, N, seeds, job->tape, dW, dx);
        job->fine = job->fine && !status && all_near(MN, dW, hand.dW) && all_near(N, dx, hand.dx);
        for (int i = 0; i < 5; i++) d[i] = by_hand[i] = (double)(job->at * i);
        memcpy(a, start, sizeof a);
        wave_by_hand(5, a, 1.25, 101, by_hand, 2.0, &hand_dk);
        status = wave_reverse(5, d, 2.0, job->wave, &dk);
        job->fine = job->fine && !status && all_near(5, d, by_hand) && near(dk, hand_dk);
        job->fine = job->fine && adl_tape_bytes(job->tape) > 0;
        adl_tape *own = NULL;
        status = layer_forward(M, N, W, x, &own, y) || layer_reverse(M, N, seeds, own, dW, dx) ||
                 adl_tape_free(&own);
        job->fine = job->fine && !status && all_near(MN, dW, hand.dW);
    }
    /* Left for another thread. */
    job->fine = job->fine && !layer_forward(M, N, W, x, &job->own, y);
    return NULL;
}

static void *free_last(void *data)
{
    Job *job = data;
    job->fine = !adl_tape_free(&job->own);
    return NULL;
}

static void test_threads(void)
{
    Job jobs[THREADS];
    adl_tape *tape = NULL, *loop = NULL;
    double y[M], a[5], value;
    memcpy(a, start, sizeof a);
    FINE(layer_forward(M, N, W, x, &tape, y));
    FINE(wave_forward(5, a, 1.25, 101, &loop, &value));
    for (int i = 0; i < THREADS; i++) jobs[i] = (Job){.at = i + 1, .tape = tape, .wave = loop};
    in_threads(jobs, pull);
    adl_tape *first = jobs[0].own;
    for (int i = 0; i + 1 < THREADS; i++) jobs[i].own = jobs[i + 1].own;
    jobs[THREADS - 1].own = first;
    in_threads(jobs, free_last);
    FINE(adl_tape_free(&loop));
    FINE(adl_tape_free(&tape));
}

/* Each thread makes errors of its own; the message is that of its last one. */
static void *fail(void *data)
{
    Job *job = data;
    double dx[N];
    char wanted[32];
    job->fine = !strcmp(adl_last_error_message(), "");
    for (int round = 0; round < ROUNDS && job->fine; round++) {
        int64_t index = N + job->at + 10 * round;
        snprintf(wanted, sizeof wanted, "index %lld is", (long long)index);
        job->fine = element_grad(N, x, index, dx) == ADL_ERROR_INDEX;
        job->fine = job->fine && strstr(adl_last_error_message(), wanted);
        /* A call that goes well leaves it. */
        job->fine = job->fine && !element_grad(N, x, 1, dx) && dx[1] == 3.0 && dx[0] == 0.0;
        job->fine = job->fine && strstr(adl_last_error_message(), wanted);
    }
    return NULL;
}

static void test_messages(void)
{
    Job jobs[THREADS];
    double dx[N];
    adl_tape *tape = NULL;
    EXPECT(element_grad(N, x, -1, dx) == ADL_ERROR_INDEX);
    for (int i = 0; i < THREADS; i++) jobs[i] = (Job){.at = i + 1};
    in_threads(jobs, fail);
    EXPECT(strstr(adl_last_error_message(), "index -1 is"));
    EXPECT(element_forward(N, x, N, &tape) == ADL_ERROR_INDEX && !tape);
    EXPECT(strstr(adl_last_error_message(), "forms.adl:"));
}

/* Loops of compiled code on threads of the library: whole numbers, so that sums are exact. */
static void test_parallel_loops(void)
{
    enum { COUNT = 200000, PLACES = 64 };
    static double u[COUNT], du[COUNT];
    static int64_t at[COUNT];
    double w[PLACES], dw[PLACES], wanted[PLACES] = {0.0}, value, total = 0.0;
    for (int i = 0; i < PLACES; i++) w[i] = i + 1;
    for (int i = 0; i < COUNT; i++) {
        u[i] = i % 11 - 5;
        at[i] = (7 * i) % PLACES;
        wanted[at[i]] += u[i] * u[i];
        total += u[i] * u[i] * w[at[i]];
    }
    adl_tape *tape = NULL;
    FINE(field_forward(COUNT, PLACES, u, w, at, &tape, &value));
    for (int round = 0; round < 3; round++) {
        memset(du, 0, sizeof du);
        if (round == 0) FINE(field_grad(COUNT, PLACES, u, w, at, &value, du, dw));
        else FINE(field_reverse(COUNT, PLACES, 1.0, tape, du, dw));
        bool same = value == total && !memcmp(dw, wanted, sizeof dw);
        for (int i = 0; i < COUNT; i++) same = same && du[i] == 2.0 * u[i] * w[at[i]];
        EXPECT(same);
    }
    FINE(adl_tape_free(&tape));
    at[COUNT / 2] = PLACES;
    EXPECT(field_grad(COUNT, PLACES, u, w, at, &value, du, dw) == ADL_ERROR_INDEX);
    EXPECT(strstr(adl_last_error_message(), "index 64 is out of range 0..64 for w"));
}

static void test_memory_is_given_back(void)
{
    EXPECT(atomic_load(&areas) == 0);
}

/* ---- faults on purpose, which a sanitizer has to see in compiled code ---- */

static double shared[MN];

static void *write_shared(void *data)
{
    double dx[N], seed[M] = {1.0, 1.0, 1.0};
    for (int i = 0; i < ROUNDS; i++) layer_reverse(M, N, seed, data, shared, dx);
    return NULL;
}

static int race(void)
{
    double y[M];
    adl_tape *tape = NULL;
    pthread_t other;
    if (layer_forward(M, N, W, x, &tape, y) || pthread_create(&other, NULL, write_shared, tape))
        return 1;
    write_shared(tape);
    pthread_join(other, NULL);
    return adl_tape_free(&tape);
}

static int overrun(void)
{
    double *a = malloc(3 * sizeof *a), dk, d[5] = {0.0}, value;
    if (!a) return 1;
    fill(3, a, 1.0);
    int status = wave_grad(5, a, d, 1.0, 9, &value, &dk);
    free(a);
    return status;
}

int main(int argc, char **argv)
{
    if (argc == 2 && !strcmp(argv[1], "race")) return race();
    if (argc == 2 && !strcmp(argv[1], "overrun")) return overrun();
    adl_allocator allocator = {take, give, NULL};
    if (adl_set_allocator(&allocator)) return 1;
    run("gradients and tangents", test_grad_and_jvp);
    run("batches", test_batches);
    run("memory in place", test_memory_in_place);
    run("memory that trades places", test_memory_that_trades_places);
    run("tuples, structs, small types", test_tuples_and_small_types);
    run("a tape pulled several times", test_pulls);
    run("pulls of several widths on one tape", test_widths_of_pulls);
    run("shadows of results", test_result_shadows);
    run("memory that the caller keeps", test_kept_memory);
    run("memory that a tape borrows", test_borrowed_memory);
    run("tapes of loops", test_tapes_of_loops);
    run("tangents of tapes", test_tangents_of_tapes);
    run("tapes that are refused", test_tapes_refused);
    run("sizes that are refused", test_sizes_refused);
    run("one tape, eight threads", test_threads);
    run("messages of eight threads", test_messages);
    run("parallel loops", test_parallel_loops);
    run("all memory is given back", test_memory_is_given_back);
    printf("1..%d\n", number);
    return failed != 0;
}
