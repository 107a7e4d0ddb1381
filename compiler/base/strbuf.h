/* StrBuf: a text that grows.  Starts as {0}; freed with strbuf_free. */
#ifndef ADL_BASE_STRBUF_H
#define ADL_BASE_STRBUF_H

#include <stdarg.h>
#include <stddef.h>

typedef struct StrBuf {
    char *text; /* zero-terminated once anything was added; NULL before */
    size_t len, cap;
} StrBuf;

void strbuf_add(StrBuf *buf, const char *text);
void strbuf_add_n(StrBuf *buf, const char *text, size_t len);
void strbuf_char(StrBuf *buf, char c);
void strbuf_printf(StrBuf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));
void strbuf_vprintf(StrBuf *buf, const char *format, va_list args);
/* A double so that it reads back to the same bits, with a '.' or exponent, "inf", "nan". */
void strbuf_double(StrBuf *buf, double x);
/* TEXT as a JSON string, quotes included. */
void strbuf_json(StrBuf *buf, const char *text, size_t len);
void strbuf_clear(StrBuf *buf);
void strbuf_free(StrBuf *buf);

#endif
