/* Loops that can be run as scans: what they carry in a number is combined with an element that each
   trip makes without it, and each trip reads and writes its own place of the arrays they carry. */
#ifndef ADL_OPT_SCAN_H
#define ADL_OPT_SCAN_H

#include "base/bitset.h"
#include "ir/ir.h"

typedef struct Scan {
    const IrInst *loop;
    uint32_t carry;     /* which of its results is the number */
    const IrInst *step; /* the instruction that gives the next one, of the last and ... */
    IrValue *element;   /* ... this */
    IrReduce kind;
    Bitset needed; /* the values that ELEMENT is made of, by id */
} Scan;

/* Is LOOP one?  Sums and products of floats are combined in another order then, so that it has to
   be IR_LOOP_SCAN.  If so, scan_free is to follow. */
bool scan_find(const IrInst *loop, Scan *scan);
void scan_free(Scan *scan);

#endif
