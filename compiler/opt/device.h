/* Which parallel loops of a program may run on a device: the outermost ones of functions that are
   not themselves called in parallel.  What a device's code can hold is the code generator's matter.
 */
#ifndef ADL_OPT_DEVICE_H
#define ADL_OPT_DEVICE_H

#include "ir/ir.h"

typedef struct DevicePlan {
    bool *level; /* by IrFunc.id: all calls of it stand outside of parallel loops */
    VEC(const IrInst *) regions;
} DevicePlan;

/* Makes maps, which can be launched, of what moves elements at the same level: parts that are
   assigned or taken out, transposes. */
void device_prepare(IrModule *module);
/* In ARENA, but for the list, which device_plan_free frees. */
DevicePlan device_plan(const IrModule *module, Arena *arena);
void device_plan_free(DevicePlan *plan);

#endif
