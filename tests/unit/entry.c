#include "tests/unit/entry.h"

#include <string.h>

void entry_slot_from(IrType type, IrDatum datum, EntrySlot *slot) {
    *slot = (EntrySlot){.i64 = 0};
    if (type->kind == IR_T_ARRAY) {
        IrArray *array = datum.as.array;
        slot->array.data = array->data;
        memcpy(slot->array.dims, array->dims, sizeof array->dims);
    } else if (type->kind == IR_T_STR) {
        slot->array.data = datum.as.text->text;
        slot->array.dims[0] = (int64_t)datum.as.text->len;
    } else if (type->scalar == IR_F32) {
        slot->f32 = (float)datum.as.f;
    } else if (type->scalar == IR_F64) {
        slot->f64 = datum.as.f;
    } else {
        slot->i64 = datum.as.i;
    }
}

static int64_t slot_int(IrScalar scalar, const EntrySlot *slot) {
    switch ((int)scalar) {
    case IR_BOOL:
    case IR_U8: return slot->u8;
    case IR_I8: return slot->i8;
    case IR_I16: return slot->i16;
    case IR_U16:
    case IR_F16:
    case IR_BF16: return (uint16_t)slot->i16;
    case IR_I32: return slot->i32;
    case IR_U32: return (uint32_t)slot->i32;
    default: return slot->i64;
    }
}

IrDatum entry_slot_to(IrType type, const EntrySlot *slot) {
    if (type->kind == IR_T_TAPE) return (IrDatum){.kind = IR_D_TAPE};
    if (type->kind == IR_T_STR) return ir_datum_text(slot->array.data, (size_t)slot->array.dims[0]);
    if (type->kind == IR_T_SCALAR) {
        if (type->scalar == IR_F32) return ir_datum_float((double)slot->f32);
        if (type->scalar == IR_F64) return ir_datum_float(slot->f64);
        return ir_datum_int(slot_int(type->scalar, slot));
    }
    IrDatum datum = ir_datum_array(type->scalar, type->rank, slot->array.dims);
    size_t bytes = (size_t)datum.as.array->count * ir_scalar_bytes(type->scalar);
    if (bytes) memcpy(datum.as.array->data, slot->array.data, bytes);
    return datum;
}

IrDatum entry_copy(IrDatum datum) {
    if (datum.kind != IR_D_ARRAY) return ir_datum_share(datum);
    IrArray *from = datum.as.array;
    IrDatum copy = ir_datum_array(from->scalar, from->rank, from->dims);
    if (from->count)
        memcpy(copy.as.array->data, from->data,
               (size_t)from->count * ir_scalar_bytes(from->scalar));
    return copy;
}

void *entry_address(void (*function)(void)) {
    void *address;
    memcpy(&address, &function, sizeof address);
    return address;
}

CodegenSymbol *entry_symbols(size_t *n) {
    static CodegenSymbol symbols[] = {
#define ADL_CALL(name, result, parameters, attributes) {#name, NULL},
#include "runtime/calls.def"
    };
    *n = 0;
#define ADL_CALL(name, result, parameters, attributes)                                             \
    symbols[(*n)++].address = entry_address((void (*)(void))name);
#include "runtime/calls.def"
    return symbols;
}
