/* The collector: counts, drops duplicates and what is beyond the limit, applies -W options. */
#include "source/diag.h"

#include <stdlib.h>
#include <string.h>

#include "source/diag-item.h"

enum { DEFAULT_LIMIT = 50 };

static const DiagInfo infos[] = {
#define DIAG(name, code, severity, group, title, explain)                                          \
    {code, group, title, explain, DIAG_##severity},
#include "lang/diags.def"
#undef DIAG
};

const DiagInfo *diag_info(DiagCode code) {
    return &infos[code];
}

const DiagInfo *diag_info_by_code(const char *code) {
    for (uint32_t i = 0; i < DIAG_COUNT; i++)
        if (strcmp(infos[i].code, code) == 0) return &infos[i];
    return NULL;
}

Diags *diags_new(Arena *arena, const Sources *sources) {
    Diags *diags = ARENA_NEW(arena, Diags);
    diags->arena = arena;
    diags->sources = sources;
    diags->limit = DEFAULT_LIMIT;
    return diags;
}

void diags_free(Diags *diags) {
    if (!diags) return;
    vec_free(&diags->items);
    map_free(&diags->by_span);
}

void diags_set_format(Diags *diags, DiagFormat format, bool color) {
    diags->format = format;
    diags->color = color;
}

void diags_set_limit(Diags *diags, uint32_t limit) {
    diags->limit = limit;
}

/* Sets FLAGS[code] for every warning of GROUP ("all": of any).  False if there is none. */
static bool set_group(bool *flags, const char *group, bool value) {
    bool found = strcmp(group, "all") == 0, all = found;
    for (uint32_t i = 0; i < DIAG_COUNT; i++) {
        if (infos[i].severity != DIAG_WARNING) continue;
        if (!all && strcmp(infos[i].group, group) != 0) continue;
        flags[i] = value;
        found = true;
    }
    return found;
}

bool diags_set_warning(Diags *diags, const char *option) {
    if (strncmp(option, "-W", 2) == 0) option += 2;
    bool on = strncmp(option, "no-", 3) != 0;
    if (!on) option += 3;
    if (strcmp(option, "error") == 0) return set_group(diags->as_error, "all", on);
    if (strncmp(option, "error=", 6) == 0) {
        if (!set_group(diags->as_error, option + 6, on)) return false;
        return !on || set_group(diags->disabled, option + 6, false);
    }
    return set_group(diags->disabled, option, !on);
}

const char *diag_group(uint32_t index) {
    for (uint32_t i = 0; i < DIAG_COUNT; i++) {
        bool is_new = infos[i].severity == DIAG_WARNING;
        for (uint32_t k = 0; k < i && is_new; k++)
            is_new = strcmp(infos[k].group, infos[i].group) != 0;
        if (is_new && index-- == 0) return infos[i].group;
    }
    return NULL;
}

static char *format_text(Diags *diags, const char *format, va_list args) {
    StrBuf buf = {0};
    strbuf_vprintf(&buf, format, args);
    char *text = arena_strndup(diags->arena, buf.text, buf.len);
    strbuf_free(&buf);
    return text;
}

static uint64_t span_key(Span span) {
    return (uint64_t)span.begin << 32 | span.end;
}

/* Two reports without a place are the same only if they say the same. */
static bool is_duplicate(const Diags *diags, DiagCode code, Span span, const char *text) {
    const DiagItem *item = map_get(&diags->by_span, span_key(span));
    for (; item; item = item->same_place)
        if (item->code == code &&
            ((span.begin && infos[code].severity != DIAG_NOTE) || strcmp(item->text, text) == 0))
            return true;
    return false;
}

/* Counts; false if the diagnostic is not to be kept. */
static bool count(Diags *diags, DiagSeverity severity) {
    if (severity == DIAG_NOTE) return true;
    if (severity == DIAG_WARNING) {
        diags->warnings++;
        return true;
    }
    if (diags->errors++ < diags->limit) return true;
    diags->unshown++;
    return false;
}

void diag_report(Diags *diags, DiagCode code, Span span, const char *format, ...) {
    DiagSeverity severity = infos[code].severity;
    diags->last = NULL;
    if (severity == DIAG_WARNING && diags->disabled[code]) return;
    if (severity == DIAG_WARNING && diags->as_error[code]) severity = DIAG_ERROR;
    va_list args;
    va_start(args, format);
    const char *text = format_text(diags, format, args);
    va_end(args);
    if (is_duplicate(diags, code, span, text) || !count(diags, severity)) return;
    DiagItem *item = ARENA_NEW(diags->arena, DiagItem);
    item->code = code;
    item->severity = severity;
    item->span = span;
    item->text = text;
    item->order = diags->order++;
    item->same_place = map_get(&diags->by_span, span_key(span));
    map_set(&diags->by_span, span_key(span), item);
    vec_push(&diags->items, item);
    diags->last = item;
}

static void add_note(Diags *diags, Span span, bool is_help, const char *format, va_list args) {
    DiagItem *item = diags->last;
    if (!item) return;
    DiagNote *note = ARENA_NEW(diags->arena, DiagNote);
    note->span = span;
    note->is_help = is_help;
    note->text = format_text(diags, format, args);
    if (item->last_note) item->last_note->next = note;
    else item->notes = note;
    item->last_note = note;
}

void diag_note(Diags *diags, Span span, const char *format, ...) {
    va_list args;
    va_start(args, format);
    add_note(diags, span, false, format, args);
    va_end(args);
}

void diag_help(Diags *diags, Span span, const char *format, ...) {
    va_list args;
    va_start(args, format);
    add_note(diags, span, true, format, args);
    va_end(args);
}

uint32_t diags_errors(const Diags *diags) {
    return diags->errors;
}

uint32_t diags_warnings(const Diags *diags) {
    return diags->warnings;
}

static int by_place(const void *a, const void *b) {
    const DiagItem *x = *(DiagItem *const *)a, *y = *(DiagItem *const *)b;
    if (x->span.begin != y->span.begin) return x->span.begin < y->span.begin ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

void diags_render(Diags *diags, StrBuf *out) {
    if (diags->items.len)
        qsort(diags->items.at, diags->items.len, sizeof *diags->items.at, by_place);
    for (uint32_t i = 0; i < diags->items.len; i++) {
        switch (diags->format) {
        case DIAG_FORMAT_TEXT: diag_write_text(diags, diags->items.at[i], out); break;
        case DIAG_FORMAT_JSON: diag_write_json(diags, diags->items.at[i], out); break;
        }
    }
    if (diags->unshown && diags->format == DIAG_FORMAT_TEXT)
        strbuf_printf(out, "dslc: %u more error%s not shown\n", diags->unshown,
                      diags->unshown == 1 ? "" : "s");
    diags->items.len = 0;
    diags->unshown = 0;
    diags->last = NULL;
}

void diags_flush(Diags *diags, FILE *out) {
    StrBuf text = {0};
    diags_render(diags, &text);
    if (text.len) fwrite(text.text, 1, text.len, out);
    fflush(out);
    strbuf_free(&text);
}

bool diags_last_kept(const Diags *diags) {
    return diags->last != NULL;
}
