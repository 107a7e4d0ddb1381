/* Integers as linear forms, and proofs that a form is not negative: what checks of indices and
   sizes need.  A form is a constant plus coefficients times values ("atoms"). */
#ifndef ADL_OPT_LINEAR_H
#define ADL_OPT_LINEAR_H

#include "ir/ir.h"

enum { LINEAR_TERMS = 10 };

typedef struct Linear {
    int64_t constant;
    uint32_t n;
    bool invalid; /* too many terms, or an overflow: proves nothing */
    struct {
        IrValue *atom;
        int64_t coef;
    } term[LINEAR_TERMS];
} Linear;

/* Facts that hold at a place: forms that are >= 0, and atoms that are equal. */
typedef struct LinearFacts {
    VEC(Linear) forms;
    VEC(IrValue *) equal; /* pairs: the second stands for the first */
} LinearFacts;

Linear opt_linear_of(const LinearFacts *facts, IrValue *value);
Linear opt_linear_const(int64_t value);
/* a + factor * b */
Linear opt_linear_add(Linear a, int64_t factor, Linear b);
/* Is FORM >= 0 for all values that its atoms can have here? */
bool opt_linear_nonnegative(const LinearFacts *facts, Linear form);
/* Takes in what a condition that holds says (comparisons of integers, && of such). */
void opt_linear_assume(LinearFacts *facts, IrValue *cond, bool holds);
/* Takes in that 0 <= i < n. */
void opt_linear_assume_index(LinearFacts *facts, IrValue *i, IrValue *n);
/* Takes in what holds in the body of a map, reduction or loop: it has at least one trip. */
void opt_linear_assume_runs(LinearFacts *facts, const IrInst *loop);

#endif
