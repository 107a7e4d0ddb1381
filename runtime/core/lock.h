/* lock.h: a spin lock in a plain int32_t, for sections of a few instructions. */
#ifndef ADL_RUNTIME_CORE_LOCK_H
#define ADL_RUNTIME_CORE_LOCK_H

#include <sched.h>
#include <stdint.h>

#include "layout.h"

static inline void lock_take(int32_t *lock) {
    int spins = 0;
    while (__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE)) {
        while (__atomic_load_n(lock, __ATOMIC_RELAXED))
            if (++spins > 100) {
                sched_yield();
                spins = 0;
            }
    }
}

static inline void lock_give(int32_t *lock) {
    __atomic_store_n(lock, 0, __ATOMIC_RELEASE);
}

/* A context is one thread's but while a parallel loop runs. */
static inline void context_lock(AdlContext *context) {
    if (context->parallel) lock_take(&context->lock);
}

static inline void context_unlock(AdlContext *context) {
    if (context->parallel) lock_give(&context->lock);
}

#endif
