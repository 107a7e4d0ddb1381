/* Random programs as trees: what the generator makes, the shrinker cuts, the printer writes. */
#ifndef ADL_TESTS_FUZZ_RANDOM_TREE_H
#define ADL_TESTS_FUZZ_RANDOM_TREE_H

#include "base/arena.h"
#include "base/strbuf.h"
#include "tests/fuzz/random/setting.h"

#include <stdbool.h>
#include <stdint.h>

/* A size: OFFSET alone if SYMBOL is 0, else "n" or "m" and OFFSET. */
typedef struct Dim {
    char symbol;
    int offset;
} Dim;

typedef enum TypeKind { T_F64, T_F32, T_I64, T_BOOL, T_C128, T_TUPLE, T_STRUCT } TypeKind;
enum { MAX_RANK = 3, MAX_PARTS = 3 };

typedef struct Type {
    TypeKind kind;
    int rank; /* of scalars only */
    Dim dims[MAX_RANK];
    int nparts;
    const struct Type *parts[MAX_PARTS];
    const char *names[MAX_PARTS]; /* of a struct's fields */
    const char *name;             /* of a struct */
} Type;

bool size_same(Dim a, Dim b);
bool kind_same(const Type *a, const Type *b);
const char *size_text_of(Arena *arena, Dim dim);
const char *kind_text_of(Arena *arena, const Type *type);

typedef enum NodeKind {
    NODE_EXPR,
    NODE_STMT, /* may be left out of its list unless it is fixed */
    NODE_LIST
} NodeKind;

/* TEXT has a '$' where each of the kids stands, in order. */
typedef struct Node {
    NodeKind kind;
    bool fixed;
    unsigned entry;   /* of an entry point, its bit */
    const Type *type; /* of an expression */
    const char *text;
    uint32_t nkids, cap;
    struct Node **kids;
} Node;

void node_print(const Node *node, int indent, StrBuf *out);
uint32_t node_count(const Node *node);

typedef struct RandomProgram {
    Node *root;
    Setting setting;
} RandomProgram;

/* The program of SEED; all of it lives in ARENA. */
RandomProgram *program_generate(Arena *arena, uint64_t seed);
/* An expression that stands for any of TYPE, or NULL. */
Node *node_plain(Arena *arena, const Type *type);
void program_print(const RandomProgram *program, StrBuf *out);

#endif
