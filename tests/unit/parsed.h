/* A text parsed in a session of its own, for the tests of lexer, parser and printer. */
#ifndef ADL_TESTS_PARSED_H
#define ADL_TESTS_PARSED_H

#include "ast/parse.h"
#include "source/session.h"

typedef struct Parsed {
    Session *session;
    SourceFile *source;
    ParseComments comments;
    AstFile *file;
    StrBuf text; /* what parsed_* functions return */
} Parsed;

static inline Parsed parsed_begin(const char *text, size_t len) {
    Parsed p = {.session = session_new()};
    p.source = sources_add(&p.session->sources, "a.adl", text, len);
    ParseSession session = {p.session->arena, p.session->interner, p.session->diags, 1};
    p.file = parse_file_comments(&session, p.source, &p.comments);
    return p;
}

static inline void parsed_end(Parsed *p) {
    strbuf_free(&p->text);
    parse_comments_free(&p->comments);
    session_free(p->session);
}

/* The messages, rendered. */
static inline const char *parsed_messages(Parsed *p) {
    strbuf_clear(&p->text);
    strbuf_add(&p->text, "");
    diags_render(p->session->diags, &p->text);
    return p->text.text;
}

/* The dump of the file. */
static inline const char *parsed_dump(Parsed *p) {
    strbuf_clear(&p->text);
    ast_dump(&p->text, &p->file->node);
    return p->text.text;
}

#endif
