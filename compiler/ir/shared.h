/* Arrays that the invocations of a kernel on a device have in common (lower/kernel.c): parameters,
   and what adl__device_shared gives.  They are changed where they stand, so that an array's values
   follow one another, each made of the one before. */
#ifndef ADL_IR_SHARED_H
#define ADL_IR_SHARED_H

#include "base/bitset.h"
#include "ir/ir.h"

typedef enum IrShared {
    IR_SHARED_NONE, /* no such call */
    IR_SHARED_ARRAY,
    IR_SHARED_ZEROS, /* arrays of zeros, for which all invocations of the block wait */
    IR_SHARED_BARRIER,
    IR_SHARED_ADD
} IrShared;

/* Which of the calls INST is that have to do with such arrays, and its name. */
IrShared ir_shared_call(const IrInst *inst);
const char *ir_shared_name(IrShared call);

/* Is FUNC what each invocation of a kernel runs, not what one of them calls? */
bool ir_is_kernel(const IrFunc *func);

/* The first value, a parameter or a result of such a call, of the array of which VALUE is a later
   one; NULL: it is an array of the invocation. */
const IrValue *ir_shared_root(const IrValue *value);

/* Of what VALUE is, or shows a part. */
const IrValue *ir_shared_seen(const IrValue *value);

/* Is VALUE, in a kernel, such an array or a part of one, to which others may add at
   once? */
bool ir_is_shared(const IrValue *value);
/* ... and that is changed, so that a copy is not the array? */
bool ir_is_changing(const IrValue *value);

/* Does INST read such an array, so that it gives something else after a barrier? */
bool ir_reads_changing(const IrInst *inst);

/* Adds the roots, by id, of arrays that FUNC changes; none if it is no kernel. */
void ir_shared_changes(const IrFunc *func, Bitset *roots);

#endif
