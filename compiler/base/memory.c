#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

#include "base/fatal.h"

void *memory_alloc(size_t size) {
    void *block = malloc(size ? size : 1);
    if (!block) fatal_memory();
    return block;
}

void *memory_zeroed(size_t count, size_t size) {
    void *block = calloc(count ? count : 1, size ? size : 1); /* calloc checks the product */
    if (!block) fatal_memory();
    return block;
}

void *memory_resize(void *block, size_t old_size, size_t new_size) {
#ifdef ADL_STRESS
    void *moved = memory_alloc(new_size);
    if (block) memcpy(moved, block, old_size < new_size ? old_size : new_size);
    free(block);
    return moved;
#else
    void *moved = realloc(block, new_size ? new_size : 1);
    (void)old_size;
    if (!moved) fatal_memory();
    return moved;
#endif
}
