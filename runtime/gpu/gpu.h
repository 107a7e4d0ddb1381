/* gpu.h: the device of this process, and the device memory of blocks.

   A block's `device` word is 0, or the number of a record times 4 plus what is valid: the record
   has the device memory.  Generated code looks at the two low bits before it touches elements.  All
   functions here are called with the lock held, unless they say otherwise. */
#ifndef ADL_RUNTIME_GPU_GPU_H
#define ADL_RUNTIME_GPU_GPU_H

#include <stdbool.h>

#include "core/calls.h"
#include "gpu/cuda.h"

typedef enum GpuState {
    GPU_UNKNOWN, /* nobody asked yet */
    GPU_NONE,    /* everything runs on the CPU */
    GPU_READY,
    GPU_REFUSED /* ADL_DEVICE wants what there is not */
} GpuState;

typedef struct GpuRecord {
    CuAddress at;
    int64_t bytes;   /* as allocated */
    AdlBlock *block; /* NULL: free */
    int32_t next;    /* the next free one */
    int32_t singles; /* elements that were moved by themselves since the last launch wrote to it */
} GpuRecord;

typedef struct GpuFree {
    CuAddress at;
    int64_t bytes;
} GpuFree;

/* What a process has one of. */
typedef struct Gpu {
    int32_t lock;
    int32_t state; /* GpuState; atomic */
    bool insists;  /* ADL_DEVICE=gpu: whatever can runs there, whether it pays or not */
    int major, minor;
    int grid[3]; /* the most blocks along x, y, z */
    char name[128];
    char reason[256]; /* why there is none */
    CuContext context;
    CuStream stream;  /* all that is done is done in its order */
    CuAddress failed; /* a word that a failed check sets */
    double regret;    /* what launches that were not made would have saved, in nanoseconds */
    GpuRecord *records;
    int32_t record_count, record_free; /* 0: none */
    void *loaded; /* see launch.c */
    GpuFree *pool;
    int32_t pool_count, pool_capacity;
#define X(field, symbol, params) CuResult(*field) params;
    CUDA_CALLS(X)
#undef X
} Gpu;

extern Gpu gpu;

/* Opens the device at the first call; takes and gives the lock itself.  CONTEXT gets the error if
   ADL_DEVICE cannot be met. */
int32_t gpu_open(AdlContext *context, const AdlSite *site);
/* Takes the lock and makes the device's context that of this thread, and gives it back; between the
   two *BEFORE has the thread's own. */
int32_t gpu_enter(AdlContext *context, const AdlSite *site, CuContext *before);
void gpu_leave(CuContext before);
/* Copies that are done when they return, behind what the stream has to do. */
CuResult gpu_to_device(CuAddress to, const void *from, int64_t bytes);
CuResult gpu_to_host(void *to, CuAddress from, int64_t bytes);
/* Notes that OPERATION (with what it was for) gave RESULT. */
int32_t gpu_fail(AdlContext *context, const AdlSite *site, CuResult result, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* ---- memory.c ---- */
int32_t gpu_take(AdlContext *context, const AdlSite *site, int64_t bytes, CuAddress *at,
                 int64_t *taken);
void gpu_give(CuAddress at, int64_t bytes);
/* Does the device memory of DATA's block outlive a launch?  Not so without a header of ours. */
AdlBlock *gpu_block(const AdlContext *context, const void *data);
/* Device memory for BLOCK; with its elements if READ.  What is valid stays as it is. */
int32_t gpu_reside(AdlContext *context, const AdlSite *site, AdlBlock *block, bool read,
                   CuAddress *at);
static inline int32_t gpu_valid(const AdlBlock *block) {
    return block->device & ADL_DEVICE_VALID;
}
static inline void gpu_set_valid(AdlBlock *block, int32_t valid) {
    block->device = (block->device & ~ADL_DEVICE_VALID) | valid;
}

#endif
