#include "base/strbuf.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fatal.h"
#include "base/memory.h"
#include "base/num.h"

/* Room for EXTRA more bytes and the final zero. */
static void reserve(StrBuf *buf, size_t extra) {
    size_t needed, cap = buf->cap ? buf->cap : 64;
    if (!size_add(buf->len, extra, &needed) || !size_add(needed, 1, &needed)) fatal_memory();
    if (needed <= buf->cap) return;
    while (cap < needed)
        if (!size_mul(cap, 2, &cap)) fatal_memory();
#ifdef ADL_STRESS
    cap = needed;
#endif
    buf->text = memory_resize(buf->text, buf->cap ? buf->len + 1 : 0, cap);
    buf->cap = cap;
}

void strbuf_add_n(StrBuf *buf, const char *text, size_t len) {
    reserve(buf, len);
    if (len) memcpy(buf->text + buf->len, text, len);
    buf->len += len;
    buf->text[buf->len] = '\0';
}

void strbuf_add(StrBuf *buf, const char *text) {
    strbuf_add_n(buf, text, strlen(text));
}

void strbuf_char(StrBuf *buf, char c) {
    strbuf_add_n(buf, &c, 1);
}

void strbuf_vprintf(StrBuf *buf, const char *format, va_list args) {
    va_list again;
    va_copy(again, args);
    reserve(buf, 64);
    size_t room = buf->cap - buf->len;
    int len = vsnprintf(buf->text + buf->len, room, format, args);
    CHECK_INTERNAL(len >= 0);
    if ((size_t)len >= room) {
        buf->text[buf->len] = '\0';
        reserve(buf, (size_t)len);
        vsnprintf(buf->text + buf->len, (size_t)len + 1, format, again);
    }
    va_end(again);
    buf->len += (size_t)len;
}

void strbuf_printf(StrBuf *buf, const char *format, ...) {
    va_list args;
    va_start(args, format);
    strbuf_vprintf(buf, format, args);
    va_end(args);
}

/* The shortest of %.15g to %.17g that reads back; the locale's decimal point becomes '.'. */
void strbuf_double(StrBuf *buf, double x) {
    char text[40];
    if (isnan(x)) {
        strbuf_add(buf, "nan");
        return;
    }
    if (isinf(x)) {
        strbuf_add(buf, x < 0 ? "-inf" : "inf");
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, x);
        if (strtod(text, NULL) == x) break;
    }
    bool is_float = false;
    for (char *c = text; *c; c++) {
        if (*c == 'e') is_float = true;
        if ((*c >= '0' && *c <= '9') || *c == '-' || *c == '+' || *c == 'e') continue;
        *c = '.';
        is_float = true;
    }
    strbuf_add(buf, text);
    if (!is_float) strbuf_add(buf, ".0");
}

void strbuf_json(StrBuf *buf, const char *text, size_t len) {
    strbuf_char(buf, '"');
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        switch (c) {
        case '"': strbuf_add(buf, "\\\""); break;
        case '\\': strbuf_add(buf, "\\\\"); break;
        case '\n': strbuf_add(buf, "\\n"); break;
        case '\t': strbuf_add(buf, "\\t"); break;
        case '\r': strbuf_add(buf, "\\r"); break;
        default:
            if (c < 0x20 || c == 0x7f) strbuf_printf(buf, "\\u%04x", c);
            else strbuf_char(buf, (char)c);
        }
    }
    strbuf_char(buf, '"');
}

void strbuf_clear(StrBuf *buf) {
    buf->len = 0;
    if (buf->text) buf->text[0] = '\0';
}

void strbuf_free(StrBuf *buf) {
    free(buf->text);
    *buf = (StrBuf){0};
}
