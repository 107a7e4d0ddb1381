/* Loads the PTX of axpy.adl through the CUDA driver, which is opened when the program runs: neither
   the CUDA Toolkit nor a driver is needed to compile and link it.

     host axpy.ptx */
#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* The driver's functions, as its header declares them. */
typedef unsigned long long Address;
typedef struct Driver {
    int (*init)(unsigned);
    int (*device_get)(int *, int);
    int (*context_retain)(void **, int);
    int (*context_set)(void *);
    int (*module_load)(void **, const void *);
    int (*get_function)(void **, void *, const char *);
    int (*allocate)(Address *, size_t);
    int (*release)(Address);
    int (*to_device)(Address, const void *, size_t);
    int (*to_host)(void *, Address, size_t);
    int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                  void *, void **, void **);
    int (*error_name)(int, const char **);
} Driver;
static Driver cuda;

static void check(int result, const char *what) {
    const char *name = "an error";
    if (!result) return;
    if (cuda.error_name) cuda.error_name(result, &name);
    fprintf(stderr, "host: %s: %s\n", what, name);
    exit(1);
}

static void open_driver(void) {
    static const struct {
        const char *name;
        void **place;
    } rows[] = {
        {"cuInit", (void **)&cuda.init},
        {"cuDeviceGet", (void **)&cuda.device_get},
        {"cuDevicePrimaryCtxRetain", (void **)&cuda.context_retain},
        {"cuCtxSetCurrent", (void **)&cuda.context_set},
        {"cuModuleLoadData", (void **)&cuda.module_load},
        {"cuModuleGetFunction", (void **)&cuda.get_function},
        {"cuMemAlloc_v2", (void **)&cuda.allocate},
        {"cuMemFree_v2", (void **)&cuda.release},
        {"cuMemcpyHtoD_v2", (void **)&cuda.to_device},
        {"cuMemcpyDtoH_v2", (void **)&cuda.to_host},
        {"cuLaunchKernel", (void **)&cuda.launch},
        {"cuGetErrorName", (void **)&cuda.error_name},
    };
    void *library = dlopen("libcuda.so.1", RTLD_NOW), *context;
    int device;
    if (!library) {
        fprintf(stderr, "host: there is no CUDA driver here: %s\n", dlerror());
        exit(3);
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        *rows[i].place = dlsym(library, rows[i].name);
        if (!*rows[i].place) check(-1, rows[i].name);
    }
    check(cuda.init(0), "cuInit");
    check(cuda.device_get(&device, 0), "cuDeviceGet");
    check(cuda.context_retain(&context, device), "cuDevicePrimaryCtxRetain");
    check(cuda.context_set(context), "cuCtxSetCurrent");
}

static char *read_text(const char *path) {
    FILE *file = fopen(path, "rb");
    char *text = calloc(1, 1 << 20);
    if (!file || !text || !fread(text, 1, (1 << 20) - 1, file)) {
        fprintf(stderr, "host: %s cannot be read\n", path);
        exit(1);
    }
    fclose(file);
    return text;
}

static Address upload(const double *from, size_t count) {
    Address to;
    check(cuda.allocate(&to, count * sizeof *from), "cuMemAlloc");
    check(cuda.to_device(to, from, count * sizeof *from), "cuMemcpyHtoD");
    return to;
}

static void run(void *module, const char *name, int64_t n, void **args) {
    enum { BLOCK = 128 };
    void *kernel;
    check(cuda.get_function(&kernel, module, name), name);
    unsigned blocks = (unsigned)((n + BLOCK - 1) / BLOCK);
    check(cuda.launch(kernel, blocks, 1, 1, BLOCK, 1, 1, 0, NULL, args, NULL), name);
}

int main(int argc, char **argv) {
    enum { N = 1000 };
    static double x[N], y[N], dx[N], dy[N];
    double a = 2, da = 0, expected = 0, worst = 0;
    int64_t n = N;
    if (argc != 2) return 2;
    open_driver();
    char *ptx = read_text(argv[1]);
    void *module;
    check(cuda.module_load(&module, ptx), "cuModuleLoadData");
    free(ptx);
    for (int i = 0; i < N; i++) {
        x[i] = 0.5 * i;
        y[i] = 1;
        dy[i] = i % 7;
        expected += x[i] * dy[i];
    }
    Address device_x = upload(x, N), device_y = upload(y, N), device_dx = upload(dx, N);
    Address device_dy = upload(dy, N), device_da = upload(&da, 1);

    /* Extents, sizes, parameters: (extent, n, a, x, y), and with shadows and what is returned. */
    run(module, "axpy", n, (void *[]){&n, &n, &a, &device_x, &device_y});
    check(cuda.to_host(y, device_y, sizeof y), "axpy");
    run(module, "axpy_adjoint", n,
        (void *[]){&n, &n, &a, &device_x, &device_dx, &device_y, &device_dy, &device_da});
    check(cuda.to_host(dx, device_dx, sizeof dx), "axpy_adjoint");
    check(cuda.to_host(&da, device_da, sizeof da), "axpy_adjoint");

    for (int i = 0; i < N; i++)
        worst = fmax(worst, fmax(fabs(y[i] - (1 + 2 * x[i])), fabs(dx[i] - 2 * dy[i])));
    worst = fmax(worst, fabs(da - expected) / expected);
    printf("y[999] = %g, dx[999] = %g, da = %g\n", y[N - 1], dx[N - 1], da);
    Address all[] = {device_x, device_y, device_dx, device_dy, device_da};
    for (int i = 0; i < 5; i++) check(cuda.release(all[i]), "cuMemFree");
    return worst < 1e-12 ? 0 : 1;
}
