/* Tokens: what each text becomes, and the messages for what is none. */
#include "tests/unit/unit.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lang/lexer.h"
#include "source/session.h"

typedef struct Lexed {
    Session *session;
    ParseSession parse;
    Parser *parser;
    StrBuf out;
} Lexed;

static Lexed lex_begin(const char *text, size_t len) {
    Lexed l = {.session = session_new(), .parser = calloc(1, sizeof(Parser))};
    return l.parser->file = sources_add(&l.session->sources, "a.adl", text, len), l;
}

static void lex_end(Lexed *l) {
    build_free(&l->parser->build);
    lexer_free(l->parser);
    strbuf_free(&l->out);
    free(l->parser);
    session_free(l->session);
}

/* The tokens of TEXT, separated by spaces: their kinds, and the values where there are any. */
static const char *tokens(Lexed *l) {
    l->parse = (ParseSession){l->session->arena, l->session->interner, l->session->diags, 1};
    l->parser->session = &l->parse;
    build_init(&l->parser->build, &l->parse, NULL);
    lexer_init(l->parser);
    YYSTYPE value;
    Span span;
    for (int token; (token = lexer_next(l->parser, &value, &span));) {
        if (l->out.len) strbuf_char(&l->out, ' ');
        switch (token) {
        case ID: strbuf_add(&l->out, value.ID->text); break;
        case INT: strbuf_printf(&l->out, "i:%s", value.INT.at); break;
        case FLOAT: strbuf_printf(&l->out, "f:%s", value.FLOAT.at); break;
        case IMAG: strbuf_printf(&l->out, "im:%s", value.IMAG.at); break;
        case STR: strbuf_printf(&l->out, "s:%s", value.STR.at); break;
        case STR_HEAD: strbuf_printf(&l->out, "h:%s", value.STR_HEAD.at); break;
        case STR_MID: strbuf_printf(&l->out, "m:%s", value.STR_MID.at); break;
        case STR_TAIL: strbuf_printf(&l->out, "t:%s", value.STR_TAIL.at); break;
        case FMT: strbuf_printf(&l->out, ":%s", value.FMT.at); break;
        case OPEQ: strbuf_printf(&l->out, "%s=", ast_op_text(value.OPEQ)); break;
        default:
            strbuf_add_n(&l->out, l->parser->file->text + (span.begin - l->parser->file->base),
                         span.end - span.begin);
        }
    }
    strbuf_add(&l->out, "");
    return l->out.text;
}

static void expect_n(const char *text, size_t len, const char *expected) {
    Lexed l = lex_begin(text, len);
    ck_assert_str_eq(tokens(&l), expected);
    ck_assert_uint_eq(diags_errors(l.session->diags), 0);
    lex_end(&l);
}

static void expect(const char *text, const char *expected) {
    expect_n(text, strlen(text), expected);
}

/* The first line of the only message. */
static void expect_error_n(const char *text, size_t len, const char *message) {
    Lexed l = lex_begin(text, len);
    tokens(&l);
    ck_assert_uint_eq(diags_errors(l.session->diags), 1);
    strbuf_clear(&l.out);
    diags_render(l.session->diags, &l.out);
    *strchr(l.out.text, '\n') = 0;
    ck_assert_str_eq(l.out.text, message);
    lex_end(&l);
}

static void expect_error(const char *text, const char *message) {
    expect_error_n(text, strlen(text), message);
}

START_TEST(words_and_operators) {
    expect("", "");
    expect(" \t\r\n\f", "");
    expect("a _b c3 _", "a _b c3 _");
    expect("letx let by grad Const", "letx let by grad Const");
    expect("a+=b**=c**d*=e@=f", "a += b **= c ** d *= e @= f");
    expect("a->b- >c||d|e&&f", "a -> b - > c || d | e && f");
    expect("a<=b==c!=d>=e<f>g=h", "a <= b == c != d >= e < f > g = h");
    expect("x--y", "x - - y");
}
END_TEST

START_TEST(numbers) {
    expect("0 1_000 0xff 0XFF_ff 7u8 42i64", "i:0 i:1_000 i:0xff i:0XFF_ff i:7u8 i:42i64");
    expect("1.5 1e-12 1_0.2_5e+1 2.5f32 3f32", "f:1.5 f:1e-12 f:1_0.2_5e+1 f:2.5f32 f:3f32");
    expect("0x1p-3 0x1.8p3", "f:0x1p-3 f:0x1.8p3");
    expect("2i 1.5i 0x1p1i", "im:2 im:1.5 im:0x1p1");
    expect("1..n 1 .. 2 1.5..2", "i:1 .. n i:1 .. i:2 f:1.5 .. i:2");
    expect("t.0.1 t.0 .1.x f(t).12.3", "t . i:0 . i:1 t . i:0 . i:1 . x f ( t ) . i:12 . i:3");
    expect_error("1.", "a.adl:1:1: error[E0106]: a decimal point has digits on both sides: write "
                       "1.0");
    expect_error("1. + 2", "a.adl:1:1: error[E0106]: a decimal point has digits on both sides: "
                           "write 1.0");
    expect_error("2.5u8", "a.adl:1:1: error[E0106]: a number with a decimal point or an exponent "
                          "cannot be an u8");
    expect_error("3foo", "a.adl:1:1: error[E0106]: 'foo' is not a suffix of a number (those are "
                         "scalar types, as in 2.5f32 and 7u8, and i)");
    expect_error("1__0", "a.adl:1:1: error[E0106]: '__0' is not a suffix of a number (those are "
                         "scalar types, as in 2.5f32 and 7u8, and i)");
}
END_TEST

START_TEST(strings) {
    expect("\"\" \"abc\"", "s: s:abc");
    expect("\"\\n\\t\\r\\\\\\\"\\x41\"", "s:\n\t\r\\\"A");
    expect("\"{{}}\"", "s:{}");
    expect("\"a{x}b{y:.3f}c\"", "h:a x m:b y :.3f t:c");
    expect("\"{x}\"", "h: x t:");
    expect("\"{f(a, b: [1, 2][0]):5d}\"", "h: f ( a , b : [ i:1 , i:2 ] [ i:0 ] ) :5d t:");
    expect("\"{ {1} }\"", "h: { i:1 } t:");
    expect("\"// no comment\" // comment", "s:// no comment");
    expect("\"\xC3\xA9\"", "s:\xC3\xA9");
}
END_TEST

START_TEST(strings_hold_zero_bytes) {
    static const char text[] = "\"a\\0b\0c\"";
    Lexed l = lex_begin(text, sizeof text - 1);
    l.parse = (ParseSession){l.session->arena, l.session->interner, l.session->diags, 1};
    l.parser->session = &l.parse;
    build_init(&l.parser->build, &l.parse, NULL);
    lexer_init(l.parser);
    YYSTYPE value;
    Span span;
    ck_assert_int_eq(lexer_next(l.parser, &value, &span), STR);
    ck_assert_uint_eq(value.STR.len, 5);
    ck_assert_mem_eq(value.STR.at, "a\0b\0c", 6);
    ck_assert_int_eq(lexer_next(l.parser, &value, &span), 0);
    lex_end(&l);
}
END_TEST

START_TEST(broken_strings) {
    expect_error("\"abc", "a.adl:1:1: error[E0107]: the string is not finished on its line; a new "
                          "line in it is written \\n");
    expect_error("\"abc\ndef", "a.adl:1:1: error[E0107]: the string is not finished on its line; "
                               "a new line in it is written \\n");
    expect_error("\"abc\\", "a.adl:1:1: error[E0107]: the string is not finished on its line; a "
                            "new line in it is written \\n");
    expect_error("\"\\q\"", "a.adl:1:2: error[E0108]: unknown escape; there are \\n \\t \\r \\\\ "
                            "\\\" \\0 \\xNN");
    expect_error("\"\\x4\"", "a.adl:1:2: error[E0108]: \\x takes two hexadecimal digits");
    expect_error("\"a } b\"", "a.adl:1:4: error[E0109]: no '{' stands before this '}'; a brace in "
                              "a string is written }}");
    expect_error("\"a {} b\"", "a.adl:1:4: error[E0109]: no value stands in the braces; braces in "
                               "a string are written {{}}");
    expect_error("\"a {x", "a.adl:1:6: error[E0109]: the braces of this string are not closed: '}' "
                           "is missing");
    expect_error("\"a {x\n", "a.adl:1:6: error[E0109]: the braces of this string are not closed: "
                             "'}' is missing");
    expect_error("\"a {x\"", "a.adl:1:6: error[E0109]: the braces of this string are not closed: "
                             "'}' is missing");
    expect_error("\"a {f(\"b\")} c\"", "a.adl:1:7: error[E0109]: no string stands inside the "
                                       "braces of a string; give it a name first");
}
END_TEST

START_TEST(comments) {
    expect("a // b\nc", "a c");
    expect("a /* b /* c */ d */ e", "a e");
    expect("a /**/ b /***/ c", "a b c");
    expect("a // b", "a");
    expect("/// doc\na", "a");
    expect_error("a /* /* */", "a.adl:1:3: error[E0110]: the comment that begins here is not "
                               "closed; comments nest, so that every /* needs its */");
}
END_TEST

START_TEST(stray_characters) {
    expect_error("a & b", "a.adl:1:3: error[E0104]: unexpected character '&'");
    expect_error("#", "a.adl:1:1: error[E0104]: unexpected character '#'");
    expect_error("\xE2\x88\x92", "a.adl:1:1: error[E0104]: unexpected character '\xE2\x88\x92'");
    expect_error("na\xC3\xAFve", "a.adl:1:1: error[E0105]: names consist of the letters a-z and "
                                 "A-Z, digits and _: 'na\xC3\xAFve'");
    expect_error("\xCE\xB1", "a.adl:1:1: error[E0105]: names consist of the letters a-z and A-Z, "
                             "digits and _: '\xCE\xB1'");
    expect_error("\x01", "a.adl:1:1: error[E0104]: unexpected control character (code 1)");
    expect_error_n("a\0b", 3, "a.adl:1:2: error[E0104]: unexpected zero byte (code 0)");
    expect_n("// \0\na /* \0 */", 14, "a");
    expect("\xEF\xBB\xBF"
           "a",
           "a");
}
END_TEST

/* Does WORD stand in TEXT as a whole word? */
static bool has_word(const char *text, const char *word) {
    size_t len = strlen(word);
    for (const char *at = text; (at = strstr(at, word)); at += len) {
        bool begins = at == text || !strchr("_", at[-1]);
        bool joined = (at > text && isalnum((unsigned char)at[-1])) ||
                      isalnum((unsigned char)at[len]) || at[len] == '_';
        if (begins && !joined) return true;
    }
    return false;
}

static void expect_words(const char *path) {
    StrBuf name = {0}, text = {0};
    strbuf_printf(&name, "%s/%s", getenv("ADL_SOURCE_DIR"), path);
    FILE *file = fopen(name.text, "r");
    ck_assert_msg(file != NULL, "%s", name.text);
    for (int c; (c = getc(file)) != EOF;) strbuf_char(&text, (char)c);
    fclose(file);
#define KEYWORD(token, word, class)                                                                \
    ck_assert_msg(has_word(text.text, word), "%s lacks '%s'", path, word);
#define SCALAR(NAME, word, class, bytes) KEYWORD(NAME, word, SCALAR)
#include "lang/keywords.def"
#include "lang/scalars.def"
#undef KEYWORD
#undef SCALAR
    strbuf_free(&text);
    strbuf_free(&name);
}

START_TEST(editors_know_the_words) {
    expect_words("editors/vim/syntax/adl.vim");
    expect_words("editors/vscode/syntaxes/adl.tmLanguage.json");
}
END_TEST

UNIT_MAIN("lexer", words_and_operators, numbers, strings, strings_hold_zero_bytes, broken_strings,
          comments, stray_characters, editors_know_the_words)
