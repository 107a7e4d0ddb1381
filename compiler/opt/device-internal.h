/* What the choice of loops and their preparation share. */
#ifndef ADL_OPT_DEVICE_INTERNAL_H
#define ADL_OPT_DEVICE_INTERNAL_H

#include "opt/device.h"

bool device_is_parallel(const IrInst *inst);
/* By IrFunc.id: see DevicePlan; in ARENA. */
bool *device_levels(const IrModule *module, Arena *arena);
/* An array that is not small. */
bool device_is_large(IrType type);
/* Has a parallel loop enough indices, or so many as is not known? */
bool device_is_long(const IrInst *inst);

#endif
