/* The PTX that dslc makes of kernels, on the simulator, and assembled where there is an assembler.
 */
#include "tests/ptxsim/harness.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* What `dslc OPTIONS FILE` prints, to be freed; *STATUS is how it ends. */
static char *run_dslc(const char *options, const char *file, int *status) {
    const char *dslc = getenv("DSLC"), *sources = getenv("ADL_SOURCE_DIR");
    char command[4096];
    ck_assert_ptr_nonnull(dslc);
    snprintf(command, sizeof command, "'%s' %s '%s/tests/ptxsim/%s' -o - 2>&1", dslc, options,
             sources ? sources : ".", file);
    FILE *pipe = popen(command, "r");
    ck_assert_ptr_nonnull(pipe);
    size_t room = 1 << 20, len;
    char *text = calloc(1, room);
    ck_assert_ptr_nonnull(text);
    len = fread(text, 1, room - 1, pipe);
    ck_assert_uint_lt(len, room - 1);
    *status = WEXITSTATUS(pclose(pipe));
    return text;
}

static CUmodule load(const char *options, const char *file) {
    int status;
    char *text = run_dslc(options, file, &status);
    ck_assert_msg(status == 0, "%s", text);
    assemble(text, "sm_75");
    CUmodule module = device_load(text);
    free(text);
    return module;
}

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
    CUmodule module = load(LEVEL, "kernels.adl");
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
    CUmodule module = load(LEVEL, "kernels.adl");
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
    CUmodule module = load(LEVEL, "kernels.adl");
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
    CUmodule module = load(LEVEL, "kernels.adl");
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
    CUmodule module = load(LEVEL, "kernels.adl");
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

START_TEST(derivatives_within) {
    device_start();
    CUmodule module = load(LEVEL, "kernels.adl");
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
    CUmodule module = load("--emit=ptx", "kernels.adl");
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
        char *text = run_dslc("--emit=ptx", "functions.adl", &status);
        ck_assert_int_eq(status, 1);
        ck_assert_ptr_nonnull(strstr(text, "needs libdevice of the CUDA Toolkit"));
        free(text);
        return;
    }
    device_start();
    CUmodule module = load("--emit=ptx", "functions.adl");
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
    const TTest *const levelled[] = {one_dimension, barriers_in_loops,         more_dimensions,
                                     atomics,       rows_calls_and_early_ends, derivatives_within};
    Suite *suite = suite_create("ptx-kernels");
    TCase *tcase = tcase_create("kernels");
    tcase_set_timeout(tcase, 60);
    for (size_t i = 0; i < sizeof levelled / sizeof *levelled; i++)
        tcase_add_loop_test(tcase, levelled[i], 0, sizeof levels / sizeof *levels);
    tcase_add_test(tcase, failed_checks_stop_a_kernel);
    tcase_add_test(tcase, functions);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    if (argc > 1) srunner_set_fork_status(runner, CK_NOFORK);
    (void)argv;
    srunner_set_tap(runner, "-");
    srunner_run_all(runner, CK_SILENT);
    srunner_free(runner);
    return EXIT_SUCCESS;
}
