/* Writing out loops of a few iterations, for passes that want a certain one. */
#ifndef ADL_OPT_UNROLL_H
#define ADL_OPT_UNROLL_H

#include "ir/ir.h"

/* The iterations of INST, a sum or a map that is short and cheap enough to be written out; else 0.
 */
uint32_t unroll_trips(const IrInst *inst);
/* Writes INST, of which unroll_trips is not 0, out. */
void unroll_loop(IrInst *inst);

#endif
