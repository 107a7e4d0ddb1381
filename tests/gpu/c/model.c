/* A C program with functions that run on a device, in a context of its own if an argument asks for
   that.  All numbers are exact.  The status says which step was wrong. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "adl/adl.h"
#include "model.h"

enum { N = 300 };

static int use_own_context(void) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW), *context = NULL, *stream = NULL;
    int (*init)(unsigned), (*retain)(void **, int), (*set)(void *), (*create)(void **, unsigned);
    if (!library) return 1;
    *(void **)&init = dlsym(library, "cuInit");
    *(void **)&retain = dlsym(library, "cuDevicePrimaryCtxRetain");
    *(void **)&set = dlsym(library, "cuCtxSetCurrent");
    *(void **)&create = dlsym(library, "cuStreamCreate");
    if (init(0) || retain(&context, 0) || set(context) || create(&stream, 0)) return 1;
    if (adl_gpu_use(NULL, NULL) != ADL_ERROR_ARGUMENT) return 1;
    return adl_gpu_use(context, stream);
}

static double x[N], y[N], back[N];

/* The energy of A, by the loop that the functions run. */
static double energy(const double *a, double k) {
    double now[N], next[N], sum = 0;
    for (int i = 0; i < N; i++) now[i] = a[i];
    for (int t = 0; t < 3; t++) {
        for (int i = 0; i < N; i++) next[i] = k * now[i] - now[(i + 1) % N];
        for (int i = 0; i < N; i++) now[i] = next[i];
    }
    for (int i = 0; i < N; i++) sum += now[i] * now[i];
    return sum;
}

/* The energy is quadratic, so that a difference of steps to both sides is its slope. */
static int is_slope(const double *dx, double k) {
    double a[N];
    for (int i = 0; i < N; i += 50) {
        for (int j = 0; j < N; j++) a[j] = x[j];
        a[i] = x[i] + 1;
        double above = energy(a, k);
        a[i] = x[i] - 1;
        if (dx[i] != (above - energy(a, k)) / 2) return 0;
    }
    return 1;
}

static double sum(const double *a) {
    double all = 0;
    for (int i = 0; i < N; i++) all += a[i];
    return all;
}

int main(int argc, char **argv) {
    adl_tape *tape = NULL;
    double value, dk;
    if (argc > 1 && argv[1][0] == 'o' && use_own_context()) return 1;
    for (int i = 0; i < N; i++) x[i] = i % 8;
    if (smooth(N, x, 3, y)) return 2;
    for (int i = 0; i < N; i++)
        if (y[i] != 0.5 * (i % 8 + (N - 1 - i) % 8)) return 3;
    if (energy_grad(N, x, 0.5, back, &dk) || !is_slope(back, 0.5)) return 4;
    for (int i = 0; i < N; i++) back[i] = 0;
    if (energy_forward(N, x, 0.5, &tape, &value) || value != energy(x, 0.5)) return 7;
    /* A tape may be read again. */
    for (int again = 0; again < 2; again++)
        if (energy_reverse(N, 1, tape, back, &dk) || !is_slope(back, 0.5)) return 8;
    if (adl_tape_free(&tape)) return 9;
    if (bump(N, x, 7)) return 5;
    for (int i = 0; i < N; i++)
        if (x[i] != (i == 7 ? 0 : i % 8 + 1)) return 6;
    if (moved(N, 2.0, x, y, &value) || value != sum(x)) return 10;
    for (int i = 0; i < N; i++)
        if (y[i] != 0.5 * (i % 8 + (N - 1 - i) % 8) + (i ? 2 * x[i] : 0)) return 11;
    puts("good");
    return 0;
}
