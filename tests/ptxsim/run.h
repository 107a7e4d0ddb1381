/* Running kernels: threads step by step in run.c, their memory in access.c, blocks, barriers and
   shuffles in launch.c. */
#ifndef ADL_PTXSIM_RUN_H
#define ADL_PTXSIM_RUN_H

#include "tests/ptxsim/memory.h"
#include "tests/ptxsim/scalar.h"

/* PtxValue.unknown of a register that was never set. */
#define PTX_NEVER_SET UINT32_MAX

typedef struct PtxFrame {
    struct PtxFrame *caller;
    const PtxFunc *func;
    uint32_t pc;
    PtxValue *regs;
    PtxArea params;
    uint64_t local_base;
    const PtxInst *call; /* in the caller */
} PtxFrame;

typedef enum PtxState { STATE_READY, STATE_BARRIER, STATE_SHUFFLE, STATE_DONE } PtxState;

typedef struct PtxThread {
    PtxFrame *frame;
    PtxState state;
    const PtxInst *waits; /* for others, at this */
    uint32_t depth;
    uint32_t index[3];
    uint32_t in_block;
    bool carry;
    PtxArea local;
    uint64_t local_used;
    /* A plain read that is recorded with the thread's next access: the first value of a loop round
       a compare-and-swap is read like this, and belongs to the swap. */
    struct {
        PtxArea *area;
        uint64_t at, size;
        uint32_t line;
        bool noncoherent;
    } read;
} PtxThread;

typedef struct PtxLaunch {
    const PtxModule *module;
    const PtxFunc *func;
    uint32_t grid[3], block[3];
    uint32_t grid_limit; /* along y and z */
    void *const *args;
    PtxMemory *memory;
    uint64_t heap_limit; /* bytes that `malloc` may give */
    uint32_t number;     /* of launches so far, from 1 */
    uint64_t step_limit;
    bool exits; /* who has ended counts as waiting at each barrier */
    PtxFailure *failure;
    /* While it runs. */
    uint64_t steps;
    uint32_t at[3]; /* the block */
    uint32_t block_number, phase, thread_count;
    PtxArea shared;
    PtxMemory heap;
    PtxThread *threads;
    PtxThread *current;
} PtxLaunch;

/* NULL, or what is wrong with the sizes of a launch. */
const char *ptx_launch_refuse(const PtxLaunch *launch);
/* False: failure->text says why. */
bool ptx_launch_run(PtxLaunch *launch);

/* Runs a thread up to a barrier, a shuffle or its end. */
void ptx_run_thread(PtxLaunch *launch, PtxThread *thread);
void ptx_push_frame(PtxLaunch *launch, PtxThread *thread, const PtxFunc *func, const PtxInst *call);
void ptx_pop_frame(PtxThread *thread);

PtxValue ptx_operand_value(PtxLaunch *launch, PtxThread *thread, const PtxInst *inst,
                           const PtxOperand *operand);
void ptx_operand_set(PtxThread *thread, const PtxOperand *operand, PtxValue value);
/* Fails if VALUE is not known, since it decides WHAT. */
uint64_t ptx_known(PtxLaunch *launch, const PtxInst *inst, PtxValue value, const char *what);

/* Does what a call of `malloc` or `free` does, if it is one. */
bool ptx_heap_call(PtxLaunch *launch, PtxThread *thread, const PtxInst *call);
/* Fails if something was not freed. */
void ptx_heap_end(PtxLaunch *launch);

/* ld, st, atom, red, cvta, isspacep. */
void ptx_run_access(PtxLaunch *launch, PtxThread *thread, const PtxInst *inst);
/* Records the read that a thread still has pending. */
void ptx_flush_read(PtxLaunch *launch, PtxThread *thread);

#endif
