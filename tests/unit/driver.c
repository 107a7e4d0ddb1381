/* The command line, response files, paths, outputs, and the whole program in-process. */
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "driver/driver.h"
#include "driver/link.h"
#include "driver/options.h"
#include "driver/output.h"
#include "driver/paths.h"
#include "driver/process.h"

/* Parses LINE, split at blanks; the texts live as long as the session. */
static bool parse(Session *session, const char *line) {
    static char name[] = "dslc";
    char *argv[40] = {name}, *text = arena_strndup(session->arena, line, strlen(line));
    int argc = 1;
    for (char *word = strtok(text, " "); word; word = strtok(NULL, " ")) argv[argc++] = word;
    return options_parse(session, argc, argv);
}

static char *reported(Session *session) {
    StrBuf out = {0};
    strbuf_add(&out, "");
    diags_render(session->diags, &out);
    char *text = arena_strndup(session->arena, out.text, out.len);
    strbuf_free(&out);
    return text;
}

START_TEST(options_of_every_form) {
    Session *s = session_new();
    Options *o = &s->options;
    ck_assert(parse(s, "-O3 -o out.o -c -Idir -I dir2 --emit=llvm --cpu native -g a.adl -lm x.o "
                       "-Wl,-z,now --unchecked --threads --max-errors=7 --color=never -Lx"));
    ck_assert_int_eq(o->command, COMMAND_COMPILE);
    ck_assert_int_eq(o->opt_level, 3);
    ck_assert_str_eq(o->output, "out.o");
    ck_assert_int_eq(o->emit, EMIT_LLVM); /* the last one of -c and --emit */
    ck_assert_uint_eq(o->include_dirs.len, 2);
    ck_assert_str_eq(o->include_dirs.at[0], "dir");
    ck_assert_str_eq(o->include_dirs.at[1], "dir2");
    ck_assert_str_eq(o->cpu, "native");
    ck_assert_int_eq(o->debug_info, 1);
    ck_assert_int_eq(o->checks, CHECKS_NONE);
    ck_assert_int_eq(o->color, COLOR_NEVER);
    ck_assert_uint_eq(o->max_errors, 7);
    ck_assert_uint_eq(o->inputs.len, 4);
    const struct {
        InputKind kind;
        const char *text;
    } expected[] = {{INPUT_SOURCE, "a.adl"},
                    {INPUT_LIBRARY, "m"},
                    {INPUT_OBJECT, "x.o"},
                    {INPUT_LINKER, "-Wl,-z,now"}};
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(o->inputs.at[i].kind, expected[i].kind);
        ck_assert_str_eq(o->inputs.at[i].text, expected[i].text);
    }
    session_free(s);
}
END_TEST

START_TEST(options_have_defaults) {
    Session *s = session_new();
    ck_assert(parse(s, "a.adl"));
    ck_assert_int_eq(s->options.opt_level, 2);
    ck_assert_int_eq(s->options.threads, 1);
    ck_assert_int_eq(s->options.emit, EMIT_DEFAULT);
    ck_assert_int_eq(s->options.checks, CHECKS_DEFAULT);
    ck_assert_ptr_null(s->options.output);
    session_free(s);
}
END_TEST

START_TEST(options_behind_the_program_are_its_own) {
    Session *s = session_new();
    ck_assert(parse(s, "run -O1 - --n 3 -O9 @x"));
    ck_assert_int_eq(s->options.command, COMMAND_RUN);
    ck_assert_int_eq(s->options.opt_level, 1);
    ck_assert_uint_eq(s->options.inputs.len, 1);
    ck_assert_uint_eq(s->options.arguments.len, 4);
    ck_assert_str_eq(s->options.arguments.at[3], "@x");
    session_free(s);
    s = session_new();
    ck_assert(parse(s, "check -- -odd.adl run"));
    ck_assert_uint_eq(s->options.inputs.len, 2);
    ck_assert_str_eq(s->options.inputs.at[0].text, "-odd.adl");
    session_free(s);
}
END_TEST

static const char *const mistakes[][2] = {
    {"", "dslc: error[E0006]: no input file\n"},
    {"-lm", "dslc: error[E0006]: no input file\n"},
    {"--shraed a.adl",
     "dslc: error[E0007]: unknown option '--shraed'\nhelp: did you mean '--shared'?\n"},
    {"-zzz a.adl", "dslc: error[E0007]: unknown option '-zzz'\n"},
    {"-o", "dslc: error[E0008]: '-o' is followed by no argument: FILE is expected\n"},
    {"-O4 a.adl", "dslc: error[E0008]: '-O' does not take '4': 0, 1, 2 or 3 is expected\n"},
    {"--emit=ri a.adl", "dslc: error[E0008]: '--emit' does not take 'ri': see --help for the kinds "
                        "of output\nhelp: did you mean '--emit=ir'?\n"},
    {"--shared -r a.adl", "dslc: error[E0009]: '--shared' excludes '-r'\n"},
    {"-c -o x a.adl b.adl",
     "dslc: error[E0009]: '-o' names one output, but 2 files are compiled one by one\n"},
    {"run --filter=x a.adl", "dslc: error[E0010]: the command 'run' does not take '--filter'\n"},
    {"--filter=x a.adl", "dslc: error[E0010]: '--filter' is an option of the command 'test'\n"},
    {"-Wno-nothing a.adl", "dslc: error[E0011]: no group of warnings is called 'nothing'\n"},
    {"@/nonexistent/x", "dslc: error[E0013]: cannot read the response file '/nonexistent/x': No "
                        "such file or directory\n"},
    {"chekc", "dslc: error[E0001]: no file and no command is called 'chekc'\nhelp: did you mean "
              "'dslc check'?\n"},
    {"explain", "dslc: error[E0006]: 'explain' takes one code, or FILE:FUNCTION\n"},
};

START_TEST(options_report_mistakes) {
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        Session *s = session_new();
        ck_assert(!parse(s, mistakes[i][0]));
        char *text = reported(s);
        /* An unreadable response file is also left as a word. */
        text[strlen(mistakes[i][1]) < strlen(text) ? strlen(mistakes[i][1]) : strlen(text)] = 0;
        ck_assert_str_eq(text, mistakes[i][1]);
        session_free(s);
    }
}
END_TEST

START_TEST(options_rows_are_sound) {
    for (unsigned i = 0; i < option_count; i++) {
        const OptionRow *row = &option_rows[i];
        ck_assert_int_eq(row->spelling[0], '-');
        ck_assert_msg((row->form == OPTION_FLAG) == (*row->arg == 0), "%s", row->spelling);
        for (unsigned k = 0; k < i; k++) ck_assert_str_ne(row->spelling, option_rows[k].spelling);
    }
    StrBuf help = {0};
    for (int i = 0; i < COMMAND_COUNT; i++) {
        strbuf_clear(&help);
        options_help((CommandKind)i, &help);
        for (const char *line = help.text; *line;) {
            size_t len = strcspn(line, "\n");
            ck_assert_msg(len <= 80, "a line of help is too long: %.*s", (int)len, line);
            line += len + 1;
        }
    }
    strbuf_free(&help);
}
END_TEST

static char folder[] = "/tmp/adl-unit-XXXXXX";

static const char *in_folder(Session *s, const char *name) {
    return arena_printf(s->arena, "%s/%s", folder, name);
}

static void put(Session *s, const char *name, const char *text) {
    FileError error;
    ck_assert(file_write_atomic(in_folder(s, name), text, strlen(text), 0666, &error));
}

static char *get(Session *s, const char *name) {
    char *text;
    size_t len;
    FileError error;
    ck_assert(file_read_all(in_folder(s, name), &text, &len, &error));
    char *copy = arena_strndup(s->arena, text, len);
    free(text);
    return copy;
}

static void remove_folder(void) {
    char command[100];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    ck_assert_int_eq(system(command), 0);
}

START_TEST(response_files_are_spliced) {
    Session *s = session_new();
    ck_assert_ptr_nonnull(mkdtemp(folder));
    put(s, "inner", "'a b.adl'\n\"c\\\"d.adl\" e\\ f.adl ''");
    put(s, "outer", arena_printf(s->arena, "-O1 @%s/inner g.adl", folder));
    ck_assert(parse(s, arena_printf(s->arena, "check @%s/outer h.adl", folder)) == false);
    ck_assert_ptr_nonnull(strstr(reported(s), "'check' does not take '-O'"));
    const char *const names[] = {"a b.adl", "c\"d.adl", "e f.adl", "", "g.adl", "h.adl"};
    ck_assert_uint_eq(s->options.inputs.len, 6);
    for (int i = 0; i < 6; i++) ck_assert_str_eq(s->options.inputs.at[i].text, names[i]);
    put(s, "endless", arena_printf(s->arena, "@%s/endless", folder));
    Session *t = session_new();
    ck_assert(!parse(t, arena_printf(t->arena, "@%s/endless", folder)));
    ck_assert_ptr_nonnull(strstr(reported(t), "without end"));
    session_free(t);
    session_free(s);
    remove_folder();
}
END_TEST

START_TEST(paths_from_home_and_executable) {
    Session *s = session_new();
    Paths paths;
    ck_assert_ptr_nonnull(mkdtemp(folder));
    /* As installed under another prefix; the folders are those of the configured prefix. */
    ck_assert_int_eq(
        system(arena_printf(s->arena, "mkdir -p %s/bin %s/share/adl/stdlib", folder, folder)), 0);
    put(s, "share/adl/stdlib/prelude.adl", "");
    paths_find(&paths, s->arena, folder, NULL);
    ck_assert_ptr_nonnull(paths.stdlib);
    ck_assert_ptr_nonnull(strstr(paths.stdlib, folder));
    paths_find(&paths, s->arena, NULL, in_folder(s, "bin/dslc"));
    ck_assert_ptr_nonnull(paths.stdlib);
    ck_assert_ptr_nonnull(strstr(paths.stdlib, folder));
    /* A build tree. */
    put(s, "libdslc.la", "");
    ck_assert_int_eq(mkdir(in_folder(s, ".libs"), 0777), 0);
    put(s, ".libs/libdslc-llvm.so", "");
    put(s, ".libs/libadl.so", "");
    paths_find(&paths, s->arena, NULL, in_folder(s, "dslc"));
    ck_assert_str_eq(paths.backend, in_folder(s, ".libs/libdslc-llvm.so"));
    ck_assert_str_eq(paths.runtime, in_folder(s, ".libs/libadl.so"));
    ck_assert_str_eq(paths.library, in_folder(s, ".libs"));
    session_free(s);
    remove_folder();
}
END_TEST

START_TEST(outputs_are_named_as_cc_does) {
    Session *s = session_new();
    ck_assert_str_eq(output_name(s, "dir.x/model.adl", ".o"), "model.o");
    ck_assert_str_eq(output_name(s, "plain", ".s"), "plain.s");
    ck_assert_str_eq(output_name(s, "-", ".o"), "stdin.o");
    s->options.output = "else";
    ck_assert_str_eq(output_name(s, "a.adl", ".o"), "else");
    ck_assert(!output_write(s, "/nonexistent/x", "", 0));
    ck_assert_str_eq(reported(s), "dslc: error[E0005]: cannot write '/nonexistent/x': No such file "
                                  "or directory\n");
    session_free(s);
}
END_TEST

START_TEST(depfiles_name_what_was_read) {
    Session *s = session_new();
    ck_assert_ptr_nonnull(mkdtemp(folder));
    sources_add(&s->sources, "main.adl", "", 0);
    sources_add(&s->sources, "a b$.adl", "", 0);
    sources_add(&s->sources, "/std/prelude.adl", "", 0);
    s->options.depfile_phony = 1;
    ck_assert(output_depfile(s, in_folder(s, "main.o"), "/std"));
    ck_assert_str_eq(get(s, "main.d"),
                     arena_printf(s->arena,
                                  "%s/main.o: \\\n  main.adl \\\n  a\\ b$$.adl\na\\ b$$.adl:\n",
                                  folder));
    s->options.depfile_path = in_folder(s, "other");
    s->options.depfile_target = "goal";
    s->options.depfile_phony = 0;
    ck_assert(output_depfile(s, "main.o", NULL));
    ck_assert_str_eq(get(s, "other"),
                     "goal: \\\n  main.adl \\\n  a\\ b$$.adl \\\n  /std/prelude.adl\n");
    session_free(s);
    remove_folder();
}
END_TEST

START_TEST(processes_report_failure) {
    Session *s = session_new();
    TextList words = {0};
    vec_push(&words, "true");
    ck_assert(process_run(s, &words));
    words.at[0] = "false";
    ck_assert(!process_run(s, &words));
    words.at[0] = "/nonexistent/program";
    ck_assert(!process_run(s, &words));
    ck_assert_str_eq(reported(s),
                     "dslc: error[E0014]: 'false' ended with status 1\n"
                     "dslc: error[E0014]: cannot run '/nonexistent/program': No such file or "
                     "directory\n");
    vec_free(&words);
    session_free(s);
}
END_TEST

START_TEST(linking_leaves_nothing_behind_when_it_fails) {
    Session *s = session_new();
    Paths paths = {.library = folder};
    TextList objects = {0};
    ck_assert_ptr_nonnull(mkdtemp(folder));
    vec_push(&objects, in_folder(s, "missing.o"));
    vec_push(&s->options.inputs, ((Input){INPUT_SOURCE, "a.adl"}));
    setenv("CC", " false  -x ", 1);
    ck_assert(!link_inputs(s, &paths, LINK_PROGRAM, &objects, &(TextList){0}, in_folder(s, "out")));
    ck_assert_str_eq(reported(s), "dslc: error[E0014]: 'false' ended with status 1\n");
    paths.library = NULL;
    ck_assert(!link_inputs(s, &paths, LINK_SHARED, &objects, &(TextList){0}, in_folder(s, "out")));
    ck_assert_ptr_nonnull(strstr(reported(s), "E0015"));
    ck_assert_int_eq(rmdir(folder), 0);
    vec_free(&objects);
    session_free(s);
}
END_TEST

static int run(const char *const *argv, int argc, char **out, char **err) {
    size_t nout, nerr;
    FILE *o = open_memstream(out, &nout), *e = open_memstream(err, &nerr);
    int status = driver_main(argc, (char *const *)argv, o, e);
    fclose(o);
    fclose(e);
    return status;
}

START_TEST(program_runs_in_process) {
    char *out, *err;
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(run((const char *[]){"dslc", "explain", "E0006"}, 3, &out, &err),
                         STATUS_DONE);
        ck_assert_ptr_nonnull(strstr(out, "no input file"));
        ck_assert_str_eq(err, "");
        free(out);
        free(err);
    }
    ck_assert_int_eq(run((const char *[]){"dslc", "--version"}, 2, &out, &err), STATUS_DONE);
    ck_assert_mem_eq(out, "dslc (ADL) ", 11);
    free(out);
    free(err);
    ck_assert_int_eq(run((const char *[]){"dslc"}, 1, &out, &err), STATUS_USAGE);
    ck_assert_str_eq(err, "dslc: error[E0006]: no input file\n");
    free(out);
    free(err);
    ck_assert_int_eq(
        run((const char *[]){"dslc", "explain", "E9999", "--diagnostics=json"}, 4, &out, &err),
        STATUS_USAGE);
    ck_assert_mem_eq(err, "{\"code\":\"E0012\"", 15);
    free(out);
    free(err);
}
END_TEST

UNIT_MAIN("driver", options_of_every_form, options_have_defaults,
          options_behind_the_program_are_its_own, options_report_mistakes, options_rows_are_sound,
          response_files_are_spliced, paths_from_home_and_executable, outputs_are_named_as_cc_does,
          depfiles_name_what_was_read, processes_report_failure,
          linking_leaves_nothing_behind_when_it_fails, program_runs_in_process)
