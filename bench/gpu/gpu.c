/* Times the functions of gpu.adl on a device, by events of its driver, which is opened as the
   runtime does: nothing of CUDA is needed to build this.

       gpu           a row for each function and size, with tabs between
       gpu check     each function once with few elements: its name and value, no times

   A row: name, n, median of a step's microseconds, quartiles, what the step is worth (GB/s of the
   bytes that it has to move, or GFLOP/s), and that as a share of the limit: of what the device
   copies in a second, or of cuBLAS called directly. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adl/adl.h"
#include "gpu.h"

typedef unsigned long long Address;

/* X(symbol, parameters) */
#define CALLS(X)                                                                                   \
    X(cuInit, (unsigned flags))                                                                    \
    X(cuDeviceGetName, (char *name, int len, int device))                                          \
    X(cuDevicePrimaryCtxRetain, (void **context, int device))                                      \
    X(cuCtxSetCurrent, (void *context))                                                            \
    X(cuStreamCreate, (void **stream, unsigned flags))                                             \
    X(cuMemAlloc_v2, (Address * address, size_t bytes))                                            \
    X(cuMemFree_v2, (Address address))                                                             \
    X(cuMemsetD8_v2, (Address to, unsigned char value, size_t bytes))                              \
    X(cuMemcpyDtoDAsync_v2, (Address to, Address from, size_t bytes, void *stream))                \
    X(cuEventCreate, (void **event, unsigned flags))                                               \
    X(cuEventRecord, (void *event, void *stream))                                                  \
    X(cuEventSynchronize, (void *event))                                                           \
    X(cuEventElapsedTime, (float *milliseconds, void *from, void *to))

static struct {
#define X(symbol, params) int(*symbol) params;
    CALLS(X)
#undef X
    void *context, *stream, *from, *to;
} cuda;

static void die(const char *what) {
    fprintf(stderr, "gpu: %s\n", what);
    exit(1);
}

static void must(int result, const char *what) {
    if (result) die(what);
}

static void open_device(void) {
    char name[128];
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library) die("there is no libcuda.so.1");
#define X(symbol, params)                                                                          \
    *(void **)&cuda.symbol = dlsym(library, #symbol);                                              \
    if (!cuda.symbol) die(#symbol " is missing in libcuda.so.1");
    CALLS(X)
#undef X
    must(cuda.cuInit(0), "cuInit");
    must(cuda.cuDevicePrimaryCtxRetain(&cuda.context, 0), "cuDevicePrimaryCtxRetain");
    must(cuda.cuCtxSetCurrent(cuda.context), "cuCtxSetCurrent");
    must(cuda.cuStreamCreate(&cuda.stream, 0), "cuStreamCreate");
    must(cuda.cuEventCreate(&cuda.from, 0), "cuEventCreate");
    must(cuda.cuEventCreate(&cuda.to, 0), "cuEventCreate");
    must(cuda.cuDeviceGetName(name, (int)sizeof name, 0), "cuDeviceGetName");
    must(adl_gpu_use(cuda.context, cuda.stream), "adl_gpu_use");
    fprintf(stderr, "device: %s\n", name);
}

/* ---- times ---- */

enum { ROUNDS = 15 };

static void start(void) {
    must(cuda.cuEventRecord(cuda.from, cuda.stream), "cuEventRecord");
}

/* Microseconds since. */
static double stop(void) {
    float milliseconds = 0;
    must(cuda.cuEventRecord(cuda.to, cuda.stream), "cuEventRecord");
    must(cuda.cuEventSynchronize(cuda.to), "cuEventSynchronize");
    must(cuda.cuEventElapsedTime(&milliseconds, cuda.from, cuda.to), "cuEventElapsedTime");
    return 1e3 * (double)milliseconds;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

typedef struct Spread {
    double median, low, high;
} Spread;

static Spread spread(double *times) {
    qsort(times, ROUNDS, sizeof *times, compare);
    return (Spread){times[ROUNDS / 2], times[ROUNDS / 4], times[ROUNDS - 1 - ROUNDS / 4]};
}

/* ---- limits ---- */

/* Bytes of a copy, read and written, in GB/s. */
static double copy_bandwidth(size_t bytes, Spread *s) {
    Address from, to;
    double times[ROUNDS];
    must(cuda.cuMemAlloc_v2(&from, bytes), "cuMemAlloc");
    must(cuda.cuMemAlloc_v2(&to, bytes), "cuMemAlloc");
    must(cuda.cuMemsetD8_v2(from, 1, bytes), "cuMemsetD8");
    for (int i = -1; i < ROUNDS; i++) {
        start();
        must(cuda.cuMemcpyDtoDAsync_v2(to, from, bytes, cuda.stream), "cuMemcpyDtoDAsync");
        double time = stop();
        if (i >= 0) times[i] = time;
    }
    cuda.cuMemFree_v2(from);
    cuda.cuMemFree_v2(to);
    *s = spread(times);
    return 2e-3 * (double)bytes / s->median;
}

typedef int Gemm(void *handle, int ta, int tb, int m, int n, int k, const double *alpha,
                 const double *a, int lda, const double *b, int ldb, const double *beta, double *c,
                 int ldc);

typedef int Destroy(void *handle);

/* cuBLAS; NULL: there is none.  The handle is *DESTROY's to end. */
static Gemm *open_blas(void **handle, Destroy **destroy) {
    static const char *const names[] = {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11"};
    for (size_t i = 0; i < 3; i++) {
        void *library = dlopen(names[i], RTLD_NOW);
        int (*create)(void **), (*set_stream)(void *, void *);
        Gemm *gemm;
        if (!library) continue;
        *(void **)&create = dlsym(library, "cublasCreate_v2");
        *(void **)&set_stream = dlsym(library, "cublasSetStream_v2");
        *(void **)&gemm = dlsym(library, "cublasDgemm_v2");
        *(void **)destroy = dlsym(library, "cublasDestroy_v2");
        if (create && set_stream && gemm && *destroy && !create(handle) &&
            !set_stream(*handle, cuda.stream))
            return gemm;
    }
    return NULL;
}

/* Its GFLOP/s for N x N; 0 without it. */
static double blas_speed(int n, Spread *s) {
    void *handle = NULL;
    Destroy *destroy;
    Gemm *gemm = open_blas(&handle, &destroy);
    size_t bytes = (size_t)n * (size_t)n * sizeof(double);
    Address memory[3];
    double times[ROUNDS], one = 1, none = 0;
    if (!gemm) return 0;
    for (int i = 0; i < 3; i++) {
        must(cuda.cuMemAlloc_v2(&memory[i], bytes), "cuMemAlloc");
        must(cuda.cuMemsetD8_v2(memory[i], 0, bytes), "cuMemsetD8");
    }
    for (int i = -1; i < ROUNDS; i++) {
        start();
        must(gemm(handle, 0, 0, n, n, n, &one, (double *)(size_t)memory[0], n,
                  (double *)(size_t)memory[1], n, &none, (double *)(size_t)memory[2], n),
             "cublasDgemm");
        double time = stop();
        if (i >= 0) times[i] = time;
    }
    for (int i = 0; i < 3; i++) cuda.cuMemFree_v2(memory[i]);
    destroy(handle);
    *s = spread(times);
    return 2e-3 * n * n * (double)n / s->median;
}

/* ---- rows ---- */

typedef enum Worth { BYTES, FLOPS, TIME } Worth;

typedef struct Row {
    const char *name;
    int (*run)(int64_t n, int64_t steps, double *result);
    int64_t few, many; /* elements in a check, and to be timed */
    Worth worth;
    double each;    /* bytes of an element, or factor of n³ */
    const char *of; /* the row of the primal */
} Row;

static const Row rows[] = {
    {"map", map_steps, 500, 1 << 26, BYTES, 24, NULL},
    {"map, gradient", map_gradient_steps, 500, 1 << 26, BYTES, 16, NULL},
    {"reduction", reduction_steps, 1000, 1 << 26, BYTES, 8, NULL},
    {"scan", scan_steps, 1000, 1 << 26, BYTES, 16, NULL},
    {"sort", sort_steps, 1000, 1 << 24, TIME, 0, NULL},
    {"product", product_steps, 66, 4096, FLOPS, 2, NULL},
    {"lbm", lbm_steps, 8, 1024, TIME, 0, NULL},
    {"lbm, gradient", lbm_gradient_steps, 8, 1024, TIME, 0, "lbm"},
    {"k-means", kmeans_steps, 40, 1 << 20, TIME, 0, NULL},
    {"k-means, gradient", kmeans_gradient_steps, 40, 1 << 20, TIME, 0, "k-means"},
    {"gmm", gmm_steps, 40, 1 << 20, TIME, 0, NULL},
    {"gmm, gradient", gmm_gradient_steps, 40, 1 << 20, TIME, 0, "gmm"},
    {"look-ups", lookup_steps, 20, 1 << 20, TIME, 0, NULL},
    {"look-ups, gradient", lookup_gradient_steps, 20, 1 << 20, TIME, 0, "look-ups"},
};
enum { NROWS = sizeof rows / sizeof *rows, STEPS = 10 };

static double call(const Row *row, int64_t n, int64_t steps) {
    double value = 0;
    if (row->run(n, steps, &value)) {
        fprintf(stderr, "gpu: %s: %s\n", row->name, adl_last_error_message());
        exit(1);
    }
    return value;
}

static Spread time_row(const Row *row) {
    double times[ROUNDS];
    for (int i = -1; i < ROUNDS; i++) {
        start();
        call(row, row->many, 1);
        double one = stop();
        start();
        call(row, row->many, 1 + STEPS);
        double all = stop();
        if (i >= 0) times[i] = (all - one) / STEPS;
    }
    return spread(times);
}

static void print_row(const char *name, int64_t n, const Spread *s, double figure, const char *unit,
                      double share) {
    printf("%s\t%lld\t%.1f\t%.1f\t%.1f\t", name, (long long)n, s->median, s->low, s->high);
    if (*unit) printf("%.0f %s\t", figure, unit);
    else printf("-\t");
    if (share > 0) printf("%.2f\n", share);
    else printf("-\n");
}

static void time_all(void) {
    Spread spreads[NROWS], s;
    size_t bytes = (size_t)1 << 29;
    double copy = copy_bandwidth(bytes, &s), blas;
    printf("name\tn\tmedian_us\tlow\thigh\tfigure\tshare\n");
    print_row("copy", (int64_t)bytes / 8, &s, copy, "GB/s", 1);
    blas = blas_speed(4096, &s);
    if (blas > 0) print_row("cuBLAS", 4096, &s, blas, "GFLOP/s", 1);
    for (int i = 0; i < NROWS; i++) {
        const Row *row = &rows[i];
        double n = (double)row->many;
        spreads[i] = s = time_row(row);
        double figure = 1e-3 * row->each * (row->worth == FLOPS ? n * n * n : n) / s.median;
        double share = row->worth == BYTES ? figure / copy : blas > 0 ? figure / blas : 0;
        for (int k = 0; k < i && row->worth == TIME; k++)
            if (row->of && !strcmp(rows[k].name, row->of)) share = s.median / spreads[k].median;
        if (row->worth == TIME && !row->of) share = 0;
        print_row(row->name, row->many, &s, figure,
                  row->worth == BYTES   ? "GB/s"
                  : row->worth == FLOPS ? "GFLOP/s"
                                        : "",
                  share);
        fflush(stdout);
    }
}

static void check_all(void) {
    Spread s;
    if (cuda.context) {
        copy_bandwidth(4096, &s);
        blas_speed(8, &s);
    }
    for (int i = 0; i < NROWS; i++) {
        if (cuda.context) start();
        printf("%s %.9g\n", rows[i].name, call(&rows[i], rows[i].few, 2));
        if (cuda.context) stop();
    }
}

/* Without a device, `check` runs on the CPU. */
int main(int argc, char **argv) {
    int check = argc > 1 && !strcmp(argv[1], "check");
    const char *wish = getenv("ADL_DEVICE");
    if (!(check && wish && !strcmp(wish, "cpu"))) open_device();
    if (check) check_all();
    else time_all();
    return 0;
}
