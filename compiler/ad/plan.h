/* What the files of the residual plan share: the plan is made by plan.c from what needs.c says. */
#ifndef ADL_AD_PLAN_H
#define ADL_AD_PLAN_H

#include "ad/internal.h"

/* Calls VISIT for the nonlinear values that INST's nonlinear part takes: operands, and what its
   regions capture. */
void ad_nonlinear_inputs(Mixed *mixed, const IrInst *inst, void (*visit)(IrValue *, void *),
                         void *data);
/* Would running INST again ask the world outside of the program again? */
bool ad_asks_world(Ad *ad, const IrInst *inst);
/* Is nothing of INST nonlinear? */
bool ad_only_linear(const Mixed *mixed, const IrInst *inst);
/* Fills in mixed->has_linear and works out all sizes. */
void ad_survey(Mixed *mixed);
/* Makes MAP, in a scope AROUND, give what is dear in it, where that may be kept. */
void ad_keep(Mixed *mixed, IrInst *map, const Scope *around);
/* Roughly what it costs to compute INST again; CUT_INFINITE: it cannot or should not be done. */
int64_t ad_cost_again(const Mixed *mixed, const IrInst *inst);
/* The same for keeping a value of this type on the tape. */
int64_t ad_cost_save(IrType type);

#endif
