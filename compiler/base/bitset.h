/* Bitset over 0 .. n-1 that grows when a bit beyond is set.  Starts as {0}. */
#ifndef ADL_BASE_BITSET_H
#define ADL_BASE_BITSET_H

#include <stdbool.h>
#include <stdint.h>

typedef struct Bitset {
    uint64_t *words;
    uint32_t nwords;
} Bitset;

bool bitset_has(const Bitset *set, uint32_t i);
/* Sets bit i; true if it was not set before. */
bool bitset_add(Bitset *set, uint32_t i);
void bitset_remove(Bitset *set, uint32_t i);
/* Adds all of OTHER; true if anything was new. */
bool bitset_union(Bitset *set, const Bitset *other);
uint32_t bitset_count(const Bitset *set);
void bitset_clear(Bitset *set);
void bitset_free(Bitset *set);

#endif
