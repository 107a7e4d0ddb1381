/* kinds.h: facts about element kinds. */
#ifndef ADL_RUNTIME_CORE_KINDS_H
#define ADL_RUNTIME_CORE_KINDS_H

#include <stdbool.h>
#include <stdint.h>

#include "layout.h"

static inline int64_t kind_bytes(int32_t kind) {
    static const uint8_t bytes[] = {
#define X(name, text, size) size,
        ADL_KINDS(X)
#undef X
    };
    return kind >= 0 && kind < ADL_KIND_COUNT ? bytes[kind] : 0;
}

static inline const char *kind_name(int32_t kind) {
    static const char *const names[] = {
#define X(name, text, size) text,
        ADL_KINDS(X)
#undef X
    };
    return kind >= 0 && kind < ADL_KIND_COUNT ? names[kind] : "?";
}

static inline bool kind_is_signed(int32_t kind) {
    return kind >= ADL_KIND_I8 && kind <= ADL_KIND_I64;
}

static inline bool kind_is_unsigned(int32_t kind) {
    return kind >= ADL_KIND_U8 && kind <= ADL_KIND_U64;
}

static inline bool kind_is_float(int32_t kind) {
    return kind >= ADL_KIND_F16 && kind <= ADL_KIND_F64;
}

static inline bool kind_is_complex(int32_t kind) {
    return kind == ADL_KIND_C64 || kind == ADL_KIND_C128;
}

/* The value of an integer kind or bool, sign- or zero-extended to 64 bits. */
int64_t kind_load_integer(int32_t kind, const void *value);
/* The value of a real float kind, exactly. */
double kind_load_float(int32_t kind, const void *value);

#endif
