/* The stages stand in the order in which they run.  Each takes what the one before left, reports
   to the session's diags, and the pipeline stops behind a stage that found errors. */
#include "driver/pipeline.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ast/parse.h"
#include "driver/driver.h"
#include "driver/emit.h"
#include "driver/link.h"
#include "driver/options.h"
#include "driver/output.h"
#include "driver/resolve.h"
#include "driver/unit.h"
#include "source/load.h"
#include "tools/gradcheck.h"
#include "tools/script.h"

static const Span nowhere = {0, 0};

/* What the stages hand to each other. */
typedef struct Pipeline {
    Session *session;
    const Options *options;
    Paths paths;
    Timing timing;
    Unit unit;        /* the source at hand */
    TextList objects; /* temporary object files, one for each source */
    TextList met;     /* of what was left open by objects */
    const CodegenApi *codegen;
    ScriptRuntime runtime;
    ScriptCounts counts; /* of tests */
    GradcheckCounts checks;
    int status;    /* of the program that was run */
    bool has_main; /* some source has one */
} Pipeline;

static int fault(Pipeline *p, DiagCode code, char *error) {
    diag_report(p->session->diags, code, nowhere, "%s", error);
    free(error);
    return STATUS_FAULT;
}

/* ---- stages of one source ---- */

static int no_main(Pipeline *p, const char *what) {
    diag_report(p->session->diags, DIAG_NO_MAIN, nowhere, "%s has no function main", what);
    return STATUS_ERROR;
}

static int stage_check(Pipeline *p) {
    int status = unit_check(&p->unit);
    if (!p->unit.program) return status;
    bool found = false;
    for (uint32_t k = 0; k < p->unit.program->roots.len; k++)
        found |= p->unit.program->roots.at[k].kind == ROOT_MAIN;
    p->has_main |= found;
    if (p->options->command == COMMAND_RUN && !found && !diags_errors(p->session->diags))
        return no_main(p, p->unit.file->display);
    return status;
}
static int stage_lower(Pipeline *p) {
    return unit_lower(&p->unit);
}
static int stage_prepare(Pipeline *p) {
    return unit_prepare(&p->unit);
}
static int stage_differentiate(Pipeline *p) {
    return unit_differentiate(&p->unit);
}
static int stage_optimise(Pipeline *p) {
    return unit_optimise(&p->unit);
}

static int open_codegen(Pipeline *p) {
    char *error = NULL;
    if (p->codegen) return STATUS_DONE;
    if (!p->paths.backend) {
        diag_report(p->session->diags, DIAG_INSTALLATION, nowhere,
                    "the code generator (libdslc-llvm.so) was not found");
        return STATUS_USAGE;
    }
    p->codegen = codegen_open(p->paths.backend, &error);
    timing_note(&p->timing, "open the code generator");
    return p->codegen ? STATUS_DONE : fault(p, DIAG_INSTALLATION, error);
}

static bool open_library(Pipeline *p, const char *name) {
    char *error = NULL;
    if (script_open_library(name, &error)) return true;
    diag_report(p->session->diags, DIAG_TOOL_FAILED, nowhere, "%s", error);
    free(error);
    return false;
}

/* libNAME.so in the folders of -L, else where the system looks. */
static const char *library_file(Pipeline *p, const char *name) {
    Arena *arena = p->session->arena;
    for (uint32_t k = 0; k < p->options->library_dirs.len; k++) {
        const char *folder = p->options->library_dirs.at[k];
        const char *path = arena_printf(arena, "%s/lib%s.so", folder, name);
        if (access(path, F_OK) == 0) return path;
    }
    return arena_printf(arena, "lib%s.so", name);
}

/* What the code may call of libraries that stand on the command line.  There is no linker here, so
   that objects must be in a library. */
static bool open_libraries(Pipeline *p) {
    for (uint32_t i = 0; i < p->options->inputs.len; i++) {
        const Input *input = &p->options->inputs.at[i];
        const char *path = input->text;
        if (input->kind == INPUT_LIBRARY && !open_library(p, library_file(p, path))) return false;
        if (input->kind != INPUT_OBJECT) continue;
        if (!strstr(path, ".so")) {
            diag_report(p->session->diags, DIAG_TOOL_FAILED, nowhere,
                        "'%s' cannot be opened in the process: it is no shared library", path);
            return false;
        }
        if (!strchr(path, '/')) path = arena_printf(p->session->arena, "./%s", path);
        if (!open_library(p, path)) return false;
    }
    return true;
}

/* `run` and `gradcheck`: what follows the file is the command line. */
static bool run_with_arguments(Pipeline *p, CodegenCode *code, char **error) {
    TextList argv = {0};
    vec_push(&argv, p->unit.file->display);
    for (uint32_t k = 0; k < p->options->arguments.len; k++)
        vec_push(&argv, p->options->arguments.at[k]);
    vec_push(&argv, NULL);
    int argc = (int)argv.len - 1;
    if (p->options->command == COMMAND_RUN)
        p->status = script_run(&p->runtime, p->codegen, code, argc, argv.at, error);
    else
        p->status = gradcheck_run(&p->runtime, p->codegen, code, p->unit.program, p->unit.module,
                                  p->options->seed, argc, argv.at, stdout, &p->checks, error);
    vec_free(&argv);
    return p->status >= 0;
}

static int run_in_process(Pipeline *p) {
    char *error = NULL;
    CodegenOptions options = unit_codegen_options(&p->unit);
    if (!p->runtime.library && !script_open_runtime(&p->runtime, p->paths.runtime, &error))
        return fault(p, DIAG_INSTALLATION, error);
    if (!open_libraries(p)) return STATUS_USAGE;
    CodegenCode *code = p->codegen->load(p->unit.module, &options, NULL, 0, &error);
    timing_note(&p->timing, "generate");
    if (!code) return fault(p, DIAG_INTERNAL, error);
    bool good = true;
    if (p->options->command == COMMAND_RUN || p->options->command == COMMAND_GRADCHECK) {
        good = run_with_arguments(p, code, &error);
    } else {
        const char *base = strrchr(p->unit.file->path, '/');
        const char *folder = base ? arena_strndup(p->session->arena, p->unit.file->path,
                                                  (size_t)(base - p->unit.file->path) + 1)
                                  : NULL;
        good = script_test(&p->runtime, p->codegen, code, p->unit.module, p->options->filter,
                           folder, stdout, &p->counts, &error);
    }
    p->codegen->unload(code);
    timing_note(&p->timing, "run");
    return good ? STATUS_DONE : fault(p, DIAG_INTERNAL, error);
}

static int stage_generate(Pipeline *p) {
    int status = open_codegen(p);
    if (status != STATUS_DONE) return status;
    if (p->options->command != COMMAND_COMPILE) return run_in_process(p);
    return emit_code(&p->unit, p->codegen, p->unit.meets_requests ? &p->met : &p->objects);
}

typedef struct Stage {
    const char *name; /* for --stop-after and --time-passes */
    int (*run)(Pipeline *p);
    int emit; /* kind of output that shows what this stage left; -1: none */
} Stage;

static const Stage stages[] = {
    {"check", stage_check, EMIT_TYPES},
    {"lower", stage_lower, EMIT_IR},
    {"prepare", stage_prepare, -1},
    {"differentiate", stage_differentiate, EMIT_IR_AD},
    {"optimise", stage_optimise, EMIT_IR_OPT},
    {"generate", stage_generate, -1},
};
enum { STAGE_COUNT = sizeof stages / sizeof *stages };

static int run_stages(Pipeline *p) {
    const char *last = p->options->stop_after;
    for (int i = 0; i < STAGE_COUNT; i++) {
        int status = stages[i].run(p);
        timing_note(&p->timing, stages[i].name);
        if (status != STATUS_DONE) return status;
        if (diags_errors(p->session->diags)) return STATUS_ERROR;
        /* What only shows when derivatives are made belongs to checking, too. */
        bool ends_here =
            p->options->command == COMMAND_CHECK || p->options->command == COMMAND_EXPLAIN;
        if (ends_here && stages[i].run == stage_differentiate) break;
        bool shown = p->options->command == COMMAND_COMPILE && p->options->emit == stages[i].emit;
        if (shown) return emit_text(&p->unit);
        if (last && strcmp(last, stages[i].name) == 0) break;
    }
    return STATUS_DONE;
}

static int run_source(Pipeline *p, const char *path) {
    Session *s = p->session;
    const SourceFile *file = source_load(&s->sources, s->diags, path, nowhere);
    timing_note(&p->timing, "load");
    if (!file) return STATUS_USAGE;
    if (p->options->command == COMMAND_COMPILE && p->options->emit == EMIT_AST)
        return emit_ast(s, file);
    p->unit = (Unit){.session = s, .paths = &p->paths, .timing = &p->timing, .file = file};
    int status = run_stages(p);
    unit_free(&p->unit);
    return status;
}

/* ---- all sources, then what is done once ---- */

/* Compiles the derivatives of a group.  What the code depends on is as in the object that asks. */
static int meet_group(Pipeline *p, const OpenGroup *group) {
    Session *s = p->session;
    const Options own = s->options, *theirs = group->options;
    const char *name = arena_printf(s->arena, "deferred-%u.adl", p->met.len);
    const SourceFile *file = sources_add(&s->sources, name, group->source, strlen(group->source));
    if (!file) return STATUS_ERROR;
    s->options.opt_level = theirs->opt_level;
    s->options.fast_math = theirs->fast_math;
    s->options.checks = theirs->checks;
    s->options.threads = theirs->threads;
    s->options.sanitize = theirs->sanitize;
    s->options.debug_info = theirs->debug_info;
    s->options.cpu = theirs->cpu;
    s->options.header = NULL;
    s->options.output = NULL;
    p->unit = (Unit){.session = s,
                     .paths = &p->paths,
                     .timing = &p->timing,
                     .file = file,
                     .meets_requests = true,
                     .given = group->given,
                     .ngiven = group->ngiven};
    int status = run_stages(p);
    unit_free(&p->unit);
    s->options = own;
    return status;
}

/* What objects leave open is made of what others carry. */
static int meet_requests(Pipeline *p) {
    TextList paths = {0};
    Resolution resolution = {0};
    int status = STATUS_DONE;
    for (uint32_t i = 0; i < p->options->inputs.len; i++)
        if (p->options->inputs.at[i].kind == INPUT_OBJECT)
            vec_push(&paths, p->options->inputs.at[i].text);
    if (paths.len) {
        for (uint32_t i = 0; i < p->objects.len; i++) vec_push(&paths, p->objects.at[i]);
        if (!resolve_objects(&resolution, p->session, &paths)) status = STATUS_ERROR;
    }
    for (uint32_t i = 0; status == STATUS_DONE && i < resolution.groups.len; i++)
        status = meet_group(p, &resolution.groups.at[i]);
    resolution_free(&resolution);
    vec_free(&paths);
    return status;
}

static int link_objects(Pipeline *p) {
    const Options *o = p->options;
    if (o->command != COMMAND_COMPILE || o->emit != EMIT_DEFAULT || o->stop_after)
        return STATUS_DONE;
    bool objects = false; /* one of which may have it */
    for (uint32_t i = 0; i < o->inputs.len; i++) objects |= o->inputs.at[i].kind != INPUT_SOURCE;
    if (!p->has_main && !objects && !o->relocatable && !o->shared)
        return no_main(p, o->inputs.len == 1 ? o->inputs.at[0].text : "the program");
    LinkKind kind = o->relocatable ? LINK_RELOCATABLE : o->shared ? LINK_SHARED : LINK_PROGRAM;
    int status = meet_requests(p);
    if (status != STATUS_DONE) return status;
    bool good = link_inputs(p->session, &p->paths, kind, &p->objects, &p->met,
                            o->output ? o->output : "a.out");
    timing_note(&p->timing, "link");
    return good ? STATUS_DONE : STATUS_ERROR;
}

static void remove_objects(Pipeline *p) {
    for (uint32_t k = 0; k < p->objects.len; k++)
        if (!p->options->save_temps) unlink(p->objects.at[k]);
    for (uint32_t k = 0; k < p->met.len; k++)
        if (!p->options->save_temps) unlink(p->met.at[k]);
    vec_free(&p->objects);
    vec_free(&p->met);
}

static int report_tests(Pipeline *p) {
    printf("%u passed, %u failed\n", p->counts.passed, p->counts.failed);
    return p->counts.failed ? STATUS_ERROR : STATUS_DONE;
}

static int report_checks(Pipeline *p) {
    if (p->status) return p->status;
    printf("%u passed, %u failed", p->checks.passed, p->checks.failed);
    if (p->checks.skipped) printf(", %u skipped", p->checks.skipped);
    printf("\n");
    return p->checks.failed ? STATUS_ERROR : STATUS_DONE;
}

static int run_sources(Pipeline *p) {
    int status = STATUS_DONE;
    for (uint32_t i = 0; i < p->options->inputs.len; i++) {
        const Input *input = &p->options->inputs.at[i];
        if (input->kind != INPUT_SOURCE) continue;
        int one = run_source(p, input->text);
        if (one > status) status = one;
    }
    if (status != STATUS_DONE) return status;
    if (p->options->command == COMMAND_TEST) return report_tests(p);
    if (p->options->command == COMMAND_GRADCHECK) return report_checks(p);
    if (p->options->command == COMMAND_RUN) return p->status;
    return link_objects(p);
}

/* FILE:FUNCTION: what the derivatives of the function that the file makes do. */
static int explain_function(Pipeline *p) {
    Session *s = p->session;
    const char *what = p->options->arguments.at[0], *colon = strrchr(what, ':');
    const char *path = arena_strndup(s->arena, what, (size_t)(colon - what));
    const SourceFile *file = source_load(&s->sources, s->diags, path, nowhere);
    if (!file) return STATUS_USAGE;
    p->unit = (Unit){
        .session = s, .paths = &p->paths, .timing = &p->timing, .file = file, .explain = colon + 1};
    int status = run_stages(p);
    const StrBuf *text = p->unit.module ? &p->unit.module->explanation : NULL;
    if (status == STATUS_DONE && text && text->len) {
        fwrite(text->text, 1, text->len, stdout);
    } else if (status == STATUS_DONE) {
        diag_report(s->diags, DIAG_OPTION_ARGUMENT, nowhere, "no derivative of '%s' is made in %s",
                    colon + 1, path);
        status = STATUS_USAGE;
    }
    unit_free(&p->unit);
    return status;
}

/* Kinds of --remarks; of these, the ones that there are. */
static bool known_remarks(Pipeline *p) {
    static const char *const kinds[] = {"ad", "gpu", "copy", "vector", "all"};
    const TextList *remarks = &p->options->remarks;
    for (uint32_t k = 0; k < remarks->len; k++) {
        const char *word = remarks->at[k], *closest;
        bool known = false;
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) known |= !strcmp(word, kinds[i]);
        if (!strcmp(word, "ad") || !strcmp(word, "gpu") || !strcmp(word, "all")) continue;
        if (known) {
            diag_report(p->session->diags, DIAG_NOT_IMPLEMENTED, nowhere,
                        "--remarks=%s is not supported yet", word);
            return false;
        }
        closest = diag_closest(word, kinds, sizeof kinds / sizeof *kinds);
        diag_report(p->session->diags, DIAG_OPTION_ARGUMENT, nowhere, "no remarks are called '%s'",
                    word);
        if (closest) diag_help(p->session->diags, nowhere, "did you mean '%s'?", closest);
        return false;
    }
    return true;
}

static bool refuse(Pipeline *p, const char *what) {
    diag_report(p->session->diags, DIAG_NOT_IMPLEMENTED, nowhere, "%s is not supported yet", what);
    return false;
}

/* "sm_80" or "sm_90a"; LIST: several, with commas. */
static bool is_device(const char *text, bool list) {
    if (strncmp(text, "sm_", 3) != 0) return false;
    size_t len = strspn(text + 3, "0123456789a");
    if (!len || (text[3 + len] && text[3 + len] != ',')) return false;
    return !text[3 + len] || (list && is_device(text + 4 + len, true));
}

/* "ptx" and "ptx:sm_80"; the names of devices are LLVM's. */
static bool known_target(const Options *o) {
    if (!o->target || !strcmp(o->target, "host")) return true;
    if (strncmp(o->target, "ptx", 3) != 0 || o->command == COMMAND_GRADCHECK) return false;
    return !o->target[3] || (o->target[3] == ':' && is_device(o->target + 4, o->emit != EMIT_PTX));
}

/* An option or command that is named but does nothing would be worse than none. */
static bool known_command(Pipeline *p) {
    const Options *o = p->options;
    if (o->workspace != WORKSPACE_OWN) return refuse(p, "--workspace=caller");
    if (!known_target(o)) return refuse(p, "this --target");
    if (!known_remarks(p)) return false;
    if (!*command_rows[o->command].help) return refuse(p, "this command");
    return true;
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
    if (known_command(&p) && check_stop(&p))
        status = p.options->command == COMMAND_EXPLAIN ? explain_function(&p) : run_sources(&p);
    remove_objects(&p);
    if (p.options->time_passes) timing_print(&p.timing, stderr);
    timing_free(&p.timing);
    return status;
}
