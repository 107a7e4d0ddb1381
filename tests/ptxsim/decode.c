/* The names of instructions: "fma.rn.ftz.f32" into fields, checked against opcodes.def. */
#include "tests/ptxsim/ptx.h"

#include <string.h>

typedef struct OpRow {
    const char *name;
    unsigned operands, mods;
    const char *types;
} OpRow;

static const OpRow ops[] = {
#define OP(name, operands, mods, types) {#name, operands, mods, types},
#include "tests/ptxsim/opcodes.def"
#undef OP
};

static const struct {
    const char *name;
    char kind;
    unsigned bits;
} types[] = {{"", 0, 0},
#define X(name, kind, bits) {#name, kind, bits},
             PTX_TYPES(X)
#undef X
};

char ptx_type_kind(PtxType type) {
    return types[type].kind;
}
unsigned ptx_type_bits(PtxType type) {
    return types[type].bits;
}
const char *ptx_op_name(PtxOp op) {
    return ops[op].name;
}
unsigned ptx_op_operands(PtxOp op) {
    return ops[op].operands;
}

typedef struct ModRow {
    const char *name;
    unsigned class;
    unsigned value;
} ModRow;

static const ModRow mods[] = {
    {"rn", M_ROUND, ROUND_rn},
    {"rz", M_ROUND, ROUND_rz},
    {"rm", M_ROUND, ROUND_rm},
    {"rp", M_ROUND, ROUND_rp},
    {"rni", M_IROUND, ROUND_rn},
    {"rzi", M_IROUND, ROUND_rz},
    {"rmi", M_IROUND, ROUND_rm},
    {"rpi", M_IROUND, ROUND_rp},
    {"ftz", M_FTZ, 1},
    {"sat", M_SAT, 1},
    {"cc", M_CC, 1},
    {"lo", M_PART, PART_lo},
    {"hi", M_PART, PART_hi},
    {"wide", M_PART, PART_wide},
    {"approx", M_APPROX, 1},
    {"full", M_APPROX, 1},
    {"global", M_SPACE, SPACE_global},
    {"shared", M_SPACE, SPACE_shared},
    {"local", M_SPACE, SPACE_local},
    {"param", M_SPACE, SPACE_param},
    {"const", M_SPACE, SPACE_const},
    {"v2", M_VEC, 2},
    {"v4", M_VEC, 4},
    {"eq", M_CMP, CMP_eq},
    {"ne", M_CMP, CMP_ne},
    {"lt", M_CMP, CMP_lt},
    {"le", M_CMP, CMP_le},
    {"gt", M_CMP, CMP_gt},
    {"ge", M_CMP, CMP_ge},
    {"lo", M_CMP, CMP_lo},
    {"ls", M_CMP, CMP_ls},
    {"hi", M_CMP, CMP_hi},
    {"hs", M_CMP, CMP_hs},
    {"equ", M_CMP, CMP_equ},
    {"neu", M_CMP, CMP_neu},
    {"ltu", M_CMP, CMP_ltu},
    {"leu", M_CMP, CMP_leu},
    {"gtu", M_CMP, CMP_gtu},
    {"geu", M_CMP, CMP_geu},
    {"num", M_CMP, CMP_num},
    {"nan", M_CMP, CMP_nan},
    {"and", M_BOOL, BOOL_and},
    {"or", M_BOOL, BOOL_or},
    {"xor", M_BOOL, BOOL_xor},
    {"nc", M_NC, 1},
    {"volatile", M_ORDER, ORDER_plain},
    {"weak", M_ORDER, ORDER_plain},
    {"relaxed", M_ORDER, ORDER_strong},
    {"acquire", M_ORDER, ORDER_strong},
    {"release", M_ORDER, ORDER_strong},
    {"acq_rel", M_ORDER, ORDER_strong},
    {"sc", M_ORDER, ORDER_strong},
    {"cta", M_SCOPE, 1},
    {"gpu", M_SCOPE, 1},
    {"sys", M_SCOPE, 1},
    {"gl", M_SCOPE, 1},
    {"cluster", M_SCOPE, 1},
    {"add", M_ATOM, ATOM_add},
    {"min", M_ATOM, ATOM_min},
    {"max", M_ATOM, ATOM_max},
    {"and", M_ATOM, ATOM_and},
    {"or", M_ATOM, ATOM_or},
    {"xor", M_ATOM, ATOM_xor},
    {"exch", M_ATOM, ATOM_exch},
    {"cas", M_ATOM, ATOM_cas},
    {"inc", M_ATOM, ATOM_inc},
    {"dec", M_ATOM, ATOM_dec},
    {"uni", M_UNI, 1},
    {"l", M_SHIFT, 0},
    {"r", M_SHIFT, 1},
    {"wrap", M_CLAMP, 0},
    {"clamp", M_CLAMP, 1},
    {"up", M_SHFL, SHFL_up},
    {"down", M_SHFL, SHFL_down},
    {"bfly", M_SHFL, SHFL_bfly},
    {"idx", M_SHFL, SHFL_idx},
    {"sync", M_SYNC, 0},
    {"aligned", M_SYNC, 0},
    {"cta", M_SYNC, 0},
    {"warp", M_SYNC, 1},
    {"all", M_SYNC, 0},
    {"to", M_TO, 1},
    {"NaN", M_NAN, 1},
    {"finite", M_TESTP, TESTP_finite},
    {"infinite", M_TESTP, TESTP_infinite},
    {"number", M_TESTP, TESTP_number},
    {"notanumber", M_TESTP, TESTP_notanumber},
    {"normal", M_TESTP, TESTP_normal},
    {"subnormal", M_TESTP, TESTP_subnormal},
    {"shiftamt", M_SHIFTAMT, 1},
    {"idx", M_IDX, 1},
};

static void set_mod(PtxInst *inst, const ModRow *mod) {
    inst->given |= mod->class;
    switch (mod->class) {
    case M_ROUND: inst->round = mod->value; break;
    case M_IROUND: inst->iround = mod->value; break;
    case M_FTZ: inst->ftz = true; break;
    case M_SAT: inst->sat = true; break;
    case M_CC: inst->cc = true; break;
    case M_PART: inst->part = mod->value; break;
    case M_APPROX: inst->approx = true; break;
    case M_SPACE: inst->space = mod->value; break;
    case M_VEC: inst->vec = mod->value; break;
    case M_CMP: inst->cmp = mod->value; break;
    case M_BOOL: inst->combine = mod->value; break;
    case M_NC: inst->noncoherent = true; break;
    case M_ORDER: inst->order = mod->value; break;
    case M_ATOM: inst->atom = mod->value; break;
    case M_SHIFT: inst->right = mod->value; break;
    case M_CLAMP: inst->clamp = mod->value; break;
    case M_SHFL: inst->shfl = mod->value; break;
    case M_SYNC: inst->warp |= mod->value; break;
    case M_TO: inst->to = true; break;
    case M_NAN: inst->propagate_nan = true; break;
    case M_TESTP: inst->testp = mod->value; break;
    case M_SHIFTAMT: inst->shiftamt = true; break;
    default: break; /* scopes and the like change nothing here */
    }
}

static bool is(const char *name, const char *text, size_t len) {
    return strlen(name) == len && memcmp(name, text, len) == 0;
}

/* Does the list of kinds have TYPE?  See opcodes.def. */
static bool takes(const char *kinds, PtxType type) {
    char kind = ptx_type_kind(type);
    unsigned bits = ptx_type_bits(type);
    for (; *kinds; kinds++) {
        bool integer = kind == 'u' || kind == 's';
        bool real = kind == 'f' && bits > 16;
        switch (*kinds) {
        case 'B':
            if (kind == 'b' && bits >= 16) return true;
            break;
        case 'I':
            if (integer && bits >= 16) return true;
            break;
        case 'i':
            if (integer && bits >= 32) return true;
            break;
        case 'F':
            if (real) return true;
            break;
        case 'S':
            if (type == TYPE_f32) return true;
            break;
        case 'H':
            if (type == TYPE_f16) return true;
            break;
        case 'P':
            if (type == TYPE_pred) return true;
            break;
        case 'W':
            if (type == TYPE_b32) return true;
            break;
        case 'Q':
            if (type == TYPE_b64) return true;
            break;
        case 'm':
            if (kind == 'b' || integer || real) return true;
            break;
        default: break;
        }
    }
    return false;
}

static bool take_type(PtxInst *inst, const char *text, size_t len) {
    for (unsigned t = 1; t < sizeof types / sizeof *types; t++)
        if (is(types[t].name, text, len)) {
            if (inst->source) return false;
            *(inst->type ? &inst->source : &inst->type) = t;
            return true;
        }
    return false;
}

static bool take_mod(PtxInst *inst, unsigned classes, const char *text, size_t len) {
    for (unsigned m = 0; m < sizeof mods / sizeof *mods; m++)
        if ((mods[m].class & classes) && is(mods[m].name, text, len) &&
            (!(inst->given & mods[m].class) || mods[m].class == M_SYNC ||
             (mods[m].class == M_ORDER && inst->order == ORDER_plain))) {
            set_mod(inst, &mods[m]);
            return true;
        }
    return false;
}

static bool is_float(PtxType type) {
    return ptx_type_kind(type) == 'f';
}

/* Suffixes that must stand there, or must not, for the type that the instruction has. */
static const char *missing(const PtxInst *inst) {
    bool real = is_float(inst->type);
    switch (inst->op) {
    case OP_mul:
    case OP_mad:
    case OP_madc:
        if (!real && !inst->part) return "lo, hi or wide is missing";
        if (real && inst->part) return "floats have no lo, hi and wide";
        if (inst->op == OP_mad && real && !inst->round) return "a rounding is missing";
        if (inst->cc && inst->part == PART_wide) return "wide leaves no carry";
        return NULL;
    case OP_fma: return inst->round ? NULL : "a rounding is missing";
    case OP_div:
    case OP_rcp:
    case OP_sqrt: return !real || inst->round || inst->approx ? NULL : "a rounding is missing";
    case OP_ex2:
    case OP_lg2:
    case OP_sin:
    case OP_cos:
    case OP_tanh:
    case OP_rsqrt: return inst->approx ? NULL : "approx is missing";
    case OP_setp: return inst->cmp ? NULL : "a comparison is missing";
    case OP_atom:
    case OP_red: return inst->atom ? NULL : "an operation is missing";
    case OP_shfl: return inst->shfl ? NULL : "up, down, bfly or idx is missing";
    case OP_testp: return inst->testp ? NULL : "a property is missing";
    case OP_isspacep: return inst->space ? NULL : "a space is missing";
    case OP_cvta: return inst->space ? NULL : "a space is missing";
    case OP_cvt:
        if (!inst->source) return "a second type is missing";
        if (real && is_float(inst->source) && inst->type != inst->source && !inst->round &&
            ptx_type_bits(inst->type) < ptx_type_bits(inst->source))
            return "a rounding is missing";
        if (real && !is_float(inst->source) && !inst->round) return "a rounding is missing";
        if (!real && is_float(inst->source) && !inst->iround) return "a rounding is missing";
        return NULL;
    default: return NULL;
    }
}

void ptx_decode(PtxInst *inst, const char *mnemonic, size_t len, PtxFailure *failure) {
    const char *end = mnemonic + len;
    const char *at = memchr(mnemonic, '.', len);
    if (!at) at = end;
    unsigned op = 0;
    while (op < OP_COUNT && !is(ops[op].name, mnemonic, (size_t)(at - mnemonic))) op++;
    if (op == OP_COUNT)
        ptx_fail(failure, inst->line, "unknown instruction '%.*s'", (int)len, mnemonic);
    inst->op = op;
    inst->vec = 1;
    while (at < end) {
        const char *part = at + 1;
        at = memchr(part, '.', (size_t)(end - part));
        if (!at) at = end;
        size_t part_len = (size_t)(at - part);
        if (!take_mod(inst, ops[op].mods, part, part_len) && !take_type(inst, part, part_len))
            ptx_fail(failure, inst->line, "'%s' has no '.%.*s' (in '%.*s')", ops[op].name,
                     (int)part_len, part, (int)len, mnemonic);
    }
    bool typed = ops[op].types[0] != '\0';
    bool fits = typed ? inst->type && takes(ops[op].types, inst->type) : !inst->type;
    if (inst->source && op != OP_cvt) fits = false;
    if (inst->source && op == OP_cvt) fits = fits && takes(ops[op].types, inst->source);
    if (!fits)
        ptx_fail(failure, inst->line, "'%s' does not take the type of '%.*s'", ops[op].name,
                 (int)len, mnemonic);
    const char *lacks = missing(inst);
    if (lacks) ptx_fail(failure, inst->line, "%s in '%.*s'", lacks, (int)len, mnemonic);
}
