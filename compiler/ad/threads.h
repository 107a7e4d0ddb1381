/* Cotangents that go through the reverse of a region: what transpose-control.c and checkpoint.c
   share. */
#ifndef ADL_AD_THREADS_H
#define ADL_AD_THREADS_H

#include "ad/internal.h"

/* Linear values from outside whose cotangents a region changes. */
typedef struct Threads {
    Transposer *t;
    VEC(IrValue *) linear;
    Bitset seen;
    bool adds; /* it also adds to accumulators, or reads the cotangent of one */
} Threads;

/* Of a loop: also the linear values that it carries. */
typedef struct Carried {
    uint32_t n;   /* linear values that the loop carries */
    uint32_t *at; /* which of its results */
    bool *unsure; /* of tapes: their cotangents need not be there behind the loop */
    Threads threads;
    uint32_t nflags;   /* threads that are arrays and that no trip need have added to */
    uint32_t *flagged; /* which ones: whether one has is carried behind the threads */
    IrValue **flags;   /* before the first trip */
    bool *always;      /* each trip adds to it */
    bool taped;
    bool may_lack; /* the cotangents with which its reverse starts may stand for nothing */
} Carried;

Carried carried_find(Transposer *t, const IrInst *inst);
/* How many values the reverse of the loop carries. */
uint32_t carried_count(const Carried *c);
void threads_free(Threads *threads);
void threads_set(Transposer *t, const Threads *threads, IrValue *const *values);
/* What the reverse of a loop starts with: the cotangents of its results, of the threads, flags. */
uint32_t carried_inits(Transposer *t, const IrInst *inst, const Carried *c, IrValue **inits);
/* LOOP, which starts with these, gets the types of what they belong to. */
void carried_types(const IrInst *inst, const Carried *c, IrInst *loop);
/* One trip of the reverse, at the builder's place: PARAMS are the cotangents after it, NEXT those
   before it. */
uint32_t carried_trip(Transposer *t, const IrInst *inst, const Carried *c, IrValue *const *params,
                      IrValue **next);
/* What LOOP gave is added to the cotangents of what INST started with. */
void carried_finish(Transposer *t, const IrInst *inst, const Carried *c, const IrInst *loop);

#endif
