/* view.c: arrays of a C caller that come with strides.

   Compiled code goes over contiguous arrays.  A view that is contiguous is used where it lies; of
   any other the elements are gathered first and, if they are written, scattered in the end. */
#include <stdbool.h>
#include <string.h>

#include "core/calls.h"
#include "core/error.h"

enum { RANK_MAX = 16 };

/* A view without dimensions of size 1, which have no stride, from the shortest stride to the
 * longest. */
typedef struct View {
    char *low; /* the lowest element */
    int64_t bytes;
    int32_t rank;
    int64_t count[RANK_MAX], step[RANK_MAX]; /* steps are not negative */
    int64_t extent;                          /* bytes from the lowest element on to the end */
} View;

/* False if an address in it is too far off. */
static bool view_open(View *v, const void *data, int64_t bytes, int32_t rank, const int64_t *dims) {
    const int64_t *strides = dims + rank;
    int64_t down = 0, up = bytes;
    *v = (View){.bytes = bytes};
    for (int32_t k = 0; k < rank; k++) {
        int64_t reach, step = strides[k];
        if (dims[k] <= 1) continue;
        if (step == INT64_MIN || __builtin_mul_overflow(dims[k] - 1, step, &reach)) return false;
        if (__builtin_add_overflow(step < 0 ? down : up, reach, step < 0 ? &down : &up))
            return false;
        int32_t at = v->rank++;
        if (step < 0) step = -step;
        for (; at > 0 && v->step[at - 1] > step; at--) {
            v->step[at] = v->step[at - 1];
            v->count[at] = v->count[at - 1];
        }
        v->step[at] = step;
        v->count[at] = dims[k];
    }
    v->low = (char *)(uintptr_t)data + down;
    return !__builtin_sub_overflow(up, down, &v->extent);
}

static bool is_empty(int32_t rank, const int64_t *dims) {
    for (int32_t k = 0; k < rank; k++)
        if (dims[k] <= 0) return true;
    return false;
}

/* Are all elements apart?  Each stride has to be longer than what lies below it. */
static bool view_is_apart(const View *v) {
    int64_t below = v->bytes;
    for (int32_t k = 0; k < v->rank; k++) {
        if (v->step[k] < below) return false;
        below += (v->count[k] - 1) * v->step[k];
    }
    return true;
}

static bool is_contiguous(int64_t bytes, int32_t rank, const int64_t *dims) {
    for (int32_t k = rank; k-- > 0;) {
        if (dims[k] > 1 && dims[rank + k] != bytes) return false;
        bytes *= dims[k];
    }
    return true;
}

static bool is_aligned(const void *data, int64_t align, int32_t rank, const int64_t *dims) {
    if ((uintptr_t)data % (uintptr_t)align) return false;
    for (int32_t k = 0; k < rank; k++)
        if (dims[k] > 1 && dims[rank + k] % align) return false;
    return true;
}

/* Between a view from dimension K on and *DENSE, which moves on. */
static void copy(char *at, char **dense, int64_t bytes, int32_t k, int32_t rank,
                 const int64_t *dims, bool back) {
    if (k == rank) {
        if (back) memcpy(at, *dense, (size_t)bytes);
        else memcpy(*dense, at, (size_t)bytes);
        *dense += bytes;
        return;
    }
    int64_t step = dims[k] > 1 ? dims[rank + k] : 0;
    for (int64_t i = 0; i < dims[k]; i++)
        copy(at + i * step, dense, bytes, k + 1, rank, dims, back);
}

int32_t adl__view_take(AdlContext *context, const AdlSite *site, const char *name, const void *data,
                       int64_t bytes, int64_t align, int32_t rank, const int64_t *dims,
                       int32_t written, void **out) {
    View v;
    *out = (void *)(uintptr_t)data;
    if (is_empty(rank, dims)) return ADL_OK;
    if (!is_aligned(data, align, rank, dims))
        return error_note(context, ADL_ERROR_ARGUMENT, site,
                          "%s: its data and strides have to be multiples of %lld bytes", name,
                          (long long)align);
    if (!view_open(&v, data, bytes, rank, dims))
        return error_note(context, ADL_ERROR_ARGUMENT, site, "%s: its strides are too long", name);
    if (written && !view_is_apart(&v))
        return error_note(context, ADL_ERROR_ARGUMENT, site,
                          "%s: its elements overlap, but are written", name);
    if (is_contiguous(bytes, rank, dims)) return ADL_OK;
    char *dense = *out = adl__alloc_array(context, bytes, rank, dims);
    if (!dense) return ADL_ERROR_MEMORY;
    copy((char *)(uintptr_t)data, &dense, bytes, 0, rank, dims, false);
    return ADL_OK;
}

void adl__view_give(void *data, int64_t bytes, int32_t rank, const int64_t *dims,
                    const void *dense) {
    char *from = (char *)(uintptr_t)dense;
    if (from != data) copy(data, &from, bytes, 0, rank, dims, true);
}

/* Is one of the WIDTH bytes at AT in an element of V, whose elements are apart? */
static bool meets(const View *v, const char *at, int64_t width, int64_t unit) {
    for (int64_t b = 0; b < width; b += unit) {
        int64_t rest = (int64_t)((uintptr_t)(at + b) - (uintptr_t)v->low);
        if (rest < 0 || rest >= v->extent) continue;
        for (int32_t k = v->rank; k-- > 0;) {
            int64_t q = rest / v->step[k];
            rest -= (q < v->count[k] ? q : v->count[k] - 1) * v->step[k];
        }
        if (rest < v->bytes) return true;
    }
    return false;
}

static bool any_meets(const View *a, const View *b, const char *at, int32_t k, int64_t unit) {
    if (k < 0) return meets(a, at, b->bytes, unit);
    for (int64_t i = 0; i < b->count[k]; i++)
        if (any_meets(a, b, at + i * b->step[k], k - 1, unit)) return true;
    return false;
}

int32_t adl__view_overlap(AdlContext *context, const AdlSite *site, const void *a, int64_t a_bytes,
                          int32_t a_rank, const int64_t *a_dims, const char *a_name, const void *b,
                          int64_t b_bytes, int32_t b_rank, const int64_t *b_dims,
                          const char *b_name) {
    View v, w;
    if (is_empty(a_rank, a_dims) || is_empty(b_rank, b_dims)) return ADL_OK;
    if (!view_open(&v, a, a_bytes, a_rank, a_dims) || !view_open(&w, b, b_bytes, b_rank, b_dims))
        return ADL_OK; /* refused elsewhere */
    bool apart = (uintptr_t)v.low + (uintptr_t)v.extent <= (uintptr_t)w.low ||
                 (uintptr_t)w.low + (uintptr_t)w.extent <= (uintptr_t)v.low;
    int64_t unit = a_bytes < b_bytes ? a_bytes : b_bytes;
    if (apart || !any_meets(&v, &w, w.low, w.rank - 1, unit)) return ADL_OK;
    return error_note(context, ADL_ERROR_ARGUMENT, site, "%s and %s overlap in memory", a_name,
                      b_name);
}
