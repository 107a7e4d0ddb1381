/* How C passes values: for the files that make C signatures. */
#ifndef ADL_LOWER_C_INTERFACE_H
#define ADL_LOWER_C_INTERFACE_H

#include "lower/internal.h"

/* An argument begins. */
typedef struct CArg {
    IrCArgKind kind;
    const char *name;
    const IrCStruct *type;
} CArg;

/* A part of the argument that began last. */
typedef struct CLeaf {
    const char *name;
    uint32_t leaf;  /* of the value's shape: the first, if there are two */
    int32_t offset; /* as in IrCParam */
    bool pairs;     /* an array of complex numbers: two leaves of the shape */
    bool view;
} CLeaf;

typedef struct CVisitor {
    void (*arg)(void *data, CArg arg);
    void (*leaf)(void *data, CLeaf leaf);
    /* A size that stands in the argument, before its leaves. */
    void (*size)(void *data, const char *name, Size size, int32_t offset);
} CVisitor;

/* The arguments and leaves of a value of TYPE that is called NAME, in order.  VIEWS: arrays come as
   views. */
void c_walk(Lower *lw, Type type, const char *name, bool views, const CVisitor *visit, void *data);

/* TYPE, a struct, as C sees it: the same for all its sizes. */
const IrCStruct *c_struct(Lower *lw, Type type);

/* The C signature of ROOT, whose function EXPORT has; a function that takes and gives what C passes
   takes its place where that differs.  False after an error. */
bool c_signature(Lower *lw, const Root *root, IrExport *export);

/* Of an entry of a device (c-device.c): the arrays that INST, a kernel's derivative, returns become
   memory that EXPORT's function adds them to. */
void c_add_results(Lower *lw, const Instance *inst, IrExport *export);

#endif
