#include "driver/response.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/strbuf.h"

enum { MOST_FILES = 1000 };

static const Span nowhere = {0, 0};

static bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

/* One word from *AT on into WORD; false at the end.  Quotes and backslashes as GCC reads them. */
static bool next_word(const char **at, const char *end, StrBuf *word) {
    char quote = 0;
    strbuf_clear(word);
    while (*at < end && is_space(**at)) ++*at;
    if (*at == end) return false;
    for (; *at < end && (quote || !is_space(**at)); ++*at) {
        char c = **at;
        if (c == '\\' && *at + 1 < end) strbuf_char(word, *++*at);
        else if (quote ? c == quote : c == '\'' || c == '"') quote = quote ? 0 : c;
        else strbuf_char(word, c);
    }
    return true;
}

static void add_words(Arena *arena, const char *text, size_t len, TextList *words) {
    const char *at = text, *end = text + len;
    StrBuf word = {0};
    while (next_word(&at, end, &word))
        vec_push(words, arena_strndup(arena, word.text ? word.text : "", word.len));
    strbuf_free(&word);
}

/* Puts the words of the file PATH in the place of word INDEX. */
static bool splice(Arena *arena, Diags *diags, TextList *words, uint32_t index, const char *path) {
    char *text;
    size_t len;
    FileError error;
    if (!file_read_all(path, &text, &len, &error)) {
        diag_report(diags, DIAG_RESPONSE_FILE, nowhere, "cannot read the response file '%s': %s",
                    path, file_error_text(&error));
        return false;
    }
    TextList all = {0};
    for (uint32_t i = 0; i < index; i++) vec_push(&all, words->at[i]);
    add_words(arena, text, len, &all);
    for (uint32_t i = index + 1; i < words->len; i++) vec_push(&all, words->at[i]);
    vec_free(words);
    *words = all;
    free(text);
    return true;
}

void response_expand(Arena *arena, Diags *diags, TextList *words, CommandKind command) {
    bool runs = command == COMMAND_RUN || command == COMMAND_GRADCHECK;
    uint32_t files = 0, i = runs ? 1 : 0;
    while (i < words->len) {
        const char *word = words->at[i];
        if (runs && word[0] != '-' && word[0] != '@') return;
        if (word[0] != '@' || !word[1]) {
            i++;
        } else if (++files > MOST_FILES) {
            diag_report(diags, DIAG_RESPONSE_FILE, nowhere,
                        "response files name each other without end ('%s')", word + 1);
            return;
        } else if (!splice(arena, diags, words, i, word + 1)) {
            i++;
        }
    }
}
