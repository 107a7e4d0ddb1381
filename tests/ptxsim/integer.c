#include "tests/ptxsim/scalar.h"

typedef unsigned __int128 Wide;

uint64_t ptx_truncate(PtxType type, uint64_t value) {
    unsigned bits = ptx_type_bits(type);
    return bits == 64 ? value : value & ((UINT64_C(1) << bits) - 1);
}

uint64_t ptx_extend(PtxType type, uint64_t value) {
    unsigned bits = ptx_type_bits(type);
    if (ptx_type_kind(type) != 's' || bits == 64) return ptx_truncate(type, value);
    uint64_t sign = UINT64_C(1) << (bits - 1);
    return (ptx_truncate(type, value) ^ sign) - sign;
}

/* All 128 bits of a product. */
static Wide product(bool is_signed, uint64_t a, uint64_t b) {
    return is_signed ? (Wide)((__int128)(int64_t)a * (int64_t)b) : (Wide)a * b;
}

static uint64_t part_of(const PtxInst *inst, Wide value) {
    return (uint64_t)(inst->part == PART_hi ? value >> ptx_type_bits(inst->type) : value);
}

static uint64_t add(const PtxInst *inst, uint64_t a, uint64_t b, bool in, bool *carry) {
    unsigned bits = ptx_type_bits(inst->type);
    Wide sum = (Wide)ptx_truncate(inst->type, a) + ptx_truncate(inst->type, b) + in;
    if (inst->cc) *carry = (sum >> bits) & 1;
    if (inst->sat) {
        int64_t exact = (int32_t)a + (int64_t)(int32_t)b;
        return (uint64_t)(exact > INT32_MAX ? INT32_MAX : exact < INT32_MIN ? INT32_MIN : exact);
    }
    return (uint64_t)sum;
}

/* A borrow is kept as a carry that is set. */
static uint64_t subtract(const PtxInst *inst, uint64_t a, uint64_t b, bool in, bool *carry) {
    unsigned bits = ptx_type_bits(inst->type);
    Wide difference = (Wide)ptx_truncate(inst->type, a) - ptx_truncate(inst->type, b) - in;
    if (inst->cc) *carry = (difference >> bits) & 1;
    if (inst->sat) {
        int64_t exact = (int32_t)a - (int64_t)(int32_t)b;
        return (uint64_t)(exact > INT32_MAX ? INT32_MAX : exact < INT32_MIN ? INT32_MIN : exact);
    }
    return (uint64_t)difference;
}

static uint64_t multiply_add(const PtxInst *inst, const uint64_t in[], bool carry_in, bool *carry) {
    bool is_signed = ptx_type_kind(inst->type) == 's';
    Wide wide = product(is_signed, in[0], in[1]);
    if (inst->part == PART_wide) return (uint64_t)wide + in[2];
    return add(inst, part_of(inst, wide), in[2], carry_in, carry);
}

static uint64_t divide(const PtxInst *inst, uint64_t a, uint64_t b, bool rest) {
    if (ptx_type_kind(inst->type) == 's') {
        __int128 x = (int64_t)a, y = (int64_t)b;
        return (uint64_t)(rest ? x % y : x / y);
    }
    return rest ? a % b : a / b;
}

static bool less(const PtxInst *inst, uint64_t a, uint64_t b) {
    return ptx_type_kind(inst->type) == 's' ? (int64_t)a < (int64_t)b : a < b;
}

static uint64_t reverse(uint64_t value, unsigned bits) {
    uint64_t result = 0;
    for (unsigned i = 0; i < bits; i++) result |= ((value >> i) & 1) << (bits - 1 - i);
    return result;
}

static unsigned leading(uint64_t value, unsigned bits) {
    unsigned count = 0;
    while (count < bits && !((value >> (bits - 1 - count)) & 1)) count++;
    return count;
}

static uint64_t extract(const PtxInst *inst, uint64_t a, uint64_t at, uint64_t len) {
    unsigned bits = ptx_type_bits(inst->type), last = bits - 1;
    unsigned pos = at & 0xff, count = len & 0xff;
    bool is_signed = ptx_type_kind(inst->type) == 's';
    unsigned top = pos + count - 1 < last ? pos + count - 1 : last;
    uint64_t sign = is_signed && count ? (a >> top) & 1 : 0;
    uint64_t result = 0;
    for (unsigned i = 0; i < bits; i++)
        result |= (i < count && pos + i <= last ? (a >> (pos + i)) & 1 : sign) << i;
    return result;
}

static uint64_t insert(const PtxInst *inst, const uint64_t in[]) {
    unsigned bits = ptx_type_bits(inst->type), pos = in[2] & 0xff, count = in[3] & 0xff;
    uint64_t result = in[1];
    for (unsigned i = 0; i < count && pos + i < bits; i++) {
        uint64_t bit = UINT64_C(1) << (pos + i);
        result = (result & ~bit) | (((in[0] >> i) & 1) << (pos + i));
    }
    return result;
}

static uint64_t find_top(const PtxInst *inst, uint64_t a) {
    unsigned bits = ptx_type_bits(inst->type);
    uint64_t value = ptx_truncate(inst->type, a);
    if (ptx_type_kind(inst->type) == 's' && (int64_t)a < 0) value = ptx_truncate(inst->type, ~a);
    if (!value) return UINT32_MAX;
    return inst->shiftamt ? leading(value, bits) : bits - 1 - leading(value, bits);
}

static uint64_t permute(uint64_t a, uint64_t b, uint64_t select) {
    uint64_t bytes = (a & 0xffffffff) | b << 32, result = 0;
    for (unsigned i = 0; i < 4; i++) {
        unsigned pick = (select >> (4 * i)) & 0xf;
        uint64_t byte = (bytes >> (8 * (pick & 7))) & 0xff;
        if (pick & 8) byte = byte & 0x80 ? 0xff : 0;
        result |= byte << (8 * i);
    }
    return result;
}

static uint64_t shift_funnel(const PtxInst *inst, const uint64_t in[]) {
    unsigned by = inst->clamp ? (in[2] < 32 ? (unsigned)in[2] : 32) : in[2] & 31;
    uint64_t both = (in[0] & 0xffffffff) | in[1] << 32;
    if (inst->right) return both >> by;
    return by == 32 ? in[0] : both << by >> 32;
}

static uint64_t table_of_three(const uint64_t in[]) {
    uint64_t result = 0;
    for (unsigned i = 0; i < 32; i++) {
        unsigned row = ((in[0] >> i) & 1) << 2 | ((in[1] >> i) & 1) << 1 | ((in[2] >> i) & 1);
        result |= ((in[3] >> row) & 1) << i;
    }
    return result;
}

static uint64_t shift_right(const PtxInst *inst, uint64_t a, uint64_t by) {
    unsigned bits = ptx_type_bits(inst->type);
    if (ptx_type_kind(inst->type) == 's') return (uint64_t)((int64_t)a >> (by < 63 ? by : 63));
    return by < bits ? a >> by : 0;
}

bool ptx_compute_integer(const PtxInst *inst, const uint64_t raw[], uint64_t *out, bool *carry) {
    unsigned bits = ptx_type_bits(inst->type);
    uint64_t in[PTX_OPERANDS];
    for (int i = 0; i < PTX_OPERANDS; i++) in[i] = ptx_extend(inst->type, raw[i]);
    uint64_t a = in[0], b = in[1];
    switch (inst->op) {
    case OP_abs: *out = (int64_t)a < 0 ? -a : a; return true;
    case OP_add: *out = add(inst, a, b, false, carry); return true;
    case OP_addc: *out = add(inst, a, b, *carry, carry); return true;
    case OP_sub: *out = subtract(inst, a, b, false, carry); return true;
    case OP_subc: *out = subtract(inst, a, b, *carry, carry); return true;
    case OP_mul: *out = part_of(inst, product(ptx_type_kind(inst->type) == 's', a, b)); return true;
    case OP_mad:
    case OP_madc:
        if (inst->part == PART_wide) in[2] = raw[2];
        *out = multiply_add(inst, in, inst->op == OP_madc && *carry, carry);
        return true;
    case OP_div: *out = divide(inst, a, b, false); return true;
    case OP_rem: *out = divide(inst, a, b, true); return true;
    case OP_neg: *out = -a; return true;
    case OP_min: *out = less(inst, b, a) ? b : a; return true;
    case OP_max: *out = less(inst, a, b) ? b : a; return true;
    case OP_sad: *out = in[2] + (less(inst, a, b) ? b - a : a - b); return true;
    case OP_and: *out = a & b; return true;
    case OP_or: *out = a | b; return true;
    case OP_xor: *out = a ^ b; return true;
    case OP_not: *out = ~a; return true;
    case OP_shl: *out = raw[1] < bits ? a << raw[1] : 0; return true;
    case OP_shr: *out = shift_right(inst, a, raw[1]); return true;
    case OP_shf: *out = shift_funnel(inst, in); return true;
    case OP_bfe: *out = extract(inst, a, raw[1], raw[2]); return true;
    case OP_bfi: *out = insert(inst, raw); return true;
    case OP_bfind: *out = find_top(inst, a); return true;
    case OP_brev: *out = reverse(a, bits); return true;
    case OP_clz: *out = leading(a, bits); return true;
    case OP_popc: *out = (unsigned)__builtin_popcountll(a); return true;
    case OP_prmt: *out = permute(a, b, in[2]); return true;
    case OP_lop3: *out = table_of_three(raw); return true;
    default: return false;
    }
}
