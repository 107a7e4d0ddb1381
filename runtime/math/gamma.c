/* gamma.c: log gamma and its first two derivatives.

   digamma: reflection to the right half line, recurrence into [1, 2] with a rational function that
   has the root 1.4616… as an exact factor, and the asymptotic series from 10 on.  A few ulp, also
   next to the root; at negative arguments relative to the larger of the two terms of the
   reflection. trigamma: reflection, recurrence to 12 and the asymptotic series. */
#include <math.h>

#include "core/calls.h"

#define PI 3.14159265358979323846

double adl__lgamma_f64(double x) {
    int sign;
    return lgamma_r(x, &sign);
}

float adl__lgamma_f32(float x) {
    int sign;
    return lgammaf_r(x, &sign);
}

/* c[0] x^n + … + c[n]. */
static double polynomial(const double *c, int n, double x) {
    double y = c[0];
    for (int i = 1; i <= n; i++) y = y * x + c[i];
    return y;
}

/* The part of X beyond the nearest integer, in -0.5 … 0.5; exact. */
static double beyond_integer(double x) {
    return x - nearbyint(x);
}

/* pi cot(pi x), exact zeros included. */
static double pi_cot_pi(double x) {
    double r = beyond_integer(x);
    if (fabs(r) == 0.5) return 0;
    if (fabs(r) > 0.25) return copysign(PI * tan(PI * (0.5 - fabs(r))), r);
    return PI / tan(PI * r);
}

static double digamma_1_2(double x) {
    static const double p[] = {-0.0020713321167745952, -0.045251321448739056, -0.28919126444774784,
                               -0.65031853770896507,   -0.32555031186804491,  0.25479851061131551};
    static const double q[] = {-0.55789841321675513e-6,
                               0.0021284987017821144,
                               0.054151797245674225,
                               0.43593529692665969,
                               1.4606242909763515,
                               2.0767117023730469,
                               1.0};
    /* The root in three parts, so that the difference is exact next to it. */
    double g = x - 1569415565.0 / 1073741824.0;
    g -= (381566830.0 / 1073741824.0) / 1073741824.0;
    g -= 0.9016312093258695918615325266959189453125e-19;
    return g * (double)0.99558162689208984f +
           g * (polynomial(p, 5, x - 1) / polynomial(q, 6, x - 1));
}

double adl__digamma_f64(double x) {
    static const double series[] = {1.0 / 12,  -691.0 / 32760, 1.0 / 132, -1.0 / 240,
                                    1.0 / 252, -1.0 / 120,     1.0 / 12,  0};
    if (isnan(x) || x == -INFINITY) return NAN;
    if (x == 0) return -copysign(INFINITY, x);
    if (x < 0) {
        if (beyond_integer(x) == 0) return NAN;
        return adl__digamma_f64(1 - x) - pi_cot_pi(x);
    }
    if (x >= 10) {
        double s = 1 / (x * x);
        return log(x) - 0.5 / x - polynomial(series, 7, s);
    }
    double sum = 0;
    if (x < 1) {
        sum = -1 / x;
        x += 1;
    }
    while (x > 2) {
        x -= 1;
        sum += 1 / x;
    }
    return digamma_1_2(x) + sum;
}

double adl__trigamma_f64(double x) {
    static const double series[] = {7.0 / 6,  -691.0 / 2730, 5.0 / 66, -1.0 / 30,
                                    1.0 / 42, -1.0 / 30,     1.0 / 6,  0};
    if (isnan(x) || x == -INFINITY) return NAN;
    if (x <= 0) {
        double r = beyond_integer(x);
        if (r == 0) return INFINITY;
        double sine = sin(PI * r);
        return PI * PI / (sine * sine) - adl__trigamma_f64(1 - x);
    }
    double sum = 0;
    for (; x < 12; x += 1) sum += 1 / (x * x);
    double s = 1 / (x * x);
    return sum + (1 + polynomial(series, 7, s)) / x + 0.5 * s;
}

float adl__digamma_f32(float x) {
    return (float)adl__digamma_f64((double)x);
}

float adl__trigamma_f32(float x) {
    return (float)adl__trigamma_f64((double)x);
}
