/* tape.h: tapes, as far as contexts need to know them. */
#ifndef ADL_RUNTIME_TAPE_TAPE_H
#define ADL_RUNTIME_TAPE_TAPE_H

#include "core/calls.h"

/* Frees the tapes that CONTEXT still owns, at its end; the blocks that CONTEXT owns are left to it.
 */
void tape_free_all(AdlContext *context);

#endif
