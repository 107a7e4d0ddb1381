/* A program's parallel loops as kernels, for the code generator of the host. */
#ifndef ADL_CODEGEN_PTX_REGIONS_H
#define ADL_CODEGEN_PTX_REGIONS_H

#include "codegen/codegen.h"
#include "opt/device.h"
#include "opt/memory.h"

/* Of a REDUCE the device makes, for each index of the outer dimensions, the partial results of
   blocks of the innermost one, in the order of codegen/cpu/sum.c: (..., blocks) of them; so many
   invocations work on one. */
enum { DEVICE_SUM_LANES = 16, DEVICE_SUM_BLOCK = 256 };

/* Of a LOOP (opt/scan.h) a block of the device has so many trips at a time, of an ARGSORT so many
   elements. */
enum { DEVICE_SCAN_TILE = 256, DEVICE_SORT_TILE = 256 };

/* That index D of a launch is below a size: dimension DIM of parameter PARAM, that parameter itself
   (DIM -1), or VALUE (PARAM -1).  It is if the range begins at 0 or later and does not end behind
   the size. */
typedef struct DeviceBound {
    uint32_t d;
    int32_t param, dim;
    int64_t value;
} DeviceBound;

/* The kernel of a BUILD, REDUCE, CONTRACT, ARGSORT or LOOP.  Its parameters: see AdlGpuModule in
   runtime/layout.h; the arguments are, for each captured value, a scalar, or an array's address and
   open sizes; then the address of each result, or of its partial results; of a BUILD with one
   result then the stride of each index in it, in elements, and where it begins; of an ARGSORT the
   address of spare memory, 8 bytes for each element and twice its own; of a LOOP instead
   of the results the address of totals, one for each tile and one more, the first number, and each
   array carried with its open sizes. */
typedef struct DeviceKernel {
    const IrInst *inst;     /* NULL: of a launch, see launch.c */
    const IrLaunch *launch; /* of a launch */
    IrValue **captures;
    const char *name; /* of the entry */
    uint32_t ncaptures, number;
    bool heap;    /* takes memory of the heap */
    bool checks;  /* may fail, ... */
    bool bounded; /* ... of a launch only where one of these is not so: */
    DeviceBound *bounds;
    uint32_t nbounds;
} DeviceKernel;

/* Machine code for one kind of device. */
typedef struct DeviceImage {
    int sm; /* 80 for sm_80 */
    StrBuf code;
} DeviceImage;

/* Where a check stands that may fail. */
typedef struct DeviceSite {
    const char *name; /* of the function */
    Pos pos;
} DeviceSite;

typedef struct DeviceCode {
    DevicePlan plan;
    Map kernels;  /* by instruction */
    Map launches; /* kernels by the function that the CPU runs in their place */
    VEC(DeviceKernel *) list;
    VEC(DeviceSite) sites; /* a failed check sets the number of one, from 1 on */
    StrBuf ptx;
    VEC(DeviceImage) images;
} DeviceCode;

/* Compiles what PLAN names and can be compiled; the rest is told as remarks.  Results live in
   ARENA, but for what device_code_free frees.  False: see *ERROR. */
bool device_code(DeviceCode *code, const IrModule *ir, const CodegenOptions *options,
                 const MemPlan *plan, Arena *arena, char **error);
void device_code_free(DeviceCode *code);

#endif
