/* What instructions on numbers compute: integers and bits in integer.c, floats in float.c,
   conversions in convert.c. */
#ifndef ADL_PTXSIM_SCALAR_H
#define ADL_PTXSIM_SCALAR_H

#include "tests/ptxsim/ptx.h"

/* A register.  unknown: the line that read memory which nobody wrote, or gave the value first;
   what is computed from such a value is unknown, and to use it as an address, for a branch or as an
   answer is a failure. */
typedef struct PtxValue {
    uint64_t bits;
    uint32_t unknown;
} PtxValue;

/* OUT from the operands IN, of their types' widths; out[1] is the q of "p|q".  *carry is CC.CF.
   False: not an instruction on numbers. */
bool ptx_compute(const PtxInst *inst, const PtxValue in[PTX_OPERANDS], PtxValue out[2],
                 bool *carry);

bool ptx_compute_integer(const PtxInst *inst, const uint64_t in[], uint64_t *out, bool *carry);
bool ptx_compute_float(const PtxInst *inst, const uint64_t in[], uint64_t *out);
bool ptx_compare(const PtxInst *inst, uint64_t a, uint64_t b);
uint64_t ptx_convert(const PtxInst *inst, uint64_t from);

/* One step of an atomic operation: the new value of a cell. */
uint64_t ptx_combine(const PtxInst *inst, uint64_t old, uint64_t b, uint64_t c);

/* The lowest bits of VALUE, as TYPE has them: signs are extended. */
uint64_t ptx_truncate(PtxType type, uint64_t value);
uint64_t ptx_extend(PtxType type, uint64_t value);

float ptx_f32(uint64_t bits);
double ptx_f64(uint64_t bits);
uint64_t ptx_f32_bits(float value);
uint64_t ptx_f64_bits(double value);
void ptx_set_round(PtxRound round);

#endif
