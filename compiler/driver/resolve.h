/* Open requests of objects that are about to be linked. */
#ifndef ADL_DRIVER_RESOLVE_H
#define ADL_DRIVER_RESOLVE_H

#include "driver/carried.h"

/* Requests of one object for functions of one other: a source that names them, the modules that it
   may use, and how it is to be compiled. */
typedef struct OpenGroup {
    const char *source;
    const GivenModule *given;
    uint32_t ngiven;
    const Options *options;
} OpenGroup;

typedef struct Resolution {
    CarriedList carried;
    VEC(OpenGroup) groups;
} Resolution;

/* Finds what the object files PATHS leave open and can meet among themselves.  What no object gives
   stays open, for the linker to complain about.  False after reporting an object that cannot be
   understood. */
bool resolve_objects(Resolution *resolution, Session *session, const TextList *paths);
void resolution_free(Resolution *resolution);

#endif
