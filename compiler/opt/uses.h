/* Use lists of a function, kept up while a pass adds instructions. */
#ifndef ADL_OPT_USES_H
#define ADL_OPT_USES_H

#include "ir/ir.h"

typedef struct Uses {
    Arena *arena;
    VEC(struct UseList *) lists; /* by value id; NULL: never used */
} Uses;

typedef struct UseList {
    VEC(IrInst *) at; /* an instruction stands as often as it uses the value */
} UseList;

void uses_init(Uses *uses, IrFunc *func, Arena *arena);
/* INST and what is in its regions, newly made, use their operands. */
void uses_add(Uses *uses, IrInst *inst);
const UseList *uses_of(const Uses *uses, const IrValue *value);
void uses_free(Uses *uses);

/* May INST be computed although the program would not have come by?  No for what reads memory at an
   unproved place, divides by a number that may be zero, or may not end. */
bool opt_speculatable(const IrInst *inst);
/* Is SIZE known to be X's size in dimension K? */
bool opt_has_size(const IrValue *x, uint32_t k, const IrValue *size);
/* Is VALUE the INDEX of a loop, or that plus or minus something that does not depend on it? */
bool opt_moves_with(const IrValue *value, const IrValue *index);
/* Does VALUE, in the body of INDEX's loop, not depend on INDEX? */
bool opt_is_free_of(const IrValue *value, const IrValue *index);
/* Effects, tapes or accumulators of outside anywhere in the region? */
bool opt_region_pure(const IrRegion *region);
/* A rough count of operations for one run of the region, with calls of functions counted dear. */
uint32_t opt_region_cost(const IrRegion *region);
/* Does it cost so much that its values are stored rather than computed twice?  So with any loop. */
bool opt_region_dear(const IrRegion *region);

#endif
