/* Times forms of derivatives (derivatives/forms.adl) against each other, and against C.

       derivatives [-t SECONDS] [-r ROUNDS]

   Each row compares two sides that do the same work, in turns; the ratio is taken within a round, so
   that what disturbs the machine disturbs both.  Times are those of the processor.  Before that, the
   results of both sides are compared, and the memory is measured: KIB is the most that the first side
   had from the allocator at once, tape included.  Freed memory is kept by the allocator, so that pages
   are touched once.  Everything runs on one thread.

   Output: tab-separated rows under a line of names; -t SECONDS is the time for one row. */
#define _GNU_SOURCE
#include <adl/adl.h>
#include <inttypes.h>
#include <malloc.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "forms.h"

enum { LANES = 8, OUT = 8, ROUNDS_MAX = 101, ROOM = 1 << 17 };

/* ---- memory ---- */

static size_t bytes_now, bytes_most;

static void *take(void *state, size_t alignment, size_t bytes) {
    (void)state;
    bytes_now += bytes;
    if (bytes_now > bytes_most) bytes_most = bytes_now;
    return aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

static void give(void *state, void *memory, size_t bytes) {
    (void)state;
    if (memory) bytes_now -= bytes;
    free(memory);
}

static void *need(void *memory) {
    if (memory) return memory;
    fprintf(stderr, "derivatives: out of memory\n");
    exit(1);
}

static void sure(int error) {
    if (!error) return;
    fprintf(stderr, "derivatives: %s\n", adl_last_error_message());
    exit(1);
}

/* ---- the programs with all forms ---- */

typedef struct Program {
    const char *name;
    int64_t n, k, t;
    int (*primal)(int64_t, int64_t, const double *, const double *, int64_t, double *);
    int (*grad)(int64_t, int64_t, const double *, const double *, int64_t, const double *,
                double *);
    int (*jvp)(int64_t, int64_t, const double *, const double *, const double *, int64_t, double *);
    int (*forward)(int64_t, int64_t, const double *, const double *, int64_t, adl_tape **);
    int (*reverse)(int64_t, int64_t, const double *, const adl_tape *, double *);
    int (*grad8)(int64_t, int64_t, const double *, const double *, int64_t, const double *,
                 double *);
    int (*jvp8)(int64_t, int64_t, const double *, const double *, const double *, int64_t,
                double *);
    int (*reverse8)(int64_t, int64_t, const double *, const adl_tape *, double *);
} Program;

#define PROGRAM(name, n, k, t)                                                                     \
    {#name,          n,           k,            t,          name,           name##_grad,           \
     name##_jvp,     name##_forward, name##_reverse, name##_grad8, name##_jvp8, name##_reverse8}

static const Program programs[] = {
    PROGRAM(orbit, 16, 4, 1000),
    PROGRAM(moments, 10000, 1, 0),
    PROGRAM(layers, 2304, 64 * 128, 128),
    PROGRAM(diffusion, 1000, 1, 100),
};

/* What the sides work on. */
static const Program *program;
static double *x, *a, *seeds, *tangents;
static adl_tape *tape;

static void run_primal(double *out) {
    sure(program->primal(program->n, program->k, x, a, program->t, out));
}

static void run_grad(double *out) {
    sure(program->grad(program->n, program->k, x, a, program->t, seeds, out));
}

static void run_jvp(double *out) {
    sure(program->jvp(program->n, program->k, x, tangents, a, program->t, out));
}

static void run_pull(double *out) {
    sure(program->reverse(program->n, program->k, seeds, tape, out));
}

static void run_split(double *out) {
    adl_tape *own = NULL;
    sure(program->forward(program->n, program->k, x, a, program->t, &own));
    sure(program->reverse(program->n, program->k, seeds, own, out));
    sure(adl_tape_free(&own));
}

static void run_grads(double *out) {
    for (int l = 0; l < LANES; l++)
        sure(program->grad(program->n, program->k, x, a, program->t, seeds + l * OUT,
                           out + l * program->n));
}

static void run_grad8(double *out) {
    sure(program->grad8(program->n, program->k, x, a, program->t, seeds, out));
}

static void run_jvps(double *out) {
    for (int l = 0; l < LANES; l++)
        sure(program->jvp(program->n, program->k, x, tangents + l * program->n, a, program->t,
                          out + l * OUT));
}

static void run_jvp8(double *out) {
    sure(program->jvp8(program->n, program->k, x, tangents, a, program->t, out));
}

static void run_pulls(double *out) {
    for (int l = 0; l < LANES; l++)
        sure(program->reverse(program->n, program->k, seeds + l * OUT, tape,
                              out + l * program->n));
}

static void run_pull8(double *out) {
    sure(program->reverse8(program->n, program->k, seeds, tape, out));
}

/* One forward pass and eight pulls against eight gradients. */
static void run_split8(double *out) {
    adl_tape *own = NULL;
    sure(program->forward(program->n, program->k, x, a, program->t, &own));
    for (int l = 0; l < LANES; l++)
        sure(program->reverse(program->n, program->k, seeds + l * OUT, own, out + l * program->n));
    sure(adl_tape_free(&own));
}

/* ---- in place: the same by hand ---- */

enum { CELLS = 10000, WRITES = 1000000 };

static double start[CELLS], first[CELLS];

static void in_place_adl(double *out) {
    adl_tape *own = NULL;
    memcpy(first, start, sizeof start);
    for (int i = 0; i < CELLS; i++) out[i] = 0.0;
    sure(in_place_forward(CELLS, first, WRITES, &own));
    sure(in_place_reverse(CELLS, out, 1.0, own));
    sure(adl_tape_free(&own));
}

/* A tape with the number that each step overwrites. */
static __attribute__((noinline)) void sweeps(int64_t n, int64_t steps, double *v, double *d) {
    double *kept = need(malloc((size_t)steps * sizeof *kept));
    for (int64_t t = 0; t < steps; t++) {
        int64_t i = t * 7919 % n, j = (i + 1) % n;
        kept[t] = v[i];
        v[i] = v[i] * v[i] * 0.5 + 0.25 * v[j];
    }
    for (int64_t i = 0; i < n; i++) d[i] = 1.0;
    for (int64_t t = steps; t-- > 0;) {
        int64_t i = t * 7919 % n, j = (i + 1) % n;
        double g = d[i];
        d[i] = g * kept[t];
        d[j] += 0.25 * g;
    }
    free(kept);
}

static void in_place_c(double *out) {
    volatile int64_t n = CELLS; /* known at run time only, as to compiled ADL */
    memcpy(first, start, sizeof start);
    sweeps(n, WRITES, first, out);
}

static void in_place_only(double *out) {
    memcpy(first, start, sizeof start);
    sure(in_place(CELLS, first, WRITES, out));
}

/* ---- checkpoints ---- */

enum { STEPS = 100000 };

static const double chain_x[4] = {0.3, 0.2, 0.5, 0.1}, chain_seed[4] = {1.0, -1.0, 0.5, 2.0};

static void chain_all_(double *out) { sure(chain_all(chain_x, STEPS, chain_seed, out)); }
static void chain_10_(double *out) { sure(chain_10(chain_x, STEPS, chain_seed, out)); }
static void chain_100_(double *out) { sure(chain_100(chain_x, STEPS, chain_seed, out)); }
static void chain_sqrt_(double *out) { sure(chain_sqrt(chain_x, STEPS, chain_seed, out)); }

/* ---- timing ---- */

typedef void Work(double *out);

static double clock_of_processor(void) {
    struct timespec at;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &at);
    return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

static double time_of(Work *work, double *out, int calls) {
    double begin = clock_of_processor();
    for (int i = 0; i < calls; i++) work(out);
    return (clock_of_processor() - begin) / calls;
}

static int ascending(const void *p, const void *q) {
    double u = *(const double *)p, v = *(const double *)q;
    return (u > v) - (u < v);
}

static double seconds = 2;
static int rounds_wanted = 21;

/* A row.  COUNT results are compared (0: the sides give different things), EXACT ones to the bit.  AIM:
   of the ratio, 0: none. */
static void compare(const char *what, const char *sides, Work *one, Work *other, int64_t count,
                    bool exact, double aim) {
    double ratios[ROUNDS_MAX], ones[ROUNDS_MAX], others[ROUNDS_MAX], worst = 0.0, greatest = 0.0;
    static double p[ROOM], q[ROOM];
    bytes_most = bytes_now;
    size_t before = bytes_now;
    one(p);
    size_t kib = (bytes_most - before + 512) / 1024;
    other(q);
    for (int64_t i = 0; i < count; i++) {
        greatest = fmax(greatest, fabs(q[i]));
        worst = p[i] == q[i] ? worst : fmax(worst, fabs(p[i] - q[i]));
    }
    bool wrong = exact ? worst > 0.0 : !(worst <= 1e-9 * greatest);
    double each = fmax(time_of(one, p, 1) + time_of(other, q, 1), 1e-7);
    int calls = each < 2e-3 ? (int)(2e-3 / each) + 1 : 1, rounds = 0;
    for (double spent = 0.0; rounds < rounds_wanted && (rounds < 5 || spent < seconds); rounds++) {
        ones[rounds] = time_of(one, p, calls);
        others[rounds] = time_of(other, q, calls);
        ratios[rounds] = ones[rounds] / others[rounds];
        spent += calls * (ones[rounds] + others[rounds]);
    }
    size_t size = sizeof(double), n = (size_t)rounds;
    qsort(ratios, n, size, ascending);
    qsort(ones, n, size, ascending);
    qsort(others, n, size, ascending);
    double ratio = ratios[rounds / 2];
    printf("%s\t%s\t%.1f\t%.1f\t%.3f\t%.3f\t%.3f\t%d\t%zu\t%.1e\t", what, sides,
           1e6 * ones[rounds / 2], 1e6 * others[rounds / 2], ratio, ratios[rounds / 4],
           ratios[rounds - 1 - rounds / 4], rounds, kib, greatest > 0.0 ? worst / greatest : worst);
    if (aim > 0.0) printf("%.3g\t", aim);
    else printf("-\t");
    puts(wrong ? "WRONG" : aim <= 0.0 ? "-" : ratio <= aim ? "met" : "missed");
    fflush(stdout);
}

/* A row of bytes: COUNT in all, for WRITES things. */
static void count_bytes(const char *what, const char *sides, size_t bytes, double things,
                        double aim) {
    double each = (double)bytes / things;
    printf("%s\t%s\t-\t-\t%.2f\t-\t-\t-\t%zu\t-\t%.3g\t%s\n", what, sides, each, bytes / 1024, aim,
           each <= aim ? "met" : "missed");
}

/* ---- rows ---- */

static void fill(double *to, int64_t n, double from) {
    for (int64_t i = 0; i < n; i++) to[i] = from + 0.3 * sin(1.7 * (double)i);
}

static void all_forms(const Program *p) {
    int64_t n = p->n;
    program = p;
    x = need(malloc((size_t)n * sizeof *x));
    a = need(malloc((size_t)p->k * sizeof *a));
    seeds = need(malloc(LANES * OUT * sizeof *seeds));
    tangents = need(malloc((size_t)n * LANES * sizeof *tangents));
    fill(x, n, 0.2);
    fill(a, p->k, 0.5);
    fill(seeds, LANES * OUT, 0.1);
    fill(tangents, n * LANES, 0.4);
    sure(p->forward(n, p->k, x, a, p->t, &tape));
    const char *name = p->name;
    compare(name, "grad : the function", run_grad, run_primal, 0, false, 0);
    compare(name, "jvp : the function", run_jvp, run_primal, 0, false, 0);
    compare(name, "split, one pull : grad", run_split, run_grad, n, false, 0);
    compare(name, "one pull : grad", run_pull, run_grad, n, false, 0);
    compare(name, "split, 8 pulls : 8 grads", run_split8, run_grads, n * LANES, false, 0);
    compare(name, "grad[batch(8)] : 8 grads", run_grad8, run_grads, n * LANES, false, 1.0 / 3);
    compare(name, "jvp[batch(8)] : 8 jvps", run_jvp8, run_jvps, OUT * LANES, false, 1.0 / 3);
    compare(name, "reverse[batch(8)] : 8 pulls", run_pull8, run_pulls, n * LANES, false, 0);
    sure(adl_tape_free(&tape));
    free(x);
    free(a);
    free(seeds);
    free(tangents);
}

static void in_place_rows(void) {
    adl_tape *own = NULL;
    fill(start, CELLS, 0.4);
    compare("10^6 writes in place", "split : C by hand, same tape", in_place_adl, in_place_c, CELLS,
            false, 1.3);
    compare("10^6 writes in place", "the function alone : C by hand, both sweeps", in_place_only,
            in_place_c, 0, false, 0);
    memcpy(first, start, sizeof start);
    sure(in_place_forward(CELLS, first, WRITES, &own));
    count_bytes("10^6 writes in place", "bytes of tape a write", adl_tape_bytes(own), WRITES, 24);
    sure(adl_tape_free(&own));
}

int main(int argc, char **argv) {
    adl_allocator allocator = {take, give, NULL};
    for (int option; (option = getopt(argc, argv, "t:r:")) != -1;) {
        if (option == 't') seconds = atof(optarg);
        else if (option == 'r') rounds_wanted = atoi(optarg);
        else return 2;
    }
    if (rounds_wanted < 5) rounds_wanted = 5;
    if (rounds_wanted > ROUNDS_MAX) rounds_wanted = ROUNDS_MAX;
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TRIM_THRESHOLD, INT32_MAX);
    mallopt(M_TOP_PAD, 1 << 26);
    sure(adl_set_allocator(&allocator));
    puts("what\tsides\tus\tother_us\tratio\tlow\thigh\trounds\tkib\tdiffers\taim\tverdict");
    for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++) all_forms(&programs[i]);
    in_place_rows();
    compare("10^5 steps, checkpoints", "all : all", chain_all_, chain_all_, 4, true, 0);
    compare("10^5 steps, checkpoints", "checkpoint(sqrt) : all", chain_sqrt_, chain_all_, 4, true,
            0);
    compare("10^5 steps, checkpoints", "checkpoint(100) : all", chain_100_, chain_all_, 4, true,
            0);
    compare("10^5 steps, checkpoints", "checkpoint(10) : all", chain_10_, chain_all_, 4, true, 0);
    return 0;
}
