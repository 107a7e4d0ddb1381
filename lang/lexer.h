/* The lexer: the tokens of one source file, one by one. */
#ifndef ADL_LANG_LEXER_H
#define ADL_LANG_LEXER_H

#include "lang/grammar.h"
#include "lang/parser.h"

void lexer_init(Parser *parser);
void lexer_free(Parser *parser);
/* The next token, its value and place; 0 at the end.  After an error of its own it has reported
   and goes on behind it. */
int lexer_next(Parser *parser, YYSTYPE *value, Span *span);
/* Ends the input at once; the message was given. */
void lexer_stop(Parser *parser);
/* After a syntax error at TOKEN: arranges what lexer_next leaves out. */
void lexer_recover(Parser *parser, int token, Span span);

#endif
