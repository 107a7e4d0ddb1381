/* form.c: printf forms and arrays as text. */
#include "core/form.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/allocator.h"
#include "core/kinds.h"

#define LARGEST_WIDTH 9999
#define ELIDE_ABOVE 1000
#define EDGE 3

/* -- forms -- */

/* Reads digits at *P up to END; -1 if the number is too large. */
static int read_number(const char **p, const char *end) {
    int number = 0;
    for (; *p < end && **p >= '0' && **p <= '9'; ++*p) {
        number = number * 10 + (**p - '0');
        if (number > LARGEST_WIDTH) return -1;
    }
    return number;
}

bool form_parse(const char *ptr, int64_t len, Form *form) {
    const char *p = ptr, *end = ptr + len;
    size_t flags = 0;
    *form = (Form){.precision = -1};
    if (len <= 0) return true;
    for (; p < end && strchr("-+ #0", *p) && *p; p++)
        if (!strchr(form->flags, *p)) form->flags[flags++] = *p;
    form->width = read_number(&p, end);
    if (form->width < 0) return false;
    if (p < end && *p == '.') {
        p++;
        form->precision = read_number(&p, end);
        if (form->precision < 0) return false;
    }
    if (p < end && *p && strchr("diuxXobeEfFgGaAs", *p)) form->letter = *p++;
    return p == end;
}

static bool is_float_letter(char letter) {
    return letter && strchr("eEfFgGaA", letter);
}

bool form_fits(const Form *form, int32_t kind) {
    if (!form->letter) return true;
    if (kind == ADL_KIND_STR) return form->letter == 's';
    if (kind_is_float(kind) || kind_is_complex(kind))
        return is_float_letter(form->letter) || form->letter == 's';
    return true;
}

/* LEN bytes at PTR in the width and flags of FORM. */
static void pad(Text *text, const Form *form, const char *ptr, size_t len) {
    size_t characters = 0;
    for (size_t i = 0; i < len; i++) characters += ((unsigned char)ptr[i] & 0xc0) != 0x80;
    size_t fill = (size_t)form->width > characters ? (size_t)form->width - characters : 0;
    bool left = strchr(form->flags, '-') != NULL;
    if (!left) text_fill(text, ' ', fill);
    text_add_n(text, ptr, len);
    if (left) text_fill(text, ' ', fill);
}

static void pad_text(Text *text, const Form *form, Text *inner) {
    if (inner->failed) text->failed = true;
    else pad(text, form, inner->ptr ? inner->ptr : "", inner->len);
    text_free(inner);
}

/* The printf format of FORM with LETTER after the length modifier MODIFIER. */
static void spell(const Form *form, const char *modifier, char letter, char out[40]) {
    int at = snprintf(out, 40, "%%%s", form->flags);
    if (form->width > 0) at += snprintf(out + at, (size_t)(40 - at), "%d", form->width);
    if (form->precision >= 0) at += snprintf(out + at, (size_t)(40 - at), ".%d", form->precision);
    snprintf(out + at, (size_t)(40 - at), "%s%c", modifier, letter);
}

/* The formats are made from checked parts only. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

static void add_float(Text *text, const Form *form, double value, bool single) {
    if (!is_float_letter(form->letter) && form->precision < 0) {
        Text inner = {0};
        if (!signbit(value) && strchr(form->flags, '+')) text_add(&inner, "+");
        if (single) text_f32(&inner, (float)value);
        else text_f64(&inner, value);
        pad_text(text, form, &inner);
        return;
    }
    char format[40];
    spell(form, "", is_float_letter(form->letter) ? form->letter : 'g', format);
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    locale_t old = c_locale ? uselocale(c_locale) : (locale_t)0;
    text_printf(text, format, value);
    if (c_locale) {
        uselocale(old);
        freelocale(c_locale);
    }
}

static void add_binary(Text *text, const Form *form, uint64_t value) {
    char digits[64];
    size_t at = sizeof digits;
    do digits[--at] = (char)('0' + (value & 1));
    while (value >>= 1);
    pad(text, form, digits + at, sizeof digits - at);
}

static void add_integer(Text *text, const Form *form, int32_t kind, int64_t value) {
    char format[40];
    bool is_signed = kind_is_signed(kind);
    if (is_float_letter(form->letter)) {
        add_float(text, form, is_signed ? (double)value : (double)(uint64_t)value, false);
        return;
    }
    char letter = form->letter && form->letter != 's' ? form->letter : 'd';
    if (letter == 'd' || letter == 'i' || letter == 'u') letter = is_signed ? 'd' : 'u';
    else if (kind_bytes(kind) < 8) /* the two's complement of its own width */
        value &= ((int64_t)1 << (8 * kind_bytes(kind))) - 1;
    if (letter == 'b') {
        add_binary(text, form, (uint64_t)value);
        return;
    }
    spell(form, "ll", letter, format);
    text_printf(text, format, (long long)value);
}

#pragma GCC diagnostic pop

/* The parts of VALUE side by side, "1.0-2.0i"; the width is that of the whole. */
static void add_complex(Text *text, const Form *form, int32_t kind, const void *value) {
    bool single = kind == ADL_KIND_C64;
    int32_t part = single ? ADL_KIND_F32 : ADL_KIND_F64;
    const char *bytes = value;
    Form plain = *form, plus = *form;
    Text inner = {0};
    plain.width = plus.width = 0;
    if (!strchr(plus.flags, '+')) strcat(plus.flags, "+");
    add_float(&inner, &plain, kind_load_float(part, bytes), single);
    add_float(&inner, &plus, kind_load_float(part, bytes + kind_bytes(part)), single);
    text_add(&inner, "i");
    pad_text(text, form, &inner);
}

static void add_str(Text *text, const Form *form, const AdlStr *str) {
    int64_t len = str->len;
    if (form->precision >= 0 && form->precision < len) {
        len = form->precision;
        while (len > 0 && ((unsigned char)str->ptr[len] & 0xc0) == 0x80) len--;
    }
    pad(text, form, str->ptr, (size_t)len);
}

void form_value(Text *text, const Form *form, int32_t kind, const void *value) {
    if (kind == ADL_KIND_STR) add_str(text, form, value);
    else if (kind_is_complex(kind)) add_complex(text, form, kind, value);
    else if (kind_is_float(kind))
        add_float(text, form, kind_load_float(kind, value), kind != ADL_KIND_F64);
    else if (kind == ADL_KIND_BOOL && (!form->letter || form->letter == 's')) {
        const char *word = kind_load_integer(kind, value) ? "true" : "false";
        pad(text, form, word, strlen(word));
    } else add_integer(text, form, kind, kind_load_integer(kind, value));
}

/* -- arrays -- */

typedef struct Grid {
    const Form *form;
    const int64_t *dims;
    const char *data;
    int32_t kind, rank;
    bool elided;
    size_t width; /* of a column, 0: each as wide as it is */
} Grid;

/* The index after I in a dimension of SIZE that may be elided. */
static int64_t next_index(const Grid *grid, int64_t i, int64_t size) {
    return grid->elided && size > 2 * EDGE && i == EDGE - 1 ? size - EDGE : i + 1;
}

static void add_element(Text *text, const Grid *grid, int64_t at) {
    Text inner = {0};
    form_value(&inner, grid->form, grid->kind, grid->data + at * kind_bytes(grid->kind));
    if (inner.failed) text->failed = true;
    if (inner.len < grid->width) text_fill(text, ' ', grid->width - inner.len);
    text_add_n(text, inner.ptr ? inner.ptr : "", inner.len);
    text_free(&inner);
}

/* The widest element that is shown, from dimension AXIS on, where AT counts elements before it. */
static size_t widest(const Grid *grid, int32_t axis, int64_t at) {
    if (axis == grid->rank) {
        Text inner = {0};
        form_value(&inner, grid->form, grid->kind, grid->data + at * kind_bytes(grid->kind));
        size_t width = inner.len;
        text_free(&inner);
        return width;
    }
    size_t width = 0;
    int64_t size = grid->dims[axis];
    for (int64_t i = 0; i < size; i = next_index(grid, i, size)) {
        size_t here = widest(grid, axis + 1, at * size + i);
        width = here > width ? here : width;
    }
    return width;
}

static void add_separator(Text *text, const Grid *grid, int32_t axis) {
    if (axis + 1 == grid->rank) {
        text_add(text, ", ");
        return;
    }
    text_add(text, ",");
    text_fill(text, '\n', (size_t)(grid->rank - axis - 1));
    text_fill(text, ' ', (size_t)axis + 1);
}

static void add_axis(Text *text, const Grid *grid, int32_t axis, int64_t at) {
    if (axis == grid->rank) {
        add_element(text, grid, at);
        return;
    }
    int64_t size = grid->dims[axis];
    text_add(text, "[");
    for (int64_t i = 0; i < size;) {
        add_axis(text, grid, axis + 1, at * size + i);
        int64_t next = next_index(grid, i, size);
        if (next < size) add_separator(text, grid, axis);
        if (next > i + 1) {
            text_add(text, "...");
            add_separator(text, grid, axis);
        }
        i = next;
    }
    text_add(text, "]");
}

void form_array(Text *text, const Form *form, int32_t kind, int32_t rank, const int64_t *dims,
                const void *data) {
    Grid grid = {form, dims, data, kind, rank, false, 0};
    bool empty = false, large = false;
    int64_t count = 1;
    for (int32_t i = 0; i < rank; i++)
        if (dims[i] <= 0) empty = true;
        else if (__builtin_mul_overflow(count, dims[i], &count)) large = true;
    grid.elided = !empty && (large || count > ELIDE_ABOVE);
    if (empty) text_add(text, "[]");
    else {
        if (rank > 1) grid.width = widest(&grid, 0, 0);
        add_axis(text, &grid, 0, 0);
    }
    if (!grid.elided && !(empty && rank > 1)) return;
    text_add(text, " (shape [");
    for (int32_t i = 0; i < rank; i++)
        text_printf(text, "%s%lld", i ? ", " : "", (long long)dims[i]);
    text_add(text, "])");
}
