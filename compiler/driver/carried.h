/* What an object carries for the derivatives that are made when objects are linked: the text of its
   module and of those that it uses, and the requests that it leaves open. */
#ifndef ADL_DRIVER_CARRIED_H
#define ADL_DRIVER_CARRIED_H

#include "driver/unit.h"

typedef struct Carried {
    Options options; /* only what generated code depends on */
    VEC(GivenModule)
    modules; /* the first is the object's own, named after its file: "src.nn.layers" */
    VEC(IrRequest) requests;
} Carried;
typedef VEC(Carried) CarriedList;

void carried_write(StrBuf *out, const Unit *unit);
/* Adds what the LEN bytes of a section hold; several may stand behind each other.  All texts are in
   ARENA, the lists of each are to be freed.  False: this is not what this compiler writes. */
bool carried_read(CarriedList *list, Arena *arena, const char *bytes, size_t len);
void carried_free(CarriedList *list);

/* Is MODULE what the other object calls NAME?  Both are paths with dots, of which one may be
 * shorter. */
bool carried_is_named(const GivenModule *module, const char *name);

#endif
