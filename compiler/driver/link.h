/* Linking, through the system's C compiler. */
#ifndef ADL_DRIVER_LINK_H
#define ADL_DRIVER_LINK_H

#include <stdbool.h>

#include "driver/paths.h"
#include "source/session.h"

typedef enum LinkKind { LINK_PROGRAM, LINK_SHARED, LINK_RELOCATABLE } LinkKind;

/* Links the session's inputs to OUTPUT, in their order: OBJECTS has the object file of each
   INPUT_SOURCE; MORE are further objects.  A program or shared library also gets libadl.  False
   after reporting; then OUTPUT is as it was. */
bool link_inputs(Session *session, const Paths *paths, LinkKind kind, const TextList *objects,
                 const TextList *more, const char *output);

#endif
