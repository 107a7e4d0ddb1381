/* memory.c: device memory, and where the elements of blocks are valid. */
#include <string.h>

#include "core/allocator.h"
#include "core/error.h"
#include "core/memory.h"
#include "gpu/gpu.h"

enum { POOL_MOST = 256, GRAIN = 256 };

static void empty_pool(void) {
    while (gpu.pool_count) gpu.release(gpu.pool[--gpu.pool_count].at);
}

/* Twice as many entries of SIZE bytes; NULL: no memory, and AT stays. */
static void *grow(void *at, int32_t *capacity, size_t size) {
    int32_t more = *capacity ? 2 * *capacity : 64;
    void *next = allocator_take((size_t)more * size);
    if (!next) return NULL;
    memset(next, 0, (size_t)more * size);
    if (at) {
        memcpy(next, at, (size_t)*capacity * size);
        allocator_give(at, (size_t)*capacity * size);
    }
    *capacity = more;
    return next;
}

/* Launches and copies are in order on one stream, so that memory can be used again at once. */
int32_t gpu_take(AdlContext *context, const AdlSite *site, int64_t bytes, CuAddress *at,
                 int64_t *taken) {
    *taken = bytes < GRAIN ? GRAIN : (bytes + GRAIN - 1) / GRAIN * GRAIN;
    for (int32_t i = gpu.pool_count; i-- > 0;)
        if (gpu.pool[i].bytes == *taken) {
            *at = gpu.pool[i].at;
            gpu.pool[i] = gpu.pool[--gpu.pool_count];
            return ADL_OK;
        }
    CuResult result = gpu.allocate(at, (size_t)*taken);
    if (result == CU_OUT_OF_MEMORY && gpu.pool_count) {
        empty_pool();
        result = gpu.allocate(at, (size_t)*taken);
    }
    return result ? gpu_fail(context, site, result, "cuMemAlloc of %lld bytes", (long long)bytes)
                  : ADL_OK;
}

void gpu_give(CuAddress at, int64_t bytes) {
    if (gpu.pool_count == POOL_MOST) empty_pool();
    if (gpu.pool_count == gpu.pool_capacity) {
        GpuFree *more = grow(gpu.pool, &gpu.pool_capacity, sizeof *more);
        if (!more) {
            gpu.release(at);
            return;
        }
        gpu.pool = more;
    }
    gpu.pool[gpu.pool_count++] = (GpuFree){at, bytes};
}

AdlBlock *gpu_block(const AdlContext *context, const void *data) {
    if (!data || block_is_foreign(context, data)) return NULL;
    AdlBlock *block = block_of(data);
    /* Without names, but held by a tape, it has refs 0. */
    return block->refs >= 0 && !block->spare ? block : NULL;
}

/* A record for BLOCK with memory of its size. */
static int32_t new_record(AdlContext *context, const AdlSite *site, AdlBlock *block) {
    CuAddress at;
    int64_t bytes;
    if (!gpu.record_free) {
        int32_t count = gpu.record_count;
        GpuRecord *more = grow(gpu.records, &gpu.record_count, sizeof *more);
        if (!more) return error_memory(context, site, (int64_t)sizeof *more * count);
        gpu.records = more;
        for (int32_t i = gpu.record_count; i-- > (count ? count : 1);) {
            more[i].next = gpu.record_free;
            gpu.record_free = i;
        }
    }
    int32_t status = gpu_take(context, site, block->bytes, &at, &bytes);
    if (status) return status;
    int32_t number = gpu.record_free;
    gpu.record_free = gpu.records[number].next;
    gpu.records[number] = (GpuRecord){.at = at, .bytes = bytes, .block = block};
    block->device = number << 2;
    return ADL_OK;
}

int32_t gpu_reside(AdlContext *context, const AdlSite *site, AdlBlock *block, bool read,
                   CuAddress *at) {
    if (!block->device) {
        int32_t status = new_record(context, site, block);
        if (status) return status;
    }
    *at = gpu.records[block->device >> 2].at;
    if (!read || gpu_valid(block)) return ADL_OK;
    CuResult result = gpu_to_device(*at, block + 1, block->bytes);
    if (result)
        return gpu_fail(context, site, result, "cuMemcpyHtoD of %lld bytes",
                        (long long)block->bytes);
    gpu_set_valid(block, ADL_DEVICE_BOTH);
    return ADL_OK;
}

void gpu_forget(AdlBlock *block) {
    CuContext before;
    gpu_enter(NULL, NULL, &before);
    int32_t number = block->device >> 2;
    GpuRecord *record = &gpu.records[number];
    gpu_give(record->at, record->bytes);
    *record = (GpuRecord){.next = gpu.record_free};
    gpu.record_free = number;
    block->device = 0;
    gpu_leave(before);
}

/* The elements of DATA's block are valid on the host behind this. */
int32_t adl__gpu_read(AdlContext *context, const AdlSite *site, const void *data) {
    AdlBlock *block = block_of(data);
    CuContext before;
    if (gpu_valid(block) != ADL_DEVICE_ONLY) return ADL_OK;
    int32_t status = gpu_enter(context, site, &before);
    if (!status) {
        CuResult result = gpu_to_host(block + 1, gpu.records[block->device >> 2].at, block->bytes);
        if (result)
            status = gpu_fail(context, site, result, "cuMemcpyDtoH of %lld bytes",
                              (long long)block->bytes);
        else gpu_set_valid(block, ADL_DEVICE_BOTH);
    }
    gpu_leave(before);
    return status;
}

/* The same; and what the device has is not valid any more. */
int32_t adl__gpu_write(AdlContext *context, const AdlSite *site, const void *data) {
    int32_t status = adl__gpu_read(context, site, data);
    if (!status) gpu_set_valid(block_of(data), ADL_DEVICE_STALE);
    return status;
}

/* Elements that are moved one by one; beyond that it is better to have all. */
enum { SINGLES = 16 };

/* Moves one element of BLOCK; true: *STATUS says how that went, false: there were too many. */
static bool move_one(AdlContext *context, const AdlSite *site, AdlBlock *block, void *element,
                     int64_t bytes, bool to_device, int32_t *status) {
    CuContext before;
    GpuRecord *record = &gpu.records[block->device >> 2];
    if (record->singles >= SINGLES && !to_device) return false;
    *status = gpu_enter(context, site, &before);
    if (*status) return true;
    CuAddress at = record->at + (CuAddress)((char *)element - (char *)(block + 1));
    CuResult result =
        to_device ? gpu_to_device(at, element, bytes) : gpu_to_host(element, at, bytes);
    if (result)
        *status = gpu_fail(context, site, result, "%s of %lld bytes",
                           to_device ? "cuMemcpyHtoD" : "cuMemcpyDtoH", (long long)bytes);
    gpu_leave(before);
    return record->singles++ < SINGLES;
}

int32_t adl__gpu_peek(AdlContext *context, const AdlSite *site, const void *data, void *element,
                      int64_t bytes) {
    AdlBlock *block = block_of(data);
    int32_t status = ADL_OK;
    if (gpu_valid(block) != ADL_DEVICE_ONLY) return ADL_OK;
    if (move_one(context, site, block, element, bytes, false, &status)) return status;
    return adl__gpu_read(context, site, data);
}

/* Where the device has all, or the same, it gets the new element, too. */
int32_t adl__gpu_poke(AdlContext *context, const AdlSite *site, const void *data, void *element,
                      int64_t bytes) {
    AdlBlock *block = block_of(data);
    int32_t status = ADL_OK;
    if (gpu_valid(block) == ADL_DEVICE_STALE) return ADL_OK;
    if (move_one(context, site, block, element, bytes, true, &status) || status) return status;
    return adl__gpu_write(context, site, data);
}

int32_t adl__gpu_read_tape(AdlContext *context, const AdlSite *site, const AdlTape *tape) {
    int32_t status = ADL_OK;
    for (int64_t i = 0; i < tape->kept_count && !status; i++)
        if (gpu_block(context, tape->kept[i])) status = adl__gpu_read(context, site, tape->kept[i]);
    for (int64_t i = 0; i < tape->children_count && !status; i++)
        status = adl__gpu_read_tape(context, site, tape->children[i]);
    return status;
}

static int32_t copy_there(AdlContext *context, const AdlSite *site, AdlBlock *to, AdlBlock *from,
                          int64_t offset) {
    CuAddress target, source;
    int32_t status = gpu_reside(context, site, to, false, &target);
    if (!status) status = gpu_reside(context, site, from, true, &source);
    if (status) return status;
    CuResult result =
        gpu.on_device(target, source + (CuAddress)offset, (size_t)to->bytes, gpu.stream);
    if (result)
        return gpu_fail(context, site, result, "cuMemcpyDtoD of %lld bytes", (long long)to->bytes);
    gpu_set_valid(to, ADL_DEVICE_ONLY);
    return ADL_OK;
}

int32_t adl__gpu_copy(AdlContext *context, const AdlSite *site, void *to, void *to_data,
                      const void *from, const void *from_data, int64_t bytes) {
    AdlBlock *target = gpu_block(context, to_data), *source = gpu_block(context, from_data);
    if (bytes <= 0) return ADL_OK;
    if (source && gpu_valid(source) && target && target->bytes == bytes) {
        CuContext before;
        int32_t status = gpu_enter(context, site, &before);
        if (!status)
            status = copy_there(context, site, target, source,
                                (const char *)from - (const char *)from_data);
        gpu_leave(before);
        return status;
    }
    int32_t status = source ? adl__gpu_read(context, site, from_data) : ADL_OK;
    if (!status && target) status = adl__gpu_write(context, site, to_data);
    if (!status) memcpy(to, from, (size_t)bytes);
    return status;
}
