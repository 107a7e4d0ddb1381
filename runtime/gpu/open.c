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

static bool open_device(void) {
    int count = 0;
    CuDevice device;
    /* The library stays open: its threads do not end. */
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        snprintf(gpu.reason, sizeof gpu.reason, "libcuda.so.1 was not found");
        return false;
    }
    if (!find_calls(library)) return false;
    if (!good(gpu.init(0), "cuInit") || !good(gpu.device_count(&count), "cuDeviceGetCount"))
        return false;
    if (count < 1) {
        snprintf(gpu.reason, sizeof gpu.reason, "there is no device");
        return false;
    }
    if (!good(gpu.device_get(&device, 0), "cuDeviceGet") ||
        !good(gpu.device_name(gpu.name, (int)sizeof gpu.name, device), "cuDeviceGetName") ||
        !good(gpu.device_attribute(&gpu.major, CU_CAPABILITY_MAJOR, device),
              "cuDeviceGetAttribute") ||
        !good(gpu.device_attribute(&gpu.minor, CU_CAPABILITY_MINOR, device),
              "cuDeviceGetAttribute") ||
        !good(gpu.context_retain(&gpu.context, device), "cuDevicePrimaryCtxRetain") ||
        !good(gpu.context_set(gpu.context), "cuCtxSetCurrent"))
        return false;
    int32_t zero = 0;
    return good(gpu.allocate(&gpu.failed, sizeof zero), "cuMemAlloc") &&
           good(gpu.to_device(gpu.failed, &zero, sizeof zero), "cuMemcpyHtoD");
}

static GpuState choose(void) {
    const char *wish = getenv("ADL_DEVICE");
    if (wish && !strcmp(wish, "cpu")) {
        fprintf(stderr, "adl: running on the CPU (ADL_DEVICE=cpu)\n");
        return GPU_NONE;
    }
    if (wish && *wish && strcmp(wish, "gpu") != 0) {
        snprintf(gpu.reason, sizeof gpu.reason, "ADL_DEVICE is '%s', but not gpu or cpu", wish);
        return GPU_REFUSED;
    }
    gpu.insists = wish && *wish;
    if (open_device()) {
        fprintf(stderr, "adl: running on %s\n", gpu.name);
        return GPU_READY;
    }
    if (gpu.insists) return GPU_REFUSED;
    fprintf(stderr, "adl: running on the CPU (%s)\n", gpu.reason);
    return GPU_NONE;
}

int32_t gpu_open(AdlContext *context, const AdlSite *site) {
    if (__atomic_load_n(&gpu.state, __ATOMIC_ACQUIRE) == GPU_UNKNOWN) {
        lock_take(&gpu.lock);
        if (gpu.state == GPU_UNKNOWN) __atomic_store_n(&gpu.state, choose(), __ATOMIC_RELEASE);
        lock_give(&gpu.lock);
    }
    if (gpu.state != GPU_REFUSED) return ADL_OK;
    return error_note(context, ADL_ERROR_DEVICE, site, "no device to run on: %s", gpu.reason);
}

int32_t gpu_enter(AdlContext *context, const AdlSite *site) {
    CuResult result = gpu.context_set(gpu.context);
    return result ? gpu_fail(context, site, result, "cuCtxSetCurrent") : ADL_OK;
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
