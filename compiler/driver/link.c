#include "driver/link.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "codegen/codegen.h"
#include "driver/output.h"
#include "driver/process.h"

static const Span nowhere = {0, 0};

static void add(Session *session, TextList *words, const char *format, const char *text) {
    StrBuf word = {0};
    for (; *format; format++) {
        if (*format == '%') strbuf_add(&word, text);
        else strbuf_char(&word, *format);
    }
    vec_push(words, arena_strndup(session->arena, word.text, word.len));
    strbuf_free(&word);
}

/* The compiler that the variable CC names, which may have arguments ("ccache gcc"), else cc. */
static void add_compiler(Session *session, TextList *words) {
    const char *cc = getenv("CC");
    if (!cc || !cc[strspn(cc, " ")]) cc = "cc";
    while (*cc) {
        size_t len = strcspn(cc, " ");
        if (len) vec_push(words, arena_strndup(session->arena, cc, len));
        cc += len + (cc[len] == ' ');
    }
}

static void add_inputs(Session *session, TextList *words, const TextList *objects) {
    const Options *options = &session->options;
    uint32_t source = 0;
    for (uint32_t i = 0; i < options->inputs.len; i++) {
        const Input *input = &options->inputs.at[i];
        switch (input->kind) {
        case INPUT_SOURCE: vec_push(words, objects->at[source++]); break;
        case INPUT_OBJECT:
        case INPUT_LINKER: vec_push(words, input->text); break;
        case INPUT_LIBRARY: add(session, words, "-l%", input->text); break;
        }
    }
}

/* libadl where it is, also at run time: it may stand where the system does not look. */
static bool add_runtime(Session *session, const Paths *paths, TextList *words) {
    if (!paths->library) {
        diag_report(session->diags, DIAG_INSTALLATION, nowhere,
                    "the runtime library (libadl.so or libadl.a) was not found");
        return false;
    }
    add(session, words, "-L%", paths->library);
    add(session, words, "-Wl,-rpath,%", paths->library);
    vec_push(words, "-ladl");
    vec_push(words, "-lm");
    return true;
}

bool link_inputs(Session *session, const Paths *paths, LinkKind kind, const TextList *objects,
                 const TextList *more, const char *output) {
    TextList words = {0};
    const char *temporary = output_beside(session, output);
    bool ok = true;
    add_compiler(session, &words);
    switch (kind) {
    case LINK_PROGRAM: break;
    case LINK_SHARED: vec_push(&words, "-shared"); break;
    case LINK_RELOCATABLE:
        vec_push(&words, "-r");
        vec_push(&words, "-nostdlib");
        break;
    }
    if (session->options.sanitize && kind != LINK_RELOCATABLE)
        vec_push(&words, session->options.sanitize == CODEGEN_SANITIZE_THREAD
                             ? "-fsanitize=thread"
                             : "-fsanitize=address");
    vec_push(&words, "-o");
    vec_push(&words, temporary);
    for (uint32_t i = 0; i < session->options.library_dirs.len; i++)
        add(session, &words, "-L%", session->options.library_dirs.at[i]);
    add_inputs(session, &words, objects);
    for (uint32_t i = 0; i < more->len; i++) vec_push(&words, more->at[i]);
    if (kind != LINK_RELOCATABLE) ok = add_runtime(session, paths, &words);
    ok = ok && process_run(session, &words);
    if (ok) ok = output_publish(session, temporary, output);
    else unlink(temporary);
    vec_free(&words);
    return ok;
}
