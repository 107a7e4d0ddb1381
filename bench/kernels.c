/* Times the exported kernels of kernels/ beside the same kernels in C.

       kernels [-t SECONDS] [-r ROUNDS] [-m MIB]

   Three sides take turns on the same memory: the ADL functions (NAME), C (c_NAME), and C whose sums
   may be reordered (f_NAME).  A round times each side once, for several calls if one is short; the
   ratio is taken within a round, so that what disturbs the machine disturbs both.  Times are those
   of the processor, which other programs disturb less than the clock's.  Before that, the results
   of the sides are compared, and the memory that one ADL call takes is counted.

   Everything runs on one thread.  A kernel that was not compiled (no HAVE_NAME) gets a row without
   times.  Output: tab-separated rows under a line of names; -t SECONDS is the time for one size of
   one kernel, -m MIB the largest working set. */
#define _GNU_SOURCE
#include <adl/adl.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "headers.h" /* of the kernels that dslc compiled: made by bench/run */
#include "reference.h"

enum { SIDES = 3, ADL = 0, C = 1, FAST = 2, ROUNDS_MAX = 101, COLUMNS = 32, ROW = 128 };

/* The arguments of a call.  Counts are in doubles. */
typedef struct Data {
    int64_t n, m;
    double *a, *b, *c, *out, *value;
    int64_t count_a, count_b, count_c, count_out;
} Data;

typedef struct Kernel {
    const char *name, *kind;
    bool available;
    int (*run)(int side, const Data *data);
    void (*shape)(Data *data, int64_t doubles);
} Kernel;

/* -- the calls: for each kernel, the functions of the three sides
 * ---------------------------------- */

#ifdef HAVE_axpy
#define ADL_axpy axpy
#else
#define ADL_axpy NULL
#endif
#ifdef HAVE_inner
#define ADL_inner inner
#else
#define ADL_inner NULL
#endif
#ifdef HAVE_soft
#define ADL_soft soft
#else
#define ADL_soft NULL
#endif
#ifdef HAVE_stencil
#define ADL_stencil stencil
#else
#define ADL_stencil NULL
#endif
#ifdef HAVE_slices
#define ADL_slices slices
#else
#define ADL_slices NULL
#endif
#ifdef HAVE_lse_rows
#define ADL_lse_rows lse_rows
#else
#define ADL_lse_rows NULL
#endif
#ifdef HAVE_matvec
#define ADL_matvec matvec
#else
#define ADL_matvec NULL
#endif
#ifdef HAVE_logistic
#define ADL_logistic logistic
#define ADL_logistic_grad logistic_grad
#else
#define ADL_logistic NULL
#define ADL_logistic_grad NULL
#endif

static int run_axpy(int side, const Data *d) {
    int (*const f[])(int64_t, double, const double *, double *) = {ADL_axpy, c_axpy, f_axpy};
    return f[side](d->n, 1e-9, d->a, d->out);
}

static int run_inner(int side, const Data *d) {
    int (*const f[])(int64_t, const double *, const double *, double *) = {ADL_inner, c_inner,
                                                                           f_inner};
    return f[side](d->n, d->a, d->b, d->out);
}

static int run_soft(int side, const Data *d) {
    int (*const f[])(int64_t, const double *, double *) = {ADL_soft, c_soft, f_soft};
    return f[side](d->n, d->a, d->out);
}

static int run_stencil(int side, const Data *d) {
    int (*const f[])(int64_t, int64_t, double, const double *, double *) = {ADL_stencil, c_stencil,
                                                                            f_stencil};
    return f[side](d->n, d->m, 0.2, d->a, d->out);
}

static int run_slices(int side, const Data *d) {
    int (*const f[])(int64_t, int64_t, double, const double *, double *) = {ADL_slices, c_stencil,
                                                                            f_stencil};
    return f[side](d->n, d->m, 0.2, d->a, d->out);
}

static int run_lse_rows(int side, const Data *d) {
    int (*const f[])(int64_t, int64_t, const double *, double *) = {ADL_lse_rows, c_lse_rows,
                                                                    f_lse_rows};
    return f[side](d->n, d->m, d->a, d->out);
}

static int run_matvec(int side, const Data *d) {
    int (*const f[])(int64_t, int64_t, const double *, const double *,
                     double *) = {ADL_matvec, c_matvec, f_matvec};
    return f[side](d->n, d->m, d->a, d->b, d->out);
}

static int run_logistic(int side, const Data *d) {
    int (*const f[])(int64_t, int64_t, const double *, const double *, const double *,
                     double *) = {ADL_logistic, c_logistic, f_logistic};
    return f[side](d->m, d->n, d->b, d->a, d->c, d->out);
}

static int run_logistic_grad(int side, const Data *d) {
    int (*const f[])(int64_t, int64_t, const double *, const double *, const double *, double *,
                     double *) = {ADL_logistic_grad, c_logistic_grad, f_logistic_grad};
    return f[side](d->m, d->n, d->b, d->a, d->c, d->value, d->out);
}

/* -- shapes whose arrays together have about DOUBLES elements
 * -------------------------------------- */

static void shape_map(Data *d, int64_t doubles) {
    d->n = d->count_a = d->count_out = doubles / 2;
}

static void shape_inner(Data *d, int64_t doubles) {
    d->n = d->count_a = d->count_b = doubles / 2;
    d->count_out = 1;
}

static void shape_grids(Data *d, int64_t doubles) {
    d->n = d->m = (int64_t)sqrt((double)doubles / 2);
    d->count_a = d->count_out = d->n * d->m;
}

static void shape_rows(Data *d, int64_t doubles) {
    d->m = ROW;
    d->n = d->count_out = doubles / (ROW + 1);
    d->count_a = d->n * ROW;
}

static void shape_matrix(Data *d, int64_t doubles) {
    d->n = d->m = d->count_b = d->count_out = (int64_t)sqrt((double)doubles);
    d->count_a = d->n * d->m;
}

static void shape_regression(Data *d, int64_t doubles) {
    d->m = d->count_b = COLUMNS;
    d->n = d->count_c = doubles / (COLUMNS + 1);
    d->count_a = d->n * COLUMNS;
    d->count_out = COLUMNS;
}

static void shape_loss(Data *d, int64_t doubles) {
    shape_regression(d, doubles);
    d->count_out = 1;
}

static const Kernel kernels[] = {
    {"axpy", "primal", ADL_axpy != NULL, run_axpy, shape_map},
    {"dot", "primal", ADL_inner != NULL, run_inner, shape_inner},
    {"softmax", "primal", ADL_soft != NULL, run_soft, shape_map},
    {"stencil", "primal", ADL_stencil != NULL, run_stencil, shape_grids},
    {"stencil by slices", "primal", ADL_slices != NULL, run_slices, shape_grids},
    {"log-sum-exp of rows", "primal", ADL_lse_rows != NULL, run_lse_rows, shape_rows},
    {"matrix-vector", "primal", ADL_matvec != NULL, run_matvec, shape_matrix},
    {"logistic loss", "primal", ADL_logistic != NULL, run_logistic, shape_loss},
    {"logistic gradient", "gradient", ADL_logistic_grad != NULL, run_logistic_grad,
     shape_regression},
};

/* -- memory
 * ---------------------------------------------------------------------------------------- */

/* COUNT doubles between 0.5 and 1.5, the same in each run of the program. */
static void fill(double *x, int64_t count) {
    uint64_t state = 88172645463325252u;
    for (int64_t i = 0; i < count; i++) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        x[i] = 0.5 + (double)(state >> 11) * 0x1p-53;
    }
}

static double *take(int64_t count) {
    size_t bytes = ((size_t)(count + 1) * sizeof(double) + 63) / 64 * 64;
    double *x = aligned_alloc(64, bytes);
    if (!x) {
        fprintf(stderr, "kernels: out of memory\n");
        exit(1);
    }
    fill(x, count);
    return x;
}

static Data data_make(const Kernel *kernel, int64_t doubles) {
    Data d = {0};
    kernel->shape(&d, doubles);
    d.a = take(d.count_a);
    d.b = take(d.count_b);
    d.c = take(d.count_c);
    d.out = take(d.count_out);
    d.value = take(1);
    if (kernel->shape != shape_loss && kernel->shape != shape_regression) return d;
    /* Centred columns, small weights, labels 0 and 1. */
    for (int64_t i = 0; i < d.count_a; i++) d.a[i] = 2.0 * d.a[i] - 2.0;
    for (int64_t i = 0; i < d.count_b; i++) d.b[i] -= 1.0;
    for (int64_t i = 0; i < d.count_c; i++) d.c[i] = d.c[i] > 1.0 ? 1.0 : 0.0;
    return d;
}

static void data_free(Data *d) {
    free(d->a);
    free(d->b);
    free(d->c);
    free(d->out);
    free(d->value);
}

typedef struct Count {
    int64_t areas, bytes;
} Count;

static void *count_allocate(void *state, size_t alignment, size_t bytes) {
    Count *count = state;
    count->areas++;
    count->bytes += (int64_t)bytes;
    return aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

static void count_deallocate(void *state, void *memory, size_t bytes) {
    (void)state;
    (void)bytes;
    free(memory);
}

/* -- comparing and timing
 * -------------------------------------------------------------------------- */

static void call(const Kernel *kernel, int side, const Data *data) {
    if (kernel->run(side, data) == 0) return;
    fprintf(stderr, "kernels: %s: %s\n", kernel->name, adl_last_error_message());
    exit(1);
}

/* The greatest difference of the ADL result from C's, in parts of C's greatest element; counts the
   memory that the ADL call takes. */
static double compare(const Kernel *kernel, const Data *data, Count *count) {
    size_t bytes = (size_t)data->count_out * sizeof(double);
    double *want = malloc(bytes), top = 0.0, off = 0.0;
    if (!want) return NAN;
    fill(data->out, data->count_out);
    call(kernel, C, data);
    memcpy(want, data->out, bytes);
    fill(data->out, data->count_out);
    adl_set_allocator(&(adl_allocator){count_allocate, count_deallocate, count});
    call(kernel, ADL, data);
    adl_set_allocator(NULL);
    for (int64_t i = 0; i < data->count_out; i++) {
        double difference = fabs(data->out[i] - want[i]);
        if (!(difference <= off)) off = difference; /* a NaN stays */
        if (fabs(want[i]) > top) top = fabs(want[i]);
    }
    free(want);
    return top > 0.0 ? off / top : off;
}

static double now(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Seconds of one of CALLS calls. */
static double measure(const Kernel *kernel, int side, const Data *data, long calls) {
    double start = now(CLOCK_PROCESS_CPUTIME_ID);
    for (long i = 0; i < calls; i++) call(kernel, side, data);
    return (now(CLOCK_PROCESS_CPUTIME_ID) - start) / (double)calls;
}

/* Calls of C that take about 2 ms. */
static long calibrate(const Kernel *kernel, const Data *data) {
    long calls = 1;
    while (calls < 1L << 24) {
        if (measure(kernel, C, data, calls) * (double)calls >= 2e-3) break;
        calls *= 2;
    }
    return calls;
}

static int order(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The element at PART (0.5 is the median) of COUNT values, which it sorts. */
static double quantile(double *x, int count, double part) {
    qsort(x, (size_t)count, sizeof *x, order);
    double at = part * (count - 1);
    int low = (int)at;
    int high = low + 1 < count ? low + 1 : low;
    return x[low] + (at - low) * (x[high] - x[low]);
}

typedef struct Times {
    double side[SIDES][ROUNDS_MAX], ratio[ROUNDS_MAX], fast[ROUNDS_MAX];
    int rounds;
} Times;

static void take_turns(const Kernel *kernel, const Data *data, double seconds, int rounds,
                       Times *times) {
    long calls = calibrate(kernel, data);
    double start = now(CLOCK_MONOTONIC);
    for (int side = 0; side < SIDES; side++) measure(kernel, side, data, 1);
    int i = 0;
    for (; i < rounds && (i < 5 || now(CLOCK_MONOTONIC) - start < seconds); i++) {
        for (int side = 0; side < SIDES; side++)
            times->side[side][i] = measure(kernel, side, data, calls);
        times->ratio[i] = times->side[ADL][i] / times->side[C][i];
        times->fast[i] = times->side[ADL][i] / times->side[FAST][i];
    }
    times->rounds = i;
}

static void print_row(const Kernel *kernel, const Data *d, double off, Count count, Times *t) {
    double aim = strcmp(kernel->kind, "gradient") == 0 ? 1.3 : 1.1;
    double sum = (double)(d->count_a + d->count_b + d->count_c + d->count_out) * sizeof(double);
    char size[64];
    if (d->m) snprintf(size, sizeof size, "%" PRId64 "x%" PRId64, d->n, d->m);
    else snprintf(size, sizeof size, "%" PRId64, d->n);
    double ratio = quantile(t->ratio, t->rounds, 0.5);
    /* Sums in another order differ by about the root of their length. */
    double allowed = 1e-12 + 4e-16 * sqrt((double)(d->count_a + d->count_b));
    printf("%s\t%s\t%s\t%.0f\t", kernel->name, kernel->kind, size, sum / 1024);
    printf("%.3f\t%.3f\t%.3f\t", 1e6 * quantile(t->side[ADL], t->rounds, 0.5),
           1e6 * quantile(t->side[C], t->rounds, 0.5),
           1e6 * quantile(t->side[FAST], t->rounds, 0.5));
    printf("%.3f\t%.3f\t%.3f\t%.3f\t", ratio, quantile(t->ratio, t->rounds, 0.25),
           quantile(t->ratio, t->rounds, 0.75), quantile(t->fast, t->rounds, 0.5));
    printf("%d\t%" PRId64 "\t%.0f\t%.1e\t%.1f\t%s\n", t->rounds, count.areas,
           (double)count.bytes / 1024, off, aim,
           !(off <= allowed) ? "WRONG"
           : ratio <= aim    ? "met"
                             : "missed");
    fflush(stdout);
}

int main(int argc, char **argv) {
    static Times times;
    double seconds = 2.0;
    int rounds = 21, option;
    int64_t largest = 512;
    while ((option = getopt(argc, argv, "t:r:m:")) != -1) {
        if (option == 't') seconds = atof(optarg);
        if (option == 'r') rounds = atoi(optarg);
        if (option == 'm') largest = atoll(optarg);
        if (option == '?') return 2;
    }
    if (rounds < 1 || rounds > ROUNDS_MAX) rounds = ROUNDS_MAX;
    /* The first level of cache, the second, the last, beyond it. */
    const int64_t kib[] = {24, 768, 24 << 10, largest << 10};
    adl_set_num_threads(1);
    printf("kernel\tkind\tsize\tset_kib\tadl_us\tc_us\tfast_us\tratio\tlow\thigh\tto_fast\trounds\t"
           "allocs\talloc_kib\tdiffers\taim\tverdict\n");
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
        const Kernel *kernel = &kernels[k];
        if (!kernel->available) {
            printf("%s\t%s\t-\t-\t-\t-\t-\t-\t-\t-\t-\t-\t-\t-\t-\t-\tnot compiled\n", kernel->name,
                   kernel->kind);
            continue;
        }
        for (size_t i = 0; i < sizeof kib / sizeof *kib; i++) {
            Data data = data_make(kernel, kib[i] * 1024 / (int64_t)sizeof(double));
            Count count = {0};
            double off = compare(kernel, &data, &count);
            take_turns(kernel, &data, seconds, rounds, &times);
            print_row(kernel, &data, off, count, &times);
            data_free(&data);
        }
    }
    return 0;
}
