/* A program compiled in several ways, and the calls of its entry points. */
#ifndef ADL_TESTS_FUZZ_RANDOM_EXEC_H
#define ADL_TESTS_FUZZ_RANDOM_EXEC_H

#include "ir/interp.h"
#include "tests/fuzz/random/setting.h"

typedef enum Mode {
    MODE_PLAIN,  /* interpreted without optimisation */
    MODE_PASSES, /* interpreted after all passes */
    MODE_O0,     /* compiled */
    MODE_PASSED, /* compiled after all passes, but not optimised by LLVM */
    MODE_O3,     /* the same optimised, with the entry point of exec_optimised alone */
    MODE_FUSED,  /* as MODE_PASSED, with products and sums that round once */
    MODE_DEVICE, /* the same with its parallel loops on the simulator of a device */
    MODE_COUNT
} Mode;

enum { MAX_RESULTS = 16 };

typedef struct Outcome {
    bool ran;
    int status; /* 0, or the kind of a run-time error */
    bool rounds; /* MODE_DEVICE: what it calls, or its sums, may round otherwise than the CPU's */
    uint32_t n;
    IrDatum results[MAX_RESULTS];
    char *message;
} Outcome;

extern const char *const mode_names[MODE_COUNT];
extern const char *const entry_names[RUN_COUNT];

/* Tells of a fault, and does not return: KIND is what the shrinker keeps. */
void fault(const char *kind, const char *format, ...)
    __attribute__((noreturn, format(printf, 2, 3)));

/* False: there is no code generator, and modes that need it are left out. */
bool exec_open(void);
/* LLVM's optimiser takes ten times as long as all else: it gets one entry point. */
unsigned exec_optimised(uint64_t seed);
/* The outcomes of TEXT with arguments from SETTING; MODES is a set of bits.  Each place
   of OUT is filled that was asked for.  EXACT: no vector versions of mathematical functions. */
void exec_run(const char *text, const Setting *setting, uint32_t modes, bool exact,
              Outcome out[MODE_COUNT][RUN_COUNT]);
/* Is this a value that the interpreter gave up?  Then nothing else was run. */
bool exec_too_long(const Outcome *value);
void exec_free(Outcome out[MODE_COUNT][RUN_COUNT]);
/* The value at x + STEP dx, by the interpreter without optimisation. */
void exec_value_at(const char *text, const Setting *setting, const double *steps, uint32_t n,
                   Outcome *out);
/* The argument that is called NAME (dx, dy, dA, s, t), flat; the result's to free. */
double *exec_argument(const char *name, const Setting *setting, uint32_t *n);

/* The n numbers of a seed that is an array. */
double *exec_seed(const char *name, const Setting *setting);

#endif
