/* Random programs, each in a process of its own.  Without arguments: the fixed seeds of
   `make check`, as TAP.

     run [--first N] [--count N] [--all] [--shrink N] [--out FOLDER] [--print] [FILE.adl]

   --all takes every mode and every entry for each seed (-O3: one); --print writes the
   programs only.  A FILE is one that a run has left: its first line says how it is run. */
#include "tests/fuzz/random/check.h"
#include "tests/fuzz/random/exec.h"
#include "tests/fuzz/random/shrink.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"

enum { CHECK_SEEDS = 200, FAULT_STATUS = 3, PROGRESS = 500 };

typedef struct Job {
    uint32_t modes;
    bool exact;
    unsigned seconds;
} Job;

typedef struct Verdict {
    char kind[128];
    char *detail; /* NULL: no fault */
} Verdict;

/* Guesses of where dynamic TLS lies, which are wrong now and then, make the leak check crash. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) {
    return "intercept_tls_get_addr=0";
}

/* ---- one program in a child ---- */

void fault(const char *kind, const char *format, ...) {
    va_list args;
    va_start(args, format);
    fflush(stderr);
    fprintf(stderr, "\nfault: %s\n", kind);
    vfprintf(stderr, format, args);
    va_end(args);
    fprintf(stderr, "\n");
    fflush(stderr);
    _exit(FAULT_STATUS);
}

static char *read_all(FILE *file) {
    StrBuf text = {0};
    char block[4096];
    size_t n;
    rewind(file);
    while ((n = fread(block, 1, sizeof block, file)) > 0) strbuf_add_n(&text, block, n);
    if (!text.text) strbuf_add(&text, "");
    return text.text;
}

static void set_kind(Verdict *v, int status) {
    const char *at = strstr(v->detail, "\nfault: ");
    if (WIFSIGNALED(status)) {
        snprintf(v->kind, sizeof v->kind, "signal %d", WTERMSIG(status));
    } else if (WEXITSTATUS(status) == FAULT_STATUS && at) {
        at += strlen("\nfault: ");
        snprintf(v->kind, sizeof v->kind, "%.*s", (int)strcspn(at, "\n"), at);
    } else if (strstr(v->detail, "LeakSanitizer: detected")) {
        snprintf(v->kind, sizeof v->kind, "leak");
    } else if (strstr(v->detail, ": runtime error: ")) {
        snprintf(v->kind, sizeof v->kind, "undefined behaviour");
    } else {
        snprintf(v->kind, sizeof v->kind, "status %d", WEXITSTATUS(status));
    }
}

static Verdict try_text(const char *text, const Setting *setting, const Job *job) {
    Verdict v = {.detail = NULL};
    FILE *messages = tmpfile();
    int status = 0;
    fflush(stdout);
    fflush(stderr);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(fileno(messages), STDERR_FILENO);
        fclose(messages);
        alarm(job->seconds);
        check_program_text(text, setting, job->modes, job->exact);
        exit(0);
    }
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
    v.detail = read_all(messages);
    if (pid < 0 || status != 0 || strstr(v.detail, ": runtime error: ")) {
        set_kind(&v, status);
    } else {
        free(v.detail);
        v.detail = NULL;
    }
    fclose(messages);
    return v;
}

/* ---- seeds ---- */

static Job job_of(const Setting *s, bool all) {
    uint64_t seed = s->seed;
    Job job = {
        .modes = 1u << MODE_PLAIN | 1u << MODE_PASSES, .exact = seed % 4 != 3, .seconds = 60};
    if (all) job.modes = (1u << MODE_COUNT) - 1;
    if (seed % 4 == 0) job.modes |= 1u << MODE_O0;
    if (seed % 4 == 2) job.modes |= 1u << MODE_PASSED;
    if (seed % 8 == 6) job.modes |= 1u << MODE_FUSED;
    if (seed % 5 == 0) job.modes |= 1u << MODE_DEVICE | 1u << MODE_PASSED;
    if (seed % 8 == 1 || seed % 32 == 3) job.modes |= 1u << MODE_O3;
    return job;
}

typedef struct Keeping {
    const Job *job;
    const char *kind;
    Verdict last; /* of the smallest program yet */
} Keeping;

static bool keeps(void *data, const RandomProgram *program) {
    Keeping *keeping = data;
    StrBuf text = {0};
    program_print(program, &text);
    Verdict v = try_text(text.text, &program->setting, keeping->job);
    strbuf_free(&text);
    bool same = v.detail && strcmp(v.kind, keeping->kind) == 0;
    if (same) {
        free(keeping->last.detail);
        keeping->last = v;
    } else {
        free(v.detail);
    }
    return same;
}

static void drop_entries(RandomProgram *program, Keeping *keeping) {
    for (Entry e = RUN_COUNT; e-- > 0;) {
        unsigned before = program->setting.entries;
        program->setting.entries &= ~(1u << e);
        if (before == program->setting.entries || !keeps(keeping, program))
            program->setting.entries = before;
    }
}

static void write_lines(FILE *out, const char *text, const char *mark) {
    while (*text) {
        size_t n = strcspn(text, "\n");
        if (n) fprintf(out, "%s%.*s\n", mark, (int)n, text);
        text += n + (text[n] == '\n');
    }
}

static void write_case(const char *folder, const RandomProgram *program, const Verdict *v) {
    char path[512];
    StrBuf text = {0};
    snprintf(path, sizeof path, "%s/random-%llu.adl", folder,
             (unsigned long long)program->setting.seed);
    FILE *out = fopen(path, "w");
    if (!out) {
        fprintf(stderr, "cannot write %s\n", path);
        return;
    }
    program_print(program, &text);
    fputs(text.text, out);
    write_lines(out, v->detail, "// ");
    strbuf_free(&text);
    fclose(out);
}

typedef struct Run {
    uint64_t first, count;
    uint32_t attempts;
    const char *folder;
    bool all, print, tap;
    uint32_t failed;
} Run;

static void report(Run *run, Arena *arena, RandomProgram *program, const Job *job, Verdict *v) {
    StrBuf text = {0};
    Keeping keeping = {.job = job, .kind = v->kind, .last = *v};
    run->failed++;
    printf("%s seed %llu: %s\n",
           run->tap ? "#" : "fault:", (unsigned long long)program->setting.seed, v->kind);
    fflush(stdout);
    drop_entries(program, &keeping);
    shrink(arena, program, run->attempts, keeps, &keeping);
    program_print(program, &text);
    write_lines(stdout, text.text, run->tap ? "# " : "    ");
    write_lines(stdout, keeping.last.detail, run->tap ? "# " : "    ");
    fflush(stdout);
    if (run->folder) write_case(run->folder, program, &keeping.last);
    strbuf_free(&text);
    v->detail = keeping.last.detail;
}

static void run_seed(Run *run, uint64_t seed) {
    Arena *arena = arena_new();
    StrBuf text = {0};
    RandomProgram *program = program_generate(arena, seed);
    if (run->all) program->setting.entries = (1u << RUN_COUNT) - 1;
    program_print(program, &text);
    if (run->print) {
        fputs(text.text, stdout);
    } else {
        Job job = job_of(&program->setting, run->all);
        Verdict v = try_text(text.text, &program->setting, &job);
        if (v.detail) report(run, arena, program, &job, &v);
        if (run->tap)
            printf("%sok %llu - seed %llu\n", v.detail ? "not " : "",
                   (unsigned long long)(seed - run->first + 1), (unsigned long long)seed);
        fflush(stdout);
        free(v.detail);
    }
    strbuf_free(&text);
    arena_free(arena);
}

static int run_file(const char *path) {
    char *text;
    size_t len;
    FileError error;
    Setting s = {0};
    unsigned long long seed = 0;
    int single = 0, ordered = 0, smooth = 0, derived = 0;
    if (!file_read_all(path, &text, &len, &error) ||
        sscanf(text, SETTING_FORMAT, &seed, &s.n, &s.m, &s.result, &s.width, &s.entries, &single,
               &ordered, &smooth, &derived) < 9) {
        fprintf(stderr, "%s cannot be read, or does not say how it is run\n", path);
        return 2;
    }
    s.seed = seed;
    s.single = single;
    s.ordered = ordered;
    s.smooth = smooth;
    s.derived = derived;
    Job job = job_of(&s, true);
    Verdict v = try_text(text, &s, &job);
    printf("%s: %s\n%s", path, v.detail ? v.kind : "ok", v.detail ? v.detail : "");
    int status = v.detail != NULL;
    free(v.detail);
    free(text);
    return status;
}

static int usage(void) {
    fprintf(stderr, "usage: run [--first N] [--count N] [--all] [--shrink N] [--out FOLDER] "
                    "[--print] [FILE.adl]\n");
    return 2;
}

int main(int argc, char **argv) {
    Run run = {.first = 1, .count = CHECK_SEEDS, .attempts = 150, .tap = argc < 2};
    const char *file = NULL;
    for (int k = 1; k < argc; k++) {
        const char *next = k + 1 < argc ? argv[k + 1] : NULL;
        if (!strcmp(argv[k], "--all")) run.all = true;
        else if (!strcmp(argv[k], "--print")) run.print = true;
        else if (argv[k][0] != '-') file = argv[k];
        else if (!next) return usage();
        else if (!strcmp(argv[k], "--first")) run.first = strtoull(argv[++k], NULL, 10);
        else if (!strcmp(argv[k], "--count")) run.count = strtoull(argv[++k], NULL, 10);
        else if (!strcmp(argv[k], "--shrink"))
            run.attempts = (uint32_t)strtoul(argv[++k], NULL, 10);
        else if (!strcmp(argv[k], "--out")) run.folder = argv[++k];
        else return usage();
    }
    if (!run.print && !exec_open()) fprintf(stderr, "no code generator: interpreted only\n");
    if (file) return run_file(file);
    if (run.tap) printf("1..%llu\n", (unsigned long long)run.count);
    for (uint64_t k = 1; k <= run.count; k++) {
        run_seed(&run, run.first + k - 1);
        if (run.tap || run.print || (k % PROGRESS && k < run.count)) continue;
        printf("%llu programs, %u faults\n", (unsigned long long)k, run.failed);
        fflush(stdout);
    }
    return run.failed && !run.tap;
}
