/* Fuzz entry of lexer, parser and printer: for libFuzzer (-fsanitize=fuzzer), and for the unit test
   `fuzz`, which runs it on the corpus.  Any bytes must parse, with messages or without; what parses
   without one must print stably. */
#include "tests/fuzz/parser.h"

#include <stdlib.h>
#include <string.h>

#include "ast/parse.h"
#include "ast/print.h"
#include "base/num.h"
#include "source/session.h"

/* TEXT parsed and, if that gave no message, printed; the dump is kept too. */
static bool print_once(const char *text, size_t len, StrBuf *out, StrBuf *dump) {
    Session *session = session_new();
    SourceFile *source = sources_add(&session->sources, "fuzz", text, len);
    ParseSession parse = {session->arena, session->interner, session->diags, 1};
    ParseComments comments = {0};
    AstFile *file = parse_file_comments(&parse, source, &comments);
    ast_dump(dump, &file->node);
    bool ok = diags_errors(session->diags) == 0;
    if (ok) ast_print(out, file, source, &comments);
    strbuf_add(out, "");
    StrBuf messages = {0};
    diags_render(session->diags, &messages);
    strbuf_free(&messages);
    parse_comments_free(&comments);
    session_free(session);
    return ok;
}

static bool same(const StrBuf *a, const StrBuf *b) {
    return a->len == b->len && memcmp(a->text, b->text, a->len) == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *text = (const char *)data;
    if (utf8_check(text, size) != size) return 0;
    StrBuf once = {0}, twice = {0}, dump = {0}, dump_again = {0};
    if (print_once(text, size, &once, &dump)) {
        bool ok = print_once(once.text, once.len, &twice, &dump_again);
        if (!ok || !same(&once, &twice) || !same(&dump, &dump_again)) abort();
    }
    strbuf_free(&once);
    strbuf_free(&twice);
    strbuf_free(&dump);
    strbuf_free(&dump_again);
    return 0;
}
