/* Scalar operations with the checks that the language asks for. */
#include "lower/internal.h"

#include <math.h>

static IrScalar scalar_of(Type type) {
    return ir_of_scalar(type->scalar);
}

/* A 16-bit float is calculated with as f32. */
static IrValue *widen(Fn *f, IrValue *x) {
    return scalar_is_store(x->type->scalar) ? irb_cast(&f->b, x, IR_F32) : x;
}

Vals scalar_const(Fn *f, Type type, int64_t i, double d) {
    if (type->kind == TYPE_SCALAR && scalar_is_complex(type->scalar)) {
        IrScalar part = type->scalar == SCALAR_C64 ? IR_F32 : IR_F64;
        Vals both = vals_new(f->lw, 2);
        both.at[0] = irb_scalar_const(&f->b, part, i, d);
        both.at[1] = irb_scalar_const(&f->b, part, 0, 0.0);
        return both;
    }
    CHECK_INTERNAL(type->kind == TYPE_SCALAR);
    IrScalar scalar = scalar_of(type);
    if (scalar_is_store(scalar))
        return vals_one(f->lw, irb_cast(&f->b, irb_scalar_const(&f->b, IR_F32, i, d), scalar));
    return vals_one(f->lw, irb_scalar_const(&f->b, scalar, i, d));
}

/* ---- integers ---- */

static void check_divisor(Fn *f, IrValue *y, const char *text) {
    IrValue *zero = irb_zero(&f->b, y->type->scalar);
    emit_check(f, emit_binary(f, IR_NE, y, zero), LOWER_ERROR_DOMAIN, text, 0, NULL);
}

static IrValue *int_const_like(Fn *f, IrValue *x, int64_t value) {
    return irb_scalar_const(&f->b, x->type->scalar, value, 0);
}

/* Overflow of signed additions, subtractions and products, under --check. */
static void check_overflow(Fn *f, IrOp op, IrValue *x, IrValue *y, IrValue *r) {
    IrScalar scalar = x->type->scalar;
    IrValue *ok;
    if (!f->lw->options->check_overflow || !scalar_is_integer(scalar) || !ir_scalar_signed(scalar))
        return;
    IrValue *zero = irb_zero(&f->b, scalar);
    if (op == IR_ADD) {
        IrValue *a = emit_binary(f, IR_XOR, x, r), *b = emit_binary(f, IR_XOR, y, r);
        ok = emit_binary(f, IR_GE, emit_binary(f, IR_AND, a, b), zero);
    } else if (op == IR_SUB) {
        IrValue *a = emit_binary(f, IR_XOR, x, y), *b = emit_binary(f, IR_XOR, x, r);
        ok = emit_binary(f, IR_GE, emit_binary(f, IR_AND, a, b), zero);
    } else {
        IrValue *high = emit_binary(f, IR_MULHI, x, y);
        IrValue *sign = int_const_like(f, x, (int64_t)ir_scalar_bytes(scalar) * 8 - 1);
        ok = emit_binary(f, IR_EQ, high, emit_binary(f, IR_SHR, r, sign));
    }
    emit_check(f, ok, LOWER_ERROR_OVERFLOW, "integer overflow", 0, NULL);
}

static IrValue *arithmetic(Fn *f, IrOp op, IrValue *x, IrValue *y) {
    IrValue *r = emit_binary(f, op, x, y);
    if (op == IR_ADD || op == IR_SUB || op == IR_MUL) check_overflow(f, op, x, y, r);
    return r;
}

static IrValue *shift(Fn *f, IrOp op, IrValue *x, IrValue *count) {
    IrScalar scalar = x->type->scalar;
    int64_t width = (int64_t)ir_scalar_bytes(scalar) * 8;
    IrValue *ok = emit_binary(f, IR_LT, count, int_const_like(f, count, width));
    if (ir_scalar_signed(count->type->scalar)) {
        IrValue *zero = irb_zero(&f->b, count->type->scalar);
        ok = emit_and(f, ok, emit_binary(f, IR_GE, count, zero));
    }
    emit_check(f, ok, LOWER_ERROR_DOMAIN, "the shift count {0} is out of range", 1, &count);
    return emit_binary(f, op, x, irb_cast(&f->b, count, scalar));
}

/* ---- powers ---- */

static bool small_exponent(const IrValue *y, int64_t *value) {
    double d;
    if (!ir_const_float(y, &d) || d != floor(d) || fabs(d) > 64.0) return false;
    *value = (int64_t)d;
    return true;
}

static IrValue *power(Fn *f, IrValue *x, IrValue *y) {
    IrScalar base = x->type->scalar;
    int64_t known;
    if (scalar_is_integer(y->type->scalar)) {
        IrValue *n = emit_to_i64(f, y);
        if (scalar_is_integer(base))
            emit_check(f, emit_binary(f, IR_GE, n, emit_int(f, 0)), LOWER_ERROR_DOMAIN,
                       "an integer to the negative power {0}", 1, &n);
        IrType type = x->type;
        IrValue *args[] = {x, n};
        return irb_inst(&f->b, IR_POWI, 2, args, 1, &type, 0)->results[0];
    }
    if (small_exponent(y, &known)) return power(f, x, emit_int(f, known));
    IrValue *args[] = {x, irb_cast(&f->b, y, base)};
    return irb_math(&f->b, IR_MATH_POW, args);
}

/* ---- operators ---- */

static IrValue *binary_op(Fn *f, AstOp op, IrValue *x, IrValue *y) {
    bool ints = scalar_is_integer(x->type->scalar);
    switch ((int)op) {
    case AST_OP_ADD: return arithmetic(f, IR_ADD, x, y);
    case AST_OP_SUB: return arithmetic(f, IR_SUB, x, y);
    case AST_OP_MUL: return arithmetic(f, IR_MUL, x, y);
    case AST_OP_DIV:
        if (ints) check_divisor(f, y, "integer division by zero");
        return emit_binary(f, IR_DIV, x, y);
    case AST_OP_MOD:
        if (ints) check_divisor(f, y, "integer remainder by zero");
        return emit_binary(f, IR_MOD, x, y);
    case AST_OP_POW: return power(f, x, y);
    case AST_OP_EQ: return emit_binary(f, IR_EQ, x, y);
    case AST_OP_NE: return emit_binary(f, IR_NE, x, y);
    case AST_OP_LT: return emit_binary(f, IR_LT, x, y);
    case AST_OP_LE: return emit_binary(f, IR_LE, x, y);
    case AST_OP_GT: return emit_binary(f, IR_GT, x, y);
    case AST_OP_GE: return emit_binary(f, IR_GE, x, y);
    case AST_OP_AND: return emit_and(f, x, y);
    case AST_OP_OR: return emit_or(f, x, y);
    default: UNREACHABLE("operator %d on scalars", op);
    }
}

static IrValue *unary_op(Fn *f, AstOp op, IrValue *x) {
    if (op == AST_OP_NOT) return emit_not(f, x);
    CHECK_INTERNAL(op == AST_OP_NEG);
    if (scalar_is_integer(x->type->scalar))
        return arithmetic(f, IR_SUB, int_const_like(f, x, 0), x);
    return irb_unary(&f->b, IR_NEG, x);
}

Vals scalar_op(Fn *f, AstOp op, Type result, const Type *types, const Vals *args) {
    bool unary = op == AST_OP_NEG || op == AST_OP_NOT;
    if (type_is_complex(types[0]) || (!unary && type_is_complex(types[1])))
        return complex_op(f, op, result, types, args);
    IrValue *x = widen(f, args[0].at[0]);
    if (unary) return vals_one(f->lw, unary_op(f, op, x));
    IrValue *y = widen(f, args[1].at[0]);
    if (x->type->kind == IR_T_STR) {
        IrValue *equal = scalar_equal(f, types[0], args[0], args[1]);
        return vals_one(f->lw, op == AST_OP_EQ ? equal : emit_not(f, equal));
    }
    return vals_one(f->lw, binary_op(f, op, x, y));
}

/* ---- equality of whole values ---- */

static bool all_scalars(const Shape *shape) {
    for (uint32_t i = 0; i < shape->n; i++)
        if (shape->leaf[i].kind == IR_T_ARRAY || shape->leaf[i].kind == IR_T_TAPE) return false;
    return true;
}

static IrValue *leaf_equal(Fn *f, IrValue *a, IrValue *b) {
    if (a->type->kind == IR_T_SCALAR) return emit_binary(f, IR_EQ, widen(f, a), widen(f, b));
    IrType type = ir_scalar(f->lw->module, IR_BOOL);
    IrValue *pair[] = {a, b};
    return irb_runtime(&f->b, "str_equal", 2, pair, 1, &type)->results[0];
}

IrValue *scalar_equal(Fn *f, Type type, Vals a, Vals b) {
    if (!all_scalars(shape_of(f->lw, type)) || a.n != b.n) return NULL;
    IrValue *equal = emit_bool(f, true);
    for (uint32_t i = 0; i < a.n; i++) equal = emit_and(f, equal, leaf_equal(f, a.at[i], b.at[i]));
    return equal;
}

/* ---- built-in scalar functions ---- */

Vals scalar_math(Fn *f, int32_t row, Type result, const Type *types, const Vals *args) {
    IrValue *values[3];
    IrMath fn = (IrMath)row;
    IrScalar scalar = scalar_of(result);
    (void)types;
    if (scalar_is_store(scalar)) scalar = IR_F32;
    for (uint32_t i = 0; i < ir_math_arity(fn); i++)
        values[i] = irb_cast(&f->b, args[i].at[0], scalar);
    IrValue *value = irb_math(&f->b, fn, values);
    return vals_one(f->lw, irb_cast(&f->b, value, scalar_of(result)));
}

static IrValue *absolute(Fn *f, IrValue *x) {
    IrScalar scalar = x->type->scalar;
    if (scalar_is_integer(scalar) && !ir_scalar_signed(scalar)) return x;
    return irb_unary(&f->b, IR_ABS, x);
}

Vals scalar_builtin(Fn *f, int32_t row, Type result, const Type *types, const Vals *args) {
    IrValue *x = widen(f, args[0].at[0]);
    IrValue *y = args[1].at ? widen(f, args[1].at[0]) : NULL;
    IrValue *r = NULL;
    (void)types;
    switch (row) {
    case ROW_REM:
        check_divisor(f, y, "integer remainder by zero");
        r = emit_binary(f, IR_REM, x, y);
        break;
    case ROW_BAND: r = emit_binary(f, IR_AND, x, y); break;
    case ROW_BOR: r = emit_binary(f, IR_OR, x, y); break;
    case ROW_BXOR: r = emit_binary(f, IR_XOR, x, y); break;
    case ROW_BNOT: r = emit_not(f, x); break;
    case ROW_SHL: r = shift(f, IR_SHL, x, y); break;
    case ROW_SHR: r = shift(f, IR_SHR, x, y); break;
    case ROW_MULHI: r = emit_binary(f, IR_MULHI, x, y); break;
    case ROW_ABS: r = absolute(f, x); break;
    case ROW_MIN2: r = emit_binary(f, IR_MIN, x, y); break;
    case ROW_MAX2: r = emit_binary(f, IR_MAX, x, y); break;
    default: UNREACHABLE("row %d is no scalar function", row);
    }
    if (scalar_is_real_float(r->type->scalar)) r = irb_cast(&f->b, r, scalar_of(result));
    return vals_one(f->lw, r);
}

/* ---- conversions ---- */

/* The least and the first too large value of an integer type, as doubles. */
static void int_bounds(IrScalar to, double *least, double *beyond) {
    int bits = (int)ir_scalar_bytes(to) * 8;
    bool sign = ir_scalar_signed(to);
    *least = sign ? -ldexp(1.0, bits - 1) : 0.0;
    *beyond = ldexp(1.0, sign ? bits - 1 : bits);
}

/* To an integer, with what is out of range at the nearest bound and NaN 0. */
static IrValue *saturate(Fn *f, IrValue *x, IrScalar to) {
    double least, beyond;
    int_bounds(to, &least, &beyond);
    int bits = (int)ir_scalar_bytes(to) * 8;
    IrValue *low = irb_scalar_const(&f->b, IR_F64, 0, least);
    IrValue *high = irb_scalar_const(&f->b, IR_F64, 0, beyond);
    IrValue *above = emit_binary(f, IR_GE, x, high);
    IrValue *below = emit_binary(f, IR_LT, x, low);
    IrValue *number = emit_binary(f, IR_EQ, x, x);
    IrValue *zero = irb_scalar_const(&f->b, IR_F64, 0, 0.0);
    IrValue *inside = emit_and(f, number, emit_not(f, emit_or(f, above, below)));
    IrValue *value = irb_cast(&f->b, irb_select(&f->b, inside, x, zero), to);
    int64_t most = ir_scalar_signed(to) ? (int64_t)(UINT64_MAX >> (65 - bits)) : -1;
    int64_t min = ir_scalar_signed(to) ? -most - 1 : 0;
    value = irb_select(&f->b, above, irb_scalar_const(&f->b, to, most, 0), value);
    return irb_select(&f->b, below, irb_scalar_const(&f->b, to, min, 0), value);
}

static IrValue *float_to_int(Fn *f, IrValue *x, IrScalar to) {
    double least, beyond;
    IrValue *wide = irb_cast(&f->b, x, IR_F64);
    if (f->lw->options->unchecked) return saturate(f, wide, to);
    int_bounds(to, &least, &beyond);
    /* Truncation: all above least - 1 is in range; for 64 bits least - 1 is no double. */
    bool exact = least - 1.0 != least;
    IrValue *low = irb_scalar_const(&f->b, IR_F64, 0, exact ? least - 1.0 : least);
    IrValue *high = irb_scalar_const(&f->b, IR_F64, 0, beyond);
    IrValue *ok = emit_and(f, emit_binary(f, exact ? IR_GT : IR_GE, wide, low),
                           emit_binary(f, IR_LT, wide, high));
    emit_check(f, ok, LOWER_ERROR_DOMAIN,
               module_text(f->lw, "{0} cannot be converted to %s", ir_scalar_name(to)), 1, &wide);
    return irb_cast(&f->b, wide, to);
}

static IrValue *cast_leaf(Fn *f, IrValue *x, IrScalar to) {
    IrScalar from = x->type->scalar;
    if (from == to) return x;
    if (to == IR_BOOL) return emit_binary(f, IR_NE, x, irb_zero(&f->b, from));
    if (scalar_is_integer(to) && scalar_is_real_float(from))
        return float_to_int(f, widen(f, x), to);
    if (scalar_is_store(to) && !scalar_is_real_float(from)) x = irb_cast(&f->b, x, IR_F32);
    if (scalar_is_store(from) && !scalar_is_real_float(to)) x = irb_cast(&f->b, x, IR_F32);
    return irb_cast(&f->b, x, to);
}

Vals scalar_cast(Fn *f, Type to, Type from, Vals value) {
    if (!scalar_is_complex(to->scalar)) {
        CHECK_INTERNAL(!type_is_complex(from));
        return vals_one(f->lw, cast_leaf(f, value.at[0], scalar_of(to)));
    }
    IrScalar part = to->scalar == SCALAR_C64 ? IR_F32 : IR_F64;
    Vals both = vals_new(f->lw, 2);
    both.at[0] = cast_leaf(f, value.at[0], part);
    both.at[1] = value.n > 1 ? cast_leaf(f, value.at[1], part) : irb_zero(&f->b, part);
    return both;
}
