/* The text form:

     file.adl:3:9: error[E0312]: text
        3 |     let x = y + 1;
          |             ^
     file.adl:1:1: note: text of the note
     ...
     help: text of the suggestion

   The source line is shown cell by cell: tabs become spaces, what could confuse a terminal or a
   reader (control characters, marks that reverse the direction of text) becomes U+FFFD, and of a
   very long line only the part round the span is shown. */
#include <string.h>

#include "source/diag-item.h"

enum { TAB_WIDTH = 4, LINE_WIDTH = 160, WINDOW_BEFORE = 40, GUTTER = 4 };

const char *diag_severity_name(DiagSeverity severity) {
    static const char *const names[] = {"error", "warning", "note"};
    return names[severity];
}

static const char *const severity_colors[] = {"\033[1;31m", "\033[1;35m", "\033[1;36m"};
static const char help_color[] = "\033[1;32m", bold[] = "\033[1m", dim[] = "\033[34m",
                  plain[] = "\033[0m";

static void color(const Diags *diags, StrBuf *out, const char *code) {
    if (diags->color) strbuf_add(out, code);
}

static uint32_t decode(const char *text, uint32_t *size) {
    const unsigned char *at = (const unsigned char *)text;
    if (at[0] < 0x80) return *size = 1, at[0];
    if (at[0] < 0xE0) return *size = 2, (at[0] & 0x1Fu) << 6 | (at[1] & 0x3Fu);
    if (at[0] < 0xF0)
        return *size = 3, (at[0] & 0x0Fu) << 12 | (at[1] & 0x3Fu) << 6 | (at[2] & 0x3Fu);
    *size = 4;
    return (at[0] & 0x07u) << 18 | (at[1] & 0x3Fu) << 12 | (at[2] & 0x3Fu) << 6 | (at[3] & 0x3Fu);
}

typedef struct Range {
    uint32_t first, last;
} Range;

static bool in_ranges(uint32_t c, const Range *ranges, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (c >= ranges[i].first && c <= ranges[i].last) return true;
    return false;
}

#define IN_RANGES(c, ranges) in_ranges((c), (ranges), sizeof(ranges) / sizeof *(ranges))

/* How a code point is shown: its width in cells, and whether it is replaced. */
static uint32_t cell_width(uint32_t c, bool *hidden) {
    static const Range confusing[] = {{0, 0x1F},        {0x7F, 0x9F},     {0x200E, 0x200F},
                                      {0x2028, 0x202E}, {0x2066, 0x2069}, {0xFEFF, 0xFEFF}};
    static const Range combining[] = {{0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD},
                                      {0x200B, 0x200D}, {0x20D0, 0x20F0}, {0xFE00, 0xFE0F},
                                      {0xFE20, 0xFE2F}};
    static const Range wide[] = {{0x1100, 0x115F},  {0x2E80, 0xA4CF},   {0xAC00, 0xD7A3},
                                 {0xF900, 0xFAFF},  {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},
                                 {0xFFE0, 0xFFE6},  {0x1F300, 0x1F64F}, {0x1F900, 0x1F9FF},
                                 {0x20000, 0x3FFFD}};
    *hidden = IN_RANGES(c, confusing);
    if (*hidden || c < 0x300) return 1;
    if (IN_RANGES(c, combining)) return 0;
    return IN_RANGES(c, wide) ? 2 : 1;
}

/* A line as it is shown: the text, and the cells FIRST .. LAST that the carets go under. */
typedef struct Shown {
    StrBuf text;
    uint32_t width, first, last;
} Shown;

/* Shows the bytes BEGIN .. END of a line; BEGIN_SPAN and END_SPAN are offsets in the same text. */
static void show_bytes(Shown *shown, const char *text, uint32_t begin, uint32_t end,
                       uint32_t begin_span, uint32_t end_span) {
    shown->first = shown->last = UINT32_MAX;
    for (uint32_t i = begin; i < end;) {
        uint32_t size, c = decode(text + i, &size);
        bool hidden;
        uint32_t width = cell_width(c, &hidden);
        if (i >= begin_span && shown->first == UINT32_MAX) shown->first = shown->width;
        if (i >= end_span && shown->last == UINT32_MAX) shown->last = shown->width;
        if (c == '\t') {
            width = TAB_WIDTH - shown->width % TAB_WIDTH;
            for (uint32_t k = 0; k < width; k++) strbuf_char(&shown->text, ' ');
        } else if (hidden) {
            strbuf_add(&shown->text, "\xEF\xBF\xBD");
        } else {
            strbuf_add_n(&shown->text, text + i, size);
        }
        shown->width += width;
        i += size;
    }
    if (shown->first == UINT32_MAX) shown->first = shown->width;
    if (shown->last == UINT32_MAX) shown->last = shown->width;
    if (shown->last <= shown->first) shown->last = shown->first + 1;
}

static bool is_continuation(char c) {
    return ((unsigned char)c & 0xC0) == 0x80;
}

/* Narrows BEGIN .. END of a long line to a part round the span, on code point boundaries. */
static void choose_window(const char *text, uint32_t *begin, uint32_t *end, uint32_t span) {
    if (*end - *begin <= LINE_WIDTH) return;
    uint32_t from = span > *begin + WINDOW_BEFORE ? span - WINDOW_BEFORE : *begin;
    uint32_t to = *end - from > LINE_WIDTH ? from + LINE_WIDTH : *end;
    while (from > *begin && is_continuation(text[from])) from--;
    while (to < *end && is_continuation(text[to])) to--;
    *begin = from;
    *end = to;
}

static void write_source(const Diags *diags, const SourceFile *file, Span span, uint32_t line,
                         const char *caret_color, StrBuf *out) {
    uint32_t start = file->lines[line - 1];
    uint32_t stop = line < file->nlines ? file->lines[line] - 1 : file->len;
    if (stop > start && file->text[stop - 1] == '\r') stop--;
    uint32_t from = span.begin - file->base,
             to = span.end > span.begin ? span.end - file->base : from + 1;
    uint32_t begin = start, end = stop;
    choose_window(file->text, &begin, &end, from > stop ? stop : from);
    Shown shown = {0};
    if (begin > start) {
        strbuf_add(&shown.text, "...");
        shown.width = 3;
    }
    show_bytes(&shown, file->text, begin, end, from, to);
    if (end < stop) strbuf_add(&shown.text, "...");
    color(diags, out, dim);
    strbuf_printf(out, "%*u |", GUTTER, line);
    color(diags, out, plain);
    if (shown.text.len) strbuf_printf(out, " %s", shown.text.text);
    strbuf_char(out, '\n');
    color(diags, out, dim);
    for (int i = snprintf(NULL, 0, "%*u", GUTTER, line); i > 0; i--) strbuf_char(out, ' ');
    strbuf_add(out, " | ");
    for (uint32_t i = 0; i < shown.first; i++) strbuf_char(out, ' ');
    color(diags, out, caret_color);
    for (uint32_t i = shown.first; i < shown.last; i++) strbuf_char(out, '^');
    color(diags, out, plain);
    strbuf_char(out, '\n');
    strbuf_free(&shown.text);
}

/* "FILE:LINE:COL: " and what belongs to it; returns the file, NULL for nowhere. */
static const SourceFile *write_place(const Diags *diags, Span span, uint32_t *line, StrBuf *out) {
    const SourceFile *file = sources_file(diags->sources, span.begin);
    uint32_t col;
    if (!file) return NULL;
    source_line_col(file, span.begin, line, &col);
    color(diags, out, bold);
    strbuf_printf(out, "%s:%u:%u: ", file->display, *line, col);
    color(diags, out, plain);
    return file;
}

static void write_note(const Diags *diags, const DiagNote *note, StrBuf *out) {
    const char *tint = note->is_help ? help_color : severity_colors[DIAG_NOTE];
    uint32_t line = 0;
    const SourceFile *file = write_place(diags, note->span, &line, out);
    color(diags, out, tint);
    strbuf_add(out, note->is_help ? "help:" : "note:");
    color(diags, out, plain);
    strbuf_printf(out, " %s\n", note->text);
    if (file) write_source(diags, file, note->span, line, tint, out);
}

void diag_write_text(const Diags *diags, const DiagItem *item, StrBuf *out) {
    const DiagInfo *info = diag_info(item->code);
    const char *tint = severity_colors[item->severity];
    uint32_t line = 0;
    const SourceFile *file = write_place(diags, item->span, &line, out);
    if (!file) strbuf_add(out, "dslc: ");
    color(diags, out, tint);
    strbuf_printf(out, "%s[%s]:", diag_severity_name(item->severity), info->code);
    color(diags, out, plain);
    strbuf_char(out, ' ');
    color(diags, out, bold);
    strbuf_add(out, item->text);
    color(diags, out, plain);
    if (info->severity == DIAG_WARNING)
        strbuf_printf(out, " [-W%s%s]", item->severity == DIAG_ERROR ? "error=" : "", info->group);
    strbuf_char(out, '\n');
    if (file) write_source(diags, file, item->span, line, tint, out);
    for (const DiagNote *note = item->notes; note; note = note->next) write_note(diags, note, out);
}
