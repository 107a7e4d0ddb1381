/* allocator.c: the replaceable allocator.

   Large areas are aligned to huge pages and offered to the kernel as such, since the first touch of
   4 KiB pages can cost more than a computation on them.  Small ones are aligned by hand within what
   malloc gives, which is several times faster than the C library's aligned functions. */
#include "core/allocator.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/mman.h>
#endif

#include "core/calls.h"
#include "layout.h"

#define HUGE_PAGE ((size_t)2 << 20)
#define HUGE_FROM ((size_t)8 << 20)
/* Under the address sanitizer none, so that a byte past an area is past what malloc gave. */
#if defined(__SANITIZE_ADDRESS__)
static const size_t by_hand_below = 0;
#else
static const size_t by_hand_below = (size_t)64 << 10;
#endif

/* An area at a multiple of ADL_ALIGNMENT.  The address that malloc gave stands before the area. */
static void *align_by_hand(size_t bytes) {
    char *given = malloc(bytes + sizeof(void *) + ADL_ALIGNMENT);
    if (!given) return NULL;
    uintptr_t at = (uintptr_t)given + sizeof(void *) + ADL_ALIGNMENT - 1;
    char *area = given + (at - at % ADL_ALIGNMENT - (uintptr_t)given);
    memcpy(area - sizeof given, &given, sizeof given);
    return area;
}

static void *default_allocate(void *state, size_t alignment, size_t bytes) {
    (void)state;
    if (bytes < by_hand_below) return align_by_hand(bytes);
    if (bytes >= HUGE_FROM) alignment = HUGE_PAGE;
    if (bytes > SIZE_MAX - alignment) return NULL;
    void *memory = NULL;
    if (posix_memalign(&memory, alignment, bytes) != 0) return NULL;
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    if (bytes >= HUGE_FROM) (void)madvise(memory, bytes & ~(HUGE_PAGE - 1), MADV_HUGEPAGE);
#endif
    return memory;
}

static void default_deallocate(void *state, void *memory, size_t bytes) {
    (void)state;
    if (bytes < by_hand_below) memcpy(&memory, (char *)memory - sizeof memory, sizeof memory);
    free(memory);
}

static adl_allocator current = {default_allocate, default_deallocate, NULL};

int adl_set_allocator(const adl_allocator *allocator) {
    if (!allocator) {
        current = (adl_allocator){default_allocate, default_deallocate, NULL};
        return ADL_OK;
    }
    if (!allocator->allocate || !allocator->deallocate) return ADL_ERROR_ARGUMENT;
    current = *allocator;
    return ADL_OK;
}

void *allocator_take(size_t bytes) {
    return current.allocate(current.state, ADL_ALIGNMENT, bytes);
}

void allocator_give(void *memory, size_t bytes) {
    if (memory) current.deallocate(current.state, memory, bytes);
}

void *allocator_grow(void *memory, size_t old_bytes, size_t new_bytes) {
    void *grown = allocator_take(new_bytes);
    if (!grown) return NULL;
    if (old_bytes > 0) memcpy(grown, memory, old_bytes);
    allocator_give(memory, old_bytes);
    return grown;
}
