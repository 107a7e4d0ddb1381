#include "source/load.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/num.h"
#include "base/strbuf.h"

static void report_unread(Diags *diags, const FileError *error, const char *path, Span span) {
    switch (error->kind) {
    case FILE_OK:
    case FILE_UNWRITABLE: break;
    case FILE_UNREADABLE:
        diag_report(diags, DIAG_FILE_UNREADABLE, span, "cannot read '%s': %s", path,
                    file_error_text(error));
        break;
    case FILE_IS_DIRECTORY:
        diag_report(diags, DIAG_FILE_IS_DIRECTORY, span, "'%s' is a directory", path);
        break;
    case FILE_TOO_LARGE:
        diag_report(diags, DIAG_FILE_TOO_LARGE, span, "'%s' is larger than 2 GiB", path);
        break;
    }
}

/* Adds TEXT with every wrong byte replaced by U+FFFD, so that the message can show the line. */
static SourceFile *add_repaired(Sources *sources, const char *name, const char *text, size_t len) {
    StrBuf good = {0};
    for (size_t i = 0; i < len;) {
        size_t valid = utf8_check(text + i, len - i);
        strbuf_add_n(&good, text + i, valid);
        i += valid;
        if (i < len) strbuf_add(&good, "\xEF\xBF\xBD");
        i++;
    }
    SourceFile *file = sources_add(sources, name, good.text, good.len);
    strbuf_free(&good);
    return file;
}

SourceFile *source_load(Sources *sources, Diags *diags, const char *path, Span span) {
    const char *name = strcmp(path, "-") == 0 ? "<stdin>" : path;
    char *text;
    size_t len;
    FileError error;
    if (!file_read_all(path, &text, &len, &error)) {
        report_unread(diags, &error, name, span);
        return NULL;
    }
    size_t wrong = utf8_check(text, len);
    SourceFile *file = wrong == len ? sources_add(sources, name, text, len)
                                    : add_repaired(sources, name, text, len);
    if (!file) {
        diag_report(diags, DIAG_FILE_TOO_LARGE, span,
                    "'%s' is too large: all sources together may have 4 GiB", name);
    } else if (wrong != len) {
        Pos at = file->base + (Pos)wrong;
        diag_report(diags, DIAG_FILE_NOT_UTF8, (Span){at, at + 3},
                    "the file is not UTF-8: byte 0x%02X", (unsigned char)text[wrong]);
        file = NULL;
    }
    free(text);
    return file;
}
