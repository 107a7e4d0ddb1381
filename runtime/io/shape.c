/* shape.c: see shape.h. */
#include "io/shape.h"

#include <stdio.h>

#include "core/form.h"
#include "core/kinds.h"

/* LIST in brackets; what does not fit is left out. */
static void list_text(int32_t count, const int64_t *list, char *text, size_t size) {
    size_t at = (size_t)snprintf(text, size, "[");
    for (int32_t i = 0; i < count && at < size; i++)
        at += (size_t)snprintf(text + at, size - at, "%s%lld", i ? ", " : "", (long long)list[i]);
    if (at < size) snprintf(text + at, size - at, "]");
}

void shape_index_text(int32_t rank, const int64_t *dims, int64_t at, char *text, size_t size) {
    int64_t index[32] = {0};
    for (int32_t i = rank - 1; i >= 0 && rank <= 32; i--) {
        index[i] = at % dims[i];
        at /= dims[i];
    }
    list_text(rank, index, text, size);
}

int32_t shape_fail_rank(const FileJob *job, int32_t rank, const int64_t *dims, int32_t wanted) {
    char text[256];
    list_text(rank, dims, text, sizeof text);
    return file_fail(job, ADL_ERROR_SIZE, "the array has %d dimension%s, %s, but %d %s wanted",
                     (int)rank, rank == 1 ? "" : "s", text, (int)wanted,
                     wanted == 1 ? "is" : "are");
}

int32_t shape_fail_value(const FileJob *job, const char *index, int32_t kind, const void *value,
                         int32_t wanted) {
    Form plain = {.precision = -1};
    Text text = {0};
    form_value(&text, &plain, kind, value);
    int32_t status = file_fail(job, ADL_ERROR_FORMAT, "element %s is %s, which %s cannot hold",
                               index, text.failed ? "a number" : text.ptr, kind_name(wanted));
    text_free(&text);
    return status;
}
