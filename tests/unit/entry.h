/* Calls of compiled entries with the values of the interpreter. */
#ifndef ADL_TESTS_UNIT_ENTRY_H
#define ADL_TESTS_UNIT_ENTRY_H

#include "codegen/codegen.h"
#include "ir/interp.h"
#include "runtime/core/calls.h"

/* What an entry takes: pointers to slots, those of the arguments, then those of the results. */
typedef int32_t (*EntryFn)(AdlContext *, void **);

typedef union EntrySlot {
    int8_t i8;
    uint8_t u8;
    int16_t i16;
    int32_t i32;
    int64_t i64;
    float f32;
    double f64;
    CodegenArray array;
} EntrySlot;

/* The slot borrows the memory of DATUM. */
void entry_slot_from(IrType type, IrDatum datum, EntrySlot *slot);
/* A copy of what is in the slot; of a tape that it is one. */
IrDatum entry_slot_to(IrType type, const EntrySlot *slot);
/* One that shares no array with DATUM. */
IrDatum entry_copy(IrDatum datum);

void *entry_address(void (*function)(void));
/* The calls of the runtime that this program is linked with, *N of them; static, to be changed. */
CodegenSymbol *entry_symbols(size_t *n);

#endif
