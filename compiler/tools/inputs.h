/* Inputs of a function in the process, made up or given on the command line. */
#ifndef ADL_TOOLS_INPUTS_H
#define ADL_TOOLS_INPUTS_H

#include "base/map.h"
#include "codegen/codegen.h"
#include "runtime/layout.h"
#include "types/check.h"

/* A flattened argument or result: COUNT elements in the form that they have in memory. */
typedef struct Value {
    IrType type;
    int64_t dims[IR_MAX_RANK];
    int64_t count;
    void *data;
} Value;

Value value_like(Arena *arena, const Value *value); /* zeros */
double value_get(const Value *value, int64_t i);    /* of f32, f64 */
void value_set(const Value *value, int64_t i, double x);

/* What the command line gave: a row of a table of parameters, the same for all functions. */
typedef struct Given {
    AdlParam *params;
    AdlParamValue *values;
    uint32_t count;
} Given;

/* Adds those parameters of FUNC that a command line can give. */
void given_add(Given *given, Arena *arena, const Instance *inst, const IrFunc *func);

/* One function's inputs.  The random numbers continue from call to call. */
typedef struct Inputs {
    Arena *arena;
    const Instance *inst;
    const IrFunc *func; /* whose parameters are INST's, flattened */
    const Given *given;
    uint64_t random;
    Map sizes;          /* id of a size variable -> its value + 1 */
    int64_t next_size;  /* 3, 4, 5, ... */
    Value *values;      /* func->nparams of them */
    const char **names; /* "w", "net.bias" */
} Inputs;

double inputs_uniform(Inputs *inputs, double low, double high);
/* Fills VALUES and NAMES.  False: *WHY says which given input does not fit. */
bool inputs_make(Inputs *inputs, const char **why);

#endif
