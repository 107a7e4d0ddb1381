#include "tests/ptxsim/lex.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Noreturn void ptx_fail(PtxFailure *failure, uint32_t line, const char *format, ...) {
    int len = line ? snprintf(failure->text, sizeof failure->text, "line %u: ", line) : 0;
    va_list args;
    va_start(args, format);
    vsnprintf(failure->text + len, sizeof failure->text - (size_t)len, format, args);
    va_end(args);
    longjmp(failure->jump, 1);
}

static void skip_space(PtxLexer *l) {
    for (;;) {
        if (*l->at == '\n') l->line++;
        if (isspace((unsigned char)*l->at)) {
            l->at++;
        } else if (l->at[0] == '/' && l->at[1] == '/') {
            l->at += strcspn(l->at, "\n");
        } else if (l->at[0] == '/' && l->at[1] == '*') {
            const char *end = strstr(l->at + 2, "*/");
            if (!end) ptx_fail(l->failure, l->line, "a comment does not end");
            for (; l->at < end + 2; l->at++) l->line += *l->at == '\n';
        } else {
            return;
        }
    }
}

static bool is_first(char c) {
    return isalpha((unsigned char)c) || (c && strchr("_$%.", c));
}
static bool is_next(char c) {
    return is_first(c) || isdigit((unsigned char)c);
}

/* 0f3F800000 and 0d3FF0000000000000 give the bits of a float, everything else is a C number. */
static void lex_number(PtxLexer *l) {
    const char *at = l->at;
    char kind = at[0] == '0' ? (char)tolower((unsigned char)at[1]) : '\0';
    char *end;
    l->real = false;
    if (kind == 'f' || kind == 'd') {
        l->bits = strtoull(at + 2, &end, 16);
        if (end - at != (kind == 'f' ? 10 : 18))
            ptx_fail(l->failure, l->line, "a float has %d digits", kind == 'f' ? 8 : 16);
    } else {
        l->bits = strtoull(at, &end, 0);
        if (*end == '.' && isdigit((unsigned char)end[1])) {
            double value = strtod(at, &end);
            memcpy(&l->bits, &value, sizeof value);
            l->real = true;
        }
        if (*end == 'U') end++;
    }
    if (is_next(*end)) ptx_fail(l->failure, l->line, "a number that ends in '%c'", *end);
    l->token = TOKEN_NUMBER;
    l->at = end;
}

void ptx_lex_next(PtxLexer *l) {
    skip_space(l);
    l->text = l->at;
    if (!*l->at) {
        l->token = TOKEN_END;
    } else if (is_first(*l->at)) {
        l->token = TOKEN_WORD;
        while (is_next(*l->at) || (l->at[0] == ':' && l->at[1] == ':' && (l->at++, true))) l->at++;
    } else if (isdigit((unsigned char)*l->at)) {
        lex_number(l);
    } else if (*l->at == '"') {
        l->token = TOKEN_STRING;
        l->at++;
        l->at += strcspn(l->at, "\"\n");
        if (*l->at++ != '"') ptx_fail(l->failure, l->line, "a string does not end");
    } else {
        l->token = TOKEN_MARK;
        l->at++;
    }
    l->len = (size_t)(l->at - l->text);
}

void ptx_lex_skip_line(PtxLexer *l) {
    l->at += strcspn(l->at, "\n");
    ptx_lex_next(l);
}

void ptx_lex_start(PtxLexer *l, const char *text, PtxFailure *failure) {
    *l = (PtxLexer){.failure = failure, .at = text, .line = 1};
    ptx_lex_next(l);
}
