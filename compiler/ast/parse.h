/* Parsing: one source file to an AstFile.  The lexer and the grammar live in lang/. */
#ifndef ADL_AST_PARSE_H
#define ADL_AST_PARSE_H

#include "ast/ast.h"
#include "base/bitset.h"
#include "base/intern.h"
#include "base/vec.h"
#include "source/diag.h"

typedef struct ParseSession {
    Arena *arena;
    Interner *interner;
    Diags *diags;
    uint32_t next_id; /* the next free node id; starts at 1 */
} ParseSession;

/* Never NULL; with errors reported, what could be read (items that failed are left out). */
AstFile *parse_file(ParseSession *session, const SourceFile *file);

/* What the tree does not hold and a formatter needs. */
typedef struct ParseComment {
    Span span;      /* with its marks; without the end of its line */
    bool documents; /* it is documentation, and something follows that it documents */
} ParseComment;

typedef struct ParseComments {
    VEC(ParseComment) list; /* in source order, documentation included */
    Bitset parens;          /* ids of expressions that stand in parentheses of their own */
} ParseComments;

/* parse_file that also fills COMMENTS (starts as {0}; freed with parse_comments_free). */
AstFile *parse_file_comments(ParseSession *session, const SourceFile *file,
                             ParseComments *comments);
void parse_comments_free(ParseComments *comments);

#endif
