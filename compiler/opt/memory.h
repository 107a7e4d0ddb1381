/* The memory plan: which names of arrays, texts and tapes end where, and which operations may write
   in place.  Pure analysis of the IR, the basis of code generation; it changes nothing.

   Precise reference counting, worked out at compile time as far as it goes.  Each counted value
   ("root") owns one reference from its definition on; its last use either hands that reference over
   (`take`: the base of an update, what a region yields, the start of a loop, an argument that the
   callee owns) or is followed by a release (`dead`).  Views (parts of arrays along leading
   dimensions, reshapes) are other names of their root and count as uses of it.  Parameters of
   functions are borrowed unless the function hands them on.

   A small array has constant dimensions and at most MEM_SMALL elements: a value in a slot of the
   stack, copied where it is handed over. */
#ifndef ADL_OPT_MEMORY_H
#define ADL_OPT_MEMORY_H

#include "ir/ir.h"

enum { MEM_SMALL = 64 };

/* How UPDATE, ASSIGN, WITH_ACC and REDUCE come to memory that they may write to. */
typedef enum MemBase {
    MEM_COPY,    /* the old value is needed further on */
    MEM_TEST,    /* in place if nobody else holds the block, as found out at run time */
    MEM_IN_PLACE /* proved */
} MemBase;

/* Roots that end with a BUILD and whose memory its result could be written over.  SURE: the first
   one certainly can; else each if it is found to have the sizes and no other holder. */
typedef struct MemReuse {
    IrValue **roots;
    uint32_t n;
    bool sure;
} MemReuse;

/* What is planned for one instruction. */
typedef struct MemInst {
    bool *take;      /* by operand: its root's reference goes over to the consumer */
    uint8_t *base;   /* by operand: MemBase, where the operand's memory is written to */
    bool *own;       /* LOOP, by operand: must be nobody else's before the loop begins */
    MemReuse *reuse; /* BUILD, by result, or NULL */
    IrValue **dead;  /* roots to be released behind the instruction (before a YIELD's jump) */
    uint32_t ndead;
} MemInst;

typedef struct MemList {
    IrValue **at;
    uint32_t n;
} MemList;

typedef struct MemFunc {
    IrValue **root;     /* by value id: itself, what it is a view of, or NULL (not counted) */
    bool *on_tape;      /* by value id: lies in a tape's memory; cannot be handed over */
    bool *owned_param;  /* by parameter: the caller hands a reference over */
    bool *fresh_result; /* by result: nobody else holds its block */
    Map insts;          /* IrInst to MemInst: every instruction with operands or results */
    Map entries;        /* IrRegion to MemList: roots to be released at its entry */
} MemFunc;

typedef struct MemPlan {
    MemFunc *funcs; /* by IrFunc.id */
    uint32_t nfuncs;
    Arena *arena;
} MemPlan;

/* Makes the plan in a new arena; mem_plan_free frees both. */
MemPlan *mem_plan(const IrModule *module);
void mem_plan_free(MemPlan *plan);

bool mem_is_small(IrType type);
/* Array, text or tape. */
bool mem_is_counted(IrType type);
/* Does the result of INST share the memory of its first operand? */
bool mem_is_view(const IrInst *inst);
/* Does REGION, at any depth, use ROOT or a view of it? */
bool mem_region_uses(const MemFunc *f, const IrRegion *region, const IrValue *root);
/* Does operand K of INST go over to someone who keeps it? */
bool mem_consumes(const MemPlan *plan, const IrInst *inst, uint32_t k);

#endif
