/* Numbers are cleaned of underscores, then read by strtod and strtof in the C locale: these round
   once and correctly, also for hexadecimal floats. */
#define _GNU_SOURCE /* newlocale, strtod_l */
#include "base/num.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

bool size_mul(size_t a, size_t b, size_t *result) {
    return !__builtin_mul_overflow(a, b, result);
}

bool size_add(size_t a, size_t b, size_t *result) {
    return !__builtin_add_overflow(a, b, result);
}

static int digit_value(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return 16;
}

static bool has_prefix(const char *text, size_t len, char letter) {
    return len > 2 && text[0] == '0' && (text[1] | 0x20) == letter;
}

bool num_parse_u64(const char *text, size_t len, uint64_t *value) {
    uint64_t sum = 0, base = 10;
    bool any = false;
    if (has_prefix(text, len, 'x')) base = 16;
    else if (has_prefix(text, len, 'b')) base = 2;
    else if (has_prefix(text, len, 'o')) base = 8;
    for (size_t i = base == 10 ? 0 : 2; i < len; i++) {
        if (text[i] == '_') continue;
        uint64_t digit = (uint64_t)digit_value(text[i]);
        if (digit >= base) return false;
        if (__builtin_mul_overflow(sum, base, &sum)) return false;
        if (__builtin_add_overflow(sum, digit, &sum)) return false;
        any = true;
    }
    *value = sum;
    return any;
}

/* A number without underscores, zero-terminated; freed by the caller unless it is SMALL.  NULL if
   a character cannot stand in a number (strtod alone would take "inf", "nan" and blanks). */
static char *clean(const char *text, size_t len, char small[64]) {
    char *copy = small;
    size_t n = 0;
    bool hex = has_prefix(text, len, 'x');
    if (len == 0 || (digit_value(text[0]) > 9 && text[0] != '.')) return NULL;
    if (len >= 64) copy = malloc(len + 1);
    if (!copy) return NULL;
    for (size_t i = 0; i < len; i++) {
        char c = text[i];
        if (c == '_') continue;
        bool digit = digit_value(c) < (hex ? 16 : 10);
        bool mark = c == '.' || c == '+' || c == '-' || (c | 0x20) == (hex ? 'p' : 'e');
        if (!digit && !mark && !(hex && i == 1)) {
            if (copy != small) free(copy);
            return NULL;
        }
        copy[n++] = c;
    }
    copy[n] = '\0';
    return copy;
}

/* Reads TEXT into *F if F is given, else into *D. */
static bool parse_float(const char *text, size_t len, double *d, float *f) {
    char small[64], *end = NULL;
    char *number = clean(text, len, small);
    if (!number) return false;
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    bool ok = c_locale != (locale_t)0;
    if (ok) {
        if (f) *f = strtof_l(number, &end, c_locale);
        else *d = strtod_l(number, &end, c_locale);
        ok = end != number && *end == '\0';
        freelocale(c_locale);
    }
    if (number != small) free(number);
    return ok;
}

bool num_parse_double(const char *text, size_t len, double *value) {
    return parse_float(text, len, value, NULL);
}

bool num_parse_float(const char *text, size_t len, float *value) {
    return parse_float(text, len, NULL, value);
}

size_t utf8_count(const char *text, size_t len) {
    size_t count = 0;
    for (size_t i = 0; i < len; i++) count += ((unsigned char)text[i] & 0xC0) != 0x80;
    return count;
}

/* Length of the sequence that LEAD begins, the range of its second byte in LOW and HIGH (which
   excludes overlong forms, surrogates and what lies beyond U+10FFFF); 0 if none begins so. */
static size_t sequence(unsigned char lead, unsigned char *low, unsigned char *high) {
    *low = 0x80;
    *high = 0xBF;
    if (lead < 0x80) return 1;
    if (lead < 0xC2) return 0;
    if (lead < 0xE0) return 2;
    if (lead < 0xF0) {
        if (lead == 0xE0) *low = 0xA0;
        if (lead == 0xED) *high = 0x9F;
        return 3;
    }
    if (lead > 0xF4) return 0;
    if (lead == 0xF0) *low = 0x90;
    if (lead == 0xF4) *high = 0x8F;
    return 4;
}

size_t utf8_check(const char *text, size_t len) {
    const unsigned char *at = (const unsigned char *)text;
    size_t i = 0;
    while (i < len) {
        unsigned char low, high;
        size_t n = sequence(at[i], &low, &high);
        if (n == 0 || n > len - i) return i;
        if (n > 1 && (at[i + 1] < low || at[i + 1] > high)) return i;
        for (size_t k = 2; k < n; k++)
            if ((at[i + k] & 0xC0) != 0x80) return i;
        i += n;
    }
    return len;
}
