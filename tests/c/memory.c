/* How often the functions of memory.adl take memory from the allocator: never, for all of these. Their
   values too, so that nothing is right by not being done.  Prints TAP. */
#include "memory.h"

#include <adl/adl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 1000, ROWS = 40, COLUMNS = 25 };

static int number, failed;
static long long taken;

static void *take(void *state, size_t alignment, size_t bytes)
{
    (void)state;
    taken++;
    return aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

static void give(void *state, void *memory, size_t bytes)
{
    (void)state;
    (void)bytes;
    free(memory);
}

static void ok(bool good, const char *name)
{
    number++;
    failed += !good;
    printf("%s %d - %s\n", good ? "ok" : "not ok", number, name);
    if (!good) printf("# %lld areas were taken (%s)\n", taken, adl_last_error_message());
}

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-12 * (1.0 + fabs(b));
}

static double x[N], w[N], dx[N], other[N];

static void test_heat(void)
{
    static double u[ROWS * COLUMNS], v[ROWS * COLUMNS];
    for (int i = 0; i < ROWS * COLUMNS; i++) u[i] = sin(i), v[i] = -1.0;
    taken = 0;
    bool good = heat(ROWS, COLUMNS, 0.1, u, v) == ADL_OK && taken == 0;
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++) {
            const double *at = u + i * COLUMNS + j;
            bool inside = i > 0 && i < ROWS - 1 && j > 0 && j < COLUMNS - 1;
            double step = -1.0;
            if (inside)
                step = *at + 0.1 * (at[-COLUMNS] + at[COLUMNS] + at[-1] + at[1] - 4.0 * *at);
            good = good && near(v[i * COLUMNS + j], step);
        }
    ok(good, "a map that is assigned to a part fills it");
}

static void test_rows(void)
{
    static double table[3 * N];
    taken = 0;
    bool good = rows(N, 3, x, table, 1) == ADL_OK && taken == 0;
    for (int i = 0; i < N; i++) {
        double there = i == 0 ? 2.0 * x[0] : x[i] - x[i - 1];
        good = good && table[i] == 0.0 && table[2 * N + i] == 0.0 && near(table[N + i], there);
    }
    ok(good, "a map that is assigned to a row, or a part of it, fills it");
}

/* The sum that chain is, and its slope at i. */
static double chain_by_hand(void)
{
    double sum = 0.0;
    for (int i = 0; i < N; i++) sum += (exp(-x[i] * x[i]) + w[i]) * x[i];
    return sum;
}

static double chain_slope(int i)
{
    double e = exp(-x[i] * x[i]);
    return e + w[i] - 2.0 * x[i] * x[i] * e;
}

static void test_chain(void)
{
    double value = 0.0;
    taken = 0;
    bool good = chain_value(N, x, w, &value) == ADL_OK && taken == 0;
    ok(good && near(value, chain_by_hand()), "a chain of maps and a sum");

    for (int i = 0; i < N; i++) dx[i] = 1.0;
    taken = 0;
    good = chain_grad(N, x, dx, w, &value) == ADL_OK && taken == 0;
    for (int i = 0; i < N; i++) good = good && near(dx[i], 1.0 + chain_slope(i));
    ok(good && near(value, chain_by_hand()), "its gradient");

    double tangent = 0.0, along = 0.0;
    for (int i = 0; i < N; i++) along += chain_slope(i) * other[i];
    taken = 0;
    good = chain_jvp(N, x, other, w, &value, &tangent) == ADL_OK && taken == 0;
    ok(good && near(tangent, along), "its tangent");
}

static void test_shifted(void)
{
    double value = 0.0;
    for (int i = 0; i < N; i++) dx[i] = 0.0;
    taken = 0;
    bool good = shifted_grad(N, x, dx, &value) == ADL_OK && taken == 0;
    for (int i = 0; i < N; i++) {
        double slope = 0.0;
        if (i > 0) slope += 2.0 * (x[i] - x[i - 1]);
        if (i < N - 1) slope -= 2.0 * (x[i + 1] - x[i]);
        good = good && near(dx[i], slope);
    }
    ok(good, "the gradient of differences of neighbours");
}

int main(void)
{
    adl_allocator allocator = {take, give, NULL};
    if (adl_set_allocator(&allocator) || adl_set_num_threads(1)) return 1;
    for (int i = 0; i < N; i++) x[i] = sin(0.1 * i), w[i] = cos(0.3 * i), other[i] = 0.5 - 0.001 * i;
    test_heat();
    test_rows();
    test_chain();
    test_shifted();
    printf("1..%d\n", number);
    return failed != 0;
}
