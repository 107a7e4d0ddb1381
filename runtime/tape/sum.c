/* sum.c: sums of tapes of cotangents, of which each entry ends with the address of what it holds:
   for each value its kind, its lanes and one more than its rank (see AdlTapeKind), then 0.

   Tapes are read from above and written from below, so both are gone through first. */
#include "tape/tape.h"

#include <string.h>

#include "core/error.h"
#include "core/memory.h"

typedef struct Place {
    const char *cur;
    const AdlChunk *chunk;
} Place;

/* Addresses: of each entry, from the topmost on, those of its arrays' elements, the last one first,
   then that of its words and that of its types. */
typedef struct List {
    const char **at;
    int64_t n, bytes;
} List;

static const char *begin_of(const AdlChunk *chunk) {
    return (const char *)(chunk + 1);
}

/* Is there anything below? */
static bool settle(Place *place) {
    while (place->chunk && place->cur == begin_of(place->chunk)) {
        place->chunk = place->chunk->prev;
        place->cur = place->chunk ? place->chunk->used : NULL;
    }
    return place->chunk != NULL;
}

static const char *take(Place *place, int64_t bytes) {
    if (bytes > 0) settle(place);
    return place->cur -= bytes;
}

/* ---- what an entry holds ---- */

static int64_t float_bytes(const char *type) {
    return type[0] == ADL_TAPE_F32 ? 4 : 8;
}

static int64_t rank_of(const char *type) {
    return type[2] - 1;
}

static bool is_array(const char *type) {
    return type[0] != ADL_TAPE_TAPE && rank_of(type) > 0;
}

static int64_t words_of(const char *type) {
    if (type[0] == ADL_TAPE_TAPE) return ADL_TAPE_WORDS;
    return is_array(type) ? rank_of(type) + 1 : (float_bytes(type) * type[1] + 7) / 8;
}

static int64_t all_words(const char *types) {
    int64_t words = 0;
    for (; *types; types += 3) words += words_of(types);
    return words;
}

/* How many floats are in the array whose sizes are at WORDS. */
static int64_t count_of(const char *type, const int64_t *words) {
    int64_t count = type[1];
    for (int64_t k = 0; k < rank_of(type); k++) count *= words[k];
    return count;
}

static const char *address_of(const char *type, const int64_t *words) {
    return (const char *)(intptr_t)words[rank_of(type)];
}

/* ---- reading ---- */

static bool add(AdlContext *context, List *list, const char *at) {
    int64_t needed = (list->n + 1) * (int64_t)sizeof *list->at;
    if (needed > list->bytes) {
        int64_t more = list->bytes ? 2 * list->bytes : 4096;
        const char **grown = memory_take(context, &more);
        if (!grown) {
            error_memory(context, NULL, more);
            return false;
        }
        if (list->at) memcpy(grown, list->at, (size_t)list->bytes);
        if (list->at) memory_give(context, list->at, list->bytes);
        list->at = grown;
        list->bytes = more;
    }
    list->at[list->n++] = at;
    return true;
}

static bool list_entry(AdlContext *context, List *list, Place *place) {
    const char *types;
    memcpy(&types, take(place, 8), sizeof types);
    int64_t left = all_words(types), n = (int64_t)strlen(types) / 3;
    const char *words = take(place, 8 * left);
    while (n-- > 0) {
        const char *type = types + 3 * n;
        left -= words_of(type);
        if (!is_array(type)) continue;
        const int64_t *own = (const int64_t *)(const void *)words + left;
        const char *at = address_of(type, own);
        if (!at) at = take(place, (count_of(type, own) * float_bytes(type) + 7) / 8 * 8);
        if (!add(context, list, at)) return false;
    }
    return add(context, list, words) && add(context, list, types);
}

static bool list_entries(AdlContext *context, List *list, Place place, int64_t *n) {
    for (*n = 0; settle(&place); ++*n)
        if (!list_entry(context, list, &place)) return false;
    return true;
}

/* ---- writing ---- */

/* COUNT floats; Y may be NULL. */
static void add_floats(const char *type, void *sum, const char *x, const char *y, int64_t count) {
    if (!y) {
        memcpy(sum, x, (size_t)(count * float_bytes(type)));
    } else if (type[0] == ADL_TAPE_F32) {
        const float *a = (const float *)(const void *)x, *b = (const float *)(const void *)y;
        for (int64_t i = 0; i < count; i++) ((float *)sum)[i] = a[i] + b[i];
    } else {
        const double *a = (const double *)(const void *)x, *b = (const double *)(const void *)y;
        for (int64_t i = 0; i < count; i++) ((double *)sum)[i] = a[i] + b[i];
    }
}

static bool differ(AdlContext *context) {
    error_note(context, ADL_ERROR_TAPE, NULL, "two cotangents of one tape are not alike");
    return false;
}

static const char *last(List *list) {
    return list ? list->at[--list->n] : NULL;
}

static bool put_array(AdlContext *context, AdlTape *sum, const char *type, const int64_t *x,
                      const int64_t *y, List *a, List *b) {
    const char *from = last(a), *other = last(b);
    int64_t count = count_of(type, x), bytes = (count * float_bytes(type) + 7) / 8 * 8;
    if (y && memcmp(x, y, (size_t)(8 * rank_of(type))) != 0) return differ(context);
    void *to = adl__tape_push(context, sum, bytes);
    if (!to) return false;
    if (bytes) add_floats(type, to, from, other, count);
    return true;
}

/* A tape on the tape. */
static bool put_tape(AdlContext *context, AdlTape *sum, int64_t *to, const int64_t *x,
                     const int64_t *y) {
    AdlTape *inner = (AdlTape *)(intptr_t)x[0];
    memcpy(to, x, 8 * ADL_TAPE_WORDS);
    if (!y) return adl__tape_keep_tape(context, sum, inner) == ADL_OK;
    inner = adl__tape_sum(context, (const void *)(intptr_t)x[1], (const void *)(intptr_t)x[3],
                          (const void *)(intptr_t)y[1], (const void *)(intptr_t)y[3]);
    if (!inner) return false;
    bool kept = adl__tape_keep_tape(context, sum, inner) == ADL_OK;
    const void *words[] = {inner, inner->cur, inner->end, inner->chunk};
    memcpy(to, words, sizeof words);
    adl__tape_release(context, inner);
    return kept;
}

/* The next entry from below, of A and, unless it is NULL, of B. */
static bool put_entry(AdlContext *context, AdlTape *sum, List *a, List *b) {
    const char *types = last(a), *others = last(b);
    const int64_t *x = (const int64_t *)(const void *)last(a);
    const int64_t *y = (const int64_t *)(const void *)last(b);
    int64_t at = 0, n = all_words(types);
    if (others && strcmp(types, others) != 0) return differ(context);
    for (const char *type = types; *type; at += words_of(type), type += 3)
        if (is_array(type) && !put_array(context, sum, type, x + at, y ? y + at : NULL, a, b))
            return false;
    int64_t *to = adl__tape_push(context, sum, 8 * (n + 1));
    if (!to) return false;
    memcpy(to + n, &types, sizeof types);
    at = 0;
    for (const char *type = types; *type; at += words_of(type), type += 3) {
        const int64_t *other = y ? y + at : NULL;
        if (type[0] == ADL_TAPE_TAPE) {
            if (!put_tape(context, sum, to + at, x + at, other)) return false;
        } else if (is_array(type)) {
            memcpy(to + at, x + at, (size_t)(8 * rank_of(type)));
            to[at + rank_of(type)] = 0;
        } else {
            add_floats(type, to + at, (const char *)(x + at), (const char *)other, type[1]);
        }
    }
    return true;
}

AdlTape *adl__tape_sum(AdlContext *context, const void *cur, const void *chunk, const void *cur2,
                       const void *chunk2) {
    List a = {0}, b = {0};
    int64_t na = 0, nb = 0;
    AdlTape *sum = adl__tape_new(context, 0);
    bool ok = sum && list_entries(context, &a, (Place){cur, chunk}, &na) &&
              list_entries(context, &b, (Place){cur2, chunk2}, &nb);
    for (; ok && na > nb; na--) ok = put_entry(context, sum, &a, NULL);
    for (; ok && nb > na; nb--) ok = put_entry(context, sum, &b, NULL);
    for (; ok && na > 0; na--) ok = put_entry(context, sum, &a, &b);
    if (a.at) memory_give(context, a.at, a.bytes);
    if (b.at) memory_give(context, b.at, b.bytes);
    if (ok || !sum) return sum;
    adl__tape_release(context, sum);
    return NULL;
}
