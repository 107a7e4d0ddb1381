/* memory.c: contexts, and blocks with a count of their names.

   A context lists the blocks it owns, so that an error needs no clean-up in generated code, and
   keeps released memory, the last few areas in one list, more in lists by size class (four classes
   for each doubling), so that a loop which allocates and frees does not go to the system each time.
   It keeps at most as much as was once alive, and frees all of it at its end. */
#include "core/memory.h"

#include <string.h>

#include "core/allocator.h"
#include "core/error.h"
#include "core/lock.h"
#include "tape/tape.h"

#define CLASS_COUNT 164 /* up to 2^48 bytes; larger memory is not kept */
#define CACHE_FLOOR ((int64_t)64 << 20)

#define RECENT_COUNT 8

typedef struct AdlFree {
    struct AdlFree *next;
    int64_t capacity;
} Free;

struct AdlCache {
    int64_t bytes;
    Free *free[CLASS_COUNT];
};

/* The class of *BYTES, which is rounded up to what the class holds; CLASS_COUNT if there is none.
 */
static int size_class(int64_t *bytes) {
    if (*bytes <= 256) {
        *bytes = (*bytes + 63) & ~(int64_t)63;
        return (int)(*bytes / 64) - 1;
    }
    int e = 63 - __builtin_clzll((unsigned long long)*bytes - 1);
    if (e >= 48) return CLASS_COUNT;
    int64_t step = (int64_t)1 << (e - 2);
    *bytes = (*bytes + step - 1) & -step;
    return 4 + (e - 8) * 4 + (int)((*bytes - ((int64_t)1 << e)) / step) - 1;
}

/* An area of exactly CAPACITY bytes from the few that CONTEXT, which is locked, got back last. */
static void *take_recent(AdlContext *context, int64_t capacity) {
    for (Free **at = &context->recent; *at; at = &(*at)->next) {
        Free *entry = *at;
        if (entry->capacity != capacity) continue;
        *at = entry->next;
        context->recent_count--;
        return entry;
    }
    return NULL;
}

static void *take_cached(AdlContext *context, int slot, int64_t capacity) {
    struct AdlCache *cache = context->cache;
    Free *entry = cache ? cache->free[slot] : NULL;
    if (!entry) return NULL;
    cache->free[slot] = entry->next;
    cache->bytes -= capacity;
    return entry;
}

void *memory_take(AdlContext *context, int64_t *capacity) {
    int slot = size_class(capacity);
    if (slot < CLASS_COUNT) {
        context_lock(context);
        void *found = take_recent(context, *capacity);
        if (!found) found = take_cached(context, slot, *capacity);
        context_unlock(context);
        if (found) return found;
    }
    void *memory = allocator_take((size_t)*capacity);
    if (memory) return memory;
    context_lock(context);
    bool dropped = context->recent || context->cache;
    memory_drop_cache(context);
    context_unlock(context);
    if (!dropped) return NULL;
    return allocator_take((size_t)*capacity);
}

/* The cache by classes; NULL if there is no memory for it. */
static struct AdlCache *cache_of(AdlContext *context) {
    if (!context->cache) {
        context->cache = allocator_take(sizeof *context->cache);
        if (context->cache) memset(context->cache, 0, sizeof *context->cache);
    }
    return context->cache;
}

/* Whether MEMORY of CAPACITY bytes is kept for reuse by CONTEXT, which is locked. */
static bool keep(AdlContext *context, void *memory, int64_t capacity) {
    int64_t rounded = capacity;
    int slot = size_class(&rounded);
    int64_t limit = context->peak_bytes > CACHE_FLOOR ? context->peak_bytes : CACHE_FLOOR;
    if (slot == CLASS_COUNT) return false;
    Free *entry = memory;
    *entry = (Free){context->recent, capacity};
    if (context->recent_count < RECENT_COUNT && capacity <= limit / RECENT_COUNT) {
        context->recent = entry;
        context->recent_count++;
        return true;
    }
    struct AdlCache *cache = cache_of(context);
    if (!cache || cache->bytes + capacity > limit) return false;
    entry->next = cache->free[slot];
    cache->free[slot] = entry;
    cache->bytes += capacity;
    return true;
}

void memory_give(AdlContext *context, void *memory, int64_t capacity) {
    bool kept = false;
    if (context) {
        context_lock(context);
        kept = keep(context, memory, capacity);
        context_unlock(context);
    }
    if (!kept) allocator_give(memory, (size_t)capacity);
}

static void drop_list(Free *entry) {
    while (entry) {
        Free *next = entry->next;
        allocator_give(entry, (size_t)entry->capacity);
        entry = next;
    }
}

void memory_drop_cache(AdlContext *context) {
    struct AdlCache *cache = context->cache;
    drop_list(context->recent);
    context->recent = NULL;
    context->recent_count = 0;
    for (int slot = 0; cache && slot < CLASS_COUNT; slot++) drop_list(cache->free[slot]);
    allocator_give(cache, sizeof *cache);
    context->cache = NULL;
}

/* -- contexts -- */

void adl__context_begin(AdlContext *context) {
    memset(context, 0, sizeof *context);
}

int32_t adl__context_end(AdlContext *context, int32_t status) {
    tape_free_all(context);
    while (context->live) {
        AdlBlock *block = context->live;
        context->live = block->next;
        if (block->device) gpu_forget(block);
        allocator_give(block, (size_t)block->capacity);
    }
    memory_drop_cache(context);
    error_publish(context, status);
    return status;
}

/* -- blocks -- */

void *adl__alloc(AdlContext *context, int64_t bytes) {
    if (bytes < 0 || bytes > INT64_MAX / 4) {
        error_memory(context, NULL, bytes);
        return NULL;
    }
    int64_t capacity = bytes + (int64_t)sizeof(AdlBlock);
    AdlBlock *block = memory_take(context, &capacity);
    if (!block) {
        error_memory(context, NULL, bytes);
        return NULL;
    }
    *block = (AdlBlock){.refs = 1, .bytes = bytes, .owner = context, .capacity = capacity};
    context_lock(context);
    block->next = context->live;
    if (block->next) block->next->prev = block;
    context->live = block;
    context->live_bytes += capacity;
    if (context->live_bytes > context->peak_bytes) context->peak_bytes = context->live_bytes;
    context_unlock(context);
    return block + 1;
}

int64_t memory_array_bytes(int64_t element, int32_t rank, const int64_t *dims) {
    int64_t bytes = element;
    bool empty = false;
    for (int32_t i = 0; i < rank; i++) {
        if (dims[i] < 0) return -1;
        empty = empty || dims[i] == 0;
    }
    if (empty) return 0;
    for (int32_t i = 0; i < rank; i++)
        if (__builtin_mul_overflow(bytes, dims[i], &bytes)) return -1;
    return bytes;
}

void *adl__alloc_array(AdlContext *context, int64_t element, int32_t rank, const int64_t *dims) {
    for (int32_t i = 0; i < rank; i++)
        if (dims[i] < 0) {
            error_note(context, ADL_ERROR_SIZE, NULL, "dimension %d of an array is negative: %lld",
                       (int)i, (long long)dims[i]);
            return NULL;
        }
    int64_t bytes = memory_array_bytes(element, rank, dims);
    if (bytes < 0) {
        error_note(context, ADL_ERROR_MEMORY, NULL,
                   "out of memory: an array with 2^63 bytes or more");
        return NULL;
    }
    return adl__alloc(context, bytes);
}

bool block_is_foreign(const AdlContext *context, const void *data) {
    for (int64_t i = 0; i < context->foreign_count; i++)
        if (context->foreign[i] == data) return true;
    return false;
}

/* The header of DATA if CONTEXT counts its names, else NULL. */
static AdlBlock *counted(const AdlContext *context, const void *data) {
    if (!data || block_is_foreign(context, data)) return NULL;
    AdlBlock *block = block_of(data);
    return block->owner == context ? block : NULL;
}

static void unlink_block(AdlBlock *block) {
    AdlContext *context = block->owner;
    context_lock(context);
    if (block->prev) block->prev->next = block->next;
    else context->live = block->next;
    if (block->next) block->next->prev = block->prev;
    context->live_bytes -= block->capacity;
    context_unlock(context);
    block->prev = block->next = NULL;
}

void adl__retain(AdlContext *context, const void *data) {
    AdlBlock *block = counted(context, data);
    if (!block) return;
    if (context->parallel) __atomic_fetch_add(&block->refs, 1, __ATOMIC_RELAXED);
    else block->refs++;
}

/* With one name alone nobody else can come to the block, so that its count needs no atomic
   operation; `spare` is 1 in a header for a caller's memory, whose name is not ours. */
static void release_block(AdlBlock *block) {
    if (__atomic_load_n(&block->refs, __ATOMIC_ACQUIRE) == 1 + block->spare) {
        __atomic_store_n(&block->refs, block->spare, __ATOMIC_RELAXED);
        if (block->spare > 0) return;
    } else if (__atomic_sub_fetch(&block->refs, 1, __ATOMIC_ACQ_REL) != 0) {
        return;
    }
    AdlContext *context = block->owner;
    unlink_block(block);
    if (block->device) gpu_forget(block);
    memory_give(context, block, block->capacity);
}

void adl__release(AdlContext *context, const void *data) {
    AdlBlock *block = counted(context, data);
    if (block) release_block(block);
}

int32_t adl__unique(AdlContext *context, const void *data) {
    AdlBlock *block = counted(context, data);
    return block && __atomic_load_n(&block->refs, __ATOMIC_ACQUIRE) == 1;
}

void *adl__own(AdlContext *context, void *data, int64_t bytes) {
    if (adl__unique(context, data)) return data;
    void *copy = adl__alloc(context, bytes);
    if (!copy) return NULL;
    if (bytes > 0) memcpy(copy, data, (size_t)bytes);
    adl__release(context, data);
    return copy;
}

void block_detach(AdlBlock *block) {
    unlink_block(block);
    block->owner = NULL;
}

void block_drop_hold(AdlBlock *block) {
    int64_t left = __atomic_sub_fetch(&block->holds, 1, __ATOMIC_ACQ_REL);
    if (block->owner) release_block(block);
    else if (left == 0) {
        if (block->device) gpu_forget(block);
        allocator_give(block, (size_t)block->capacity);
    }
}

const void *adl__apart(AdlContext *context, const void *data, int64_t bytes, const void *other,
                       int64_t other_bytes) {
    uintptr_t at = (uintptr_t)data, begin = (uintptr_t)other;
    if (bytes <= 0 || at < begin || at >= begin + (uintptr_t)other_bytes) return data;
    void *copy = adl__alloc(context, bytes);
    return copy ? memcpy(copy, data, (size_t)bytes) : NULL;
}

int32_t adl__check_overlap(AdlContext *context, const AdlSite *site, const void *a, int64_t a_bytes,
                           const char *a_name, const void *b, int64_t b_bytes, const char *b_name) {
    uintptr_t a_from = (uintptr_t)a, b_from = (uintptr_t)b;
    bool apart = a_bytes <= 0 || b_bytes <= 0 || a_from + (uintptr_t)a_bytes <= b_from ||
                 b_from + (uintptr_t)b_bytes <= a_from;
    if (apart) return ADL_OK;
    return error_note(context, ADL_ERROR_ARGUMENT, site, "%s and %s overlap in memory", a_name,
                      b_name);
}
