/* The code generator for CPUs: what its files share.

   A module becomes one LLVM module; each IR function one internal function
     i32 @name(ptr context, parameters..., ptr result...)
   which returns 0 or an error code.  Parameters: a scalar by value; an array as data, block (unless
   it is small), and the sizes that its type leaves open; a text as bytes, block, length; a tape as
   tape, cur, end, chunk; an accumulator as its address and open sizes.  Results go to memory of the
   caller: a scalar; a small array's elements; else words: data, block and open sizes of an array,
   bytes, block and length of a text, the four of a tape.

   Blocks are counted (see opt/memory.h).  The block of a value is the address that adl__retain and
   adl__release take, or null for memory that is somebody else's and outlives the value. */
#ifndef ADL_CODEGEN_CPU_GEN_H
#define ADL_CODEGEN_CPU_GEN_H

#include "base/map.h"
#include "codegen/codegen.h"
#include "codegen/common/compat.h"
#include "codegen/common/debug.h"
#include "codegen/common/emit.h"
#include "codegen/common/machine.h"
#include "opt/memory.h"

/* A value in code. */
typedef struct Val {
    LLVMValueRef at;    /* a scalar itself; the address of elements, of bytes; a tape */
    LLVMValueRef block; /* of arrays and texts; may be the null constant */
    LLVMValueRef *dims; /* arrays, accumulators: sizes; texts: [0] length; tapes: cur, end, chunk */
    LLVMValueRef
        home; /* of arrays from a tape: the block that has the elements, for devices; or NULL */
    uint32_t depth; /* how many parallel loops were open when the memory was made */
    bool slot;      /* an array in a stack slot of its own */
    bool unset;     /* an accumulator without zeros in it: each cell is stored once */
} Val;

/* Where the elements of a value should be made. */
typedef struct Dest {
    LLVMValueRef at; /* NULL: anywhere */
    uint32_t depth;
    bool combine;  /* elements are not put there but combined with what is there, ... */
    IrReduce kind; /* ... so; for a BUILD that has no other use */
    bool maybe;    /* AT may be null when the code runs, and then it is anywhere */
} Dest;

typedef struct Gen {
    Emit e;
    const IrModule *ir;
    const CodegenOptions *options;
    const Machine *machine;
    MemPlan *plan;
    Debug *debug;        /* NULL without -g */
    LLVMValueRef *funcs; /* by IrFunc.id */
    LLVMTypeRef *func_types;
    bool *places;                    /* by IrFunc.id: see gen_no_place */
    const struct DeviceCode *device; /* what runs on a device; NULL in a module for CPUs alone */
    bool *launches;                  /* by IrFunc.id, with DEVICE: see device.h */
    bool *endless;                   /* by function: each of its paths calls an endless one */
    bool *recursive; /* by function: it may call itself, and looks whether there is room on the
                        stack */
    Map texts, sites, calls;             /* caches: text, position, name to constant or function */
    VEC(LLVMValueRef) vector_functions;  /* kept alive until the vectoriser has run */
    LLVMValueRef carried;                /* the bytes of options->carried */
    bool used_libm;                      /* set by calls that have vector versions */
    LLVMMetadataRef nodes[COMPAT_NODES]; /* the first free_nodes can be access groups */
    uint32_t free_nodes;
    unsigned loop_kind, group_kind, prof_kind; /* metadata kinds */
} Gen;

/* A function under construction. */
typedef struct Fn {
    Gen *g;
    Emit *e;
    const IrFunc *ir;
    const MemFunc *plan;
    LLVMValueRef llvm, context;
    LLVMBasicBlockRef allocas; /* the entry block */
    LLVMBasicBlockRef fail;    /* returns the phi fail_code; NULL until needed */
    LLVMValueRef fail_code;
    Pos pos;                     /* of the instruction at hand */
    LLVMValueRef scratch_dims;   /* i64[IR_MAX_RANK], or NULL */
    Val *vals;                   /* by value id */
    Dest *dests;                 /* by value id */
    uint32_t *uses;              /* by value id: how many */
    Map done;                    /* instructions that were generated ahead of their place */
    VEC(LLVMMetadataRef) groups; /* access groups of the open parallel loops */
    VEC(const IrValue *)
    indices; /* of the same loops: the index, NULL where there is none in the IR */
    VEC(LLVMValueRef) sum_buffers; /* by nesting depth of blocked sums: see sum.c */
    uint32_t sum_depth;
    bool serial; /* this is a piece of a parallel loop already */
    bool device; /* elements may be on a device: see device.h */
} Fn;

/* ---- module.c ---- */
LLVMValueRef gen_text(Gen *g, const char *text, size_t len); /* a zero-terminated constant */
LLVMValueRef gen_constant(Gen *g, LLVMValueRef value,
                          const char *name); /* a global that holds VALUE */
/* Leaves the function with the context's error, told at the instruction at hand, if P is null. */
void gen_check_memory(Fn *f, LLVMValueRef p);
LLVMValueRef gen_site(Gen *g, const IrFunc *func, Pos pos);         /* a constant AdlSite */
LLVMValueRef gen_site_value(Gen *g, const char *function, Pos pos); /* what is in it */
/* Calls the runtime's function NAME of calls.def; the context is not added. */
LLVMValueRef gen_runtime(Gen *g, const char *name, LLVMValueRef *args, unsigned n);
bool gen_runtime_known(const char *name);
void gen_attribute(Gen *g, LLVMValueRef fn, unsigned index, const char *name, uint64_t value);
/* An internal helper function NAME of TYPE; *FRESH if its body is still to be made. */
LLVMValueRef gen_helper(Gen *g, const char *name, LLVMTypeRef type, bool *fresh);
LLVMBasicBlockRef gen_block(Fn *f, const char *name);

/* ---- func.c ---- */
void gen_func(Gen *g, const IrFunc *func);
LLVMTypeRef gen_func_type(Gen *g, const IrFunc *func);
/* All instructions of REGION but its YIELD, which is returned. */
const IrInst *gen_region(Fn *f, const IrRegion *region);
Val *gen_val(Fn *f, const IrValue *value);
LLVMValueRef gen_scalar(Fn *f, const IrValue *value);
void gen_set(Fn *f, const IrValue *value, Val val);
void gen_set_scalar(Fn *f, const IrValue *value, LLVMValueRef scalar);
const MemInst *gen_plan(const Fn *f, const IrInst *inst);
/* Releases what ends with INST. */
void gen_dead(Fn *f, const IrInst *inst);
/* An alloca in the entry block. */
LLVMValueRef gen_alloca(Fn *f, LLVMTypeRef type, LLVMValueRef count, unsigned align,
                        const char *name);

/* The functions of C exports find in the first word of each array result (that is not small) where
   the caller would like to have it, or null: this. */
void gen_no_place(Fn *f, const IrFunc *func, uint32_t result, LLVMValueRef memory);

/* ---- control.c ---- */
void gen_if(Fn *f, const IrInst *inst);
void gen_loop(Fn *f, const IrInst *inst);
void gen_call(Fn *f, const IrInst *inst);
/* A call of a function with a body in three steps.  Its arguments, of which those that the callee
   owns are handed over, and memory for its results; the call; its results from that memory. */
void call_open(Fn *f, const IrInst *call, Val *args, LLVMValueRef *memory);
void call_make(Fn *f, const IrInst *call, const Val *args, LLVMValueRef const *memory);
void call_close(Fn *f, const IrInst *call, LLVMValueRef const *memory);
/* Leaves the function if STATUS is not 0. */
void gen_check_status(Fn *f, LLVMValueRef status);
/* Leaves the function with CODE; what follows is unreachable. */
void gen_leave(Fn *f, LLVMValueRef code);
/* Marks BRANCH: the first target is hardly ever taken. */
void gen_unlikely(Fn *f, LLVMValueRef branch);

typedef struct Loop {
    LLVMValueRef i;
    LLVMBasicBlockRef before, head, body, done;
} Loop;
/* A counted loop: the builder stands in the head after gen_loop_open (for more phis), in the body
   after loop_enter, behind the loop after gen_loop_close.  PARALLEL: no iteration needs another
   one's accesses that were tagged; opens an access group. */
void gen_loop_open(Fn *f, Loop *loop, const char *name);
void loop_enter(Fn *f, Loop *loop, LLVMValueRef count);
void gen_loop_close(Fn *f, Loop *loop, LLVMMetadataRef metadata);
void loop_open_group(Fn *f);
/* Closes the group; the loop's metadata, with tail folding if its body calls vector functions. */
LLVMMetadataRef loop_close_group(Fn *f, bool fold_tail);
/* Metadata of a loop that is short, or wide already: not to be unrolled or vectorised. */
LLVMMetadataRef loop_as_it_is(Fn *f);
void loop_phi(Loop *loop, LLVMValueRef phi, LLVMValueRef init, LLVMValueRef next,
              LLVMBasicBlockRef latch);

/* The parts of a value that code passes on: what is not known from its type. */
typedef struct Parts {
    LLVMValueRef *at[3 + IR_MAX_RANK];
    LLVMTypeRef types[3 + IR_MAX_RANK];
    unsigned n;
} Parts;
Parts gen_parts(const Emit *e, IrType type, Val *val);

/* ---- parallel.c, cost.c: outer loops on several threads ---- */

/* A loop over BEGIN..END in a function of its own. */
typedef struct Piece {
    Fn f;
    LLVMValueRef begin, end;
    Val *extras; /* as given, in this function */
} Piece;
typedef void (*PieceBody)(Piece *piece, void *data);

/* Work of one run of REGION as an i64, in units of about a quarter of a nanosecond; sizes that are
   not known outside of it are guessed.  OWN: of REGION's own operations, known now. */
LLVMValueRef cost_of_region(Fn *f, const IrRegion *region, int64_t *own);
/* Is REGION, run in a loop, ever worth threads? */
bool parallel_pays(Fn *f, const IrRegion *region);
/* Are COUNT runs that take WORK each worth threads? */
LLVMValueRef parallel_long(Fn *f, LLVMValueRef count, LLVMValueRef work);
/* BODY for 0..COUNT, by several threads if it is long (each run taking WORK), in one piece else.
   The pieces depend on sizes alone.  What REGION captures is there in them, and so are EXTRAS,
   memory that is written to (ALONE: and overlaps nothing that is read). */
void parallel_run(Fn *f, const IrRegion *region, LLVMValueRef count, LLVMValueRef work,
                  const Val *extras, const IrType *types, uint32_t nextras, bool alone,
                  PieceBody body, void *data);

/* ---- value.c: arrays in memory ---- */
LLVMValueRef *gen_dims(Fn *f, IrType type, LLVMValueRef const *given);
/* New memory for VALUE's array of the sizes DIMS: its destination, a slot, or a new block. */
Val gen_new_array(Fn *f, const IrValue *value, LLVMValueRef const *dims);
Val gen_heap_array(Fn *f, IrType type, LLVMValueRef const *dims);
/* New memory of sizes DIMS: on the stack if it is at most MOST elements. */
Val gen_short_array(Fn *f, IrType type, LLVMValueRef const *dims, int64_t most);
Val gen_slot(Fn *f, IrType type);
/* The sizes of VAL as i64s in scratch memory. */
LLVMValueRef gen_dims_memory(Fn *f, const Val *val, IrType type);
void gen_retain(Fn *f, const Val *val, IrType type);
void gen_release(Fn *f, const Val *val, IrType type);
LLVMValueRef gen_count(Fn *f, const Val *val, IrType type); /* number of elements */
LLVMValueRef gen_element_at(Fn *f, IrType type, LLVMValueRef at, LLVMValueRef index);
/* The flat index of i... in the leading N dimensions, times what is left. */
LLVMValueRef gen_flat(Fn *f, const Val *val, IrType type, uint32_t n, LLVMValueRef const *indices);
LLVMValueRef gen_load(Fn *f, const Val *val, IrScalar scalar, LLVMValueRef index);
void gen_store(Fn *f, const Val *val, IrScalar scalar, LLVMValueRef index, LLVMValueRef value);
/* Marks a load or store of VAL's elements for the parallel loops that it is independent in. */
void gen_tag(Fn *f, LLVMValueRef access, uint32_t depth);
/* COUNT elements. */
void gen_copy(Fn *f, IrScalar scalar, LLVMValueRef to, LLVMValueRef from, LLVMValueRef count);
/* Operand K of INST for someone who keeps it as a TYPE.  A small TYPE's elements are not copied
   yet: gen_hand_into does it and releases what was handed over. */
Val gen_hand_over(Fn *f, const IrInst *inst, uint32_t k, IrType type);
void gen_hand_into(Fn *f, const IrInst *inst, uint32_t k, LLVMValueRef to);
/* Operand K of INST, to be written to, as planned: itself or a copy. */
Val gen_base(Fn *f, const IrInst *inst, uint32_t k);
/* New memory of sizes DIMS for VALUE: that of one of OLDS, whose references are ours, if it has
   these sizes and nobody else holds it.  The blocks in OLDS become what is to be released when they
   have been read. */
Val gen_over(Fn *f, const IrValue *value, LLVMValueRef const *dims, uint32_t n, Val *olds);
/* VAL, whose reference is ours, if nobody else holds its block, else a copy. */
Val gen_own(Fn *f, const Val *val, IrType type);

/* What a call left in the result memory FROM. */
Val gen_load_result(Fn *f, IrType type, LLVMValueRef from);

/* ---- sink.c: results that go into a part of another array ---- */
typedef struct Sink {
    Val base; /* the array that they go into, ... */
    IrType type;
    bool strided; /* ... at start + i * step, else from DEST on */
    LLVMValueRef start[IR_MAX_RANK], step[IR_MAX_RANK];
    uint32_t from[IR_MAX_RANK]; /* STRIDED: the BUILD's dimension, or IR_MAX_RANK for one element */
    Dest dest;
} Sink;
/* Is BUILD's one result used by an UPDATE, ASSIGN or ACC_ADD close behind it alone, so that it can
   be made there?  Then does that instruction's work but for the elements, and fills SINK.  An
   ACC_ADD counts only with ADDS. */
bool sink_open(Fn *f, const IrInst *build, bool adds, Sink *sink);
/* The flat place of BUILD's element I in the sink's base. */
LLVMValueRef sink_place(Fn *f, const Sink *sink, LLVMValueRef const *i);

/* ---- parts.c ---- */
/* Has results of BUILD made as parts of what a PACK or CONCAT puts together of them. */
void gen_wholes(Fn *f, const IrInst *build);

/* ---- build.c ---- */
void gen_build(Fn *f, const IrInst *inst);
/* Should the value that YIELD's operand K names be made at once at DEST? */
void gen_want(Fn *f, const IrInst *yield, uint32_t k, Dest dest);
/* Sees to it that operand K of YIELD is at DEST, element by element. */
void gen_put(Fn *f, const IrInst *yield, uint32_t k, Dest dest);

/* ---- reduce.c, sum.c ---- */
void gen_reduce(Fn *f, const IrInst *inst);
/* The sum (product) of COUNT elements at AT in the fixed order. */
LLVMValueRef sum_elements(Fn *f, IrReduce kind, IrScalar scalar, LLVMValueRef at,
                          LLVMValueRef count);
/* The blocks of COUNT elements; the elements of block K and where they begin. */
LLVMValueRef sum_blocks(Emit *e, LLVMValueRef count);
LLVMValueRef sum_block_len(Emit *e, LLVMValueRef count, LLVMValueRef blocks, LLVMValueRef k,
                           LLVMValueRef *begin);
/* The lanes of SUMS added up; the places [COUNT - SUM_LANES, COUNT) as VALUES without those that
   are not among the last LEFT. */
LLVMValueRef sum_fold(Emit *e, IrReduce kind, LLVMValueRef sums);
LLVMValueRef sum_last(Emit *e, IrReduce kind, IrScalar scalar, LLVMValueRef values,
                      LLVMValueRef left);
/* The same for the elements of one block. */
LLVMValueRef sum_block(Fn *f, IrReduce kind, IrScalar scalar, LLVMValueRef at, LLVMValueRef count);
/* The same of a[i] * b[i]. */
LLVMValueRef sum_products(Fn *f, IrScalar scalar, LLVMValueRef a, LLVMValueRef b,
                          LLVMValueRef count);
LLVMValueRef sum_identity(const Emit *e, IrReduce kind, IrScalar scalar);
enum { SUM_BLOCK = 256, SUM_LANES = 16, SUM_LEVELS = 56 };
/* Pairwise addition of block sums: STACK holds SUM_LEVELS partial sums. */
void sum_push(Fn *f, IrReduce kind, IrScalar scalar, LLVMValueRef stack, LLVMValueRef block,
              LLVMValueRef value);
LLVMValueRef sum_finish(Fn *f, IrReduce kind, IrScalar scalar, LLVMValueRef stack,
                        LLVMValueRef blocks);
/* The sums of BLOCKS blocks, which lie at AT, added pairwise. */
LLVMValueRef sum_pairs(Fn *f, IrReduce kind, IrScalar scalar, LLVMValueRef at, LLVMValueRef blocks);

/* ---- array.c, contract.c, acc.c, tape.c, effect.c ---- */
void gen_dim(Fn *f, const IrInst *inst);
void gen_index(Fn *f, const IrInst *inst);
void gen_update(Fn *f, const IrInst *inst);
void gen_slice(Fn *f, const IrInst *inst);
void gen_assign(Fn *f, const IrInst *inst);
void gen_transpose(Fn *f, const IrInst *inst);
void gen_reshape(Fn *f, const IrInst *inst);
void gen_pack(Fn *f, const IrInst *inst);
void gen_concat(Fn *f, const IrInst *inst);
void gen_argsort(Fn *f, const IrInst *inst);
void gen_contract(Fn *f, const IrInst *inst);
void gen_with_acc(Fn *f, const IrInst *inst);
void gen_acc_add(Fn *f, const IrInst *inst);
void gen_tape_new(Fn *f, const IrInst *inst);
void gen_tape_push(Fn *f, const IrInst *inst);
void gen_tape_pop(Fn *f, const IrInst *inst);
void gen_tape_empty(Fn *f, const IrInst *inst);
void gen_tape_sum(Fn *f, const IrInst *inst);
/* Writes TAPE's height into the tape itself; the value of a tape at the height that it has. */
void gen_tape_flush(Fn *f, const Val *tape);
Val gen_tape_fetch(Fn *f, LLVMValueRef tape);
void gen_string(Fn *f, const IrInst *inst);
void gen_check(Fn *f, const IrInst *inst);
void gen_check_index(Fn *f, const IrInst *inst);
void gen_fail(Fn *f, const IrInst *inst);
void gen_runtime_inst(Fn *f, const IrInst *inst);

/* ---- math.c ---- */
LLVMValueRef gen_math_call(Emit *e, const char *name, LLVMTypeRef result, LLVMValueRef *args,
                           unsigned n);
void gen_keep_vector_functions(Gen *g);

/* ---- entry.c, export.c, program.c ---- */
LLVMValueRef gen_entry(Gen *g, const IrFunc *func, const char *name);
/* A call of a derivative that another object gives, through its uniform entry. */
void gen_call_open(Fn *f, const IrInst *inst);
/* What the object carries beside its code, in a section of its own. */
void gen_carried(Gen *g);
void gen_exports(Gen *g);
void gen_program(Gen *g, const struct IrExport *export);
void gen_test(Gen *g, const struct IrExport *export, uint32_t place);

#endif
