#include "driver/driver.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver/options.h"
#include "driver/pipeline.h"

static const Span nowhere = {0, 0};

static bool wants_color(const Options *options, FILE *err) {
    switch (options->color) {
    case COLOR_ALWAYS: return true;
    case COLOR_NEVER: return false;
    }
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    if (no_color && *no_color) return false;
    return isatty(fileno(err)) && term && strcmp(term, "dumb") != 0;
}

static void print(const StrBuf *text, FILE *out) {
    if (text->len) fwrite(text->text, 1, text->len, out);
}

static int explain(Session *session, FILE *out) {
    const char *what = session->options.arguments.at[0];
    const DiagInfo *info = diag_info_by_code(what);
    if (info) {
        fprintf(out, "%s: %s\n\n%s", info->code, info->title, info->explain);
        return STATUS_DONE;
    }
    if (strchr(what, ':')) return pipeline_run(session);
    diag_report(session->diags, DIAG_CODE_UNKNOWN, nowhere, "no diagnostic has the code '%s'",
                what);
    return STATUS_USAGE;
}

static int dispatch(Session *session, FILE *out) {
    const Options *options = &session->options;
    if (options->help || options->version) {
        StrBuf text = {0};
        if (options->help) options_help(options->command, &text);
        else options_version(&text);
        print(&text, out);
        strbuf_free(&text);
        return STATUS_DONE;
    }
    if (options->command == COMMAND_EXPLAIN) return explain(session, out);
    return pipeline_run(session);
}

int driver_main(int argc, char *const *argv, FILE *out, FILE *err) {
    Session *session = session_new();
    int status = STATUS_USAGE;
    bool good = options_parse(session, argc, argv);
    DiagFormat format =
        session->options.diagnostics == DIAGNOSTICS_JSON ? DIAG_FORMAT_JSON : DIAG_FORMAT_TEXT;
    diags_set_format(session->diags, format, wants_color(&session->options, err));
    if (good) status = dispatch(session, out);
    diags_flush(session->diags, err);
    if (fflush(out) != 0 && status == STATUS_DONE) status = STATUS_USAGE;
    session_free(session);
    return status;
}
