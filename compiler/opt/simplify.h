/* What the files of the simplifier share. */
#ifndef ADL_OPT_SIMPLIFY_H
#define ADL_OPT_SIMPLIFY_H

#include "opt/opt.h"

/* What stands in place of the only result of an array instruction, or NULL. */
IrValue *opt_simplify_array(OptContext *c, IrBuilder *b, const IrInst *inst);
/* Takes INST apart if it need not be there; true if it is gone.  *NEXT: what to look at next. */
bool opt_simplify_control(OptContext *c, IrBuilder *b, IrInst *inst, IrInst **next);

#endif
