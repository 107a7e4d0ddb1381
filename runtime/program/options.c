/* options.c: "--name value", "--name=value", "--flag", "--no-flag". */
#include "program/options.h"

#include <ctype.h>
#include <string.h>

#include "core/error.h"
#include "core/kinds.h"
#include "io/number.h"

typedef struct Words {
    char **at;
    int count, next;
} Words;

/* Whether the option NAME of LEN bytes means the parameter PARAM; '-' may stand for '_'. */
static bool names(const char *name, size_t len, const char *param) {
    if (strlen(param) != len) return false;
    for (size_t i = 0; i < len; i++)
        if (name[i] != param[i] && !(name[i] == '-' && param[i] == '_')) return false;
    return true;
}

static int find(const AdlMain *main, const char *name, size_t len) {
    for (int i = 0; i < main->count; i++)
        if (names(name, len, main->params[i].name)) return i;
    return -1;
}

/* The edit distance between LEN bytes at A and the text B, both at most 63 long; else 99. */
static int distance(const char *a, size_t len, const char *b) {
    int row[64];
    size_t columns = strlen(b);
    if (len > 63 || columns > 63) return 99;
    for (size_t j = 0; j <= columns; j++) row[j] = (int)j;
    for (size_t i = 1; i <= len; i++) {
        int diagonal = row[0];
        row[0] = (int)i;
        for (size_t j = 1; j <= columns; j++) {
            int replace = diagonal + (a[i - 1] != b[j - 1]);
            int shorter = row[j] < row[j - 1] ? row[j] : row[j - 1];
            diagonal = row[j];
            row[j] = replace < shorter + 1 ? replace : shorter + 1;
        }
    }
    return row[columns];
}

static bool fail_unknown(Options *options, const char *name, size_t len) {
    int best = 99, best_at = -1;
    for (int i = 0; i < options->main->count; i++) {
        int here = distance(name, len, options->main->params[i].name);
        if (here < best) {
            best = here;
            best_at = i;
        }
    }
    text_printf(&options->wrong, "unknown option --%.*s", (int)len, name);
    if (best_at >= 0 && best <= 1 + (int)len / 3)
        text_printf(&options->wrong, "; did you mean --%s?", options->main->params[best_at].name);
    return false;
}

static bool set_str(Options *options, const AdlParam *param, AdlParamValue *value,
                    const char *word) {
    size_t len = strlen(word);
    char *data = adl__alloc(options->context, (int64_t)len);
    if (!data) {
        text_printf(&options->wrong, "--%s: out of memory", param->name);
        return false;
    }
    memcpy(data, word, len);
    adl__release(options->context, value->scalar.str.ptr);
    value->scalar.str = (AdlStr){data, (int64_t)len};
    return true;
}

static bool set_array(Options *options, const AdlParam *param, AdlParamValue *value,
                      const char *word) {
    void *data = NULL;
    AdlContext *context = options->context;
    int32_t status = adl__load(context, NULL, word, (int64_t)strlen(word), param->kind, param->rank,
                               &data, value->dims);
    if (status != 0) {
        text_printf(&options->wrong, "--%s: %s", param->name, error_message(context, status));
        return false;
    }
    adl__release(context, value->data);
    value->data = data;
    return true;
}

/* The integer or bool at VALUE, read as one of KIND, widened to all of its 64 bits. */
static void widen(int32_t kind, AdlParamValue *value) {
    if (kind == ADL_KIND_BOOL || kind_is_signed(kind) || kind_is_unsigned(kind))
        value->scalar.i = kind_load_integer(kind, &value->scalar);
}

static bool set_value(Options *options, int at, const char *word) {
    const AdlParam *param = &options->main->params[at];
    AdlParamValue *value = &options->values[at];
    value->given = 1;
    if (param->rank > 0) return set_array(options, param, value, word);
    if (param->kind == ADL_KIND_STR) return set_str(options, param, value, word);
    if (number_parse(param->kind, word, word + strlen(word), &value->scalar)) {
        widen(param->kind, value);
        return true;
    }
    text_printf(&options->wrong, "--%s: \"%.100s\" is no value that %s can hold", param->name, word,
                kind_name(param->kind));
    return false;
}

static bool set_flag(Options *options, int at, bool on) {
    options->values[at].scalar.i = on;
    options->values[at].given = 1;
    return true;
}

static bool is_flag(const AdlParam *param) {
    return param->kind == ADL_KIND_BOOL && param->rank == 0;
}

/* An option without its dashes. */
static bool read_option(Options *options, const char *name, Words *words) {
    const char *equals = strchr(name, '=');
    size_t len = equals ? (size_t)(equals - name) : strlen(name);
    int at = find(options->main, name, len);
    if (at < 0 && strcmp(name, "help") == 0) {
        options->help = true;
        return true;
    }
    if (at < 0 && !equals && strncmp(name, "no-", 3) == 0) {
        at = find(options->main, name + 3, len - 3);
        if (at >= 0 && is_flag(&options->main->params[at])) return set_flag(options, at, false);
        at = -1;
    }
    if (at < 0) return fail_unknown(options, name, len);
    if (equals) return set_value(options, at, equals + 1);
    if (is_flag(&options->main->params[at])) return set_flag(options, at, true);
    if (words->next == words->count || strncmp(words->at[words->next], "--", 2) == 0) {
        text_printf(&options->wrong, "--%s needs a value", options->main->params[at].name);
        return false;
    }
    return set_value(options, at, words->at[words->next++]);
}

static bool add_word(Options *options, const char *word) {
    if (!(options->main->flags & ADL_MAIN_ARGS)) {
        text_printf(&options->wrong, "unexpected argument \"%.100s\"", word);
        if (options->main->count > 0)
            text_printf(&options->wrong, "; options are written --name value");
        return false;
    }
    options->arguments->words[options->arguments->count++] = word;
    return true;
}

/* Whether WORD, which begins with '-', is an argument all the same. */
static bool is_number(const char *word) {
    double ignored;
    return word[1] == '\0' || number_parse_f64(word, word + strlen(word), &ignored);
}

static bool check_missing(Options *options) {
    int missing = 0;
    for (int i = 0; i < options->main->count; i++) {
        const AdlParam *param = &options->main->params[i];
        if (options->values[i].given || (param->flags & ADL_PARAM_DEFAULT)) continue;
        if (is_flag(param)) { /* a flag that is left out is off */
            set_flag(options, i, false);
            continue;
        }
        text_printf(&options->wrong, "%s--%s", missing++ ? ", " : "missing: ", param->name);
    }
    return missing == 0;
}

bool options_read(Options *options, int argc, char **argv) {
    Words words = {argv, argc, 0};
    bool only_words = false;
    while (words.next < words.count) {
        const char *word = words.at[words.next++];
        bool ok = true;
        if (only_words || word[0] != '-' || is_number(word)) ok = add_word(options, word);
        else if (strcmp(word, "--") == 0) only_words = true;
        else if (strncmp(word, "--", 2) == 0) ok = read_option(options, word + 2, &words);
        else if (strcmp(word, "-h") == 0) options->help = true;
        else {
            text_printf(&options->wrong, "unknown option %.100s; options begin with --", word);
            ok = false;
        }
        if (options->help) return true;
        if (!ok) return false;
    }
    return check_missing(options);
}

/* -- help -- */

static void add_usage(Text *text, const AdlParam *param) {
    if (param->rank > 0) text_printf(text, "  --%s FILE", param->name);
    else if (is_flag(param)) text_printf(text, "  --%s, --no-%s", param->name, param->name);
    else
        text_printf(text, "  --%s %s", param->name,
                    param->kind == ADL_KIND_STR ? "TEXT" : kind_name(param->kind));
}

/* DOC with INDENT spaces before each line but the first. */
static void add_doc(Text *text, const char *doc, size_t indent) {
    while (*doc) {
        size_t len = strcspn(doc, "\n");
        text_add_n(text, doc, len);
        doc += len;
        if (*doc == '\n' && *++doc) {
            text_add(text, "\n");
            text_fill(text, ' ', indent);
        }
    }
}

static void add_details(Text *text, const AdlParam *param) {
    const char *join = param->doc && *param->doc ? " (" : "(";
    if (param->rank > 0) {
        text_printf(text, "%s%s%s", join, param->shape ? param->shape : "", kind_name(param->kind));
        join = ", ";
    }
    if (param->default_text) text_printf(text, "%sdefault: %s", join, param->default_text);
    else if (!(param->flags & ADL_PARAM_DEFAULT) && !is_flag(param))
        text_printf(text, "%srequired", join);
    else if (join[0] != ',') return;
    text_add(text, ")");
}

void options_help(Text *text, const AdlMain *main, const char *program) {
    enum { COLUMN = 26 };
    text_printf(text, "Usage: %s%s%s\n", program, main->count > 0 ? " [OPTION]..." : "",
                main->flags & ADL_MAIN_ARGS ? " [ARGUMENT]..." : "");
    if (main->doc && *main->doc) {
        text_add(text, "\n");
        add_doc(text, main->doc, 0);
        text_add(text, "\n");
    }
    text_add(text, "\nOptions:\n");
    for (int i = 0; i < main->count; i++) {
        const AdlParam *param = &main->params[i];
        size_t before = text->len;
        add_usage(text, param);
        size_t used = text->len - before;
        if (used + 2 > COLUMN) {
            text_add(text, "\n");
            used = 0;
        }
        text_fill(text, ' ', COLUMN - used);
        add_doc(text, param->doc ? param->doc : "", COLUMN);
        add_details(text, param);
        text_add(text, "\n");
    }
    text_printf(text, "  --help%*sshow this and end\n", COLUMN - 8, "");
    if (main->count > 0)
        text_add(text, "\nA FILE holds numbers and ends in .npy, .csv, .tsv or .txt.\n");
}
