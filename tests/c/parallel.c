/* In place of runtime/par/parallel.c: parallel loops on POSIX threads.  ThreadSanitizer knows these; of
   OpenMP it would have to see the library from inside, which is not built for it, so that it takes
   orderly accesses for races.  Pieces are the same, in whatever order. */
#include <pthread.h>
#include <stdbool.h>

#include "core/calls.h"

enum { MOST = 8 };

static int thread_count;
static _Thread_local bool inside;

int adl_set_num_threads(int count)
{
    if (count < 0) return ADL_ERROR_ARGUMENT;
    __atomic_store_n(&thread_count, count, __ATOMIC_RELAXED);
    return ADL_OK;
}

int adl_get_num_threads(void)
{
    int count = __atomic_load_n(&thread_count, __ATOMIC_RELAXED);
    return inside ? 1 : count > 0 ? count : 4;
}

int64_t adl__num_threads(AdlContext *context)
{
    (void)context;
    return adl_get_num_threads();
}

typedef struct Loop {
    AdlContext *context;
    int64_t begin, end, grain, next;
    AdlBody body;
    void *env;
    int32_t status;
} Loop;

static void *work(void *data)
{
    Loop *loop = data;
    bool outer = inside;
    inside = true;
    while (!__atomic_load_n(&loop->status, __ATOMIC_RELAXED)) {
        int64_t from = __atomic_fetch_add(&loop->next, loop->grain, __ATOMIC_RELAXED);
        if (from >= loop->end) break;
        int64_t to = loop->end - from < loop->grain ? loop->end : from + loop->grain;
        int32_t status = loop->body(loop->context, loop->env, from, to), none = 0;
        if (status)
            __atomic_compare_exchange_n(&loop->status, &none, status, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED);
    }
    inside = outer;
    return NULL;
}

int32_t adl__parallel_for(AdlContext *context, int64_t begin, int64_t end, int64_t grain,
                          AdlBody body, void *env)
{
    Loop loop = {context, begin, end, grain < 1 ? 1 : grain, begin, body, env, 0};
    pthread_t threads[MOST];
    int count = adl_get_num_threads(), started = 0;
    for (; started + 1 < count && started < MOST; started++)
        if (pthread_create(&threads[started], NULL, work, &loop)) break;
    work(&loop);
    for (int i = 0; i < started; i++) pthread_join(threads[i], NULL);
    return loop.status;
}
