/* Open addressing with linear probing over indices into the insertion-ordered arrays.  The table
   has at least twice as many slots as entries; nothing is ever removed singly. */
#include "base/map.h"

#include <stdlib.h>
#include <string.h>

#include "base/fatal.h"
#include "base/memory.h"

uint64_t hash_mix(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    hash ^= hash >> 32;
    hash *= UINT64_C(0xD6E8FEB86659FD93);
    return hash ^ hash >> 32;
}

uint64_t hash_bytes(const void *bytes, uint64_t n) {
    const unsigned char *at = bytes;
    uint64_t hash = hash_mix(UINT64_C(0x243F6A8885A308D3), n);
    for (; n >= 8; n -= 8, at += 8) {
        uint64_t word;
        memcpy(&word, at, 8);
        hash = hash_mix(hash, word);
    }
    if (n) {
        uint64_t word = 0;
        memcpy(&word, at, n);
        hash = hash_mix(hash, word);
    }
    return hash;
}

/* The slot that holds KEY, or the empty one where it belongs.  The table is not empty. */
static uint32_t find_slot(const Map *map, uint64_t key) {
    uint32_t mask = map->nslots - 1;
    uint32_t slot = (uint32_t)hash_mix(0, key) & mask;
    while (map->slots[slot] && map->keys[map->slots[slot] - 1] != key) slot = (slot + 1) & mask;
    return slot;
}

/* Index of KEY + 1, or 0. */
static uint32_t find(const Map *map, uint64_t key) {
    return map->nslots ? map->slots[find_slot(map, key)] : 0;
}

static void rehash(Map *map) {
    if (map->nslots > UINT32_MAX / 2) fatal_memory();
    map->nslots = map->nslots ? map->nslots * 2 : 16;
    free(map->slots);
    map->slots = memory_zeroed(map->nslots, sizeof *map->slots);
    for (uint32_t i = 0; i < map->len; i++) map->slots[find_slot(map, map->keys[i])] = i + 1;
}

static void grow_entries(Map *map) {
    uint32_t old = map->cap;
    map->cap = old ? old * 2 : 8;
    map->keys = memory_resize(map->keys, old * sizeof *map->keys, map->cap * sizeof *map->keys);
    map->values =
        memory_resize(map->values, old * sizeof *map->values, map->cap * sizeof *map->values);
}

void *map_get(const Map *map, uint64_t key) {
    uint32_t index = find(map, key);
    return index ? map->values[index - 1] : NULL;
}

bool map_has(const Map *map, uint64_t key) {
    return find(map, key) != 0;
}

void map_set(Map *map, uint64_t key, void *value) {
    uint32_t index = find(map, key);
    if (index) {
        map->values[index - 1] = value;
        return;
    }
    if (map->nslots / 2 <= map->len) rehash(map);
    if (map->len == map->cap) grow_entries(map);
    map->keys[map->len] = key;
    map->values[map->len] = value;
    map->slots[find_slot(map, key)] = ++map->len;
}

void map_clear(Map *map) {
    if (map->nslots) memset(map->slots, 0, map->nslots * sizeof *map->slots);
    map->len = 0;
}

void map_free(Map *map) {
    free(map->keys);
    free(map->values);
    free(map->slots);
    *map = (Map){0};
}
