/* open.c: opening the CUDA driver's library and a device. */
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/lock.h"
#include "gpu/gpu.h"

Gpu gpu;

static bool find_calls(void *library) {
    static const struct {
        const char *symbol;
        size_t place;
    } rows[] = {
#define X(field, symbol, params) {#symbol, offsetof(Gpu, field)},
        CUDA_CALLS(X)
#undef X
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        void *found = dlsym(library, rows[i].symbol);
        if (!found) {
            snprintf(gpu.reason, sizeof gpu.reason, "libcuda.so.1 has no %s", rows[i].symbol);
            return false;
        }
        memcpy((char *)&gpu + rows[i].place, &found, sizeof found);
    }
    return true;
}

static bool good(CuResult result, const char *call) {
    const char *text = NULL;
    if (result == 0) return true;
    if (gpu.error_text) gpu.error_text(result, &text);
    snprintf(gpu.reason, sizeof gpu.reason, "%s: %s", call, text ? text : "an unknown error");
    return false;
}

static bool open_library(void) {
    /* The library stays open: its threads do not end. */
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        snprintf(gpu.reason, sizeof gpu.reason, "libcuda.so.1 was not found");
        return false;
    }
    return find_calls(library) && good(gpu.init(0), "cuInit");
}

/* The caller's context, or else the primary one of the first device. */
static bool open_context(CuContext given, CuDevice *device) {
    int count = 0;
    if (given) {
        gpu.context = given;
        return good(gpu.context_set(given), "cuCtxSetCurrent") &&
               good(gpu.context_device(device), "cuCtxGetDevice");
    }
    if (!good(gpu.device_count(&count), "cuDeviceGetCount")) return false;
    if (count < 1) {
        snprintf(gpu.reason, sizeof gpu.reason, "there is no device");
        return false;
    }
    return good(gpu.device_get(device, 0), "cuDeviceGet") &&
           good(gpu.context_retain(&gpu.context, *device), "cuDevicePrimaryCtxRetain") &&
           good(gpu.context_set(gpu.context), "cuCtxSetCurrent");
}

/* Arrays that the invocations of a loop make for themselves are on the heap of kernels, which has 8
   megabytes if nothing is said: for all that run at a time it is a part of the memory.  Where that
   cannot be had, or was settled before, it stays as it is; what does not fit then runs on the CPU.
   A context of the caller's is left alone. */
static void widen_heap(void) {
    size_t unused, total;
    enum { PARTS = 16 };
    if (!gpu.memory_info(&unused, &total)) gpu.context_limit(CU_LIMIT_HEAP, total / PARTS);
}

static bool attribute(int *value, int which, CuDevice device) {
    return good(gpu.device_attribute(value, which, device), "cuDeviceGetAttribute");
}

static bool open_device(CuContext given) {
    CuDevice device = 0;
    CuContext before = NULL;
    int32_t zero = 0;
    if (!open_library() || !good(gpu.context_get(&before), "cuCtxGetCurrent") ||
        !open_context(given, &device))
        return false;
    bool ok = good(gpu.device_name(gpu.name, (int)sizeof gpu.name, device), "cuDeviceGetName") &&
              attribute(&gpu.major, CU_CAPABILITY_MAJOR, device) &&
              attribute(&gpu.minor, CU_CAPABILITY_MINOR, device) &&
              attribute(&gpu.grid[0], CU_GRID_X, device) &&
              attribute(&gpu.grid[1], CU_GRID_Y, device) &&
              attribute(&gpu.grid[2], CU_GRID_Z, device) &&
              good(gpu.allocate(&gpu.failed, sizeof zero), "cuMemAlloc") &&
              good(gpu_to_device(gpu.failed, &zero, sizeof zero), "cuMemcpyHtoD");
    if (ok && !given) widen_heap();
    gpu.context_set(before);
    return ok;
}

/* A program tells where it runs; what a C program calls prints nothing. */
static void tell(const AdlContext *context, const char *what, const char *why) {
    if (!context || !context->arguments) return;
    fprintf(stderr, "adl: running on %s%s%s%s\n", what, *why ? " (" : "", why, *why ? ")" : "");
}

static GpuState choose(const AdlContext *context, CuContext given) {
    const char *wish = getenv("ADL_DEVICE");
    if (wish && !strcmp(wish, "cpu")) {
        tell(context, "the CPU", "ADL_DEVICE=cpu");
        return GPU_NONE;
    }
    if (wish && *wish && strcmp(wish, "gpu") != 0) {
        snprintf(gpu.reason, sizeof gpu.reason, "ADL_DEVICE is '%s', but not gpu or cpu", wish);
        return GPU_REFUSED;
    }
    gpu.insists = wish && *wish;
    if (open_device(given)) {
        tell(context, gpu.name, "");
        return GPU_READY;
    }
    if (gpu.insists) return GPU_REFUSED;
    tell(context, "the CPU", gpu.reason);
    return GPU_NONE;
}

int32_t gpu_open(AdlContext *context, const AdlSite *site) {
    if (__atomic_load_n(&gpu.state, __ATOMIC_ACQUIRE) == GPU_UNKNOWN) {
        lock_take(&gpu.lock);
        if (gpu.state == GPU_UNKNOWN)
            __atomic_store_n(&gpu.state, choose(context, NULL), __ATOMIC_RELEASE);
        lock_give(&gpu.lock);
    }
    if (gpu.state != GPU_REFUSED) return ADL_OK;
    return error_note(context, ADL_ERROR_DEVICE, site, "no device to run on: %s", gpu.reason);
}

int adl_gpu_use(void *context, void *stream) {
    int status = ADL_OK;
    if (!context) return ADL_ERROR_ARGUMENT;
    lock_take(&gpu.lock);
    if (gpu.state == GPU_UNKNOWN) {
        gpu.stream = stream;
        GpuState state = choose(NULL, context);
        if (state == GPU_REFUSED) status = ADL_ERROR_DEVICE;
        __atomic_store_n(&gpu.state, state, __ATOMIC_RELEASE);
    } else if (gpu.state == GPU_READY && gpu.context == context) {
        gpu.stream_wait(gpu.stream);
        gpu.stream = stream;
    } else if (gpu.state != GPU_NONE) {
        status = ADL_ERROR_DEVICE;
    }
    lock_give(&gpu.lock);
    return status;
}

int32_t gpu_enter(AdlContext *context, const AdlSite *site, CuContext *before) {
    lock_take(&gpu.lock);
    *before = NULL;
    CuResult result = gpu.context_get(before);
    if (!result && *before != gpu.context) result = gpu.context_set(gpu.context);
    if (!result) return ADL_OK;
    return context ? gpu_fail(context, site, result, "cuCtxSetCurrent") : ADL_ERROR_DEVICE;
}

void gpu_leave(CuContext before) {
    if (before != gpu.context) gpu.context_set(before);
    lock_give(&gpu.lock);
}

CuResult gpu_to_device(CuAddress to, const void *from, int64_t bytes) {
    if (!gpu.stream) return gpu.to_device(to, from, (size_t)bytes);
    CuResult result = gpu.to_device_behind(to, from, (size_t)bytes, gpu.stream);
    return result ? result : gpu.stream_wait(gpu.stream);
}

CuResult gpu_to_host(void *to, CuAddress from, int64_t bytes) {
    if (!gpu.stream) return gpu.to_host(to, from, (size_t)bytes);
    CuResult result = gpu.to_host_behind(to, from, (size_t)bytes, gpu.stream);
    return result ? result : gpu.stream_wait(gpu.stream);
}

int32_t gpu_fail(AdlContext *context, const AdlSite *site, CuResult result, const char *format,
                 ...) {
    char operation[200];
    const char *name = NULL, *text = NULL;
    va_list args;
    va_start(args, format);
    vsnprintf(operation, sizeof operation, format, args);
    va_end(args);
    gpu.error_name(result, &name);
    gpu.error_text(result, &text);
    return error_note(context, result == CU_OUT_OF_MEMORY ? ADL_ERROR_MEMORY : ADL_ERROR_DEVICE,
                      site, "on %s: %s: %s (%s)", gpu.name, operation,
                      text ? text : "an unknown error", name ? name : "?");
}
