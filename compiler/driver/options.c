/* Parsing works on a list of words, into which response files are spliced.  An option is looked up
   by the longest spelling that fits its form, so that -MMD is not -M with an argument. */
#include "driver/options.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/num.h"
#include "driver/response.h"

#define ON(name) (1u << COMMAND_##name)
#define BUILD (ON(COMPILE) | ON(RUN) | ON(TEST) | ON(BENCH) | ON(GRADCHECK))
#define ANY (~0u)
#define SET(field, value) OPTION_SET, offsetof(Options, field), (value), NULL
#define TEXT(field) OPTION_TEXT, offsetof(Options, field), 0, NULL
#define LIST(field) OPTION_LIST, offsetof(Options, field), 0, NULL
#define WORD(field, words) OPTION_WORD, offsetof(Options, field), 0, (words)
#define NUMBER(field) OPTION_NUMBER, offsetof(Options, field), 0, NULL
#define INPUT OPTION_INPUT, 0, 0, NULL
#define HANDLED OPTION_HANDLED, 0, 0, NULL
#define ROW(spelling, form, arg, action, field, value, words, commands, help)                      \
    {(spelling), OPTION_##form, (arg), (action), (field), (value), (words), (commands), (help)},
#define EXPANDED_ROW(...) ROW(__VA_ARGS__)

const OptionRow option_rows[] = {
#define OPTION(spelling, form, arg, action, commands, help)                                        \
    EXPANDED_ROW(spelling, form, arg, action, commands, help)
#include "lang/options.def"
};
const unsigned option_count = sizeof option_rows / sizeof *option_rows;

const CommandRow command_rows[COMMAND_COUNT] = {
#define COMMAND(name, word, args, help) {word, args, help},
#include "lang/options.def"
};

const EmitRow emit_rows[EMIT_COUNT] = {
#define EMIT(name, word, help) {word, help},
#include "lang/options.def"
};

static const Span nowhere = {0, 0};

typedef struct Parse {
    Session *session;
    Options *options;
    Diags *diags;
    TextList words;
    uint32_t next;
} Parse;

/* ---- finding the row ------------------------------------------------------------------------ */

static bool is_long(const OptionRow *row) {
    return row->spelling[1] == '-';
}

/* Whether WORD is ROW; *ARG is the argument that is part of the word, NULL if none is. */
static bool matches(const OptionRow *row, const char *word, const char **arg) {
    size_t len = strlen(row->spelling);
    *arg = NULL;
    if (strncmp(word, row->spelling, len) != 0) return false;
    if (word[len] == '\0') return true;
    if (row->form == OPTION_FLAG) return false;
    if (is_long(row)) {
        if (word[len] != '=') return false;
        *arg = word + len + 1;
        return true;
    }
    *arg = word + len;
    return true;
}

static const OptionRow *find_row(const char *word, const char **arg) {
    const OptionRow *best = NULL;
    size_t best_len = 0;
    for (unsigned i = 0; i < option_count; i++) {
        const char *this_arg;
        size_t len = strlen(option_rows[i].spelling);
        if (len <= best_len || !matches(&option_rows[i], word, &this_arg)) continue;
        best = &option_rows[i];
        best_len = len;
        *arg = this_arg;
    }
    return best;
}

static void report_unknown(Parse *parse, const char *word) {
    const char *names[128];
    size_t count = 0, len = strcspn(word, "=");
    for (unsigned i = 0; i < option_count && count < 128; i++)
        if (*option_rows[i].help) names[count++] = option_rows[i].spelling;
    const char *name = arena_strndup(parse->session->arena, word, len);
    const char *closest = diag_closest(name, names, count);
    diag_report(parse->diags, DIAG_OPTION_UNKNOWN, nowhere, "unknown option '%s'", name);
    if (closest) diag_help(parse->diags, nowhere, "did you mean '%s'?", closest);
}

/* ---- what an option does -------------------------------------------------------------------- */

static void bad_argument(Parse *parse, const OptionRow *row, const char *arg, const char *wanted) {
    diag_report(parse->diags, DIAG_OPTION_ARGUMENT, nowhere, "'%s' does not take '%s': %s",
                row->spelling, arg, wanted);
}

/* Index of WORD in "a|b|c", or -1. */
static int word_index(const char *words, const char *word) {
    size_t len = strlen(word);
    for (int index = 0;; index++) {
        size_t n = strcspn(words, "|");
        if (n == len && strncmp(words, word, n) == 0) return index;
        if (!words[n]) return -1;
        words += n + 1;
    }
}

static void set_number(Parse *parse, const OptionRow *row, const char *arg) {
    uint64_t value;
    if (!num_parse_u64(arg, strlen(arg), &value) || value > UINT32_MAX)
        bad_argument(parse, row, arg, "a number is expected");
    else *(unsigned *)((char *)parse->options + row->field) = (unsigned)value;
}

static void set_emit(Parse *parse, const OptionRow *row, const char *arg) {
    const char *names[EMIT_COUNT];
    for (int i = 0; i < EMIT_COUNT; i++) {
        names[i] = emit_rows[i].word;
        if (strcmp(arg, names[i]) != 0) continue;
        parse->options->emit = i;
        return;
    }
    const char *closest = diag_closest(arg, names, EMIT_COUNT);
    bad_argument(parse, row, arg, "see --help for the kinds of output");
    if (closest) diag_help(parse->diags, nowhere, "did you mean '--emit=%s'?", closest);
}

static void set_warning(Parse *parse, const char *word) {
    vec_push(&parse->options->warnings, word);
    if (diags_set_warning(parse->diags, word)) return;
    const char *names[DIAG_COUNT];
    const char *group = strrchr(word, '=') ? strrchr(word, '=') + 1 : word + 2;
    size_t count = 0;
    if (strncmp(group, "no-", 3) == 0) group += 3;
    for (; count < DIAG_COUNT && (names[count] = diag_group((uint32_t)count)); count++) continue;
    const char *closest = diag_closest(group, names, count);
    diag_report(parse->diags, DIAG_WARNING_UNKNOWN, nowhere, "no group of warnings is called '%s'",
                group);
    if (closest) diag_help(parse->diags, nowhere, "did you mean '%s'?", closest);
}

/* The options with a few lines of their own. */
static void handle(Parse *parse, const OptionRow *row, const char *word, const char *arg) {
    if (strcmp(row->spelling, "-O") == 0) {
        int level = arg ? word_index("0|1|2|3", arg) : 1;
        if (level < 0) bad_argument(parse, row, arg, "0, 1, 2 or 3 is expected");
        else parse->options->opt_level = level;
    } else if (strcmp(row->spelling, "--emit") == 0) {
        set_emit(parse, row, arg);
    } else {
        set_warning(parse, strcmp(word, "-w") == 0 ? "-Wno-all" : word);
    }
}

static void add_input(Parse *parse, InputKind kind, const char *text) {
    vec_push(&parse->options->inputs, ((Input){kind, text}));
}

static void apply(Parse *parse, const OptionRow *row, const char *word, const char *arg) {
    char *field = (char *)parse->options + row->field;
    switch (row->action) {
    case OPTION_SET: *(int *)field = row->value; break;
    case OPTION_TEXT: *(const char **)field = arg; break;
    case OPTION_LIST: vec_push((TextList *)field, arg); break;
    case OPTION_WORD:
        if (word_index(row->words, arg) < 0)
            bad_argument(parse, row, arg,
                         arena_printf(parse->session->arena, "one of %s is expected", row->words));
        else *(int *)field = word_index(row->words, arg);
        break;
    case OPTION_NUMBER: set_number(parse, row, arg); break;
    case OPTION_INPUT:
        if (row->spelling[1] == 'l') add_input(parse, INPUT_LIBRARY, arg);
        else add_input(parse, INPUT_LINKER, word);
        break;
    case OPTION_HANDLED: handle(parse, row, word, arg); break;
    }
}

/* ---- words ---------------------------------------------------------------------------------- */

/* The command that an option is for, for the message: the first that takes it. */
static const char *command_of(const OptionRow *row) {
    for (int i = 0; i < COMMAND_COUNT; i++)
        if (row->commands >> i & 1) return command_rows[i].word;
    return "";
}

static bool argument_is_optional(const OptionRow *row) {
    return row->action == OPTION_HANDLED && !is_long(row);
}

static void parse_option(Parse *parse, const char *word) {
    const char *arg = NULL;
    const OptionRow *row = find_row(word, &arg);
    if (!row) {
        report_unknown(parse, word);
        return;
    }
    if (row->form != OPTION_FLAG && !arg && !argument_is_optional(row)) {
        if (parse->next == parse->words.len) {
            diag_report(parse->diags, DIAG_OPTION_ARGUMENT, nowhere,
                        "'%s' is followed by no argument: %s is expected", row->spelling, row->arg);
            return;
        }
        arg = parse->words.at[parse->next++];
    }
    if (!(row->commands >> parse->options->command & 1)) {
        const char *command = command_rows[parse->options->command].word;
        if (*command)
            diag_report(parse->diags, DIAG_OPTION_COMMAND, nowhere,
                        "the command '%s' does not take '%s'", command, row->spelling);
        else
            diag_report(parse->diags, DIAG_OPTION_COMMAND, nowhere,
                        "'%s' is an option of the command '%s'", row->spelling, command_of(row));
        return;
    }
    apply(parse, row, word, arg);
}

static bool ends_with(const char *text, const char *end) {
    size_t len = strlen(text), n = strlen(end);
    return len >= n && strcmp(text + len - n, end) == 0;
}

/* Files that only a linker reads; anything else is a source, so that a mistyped name is looked
   for and reported as such. */
static InputKind input_kind(const char *word) {
    const char *base = path_base(word);
    if (ends_with(base, ".o") || ends_with(base, ".a") || ends_with(base, ".so") ||
        strstr(base, ".so."))
        return INPUT_OBJECT;
    return INPUT_SOURCE;
}

static void take_rest(Parse *parse) {
    while (parse->next < parse->words.len)
        vec_push(&parse->options->arguments, parse->words.at[parse->next++]);
}

static void parse_file_word(Parse *parse, const char *word) {
    CommandKind command = parse->options->command;
    if (command == COMMAND_EXPLAIN) {
        vec_push(&parse->options->arguments, word);
        return;
    }
    add_input(parse, input_kind(word), word);
    /* What follows the program belongs to the program. */
    bool runs = command == COMMAND_RUN || command == COMMAND_GRADCHECK;
    if (runs && input_kind(word) == INPUT_SOURCE) take_rest(parse);
}

static void parse_words(Parse *parse) {
    bool only_files = false;
    while (parse->next < parse->words.len) {
        const char *word = parse->words.at[parse->next++];
        if (!only_files && strcmp(word, "--") == 0) only_files = true;
        else if (!only_files && word[0] == '-' && word[1]) parse_option(parse, word);
        else parse_file_word(parse, word);
    }
}

/* The command, if the first word is one. */
static void parse_command(Parse *parse) {
    if (parse->words.len == 0) return;
    for (int i = 0; i < COMMAND_COUNT; i++) {
        if (!*command_rows[i].word || strcmp(parse->words.at[0], command_rows[i].word) != 0)
            continue;
        parse->options->command = (CommandKind)i;
        parse->next = 1;
    }
}

/* ---- what goes together --------------------------------------------------------------------- */

static uint32_t count_inputs(const Options *options, InputKind kind) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < options->inputs.len; i++) count += options->inputs.at[i].kind == kind;
    return count;
}

/* A word that is neither an option nor a file, alone: perhaps a misspelt command. */
static void check_command(Parse *parse) {
    const Options *options = parse->options;
    if (options->command != COMMAND_COMPILE || options->inputs.len == 0) return;
    const char *word = options->inputs.at[0].text, *names[COMMAND_COUNT];
    if (strchr(word, '.') || strchr(word, '/') || file_exists(word)) return;
    for (int i = 0; i < COMMAND_COUNT; i++) names[i] = command_rows[i].word;
    const char *closest = diag_closest(word, names, COMMAND_COUNT);
    if (!closest) return;
    diag_report(parse->diags, DIAG_FILE_UNREADABLE, nowhere,
                "no file and no command is called '%s'", word);
    diag_help(parse->diags, nowhere, "did you mean 'dslc %s'?", closest);
}

static void check_together(Parse *parse) {
    const Options *options = parse->options;
    CommandKind command = options->command;
    uint32_t sources = count_inputs(options, INPUT_SOURCE);
    uint32_t objects = count_inputs(options, INPUT_OBJECT);
    bool needs_none = command == COMMAND_REPL || command == COMMAND_LSP;
    if (options->help || options->version || diags_errors(parse->diags)) return;
    if (command == COMMAND_EXPLAIN) {
        if (options->arguments.len != 1)
            diag_report(parse->diags, DIAG_NO_INPUT, nowhere,
                        "'explain' takes one code, or FILE:FUNCTION");
        return;
    }
    if (sources + (command == COMMAND_COMPILE ? objects : 0) == 0 && !needs_none)
        diag_report(parse->diags, DIAG_NO_INPUT, nowhere, "no input file");
    if (options->shared && options->relocatable)
        diag_report(parse->diags, DIAG_OPTION_CONFLICT, nowhere, "'--shared' excludes '-r'");
    if (options->output && options->emit != EMIT_DEFAULT && sources > 1)
        diag_report(parse->diags, DIAG_OPTION_CONFLICT, nowhere,
                    "'-o' names one output, but %u files are compiled one by one", sources);
    check_command(parse);
}

bool options_parse(Session *session, int argc, char *const *argv) {
    Parse parse = {.session = session, .options = &session->options, .diags = session->diags};
    uint32_t before = diags_errors(session->diags);
    for (int i = 1; i < argc; i++) vec_push(&parse.words, argv[i]);
    parse_command(&parse);
    response_expand(session->arena, session->diags, &parse.words, session->options.command);
    parse_words(&parse);
    check_together(&parse);
    vec_free(&parse.words);
    if (session->options.max_errors) diags_set_limit(session->diags, session->options.max_errors);
    return diags_errors(session->diags) == before;
}
