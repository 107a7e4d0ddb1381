/* Building of IR: instructions are put at the builder's place.  A builder starts as {0}.  Integers are
   folded where both operands are constants or one is neutral; floats never are. */
#ifndef ADL_IR_BUILD_H
#define ADL_IR_BUILD_H

#include "ir/ir.h"

struct IrBuilder {
    IrModule *module;
    IrFunc *func;
    IrRegion *region;
    IrInst *before;  /* NULL: at the region's end */
    Pos pos;         /* given to what is built */
};

void irb_at_end(IrBuilder *b, IrRegion *region);
void irb_before(IrBuilder *b, IrInst *inst); /* takes over its position, too */
/* The general form; everything below is made of it.  Regions are made empty. */
IrInst *irb_inst(IrBuilder *b, IrOp op, uint32_t noperands, IrValue *const *operands,
                 uint32_t nresults, const IrType *results, uint32_t nregions);
IrRegion *ir_region_new(IrFunc *func, IrInst *owner);
IrValue *ir_region_param(IrRegion *region, IrType type, const char *name);

IrValue *irb_int(IrBuilder *b, int64_t value);               /* an i64 */
IrValue *irb_bool(IrBuilder *b, bool value);
IrValue *irb_scalar_const(IrBuilder *b, IrScalar type, int64_t i, double f);
IrValue *irb_zero(IrBuilder *b, IrScalar type);
/* Zeros like x: a constant, or a BUILD over x's sizes. */
IrValue *irb_zeros_like(IrBuilder *b, IrValue *x);
/* The same of a TYPE that differs from x's in lanes. */
IrValue *irb_zeros_of(IrBuilder *b, IrType type, IrValue *x);
IrValue *irb_unary(IrBuilder *b, IrOp op, IrValue *a);
IrValue *irb_binary(IrBuilder *b, IrOp op, IrValue *x, IrValue *y); /* comparisons give bool */
IrValue *irb_select(IrBuilder *b, IrValue *c, IrValue *x, IrValue *y);
IrValue *irb_cast(IrBuilder *b, IrValue *x, IrScalar to);
IrValue *irb_math(IrBuilder *b, IrMath fn, IrValue *const *args);
/* N values side by side; one is itself.  These take arrays, too, and then go element by element. */
IrValue *irb_lanes(IrBuilder *b, uint32_t n, IrValue *const *values);
IrValue *irb_splat(IrBuilder *b, IrValue *x, uint32_t lanes);
/* One of them (of a value without lanes: itself), and their sum. */
IrValue *irb_lane(IrBuilder *b, IrValue *x, IrValue *lane);
IrValue *irb_lane_sum(IrBuilder *b, IrValue *x);
IrValue *irb_string(IrBuilder *b, const char *text);
IrInst *irb_if(IrBuilder *b, IrValue *c, uint32_t nresults, const IrType *results);
/* The body's parameters (t, carried...) are made; the caller fills it and ends it with a YIELD.
   Carried parameters and results have the types of INITS: if a size may change from trip to trip,
   set the types of both to one that does not know it. */
IrInst *irb_loop(IrBuilder *b, IrValue *count, uint32_t n, IrValue *const *inits, bool has_exit);
IrInst *irb_call(IrBuilder *b, IrFunc *func, IrValue *const *args);
IrInst *irb_yield(IrBuilder *b, uint32_t n, IrValue *const *values);
/* Folded where it is known: a constant, or what ir_known_dim gives. */
IrValue *irb_dim(IrBuilder *b, IrValue *x, uint32_t k);
/* The body's index parameters are made.  ELEMS: types that the body yields; INNER: their sizes. */
IrInst *irb_build(IrBuilder *b, uint32_t n, IrValue *const *sizes, uint32_t nresults,
                  const IrType *elems, uint32_t ninner, IrValue *const *inner);
/* Makes BUILD give VALUE of its body, too: the new result.  The N sizes of an array are visible outside. */
IrValue *ir_build_give(IrInst *build, IrValue *value, uint32_t n, IrValue *const *sizes);
/* Makes WITH, whose region ends with a YIELD, give VALUE of it, too. */
IrValue *ir_with_acc_give(IrInst *with, IrValue *value);
IrInst *irb_reduce(IrBuilder *b, IrReduce kind, uint32_t n, IrValue *const *sizes,
                   uint32_t nresults, IrValue *const *inits);
IrValue *irb_index(IrBuilder *b, IrValue *x, uint32_t n, IrValue *const *indices);
IrValue *irb_update(IrBuilder *b, IrValue *x, uint32_t n, IrValue *const *indices, IrValue *v);
IrValue *irb_slice(IrBuilder *b, IrValue *x, IrValue *const *start, IrValue *const *count,
                   IrValue *const *step);
IrValue *irb_assign(IrBuilder *b, IrValue *x, IrValue *const *start, IrValue *const *step,
                    IrValue *v);
IrValue *irb_transpose(IrBuilder *b, IrValue *x, const int64_t *perm);
IrValue *irb_reshape(IrBuilder *b, IrValue *x, uint32_t n, IrValue *const *sizes);
IrValue *irb_pack(IrBuilder *b, uint32_t n, IrValue *const *values);
IrValue *irb_concat(IrBuilder *b, uint32_t n, IrValue *const *values);
IrValue *irb_assume(IrBuilder *b, IrValue *x, IrValue *const *sizes);
IrValue *irb_argsort(IrBuilder *b, IrValue *x);
IrValue *irb_stop(IrBuilder *b, IrValue *x);
IrValue *irb_contract(IrBuilder *b, IrValue *x, IrValue *y, uint32_t flags);
/* The operations of this header take operands without lanes beside such with lanes.
   Element by element: a scalar operation, or a BUILD of it over the array's sizes (x or y may be a
   scalar beside an array).  Y is NULL for a unary operation. */
IrValue *irb_elementwise(IrBuilder *b, IrOp op, IrValue *x, IrValue *y);
/* The region's accumulator parameters are made; finals are the first results. */
IrInst *irb_with_acc(IrBuilder *b, uint32_t n, IrValue *const *inits, uint32_t nextra,
                     const IrType *extra);
void irb_acc_add(IrBuilder *b, IrValue *acc, uint32_t n, IrValue *const *indices, IrValue *v);
IrValue *irb_tape_new(IrBuilder *b);
IrValue *irb_tape_empty(IrBuilder *b, IrValue *tape); /* folded where it is known */
IrValue *irb_tape_push(IrBuilder *b, IrValue *tape, uint32_t n, IrValue *const *values);
IrInst *irb_tape_pop(IrBuilder *b, IrValue *tape, uint32_t n, const IrType *types);
/* The same for what TAPE_SUM can add. */
IrValue *irb_tape_push_typed(IrBuilder *b, IrValue *tape, uint32_t n, IrValue *const *values);
IrInst *irb_tape_pop_typed(IrBuilder *b, IrValue *tape, uint32_t n, const IrType *types);
IrValue *irb_tape_sum(IrBuilder *b, IrValue *x, IrValue *y);
void irb_check(IrBuilder *b, IrValue *cond, uint32_t error, const char *text, uint32_t n,
               IrValue *const *args);
void irb_check_index(IrBuilder *b, IrValue *i, IrValue *n, const char *name);
void irb_fail(IrBuilder *b, uint32_t error, IrValue *message);
IrInst *irb_runtime(IrBuilder *b, const char *name, uint32_t n, IrValue *const *args,
                    uint32_t nresults, const IrType *results);

#endif
