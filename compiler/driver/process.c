#define _GNU_SOURCE
#include "driver/process.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h> /* environ */

#include "base/strbuf.h"

static const Span nowhere = {0, 0};

/* WORD so that a shell reads it as one word. */
static void add_quoted(StrBuf *out, const char *word) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-+=./,:@%";
    if (*word && strspn(word, plain) == strlen(word)) {
        strbuf_add(out, word);
        return;
    }
    strbuf_char(out, '\'');
    for (; *word; word++) {
        if (*word == '\'') strbuf_add(out, "'\\''");
        else strbuf_char(out, *word);
    }
    strbuf_char(out, '\'');
}

static void show(const TextList *words) {
    StrBuf line = {0};
    for (uint32_t i = 0; i < words->len; i++) {
        if (i) strbuf_char(&line, ' ');
        add_quoted(&line, words->at[i]);
    }
    fprintf(stderr, "%s\n", line.text);
    strbuf_free(&line);
}

static bool failed(Session *session, const char *program, const char *how, int number) {
    diag_report(session->diags, DIAG_TOOL_FAILED, nowhere, "'%s' %s %d", program, how, number);
    return false;
}

bool process_run(Session *session, TextList *words) {
    const char *program = words->at[0];
    pid_t pid;
    int status;
    if (session->options.verbose || session->options.dry_run) show(words);
    if (session->options.dry_run) return true;
    vec_push(words, NULL);
    fflush(NULL);
    int errnum = posix_spawnp(&pid, program, NULL, NULL, (char *const *)words->at, environ);
    (void)vec_pop(words);
    if (errnum) {
        diag_report(session->diags, DIAG_TOOL_FAILED, nowhere, "cannot run '%s': %s", program,
                    strerror(errnum));
        return false;
    }
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR) return failed(session, program, "was lost: error", errno);
    if (WIFSIGNALED(status))
        return failed(session, program, "was ended by signal", WTERMSIG(status));
    if (WEXITSTATUS(status))
        return failed(session, program, "ended with status", WEXITSTATUS(status));
    return true;
}
