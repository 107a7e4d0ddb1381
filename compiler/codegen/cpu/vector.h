/* Bodies computed for several places at once. */
#ifndef ADL_CODEGEN_CPU_VECTOR_H
#define ADL_CODEGEN_CPU_VECTOR_H

#include "codegen/cpu/gen.h"

/* Can REGION be computed for SUM_LANES neighbours along its parameter LANE? */
bool vector_can(Fn *f, const IrRegion *region, uint32_t lane);
/* Does so; the parameter is FIRST in the first lane, the other ones are set already.  What the
   region yields goes to VALUES, as vectors. */
void vector_body(Fn *f, const IrRegion *region, uint32_t lane, LLVMValueRef first,
                 LLVMValueRef *values);
/* SCALAR in all lanes. */
LLVMValueRef vector_splat(Emit *e, LLVMValueRef scalar);

#endif
