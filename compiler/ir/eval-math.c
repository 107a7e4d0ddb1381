/* The functions of lang/math.def. */
#define _DEFAULT_SOURCE /* lgamma_r */
#include "ir/eval.h"

#include <math.h>

#include "base/fatal.h"

/* Recurrence up to 10, then the asymptotic series; reflection below 0. */
static double digamma(double x) {
    const double pi = 3.14159265358979323846;
    double sum = 0;
    if (x <= 0 && x == floor(x)) return NAN;
    if (x < 0) return digamma(1 - x) - pi / tan(pi * x);
    for (; x < 10; x += 1) sum -= 1 / x;
    double s = 1 / (x * x);
    double tail =
        s *
        (1.0 / 12 -
         s * (1.0 / 120 -
              s * (1.0 / 252 - s * (1.0 / 240 - s * (1.0 / 132 - s * (691.0 / 32760 - s / 12))))));
    return sum + log(x) - 0.5 / x - tail;
}

static double trigamma(double x) {
    const double pi = 3.14159265358979323846;
    double sum = 0;
    if (x <= 0 && x == floor(x)) return INFINITY;
    if (x < 0) {
        double s = sin(pi * x);
        return pi * pi / (s * s) - trigamma(1 - x);
    }
    for (; x < 10; x += 1) sum += 1 / (x * x);
    double s = 1 / (x * x);
    double tail =
        s / x *
        (1.0 / 6 -
         s * (1.0 / 30 -
              s * (1.0 / 42 - s * (1.0 / 30 - s * (5.0 / 66 - s * (691.0 / 2730 - s * 7.0 / 6))))));
    return sum + 1 / x + s / 2 + tail;
}

static double log_gamma(double x, bool single) {
    int sign;
    return single ? (double)lgammaf_r((float)x, &sign) : lgamma_r(x, &sign);
}

#define ONE(NAME, fn)                                                                              \
    case IR_MATH_##NAME:                                                                           \
        return single ? (double)fn##f((float)x[0]) : fn(x[0]);
#define TWO(NAME, fn)                                                                              \
    case IR_MATH_##NAME: return single ? (double)fn##f((float)x[0], (float)x[1]) : fn(x[0], x[1]);

double ir_eval_math(IrMath fn, bool single, const double *x) {
    switch (fn) {
        ONE(SQRT, sqrt)
        ONE(CBRT, cbrt)
        ONE(EXP, exp)
        ONE(EXP2, exp2)
        ONE(EXPM1, expm1)
        ONE(LOG, log)
        ONE(LOG2, log2)
        ONE(LOG10, log10)
        ONE(LOG1P, log1p)
        ONE(SIN, sin)
        ONE(COS, cos)
        ONE(TAN, tan)
        ONE(ASIN, asin)
        ONE(ACOS, acos)
        ONE(ATAN, atan)
        ONE(SINH, sinh)
        ONE(COSH, cosh)
        ONE(TANH, tanh)
        ONE(ASINH, asinh)
        ONE(ACOSH, acosh)
        ONE(ATANH, atanh)
        ONE(ERF, erf)
        ONE(ERFC, erfc)
        ONE(TGAMMA, tgamma)
        ONE(FLOOR, floor)
        ONE(CEIL, ceil)
        ONE(TRUNC, trunc)
        ONE(ROUND, round)
        ONE(RINT, rint)
        TWO(ATAN2, atan2)
        TWO(HYPOT, hypot)
        TWO(POW, pow)
        TWO(FMOD, fmod)
        TWO(REMAINDER, remainder)
        TWO(COPYSIGN, copysign)
        TWO(NEXTAFTER, nextafter)
    case IR_MATH_LGAMMA: return log_gamma(x[0], single);
    case IR_MATH_DIGAMMA: return digamma(x[0]);
    case IR_MATH_TRIGAMMA: return trigamma(x[0]);
    case IR_MATH_FMA:
        return single ? (double)fmaf((float)x[0], (float)x[1], (float)x[2]) : fma(x[0], x[1], x[2]);
    case IR_MATH_COUNT: break;
    }
    UNREACHABLE("scalar function %d", (int)fn);
}
