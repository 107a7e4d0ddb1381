/* The AST: what was written, and where.  Nodes live in the session's arena and never change after
   parsing; later parts keep what they learn in tables of their own, indexed by node id. */
#ifndef ADL_AST_AST_H
#define ADL_AST_AST_H

#include "base/arena.h"
#include "base/intern.h"
#include "base/strbuf.h"
#include "source/source.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum AstKind {
#define NODE(kind, group) AST_##kind,
#define F_NODE(name)
#define F_LIST(name)
#define F_IDENT(name)
#define F_INT(name)
#define F_TEXT(name)
#define END(kind)
#include "ast/node.def"
#undef NODE
    AST_KIND_COUNT
} AstKind;

typedef enum ActKind {
    ACT_CONST,
    ACT_ACTIVE,
    ACT_DUPLICATED,
    ACT_DUPLICATED_NONEED,
    ACT_BATCH,
    ACT_BATCH_NONEED
} ActKind;

/* As it is written in the language. */
const char *act_name(ActKind act);

typedef enum DerivOp { DERIV_GRAD, DERIV_JVP, DERIV_SPLIT } DerivOp;

/* lang/operators.def: OPERATOR(NAME, "text", arity) */
typedef enum AstOp {
    AST_OP_NONE,
#define OPERATOR(name, text, arity) AST_OP_##name,
#include "lang/operators.def"
#undef OPERATOR
    AST_OP_COUNT
} AstOp;

/* No tree is deeper: functions may recurse along it. */
enum { AST_MAX_DEPTH = 2000 };

/* Every node begins with this. */
typedef struct AstNode {
    uint16_t kind;
    uint16_t poison; /* a part of it did not parse */
    uint32_t id;     /* dense from 1 in a session */
    Span span;
} AstNode;

typedef struct AstList {
    AstNode **at;
    uint32_t len;
} AstList;

typedef struct AstIdent {
    Sym sym; /* NULL if absent */
    Span span;
} AstIdent;

typedef struct AstText {
    const char *at; /* zero-terminated as well */
    uint32_t len;
} AstText;

/* typedef struct AstFn { AstNode node; ... } AstFn; and so on */
#undef F_NODE
#undef F_LIST
#undef F_IDENT
#undef F_INT
#undef F_TEXT
#undef END
#define NODE(kind, group)                                                                          \
    typedef struct Ast##kind {                                                                     \
        AstNode node;
#define F_NODE(name) AstNode *name;
#define F_LIST(name) AstList name;
#define F_IDENT(name) AstIdent name;
#define F_INT(name) int64_t name;
#define F_TEXT(name) AstText name;
#define END(kind)                                                                                  \
    }                                                                                              \
    Ast##kind;
#include "ast/node.def"
#undef NODE
#undef F_NODE
#undef F_LIST
#undef F_IDENT
#undef F_INT
#undef F_TEXT
#undef END

/* AS_Fn(node): the node as its struct, checked in debug builds. */
#define AST_AS(T, node) ((Ast##T *)ast_expect((AstNode *)(node), AST_##T))
AstNode *ast_expect(AstNode *node, AstKind kind);
const char *ast_kind_name(AstKind kind);
const char *ast_op_text(AstOp op);
/* Calls VISIT for every child that is there, in source order. */
void ast_children(const AstNode *node, void (*visit)(AstNode *child, void *data), void *data);
/* An indented dump, for --emit=ast. */
void ast_dump(StrBuf *out, const AstNode *node);

#endif
