/* Differentiation: makes the bodies of derivative requests (IrFunc with deriv.mode, no body).

   A function is linearised into a mixed one, in which tangent instructions stand behind the primal
   ones; that is its JVP.  Transposing the linear instructions of the mixed function gives GRAD, or
   FORWARD and REVERSE.  What comes out is ordinary IR, which can be differentiated again. */
#ifndef ADL_AD_AD_H
#define ADL_AD_AD_H

#include "ir/ir.h"
#include "source/diag.h"

/* Makes all requests of MODULE, and those that come up on the way.  Faults of the program (an
   extern function without a rule, a derivative that needs itself) go to DIAGS; the functions that
   could not be made are then left without a useful body.  The first fault is the last, but of what
   a device runs all that can be made is. */
void ad_run(IrModule *module, Diags *diags);
/* Behind that, by IrFunc.id: are it and all that it calls there?  In the module's arena. */
bool *ad_find_whole(const IrModule *module);

#endif
