/* parallel.c: parallel loops through OpenMP, or serial without it.

   The pieces of a loop depend on its bounds and grain alone, so that what a body computes for a
   piece does not depend on the number of threads. */
#include <stdbool.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "core/calls.h"

static int thread_count; /* 0: OpenMP's choice */

int adl_set_num_threads(int count) {
    if (count < 0) return ADL_ERROR_ARGUMENT;
    __atomic_store_n(&thread_count, count, __ATOMIC_RELAXED);
    return ADL_OK;
}

int adl_get_num_threads(void) {
#ifdef _OPENMP
    int count = __atomic_load_n(&thread_count, __ATOMIC_RELAXED);
    if (omp_in_parallel()) return 1;
    return count > 0 ? count : omp_get_max_threads();
#else
    return 1;
#endif
}

int64_t adl__num_threads(AdlContext *context) {
    (void)context;
    return adl_get_num_threads();
}

typedef struct Pieces {
    AdlContext *context;
    int64_t begin, end, grain, count;
    AdlBody body;
    void *env;
    int32_t status; /* atomic: of the first piece that failed */
} Pieces;

static bool going_on(Pieces *pieces) {
    return __atomic_load_n(&pieces->status, __ATOMIC_RELAXED) == 0;
}

static void run_piece(Pieces *pieces, int64_t k) {
    int64_t from = pieces->begin + k * pieces->grain;
    int64_t to = pieces->end - from < pieces->grain ? pieces->end : from + pieces->grain;
    int32_t status = pieces->body(pieces->context, pieces->env, from, to);
    int32_t none = 0;
    if (status != 0)
        __atomic_compare_exchange_n(&pieces->status, &none, status, false, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED);
}

int32_t adl__parallel_for(AdlContext *context, int64_t begin, int64_t end, int64_t grain,
                          AdlBody body, void *env) {
    if (begin >= end) return ADL_OK;
    if (grain < 1) grain = 1;
    Pieces pieces = {context, begin, end, grain, (end - begin - 1) / grain + 1, body, env, 0};
#ifdef _OPENMP
    int threads = adl_get_num_threads();
    if (threads > pieces.count) threads = (int)pieces.count;
    if (threads > 1) {
        context->parallel = 1;
#pragma omp parallel for schedule(dynamic) num_threads(threads)
        for (int64_t k = 0; k < pieces.count; k++)
            if (going_on(&pieces)) run_piece(&pieces, k);
        context->parallel = 0;
        return pieces.status;
    }
#endif
    for (int64_t k = 0; k < pieces.count && going_on(&pieces); k++) run_piece(&pieces, k);
    return pieces.status;
}
