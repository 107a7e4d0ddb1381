/* allocator.h: the one place where the runtime gets memory; see adl_set_allocator. */
#ifndef ADL_RUNTIME_CORE_ALLOCATOR_H
#define ADL_RUNTIME_CORE_ALLOCATOR_H

#include <stddef.h>

/* BYTES > 0 bytes at a multiple of 64, or NULL. */
void *allocator_take(size_t bytes);
/* What allocator_take returned, with the same BYTES; NULL is allowed. */
void allocator_give(void *memory, size_t bytes);
/* MEMORY of OLD bytes moved to NEW > OLD bytes; NULL, and MEMORY as it was, if there is no room.
   MEMORY may be NULL with OLD 0. */
void *allocator_grow(void *memory, size_t old_bytes, size_t new_bytes);

#endif
