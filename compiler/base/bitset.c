#include "base/bitset.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static void reserve(Bitset *set, uint32_t nwords) {
    if (nwords <= set->nwords) return;
    uint32_t wanted = set->nwords * 2 > nwords ? set->nwords * 2 : nwords;
    set->words =
        memory_resize(set->words, set->nwords * sizeof(uint64_t), wanted * sizeof(uint64_t));
    memset(set->words + set->nwords, 0, (wanted - set->nwords) * sizeof(uint64_t));
    set->nwords = wanted;
}

bool bitset_has(const Bitset *set, uint32_t i) {
    return i / 64 < set->nwords && (set->words[i / 64] >> i % 64 & 1);
}

bool bitset_add(Bitset *set, uint32_t i) {
    reserve(set, i / 64 + 1);
    uint64_t bit = UINT64_C(1) << i % 64;
    bool is_new = !(set->words[i / 64] & bit);
    set->words[i / 64] |= bit;
    return is_new;
}

void bitset_remove(Bitset *set, uint32_t i) {
    if (i / 64 < set->nwords) set->words[i / 64] &= ~(UINT64_C(1) << i % 64);
}

bool bitset_union(Bitset *set, const Bitset *other) {
    bool changed = false;
    reserve(set, other->nwords);
    for (uint32_t w = 0; w < other->nwords; w++) {
        changed |= (other->words[w] & ~set->words[w]) != 0;
        set->words[w] |= other->words[w];
    }
    return changed;
}

uint32_t bitset_count(const Bitset *set) {
    uint32_t count = 0;
    for (uint32_t w = 0; w < set->nwords; w++)
        count += (uint32_t)__builtin_popcountll(set->words[w]);
    return count;
}

void bitset_clear(Bitset *set) {
    if (set->nwords) memset(set->words, 0, set->nwords * sizeof(uint64_t));
}

void bitset_free(Bitset *set) {
    free(set->words);
    *set = (Bitset){0};
}
