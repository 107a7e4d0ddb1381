/* The state of the checker: what belongs to a program, to an instance, to a body. */
#ifndef ADL_TYPES_CHECKER_H
#define ADL_TYPES_CHECKER_H

#include "names/modules.h"
#include "types/check.h"

typedef struct InstanceInfo InstanceInfo;
typedef struct FnChecker FnChecker;

/* A derivative that was asked for with the option `holomorphic`. */
typedef struct HolomorphicRequest {
    const struct DerivRequest *request;
    const Instance *base;
    const uint8_t *act;
    uint32_t n;
} HolomorphicRequest;

struct Checker {
    Arena *arena;
    Interner *interner;
    Sources *sources;
    Diags *diags;
    CheckOptions options;
    TypeTable *types;
    ModuleSet modules;
    Module *main;
    Program *program;
    Map instances;         /* hash of a key -> InstanceInfo *, chained by `next` */
    Map infos;             /* Instance * -> InstanceInfo * */
    VEC(Instance *) queue; /* bodies that wait to be checked */
    uint32_t queue_head;
    VEC(Instance *) all; /* every instance made, by id */
    Map fn_values;       /* FnDecl *, row or Type -> FnValue * */
    Map lambdas;         /* FnValue * -> LambdaInfo * */
    Map struct_types;    /* StructDecl * -> its type over its own size variables */
    Map constants;       /* ConstDecl * -> Instance * (nullary) or FnValue type */
    Map signatures;      /* FnDecl * -> Signature * */
    Map made_arrays;     /* Local * whose first value is `zeros(n)` or the like */
    Map integers;        /* ConstDecl * -> int64_t * of those that are integer constants */
    Map naturals;        /* AstNode * of a call on literals -> its type without a context */
    FnChecker *current;  /* the body being checked, for the chain of an endless request */
    uint32_t depth;      /* of bodies within bodies (lambdas) */
    bool too_deep;       /* reported */
    VEC(HolomorphicRequest) holomorphic; /* to be looked at when all bodies are known */
    VEC(Size) canonical;                 /* size variables of canonical types, by number */
};

/* What the checker knows of an instance besides what the tree shows. */
struct InstanceInfo {
    Instance *instance;
    InstanceInfo *next; /* of the same hash */
    uint64_t hash;
    uint32_t nkey;
    const void **key;
    Module *module;
    Map generics;   /* Sym -> Type: type variables */
    Map sizes;      /* Sym -> Size: names in the parameters' types */
    Map bindable;   /* id of a size variable of the parameters -> the variable */
    Map fn_only;    /* the same for names that stand in fn types only */
    Type *declared; /* by parameter: TYPE_FN as declared, or NULL; of a lambda: a type with sizes
                       that are known outside */
    Type declared_result; /* as declared, with TYPE_FN in it; instance->result has FNVALs */
    Instance *asked_by;   /* whose body asked first */
    Span asked_at;
    uint32_t chain;     /* length of the chain of asking */
    AstNode *body;      /* what is checked; NULL: none, or made already */
    AstNode **patterns; /* RULE: of parameters that are taken apart, else NULL */
    const struct LambdaInfo *lambda;
    bool in_progress;
};

/* A name of a body and what it stands for. */
typedef struct Binding {
    Sym name;
    Local *local;
    Type fn_type;      /* of a function: as declared, or NULL */
    bool captured;     /* outside this lambda: can be read only */
    bool used, quiet;  /* quiet: no warning if unused */
    bool int_literal;  /* its first value was an integer literal (for a message) */
    uint32_t parallel; /* depth of parallel bodies where it was declared */
} Binding;

/* A lambda where it was written: what its body sees of the outside. */
typedef struct LambdaInfo {
    FnValue *value;
    Module *module;
    const Map *generics;
    uint32_t nnames; /* names, as many as captures of the value */
    Binding *names;
    uint32_t nouter; /* outer names that could not be captured, for messages */
} LambdaInfo;

struct FnChecker {
    Checker *c;
    Instance *inst;
    InstanceInfo *info;
    Module *module;
    const Map *generics;
    FnChecker *outer; /* of c->current when this began */
    VEC(Binding) scope;
    VEC(Local *) locals;
    bool defers;       /* the operator that comes next stands in a chain behind `deferred` */
    uint32_t loops;    /* loops that break can leave, since the last parallel body */
    uint32_t parallel; /* depth of parallel bodies */
    const char *parallel_what; /* "a comprehension", "a reduction", ... */
    uint32_t errors;           /* reported before this body: after new ones nothing is warned of */
    bool no_return;            /* in a lambda: no return */
    Type result;               /* as declared; NULL in lambdas */
    AstNode *whole;            /* the body, to look for later definitions */
    AstNode *pre_node;         /* an argument that was checked to choose an overload: its value */
    Tree *pre_value;
    TreeKernel *kernel;           /* whose body this is; NULL: no kernel */
    const AstBlock *kernel_block; /* and that body as written */
    Span launch;                  /* the `launch` whose call is being checked */
    VEC(Type) returns;            /* where the result holds functions: what is returned */
};

#endif
