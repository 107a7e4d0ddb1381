/* The PTX that dslc makes of kernels, on the simulator, and assembled where there is an assembler.
 */
#include "tests/ptxsim/harness.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Launches NAME on blocks of X by Y by Z and waits. */
static void launch(CUmodule module, const char *name, const unsigned grid[3],
                   const unsigned block[3], void **args) {
    CUresult state = cuLaunchKernel(device_kernel(module, name), grid[0], grid[1], grid[2],
                                    block[0], block[1], block[2], 0, NULL, args, NULL);
    if (!state) state = cuCtxSynchronize();
    ck_assert_msg(state == CUDA_SUCCESS, "%s: %s", name, ptxsim_message());
}

static const char *const levels[] = {"--emit=ptx --verify -O0", "--emit=ptx --verify -O3",
                                     "--emit=ptx --verify --unchecked --target=ptx:sm_75"};
#define LEVEL levels[_i]

static void sums_on_blocks(CUmodule module, int64_t n, unsigned size) {
    double x[100], out[100];
    int64_t m = (n + size - 1) / size;
    for (int i = 0; i < n; i++) x[i] = 0.5 * i + 1;
    CUdeviceptr dx = device_copy(x, (size_t)n * 8), dout = device_copy(NULL, (size_t)m * 8);
    launch(module, "block_sums", (unsigned[]){(unsigned)m, 1, 1}, (unsigned[]){size, 1, 1},
           (void *[]){&n, &n, &m, &dx, &dout});
    device_read(out, dout, (size_t)m * 8);
    for (int64_t b = 0; b < m; b++) {
        double sum = -x[b * size];
        for (int64_t i = b * size; i < n && i < (b + 1) * size; i++) sum += x[i];
        ck_assert_double_eq(out[b], sum);
    }
}

START_TEST(one_dimension) {
    device_start();
    CUmodule module = device_compile(LEVEL, "kernels.adl");
    double a = 2.5, x[50], y[50];
    int64_t n = 50;
    for (int i = 0; i < n; i++) x[i] = i, y[i] = 1;
    CUdeviceptr dx = device_copy(x, sizeof x), dy = device_copy(y, sizeof y);
    launch(module, "axpy", (unsigned[]){4, 1, 1}, (unsigned[]){16, 1, 1},
           (void *[]){&n, &n, &a, &dx, &dy});
    device_read(y, dy, sizeof y);
    for (int i = 0; i < n; i++) ck_assert_double_eq(y[i], 2.5 * i + 1);
    sums_on_blocks(module, 96, 32);
    sums_on_blocks(module, 100, 64);
    sums_on_blocks(module, 27, 8);
    sums_on_blocks(module, 3, 8);
    device_stop();
}
END_TEST

/* After `rounds`, even ones pass values on and odd ones add 10. */
START_TEST(barriers_in_loops) {
    device_start();
    CUmodule module = device_compile(LEVEL, "kernels.adl");
    int32_t x[8], expect[8];
    int64_t n = 8, rounds = 3;
    for (int i = 0; i < 8; i++) x[i] = i * i;
    for (int i = 0; i < 8; i++) expect[i] = x[i / 4 * 4 + (i + 2) % 4] + 10;
    CUdeviceptr dx = device_copy(x, sizeof x);
    launch(module, "ring", (unsigned[]){2, 1, 1}, (unsigned[]){4, 1, 1},
           (void *[]){&n, &n, &rounds, &dx});
    device_read(x, dx, sizeof x);
    for (int i = 0; i < 8; i++) ck_assert_int_eq(x[i], expect[i]);
    device_stop();
}
END_TEST

/* The last index runs along x. */
START_TEST(more_dimensions) {
    enum { N = 5, K = 3, M = 7 };
    device_start();
    CUmodule module = device_compile(LEVEL, "kernels.adl");
    double A[N][K], B[K][M], C[N][M];
    int64_t n = N, k = K, m = M, x[2][3][4], l = 4, n2 = 2, m3 = 3;
    for (int i = 0; i < N * K; i++) A[i / K][i % K] = i - 3;
    for (int i = 0; i < K * M; i++) B[i / M][i % M] = 0.5 * i;
    CUdeviceptr dA = device_copy(A, sizeof A), dB = device_copy(B, sizeof B);
    CUdeviceptr dC = device_copy(NULL, sizeof C), dx = device_copy(NULL, sizeof x);
    launch(module, "product", (unsigned[]){2, 3, 1}, (unsigned[]){4, 2, 1},
           (void *[]){&n, &m, &n, &k, &m, &dA, &dB, &dC});
    device_read(C, dC, sizeof C);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++)
            ck_assert_double_eq(C[i][j], A[i][0] * B[0][j] + A[i][1] * B[1][j] + A[i][2] * B[2][j]);
    launch(module, "cube", (unsigned[]){2, 3, 1}, (unsigned[]){2, 1, 2},
           (void *[]){&n2, &m3, &l, &n2, &m3, &l, &dx});
    device_read(x, dx, sizeof x);
    for (int i = 0; i < 24; i++)
        ck_assert_int_eq(x[i / 12][i / 4 % 3][i % 4], 100 * (i / 12) + 10 * (i / 4 % 3) + i % 4);
    device_stop();
}
END_TEST

START_TEST(atomics) {
    device_start();
    CUmodule module = device_compile(LEVEL, "kernels.adl");
    int64_t bins[6] = {0, 2, 1, 2, 2, 0}, counts[4] = {0, 0, 5, 0}, n = 6, m = 4;
    float w[6] = {1, 2, 3, 4, 5, 6}, sums[4] = {0, 0, 0, 1};
    CUdeviceptr db = device_copy(bins, sizeof bins), dw = device_copy(w, sizeof w);
    CUdeviceptr dc = device_copy(counts, sizeof counts), ds = device_copy(sums, sizeof sums);
    launch(module, "histogram", (unsigned[]){2, 1, 1}, (unsigned[]){4, 1, 1},
           (void *[]){&n, &n, &m, &db, &dw, &dc, &ds});
    device_read(counts, dc, sizeof counts);
    device_read(sums, ds, sizeof sums);
    ck_assert_int_eq(counts[0], 2);
    ck_assert_int_eq(counts[1], 1);
    ck_assert_int_eq(counts[2], 8);
    ck_assert_int_eq(counts[3], 0);
    ck_assert(sums[0] == 37 && sums[1] == 9 && sums[2] == 45 && sums[3] == 1);
    device_stop();
}
END_TEST

START_TEST(rows_calls_and_early_ends) {
    enum { N = 5, M = 4 };
    device_start();
    CUmodule module = device_compile(LEVEL, "kernels.adl");
    double A[N][M];
    int32_t found[N] = {7, 7, 7, 7, 7};
    bool any[N] = {0};
    float limit = 5.5F;
    int64_t n = N, m = M;
    for (int i = 0; i < N * M; i++) A[i / M][i % M] = i * (i / M == 4 ? -1 : 1);
    CUdeviceptr dA = device_copy(A, sizeof A), df = device_copy(found, sizeof found);
    CUdeviceptr da = device_copy(any, sizeof any);
    launch(module, "search", (unsigned[]){1, 1, 1}, (unsigned[]){32, 1, 1},
           (void *[]){&n, &n, &m, &dA, &limit, &df, &da});
    device_read(found, df, sizeof found);
    device_read(any, da, sizeof any);
    static const int32_t expect[N] = {-1, 2, 7, 0, -1};
    for (int i = 0; i < N; i++) ck_assert_int_eq(found[i], expect[i]);
    for (int i = 0; i < N; i++) ck_assert_int_eq(any[i], i == 1 || i == 3);
    device_stop();
}
END_TEST

/* da += x dy; dx += a dy; dy stays. */
START_TEST(adjoint_of_axpy) {
    device_start();
    CUmodule module = device_compile(LEVEL, "kernels.adl");
    double a = 2, da = 0.5, x[20], y[20], dx[20], dy[20], sum = 0.5;
    int64_t n = 20;
    for (int i = 0; i < n; i++) x[i] = i - 4, y[i] = 1, dx[i] = 3, dy[i] = i % 5;
    for (int i = 0; i < n; i++) sum += x[i] * dy[i];
    CUdeviceptr mx = device_copy(x, sizeof x), my = device_copy(y, sizeof y);
    CUdeviceptr mdx = device_copy(dx, sizeof dx), mdy = device_copy(dy, sizeof dy);
    CUdeviceptr mda = device_copy(&da, sizeof da);
    launch(module, "axpy_adjoint", (unsigned[]){3, 1, 1}, (unsigned[]){8, 1, 1},
           (void *[]){&n, &n, &a, &mx, &mdx, &my, &mdy, &mda});
    device_read(y, my, sizeof y);
    device_read(dx, mdx, sizeof dx);
    device_read(dy, mdy, sizeof dy);
    device_read(&da, mda, sizeof da);
    ck_assert_double_eq(da, sum);
    for (int i = 0; i < n; i++) {
        ck_assert_double_eq(y[i], 1 + 2 * x[i]);
        ck_assert_double_eq(dx[i], 3 + 2 * (i % 5));
        ck_assert_double_eq(dy[i], i % 5);
    }
    double tangent = 10, ty[20];
    for (int i = 0; i < n; i++) ty[i] = 1;
    CUdeviceptr mty = device_copy(ty, sizeof ty);
    launch(module, "axpy_tangent", (unsigned[]){3, 1, 1}, (unsigned[]){8, 1, 1},
           (void *[]){&n, &n, &a, &tangent, &mx, &mdx, &my, &mty});
    device_read(ty, mty, sizeof ty);
    for (int i = 0; i < n; i++) ck_assert_double_eq(ty[i], 1 + 10 * x[i] + 2 * dx[i]);
    device_stop();
}
END_TEST

/* v = w u^2 + r u[i - 1] u[i + 1] where w > 0, and v else. */
START_TEST(adjoint_of_a_stencil) {
    enum { N = 11 };
    device_start();
    CUmodule module = device_compile(LEVEL, "kernels.adl");
    double r = 0.5, dr = 0, u[N], w[N], v[N], du[N] = {0}, dw[N] = {0}, dv[N];
    double edu[N] = {0}, edw[N] = {0}, edv[N], edr = 0;
    int64_t n = N;
    for (int i = 0; i < N; i++) u[i] = i - 3, w[i] = i % 4 - 1, v[i] = 9, dv[i] = edv[i] = i + 1;
    for (int i = 0; i < N; i++) {
        int l = i ? i - 1 : 0, h = i < N - 1 ? i + 1 : N - 1;
        if (w[i] <= 0) continue;
        edw[i] += u[i] * u[i] * dv[i];
        edu[i] += 2 * w[i] * u[i] * dv[i];
        edu[l] += r * u[h] * dv[i];
        edu[h] += r * u[l] * dv[i];
        edr += u[l] * u[h] * dv[i];
        edv[i] = 0;
    }
    CUdeviceptr mu = device_copy(u, sizeof u), mw = device_copy(w, sizeof w);
    CUdeviceptr mv = device_copy(v, sizeof v), mdu = device_copy(du, sizeof du);
    CUdeviceptr mdw = device_copy(dw, sizeof dw), mdv = device_copy(dv, sizeof dv);
    CUdeviceptr mdr = device_copy(&dr, sizeof dr);
    launch(module, "stencil_adjoint", (unsigned[]){3, 1, 1}, (unsigned[]){4, 1, 1},
           (void *[]){&n, &n, &r, &mu, &mdu, &mw, &mdw, &mv, &mdv, &mdr});
    device_read(du, mdu, sizeof du);
    device_read(dw, mdw, sizeof dw);
    device_read(dv, mdv, sizeof dv);
    device_read(&dr, mdr, sizeof dr);
    ck_assert_double_eq(dr, edr);
    for (int i = 0; i < N; i++) {
        ck_assert_double_eq(du[i], edu[i]);
        ck_assert_double_eq(dw[i], edw[i]);
        ck_assert_double_eq(dv[i], edv[i]);
    }
    device_stop();
}
END_TEST

/* D = (C + 3 x y) C, so dC = (2 C + 3 x y) dD, dx = 3 sum y C dD, dy = 3 sum x C dD. */
START_TEST(adjoint_in_two_dimensions) {
    enum { N = 3, M = 5 };
    device_start();
    CUmodule module = device_compile(LEVEL, "kernels.adl");
    double x[N], y[M], C[N][M], D[N][M], dx[N] = {0}, dy[M] = {0}, dC[N][M], dD[N][M];
    double ex[N] = {0}, ey[M] = {0};
    int64_t n = N, m = M;
    for (int i = 0; i < N; i++) x[i] = i + 1;
    for (int j = 0; j < M; j++) y[j] = j - 2;
    for (int i = 0; i < N * M; i++) {
        C[i / M][i % M] = i - 6;
        dC[i / M][i % M] = 1;
        D[i / M][i % M] = 0;
        dD[i / M][i % M] = i % 4;
        ex[i / M] += 3 * y[i % M] * C[i / M][i % M] * (i % 4);
        ey[i % M] += 3 * x[i / M] * C[i / M][i % M] * (i % 4);
    }
    CUdeviceptr mx = device_copy(x, sizeof x), my = device_copy(y, sizeof y);
    CUdeviceptr mC = device_copy(C, sizeof C), mD = device_copy(D, sizeof D);
    CUdeviceptr mdx = device_copy(dx, sizeof dx), mdy = device_copy(dy, sizeof dy);
    CUdeviceptr mdC = device_copy(dC, sizeof dC), mdD = device_copy(dD, sizeof dD);
    launch(module, "outer_adjoint", (unsigned[]){2, 2, 1}, (unsigned[]){4, 2, 1},
           (void *[]){&n, &m, &n, &m, &mx, &mdx, &my, &mdy, &mC, &mdC, &mD, &mdD});
    device_read(dx, mdx, sizeof dx);
    device_read(dy, mdy, sizeof dy);
    device_read(dC, mdC, sizeof dC);
    device_read(dD, mdD, sizeof dD);
    for (int i = 0; i < N; i++) ck_assert_double_eq(dx[i], ex[i]);
    for (int j = 0; j < M; j++) ck_assert_double_eq(dy[j], ey[j]);
    for (int i = 0; i < N * M; i++) {
        ck_assert_double_eq(dC[i / M][i % M],
                            1 + (2 * C[i / M][i % M] + 3 * x[i / M] * y[i % M]) * (i % 4));
        ck_assert_double_eq(dD[i / M][i % M], 0);
    }
    device_stop();
}
END_TEST

/* y = p(x)^2, p of degree i with all coefficients 1; what the loop keeps soon goes to the heap. */
START_TEST(adjoint_of_a_loop) {
    enum { N = 150 };
    device_start();
    CUmodule module = device_compile(LEVEL, "kernels.adl");
    double x[N], y[N], dx[N] = {0}, dy[N];
    int64_t n = N;
    for (int i = 0; i < N; i++) x[i] = (i % 3 - 1) * 0.5, y[i] = 0, dy[i] = i + 1;
    CUdeviceptr mx = device_copy(x, sizeof x), my = device_copy(y, sizeof y);
    CUdeviceptr mdx = device_copy(dx, sizeof dx), mdy = device_copy(dy, sizeof dy);
    launch(module, "powers_adjoint", (unsigned[]){16, 1, 1}, (unsigned[]){10, 1, 1},
           (void *[]){&n, &n, &mx, &mdx, &my, &mdy});
    device_read(y, my, sizeof y);
    device_read(dx, mdx, sizeof dx);
    for (int i = 0; i < N; i++) {
        double p = 1, slope = 0;
        for (int k = 0; k < i; k++) slope = slope * x[i] + p, p = p * x[i] + 1;
        ck_assert_double_le(fabs(y[i] - p * p), 1e-13 * p * p);
        ck_assert_double_le(fabs(dx[i] - 2 * p * slope * dy[i]), 1e-12 * fabs(p * slope * dy[i]));
    }
    device_stop();
}
END_TEST

/* a = (x, x + 1, x + 2, ...), of four numbers in the frame and of m on the heap. */
START_TEST(arrays_of_an_invocation) {
    enum { N = 5, M = 200 };
    device_start();
    CUmodule module = device_compile(LEVEL, "kernels.adl");
    double x[N], few[N], many[N];
    int64_t n = N, m = M;
    for (int i = 0; i < N; i++) x[i] = i - 2;
    CUdeviceptr dx = device_copy(x, sizeof x), df = device_copy(NULL, sizeof few);
    CUdeviceptr dm = device_copy(NULL, sizeof many);
    launch(module, "few", (unsigned[]){1, 1, 1}, (unsigned[]){8, 1, 1},
           (void *[]){&n, &n, &dx, &df});
    launch(module, "many", (unsigned[]){1, 1, 1}, (unsigned[]){8, 1, 1},
           (void *[]){&n, &n, &m, &dx, &dm});
    device_read(few, df, sizeof few);
    device_read(many, dm, sizeof many);
    for (int i = 0; i < N; i++) {
        double a[M], b[4], best, sum = 0;
        for (int k = 0; k < M; k++) a[k] = x[i] + k;
        for (int k = 0; k < 4; k++) b[k] = a[k];
        for (int k = 0; k < 4; k++) b[k] *= a[3 - k];
        best = fmax(fmax(b[0], b[1]), fmax(b[2], b[3]));
        for (int k = 0; k < 4; k++) sum += x[i] > 0 ? a[k] : b[k];
        ck_assert_double_eq(few[i], sum + best);
        for (int t = 0; t < 3; t++)
            for (int k = 1; k < M; k++) a[k] = 0.5 * (a[k] + a[k - 1]);
        if (i % 2 == 0)
            for (int k = 0; k < M; k++) a[k] += 1;
        sum = 0;
        for (int k = 0; k < M; k++) sum += a[k] * (M - 1);
        ck_assert_double_le(fabs(many[i] - sum), 1e-12 * fabs(sum));
    }
    device_stop();
}
END_TEST

/* The heap may be too small: that stops the kernel. */
START_TEST(a_heap_that_is_full) {
    device_start();
    CUmodule module = device_compile("--emit=ptx", "kernels.adl");
    double x[1] = {1};
    int64_t n = 1, m = 200;
    CUdeviceptr dx = device_copy(x, sizeof x), dm = device_copy(NULL, sizeof x);
    ck_assert_int_eq(cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 100), CUDA_SUCCESS);
    CUresult state = device_run(device_kernel(module, "many"), 1, 1,
                                (void *[]){&n, &n, &m, &dx, &dm});
    ck_assert_int_eq(state, CUDA_ERROR_LAUNCH_FAILED);
    ck_assert_ptr_nonnull(strstr(ptxsim_message(), ": trap (many"));
    device_stop();
}
END_TEST

static unsigned count(const char *text, const char *entry, const char *word) {
    const char *at = strstr(text, entry), *end = at ? strstr(at, "\n}") : NULL;
    unsigned n = 0;
    ck_assert_ptr_nonnull(end);
    while ((at = strstr(at, word)) && at < end) n++, at++;
    return n;
}

/* Of axpy's adjoint only the one number that all add to; of the stencil's that and three reads. */
START_TEST(atomics_where_several_add) {
    int status;
    char *text = device_text("--emit=ptx", "kernels.adl", &status);
    ck_assert_msg(status == 0, "%s", text);
    ck_assert_uint_eq(count(text, ".entry axpy(", "atom."), 0);
    ck_assert_uint_eq(count(text, ".entry axpy_adjoint(", "atom."), 1);
    ck_assert_uint_eq(count(text, ".entry stencil_adjoint(", "atom."), 4);
    ck_assert_uint_eq(count(text, ".entry outer_adjoint(", "atom."), 4);
    free(text);
}
END_TEST

START_TEST(derivatives_within) {
    device_start();
    CUmodule module = device_compile(LEVEL, "kernels.adl");
    double x[4] = {2, -1, 0.5, 3}, y[4];
    int64_t n = 4;
    CUdeviceptr dx = device_copy(x, sizeof x), dy = device_copy(NULL, sizeof y);
    launch(module, "slopes", (unsigned[]){1, 1, 1}, (unsigned[]){4, 1, 1},
           (void *[]){&n, &n, &dx, &dy});
    device_read(y, dy, sizeof y);
    for (int i = 0; i < 4; i++) ck_assert_double_eq(y[i], x[i] > 0 ? 3 * x[i] * x[i] : 2);
    device_stop();
}
END_TEST

/* An index out of range stops the kernel; --unchecked leaves the check out, not the simulator's. */
START_TEST(failed_checks_stop_a_kernel) {
    device_start();
    CUmodule module = device_compile("--emit=ptx", "kernels.adl");
    int64_t n = 1, m = 4, bins[1] = {4}, counts[4] = {0};
    float w[1] = {1}, sums[4] = {0};
    CUdeviceptr db = device_copy(bins, sizeof bins), dw = device_copy(w, sizeof w);
    CUdeviceptr dc = device_copy(counts, sizeof counts), ds = device_copy(sums, sizeof sums);
    CUresult state = device_run(device_kernel(module, "histogram"), 1, 1,
                                (void *[]){&n, &n, &m, &db, &dw, &dc, &ds});
    ck_assert_int_eq(state, CUDA_ERROR_LAUNCH_FAILED);
    ck_assert_ptr_nonnull(strstr(ptxsim_message(), ": trap (histogram"));
    device_stop();
}
END_TEST

/* With libdevice within 3 units in the last place; without it a message that says what is missing.
 */
START_TEST(functions) {
    const char *cuda = getenv("CUDA_DIR");
    if (!cuda || !*cuda) {
        int status;
        char *text = device_text("--emit=ptx", "functions.adl", &status);
        ck_assert_int_eq(status, 1);
        ck_assert_ptr_nonnull(strstr(text, "needs libdevice of the CUDA Toolkit"));
        free(text);
        return;
    }
    device_start();
    CUmodule module = device_compile("--emit=ptx", "functions.adl");
    double x[40], y[40];
    float u[40], v[40];
    int64_t n = 40;
    for (int i = 0; i < n; i++) x[i] = 0.1 * i - 1, u[i] = 0.1F * (float)(i + 1);
    CUdeviceptr dx = device_copy(x, sizeof x), dy = device_copy(NULL, sizeof y);
    CUdeviceptr du = device_copy(u, sizeof u), dv = device_copy(NULL, sizeof v);
    launch(module, "waves", (unsigned[]){2, 1, 1}, (unsigned[]){32, 1, 1},
           (void *[]){&n, &n, &dx, &dy});
    launch(module, "powers", (unsigned[]){2, 1, 1}, (unsigned[]){32, 1, 1},
           (void *[]){&n, &n, &du, &dv});
    device_read(y, dy, sizeof y);
    device_read(v, dv, sizeof v);
    for (int i = 0; i < n; i++) {
        double wave = exp(-x[i]) * sin(x[i]), power = pow((double)u[i], 1.5) + tanh((double)u[i]);
        ck_assert_double_le(fabs(y[i] - wave), 3 * 0x1p-52 * fabs(wave));
        ck_assert_double_le(fabs((double)v[i] - power), 3 * 0x1p-23 * fabs(power));
    }
    device_stop();
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const levelled[] = {
        one_dimension,    barriers_in_loops,         more_dimensions,
        atomics,          rows_calls_and_early_ends, derivatives_within,
        adjoint_of_axpy,  adjoint_of_a_stencil,      adjoint_in_two_dimensions,
        adjoint_of_a_loop, arrays_of_an_invocation};
    Suite *suite = suite_create("ptx-kernels");
    TCase *tcase = tcase_create("kernels");
    tcase_set_timeout(tcase, 60);
    for (size_t i = 0; i < sizeof levelled / sizeof *levelled; i++)
        tcase_add_loop_test(tcase, levelled[i], 0, sizeof levels / sizeof *levels);
    tcase_add_test(tcase, failed_checks_stop_a_kernel);
    tcase_add_test(tcase, a_heap_that_is_full);
    tcase_add_test(tcase, functions);
    tcase_add_test(tcase, atomics_where_several_add);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    if (argc > 1) srunner_set_fork_status(runner, CK_NOFORK);
    (void)argv;
    srunner_set_tap(runner, "-");
    srunner_run_all(runner, CK_SILENT);
    srunner_free(runner);
    return EXIT_SUCCESS;
}
