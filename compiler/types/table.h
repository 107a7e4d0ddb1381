/* The table in which types and sizes are hash-consed. */
#ifndef ADL_TYPES_TABLE_H
#define ADL_TYPES_TABLE_H

#include "base/vec.h"
#include "types/type.h"

typedef struct SizeEntry {
    struct SizeEntry *next; /* of the same hash */
    Size size;
} SizeEntry;

typedef struct TypeEntry {
    struct TypeEntry *next;
    Type type;
} TypeEntry;

struct TypeTable {
    Arena *arena;
    Interner *interner;
    Map sizes, types; /* hash -> entry */
    uint32_t next_size, next_type;
    Type poison, unit, str, scalars[SCALAR_COUNT];
};

#endif
