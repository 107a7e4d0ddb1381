/* Arena: memory with one lifetime.  Everything taken from an arena is freed together with it. */
#ifndef ADL_BASE_ARENA_H
#define ADL_BASE_ARENA_H

#include <stddef.h>

typedef struct Arena Arena;

/* A new, empty arena.  Never NULL: running out of memory ends the process with a message and
   status 70 (the compiler's only reaction to that; compiled programs report an error instead). */
Arena *arena_new(void);
void arena_free(Arena *arena);

/* SIZE zeroed bytes, aligned to 16.  SIZE may be 0. */
void *arena_alloc(Arena *arena, size_t size);
/* COUNT zeroed elements of SIZE bytes, with a checked product. */
void *arena_alloc_array(Arena *arena, size_t count, size_t size);
/* A copy of LEN bytes of TEXT, followed by a zero byte. */
char *arena_strndup(Arena *arena, const char *text, size_t len);
/* printf into the arena. */
char *arena_printf(Arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
size_t arena_bytes(const Arena *arena);

#define ARENA_NEW(arena, T) ((T *)arena_alloc((arena), sizeof(T)))
#define ARENA_ARRAY(arena, T, n) ((T *)arena_alloc_array((arena), (size_t)(n), sizeof(T)))

#endif
