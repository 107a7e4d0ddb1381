/* error.c: the first error of a context, and the last message of a thread. */
#include "core/error.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "core/allocator.h"
#include "core/lock.h"
#include "core/text.h"

static _Thread_local char last_message[4096];

const char *adl_strerror(int code) {
    switch ((adl_error)code) {
    case ADL_OK: return "no error";
    case ADL_ERROR_INDEX: return "index out of range";
    case ADL_ERROR_SIZE: return "sizes do not agree";
    case ADL_ERROR_ASSERT: return "assertion failed";
    case ADL_ERROR_DOMAIN: return "integer operation out of its domain";
    case ADL_ERROR_MEMORY: return "out of memory";
    case ADL_ERROR_IO: return "input or output error";
    case ADL_ERROR_FORMAT: return "wrong file contents";
    case ADL_ERROR_ARGUMENT: return "invalid argument";
    case ADL_ERROR_TAPE: return "invalid tape";
    case ADL_ERROR_EMPTY: return "reduction of nothing";
    case ADL_ERROR_OVERFLOW: return "integer overflow";
    case ADL_ERROR_DEVICE: return "device error";
    case ADL_ERROR_DEPTH: return "recursion too deep";
    }
    return "unknown error";
}

const char *adl_last_error_message(void) {
    return last_message;
}

const char *adl_version(void) {
    return ADL_VERSION;
}

/* True for the one caller whose error becomes that of CONTEXT. */
static bool claim(AdlContext *context, int32_t code) {
    int32_t none = 0;
    return __atomic_compare_exchange_n(&context->error, &none, code, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_ACQUIRE);
}

static void start(Text *text, const AdlSite *site) {
    if (!site || !site->file) return;
    if (site->line > 0) text_printf(text, "%s:%d: ", site->file, (int)site->line);
    else text_printf(text, "%s: ", site->file);
}

/* Moves TEXT, PLACE bytes of which name a place in the library, into CONTEXT; without memory for it
   the message is that of the code. */
static void finish(AdlContext *context, Text *text, int64_t place) {
    if (text->failed || !text->ptr) {
        text_free(text);
        return;
    }
    context_lock(context);
    context->message = text->ptr;
    context->message_bytes = (int64_t)text->cap;
    context->library_place = place;
    context_unlock(context);
}

/* The bytes of TEXT, which start() began, that name a place in the library; ADL_NO_PLACE without
   any place. */
static int64_t library_place(const Text *text, const AdlSite *site) {
    if (!site) return ADL_NO_PLACE;
    return site->library ? (int64_t)text->len : 0;
}

int32_t adl__fail_called(AdlContext *context, int32_t code, const AdlSite *site) {
    context_lock(context);
    if (context->message && context->library_place) {
        Text text = {0};
        start(&text, site);
        int64_t skip = context->library_place == ADL_NO_PLACE ? 0 : context->library_place;
        text_add(&text, context->message + skip);
        if (text.failed || !text.ptr) {
            text_free(&text);
        } else {
            allocator_give(context->message, (size_t)context->message_bytes);
            context->message = text.ptr;
            context->message_bytes = (int64_t)text.cap;
            context->library_place = 0;
        }
    }
    context_unlock(context);
    return code;
}

int32_t error_note(AdlContext *context, int32_t code, const AdlSite *site, const char *format,
                   ...) {
    if (!claim(context, code)) return code;
    Text text = {0};
    start(&text, site);
    int64_t place = library_place(&text, site);
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (len >= 0) {
        char small[256], *room = small;
        size_t bytes = (size_t)len + 1;
        if (bytes > sizeof small) room = allocator_take(bytes);
        if (room) {
            vsnprintf(room, bytes, format, again);
            text_add_n(&text, room, (size_t)len);
        }
        if (room != small) allocator_give(room, bytes);
    }
    va_end(again);
    finish(context, &text, place);
    return code;
}

int32_t error_memory(AdlContext *context, const AdlSite *site, int64_t bytes) {
    return error_note(context, ADL_ERROR_MEMORY, site, "out of memory: %lld bytes",
                      (long long)bytes);
}

static void add_argument(Text *text, const AdlArg *arg) {
    switch ((AdlArgTag)arg->tag) {
    case ADL_ARG_I64: text_printf(text, "%lld", (long long)arg->value.i); break;
    case ADL_ARG_U64: text_printf(text, "%llu", (unsigned long long)arg->value.i); break;
    case ADL_ARG_F64: text_f64(text, arg->value.f); break;
    case ADL_ARG_BOOL: text_add(text, arg->value.i ? "true" : "false"); break;
    case ADL_ARG_STR:
        if (arg->len < 0) text_add(text, arg->value.s);
        else text_add_n(text, arg->value.s, (size_t)arg->len);
        break;
    }
}

/* TEMPLATE with "{N}" replaced; "{{" and "}}" are braces; anything else stays as it is. */
static void expand(Text *text, const char *template, int32_t count, const AdlArg *args) {
    for (const char *p = template; *p; p++) {
        if ((*p == '{' || *p == '}') && p[1] == *p) text_add_n(text, p++, 1);
        else if (*p == '{' && p[1] >= '0' && p[1] <= '9' && p[2] == '}' && p[1] - '0' < count) {
            add_argument(text, &args[p[1] - '0']);
            p += 2;
        } else text_add_n(text, p, 1);
    }
}

int32_t adl__fail(AdlContext *context, int32_t code, const AdlSite *site, const char *template,
                  int32_t count, const AdlArg *args) {
    if (!claim(context, code)) return code;
    Text text = {0};
    start(&text, site);
    int64_t place = library_place(&text, site);
    expand(&text, template, count, args);
    finish(context, &text, place);
    return code;
}

int32_t adl__fail_text(AdlContext *context, int32_t code, const AdlSite *site,
                       const char *message) {
    return error_note(context, code, site, "%s", message);
}

int32_t adl__fail_index(AdlContext *context, const AdlSite *site, int64_t index, int64_t size,
                        int32_t axis, const char *name) {
    char dimension[48] = "";
    if (axis >= 0) snprintf(dimension, sizeof dimension, ", dimension %d", (int)axis);
    return error_note(context, ADL_ERROR_INDEX, site, "index %lld is out of range 0..%lld%s%s%s",
                      (long long)index, (long long)size, name ? " for " : "", name ? name : "",
                      dimension);
}

int32_t adl__fail_size(AdlContext *context, const AdlSite *site, const char *what_a, int64_t a,
                       const char *what_b, int64_t b) {
    return error_note(context, ADL_ERROR_SIZE, site, "%s is %lld, but %s is %lld", what_a,
                      (long long)a, what_b, (long long)b);
}

const char *error_message(const AdlContext *context, int32_t status) {
    return context->message ? context->message : adl_strerror(status);
}

void error_publish_text(const char *message) {
    size_t len = strlen(message);
    if (len >= sizeof last_message) {
        len = sizeof last_message - 1;
        while (len > 0 && ((unsigned char)message[len] & 0xc0) == 0x80)
            len--; /* never half of a character */
    }
    memcpy(last_message, message, len);
    last_message[len] = '\0';
}

void error_publish(AdlContext *context, int32_t status) {
    if (status != 0) error_publish_text(error_message(context, status));
    allocator_give(context->message, (size_t)context->message_bytes);
    context->message = NULL;
    context->message_bytes = 0;
}
