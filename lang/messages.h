/* The texts of syntax errors. */
#ifndef ADL_LANG_MESSAGES_H
#define ADL_LANG_MESSAGES_H

#include "lang/parser.h"

/* TOKEN stands at SPAN where one of EXPECTED could. */
void message_unexpected(Parser *parser, int token, Span span, const int *expected, int nexpected);
void message_too_deep(Parser *parser, Span span);

#endif
