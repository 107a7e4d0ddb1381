/* PTX to machine code of a device, by ptxas of the CUDA Toolkit. */
#ifndef ADL_DRIVER_ASSEMBLE_H
#define ADL_DRIVER_ASSEMBLE_H

#include "driver/unit.h"

/* The devices that --target=ptx:sm_80,sm_90 names, one after the other: *AT goes from one to the
   next; NULL at the end. */
const char *assemble_next_device(Session *session, const char **at);
/* Code for DEVICE of the text PTX, as CodegenOptions.assemble wants it; DATA is the unit.  False
   after reporting. */
bool assemble(void *data, const char *device, const StrBuf *ptx, StrBuf *out);

#endif
