/* The generator's parts: gen.c programs and functions, gen-expr.c scalars, gen-array.c arrays,
   gen-form.c rarer forms of both, gen-number.c numbers other than
   f64, gen-stmt.c statements. */
#ifndef ADL_TESTS_FUZZ_RANDOM_GEN_H
#define ADL_TESTS_FUZZ_RANDOM_GEN_H

#include "tests/fuzz/random/tree.h"

typedef enum VarKind { VAR_LET, VAR_VAR, VAR_INDEX, VAR_LAMBDA } VarKind;

typedef struct Var {
    const char *name;
    const Type *type; /* of a lambda, from and to f64: its result */
    VarKind kind;
    Dim bound;        /* an index is below it */
} Var;

typedef enum FnKind {
    FN_SCALARS,   /* (f64, f64) -> f64 */
    FN_VECTOR,    /* ([n]f64, f64) -> f64 */
    FN_MAP,       /* ([n]f64, f64) -> [n]f64 */
    FN_MUT,       /* (mut [n]f64, f64) -> f64 */
    FN_MUT_SCALAR,/* (mut f64, f64) */
    FN_RECURSIVE, /* (i64, f64) -> f64 */
    FN_MATRIX,    /* ([n, m]f64, [m]f64) -> [n]f64 */
    FN_PAIR,      /* ([n]f64, f64) -> (f64, [n]f64) */
    FN_STRUCT,    /* (S[n], f64) -> S[n] */
    FN_HALVES,    /* ([n]f64, f64) -> f64, of both halves of the array */
    FN_APPLY,     /* (fn(f64) -> f64, [n]f64) -> [n]f64 */
    FN_KINDS
} FnKind;

typedef struct Fn {
    FnKind kind;
    const char *name;
} Fn;

enum { MAX_VARS = 200, MAX_FNS = 8 };

typedef struct Gen {
    Arena *arena;
    uint64_t state;
    Setting setting;
    Var vars[MAX_VARS];
    int nvars, barrier; /* variables below the barrier are not assigned to */
    Fn fns[MAX_FNS];
    int nfns, names;
    int budget;         /* of nodes in the function at hand */
    bool has_n, has_m;  /* sizes that have names */
    int loops;          /* around, that may be left */
    int damp;           /* in a loop or a recursion: what is assigned is kept small */
    bool parallel;
    const Type *result; /* of the function, for early returns; NULL: none */
    const Type *f64, *f32, *i64, *c128, *boolean, *vector, *matrix, *indices, *pair, *record;
} Gen;

/* 0 to N - 1. */
uint32_t gen_random(Gen *g, uint32_t n);
bool gen_chance(Gen *g, uint32_t percent);
const char *gen_name(Gen *g, char letter);
const Type *gen_array_type(Gen *g, TypeKind kind, int rank, const Dim *dims);
/* Notes that there may be a sum over such an array. */
void gen_note_size(Gen *g, int rank, const Dim *dims);
const Type *gen_element(Gen *g, const Type *type);
/* A random array type over sizes that are known; rank 1 to 3. */
const Type *gen_some_array(Gen *g);
const Type *gen_some_type(Gen *g);
Dim gen_some_dim(Gen *g);
/* At least one element in every run. */
bool gen_dim_filled(const Gen *g, Dim dim);

void gen_push(Gen *g, const char *name, const Type *type, VarKind kind);
void gen_push_index(Gen *g, const char *name, Dim bound);
/* A variable of the type, or NULL; FIRST: the first that counts. */
const Var *gen_find(Gen *g, const Type *type, bool assignable);

/* An expression with the N kids; FORMAT is printf's. */
Node *gen_node(Gen *g, NodeKind kind, const Type *type, uint32_t n, Node *const *kids,
               const char *format, ...) __attribute__((format(printf, 6, 7)));
#define EXPR(type, n, kids, ...) gen_node(g, NODE_EXPR, type, n, kids, __VA_ARGS__)
#define KIDS(...) ((Node *[]){__VA_ARGS__})
Node *gen_list(Gen *g);
void gen_append(Gen *g, Node *list, Node *item);

Node *gen_expr(Gen *g, const Type *type, int depth);
Node *gen_f64(Gen *g, int depth);
Node *gen_f32(Gen *g, int depth);
Node *gen_i64(Gen *g, int depth);
Node *gen_bool(Gen *g, int depth);
Node *gen_complex(Gen *g, int depth);
/* An f64 from a complex number; an i64 from another kind of integer, or from bits. */
Node *gen_from_complex(Gen *g, int depth);
Node *gen_from_narrow(Gen *g, int depth);
Node *gen_array(Gen *g, const Type *type, int depth);
/* An index below DIM, or NULL. */
Node *gen_index(Gen *g, Dim dim, int depth);
/* "a[i, j]" of an array of this kind of element, or NULL; ASSIGNABLE: a place. */
Node *gen_element_of(Gen *g, TypeKind kind, bool assignable, int depth);
/* Of moderate size whatever NODE is. */
Node *gen_damped(Gen *g, Node *node);
/* Calls OPEN before what is evaluated in any order, and the other one after it. */
typedef struct Scope {
    int nvars, barrier, loops;
    bool parallel;
} Scope;
Scope gen_open(Gen *g);
void gen_close(Gen *g, Scope scope);
/* A function that is one of KIND, or NULL. */
const Fn *gen_find_fn(Gen *g, FnKind kind);
/* Scalars that the more unusual forms make (gen-form.c), or NULL. */
Node *gen_form(Gen *g, int depth);
Node *gen_vector_form(Gen *g, const Type *type, int depth);
/* A call that gives TYPE, or NULL. */
Node *gen_call(Gen *g, const Type *type, int depth);
/* Heads for an array of TYPE: pushes the indices. */
const char *gen_heads(Gen *g, const Type *type, int rank);

void gen_statements(Gen *g, Node *list, int count, int depth);

#endif
