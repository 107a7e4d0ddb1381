/* The lexer: re2c over the whole file in memory, which ends in a zero byte; a zero byte before the
   end is a stray character like any other.  Sources are valid UTF-8 (checked when read); only
   strings and comments may hold anything beyond ASCII.

   Two things depend on what came before: after a dot digits are a part (t.0.1), and in a string's
   {...} a ':' or '}' outside brackets leads back into the string.

   After a syntax error the lexer leaves tokens out (lexer_recover), knowing which brackets are
   open: the grammar alone would stop at the first ';' inside a loop's body, say. */
#include "lang/lexer.h"

#include <string.h>

#include "base/num.h"
#include "lang/messages.h"

#define YYCURSOR parser->cursor
#define YYLIMIT parser->limit
#define YYMARKER marker
#define TEXT_AT(parser, p) ((parser)->file->base + (Pos)((p) - (parser)->text))

static uint32_t keyword_slot(Sym sym) { return (sym->hash ^ sym->hash >> 7) % PARSE_KEYWORD_SLOTS; }

static void keyword_add(Parser *parser, const char *text, int token) {
    Sym sym = intern(parser->session->interner, text);
    uint32_t slot = keyword_slot(sym);
    while (parser->keywords[slot].sym) slot = (slot + 1) % PARSE_KEYWORD_SLOTS;
    parser->keywords[slot] = (ParseKeyword){sym, token};
}

void lexer_init(Parser *parser) {
#define KEYWORD(token, text, class) keyword_add(parser, text, token);
#include "lang/keywords.def"
#undef KEYWORD
    parser->text = (const unsigned char *)parser->file->text;
    parser->limit = parser->text + parser->file->len;
    parser->cursor = parser->text;
    if (parser->file->len >= 3 && memcmp(parser->text, "\xEF\xBB\xBF", 3) == 0) parser->cursor += 3;
    parser->last_end = parser->file->base;
}

void lexer_free(Parser *parser) {
    strbuf_free(&parser->buf);
    strbuf_free(&parser->doc);
}

void lexer_stop(Parser *parser) { parser->stopped = true; }

/* ---- words and numbers -------------------------------------------------------------------- */

static int word(Parser *parser, const unsigned char *begin, YYSTYPE *value) {
    Sym sym = intern_n(parser->session->interner, (const char *)begin,
                       (size_t)(parser->cursor - begin));
    value->ID = sym; /* contextual words carry it too: the members overlap */
    for (uint32_t slot = keyword_slot(sym); parser->keywords[slot].sym;
         slot = (slot + 1) % PARSE_KEYWORD_SLOTS)
        if (parser->keywords[slot].sym == sym) return parser->keywords[slot].token;
    return ID;
}

static bool is_word_char(unsigned char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* From BEGIN to the cursor, for an error, so that the parser says nothing about its consequences. */
static Span span_wrong(Parser *parser, const unsigned char *begin) {
    parser->lexical_error = TEXT_AT(parser, begin) + 1;
    return (Span){TEXT_AT(parser, begin), TEXT_AT(parser, parser->cursor)};
}

/* What a literal with this suffix is: 'i' an integer, 'f' a float, 0 if there is no such suffix. */
static char suffix_class(const char *text, size_t len) {
#define SCALAR(NAME, name, class, bytes)                                                           \
    if (len == sizeof name - 1 && memcmp(text, name, len) == 0)                                    \
        return #class[0] == 'S' && #class[1] == 'I'   ? 'i'                                        \
               : #class[0] == 'U'                     ? 'i'                                        \
               : #class[0] == 'F' || #class[1] == 'T' ? 'f'                                        \
                                                      : 0;
#include "lang/scalars.def"
#undef SCALAR
    return 0;
}

static AstText text_copy(Parser *parser, const unsigned char *begin, size_t len) {
    char *copy = arena_strndup(parser->session->arena, (const char *)begin, len);
    return (AstText){copy, (uint32_t)len};
}

/* A number from BEGIN to the cursor, and its suffix, which begins there. */
static int number(Parser *parser, const unsigned char *begin, bool decimal, YYSTYPE *value) {
    Diags *diags = parser->session->diags;
    const unsigned char *suffix = parser->cursor;
    if (!decimal && suffix[0] == '.' && suffix[1] != '.') {
        parser->cursor++;
        diag_report(diags, DIAG_LEX_NUMBER, span_wrong(parser, begin),
                    is_word_char(suffix[1]) ? "a number has no fields: '%.*s'"
                                            : "a decimal point has digits on both sides: write %.*s0",
                    (int)(parser->cursor - begin), begin);
        value->FLOAT = text_copy(parser, begin, (size_t)(suffix - begin));
        return FLOAT;
    }
    while (is_word_char(*parser->cursor)) parser->cursor++;
    size_t len = (size_t)(parser->cursor - suffix);
    value->INT = text_copy(parser, begin, (size_t)(parser->cursor - begin));
    if (!len) return decimal ? FLOAT : INT;
    if (len == 1 && *suffix == 'i') {
        value->IMAG = text_copy(parser, begin, (size_t)(suffix - begin));
        return IMAG;
    }
    char class = suffix_class((const char *)suffix, len);
    if (class == 'f' || (class == 'i' && !decimal)) return class == 'f' ? FLOAT : INT;
    if (class == 'i')
        diag_report(diags, DIAG_LEX_NUMBER, span_wrong(parser, begin),
                    "a number with a decimal point or an exponent cannot be an %.*s", (int)len,
                    suffix);
    else
        diag_report(diags, DIAG_LEX_NUMBER, span_wrong(parser, begin),
                    "'%.*s' is not a suffix of a number (those are scalar types, as in 2.5f32 and "
                    "7u8, and i)",
                    (int)(len < 40 ? len : 40), suffix);
    value->INT = text_copy(parser, begin, (size_t)(suffix - begin));
    return decimal ? FLOAT : INT;
}

/* ---- strings ------------------------------------------------------------------------------ */

static int hex_digit(unsigned char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

/* The escape at the cursor, which stands on the backslash. */
static void escape(Parser *parser) {
    static const char from[] = "ntr\\\"0", to[] = "\n\t\r\\\"\0";
    const unsigned char *begin = parser->cursor++;
    unsigned char c = *parser->cursor;
    const char *found = c ? strchr(from, c) : NULL;
    if (found) {
        parser->cursor++;
        strbuf_char(&parser->buf, to[found - from]);
        return;
    }
    if (c == 'x' && hex_digit(parser->cursor[1]) >= 0 && hex_digit(parser->cursor[2]) >= 0) {
        strbuf_char(&parser->buf, (char)(hex_digit(parser->cursor[1]) * 16 +
                                         hex_digit(parser->cursor[2])));
        parser->cursor += 3;
        return;
    }
    if (c >= 0x20 && c < 0x7F) parser->cursor++;
    diag_report(parser->session->diags, DIAG_LEX_ESCAPE, span_wrong(parser, begin),
                c == 'x' ? "\\x takes two hexadecimal digits"
                         : "unknown escape; there are \\n \\t \\r \\\\ \\\" \\0 \\xNN");
}

static AstText string_text(Parser *parser) {
    AstText text = text_copy(parser, (const unsigned char *)(parser->buf.len ? parser->buf.text : ""),
                             parser->buf.len);
    strbuf_clear(&parser->buf);
    return text;
}

/* Ends a string that does not end by itself, so that parsing goes on behind it. */
static void string_unfinished(Parser *parser, const unsigned char *begin) {
    diag_report(parser->session->diags, DIAG_LEX_STRING, span_wrong(parser, begin),
                "the string is not finished on its line; a new line in it is written \\n");
}

/* Does a quote follow on this line?  If not, the string is unfinished, and that is enough said. */
static bool string_ends(const Parser *parser) {
    const unsigned char *p = parser->cursor;
    while (p < parser->limit && *p != '"' && *p != '\n') p++;
    return p < parser->limit && *p == '"';
}

/* The piece of a string from the cursor to its end or the next '{'; BEGIN: for messages.  FIRST:
   the piece after '"', not after '}'. */
static int string_piece(Parser *parser, const unsigned char *begin, bool first, YYSTYPE *value) {
    for (;;) {
        const unsigned char *run = parser->cursor;
        while (parser->cursor < parser->limit && *parser->cursor != '"' &&
               *parser->cursor != '\\' && *parser->cursor != '{' && *parser->cursor != '}' &&
               *parser->cursor != '\n')
            parser->cursor++;
        strbuf_add_n(&parser->buf, (const char *)run, (size_t)(parser->cursor - run));
        const unsigned char *at = parser->cursor;
        if (at == parser->limit || *at == '\n') {
            string_unfinished(parser, begin);
            break;
        }
        if (*at == '\\' && at + 1 < parser->limit && at[1] != '\n') {
            escape(parser);
            continue;
        }
        parser->cursor++;
        if (*at == '\\') continue; /* at the end: reported as unfinished */
        if (*at == '"') break;
        if (*at == parser->cursor[0]) { /* {{ or }} */
            parser->cursor++;
            strbuf_char(&parser->buf, (char)*at);
        } else if (*at == '}') {
            if (!string_ends(parser)) continue;
            diag_report(parser->session->diags, DIAG_LEX_INTERPOLATION, span_wrong(parser, at),
                        "no '{' stands before this '}'; a brace in a string is written }}");
        } else if (parser->cursor[0] == '}') {
            parser->cursor++;
            diag_report(parser->session->diags, DIAG_LEX_INTERPOLATION, span_wrong(parser, at),
                        "no value stands in the braces; braces in a string are written {{}}");
        } else {
            parser->interpolated = true;
            parser->interpolation_depth = parser->nbrackets;
            value->STR = string_text(parser);
            return first ? STR_HEAD : STR_MID;
        }
    }
    parser->interpolated = false;
    value->STR = string_text(parser);
    return first ? STR : STR_TAIL;
}

/* After the ':' of an interpolation: the form up to '}'. */
static int string_form(Parser *parser, YYSTYPE *value) {
    const unsigned char *begin = parser->cursor;
    while (parser->cursor < parser->limit && *parser->cursor != '}' && *parser->cursor != '"' &&
           *parser->cursor != '\n')
        parser->cursor++;
    value->FMT = text_copy(parser, begin, (size_t)(parser->cursor - begin));
    return FMT;
}

/* A quote or the end of the line inside {...}. */
static int string_broken(Parser *parser, const unsigned char *begin, YYSTYPE *value) {
    bool quote = *begin == '"';
    if (quote)
        while (parser->cursor < parser->limit && *parser->cursor != '"' && *parser->cursor != '\n')
            parser->cursor++;
    bool inner = quote && *parser->cursor == '"'; /* "a {f("b")} c" */
    parser->cursor = begin + (quote ? 1 : 0);
    diag_report(parser->session->diags, DIAG_LEX_INTERPOLATION, span_wrong(parser, begin),
                inner ? "no string stands inside the braces of a string; give it a name first"
                      : "the braces of this string are not closed: '}' is missing");
    if (inner)
        while (parser->cursor < parser->limit && *parser->cursor != '\n') parser->cursor++;
    parser->interpolated = false;
    strbuf_clear(&parser->buf);
    value->STR_TAIL = string_text(parser);
    parser->nbrackets = parser->interpolation_depth;
    return STR_TAIL;
}

/* ---- comments ----------------------------------------------------------------------------- */

static void comment_add(Parser *parser, const unsigned char *begin, const unsigned char *end) {
    if (end > begin && end[-1] == '\r') end--;
    if (parser->comments) {
        ParseComment comment = {{TEXT_AT(parser, begin), TEXT_AT(parser, end)}, false};
        vec_push(&parser->comments->list, comment);
    }
}

/* From the cursor behind the two slashes to the end of the line. */
static void comment_line(Parser *parser, const unsigned char *begin) {
    const void *end = memchr(parser->cursor, '\n', (size_t)(parser->limit - parser->cursor));
    parser->cursor = end ? end : parser->limit;
    comment_add(parser, begin, parser->cursor);
    if (parser->cursor - begin < 3 || begin[2] != '/' || begin[3] == '/') return;
    const unsigned char *from = begin + 3, *to = parser->cursor;
    if (to > from && to[-1] == '\r') to--;
    if (to > from && *from == ' ') from++;
    if (parser->documented) strbuf_char(&parser->doc, '\n');
    else if (parser->comments) parser->doc_comment = parser->comments->list.len - 1;
    strbuf_add_n(&parser->doc, (const char *)from, (size_t)(to - from));
    parser->documented = true;
}

static void comment_block(Parser *parser, const unsigned char *begin) {
    uint32_t depth = 1;
    const unsigned char *p = parser->cursor;
    for (; depth && p < parser->limit; p++) {
        if (p[0] == '/' && p[1] == '*') depth++, p++;
        else if (p[0] == '*' && p[1] == '/') depth--, p++;
    }
    parser->cursor = p < parser->limit ? p : parser->limit;
    comment_add(parser, begin, parser->cursor);
    if (depth) {
        Span mark = {TEXT_AT(parser, begin), TEXT_AT(parser, begin) + 2};
        diag_report(parser->session->diags, DIAG_LEX_COMMENT, mark,
                    "the comment that begins here is not closed; comments nest, so that every /* "
                    "needs its */");
        lexer_stop(parser);
    }
}

/* ---- what is no token --------------------------------------------------------------------- */

/* What to write instead of a character that ADL does not use, NULL if nothing is known. */
static const char *stray_hint(const char *text, size_t len) {
    static const struct {
        const char *text, *hint;
    } hints[] = {
        {"&", "write && for 'and', band(a, b) for the bits of integers"},
        {"^", "write ** for a power, bxor(a, b) for the bits of integers"},
        {"~", "write bnot(a) for the bits of an integer, ! for 'not'"},
        {"#", "comments begin with //"},
        {"'", "strings stand in double quotes"},
        {"`", "strings stand in double quotes"},
        {"?", "write if c { a } else { b }"},
        {"\\", "a line goes on by itself until its ';'"},
        {"$", "a value is put into a string by {...}"},
        {"−", "write -"}, {"–", "write -"}, {"×", "write *"}, {"·", "write *"}, {"÷", "write /"},
        {"≤", "write <="}, {"≥", "write >="}, {"≠", "write !="}, {"→", "write ->"},
        {"“", "strings stand in straight double quotes"},
        {"”", "strings stand in straight double quotes"},
        {"…", "write .. for a range"}, {"²", "write ** 2"}, {"³", "write ** 3"},
        {" ", "write an ordinary space (this one is a no-break space)"},
    };
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
        if (strlen(hints[i].text) == len && memcmp(hints[i].text, text, len) == 0)
            return hints[i].hint;
    return NULL;
}

static void stray(Parser *parser, const unsigned char *begin) {
    Diags *diags = parser->session->diags;
    unsigned char c = *begin;
    size_t len = (size_t)(parser->cursor - begin);
    const char *hint = stray_hint((const char *)begin, len);
    if (c < 0x20 || c == 0x7F)
        diag_report(diags, DIAG_LEX_STRAY, span_wrong(parser, begin), "unexpected %s (code %d)",
                    c ? "control character" : "zero byte", c);
    else
        diag_report(diags, DIAG_LEX_STRAY, span_wrong(parser, begin), "unexpected character '%.*s'",
                    (int)len, begin);
    if (hint) diag_help(diags, (Span){0, 0}, "%s", hint);
}

/* A character beyond ASCII, or a word with one, which stays a name for the parser: true. */
static bool beyond_ascii(Parser *parser, const unsigned char *begin, YYSTYPE *value) {
    unsigned char c = *begin;
    size_t first = c < 0x80 ? 0 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
    bool symbol = (c == 0xC2 || c == 0xE2) || (c == 0xC3 && (begin[1] == 0x97 || begin[1] == 0xB7));
    if (first && (symbol || stray_hint((const char *)begin, first))) {
        parser->cursor = begin + first;
        stray(parser, begin);
        return false;
    }
    value->ID = intern_n(parser->session->interner, (const char *)begin,
                         (size_t)(parser->cursor - begin));
    diag_report(parser->session->diags, DIAG_LEX_NAME, span_wrong(parser, begin),
                "names consist of the letters a-z and A-Z, digits and _: '%.*s'",
                (int)(parser->cursor - begin), begin);
    return true;
}

/* ---- tokens ------------------------------------------------------------------------------- */

static int open_bracket(Parser *parser, const unsigned char *begin) {
    if (parser->nbrackets == PARSE_MAX_BRACKETS) {
        diag_report(parser->session->diags, DIAG_SYNTAX_DEPTH, span_wrong(parser, begin),
                    "this is nested too deeply; at most %d brackets may be open at one place",
                    PARSE_MAX_BRACKETS);
        lexer_stop(parser);
        return 0;
    }
    parser->brackets[parser->nbrackets++] = (ParseBracket){TEXT_AT(parser, begin), *begin};
    return *begin;
}

/* A '}' closes what is open inside its braces too; a ')' or ']' without its partner, nothing. */
static int close_bracket(Parser *parser, int close) {
    int open = close == '}' ? '{' : close == ')' ? '(' : '[';
    uint32_t n = parser->nbrackets;
    if (close == '}')
        while (n && parser->brackets[n - 1].open != '{') n--;
    if (n && parser->brackets[n - 1].open == open) parser->nbrackets = n - 1;
    return close;
}

static int compound(YYSTYPE *value, AstOp op) {
    value->OPEQ = op;
    return OPEQ;
}

/* The next token, whatever the parser is doing. */
static int scan(Parser *parser, YYSTYPE *value, const unsigned char **start) {
    const unsigned char *begin, *marker;
again:
    begin = *start = parser->cursor;
    if (parser->stopped || parser->build.too_deep) return 0;
    if (parser->last_token == '.' && *begin >= '0' && *begin <= '9') {
        while (*parser->cursor >= '0' && *parser->cursor <= '9') parser->cursor++;
        value->INT = text_copy(parser, begin, (size_t)(parser->cursor - begin));
        return INT;
    }
    if (parser->interpolated && parser->nbrackets <= parser->interpolation_depth) {
        if (*begin == ':') return parser->cursor++, string_form(parser, value);
        if (*begin == '}') return parser->cursor++, string_piece(parser, begin, false, value);
    }
/*!re2c
    re2c:define:YYCTYPE = "unsigned char";
    re2c:yyfill:enable = 0;
    re2c:eof = 0;

    digits = [0-9] ("_"? [0-9])*;
    hexdigits = [0-9a-fA-F] ("_"? [0-9a-fA-F])*;
    exponent = [eE] [+-]? digits;
    binexponent = [pP] [+-]? digits;
    name = [A-Za-z_] [A-Za-z0-9_]*;
    beyond = [\x80-\xff];

    [ \t\r\f]+ { goto again; }
    "\n" {
        if (parser->interpolated) return string_broken(parser, begin, value);
        goto again;
    }
    "//" { comment_line(parser, begin); goto again; }
    "/*" { comment_block(parser, begin); goto again; }

    name { return word(parser, begin, value); }
    name? beyond [A-Za-z0-9_\x80-\xff]* {
        if (beyond_ascii(parser, begin, value)) return ID;
        goto again;
    }

    digits { return number(parser, begin, false, value); }
    "0" [xX] hexdigits { return number(parser, begin, false, value); }
    digits "." digits exponent? { return number(parser, begin, true, value); }
    digits exponent { return number(parser, begin, true, value); }
    "0" [xX] hexdigits ("." hexdigits)? binexponent { return number(parser, begin, true, value); }

    ["] {
        if (parser->interpolated) return string_broken(parser, begin, value);
        return string_piece(parser, begin, true, value);
    }

    "(" | "[" | "{" { return open_bracket(parser, begin); }
    ")" | "]" | "}" { return close_bracket(parser, *begin); }
    "+=" { return compound(value, AST_OP_ADD); }
    "-=" { return compound(value, AST_OP_SUB); }
    "*=" { return compound(value, AST_OP_MUL); }
    "/=" { return compound(value, AST_OP_DIV); }
    "%=" { return compound(value, AST_OP_MOD); }
    "**=" { return compound(value, AST_OP_POW); }
    "@=" { return compound(value, AST_OP_MATMUL); }
    ".." { return DOTDOT; }
    "->" { return ARROW; }
    "||" { return OROR; }
    "&&" { return ANDAND; }
    "**" { return POW; }
    "==" { return EQ; }
    "!=" { return NE; }
    "<=" { return LE; }
    ">=" { return GE; }
    [-+*/%@!<>=|.,:;] { return *begin; }

    * { stray(parser, begin); goto again; }
    $ {
        if (parser->interpolated) return string_broken(parser, begin, value);
        return 0;
    }
*/
}

/* ---- recovery ----------------------------------------------------------------------------- */

/* Is TOKEN at BEGIN, first on its line, the beginning of an item?  Only `fn` can also begin a line
   inside a well-formed item, and nobody writes it there. */
static bool item_starts(const Parser *parser, int token, const unsigned char *begin) {
    if (begin != parser->text && begin[-1] != '\n') return false;
    switch (token) {
    case FN: case STRUCT: case CONSTKW: case EXPORT: case EXTERN: case USE: case TEST: case BENCH:
    case KERNEL: case DERIVATIVE: return true;
    default: return false;
    }
}

static uint32_t open_braces(const Parser *parser) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < parser->nbrackets; i++) n += parser->brackets[i].open == '{';
    return n;
}

void lexer_recover(Parser *parser, int token, Span span) {
    if (parser->closing || parser->stopped || !token) return;
    const unsigned char *begin = parser->text + (span.begin - parser->file->base);
    uint32_t n = parser->nbrackets;
    bool opened = n && parser->brackets[n - 1].pos == span.begin;
    if (opened) n--;
    while (n && parser->brackets[n - 1].open != '{') n--;
    if (item_starts(parser, token, begin)) {
        parser->closing = open_braces(parser);
        if (parser->closing) parser->cursor = begin;
        parser->nbrackets = 0;
        return;
    }
    parser->skip_depth = n;
    if (opened) parser->brackets[n++] = parser->brackets[parser->nbrackets - 1];
    parser->nbrackets = n;
    if (parser->interpolated) parser->interpolation_depth = n;
    if (!parser->skip_depth) parser->skip = PARSE_SKIP_ITEM;
    else if (token != ';' && token != '}') parser->skip = PARSE_SKIP_STATEMENT;
}

/* Behind braces that were left out: does a statement begin on the next line? */
static bool statement_starts(const Parser *parser) {
    const unsigned char *p = parser->cursor;
    bool line = false;
    for (; *p == ' ' || *p == '\t' || *p == '\r' || *p == '\n'; p++) line |= *p == '\n';
    return line && (is_word_char(*p) || *p == '(' || *p == '{' || (p[0] == '/' && p[1] == '/')) &&
           !(strncmp((const char *)p, "else", 4) == 0 && !is_word_char(p[4]));
}

/* A token was read while leaving out: 0 to leave it out too, else the token to return. */
static int skipped(Parser *parser, int token, const unsigned char *begin, bool *inside) {
    if (item_starts(parser, token, begin)) {
        parser->skip = PARSE_SKIP_NONE;
        parser->closing = open_braces(parser);
        if (parser->closing) parser->cursor = begin;
        parser->nbrackets = 0;
        return parser->closing ? (parser->closing--, '}') : token;
    }
    if (parser->skip == PARSE_SKIP_ITEM) return 0;
    if (parser->nbrackets > parser->skip_depth) return *inside = true, 0;
    if (*inside && parser->nbrackets == parser->skip_depth) {
        *inside = false;
        if (token != '}' || !statement_starts(parser)) return 0;
        token = ';';
    }
    if (token != ';' && token != '}') return 0;
    parser->skip = PARSE_SKIP_NONE;
    return token;
}

int lexer_next(Parser *parser, YYSTYPE *value, Span *span) {
    if (parser->closing) {
        parser->closing--;
        *span = (Span){parser->last_end, parser->last_end};
        return '}';
    }
    /* after an opening token that was an error itself, the first one is inside already */
    bool inside = parser->skip == PARSE_SKIP_STATEMENT && parser->nbrackets > parser->skip_depth;
    for (;;) {
        const unsigned char *begin;
        int token = scan(parser, value, &begin);
        *span = (Span){TEXT_AT(parser, begin), TEXT_AT(parser, parser->cursor)};
        if (parser->documented) {
            build_doc(&parser->build, span->begin,
                      text_copy(parser, (const unsigned char *)(parser->doc.len ? parser->doc.text : ""),
                                parser->doc.len),
                      parser->doc_comment);
            strbuf_clear(&parser->doc);
            parser->documented = false;
        }
        parser->last_token = token;
        if (token && parser->skip) token = skipped(parser, token, begin, &inside);
        else if (!token) parser->skip = PARSE_SKIP_NONE;
        if (!token && parser->skip) continue;
        parser->last_token = token;
        parser->previous_end = parser->last_end;
        parser->previous_begin = parser->last_begin;
        parser->last_begin = span->begin;
        parser->last_end = span->end;
        return token;
    }
}
