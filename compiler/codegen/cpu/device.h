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
/* Before INST runs on the CPU: the elements that it reads or writes are there.  False if nothing was
   to be done or INST launches something itself. */
bool device_before(Fn *f, const IrInst *inst);
/* VAL's elements are about to be read; written. */
void device_ask(Fn *f, const Val *val, bool write);
/* The same as a status for the caller to look at; NULL: VAL's elements are there for sure. */
LLVMValueRef device_status(Fn *f, const Val *val, bool write);
/* KERNEL, or where that is not to be, what OTHERWISE makes; OUTS are INST's results. */
void device_launch(Fn *f, const DeviceKernel *kernel, const Val *outs,
                   void (*otherwise)(Fn *f, void *data), void *data);
/* The constants of the module. */
void device_tables(Gen *g);

#endif
