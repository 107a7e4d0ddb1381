/* malloc and realloc that never return NULL, with checked sizes.  The containers of this folder
   are built on them; other parts use an arena or a container.

   With ADL_STRESS (configure --enable-stress) every growth moves the block, so that pointers that
   were kept across a growth are found by the sanitizers. */
#ifndef ADL_BASE_MEMORY_H
#define ADL_BASE_MEMORY_H

#include <stddef.h>

void *memory_alloc(size_t size);
void *memory_zeroed(size_t count, size_t size);
/* A block of NEW_SIZE bytes that begins with the OLD_SIZE bytes of BLOCK, which is freed. */
void *memory_resize(void *block, size_t old_size, size_t new_size);

#endif
