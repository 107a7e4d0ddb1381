/* The heap of kernels: the functions `malloc` and `free` that every device has.  What a launch
   takes it gives back: our kernels hand nothing of it on. */
#include "tests/ptxsim/run.h"

#include <string.h>

/* Freed areas are kept for a while, so that a use after that is known for what it is. */
enum { KEPT_AREAS = 256 };

static void forget_freed(PtxMemory *heap) {
    size_t kept = 0;
    heap->last = NULL;
    for (size_t i = 0; i < heap->count; i++) {
        if (heap->areas[i]->freed) ptx_memory_drop(heap->areas[i]);
        else heap->areas[kept++] = heap->areas[i];
    }
    heap->count = kept;
}

/* The bytes of parameter or result 0 that CALL passes. */
static uint8_t *passed(PtxThread *thread, const PtxOperand *list, uint8_t **known) {
    const PtxSymbol *symbol = thread->frame->func->parts[list->index].symbol;
    *known = thread->frame->params.known + symbol->address;
    return thread->frame->params.bytes + symbol->address;
}

static uint64_t argument(PtxLaunch *launch, PtxThread *thread, const PtxInst *call) {
    uint64_t value;
    uint8_t *known, *bytes = passed(thread, &call->operand[2], &known);
    for (size_t i = 0; i < sizeof value; i++)
        if (!known[i]) ptx_fail(launch->failure, call->line, "an argument that nobody wrote");
    memcpy(&value, bytes, sizeof value);
    return value;
}

static void give_memory(PtxLaunch *launch, PtxThread *thread, const PtxInst *call) {
    uint64_t size = argument(launch, thread, call), address = 0;
    PtxMemory *heap = &launch->heap;
    if (heap->count > KEPT_AREAS) forget_freed(heap);
    if (size && size <= launch->heap_limit && heap->live <= launch->heap_limit - size)
        address = ptx_memory_allocate_own(heap, size)->base;
    uint8_t *known, *bytes = passed(thread, &call->operand[0], &known);
    memcpy(bytes, &address, sizeof address);
    memset(known, 1, sizeof address);
}

static void take_memory(PtxLaunch *launch, PtxThread *thread, const PtxInst *call) {
    uint64_t address = argument(launch, thread, call);
    PtxArea *area = address ? ptx_memory_find(&launch->heap, address) : NULL;
    if (!address) return;
    if (!area || area->freed || area->base != address)
        ptx_fail(launch->failure, call->line, "free of %#llx, which malloc did not give",
                 (unsigned long long)address);
    ptx_memory_free(&launch->heap, area);
}

bool ptx_heap_call(PtxLaunch *launch, PtxThread *thread, const PtxInst *call) {
    const PtxFunc *func = call->operand[1].func;
    bool gives = strcmp(func->name, "malloc") == 0;
    if (func->defined || (!gives && strcmp(func->name, "free") != 0)) return false;
    if (func->param_count != 1 || func->result_count != gives)
        ptx_fail(launch->failure, call->line, "'%s' is declared as something else", func->name);
    if (gives) give_memory(launch, thread, call);
    else take_memory(launch, thread, call);
    return true;
}

void ptx_heap_end(PtxLaunch *launch) {
    if (launch->heap.live)
        ptx_fail(launch->failure, 0, "%llu bytes that malloc gave were not freed",
                 (unsigned long long)launch->heap.live);
}
