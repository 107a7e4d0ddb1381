/* Lowering: the typed tree to IR.

   Every instance that is reached from the roots becomes one IrFunc.  What the IR does not know is
   taken apart here: tuples, structs, complex numbers and function values become their parts, sizes
   become i64 values, early exits become nested ifs and loops with flags, `mut` parameters become
   parameters and results, and every run-time check of the language becomes a CHECK. */
#ifndef ADL_LOWER_LOWER_H
#define ADL_LOWER_LOWER_H

#include "ir/export.h"
#include "ir/ir.h"
#include "source/diag.h"
#include "types/check.h"

typedef struct LowerOptions {
    bool unchecked;      /* --unchecked: no run-time checks but asserts; conversions saturate */
    bool check_overflow; /* --check: signed overflow is an error */
    uint32_t roots;      /* which kinds are wanted: bits 1 << RootKind; 0: all */
    bool device;         /* kernels are lowered for one invocation, for a device */
    bool launches;       /* what the program launches is lowered so, too, beside all else */
    const char *prefix;  /* of exported names; NULL: none */
} LowerOptions;

/* The module of a program that was checked without errors; owned by the caller (ir_module_free).
   What cannot be lowered is reported: look at the count of errors before using the module. */
IrModule *lower_program(const Program *program, const Sources *sources, Diags *diags,
                        const LowerOptions *options);

#endif
