/* convert.c: through a common form: an integer with its sign, or a pair of doubles. */
#include "io/convert.h"

#include <math.h>
#include <string.h>

#include "core/calls.h"
#include "core/kinds.h"

typedef struct Number {
    bool integer, negative;
    uint64_t bits; /* of an integer, two's complement */
    double re, im; /* of others */
} Number;

static Number load(int32_t kind, const void *value) {
    Number number = {0};
    if (kind_is_float(kind)) number.re = kind_load_float(kind, value);
    else if (kind_is_complex(kind)) {
        int32_t part = kind == ADL_KIND_C64 ? ADL_KIND_F32 : ADL_KIND_F64;
        number.re = kind_load_float(part, value);
        number.im = kind_load_float(part, (const char *)value + kind_bytes(part));
    } else {
        int64_t loaded = kind_load_integer(kind, value);
        number.integer = true;
        number.bits = (uint64_t)loaded;
        number.negative = kind_is_signed(kind) && loaded < 0;
    }
    return number;
}

/* An integral float in the range of 64 bits becomes an integer; false for others. */
static bool to_integer(Number *number) {
    if (number->integer) return true;
    double x = number->re;
    if (number->im != 0 || x != trunc(x) || x < -0x1p63 || x >= 0x1p64) return false;
    number->negative = x < 0;
    number->bits = x < 0 ? (uint64_t)(int64_t)x : (uint64_t)x;
    number->integer = true;
    return true;
}

static bool store_integer(Number number, int32_t kind, void *out) {
    if (!to_integer(&number)) return false;
    int width = kind == ADL_KIND_BOOL ? 1 : (int)(8 * kind_bytes(kind));
    uint64_t most = UINT64_MAX >> (64 - width + kind_is_signed(kind));
    bool held =
        number.negative ? kind_is_signed(kind) && ~number.bits <= most : number.bits <= most;
    uint8_t u8 = (uint8_t)number.bits;
    uint16_t u16 = (uint16_t)number.bits;
    uint32_t u32 = (uint32_t)number.bits;
    switch (kind_bytes(kind)) {
    case 1: memcpy(out, &u8, sizeof u8); break;
    case 2: memcpy(out, &u16, sizeof u16); break;
    case 4: memcpy(out, &u32, sizeof u32); break;
    default: memcpy(out, &number.bits, sizeof number.bits); break;
    }
    return held;
}

/* VALUE as the float kind KIND at OUT; what it then is, in *STORED. */
static void round_to(int32_t kind, double value, void *out, double *stored) {
    uint16_t half = 0;
    float single = (float)value;
    if (kind == ADL_KIND_F16) half = adl__f16_from_f64(value);
    if (kind == ADL_KIND_BF16) half = adl__bf16_from_f64(value);
    if (kind == ADL_KIND_F64) memcpy(out, &value, sizeof value);
    else if (kind == ADL_KIND_F32) memcpy(out, &single, sizeof single);
    else memcpy(out, &half, sizeof half);
    *stored = kind_load_float(kind, out);
}

static bool store_float(const Number *number, int32_t kind, void *out) {
    double stored;
    if (!number->integer) {
        round_to(kind, number->re, out, &stored);
        return number->im == 0 && !(isinf(stored) && !isinf(number->re));
    }
    double value = number->negative ? (double)(int64_t)number->bits : (double)number->bits;
    round_to(kind, value, out, &stored);
    Number back = {.re = stored};
    return isfinite(stored) && to_integer(&back) && back.bits == number->bits &&
           back.negative == number->negative;
}

bool convert_value(int32_t from, const void *value, int32_t to, void *out) {
    if (from == to) {
        memcpy(out, value, (size_t)kind_bytes(to));
        return true;
    }
    Number number = load(from, value);
    if (kind_is_float(to)) return store_float(&number, to, out);
    if (!kind_is_complex(to)) return store_integer(number, to, out);
    int32_t part = to == ADL_KIND_C64 ? ADL_KIND_F32 : ADL_KIND_F64;
    Number imaginary = {.re = number.im};
    number.im = 0;
    char *second = (char *)out + kind_bytes(part);
    return store_float(&number, part, out) && store_float(&imaginary, part, second);
}
