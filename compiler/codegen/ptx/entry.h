/* Entries of a program's loops: what maps and reductions share. */
#ifndef ADL_CODEGEN_PTX_ENTRY_H
#define ADL_CODEGEN_PTX_ENTRY_H

#include "codegen/ptx/gen.h"
#include "codegen/ptx/regions.h"

/* A loop over the indices of an axis that an invocation comes to. */
typedef struct Axis {
    LLVMBasicBlockRef head, done;
    LLVMValueRef i, step;
} Axis;

/* The builder then stands in the loop; behind it. */
void axis_open(Ptx *g, Axis *axis, char name, LLVMValueRef extent);
void axis_close(Ptx *g, Axis *axis);

typedef struct Entry {
    Ptx *g;
    DeviceKernel *kernel;
    Val *vals; /* by value id */
    LLVMValueRef extents[3];
    LLVMValueRef *outs;
    unsigned next; /* the parameter behind what is captured */
} Entry;

/* ---- region.c ---- */
/* Makes KERNEL's entry with GEN, which may refuse; then it is one of the program's kernels.  What
   became of WHAT is told as a remark. */
bool device_try(Ptx *g, DeviceKernel *kernel, Pos pos, const char *what,
                void (*gen)(Ptx *g, void *data), void *data);

/* ---- launch.c ---- */
/* The kernels of what the program launches. */
void launch_entries(DeviceCode *code, Ptx *g, Arena *arena);

/* ---- reduce.c ---- */
/* The body of the entry of a REDUCE. */
void entry_reduce(Entry *x);

/* ---- product.c ---- */
/* The body of the entry of a CONTRACT. */
void entry_product(Entry *x);

/* ---- scan.c ---- */
/* The body of the entry of a LOOP; the extents are the trips, the phase and the tiles. */
void entry_scan(Entry *x);

/* ---- sort.c ---- */
/* The body of the entry of an ARGSORT; the extents are the elements, how long the runs are that are
   merged (0: none yet), and whether the result goes to the spare memory. */
void entry_sort(Entry *x);

/* ---- steps.c ---- */
/* What follows is for invocations where HOLDS, until side_close ... */
typedef struct Side {
    LLVMBasicBlockRef from, done;
} Side;
Side side_open(Ptx *g, LLVMValueRef holds);
void side_close(Ptx *g, const Side *side);
/* ... or this, with VALUE, which elsewhere is OTHERWISE. */
LLVMValueRef side_give(Ptx *g, const Side *side, LLVMValueRef value, LLVMValueRef otherwise);
/* A loop that all invocations of a block go through together, until axis_close: FIRST, FIRST +
   STEP, ... below END. */
Axis steps_open(Ptx *g, LLVMValueRef first, LLVMValueRef step, LLVMValueRef end);

#endif
