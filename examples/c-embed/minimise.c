/* Minimises an exported ADL function from C, by gradient descent with a line search and conjugate
   directions (Polak and Ribiere).  The value and the gradient come from the generated object. */
#include "rosenbrock.h"

#include <adl/adl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 10, STEPS = 20000 };

static double evaluate(const double x[], double dx[])
{
    double value;
    int error = rosenbrock_grad(N, x, &value, dx);
    if (error) {
        fprintf(stderr, "rosenbrock_grad: %s\n", adl_last_error_message());
        exit(1);
    }
    return value;
}

static double dot(const double a[], const double b[])
{
    double s = 0.0;
    for (int i = 0; i < N; i++) s += a[i] * b[i];
    return s;
}

/* Along d from x until the value has fallen enough (Armijo); returns the new value. */
static double search(double x[], const double d[], double value, double slope, double g[])
{
    double start[N], t = 1.0;
    for (int i = 0; i < N; i++) start[i] = x[i];
    for (int k = 0; k < 60; k++, t *= 0.5) {
        for (int i = 0; i < N; i++) x[i] = start[i] + t * d[i];
        double next = evaluate(x, g);
        if (next <= value + 1e-4 * t * slope) return next;
    }
    return value;
}

int main(void)
{
    double x[N], g[N], previous[N], d[N];
    for (int i = 0; i < N; i++) x[i] = i % 2 ? 1.0 : -1.2;
    double value = evaluate(x, g);
    printf("start: f = %.6g\n", value);
    for (int i = 0; i < N; i++) d[i] = -g[i];
    int step = 0;
    for (; step < STEPS && sqrt(dot(g, g)) > 1e-10; step++) {
        double slope = dot(g, d), before = dot(g, g);
        if (slope >= 0.0) {
            for (int i = 0; i < N; i++) d[i] = -g[i];
            slope = -before;
        }
        for (int i = 0; i < N; i++) previous[i] = g[i];
        value = search(x, d, value, slope, g);
        double beta = (dot(g, g) - dot(g, previous)) / before;
        if (beta < 0.0 || step % N == N - 1) beta = 0.0;
        for (int i = 0; i < N; i++) d[i] = beta * d[i] - g[i];
    }
    printf("after %d steps: f = %.3e, x[0] = %.12f, x[%d] = %.12f\n", step, value, x[0], N - 1,
           x[N - 1]);
    /* Errors are codes with a message, not aborts. */
    if (!rosenbrock_grad(-1, x, &value, g)) return 1;
    printf("a negative size: %s\n", adl_last_error_message());
    return value < 1e-12 ? 0 : 1;
}
