/* cuda.h: the part of the CUDA driver's interface that the runtime uses.  The library is opened
   when a program runs, so that nothing of CUDA is needed to compile, to link or to start. */
#ifndef ADL_RUNTIME_GPU_CUDA_H
#define ADL_RUNTIME_GPU_CUDA_H

#include <stddef.h>
#include <stdint.h>

typedef int CuResult; /* 0: good */
typedef int CuDevice;
typedef unsigned long long CuAddress;
typedef struct CuContext *CuContext;
typedef struct CuModule *CuModule;
typedef struct CuFunction *CuFunction;
typedef struct CuStream *CuStream;

enum { CU_OUT_OF_MEMORY = 2 };
enum { CU_LIMIT_HEAP = 2 };
enum { CU_GRID_X = 5, CU_GRID_Y, CU_GRID_Z, CU_CAPABILITY_MAJOR = 75, CU_CAPABILITY_MINOR };
enum { CU_ERROR_LOG = 5, CU_ERROR_LOG_BYTES = 6 };

/* X(field, symbol in the library, parameters) */
#define CUDA_CALLS(X)                                                                              \
    X(init, cuInit, (unsigned flags))                                                              \
    X(device_count, cuDeviceGetCount, (int *count))                                                \
    X(device_get, cuDeviceGet, (CuDevice * device, int ordinal))                                   \
    X(device_name, cuDeviceGetName, (char *name, int len, CuDevice device))                        \
    X(device_attribute, cuDeviceGetAttribute, (int *value, int attribute, CuDevice device))        \
    X(context_retain, cuDevicePrimaryCtxRetain, (CuContext * context, CuDevice device))            \
    X(context_get, cuCtxGetCurrent, (CuContext * context))                                         \
    X(context_device, cuCtxGetDevice, (CuDevice * device))                                         \
    X(context_set, cuCtxSetCurrent, (CuContext context))                                           \
    X(context_limit, cuCtxSetLimit, (int limit, size_t value))                                     \
    X(memory_info, cuMemGetInfo_v2, (size_t * free, size_t *total))                                \
    X(module_load, cuModuleLoadDataEx,                                                             \
      (CuModule * module, const void *image, unsigned count, int *options, void **values))         \
    X(module_function, cuModuleGetFunction,                                                        \
      (CuFunction * function, CuModule module, const char *name))                                  \
    X(allocate, cuMemAlloc_v2, (CuAddress * address, size_t bytes))                                \
    X(release, cuMemFree_v2, (CuAddress address))                                                  \
    X(to_device, cuMemcpyHtoD_v2, (CuAddress to, const void *from, size_t bytes))                  \
    X(to_host, cuMemcpyDtoH_v2, (void *to, CuAddress from, size_t bytes))                          \
    X(on_device, cuMemcpyDtoDAsync_v2,                                                             \
      (CuAddress to, CuAddress from, size_t bytes, CuStream stream))                               \
    X(fill, cuMemsetD8Async, (CuAddress to, unsigned char byte, size_t bytes, CuStream stream))    \
    X(to_device_behind, cuMemcpyHtoDAsync_v2,                                                      \
      (CuAddress to, const void *from, size_t bytes, CuStream stream))                             \
    X(to_host_behind, cuMemcpyDtoHAsync_v2,                                                        \
      (void *to, CuAddress from, size_t bytes, CuStream stream))                                   \
    X(launch, cuLaunchKernel,                                                                      \
      (CuFunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,   \
       unsigned block_y, unsigned block_z, unsigned shared, CuStream stream, void **params,        \
       void **extra))                                                                              \
    X(stream_wait, cuStreamSynchronize, (CuStream stream))                                         \
    X(error_name, cuGetErrorName, (CuResult result, const char **name))                            \
    X(error_text, cuGetErrorString, (CuResult result, const char **text))

#endif
