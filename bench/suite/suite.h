/* What the programs of the suite and their harness share.

   A program file holds a problem, the same computed in C (`c_...`: primal, gradient by hand), and
   calls of the functions that dslc made.  Both sides get the same arrays and write the same
   numbers.  It is compiled a second time with -DFAST and flags that let sums be reordered; of that
   object only the C functions are used, on the problem of the first (SHARED). */
#ifndef SUITE_H
#define SUITE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef FAST
#define SHARED extern
#define PROGRAM suite_fast
#else
#define SHARED
#define PROGRAM suite_program
#endif
#define REFERENCE static __attribute__((noinline))
#define INLINE static inline __attribute__((always_inline))

enum { SUITE_PARTS = 3, SUITE_SIZES = 5 };

/* A function that is measured: it writes count() numbers to OUT. */
typedef struct Part {
    const char *kind;   /* primal, gradient, jacobian, newton; NULL ends the list */
    const char *golden; /* endings of the files with the right numbers, in order: "F", "JH" */
    int64_t (*count)(void);
    int (*adl)(double *out); /* 0, or an error code of <adl/adl.h> */
    void (*c)(double *out);
    void (*expand)(double *golden); /* makes count() numbers of those in the file; NULL: all are */
} Part;

typedef struct Program {
    void (*make)(const int64_t *size); /* a problem of these sizes */
    void (*read)(const char *path);    /* the problem of a file of bench-spec/data */
    Part parts[SUITE_PARTS + 1];
} Program;

extern const Program suite_program, suite_fast;

/* Arrays of the problem, zeroed; freed by the harness before the next problem. */
double *suite_numbers(int64_t count);
int64_t *suite_integers(int64_t count);

/* Memory that a C function takes for itself, counted by the harness. */
double *take(int64_t count);
double *take_zeroed(int64_t count);
void give(void *memory);

/* Pseudo-random numbers, the same in each run: in [0, 1), and of the normal distribution. */
double suite_uniform(void);
double suite_normal(void);

/* The count() of a scalar result. */
int64_t suite_one(void);

/* Text files of numbers separated by white space; failing ends the process. */
FILE *suite_open(const char *path);
void suite_read(FILE *file, double *x, int64_t count);
void suite_read_integers(FILE *file, int64_t *x, int64_t count);

/* The folder of the data, from the command line. */
extern const char *suite_data;

#endif
