/* text.c: growing texts, and floats in their shortest form. */
#include "core/text.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/allocator.h"

static bool reserve(Text *text, size_t extra) {
    if (text->failed) return false;
    if (extra >= SIZE_MAX / 4 - text->len) {
        text->failed = true;
        return false;
    }
    size_t need = text->len + extra + 1;
    if (need <= text->cap) return true;
    size_t cap = text->cap ? text->cap : 128;
    while (cap < need) cap *= 2;
    char *grown = allocator_grow(text->ptr, text->cap, cap);
    if (!grown) {
        text->failed = true;
        return false;
    }
    text->ptr = grown;
    text->cap = cap;
    return true;
}

void text_add_n(Text *text, const char *ptr, size_t len) {
    if (!reserve(text, len)) return;
    if (len > 0) memcpy(text->ptr + text->len, ptr, len);
    text->len += len;
    text->ptr[text->len] = '\0';
}

void text_add(Text *text, const char *zero_terminated) {
    text_add_n(text, zero_terminated, strlen(zero_terminated));
}

void text_fill(Text *text, char c, size_t count) {
    if (!reserve(text, count)) return;
    memset(text->ptr + text->len, c, count);
    text->len += count;
    text->ptr[text->len] = '\0';
}

void text_printf(Text *text, const char *format, ...) {
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (len < 0) text->failed = true;
    else if (reserve(text, (size_t)len)) {
        vsnprintf(text->ptr + text->len, (size_t)len + 1, format, again);
        text->len += (size_t)len;
    }
    va_end(again);
}

void text_free(Text *text) {
    allocator_give(text->ptr, text->cap);
    *text = (Text){0};
}

/* Puts DIGITS, a decimal mantissa without point, times 10^(exponent) for its first digit, in the
   form that Python uses: positional for exponents from -4 to 15, else with an 'e'. */
static void add_decimal(Text *text, const char *digits, int exponent) {
    int count = (int)strlen(digits);
    if (exponent < -4 || exponent >= 16) {
        text_add_n(text, digits, 1);
        if (count > 1) {
            text_add(text, ".");
            text_add(text, digits + 1);
        }
        text_printf(text, "e%c%02d", exponent < 0 ? '-' : '+', abs(exponent));
    } else if (exponent < 0) {
        text_add(text, "0.");
        text_fill(text, '0', (size_t)(-exponent - 1));
        text_add(text, digits);
    } else if (count <= exponent + 1) {
        text_add(text, digits);
        text_fill(text, '0', (size_t)(exponent + 1 - count));
        text_add(text, ".0");
    } else {
        text_add_n(text, digits, (size_t)exponent + 1);
        text_add(text, ".");
        text_add(text, digits + exponent + 1);
    }
}

/* Whether the PRECISION-digit form of VALUE, left in BUFFER, reads back to VALUE. */
static bool reads_back(double value, bool single, int precision, char buffer[40]) {
    snprintf(buffer, 40, "%.*e", precision - 1, value);
    return single ? strtof(buffer, NULL) == (float)value : strtod(buffer, NULL) == value;
}

static void add_shortest(Text *text, double value, bool single) {
    if (isnan(value)) {
        text_add(text, "nan");
        return;
    }
    if (signbit(value)) text_add(text, "-");
    value = fabs(value);
    if (isinf(value)) {
        text_add(text, "inf");
        return;
    }
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    locale_t old = c_locale ? uselocale(c_locale) : (locale_t)0;
    char buffer[40], digits[40];
    /* 15 and 6 digits survive normal numbers, so that zeros at their end can go; subnormal ones
       have fewer. */
    int precision = single ? 6 : 15, most = single ? 9 : 17;
    if (value < (single ? (double)FLT_MIN : DBL_MIN)) precision = 1;
    while (!reads_back(value, single, precision, buffer) && precision < most) precision++;
    if (c_locale) {
        uselocale(old);
        freelocale(c_locale);
    }
    char *e = strchr(buffer, 'e');
    int exponent = e ? atoi(e + 1) : 0;
    size_t count = 0;
    for (const char *p = buffer; p != e && *p; p++)
        if (*p >= '0' && *p <= '9') digits[count++] = *p;
    while (count > 1 && digits[count - 1] == '0') count--;
    digits[count] = '\0';
    add_decimal(text, digits, exponent);
}

void text_f64(Text *text, double value) {
    add_shortest(text, value, false);
}

void text_f32(Text *text, float value) {
    add_shortest(text, (double)value, true);
}
