/* What the files of the checker call of each other.  One FnChecker walks one body; everything else
   is the Checker's (checker.h). */
#ifndef ADL_TYPES_INTERNAL_H
#define ADL_TYPES_INTERNAL_H

#include "types/checker.h"

/* ---- errors ---- */
Tree *tree_poison(FnChecker *f, Span span);
static inline bool is_poison(Type t) {
    return t->kind == TYPE_POISON;
}
const char *tt(FnChecker *f, Type type); /* type_text */

/* ---- trees ---- */
Tree *make(FnChecker *f, TreeKind kind, Type type, Span span);
Tree *make_args(FnChecker *f, TreeKind kind, Type type, Span span, uint32_t n, Tree *const *args);
Tree *make_int(FnChecker *f, int64_t value, Type type, Span span);
Tree *make_size(FnChecker *f, Size size, Span span);
Tree *make_cast(FnChecker *f, Tree *value, Scalar to, Span span);
Tree *make_local(FnChecker *f, Local *local, Span span);
/* Part INDEX of a tuple, struct or record, or of an array of them; of a function value, what it
   captured. */
Tree *make_part(FnChecker *f, Tree *base, uint32_t index, Span span);
void add_check(FnChecker *f, Tree *node, TreeCheck check);

/* ---- types in short ---- */
static inline bool is_array(Type t) {
    return t->kind == TYPE_ARRAY;
}
static inline bool is_scalar(Type t) {
    return t->kind == TYPE_SCALAR;
}
static inline bool is_scalar_of(Type t, Scalar s) {
    return t->kind == TYPE_SCALAR && t->scalar == s;
}
static inline Type elem_of(Type t) {
    return t->kind == TYPE_ARRAY ? t->elem : t;
}
/* A scalar or an array of scalars. */
static inline bool is_scalar_like(Type t) {
    return elem_of(t)->kind == TYPE_SCALAR;
}
bool is_integer(Type t), is_floating(Type t), is_complex(Type t), is_numeric(Type t),
    is_bool(Type t);
Type ty_i64(FnChecker *f), ty_f64(FnChecker *f), ty_bool(FnChecker *f), ty_str(FnChecker *f),
    ty_unit(FnChecker *f), ty_poison(FnChecker *f);

/* ---- expressions: EXPECTED is a hint (NULL: none; TYPE_POISON in it: unknown there).  It decides
   the types of literals and lambdas and nothing else; require() enforces ---- */
Tree *check_expr(FnChecker *f, AstNode *node, Type expected);
/* The same where a value is needed: a unit is an error. */
Tree *check_value(FnChecker *f, AstNode *node, Type expected);
/* A bool for if, while, assert. */
Tree *check_condition(FnChecker *f, AstNode *node, const char *what);
/* An i64-like integer scalar, with a message that says it is WHAT. */
Tree *check_integer(FnChecker *f, AstNode *node, const char *what);
/* Is it made of literals only, so that its type comes from its context? */
bool is_flexible(FnChecker *f, const AstNode *node);
bool is_zeros_call(FnChecker *f, const AstCall *call); /* of `zeros`, `ones` */
/* The rank of an argument that is made of literals: they are checked for it, then again for the
   parameter, which gives them their type. */
uint32_t literal_rank(FnChecker *f, AstNode *node);
/* What an expression made of literals is without a context, by its literals. */
typedef enum Natural { NATURAL_INT, NATURAL_FLOAT, NATURAL_COMPLEX, NATURAL_COUNT } Natural;
Natural natural_of(FnChecker *f, AstNode *node);
/* Does A, being made of literals, take the type that B has?  So B is checked first. */
bool literal_after(FnChecker *f, AstNode *a, AstNode *b);
bool is_function_like(FnChecker *f, const AstNode *node); /* a lambda, derivative, function name */
Tree *check_block(FnChecker *f, AstBlock *block, Type expected, bool want_value);
Tree *check_if(FnChecker *f, AstIf *node, Type expected, bool want_value);
Tree *check_str(FnChecker *f, AstStr *node);
Tree *check_literal(FnChecker *f, AstNode *node, Type expected, bool negative);
Tree *check_name(FnChecker *f, AstName *node, Type expected);
Tree *check_field(FnChecker *f, AstField *node, Type expected);
Tree *check_type_apply(FnChecker *f, AstTypeApply *node); /* dot<f32> */
Tree *const_tree(FnChecker *f, const ConstDecl *decl, Span span);
/* The module that a path names if no local hides it, else NULL; what it has under a name. */
Module *module_of(FnChecker *f, const AstNode *node);
NameLookup module_lookup(FnChecker *f, Module *m, AstIdent name);
int32_t find_part(Type type, Sym name); /* -1: none */
Tree *check_array(FnChecker *f, AstArray *node, Type expected);
Tree *check_tuple(FnChecker *f, AstTuple *node, Type expected);
Tree *check_unary(FnChecker *f, AstUnary *node, Type expected);
Tree *check_binary(FnChecker *f, AstBinary *node, Type expected);
/* An operator on checked operands; LEFT_AST and RIGHT_AST for messages, may be NULL. */
Tree *op_binary(FnChecker *f, AstOp op, Tree *left, Tree *right, Span span, const AstNode *left_ast,
                const AstNode *right_ast);
Tree *check_index(FnChecker *f, AstIndex *node);
/* Subscripts of a value of type BASE; sets the type of the result. */
bool check_subs(FnChecker *f, Type base, const AstList *subs, TreeSub **out, Type *result,
                Span span, const AstNode *base_ast, bool place);
Tree *check_comp(FnChecker *f, AstComp *node, Type expected);
Tree *check_lambda(FnChecker *f, AstLambda *node);
Tree *check_call(FnChecker *f, AstCall *node, Type expected);
/* ---- kernels: kernel.c, uniform.c ---- */
Tree *check_launch(FnChecker *f, AstLaunch *node, Type expected);
Tree *check_shared(FnChecker *f, AstShared *node);
void check_kernel_body(FnChecker *f, AstBlock *block);
/* `barrier()`, `atomic_add`, `local(i)` and their like; NULL: it is none of these. */
Tree *check_kernel_call(FnChecker *f, Sym name, AstCall *call);
/* Reports a kernel that is called, and a launch of what is none. */
bool check_launched(FnChecker *f, bool kernel, const char *name, Span span);
const FnDecl *kernel_of_value(const FnValue *fn);
/* What is one for a block and what is kept behind barriers; reports what cannot be. */
void check_uniform(FnChecker *f, TreeKernel *kernel, const Tree *body);

/* A scalar known to be non-NULL turned into VALUE with activity cut (BUILTIN STOP). */
Tree *make_stop(FnChecker *f, Tree *value);

/* ---- conversions that need no operation, and sizes that must agree ---- */
typedef struct Require {
    DiagCode code;      /* of a wrong type */
    DiagCode size_code; /* of a wrong size */
    const char *what;   /* "argument `x` of `f`", "the value of `y`", "the result" */
    const char *name;   /* what the wanted sizes belong to, "`x`", or NULL */
    const char *have;   /* what the sizes of the value belong to, or NULL */
    Map *bind;          /* variables of WANT that take the sizes of the value: id -> Size, or the
                           variable itself while it is open; NULL: none */
} Require;
/* VALUE as a WANT: reports if it cannot be (returns poison), else adds the checks to NODE and
   returns the value; if NODE is NULL, returns the value in a block that has the checks and the type
   wanted. */
Tree *require(FnChecker *f, Tree *value, Type want, Tree *node, const Require *how);
/* WANT with BIND put in, and with the sizes of HAVE where it has `_`. */
Type required_type(FnChecker *f, Type want, Type have, const Map *bind);
/* N values for N places at once: first what binds sizes, then what is compared.  Checks go to NODE.
 */
bool require_all(FnChecker *f, uint32_t n, Tree *const *values, const Type *wants, Tree *node,
                 const Require *how);
/* The same for types only; checks go to NODE.  False after reporting. */
bool require_type(FnChecker *f, Type have, Type want, Span span, Tree *node, const Require *how);
bool made_array(FnChecker *f, const Tree *value); /* `zeros(n)`, or a variable that it was put in */
/* Equal but for sizes and names of parts? */
bool same_shape(Type a, Type b);
/* The operands of an operator that meet: reports, or adds a check to NODE.  DIMS agree or not. */
bool require_same_dims(FnChecker *f, Type a, Type b, Tree *node, Span span, const char *a_text,
                       const char *b_text, DiagCode code);
const char *dim_text(FnChecker *f, const char *name, uint32_t rank, uint32_t k);
const char *ast_text(FnChecker *f, const AstNode *node); /* the source of a node, shortened */

/* ---- sizes ---- */
/* The size that an i64 value is, if it is one; NULL if not. */
Size size_of_tree(FnChecker *f, const Tree *value);
/* The same, or a fresh variable. */
Size size_of(FnChecker *f, const Tree *value, Sym name);
/* TYPE with size variables made since MARK replaced by fresh ones: it leaves their scope. */
Type type_leave(FnChecker *f, Type type, uint32_t mark);

/* ---- types as written ---- */
typedef struct TypeScope {
    FnChecker *f; /* NULL in signatures */
    Checker *c;
    Module *module;
    const Map *generics; /* Sym -> Type; NULL in the map: not known yet -> poison */
    Map *sizes;          /* Sym -> Size; names not in it are bound if `bind` */
    bool bind;           /* a new name as a whole dimension makes a variable */
    bool any;            /* `_` and dimensions left out: SIZE_ANY; else fresh variables */
    bool hint;           /* quiet: unknown names are SIZE_ANY, nothing is reported */
} TypeScope;
Type resolve_type(TypeScope *scope, AstNode *type);
Size resolve_dim(TypeScope *scope, AstNode *dim);
Type struct_type(Checker *c, const StructDecl *decl); /* over its own size variables */
bool const_integer(Checker *c, const ConstDecl *decl, int64_t *value);
bool const_eval(Checker *c, Module *m, const AstNode *node, int64_t *value);
/* How a written type takes part in inference: mentions a type variable of GENERICS? */
bool type_is_generic(const AstNode *type, const AstList *generics);

/* ---- scopes and variables ---- */
Binding *scope_find(FnChecker *f, Sym name);
Local *new_local(FnChecker *f, Sym name, Type type, Span span);
Binding *bind_local(FnChecker *f, Local *local);
void scope_leave(FnChecker *f, uint32_t mark); /* back to MARK bindings; warns of unused ones */
/* The pattern with a local for each name, taking a value of type TYPE apart. */
bool check_pattern(FnChecker *f, AstNode *pattern, Type type, bool var, TreePattern *out);
void report_unknown(FnChecker *f, Sym name, Span span);
/* A declaration that is made ready for reading: size binding of immutable integers. */
void local_set_size(FnChecker *f, Local *local, Size size);

/* ---- statements and places ---- */
Tree *check_stmt(FnChecker *f, AstNode *node);
/* A place that may be written; NULL after reporting.  PURPOSE: "assigned", "passed as mut". */
TreePlace *check_place(FnChecker *f, AstNode *node, const char *purpose);
Tree *place_read(FnChecker *f, const TreePlace *place);
/* An array or scalar VALUE put into PLACE; adds checks to NODE. */
Tree *require_place(FnChecker *f, const TreePlace *place, Tree *value, Tree *node);
/* May two places of one variable share memory? 0 no, 1 yes, 2 known at run time. */
int places_overlap(FnChecker *f, const TreePlace *a, const TreePlace *b);

/* ---- parallel bodies ---- */
typedef struct ParallelSave {
    uint32_t loops;
    const char *what;
} ParallelSave;
ParallelSave parallel_enter(FnChecker *f, const char *what);
void parallel_leave(FnChecker *f, ParallelSave save);

/* ---- heads ---- */
/* What is iterated over: a range or an array; the type of the pattern. */
bool head_iter(FnChecker *f, AstNode *iter, TreeHead *head, Type *elem);
/* The number of trips of a range as a size, or NULL. */
Size head_count(FnChecker *f, const Tree *lo, const Tree *hi, const Tree *step);
typedef struct Heads {
    uint32_t n;
    TreeHead *heads;
    Tree *where;
    uint32_t scope_mark, size_mark;
    Tree *node;     /* takes the checks */
    bool dependent; /* a range depends on an earlier index */
    ParallelSave save;
} Heads;
bool heads_enter(FnChecker *f, AstComp *node, Heads *heads, bool reduction);
void heads_leave(FnChecker *f, Heads *heads);
/* The array that `[for ...]` makes, from a head as the last argument. */
Tree *finish_comp(FnChecker *f, Heads *heads, Tree *body, Span span);
Tree *flatten(FnChecker *f, Tree *array); /* to rank 1 */
/* sum, min, ... with a head or of an array; NULL: not a reduction that the tree has. */
Tree *check_reduction(FnChecker *f, AstCall *node, int32_t builtin, Type expected);

/* ---- functions and calls ---- */
typedef struct ParamSig {
    Sym name;
    AstParam *ast;
    bool generic; /* its type mentions a type variable */
    bool is_fn;   /* holds a function */
    bool scalar;  /* a scalar, or a type variable that stands for scalars */
} ParamSig;

typedef struct Signature {
    const FnDecl *decl;
    uint32_t nparams;
    ParamSig *params;
    const AstList *generics;
    AstRet *ret;
    bool scalar; /* all parameters and results are scalars: can be lifted */
    bool failed;
} Signature;
Signature *signature_of(Checker *c, const FnDecl *decl);

/* An argument on its way to a parameter. */
typedef struct CallArg {
    AstNode *node; /* as written, or the default; NULL: VALUE was made */
    bool is_default;
    Tree *value;      /* checked already, or NULL */
    TreePlace *place; /* of a mut parameter */
} CallArg;

/* Puts the arguments of a call to N parameters: named ones, the others in order.  out[i].node is
   NULL where none is given (an error unless OPTIONAL[i]).  ActArgs are taken as they are.  False
   after reporting. */
bool match_args(FnChecker *f, const AstCall *call, const char *callee, uint32_t n, const Sym *names,
                const bool *optional, CallArg *out);
/* A call of INST with an argument for each parameter that is no capture; FN_VALUE (a value of its
   function type, or NULL) gives the captures.  Sizes are unified, arguments checked against the
   parameters' types, lifted if all is scalar and an argument is an array. */
Tree *call_instance(FnChecker *f, Instance *inst, CallArg *args, Tree *fn_value, Type expected,
                    const char *callee, Span span);
/* Of calls element by element: the shape that the array arguments from FROM on share (NULL: none),
   and the type of a result with that shape. */
bool lift_shape(FnChecker *f, Tree *node, uint32_t from, Type *shape, const char *callee);
Type lift_type(FnChecker *f, Type result, Type shape);
/* VALUE in a variable of its own (*LET, NULL if it is simple), and a value behind such lets. */
Tree *hoist(FnChecker *f, Tree *value, Size size, Tree **let);
Tree *with_lets(FnChecker *f, uint32_t n, Tree *const *lets, Tree *value);
Tree *call_decl(FnChecker *f, const FnDecl *decl, AstCall *call, Type expected);
/* A call of a function value; FN_VALUE its tree, FN_TYPE its declared TYPE_FN or NULL. */
Tree *call_value(FnChecker *f, Tree *fn_value, Type fn_type, AstCall *call, Type expected);
/* A call of what a name of the prelude means: its functions (DECL, may be NULL) and rows. */
Tree *call_named(FnChecker *f, const char *name, const FnDecl *decl, int32_t math, int32_t builtin,
                 AstCall *call, Type expected);
Tree *call_math(FnChecker *f, int32_t row, uint32_t n, CallArg *args, Type expected, Span span);
/* NULL without a report: the row does not apply to these arguments, try others. */
Tree *call_builtin(FnChecker *f, int32_t row, AstCall *call, Type expected, bool others);
Tree *call_struct(FnChecker *f, const StructDecl *decl, AstCall *call, Type expected);
Tree *call_conversion(FnChecker *f, Scalar to, AstCall *call);
/* Names in an expression that is not checked after an error: they count as used. */
void mark_names(FnChecker *f, AstNode *node);
/* A reduction of the prelude (mean, norm, ...): arrays of any rank, heads with array bodies.  NULL:
   an ordinary call. */
bool is_reduction_name(FnChecker *f, const FnDecl *decl);
Tree *call_reduction_fn(FnChecker *f, const FnDecl *decl, AstCall *call, Type expected);
/* The sum over all floats of two values of one type. */
Tree *dot_parts(FnChecker *f, Tree *a, Tree *b, Span span);
/* The type written for parameter I of a lambda, sizes open; NULL: none. */
Type lambda_param_hint(Checker *c, const FnValue *fn, uint32_t i);
/* The array argument of a call that may be a head. */
Tree *check_arg(FnChecker *f, AstNode *node, Type expected);

/* ---- function values ---- */
const FnValue *fnvalue_of_decl(Checker *c, const FnDecl *decl, int32_t math, int32_t builtin);
const FnValue *fnvalue_of_row(Checker *c, int32_t math, int32_t builtin);
const FnValue *fnvalue_opaque(Checker *c, Type fn_type);
const char *fnvalue_name(const FnValue *fn);
/* A T_FN of it: captures are read from the locals of F. */
Tree *fnvalue_tree(FnChecker *f, const FnValue *fn, Span span);
/* The instance of a function value for arguments of these types (sizes do not matter, except that
   a lambda's parameters get constant sizes).  NULL after reporting.  ARG_TYPES may be NULL for a
   named function without type variables and function parameters. */
Instance *instance_of_fnvalue(Checker *c, const FnValue *fn, uint32_t nargs, const Type *arg_types,
                              Span span);
/* NULL after reporting that there would be no end. */
Instance *instance_of_decl(Checker *c, const FnDecl *decl, const Map *generics, const Type *fn_args,
                           Span span);
Instance *instance_of_const(Checker *c, const ConstDecl *decl, Span span);
/* A row as a function with a body, for operators and function arguments. */
Instance *instance_of_row(Checker *c, const FnValue *fn, uint32_t nargs, const Type *arg_types,
                          Span span);
/* Makes sure that the body has been checked (functions whose result is only known then). */
bool instance_need_body(Checker *c, Instance *inst, Span span);
void map_copy(Map *to, const Map *from); /* TO is empty */
InstanceInfo *info_of(Checker *c, const Instance *inst);
/* The type of a call of INST whose size variables are bound in BIND: others are fresh. */
Type call_result(FnChecker *f, const Instance *inst, const Map *bind);
/* The derivative rule of INST's function, if it has one, for INST: checked against it once. */
void check_rules_of(Checker *c, Instance *inst, const Map *generics, Span span);
/* Can BASE be differentiated in those of its N parameters for which ACT says so, as far as a rule
   of it goes?  False after reporting. */
bool rule_covers(Checker *c, const Instance *base, const uint8_t *act, uint32_t n, Span span);
/* The rule of row ROW of math.def for SCALAR, made when a body first calls the function. */
void need_math_rule(Checker *c, int32_t row, Scalar scalar, Span span);
/* A new instance with its info, in the lists; nothing is checked. */
Instance *instance_new(Checker *c, InstanceKind kind, const char *name, Span span);
InstanceInfo *instance_find(Checker *c, uint32_t nkey, const void *const *key);
void instance_add_key(Checker *c, InstanceInfo *info, uint32_t nkey, const void *const *key);
/* A function value passed for a parameter of type FN_TYPE (sizes open): does it fit? */
bool fnvalue_fits(FnChecker *f, const FnValue *fn, Type fn_type, Span span, const char *what,
                  Type *result);
/* Type variables bound from an argument: the written type against the actual one. */
bool infer_type(Checker *c, Module *m, AstNode *written, Type actual, const AstList *generics,
                Map *bound);
bool class_has(Sym cls, Type type); /* class NULL: any */
Type class_representative(Checker *c, Sym cls);

/* ---- bodies ---- */
Tree *require_result(FnChecker *f, Tree *value);
uint8_t activity_default(Type type, bool mut);
/* Parameter I of INST (of N), with its activity; its scope binding is made by check_body. */
void instance_set_param(Checker *c, Instance *inst, uint32_t i, Sym name, Type type, bool mut,
                        uint8_t act, Span span);
/* All size variables of the parameters into info->bindable. */
void instance_collect_sizes(Instance *inst, InstanceInfo *info);
void instance_queue(Checker *c, Instance *inst);
/* The function that computes the default of parameter I of DECL from the earlier ones. */
Instance *instance_of_default(Checker *c, const Instance *of, uint32_t i, Span span);
void check_body(Checker *c, Instance *inst);
/* The body of a function with a declared result; that of a part of a rule. */
void check_fn_body(FnChecker *f, AstBlock *block);
void check_rule_body(FnChecker *f, AstBlock *block);
/* Is it written as an i64, so that its name can be a size? */
bool param_is_i64(const AstParam *p);
void fn_checker_begin(FnChecker *f, Checker *c, Instance *inst, Module *module);
void fn_checker_end(FnChecker *f);
Instance *instance_of_lambda(Checker *c, const FnValue *fn, uint32_t nargs, const Type *arg_types,
                             Span span);

/* ---- items ---- */
/* Checks every item of the main module and collects the roots. */
void check_items(Checker *c, uint32_t which);
/* Checks the bodies that wait, and those that they make wait. */
void check_queue(Checker *c);

/* ---- derivatives (deriv.c) ---- */
/* `grad f`, `jvp[primal] f(Active, Const)` as a value: of kind FN_DERIV; a pair for split. */
Tree *check_deriv_value(FnChecker *f, AstDeriv *node, Type expected);
/* A call of a derivative: DERIV is of kind FN_DERIV, FN_VALUE its tree (captures). */
Tree *check_deriv_call(FnChecker *f, const FnValue *deriv, AstCall *call, Tree *fn_value,
                       Type expected);
/* The instance of a derivative for a call with these types (NULL: those of its operand). */
Instance *instance_of_deriv(Checker *c, const FnValue *fn, uint32_t nargs, const Type *arg_types,
                            Span span);
/* grad f(...) written at once: activity words in the call are requests. */
Tree *check_deriv_apply(FnChecker *f, AstDeriv *node, AstCall *call, Type expected);
/* What `checkpoint(NODE)` says: a number of states or CHECKPOINT_...; 0 after reporting. */
void deriv_checkpoint(FnChecker *f, AstNode *node, int64_t *policy);

#endif
