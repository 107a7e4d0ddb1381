/* Words of a PTX text. */
#ifndef ADL_PTXSIM_LEX_H
#define ADL_PTXSIM_LEX_H

#include "tests/ptxsim/ptx.h"

typedef enum PtxToken {
    TOKEN_END,
    TOKEN_WORD,   /* names, directives, instructions, registers: all that begins with A a _ $ % . */
    TOKEN_NUMBER, /* bits; real: they are those of an f64 */
    TOKEN_STRING,
    TOKEN_MARK, /* one character */
} PtxToken;

typedef struct PtxLexer {
    PtxFailure *failure;
    const char *at;
    uint32_t line;
    /* The word at hand. */
    PtxToken token;
    const char *text;
    size_t len;
    uint64_t bits;
    bool real;
} PtxLexer;

void ptx_lex_start(PtxLexer *lexer, const char *text, PtxFailure *failure);
void ptx_lex_next(PtxLexer *lexer);
/* Leaves out the rest of the line, for directives of debuggers. */
void ptx_lex_skip_line(PtxLexer *lexer);

#endif
