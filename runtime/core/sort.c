/* sort.c: stable order of one-dimensional arrays, by merging.

   Values are mapped to unsigned keys of the same order first (NaN last, -0 equal to +0), so that
   one merge serves all kinds; complex numbers have no order and are refused. */
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/kinds.h"

typedef struct Item {
    uint64_t key;
    int64_t index;
} Item;

static uint64_t float_key(double value) {
    if (isnan(value)) return UINT64_MAX;
    uint64_t bits = 0; /* of zero, whatever its sign */
    if (value != 0) memcpy(&bits, &value, sizeof bits);
    return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

static uint64_t key_of(int32_t kind, const void *value) {
    if (kind_is_float(kind)) return float_key(kind_load_float(kind, value));
    uint64_t bits = (uint64_t)kind_load_integer(kind, value);
    return kind_is_signed(kind) ? bits ^ UINT64_C(1) << 63 : bits;
}

static void insertion_sort(Item *items, int64_t n) {
    for (int64_t i = 1; i < n; i++) {
        Item item = items[i];
        int64_t j = i;
        for (; j > 0 && items[j - 1].key > item.key; j--) items[j] = items[j - 1];
        items[j] = item;
    }
}

/* Merges FROM[begin..middle] and FROM[middle..end] into TO[begin..end]. */
static void merge(const Item *from, Item *to, int64_t begin, int64_t middle, int64_t end) {
    int64_t a = begin, b = middle;
    for (int64_t i = begin; i < end; i++)
        to[i] = b >= end || (a < middle && from[a].key <= from[b].key) ? from[a++] : from[b++];
}

int32_t adl__argsort(AdlContext *context, int32_t kind, int64_t n, const void *data, int64_t *out) {
    enum { RUN = 16 };
    if (kind_is_complex(kind) || kind == ADL_KIND_STR)
        return error_note(context, ADL_ERROR_ARGUMENT, NULL, "values of type %s have no order",
                          kind_name(kind));
    int64_t dims[] = {2, n};
    Item *items = adl__alloc_array(context, sizeof(Item), 2, dims);
    if (!items) return context->error;
    Item *from = items, *to = items + n;
    for (int64_t i = 0; i < n; i++)
        from[i] = (Item){key_of(kind, (const char *)data + i * kind_bytes(kind)), i};
    for (int64_t i = 0; i < n; i += RUN) insertion_sort(from + i, n - i < RUN ? n - i : RUN);
    for (int64_t run = RUN; run < n; run *= 2) {
        for (int64_t i = 0; i < n; i += 2 * run) {
            int64_t middle = n - i < run ? n : i + run;
            merge(from, to, i, middle, n - middle < run ? n : middle + run);
        }
        Item *other = from;
        from = to;
        to = other;
    }
    for (int64_t i = 0; i < n; i++) out[i] = from[i].index;
    adl__release(context, items);
    return ADL_OK;
}
