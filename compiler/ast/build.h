/* The builder: one call makes one node.  The grammar's actions consist of these calls.  It checks
   what the grammar cannot say: places of assignments, the two forms of activity words, depth. */
#ifndef ADL_AST_BUILD_H
#define ADL_AST_BUILD_H

#include "ast/ast.h"
#include "ast/parse.h"

/* Documentation, and the position of the token that follows it. */
typedef struct AstDoc {
    Pos next;
    uint32_t comment, ncomments; /* where it stands among the comments, if these are wanted */
    AstText text;
} AstDoc;

typedef struct AstBuilder {
    ParseSession *session;
    ParseComments *comments; /* NULL: not wanted */
    uint32_t first_id;
    VEC(uint16_t) depths; /* of the node with id first_id + i */
    VEC(AstDoc) docs;     /* in source order */
    struct AstListBuilder *items;
    bool too_deep; /* reported; parsing should end */
} AstBuilder;

/* A list under construction; becomes an AstList without a copy. */
typedef struct AstListBuilder {
    AstList list;
    uint32_t cap;
} AstListBuilder;

void build_init(AstBuilder *b, ParseSession *session, ParseComments *comments);
void build_free(AstBuilder *b);
AstFile *build_file(AstBuilder *b, Span span);
/* TEXT is documentation before the token at NEXT; its comments begin with number FIRST. */
void build_doc(AstBuilder *b, Pos next, AstText text, uint32_t first);

AstListBuilder *build_list(AstBuilder *b, AstNode *first); /* FIRST may be NULL: empty */
AstListBuilder *build_append(AstBuilder *b, AstListBuilder *list, AstNode *node);

/* ---- items: build_item adds one to the file ---- */
void build_item(AstBuilder *b, AstNode *item, Span span);
AstNode *build_fn(AstBuilder *b, Span s, AstIdent name, AstListBuilder *generics,
                  AstListBuilder *params, AstNode *ret, AstNode *body);
AstNode *build_fn_marks(AstBuilder *b, AstNode *fn, bool exported, bool kernel);
AstNode *build_generic(AstBuilder *b, Span s, AstIdent name, AstIdent cls);
AstNode *build_param(AstBuilder *b, Span s, AstIdent name, AstNode *ptype, AstNode *value);
/* A parameter without a name, as in a fn type. */
AstNode *build_ptype(AstBuilder *b, Span s, AstNode *act, bool mut, bool strided, AstNode *type);
AstNode *build_activity(AstBuilder *b, Span s, ActKind kind, AstNode *width);
AstNode *build_ret(AstBuilder *b, Span s, AstNode *act, AstNode *type);
AstNode *build_export(AstBuilder *b, Span s, AstIdent name, AstIdent name2, AstNode *value);
AstNode *build_const(AstBuilder *b, Span s, AstIdent name, AstIdent name2, AstNode *type,
                     AstNode *value);
AstNode *build_extern(AstBuilder *b, Span s, AstText symbol, AstIdent name, AstListBuilder *params,
                      AstNode *ret);
AstNode *build_derivative(AstBuilder *b, Span s, AstNode *path, AstListBuilder *generics,
                          AstListBuilder *params, AstNode *ret, AstListBuilder *rules);
AstNode *build_rule(AstBuilder *b, Span s, AstIdent name, AstListBuilder *params, AstNode *body);
AstNode *build_struct(AstBuilder *b, Span s, AstIdent name, AstListBuilder *sizes,
                      AstListBuilder *fields);
AstNode *build_field_decl(AstBuilder *b, Span s, AstIdent name, AstNode *type);
AstNode *build_use(AstBuilder *b, Span s, AstNode *path, AstIdent alias, AstListBuilder *names);
AstNode *build_test(AstBuilder *b, Span s, bool bench, AstText name, AstNode *body);

/* ---- types and patterns ---- */
AstNode *build_type_name(AstBuilder *b, Span s, AstNode *path, AstListBuilder *dims);
AstNode *build_type_array(AstBuilder *b, Span s, AstListBuilder *dims, AstNode *elem);
AstNode *build_type_tuple(AstBuilder *b, Span s, AstListBuilder *parts);
AstNode *build_type_part(AstBuilder *b, Span s, AstIdent name, AstNode *act, AstNode *type);
AstNode *build_type_fn(AstBuilder *b, Span s, AstListBuilder *params, AstNode *ret);
AstNode *build_dim_any(AstBuilder *b, Span s);
AstNode *build_pat_name(AstBuilder *b, Span s, AstIdent name);
AstNode *build_pat_skip(AstBuilder *b, Span s);
AstNode *build_pat_tuple(AstBuilder *b, Span s, AstListBuilder *parts);

/* ---- statements ---- */
AstNode *build_let(AstBuilder *b, Span s, bool var, AstNode *pattern, AstNode *ann, AstNode *value);
AstNode *build_shared(AstBuilder *b, Span s, AstIdent name, AstNode *type);
AstNode *build_assign(AstBuilder *b, Span s, AstNode *place, AstOp op, AstNode *value);
AstNode *build_broken(AstBuilder *b, Span s); /* stands for a statement that did not parse */
AstNode *build_poison(AstNode *node);         /* marks it: a part of it did not parse */
AstNode *build_expr_stmt(AstBuilder *b, Span s, AstNode *value);
AstNode *build_assert(AstBuilder *b, Span s, AstNode *cond, AstNode *message);
AstNode *build_return(AstBuilder *b, Span s, AstNode *value);
AstNode *build_break(AstBuilder *b, Span s);
AstNode *build_continue(AstBuilder *b, Span s);
AstNode *build_for(AstBuilder *b, Span s, AstNode *pattern, AstNode *iter, AstNode *checkpoint,
                   AstNode *body);
AstNode *build_while(AstBuilder *b, Span s, AstNode *cond, AstNode *checkpoint, AstNode *body);

/* ---- expressions ---- */
AstNode *build_name(AstBuilder *b, Span s, AstIdent name);
AstNode *build_int(AstBuilder *b, Span s, AstText text);
AstNode *build_float(AstBuilder *b, Span s, AstText text);
AstNode *build_imag(AstBuilder *b, Span s, AstText text);
AstNode *build_bool(AstBuilder *b, Span s, bool value);
AstNode *build_str(AstBuilder *b, Span s, AstText head, AstListBuilder *pieces, AstText tail);
AstNode *build_str_text(AstBuilder *b, Span s, AstText text); /* NULL for an empty text */
AstNode *build_str_part(AstBuilder *b, Span s, AstNode *value, AstText form);
AstNode *build_unary(AstBuilder *b, Span s, AstOp op, AstNode *arg);
AstNode *build_binary(AstBuilder *b, Span s, AstOp op, AstNode *left, AstNode *right);
AstNode *build_if(AstBuilder *b, Span s, AstNode *cond, AstNode *then, AstNode *other);
/* Without VALUE, a final `if` or block becomes the value. */
AstNode *build_block(AstBuilder *b, Span s, AstListBuilder *stmts, AstNode *value);
AstNode *build_lambda(AstBuilder *b, Span s, AstListBuilder *params, AstNode *body);
AstNode *build_lambda_param(AstBuilder *b, Span s, AstNode *pattern, AstNode *type);
AstNode *build_call(AstBuilder *b, Span s, AstNode *callee, AstListBuilder *args);
AstNode *build_arg(AstBuilder *b, Span s, AstIdent name, AstNode *value);
AstNode *build_act_arg(AstBuilder *b, Span s, AstNode *act, AstListBuilder *args); /* NULL: bare */
AstNode *build_index(AstBuilder *b, Span s, AstNode *base, AstListBuilder *subs);
AstNode *build_field(AstBuilder *b, Span s, AstNode *base, AstIdent name);
AstNode *build_part(AstBuilder *b, Span s, AstNode *base, AstText index);
AstNode *build_range(AstBuilder *b, Span s, AstNode *lo, AstNode *hi, AstNode *step);
AstNode *build_paren(AstBuilder *b, Span s, AstNode *value); /* the same node, wider */
AstNode *build_tuple(AstBuilder *b, Span s, AstNode *first, AstListBuilder *rest);
AstNode *build_array(AstBuilder *b, Span s, AstListBuilder *parts);
/* HEADS with a condition or NULL; the body is set by build_comp_body. */
AstNode *build_comp(AstBuilder *b, Span s, AstListBuilder *heads, AstNode *where);
AstNode *build_comp_body(AstBuilder *b, Span s, AstNode *comp, AstNode *body);
AstNode *build_widen(AstNode *node, Span s);
AstNode *build_head(AstBuilder *b, Span s, AstNode *pattern, AstNode *iter);
AstNode *build_deriv(AstBuilder *b, Span s, AstNode *op, AstListBuilder *options, AstNode *operand);
/* The keyword alone; build_deriv fills the rest. */
AstNode *build_deriv_op(AstBuilder *b, Span s, DerivOp op, bool deferred);
AstNode *build_option(AstBuilder *b, Span s, AstIdent name, AstListBuilder *args); /* NULL: none */
AstNode *build_launch(AstBuilder *b, Span s, AstListBuilder *options, AstNode *operand,
                      AstListBuilder *ranges, AstListBuilder *args);
AstNode *build_type_apply(AstBuilder *b, Span s, AstNode *callee, AstListBuilder *types);

#endif
