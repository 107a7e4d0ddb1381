/* What the files of lowering share.

   A value of any type is a Vals: its parts in order, flattened.  The Shape of a type tells what the
   parts are.  An Env binds variables (by Local) and sizes (by the id of a size variable) to Vals; a
   trail of what was bound lets a region be left with everything as it was before. */
#ifndef ADL_LOWER_INTERNAL_H
#define ADL_LOWER_INTERNAL_H

#include "base/fatal.h"
#include "ir/build.h"
#include "lower/lower.h"
#include "names/decl.h"

/* Kinds of run-time errors, as the runtime numbers them (flags of CHECK and FAIL). */
enum {
    LOWER_ERROR_SIZE = 2,
    LOWER_ERROR_INDEX = 1,
    LOWER_ERROR_ASSERT = 3,
    LOWER_ERROR_DOMAIN = 4,
    LOWER_ERROR_ARGUMENT = 8,
    LOWER_ERROR_EMPTY = 10,
    LOWER_ERROR_OVERFLOW = 11
};

/* Rows of lang/builtins.def. */
enum {
#define BUILTIN(name, text, min, max) ROW_##name,
#include "lang/builtins.def"
#undef BUILTIN
    ROWS_END
};

typedef struct Vals {
    IrValue **at;
    uint32_t n;
} Vals;

/* One part of a flattened type. */
typedef struct Leaf {
    IrType type;     /* with what is known of its sizes */
    IrTypeKind kind; /* SCALAR, ARRAY, STR, TAPE */
    IrScalar scalar;
    uint32_t rank;
    const Size *dims; /* rank of them */
} Leaf;

typedef struct Shape {
    uint32_t n;
    Leaf *leaf;
    bool has_sizes; /* some dimension is not a constant */
    bool strings;   /* holds an array of strings, which the IR cannot */
} Shape;

/* One lowering of a program. */
/* A derivative that is left open, and the function that it is of. */
typedef struct Open {
    IrFunc *func, *base;
} Open;

typedef struct Lower {
    IrModule *module;
    Arena *arena; /* of this lowering */
    const Program *program;
    const Sources *sources;
    Diags *diags;
    const LowerOptions *options;
    Map funcs;     /* Instance * -> IrFunc * */
    Map shapes;    /* Type -> Shape * */
    Map flows;     /* Tree * -> FlowInfo, see flow.c */
    Map c_structs; /* StructDecl * -> IrCStruct *, see c-struct.c */
    VEC(Instance *) pending;
    VEC(const Instance *) launched; /* with options->launches */
    VEC(Open) open;
} Lower;

/* A variable of the environment. */
typedef struct Slot {
    Vals value;         /* at NULL: none yet */
    const Shape *shape; /* of variables; NULL for sizes */
    bool vague;         /* may hold emit_nothing, of other sizes than its type says */
} Slot;

typedef struct Trail {
    uint32_t slot;
    Vals old;
} Trail;

enum { SLOT_NONE = 0 }; /* slots count from 1 */

/* Loops and the function itself: what break, continue and return leave. */
typedef struct Exit {
    struct Exit *up;     /* the loop round this one; NULL at the function */
    uint32_t skip, done; /* flags: the rest of this trip is skipped; the loop ends */
} Exit;

/* One function that is being lowered. */
typedef struct Fn {
    Lower *lw;
    const Instance *inst;
    IrFunc *func;
    IrBuilder b;
    Map index; /* of Locals and sizes -> slot */
    VEC(Slot) slots;
    VEC(Trail) trail;
    Exit *exit;    /* the innermost */
    uint32_t ret;  /* slot of the return value */
    Map nonneg;    /* IrValue * that are known not to be negative */
    Map hoisted;   /* Tree * that was evaluated before its place -> slot */
    Map constants; /* Instance * of constants -> Vals *, made where the function begins */
} Fn;

/* ---- shape.c: types and parts ---- */
const Shape *shape_of(Lower *lw, Type type);
uint32_t shape_count(Lower *lw, Type type);
/* Where part INDEX of TYPE (tuple, struct, complex, function value, or array of those) begins, and
   how many parts of the flattened form it has. */
void shape_part(Lower *lw, Type type, uint32_t index, uint32_t *begin, uint32_t *count);
bool type_is_complex(Type type);       /* scalar or array of complex */
Type type_element(Type type);          /* of an array; else the type itself */
IrScalar ir_of_scalar(Scalar scalar);  /* of a scalar that is no complex */
bool scalar_is_store(IrScalar scalar); /* f16, bf16 */
bool scalar_is_real_float(IrScalar scalar);
bool scalar_is_integer(IrScalar scalar);
Vals vals_new(Lower *lw, uint32_t n);
Vals vals_one(Lower *lw, IrValue *value);
Vals vals_slice(Vals vals, uint32_t begin, uint32_t count);
Vals vals_join(Lower *lw, uint32_t n, const Vals *parts);
Vals vals_copy(Lower *lw, Vals vals);
/* A text that lives as long as the module. */
const char *module_text(Lower *lw, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- env.c ---- */
uint32_t env_slot(Fn *f, const Local *local);     /* SLOT_NONE: never bound */
uint32_t env_new_slot(Fn *f, const Shape *shape); /* a variable without a name */
void env_set(Fn *f, uint32_t slot, Vals value);
Vals env_get(const Fn *f, uint32_t slot);
void env_bind(Fn *f, const Local *local, Vals value);
uint32_t env_mark(const Fn *f);
void env_rollback(Fn *f, uint32_t mark);
IrValue *env_size(const Fn *f, uint32_t id); /* NULL: not known */
/* Forgets the sizes that were bound since MARK; variables stay as they are. */
void env_forget_sizes(Fn *f, uint32_t mark);
void env_bind_size(Fn *f, uint32_t id, IrValue *value);
/* If LOCAL is what a size that is not known yet stands for, it is now. */
void env_note_size(Fn *f, const Local *local, Vals value);

/* ---- size.c ---- */
/* The value of a size, or NULL if it holds a variable that is not bound. */
IrValue *size_value(Fn *f, Size size);
/* The same as a dimension: of the range 1..0 the size is -1, but the dimension 0. */
IrValue *size_dim(Fn *f, Size size);
/* Binds what is not known of the sizes in TYPE to the dimensions of VALS. */
void size_bind(Fn *f, Type type, Vals vals);
/* Tells the IR the sizes of TYPE that are known here (parameters, results of calls, loops). */
Vals size_assume(Fn *f, Type type, Vals vals);
Vals size_assume_shape(Fn *f, const Shape *shape, Vals vals);
void size_checks(Fn *f, const Tree *t);
bool size_nonneg(Fn *f, IrValue *value);
void size_note_nonneg(Fn *f, IrValue *value);
/* The same where the reason is a check that was made here. */
void size_note_checked(Fn *f, IrValue *value);
/* VALUE, checked not to be negative; WHAT: "the size of zeros". */
IrValue *size_check_nonneg(Fn *f, IrValue *value, const char *what);
/* Is SIZE read from dimension K of X? */
bool size_is_dim_of(const IrValue *size, const IrValue *x, uint32_t k);
/* The dimensions of an array value. */
void size_dims(Fn *f, IrValue *x, IrValue **dims);

/* ---- emit.c: small pieces of IR ---- */
IrValue *emit_int(Fn *f, int64_t value);
IrValue *emit_bool(Fn *f, bool value);
bool emit_is_int(IrValue *value, int64_t what);
IrValue *emit_add(Fn *f, IrValue *a, IrValue *b); /* i64, folded */
IrValue *emit_sub(Fn *f, IrValue *a, IrValue *b);
IrValue *emit_mul(Fn *f, IrValue *a, IrValue *b);
IrValue *emit_binary(Fn *f, IrOp op, IrValue *a, IrValue *b);
IrValue *emit_to_i64(Fn *f, IrValue *value);
IrValue *emit_and(Fn *f, IrValue *a, IrValue *b); /* bool, folded */
IrValue *emit_or(Fn *f, IrValue *a, IrValue *b);
IrValue *emit_not(Fn *f, IrValue *a);
/* CHECK without --unchecked; nothing if COND is true. */
void emit_check(Fn *f, IrValue *cond, uint32_t error, const char *text, uint32_t n,
                IrValue *const *args);
void emit_check_index(Fn *f, IrValue *i, IrValue *n, const char *name);
/* Trips of a range, 0 or less if there are none; STEP NULL: 1; 0 is checked. */
IrValue *emit_trip_count(Fn *f, IrValue *lo, IrValue *hi, IrValue *step);
IrValue *emit_at_least_zero(Fn *f, IrValue *count);
/* x[i...], or x if there are no indices. */
IrValue *emit_index(Fn *f, IrValue *x, uint32_t n, IrValue *const *indices);
IrValue *emit_fill(Fn *f, IrValue *scalar, uint32_t n, IrValue *const *sizes);
/* A value that stands where there is none: zeros, empty arrays. */
Vals emit_nothing(Fn *f, const Shape *shape);
/* BUILD over SIZES whose body RUN fills: it gets the indices and returns what is yielded.  SHAPE
   tells the results (the sizes in front included).  INNER: what the body's arrays have for sizes;
   NULL if all are scalars. */
typedef Vals (*EmitBody)(Fn *f, IrValue *const *indices, void *data);
/* The sizes of what RUN returns, behind the first FRONT dimensions of SHAPE: from the types, or by
   running it for the first of N places (false). */
bool emit_inner_sizes(Fn *f, uint32_t n, IrValue *const *sizes, const Shape *shape, uint32_t front,
                      EmitBody run, void *data, IrValue **inner);
Vals emit_build(Fn *f, uint32_t n, IrValue *const *sizes, const Shape *shape, EmitBody run,
                void *data);
/* Reports that SPAN cannot be compiled yet. */
void lower_unsupported(Fn *f, Span span, const char *what);
/* The source text of a span on one line, shortened; with braces doubled for templates. */
const char *emit_source_text(Fn *f, Span span, bool template);

/* ---- scan.c: questions about trees ---- */
/* Calls VISIT for each tree directly below T. */
void scan_children(const Tree *t, void (*visit)(Tree *child, void *data), void *data);
typedef VEC(uint32_t) SlotSet;
/* Adds the slots of variables bound now that T assigns. */
void scan_assigned(Fn *f, const Tree *t, SlotSet *set);
void slots_add(SlotSet *set, uint32_t slot);
bool scan_uses(const Tree *t, const TreePattern *patterns, uint32_t n);
enum { EXIT_RETURN = 1, EXIT_BREAK = 2, EXIT_CONTINUE = 4 };
uint32_t scan_exits(Lower *lw, const Tree *t);
typedef enum Flow { FLOW_NORMAL, FLOW_MAYBE, FLOW_EXIT } Flow;
Flow scan_flow(Lower *lw, const Tree *t);
/* Cheap, pure, total: may be computed without need. */
bool scan_is_simple(const Tree *t);

/* ---- merge.c: ifs ---- */
typedef void (*MergeRun)(Fn *f, bool taken, void *data);
/* An IF whose sides RUN fills; the slots of SET get what the side that ran left in them. */
void merge_if(Fn *f, IrValue *cond, const SlotSet *set, MergeRun run, void *data);

/* ---- expr.c ---- */
Vals lower_expr(Fn *f, const Tree *t);
IrValue *lower_scalar(Fn *f, const Tree *t);       /* of one part */
Vals lower_args(Fn *f, const Tree *t, Vals *args); /* all args, then the checks */
Vals lower_take_part(Fn *f, Type type, Vals vals, uint32_t index);
void lower_bind_pattern(Fn *f, const TreePattern *pattern, Type type, Vals vals);

/* ---- control.c, loop.c ---- */
/* A function's body: its value is in f->ret, if it has one. */
void lower_body(Fn *f, const Tree *body);
/* A block or `if` as a value, without exits of interest. */
Vals lower_block(Fn *f, const Tree *t);
Vals lower_if(Fn *f, const Tree *t);
void lower_stmt(Fn *f, const Tree *t);
void lower_for(Fn *f, const Tree *t);
void lower_while(Fn *f, const Tree *t);
IrValue *flag_value(const Fn *f, uint32_t slot);
/* A LOOP that carries the slots CARRIED; between open and close the body is made.  Returns the
   number of the trip.  GO: NULL, or with HAS_EXIT what the body yields first. */
typedef struct Loop {
    SlotSet carried; /* freed by loop_close */
    IrInst *inst;
    IrRegion *outside;
    uint32_t mark;
} Loop;
IrValue *loop_open(Fn *f, Loop *loop, IrValue *count, bool has_exit);
void loop_close(Fn *f, Loop *loop, IrValue *go);
/* The body of a loop: runs BODY with exits to EXIT. */
void lower_loop_body(Fn *f, const Tree *body, Exit *exit);

/* ---- kernel.c ---- */
void lower_kernel(Fn *f, const Tree *t);

/* ---- program.c ---- */
/* Lowers what was asked for so far. */
void lower_pending(Lower *lw);
Lower lower_open(const Program *program, const Sources *sources, Diags *diags,
                 const LowerOptions *options);
/* The module of all that was asked for; LW is gone then. */
IrModule *lower_close(Lower *lw);

/* ---- c-device.c ---- */
/* INNER, which INST is, with a parameter more for each result that is ADDED, an array: it becomes
   the sum of both. */
IrFunc *device_adding(Lower *lw, const Instance *inst, IrFunc *inner, const bool *added,
                      const char *const *names);

/* ---- launch.c ---- */
/* Notes that INST, which FUNC is, is called: a kernel is launched by it. */
void launch_note(Lower *lw, const Instance *inst, IrFunc *func);
/* Lowers what was noted for a device, into a module of its own. */
void launch_lower(Lower *lw);

/* ---- scalar.c ---- */
/* op on scalars (complex: two parts); T: for positions and texts. */
Vals scalar_op(Fn *f, AstOp op, Type result, const Type *types, const Vals *args);
Vals scalar_math(Fn *f, int32_t row, Type result, const Type *types, const Vals *args);
Vals scalar_builtin(Fn *f, int32_t row, Type result, const Type *types, const Vals *args);
Vals scalar_cast(Fn *f, Type to, Type from, Vals value);
IrValue *scalar_equal(Fn *f, Type type, Vals a, Vals b);  /* of any type without arrays */
Vals scalar_const(Fn *f, Type type, int64_t i, double d); /* scalars; complex: imaginary part 0 */

/* ---- complex.c ---- */
Vals complex_op(Fn *f, AstOp op, Type result, const Type *types, const Vals *args);

/* ---- lift.c ---- */
typedef Vals (*LiftFn)(Fn *f, const Vals *args, void *data);
/* RUN on scalars, or on each element where some argument is an array but should not be. */
Vals lift(Fn *f, Type result, uint32_t n, const Vals *args, const bool *lifted, LiftFn run,
          void *data);
Vals lift_op(Fn *f, AstOp op, Type result, const Type *types, const Vals *args);
Vals lower_lifted(Fn *f, const Tree *t);
Vals lower_matmul(Fn *f, Type result, const Type *types, const Vals *args, uint32_t flags);

Vals emit_stop(Fn *f, Vals vals); /* cut from every derivative */

/* ---- index.c ---- */
typedef struct Sub {
    SubKind kind;
    IrValue *at;                   /* INDEX; GATHER: the array of indices */
    IrValue *start, *count, *step; /* RANGE (step NULL: 1); GATHER: count */
    const char *name;              /* of the array, for errors */
} Sub;
/* Evaluates and checks subscripts of an array whose dimensions DIMS are. */
Sub *lower_subs(Fn *f, const TreeSub *subs, uint32_t n, IrValue *const *dims, const char *name);
IrValue *index_read(Fn *f, IrValue *x, const Sub *subs, uint32_t n);
/* X with V there, an array of the shape of what the subscripts select, or a scalar. */
IrValue *index_write(Fn *f, IrValue *x, const Sub *subs, uint32_t n, IrValue *v);
Vals lower_index(Fn *f, const Tree *t);

/* ---- place.c ---- */
typedef struct Place Place;
Place *lower_place_open(Fn *f, const TreePlace *tree); /* evaluates the subscripts, once */
Vals lower_place_read(Fn *f, Place *place);
void lower_place_write(Fn *f, Place *place, Vals v);
/* Checks that two places of one variable share nothing. */
void lower_place_apart(Fn *f, const Place *a, const Place *b);
void lower_assign(Fn *f, const Tree *t, Vals value);

/* ---- comp.c, reduce.c ---- */
typedef struct Head {
    const TreeHead *tree;
    Vals array;                 /* for x in array */
    IrValue *lo, *step, *count; /* step NULL: 1 */
} Head;
void head_open(Fn *f, const TreeHead *tree, Head *head);
void head_bind(Fn *f, const Head *head, IrValue *t);
bool head_depends(const TreeHead *head, const TreeHead *on);
IrValue *head_index(Fn *f, const Head *head, IrValue *t); /* lo + t * step */
Vals lower_comp(Fn *f, const Tree *t);
Vals lower_reduce(Fn *f, const Tree *t);
/* What changes nothing under a reduction. */
IrValue *reduce_neutral(Fn *f, IrReduce kind, IrScalar scalar);
/* The indices at which WHERE holds, an i64 array. */
IrValue *comp_filter(Fn *f, const Head *head, const Tree *where);

/* ---- call.c ---- */
IrFunc *lower_func(Lower *lw, const Instance *inst); /* queued at its first asking */
Vals lower_call(Fn *f, const Tree *t);
/* A call of a function value: captures flattened, then the arguments. */
Vals call_closure(Fn *f, const Instance *inst, Vals captures, uint32_t n, const Vals *args);
/* A call on values: captures and arguments in order; results without `mut` finals. */
Vals call_values(Fn *f, const Instance *inst, uint32_t n, const Vals *args);

/* ---- builtin.c, combine.c, parts.c, text.c ---- */
Vals lower_builtin(Fn *f, const Tree *t);
Vals builtin_reduce(Fn *f, const Tree *t);
Vals builtin_scan(Fn *f, const Tree *t);
Vals builtin_accumulate(Fn *f, const Tree *t);
Vals builtin_parts(Fn *f, const Tree *t);
Vals builtin_dot_parts(Fn *f, const Tree *t);
Vals builtin_near(Fn *f, const Tree *t);
IrValue *near_of(Fn *f, const Tree *t, const Vals *args); /* of a NEAR whose arguments are these */
Vals builtin_text(Fn *f, const Tree *t); /* print, files and the rest of the world */
IrValue *text_of(Fn *f, Type type, Vals value, const char *form);
Vals lower_interpolate(Fn *f, const Tree *t);
void lower_assert(Fn *f, const Tree *t);

/* ---- func.c, deriv.c, rule.c, export.c ---- */
Fn *fn_open(Lower *lw, const Instance *inst, IrFunc *func);
void fn_close(Fn *f);
/* Binds the instance's parameters to OWN; lowers its body, gives what it returns. */
void fn_bind_params(Fn *f, const Vals *own);
Vals fn_value(Fn *f);
void lower_instance(Lower *lw, const Instance *inst);
void lower_deriv(Lower *lw, const Instance *inst);
/* Marks which parts of a result are in R' of a derivative, from *AT on; moves *AT behind them. */
void deriv_mark_seed(Lower *lw, Type type, uint8_t act, bool *marks, uint32_t *at);
/* Zeros like X, whose part LEAF describes; X may be NULL. */
IrValue *deriv_zero(Fn *f, IrValue *x, const Leaf *leaf);
void lower_rules(Lower *lw);
/* The function for a part of a rule, its body not lowered; and that. */
IrFunc *rule_func(Lower *lw, const Instance *rule, const char *name);
void lower_rule(Lower *lw, const Instance *rule);
void rule_attach(Lower *lw, const Instance *inst, IrFunc *func);
void export_roots(Lower *lw);
void export_put(Lower *lw, const Root *root, IrExport *export);
/* A function like INST's, which checks first that the sizes of what it gets agree. */
IrFunc *export_entry(Lower *lw, const Instance *inst, const char *name);

/* ---- open.c: derivatives that are made when objects are linked ---- */
/* FUNC has no body then; what has to be asked is noted. */
void open_request(Lower *lw, const Instance *inst, IrFunc *func);
/* What is known of the effects of such functions, when all others are lowered. */
void open_effects(Lower *lw);
void export_open(Lower *lw, const Root *root);

/* ---- check.c ---- */
void export_check(Lower *lw, const Root *root); /* what `dslc gradcheck` compares */

/* ---- sizes on tapes (tape.c); IN_SEED: which leaves of the base's result are in R' ---- */
/* The tape with the base's sizes on top; RESULTS: the base's. */
IrValue *tape_put_sizes(Fn *f, const Instance *base, IrValue *tape, Vals results,
                        const bool *in_seed);
/* The tape below them; binds the sizes, and checks those bound already and the seed (LANES: 1 if it
   has a leading dimension for them). */
IrValue *tape_take_sizes(Fn *f, const Instance *base, IrValue *tape, Vals seed, uint32_t lanes,
                         const bool *in_seed);

/* ---- what the tapes of C programs are of (tape-kind.c): not 0, but for a tape of any type ---- */
/* Of the NTH tape in parameter I, in the result. */
int64_t tape_kind_of_param(const Lower *lw, const Instance *inst, uint32_t i, uint32_t nth);
int64_t tape_kind_of_result(const Lower *lw, const Instance *inst, uint32_t nth);

#endif
