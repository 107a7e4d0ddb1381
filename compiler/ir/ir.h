/* The IR: structured SSA over scalars and array values.

   A function is a region; a region has parameters and a list of instructions that ends with YIELD.
   Values are immutable, arrays too: UPDATE gives a new array, and the memory plan finds out that it
   may reuse the old one.  Tuples, structs, complex numbers and closures do not exist here: lowering
   takes them apart.  A `mut` parameter is an ordinary one, and its last value one more result.
   op.def says what each operation means.  Regions see the values of the regions round them.

   Names end in the text form as %name.id; @f are functions. */
#ifndef ADL_IR_IR_H
#define ADL_IR_IR_H

#include "base/arena.h"
#include "base/map.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "source/source.h"

#include <stdbool.h>
#include <stdint.h>

enum { IR_MAX_RANK = 15 };

typedef enum IrOp {
#define IR_OP(name, text, cls, regions, flags) IR_##name,
#include "ir/op.def"
#undef IR_OP
    IR_OP_COUNT
} IrOp;

typedef enum IrMath {
#define MATH(name, text, arity, libm) IR_MATH_##name,
#include "lang/math.def"
#undef MATH
    IR_MATH_COUNT
} IrMath;

typedef enum IrScalar {
#define SCALAR(name, text, cls, bytes) IR_##name,
#include "lang/scalars.def"
#undef SCALAR
    IR_SCALAR_COUNT
} IrScalar;

/* A float or bool may have lanes: so many values side by side, on which operations work element by
   element.  The number stands in the IrScalar itself, so that code that passes a scalar type on
   passes its lanes on; one lane is the plain type. */
enum { IR_MAX_LANES = 16, IR_LANES_BIT = 8 };
static inline IrScalar ir_scalar_base(IrScalar scalar) {
    return (IrScalar)((unsigned)scalar & ((1u << IR_LANES_BIT) - 1));
}
static inline uint32_t ir_scalar_lanes(IrScalar scalar) {
    uint32_t lanes = (unsigned)scalar >> IR_LANES_BIT;
    return lanes ? lanes : 1;
}
static inline IrScalar ir_scalar_with(IrScalar base, uint32_t lanes) {
    return (IrScalar)((unsigned)ir_scalar_base(base) | (lanes > 1 ? lanes << IR_LANES_BIT : 0));
}

typedef enum IrReduce {
    IR_SUM,
    IR_PROD,
    IR_MINIMUM,
    IR_MAXIMUM,
    IR_ALL,
    IR_ANY,
    IR_ARGMIN,
    IR_ARGMAX
} IrReduce;

/* Flags of LOOP.  SCAN: what it carries in a scalar may be combined in another order, since it
   comes from `scan` or `reduce`, or a derivative of these. */
enum { IR_LOOP_EXIT = 1, IR_LOOP_SCAN = 2 };
enum { IR_SUM_SETTLED = 1 };                     /* flags of ADD, SUB: see ir_settle_sums */
enum { IR_CONTRACT_TA = 1, IR_CONTRACT_TB = 2 }; /* flags of CONTRACT */
/* Flag of CALL: it runs ahead, for the sizes of its results, what the program runs again behind it.
   So it may be dropped if nothing else is wanted of it, checks included. */
enum { IR_CALL_AHEAD = 1 };
/* Flag of TAPE_PUSH: arrays are copied onto the tape.  Without it the tape may hold the block of an
   array, until its own end: for what is pushed and popped many times that would be too long. */
enum { IR_TAPE_COPIES = 1 };
/* Flag of TAPE_PUSH, and of the TAPE_POP that reads it: what is pushed are floats, arrays of them
   and tapes, and their types go onto the tape with them, for TAPE_SUM.  Tangents and cotangents. */
enum { IR_TAPE_TYPED = 2 };

/* Flag of ACC_ADD: the cell holds zero, and nothing else is added to it.  All additions to an
   accumulator have it, and meet all its cells, or none has it. */
enum { IR_ACC_ONCE = 1 };

typedef enum IrTypeKind { IR_T_SCALAR, IR_T_ARRAY, IR_T_STR, IR_T_ACC, IR_T_TAPE } IrTypeKind;

/* Hash-consed in a module: equal types are the same pointer.  ACC is what WITH_ACC hands out. */
typedef struct IrTypeInfo {
    IrTypeKind kind;
    IrScalar scalar;           /* of SCALAR, ARRAY, ACC */
    uint8_t rank;              /* of ARRAY, ACC (0: a scalar's accumulator) */
    int64_t dims[IR_MAX_RANK]; /* what is known at compile time, else -1 */
} IrTypeInfo;
typedef const IrTypeInfo *IrType;

typedef struct IrInst IrInst;
typedef struct IrRegion IrRegion;
typedef struct IrFunc IrFunc;
typedef struct IrModule IrModule;

typedef struct IrValue {
    IrType type;
    IrInst *def;             /* NULL: a region's parameter */
    IrRegion *region;        /* whose parameter it is, if def is NULL */
    uint32_t index;          /* which result, which parameter */
    uint32_t id;             /* dense in a function from 0: index of side tables */
    const char *name;        /* a hint, may be NULL */
    struct IrValue *forward; /* set by ir_replace: what stands in its place; see ir_settle */
} IrValue;

struct IrInst {
    IrOp op;
    uint32_t flags;
    uint32_t noperands, nresults, nregions, nints;
    IrValue **operands;
    IrValue **results;
    IrRegion **regions;
    int64_t imm;
    double fimm;
    int64_t *ints;
    const char *text;
    IrFunc *func; /* of CALL */
    Pos pos;
    IrRegion *parent;
    IrInst *prev, *next;
};

struct IrRegion {
    IrValue **params;
    uint32_t nparams, params_cap;
    IrInst *first, *last; /* last: YIELD, once the region is complete */
    IrInst *owner;        /* NULL: the function's body */
    IrFunc *func;
};

typedef enum IrDerivMode {
    IR_DERIV_NONE,
    IR_DERIV_JVP,
    IR_DERIV_GRAD,
    IR_DERIV_FORWARD,
    IR_DERIV_REVERSE
} IrDerivMode;

/* A function to be made by differentiation.  Over base's flattened parameters and results, active
   ones being a subset of the float scalars, float arrays and tapes (in_active over parameters,
   out_active over results, as bytes 0/1): JVP      (params..., tangents of the active params...) ->
   (results..., tangents of the active results...) GRAD     (params..., cotangents of the active
   results...) -> (results..., cotangents of the active params...) FORWARD  (params...) ->
   (results..., tape) REVERSE  (tape, cotangents of the active results...) -> (cotangents of the
   active params...) Tangents and cotangents have the types and sizes of what they belong to. */
typedef struct IrDeriv {
    IrDerivMode mode;
    IrFunc *base;
    uint8_t *in_active, *out_active;
    uint32_t options; /* IR_STRONG_ZERO, ... */
} IrDeriv;
/* Also in the options: the number of lanes less one, from bit IR_LANES_SHIFT on: all tangents and
   cotangents have so many lanes (the tape has none: FORWARD is asked for without); and a checkpoint
   policy for loops without their own, as a number from bit IR_CHECKPOINT_SHIFT on (0:
   none given). */
enum { IR_STRONG_ZERO = 1, IR_LANES_SHIFT = 1, IR_CHECKPOINT_SHIFT = 8 };
static inline uint32_t ir_lanes_option(uint32_t lanes) {
    return (lanes - 1) << IR_LANES_SHIFT;
}
static inline uint32_t ir_option_lanes(uint32_t options) {
    return (options >> IR_LANES_SHIFT & (IR_MAX_LANES - 1)) + 1;
}
static inline uint32_t ir_options_without_lanes(uint32_t options) {
    return options & ~((uint32_t)(IR_MAX_LANES - 1) << IR_LANES_SHIFT);
}
/* What is kept of a LOOP for its reverse: imm of LOOP.  Positive: so many states. */
enum { IR_KEEP_DEFAULT = 0, IR_KEEP_SQRT = -1, IR_KEEP_ALL = -2, IR_KEEP_NONE = -3 };
static inline uint32_t ir_checkpoint_option(int64_t policy) {
    return policy ? (uint32_t)(policy + 4) << IR_CHECKPOINT_SHIFT : 0;
}
static inline int64_t ir_option_checkpoint(uint32_t options) {
    uint32_t coded = options >> IR_CHECKPOINT_SHIFT;
    return coded ? (int64_t)coded - 4 : IR_KEEP_DEFAULT;
}

enum {
    IR_FUNC_EXTERN = 1, /* a C function: no body */
    IR_FUNC_ROOT = 2,   /* kept: exported, main, test */
    IR_FUNC_INLINE = 4, /* to be inlined always (lambdas, small prelude functions) */
    IR_FUNC_PURE_EXTERN = 8,
    IR_FUNC_OPEN = 32, /* with EXTERN: no C function, but a derivative that another object gives */
    IR_FUNC_LIBRARY = 16, /* of the standard library: its errors are told at the user's call */
};

/* Of a kernel, or a derivative of one, that the program launches: how a device runs it. */
typedef struct IrLaunch {
    IrFunc *func;     /* of the module's KERNELS, for one invocation: the same parameters, and more
                         behind them, and results; NULL: there is none */
    const char *name; /* as messages call it */
    uint32_t n;       /* ranges; which parameters say where each begins and ends, and how many
                         of its indices make a block: */
    uint32_t begin[3], end[3], size[3];
    int32_t *memory; /* by result: the parameter of FUNC whose last value it is, or -1: a number
                        that all invocations add to */
    int32_t *like;   /* by result that is an array for which FUNC has a parameter more, to which all
                        add: the parameter that has its sizes; else -1 */
} IrLaunch;

struct IrFunc {
    const char *name; /* unique in the module */
    IrModule *module;
    IrRegion *body; /* NULL: extern, or a derivative not made yet */
    IrType *results;
    uint32_t nresults;
    IrType *params; /* the same as the body's parameters, also without a body */
    const char **param_names;
    uint32_t nparams;
    uint32_t flags;
    uint32_t nvalues; /* next value id */
    Pos pos;
    const char *symbol; /* C symbol of an extern function; of what meets an OPEN one */
    IrDeriv deriv;      /* mode NONE: an ordinary function */
    /* A custom rule: (params..., tangents of params with rule_active..., results...) -> tangents of
       the float results.  NULL: differentiated through its body. */
    IrFunc *rule;
    uint8_t *rule_active;
    /* Where the custom derivative says how cotangents go back: what is transposed calls this and
       leaves the rule alone.  (params..., saved..., results..., cotangents of the float results...)
       -> cotangents of the params with rule_active.  If augmented is there, it is called in place
       of the function, (params...) -> (results..., saved...); else nothing is saved. */
    IrFunc *reverse_rule, *augmented;
    uint32_t id;
    uint32_t copies;  /* how many names were made from this one */
    uint8_t purity;   /* the summary behind ir_func_pure; 0: not known */
    IrLaunch *launch; /* calls of it are launches; NULL: they are not */
};

/* A launch that stays on the CPU, and why. */
typedef struct IrUnlaunched {
    Pos pos;
    const char *name, *why;
} IrUnlaunched;

/* What an OPEN function asks for: a text in the language, in which m is the module; of a `split`,
   which of both. */
typedef struct IrRequest {
    const char *symbol, *module, *text;
    bool forward, reverse;
} IrRequest;

typedef struct IrBuilder IrBuilder; /* see build.h */

struct IrModule {
    Arena *arena;
    const Sources *sources;
    VEC(IrFunc *) funcs;
    Map types, by_name, derivs; /* by hash: see ir_find_func, ir_deriv */
    /* Rules of the scalar functions: (args..., tangents of all args..., result) -> tangent. */
    IrFunc *math_rules[IR_MATH_COUNT][2]; /* [0]: f32, [1]: f64 */
    VEC(struct IrExport *) exports;
    VEC(IrRequest) requests;
    bool unchecked;
    bool fused;        /* products that are added may round once (muladd.c), in code too */
    bool device;       /* functions are for one of many invocations, which share arrays */
    /* Parallel loops may run on a device beside the CPU, unless it is known that they have fewer
       indices; 0: none may. */
    int64_t launches;
    IrModule *kernels; /* what is launched, for one invocation each; owned; or NULL */
    VEC(IrUnlaunched) unlaunched; /* for remarks */
    bool remarks;                 /* differentiation reports what it decided */
    const char *explain; /* ... or writes it for the function of this name into EXPLANATION */
    StrBuf explanation;
};

/* ---- modules, types, functions ---- */
IrModule *ir_module_new(const Sources *sources);
void ir_module_free(IrModule *module);
IrType ir_scalar(IrModule *module, IrScalar scalar);
/* DIMS may be NULL: nothing known.  Rank 0 gives the scalar. */
IrType ir_array(IrModule *module, IrScalar scalar, uint32_t rank, const int64_t *dims);
/* TYPE, a float scalar, array or accumulator without lanes, or a tape (which stays as it is). */
IrType ir_type_with_lanes(IrModule *module, IrType type, uint32_t lanes);
IrType ir_str(IrModule *module);
IrType ir_tape(IrModule *module);
IrType ir_acc(IrModule *module, IrType of);
bool ir_is_float(IrType type); /* scalar, array or accumulator of f32, f64 */
/* May a mask of IrDeriv have it: float scalars and arrays, tapes (whose tangents are tapes). */
bool ir_can_be_active(IrType type);
bool ir_is_scalar(IrType type, IrScalar scalar);
/* Same but for what is known of dimensions, without contradiction. */
bool ir_compatible(IrType a, IrType b);
/* The type of X[i...] with COUNT indices, and of an array that adds leading dimensions. */
IrType ir_type_inner(IrModule *module, IrType type, uint32_t count);
IrType ir_type_outer(IrModule *module, IrType type, uint32_t count, const int64_t *dims);

/* The name is made unique by a suffix.  Makes the body region with its parameters. */
IrFunc *ir_func_new(IrModule *module, const char *name, uint32_t nparams, const IrType *params,
                    const char *const *param_names, uint32_t nresults, const IrType *results);
IrFunc *ir_find_func(const IrModule *module, const char *name); /* NULL: none */
/* More than the id of any function: the length of tables by IrFunc.id. */
uint32_t ir_func_ids(const IrModule *module);
/* The function for a derivative request, made (without a body) at its first asking. */
IrFunc *ir_deriv(IrModule *module, IrDerivMode mode, IrFunc *base, const uint8_t *in_active,
                 const uint8_t *out_active, uint32_t options);

/* ---- facts ---- */
typedef struct IrOpInfo {
    const char *name;
    uint32_t regions;
    bool pure, commutative, terminator, effect;
} IrOpInfo;
const IrOpInfo *ir_op_info(IrOp op);
bool ir_is_comparison(IrOp op);
const char *ir_reduce_name(IrReduce kind);
const char *ir_math_name(IrMath fn);
uint32_t ir_math_arity(IrMath fn);
const char *ir_scalar_name(IrScalar scalar);
uint32_t ir_scalar_bytes(IrScalar scalar); /* of all lanes */
uint32_t ir_scalar_align(IrScalar scalar); /* in memory: that of one lane */
bool ir_scalar_float(IrScalar scalar);
bool ir_scalar_signed(IrScalar scalar);
/* May be dropped when unused: the operation is pure and so is everything in its regions (a call:
   the callee, by a summary over the module; recursion counts as pure if nothing else is impure). */
bool ir_removable(const IrInst *inst);
/* Does the RUNTIME INST give the same whenever it is run: has it neither effects nor anything from
   outside of the program? */
bool ir_runtime_repeats(const IrInst *inst);
/* That summary: true if a call may be dropped.  It is made for all functions at the first asking
   and kept; a pass that adds effects to a function, or wants removed ones to be noticed, calls
   ir_forget_purity. */
bool ir_func_pure(IrFunc *func);
void ir_forget_purity(IrModule *module);
/* Constant of an integer or bool value; false if it is none. */
bool ir_const_int(const IrValue *value, int64_t *result);
bool ir_const_float(const IrValue *value, double *result);
/* Are these zeros as irb_zeros_like makes them? */
bool ir_is_zeros(const IrValue *x);
/* The value of dimension K of X if some instruction names it (BUILD, ASSUME, RESHAPE, UPDATE of
   one ...), else NULL. */
IrValue *ir_known_dim(const IrValue *x, uint32_t k);
/* Does the RESHAPE only add dimensions of size 1?  FROM: for each of its dimensions the operand's
   that it is, or IR_MAX_RANK for an added one. */
bool ir_adds_unit_dims(const IrInst *reshape, uint32_t *from);
/* Does VALUE belong to a region that encloses (or is) REGION? */
bool ir_visible(const IrValue *value, const IrRegion *region);
/* Calls VISIT for each operand used in REGION, at any depth, that is defined outside of it; once
   each, in order of first use. */
void ir_captures(const IrRegion *region, void (*visit)(IrValue *value, void *data), void *data);

/* ---- rewriting ---- */
/* All uses of OLD become uses of NEW, at the next ir_settle of the function (readers in between
   call ir_resolve on operands). */
void ir_replace(IrValue *old, IrValue *new_value);
IrValue *ir_resolve(IrValue *value);
void ir_settle(IrFunc *func);
/* Makes one operation of each product and sum of floats, but not of sums of two products
   (muladd.c). The products stay, for other uses.  True if something changed. */
bool ir_form_muladds(IrFunc *func);
/* Sums that are settled are left as they are by it, and so are copies of them. */
void ir_settle_sums(IrFunc *func, bool settled);
void ir_remove(IrInst *inst); /* unlinks; uses must be gone; parent becomes NULL */
void ir_move_before(IrInst *inst, IrInst *place);
/* Copies at the builder's place; MAP (old value to new) is read and extended.  ir_clone_body copies
   all but the final YIELD, whose operands it returns mapped (in the arena).  ir_clone_region copies
   all, to the end of INTO, and makes the parameters of FROM that MAP does not hold in INTO. */
IrInst *ir_clone(IrBuilder *b, const IrInst *inst, Map *map);
IrValue **ir_clone_body(IrBuilder *b, const IrRegion *region, Map *map);
void ir_clone_region(IrFunc *func, IrRegion *into, const IrRegion *from, Map *map);
/* Number of uses of each value by id, in an arena array of func->nvalues. */
uint32_t *ir_count_uses(const IrFunc *func, Arena *arena);
/* Calls VISIT for each instruction, outer before inner, in order.  VISIT may remove or move the
   instruction that it is given, and put others before it. */
void ir_walk(IrRegion *region, void (*visit)(IrInst *inst, void *data), void *data);

/* ---- text, verification, interpretation ---- */
void ir_print_module(StrBuf *out, const IrModule *module);
void ir_print_func(StrBuf *out, const IrFunc *func);
void ir_print_type(StrBuf *out, IrType type);
void ir_print_inst(StrBuf *out, const IrInst *inst); /* its first line, without a newline */
/* Reads what ir_print_module wrote, into a module that has no function of these names.  Ids may be
   left out ("%x"): such values are numbered behind the others.  On an error: false, and a message
   in the arena. */
bool ir_parse(IrModule *module, const char *text, size_t len, const char **message);
/* Checks types, counts, visibility, terminators, effects.  Returns NULL or the first fault. */
const char *ir_verify(IrModule *module);

#endif
