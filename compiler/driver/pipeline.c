/* The stages stand in the order in which they run.  Each takes what the one before left, reports
   to the session's diags, and the pipeline stops behind a stage that found errors. */
#include "driver/pipeline.h"

#include <string.h>

#include "ast/parse.h"
#include "driver/driver.h"
#include "driver/paths.h"
#include "driver/timing.h"
#include "source/load.h"

static const Span nowhere = {0, 0};

/* What the stages hand to each other. */
typedef struct Pipeline {
    Session *session;
    const Options *options;
    Paths paths;
    Timing timing;
    VEC(const SourceFile *) sources;
    VEC(AstFile *) files;
} Pipeline;

static int load_sources(Pipeline *p) {
    bool good = true;
    for (uint32_t i = 0; i < p->options->inputs.len; i++) {
        const Input *input = &p->options->inputs.at[i];
        if (input->kind != INPUT_SOURCE) continue;
        const SourceFile *file =
            source_load(&p->session->sources, p->session->diags, input->text, nowhere);
        if (file) vec_push(&p->sources, file);
        else good = false;
    }
    return good ? STATUS_DONE : STATUS_USAGE;
}

static int parse_sources(Pipeline *p) {
    Session *s = p->session;
    ParseSession parse = {s->arena, s->interner, s->diags, 1};
    for (uint32_t i = 0; i < p->sources.len; i++)
        vec_push(&p->files, parse_file(&parse, p->sources.at[i]));
    return STATUS_DONE;
}

static int not_yet(Pipeline *p) {
    if (p->options->command == COMMAND_CHECK) return STATUS_DONE;
    diag_report(p->session->diags, DIAG_NOT_IMPLEMENTED, nowhere, "only syntax is checked yet");
    return STATUS_FAULT;
}

typedef struct Stage {
    const char *name; /* for --stop-after and --time-passes */
    int (*run)(Pipeline *p);
} Stage;

static const Stage stages[] = {
    {"load", load_sources},
    {"parse", parse_sources},
    {"generate", not_yet},
};
enum { STAGE_COUNT = sizeof stages / sizeof *stages };

static int run_stages(Pipeline *p) {
    const char *last = p->options->stop_after;
    for (int i = 0; i < STAGE_COUNT; i++) {
        int status = stages[i].run(p);
        timing_note(&p->timing, stages[i].name);
        if (status != STATUS_DONE) return status;
        if (diags_errors(p->session->diags)) return STATUS_ERROR;
        if (last && strcmp(last, stages[i].name) == 0) break;
    }
    return STATUS_DONE;
}

/* --stop-after names a stage. */
static bool check_stop(Pipeline *p) {
    const char *names[STAGE_COUNT], *last = p->options->stop_after;
    for (int i = 0; i < STAGE_COUNT; i++) {
        names[i] = stages[i].name;
        if (!last || strcmp(last, names[i]) == 0) return true;
    }
    const char *closest = diag_closest(last, names, STAGE_COUNT);
    diag_report(p->session->diags, DIAG_OPTION_ARGUMENT, nowhere, "no stage is called '%s'", last);
    if (closest) diag_help(p->session->diags, nowhere, "did you mean '%s'?", closest);
    return false;
}

int pipeline_run(Session *session) {
    Pipeline p = {.session = session, .options = &session->options};
    int status = STATUS_USAGE;
    paths_find_own(&p.paths, session->arena);
    timing_begin(&p.timing);
    if (check_stop(&p)) status = run_stages(&p);
    if (p.options->time_passes) timing_print(&p.timing, stderr);
    timing_free(&p.timing);
    vec_free(&p.sources);
    vec_free(&p.files);
    return status;
}
