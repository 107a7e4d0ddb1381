#include "source/session.h"

Session *session_new(void) {
    Arena *arena = arena_new();
    Session *session = ARENA_NEW(arena, Session);
    session->arena = arena;
    session->interner = interner_new();
    sources_init(&session->sources, arena);
    session->diags = diags_new(arena, &session->sources);
    session->options.opt_level = 2;
    session->options.threads = 1;
    session->options.launch_from = 64;
    return session;
}

void session_free(Session *session) {
    if (!session) return;
    Options *options = &session->options;
    vec_free(&options->inputs);
    vec_free(&options->arguments);
    vec_free(&options->include_dirs);
    vec_free(&options->library_dirs);
    vec_free(&options->remarks);
    vec_free(&options->print_after);
    vec_free(&options->warnings);
    diags_free(session->diags);
    sources_free(&session->sources);
    interner_free(session->interner);
    arena_free(session->arena); /* and the session with it */
}
