/* Tangents and adjoints of kernels on the simulator: tangents against differences of the kernel,
   and adjoints against tangents by <v, J u> = <J^T v, u>, where v and u have all that a kernel
   takes and leaves.  So each kernel of tests/ptxsim/adjoints.adl is a test without further ado. */
#include "tests/ptxsim/harness.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 3, ROOM = 64, STARTS = 3 };

typedef struct Kernel {
    const char *name;
    int64_t extents[2]; /* the second is 0 of one dimension */
    unsigned block[2];
    int64_t sizes[4]; /* up to a 0 */
    int counts[MOST]; /* elements of arrays, up to a 0; those that are written are negative */
} Kernel;

static const Kernel kernels[] = {
    {"square", {16}, {8, 1}, {16}, {-16}},
    {"relax", {15}, {4, 1}, {15}, {-15}},
    {"rows", {6}, {4, 1}, {6, 4}, {24, -6}},
    {"all", {16}, {8, 1}, {5, 16}, {5, -16}},
    {"mirror", {16}, {8, 1}, {16}, {16, -16}},
    {"halves", {16}, {8, 1}, {16, 2}, {16, -2}},
    {"ring", {16}, {8, 1}, {16}, {-16}},
    {"histogram", {13}, {4, 1}, {13, 5}, {13, -5}},
    {"tiles", {8, 8}, {4, 4}, {8, 8, 8}, {64, 64, -64}},
    {"slices", {16}, {8, 1}, {16}, {16, -16}},
    {"phases", {16}, {8, 1}, {16}, {16, -16}},
    {"unchanged", {13}, {4, 1}, {13}, {-13, -13}},
    {"many", {16}, {8, 1}, {16, 3}, {16, 3, -16}},
};

/* What a kernel takes or leaves: the elements of its arrays. */
typedef struct State {
    double at[MOST][ROOM];
} State;

static int count_of(const Kernel *k, int array) {
    return array < MOST ? abs(k->counts[array]) : 0;
}

static double some_number(uint64_t *seed) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 40) / (1 << 24);
}

static State some_state(const Kernel *k, uint64_t seed) {
    State state = {0};
    for (int a = 0; count_of(k, a); a++)
        for (int i = 0; i < count_of(k, a); i++) state.at[a][i] = 0.25 + some_number(&seed);
    return state;
}

static State plus(const Kernel *k, const State *x, double h, const State *u) {
    State sum = *x;
    for (int a = 0; count_of(k, a); a++)
        for (int i = 0; i < count_of(k, a); i++) sum.at[a][i] += h * u->at[a][i];
    return sum;
}

static double dot(const Kernel *k, const State *x, const State *y) {
    double sum = 0;
    for (int a = 0; count_of(k, a); a++)
        for (int i = 0; i < count_of(k, a); i++) sum += x->at[a][i] * y->at[a][i];
    return sum;
}

/* Runs the entry NAME and WHAT on X and, if it takes one, on SECOND beside it; both are what they
   are behind it. */
static void run(CUmodule module, const Kernel *k, const char *what, State *x, State *second) {
    char name[64];
    unsigned grid[2] = {1, 1};
    int64_t numbers[6];
    CUdeviceptr at[2 * MOST];
    void *args[6 + 2 * MOST];
    int nnumbers = 0, narrays = 0, nargs = 0;
    snprintf(name, sizeof name, "%s%s", k->name, what);
    for (int d = 0; d < 2 && k->extents[d]; d++) numbers[nnumbers++] = k->extents[d];
    for (int d = 0; d < nnumbers; d++) /* the last one along x */
        grid[nnumbers - 1 - d] = (unsigned)((k->extents[d] + k->block[0] - 1) / k->block[0]);
    for (int i = 0; i < 4 && k->sizes[i]; i++) numbers[nnumbers++] = k->sizes[i];
    for (int i = 0; i < nnumbers; i++) args[nargs++] = &numbers[i];
    for (int a = 0; count_of(k, a); a++)
        for (int s = 0; s < 1 + (second != NULL); s++) {
            State *from = s ? second : x;
            at[narrays] = device_copy(from->at[a], (size_t)count_of(k, a) * sizeof(double));
            args[nargs++] = &at[narrays++];
        }
    CUresult state = cuLaunchKernel(device_kernel(module, name), grid[0], grid[1], 1, k->block[0],
                                    k->block[1], 1, 0, NULL, args, NULL);
    if (!state) state = cuCtxSynchronize();
    ck_assert_msg(state == CUDA_SUCCESS, "%s: %s", name, ptxsim_message());
    for (int a = 0, i = 0; count_of(k, a); a++)
        for (int s = 0; s < 1 + (second != NULL); s++)
            device_read(s ? second->at[a] : x->at[a], at[i++],
                        (size_t)count_of(k, a) * sizeof(double));
}

static const char *const levels[] = {"--emit=ptx --verify -O0", "--emit=ptx --verify -O2"};
enum { KERNELS = sizeof kernels / sizeof *kernels, LEVELS = sizeof levels / sizeof *levels };

static void same(const Kernel *k, const State *x, const State *y, const char *what) {
    for (int a = 0; count_of(k, a); a++)
        for (int i = 0; i < count_of(k, a); i++)
            ck_assert_msg(x->at[a][i] == y->at[a][i], "%s %s: %d, %d is %.17g, not %.17g", k->name,
                          what, a, i, x->at[a][i], y->at[a][i]);
}

/* TANGENT: what becomes of the direction U at X. */
static void check_tangent(CUmodule module, const Kernel *k, const State *x, const State *u,
                          const State *tangent) {
    const double h = 0x1p-14;
    State more = plus(k, x, h, u), less = plus(k, x, -h, u);
    run(module, k, "", &more, NULL);
    run(module, k, "", &less, NULL);
    for (int a = 0; count_of(k, a); a++)
        for (int i = 0; i < count_of(k, a); i++) {
            double slope = (more.at[a][i] - less.at[a][i]) / (2 * h), got = tangent->at[a][i];
            ck_assert_msg(fabs(slope - got) <= 1e-5 * (1 + fabs(slope)),
                          "%s: the tangent of %d, %d is %g, not %g", k->name, a, i, got, slope);
        }
}

START_TEST(adjoints_are_transposes) {
    const Kernel *k = &kernels[_i % KERNELS];
    device_start();
    CUmodule module = device_compile(levels[_i / KERNELS], "adjoints.adl");
    for (uint64_t start = 1; start <= STARTS; start++) {
        State x = some_state(k, start), u = some_state(k, start + 10),
              v = some_state(k, start + 20);
        State primal = x, first = x, tangent = u, second = x, cotangent = v;
        run(module, k, "", &primal, NULL);
        run(module, k, "_tangent", &first, &tangent);
        run(module, k, "_adjoint", &second, &cotangent);
        same(k, &first, &primal, "with tangents");
        same(k, &second, &primal, "with cotangents");
        check_tangent(module, k, &x, &u, &tangent);
        double forward = dot(k, &v, &tangent), reverse = dot(k, &cotangent, &u);
        ck_assert_msg(fabs(forward - reverse) <= 1e-13 * (1 + fabs(forward)),
                      "%s: <v, J u> is %.17g, <J^T v, u> %.17g", k->name, forward, reverse);
    }
    device_stop();
}
END_TEST

/* What is returned of arrays that are values is added to the memory that is given for it, which is
   what shadows are. */
START_TEST(returned_arrays_are_added_to) {
    enum { N = 6, M = 3 };
    device_start();
    CUmodule module = device_compile(levels[_i], "adjoints.adl");
    double x[N], B[N * M], y[N], dy[N], dx[2][N], dB[2][N * M], da[2] = {0, 0}, a = 1.5;
    int64_t n = N, m = M;
    for (int i = 0; i < N; i++) {
        x[i] = 1 + 0.5 * i, y[i] = i, dy[i] = 1 + i % 3;
        dx[0][i] = dx[1][i] = 10 + i;
    }
    for (int i = 0; i < N * M; i++) B[i] = 0.25 * i - 1, dB[0][i] = dB[1][i] = i;
    for (int way = 0; way < 2; way++) {
        CUdeviceptr px = device_copy(x, sizeof x), pB = device_copy(B, sizeof B);
        CUdeviceptr py = device_copy(y, sizeof y), pdy = device_copy(dy, sizeof dy);
        CUdeviceptr pdx = device_copy(dx[way], sizeof dx[way]), pda = device_copy(&da[way], 8);
        CUdeviceptr pdB = device_copy(dB[way], sizeof dB[way]);
        void *value[] = {&n, &n, &m, &a, &px, &pB, &py, &pdy, &pda, &pdx, &pdB};
        void *shadow[] = {&n, &n, &m, &a, &px, &pdx, &pB, &pdB, &py, &pdy, &pda};
        CUfunction kernel = device_kernel(module, way ? "scaled_by_shadow" : "scaled_by_value");
        ck_assert_int_eq(device_run(kernel, 2, 4, way ? shadow : value), CUDA_SUCCESS);
        device_read(dx[way], pdx, sizeof dx[way]);
        device_read(dB[way], pdB, sizeof dB[way]);
        device_read(&da[way], pda, 8);
    }
    double expected = 0;
    for (int i = 0; i < N; i++) {
        int next = (i + 1) % N, before = (i + N - 1) % N;
        double slope =
            a * (x[next] * B[i * M + 1] * dy[i] + x[before] * B[before * M + 1] * dy[before]);
        expected += x[i] * x[next] * B[i * M + 1] * dy[i];
        for (int way = 0; way < 2; way++)
            ck_assert_double_eq_tol(dx[way][i], 10 + i + slope, 1e-13 * (1 + fabs(slope)));
        for (int j = 0; j < M; j++) {
            double at = i * M + j + dy[i] * (1 + (j == 1 ? a * x[i] * x[next] : 0));
            for (int way = 0; way < 2; way++)
                ck_assert_double_eq_tol(dB[way][i * M + j], at, 1e-13 * (1 + fabs(at)));
        }
    }
    for (int way = 0; way < 2; way++)
        ck_assert_double_eq_tol(da[way], expected, 1e-13 * (1 + fabs(expected)));
    device_stop();
}
END_TEST

/* The tangent of an adjoint: H times a vector by differences of the adjoint. */
START_TEST(adjoints_have_tangents) {
    enum { N = 16 };
    const double h = 0x1p-14;
    double start[4][N], direction[4][N], out[2][4][N], got[8][N];
    uint64_t seed = 7;
    device_start();
    CUmodule module = device_compile(levels[_i], "adjoints.adl");
    int64_t n = N;
    CUdeviceptr at[8];
    for (int a = 0; a < 4; a++)
        for (int i = 0; i < N; i++) {
            start[a][i] = 0.25 + some_number(&seed);
            direction[a][i] = 0.25 + some_number(&seed);
        }
    for (int side = 0; side < 2; side++) {
        for (int a = 0; a < 4; a++) {
            double moved[N];
            for (int i = 0; i < N; i++) moved[i] = start[a][i] + (side ? h : -h) * direction[a][i];
            at[a] = device_copy(moved, sizeof moved);
        }
        ck_assert_int_eq(device_run(device_kernel(module, "mirror_adjoint"), 2, 8,
                                    (void *[]){&n, &n, &at[0], &at[1], &at[2], &at[3]}),
                         CUDA_SUCCESS);
        for (int a = 0; a < 4; a++) device_read(out[side][a], at[a], sizeof out[side][a]);
    }
    for (int a = 0; a < 4; a++) {
        at[2 * a] = device_copy(start[a], sizeof start[a]);
        at[2 * a + 1] = device_copy(direction[a], sizeof direction[a]);
    }
    ck_assert_int_eq(device_run(device_kernel(module, "mirror_second"), 2, 8,
                                (void *[]){&n, &n, &at[0], &at[1], &at[2], &at[3], &at[4], &at[5],
                                           &at[6], &at[7]}),
                     CUDA_SUCCESS);
    for (int a = 0; a < 8; a++) device_read(got[a], at[a], sizeof got[a]);
    for (int a = 0; a < 4; a++)
        for (int i = 0; i < N; i++) {
            double slope = (out[1][a][i] - out[0][a][i]) / (2 * h);
            ck_assert_double_eq_tol(got[2 * a + 1][i], slope, 1e-5 * (1 + fabs(slope)));
        }
    device_stop();
}
END_TEST

int main(int argc, char **argv) {
    Suite *suite = suite_create("ptx-adjoints");
    TCase *tcase = tcase_create("kernels");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, adjoints_are_transposes, 0, KERNELS * LEVELS);
    tcase_add_loop_test(tcase, returned_arrays_are_added_to, 0, LEVELS);
    tcase_add_loop_test(tcase, adjoints_have_tangents, 0, LEVELS);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    if (argc > 1) srunner_set_fork_status(runner, CK_NOFORK);
    (void)argv;
    srunner_set_tap(runner, "-");
    srunner_run_all(runner, CK_SILENT);
    srunner_free(runner);
    return EXIT_SUCCESS;
}
