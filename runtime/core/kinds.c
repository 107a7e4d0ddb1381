/* kinds.c: reading values by kind. */
#include "core/kinds.h"

#include <string.h>

#include "core/calls.h"

int64_t kind_load_integer(int32_t kind, const void *value) {
    union {
        uint8_t u8;
        uint16_t u16;
        uint32_t u32;
        uint64_t u64;
    } raw = {.u64 = 0};
    memcpy(&raw, value,
           (size_t)kind_bytes(kind) < sizeof raw ? (size_t)kind_bytes(kind) : sizeof raw);
    switch ((AdlKind)kind) {
    case ADL_KIND_BOOL: return raw.u8 != 0;
    case ADL_KIND_I8: return (int8_t)raw.u8;
    case ADL_KIND_I16: return (int16_t)raw.u16;
    case ADL_KIND_I32: return (int32_t)raw.u32;
    case ADL_KIND_U8: return raw.u8;
    case ADL_KIND_U16: return raw.u16;
    case ADL_KIND_U32: return raw.u32;
    case ADL_KIND_I64:
    case ADL_KIND_U64: return (int64_t)raw.u64;
    case ADL_KIND_F16:
    case ADL_KIND_BF16:
    case ADL_KIND_F32:
    case ADL_KIND_F64:
    case ADL_KIND_C64:
    case ADL_KIND_C128:
    case ADL_KIND_STR:
    case ADL_KIND_COUNT: break;
    }
    return 0;
}

double kind_load_float(int32_t kind, const void *value) {
    uint16_t half;
    float single;
    double result;
    if (kind == ADL_KIND_F16 || kind == ADL_KIND_BF16) {
        memcpy(&half, value, sizeof half);
        return (double)(kind == ADL_KIND_F16 ? adl__f16_to_f32(half) : adl__bf16_to_f32(half));
    }
    if (kind == ADL_KIND_F32) {
        memcpy(&single, value, sizeof single);
        return (double)single;
    }
    memcpy(&result, value, sizeof result);
    return result;
}
