/* "Did you mean": edit distance with transpositions of neighbours. */
#include "source/diag.h"

#include <string.h>

enum { LONGEST = 64 };

static uint32_t min(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

/* Insertions, deletions, replacements and swaps of neighbours that make B of A.  Both have at
   most LONGEST bytes.  Three rows are kept, for I - 2, I - 1 and I bytes of A. */
static uint32_t edit_distance(const char *a, uint32_t na, const char *b, uint32_t nb) {
    uint32_t rows[3][LONGEST + 1] = {{0}};
    for (uint32_t j = 0; j <= nb; j++) rows[0][j] = j;
    for (uint32_t i = 1; i <= na; i++) {
        uint32_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *above2 = rows[(i + 1) % 3];
        row[0] = i;
        for (uint32_t j = 1; j <= nb; j++) {
            row[j] = min(above[j - 1] + (a[i - 1] != b[j - 1]), min(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = min(row[j], above2[j - 2] + 1);
        }
    }
    return rows[na % 3][nb];
}

const char *diag_closest(const char *name, const char *const *candidates, size_t count) {
    size_t len = strlen(name);
    const char *best = NULL;
    if (len > LONGEST) return NULL;
    /* A third of the letters may be wrong, of a single letter none. */
    uint32_t best_distance = (uint32_t)(len + 1) / 3 + 1;
    for (size_t i = 0; i < count; i++) {
        size_t other = strlen(candidates[i]);
        if (other > LONGEST || other + best_distance <= len || len + best_distance <= other)
            continue;
        uint32_t distance = edit_distance(name, (uint32_t)len, candidates[i], (uint32_t)other);
        if (distance == 0 || distance >= best_distance) continue;
        best = candidates[i];
        best_distance = distance;
    }
    return best;
}
