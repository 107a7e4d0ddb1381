/* What C and the command line see of a function: made by lowering from the logical signature, read
   by the code generator (wrapper), the header emitter and the script runner. */
#ifndef ADL_IR_EXPORT_H
#define ADL_IR_EXPORT_H

#include "ir/ir.h"

typedef enum IrCKind {
    IR_C_SIZE,    /* an int64_t size; dimension DIM of the array parameter ARRAY (its first) */
    IR_C_SCALAR,  /* by value: IR parameter PARAM */
    IR_C_ARRAY,   /* pointer, read: IR parameter PARAM, sizes as DIMS */
    IR_C_MUT,     /* pointer, read and overwritten or added to: IR parameter PARAM, result RESULT */
    IR_C_OUT,     /* pointer, overwritten: IR result RESULT (scalar or array) */
    IR_C_STR,     /* const char *: IR parameter PARAM */
} IrCKind;

/* A size in a C signature: a constant, or C parameter number PLACE, or an expression that the
   wrapper computes (sum of products, kept as text for the comment). */
typedef struct IrCDim {
    int64_t constant; /* -1: see place */
    int32_t place;    /* index of the C parameter that is this size; -1: any size (not exported) */
    const char *text; /* as written: "d", "2 * n" */
} IrCDim;

typedef struct IrCParam {
    IrCKind kind;
    const char *name;
    IrType type;
    int32_t param, result; /* IR indices, or -1 */
    int64_t tape;          /* of a tape: a number for what it is of; 0: of anything */
    bool kept; /* of an array: the caller leaves it as it is while a tape lives, which may refer to it */
    uint32_t rank;
    IrCDim dims[IR_MAX_RANK];
    const char *role;      /* for the comment: "Active, read", "Duplicated, added to" ... */
} IrCParam;

/* One parameter of `main` as a command-line option. */
typedef struct IrOption {
    const char *name, *doc;
    IrType type;
    int32_t param;          /* IR parameter of the entry function */
    bool has_default;       /* then the entry function of the same name + "$default" computes it */
    IrFunc *default_func;   /* (earlier options' values...) -> value */
    const char *default_text; /* as written, for --help */
    const char *shape;        /* of an array, with the names of its sizes: "[n, 3]"; or NULL */
} IrOption;

typedef enum IrExportKind {
    IR_EXPORT_C, IR_EXPORT_MAIN, IR_EXPORT_TEST, IR_EXPORT_BENCH,
    IR_EXPORT_OPEN, /* a derivative that another object asks for by the symbol NAME */
    IR_EXPORT_CHECK /* FUNC with its JVP and GRAD, to be compared by a tool */
} IrExportKind;

typedef struct IrExport {
    IrExportKind kind;
    const char *name;       /* C symbol; "main"; the test's name */
    IrFunc *func;
    const char *doc;
    Pos pos;
    IrCParam *params;       /* of C */
    uint32_t nparams;
    IrOption *options;      /* of MAIN */
    uint32_t noptions;
    IrFunc *jvp, *grad;     /* of CHECK: both with the masks of what is active */
} IrExport;

#endif
