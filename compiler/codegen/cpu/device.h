/* Modules with device code: what the CPU's code does about elements that may be on the device. */
#ifndef ADL_CODEGEN_CPU_DEVICE_H
#define ADL_CODEGEN_CPU_DEVICE_H

#include "codegen/cpu/gen.h"
#include "codegen/ptx/regions.h"

/* The kernel of INST, NULL if it runs on the CPU. */
const DeviceKernel *device_kernel(const Fn *f, const IrInst *inst);
/* Does code outside of it have to know that FUNC may leave arrays on the device? */
bool device_launches(const Gen *g, const IrFunc *func);
void device_find_launching(Gen *g);
/* Before INST runs on the CPU: the elements that it reads or writes are there.  False if nothing
   was to be done or INST launches something itself. */
bool device_before(Fn *f, const IrInst *inst);
/* VAL's elements are about to be read; written. */
void device_ask(Fn *f, const Val *val, bool write);
/* The same as a status for the caller to look at; NULL: VAL's elements are there for sure. */
LLVMValueRef device_status(Fn *f, const Val *val, bool write);
/* The element FLAT of VAL is about to be read, or was WRITTEN. */
void device_element(Fn *f, const Val *val, IrType type, LLVMValueRef flat, bool written);
/* COUNT elements of SCALAR, all that FROM has, to TO, which is new: where they are. */
void device_copy(Fn *f, IrScalar scalar, const Val *to, const Val *from, LLVMValueRef count);
/* The arguments of a launch. */
typedef struct LaunchArgs {
    Fn *f;
    VEC(LLVMValueRef) fields; /* four for each */
} LaunchArgs;
void launch_pass_scalar(LaunchArgs *args, LLVMValueRef word);
/* VAL's elements; KIND: an AdlGpuArgKind. */
void launch_pass_memory(LaunchArgs *args, int kind, const Val *val, IrType type);
int32_t launch_passed(const LaunchArgs *args);
/* They in memory; ARGS is gone then. */
LLVMValueRef launch_args(LaunchArgs *args);
/* The module's device code. */
LLVMValueRef device_module(Gen *g);

/* Two ways to the same results. */
typedef struct Launch {
    LLVMBasicBlockRef device, done, from_cpu;
    LLVMValueRef status;
} Launch;
/* Memory that a kernel writes ... */
typedef struct Out {
    Val val;
    IrType type;
    bool part;        /* of it alone */
    bool read;        /* ... and reads */
    LLVMValueRef *to; /* what is said of it: see DeviceKernel */
    uint32_t nto;
} Out;
/* Asks for KERNEL with OUTS, one for each result; the builder then stands where it did not run,
   with all elements on the host; after launch_done where it did; after launch_close where both
   meet. */
Launch launch_open(Fn *f, const DeviceKernel *kernel, const Out *outs, LLVMValueRef const *extents,
                   LLVMValueRef work);
/* The same for a CONTRACT: op(a) of m x k by op(b) of k x n; HOW is of AdlGpuProduct. */
typedef struct LaunchedProduct {
    LLVMValueRef how, m, n, k;
} LaunchedProduct;
Launch launch_open_product(Fn *f, const DeviceKernel *kernel, const Val *out,
                           const LaunchedProduct *product);
/* The same for a scan of TRIPS; the first of NOUTS is the totals, the others are the arrays
 * carried. */
Launch launch_open_scan(Fn *f, const DeviceKernel *kernel, const Out *outs, uint32_t nouts,
                        LLVMValueRef trips, LLVMValueRef work);
/* The same for an ARGSORT of COUNT elements; SPARE: so many bytes it needs beside. */
Launch launch_open_sort(Fn *f, const DeviceKernel *kernel, const Val *out, LLVMValueRef count,
                        LLVMValueRef spare);
void launch_done(Fn *f, Launch *launch);
/* HERE, the N values of the first way, become phis of those and THERE, of the second. */
void launch_close(Fn *f, Launch *launch, uint32_t n, LLVMValueRef *here, LLVMValueRef *there);
/* BUILD's kernel, whose result goes into SINK, if that is not NULL; OTHERWISE makes the loops on
   the CPU. */
void launch_build(Fn *f, const DeviceKernel *kernel, const Val *outs, const Sink *sink,
                  void (*otherwise)(Fn *f, void *data), void *data);
/* ---- scan-device.c ---- */
/* LOOP's kernel; INIT has the values that it carries in, by result, and gets those that come out.
   OTHERWISE makes the loop on the CPU, with INIT, which gets what comes out of that. */
void scan_on_device(Fn *f, const DeviceKernel *kernel, Val *init,
                    void (*otherwise)(Fn *f, const IrInst *loop, Val *init));

/* ---- launch.c ---- */
/* The kernel of what CALL launches; NULL: it runs on the CPU. */
const DeviceKernel *device_launched(const Fn *f, const IrInst *call);
/* The call between call_open and call_close, on the device or on the CPU. */
void launch_call(Fn *f, const IrInst *call, const DeviceKernel *kernel, Val *args,
                 LLVMValueRef *memory);

/* ---- device.c ---- */
/* The constants of the module. */
void device_tables(Gen *g);

#endif
