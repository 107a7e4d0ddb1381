/* A stand-in for the driver library, libcuda.so.1: one device, the host's memory, PTX interpreted.
   Calls fail as the real ones do: what a kernel does wrong is told by the next call that waits for
   it, and by all calls after that.  The text of a failure goes to standard error, too.

   Settings in the environment:
     PTXSIM_CC       the device's compute capability, 75 for 7.5 (default 90)
     PTXSIM_MEMORY   its memory in bytes (default 1 GiB)
     PTXSIM_GRID     the most blocks along y and z (default 65535)
     PTXSIM_DEVICES  how many devices there are, 0 or 1
     PTXSIM_STEPS    instructions that one launch may take (default 10^9)
     PTXSIM_EXITS    if set: barriers do not wait for invocations that have ended
     PTXSIM_TRACE    if set: launches and copies are told on standard error */
#include "tests/ptxsim/cuda.h"
#include "tests/ptxsim/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define EXPORT __attribute__((visibility("default")))

struct CUctx_st {
    int retained;
};
struct CUfunc_st {
    CUmodule module;
    const PtxFunc *func;
    struct CUfunc_st *next;
};
struct CUmod_st {
    PtxModule *module;
    CUfunction functions;
    CUmodule next;
};
struct CUstream_st {
    int unused;
};
struct CUevent_st {
    struct timespec time;
    bool recorded;
};

/* The device: what a driver has one of. */
static struct {
    bool started;
    unsigned capability;
    uint64_t memory_limit, heap_limit, step_limit;
    bool trace;
    int count;
    struct CUctx_st context;
    CUcontext current;
    PtxMemory memory;
    CUmodule modules;
    uint32_t launches, grid_limit;
    uint64_t steps;
    CUresult sticky; /* of a kernel that failed */
    char message[640];
} driver;

static uint64_t setting(const char *name, uint64_t otherwise) {
    const char *text = getenv(name);
    return text && *text ? strtoull(text, NULL, 10) : otherwise;
}

static CUresult fail(CUresult error, const char *call, const char *text) {
    snprintf(driver.message, sizeof driver.message, "%s: %s", call, text);
    fprintf(stderr, "ptxsim: %s\n", driver.message);
    return error;
}

EXPORT const char *ptxsim_message(void) {
    return driver.message;
}
EXPORT unsigned long long ptxsim_instructions(void) {
    return driver.steps;
}

/* Every call but the first ones needs a start and a context, and tells what a kernel did wrong. */
static CUresult ready(const char *call) {
    if (!driver.started) return fail(CUDA_ERROR_NOT_INITIALIZED, call, "cuInit was not called");
    if (!driver.current) return fail(CUDA_ERROR_INVALID_CONTEXT, call, "there is no context");
    return driver.sticky;
}

#define CHECK_READY()                                                                              \
    do {                                                                                           \
        CUresult state = ready(__func__);                                                          \
        if (state) return state;                                                                   \
    } while (0)

/* ---- devices and contexts ---------------------------------------------------------------------
 */

EXPORT CUresult cuInit(unsigned flags) {
    if (flags) return CUDA_ERROR_INVALID_VALUE;
    driver.started = true;
    driver.capability = (unsigned)setting("PTXSIM_CC", 90);
    driver.memory_limit = setting("PTXSIM_MEMORY", UINT64_C(1) << 30);
    driver.grid_limit = (uint32_t)setting("PTXSIM_GRID", 65535);
    driver.heap_limit = UINT64_C(8) << 20;
    driver.step_limit = setting("PTXSIM_STEPS", UINT64_C(1000000000));
    driver.count = (int)setting("PTXSIM_DEVICES", 1);
    driver.trace = getenv("PTXSIM_TRACE") != NULL;
    return driver.count ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE;
}

EXPORT CUresult cuDriverGetVersion(int *version) {
    *version = 13000;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuDeviceGetCount(int *count) {
    *count = driver.count;
    return driver.started ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
}

EXPORT CUresult cuDeviceGet(CUdevice *device, int ordinal) {
    *device = ordinal;
    return ordinal >= 0 && ordinal < driver.count ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

EXPORT CUresult cuDeviceGetName(char *name, int len, CUdevice device) {
    if (device >= driver.count) return CUDA_ERROR_INVALID_DEVICE;
    snprintf(name, (size_t)len, "PTX simulator (sm_%u)", driver.capability);
    return CUDA_SUCCESS;
}

EXPORT CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device) {
    if (device >= driver.count) return CUDA_ERROR_INVALID_DEVICE;
    switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X:
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y: *value = 1024; return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z: *value = 64; return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X: *value = INT32_MAX; return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y:
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z: *value = (int)driver.grid_limit; return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK: *value = 48 * 1024; return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE: *value = 32; return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: *value = 4; return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
        *value = (int)driver.capability / 10;
        return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
        *value = (int)driver.capability % 10;
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_VALUE;
}

EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
    if (!driver.started) return CUDA_ERROR_NOT_INITIALIZED;
    if (device >= driver.count) return CUDA_ERROR_INVALID_DEVICE;
    driver.context.retained++;
    *context = &driver.context;
    return CUDA_SUCCESS;
}

/* The last release takes all with it: modules, memory, and what a kernel did wrong. */
EXPORT CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
    if (device >= driver.count || !driver.context.retained) return CUDA_ERROR_INVALID_CONTEXT;
    if (--driver.context.retained == 0) {
        while (driver.modules) cuModuleUnload(driver.modules);
        ptx_memory_destroy(&driver.memory);
        driver.sticky = CUDA_SUCCESS;
        driver.current = NULL;
    }
    return CUDA_SUCCESS;
}

EXPORT CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
    return cuDevicePrimaryCtxRelease_v2(device);
}

/* Of the limits there is the heap's alone. */
EXPORT CUresult cuCtxSetLimit(CUlimit limit, size_t value) {
    CHECK_READY();
    if (limit != CU_LIMIT_MALLOC_HEAP_SIZE)
        return fail(CUDA_ERROR_INVALID_VALUE, __func__, "a limit that is not known");
    driver.heap_limit = value;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuCtxSetCurrent(CUcontext context) {
    if (context && context != &driver.context) return CUDA_ERROR_INVALID_CONTEXT;
    driver.current = context;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuCtxGetCurrent(CUcontext *context) {
    *context = driver.current;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuCtxGetDevice(CUdevice *device) {
    if (!driver.current) return CUDA_ERROR_INVALID_CONTEXT;
    *device = 0;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuCtxSynchronize(void) {
    return ready(__func__);
}

/* ---- modules ----------------------------------------------------------------------------------
 */

static uint8_t *allocate_global(void *memory, uint64_t size, bool known) {
    PtxArea *area = ptx_memory_allocate(memory, size, known);
    if (!area) return NULL;
    area->module = true;
    return area->bytes;
}

static void write_log(const char *text, unsigned count, const CUjit_option *options,
                      void *const *values) {
    char *buffer = NULL;
    size_t size = 0;
    for (unsigned i = 0; i < count; i++) {
        if (options[i] == CU_JIT_ERROR_LOG_BUFFER) buffer = values[i];
        if (options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES) size = (size_t)(uintptr_t)values[i];
    }
    if (buffer && size) snprintf(buffer, size, "ptxsim: %s", text);
}

EXPORT CUresult cuModuleLoadDataEx(CUmodule *result, const void *image, unsigned count,
                                   CUjit_option *options, void **values) {
    CHECK_READY();
    PtxFailure failure;
    if (memcmp(image, "\177ELF", 4) == 0) {
        write_log("machine code", count, options, values);
        return fail(CUDA_ERROR_NO_BINARY_FOR_GPU, __func__, "machine code, of which it runs none");
    }
    PtxModule *module = ptx_parse(image, &failure, allocate_global, &driver.memory);
    if (module && module->target > driver.capability) {
        snprintf(failure.text, sizeof failure.text, "for sm_%u, the device is sm_%u",
                 module->target, driver.capability);
        ptx_free(module);
        write_log(failure.text, count, options, values);
        return fail(CUDA_ERROR_NO_BINARY_FOR_GPU, __func__, failure.text);
    }
    if (!module) {
        write_log(failure.text, count, options, values);
        return fail(CUDA_ERROR_INVALID_PTX, __func__, failure.text);
    }
    *result = calloc(1, sizeof **result);
    if (!*result) abort();
    **result = (struct CUmod_st){.module = module, .next = driver.modules};
    driver.modules = *result;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuModuleLoadData(CUmodule *module, const void *image) {
    return cuModuleLoadDataEx(module, image, 0, NULL, NULL);
}

EXPORT CUresult cuModuleUnload(CUmodule module) {
    CUmodule *link = &driver.modules;
    while (*link && *link != module) link = &(*link)->next;
    if (!*link) return CUDA_ERROR_INVALID_HANDLE;
    *link = module->next;
    for (PtxGlobal *g = module->module->globals; g; g = g->next) {
        PtxArea *area = ptx_memory_find(&driver.memory, g->symbol->address);
        if (area && !area->freed) ptx_memory_free(&driver.memory, area);
    }
    for (CUfunction f = module->functions, next; f; f = next) {
        next = f->next;
        free(f);
    }
    ptx_free(module->module);
    free(module);
    return CUDA_SUCCESS;
}

EXPORT CUresult cuModuleGetFunction(CUfunction *result, CUmodule module, const char *name) {
    CHECK_READY();
    const PtxFunc *func = module->module->funcs;
    while (func && !(func->entry && func->defined && strcmp(func->name, name) == 0))
        func = func->next;
    if (!func) return fail(CUDA_ERROR_NOT_FOUND, __func__, name);
    CUfunction made = calloc(1, sizeof *made);
    if (!made) abort();
    *made = (struct CUfunc_st){.module = module, .func = func, .next = module->functions};
    *result = module->functions = made;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuModuleGetGlobal_v2(CUdeviceptr *address, size_t *bytes, CUmodule module,
                                     const char *name) {
    CHECK_READY();
    for (PtxGlobal *g = module->module->globals; g; g = g->next)
        if (strcmp(g->symbol->name, name) == 0) {
            if (address) *address = g->symbol->address;
            if (bytes) *bytes = g->symbol->size;
            return CUDA_SUCCESS;
        }
    return fail(CUDA_ERROR_NOT_FOUND, __func__, name);
}

/* ---- memory -----------------------------------------------------------------------------------
 */

EXPORT CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t bytes) {
    CHECK_READY();
    if (!bytes) return fail(CUDA_ERROR_INVALID_VALUE, __func__, "0 bytes");
    PtxArea *area = NULL;
    if (bytes <= driver.memory_limit && driver.memory.live <= driver.memory_limit - bytes)
        area = ptx_memory_allocate(&driver.memory, bytes, false);
    if (!area) return CUDA_ERROR_OUT_OF_MEMORY;
    *address = area->base;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuMemFree_v2(CUdeviceptr address) {
    CHECK_READY();
    if (!address) return CUDA_SUCCESS;
    PtxArea *area = ptx_memory_find(&driver.memory, address);
    if (!area || area->base != address || area->freed || area->module)
        return fail(CUDA_ERROR_INVALID_VALUE, __func__, "this is no allocation");
    ptx_memory_free(&driver.memory, area);
    return CUDA_SUCCESS;
}

EXPORT CUresult cuMemGetInfo_v2(size_t *unused, size_t *total) {
    CHECK_READY();
    *unused = driver.memory_limit - driver.memory.live;
    *total = driver.memory_limit;
    return CUDA_SUCCESS;
}

/* The area that holds all of [ADDRESS, +BYTES), and the place in it; NULL if none does. */
static PtxArea *range(const char *call, CUdeviceptr address, size_t bytes, uint64_t *at) {
    PtxArea *area = ptx_memory_find(&driver.memory, address);
    *at = area ? address - area->base : 0;
    if (area && !area->freed && bytes <= area->size - *at) return area;
    fail(CUDA_ERROR_INVALID_VALUE, call, "not within an allocation");
    return NULL;
}

EXPORT CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes) {
    CHECK_READY();
    uint64_t at;
    if (!bytes) return CUDA_SUCCESS;
    PtxArea *area = range(__func__, to, bytes, &at);
    if (!area) return CUDA_ERROR_INVALID_VALUE;
    memcpy(area->bytes + at, from, bytes);
    memset(area->known + at, 1, bytes);
    if (driver.trace) fprintf(stderr, "ptxsim: to the device: %zu bytes\n", bytes);
    return CUDA_SUCCESS;
}

/* What comes back must have been written. */
EXPORT CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes) {
    CHECK_READY();
    uint64_t at;
    if (!bytes) return CUDA_SUCCESS;
    PtxArea *area = range(__func__, from, bytes, &at);
    if (!area) return CUDA_ERROR_INVALID_VALUE;
    const uint8_t *unknown = memchr(area->known + at, 0, bytes);
    if (unknown) {
        char text[80];
        snprintf(text, sizeof text, "nobody wrote byte %zu of %zu",
                 (size_t)(unknown - area->known) - (size_t)at, bytes);
        return fail(CUDA_ERROR_ILLEGAL_ADDRESS, __func__, text);
    }
    memcpy(to, area->bytes + at, bytes);
    if (driver.trace) fprintf(stderr, "ptxsim: to the host: %zu bytes\n", bytes);
    return CUDA_SUCCESS;
}

EXPORT CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
    CHECK_READY();
    uint64_t target, source;
    if (!bytes) return CUDA_SUCCESS;
    PtxArea *there = range(__func__, to, bytes, &target);
    PtxArea *here = there ? range(__func__, from, bytes, &source) : NULL;
    if (!here) return CUDA_ERROR_INVALID_VALUE;
    memmove(there->bytes + target, here->bytes + source, bytes);
    memmove(there->known + target, here->known + source, bytes);
    return CUDA_SUCCESS;
}

EXPORT CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t count) {
    CHECK_READY();
    uint64_t at;
    if (!count) return CUDA_SUCCESS;
    PtxArea *area = range(__func__, to, count, &at);
    if (!area) return CUDA_ERROR_INVALID_VALUE;
    memset(area->bytes + at, value, count);
    memset(area->known + at, 1, count);
    return CUDA_SUCCESS;
}

/* ---- launches ---------------------------------------------------------------------------------
 */

EXPORT CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                               unsigned grid_z, unsigned block_x, unsigned block_y,
                               unsigned block_z, unsigned shared_bytes, CUstream stream,
                               void **params, void **extra) {
    CHECK_READY();
    (void)stream;
    if (!function || extra || shared_bytes || (function->func->param_count && !params))
        return fail(CUDA_ERROR_INVALID_VALUE, __func__, "an argument is not supported");
    PtxFailure failure;
    PtxLaunch launch = {
        .module = function->module->module,
        .func = function->func,
        .grid = {grid_x, grid_y, grid_z},
        .block = {block_x, block_y, block_z},
        .grid_limit = driver.grid_limit,
        .args = params,
        .memory = &driver.memory,
        .heap_limit = driver.heap_limit,
        .number = ++driver.launches,
        .step_limit = driver.step_limit,
        .exits = getenv("PTXSIM_EXITS") != NULL,
        .failure = &failure,
    };
    const char *refused = ptx_launch_refuse(&launch);
    if (refused) return fail(CUDA_ERROR_INVALID_VALUE, __func__, refused);
    if (driver.trace) fprintf(stderr, "ptxsim: launch of %s\n", function->func->name);
    if (!ptx_launch_run(&launch))
        driver.sticky = fail(CUDA_ERROR_LAUNCH_FAILED, __func__, failure.text);
    driver.steps += launch.steps;
    return CUDA_SUCCESS;
}

/* ---- streams and events: everything is done when a call returns --------------------------------
 */

EXPORT CUresult cuStreamCreate(CUstream *stream, unsigned flags) {
    CHECK_READY();
    (void)flags;
    *stream = calloc(1, sizeof **stream);
    return *stream ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

EXPORT CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count,
                                CUstream stream) {
    (void)stream;
    return cuMemsetD8_v2(to, value, count);
}

EXPORT CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes,
                                     CUstream stream) {
    (void)stream;
    return cuMemcpyHtoD_v2(to, from, bytes);
}

EXPORT CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream stream) {
    (void)stream;
    return cuMemcpyDtoH_v2(to, from, bytes);
}

EXPORT CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes,
                                     CUstream stream) {
    (void)stream;
    return cuMemcpyDtoD_v2(to, from, bytes);
}

EXPORT CUresult cuStreamSynchronize(CUstream stream) {
    (void)stream;
    return ready(__func__);
}

EXPORT CUresult cuStreamDestroy_v2(CUstream stream) {
    free(stream);
    return CUDA_SUCCESS;
}

EXPORT CUresult cuEventCreate(CUevent *event, unsigned flags) {
    CHECK_READY();
    (void)flags;
    *event = calloc(1, sizeof **event);
    return *event ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

EXPORT CUresult cuEventRecord(CUevent event, CUstream stream) {
    CHECK_READY();
    (void)stream;
    event->recorded = true;
    return clock_gettime(CLOCK_MONOTONIC, &event->time) ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
}

EXPORT CUresult cuEventSynchronize(CUevent event) {
    CHECK_READY();
    return event->recorded ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

EXPORT CUresult cuEventElapsedTime(float *milliseconds, CUevent from, CUevent to) {
    CHECK_READY();
    if (!from->recorded || !to->recorded) return CUDA_ERROR_INVALID_HANDLE;
    *milliseconds = (float)(to->time.tv_sec - from->time.tv_sec) * 1e3F +
                    (float)(to->time.tv_nsec - from->time.tv_nsec) * 1e-6F;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuEventDestroy_v2(CUevent event) {
    free(event);
    return CUDA_SUCCESS;
}

/* ---- errors -----------------------------------------------------------------------------------
 */

static const struct {
    CUresult error;
    const char *name, *text;
} errors[] = {
#define ROW(error, text)                                                                           \
    { error, #error, text }
    ROW(CUDA_SUCCESS, "no error"),
    ROW(CUDA_ERROR_INVALID_VALUE, "invalid argument"),
    ROW(CUDA_ERROR_OUT_OF_MEMORY, "out of memory"),
    ROW(CUDA_ERROR_NOT_INITIALIZED, "initialization error"),
    ROW(CUDA_ERROR_NO_DEVICE, "no CUDA-capable device is detected"),
    ROW(CUDA_ERROR_INVALID_DEVICE, "invalid device ordinal"),
    ROW(CUDA_ERROR_INVALID_CONTEXT, "invalid device context"),
    ROW(CUDA_ERROR_NO_BINARY_FOR_GPU, "no kernel image is available for execution on the device"),
    ROW(CUDA_ERROR_INVALID_PTX, "a PTX JIT compilation failed"),
    ROW(CUDA_ERROR_INVALID_HANDLE, "invalid resource handle"),
    ROW(CUDA_ERROR_NOT_FOUND, "named symbol not found"),
    ROW(CUDA_ERROR_ILLEGAL_ADDRESS, "an illegal memory access was encountered"),
    ROW(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "too many resources requested for launch"),
    ROW(CUDA_ERROR_LAUNCH_FAILED, "unspecified launch failure"),
#undef ROW
};

static CUresult find_error(CUresult error, const char **name, const char **text) {
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].error == error) {
            if (name) *name = errors[i].name;
            if (text) *text = errors[i].text;
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_INVALID_VALUE;
}

EXPORT CUresult cuGetErrorName(CUresult error, const char **name) {
    return find_error(error, name, NULL);
}

EXPORT CUresult cuGetErrorString(CUresult error, const char **text) {
    return find_error(error, NULL, text);
}
