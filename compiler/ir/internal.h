/* What the files of this folder share and nobody else needs. */
#ifndef ADL_IR_INTERNAL_H
#define ADL_IR_INTERNAL_H

#include "ir/build.h"
#include "ir/ir.h"

/* A copy of N elements in the arena; NULL for none. */
void *ir_copy(Arena *arena, const void *elements, size_t n, size_t size);
/* A function without a body; NAME is made unique. */
IrFunc *ir_func_alloc(IrModule *module, const char *name, uint32_t nparams, const IrType *params,
                      const char *const *param_names, uint32_t nresults, const IrType *results);
/* Makes ir_deriv find FUNC, whose deriv is set. */
void ir_deriv_enter(IrFunc *func);
/* Does FUNC have the parameters and results that its deriv asks for? */
bool ir_deriv_fits(const IrFunc *func);
/* A value of FUNC, result INDEX of DEF or (DEF is NULL) a parameter. */
IrValue *ir_value_new(IrFunc *func, IrType type, IrInst *def, uint32_t index);
/* An unlinked instruction with empty operands, new results without a type, and empty regions. */
IrInst *ir_inst_alloc(IrFunc *func, IrOp op, uint32_t noperands, uint32_t nresults,
                      uint32_t nregions);
/* Into REGION, before BEFORE or (NULL) at its end. */
void ir_link(IrInst *inst, IrRegion *region, IrInst *before);
/* A constant of f32 or f64 as the text form has it. */
void ir_print_real(StrBuf *out, IrScalar scalar, double x);
/* The region of VALUE's definition. */
IrRegion *ir_home(const IrValue *value);
/* Does REGION enclose, or is it, INNER? */
bool ir_encloses(const IrRegion *region, const IrRegion *inner);

/* irb_lanes and irb_lane of arrays. */
IrValue *irb_lanes_of_arrays(IrBuilder *b, uint32_t n, IrValue *const *values);
IrValue *irb_lane_of_array(IrBuilder *b, IrValue *x, IrValue *lane);

#endif
