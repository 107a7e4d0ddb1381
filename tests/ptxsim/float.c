/* Floats.  Instructions with a rounding are exact to the bit; those with approx give the nearest
   float here, which is within what PTX promises, but for the f64 ones, whose low half is zero. */
#include "tests/ptxsim/scalar.h"

#include <fenv.h>
#include <math.h>
#include <string.h>

float ptx_f32(uint64_t bits) {
    uint32_t low = (uint32_t)bits;
    float value;
    memcpy(&value, &low, sizeof value);
    return value;
}

double ptx_f64(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

uint64_t ptx_f32_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

uint64_t ptx_f64_bits(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

void ptx_set_round(PtxRound round) {
    static const int modes[] = {
        [ROUND_NONE] = FE_TONEAREST, [ROUND_rn] = FE_TONEAREST, [ROUND_rz] = FE_TOWARDZERO,
        [ROUND_rm] = FE_DOWNWARD,    [ROUND_rp] = FE_UPWARD,
    };
    fesetround(modes[round]);
}

static float flush(const PtxInst *inst, float value) {
    return inst->ftz && fpclassify(value) == FP_SUBNORMAL ? copysignf(0.0F, value) : value;
}

/* The one of two numbers that is wanted; of zeros the one with the right sign. */
static double pick(const PtxInst *inst, double a, double b) {
    bool most = inst->op == OP_max;
    if (isnan(a) || isnan(b)) return inst->propagate_nan ? (double)NAN : isnan(a) ? b : a;
    if (a == b) return (signbit(a) != 0) == most ? b : a;
    return (a < b) == most ? b : a;
}

static float compute_f32(const PtxInst *inst, float a, float b, float c, bool *known) {
    switch (inst->op) {
    case OP_add: return a + b;
    case OP_sub: return a - b;
    case OP_mul: return a * b;
    case OP_div: return a / b;
    case OP_mad:
    case OP_fma: return fmaf(a, b, c);
    case OP_min:
    case OP_max: return (float)pick(inst, (double)a, (double)b);
    case OP_rcp: return 1.0F / a;
    case OP_sqrt: return sqrtf(a);
    case OP_rsqrt: return (float)(1.0 / sqrt((double)a));
    case OP_ex2: return (float)exp2((double)a);
    case OP_lg2: return (float)log2((double)a);
    case OP_sin: return (float)sin((double)a);
    case OP_cos: return (float)cos((double)a);
    case OP_tanh: return (float)tanh((double)a);
    default: *known = false; return 0.0F;
    }
}

static double compute_f64(const PtxInst *inst, double a, double b, double c, bool *known) {
    switch (inst->op) {
    case OP_add: return a + b;
    case OP_sub: return a - b;
    case OP_mul: return a * b;
    case OP_div: return a / b;
    case OP_mad:
    case OP_fma: return fma(a, b, c);
    case OP_min:
    case OP_max: return pick(inst, a, b);
    case OP_rcp: return 1.0 / a;
    case OP_sqrt: return sqrt(a);
    case OP_rsqrt: return 1.0 / sqrt(a);
    default: *known = false; return 0.0;
    }
}

static bool test_property(PtxTestp property, int class) {
    switch (property) {
    case TESTP_NONE: break;
    case TESTP_finite: return class != FP_NAN && class != FP_INFINITE;
    case TESTP_infinite: return class == FP_INFINITE;
    case TESTP_number: return class != FP_NAN;
    case TESTP_notanumber: return class == FP_NAN;
    case TESTP_normal: return class == FP_NORMAL;
    case TESTP_subnormal: return class == FP_SUBNORMAL;
    }
    return false;
}

/* Signs and tests, which are on bits. */
static bool compute_bits(const PtxInst *inst, const uint64_t in[], uint64_t *out) {
    uint64_t sign = inst->type == TYPE_f32 ? UINT64_C(1) << 31 : UINT64_C(1) << 63;
    switch (inst->op) {
    case OP_abs: *out = in[0] & ~sign; return true;
    case OP_neg: *out = in[0] ^ sign; return true;
    case OP_copysign: *out = (in[1] & ~sign) | (in[0] & sign); return true;
    case OP_testp:
        *out = test_property(inst->testp, inst->type == TYPE_f32 ? fpclassify(ptx_f32(in[0]))
                                                                 : fpclassify(ptx_f64(in[0])));
        return true;
    default: return false;
    }
}

static double saturate(double value) {
    return value > 0.0 ? (value < 1.0 ? value : 1.0) : 0.0;
}

bool ptx_compute_float(const PtxInst *inst, const uint64_t in[], uint64_t *out) {
    bool known = true;
    if (inst->type == TYPE_f32) {
        float value[3];
        for (int i = 0; i < 3; i++) value[i] = flush(inst, ptx_f32(in[i]));
        uint64_t bits[3] = {ptx_f32_bits(value[0]), ptx_f32_bits(value[1]), 0};
        if (compute_bits(inst, bits, out)) return true;
        ptx_set_round(inst->round);
        volatile float result = compute_f32(inst, value[0], value[1], value[2], &known);
        ptx_set_round(ROUND_rn);
        if (inst->sat) result = (float)saturate((double)result);
        *out = isnan(result) ? UINT64_C(0x7fffffff) : ptx_f32_bits(flush(inst, result));
        return known;
    }
    if (compute_bits(inst, in, out)) return true;
    ptx_set_round(inst->round);
    volatile double result =
        compute_f64(inst, ptx_f64(in[0]), ptx_f64(in[1]), ptx_f64(in[2]), &known);
    ptx_set_round(ROUND_rn);
    *out = ptx_f64_bits(result);
    bool rough = inst->approx && inst->ftz; /* rcp.approx.ftz.f64 and its like */
    if (rough && fpclassify(ptx_f64(in[0])) == FP_SUBNORMAL)
        *out = ptx_f64_bits(copysign((double)INFINITY, ptx_f64(in[0])));
    if (rough && !isnan(result)) *out &= ~UINT64_C(0xffffffff);
    return known;
}

bool ptx_compare(const PtxInst *inst, uint64_t a, uint64_t b) {
    int order; /* -1, 0, 1, and 2: one is no number */
    if (ptx_type_kind(inst->type) == 'f') {
        bool single = inst->type == TYPE_f32;
        double x = single ? (double)flush(inst, ptx_f32(a)) : ptx_f64(a);
        double y = single ? (double)flush(inst, ptx_f32(b)) : ptx_f64(b);
        order = x < y ? -1 : x > y ? 1 : x == y ? 0 : 2;
    } else if (ptx_type_kind(inst->type) == 's') {
        int64_t x = (int64_t)ptx_extend(inst->type, a), y = (int64_t)ptx_extend(inst->type, b);
        order = x < y ? -1 : x > y;
    } else {
        uint64_t x = ptx_extend(inst->type, a), y = ptx_extend(inst->type, b);
        order = x < y ? -1 : x > y;
    }
    switch (inst->cmp) {
    case CMP_NONE: break;
    case CMP_eq: return order == 0;
    case CMP_ne: return order == -1 || order == 1;
    case CMP_lt:
    case CMP_lo: return order == -1;
    case CMP_le:
    case CMP_ls: return order == -1 || order == 0;
    case CMP_gt:
    case CMP_hi: return order == 1;
    case CMP_ge:
    case CMP_hs: return order == 1 || order == 0;
    case CMP_equ: return order == 0 || order == 2;
    case CMP_neu: return order != 0;
    case CMP_ltu: return order == -1 || order == 2;
    case CMP_leu: return order != 1;
    case CMP_gtu: return order == 1 || order == 2;
    case CMP_geu: return order != -1;
    case CMP_num: return order != 2;
    case CMP_nan: return order == 2;
    }
    return false;
}
