/* Tokens of the IR's text. */
#include "ir/parse.h"

#include <ctype.h>
#include <stdarg.h>
#include <string.h>

#include "base/num.h"

void ir_parse_error(IrParser *p, const char *format, ...) {
    StrBuf text = {0};
    va_list args;
    if (p->message) return;
    va_start(args, format);
    strbuf_printf(&text, "line %u: ", p->line);
    strbuf_vprintf(&text, format, args);
    va_end(args);
    p->message = arena_strndup(p->module->arena, text.text, text.len);
    strbuf_free(&text);
    p->at = p->end;
    p->token = TOKEN_END;
    p->len = 0;
}

static bool is_name(char c) {
    return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '$';
}

static void skip_blanks(IrParser *p) {
    for (; p->at < p->end; p->at++) {
        if (*p->at == '\n') p->line++;
        else if (*p->at == ';') {
            while (p->at + 1 < p->end && p->at[1] != '\n') p->at++;
        } else if (*p->at != ' ' && *p->at != '\t' && *p->at != '\r') return;
    }
}

static int hex_value(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* \uXXXX of a control character: what strbuf_json writes. */
static bool decode_unicode(IrParser *p, StrBuf *text) {
    int value = 0;
    if (p->end - p->at < 4) return false;
    for (int i = 0; i < 4; i++) {
        int digit = hex_value(p->at[i]);
        if (digit < 0) return false;
        value = value * 16 + digit;
    }
    p->at += 4;
    strbuf_char(text, (char)value);
    return value > 0 && value < 0x80;
}

static bool decode_escape(IrParser *p, StrBuf *text) {
    char c = p->at < p->end ? *p->at++ : '\0';
    switch (c) {
    case '"':
    case '\\':
    case '/': strbuf_char(text, c); return true;
    case 'n': strbuf_char(text, '\n'); return true;
    case 't': strbuf_char(text, '\t'); return true;
    case 'r': strbuf_char(text, '\r'); return true;
    case 'u': return decode_unicode(p, text);
    default: return false;
    }
}

/* Behind the opening quote. */
static void lex_string(IrParser *p) {
    StrBuf text = {0};
    bool ok = true;
    strbuf_add(&text, "");
    while (ok && p->at < p->end && *p->at != '"') {
        char c = *p->at++;
        if (c == '\\') ok = decode_escape(p, &text);
        else if (c == '\n' || c == '\0') ok = false;
        else strbuf_char(&text, c);
    }
    if (!ok || p->at == p->end) ir_parse_error(p, "a string does not end, or is malformed");
    else {
        p->at++;
        p->text = arena_strndup(p->module->arena, text.text, text.len);
        p->len = text.len;
    }
    strbuf_free(&text);
}

static void lex_name(IrParser *p, IrToken token) {
    p->token = token;
    p->text = p->at;
    while (p->at < p->end && is_name(*p->at)) p->at++;
    p->len = (size_t)(p->at - p->text);
}

/* Digits, letters, dots, and signs behind an exponent's letter. */
static void lex_number(IrParser *p) {
    p->token = TOKEN_NUMBER;
    p->text = p->at++;
    bool hex = false;
    for (; p->at < p->end; p->at++) {
        char before = p->at[-1] | 0x20;
        if (before == 'x') hex = true;
        bool sign = *p->at == '+' || *p->at == '-';
        if (!is_name(*p->at) && !(sign && before == (hex ? 'p' : 'e'))) break;
    }
    p->len = (size_t)(p->at - p->text);
}

void ir_next(IrParser *p) {
    uint32_t line = p->line;
    skip_blanks(p);
    p->starts_line = p->line != line;
    p->token = TOKEN_END;
    p->len = 0;
    if (p->at == p->end) return;
    char c = *p->at, after = p->at + 1 < p->end ? p->at[1] : '\0';
    if (c == '%' || c == '@') {
        p->at++;
        if (c == '@' && after == '"') {
            p->at++;
            p->token = TOKEN_FUNC;
            lex_string(p);
        } else {
            lex_name(p, c == '%' ? TOKEN_VALUE : TOKEN_FUNC);
        }
    } else if (c == '"') {
        p->at++;
        p->token = TOKEN_STRING;
        lex_string(p);
    } else if (c == '-' && after == '>') {
        p->token = TOKEN_ARROW;
        p->at += 2;
    } else if (isdigit((unsigned char)c) || (c == '-' && isalnum((unsigned char)after))) {
        lex_number(p);
    } else if (is_name(c)) {
        lex_name(p, TOKEN_WORD);
    } else {
        p->token = TOKEN_PUNCT;
        p->text = p->at++;
        p->len = 1;
    }
}

bool ir_at_punct(const IrParser *p, char c) {
    return p->token == TOKEN_PUNCT && p->text[0] == c;
}

bool ir_at_word(const IrParser *p, const char *word) {
    return p->token == TOKEN_WORD && p->len == strlen(word) && memcmp(p->text, word, p->len) == 0;
}

bool ir_take_punct(IrParser *p, char c) {
    bool there = ir_at_punct(p, c);
    if (there) ir_next(p);
    return there;
}

bool ir_take_word(IrParser *p, const char *word) {
    bool there = ir_at_word(p, word);
    if (there) ir_next(p);
    return there;
}

void ir_expect_punct(IrParser *p, char c) {
    if (!ir_take_punct(p, c)) ir_parse_error(p, "expected '%c'", c);
}

void ir_expect_word(IrParser *p, const char *word) {
    if (!ir_take_word(p, word)) ir_parse_error(p, "expected '%s'", word);
}

int64_t ir_parse_int(IrParser *p) {
    uint64_t value = 0;
    bool minus = p->token == TOKEN_NUMBER && p->text[0] == '-';
    if (p->token != TOKEN_NUMBER || !num_parse_u64(p->text + minus, p->len - minus, &value) ||
        (minus && value > (uint64_t)1 << 63)) {
        ir_parse_error(p, "expected an integer");
        return 0;
    }
    ir_next(p);
    return (int64_t)(minus ? 0 - value : value);
}

const char *ir_parse_string(IrParser *p) {
    const char *text = p->text;
    if (ir_take_word(p, "none")) return NULL;
    if (p->token != TOKEN_STRING) {
        ir_parse_error(p, "expected a string");
        return NULL;
    }
    ir_next(p);
    return text;
}
