/* --help and --version, from the tables. */
#include <string.h>

#include "driver/dirs.h"
#include "driver/options.h"

enum { HELP_COLUMN = 26, HELP_WIDTH = 80 };

/* TEXT from HELP_COLUMN on, after what BEGIN says, broken at blanks. */
static void add_row(StrBuf *out, const char *begin, const char *text) {
    size_t column = 2 + strlen(begin);
    strbuf_printf(out, "  %s", begin);
    if (column + 2 > HELP_COLUMN) {
        strbuf_char(out, '\n');
        column = 0;
    }
    strbuf_printf(out, "%*s", (int)(HELP_COLUMN - column), "");
    column = HELP_COLUMN;
    while (*text) {
        size_t n = strcspn(text, " ");
        if (column > HELP_COLUMN && column + 1 + n > HELP_WIDTH) {
            strbuf_printf(out, "\n%*s", HELP_COLUMN, "");
            column = HELP_COLUMN;
        } else if (column > HELP_COLUMN) {
            strbuf_char(out, ' ');
            column++;
        }
        strbuf_add_n(out, text, n);
        column += n;
        text += n;
        if (*text) text++;
    }
    strbuf_char(out, '\n');
}

static void add_option(StrBuf *out, const OptionRow *row) {
    StrBuf begin = {0};
    bool is_long = row->spelling[1] == '-';
    strbuf_add(&begin, row->spelling);
    if (row->form != OPTION_FLAG && is_long) strbuf_char(&begin, '=');
    if (row->form == OPTION_SEPARATE && !is_long) strbuf_char(&begin, ' ');
    strbuf_add(&begin, row->arg);
    add_row(out, begin.text, row->help);
    strbuf_free(&begin);
}

static void add_commands(StrBuf *out) {
    strbuf_add(out, "\nCommands (dslc COMMAND --help tells more):\n");
    for (int i = 1; i < COMMAND_COUNT; i++)
        if (*command_rows[i].help) add_row(out, command_rows[i].word, command_rows[i].help);
}

static void add_warning_groups(StrBuf *out) {
    const char *group;
    StrBuf all = {0};
    for (uint32_t i = 0; (group = diag_group(i)); i++) strbuf_printf(&all, " %s", group);
    if (all.len) strbuf_printf(out, "\nGroups of warnings:%s\n", all.text);
    strbuf_free(&all);
}

void options_help(CommandKind command, StrBuf *out) {
    const CommandRow *row = &command_rows[command];
    strbuf_printf(out, "Usage: dslc %s%s[OPTION...] %s\n", row->word, *row->word ? " " : "",
                  row->args);
    if (*row->help) strbuf_printf(out, "%c%s.\n", *row->help & ~0x20, row->help + 1);
    else strbuf_add(out, "Not supported yet.\n");
    if (command == COMMAND_COMPILE) add_commands(out);
    strbuf_add(out, "\nOptions:\n");
    for (unsigned i = 0; i < option_count; i++)
        if ((option_rows[i].commands >> command & 1) && *option_rows[i].help)
            add_option(out, &option_rows[i]);
    if (command == COMMAND_COMPILE) {
        strbuf_add(out, "\nKinds of output for --emit:\n");
        for (int i = 0; i < EMIT_COUNT; i++)
            if (*emit_rows[i].help) add_row(out, emit_rows[i].word, emit_rows[i].help);
    }
    add_warning_groups(out);
    strbuf_add(out,
               "\n@FILE stands for the words of FILE, - for standard input.\n"
               "Exit status: 0 done, 1 an error in the source or a failing test, 2 wrong usage\n"
               "or a file that cannot be read or written, 70 a fault of dslc.\n");
}

void options_version(StrBuf *out) {
    strbuf_add(out, "dslc (ADL) " ADL_VERSION "\n");
}
