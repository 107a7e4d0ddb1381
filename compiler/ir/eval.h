/* The arithmetic of scalars at compile time: what the interpreter does and constant folding uses.
   Results are bit for bit what generated code computes, but for MATH, where the C library of this
   machine is asked. */
#ifndef ADL_IR_EVAL_H
#define ADL_IR_EVAL_H

#include "ir/ir.h"

/* Integers and bools in I, sign- or zero-extended to 64 bits by their type; f16 and bf16 as their
   bits in I; f32 and f64 in F. */
typedef union IrBits {
    int64_t i;
    double f;
} IrBits;

/* VALUE cut to the width of TYPE and extended again. */
int64_t ir_wrap(IrScalar type, int64_t value);
/* The scalar operation OP on operands of TYPE (of CAST: from TYPE to RESULT) with imm IMM.  False
   where it is not defined: a zero divisor, a shift by the width, an integer to a negative power, or
   an operation that TYPE does not have.  Of types with lanes: in one lane. */
bool ir_eval(IrOp op, IrScalar type, IrScalar result, int64_t imm, const IrBits *args, IrBits *out);
double ir_eval_math(IrMath fn, bool single, const double *args);
/* 16-bit floats: BITS of mantissa, 10 (f16) or 7 (bf16). */
double ir_half_to_double(uint16_t half, int bits);
uint16_t ir_half_from_double(double x, int bits);

#endif
