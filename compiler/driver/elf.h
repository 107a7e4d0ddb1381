/* What the driver looks up in object files: a section and the names of global symbols. */
#ifndef ADL_DRIVER_ELF_H
#define ADL_DRIVER_ELF_H

#include "base/arena.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct ObjectFile {
    const char *section; /* NULL: none of that name */
    size_t section_len;
    VEC(const char *) defined, undefined; /* global symbols that begin with the prefix */
} ObjectFile;

/* Reads the 64-bit ELF object PATH; the contents live in ARENA, the lists are to be freed.  False:
   the file cannot be read or is no such object. */
bool object_read(ObjectFile *object, Arena *arena, const char *path, const char *section,
                 const char *prefix);
void object_free(ObjectFile *object);

#endif
