/* The command line: from words to Options, by the tables in lang/options.def. */
#ifndef ADL_DRIVER_OPTIONS_H
#define ADL_DRIVER_OPTIONS_H

#include <stdbool.h>

#include "base/strbuf.h"
#include "source/session.h"

typedef enum OptionForm { OPTION_FLAG, OPTION_JOINED, OPTION_SEPARATE } OptionForm;
typedef enum OptionAction {
    OPTION_SET,
    OPTION_TEXT,
    OPTION_LIST,
    OPTION_WORD,
    OPTION_NUMBER,
    OPTION_INPUT,
    OPTION_HANDLED
} OptionAction;

typedef struct OptionRow {
    const char *spelling;
    OptionForm form;
    const char *arg;
    OptionAction action;
    size_t field;      /* offset in Options */
    int value;         /* SET */
    const char *words; /* WORD: "a|b|c" */
    unsigned commands; /* one bit for each command */
    const char *help;
} OptionRow;

typedef struct CommandRow {
    const char *word, *args, *help;
} CommandRow;

typedef struct EmitRow {
    const char *word, *help;
} EmitRow;

extern const OptionRow option_rows[];
extern const unsigned option_count;
extern const CommandRow command_rows[COMMAND_COUNT];
extern const EmitRow emit_rows[EMIT_COUNT];

/* Fills SESSION's options from ARGV[1] on; mistakes are reported to its diags, and its diags are
   set as -W and --max-errors say.  False if there were mistakes. */
bool options_parse(Session *session, int argc, char *const *argv);

/* The text of `dslc --help` or `dslc COMMAND --help`; that of --version. */
void options_help(CommandKind command, StrBuf *out);
void options_version(StrBuf *out);

#endif
