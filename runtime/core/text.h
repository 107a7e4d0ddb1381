/* text.h: a text that grows, for messages and formatted values.

   Running out of memory sets `failed` and drops what comes after; the user checks once, at the end.
 */
#ifndef ADL_RUNTIME_CORE_TEXT_H
#define ADL_RUNTIME_CORE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Text {
    char *ptr; /* zero-terminated once anything was added; NULL before */
    size_t len, cap;
    bool failed;
} Text;

void text_add(Text *text, const char *zero_terminated);
void text_add_n(Text *text, const char *ptr, size_t len);
/* COUNT times C. */
void text_fill(Text *text, char c, size_t count);
void text_printf(Text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_free(Text *text);

/* The shortest decimal that reads back to VALUE, as Python's repr writes it: "0.1", "1e-07", "2.0",
   "inf", "nan".  Independent of the locale. */
void text_f64(Text *text, double value);
void text_f32(Text *text, float value);

#endif
