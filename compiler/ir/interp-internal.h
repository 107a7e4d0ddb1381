/* What the files of the interpreter share. */
#ifndef ADL_IR_INTERP_INTERNAL_H
#define ADL_IR_INTERP_INTERNAL_H

#include "ir/eval.h"
#include "ir/interp.h"

typedef struct IrRuntimeEntry {
    const char *name;
    IrRuntimeFn fn;
    void *data;
} IrRuntimeEntry;

struct IrInterp {
    IrModule *module;
    Arena *arena;
    StrBuf *out; /* NULL: standard output */
    VEC(IrRuntimeEntry) runtime;
    uint64_t steps, step_limit;
    uint32_t calls, call_limit;
    uint32_t depth; /* of regions, in all calls that are under way */
    int error_kind;
    Pos error_pos;
    StrBuf message;
    Map last_uses; /* by function, for one ir_interp_call */
    Arena *scratch;
};

/* One call under way. */
typedef struct IrFrame {
    IrInterp *interp;
    IrDatum *slots; /* by id */
    /* By id: the instruction that uses the value for the last time, if it stands in the value's own
       region; it may move the value out, so that arrays are updated in place. */
    const IrInst **last;
} IrFrame;

struct IrTapeCell {
    uint32_t refs;
    IrTapeCell *below;
    const IrInst *pushed; /* the TAPE_PUSH */
    uint32_t n;
    IrDatum values[];
};

/* ---- interp-value.c ---- */
IrBits ir_datum_bits(IrDatum datum);
/* SCALAR's value with these bits. */
IrDatum ir_bits_datum(IrScalar scalar, IrBits bits);
/* A scalar operation, lane by lane where there are lanes: see ir_eval.  The result is the
   caller's. */
bool ir_eval_datum(IrOp op, IrScalar type, IrScalar result, int64_t imm, const IrDatum *args,
                   uint32_t n, IrDatum *out);
/* LANES of SCALAR (which has some), all zero; lane K of a value, which may have none, and its
   writing in a value of ir_datum_lanes. */
IrDatum ir_datum_lanes(IrScalar scalar);
IrDatum ir_datum_lane(IrDatum datum, uint32_t k);
void ir_datum_set_lane(IrDatum lanes, uint32_t k, IrDatum value);
/* An array that is not shared, with the contents of *DATUM, which it takes over. */
IrArray *ir_array_own(IrDatum *datum);
/* COUNT elements from FROM + AT_FROM to INTO + AT. */
void ir_array_copy(IrArray *into, int64_t at, const IrArray *from, int64_t at_from, int64_t count);
IrTapeCell *ir_tape_push(IrDatum *tape, const IrInst *push); /* takes over *TAPE */
/* SUM: that of two tapes, the caller's.  False: they are not alike. */
bool ir_tape_sum(const IrTapeCell *x, const IrTapeCell *y, IrTapeCell **sum);

/* ---- interp.c ---- */
/* An operand, which stays where it is. */
IrDatum ir_peek(const IrFrame *frame, const IrInst *inst, uint32_t i);
/* The same as the caller's own; moved out if this is the last use.  Ask in order of I. */
IrDatum ir_take(IrFrame *frame, const IrInst *inst, uint32_t i);
int64_t ir_peek_int(const IrFrame *frame, const IrInst *inst, uint32_t i);
/* Takes over DATUM.  False if an array has not the shape of its type. */
bool ir_give(IrFrame *frame, const IrInst *inst, uint32_t i, IrDatum datum);
bool ir_set_param(IrFrame *frame, const IrInst *inst, IrValue *param, IrDatum datum);
/* Runs REGION of INST; OUT receives what it yields, the caller's own. */
bool ir_run_region(IrFrame *frame, const IrInst *inst, const IrRegion *region, IrDatum *out);
bool ir_invalid(IrFrame *frame, const IrInst *inst, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Zeros; an error where a size is negative or there are too many elements. */
bool ir_new_array(IrFrame *frame, const IrInst *inst, IrScalar scalar, uint32_t rank,
                  const int64_t *dims, IrDatum *array);

/* ---- interp-array.c, interp-parallel.c, interp-runtime.c ---- */
bool ir_run_array(IrFrame *frame, const IrInst *inst);
bool ir_run_acc_add(IrFrame *frame, const IrInst *inst);
bool ir_run_build(IrFrame *frame, const IrInst *inst);
bool ir_run_reduce(IrFrame *frame, const IrInst *inst);
bool ir_run_check(IrFrame *frame, const IrInst *inst);
bool ir_run_check_index(IrFrame *frame, const IrInst *inst);
bool ir_run_fail(IrFrame *frame, const IrInst *inst);
bool ir_run_runtime(IrFrame *frame, const IrInst *inst, const char *name);

#endif
