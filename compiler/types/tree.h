/* The typed tree: what checking makes of the AST, one tree for each instance of a function, and all
   that lowering reads.  Every choice is made here: which function is called, which conversions
   happen, what is lifted over arrays, what each name refers to, which sizes must be checked at run
   time.  Sugar is gone: arguments are in parameter order with defaults put in, `.0` and `.name` are
   part numbers, operators and their derivatives are calls of instances.

   Functions as values.  Each function value has a type of its own (TYPE_FNVAL), so the compiler
   always knows which function is called; at run time it is just the tuple of what it captured.  A
   function with parameters of function type is instantiated for the types of its arguments. */
#ifndef ADL_TYPES_TREE_H
#define ADL_TYPES_TREE_H

#include "types/type.h"

typedef struct Tree Tree;
typedef struct Instance Instance;

/* A variable, parameter or loop index of an instance. */
typedef struct Local {
    Sym name;
    Span span;
    Type type;
    bool var;      /* assignable */
    bool mut;      /* a mut parameter: its last value goes back to the caller */
    bool strided;  /* a parameter that C passes as a view */
    bool is_const; /* declared Const: each value stored is cut (stop) */
    /* Of an immutable i64 that is, or may be, an array size: what it is.  If this is a SIZE_VAR
       that is not known where the local gets its value, the local's value is what it stands for. */
    Size size;
    bool is_size;    /* a size of a parameter's type, not a parameter: has no storage, is read as
                        T_SIZE; in captures and their arguments it is an i64 */
    Instance *owner; /* the instance (lambda bodies: their own) that declares it */
    uint32_t id;     /* dense in the owner */
} Local;

typedef enum FnKind {
    FN_NAMED,
    FN_LAMBDA,
    FN_DERIV,
    FN_EXTERN,
    FN_ROW,   /* a row of math.def or builtins.def */
    FN_OPAQUE /* stands for any function of a type, where a generic function is checked by itself;
                 never in what is lowered */
} FnKind;

/* What a TYPE_FNVAL is. */
typedef struct FnValue {
    FnKind kind;
    const struct FnDecl *decl; /* NAMED, EXTERN */
    AstLambda *lambda;         /* LAMBDA */
    Instance *lambda_in;       /* the instance where it was written */
    /* Captured values, in the order in which the run-time tuple has them.  LAMBDA: variables of
       lambda_in (for nested lambdas possibly its captures).  DERIV: those of its operand. */
    uint32_t ncaptures;
    Local **captures; /* outer variables; types are theirs */
    const struct DerivSpec *deriv;
    int32_t math, builtin; /* ROW; also of a NAMED function with such a row beside it; else -1 */
    Instance *instance;    /* NAMED with type arguments, dot<f32>: that instance; else NULL */
    Type opaque;           /* OPAQUE: its TYPE_FN */
    const char *name;      /* for messages */
} FnValue;

/* ---- derivatives ---- */
typedef enum DerivPart {
    DERIV_PART_GRAD,
    DERIV_PART_JVP,
    DERIV_PART_FORWARD,
    DERIV_PART_REVERSE
} DerivPart;

/* A derivative of a function of another module, as it can be asked for again. */
typedef struct OpenRequest {
    const char *module, *function; /* "nn.layers", "loss" */
    const char *text;              /* "grad[primal] m.loss(Active, Const)": m is the module */
} OpenRequest;

enum { DERIV_MOST_LANES = 16 }; /* of one run of the base */

typedef struct DerivSpec {
    DerivPart part;
    const FnValue *base;
    Instance *base_instance; /* the instance that is differentiated */
    uint8_t *act;            /* ActKind of each parameter of the base, in order */
    bool primal, seed, strong_zero, holomorphic, deferred;
    bool effects;       /* the base has some: it runs once, with all lanes beside it */
    uint32_t width;     /* 0: no batch */
    int64_t checkpoint; /* for loops without a clause of their own; as in Tree */
    const bool
        *unmodified; /* FORWARD: of the base's parameters, those that a tape borrows; or NULL */
    /* Not NULL: the request as a text, which is met when objects are linked (see open.c). */
    const struct OpenRequest *open;
    /* How the derivative's own parameters and results come from the base's: */
    struct DerivSlot *params, *results;
    uint32_t nparams, nresults;
} DerivSpec;

typedef enum DerivRole {
    ROLE_PRIMAL,  /* parameter `of` of the base; as a result: the primal result */
    ROLE_SHADOW,  /* of parameter `of`: mut memory, added into by the law of shadows */
    ROLE_TANGENT, /* of parameter `of`; as a result: of the result */
    ROLE_SEED,
    ROLE_TAPE,
    ROLE_RESULT_SHADOW, /* zeros like the result */
    ROLE_COTANGENT,     /* result: derivative for parameter `of` */
    ROLE_RESULT,        /* in rules: the base's result */
    ROLE_SAVED,         /* in rules: what the augmented form saved */
} DerivRole;

typedef struct DerivSlot {
    DerivRole role;
    uint32_t of;
    Sym name;
    Type type;
    bool mut;
} DerivSlot;

/* ---- instances: one body for one choice of types ---- */
typedef enum RulePart { RULE_FORWARD, RULE_REVERSE, RULE_AUGMENTED } RulePart;

typedef enum InstanceKind {
    INSTANCE_FN,
    INSTANCE_LAMBDA,
    INSTANCE_EXTERN,
    INSTANCE_DERIV,
    INSTANCE_RULE
} InstanceKind;

struct Instance {
    InstanceKind kind;
    const char *name;          /* readable: "rk4", "lambda", "grad nll" */
    const struct FnDecl *decl; /* FN, EXTERN, RULE (of which function); NULL: a test, a constant, a
                                  wrapper of a row */
    const struct ConstDecl *constant; /* FN without parameters whose result is this constant */
    Span span;
    uint32_t ncaptures; /* LAMBDA and derivatives of it: the first parameters are captures */
    uint32_t nparams;   /* captures included */
    Local **params;
    uint8_t *act;       /* declared (or default) ActKind of each parameter; captures: CONST */
    uint8_t result_act; /* of the whole result; parts of a tuple: in its type */
    Type result;        /* TYPE_UNIT: none */
    Tree *body;         /* FN, LAMBDA, RULE */
    Local **locals;     /* all of them, by id */
    uint32_t nlocals;
    DerivSpec *deriv; /* DERIV */
    /* The parts of a derivative rule for this instance; NULL: not given.  RULE_ACTIVE: which
       parameters it covers. */
    Instance *rule, *rule_reverse, *rule_augmented;
    bool *rule_active;
    const struct RuleDecl *rule_decl;
    /* RULE: which part, of which instance (NULL: of a scalar function), what each parameter is. */
    RulePart rule_part;
    const Instance *rule_of;
    DerivSlot *slots;
    bool small;           /* worth inlining always: lambdas, one-line functions */
    bool checked, failed; /* failed: errors were reported in it */
    uint32_t id;
};

/* ---- expressions and statements ---- */
typedef enum TreeKind {
    /* values */
    T_INT,
    T_FLOAT,
    T_BOOL,
    T_STR,       /* constants of the node's type (value, real, text) */
    T_LOCAL,     /* local */
    T_SIZE,      /* an i64 that is a size of a type: size */
    T_OP,        /* op (AstOp, not MATMUL; AND OR only lifted), args; lifted: element by element */
    T_MATH,      /* builtin = row of math.def; lifted */
    T_SCALAR_FN, /* builtin = a SCALAR row of builtins.def; lifted */
    T_CAST,      /* args[0] to the node's type (element type if lifted) */
    T_LOGIC,     /* op AND or OR with short cut, on scalars */
    T_MATMUL,    /* args[0] @ args[1] */
    T_BUILTIN, /* builtin = row of builtins.def, args.  REDUCE, SCAN, ACCUMULATE, PARTS: args[0] is
                  the function (T_FN or a value of its type), instance what it is for the
                  element type (parts: for f64, instance32 for f32) */
    T_CALL,    /* instance, args in parameter order, captures first; lifted */
    T_FN,      /* a function value: args are its captures */
    T_TUPLE,   /* args; also structs and complex numbers */
    T_PART,    /* part `index` of args[0] (tuple, struct, function value; re, im of complex);
                  of an array of tuples or structs: the component array */
    T_ARRAY,   /* args are elements or sub-arrays; a new first dimension */
    T_INDEX,   /* args[0], subs */
    T_COMP,    /* heads, where, body -> array; with where of rank 1, whatever the number of heads */
    T_REDUCE,  /* reduce, heads, where, body -> scalar (or array, element by element).  Also of a
                  whole array: its heads are made up. */
    T_IF,      /* args[0], body, other (may be NULL for a unit if) */
    T_BLOCK,   /* stmts, body (value or NULL) */
    T_INTERPOLATE, /* args: str constants and values; forms[i]: printf form or NULL */
    /* statements: type is TYPE_UNIT */
    T_LET,    /* pattern = args[0] */
    T_ASSIGN, /* place, args[0]; op: compound operator or AST_OP_NONE.  Several places: a tuple
                 assignment, args[0] a tuple */
    T_EXPR,   /* args[0] for its effect */
    T_ASSERT, /* args[0]; args[1]: message (str) if nargs > 1; texts of both sides of a
                 comparison: compare (a, b evaluated values to show) */
    T_RETURN,
    T_BREAK,
    T_CONTINUE,
    T_FOR,   /* heads (one), body; checkpoint */
    T_WHILE, /* args[0], body; checkpoint */
    /* kernels */
    T_KERNEL,  /* the body of a kernel for all its indices: kernel, body */
    T_BARRIER, /* all invocations of a block have come here */
    T_POISON,
} TreeKind;

typedef enum SubKind { SUB_INDEX, SUB_RANGE, SUB_GATHER } SubKind;
typedef struct TreeSub {
    SubKind kind;
    Tree *lo, *hi, *step; /* INDEX, GATHER: lo.  RANGE: NULL where left out. */
    Span span;
} TreeSub;

/* A pattern with its variables; a record of what is taken apart. */
typedef struct TreePattern {
    Local *local;    /* a name */
    uint32_t nparts; /* a tuple or struct taken apart; 0 and no local: `_` */
    struct TreePattern *parts;
} TreePattern;

typedef struct TreeHead {
    TreePattern pattern;  /* an index (i64), or what an element of `array` is taken apart into */
    Tree *lo, *hi, *step; /* a range (step NULL: 1); lo NULL: from 0 */
    Tree *array;          /* for x in array */
    /* A range left out: from 0 to these sizes, which must agree: first the size, then the others
       with the texts of what they belong to are in the node's checks. */
    Size count; /* the number of trips as a size, if it is one; else NULL */
    Span span;
} TreeHead;

/* A variable or mut parameter, then fields, subscripts. */
typedef struct TreePlace {
    Local *local;
    uint32_t nsteps;
    struct TreeStep {
        bool is_part;
        uint32_t part; /* field or tuple part */
        uint32_t nsubs;
        TreeSub *subs;
    } * steps;
    Type type;
    Span span;
} TreePlace;

/* Two sizes that must be equal (run-time check), made when the node's arguments have been evaluated
   and before anything else of it is: before the loops of a COMP or REDUCE run, before a LET binds
   or an ASSIGN stores.  Those of a BLOCK are made when its value has been evaluated. */
typedef struct TreeCheck {
    Size a, b;
    const char *a_text, *b_text; /* "columns of X", "len(w)": what they belong to */
    const char *message;         /* the whole template with {0} and {1} for the values */
    Span span;
} TreeCheck;

/* Two arguments of a call, of which at least one is mut, that may not share memory: they are places
   of one variable with indices known at run time (run-time check). */
typedef struct TreeOverlap {
    uint32_t a, b; /* parameter numbers; TREE->places of both */
    Span span;
} TreeOverlap;

typedef enum TreeReduce {
    REDUCE_SUM,
    REDUCE_PROD,
    REDUCE_ALL,
    REDUCE_ANY,
    REDUCE_COUNT,
    REDUCE_ARGMIN,
    REDUCE_ARGMAX,
    REDUCE_MIN,
    REDUCE_MAX
} TreeReduce;

struct Tree {
    TreeKind kind;
    Type type;
    Span span;
    uint32_t nargs;
    Tree **args;
    uint32_t nchecks;
    TreeCheck *checks;
    bool lifted; /* element by element over the array arguments (at least one) */
    int32_t op;  /* AstOp */
    int32_t builtin;
    TreeReduce reduce;
    int64_t value; /* INT, BOOL */
    double real;   /* FLOAT (already rounded if f32) */
    AstText text;  /* STR */
    Local *local;
    Size size;
    Instance *instance;   /* CALL; FN: NULL */
    Instance *instance32; /* BUILTIN PARTS */
    /* CALL: for a mut parameter (by parameter number) the place that is passed; else NULL (but see
       overlaps).  args[i] reads the same place: evaluate one of them.  The array is NULL if there
       is no mut parameter. */
    TreePlace **places;
    uint32_t noverlaps;
    TreeOverlap *overlaps;
    uint32_t index; /* PART */
    uint32_t nsubs;
    TreeSub *subs; /* INDEX */
    uint32_t nheads;
    TreeHead *heads;
    Tree *where, *body, *other;
    uint32_t nstmts;
    Tree **stmts;
    const char **forms;
    TreePattern pattern; /* LET */
    uint32_t nplaces;
    TreePlace *targets;              /* ASSIGN */
    int64_t checkpoint;              /* FOR, WHILE: 0 none given, > 0 k states, or CHECKPOINT_... */
    bool shared;                     /* LET without a value: an array that a block has once */
    bool atomic;                     /* ASSIGN: by any number of invocations at once */
    const struct TreeKernel *kernel; /* KERNEL */
};

/* What a T_KERNEL repeats its body for. */
typedef struct TreeKernel {
    uint32_t n;                         /* indices, 1 to 3 */
    Local *begin[3], *end[3], *size[3]; /* parameters: the ranges, and how large a block is */
    Local *index[3], *local[3], *block[3];
    bool blocks;   /* something in it knows of blocks */
    bool barriers; /* and of these, if there are barriers: */
    bool *once;    /* by id of a local: has one value for a whole block, is computed once for it */
    bool *kept;    /* by id: belongs to one invocation, which needs it behind a barrier */
} TreeKernel;

/* What a statement is that stands between barriers; see types/uniform.c. */
typedef enum KernelStep {
    STEP_EACH,   /* for each invocation */
    STEP_FIRST,  /* once for the block, before what is gathered so far */
    STEP_ONCE,   /* once for the block, behind it */
    STEP_SHARED, /* the declaration of a shared array */
    STEP_BARRIER,
    STEP_INSIDE, /* it has barriers inside */
} KernelStep;
KernelStep kernel_step(const TreeKernel *kernel, const Tree *stmt);
/* The statement without what stands round it as an expression. */
const Tree *kernel_bare(const Tree *stmt);
bool tree_has_barrier(const Tree *t);
/* The kernel behind an instance or its derivatives; NULL for a reverse pass, which has no ranges.
 */
const struct FnDecl *kernel_behind(const Instance *inst);

/* ---- construction (tree.c) ---- */
Tree *tree_new(Arena *arena, TreeKind kind, Type type, Span span);
Tree *tree_new_args(Arena *arena, TreeKind kind, Type type, Span span, uint32_t n,
                    Tree *const *args);
/* An indented dump. */
void instance_dump(StrBuf *out, const Instance *instance);

enum { CHECKPOINT_SQRT = -1, CHECKPOINT_ALL = -2, CHECKPOINT_NONE = -3 };
enum { CHECKPOINT_MOST = 1000000 };

/* A COMP whose body is an array, where a size of the body's type differs from one iteration to the
   next as far as is known: the node's own type then has a variable of its own there, and all
   iterations must agree (run-time check). */

/* What an array size that first appears in some value's type is at run time: whoever lowers a
   value whose type has a SIZE_VAR not known yet binds it to the value's own dimension. */

#endif
