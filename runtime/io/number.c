/* number.c: short decimals by one exact multiplication or division, all others by strtod. */
#include "io/number.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/kinds.h"
#include "io/convert.h"

/* A decimal with at most 2^53 as its digits and a power of ten up to 22 is exact in two factors. */
static bool parse_short(const char *p, const char *end, double *out) {
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                    1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    bool negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+')) p++;
    uint64_t digits = 0;
    int count = 0, exponent = 0;
    bool point = false;
    for (; p < end && ((*p >= '0' && *p <= '9') || (*p == '.' && !point)); p++) {
        if (*p == '.') {
            point = true;
            continue;
        }
        digits = digits * 10 + (uint64_t)(*p - '0');
        exponent -= point;
        if (++count > 18) return false;
    }
    if (p != end || count == 0 || digits > UINT64_C(1) << 53 || exponent < -22) return false;
    double value = (double)digits / powers[-exponent];
    *out = negative ? -value : value;
    return true;
}

bool number_parse_f64(const char *begin, const char *end, double *out) {
    if (begin == end) return false;
    if (parse_short(begin, end, out)) return true;
    if (!strchr("+-.0123456789infINF", *begin)) return false;
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!c_locale) return false;
    locale_t old = uselocale(c_locale);
    char *stop;
    *out = strtod(begin, &stop);
    uselocale(old);
    freelocale(c_locale);
    return stop == end;
}

/* An integer of KIND, written as one; so that 64 bits lose nothing. */
static bool parse_integer(int32_t kind, const char *begin, const char *end, void *out) {
    char *stop;
    const char *digits = begin + (*begin == '-' || *begin == '+');
    if (digits == end || *digits < '0' || *digits > '9') return false;
    errno = 0;
    if (*begin == '-') {
        long long value = strtoll(begin, &stop, 10);
        return errno == 0 && stop == end && convert_value(ADL_KIND_I64, &value, kind, out);
    }
    unsigned long long value = strtoull(begin, &stop, 10);
    return errno == 0 && stop == end && convert_value(ADL_KIND_U64, &value, kind, out);
}

static bool parse_bool(const char *begin, const char *end, void *out) {
    size_t len = (size_t)(end - begin);
    bool yes = (len == 4 && strncmp(begin, "true", 4) == 0) ||
               (len == 4 && strncmp(begin, "True", 4) == 0) || (len == 1 && *begin == '1');
    bool no = (len == 5 && strncmp(begin, "false", 5) == 0) ||
              (len == 5 && strncmp(begin, "False", 5) == 0) || (len == 1 && *begin == '0');
    *(uint8_t *)out = yes;
    return yes || no;
}

/* "a", "bi" or "a+bi". */
static bool parse_complex(int32_t kind, const char *begin, const char *end, void *out) {
    double parts[2] = {0, 0};
    if (end[-1] != 'i') {
        if (!number_parse_f64(begin, end, &parts[0])) return false;
        return convert_value(ADL_KIND_F64, parts, kind, out);
    }
    const char *split = end - 1;
    while (split > begin &&
           !((*split == '+' || *split == '-') && split[-1] != 'e' && split[-1] != 'E'))
        split--;
    char imaginary[400];
    size_t len = (size_t)(end - 1 - split);
    if (len == 0 || len >= sizeof imaginary) return false;
    memcpy(imaginary, split, len);
    imaginary[len] = '\0';
    if (!number_parse_f64(imaginary, imaginary + len, &parts[1])) return false;
    if (split > begin) {
        char real[400];
        len = (size_t)(split - begin);
        if (len >= sizeof real) return false;
        memcpy(real, begin, len);
        real[len] = '\0';
        if (!number_parse_f64(real, real + len, &parts[0])) return false;
    }
    return convert_value(ADL_KIND_C128, parts, kind, out);
}

bool number_parse(int32_t kind, const char *begin, const char *end, void *out) {
    double value;
    if (begin == end) return false;
    if (kind == ADL_KIND_BOOL) return parse_bool(begin, end, out);
    if (kind_is_complex(kind)) return parse_complex(kind, begin, end, out);
    if ((kind_is_signed(kind) || kind_is_unsigned(kind)) && parse_integer(kind, begin, end, out))
        return true;
    return number_parse_f64(begin, end, &value) && convert_value(ADL_KIND_F64, &value, kind, out);
}
