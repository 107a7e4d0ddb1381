/* memory.h: the memory of a context, below blocks and tapes. */
#ifndef ADL_RUNTIME_CORE_MEMORY_H
#define ADL_RUNTIME_CORE_MEMORY_H

#include <stdbool.h>

#include "core/calls.h"

/* At least *CAPACITY > 0 bytes, 64-byte aligned, and in *CAPACITY how many; from CONTEXT's released
   memory if it has some of that size.  NULL, without an error noted, if there is none. */
void *memory_take(AdlContext *context, int64_t *capacity);
/* Gives memory back, for reuse if CONTEXT is not NULL. */
void memory_give(AdlContext *context, void *memory, int64_t capacity);
/* Frees what CONTEXT keeps for reuse. */
void memory_drop_cache(AdlContext *context);

static inline AdlBlock *block_of(const void *data) {
    return (AdlBlock *)((char *)(uintptr_t)data - sizeof(AdlBlock));
}

/* Whether DATA is memory of a C caller, without a header. */
bool block_is_foreign(const AdlContext *context, const void *data);
/* Takes BLOCK out of its owner's list, so that only its holds count. */
void block_detach(AdlBlock *block);
/* One hold less. */
void block_drop_hold(AdlBlock *block);

/* Gives back the device memory of BLOCK, which has some (gpu/memory.c). */
void gpu_forget(AdlBlock *block);

/* A product of element size and dimensions, or -1 if one is negative or the product too large. */
int64_t memory_array_bytes(int64_t element, int32_t rank, const int64_t *dims);

#endif
