/* Views with strides of all kinds for strided parameters (views.adl).  Prints TAP. */
#include "views.h"
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static double grid[4][6];

static void fill(void)
{
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 6; j++) grid[i][j] = 100 * i + j;
}

static adl_view_f64_2 matrix(double *data, int64_t n, int64_t m, int64_t by_row, int64_t by_column)
{
    return (adl_view_f64_2){data, {n, m}, {8 * by_row, 8 * by_column}};
}

static adl_view_f64_1 vector(double *data, int64_t n, int64_t by)
{
    return (adl_view_f64_1){data, {n}, {8 * by}};
}

/* What weigh gives of a view, element by element. */
static double weigh_by_hand(const adl_view_f64_2 *x)
{
    double sum = 0.0;
    for (int64_t i = 0; i < x->shape[0]; i++)
        for (int64_t j = 0; j < x->shape[1]; j++)
            sum += x->data[(i * x->strides[0] + j * x->strides[1]) / 8] * (double)(10 * i + j + 1);
    return sum;
}

static void test_reading(void)
{
    fill();
    const adl_view_f64_2 views[] = {
        matrix(&grid[0][0], 4, 6, 6, 1),   /* contiguous */
        matrix(&grid[0][0], 6, 4, 1, 6),   /* transposed */
        matrix(&grid[1][2], 2, 3, 6, 1),   /* a block */
        matrix(&grid[0][1], 2, 2, 12, 3),  /* every other row, every third column */
        matrix(&grid[3][5], 4, 6, -6, -1), /* backwards */
        matrix(&grid[3][0], 4, 6, -6, 1),  /* rows backwards */
        matrix(&grid[0][3], 3, 4, 0, 0),   /* one element */
        matrix(&grid[2][0], 5, 6, 0, 1),   /* one row again and again */
        matrix(&grid[0][0], 1, 1, 77, 99), /* strides that mean nothing */
        matrix(&grid[0][0], 1, 3, 99, 2),
        matrix(&grid[0][0], 3, 4, 1, 1),   /* overlapping, as of a convolution */
    };
    double sum;
    for (size_t k = 0; k < sizeof views / sizeof views[0]; k++) {
        FINE(weigh_all(&views[k], &sum));
        EXPECT(sum == weigh_by_hand(&views[k]));
    }
    adl_view_f64_2 none = {NULL, {0, 5}, {3, 1}};
    FINE(weigh_all(&none, &sum));
    EXPECT(sum == 0.0);
}

static void test_writing(void)
{
    for (int by = -2; by <= 2; by++) {
        double line[10] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, x[4] = {1, 10, 100, 1000}, wanted[10];
        if (!by) continue;
        adl_view_f64_1 y = vector(by < 0 ? line + 8 : line + 1, 4, by), v = vector(x + 3, 4, -1);
        memcpy(wanted, line, sizeof line);
        for (int i = 0; i < 4; i++) wanted[(by < 0 ? 8 : 1) + by * i] += 2 * x[3 - i];
        FINE(add(2.0, &v, &y));
        EXPECT(!memcmp(line, wanted, sizeof line));
        /* And one element that is read again and again. */
        v = vector(x + 1, 4, 0);
        for (int i = 0; i < 4; i++) wanted[(by < 0 ? 8 : 1) + by * i] -= x[1];
        FINE(add(-1.0, &v, &y));
        EXPECT(!memcmp(line, wanted, sizeof line));
    }
    double u[] = {1, -1, 2, -1, 3, -1}, v[] = {9, 10, 100};
    adl_view_f64_1 steps = vector(u, 3, 2);
    FINE(sweep(3, &steps, v));
    EXPECT(!memcmp(u, (double[]){1, -1, 12, -1, 1203, -1}, sizeof u));
}

static void test_exchange(void)
{
    double line[] = {1, 2, 3, 4, 5, 6}, apart[] = {7, 8, 9};
    adl_view_f64_1 even = vector(line, 3, 2), odd = vector(line + 5, 3, -2);
    adl_view_f64_1 dense = vector(apart, 3, 1);
    FINE(swap_views(&even, &odd));
    EXPECT(!memcmp(line, (double[]){6, 5, 4, 3, 2, 1}, sizeof line));
    FINE(swap_views(&even, &dense));
    EXPECT(!memcmp(line, (double[]){7, 5, 8, 3, 9, 1}, sizeof line));
    EXPECT(!memcmp(apart, (double[]){6, 4, 2}, sizeof apart));
}

static void test_derivatives(void)
{
    const double w[3] = {1, 2, 3};
    double shadow[4][6] = {{0}}, value, tangent, dw[3];
    adl_tape *tape = NULL;
    fill();
    adl_view_f64_2 x = matrix(&grid[3][4], 2, 3, -12, -2), dx = matrix(&shadow[0][1], 2, 3, 2, 8);
    FINE(squares_grad(3, &x, &dx, w, &value, dw));
    double sum = 0.0, column[3] = {0};
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 3; j++) {
            double v = grid[3 - 2 * i][4 - 2 * j], *d = &shadow[0][0] + 1 + 2 * i + 8 * j;
            sum += w[j] * v * v, column[j] += v * v;
            EXPECT(*d == 2 * w[j] * v);
            *d = 0.0;
        }
    EXPECT(value == sum && !memcmp(dw, column, sizeof dw));
    for (int i = 0; i < 24; i++) EXPECT((&shadow[0][0])[i] == 0.0);
    FINE(squares_jvp(3, &x, &x, w, w, &value, &tangent));
    EXPECT(value == sum && tangent == 2 * value + value);
    /* A tape refers to no memory that is gone with the call. */
    FINE(squares_forward(3, &x, w, &tape));
    memset(grid, 0, sizeof grid);
    FINE(squares_reverse(3, &dx, 1.0, tape, dw));
    EXPECT(!memcmp(dw, column, sizeof dw) && shadow[0][1] == 2 * 304.0);
    FINE(adl_tape_free(&tape));
}

static void test_small_types(void)
{
    adl_c64 line[6] = {{1, 2}, {0, 0}, {3, 4}, {0, 0}, {5, 6}, {0, 0}};
    int16_t table[3][3] = {{0, 1, 2}, {3, 4, 5}, {6, 7, 8}};
    adl_view_c64_1 z = {line + 4, {3}, {-16}};
    adl_view_i16_2 k = {&table[0][0], {3, 3}, {2, 6}};
    FINE(turn_all(&z, &k));
    EXPECT(line[0].re == -2.0F && line[0].im == 1.0F && line[4].re == -6.0F && line[1].re == 0.0F);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) EXPECT(table[j][i] == 3 * j + i + 100 * i + j);
}

static void test_refusals(void)
{
    double sum, line[8] = {0}, v[3] = {0};
    adl_view_f64_2 x = matrix(&grid[0][0], 2, 3, 6, 1);
    adl_view_f64_1 a = vector(line, 3, 1), b = vector(line + 4, 3, 1);
    REFUSED(ADL_ERROR_ARGUMENT, "x is NULL", weigh_all(NULL, &sum));
    x.data = NULL;
    REFUSED(ADL_ERROR_ARGUMENT, "x is NULL", weigh_all(&x, &sum));
    x = matrix(&grid[0][0], -1, 3, 6, 1);
    REFUSED(ADL_ERROR_ARGUMENT, "x.shape[0] is negative", weigh_all(&x, &sum));
    x = matrix(&grid[0][0], 2, 3, 6, 1), x.strides[0] += 4;
    REFUSED(ADL_ERROR_ARGUMENT, "multiples of 8 bytes", weigh_all(&x, &sum));
    x = matrix((double *)(void *)((char *)grid + 4), 2, 3, 6, 1);
    REFUSED(ADL_ERROR_ARGUMENT, "multiples of 8 bytes", weigh_all(&x, &sum));
    x = matrix(&grid[0][0], 3, 3, 6, 1), x.strides[0] = INT64_MAX / 8 * 8;
    REFUSED(ADL_ERROR_ARGUMENT, "strides are too long", weigh_all(&x, &sum));
    x.strides[0] = INT64_MIN;
    REFUSED(ADL_ERROR_ARGUMENT, "strides are too long", weigh_all(&x, &sum));
    a.strides[0] = 0;
    REFUSED(ADL_ERROR_ARGUMENT, "overlap", add(1.0, &b, &a));
    a = vector(line, 4, 1);
    REFUSED(ADL_ERROR_SIZE, "y.shape[0] is 4, but x.shape[0] is 3", add(1.0, &b, &a));
    REFUSED(ADL_ERROR_SIZE, "u.shape[0] is 4, but n is 3", sweep(3, &a, v));
    for (int i = 0; i < 8; i++) EXPECT(line[i] == 0.0);
}

static void *take_nothing(void *state, size_t alignment, size_t bytes)
{
    (void)state, (void)alignment, (void)bytes;
    return NULL;
}

static void give_nothing(void *state, void *memory, size_t bytes)
{
    (void)state, (void)memory, (void)bytes;
}

/* Without any memory: what is contiguous is used where it lies, and only that. */
static void test_in_place(void)
{
    const adl_allocator none = {take_nothing, give_nothing, NULL};
    double line[6] = {1, 2, 3, 4, 5, 6}, x[3] = {1, 1, 1};
    adl_view_f64_1 y = vector(line, 3, 1), v = vector(x, 3, 1);
    FINE(adl_set_allocator(&none));
    FINE(add(1.0, &v, &y));
    EXPECT(line[0] == 2 && line[2] == 4 && line[3] == 4);
    y.strides[0] = 16;
    EXPECT(add(1.0, &v, &y) == ADL_ERROR_MEMORY);
    FINE(adl_set_allocator(NULL));
}

/* Compiled with --check: what is written may not overlap another argument, which interleaved views do
   not. */
static void test_checked(void)
{
    double line[12] = {0};
    adl_view_f64_1 a = vector(line, 3, 2), b = vector(line + 1, 3, 2), c = vector(line + 10, 3, -3);
    FINE(swap_views(&a, &b));
    REFUSED(ADL_ERROR_ARGUMENT, "a and b overlap", swap_views(&a, &c));
    FINE(add(1.0, &b, &a));
    REFUSED(ADL_ERROR_ARGUMENT, "overlap", add(1.0, &c, &a));
    REFUSED(ADL_ERROR_ARGUMENT, "overlap", sweep(3, &a, line + 2));
    FINE(sweep(3, &a, line + 5));
}

int main(int argc, char **argv)
{
    if (argc == 2 && !strcmp(argv[1], "check")) run("views that are checked", test_checked);
    run("views that are read", test_reading);
    run("views that are written", test_writing);
    run("views that trade places", test_exchange);
    run("derivatives of views", test_derivatives);
    run("views of small types", test_small_types);
    run("views that are refused", test_refusals);
    run("views without memory", test_in_place);
    printf("1..%d\n", number);
    return failed != 0;
}
