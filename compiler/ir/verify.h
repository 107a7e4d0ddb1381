/* What the two files of the verifier share. */
#ifndef ADL_IR_VERIFY_H
#define ADL_IR_VERIFY_H

#include "ir/ir.h"

typedef struct Verifier {
    IrModule *module;
    IrFunc *func;
    IrValue **live;    /* by id: what may be used here */
    bool *seen;        /* by id: was defined somewhere */
    const char *fault; /* the first one */
} Verifier;

/* Returns OK; if it is false, FORMAT becomes the fault, unless there is one.  INST may be NULL. */
bool ir_need(Verifier *v, const IrInst *inst, bool ok, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Operands, results, attributes and regions' ends of INST.  Its operands have types; its regions
   are complete. */
bool ir_verify_op(Verifier *v, const IrInst *inst);

#endif
