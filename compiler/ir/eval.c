/* Scalar arithmetic.  f32 is computed in double and rounded: for + - * / that is exact, since a
   double holds more than twice the bits; what is not exact so calls the functions for float. */
#include "ir/eval.h"

#include <math.h>

#include "base/fatal.h"

__extension__ typedef __int128 Wide;
__extension__ typedef unsigned __int128 UWide;

static uint32_t width(IrScalar type) {
    return ir_scalar_bytes(type) * 8;
}

int64_t ir_wrap(IrScalar type, int64_t value) {
    type = ir_scalar_base(type);
    if (type == IR_BOOL) return value != 0;
    uint32_t spare = 64 - width(type);
    if (spare == 0 || spare > 63) return value;
    uint64_t high = (uint64_t)value << spare;
    if (ir_scalar_signed(type)) return (int64_t)high >> spare;
    return (int64_t)(high >> spare);
}

/* ---- integers ---- */

static int64_t int_power(int64_t base, int64_t exponent) {
    uint64_t result = 1, square = (uint64_t)base;
    for (uint64_t n = (uint64_t)exponent; n; n >>= 1) {
        if (n & 1) result *= square;
        square *= square;
    }
    return (int64_t)result;
}

static int64_t high_half(IrScalar type, int64_t x, int64_t y) {
    if (ir_scalar_signed(type)) return (int64_t)((Wide)x * y >> width(type));
    return (int64_t)(((UWide)(uint64_t)x * (uint64_t)y) >> width(type));
}

/* DIV, MOD, REM of signed integers, the divisor being neither 0 nor -1. */
static int64_t divide_signed(IrOp op, int64_t x, int64_t y) {
    int64_t quotient = x / y, rest = x % y;
    bool down = rest != 0 && (rest < 0) != (y < 0);
    if (op == IR_DIV) return quotient - down;
    if (op == IR_MOD) return down ? rest + y : rest;
    return rest;
}

static bool divide(IrOp op, bool is_signed, int64_t x, int64_t y, int64_t *out) {
    if (y == 0) return false;
    if (!is_signed) {
        uint64_t a = (uint64_t)x, b = (uint64_t)y;
        *out = (int64_t)(op == IR_DIV ? a / b : a % b);
    } else if (y == -1) {
        *out = op == IR_DIV ? (int64_t)(0 - (uint64_t)x) : 0;
    } else {
        *out = divide_signed(op, x, y);
    }
    return true;
}

static bool shift(IrOp op, IrScalar type, int64_t x, int64_t n, int64_t *out) {
    if (n < 0 || n >= width(type)) return false;
    if (op == IR_SHL) *out = (int64_t)((uint64_t)x << n);
    else if (ir_scalar_signed(type)) *out = x >> n;
    else *out = (int64_t)((uint64_t)x >> n);
    return true;
}

static bool int_less(bool is_signed, int64_t x, int64_t y) {
    return is_signed ? x < y : (uint64_t)x < (uint64_t)y;
}

static bool eval_int(IrOp op, IrScalar type, int64_t x, int64_t y, int64_t *out) {
    bool is_signed = ir_scalar_signed(type);
    uint64_t a = (uint64_t)x, b = (uint64_t)y;
    switch ((int)op) {
    case IR_NEG: *out = (int64_t)(0 - a); return true;
    case IR_ABS: *out = is_signed && x < 0 ? (int64_t)(0 - a) : x; return true;
    case IR_NOT: *out = type == IR_BOOL ? !x : ~x; return true;
    case IR_ADD: *out = (int64_t)(a + b); return true;
    case IR_SUB: *out = (int64_t)(a - b); return true;
    case IR_MUL: *out = (int64_t)(a * b); return true;
    case IR_MULHI: *out = high_half(type, x, y); return true;
    case IR_DIV:
    case IR_MOD:
    case IR_REM: return divide(op, is_signed, x, y, out);
    case IR_POWI: *out = int_power(x, y); return y >= 0;
    case IR_MIN: *out = int_less(is_signed, x, y) ? x : y; return true;
    case IR_MAX: *out = int_less(is_signed, x, y) ? y : x; return true;
    case IR_AND: *out = x & y; return true;
    case IR_OR: *out = x | y; return true;
    case IR_XOR: *out = x ^ y; return true;
    case IR_SHL:
    case IR_SHR: return shift(op, type, x, y, out);
    case IR_EQ: *out = x == y; return true;
    case IR_NE: *out = x != y; return true;
    case IR_LT: *out = int_less(is_signed, x, y); return true;
    case IR_LE: *out = !int_less(is_signed, y, x); return true;
    case IR_GT: *out = int_less(is_signed, y, x); return true;
    case IR_GE: *out = !int_less(is_signed, x, y); return true;
    default: return false;
    }
}

/* ---- floats ---- */

static double float_mod(double x, double y) {
    double rest = fmod(x, y);
    if (rest == 0) return copysign(0, y);
    return (rest < 0) != (y < 0) ? rest + y : rest;
}

static double float_min(double x, double y) {
    if (isnan(x) || isnan(y)) return x + y;
    if (x == y) return signbit(x) ? x : y;
    return x < y ? x : y;
}

/* By squaring, rounded at each step, as the runtime's pown does it. */
static double float_square(double x, uint64_t n, bool single) {
    double result = 1;
    for (; n; n >>= 1) {
        if (n & 1) result = single ? (double)(float)(result * x) : result * x;
        x = single ? (double)(float)(x * x) : x * x;
    }
    return result;
}

static double float_power(double x, int64_t exponent, bool single) {
    if (exponent >= 0) return float_square(x, (uint64_t)exponent, single);
    uint64_t n = 0 - (uint64_t)exponent;
    double power = float_square(x, n, single);
    bool normal = single ? isnormal((float)power) : isnormal(power);
    if (normal || x == 0 || !isfinite(x)) return 1 / power;
    return float_square(single ? (double)(float)(1 / x) : 1 / x, n, single);
}

static bool eval_float(IrOp op, double x, double y, double *out) {
    switch ((int)op) {
    case IR_NEG: *out = -x; return true;
    case IR_ABS: *out = fabs(x); return true;
    case IR_ADD: *out = x + y; return true;
    case IR_SUB: *out = x - y; return true;
    case IR_MUL: *out = x * y; return true;
    case IR_DIV: *out = x / y; return true;
    case IR_MOD: *out = float_mod(x, y); return true;
    case IR_MIN: *out = float_min(x, y); return true;
    case IR_MAX: *out = -float_min(-x, -y); return true;
    default: return false;
    }
}

static bool compare_floats(IrOp op, double x, double y, int64_t *out) {
    switch ((int)op) {
    case IR_EQ: *out = x == y; return true;
    case IR_NE: *out = x != y; return true;
    case IR_LT: *out = x < y; return true;
    case IR_LE: *out = x <= y; return true;
    case IR_GT: *out = x > y; return true;
    case IR_GE: *out = x >= y; return true;
    default: return false;
    }
}

/* ---- conversions ---- */

double ir_half_to_double(uint16_t half, int bits) {
    int field = half >> bits & ((1 << (15 - bits)) - 1), top = (1 << (15 - bits)) - 1;
    int fraction = half & ((1 << bits) - 1), bias = top / 2;
    double value;
    if (field == top) value = fraction ? NAN : INFINITY;
    else if (field == 0) value = ldexp(fraction, 1 - bias - bits);
    else value = ldexp(fraction | 1 << bits, field - bias - bits);
    return half & 0x8000 ? -value : value;
}

/* The exponent field and the fraction are one number, so that rounding up carries by itself. */
uint16_t ir_half_from_double(double x, int bits) {
    unsigned sign = signbit(x) ? 0x8000 : 0, top = (1u << (15 - bits)) - 1;
    int bias = (int)top / 2, exponent;
    unsigned infinity = top << bits;
    if (isnan(x)) return (uint16_t)(sign | infinity | 1u << (bits - 1));
    if (isinf(x)) return (uint16_t)(sign | infinity);
    x = fabs(x);
    if (x == 0) return (uint16_t)sign;
    exponent = ilogb(x);
    if (exponent > bias) return (uint16_t)(sign | infinity);
    if (exponent < 1 - bias) exponent = 1 - bias;
    unsigned mantissa = (unsigned)nearbyint(ldexp(x, bits - exponent));
    unsigned value = ((unsigned)(exponent + bias - 1) << bits) + mantissa;
    return (uint16_t)(sign | (value > infinity ? infinity : value));
}

/* Saturates; NaN gives 0. */
static int64_t float_to_int(IrScalar type, double x) {
    uint32_t bits = width(type);
    if (type == IR_BOOL) return x != 0;
    if (isnan(x)) return 0;
    x = trunc(x);
    if (ir_scalar_signed(type)) {
        double limit = ldexp(1, (int)bits - 1);
        if (x >= limit) return (int64_t)(((uint64_t)1 << (bits - 1)) - 1);
        return x < -limit ? (int64_t)(0 - ((uint64_t)1 << (bits - 1))) : (int64_t)x;
    }
    if (x <= 0) return 0;
    if (x >= ldexp(1, (int)bits)) return (int64_t)(UINT64_MAX >> (64 - bits));
    return (int64_t)(uint64_t)x;
}

/* TYPE's value as an integer or (true) as a double. */
static bool is_real(IrScalar type, IrBits bits, double *x) {
    if (type == IR_F16) *x = ir_half_to_double((uint16_t)bits.i, 10);
    else if (type == IR_BF16) *x = ir_half_to_double((uint16_t)bits.i, 7);
    else if (ir_scalar_float(type)) *x = bits.f;
    else return false;
    return true;
}

static double int_to_float(IrScalar from, int64_t i, bool single) {
    if (ir_scalar_signed(from) || from == IR_BOOL) return single ? (double)(float)i : (double)i;
    return single ? (double)(float)(uint64_t)i : (double)(uint64_t)i;
}

static bool cast(IrScalar from, IrScalar to, IrBits in, IrBits *out) {
    double x = 0;
    bool real = is_real(from, in, &x);
    if (to == IR_C64 || to == IR_C128 || from == IR_C64 || from == IR_C128) return false;
    if (ir_scalar_float(to)) {
        if (!real) x = int_to_float(from, in.i, to == IR_F32);
        out->f = to == IR_F32 ? (double)(float)x : x;
    } else if (to == IR_F16 || to == IR_BF16) {
        if (!real) x = int_to_float(from, in.i, false);
        out->i = ir_half_from_double(x, to == IR_F16 ? 10 : 7);
    } else {
        out->i = real ? float_to_int(to, x) : ir_wrap(to, in.i);
    }
    return true;
}

bool ir_eval(IrOp op, IrScalar type, IrScalar result, int64_t imm, const IrBits *args,
             IrBits *out) {
    type = ir_scalar_base(type);
    result = ir_scalar_base(result);
    if (op == IR_LANES || op == IR_LANE || op == IR_LANE_SUM) return false;
    if (op == IR_CAST) return cast(type, result, args[0], out);
    if (op == IR_SELECT) {
        *out = args[args[0].i ? 1 : 2];
        return true;
    }
    bool binary = op != IR_NEG && op != IR_ABS && op != IR_NOT;
    if (!ir_scalar_float(type)) {
        if (!eval_int(op, type, args[0].i, binary ? args[1].i : 0, &out->i)) return false;
        out->i = ir_wrap(result, out->i);
        return true;
    }
    if (ir_is_comparison(op)) return compare_floats(op, args[0].f, args[1].f, &out->i);
    bool single = type == IR_F32;
    double value;
    if (op == IR_MATH) {
        double x[3] = {0};
        for (uint32_t i = 0; i < ir_math_arity((IrMath)imm); i++) x[i] = args[i].f;
        value = ir_eval_math((IrMath)imm, single, x);
    } else if (op == IR_MULADD) {
        double product = args[0].f * args[1].f;
        value = (single ? (double)(float)product : product) + args[2].f;
    } else if (op == IR_POWI) {
        value = float_power(args[0].f, args[1].i, single);
    } else if (!eval_float(op, args[0].f, binary ? args[1].f : 0, &value)) {
        return false;
    }
    out->f = single ? (double)(float)value : value;
    return true;
}
