/* Inside of custom derivatives. */
#ifndef ADL_TYPES_RULE_H
#define ADL_TYPES_RULE_H

#include "types/deriv.h"

/* A `derivative` for one instance of its function, or for a scalar function of the compiler. */
typedef struct Rule {
    Checker *c;
    RuleDecl *decl;
    const Instance *of; /* NULL: a scalar function */
    Span span;          /* what asked for it */
    Map generics, sizes;
    uint32_t n;
    Type *params, result;
    uint8_t *act, result_act;
} Rule;

#endif
