/* What the files of the memory plan share. */
#ifndef ADL_OPT_MEMORY_INTERNAL_H
#define ADL_OPT_MEMORY_INTERNAL_H

#include "opt/memory.h"

typedef struct Planner {
    Arena *arena;
    const IrModule *module;
    MemPlan *plan;
    MemFunc *f;               /* the function at hand */
    IrRegion **owner;         /* by value id: the region that has to end the root */
    IrInst **last;            /* by value id: its last use, an instruction of that region */
    VEC(IrValue *) moved;     /* roots that end in inner regions, ... */
    VEC(IrRegion *) moved_to; /* ... in these */
    bool changed;
} Planner;

/* The root of what VALUE stands for, NULL if it is not counted. */
IrValue *mem_root(const MemFunc *f, const IrValue *value);
/* Does INST write into the memory of operand K? */
bool mem_writes(const IrInst *inst, uint32_t k);
/* Is A the size of X's dimension K? */
bool mem_same_size(const IrValue *a, const IrValue *x, uint32_t k);
/* Are BUILD's sizes known to be those of ROOT? */
bool mem_same_shape(const IrInst *build, const IrValue *root);
/* The result of BUILD that could be written over ROOT; -1: none. */
int mem_reusing_result(const MemFunc *f, const IrInst *build, const IrValue *root);
void mem_prove_unique(Planner *p);

#endif
