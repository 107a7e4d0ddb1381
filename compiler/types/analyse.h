/* What is looked for in bodies that have been checked. */
#ifndef ADL_TYPES_ANALYSE_H
#define ADL_TYPES_ANALYSE_H

#include "base/bitset.h"
#include "types/checker.h"

/* Nothing active is stored in Const memory (activity.c). */
void check_activity(Checker *c, const Instance *inst);
/* Calls LOOK for each node of INST's body, with which of its arguments depend on the ACTIVE
   parameters. */
typedef void ActivityVisit(const Tree *tree, const bool *active, void *data);
void activity_visit(Checker *c, const Instance *inst, const bool *active, ActivityVisit *look,
                    void *data);
/* Nothing is written that a tape borrows; after all bodies have been checked without an error. */
void check_borrows(Checker *c);
/* Nothing active goes through what is not holomorphic, where that was promised; after all bodies have
   been checked without an error. */
void check_holomorphic(Checker *c);

/* What an instance consists of and is made of, callees first; both fields are to be freed. */
typedef struct Reach {
    Bitset seen;
    VEC(Instance *) found;
} Reach;
void reach_instance(Reach *r, Instance *inst); /* NULL is allowed */
void check_open(Checker *c);                   /* of the program's instances: sets DerivSpec.open */
/* Calls VISIT for every tree directly in it, in the order of evaluation. */
void tree_children(const Tree *tree, void (*visit)(const Tree *child, void *data), void *data);

/* Reports effects in parallel bodies; after all bodies have been checked without an error. */
void check_effects(Checker *c);

#endif
