/* Runs cases: files that hold a program, how dslc is called on it, and what must come out.

     case-runner [--bless] [--status] FILE-OR-FOLDER...

   A folder stands for all files in it that end in .adl and do not begin with '_'.  dslc is what the
   variable DSLC names.  The output is TAP.  Directives are comments at the start of a line:

     //# args: run -O2 %s      the command line; without %s the file is its last word.  Default:
   check
     //# also: run -O0         the same expectations for another command line (any number)
     //# then: %t/prog 3       a program that is run after dslc; its output is appended
     //# status: 1             of the last program run; default 0, or 1 if errors are marked
     //# needs: llvm           llvm ptxas cuda blas: skipped where the variable ADL_LACKS has the
   word
     //# stdin: words          given on standard input, with a newline
     //# stdout:               what is printed, in the lines that follow, each behind "// | "
     //# stderr:               the same for standard error

   Words are separated by blanks; there is no shell.  %t is a folder that is made for the case and
   removed afterwards; %d the folder of the case, which is also the working directory, so that
   messages show the bare name of the file.  Standard output must be as expected, empty by default;
   standard error is compared if there is a block for it, or else must be empty unless the status is
   not 0.

   Diagnostics can be marked on their lines instead of given in full:

     let x = y;                //~ E0201 'y' is not defined
                               //~^ W0801           (each ^ is one line further up)

   a code and, if wanted, a part of the message.  Then the case is run with --diagnostics=json, and
   the diagnostics must be exactly those that are marked.  A mark on line 1 also stands for a
   diagnostic without a place.

   --bless rewrites the blocks for standard output and error by what came out.  With --status, the
   status is 1 if a case failed; without, the output alone says so, as harnesses want it. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/num.h"
#include "base/strbuf.h"
#include "base/vec.h"

enum { SECONDS = 120 };

typedef VEC(const char *) Words;

typedef struct Mark {
    unsigned line;
    const char *code, *text; /* text may be "" */
    bool met;
} Mark;

typedef struct Case {
    Arena *arena;
    const char *path, *folder, *base, *temp;
    const char *source;
    Words commands; /* of args and also */
    const char *then, *input, *needs;
    int status; /* -1: not given */
    bool has_out, has_err;
    StrBuf out, err; /* expected */
    VEC(Mark) marks;
} Case;

typedef struct Result {
    int status; /* exit status; 1000 + signal */
    StrBuf out, err;
} Result;

static bool bless;
static unsigned number, failures;

/* ---- reading a case ------------------------------------------------------------------------- */

static const char *directive(const char *line, const char *name) {
    size_t len = strlen(name);
    if (strncmp(line, "//# ", 4) != 0 || strncmp(line + 4, name, len) != 0) return NULL;
    if (line[4 + len] != ':') return NULL;
    line += 5 + len;
    while (*line == ' ') line++;
    return line;
}

static void read_marks(Case *c, const char *line, unsigned number_of_line) {
    while ((line = strstr(line, "//~"))) {
        unsigned at = number_of_line;
        for (line += 3; *line == '^'; line++) at--;
        while (*line == ' ') line++;
        size_t len = strcspn(line, " ");
        const char *code = arena_strndup(c->arena, line, len), *text = line + len;
        while (*text == ' ') text++;
        const char *stop = strstr(text, "//~");
        size_t n = stop ? (size_t)(stop - text) : strlen(text);
        while (n && (text[n - 1] == ' ' || text[n - 1] == '\r')) n--;
        vec_push(&c->marks, ((Mark){at, code, arena_strndup(c->arena, text, n), false}));
    }
}

/* A line of a block, behind "// | " or "// |"; false if it is none. */
static bool read_block_line(StrBuf *block, const char *line) {
    if (!block || strncmp(line, "// |", 4) != 0) return false;
    line += 4;
    if (*line == ' ') line++;
    strbuf_add(block, line);
    strbuf_char(block, '\n');
    return true;
}

/* The block that LINE begins, if any. */
static StrBuf *block_begin(Case *c, const char *line) {
    if (directive(line, "stdout")) return c->has_out = true, &c->out;
    if (directive(line, "stderr")) return c->has_err = true, &c->err;
    return NULL;
}

static bool read_directive(Case *c, const char *line) {
    const char *value;
    if ((value = directive(line, "args"))) {
        if (c->commands.len) c->commands.at[0] = value;
        else vec_push(&c->commands, value);
    } else if ((value = directive(line, "also"))) {
        if (!c->commands.len) vec_push(&c->commands, "check");
        vec_push(&c->commands, value);
    } else if ((value = directive(line, "then"))) {
        c->then = value;
    } else if ((value = directive(line, "stdin"))) {
        c->input = value;
    } else if ((value = directive(line, "needs"))) {
        c->needs = value;
    } else if ((value = directive(line, "status"))) {
        c->status = atoi(value);
    } else {
        return strncmp(line, "//# ", 4) != 0;
    }
    return true;
}

/* Splits the source into lines; false (with a message) for a directive that does not exist. */
static bool read_case(Case *c) {
    StrBuf *block = NULL;
    unsigned line_number = 0;
    char *text = arena_strndup(c->arena, c->source, strlen(c->source));
    for (char *line = text, *next; line && *line; line = next) {
        next = strchr(line, '\n');
        if (next) *next++ = '\0';
        line_number++;
        if (read_block_line(block, line)) continue;
        block = block_begin(c, line);
        if (block) continue;
        if (!read_directive(c, line)) {
            printf("# %s:%u: no such directive: %s\n", c->path, line_number, line);
            return false;
        }
        read_marks(c, line, line_number);
    }
    if (!c->commands.len) vec_push(&c->commands, "check");
    return true;
}

/* ---- running -------------------------------------------------------------------------------- */

/* COMMAND as words, with % forms replaced. */
static void split(const Case *c, const char *command, Words *words) {
    bool has_file = false;
    while (*command) {
        size_t len = strcspn(command, " ");
        StrBuf word = {0};
        for (size_t i = 0; i < len; i++) {
            if (command[i] != '%' || i + 1 == len || !strchr("std", command[i + 1])) {
                strbuf_char(&word, command[i]);
                continue;
            }
            has_file |= command[++i] == 's';
            strbuf_add(&word, command[i] == 's'   ? c->base
                              : command[i] == 't' ? c->temp
                                                  : c->folder);
        }
        if (word.len) vec_push(words, arena_strndup(c->arena, word.text, word.len));
        strbuf_free(&word);
        command += len + (command[len] == ' ');
    }
    if (!has_file) vec_push(words, c->base);
}

static void read_back(FILE *file, StrBuf *buf) {
    char bytes[4096];
    size_t n;
    strbuf_add(buf, "");
    rewind(file);
    while ((n = fread(bytes, 1, sizeof bytes, file))) strbuf_add_n(buf, bytes, n);
    fclose(file);
}

static FILE *temporary(void) {
    FILE *file = tmpfile();
    if (file) return file;
    perror("case-runner: tmpfile");
    exit(2);
}

static _Noreturn void child(const Case *c, Words *words, FILE *in, FILE *out, FILE *err) {
    if (chdir(c->folder) != 0) _exit(126);
    dup2(fileno(in), 0);
    dup2(fileno(out), 1);
    dup2(fileno(err), 2);
    alarm(SECONDS); /* survives exec; SIGALRM ends what takes too long */
    vec_push(words, NULL);
    execvp(words->at[0], (char *const *)words->at);
    fprintf(stderr, "cannot run %s: %s\n", words->at[0], strerror(errno));
    _exit(127);
}

static void run(const Case *c, Words *words, Result *result) {
    FILE *in = temporary(), *out = temporary(), *err = temporary();
    if (c->input) fprintf(in, "%s\n", c->input);
    rewind(in);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) child(c, words, in, out, err);
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
    result->status = WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
    fclose(in);
    read_back(out, &result->out);
    read_back(err, &result->err);
}

static void run_case(const Case *c, const char *command, Result *result) {
    Words words = {0};
    vec_push(&words, getenv("DSLC") ? getenv("DSLC") : "dslc");
    if (c->marks.len) {
        size_t len = strcspn(command, " ");
        if (*command && *command != '-') {
            vec_push(&words, arena_strndup(c->arena, command, len));
            command += len;
        }
        vec_push(&words, "--diagnostics=json");
        while (*command == ' ') command++;
    }
    split(c, command, &words);
    run(c, &words, result);
    vec_free(&words);
    if (!c->then || result->status != 0) return;
    Words then = {0};
    /* The file is not added here: a %s that is not there is taken away again. */
    split(c, c->then, &then);
    if (!strstr(c->then, "%s")) (void)vec_pop(&then);
    run(c, &then, result);
    vec_free(&then);
}

/* ---- judging -------------------------------------------------------------------------------- */

static void comment(const char *title, const char *text) {
    printf("# %s\n", title);
    while (text && *text) {
        size_t len = strcspn(text, "\n");
        printf("#   %.*s\n", (int)len, text);
        text += len + (text[len] == '\n');
    }
}

static bool same_text(const char *what, const StrBuf *expected, const StrBuf *actual) {
    const char *wanted = expected->text ? expected->text : "";
    /* A missing newline at the very end cannot be written in a block. */
    size_t a = strlen(wanted), b = actual->len;
    if (b && actual->text[b - 1] != '\n' && a == b + 1) a--;
    if (a == b && memcmp(wanted, actual->text, a) == 0) return true;
    printf("# %s differs\n", what);
    comment("expected:", wanted);
    comment("actual:", actual->text);
    return false;
}

/* The text of string member KEY of the first-level object in LINE, unescaped; "" if missing. */
static const char *json_text(Arena *arena, const char *line, const char *key) {
    char pattern[40];
    snprintf(pattern, sizeof pattern, "\"%s\":\"", key);
    const char *at = strstr(line, pattern);
    StrBuf text = {0};
    strbuf_add(&text, "");
    for (at = at ? at + strlen(pattern) : ""; *at && *at != '"'; at++) {
        if (*at == '\\' && at[1]) at++;
        strbuf_char(&text, *at == 'n' && at[-1] == '\\' ? '\n' : *at);
    }
    const char *copy = arena_strndup(arena, text.text, text.len);
    strbuf_free(&text);
    return copy;
}

/* Whether some mark stands for the diagnostic; it is used up. */
static bool is_marked(Case *c, unsigned line, const char *code, const char *message) {
    for (uint32_t i = 0; i < c->marks.len; i++) {
        Mark *mark = &c->marks.at[i];
        if (mark->met || mark->line != line || strcmp(mark->code, code) != 0) continue;
        if (!strstr(message, mark->text)) continue;
        return mark->met = true;
    }
    return false;
}

static bool check_marks(Case *c, const Result *result) {
    bool good = true;
    char *text = arena_strndup(c->arena, result->err.text, result->err.len);
    for (uint32_t i = 0; i < c->marks.len; i++) c->marks.at[i].met = false;
    for (char *line = text, *next; line && *line; line = next) {
        next = strchr(line, '\n');
        if (next) *next++ = '\0';
        if (*line != '{') {
            good = false;
            printf("# not a diagnostic: %s\n", line);
            continue;
        }
        const char *place = strstr(line, "\"line\":"), *notes = strstr(line, "\"notes\":");
        bool nowhere = !place || (notes && place > notes);
        unsigned at = nowhere ? 1 : (unsigned)strtoul(place + 7, NULL, 10);
        const char *code = json_text(c->arena, line, "code");
        const char *message = json_text(c->arena, line, "message");
        if (is_marked(c, at, code, message)) continue;
        good = false;
        printf("# not marked: line %u: %s %s\n", at, code, message);
    }
    for (uint32_t i = 0; i < c->marks.len; i++) {
        if (c->marks.at[i].met) continue;
        good = false;
        printf("# marked, but not reported: line %u: %s %s\n", c->marks.at[i].line,
               c->marks.at[i].code, c->marks.at[i].text);
    }
    return good;
}

static bool marks_errors(const Case *c) {
    for (uint32_t i = 0; i < c->marks.len; i++)
        if (c->marks.at[i].code[0] == 'E') return true;
    return false;
}

static bool judge(Case *c, const Result *result) {
    int status = c->status >= 0 ? c->status : marks_errors(c);
    bool good = result->status == status;
    if (result->status >= 1000)
        printf("# ended by signal %d (%s)\n", result->status - 1000,
               strsignal(result->status - 1000));
    else if (!good) printf("# status %d instead of %d\n", result->status, status);
    if (!same_text("standard output", &c->out, &result->out)) good = false;
    if (c->marks.len) return check_marks(c, result) && good;
    if (c->has_err || status == 0)
        return same_text("standard error", &c->err, &result->err) && good;
    if (!good) comment("standard error:", result->err.text);
    return good;
}

/* ---- rewriting ------------------------------------------------------------------------------ */

static void write_block(StrBuf *file, const StrBuf *text) {
    for (const char *at = text->text; *at;) {
        size_t len = strcspn(at, "\n");
        strbuf_add(file, len ? "// | " : "// |");
        strbuf_add_n(file, at, len);
        strbuf_char(file, '\n');
        at += len + (at[len] == '\n');
    }
}

static void rewrite(const Case *c, const Result *result) {
    StrBuf file = {0};
    bool in_block = false;
    for (const char *line = c->source; *line;) {
        size_t len = strcspn(line, "\n");
        len += line[len] == '\n';
        if (!in_block || strncmp(line, "// |", 4) != 0) {
            strbuf_add_n(&file, line, len);
            in_block = directive(line, "stdout") || directive(line, "stderr");
            if (in_block)
                write_block(&file, directive(line, "stdout") ? &result->out : &result->err);
        }
        line += len;
    }
    FileError error;
    if (strcmp(file.text ? file.text : "", c->source) != 0) {
        printf("# rewritten\n");
        if (!file_write_atomic(c->path, file.text, file.len, 0666, &error))
            printf("# cannot write: %s\n", file_error_text(&error));
    }
    strbuf_free(&file);
}

/* ---- files and folders ---------------------------------------------------------------------- */

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *ftw) {
    (void)info;
    (void)kind;
    (void)ftw;
    return remove(path);
}

static const char *lacking(const Case *c) {
    const char *lacks = getenv("ADL_LACKS");
    if (!lacks || !c->needs) return NULL;
    Words words = {0};
    split(c, c->needs, &words);
    (void)vec_pop(&words);
    const char *found = NULL;
    for (uint32_t i = 0; i < words.len; i++)
        if (strstr(lacks, words.at[i])) found = words.at[i];
    vec_free(&words);
    return found;
}

static void run_commands(Case *c) {
    for (uint32_t i = 0; i < c->commands.len; i++) {
        Result result = {0};
        const char *lack = lacking(c);
        if (lack) {
            printf("ok %u - %s # SKIP no %s\n", ++number, c->base, lack);
            continue;
        }
        run_case(c, c->commands.at[i], &result);
        if (bless && i == 0) rewrite(c, &result);
        bool good = judge(c, &result);
        failures += !good;
        printf("%sok %u - %s", good ? "" : "not ", ++number, c->base);
        if (i) printf(" (%s)", c->commands.at[i]);
        printf("\n");
        strbuf_free(&result.out);
        strbuf_free(&result.err);
    }
}

static void run_file(const char *path) {
    Case c = {.arena = arena_new(), .status = -1};
    char temp[] = "/tmp/adl-case-XXXXXX", *text;
    size_t len;
    FileError error;
    char *real = realpath(path, NULL);
    if (!real || !file_read_all(real, &text, &len, &error) || !mkdtemp(temp)) {
        printf("not ok %u - %s # cannot be read\n", ++number, path);
        failures++;
        free(real);
        arena_free(c.arena);
        return;
    }
    c.path = real;
    c.base = path_base(real);
    c.folder = arena_strndup(c.arena, real, (size_t)(c.base - real - 1));
    c.temp = temp;
    c.source = text;
    if (read_case(&c)) {
        run_commands(&c);
    } else {
        printf("not ok %u - %s\n", ++number, c.base);
        failures++;
    }
    nftw(temp, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    vec_free(&c.commands);
    vec_free(&c.marks);
    strbuf_free(&c.out);
    strbuf_free(&c.err);
    free(text);
    free(real);
    arena_free(c.arena);
    fflush(stdout);
}

static int is_case(const struct dirent *entry) {
    size_t len = strlen(entry->d_name);
    return entry->d_name[0] != '_' && len > 4 && strcmp(entry->d_name + len - 4, ".adl") == 0;
}

static void run_path(const char *path) {
    struct dirent **entries;
    struct stat info;
    if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode)) {
        run_file(path);
        return;
    }
    int count = scandir(path, &entries, is_case, alphasort);
    for (int i = 0; i < count; i++) {
        StrBuf file = {0};
        strbuf_printf(&file, "%s/%s", path, entries[i]->d_name);
        run_file(file.text);
        strbuf_free(&file);
        free(entries[i]);
    }
    if (count >= 0) free(entries);
}

int main(int argc, char **argv) {
    int first = 1;
    bool with_status = false;
    for (; first < argc && argv[first][0] == '-'; first++) {
        if (strcmp(argv[first], "--bless") == 0) bless = true;
        else if (strcmp(argv[first], "--status") == 0) with_status = true;
        else break;
    }
    if (first >= argc || argv[first][0] == '-') {
        fprintf(stderr, "usage: case-runner [--bless] [--status] FILE-OR-FOLDER...\n");
        return 2;
    }
    for (int i = first; i < argc; i++) run_path(argv[i]);
    printf("1..%u\n", number);
    return with_status && failures;
}
