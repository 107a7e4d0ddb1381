/* The code generator for NVIDIA GPUs: exported kernels to PTX.

   An entry's function has been lowered for one invocation (lower/kernel.c).  Arrays are the
   caller's memory and are changed where they stand, so that each has one value at a time: an older
   one may not be used any more (Val.version), which is an error that names the place. */
#ifndef ADL_CODEGEN_PTX_GEN_H
#define ADL_CODEGEN_PTX_GEN_H

#include "base/map.h"
#include "codegen/codegen.h"
#include "codegen/common/emit.h"
#include "codegen/common/machine.h"
#include "codegen/ptx/generate.h"

/* Memory of which a kernel's arrays are values. */
typedef struct Root {
    uint32_t version; /* of its value at hand */
    bool shared;
    bool written; /* somewhere in the kernel */
} Root;

typedef struct Val {
    LLVMValueRef at; /* a scalar itself, or the address of elements */
    LLVMValueRef dims[IR_MAX_RANK];
    Root *root; /* of arrays */
    uint32_t version;
    bool alone; /* of accumulators: no other invocation adds to the same cells */
} Val;

typedef struct Ptx {
    Emit e;
    const IrModule *ir;
    const CodegenOptions *options;
    Arena *arena;
    LLVMValueRef entry;
    uint32_t rank; /* indices of the kernel */
    LLVMBasicBlockRef trap; /* where failed checks go; NULL until needed */
    const char *missing;    /* a function of libdevice that is called */
    char **error;           /* the first one; then nothing that is made counts */
    Pos pos;
} Ptx;

/* One function that is being put into the entry. */
typedef struct Body {
    Ptx *g;
    const struct Body *caller;
    const IrFunc *func;
    Val *vals; /* by value id */
} Body;

/* Reports that the instruction at hand cannot be compiled. */
void ptx_refuse(Ptx *g, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The body of FUNC on ARGS; the operands of its YIELD go to RESULTS. */
void ptx_inline(Ptx *g, const Body *caller, const IrFunc *func, const Val *args, Val *results);
Val ptx_array(Ptx *g, LLVMValueRef at, IrType type, LLVMValueRef const *open_dims, bool shared);

#endif
