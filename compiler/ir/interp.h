/* The reference interpreter: walks the IR as it stands.  Slow, and simple enough to be right; every
   pass and every back end is tested against it.

   It trusts that the module was verified.  What op.def leaves undefined because it is checked
   before (a zero divisor, an index out of range, sizes that disagree) is an error of the kind
   IR_ERROR_INVALID here: then a check was lost, or something was moved in front of it. */
#ifndef ADL_IR_INTERP_H
#define ADL_IR_INTERP_H

#include "ir/ir.h"

/* Positive kinds are those of CHECK and FAIL: enum adl_error of the runtime. */
enum {
    IR_ERROR_NONE = 0,
    IR_ERROR_INDEX = 1,    /* what CHECK_INDEX gives */
    IR_ERROR_SIZE = 2,     /* a negative or overflowing size of a new array */
    IR_ERROR_MEMORY = 5,   /* an array beyond IR_INTERP_MAX_BYTES */
    IR_ERROR_INVALID = -1, /* see above */
    IR_ERROR_LIMIT = -2    /* too many steps, calls too deep */
};
#define IR_INTERP_MAX_BYTES ((int64_t)1 << 30)

/* An array: elements of ir_scalar_bytes each, row-major.  Shared by counting; see ir_array_own. */
typedef struct IrArray {
    uint32_t refs;
    IrScalar scalar;
    uint32_t rank;
    int64_t dims[IR_MAX_RANK];
    int64_t count; /* of elements */
    unsigned char *data;
} IrArray;

typedef struct IrText {
    uint32_t refs;
    size_t len;
    char text[];
} IrText;

typedef struct IrTapeCell IrTapeCell;

typedef enum IrDatumKind {
    IR_D_NONE,
    IR_D_INT,
    IR_D_FLOAT,
    IR_D_ARRAY,
    IR_D_TEXT,
    IR_D_TAPE,
    IR_D_ACC,
    IR_D_LANES
} IrDatumKind;

/* A value.  INT also holds bools and the bits of f16 and bf16. */
typedef struct IrDatum {
    IrDatumKind kind;
    union {
        int64_t i;
        double f;
        IrArray *array; /* of ACC too: the memory that is added to; of LANES: rank 0 */
        IrText *text;
        IrTapeCell *tape; /* NULL: empty */
    } as;
} IrDatum;

IrDatum ir_datum_int(int64_t i);
IrDatum ir_datum_float(double f);
IrDatum ir_datum_text(const char *text, size_t len);
/* Zeros.  DIMS must be sizes that IR_INTERP_MAX_BYTES can hold. */
IrDatum ir_datum_array(IrScalar scalar, uint32_t rank, const int64_t *dims);
/* A new reference; one reference less, DATUM becomes NONE. */
IrDatum ir_datum_share(IrDatum datum);
void ir_datum_drop(IrDatum *datum);
/* Element AT (flat) as a scalar, and its writing; the array must not be shared. */
IrDatum ir_array_get(const IrArray *array, int64_t at);
void ir_array_set(IrArray *array, int64_t at, IrDatum value);
/* Same kind, shape and bits (NaN like NaN). */
bool ir_datum_equal(IrDatum a, IrDatum b);
/* For messages and tests: "[1.0, 2.0]", "true" needs TYPE. */
void ir_print_datum(StrBuf *out, IrDatum datum, IrType type);
/* Reads a scalar or an array as ir_print_datum writes it; *TEXT moves behind it. */
bool ir_parse_datum(const char **text, IrType type, IrDatum *datum);

typedef struct IrInterp IrInterp;
/* A function of RUNTIME: fills RESULTS (each becomes the interpreter's).  ARGS stay the caller's.
   On false it has called ir_interp_fail. */
typedef bool (*IrRuntimeFn)(IrInterp *interp, const IrInst *inst, const IrDatum *args,
                            IrDatum *results, void *data);

IrInterp *ir_interp_new(IrModule *module);
void ir_interp_free(IrInterp *interp);
/* Where "print" writes (default: standard output); OUT is the caller's. */
void ir_interp_set_output(IrInterp *interp, StrBuf *out);
/* Instructions in all calls together (default 0: no limit), and calls within calls (500). */
void ir_interp_set_limits(IrInterp *interp, uint64_t steps, uint32_t calls);
/* Runtime functions beside the ones in interp-runtime.c, before which they are asked. */
void ir_interp_set_runtime(IrInterp *interp, const char *name, IrRuntimeFn fn, void *data);
/* RESULTS has room for all results; they are the caller's to drop.  ARGS stay the caller's.  False
   after an error: then RESULTS is untouched. */
bool ir_interp_call(IrInterp *interp, IrFunc *func, const IrDatum *args, IrDatum *results);

typedef struct IrInterpError {
    int kind;
    Pos pos;
    const char *message; /* valid until the next call */
} IrInterpError;
IrInterpError ir_interp_error(const IrInterp *interp);
/* For runtime functions: notes the error, returns false. */
bool ir_interp_fail(IrInterp *interp, int kind, Pos pos, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
