/* A list of blocks, the newest first; the newest is filled from its start.  Blocks come zeroed
   from calloc, which costs nothing for fresh pages, so that arena_alloc need not clear.  A request
   that is large for a block gets one of its own, put behind the newest, so that the room left in
   the newest is not lost.  Under the address sanitizer the rest of a block is poisoned. */
#include "base/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fatal.h"
#include "base/memory.h"
#include "base/num.h"

#if defined __SANITIZE_ADDRESS__
#define ARENA_POISONS 1
#elif defined __has_feature
#if __has_feature(address_sanitizer)
#define ARENA_POISONS 1
#endif
#endif

#ifdef ARENA_POISONS
#include <sanitizer/asan_interface.h>
/* A gap after each allocation, so that reading past its end is seen. */
enum { ARENA_GAP = 16 };
#else
#define ASAN_POISON_MEMORY_REGION(at, size) ((void)(at), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(at, size) ((void)(at), (void)(size))
enum { ARENA_GAP = 0 };
#endif

enum { ARENA_ALIGN = 16, ARENA_FIRST_BLOCK = 16 * 1024, ARENA_LAST_BLOCK = 1024 * 1024 };

typedef struct Block Block;
struct Block {
    Block *next;
    size_t size; /* of data */
    _Alignas(ARENA_ALIGN) char data[];
};

struct Arena {
    Block *newest;
    size_t used; /* of the newest */
    size_t block_size;
    size_t bytes; /* handed out in all */
};

Arena *arena_new(void) {
    Arena *arena = memory_zeroed(1, sizeof *arena);
    arena->block_size = ARENA_FIRST_BLOCK;
    return arena;
}

void arena_free(Arena *arena) {
    if (!arena) return;
    for (Block *block = arena->newest; block;) {
        Block *next = block->next;
        ASAN_UNPOISON_MEMORY_REGION(block->data, block->size);
        free(block);
        block = next;
    }
    free(arena);
}

static Block *block_new(size_t size) {
    size_t whole;
    if (!size_add(size, sizeof(Block), &whole)) fatal_memory();
    Block *block = memory_zeroed(1, whole);
    block->size = size;
    ASAN_POISON_MEMORY_REGION(block->data, block->size);
    return block;
}

/* SIZE bytes in a block of their own. */
static void *alloc_large(Arena *arena, size_t size) {
    Block *block = block_new(size);
    if (arena->newest) {
        block->next = arena->newest->next;
        arena->newest->next = block;
    } else {
        arena->newest = block;
        arena->used = size;
    }
    ASAN_UNPOISON_MEMORY_REGION(block->data, size);
    return block->data;
}

static void add_block(Arena *arena) {
    Block *block = block_new(arena->block_size);
    block->next = arena->newest;
    arena->newest = block;
    arena->used = 0;
    if (arena->block_size < ARENA_LAST_BLOCK) arena->block_size *= 2;
}

void *arena_alloc(Arena *arena, size_t size) {
    size_t taken;
    if (!size_add(size, ARENA_ALIGN - 1 + ARENA_GAP, &taken)) fatal_memory();
    taken &= ~(size_t)(ARENA_ALIGN - 1);
    if (taken == 0) taken = ARENA_ALIGN;
    arena->bytes += taken;
    if (!arena->newest || taken > arena->newest->size - arena->used) {
        if (taken > arena->block_size / 4) return alloc_large(arena, taken);
        add_block(arena);
    }
    char *at = arena->newest->data + arena->used;
    arena->used += taken;
    ASAN_UNPOISON_MEMORY_REGION(at, size);
    return at;
}

void *arena_alloc_array(Arena *arena, size_t count, size_t size) {
    size_t whole;
    if (!size_mul(count, size, &whole)) fatal_memory();
    return arena_alloc(arena, whole);
}

char *arena_strndup(Arena *arena, const char *text, size_t len) {
    size_t whole;
    if (!size_add(len, 1, &whole)) fatal_memory();
    char *copy = arena_alloc(arena, whole);
    if (len) memcpy(copy, text, len);
    return copy;
}

char *arena_printf(Arena *arena, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int len = vsnprintf(NULL, 0, format, args);
    va_end(args);
    CHECK_INTERNAL(len >= 0);
    char *text = arena_alloc(arena, (size_t)len + 1);
    va_start(args, format);
    vsnprintf(text, (size_t)len + 1, format, args);
    va_end(args);
    return text;
}

size_t arena_bytes(const Arena *arena) {
    return arena->bytes;
}
