/* What C and the command line see of a function: made by lowering from the logical signature, read
   by the code generator (wrapper), the header emitter and the script runner. */
#ifndef ADL_IR_EXPORT_H
#define ADL_IR_EXPORT_H

#include "ir/ir.h"

/* Where the parts of a view struct lie: data, then a shape, then strides. */
static inline uint32_t ir_view_shape(void) {
    return 8;
}
static inline uint32_t ir_view_strides(uint32_t rank) {
    return 8 + 8 * rank;
}

typedef enum IrCKind {
    IR_C_SIZE,   /* an int64_t size */
    IR_C_SCALAR, /* a number: IR parameter PARAM */
    IR_C_ARRAY,  /* pointer, read: IR parameter PARAM, sizes as DIMS */
    IR_C_MUT,    /* pointer, read and overwritten or added to: IR parameter PARAM, result RESULT */
    IR_C_OUT,    /* pointer, overwritten: IR result RESULT (scalar or array) */
    IR_C_STR,    /* const char *: IR parameter PARAM */
} IrCKind;

/* A step of a size that is computed of others: it takes its operands off a stack, the later one
   first, and leaves its value there. */
typedef enum IrCStepKind {
    IR_STEP_NUMBER, /* VALUE */
    IR_STEP_LEAF,   /* leaf number VALUE */
    IR_STEP_ADD,
    IR_STEP_MUL,
    IR_STEP_DIV /* rounds down */
} IrCStepKind;

typedef struct IrCStep {
    IrCStepKind kind;
    int64_t value;
} IrCStep;

/* A size in a C signature: a constant, or leaf number PLACE, or what the wrapper computes of
 * leaves. */
typedef struct IrCDim {
    int64_t constant; /* -1: see place */
    int32_t place;    /* index of the leaf that is this size; -1: see steps */
    const IrCStep *steps;
    uint32_t nsteps;
    const char *text; /* as written: "d", "2 * n" */
} IrCDim;

/* Or is it known behind the call only? */
static inline bool ir_c_dim_known(const IrCDim *dim) {
    return dim->constant >= 0 || dim->place >= 0 || dim->nsteps;
}

/* A leaf of what C passes: a number, or a pointer to numbers. */
typedef struct IrCParam {
    IrCKind kind;
    const char *name; /* "x"; of a field "p.x" */
    IrType type;
    int32_t param, result; /* IR indices, or -1 */
    uint32_t arg;          /* the C argument that it is, or stands in: */
    int32_t offset;        /* so many bytes behind where that points; -1: it is the argument */
    int64_t tape;          /* of a tape: a number for what it is of; 0: of anything */
    bool kept;  /* of an array: the caller leaves it as it is while a tape lives, which may refer to
                   it */
    bool pairs; /* of complex numbers: the last dimension of the IR's array, and of DIMS, is 2 */
    bool view;  /* of an array: its strides, in bytes, stand behind its sizes in the argument */
    bool again; /* of a size: another leaf gives it, and this one must be WANT */
    IrCDim want;
    uint32_t rank;
    IrCDim dims[IR_MAX_RANK];
    const char *role; /* for the comment: "Active, read", "Duplicated, added to" ... */
} IrCParam;

typedef enum IrCFieldKind {
    IR_CF_SIZE,
    IR_CF_SCALAR,
    IR_CF_COMPLEX,
    IR_CF_ARRAY,
    IR_CF_COMPLEX_ARRAY,
    IR_CF_STR,
    IR_CF_STRUCT
} IrCFieldKind;

typedef struct IrCField {
    IrCFieldKind kind;
    const char *name;
    IrScalar scalar; /* of numbers; of complex ones, of their parts */
    const struct IrCStruct *type;
    uint32_t offset;
    const char *shape; /* of an array: "n, m" */
    const char *doc;   /* as the source has it, or NULL */
} IrCField;

/* A struct of the program as C sees it: its sizes, then its fields, each at its natural alignment.
 */
typedef struct IrCStruct {
    const char *name, *doc;
    IrCField *fields;
    uint32_t nfields, size, align;
} IrCStruct;

typedef enum IrCArgKind {
    IR_ARG_LEAF,    /* the one leaf that it is */
    IR_ARG_COMPLEX, /* a struct of two reals, by value; if it is written, a pointer to one */
    IR_ARG_STRUCT,  /* a pointer to a struct TYPE */
    IR_ARG_VIEW,    /* a pointer to a view: data, sizes, strides */
} IrCArgKind;

/* An argument in C, and the leaves that stand in it. */
typedef struct IrCArg {
    IrCArgKind kind;
    bool written;
    const char *name, *role;
    const IrCStruct *type;
    uint32_t first, count;
} IrCArg;

/* One parameter of `main` as a command-line option. */
typedef struct IrOption {
    const char *name, *doc;
    IrType type;
    int32_t param;        /* IR parameter of the entry function */
    bool has_default;     /* then the entry function of the same name + "$default" computes it */
    IrFunc *default_func; /* (earlier options' values...) -> value */
    const char *default_text; /* as written, for --help */
    const char *shape;        /* of an array, with the names of its sizes: "[n, 3]"; or NULL */
} IrOption;

typedef enum IrExportKind {
    IR_EXPORT_C,
    IR_EXPORT_MAIN,
    IR_EXPORT_TEST,
    IR_EXPORT_BENCH,
    IR_EXPORT_OPEN, /* a derivative that another object asks for by the symbol NAME */
    IR_EXPORT_CHECK /* FUNC with its JVP and GRAD, to be compared by a tool */
} IrExportKind;

typedef struct IrExport {
    IrExportKind kind;
    const char *name; /* C symbol; "main"; the test's name */
    IrFunc *func;
    const char *doc;
    Pos pos;
    IrCParam *params; /* of C: the leaves */
    uint32_t nparams;
    IrCArg *args; /* of C */
    uint32_t nargs;
    IrOption *options; /* of MAIN */
    uint32_t noptions;
    IrFunc *jvp, *grad; /* of CHECK: both with the masks of what is active */
} IrExport;

#endif
