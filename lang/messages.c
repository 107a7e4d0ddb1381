/* The texts of syntax errors.  The grammar says which tokens could stand at a place; here that set
   becomes a few words: all beginnings of an expression are "an expression", and what merely could
   go on (an operator, an argument list) is left out where something could also end. */
#include "lang/messages.h"

#include <string.h>

#include "lang/grammar.h"
#include "lang/lexer.h"

enum { TOKEN_SPACE = 400, WORDS_MAX = 5 };

typedef struct Expected {
    bool has[TOKEN_SPACE];
} Expected;

static const char *keyword_text(int token) {
    switch (token) {
#define KEYWORD(name, text, class)                                                                 \
    case name:                                                                                     \
        return text;
#include "lang/keywords.def"
#undef KEYWORD
    default: return NULL;
    }
}

static const char *token_text(int token) {
    switch (token) {
    case DOTDOT: return "..";
    case ARROW: return "->";
    case OROR: return "||";
    case ANDAND: return "&&";
    case POW: return "**";
    case EQ: return "==";
    case NE: return "!=";
    case LE: return "<=";
    case GE: return ">=";
    default: return keyword_text(token);
    }
}

/* What a token is called where it is expected, quotes included. */
static void expected_text(StrBuf *out, int token) {
    const char *text = token_text(token);
    if (text) strbuf_printf(out, "'%s'", text);
    else if (token > 0 && token < 128) strbuf_printf(out, "'%c'", token);
    else if (token == INT) strbuf_add(out, "a number");
    else if (token == STR) strbuf_add(out, "a string");
    else if (token == STR_TAIL || token == STR_MID) strbuf_add(out, "'}'");
    else if (token == FMT) strbuf_add(out, "':'");
    else if (token == OPEQ) strbuf_add(out, "an assignment");
    else if (token == YYEOF) strbuf_add(out, "the end of the file");
    else strbuf_add(out, "something else");
}

static const char *source_at(const Parser *parser, Pos pos) {
    return parser->file->text + (pos - parser->file->base);
}

static void found_text(StrBuf *out, const Parser *parser, int token, Span span) {
    int len = (int)(span.end - span.begin < 40 ? span.end - span.begin : 40);
    const char *text = source_at(parser, span.begin);
    switch (token) {
    case YYEOF: strbuf_add(out, "end of file"); break;
    case ID: strbuf_printf(out, "name '%.*s'", len, text); break;
    case INT:
    case FLOAT:
    case IMAG: strbuf_printf(out, "number '%.*s'", len, text); break;
    case STR:
    case STR_HEAD: strbuf_add(out, "string"); break;
    case STR_MID:
    case STR_TAIL: strbuf_add(out, "'}'"); break;
    case FMT: strbuf_add(out, "':'"); break;
    default: strbuf_printf(out, "'%.*s'", len, text); break;
    }
}

/* Takes the tokens of a set out; true if ALL of the leading NEEDED ones were in. */
static bool take(Expected *e, const int *tokens, size_t n, size_t needed) {
    for (size_t i = 0; i < needed; i++)
        if (!e->has[tokens[i]]) return false;
    for (size_t i = 0; i < n; i++) e->has[tokens[i]] = false;
    return true;
}

#define TAKE(e, needed, ...)                                                                       \
    take((e), (const int[]){__VA_ARGS__}, sizeof((const int[]){__VA_ARGS__}) / sizeof(int), needed)

#define NAMES ID, BY, WHERE, TEST, BENCH, KERNEL, DERIVATIVE, SHARED, CHECKPOINT, AS
#define ACTIVITIES A_CONST, A_ACTIVE, A_DUP, A_DUPNN, A_BATCH, A_BATCHNN
#define ATOMS                                                                                      \
    INT, STR, FLOAT, IMAG, TRUE, FALSE, STR_HEAD, '(', '[', '{', IF, '-', '!', '|', GRAD, JVP,     \
        SPLIT, DEFERRED, LAUNCH, NAMES
#define OPERATORS                                                                                  \
    '*', '%', OROR, ANDAND, EQ, NE, '<', '>', LE, GE, '+', '-', '/', '@', POW, '(', '[', '.'

/* The set in words, the most telling first. */
static void expected_words(Expected *e, StrBuf words[], int *n) {
    bool value_ends =
        e->has[';'] || e->has[')'] || e->has[']'] || e->has['}'] || e->has['{'] || e->has[':'];
    const char *what = NULL;
    if (TAKE(e, 2, STRUCT, EXPORT, FN, KERNEL, EXTERN, DERIVATIVE, CONSTKW, USE, TEST, BENCH)) {
        what = "an item (fn, export, const, struct, use, test ...)";
        e->has[YYEOF] = false;
    } else if (TAKE(e, 2, LET, RETURN, VAR, FOR, WHILE, BREAK, CONTINUE, ASSERT, ATOMS)) {
        what = "a statement";
    } else if (TAKE(e, 2, ATOMS, FOR, ACTIVITIES, DOTDOT, UNDER)) {
        what = "an expression";
    } else if (TAKE(e, 3, FN, '[', '(', ACTIVITIES, MUT, STRIDED, NAMES)) {
        what = "a type";
    } else if (e->has[UNDER] && TAKE(e, 2, ID, '(', UNDER, NAMES)) {
        what = "a name or a pattern";
    } else if (TAKE(e, 1, NAMES)) {
        what = "a name";
    }
    if (TAKE(e, 2, OPERATORS)) {
        if (!what && !value_ends) what = "an operator";
        if (value_ends || e->has[DOTDOT]) e->has['='] = e->has[OPEQ] = e->has[FMT] = false;
        if (e->has[';']) e->has['}'] = false;
        if (e->has[STR_TAIL]) e->has[STR_MID] = false;
        if (e->has['{']) e->has[CHECKPOINT] = false;
    }
    if (value_ends) e->has['['] = e->has['.'] = false;
    if (what) strbuf_add(&words[(*n)++], what);
    for (int token = 0; token < TOKEN_SPACE; token++) {
        if (!e->has[token]) continue;
        if (*n == WORDS_MAX) {
            *n = WORDS_MAX + 1;
            return;
        }
        expected_text(&words[(*n)++], token);
    }
}

/* ---- hints -------------------------------------------------------------------------------- */

static bool is_reserved(int token) {
    switch (token) {
#define KEYWORD(name, text, class)                                                                 \
    case name:                                                                                     \
        return #class[0] != 'C';
#include "lang/keywords.def"
#undef KEYWORD
    default: return false;
    }
}

static bool is_comparison(int token) {
    return token == EQ || token == NE || token == LE || token == GE || token == '<' || token == '>';
}

/* What was probably meant, or NULL. */
static const char *hint(const Parser *parser, int token, Span span, const Expected *e) {
    const char *text = source_at(parser, span.begin);
    char before = span.begin > parser->file->base ? text[-1] : 0;
    if (is_comparison(token) && e->has[ANDAND]) return "comparisons do not chain; join two with &&";
    if ((token == '<' && before == '<') || (token == '>' && before == '>'))
        return "shifts are functions: shl(a, k), shr(a, k)";
    if (token == '=' && before == '.') return "the end of a range is not reached: write a..b + 1";
    if (token == '=' && e->has[ANDAND]) return "to compare, write ==";
    if (token == '|' && e->has[ANDAND])
        return "write || for 'or', bor(a, b) for the bits of integers";
    if (token == OROR && e->has[INT]) return "a lambda has at least one parameter";
    if (token == '.' && e->has[INT] && text[1] >= '0' && text[1] <= '9')
        return "a decimal point has digits on both sides, as in 0.5";
    if (token == ';' && (before == '+' || before == '-') && text[-2] == before)
        return "write x += 1 or x -= 1";
    if (token == ELSE) return "'else' stands behind the '}' of an if";
    if (token == FOR && e->has[INT])
        return "a loop has no value; an array is built by [for i in 0..n: e]";
    if (token == STR_HEAD && e->has[STR]) return "this string takes no {...}; write {{ for a brace";
    if (is_reserved(token) && e->has[ID] && !e->has[INT] && !e->has[FN])
        return "this word is reserved and cannot be a name";
    if (token == ':' && e->has[';'] && e->has[ANDAND])
        return "a type stands in let and var: let x: f64 = e;";
    return NULL;
}

/* The bracket that a missing closing one belongs to, if that is the trouble. */
static const ParseBracket *unclosed(const Parser *parser, int token, Span span, const Expected *e) {
    uint32_t n = parser->nbrackets;
    while (n && parser->brackets[n - 1].pos >= span.begin) n--;
    if (!n) return NULL;
    const ParseBracket *bracket = &parser->brackets[n - 1];
    int close = bracket->open == '(' ? ')' : bracket->open == '[' ? ']' : '}';
    bool ends = !token || token == ';' || token == ')' || token == ']' || token == '}' ||
                token == FN || token == EXPORT || token == STRUCT || token == CONSTKW;
    return ends && e->has[close] ? bracket : NULL;
}

/* ---- messages ----------------------------------------------------------------------------- */

void message_too_deep(Parser *parser, Span span) {
    if (parser->stopped) return;
    diag_report(parser->session->diags, DIAG_SYNTAX_DEPTH, span, "this is nested too deeply");
}

/* A ';' that is missing at the end of a line is reported there. */
static bool missing_semicolon(Parser *parser, int token, Span span, const Expected *e) {
    if (!e->has[';'] || token == ';' || token == ':' || !token) return false;
    uint32_t line, last_line, col;
    Pos end = parser->previous_end;
    source_line_col(parser->file, span.begin, &line, &col);
    source_line_col(parser->file, end, &last_line, &col);
    if (token != '}' && line == last_line) return false;
    if (token == '}' && e->has['}']) return false;
    diag_report(parser->session->diags, DIAG_SYNTAX_SEMICOLON, (Span){end, end},
                "';' is missing at the end of the statement");
    return true;
}

void message_unexpected(Parser *parser, int token, Span span, const int *expected, int nexpected) {
    if (parser->stopped || parser->closing || parser->build.too_deep) return;
    if (parser->lexical_error > parser->previous_begin) return;
    if (++parser->nerrors > PARSE_MAX_ERRORS) {
        lexer_stop(parser);
        return;
    }
    if (token == STR_MID || token == STR_TAIL) span.end = span.begin + 1;
    Expected set = {{false}};
    for (int i = 0; i < nexpected; i++)
        if (expected[i] >= 0 && expected[i] < TOKEN_SPACE) set.has[expected[i]] = true;
    if (missing_semicolon(parser, token, span, &set)) return;
    const char *help = hint(parser, token, span, &set);
    const ParseBracket *open = unclosed(parser, token, span, &set);

    StrBuf text = {0}, words[WORDS_MAX] = {{0}};
    int n = 0;
    strbuf_add(&text, "unexpected ");
    found_text(&text, parser, token, span);
    expected_words(&set, words, &n);
    for (int i = 0; i < n && n <= WORDS_MAX; i++) {
        strbuf_add(&text, i == 0 ? ", expected " : i == n - 1 ? " or " : ", ");
        strbuf_add_n(&text, words[i].text, words[i].len);
    }
    diag_report(parser->session->diags, DIAG_SYNTAX_UNEXPECTED, span, "%s", text.text);
    if (open)
        diag_note(parser->session->diags, (Span){open->pos, open->pos + 1},
                  "the '%c' that is open stands here", open->open);
    if (help) diag_help(parser->session->diags, (Span){0, 0}, "%s", help);
    strbuf_free(&text);
    for (int i = 0; i < WORDS_MAX; i++) strbuf_free(&words[i]);
}
