/* parallel.c: parallel loops through OpenMP, or serial without it.

   The pieces of a loop depend on its bounds and grain alone, so that what a body computes for a
   piece does not depend on the number of threads.

   Generated code asks for threads where it guesses that a loop is long, and may be wrong by far:
   vectors do in a nanosecond what counts as ten operations.  So the first pieces run here, and the
   time that they take says whether the others are worth waking threads for.  A grain below 1 says
   that single iterations are long beyond doubt. */
#include <stdbool.h>
#include <time.h>
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

/* What threads are woken for, and what can be measured, in nanoseconds of one thread. */
enum { WORTH_WAKING = 100000, MEASURABLE = 5000 };

static int64_t own_time(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Runs pieces until those that are left look worth it, and returns how many it ran. */
static int64_t run_first(Pieces *pieces) {
    int64_t k = 0;
    for (int64_t start = own_time(), looked = 1; k < pieces->count && going_on(pieces);) {
        run_piece(pieces, k++);
        if (k < looked) continue;
        looked = 2 * k; /* looking costs, too */
        int64_t spent = own_time() - start, left = spent / k * (pieces->count - k);
        if (spent >= MEASURABLE && left >= WORTH_WAKING) break;
    }
    return k;
}

int32_t adl__parallel_for(AdlContext *context, int64_t begin, int64_t end, int64_t grain,
                          AdlBody body, void *env) {
    if (begin >= end) return ADL_OK;
    bool long_for_sure = grain < 1;
    if (long_for_sure) grain = 1;
    Pieces pieces = {context, begin, end, grain, (end - begin - 1) / grain + 1, body, env, 0};
#ifdef _OPENMP
    int threads = adl_get_num_threads();
    if (threads > pieces.count) threads = (int)pieces.count;
    if (threads > 1) {
        int64_t first = long_for_sure ? 0 : run_first(&pieces);
        if (first == pieces.count || !going_on(&pieces)) return pieces.status;
        context->parallel = 1;
#pragma omp parallel for schedule(dynamic) num_threads(threads)
        for (int64_t k = first; k < pieces.count; k++)
            if (going_on(&pieces)) run_piece(&pieces, k);
        context->parallel = 0;
        return pieces.status;
    }
#else
    (void)long_for_sure;
#endif
    for (int64_t k = 0; k < pieces.count && going_on(&pieces); k++) run_piece(&pieces, k);
    return pieces.status;
}
