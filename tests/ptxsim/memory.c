#include "tests/ptxsim/memory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MARGIN = 256 }; /* on both sides of an allocation, and its alignment */

static void *zeroed(size_t count, size_t size) {
    void *memory = calloc(count ? count : 1, size);
    if (!memory) abort();
    return memory;
}

void ptx_area_init(PtxArea *area, uint64_t base, uint64_t size, bool known, bool shared) {
    *area = (PtxArea){.base = base, .size = size};
    area->block = area->bytes = zeroed(size, 1);
    area->known = zeroed(size, 1);
    if (shared) area->cells = zeroed(size, sizeof *area->cells);
    memset(area->bytes, known ? 0 : 0xcd, size);
    memset(area->known, known, size);
}

void ptx_area_clear(PtxArea *area) {
    memset(area->bytes, 0xcd, area->size);
    memset(area->known, 0, area->size);
    if (area->cells) memset(area->cells, 0, area->size * sizeof *area->cells);
}

void ptx_area_free(PtxArea *area) {
    free(area->block);
    free(area->known);
    free(area->cells);
    *area = (PtxArea){0};
}

uint64_t ptx_area_at(const PtxArea *area, uint64_t address, uint64_t size, const char *space,
                     PtxFailure *failure, uint32_t line) {
    uint64_t at = address - area->base;
    if (area->freed)
        ptx_fail(failure, line, "%s memory that was freed: %" PRIu64 " bytes at %#" PRIx64, space,
                 size, address);
    if (at >= area->size || size > area->size - at)
        ptx_fail(failure, line,
                 "%" PRIu64 " bytes at %" PRId64 " of %" PRIu64 " bytes of %s memory", size,
                 (int64_t)at, area->size, space);
    if (address % size)
        ptx_fail(failure, line, "%" PRIu64 " bytes at the address %#" PRIx64 " are not aligned",
                 size, address);
    return at;
}

/* Could what was SEEN and what WHO does now happen at the same time? */
static bool meets(const PtxSeen *seen, const PtxToucher *who) {
    if (seen->launch != who->launch) return false;
    if (seen->many_blocks || seen->block != who->block) return true;
    return seen->phase == who->phase && (seen->many_threads || seen->thread != who->thread);
}

static void note(PtxSeen *seen, const PtxToucher *who) {
    PtxSeen now = {.launch = who->launch,
                   .thread = who->thread,
                   .block = who->block,
                   .phase = who->phase & 0x3fffffff};
    if (seen->launch == who->launch) {
        now.many_blocks = seen->many_blocks || seen->block != who->block;
        now.many_threads = seen->block == who->block && seen->phase == now.phase &&
                           (seen->many_threads || seen->thread != who->thread);
    }
    *seen = now;
}

static _Noreturn void fail_race(const PtxSeen *seen, const char *did, const char *does, uint64_t at,
                                const PtxToucher *who, const char *space, PtxFailure *failure) {
    ptx_fail(failure, who->line,
             "a race on byte %" PRIu64 " of %s memory: thread %u of block %u %s it, thread %u of "
             "block %u %s it, and nothing orders the two",
             at, space, seen->thread, seen->block, did, who->thread, who->block, does);
}

void ptx_area_touch(PtxArea *area, uint64_t at, uint64_t size, PtxTouch touch,
                    const PtxToucher *who, const char *space, PtxFailure *failure) {
    static const char *const does[] = {"reads", "writes", "updates"};
    if (!area->cells) return;
    for (uint64_t i = at; i < at + size; i++) {
        PtxCell *cell = &area->cells[i];
        if (meets(&cell->written, who))
            fail_race(&cell->written, "wrote", does[touch], i, who, space, failure);
        if (touch != TOUCH_ATOMIC && meets(&cell->atomic, who))
            fail_race(&cell->atomic, "updated", does[touch], i, who, space, failure);
        if (touch != TOUCH_READ && meets(&cell->read, who))
            fail_race(&cell->read, "read", does[touch], i, who, space, failure);
        if (who->noncoherent &&
            (cell->written.launch == who->launch || cell->atomic.launch == who->launch))
            ptx_fail(failure, who->line, "ld.global.nc of memory that this launch writes");
        note(touch == TOUCH_READ    ? &cell->read
             : touch == TOUCH_WRITE ? &cell->written
                                    : &cell->atomic,
             who);
    }
}

static PtxArea *allocate(PtxMemory *memory, uint64_t size, bool known) {
    if (memory->count == memory->room) {
        memory->room = memory->room ? 2 * memory->room : 16;
        memory->areas = realloc(memory->areas, memory->room * sizeof(PtxArea *));
        if (!memory->areas) abort();
    }
    PtxArea *area = zeroed(1, sizeof *area);
    area->size = size;
    area->block = aligned_alloc(MARGIN, (size + 3 * MARGIN - 1) / MARGIN * MARGIN);
    if (!area->block) abort();
    area->bytes = area->block + MARGIN;
    area->base = (uint64_t)(uintptr_t)area->bytes;
    area->known = zeroed(size, 1);
    memset(area->bytes, known ? 0 : 0xcd, size);
    memset(area->known, known, size);
    memory->areas[memory->count++] = area;
    memory->live += size;
    return area;
}

PtxArea *ptx_memory_allocate(PtxMemory *memory, uint64_t size, bool known) {
    if (size > UINT64_C(1) << 32) return NULL;
    PtxArea *area = allocate(memory, size, known);
    area->cells = zeroed(size, sizeof *area->cells);
    return area;
}

PtxArea *ptx_memory_allocate_own(PtxMemory *memory, uint64_t size) {
    return allocate(memory, size, false);
}

PtxArea *ptx_memory_find(PtxMemory *memory, uint64_t address) {
    if (memory->last && address - memory->last->base < memory->last->size) return memory->last;
    for (size_t i = memory->count; i-- > 0;) {
        PtxArea *area = memory->areas[i];
        if (address - area->base < area->size || (!area->size && address == area->base))
            return memory->last = area;
    }
    return NULL;
}

/* The addresses stay taken, so that a use after this is known for what it is. */
void ptx_memory_free(PtxMemory *memory, PtxArea *area) {
    memory->live -= area->size;
    area->freed = true;
    free(area->known);
    free(area->cells);
    area->known = NULL;
    area->cells = NULL;
}

void ptx_memory_drop(PtxArea *area) {
    ptx_area_free(area);
    free(area);
}

void ptx_memory_destroy(PtxMemory *memory) {
    for (size_t i = 0; i < memory->count; i++) ptx_memory_drop(memory->areas[i]);
    free(memory->areas);
    *memory = (PtxMemory){0};
}
