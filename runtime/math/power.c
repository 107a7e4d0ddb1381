/* power.c: integer powers and the floored remainder.

   The order of multiplications is fixed, from the lowest bit of the exponent up, so that a compiler
   which unrolls a constant exponent gets the same bits. */
#include <float.h>
#include <math.h>
#include <stdbool.h>

#include "core/calls.h"

static double power_f64(double x, uint64_t n) {
    double result = 1, square = x;
    for (; n; n >>= 1) {
        if (n & 1) result *= square;
        square *= square;
    }
    return result;
}

static float power_f32(float x, uint64_t n) {
    float result = 1, square = x;
    for (; n; n >>= 1) {
        if (n & 1) result *= square;
        square *= square;
    }
    return result;
}

double adl__pown_f64(double x, int64_t n) {
    if (n >= 0) return power_f64(x, (uint64_t)n);
    double power = power_f64(x, -(uint64_t)n);
    /* The power may leave the range where its reciprocal does not. */
    bool usable = isnormal(power) || x == 0 || !isfinite(x);
    return usable ? 1 / power : power_f64(1 / x, -(uint64_t)n);
}

float adl__pown_f32(float x, int64_t n) {
    if (n >= 0) return power_f32(x, (uint64_t)n);
    float power = power_f32(x, -(uint64_t)n);
    bool usable = isnormal(power) || x == 0 || !isfinite(x);
    return usable ? 1 / power : power_f32(1 / x, -(uint64_t)n);
}

double adl__mod_f64(double x, double y) {
    double r = fmod(x, y);
    if (r == 0) return copysign(0, y);
    return signbit(r) != signbit(y) ? r + y : r;
}

float adl__mod_f32(float x, float y) {
    float r = fmodf(x, y);
    if (r == 0) return copysignf(0, y);
    return signbit(r) != signbit(y) ? r + y : r;
}
