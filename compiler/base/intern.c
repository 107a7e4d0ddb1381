/* Open addressing over the texts themselves; the texts live in an arena of the interner. */
#include "base/intern.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/fatal.h"
#include "base/map.h"
#include "base/memory.h"

struct Interner {
    Arena *arena;
    Sym *slots;
    uint32_t nslots, len;
};

Interner *interner_new(void) {
    Interner *interner = memory_zeroed(1, sizeof *interner);
    interner->arena = arena_new();
    interner->nslots = 1024;
    interner->slots = memory_zeroed(interner->nslots, sizeof(Sym));
    return interner;
}

void interner_free(Interner *interner) {
    if (!interner) return;
    arena_free(interner->arena);
    free(interner->slots);
    free(interner);
}

static bool same(Sym sym, uint32_t hash, const char *text, size_t len) {
    return sym->hash == hash && sym->len == len && memcmp(sym->text, text, len) == 0;
}

static uint32_t find_slot(const Interner *interner, uint32_t hash, const char *text, size_t len) {
    uint32_t mask = interner->nslots - 1, slot = hash & mask;
    while (interner->slots[slot] && !same(interner->slots[slot], hash, text, len))
        slot = (slot + 1) & mask;
    return slot;
}

static void grow(Interner *interner) {
    Sym *old = interner->slots;
    uint32_t n = interner->nslots;
    if (n > UINT32_MAX / 2) fatal_memory();
    interner->nslots = n * 2;
    interner->slots = memory_zeroed(interner->nslots, sizeof(Sym));
    for (uint32_t i = 0; i < n; i++) {
        if (!old[i]) continue;
        interner->slots[find_slot(interner, old[i]->hash, old[i]->text, old[i]->len)] = old[i];
    }
    free(old);
}

Sym intern_n(Interner *interner, const char *text, size_t len) {
    if (len > UINT32_MAX - 64) fatal_memory();
    uint32_t hash = (uint32_t)hash_bytes(text, len);
    uint32_t slot = find_slot(interner, hash, text, len);
    if (interner->slots[slot]) return interner->slots[slot];
    if (interner->len >= interner->nslots / 2) {
        grow(interner);
        slot = find_slot(interner, hash, text, len);
    }
    SymText *sym = arena_alloc(interner->arena, sizeof *sym + len + 1);
    sym->len = (uint32_t)len;
    sym->hash = hash;
    if (len) memcpy(sym->text, text, len);
    interner->slots[slot] = sym;
    interner->len++;
    return sym;
}

Sym intern(Interner *interner, const char *text) {
    return intern_n(interner, text, strlen(text));
}
