/* blas.h: cuBLAS, which is opened when a large product first runs on the device. */
#ifndef ADL_RUNTIME_GPU_BLAS_H
#define ADL_RUNTIME_GPU_BLAS_H

#include "gpu/gpu.h"

/* op(A) of m x k by op(B) of k x n, row-major: see AdlGpuProduct in layout.h. */
typedef struct GpuProduct {
    int32_t how;
    int64_t m, n, k;
} GpuProduct;

/* C = op(A) op(B) on the stream: 0, an error code, or ADL_GPU_ELSEWHERE if this is not for cuBLAS
   or there is none.  With the lock held. */
int32_t blas_product(AdlContext *context, const AdlSite *site, const GpuProduct *product,
                     CuAddress a, CuAddress b, CuAddress c);

#endif
