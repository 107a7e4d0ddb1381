/* Checks and times one program of the suite: what dslc made of it beside the same in C.

       NAME [-d FOLDER] check PROBLEM      compare with FOLDER/golden/PROBLEM.*
       NAME [-d FOLDER] agree SIZES...     compare ADL with C
       NAME [-d FOLDER] [-t SECONDS] [-r ROUNDS] [-a] [-p] time SIZES...
       NAME blas                           name the kernels that OpenBLAS chose

   SIZES is a list such as 10,25,1000.  `check` and `agree` print lines of TAP without numbers.
   `time` prints tab-separated rows, which judge.awk completes: for each part and size the
   sides take turns (ADL, C, fast C) on the same memory, the parts too, and ratios are taken within
   a round.  Times are those of the processor, on one thread.

   -a leaves the C library's allocator as it is; without it freed memory is kept, so that the pages
   of a tape are touched once.  -p also times ADL on two threads, by the clock. */
#define _GNU_SOURCE
#include <adl/adl.h>
#include <inttypes.h>
#include <limits.h>
#include <malloc.h>
#include <time.h>
#include <unistd.h>

#include "suite.h"

extern char *openblas_get_corename(void) __attribute__((weak));

enum { SIDES = 3, ADL = 0, C = 1, FAST_C = 2, ROUNDS_MAX = 101, ARRAYS_MAX = 32 };

const char *suite_data = ".";

static void die(const char *what) {
    fprintf(stderr, "suite: %s\n", what);
    exit(1);
}

/* -- memory -- */

static struct {
    void *arrays[ARRAYS_MAX];
    int count;
    int64_t bytes;
} problem;

static void *problem_array(int64_t bytes) {
    void *memory = aligned_alloc(64, ((size_t)bytes + 64) / 64 * 64);
    if (!memory || problem.count == ARRAYS_MAX) die("no memory for the problem");
    memset(memory, 0, (size_t)bytes);
    problem.arrays[problem.count++] = memory;
    problem.bytes += bytes;
    return memory;
}

double *suite_numbers(int64_t count) {
    return problem_array(count * (int64_t)sizeof(double));
}
int64_t *suite_integers(int64_t count) {
    return problem_array(count * (int64_t)sizeof(int64_t));
}

static void problem_free(void) {
    while (problem.count > 0) free(problem.arrays[--problem.count]);
    problem.bytes = 0;
}

/* What a side holds at a time, and the most that it held. */
typedef struct Held {
    int64_t now, peak;
} Held;

static Held c_held;

static void held_add(Held *held, int64_t bytes) {
    held->now += bytes;
    if (held->now > held->peak) held->peak = held->now;
}

double *take(int64_t count) {
    void *memory = aligned_alloc(64, ((size_t)count * sizeof(double) + 63) / 64 * 64);
    if (!memory) die("out of memory");
    held_add(&c_held, (int64_t)malloc_usable_size(memory));
    return memory;
}

double *take_zeroed(int64_t count) {
    void *memory = calloc((size_t)count, sizeof(double));
    if (!memory) die("out of memory");
    held_add(&c_held, (int64_t)malloc_usable_size(memory));
    return memory;
}

void give(void *memory) {
    held_add(&c_held, -(int64_t)malloc_usable_size(memory));
    free(memory);
}

static void *count_allocate(void *state, size_t alignment, size_t bytes) {
    held_add(state, (int64_t)bytes);
    return aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

static void count_deallocate(void *state, void *memory, size_t bytes) {
    held_add(state, -(int64_t)bytes);
    free(memory);
}

/* -- numbers -- */

static uint64_t random_state;

double suite_uniform(void) {
    uint64_t z = random_state += 0x9E3779B97F4A7C15u; /* splitmix64 */
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

double suite_normal(void) {
    double u = 1.0 - suite_uniform(), v = suite_uniform();
    return sqrt(-2.0 * log(u)) * cos(2.0 * M_PI * v);
}

int64_t suite_one(void) {
    return 1;
}

FILE *suite_open(const char *path) {
    FILE *file = fopen(path, "r");
    if (!file) die(path);
    return file;
}

void suite_read(FILE *file, double *x, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        if (fscanf(file, "%lf", x + i) != 1) die("a number is missing");
}

void suite_read_integers(FILE *file, int64_t *x, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        if (fscanf(file, "%" SCNd64, x + i) != 1) die("an integer is missing");
}

static void problem_make(const char *sizes) {
    int64_t size[SUITE_SIZES] = {0};
    char *at;
    int count = 0;
    for (const char *text = sizes; count < SUITE_SIZES; text = at + 1) {
        size[count++] = strtoll(text, &at, 10);
        if (*at != ',') break;
    }
    if (*at) die("sizes are numbers with commas");
    problem_free();
    random_state = 0x9E3779B97F4A7C15u;
    suite_program.make(size);
}

/* -- comparing -- */

static void call(int part, int side, double *out) {
    if (side == C) suite_program.parts[part].c(out);
    else if (side == FAST_C) suite_fast.parts[part].c(out);
    else if (suite_program.parts[part].adl(out) != ADL_OK) die(adl_last_error_message());
}

static double *out_make(int64_t count) {
    double *out = aligned_alloc(64, ((size_t)count * sizeof(double) + 63) / 64 * 64);
    if (!out) die("out of memory");
    for (int64_t i = 0; i < count; i++) out[i] = NAN;
    return out;
}

/* How many numbers of GOT do not agree with WANT to ten digits.  What cancels has rounding errors
   of the size of its terms, so that of a number that is small beside the greatest fewer digits are
   asked: the error may be NOISE of that.  *WORST is the greatest error in parts of the greatest. */
static int64_t disagreements(const double *got, const double *want, int64_t count, double noise,
                             double *worst) {
    double top = 0.0;
    int64_t wrong = 0;
    *worst = 0.0;
    for (int64_t i = 0; i < count; i++) top = fmax(top, fabs(want[i]));
    for (int64_t i = 0; i < count; i++) {
        double error = fabs(got[i] - want[i]);
        if (!(error <= 1e-10 * fmax(fabs(got[i]), fabs(want[i])) + noise * top)) wrong++;
        if (!(error <= *worst * top)) *worst = top > 0.0 ? error / top : error;
    }
    return wrong;
}

static bool tell(bool right, const char *side, const char *kind, const char *what, double worst) {
    printf("%s - %s %s %s (greatest error %.1e)\n", right ? "ok" : "not ok", side, kind, what,
           worst);
    return right;
}

/* The numbers of the golden files of a part; a file may begin with more than are wanted. */
static double *golden_read(const Part *part, const char *name, int64_t count) {
    double *golden = out_make(count);
    int64_t at = 0, files = (int64_t)strlen(part->golden);
    for (int64_t f = 0; f < files; f++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/golden/%s.%c", suite_data, name, part->golden[f]);
        FILE *file = suite_open(path);
        double x;
        int64_t first = at;
        while (fscanf(file, "%lf", &x) == 1) {
            if (at == first + count / files && !part->expand) { /* the later lines count */
                memmove(golden + first, golden + first + 1, (size_t)(at - first - 1) * sizeof x);
                at--;
            }
            if (at == count) die("too many golden values");
            golden[at++] = x;
        }
        fclose(file);
    }
    if (part->expand) part->expand(golden);
    else if (at != count) die("golden values are missing");
    return golden;
}

static bool check(const char *name) {
    char path[4096];
    bool right = true;
    snprintf(path, sizeof path, "%s/data/%s.txt", suite_data, name);
    suite_program.read(path);
    for (int p = 0; suite_program.parts[p].kind; p++) {
        const Part *part = &suite_program.parts[p];
        int64_t count = part->count();
        double *golden = golden_read(part, name, count), *out = out_make(count), worst;
        for (int side = ADL; side <= C; side++) {
            for (int64_t i = 0; i < count; i++) out[i] = NAN;
            call(p, side, out);
            int64_t wrong = disagreements(out, golden, count, 1e-14, &worst);
            right &= tell(wrong == 0, side == C ? "C:" : "ADL:", part->kind, name, worst);
        }
        free(golden);
        free(out);
    }
    return right;
}

static bool agree(const char *sizes) {
    bool right = true;
    problem_make(sizes);
    for (int p = 0; suite_program.parts[p].kind; p++) {
        int64_t count = suite_program.parts[p].count();
        double *want = out_make(count), *got = out_make(count), worst;
        call(p, C, want);
        call(p, ADL, got);
        int64_t wrong = disagreements(got, want, count, 1e-14, &worst);
        right &= tell(wrong == 0, "ADL and C:", suite_program.parts[p].kind, sizes, worst);
        free(want);
        free(got);
    }
    return right;
}

/* -- timing -- */

static double now(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int order(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The element at PART (0.5 is the median) of COUNT values. */
static double quantile(const double *values, int count, double part) {
    double x[ROUNDS_MAX];
    memcpy(x, values, (size_t)count * sizeof *x);
    qsort(x, (size_t)count, sizeof *x, order);
    double at = part * (count - 1);
    int low = (int)at, high = low + 1 < count ? low + 1 : low;
    return x[low] + (at - low) * (x[high] - x[low]);
}

static struct {
    double seconds;
    int rounds;
    bool threads;
} options = {1.0, 21, false};

/* One part while it is measured: COUNT numbers in OUT, CALLS calls a round. */
typedef struct Run {
    int64_t count, peak_adl, peak_c, wrong;
    double *out, differs;
    long calls;
    double time[SIDES][ROUNDS_MAX], ratio[ROUNDS_MAX], fast[ROUNDS_MAX];
    double to_primal[2][ROUNDS_MAX], threads[ROUNDS_MAX];
} Run;

/* Seconds of one of CALLS calls. */
static double measure(int part, int side, const Run *run, clockid_t clock) {
    double start = now(clock);
    for (long i = 0; i < run->calls; i++) call(part, side, run->out);
    return (now(clock) - start) / (double)run->calls;
}

/* Compares the sides, and counts the memory that each takes for a call. */
static void run_compare(int part, Run *run) {
    double *want = out_make(run->count);
    c_held = (Held){0, 0};
    call(part, C, want);
    run->peak_c = c_held.peak;
    Held held = {0, 0};
    adl_set_allocator(&(adl_allocator){count_allocate, count_deallocate, &held});
    call(part, ADL, run->out);
    adl_set_allocator(NULL);
    run->peak_adl = held.peak;
    run->wrong = disagreements(run->out, want, run->count, 1e-12, &run->differs);
    free(want);
}

/* Sets CALLS so that those of the faster side take about 2 ms. */
static void run_calibrate(int part, Run *run) {
    for (run->calls = 1; run->calls < 1L << 22; run->calls *= 2) {
        double c = measure(part, C, run, CLOCK_PROCESS_CPUTIME_ID);
        double adl = measure(part, ADL, run, CLOCK_PROCESS_CPUTIME_ID);
        if ((c < adl ? c : adl) * (double)run->calls >= 2e-3) break;
    }
}

static void take_round(Run *runs, int parts, int i) {
    for (int p = 0; p < parts; p++) {
        Run *run = &runs[p];
        for (int side = 0; side < SIDES; side++)
            run->time[side][i] = measure(p, side, run, CLOCK_PROCESS_CPUTIME_ID);
        run->ratio[i] = run->time[ADL][i] / run->time[C][i];
        run->fast[i] = run->time[ADL][i] / run->time[FAST_C][i];
        for (int side = ADL; side <= C; side++)
            run->to_primal[side][i] = run->time[side][i] / runs[0].time[side][i];
    }
}

/* One thread to two: behind the other rounds, since a waiting thread takes time of the processor.
 */
static void take_threads_round(Run *runs, int parts, int i) {
    for (int p = 0; p < parts; p++) {
        double one = measure(p, ADL, &runs[p], CLOCK_MONOTONIC);
        adl_set_num_threads(2);
        runs[p].threads[i] = one / measure(p, ADL, &runs[p], CLOCK_MONOTONIC);
        adl_set_num_threads(1);
    }
}

static void print_row(const char *name, int p, const char *sizes, const Run *run, int rounds) {
    printf("%s\t%s\t%s\t%" PRId64 "\t", name, suite_program.parts[p].kind, sizes,
           (problem.bytes + 8 * run->count + 512) / 1024);
    for (int side = 0; side < SIDES; side++)
        printf("%.3f\t", 1e6 * quantile(run->time[side], rounds, 0.5));
    printf("%.3f\t%.3f\t%.3f\t%.3f\t", quantile(run->ratio, rounds, 0.5),
           quantile(run->ratio, rounds, 0.25), quantile(run->ratio, rounds, 0.75),
           quantile(run->fast, rounds, 0.5));
    for (int side = ADL; side <= C; side++)
        if (p == 0) printf("-\t");
        else printf("%.2f\t", quantile(run->to_primal[side], rounds, 0.5));
    if (options.threads) printf("%.2f\t", quantile(run->threads, rounds, 0.5));
    else printf("-\t");
    printf("%.1f\t%.1f\t%d\t%.0e\t%s\n", (double)run->peak_adl / 1024, (double)run->peak_c / 1024,
           rounds, run->differs, run->wrong ? "WRONG" : "-");
    fflush(stdout);
}

static void time_size(const char *name, const char *sizes) {
    static Run runs[SUITE_PARTS];
    int parts = 0, rounds = 0;
    problem_make(sizes);
    for (; suite_program.parts[parts].kind; parts++) {
        Run *run = &runs[parts];
        run->count = suite_program.parts[parts].count();
        run->out = out_make(run->count);
        run_compare(parts, run);
        run_calibrate(parts, run);
        measure(parts, FAST_C, run, CLOCK_PROCESS_CPUTIME_ID);
    }
    double start = now(CLOCK_MONOTONIC);
    while (rounds < options.rounds &&
           (rounds < 5 || now(CLOCK_MONOTONIC) - start < options.seconds * parts))
        take_round(runs, parts, rounds++);
    for (int i = 0; options.threads && i < rounds; i++) take_threads_round(runs, parts, i);
    for (int p = 0; p < parts; p++) {
        print_row(name, p, sizes, &runs[p], rounds);
        free(runs[p].out);
    }
}

int main(int argc, char **argv) {
    bool keep = true, right = true;
    int option;
    while ((option = getopt(argc, argv, "d:t:r:ap")) != -1) {
        if (option == 'd') suite_data = optarg;
        if (option == 't') options.seconds = atof(optarg);
        if (option == 'r') options.rounds = atoi(optarg);
        if (option == 'a') keep = false;
        if (option == 'p') options.threads = true;
        if (option == '?') return 2;
    }
    if (optind >= argc) die("what is to be done?");
    if (options.rounds < 1 || options.rounds > ROUNDS_MAX) options.rounds = ROUNDS_MAX;
    if (keep) {
        mallopt(M_MMAP_MAX, 0);
        mallopt(M_TRIM_THRESHOLD, INT_MAX);
        mallopt(M_TOP_PAD, 64 << 20);
    }
    adl_set_num_threads(1);
    const char *mode = argv[optind], *slash = strrchr(argv[0], '/');
    if (strcmp(mode, "blas") == 0)
        printf("%s\n", openblas_get_corename ? openblas_get_corename() : "-");
    for (int i = optind + 1; i < argc; i++) {
        if (strcmp(mode, "check") == 0) right &= check(argv[i]);
        else if (strcmp(mode, "agree") == 0) right &= agree(argv[i]);
        else if (strcmp(mode, "time") == 0) time_size(slash ? slash + 1 : argv[0], argv[i]);
        else die("check, agree or time");
    }
    problem_free();
    return right ? 0 : 1;
}
