/* What each operation asks of its operands, results, attributes and regions. */
#include "ir/verify.h"

#include <string.h>

#include "ir/eval.h"

/* ---- pieces ---- */

static IrType type_of(const IrInst *inst, uint32_t i) {
    return inst->operands[i]->type;
}

static bool counts(Verifier *v, const IrInst *inst, uint32_t noperands, uint32_t nresults) {
    return ir_need(v, inst, inst->noperands == noperands, "has %u operands, not %u",
                   inst->noperands, noperands) &&
           ir_need(v, inst, inst->nresults == nresults, "has %u results, not %u", inst->nresults,
                   nresults);
}

static bool at_least(Verifier *v, const IrInst *inst, uint64_t n) {
    return ir_need(v, inst, inst->noperands >= n, "has too few operands");
}

static bool operand_is(Verifier *v, const IrInst *inst, uint32_t i, IrScalar scalar) {
    return ir_need(v, inst, ir_is_scalar(type_of(inst, i), scalar), "operand %u is no %s", i,
                   ir_scalar_name(scalar));
}

static bool operands_i64(Verifier *v, const IrInst *inst, uint32_t from, uint32_t to) {
    for (uint32_t i = from; i < to; i++)
        if (!operand_is(v, inst, i, IR_I64)) return false;
    return true;
}

static bool operand_array(Verifier *v, const IrInst *inst, uint32_t i) {
    return ir_need(v, inst, type_of(inst, i)->kind == IR_T_ARRAY, "operand %u is no array", i);
}

static bool fits(Verifier *v, const IrInst *inst, IrType is, IrType wanted, const char *what,
                 uint32_t i) {
    if (ir_compatible(is, wanted)) return true;
    StrBuf text = {0};
    ir_print_type(&text, is);
    strbuf_add(&text, ", not ");
    ir_print_type(&text, wanted);
    ir_need(v, inst, false, "%s %u is %s", what, i, text.text);
    strbuf_free(&text);
    return false;
}

static bool operand_fits(Verifier *v, const IrInst *inst, uint32_t i, IrType wanted) {
    return fits(v, inst, type_of(inst, i), wanted, "operand", i);
}

static bool result_fits(Verifier *v, const IrInst *inst, uint32_t i, IrType wanted) {
    return fits(v, inst, inst->results[i]->type, wanted, "result", i);
}

/* Constant sizes among operands FROM... must agree with what TYPE knows of dimensions K.... */
static bool sizes_fit(Verifier *v, const IrInst *inst, uint32_t from, uint32_t n, IrType type,
                      uint32_t k) {
    for (uint32_t i = 0; i < n; i++) {
        int64_t size;
        if (!operand_is(v, inst, from + i, IR_I64)) return false;
        if (!ir_const_int(inst->operands[from + i], &size) || type->dims[k + i] < 0) continue;
        if (!ir_need(v, inst, size == type->dims[k + i], "dimension %u is another in the type",
                     k + i))
            return false;
    }
    return true;
}

/* ---- regions ---- */

static bool params_are(Verifier *v, const IrInst *inst, uint32_t r, uint32_t n) {
    return ir_need(v, inst, inst->regions[r]->nparams == n, "region has %u parameters, not %u",
                   inst->regions[r]->nparams, n);
}

static bool index_params(Verifier *v, const IrInst *inst, uint32_t n) {
    const IrRegion *region = inst->regions[0];
    for (uint32_t i = 0; i < n; i++)
        if (!ir_need(v, inst, ir_is_scalar(region->params[i]->type, IR_I64),
                     "parameter %u of the region is no i64", i))
            return false;
    return true;
}

static bool yields(Verifier *v, const IrInst *inst, uint32_t r, uint32_t n) {
    const IrInst *yield = inst->regions[r]->last;
    return ir_need(v, inst, yield->noperands == n, "region %u yields %u values, not %u", r,
                   yield->noperands, n);
}

static bool yield_fits(Verifier *v, const IrInst *inst, uint32_t r, uint32_t i, IrType wanted) {
    return fits(v, inst, type_of(inst->regions[r]->last, i), wanted, "yielded value", i);
}

/* ---- scalars ---- */

enum { BOOLS = 1, INTS = 2, FLOATS = 4, HALVES = 8 };

static uint32_t class_of(IrType type) {
    if (type->kind != IR_T_SCALAR) return 0;
    switch (ir_scalar_base(type->scalar)) {
    case IR_BOOL: return BOOLS;
    case IR_F32:
    case IR_F64: return FLOATS;
    case IR_F16:
    case IR_BF16: return HALVES;
    case IR_C64:
    case IR_C128:
    case IR_SCALAR_COUNT: return 0;
    case IR_I8:
    case IR_I16:
    case IR_I32:
    case IR_I64:
    case IR_U8:
    case IR_U16:
    case IR_U32:
    case IR_U64: break;
    }
    return INTS;
}

static bool operand_class(Verifier *v, const IrInst *inst, uint32_t i, uint32_t classes) {
    return ir_need(v, inst, (class_of(type_of(inst, i)) & classes) != 0,
                   "operand %u has a type that this operation does not take", i);
}

static bool verify_const(Verifier *v, const IrInst *inst) {
    if (!counts(v, inst, 0, 1)) return false;
    IrType type = inst->results[0]->type;
    if (!ir_need(v, inst, class_of(type) != 0, "a constant is a real scalar")) return false;
    if (ir_scalar_base(type->scalar) == IR_F32)
        return ir_need(v, inst, inst->fimm != inst->fimm || (double)(float)inst->fimm == inst->fimm,
                       "the constant is no f32");
    return ir_scalar_float(type->scalar) ||
           ir_need(v, inst, ir_wrap(type->scalar, inst->imm) == inst->imm,
                   "the constant does not fit its type");
}

/* Operations that work on lanes. */
static bool takes_lanes(IrOp op) {
    switch ((int)op) {
    case IR_NEG:
    case IR_ADD:
    case IR_SUB:
    case IR_MUL:
    case IR_DIV:
    case IR_AND:
    case IR_OR:
    case IR_XOR:
    case IR_NOT:
    case IR_MULADD:
    case IR_SELECT:
    case IR_CAST: return true;
    default: return ir_is_comparison(op);
    }
}

static bool is_lanes(IrType type) {
    return ir_scalar_lanes(type->scalar) > 1;
}

/* Floats and bools only, as many in each operand that has some as in the result. */
static bool lanes_fit(Verifier *v, const IrInst *inst) {
    uint32_t most = 1, of_result = ir_scalar_lanes(inst->results[0]->type->scalar);
    for (uint32_t i = 0; i < inst->noperands; i++) {
        uint32_t lanes = ir_scalar_lanes(type_of(inst, i)->scalar);
        if (lanes == 1) continue;
        if (!ir_need(v, inst, takes_lanes(inst->op), "does not work on lanes") ||
            !ir_need(v, inst, class_of(type_of(inst, i)) & (BOOLS | FLOATS), "lanes of integers") ||
            !ir_need(v, inst, most == 1 || most == lanes, "operands have %u and %u lanes", most,
                     lanes))
            return false;
        most = lanes;
    }
    return ir_need(v, inst, most == of_result, "the result has %u lanes, not %u", of_result, most);
}

/* Is TYPE, but for its lanes, the scalar type WANTED? */
static bool is_like(Verifier *v, IrType type, IrType wanted) {
    return type->kind == IR_T_SCALAR && ir_scalar(v->module, ir_scalar_base(type->scalar)) ==
                                            ir_scalar(v->module, ir_scalar_base(wanted->scalar));
}

/* N operands of one type out of CLASSES, but for lanes; the result is like them, or a bool. */
static bool alike(Verifier *v, const IrInst *inst, uint32_t n, uint32_t classes) {
    if (!counts(v, inst, n, 1)) return false;
    for (uint32_t i = 0; i < n; i++)
        if (!operand_class(v, inst, i, classes) ||
            !(is_like(v, type_of(inst, i), type_of(inst, 0)) ||
              operand_fits(v, inst, i, type_of(inst, 0))))
            return false;
    IrType result = inst->results[0]->type;
    if (ir_is_comparison(inst->op)
            ? !ir_need(v, inst, is_like(v, result, ir_scalar(v->module, IR_BOOL)),
                       "the result is no bool")
            : !is_like(v, result, type_of(inst, 0)) && !result_fits(v, inst, 0, type_of(inst, 0)))
        return false;
    return lanes_fit(v, inst);
}

static bool verify_powi(Verifier *v, const IrInst *inst) {
    return counts(v, inst, 2, 1) && operand_class(v, inst, 0, INTS | FLOATS) &&
           operand_is(v, inst, 1, IR_I64) && result_fits(v, inst, 0, type_of(inst, 0)) &&
           lanes_fit(v, inst);
}

static bool verify_select(Verifier *v, const IrInst *inst) {
    return counts(v, inst, 3, 1) &&
           ir_need(v, inst, (class_of(type_of(inst, 0)) & BOOLS) != 0, "operand 0 is no bool") &&
           operand_class(v, inst, 1, BOOLS | INTS | FLOATS | HALVES) &&
           ir_need(v, inst,
                   is_like(v, type_of(inst, 2), type_of(inst, 1)) &&
                       is_like(v, inst->results[0]->type, type_of(inst, 1)),
                   "chooses between values of two types") &&
           lanes_fit(v, inst);
}

static bool verify_cast(Verifier *v, const IrInst *inst) {
    return counts(v, inst, 1, 1) && operand_class(v, inst, 0, BOOLS | INTS | FLOATS | HALVES) &&
           ir_need(v, inst, class_of(inst->results[0]->type) != 0,
                   "the result is no real scalar") &&
           ir_need(v, inst,
                   !is_lanes(type_of(inst, 0)) || ir_scalar_float(inst->results[0]->type->scalar),
                   "lanes of floats become such") &&
           lanes_fit(v, inst);
}

/* LANES: operands and the result; the others the other way round. */
static bool verify_lanes(Verifier *v, const IrInst *inst) {
    uint32_t n = inst->noperands;
    if (!ir_need(v, inst, n > 1 && n <= IR_MAX_LANES, "makes %u lanes", n) ||
        !counts(v, inst, n, 1))
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (!operand_class(v, inst, i, BOOLS | FLOATS) ||
            !operand_fits(v, inst, i, type_of(inst, 0)))
            return false;
    return ir_need(v, inst, !is_lanes(type_of(inst, 0)), "makes lanes of lanes") &&
           result_fits(v, inst, 0,
                       ir_scalar(v->module, ir_scalar_with(type_of(inst, 0)->scalar, n)));
}

static bool verify_lane(Verifier *v, const IrInst *inst) {
    bool is_sum = inst->op == IR_LANE_SUM;
    return counts(v, inst, is_sum ? 1 : 2, 1) &&
           operand_class(v, inst, 0, is_sum ? FLOATS : BOOLS | FLOATS) &&
           ir_need(v, inst, is_lanes(type_of(inst, 0)), "operand 0 has no lanes") &&
           (is_sum || operand_is(v, inst, 1, IR_I64)) &&
           result_fits(v, inst, 0, ir_scalar(v->module, ir_scalar_base(type_of(inst, 0)->scalar)));
}

static bool verify_math(Verifier *v, const IrInst *inst) {
    return ir_need(v, inst, inst->imm >= 0 && inst->imm < IR_MATH_COUNT, "unknown function") &&
           alike(v, inst, ir_math_arity((IrMath)inst->imm), FLOATS);
}

static bool verify_string(Verifier *v, const IrInst *inst) {
    return counts(v, inst, 0, 1) && ir_need(v, inst, inst->text != NULL, "has no text") &&
           ir_need(v, inst, inst->results[0]->type->kind == IR_T_STR, "the result is no str");
}

/* ---- control ---- */

static bool verify_if(Verifier *v, const IrInst *inst) {
    if (!counts(v, inst, 1, inst->nresults) || !operand_is(v, inst, 0, IR_BOOL)) return false;
    for (uint32_t r = 0; r < 2; r++) {
        if (!params_are(v, inst, r, 0) || !yields(v, inst, r, inst->nresults)) return false;
        for (uint32_t i = 0; i < inst->nresults; i++)
            if (!yield_fits(v, inst, r, i, inst->results[i]->type)) return false;
    }
    return true;
}

static bool verify_loop(Verifier *v, const IrInst *inst) {
    uint32_t n = inst->nresults, exit = inst->flags & IR_LOOP_EXIT ? 1 : 0;
    if (!counts(v, inst, n + 1, n) || !operand_is(v, inst, 0, IR_I64) ||
        !params_are(v, inst, 0, n + 1) || !index_params(v, inst, 1) ||
        !yields(v, inst, 0, n + exit))
        return false;
    const IrRegion *body = inst->regions[0];
    if (exit && !ir_need(v, inst, ir_is_scalar(type_of(body->last, 0), IR_BOOL),
                         "the loop yields no bool first"))
        return false;
    for (uint32_t i = 0; i < n; i++) {
        IrType type = body->params[i + 1]->type;
        if (!operand_fits(v, inst, i + 1, type) || !yield_fits(v, inst, 0, i + exit, type) ||
            !result_fits(v, inst, i, type))
            return false;
    }
    return true;
}

static bool verify_call(Verifier *v, const IrInst *inst) {
    const IrFunc *func = inst->func;
    if (!ir_need(v, inst, func && func->module == v->module, "calls no function of the module") ||
        !counts(v, inst, func->nparams, func->nresults))
        return false;
    for (uint32_t i = 0; i < func->nparams; i++)
        if (!operand_fits(v, inst, i, func->params[i])) return false;
    for (uint32_t i = 0; i < func->nresults; i++)
        if (!result_fits(v, inst, i, func->results[i])) return false;
    return true;
}

/* ---- parallel regions ---- */

/* The first imm operands are sizes, the region takes as many indices. */
static bool index_space(Verifier *v, const IrInst *inst) {
    return ir_need(v, inst, inst->imm >= 1 && inst->imm <= IR_MAX_RANK, "has %d sizes",
                   (int)inst->imm) &&
           at_least(v, inst, (uint64_t)inst->imm) &&
           operands_i64(v, inst, 0, (uint32_t)inst->imm) &&
           params_are(v, inst, 0, (uint32_t)inst->imm) &&
           index_params(v, inst, (uint32_t)inst->imm) && yields(v, inst, 0, inst->nresults);
}

static bool verify_build(Verifier *v, const IrInst *inst) {
    uint32_t n = (uint32_t)inst->imm, at = n;
    if (!index_space(v, inst)) return false;
    if (!ir_need(v, inst, inst->nints == inst->nresults, "does not know its ranks")) return false;
    for (uint32_t r = 0; r < inst->nresults; r++) {
        IrType type = inst->results[r]->type;
        int64_t inner = inst->ints[r];
        if (!ir_need(v, inst,
                     type->kind == IR_T_ARRAY && inner >= 0 && inner <= IR_MAX_RANK &&
                         type->rank == n + inner,
                     "result %u has the wrong rank", r) ||
            !at_least(v, inst, at + (uint64_t)inner) || !sizes_fit(v, inst, 0, n, type, 0) ||
            !sizes_fit(v, inst, at, (uint32_t)inner, type, n) ||
            !yield_fits(v, inst, 0, r, ir_type_inner(v->module, type, n)))
            return false;
        at += (uint32_t)inner;
    }
    return counts(v, inst, at, inst->nresults);
}

static bool verify_arg_reduce(Verifier *v, const IrInst *inst) {
    return counts(v, inst, (uint32_t)inst->imm, 1) &&
           ir_need(v, inst, ir_is_scalar(inst->results[0]->type, IR_I64), "the result is no i64") &&
           ir_need(v, inst,
                   (class_of(type_of(inst->regions[0]->last, 0)) & (INTS | FLOATS)) != 0 &&
                       !is_lanes(type_of(inst->regions[0]->last, 0)),
                   "what is yielded cannot be compared");
}

static bool verify_reduce(Verifier *v, const IrInst *inst) {
    if (!ir_need(v, inst, inst->flags <= IR_ARGMAX, "unknown kind of reduction") ||
        !index_space(v, inst))
        return false;
    if (inst->flags >= IR_ARGMIN) return verify_arg_reduce(v, inst);
    uint32_t n = (uint32_t)inst->imm;
    if (!counts(v, inst, n + inst->nresults, inst->nresults)) return false;
    for (uint32_t r = 0; r < inst->nresults; r++) {
        IrType type = type_of(inst, n + r);
        bool logical = inst->flags == IR_ALL || inst->flags == IR_ANY;
        bool value = type->kind == IR_T_SCALAR || type->kind == IR_T_ARRAY;
        uint32_t cls = value ? class_of(ir_scalar(v->module, type->scalar)) : 0;
        if (!ir_need(v, inst, (cls & (logical ? BOOLS : INTS | FLOATS)) != 0,
                     "operand %u cannot be reduced so", n + r) ||
            !ir_need(v, inst, inst->flags == IR_SUM || ir_scalar_lanes(type->scalar) == 1,
                     "lanes can only be summed") ||
            !yield_fits(v, inst, 0, r, type) || !result_fits(v, inst, r, type))
            return false;
    }
    return true;
}

/* ---- parts of arrays ---- */

static bool verify_dim(Verifier *v, const IrInst *inst) {
    return counts(v, inst, 1, 1) && operand_array(v, inst, 0) &&
           ir_need(v, inst, inst->imm >= 0 && inst->imm < type_of(inst, 0)->rank,
                   "there is no such dimension") &&
           ir_need(v, inst, ir_is_scalar(inst->results[0]->type, IR_I64), "the result is no i64");
}

static bool indices_fit(Verifier *v, const IrInst *inst, uint32_t n) {
    return ir_need(v, inst, n <= type_of(inst, 0)->rank, "has too many indices") &&
           operands_i64(v, inst, 1, n + 1);
}

static bool verify_index(Verifier *v, const IrInst *inst) {
    uint32_t n = inst->noperands - 1;
    return at_least(v, inst, 2) && counts(v, inst, n + 1, 1) && operand_array(v, inst, 0) &&
           indices_fit(v, inst, n) &&
           result_fits(v, inst, 0, ir_type_inner(v->module, type_of(inst, 0), n));
}

static bool verify_update(Verifier *v, const IrInst *inst) {
    uint32_t n = inst->noperands - 2;
    return at_least(v, inst, 3) && counts(v, inst, n + 2, 1) && operand_array(v, inst, 0) &&
           indices_fit(v, inst, n) &&
           operand_fits(v, inst, n + 1, ir_type_inner(v->module, type_of(inst, 0), n)) &&
           result_fits(v, inst, 0, type_of(inst, 0));
}

static bool verify_slice(Verifier *v, const IrInst *inst) {
    if (!at_least(v, inst, 1) || !operand_array(v, inst, 0)) return false;
    IrType type = type_of(inst, 0);
    return counts(v, inst, 1 + 3 * type->rank, 1) && operands_i64(v, inst, 1, inst->noperands) &&
           result_fits(v, inst, 0, ir_array(v->module, type->scalar, type->rank, NULL)) &&
           sizes_fit(v, inst, 1 + type->rank, type->rank, inst->results[0]->type, 0);
}

static bool verify_assign(Verifier *v, const IrInst *inst) {
    if (!at_least(v, inst, 2) || !operand_array(v, inst, 0)) return false;
    IrType type = type_of(inst, 0);
    uint32_t last = inst->noperands - 1;
    return counts(v, inst, 2 + 2 * type->rank, 1) && operands_i64(v, inst, 1, last) &&
           operand_fits(v, inst, last, ir_array(v->module, type->scalar, type->rank, NULL)) &&
           result_fits(v, inst, 0, type);
}

static bool verify_transpose(Verifier *v, const IrInst *inst) {
    int64_t dims[IR_MAX_RANK];
    uint32_t seen = 0;
    if (!counts(v, inst, 1, 1) || !operand_array(v, inst, 0)) return false;
    IrType type = type_of(inst, 0);
    if (!ir_need(v, inst, inst->nints == type->rank, "permutes %u dimensions, not %u", inst->nints,
                 type->rank))
        return false;
    for (uint32_t k = 0; k < type->rank; k++) {
        int64_t from = inst->ints[k];
        if (!ir_need(v, inst, from >= 0 && from < type->rank && !(seen >> from & 1),
                     "is no permutation"))
            return false;
        seen |= 1u << from;
        dims[k] = type->dims[from];
    }
    return result_fits(v, inst, 0, ir_array(v->module, type->scalar, type->rank, dims));
}

static bool verify_reshape(Verifier *v, const IrInst *inst) {
    uint32_t n = inst->noperands - 1;
    return at_least(v, inst, 2) && counts(v, inst, n + 1, 1) && operand_array(v, inst, 0) &&
           ir_need(v, inst, n <= IR_MAX_RANK, "has %u sizes", n) &&
           result_fits(v, inst, 0, ir_array(v->module, type_of(inst, 0)->scalar, n, NULL)) &&
           sizes_fit(v, inst, 1, n, inst->results[0]->type, 0);
}

static bool verify_assume(Verifier *v, const IrInst *inst) {
    if (!at_least(v, inst, 1) || !operand_array(v, inst, 0)) return false;
    IrType type = type_of(inst, 0);
    return counts(v, inst, 1 + type->rank, 1) && result_fits(v, inst, 0, type) &&
           sizes_fit(v, inst, 1, type->rank, inst->results[0]->type, 0);
}

/* ---- whole arrays ---- */

static bool verify_pack(Verifier *v, const IrInst *inst) {
    if (!at_least(v, inst, 1) || !counts(v, inst, inst->noperands, 1)) return false;
    IrType type = type_of(inst, 0);
    int64_t n = inst->noperands;
    if (!ir_need(v, inst,
                 (type->kind == IR_T_SCALAR || type->kind == IR_T_ARRAY) &&
                     type->rank < IR_MAX_RANK,
                 "operand 0 cannot be packed"))
        return false;
    for (uint32_t i = 1; i < inst->noperands; i++)
        if (!operand_fits(v, inst, i, type)) return false;
    return result_fits(v, inst, 0, ir_type_outer(v->module, type, 1, &n));
}

static bool verify_concat(Verifier *v, const IrInst *inst) {
    int64_t dims[IR_MAX_RANK];
    if (!at_least(v, inst, 1) || !counts(v, inst, inst->noperands, 1) || !operand_array(v, inst, 0))
        return false;
    IrType type = type_of(inst, 0);
    memcpy(dims, type->dims, sizeof dims);
    dims[0] = -1;
    IrType open = ir_array(v->module, type->scalar, type->rank, dims);
    for (uint32_t i = 1; i < inst->noperands; i++)
        if (!operand_fits(v, inst, i, open)) return false;
    return result_fits(v, inst, 0, open);
}

static bool verify_argsort(Verifier *v, const IrInst *inst) {
    if (!counts(v, inst, 1, 1) || !operand_array(v, inst, 0)) return false;
    IrType type = type_of(inst, 0);
    return ir_need(v, inst,
                   type->rank == 1 && !is_lanes(type) &&
                       class_of(ir_scalar(v->module, type->scalar)) & (INTS | FLOATS),
                   "operand 0 cannot be sorted") &&
           result_fits(v, inst, 0, ir_array(v->module, IR_I64, 1, type->dims));
}

static bool verify_contract(Verifier *v, const IrInst *inst) {
    int64_t dims[2];
    uint32_t rank = 0;
    if (!counts(v, inst, 2, 1) || !operand_array(v, inst, 0) || !operand_array(v, inst, 1))
        return false;
    IrType x = type_of(inst, 0), y = type_of(inst, 1);
    bool ta = inst->flags & IR_CONTRACT_TA, tb = inst->flags & IR_CONTRACT_TB;
    if (!ir_need(v, inst,
                 x->rank <= 2 && y->rank <= 2 &&
                     ir_scalar_base(x->scalar) == ir_scalar_base(y->scalar) &&
                     (!is_lanes(x) || !is_lanes(y) || x->scalar == y->scalar) &&
                     class_of(ir_scalar(v->module, x->scalar)) & (INTS | FLOATS),
                 "operands have no product") ||
        !ir_need(v, inst, (!ta || x->rank == 2) && (!tb || y->rank == 2),
                 "only a matrix can stand transposed"))
        return false;
    int64_t inner = x->dims[x->rank == 2 && !ta ? 1 : 0], other = y->dims[tb ? 1 : 0];
    if (!ir_need(v, inst, inner < 0 || other < 0 || inner == other, "inner dimensions differ"))
        return false;
    if (x->rank == 2) dims[rank++] = x->dims[ta ? 1 : 0];
    if (y->rank == 2) dims[rank++] = y->dims[tb ? 0 : 1];
    return result_fits(v, inst, 0,
                       ir_array(v->module, is_lanes(x) ? x->scalar : y->scalar, rank, dims));
}

/* ---- accumulators, tapes, effects ---- */

static bool verify_with_acc(Verifier *v, const IrInst *inst) {
    uint32_t n = inst->noperands;
    if (!ir_need(v, inst, inst->nresults >= n, "has %u results, but %u accumulators",
                 inst->nresults, n) ||
        !params_are(v, inst, 0, n) || !yields(v, inst, 0, inst->nresults - n))
        return false;
    for (uint32_t i = 0; i < n; i++) {
        IrType type = type_of(inst, i);
        if (!ir_need(v, inst,
                     (type->kind == IR_T_SCALAR || type->kind == IR_T_ARRAY) && ir_is_float(type),
                     "operand %u cannot be added to", i) ||
            !fits(v, inst, inst->regions[0]->params[i]->type, ir_acc(v->module, type), "parameter",
                  i) ||
            !result_fits(v, inst, i, type))
            return false;
    }
    for (uint32_t i = n; i < inst->nresults; i++)
        if (!yield_fits(v, inst, 0, i - n, inst->results[i]->type)) return false;
    return true;
}

static bool verify_acc_add(Verifier *v, const IrInst *inst) {
    uint32_t n = inst->noperands - 2;
    if (!at_least(v, inst, 2) || !counts(v, inst, n + 2, 0) ||
        !ir_need(v, inst, type_of(inst, 0)->kind == IR_T_ACC, "operand 0 is no accumulator"))
        return false;
    return indices_fit(v, inst, n) &&
           operand_fits(v, inst, n + 1, ir_type_inner(v->module, type_of(inst, 0), n));
}

static bool is_tape(Verifier *v, const IrInst *inst, IrType type, const char *what) {
    return ir_need(v, inst, type->kind == IR_T_TAPE, "%s 0 is no tape", what);
}

/* Typed entries hold what can be added. */
static bool can_be_added(Verifier *v, const IrInst *inst) {
    bool is_push = inst->op == IR_TAPE_PUSH;
    uint32_t n = is_push ? inst->noperands : inst->op == IR_TAPE_POP ? inst->nresults : 0;
    for (uint32_t i = 1; i < n && (inst->flags & IR_TAPE_TYPED); i++) {
        IrType type = is_push ? type_of(inst, i) : inst->results[i]->type;
        if (!ir_need(v, inst, ir_is_float(type) || type->kind == IR_T_TAPE, "value %u is no float",
                     i))
            return false;
    }
    return true;
}

static bool verify_tape(Verifier *v, const IrInst *inst) {
    uint32_t in = inst->op == IR_TAPE_NEW ? 0 : inst->op == IR_TAPE_POP ? 1 : inst->noperands;
    uint32_t out = inst->op == IR_TAPE_POP ? inst->nresults : 1;
    return (inst->op == IR_TAPE_NEW ||
            (at_least(v, inst, 1) && is_tape(v, inst, type_of(inst, 0), "operand"))) &&
           ir_need(v, inst, inst->nresults >= 1, "has no result") && counts(v, inst, in, out) &&
           is_tape(v, inst, inst->results[0]->type, "result") && can_be_added(v, inst);
}

static bool verify_tape_sum(Verifier *v, const IrInst *inst) {
    return counts(v, inst, 2, 1) && is_tape(v, inst, type_of(inst, 0), "operand") &&
           is_tape(v, inst, type_of(inst, 1), "operand") &&
           is_tape(v, inst, inst->results[0]->type, "result");
}

static bool verify_tape_empty(Verifier *v, const IrInst *inst) {
    return counts(v, inst, 1, 1) && is_tape(v, inst, type_of(inst, 0), "operand") &&
           ir_need(v, inst, ir_is_scalar(inst->results[0]->type, IR_BOOL), "gives no bool");
}

static bool verify_check(Verifier *v, const IrInst *inst) {
    if (!at_least(v, inst, 1) || !counts(v, inst, inst->noperands, 0) ||
        !operand_is(v, inst, 0, IR_BOOL) || !ir_need(v, inst, inst->text != NULL, "has no text"))
        return false;
    for (uint32_t i = 1; i < inst->noperands; i++) {
        IrTypeKind kind = type_of(inst, i)->kind;
        if (!ir_need(v, inst, kind == IR_T_SCALAR || kind == IR_T_STR,
                     "operand %u cannot stand in a message", i))
            return false;
    }
    return true;
}

static bool verify_fail(Verifier *v, const IrInst *inst) {
    return counts(v, inst, 1, 0) &&
           ir_need(v, inst, type_of(inst, 0)->kind == IR_T_STR, "operand 0 is no str");
}

static bool verify_stop(Verifier *v, const IrInst *inst) {
    return counts(v, inst, 1, 1) && result_fits(v, inst, 0, type_of(inst, 0));
}

bool ir_verify_op(Verifier *v, const IrInst *inst) {
    switch (inst->op) {
    case IR_CONST: return verify_const(v, inst);
    case IR_NEG:
    case IR_ABS: return alike(v, inst, 1, INTS | FLOATS);
    case IR_ADD:
    case IR_SUB:
    case IR_MUL:
    case IR_DIV:
    case IR_MOD:
    case IR_MIN:
    case IR_MAX:
    case IR_LT:
    case IR_LE:
    case IR_GT:
    case IR_GE: return alike(v, inst, 2, INTS | FLOATS);
    case IR_EQ:
    case IR_NE: return alike(v, inst, 2, BOOLS | INTS | FLOATS);
    case IR_AND:
    case IR_OR:
    case IR_XOR: return alike(v, inst, 2, BOOLS | INTS);
    case IR_NOT: return alike(v, inst, 1, BOOLS | INTS);
    case IR_REM:
    case IR_SHL:
    case IR_SHR:
    case IR_MULHI: return alike(v, inst, 2, INTS);
    case IR_MULADD: return alike(v, inst, 3, FLOATS);
    case IR_POWI: return verify_powi(v, inst);
    case IR_SELECT: return verify_select(v, inst);
    case IR_CAST: return verify_cast(v, inst);
    case IR_LANES: return verify_lanes(v, inst);
    case IR_LANE:
    case IR_LANE_SUM: return verify_lane(v, inst);
    case IR_MATH: return verify_math(v, inst);
    case IR_STRING: return verify_string(v, inst);
    case IR_YIELD: return counts(v, inst, inst->noperands, 0);
    case IR_IF: return verify_if(v, inst);
    case IR_LOOP: return verify_loop(v, inst);
    case IR_CALL: return verify_call(v, inst);
    case IR_DIM: return verify_dim(v, inst);
    case IR_BUILD: return verify_build(v, inst);
    case IR_REDUCE: return verify_reduce(v, inst);
    case IR_INDEX: return verify_index(v, inst);
    case IR_UPDATE: return verify_update(v, inst);
    case IR_SLICE: return verify_slice(v, inst);
    case IR_ASSIGN: return verify_assign(v, inst);
    case IR_TRANSPOSE: return verify_transpose(v, inst);
    case IR_RESHAPE: return verify_reshape(v, inst);
    case IR_PACK: return verify_pack(v, inst);
    case IR_CONCAT: return verify_concat(v, inst);
    case IR_ASSUME: return verify_assume(v, inst);
    case IR_ARGSORT: return verify_argsort(v, inst);
    case IR_CONTRACT: return verify_contract(v, inst);
    case IR_STOP: return verify_stop(v, inst);
    case IR_WITH_ACC: return verify_with_acc(v, inst);
    case IR_ACC_ADD: return verify_acc_add(v, inst);
    case IR_TAPE_NEW:
    case IR_TAPE_PUSH:
    case IR_TAPE_POP: return verify_tape(v, inst);
    case IR_TAPE_EMPTY: return verify_tape_empty(v, inst);
    case IR_TAPE_SUM: return verify_tape_sum(v, inst);
    case IR_CHECK: return verify_check(v, inst);
    case IR_CHECK_INDEX: return counts(v, inst, 2, 0) && operands_i64(v, inst, 0, 2);
    case IR_FAIL: return verify_fail(v, inst);
    case IR_RUNTIME: return ir_need(v, inst, inst->text != NULL, "has no name");
    case IR_OP_COUNT: break;
    }
    return ir_need(v, inst, false, "unknown operation");
}
