/* Reductions: what the CPU's and the device's share. */
#ifndef ADL_CODEGEN_CPU_REDUCE_H
#define ADL_CODEGEN_CPU_REDUCE_H

#include "codegen/cpu/gen.h"
#include "codegen/ptx/regions.h"

typedef struct Reduction {
    Fn *f;
    const IrInst *inst;
    IrReduce kind;
    uint32_t n; /* dimensions */
    uint32_t results;
    LLVMValueRef at[IR_MAX_RANK];
    Val *accs;          /* of array results: where they add up */
    LLVMValueRef *flat; /* of ARGMIN, ARGMAX: the place so far */
    const Val *parts;   /* from the device: by result, of BLOCKS of the innermost dimension */
    LLVMValueRef blocks;
} Reduction;

/* A sum or product of floats, whose order counts? */
bool reduce_is_ordered(const Reduction *r);
/* The results of a reduction to numbers. */
void reduce_scalars(Reduction *r, LLVMValueRef *values);

/* ---- reduce-device.c ---- */
/* The innermost dimension from R's parts. */
void reduce_parts(Reduction *r, LLVMValueRef *sums);
/* The same as reduce_scalars, on the device where that is to be. */
void reduce_on_device(Reduction *r, const DeviceKernel *kernel, LLVMValueRef *values);

#endif
