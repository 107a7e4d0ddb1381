/* Schedules of checkpoints, as IR.  A checkpoint stands at a trip: the state before it. */
#ifndef ADL_AD_SCHEDULE_H
#define ADL_AD_SCHEDULE_H

#include "ad/internal.h"

/* Where behind the checkpoint at POS the next one goes, so that the trips from POS to END are run
   backwards with FREE more checkpoints in the least number of trips forward; END: there is none. */
IrValue *schedule_next(IrBuilder *b, IrValue *pos, IrValue *end, IrValue *free);
/* How many checkpoints `sqrt` keeps of N trips. */
IrValue *schedule_root(IrBuilder *b, IrValue *n);
/* A push of an entry that is popped and pushed again while the tape lives on: by copy. */
IrValue *schedule_push(IrBuilder *b, IrValue *tape, uint32_t n, IrValue *const *entry);
/* Of KEPT entries of TYPES on TAPE, the first, third, ... stay. */
IrValue *schedule_thin(IrBuilder *b, IrValue *tape, IrValue *kept, uint32_t n, const IrType *types);

#endif
