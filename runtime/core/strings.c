/* strings.c: the texts of programs. */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/error.h"
#include "core/form.h"
#include "core/kinds.h"
#include "core/text.h"

/* Moves TEXT into a new block. */
static int32_t deliver(AdlContext *context, Text *text, AdlStr *out) {
    char *data = text->failed ? NULL : adl__alloc(context, (int64_t)text->len);
    if (text->failed) error_memory(context, NULL, (int64_t)text->len);
    else if (data) {
        if (text->len > 0) memcpy(data, text->ptr, text->len);
        *out = (AdlStr){data, (int64_t)text->len};
    }
    text_free(text);
    return data ? ADL_OK : ADL_ERROR_MEMORY;
}

int32_t adl__str_concat(AdlContext *context, const char *a, int64_t a_len, const char *b,
                        int64_t b_len, AdlStr *out) {
    int64_t len = a_len + b_len;
    char *data = adl__alloc(context, len);
    if (!data) return ADL_ERROR_MEMORY;
    if (a_len > 0) memcpy(data, a, (size_t)a_len);
    if (b_len > 0) memcpy(data + a_len, b, (size_t)b_len);
    *out = (AdlStr){data, len};
    return ADL_OK;
}

int32_t adl__str_equal(const char *a, int64_t a_len, const char *b, int64_t b_len) {
    return a_len == b_len && (a_len == 0 || memcmp(a, b, (size_t)a_len) == 0);
}

/* Parses a form for KIND; an error if it does not fit. */
static int32_t parse(AdlContext *context, const char *form, int64_t form_len, int32_t kind,
                     Form *parsed) {
    if (form_parse(form, form_len, parsed) && form_fits(parsed, kind)) return ADL_OK;
    return error_note(context, ADL_ERROR_ARGUMENT, NULL,
                      "\"%.*s\" is no form for a value of type %s",
                      (int)(form_len < 100 ? form_len : 100), form, kind_name(kind));
}

int32_t adl__format_value(AdlContext *context, const char *form, int64_t form_len, int32_t kind,
                          const void *value, AdlStr *out) {
    Form parsed;
    Text text = {0};
    int32_t status = parse(context, form, form_len, kind, &parsed);
    if (status != 0) return status;
    form_value(&text, &parsed, kind, value);
    return deliver(context, &text, out);
}

int32_t adl__format_i64(AdlContext *context, const char *form, int64_t form_len, int64_t value,
                        AdlStr *out) {
    return adl__format_value(context, form, form_len, ADL_KIND_I64, &value, out);
}

int32_t adl__format_u64(AdlContext *context, const char *form, int64_t form_len, int64_t value,
                        AdlStr *out) {
    return adl__format_value(context, form, form_len, ADL_KIND_U64, &value, out);
}

int32_t adl__format_f64(AdlContext *context, const char *form, int64_t form_len, double value,
                        AdlStr *out) {
    return adl__format_value(context, form, form_len, ADL_KIND_F64, &value, out);
}

int32_t adl__format_f32(AdlContext *context, const char *form, int64_t form_len, float value,
                        AdlStr *out) {
    return adl__format_value(context, form, form_len, ADL_KIND_F32, &value, out);
}

int32_t adl__format_bool(AdlContext *context, const char *form, int64_t form_len, int32_t value,
                         AdlStr *out) {
    uint8_t truth = value != 0;
    return adl__format_value(context, form, form_len, ADL_KIND_BOOL, &truth, out);
}

int32_t adl__format_str(AdlContext *context, const char *form, int64_t form_len, const char *ptr,
                        int64_t len, AdlStr *out) {
    AdlStr value = {ptr, len};
    return adl__format_value(context, form, form_len, ADL_KIND_STR, &value, out);
}

int32_t adl__format_array(AdlContext *context, const char *form, int64_t form_len, int32_t kind,
                          int32_t rank, const int64_t *dims, const void *data, AdlStr *out) {
    Form parsed;
    Text text = {0};
    int32_t status = parse(context, form, form_len, kind, &parsed);
    if (status != 0) return status;
    form_array(&text, &parsed, kind, rank, dims, data);
    return deliver(context, &text, out);
}

int32_t adl__print(AdlContext *context, const char *ptr, int64_t len) {
    bool ok = len <= 0 || fwrite(ptr, 1, (size_t)len, stdout) == (size_t)len;
    if (ok && fputc('\n', stdout) != EOF) return ADL_OK;
    return error_note(context, ADL_ERROR_IO, NULL, "cannot write to standard output");
}

void adl__progress(int64_t i, int64_t n, const char *label, int64_t label_len) {
    if (n <= 0 || !isatty(STDERR_FILENO)) return;
    /* Only where the percentage changes, and at the end. */
    int64_t done = i + 1 < n ? i + 1 : n;
    int percent = (int)((double)done / (double)n * 100.0);
    int before = (int)((double)(done - 1) / (double)n * 100.0);
    if (percent == before && done != n && done != 1) return;
    fprintf(stderr, "\r%.*s %3d %%%s", (int)(label_len < 200 ? label_len : 200), label, percent,
            done == n ? "\n" : "");
    fflush(stderr);
}

double adl__time(AdlContext *context) {
    (void)context;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
