/* The parser's state, shared by the lexer, the grammar and the messages.  Internal to lang/. */
#ifndef ADL_LANG_PARSER_H
#define ADL_LANG_PARSER_H

#include "ast/build.h"
#include "ast/parse.h"
#include "base/strbuf.h"

enum {
    PARSE_MAX_BRACKETS = 1000, /* open brackets at one place */
    PARSE_MAX_ERRORS = 1000,   /* syntax errors; what follows is not read */
    PARSE_KEYWORD_SLOTS = 128
};

typedef struct ParseBracket {
    Pos pos;
    int open; /* the token that opened it */
} ParseBracket;

/* What the lexer leaves out after a syntax error, so that one mistake gives one message. */
typedef enum ParseSkip {
    PARSE_SKIP_NONE,
    PARSE_SKIP_STATEMENT, /* up to the ';' or '}' of the statement's own block */
    PARSE_SKIP_ITEM       /* up to the next item at the start of a line */
} ParseSkip;

typedef struct ParseKeyword {
    Sym sym;
    int token;
} ParseKeyword;

typedef struct Parser {
    ParseSession *session;
    const SourceFile *file;
    ParseComments *comments; /* NULL: not wanted */
    AstBuilder build;

    /* the lexer: the text and the place in it */
    const unsigned char *text, *limit, *cursor;
    ParseKeyword keywords[PARSE_KEYWORD_SLOTS];
    StrBuf buf;                       /* a string */
    int last_token;                   /* the token before this one; 0 at the start */
    Pos last_end;                     /* where it ended */
    Pos last_begin;                   /* where it began */
    Pos previous_begin, previous_end; /* the token before that */
    Pos lexical_error;                /* one more than where the last error of the lexer begins */
    StrBuf doc;                       /* documentation that waits for its token */
    bool documented;
    uint32_t doc_comment;         /* the first comment of it */
    bool interpolated;            /* inside {...} of a string */
    uint32_t interpolation_depth; /* brackets that were open at its start */
    bool stopped;                 /* a fatal message was given: the input ends here */

    /* brackets and recovery */
    ParseBracket brackets[PARSE_MAX_BRACKETS];
    uint32_t nbrackets;
    uint32_t nerrors; /* syntax errors so far */
    ParseSkip skip;
    uint32_t skip_depth; /* brackets open round the broken statement */
    uint32_t closing;    /* '}' still to be made up before the item at the cursor */
} Parser;

#endif
