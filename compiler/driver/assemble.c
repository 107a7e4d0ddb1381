#include "driver/assemble.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "driver/output.h"
#include "driver/process.h"

static const Span nowhere = {0, 0};

const char *assemble_next_device(Session *session, const char **at) {
    size_t len = strcspn(*at, ",");
    const char *device = *at;
    if (!len) return NULL;
    *at += len + (device[len] == ',');
    return arena_strndup(session->arena, device, len);
}

static bool read_code(Session *s, const char *path, StrBuf *out) {
    char *bytes;
    size_t len;
    FileError error;
    if (!file_read_all(path, &bytes, &len, &error)) {
        diag_report(s->diags, DIAG_TOOL_FAILED, nowhere, "%s: %s", path, file_error_text(&error));
        return false;
    }
    strbuf_add_n(out, bytes, len);
    free(bytes);
    return true;
}

bool assemble(void *data, const char *device, const StrBuf *ptx, StrBuf *out) {
    Unit *unit = data;
    Session *s = unit->session;
    const char *folder = getenv("TMPDIR");
    const char *base =
        arena_printf(s->arena, "%s/dslc-%ld-%s", folder ? folder : "/tmp", (long)getpid(), device);
    const char *text = arena_printf(s->arena, "%s.ptx", base);
    const char *code = arena_printf(s->arena, "%s.cubin", base);
    TextList words = {0};
    if (!unit->paths->ptxas) {
        diag_report(
            s->diags, DIAG_INSTALLATION, nowhere,
            "code for %s needs ptxas of the CUDA Toolkit, which was not there when dslc was "
            "configured; --target=ptx needs none",
            device);
        return false;
    }
    if (!output_write(s, text, ptx->text, ptx->len)) return false;
    vec_push(&words, unit->paths->ptxas);
    vec_push(&words, arena_printf(s->arena, "-arch=%s", device));
    vec_push(&words, "-o");
    vec_push(&words, code);
    vec_push(&words, text);
    bool good = process_run(s, &words) && (s->options.dry_run || read_code(s, code, out));
    vec_free(&words);
    if (!s->options.save_temps) {
        unlink(text);
        unlink(code);
    }
    return good;
}
