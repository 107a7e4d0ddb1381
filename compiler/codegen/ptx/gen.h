/* The code generator for NVIDIA GPUs: exported kernels to PTX.

   An entry's function has been lowered for one invocation (lower/kernel.c).  Arrays that other
   invocations see (the caller's, shared ones) are changed where they stand, so that each has one
   value at a time: an older one may not be used any more (Val.version), which is an error that
   names the place.

   Other arrays belong to one invocation.  Each instruction that makes one has memory of its own: in
   the invocation's frame if the sizes are known and small, else a block of the device's heap.  They
   are written over where the memory plan has proved it, and copied where an array leaves the region
   that made it, unless its block can be handed over.  A block belongs to the scope it was made in
   (a body of a loop, a side of a branch, the kernel), which frees it at its end. */
#ifndef ADL_CODEGEN_PTX_GEN_H
#define ADL_CODEGEN_PTX_GEN_H

#include "base/map.h"
#include "codegen/codegen.h"
#include "codegen/common/emit.h"
#include "codegen/common/machine.h"
#include "codegen/ptx/generate.h"
#include "opt/memory.h"

/* Whose memory it is: the invocation's own, the caller's to be read or to be written, the block's.
 */
typedef enum RootKind { ROOT_OWN, ROOT_CONST, ROOT_MUT, ROOT_SHARED } RootKind;

/* Memory of which a kernel's arrays are values. */
typedef struct Root {
    RootKind kind;
    uint32_t version;   /* of its value at hand */
    bool written;       /* somewhere in the kernel */
    LLVMValueRef block; /* of the heap; NULL: none, or another kind */
    /* Of arrays that several invocations see: */
    bool meets; /* some of them may add to one cell, first at */
    Pos pos;
    bool halves;            /* what is added has no atomic addition */
    bool adds_floats;       /* so that their order is seen in the last bits */
    VEC(LLVMValueRef) adds; /* atomic additions */
} Root;

typedef struct Val {
    LLVMValueRef at;                /* a scalar itself, the address of elements, a tape's height */
    LLVMValueRef dims[IR_MAX_RANK]; /* of a tape the first is its memory, see tape.c */
    Root *root;                     /* of arrays */
    uint32_t version;
} Val;

/* A block that goes at the end of what is being made; one that is on its way out of it or through
   it goes only if a check fails. */
typedef struct Held {
    struct Held *next;
    LLVMValueRef block;
    bool passing;
} Held;

typedef struct Scope {
    struct Scope *up;
    Held *held;
} Scope;

typedef struct Ptx {
    Emit e;
    const IrModule *ir;
    MemPlan *plan;
    const CodegenOptions *options;
    Arena *arena;
    LLVMTargetMachineRef target;
    LLVMValueRef entry;
    uint32_t rank;           /* indices of the kernel */
    LLVMValueRef first[3];   /* of a launch: the block along x, y, z that the grid begins with */
    const IrRegion *region;  /* of a program's loop: its parameters are the indices */
    LLVMBasicBlockRef trap;  /* where failed checks go; NULL until needed */
    bool checks;             /* there are such */
    LLVMValueRef failure;    /* of a program's kernels, there: the number of the check */
    struct DeviceCode *code; /* of a program */
    const IrLaunch *launch;  /* of the launched kernel at hand */
    VEC(struct DeviceBound) bounds; /* what its checks need, ... */
    bool unbounded;                 /* ... but for others */
    const char *name;               /* of its kernel at hand */
    Scope *scope, kernel;           /* at hand, and the outermost */
    VEC(LLVMValueRef) tapes;        /* of the entry */
    bool takes_heap;                /* it does */
    VEC(Root *) seen;               /* arrays of the entry that several invocations see */
    const char *missing;            /* a function of libdevice that is called */
    char **error;                   /* the first one; then nothing that is made counts */
    bool whole;                     /* a program's loops, not its kernels: errors are remarks */
    Pos pos;
} Ptx;

/* One function that is being put into the entry. */
typedef struct Body {
    Ptx *g;
    const struct Body *caller;
    const IrFunc *func;
    const MemFunc *plan;
    Val *vals; /* by value id */
} Body;

/* ---- body.c ---- */

/* Reports that the instruction at hand cannot be compiled. */
void ptx_refuse(Ptx *g, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The body of FUNC on ARGS; the operands of its YIELD go to RESULTS.  With caller NULL, ptx_leave
   is to follow where the results are no longer needed. */
void ptx_inline(Ptx *g, const Body *caller, const IrFunc *func, const Val *args, Val *results);
/* The body of a parallel loop, in whose function VALS, by value id, has all that it captures; what
   it yields goes to RESULTS. */
void ptx_region(Ptx *g, const IrRegion *region, Val *vals, Val *results);
/* Of the instructions of REGION those that are WANTED. */
void ptx_some(Ptx *g, const IrRegion *region, Val *vals,
              bool (*wanted)(const IrInst *inst, const void *data), const void *data);
/* Frees what the invocation has of the heap. */
void ptx_leave(Ptx *g);
Val *ptx_get(Body *b, const IrValue *value);
LLVMValueRef ptx_scalar(Body *b, const IrValue *value);
void ptx_set_scalar(Body *b, const IrValue *value, LLVMValueRef at);
/* An array that is read or passed on. */
const Val *ptx_current(Body *b, const IrValue *value);
/* The value of VAL's memory behind a write. */
Val ptx_written(const Val *val);
/* What REGION yields from its operand FROM on. */
void ptx_yields(Body *b, const IrRegion *region, uint32_t from, Val *out);
const MemInst *ptx_plan(const Body *b, const IrInst *inst);
LLVMBasicBlockRef ptx_block(Ptx *g, const char *name);
/* Is it enough for the check INST, of an index, that the ranges of the launch are within a size?
   Then that is noted. */
bool ptx_is_bounded(Body *b, const IrInst *inst);
/* Stops the grid unless HOLDS. */
void ptx_check(Ptx *g, LLVMValueRef holds);
void ptx_instructions(Body *b, const IrRegion *region);

/* ---- memory.c: where arrays are ---- */

/* Memory of the caller's that may be written to, or of the block. */
Val ptx_array(Ptx *g, LLVMValueRef at, IrType type, LLVMValueRef const *open_dims, bool shared);
LLVMValueRef ptx_alloca(Ptx *g, LLVMTypeRef type, const char *name);
/* COUNT bytes of the heap, which are the caller's to free. */
LLVMValueRef ptx_allocate(Ptx *g, LLVMValueRef bytes);
void ptx_release(Ptx *g, LLVMValueRef block);
/* Are such arrays in the frame? */
bool ptx_in_frame(IrType type);
/* A new array of the invocation, of the sizes DIMS. */
Val ptx_new_array(Ptx *g, IrType type, LLVMValueRef const *dims);
LLVMValueRef ptx_count(Ptx *g, const Val *x, IrType type);
/* The address of X[I...], of the first N indices; and of the element FLAT behind AT. */
LLVMValueRef ptx_address(Ptx *g, const Val *x, IrType type, uint32_t n, LLVMValueRef const *i);
LLVMValueRef ptx_element(Ptx *g, IrScalar scalar, LLVMValueRef at, LLVMValueRef flat);
LLVMValueRef ptx_load(Ptx *g, IrScalar scalar, LLVMValueRef from);
void ptx_store(Ptx *g, IrScalar scalar, LLVMValueRef value, LLVMValueRef to);
/* COUNT elements. */
void ptx_copy(Ptx *g, IrScalar scalar, LLVMValueRef to, LLVMValueRef from, LLVMValueRef count);
Val ptx_copied(Ptx *g, const Val *val, IrType type);
/* Operand K of INST, to be written to: itself where that is planned, else a copy. */
Val ptx_base(Body *b, const IrInst *inst, uint32_t k);
void ptx_scope_open(Ptx *g, Scope *scope);
void ptx_scope_close(Ptx *g);
/* BLOCK is on its way out of SCOPE or through it; it is no longer SCOPE's. */
void ptx_scope_pass(Ptx *g, Scope *scope, LLVMValueRef block);
void ptx_scope_forget(Scope *scope, LLVMValueRef block);
/* Does the invocation hold blocks?  Frees them. */
bool ptx_holds_blocks(const Ptx *g);
void ptx_drop_blocks(Ptx *g);
/* VAL in a block of the heap that no scope frees: its own, if the scope at hand has that, or a
 * copy.
 */
Val ptx_leave_scope(Ptx *g, const Val *val, IrType type);
/* From now on the scope at hand frees VAL's block AT. */
Val ptx_join_scope(Ptx *g, Val val);

/* Loops over 0..SIZES, one in the other; the code between stands in the innermost. */
typedef struct Nest {
    uint32_t n;
    LLVMValueRef i[IR_MAX_RANK];
    LLVMBasicBlockRef head[IR_MAX_RANK], done[IR_MAX_RANK];
} Nest;
void ptx_nest_open(Ptx *g, Nest *nest, uint32_t n, LLVMValueRef const *sizes);
void ptx_nest_close(Ptx *g, Nest *nest);

/* ---- math.c ---- */

/* The runtime's function NAME, or NULL if it is not one of these. */
LLVMValueRef ptx_written_out(Ptx *g, const char *name, LLVMTypeRef type, LLVMValueRef *args);

/* ---- array.c, control.c, parallel.c, tape.c, device.c: instructions ---- */
void ptx_index(Body *b, const IrInst *inst);
void ptx_update(Body *b, const IrInst *inst);
void ptx_slice(Body *b, const IrInst *inst);
void ptx_assign(Body *b, const IrInst *inst);
void ptx_transpose(Body *b, const IrInst *inst);
void ptx_reshape(Body *b, const IrInst *inst);
void ptx_pack(Body *b, const IrInst *inst);
void ptx_concat(Body *b, const IrInst *inst);
void ptx_argsort(Body *b, const IrInst *inst);
void ptx_if(Body *b, const IrInst *inst);
void ptx_loop(Body *b, const IrInst *inst);
void ptx_build(Body *b, const IrInst *inst);
void ptx_reduce(Body *b, const IrInst *inst);
void ptx_contract(Body *b, const IrInst *inst);
void ptx_tape_new(Body *b, const IrInst *inst);
void ptx_tape_push(Body *b, const IrInst *inst);
void ptx_tape_pop(Body *b, const IrInst *inst);
void ptx_tape_empty(Body *b, const IrInst *inst);
/* TAPE in memory of its own. */
Val ptx_tape_copied(Ptx *g, const Val *tape);
void ptx_tape_free(Ptx *g, LLVMValueRef tape);
/* The special register WHAT of the AXIS 'x', 'y' or 'z'; the place of the invocation in the grid.
 */
LLVMValueRef ptx_special(Ptx *g, const char *what, char axis);
LLVMValueRef ptx_own_block(Ptx *g, char axis);
LLVMValueRef ptx_own_index(Ptx *g, char axis);
/* Of the invocations of a block; memory that they share. */
void ptx_barrier(Ptx *g);
LLVMValueRef ptx_shared(Ptx *g, LLVMTypeRef type);
void ptx_runtime(Body *b, const IrInst *inst);
/* The place of the invocation in its block, and how many there are. */
void ptx_place_in_block(Ptx *g, LLVMValueRef *place, LLVMValueRef *count);

/* ---- add.c ---- */
void ptx_atomic_add(Body *b, const IrInst *inst);
void ptx_with_acc(Body *b, const IrInst *inst);
void ptx_acc_add(Body *b, const IrInst *inst);
/* VALUE of the lane that is DELTA further (negative: before), among WIDTH lanes of a warp; all of
   MASK come here. */
LLVMValueRef ptx_shuffle(Emit *e, LLVMValueRef mask, LLVMValueRef value, int delta, int width);
/* Returned derivatives, floats: what this invocation adds to the words AT, to which all add. */
void ptx_add_results(Ptx *g, uint32_t n, LLVMValueRef const *at, LLVMValueRef *values);
/* At the end of an entry, or where it is given up: additions to arrays whose cells have one
   invocation each need not be atomic. */
void ptx_settle_additions(Ptx *g);

enum { PTX_LARGEST_BLOCK = 1024 };

/* ---- module.c ---- */
/* Makes FN an entry for blocks of at most LIMIT invocations. */
void ptx_make_entry(Ptx *g, LLVMValueRef fn, int limit);
/* A check that failed before here sets the word that the runtime looks at, the entry's first
   parameter, and ends the invocation. */
void ptx_finish_checks(Ptx *g);
/* The same, but the invocation goes on here, with zeros as the N VALUES, since others wait for it.
   LEFT: what it has of the heap is freed already, else it will be. */
void ptx_meet(Ptx *g, uint32_t n, LLVMValueRef *values, bool left);
/* Marks parameter PARAM of the entry with the attribute NAME. */
void ptx_mark(const Ptx *g, unsigned param, const char *name);
/* Opens a generator with a new module; closes it. */
bool ptx_open(Ptx *g, const IrModule *ir, const CodegenOptions *options, char **error);
void ptx_close(Ptx *g);
/* Links what is missing, optimises, and writes the module's PTX to OUT. */
bool ptx_finish(Ptx *g, StrBuf *out);

#endif
