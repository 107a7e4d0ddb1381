/* stack.c: how deep functions may call each other.  A stack of which we know nothing, of a program
   that switches stacks itself, is not watched. */
#define _GNU_SOURCE /* pthread_getattr_np */
#include <pthread.h>
#include <stdbool.h>

#include "core/error.h"

/* What other functions than those that call themselves may need below. */
#define RESERVE ((size_t)256 << 10)

/* Of this thread: as long as the stack is in LOW..HIGH, there is room. */
typedef struct Room {
    char *low, *high;
    bool known;
} Room;

static _Thread_local Room room;

static void find_room(void) {
    pthread_attr_t attr;
    void *base = NULL;
    size_t size = 0;
    room.known = true;
    if (pthread_getattr_np(pthread_self(), &attr) != 0) return;
    if (pthread_attr_getstack(&attr, &base, &size) == 0) {
        size_t reserve = size / 4 < RESERVE ? size / 4 : RESERVE;
        room.low = (char *)base + reserve;
        room.high = (char *)base + size;
    }
    pthread_attr_destroy(&attr);
}

int32_t adl__stack_check(AdlContext *context, const AdlSite *site) {
    char *here = __builtin_frame_address(0);
    if (!room.known) find_room();
    if (here >= room.low && here < room.high) {
        /* The next ones need not ask. */
        if (here - room.low >= ADL_STACK_NEAR &&
            __atomic_load_n(&context->stack, __ATOMIC_RELAXED) == 0)
            __atomic_store_n(&context->stack, (int64_t)(intptr_t)here, __ATOMIC_RELAXED);
        return ADL_OK;
    }
    bool watched = here < room.high && here >= room.low - RESERVE;
    if (!watched || here >= room.low) return ADL_OK;
    return error_note(context, ADL_ERROR_DEPTH, site, "recursion is too deep in %s",
                      site && site->function ? site->function : "a function");
}
