/* The memory of the simulated device.

   Each byte is known: whether it belongs to an allocation that lives, whether it was ever written,
   and which threads touched it in the running launch, so that two that may run at once and are not
   both atomic are found, whatever order the simulator ran them in.

   Global memory is the host's, so that generic addresses of it are its own.  Shared memory, local
   memory and parameters have addresses from 0 in their own space, and generic ones in windows that
   are no host address, so that an address used in the wrong space is out of range. */
#ifndef ADL_PTXSIM_MEMORY_H
#define ADL_PTXSIM_MEMORY_H

#include "tests/ptxsim/ptx.h"

#define PTX_SHARED_WINDOW UINT64_C(0x1000000000000000)
#define PTX_LOCAL_WINDOW UINT64_C(0x2000000000000000)
#define PTX_PARAM_WINDOW UINT64_C(0x3000000000000000)
#define PTX_WINDOW_SIZE UINT64_C(0x0fffffffffffffff)

/* Who touched a byte, in one way. */
typedef struct PtxSeen {
    uint32_t launch; /* 0: nobody */
    uint32_t thread; /* the last one, counted over the grid */
    uint32_t block;
    uint32_t phase : 30;       /* barriers before it */
    uint32_t many_threads : 1; /* others in that phase */
    uint32_t many_blocks : 1;
} PtxSeen;

typedef struct PtxCell {
    PtxSeen read, written, atomic;
} PtxCell;

typedef struct PtxArea {
    uint64_t base, size;
    uint8_t *bytes;
    uint8_t *known; /* 1 for each byte that was written */
    PtxCell *cells; /* NULL: belongs to one thread */
    bool freed;
    bool module; /* variables of a module: nobody frees them */
    uint8_t *block;
} PtxArea;

typedef enum PtxTouch { TOUCH_READ, TOUCH_WRITE, TOUCH_ATOMIC } PtxTouch;

typedef struct PtxToucher {
    uint32_t launch, thread, block, phase, line;
    bool noncoherent;
} PtxToucher;

/* An area of its own, all of it unknown (or zero and known). */
void ptx_area_init(PtxArea *area, uint64_t base, uint64_t size, bool known, bool shared);
void ptx_area_clear(PtxArea *area); /* unknown again */
void ptx_area_free(PtxArea *area);

/* The offset of [ADDRESS, +SIZE) in AREA.  Fails outside of it, and for an address that SIZE does
   not divide. */
uint64_t ptx_area_at(const PtxArea *area, uint64_t address, uint64_t size, const char *space,
                     PtxFailure *failure, uint32_t line);
/* Records an access; fails if another thread's could come at the same time. */
void ptx_area_touch(PtxArea *area, uint64_t at, uint64_t size, PtxTouch touch,
                    const PtxToucher *who, const char *space, PtxFailure *failure);

typedef struct PtxMemory {
    PtxArea **areas;
    size_t count, room;
    PtxArea *last; /* that was found */
    uint64_t live; /* bytes in allocations */
} PtxMemory;

/* NULL: there is no such memory. */
PtxArea *ptx_memory_allocate(PtxMemory *memory, uint64_t size, bool known);
/* The same for one thread alone: who touches it is not recorded. */
PtxArea *ptx_memory_allocate_own(PtxMemory *memory, uint64_t size);
/* The area that holds ADDRESS: lives, or lived. */
PtxArea *ptx_memory_find(PtxMemory *memory, uint64_t address);
void ptx_memory_free(PtxMemory *memory, PtxArea *area);
void ptx_memory_drop(PtxArea *area); /* which no memory has any more */
void ptx_memory_destroy(PtxMemory *memory);

#endif
