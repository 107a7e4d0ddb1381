/* Arithmetic of complex numbers on their parts. */
#include "lower/internal.h"

typedef struct Complex {
    IrValue *re, *im; /* im NULL: a real number */
} Complex;

static Complex take(Fn *f, Type type, Vals vals, IrScalar part) {
    Complex c = {vals.at[0], type_is_complex(type) ? vals.at[1] : NULL};
    c.re = irb_cast(&f->b, c.re, part);
    if (c.im) c.im = irb_cast(&f->b, c.im, part);
    return c;
}

static Vals give(Fn *f, Complex c) {
    Vals both = vals_new(f->lw, 2);
    both.at[0] = c.re;
    both.at[1] = c.im ? c.im : irb_zero(&f->b, c.re->type->scalar);
    return both;
}

static IrValue *times(Fn *f, IrValue *x, IrValue *y) {
    return emit_binary(f, IR_MUL, x, y);
}

static IrValue *over(Fn *f, IrValue *x, IrValue *y) {
    return emit_binary(f, IR_DIV, x, y);
}

static IrValue *negative(Fn *f, IrValue *x) {
    return irb_unary(&f->b, IR_NEG, x);
}

static Complex complex_add(Fn *f, IrOp op, Complex a, Complex b) {
    Complex c = {emit_binary(f, op, a.re, b.re), a.im};
    if (a.im && b.im) c.im = emit_binary(f, op, a.im, b.im);
    else if (b.im) c.im = op == IR_ADD ? b.im : negative(f, b.im);
    return c;
}

static Complex complex_mul(Fn *f, Complex a, Complex b) {
    if (!a.im) return (Complex){times(f, a.re, b.re), times(f, a.re, b.im)};
    if (!b.im) return (Complex){times(f, a.re, b.re), times(f, a.im, b.re)};
    IrValue *re = emit_sub(f, times(f, a.re, b.re), times(f, a.im, b.im));
    IrValue *im = emit_add(f, times(f, a.re, b.im), times(f, a.im, b.re));
    return (Complex){re, im};
}

/* Smith's method: the quotient of the divisor's parts is at most 1, so nothing overflows early. */
typedef struct Smith {
    Complex a, b;
    uint32_t re, im;
} Smith;

static void smith_side(Fn *f, bool real_is_larger, void *data) {
    Smith *s = data;
    Complex a = s->a, b = s->b, q;
    if (real_is_larger) {
        IrValue *r = over(f, b.im, b.re);
        IrValue *den = emit_add(f, b.re, times(f, b.im, r));
        q.re = a.im ? emit_add(f, a.re, times(f, a.im, r)) : a.re;
        q.im = a.im ? emit_sub(f, a.im, times(f, a.re, r)) : negative(f, times(f, a.re, r));
        q = (Complex){over(f, q.re, den), over(f, q.im, den)};
    } else {
        IrValue *r = over(f, b.re, b.im);
        IrValue *den = emit_add(f, b.im, times(f, b.re, r));
        q.re = a.im ? emit_add(f, times(f, a.re, r), a.im) : times(f, a.re, r);
        q.im = a.im ? emit_sub(f, times(f, a.im, r), a.re) : negative(f, a.re);
        q = (Complex){over(f, q.re, den), over(f, q.im, den)};
    }
    env_set(f, s->re, vals_one(f->lw, q.re));
    env_set(f, s->im, vals_one(f->lw, q.im));
}

static const Shape *part_shape(Fn *f, const IrValue *part) {
    TypeTable *types = f->lw->program->types;
    Scalar scalar = part->type->scalar == IR_F32 ? SCALAR_F32 : SCALAR_F64;
    return shape_of(f->lw, type_scalar(types, scalar));
}

static Complex complex_div(Fn *f, Complex a, Complex b) {
    if (!b.im) return (Complex){over(f, a.re, b.re), a.im ? over(f, a.im, b.re) : NULL};
    Smith smith = {a, b, env_new_slot(f, part_shape(f, a.re)),
                   env_new_slot(f, part_shape(f, a.re))};
    SlotSet set = {0};
    slots_add(&set, smith.re);
    slots_add(&set, smith.im);
    IrValue *larger =
        emit_binary(f, IR_GE, irb_unary(&f->b, IR_ABS, b.re), irb_unary(&f->b, IR_ABS, b.im));
    merge_if(f, larger, &set, smith_side, &smith);
    vec_free(&set);
    return (Complex){env_get(f, smith.re).at[0], env_get(f, smith.im).at[0]};
}

static Complex complex_one(Fn *f, IrScalar part) {
    return (Complex){irb_scalar_const(&f->b, part, 1, 1.0), irb_zero(&f->b, part)};
}

enum { UNROLLED_POWER = 16 };

static Complex power_known(Fn *f, Complex x, int64_t n) {
    Complex r = {NULL, NULL};
    for (uint64_t left = (uint64_t)(n < 0 ? -n : n); left; left >>= 1) {
        if (left & 1) r = r.re ? complex_mul(f, r, x) : x;
        if (left > 1) x = complex_mul(f, x, x);
    }
    if (!r.re) return complex_one(f, x.re->type->scalar);
    return n < 0 ? complex_div(f, complex_one(f, x.re->type->scalar), r) : r;
}

/* |n| multiplications: x ** n with n known at run time. */
static Complex power_loop(Fn *f, Complex x, IrValue *n) {
    IrScalar part = x.re->type->scalar;
    Complex one = complex_one(f, part);
    IrValue *inits[] = {one.re, one.im};
    IrInst *loop = irb_loop(&f->b, irb_unary(&f->b, IR_ABS, n), 2, inits, false);
    IrRegion *outside = f->b.region;
    irb_at_end(&f->b, loop->regions[0]);
    Complex so_far = {loop->regions[0]->params[1], loop->regions[0]->params[2]};
    Complex next = complex_mul(f, so_far, x);
    IrValue *yields[] = {next.re, next.im};
    irb_yield(&f->b, 2, yields);
    irb_at_end(&f->b, outside);
    Complex r = {loop->results[0], loop->results[1]};
    Complex inverse = complex_div(f, one, r);
    IrValue *below = emit_binary(f, IR_LT, n, emit_int(f, 0));
    return (Complex){irb_select(&f->b, below, inverse.re, r.re),
                     irb_select(&f->b, below, inverse.im, r.im)};
}

static IrValue *math1(Fn *f, IrMath fn, IrValue *x) {
    return irb_math(&f->b, fn, &x);
}

static IrValue *math2(Fn *f, IrMath fn, IrValue *x, IrValue *y) {
    IrValue *args[] = {x, y};
    return irb_math(&f->b, fn, args);
}

/* exp(y log x), with the principal value of the logarithm. */
static Complex power_general(Fn *f, Complex x, Complex y) {
    IrValue *zero = irb_zero(&f->b, x.re->type->scalar);
    Complex log = {math1(f, IR_MATH_LOG, math2(f, IR_MATH_HYPOT, x.re, x.im ? x.im : zero)),
                   math2(f, IR_MATH_ATAN2, x.im ? x.im : zero, x.re)};
    Complex e = complex_mul(f, y, log);
    IrValue *r = math1(f, IR_MATH_EXP, e.re);
    return (Complex){times(f, r, math1(f, IR_MATH_COS, e.im)),
                     times(f, r, math1(f, IR_MATH_SIN, e.im))};
}

static Vals complex_power(Fn *f, const Type *types, const Vals *args, IrScalar part) {
    Complex x = take(f, types[0], args[0], part);
    if (scalar_is_int(types[1]->scalar)) {
        IrValue *n = emit_to_i64(f, args[1].at[0]);
        int64_t known;
        if (ir_const_int(n, &known) && known <= UNROLLED_POWER && known >= -UNROLLED_POWER)
            return give(f, power_known(f, x, known));
        return give(f, power_loop(f, x, n));
    }
    return give(f, power_general(f, x, take(f, types[1], args[1], part)));
}

Vals complex_op(Fn *f, AstOp op, Type result, const Type *types, const Vals *args) {
    IrScalar part = args[0].at[0]->type->scalar;
    if (type_is_complex(result)) part = result->scalar == SCALAR_C64 ? IR_F32 : IR_F64;
    if (op == AST_OP_POW) return complex_power(f, types, args, part);
    Complex a = take(f, types[0], args[0], part);
    if (op == AST_OP_NEG) return give(f, (Complex){negative(f, a.re), negative(f, a.im)});
    Complex b = take(f, types[1], args[1], part);
    switch ((int)op) {
    case AST_OP_ADD: return give(f, complex_add(f, IR_ADD, a, b));
    case AST_OP_SUB: return give(f, complex_add(f, IR_SUB, a, b));
    case AST_OP_MUL: return give(f, complex_mul(f, a, b));
    case AST_OP_DIV: return give(f, complex_div(f, a, b));
    case AST_OP_EQ:
    case AST_OP_NE: {
        Vals x = give(f, a), y = give(f, b);
        IrValue *equal = emit_and(f, emit_binary(f, IR_EQ, x.at[0], y.at[0]),
                                  emit_binary(f, IR_EQ, x.at[1], y.at[1]));
        return vals_one(f->lw, op == AST_OP_EQ ? equal : emit_not(f, equal));
    }
    default: UNREACHABLE("operator %d on complex numbers", op);
    }
}
