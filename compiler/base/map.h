/* Map: from 64-bit keys (an integer, or a pointer cast to uintptr_t) to pointers.
   Starts as {0}; freed with map_free.  Iteration order is the order of insertion. */
#ifndef ADL_BASE_MAP_H
#define ADL_BASE_MAP_H

#include <stdbool.h>
#include <stdint.h>

typedef struct Map {
    uint64_t *keys; /* len keys and values, in order of insertion */
    void **values;
    uint32_t *slots; /* hash table of indices + 1 */
    uint32_t len, cap, nslots;
} Map;

void *map_get(const Map *map, uint64_t key); /* NULL if absent */
bool map_has(const Map *map, uint64_t key);
void map_set(Map *map, uint64_t key, void *value);
void map_clear(Map *map); /* forgets all entries, keeps the memory */
void map_free(Map *map);

#define map_getp(map, p) map_get((map), (uint64_t)(uintptr_t)(p))
#define map_setp(map, p, v) map_set((map), (uint64_t)(uintptr_t)(p), (v))
#define map_hasp(map, p) map_has((map), (uint64_t)(uintptr_t)(p))

/* For hash-consing: mixes WORD into HASH. */
uint64_t hash_mix(uint64_t hash, uint64_t word);
uint64_t hash_bytes(const void *bytes, uint64_t n);

#endif
