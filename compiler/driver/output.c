#define _GNU_SOURCE
#include "driver/output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/strbuf.h"

static const Span nowhere = {0, 0};

/* NAME without what follows its last dot. */
static const char *stem(Arena *arena, const char *name) {
    const char *dot = strrchr(path_base(name), '.');
    return arena_strndup(arena, name, dot ? (size_t)(dot - name) : strlen(name));
}

const char *output_name(const Session *session, const char *source, const char *suffix) {
    if (session->options.output) return session->options.output;
    const char *base = strcmp(source, "-") == 0 ? "stdin" : path_base(source);
    return arena_printf(session->arena, "%s%s", stem(session->arena, base), suffix);
}

bool output_write(Session *session, const char *path, const char *bytes, size_t len) {
    FileError error;
    if (file_write_atomic(path, bytes, len, 0666, &error)) return true;
    diag_report(session->diags, DIAG_FILE_UNWRITABLE, nowhere, "cannot write '%s': %s", path,
                file_error_text(&error));
    return false;
}

const char *output_beside(const Session *session, const char *path) {
    return arena_printf(session->arena, "%s.tmp%ld", path, (long)getpid());
}

bool output_publish(Session *session, const char *temporary, const char *path) {
    if (session->options.dry_run || rename(temporary, path) == 0) return true;
    diag_report(session->diags, DIAG_FILE_UNWRITABLE, nowhere, "cannot write '%s': %s", path,
                strerror(errno));
    unlink(temporary);
    return false;
}

/* PATH as make reads it. */
static void add_make_word(StrBuf *out, const char *path) {
    for (; *path; path++) {
        if (*path == ' ' || *path == '#' || *path == '\t') strbuf_char(out, '\\');
        if (*path == '$') strbuf_char(out, '$');
        strbuf_char(out, *path);
    }
}

static bool is_inside(const char *path, const char *folder) {
    size_t len = folder ? strlen(folder) : 0;
    return len && strncmp(path, folder, len) == 0 && path[len] == '/';
}

bool output_depfile(Session *session, const char *target, const char *stdlib) {
    const Options *options = &session->options;
    StrBuf rule = {0}, phony = {0};
    const char *path = options->depfile_path;
    if (!path) path = arena_printf(session->arena, "%s.d", stem(session->arena, target));
    add_make_word(&rule, options->depfile_target ? options->depfile_target : target);
    strbuf_char(&rule, ':');
    for (uint32_t i = 0; i < session->sources.files.len; i++) {
        const SourceFile *file = session->sources.files.at[i];
        if (file->path[0] == '<' || is_inside(file->path, stdlib)) continue;
        strbuf_add(&rule, " \\\n  ");
        add_make_word(&rule, file->path);
        /* The first is the main file, which make knows from its own rules. */
        if (i == 0 || !options->depfile_phony) continue;
        add_make_word(&phony, file->path);
        strbuf_add(&phony, ":\n");
    }
    strbuf_char(&rule, '\n');
    if (phony.len) strbuf_add(&rule, phony.text);
    bool ok = output_write(session, path, rule.text, rule.len);
    strbuf_free(&rule);
    strbuf_free(&phony);
    return ok;
}
