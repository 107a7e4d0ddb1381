/* tape.c: chunked stacks of bytes, written once and read any number of times.

   A tape belongs to the context it was made in and is counted there like a block.  Giving it to a C
   caller takes it, with the blocks and tapes it holds, out of the context; from then on only holds
   count, and contexts that read it borrow. */
#include "tape/tape.h"

#include <string.h>

#include "core/allocator.h"
#include "core/error.h"
#include "core/lock.h"
#include "core/memory.h"

#define FIRST_CHUNK 4096
#define LARGEST_STEP ((int64_t)256 << 20)

static char *chunk_begin(const AdlChunk *chunk) {
    return (char *)(uintptr_t)(chunk + 1);
}

static int64_t chunk_capacity(const AdlChunk *chunk) {
    return chunk->end - (const char *)chunk;
}

/* -- life -- */

AdlTape *adl__tape_new(AdlContext *context, int64_t type) {
    int64_t capacity = sizeof(AdlTape);
    AdlTape *tape = memory_take(context, &capacity);
    if (!tape) {
        error_memory(context, NULL, sizeof(AdlTape));
        return NULL;
    }
    *tape = (AdlTape){.refs = 1, .type = type, .owner = context, .memory = capacity};
    context_lock(context);
    tape->next = context->tapes;
    if (tape->next) tape->next->prev = tape;
    context->tapes = tape;
    context_unlock(context);
    return tape;
}

static void unlink_tape(AdlTape *tape) {
    AdlContext *context = tape->owner;
    context_lock(context);
    if (tape->prev) tape->prev->next = tape->next;
    else context->tapes = tape->next;
    if (tape->next) tape->next->prev = tape->prev;
    context_unlock(context);
    tape->prev = tape->next = NULL;
}

/* Gives back the memory of TAPE itself, for reuse in CONTEXT if that is not NULL. */
static void free_memory(AdlTape *tape, AdlContext *context) {
    for (AdlChunk *chunk = tape->first, *next; chunk; chunk = next) {
        next = chunk->next;
        memory_give(context, chunk, chunk_capacity(chunk));
    }
    allocator_give(tape->kept, (size_t)tape->kept_capacity * sizeof *tape->kept);
    allocator_give(tape->children, (size_t)tape->children_capacity * sizeof *tape->children);
    memory_give(context, tape, tape->memory);
}

/* Puts TAPE, which nothing uses any more, on the list *DEAD. */
static void bury(AdlTape *tape, AdlTape **dead) {
    if (tape->owner) unlink_tape(tape);
    tape->next = *dead;
    *dead = tape;
}

static void drop_tape_hold(AdlTape *tape, AdlTape **dead) {
    int64_t left = __atomic_sub_fetch(&tape->holds, 1, __ATOMIC_ACQ_REL);
    if (tape->owner) left = __atomic_sub_fetch(&tape->refs, 1, __ATOMIC_ACQ_REL);
    if (left == 0) bury(tape, dead);
}

static void drop_holdings(AdlTape *tape, int64_t kept, int64_t children, AdlTape **dead) {
    while (tape->kept_count > kept) block_drop_hold(block_of(tape->kept[--tape->kept_count]));
    while (tape->children_count > children)
        drop_tape_hold(tape->children[--tape->children_count], dead);
}

/* Frees the tapes on the list DEAD and those that only they held.  A list and no recursion, since a
   recursive program nests its tapes as deep as it likes. */
static void free_dead(AdlTape *dead) {
    while (dead) {
        AdlTape *tape = dead;
        dead = tape->next;
        drop_holdings(tape, 0, 0, &dead);
        free_memory(tape, tape->owner);
    }
}

void adl__tape_retain(AdlContext *context, AdlTape *tape) {
    if (tape && tape->owner == context) __atomic_fetch_add(&tape->refs, 1, __ATOMIC_RELAXED);
}

void adl__tape_release(AdlContext *context, AdlTape *tape) {
    if (!tape || tape->owner != context ||
        __atomic_sub_fetch(&tape->refs, 1, __ATOMIC_ACQ_REL) != 0)
        return;
    AdlTape *dead = NULL;
    bury(tape, &dead);
    free_dead(dead);
}

void tape_free_all(AdlContext *context) {
    /* What CONTEXT owns goes all together, whatever holds it; only outside holdings are dropped. */
    AdlTape *dead = NULL;
    for (AdlTape *tape = context->tapes; tape; tape = tape->next) {
        for (int64_t i = 0; i < tape->kept_count; i++)
            if (!block_of(tape->kept[i])->owner) block_drop_hold(block_of(tape->kept[i]));
        for (int64_t i = 0; i < tape->children_count; i++)
            if (!tape->children[i]->owner) drop_tape_hold(tape->children[i], &dead);
    }
    free_dead(dead);
    while (context->tapes) {
        AdlTape *tape = context->tapes;
        context->tapes = tape->next;
        free_memory(tape, NULL);
    }
}

void adl__tape_export(AdlContext *context, AdlTape *tape, int64_t type) {
    __atomic_fetch_add(&tape->holds, 1, __ATOMIC_RELAXED);
    if (tape->owner != context) return;
    if (type) tape->type = type;
    adl__tape_seal(tape);
    /* Holdings of holdings: a work list in the tapes' own links, since nesting may be deep. */
    unlink_tape(tape);
    tape->owner = NULL;
    AdlTape *todo = tape;
    while (todo) {
        AdlTape *now = todo;
        todo = now->next;
        now->next = NULL;
        for (int64_t i = 0; i < now->kept_count; i++)
            if (block_of(now->kept[i])->owner == context) block_detach(block_of(now->kept[i]));
        for (int64_t i = 0; i < now->children_count; i++) {
            AdlTape *child = now->children[i];
            if (child->owner != context) continue;
            adl__tape_seal(child);
            unlink_tape(child);
            child->owner = NULL;
            child->next = todo;
            todo = child;
        }
    }
}

int adl_tape_free(adl_tape **tape) {
    if (!tape || !*tape) {
        error_publish_text("adl_tape_free: no tape");
        return ADL_ERROR_TAPE;
    }
    AdlTape *dead = NULL;
    drop_tape_hold(*tape, &dead);
    free_dead(dead);
    *tape = NULL;
    return ADL_OK;
}

int32_t adl__tape_check(AdlContext *context, const AdlSite *site, const AdlTape *tape, int64_t type,
                        const char *function) {
    if (!tape) return error_note(context, ADL_ERROR_TAPE, site, "the tape of %s is NULL", function);
    if (type && tape->type != type)
        return error_note(context, ADL_ERROR_TAPE, site,
                          "the tape is not one of %s, or of other activities or options", function);
    return ADL_OK;
}

/* -- writing -- */

/* A chunk for BYTES more after the current one: the next one if it is large enough, else a new one.
 */
static AdlChunk *next_chunk(AdlContext *context, AdlTape *tape, int64_t bytes) {
    AdlChunk *old = tape->chunk, *after = old ? old->next : tape->first;
    if (after && after->end - chunk_begin(after) >= bytes) return after;
    int64_t capacity = old ? 2 * chunk_capacity(old) : FIRST_CHUNK;
    if (capacity > LARGEST_STEP) capacity = LARGEST_STEP;
    if (bytes > INT64_MAX / 4) return NULL;
    if (capacity < bytes + (int64_t)sizeof(AdlChunk)) capacity = bytes + (int64_t)sizeof(AdlChunk);
    AdlChunk *chunk = memory_take(context, &capacity);
    if (!chunk) return NULL;
    *chunk = (AdlChunk){.prev = old, .next = after, .end = (char *)chunk + capacity};
    if (old) old->next = chunk;
    else tape->first = chunk;
    if (after) after->prev = chunk;
    return chunk;
}

void *adl__tape_push_slow(AdlContext *context, AdlTape *tape, int64_t bytes) {
    AdlChunk *chunk = next_chunk(tape->owner ? tape->owner : context, tape, bytes);
    if (!chunk) {
        error_memory(context, NULL, bytes);
        return NULL;
    }
    if (tape->chunk) tape->chunk->used = tape->cur;
    tape->chunk = chunk;
    tape->cur = chunk_begin(chunk) + bytes;
    tape->end = chunk->end;
    chunk->used = tape->cur;
    return chunk_begin(chunk);
}

void *adl__tape_push(AdlContext *context, AdlTape *tape, int64_t bytes) {
    if (bytes < 0 || bytes > INT64_MAX / 4) {
        error_memory(context, NULL, bytes);
        return NULL;
    }
    if (bytes == 0) return tape;
    bytes = (bytes + 7) & ~(int64_t)7;
    char *entry = tape->cur;
    if (!entry || tape->end - entry < bytes) return adl__tape_push_slow(context, tape, bytes);
    tape->cur = entry + bytes;
    return entry;
}

/* Room for one more pointer in the list at *LIST. */
static bool reserve(void ***list, int64_t count, int64_t *capacity) {
    if (count < *capacity) return true;
    int64_t more = *capacity ? 2 * *capacity : 8;
    void **grown =
        allocator_grow(*list, (size_t)*capacity * sizeof(void *), (size_t)more * sizeof(void *));
    if (!grown) return false;
    *list = grown;
    *capacity = more;
    return true;
}

void *adl__tape_keep(AdlContext *context, AdlTape *tape, const void *data, int64_t bytes) {
    void *kept = (void *)(uintptr_t)data;
    bool foreign = block_is_foreign(context, data);
    if (!foreign && block_of(data)->refs == ADL_REFS_STATIC) return kept;
    bool copied = foreign || block_of(data)->refs == ADL_REFS_STACK;
    if (copied) {
        kept = adl__alloc(context, bytes);
        if (!kept) return NULL;
        if (bytes > 0) memcpy(kept, data, (size_t)bytes);
    }
    lock_take(&tape->lock);
    bool room = reserve(&tape->kept, tape->kept_count, &tape->kept_capacity);
    if (room) tape->kept[tape->kept_count++] = kept;
    lock_give(&tape->lock);
    if (!room) {
        error_memory(context, NULL, tape->kept_capacity * 16);
        return NULL;
    }
    AdlBlock *block = block_of(kept);
    __atomic_fetch_add(&block->holds, 1, __ATOMIC_RELAXED);
    if (!copied && block->owner) __atomic_fetch_add(&block->refs, 1, __ATOMIC_RELAXED);
    return kept;
}

int32_t adl__tape_hold(AdlContext *context, AdlTape *tape, const void *data, int64_t bytes) {
    if (!data || block_is_foreign(context, data)) return 0;
    AdlBlock *block = block_of(data);
    int64_t refs = __atomic_load_n(&block->refs, __ATOMIC_RELAXED);
    if (refs == ADL_REFS_STATIC) return 1;
    /* A header with a spare name is that of a caller's memory. */
    if (refs == ADL_REFS_STACK || block->spare || bytes < block->bytes / 2) return 0;
    return adl__tape_keep(context, tape, data, bytes) != NULL;
}

/* Adds INNER to what TAPE holds; the reference, if INNER is counted, is the caller's. */
static bool hold_tape(AdlContext *context, AdlTape *tape, AdlTape *inner) {
    lock_take(&tape->lock);
    void **list = (void **)tape->children;
    bool room = reserve(&list, tape->children_count, &tape->children_capacity);
    tape->children = (AdlTape **)list;
    if (room) tape->children[tape->children_count++] = inner;
    lock_give(&tape->lock);
    if (!room) {
        error_memory(context, NULL, tape->children_capacity * 16);
        return false;
    }
    __atomic_fetch_add(&inner->holds, 1, __ATOMIC_RELAXED);
    return true;
}

AdlTape *adl__tape_child(AdlContext *context, AdlTape *tape) {
    AdlTape *child = adl__tape_new(context, 0);
    return child && hold_tape(context, tape, child) ? child : NULL;
}

int32_t adl__tape_keep_tape(AdlContext *context, AdlTape *tape, AdlTape *inner) {
    if (!hold_tape(context, tape, inner)) return ADL_ERROR_MEMORY;
    adl__tape_retain(inner->owner, inner);
    return ADL_OK;
}

void adl__tape_seal(AdlTape *tape) {
    if (tape->chunk) tape->chunk->used = tape->cur;
}

void adl__tape_mark(const AdlTape *tape, AdlCursor *mark) {
    *mark = (AdlCursor){.cur = tape->cur,
                        .end = tape->end,
                        .chunk = tape->chunk,
                        .kept = tape->kept_count,
                        .children = tape->children_count};
}

void adl__tape_rewind(AdlContext *context, AdlTape *tape, const AdlCursor *mark) {
    (void)context;
    AdlTape *dead = NULL;
    drop_holdings(tape, mark->kept, mark->children, &dead);
    free_dead(dead);
    tape->cur = mark->cur;
    tape->end = mark->end;
    tape->chunk = mark->chunk;
    if (tape->chunk) tape->chunk->used = tape->cur;
}

/* -- reading -- */

static void enter(AdlCursor *cursor, AdlChunk *chunk, bool at_end) {
    *cursor = (AdlCursor){.chunk = chunk};
    if (!chunk) return;
    cursor->begin = chunk_begin(chunk);
    cursor->end = chunk->used;
    cursor->cur = at_end ? cursor->end : cursor->begin;
}

void adl__tape_first(const AdlTape *tape, AdlCursor *cursor) {
    enter(cursor, tape->chunk ? tape->first : NULL, false);
}

void adl__tape_last(const AdlTape *tape, AdlCursor *cursor) {
    enter(cursor, tape->chunk, true);
}

void adl__tape_next(AdlCursor *cursor) {
    enter(cursor, cursor->chunk ? cursor->chunk->next : NULL, false);
}

void adl__tape_back(AdlCursor *cursor) {
    enter(cursor, cursor->chunk ? cursor->chunk->prev : NULL, true);
}

int64_t adl__tape_bytes(const AdlTape *tape) {
    int64_t bytes = 0;
    for (const AdlChunk *chunk = tape->chunk; chunk; chunk = chunk->prev)
        bytes += (chunk == tape->chunk ? tape->cur : chunk->used) - chunk_begin(chunk);
    for (int64_t i = 0; i < tape->kept_count; i++) bytes += block_of(tape->kept[i])->bytes;
    for (int64_t i = 0; i < tape->children_count; i++) bytes += adl__tape_bytes(tape->children[i]);
    return bytes;
}

size_t adl_tape_bytes(const adl_tape *tape) {
    return tape ? (size_t)adl__tape_bytes(tape) : 0;
}
