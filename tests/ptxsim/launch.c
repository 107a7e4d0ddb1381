/* Blocks one after the other; in a block, threads in turn between barriers and shuffles. */
#include "tests/ptxsim/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WARP = 32, BLOCK_LIMIT = 1024, BLOCK_Z_LIMIT = 64, SHARED_LIMIT = 48 * 1024 };

static uint64_t volume(const uint32_t size[3]) {
    return (uint64_t)size[0] * size[1] * size[2];
}

/* As ptxas allots it: what the entry names, and what functions do that it may call. */
static uint64_t shared_size(const PtxLaunch *l) {
    uint64_t size = l->func->shared_size;
    for (const PtxFunc *func = l->module->funcs; func; func = func->next)
        if (!func->entry) size += func->shared_size;
    return size;
}

const char *ptx_launch_refuse(const PtxLaunch *l) {
    const uint32_t *most = l->func->max_threads, *exact = l->func->required_threads;
    for (int d = 0; d < 3; d++)
        if (!l->grid[d] || !l->block[d]) return "an extent is 0";
    if (l->grid[0] > INT32_MAX || l->grid[1] > l->grid_limit || l->grid[2] > l->grid_limit)
        return "the grid is too large";
    if (l->block[0] > BLOCK_LIMIT || l->block[1] > BLOCK_LIMIT || l->block[2] > BLOCK_Z_LIMIT ||
        volume(l->block) > BLOCK_LIMIT)
        return "the block is too large";
    if (most[0] && volume(l->block) > volume(most)) return "the block is larger than .maxntid";
    if (exact[0] && memcmp(l->block, exact, sizeof l->block) != 0)
        return "the block is not that of .reqntid";
    if (shared_size(l) > SHARED_LIMIT) return "too much shared memory";
    return NULL;
}

static PtxThread *thread_of(PtxLaunch *l, uint32_t i) {
    return &l->threads[i];
}

/* ---- shuffles ---------------------------------------------------------------------------------
 */

static uint32_t mask_of(PtxLaunch *l, PtxThread *thread) {
    const PtxInst *inst = thread->waits;
    const PtxOperand *mask = &inst->operand[inst->op == OP_shfl ? 4 : 0];
    return (uint32_t)ptx_known(l, inst, ptx_operand_value(l, thread, inst, mask), "a mask");
}

/* The lane whose value LANE gets, and whether it is in its segment. */
static unsigned source_lane(PtxShfl kind, unsigned lane, unsigned b, unsigned c, bool *inside) {
    unsigned segment = (c >> 8) & 31, limit = c & 31;
    unsigned most = (lane & segment) | (limit & ~segment & 31), least = lane & segment;
    int from = (int)lane;
    switch (kind) {
    case SHFL_NONE: break;
    case SHFL_up: from -= (int)b; break;
    case SHFL_down: from += (int)b; break;
    case SHFL_bfly: from ^= (int)b; break;
    case SHFL_idx: from = (int)(least | (b & ~segment & 31)); break;
    }
    *inside = kind == SHFL_up ? from >= (int)most : from <= (int)most;
    return *inside ? (unsigned)from : lane;
}

static void exchange(PtxLaunch *l, uint32_t first, uint32_t mask) {
    PtxValue given[WARP] = {0};
    for (unsigned lane = 0; lane < WARP; lane++)
        if (mask >> lane & 1) {
            PtxThread *t = thread_of(l, first + lane);
            given[lane] = ptx_operand_value(l, t, t->waits, &t->waits->operand[1]);
        }
    for (unsigned lane = 0; lane < WARP; lane++) {
        if (!(mask >> lane & 1)) continue;
        PtxThread *t = thread_of(l, first + lane);
        const PtxInst *inst = t->waits;
        uint64_t b = ptx_known(l, inst, ptx_operand_value(l, t, inst, &inst->operand[2]), "a lane");
        uint64_t c = ptx_known(l, inst, ptx_operand_value(l, t, inst, &inst->operand[3]), "a lane");
        bool inside;
        unsigned from = source_lane(inst->shfl, lane, b & 31, (unsigned)c, &inside);
        PtxValue value = given[from];
        if (!(mask >> from & 1)) value.unknown = inst->line;
        ptx_operand_set(t, &inst->operand[0], value);
        ptx_operand_set(t, &inst->second, (PtxValue){inside, 0});
    }
}

/* Lets lanes go on of which all that were named have come.  Did any? */
static bool release_warp(PtxLaunch *l, uint32_t first, uint32_t count) {
    bool any = false;
    for (uint32_t lane = 0; lane < count; lane++) {
        PtxThread *t = thread_of(l, first + lane);
        if (t->state != STATE_SHUFFLE) continue;
        l->current = t;
        uint32_t mask = mask_of(l, t);
        if (!(mask >> lane & 1))
            ptx_fail(l->failure, t->waits->line, "a lane is not in its own mask %#x", mask);
        bool complete = true;
        for (uint32_t other = 0; other < WARP && complete; other++) {
            if (!(mask >> other & 1)) continue;
            PtxThread *u = other < count ? thread_of(l, first + other) : NULL;
            if (!u || u->state == STATE_DONE)
                ptx_fail(l->failure, t->waits->line, "lane %u of the mask has ended", other);
            complete = u->state == STATE_SHUFFLE && u->waits == t->waits;
            if (complete && mask_of(l, u) != mask)
                ptx_fail(l->failure, t->waits->line, "lanes come with different masks");
        }
        if (!complete) continue;
        if (t->waits->op == OP_shfl) exchange(l, first, mask);
        for (uint32_t other = 0; other < count; other++)
            if (mask >> other & 1) thread_of(l, first + other)->state = STATE_READY;
        any = true;
    }
    return any;
}

/* ---- barriers ---------------------------------------------------------------------------------
 */

static uint64_t barrier_of(PtxLaunch *l, PtxThread *t) {
    PtxValue value = ptx_operand_value(l, t, t->waits, &t->waits->operand[0]);
    if (t->waits->operand[1].kind != OPERAND_NONE)
        ptx_fail(l->failure, t->waits->line, "a barrier of a part of the block");
    return ptx_known(l, t->waits, value, "a barrier");
}

/* Nobody can go on: all must stand at one barrier.  Devices from sm_70 on let those that have ended
   count as there, which is none of our kernels' business but where a check failed. */
static void release_barrier(PtxLaunch *l) {
    const PtxThread *first = NULL;
    for (uint32_t i = 0; i < l->thread_count && !first; i++)
        if (thread_of(l, i)->state != STATE_DONE) first = thread_of(l, i);
    uint64_t number = 0;
    bool any = false;
    for (uint32_t i = 0; i < l->thread_count; i++) {
        PtxThread *t = thread_of(l, i);
        l->current = t;
        if (t->state == STATE_DONE && l->exits) continue;
        if (t->state == STATE_DONE)
            ptx_fail(l->failure, first->waits->line, "thread %u has ended while others wait here",
                     i);
        if (t->state == STATE_SHUFFLE)
            ptx_fail(l->failure, t->waits->line, "thread %u waits for lanes that do not come", i);
        if (t->waits != first->waits)
            ptx_fail(l->failure, t->waits->line,
                     "a divergent barrier: other threads wait at line %u", first->waits->line);
        uint64_t own = barrier_of(l, t);
        if (any && own != number)
            ptx_fail(l->failure, t->waits->line, "barriers %llu and %llu at once",
                     (unsigned long long)number, (unsigned long long)own);
        number = own;
        any = true;
    }
    l->phase++;
    for (uint32_t i = 0; i < l->thread_count; i++)
        if (thread_of(l, i)->state != STATE_DONE) thread_of(l, i)->state = STATE_READY;
}

/* ---- blocks -----------------------------------------------------------------------------------
 */

static void start_thread(PtxLaunch *l, uint32_t i) {
    PtxThread *t = thread_of(l, i);
    PtxArea local = t->local;
    *t = (PtxThread){.in_block = i, .local = local};
    t->index[0] = i % l->block[0];
    t->index[1] = i / l->block[0] % l->block[1];
    t->index[2] = i / l->block[0] / l->block[1];
    ptx_push_frame(l, t, l->func, NULL);
    for (uint32_t p = 0; p < l->func->param_count; p++) {
        const PtxSymbol *param = l->func->params[p];
        memcpy(t->frame->params.bytes + param->address, l->args[p], param->size);
        memset(t->frame->params.known + param->address, 1, param->size);
    }
}

static void run_block(PtxLaunch *l) {
    ptx_area_clear(&l->shared);
    l->phase = 0;
    for (uint32_t i = 0; i < l->thread_count; i++) start_thread(l, i);
    for (;;) {
        bool done = true, any = false;
        for (uint32_t i = 0; i < l->thread_count; i++) {
            if (thread_of(l, i)->state == STATE_READY) ptx_run_thread(l, thread_of(l, i));
            done &= thread_of(l, i)->state == STATE_DONE;
        }
        if (done) return;
        for (uint32_t i = 0; i < l->thread_count; i += WARP) {
            uint32_t left = l->thread_count - i;
            any |= release_warp(l, i, left < WARP ? left : WARP);
        }
        if (!any) release_barrier(l);
    }
}

static void describe(PtxLaunch *l) {
    const PtxThread *t = l->current;
    size_t len = strlen(l->failure->text);
    snprintf(l->failure->text + len, sizeof l->failure->text - len,
             " (%s, block %u,%u,%u, thread %u,%u,%u)", l->func->name, l->at[0], l->at[1], l->at[2],
             t ? t->index[0] : 0, t ? t->index[1] : 0, t ? t->index[2] : 0);
}

bool ptx_launch_run(PtxLaunch *l) {
    volatile bool ok = true;
    l->thread_count = (uint32_t)volume(l->block);
    l->threads = calloc(l->thread_count, sizeof *l->threads);
    if (!l->threads) abort();
    ptx_area_init(&l->shared, 0, l->module->shared_size, false, true);
    if (setjmp(l->failure->jump)) {
        describe(l);
        ok = false;
    } else {
        uint64_t blocks = volume(l->grid);
        for (uint64_t b = 0; b < blocks; b++) {
            l->at[0] = (uint32_t)(b % l->grid[0]);
            l->at[1] = (uint32_t)(b / l->grid[0] % l->grid[1]);
            l->at[2] = (uint32_t)(b / l->grid[0] / l->grid[1]);
            l->block_number = (uint32_t)b;
            run_block(l);
        }
        ptx_heap_end(l);
    }
    for (uint32_t i = 0; i < l->thread_count; i++) {
        while (l->threads[i].frame) ptx_pop_frame(&l->threads[i]);
        ptx_area_free(&l->threads[i].local);
    }
    ptx_area_free(&l->shared);
    ptx_memory_destroy(&l->heap);
    free(l->threads);
    l->threads = NULL;
    return ok;
}
