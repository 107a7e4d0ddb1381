/* Values of the interpreter from text, as ir_print_datum writes them. */
#include <math.h>
#include <string.h>

#include "base/num.h"
#include "ir/interp-internal.h"

typedef struct Reader {
    const char *at;
    IrType type;
    int64_t dims[IR_MAX_RANK];
    VEC(IrDatum) elements;
} Reader;

static void skip_blanks(Reader *r) {
    while (*r->at == ' ' || *r->at == '\n') r->at++;
}

static bool take(Reader *r, char c) {
    skip_blanks(r);
    if (*r->at != c) return false;
    r->at++;
    return true;
}

static bool read_real(const char *text, size_t len, bool single, double *x) {
    float f = 0;
    if (len == 3 && memcmp(text, "inf", 3) == 0) *x = INFINITY;
    else if (len == 3 && memcmp(text, "nan", 3) == 0) *x = NAN;
    else if (!single) return num_parse_double(text, len, x);
    else if (!num_parse_float(text, len, &f)) return false;
    else *x = (double)f;
    return true;
}

static bool read_scalar(Reader *r, IrDatum *datum) {
    IrScalar scalar = r->type->scalar;
    skip_blanks(r);
    bool minus = *r->at == '-';
    const char *text = r->at + minus;
    size_t len = strcspn(text, ", ])\n");
    uint64_t i = 0;
    double x = 0;
    r->at = text + len;
    if (scalar == IR_BOOL) {
        *datum = ir_datum_int(len == 4);
        return (len == 4 && memcmp(text, "true", 4) == 0) ||
               (len == 5 && memcmp(text, "false", 5) == 0);
    }
    if (ir_scalar_float(scalar) || scalar == IR_F16 || scalar == IR_BF16) {
        if (!read_real(text, len, scalar == IR_F32, &x)) return false;
        x = minus ? -x : x;
        *datum = ir_scalar_float(scalar)
                     ? ir_datum_float(x)
                     : ir_datum_int(ir_half_from_double(x, scalar == IR_F16 ? 10 : 7));
        return true;
    }
    if (!num_parse_u64(text, len, &i)) return false;
    *datum = ir_datum_int(ir_wrap(scalar, (int64_t)(minus ? 0 - i : i)));
    return true;
}

/* An array's part from dimension K on. */
static bool read_part(Reader *r, uint32_t k) {
    IrDatum element = {0};
    if (k == r->type->rank) {
        if (!read_scalar(r, &element)) return false;
        vec_push(&r->elements, element);
        return true;
    }
    int64_t n = 0;
    if (!take(r, '[')) return false;
    if (!take(r, ']')) {
        do {
            if (!read_part(r, k + 1)) return false;
            n++;
        } while (take(r, ','));
        if (!take(r, ']')) return false;
    }
    if (r->dims[k] < 0) r->dims[k] = n;
    return r->dims[k] == n;
}

static bool read_array(Reader *r, IrDatum *datum) {
    memcpy(r->dims, r->type->dims, sizeof r->dims);
    bool ok = read_part(r, 0);
    for (uint32_t k = 0; k < r->type->rank; k++)
        if (r->dims[k] < 0) r->dims[k] = 0;
    if (ok) {
        *datum = ir_datum_array(r->type->scalar, r->type->rank, r->dims);
        ok = datum->as.array->count == r->elements.len;
        for (uint32_t i = 0; ok && i < r->elements.len; i++)
            ir_array_set(datum->as.array, i, r->elements.at[i]);
        if (!ok) ir_datum_drop(datum);
    }
    vec_free(&r->elements);
    return ok;
}

bool ir_parse_datum(const char **text, IrType type, IrDatum *datum) {
    Reader reader = {.at = *text, .type = type};
    bool ok = false;
    *datum = (IrDatum){0};
    switch (type->kind) {
    case IR_T_SCALAR: ok = read_scalar(&reader, datum); break;
    case IR_T_ARRAY: ok = read_array(&reader, datum); break;
    case IR_T_STR:
    case IR_T_TAPE:
    case IR_T_ACC: break;
    }
    *text = reader.at;
    return ok;
}
