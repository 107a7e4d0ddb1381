/* What the three files of the parser of the IR's text share. */
#ifndef ADL_IR_PARSE_H
#define ADL_IR_PARSE_H

#include "base/bitset.h"
#include "base/intern.h"
#include "ir/internal.h"

typedef enum IrToken {
    TOKEN_END,
    TOKEN_WORD,
    TOKEN_NUMBER, /* with its sign; "-inf" too */
    TOKEN_STRING, /* decoded in text */
    TOKEN_VALUE,  /* %text */
    TOKEN_FUNC,   /* @text */
    TOKEN_ARROW,
    TOKEN_PUNCT, /* the character is text[0] */
} IrToken;

typedef struct IrParser {
    IrModule *module;
    const char *at, *end;
    uint32_t line;
    IrToken token;
    bool starts_line;
    const char *text; /* of the token: in the source (see len), or decoded */
    size_t len;
    const char *message; /* of the first error; then every token is END */
    Interner *names;
    /* of the function at hand */
    IrFunc *func;
    Map values; /* by interned token */
    Bitset ids;
    uint32_t next_id; /* one beyond the highest that was given */
    VEC(IrValue *) unnumbered;
    uint32_t depth;
} IrParser;

/* ---- lex.c ---- */
void ir_next(IrParser *p);
void ir_parse_error(IrParser *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool ir_at_punct(const IrParser *p, char c);
bool ir_at_word(const IrParser *p, const char *word);
/* Takes it if it is there. */
bool ir_take_punct(IrParser *p, char c);
bool ir_take_word(IrParser *p, const char *word);
/* It must be there. */
void ir_expect_punct(IrParser *p, char c);
void ir_expect_word(IrParser *p, const char *word);
int64_t ir_parse_int(IrParser *p);
const char *ir_parse_string(IrParser *p);

/* ---- parse-inst.c ---- */
IrType ir_parse_type(IrParser *p);
IrFunc *ir_parse_func_ref(IrParser *p);
/* The hint of a value's token, or NULL. */
const char *ir_value_hint(IrParser *p);
/* VALUE is what the token at hand names from here on. */
void ir_define(IrParser *p, IrValue *value);
/* Behind "{" to its "}". */
void ir_parse_region(IrParser *p, IrRegion *region);

#endif
