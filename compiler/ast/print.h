/* Printing an AST as ADL source: the core of `dslc fmt`. */
#ifndef ADL_AST_PRINT_H
#define ADL_AST_PRINT_H

#include "ast/ast.h"
#include "ast/parse.h"
#include "base/strbuf.h"

/* FILE as source text: 4 spaces, 100 columns.  With SOURCE and COMMENTS (what parse_file_comments
   saw; both or neither), comments, empty lines, line breaks and parentheses of the author stay;
   printing the result again changes nothing.  FILE was parsed without an error. */
void ast_print(StrBuf *out, const AstFile *file, const SourceFile *source,
               const ParseComments *comments);

/* One node, without its body if it is an item: for messages and documentation. */
void ast_print_node(StrBuf *out, const AstNode *node);

#endif
