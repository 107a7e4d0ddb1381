/* half.c: the storage types f16 and bf16, rounded to nearest even, without hardware help. */
#include <math.h>
#include <string.h>

#include "core/calls.h"

/* VALUE in a format with MANTISSA stored bits and EXPONENT bits. */
static uint16_t narrow(double value, int mantissa, int exponent) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    unsigned sign = (unsigned)(bits >> 63) << (mantissa + exponent);
    unsigned infinity = ((1u << exponent) - 1) << mantissa;
    int e = (int)(bits >> 52 & 0x7ff);
    uint64_t m = bits & ((UINT64_C(1) << 52) - 1);
    if (e == 0x7ff) return (uint16_t)(sign | infinity | (m ? 1u << (mantissa - 1) : 0));
    if (e > 0) m |= UINT64_C(1) << 52;
    int field = e - 1023 + (1 << (exponent - 1)) - 1;
    if (field >= (1 << exponent) - 1) return (uint16_t)(sign | infinity);
    int shift = 52 - mantissa;
    if (field <= 0) { /* a subnormal result */
        shift += 1 - field;
        field = 1;
        if (shift > 54) return (uint16_t)sign;
    }
    uint64_t kept = m >> shift, rest = m & ((UINT64_C(1) << shift) - 1);
    uint64_t half = UINT64_C(1) << (shift - 1);
    if (rest > half || (rest == half && (kept & 1))) kept++;
    /* KEPT has its leading bit, worth one in the exponent field, unless the result is subnormal. */
    return (uint16_t)(sign | (((unsigned)(field - 1) << mantissa) + (unsigned)kept));
}

uint16_t adl__f16_from_f64(double value) {
    return narrow(value, 10, 5);
}

uint16_t adl__f16_from_f32(float value) {
    return narrow((double)value, 10, 5);
}

uint16_t adl__bf16_from_f64(double value) {
    return narrow(value, 7, 8);
}

uint16_t adl__bf16_from_f32(float value) {
    return narrow((double)value, 7, 8);
}

float adl__f16_to_f32(uint16_t half) {
    int e = half >> 10 & 31, m = half & 1023;
    float value;
    if (e == 31) value = m ? NAN : INFINITY;
    else if (e == 0) value = ldexpf((float)m, -24);
    else value = ldexpf((float)(m | 1024), e - 25);
    return half >> 15 ? -value : value;
}

float adl__bf16_to_f32(uint16_t half) {
    uint32_t bits = (uint32_t)half << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
