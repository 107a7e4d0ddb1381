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
    LLVMTargetMachineRef target;
    LLVMValueRef entry;
    uint32_t rank; /* indices of the kernel */
    const IrRegion *region; /* of a program's loop: its parameters are the indices */
    LLVMBasicBlockRef trap; /* where failed checks go; NULL until needed */
    const char *missing;    /* a function of libdevice that is called */
    char **error;           /* the first one; then nothing that is made counts */
    bool whole;             /* a program's loops, not its kernels: errors are remarks */
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
/* The body of a parallel loop, in whose function VALS, by value id, has all that it captures; what it
   yields goes to RESULTS. */
void ptx_region(Ptx *g, const IrRegion *region, Val *vals, Val *results);
/* Does no other invocation add to the cells of ACC that this one adds to, all in REGION? */
bool ptx_is_alone(Ptx *g, const IrRegion *region, const IrValue *acc);
Val ptx_array(Ptx *g, LLVMValueRef at, IrType type, LLVMValueRef const *open_dims, bool shared);


/* ---- module.c ---- */
/* Makes FN an entry for blocks of at most LIMIT invocations. */
void ptx_make_entry(Ptx *g, LLVMValueRef fn, int limit);
/* Marks parameter PARAM of the entry with the attribute NAME. */
void ptx_mark(const Ptx *g, unsigned param, const char *name);
/* Opens a generator with a new module; closes it. */
bool ptx_open(Ptx *g, const IrModule *ir, const CodegenOptions *options, char **error);
void ptx_close(Ptx *g);
/* Links what is missing, optimises, and writes the module's PTX to OUT. */
bool ptx_finish(Ptx *g, StrBuf *out);

#endif
