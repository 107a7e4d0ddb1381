/* Conversions, and what puts the kinds of instructions on numbers together. */
#include "tests/ptxsim/scalar.h"

#include <fenv.h>
#include <math.h>
#include <string.h>

static double half_value(uint64_t bits) {
    int exponent = (bits >> 10) & 0x1f;
    double fraction = (double)(bits & 0x3ff) / 1024.0;
    double value = exponent == 31 ? (fraction != 0.0 ? (double)NAN : (double)INFINITY)
                   : exponent     ? ldexp(1.0 + fraction, exponent - 15)
                                  : ldexp(fraction, -14);
    return bits & 0x8000 ? -value : value;
}

/* VALUE as a half, rounded as the mode at hand says. */
static uint64_t half_bits(double value) {
    uint64_t sign = signbit(value) ? 0x8000 : 0;
    double size = fabs(value);
    if (isnan(value)) return 0x7fff;
    if (isinf(value)) return sign | 0x7c00;
    int exponent = 0;
    frexp(size, &exponent);
    int scale = exponent - 1 < -14 ? -14 : exponent - 1; /* of the unit digit of 1.f */
    volatile double digits = ldexp(value, 10 - scale);
    uint64_t rounded = (uint64_t)fabs(rint(digits));
    if (rounded >= 2048) { /* carried over */
        rounded /= 2;
        scale++;
    }
    if (scale > 15) {
        int mode = fegetround();
        bool down =
            mode == FE_TOWARDZERO || (mode == FE_DOWNWARD && !sign) || (mode == FE_UPWARD && sign);
        return sign | (down ? 0x7bff : 0x7c00);
    }
    if (rounded < 1024) return sign | rounded; /* subnormal: scale is -14 */
    return sign | (uint64_t)(scale + 15) << 10 | (rounded - 1024);
}

static double from_float(PtxType type, uint64_t bits) {
    if (type == TYPE_f16) return half_value(bits);
    return type == TYPE_f32 ? (double)ptx_f32(bits) : ptx_f64(bits);
}

static uint64_t to_float(PtxType type, double value) {
    if (type == TYPE_f16) return half_bits(value);
    if (type == TYPE_f64) return ptx_f64_bits(value);
    volatile float single = (float)value;
    return isnan(single) ? UINT64_C(0x7fffffff) : ptx_f32_bits(single);
}

/* An integer to a float in one rounding. */
static uint64_t integer_to_float(const PtxInst *inst, uint64_t from) {
    bool is_signed = ptx_type_kind(inst->source) == 's';
    if (inst->type == TYPE_f32) {
        volatile float value = is_signed ? (float)(int64_t)from : (float)from;
        return ptx_f32_bits(value);
    }
    volatile double value = is_signed ? (double)(int64_t)from : (double)from;
    return to_float(inst->type, value);
}

static uint64_t float_to_integer(const PtxInst *inst, double value) {
    unsigned bits = ptx_type_bits(inst->type);
    bool is_signed = ptx_type_kind(inst->type) == 's';
    if (isnan(value)) {
        bool wide = bits == 64 || inst->source == TYPE_f64;
        return wide ? UINT64_C(1) << (bits - 1) : 0;
    }
    double rounded = rint(value);
    double least = is_signed ? -ldexp(1.0, (int)bits - 1) : 0.0;
    double above = ldexp(1.0, (int)bits - is_signed);
    if (rounded < least) return is_signed ? UINT64_C(1) << (bits - 1) : 0;
    if (rounded >= above) return is_signed ? (UINT64_C(1) << (bits - 1)) - 1 : UINT64_MAX;
    return is_signed ? (uint64_t)(int64_t)rounded : (uint64_t)rounded;
}

/* cvt.sat between integers: to the nearest value that the type has. */
static uint64_t clamp(const PtxInst *inst, uint64_t from) {
    unsigned bits = ptx_type_bits(inst->type);
    bool from_signed = ptx_type_kind(inst->source) == 's';
    bool is_signed = ptx_type_kind(inst->type) == 's';
    __int128 value = from_signed ? (__int128)(int64_t)from : (__int128)from;
    __int128 most = ((__int128)1 << (bits - is_signed)) - 1;
    __int128 least = is_signed ? -((__int128)1 << (bits - 1)) : 0;
    return (uint64_t)(value > most ? most : value < least ? least : value);
}

static uint64_t float_to_float(const PtxInst *inst, uint64_t from) {
    double value = from_float(inst->source, from);
    if (inst->type == inst->source && !inst->iround && !inst->sat && !inst->ftz) return from;
    if (inst->ftz && inst->source == TYPE_f32 && fpclassify((float)value) == FP_SUBNORMAL)
        value = copysign(0.0, value);
    if (inst->iround) value = rint(value);
    if (inst->sat) value = value > 0.0 ? fmin(value, 1.0) : 0.0;
    uint64_t bits = to_float(inst->type, value);
    if (inst->ftz && inst->type == TYPE_f32 && fpclassify(ptx_f32(bits)) == FP_SUBNORMAL)
        bits &= UINT64_C(0x80000000);
    return bits;
}

uint64_t ptx_convert(const PtxInst *inst, uint64_t raw) {
    bool from_real = ptx_type_kind(inst->source) == 'f', to_real = ptx_type_kind(inst->type) == 'f';
    uint64_t from = ptx_extend(inst->source, raw);
    uint64_t result;
    ptx_set_round(inst->iround ? inst->iround : inst->round);
    if (from_real && to_real) result = float_to_float(inst, from);
    else if (to_real) result = integer_to_float(inst, from);
    else if (from_real) result = float_to_integer(inst, from_float(inst->source, from));
    else result = inst->sat ? clamp(inst, from) : from;
    ptx_set_round(ROUND_rn);
    return ptx_extend(inst->type, result);
}

uint64_t ptx_combine(const PtxInst *inst, uint64_t old, uint64_t b, uint64_t c) {
    static const PtxOp ops[] = {
        [ATOM_add] = OP_add, [ATOM_min] = OP_min, [ATOM_max] = OP_max,
        [ATOM_and] = OP_and, [ATOM_or] = OP_or,   [ATOM_xor] = OP_xor,
    };
    PtxInst step = {.op = ops[inst->atom <= ATOM_xor ? inst->atom : ATOM_add], .type = inst->type};
    uint64_t in[PTX_OPERANDS] = {old, b}, out = 0;
    bool carry = false;
    switch (inst->atom) {
    case ATOM_exch: return b;
    case ATOM_cas: return old == b ? c : old;
    case ATOM_inc: return old >= b ? 0 : old + 1;
    case ATOM_dec: return old == 0 || old > b ? b : old - 1;
    default: break;
    }
    if (ptx_type_kind(inst->type) == 'f') ptx_compute_float(&step, in, &out);
    else ptx_compute_integer(&step, in, &out, &carry);
    return ptx_truncate(inst->type, out);
}

/* ---- all of them ------------------------------------------------------------------------------
 */

static uint32_t unknown_of(const PtxValue in[], int count) {
    for (int i = 0; i < count; i++)
        if (in[i].unknown) return in[i].unknown;
    return 0;
}

static void compute_setp(const PtxInst *inst, const PtxValue in[], PtxValue out[2]) {
    bool holds = ptx_compare(inst, in[0].bits, in[1].bits), other = !holds;
    if (inst->combine) {
        bool with = in[2].bits & 1;
        holds = inst->combine == BOOL_and  ? holds && with
                : inst->combine == BOOL_or ? holds || with
                                           : holds != with;
        other = inst->combine == BOOL_and  ? other && with
                : inst->combine == BOOL_or ? other || with
                                           : other != with;
    }
    uint32_t unknown = unknown_of(in, inst->combine ? 3 : 2);
    out[0] = (PtxValue){holds, unknown};
    out[1] = (PtxValue){other, unknown};
}

/* A known operand that decides alone gives a known result. */
static bool decides(const PtxInst *inst, const PtxValue *value) {
    if (value->unknown) return false;
    if (inst->op == OP_and) return value->bits == 0;
    return inst->op == OP_or && value->bits == ptx_truncate(inst->type, UINT64_MAX);
}

bool ptx_compute(const PtxInst *inst, const PtxValue in[PTX_OPERANDS], PtxValue out[2],
                 bool *carry) {
    uint64_t raw[PTX_OPERANDS], result = 0;
    for (int i = 0; i < PTX_OPERANDS; i++) raw[i] = in[i].bits;
    out[0].unknown = unknown_of(in, PTX_OPERANDS);
    bool real = ptx_type_kind(inst->type) == 'f';
    switch (inst->op) {
    case OP_setp: compute_setp(inst, in, out); return true;
    case OP_selp:
        out[0] = in[raw[2] & 1 ? 0 : 1];
        if (in[2].unknown) out[0].unknown = in[2].unknown;
        return true;
    case OP_cvt: result = ptx_convert(inst, raw[0]); break;
    case OP_and:
    case OP_or:
        if (decides(inst, &in[0]) || decides(inst, &in[1])) out[0].unknown = 0;
        ptx_compute_integer(inst, raw, &result, carry);
        break;
    case OP_div:
    case OP_rem:
        if (!real && !ptx_truncate(inst->type, raw[1])) { /* PTX does not say what this gives */
            out[0].unknown = inst->line;
            return true;
        }
        /* fallthrough */
    default:
        if (real ? !ptx_compute_float(inst, raw, &result)
                 : !ptx_compute_integer(inst, raw, &result, carry))
            return false;
    }
    out[0].bits = result;
    return true;
}
