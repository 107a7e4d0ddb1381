/* The values of the interpreter: scalars, arrays, texts, tapes. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fatal.h"
#include "base/memory.h"
#include "ir/internal.h"
#include "ir/interp-internal.h"

IrDatum ir_datum_int(int64_t i) {
    return (IrDatum){IR_D_INT, {.i = i}};
}

IrDatum ir_datum_float(double f) {
    return (IrDatum){IR_D_FLOAT, {.f = f}};
}

IrDatum ir_datum_text(const char *text, size_t len) {
    IrText *copy = memory_alloc(sizeof *copy + len + 1);
    copy->refs = 1;
    copy->len = len;
    if (len) memcpy(copy->text, text, len);
    copy->text[len] = '\0';
    return (IrDatum){IR_D_TEXT, {.text = copy}};
}

IrDatum ir_datum_array(IrScalar scalar, uint32_t rank, const int64_t *dims) {
    IrArray *array = memory_zeroed(1, sizeof *array);
    array->refs = 1;
    array->scalar = scalar;
    array->rank = rank;
    array->count = 1;
    for (uint32_t k = 0; k < rank; k++) {
        array->dims[k] = dims[k];
        CHECK_INTERNAL(dims[k] >= 0 &&
                       !__builtin_mul_overflow(array->count, dims[k], &array->count));
    }
    array->data = memory_zeroed((size_t)array->count + 1, ir_scalar_bytes(scalar));
    return (IrDatum){IR_D_ARRAY, {.array = array}};
}

/* ---- counting ---- */

IrDatum ir_datum_share(IrDatum datum) {
    switch (datum.kind) {
    case IR_D_NONE:
    case IR_D_INT:
    case IR_D_FLOAT: break;
    case IR_D_ARRAY:
    case IR_D_LANES:
    case IR_D_ACC: datum.as.array->refs++; break;
    case IR_D_TEXT: datum.as.text->refs++; break;
    case IR_D_TAPE:
        if (datum.as.tape) datum.as.tape->refs++;
        break;
    }
    return datum;
}

static void drop_array(IrArray *array) {
    if (--array->refs) return;
    free(array->data);
    free(array);
}

/* Tapes are long: no recursion along them. */
static void drop_tape(IrTapeCell *cell) {
    while (cell && --cell->refs == 0) {
        IrTapeCell *below = cell->below;
        for (uint32_t i = 0; i < cell->n; i++) ir_datum_drop(&cell->values[i]);
        free(cell);
        cell = below;
    }
}

void ir_datum_drop(IrDatum *datum) {
    IrDatum old = *datum;
    *datum = (IrDatum){0};
    switch (old.kind) {
    case IR_D_NONE:
    case IR_D_INT:
    case IR_D_FLOAT: break;
    case IR_D_ARRAY:
    case IR_D_LANES:
    case IR_D_ACC: drop_array(old.as.array); break;
    case IR_D_TEXT:
        if (--old.as.text->refs == 0) free(old.as.text);
        break;
    case IR_D_TAPE: drop_tape(old.as.tape); break;
    }
}

IrArray *ir_array_own(IrDatum *datum) {
    IrArray *array = datum->as.array;
    if (array->refs > 1) {
        IrDatum copy = ir_datum_array(array->scalar, array->rank, array->dims);
        ir_array_copy(copy.as.array, 0, array, 0, array->count);
        ir_datum_drop(datum);
        array = copy.as.array;
    }
    *datum = (IrDatum){0};
    return array;
}

IrTapeCell *ir_tape_push(IrDatum *tape, const IrInst *push) {
    uint32_t n = push->noperands - 1;
    IrTapeCell *cell = memory_zeroed(1, sizeof *cell + n * sizeof cell->values[0]);
    cell->pushed = push;
    cell->refs = 1;
    cell->n = n;
    cell->below = tape->as.tape;
    *tape = (IrDatum){0};
    return cell;
}

/* X + Y, of the types that may be pushed with IR_TAPE_TYPED; SUM is the caller's. */
static bool add_data(IrDatum x, IrDatum y, IrType type, IrDatum *sum) {
    if (type->kind == IR_T_TAPE) {
        *sum = (IrDatum){IR_D_TAPE, {.tape = NULL}};
        return ir_tape_sum(x.as.tape, y.as.tape, &sum->as.tape);
    }
    IrDatum both[] = {x, y};
    if (type->kind == IR_T_SCALAR)
        return ir_eval_datum(IR_ADD, type->scalar, type->scalar, 0, both, 2, sum);
    const IrArray *a = x.as.array, *b = y.as.array;
    if (a->rank != b->rank || memcmp(a->dims, b->dims, a->rank * sizeof *a->dims) != 0)
        return false;
    *sum = ir_datum_array(a->scalar, a->rank, a->dims);
    for (int64_t i = 0; i < a->count; i++) {
        IrDatum terms[] = {ir_array_get(a, i), ir_array_get(b, i)}, element;
        ir_eval_datum(IR_ADD, a->scalar, a->scalar, 0, terms, 2, &element);
        ir_array_set(sum->as.array, i, element);
        ir_datum_drop(&terms[0]);
        ir_datum_drop(&terms[1]);
        ir_datum_drop(&element);
    }
    return true;
}

static bool are_alike(const IrTapeCell *x, const IrTapeCell *y) {
    const IrInst *a = x->pushed, *b = y->pushed;
    if (!(a->flags & b->flags & IR_TAPE_TYPED) || x->n != y->n) return false;
    for (uint32_t i = 0; i < x->n; i++) {
        IrType s = a->operands[i + 1]->type, t = b->operands[i + 1]->type;
        if (s->kind != t->kind || s->scalar != t->scalar || s->rank != t->rank) return false;
    }
    return true;
}

/* Where the tape with that value goes on, from the topmost to the lowest entry: no recursion. */
bool ir_tape_sum(const IrTapeCell *x, const IrTapeCell *y, IrTapeCell **sum) {
    IrTapeCell **place = sum;
    for (; x && y; x = x->below, y = y->below) {
        IrDatum none = {IR_D_TAPE, {.tape = NULL}};
        if (!are_alike(x, y)) return false;
        IrTapeCell *cell = *place = ir_tape_push(&none, x->pushed);
        for (uint32_t i = 0; i < x->n; i++)
            if (!add_data(x->values[i], y->values[i], x->pushed->operands[i + 1]->type,
                          &cell->values[i]))
                return false;
        place = &cell->below;
    }
    *place = (IrTapeCell *)(x ? x : y);
    if (*place) (*place)->refs++;
    return true;
}

/* ---- elements ---- */

IrBits ir_datum_bits(IrDatum datum) {
    if (datum.kind == IR_D_FLOAT) return (IrBits){.f = datum.as.f};
    return (IrBits){.i = datum.as.i};
}

IrDatum ir_bits_datum(IrScalar scalar, IrBits bits) {
    return ir_scalar_float(scalar) ? ir_datum_float(bits.f) : ir_datum_int(bits.i);
}

/* The array with its lanes as elements. */
static IrArray by_lanes(const IrArray *array) {
    IrArray flat = *array;
    flat.scalar = ir_scalar_base(array->scalar);
    flat.count = array->count * ir_scalar_lanes(array->scalar);
    return flat;
}

IrDatum ir_datum_lanes(IrScalar scalar) {
    return (IrDatum){IR_D_LANES, {.array = ir_datum_array(scalar, 0, NULL).as.array}};
}

IrDatum ir_datum_lane(IrDatum datum, uint32_t k) {
    if (datum.kind != IR_D_LANES) return datum;
    IrArray flat = by_lanes(datum.as.array);
    return ir_array_get(&flat, k);
}

void ir_datum_set_lane(IrDatum lanes, uint32_t k, IrDatum value) {
    IrArray flat = by_lanes(lanes.as.array);
    ir_array_set(&flat, k, value);
}

bool ir_eval_datum(IrOp op, IrScalar type, IrScalar result, int64_t imm, const IrDatum *args,
                   uint32_t n, IrDatum *out) {
    uint32_t lanes = ir_scalar_lanes(result);
    IrDatum all = lanes > 1 ? ir_datum_lanes(result) : (IrDatum){0};
    for (uint32_t k = 0; k < lanes; k++) {
        IrBits bits[3] = {{0}}, value;
        for (uint32_t i = 0; i < n && i < 3; i++)
            bits[i] = ir_datum_bits(ir_datum_lane(args[i], k));
        if (!ir_eval(op, type, result, imm, bits, &value)) {
            ir_datum_drop(&all);
            return false;
        }
        IrDatum lane = ir_bits_datum(result, value);
        if (lanes == 1) all = lane;
        else ir_datum_set_lane(all, k, lane);
    }
    *out = all;
    return true;
}

IrDatum ir_array_get(const IrArray *array, int64_t at) {
    uint32_t bytes = ir_scalar_bytes(array->scalar);
    if (ir_scalar_lanes(array->scalar) > 1) {
        IrDatum lanes = ir_datum_lanes(array->scalar);
        ir_array_copy(lanes.as.array, 0, array, at, 1);
        return lanes;
    }
    const unsigned char *from = array->data + at * bytes;
    uint64_t bits = 0;
    if (array->scalar == IR_F32) {
        float f;
        memcpy(&f, from, sizeof f);
        return ir_datum_float((double)f);
    }
    if (array->scalar == IR_F64) {
        double f;
        memcpy(&f, from, sizeof f);
        return ir_datum_float(f);
    }
    for (uint32_t i = 0; i < bytes; i++) bits |= (uint64_t)from[i] << (8 * i);
    return ir_datum_int(ir_wrap(array->scalar, (int64_t)bits));
}

void ir_array_set(IrArray *array, int64_t at, IrDatum value) {
    uint32_t bytes = ir_scalar_bytes(array->scalar);
    unsigned char *to = array->data + at * bytes;
    if (value.kind == IR_D_LANES) {
        ir_array_copy(array, at, value.as.array, 0, 1);
    } else if (array->scalar == IR_F32) {
        float f = (float)value.as.f;
        memcpy(to, &f, sizeof f);
    } else if (array->scalar == IR_F64) {
        memcpy(to, &value.as.f, sizeof value.as.f);
    } else {
        for (uint32_t i = 0; i < bytes; i++)
            to[i] = (unsigned char)((uint64_t)value.as.i >> (8 * i));
    }
}

void ir_array_copy(IrArray *into, int64_t at, const IrArray *from, int64_t at_from, int64_t count) {
    uint32_t bytes = ir_scalar_bytes(into->scalar);
    memcpy(into->data + at * bytes, from->data + at_from * bytes, (size_t)count * bytes);
}

/* ---- comparing, printing ---- */

static bool equal_floats(double a, double b) {
    if (isnan(a) || isnan(b)) return isnan(a) && isnan(b);
    return a == b && signbit(a) == signbit(b);
}

static bool equal_arrays(const IrArray *a, const IrArray *b) {
    if (a->scalar != b->scalar || a->rank != b->rank) return false;
    for (uint32_t k = 0; k < a->rank; k++)
        if (a->dims[k] != b->dims[k]) return false;
    IrArray x = by_lanes(a), y = by_lanes(b);
    for (int64_t i = 0; i < x.count; i++)
        if (!ir_datum_equal(ir_array_get(&x, i), ir_array_get(&y, i))) return false;
    return true;
}

bool ir_datum_equal(IrDatum a, IrDatum b) {
    if (a.kind != b.kind) return false;
    switch (a.kind) {
    case IR_D_NONE: return true;
    case IR_D_INT: return a.as.i == b.as.i;
    case IR_D_FLOAT: return equal_floats(a.as.f, b.as.f);
    case IR_D_ARRAY:
    case IR_D_LANES:
    case IR_D_ACC: return equal_arrays(a.as.array, b.as.array);
    case IR_D_TEXT:
        return a.as.text->len == b.as.text->len &&
               memcmp(a.as.text->text, b.as.text->text, a.as.text->len) == 0;
    case IR_D_TAPE: return a.as.tape == b.as.tape;
    }
    return false;
}

static void print_scalar(StrBuf *out, IrDatum datum, IrScalar scalar) {
    if (scalar == IR_F16 || scalar == IR_BF16)
        strbuf_double(out, ir_half_to_double((uint16_t)datum.as.i, scalar == IR_F16 ? 10 : 7));
    else if (datum.kind == IR_D_FLOAT) ir_print_real(out, scalar, datum.as.f);
    else if (scalar == IR_BOOL) strbuf_add(out, datum.as.i ? "true" : "false");
    else if (scalar == IR_U64) strbuf_printf(out, "%" PRIu64, (uint64_t)datum.as.i);
    else strbuf_printf(out, "%" PRId64, datum.as.i);
}

static void print_lanes(StrBuf *out, IrDatum datum) {
    IrScalar scalar = datum.as.array->scalar;
    for (uint32_t k = 0; k < ir_scalar_lanes(scalar); k++) {
        strbuf_add(out, k ? ", " : "<");
        print_scalar(out, ir_datum_lane(datum, k), ir_scalar_base(scalar));
    }
    strbuf_char(out, '>');
}

/* The part of the array that begins at *AT, from dimension K on. */
static void print_array(StrBuf *out, const IrArray *array, uint32_t k, int64_t *at) {
    if (k == array->rank) {
        IrDatum element = ir_array_get(array, (*at)++);
        if (element.kind == IR_D_LANES) print_lanes(out, element);
        else print_scalar(out, element, array->scalar);
        ir_datum_drop(&element);
        return;
    }
    strbuf_char(out, '[');
    for (int64_t i = 0; i < array->dims[k]; i++) {
        if (i) strbuf_add(out, ", ");
        print_array(out, array, k + 1, at);
    }
    strbuf_char(out, ']');
}

void ir_print_datum(StrBuf *out, IrDatum datum, IrType type) {
    int64_t at = 0;
    switch (datum.kind) {
    case IR_D_NONE: strbuf_add(out, "none"); break;
    case IR_D_INT: print_scalar(out, datum, type ? type->scalar : IR_I64); break;
    case IR_D_FLOAT: print_scalar(out, datum, type ? type->scalar : IR_F64); break;
    case IR_D_ARRAY:
    case IR_D_ACC: print_array(out, datum.as.array, 0, &at); break;
    case IR_D_TEXT: strbuf_add_n(out, datum.as.text->text, datum.as.text->len); break;
    case IR_D_TAPE: strbuf_add(out, "tape"); break;
    case IR_D_LANES: print_lanes(out, datum); break;
    }
}
