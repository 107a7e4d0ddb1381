/* Additions to accumulators: where they go. */
#ifndef ADL_OPT_ADDS_H
#define ADL_OPT_ADDS_H

#include "opt/opt.h"

/* Do two ACC_ADDs go to one cell, or part? */
bool adds_same_cell(const IrInst *a, const IrInst *b);
/* Do two to one accumulator never meet, since constants among their subscripts differ? */
bool adds_never_meet(const IrInst *a, const IrInst *b);
/* Is VALUE the INDEX of a loop, or that plus or minus what is the same for the whole of the loop,
   its other indices included?  (opt_moves_with asks for less.) */
bool adds_is_shifted(const IrValue *value, const IrValue *index);
/* Of additions of numbers to one cell in a region, anywhere in REGION, the last one adds the sum. */
void adds_sum(OptContext *c, IrRegion *region);

#endif
