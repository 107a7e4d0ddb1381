#include "ast/layout.h"

#include <string.h>

#include "base/num.h"

enum { TEXT, TEXT_IF_BROKEN, COMMENT, BREAK, OPEN, CLOSE };

void layout_init(Layout *layout, StrBuf *out) {
    *layout = (Layout){.out = out, .line_start = true};
}

void layout_free(Layout *layout) {
    strbuf_free(&layout->pool);
    vec_free(&layout->tokens);
    vec_free(&layout->levels);
}

static void add(Layout *layout, int type, int flags, int step, const char *text, size_t len) {
    LayoutToken token = {(unsigned char)type, (unsigned char)flags, (short)step,
                         (unsigned)layout->pool.len, (unsigned)len};
    if (len) strbuf_add_n(&layout->pool, text, len);
    vec_push(&layout->tokens, token);
}

void layout_text(Layout *layout, const char *text, size_t len) {
    if (len) add(layout, TEXT, 0, 0, text, len);
}

void layout_text_if_broken(Layout *layout, const char *text) {
    add(layout, TEXT_IF_BROKEN, 0, 0, text, strlen(text));
}

void layout_comment(Layout *layout, const char *text, size_t len, int column) {
    add(layout, COMMENT, 0, column < 30000 ? column : 0, text, len);
}

void layout_break(Layout *layout, int flags) {
    add(layout, BREAK, flags, 0, NULL, 0);
}

void layout_open(Layout *layout, LayoutGroup group, int step) {
    add(layout, OPEN, (int)group, step, NULL, 0);
}

void layout_close(Layout *layout) {
    add(layout, CLOSE, 0, 0, NULL, 0);
}

/* ---- measuring ---------------------------------------------------------------------------- */

/* The columns of a text, up to its first new line if it has one (a comment may). */
static int width(const Layout *layout, const LayoutToken *token, bool *line) {
    const char *text = layout->pool.text + token->at;
    const char *end = memchr(text, '\n', token->len);
    *line = end != NULL;
    return (int)utf8_count(text, end ? (size_t)(end - text) : token->len);
}

/* The columns of what follows token I up to the next break at its level, if it stays on one line;
   more than ROOM if that is more.  A new line that comes in any case ends it too, and is told. */
static int measure(const Layout *layout, uint32_t i, int room, bool *forced) {
    int columns = 0, depth = 0;
    bool line = false;
    for (i++; i < layout->tokens.len && columns <= room; i++) {
        const LayoutToken *token = &layout->tokens.at[i];
        switch (token->type) {
        case TEXT:
            columns += width(layout, token, &line);
            if (!line) break;
            *forced = true;
            return columns;
        case TEXT_IF_BROKEN: break;
        case COMMENT: *forced = true; return columns;
        case OPEN: depth++; break;
        case CLOSE: depth--; break;
        default:
            if (token->flags & LAYOUT_FORCED) {
                *forced = depth > 0;
                return columns;
            }
            if (depth <= 0) return columns;
            columns += token->flags & LAYOUT_SPACE;
        }
    }
    return columns;
}

/* Does the block that opens with token I fit on this line, with what follows up to a break? */
static bool block_fits(const Layout *layout, uint32_t i) {
    int columns = 0, depth = 0, room = LAYOUT_COLUMNS - layout->column;
    bool closed = false, line = false;
    for (; i < layout->tokens.len && columns <= room; i++) {
        const LayoutToken *token = &layout->tokens.at[i];
        switch (token->type) {
        case TEXT:
            columns += width(layout, token, &line);
            if (line) return closed && columns <= room;
            break;
        case TEXT_IF_BROKEN: break;
        case COMMENT: return closed;
        case OPEN: depth++; break;
        case CLOSE: closed |= --depth == 0; break;
        default:
            if (closed) return true;
            if (token->flags & LAYOUT_FORCED && !(token->flags & LAYOUT_AFTER_BLOCK)) return false;
            columns += token->flags & LAYOUT_SPACE;
        }
    }
    return columns <= room;
}

/* ---- writing ------------------------------------------------------------------------------ */

static LayoutLevel level(const Layout *layout) {
    return layout->levels.len ? vec_last(&layout->levels) : (LayoutLevel){0, 0, false, false};
}

static void new_line(Layout *layout, int indent, bool blank) {
    StrBuf *out = layout->out;
    while (out->len && out->text[out->len - 1] == ' ') out->text[--out->len] = 0;
    bool opened = out->len && out->text[out->len - 1] == '{';
    strbuf_add(out, blank && !opened ? "\n\n" : "\n");
    layout->line_start = true;
    layout->must_break = false;
    layout->next_indent = indent;
    layout->column = indent;
}

static void write(Layout *layout, const LayoutToken *token) {
    const char *text = layout->pool.text + token->at;
    size_t len = token->len;
    if (layout->must_break) new_line(layout, level(layout).indent, false);
    if (layout->line_start) {
        for (; len && *text == ' '; len--) text++;
        if (!len) return;
        for (int i = 0; i < layout->next_indent; i++) strbuf_char(layout->out, ' ');
        layout->line_indent = layout->column = layout->next_indent;
        layout->line_start = false;
    }
    strbuf_add_n(layout->out, text, len);
    const char *tail = text;
    for (const char *p; (p = memchr(tail, '\n', (size_t)(text + len - tail)));) {
        tail = p + 1;
        layout->column = 0;
    }
    layout->column += (int)utf8_count(tail, (size_t)(text + len - tail));
}

static void write_comment(Layout *layout, const LayoutToken *token) {
    if (!layout->line_start && !layout->must_break) {
        StrBuf *out = layout->out;
        for (; out->len && out->text[out->len - 1] == ' '; layout->column--)
            out->text[--out->len] = 0;
        int column = token->step > layout->column ? token->step : layout->column + 2;
        for (; layout->column < column; layout->column++) strbuf_char(out, ' ');
    }
    write(layout, token);
    layout->must_break = true;
}

static void open_group(Layout *layout, uint32_t i) {
    const LayoutToken *token = &layout->tokens.at[i];
    LayoutLevel outer = level(layout), inner = outer;
    if (layout->must_break) new_line(layout, outer.indent, false);
    int line = layout->line_start ? layout->next_indent : layout->line_indent;
    inner.block = false;
    switch ((LayoutGroup)token->flags) {
    case LAYOUT_ALIGN: inner.indent = layout->column; break;
    case LAYOUT_LINE:
        inner.base = line;
        inner.indent = line + token->step;
        break;
    case LAYOUT_PARENT: inner.indent = outer.indent + token->step; break;
    case LAYOUT_BLOCK:
        inner.base = inner.indent = outer.base + LAYOUT_INDENT;
        inner.block = true;
        inner.flat = outer.flat || block_fits(layout, i);
        break;
    }
    vec_push(&layout->levels, inner);
}

static bool breaks(const Layout *layout, uint32_t i, int indent) {
    const LayoutToken *token = &layout->tokens.at[i];
    LayoutLevel here = level(layout);
    if (layout->must_break) return true;
    if (here.flat) return false;
    if (token->flags & LAYOUT_AFTER_BLOCK && layout->block_broken) return false;
    if (token->flags & LAYOUT_FORCED || here.block) return true;
    int space = token->flags & LAYOUT_SPACE, room = LAYOUT_COLUMNS - layout->column - space;
    bool forced = false;
    if (measure(layout, i, room, &forced) <= room || indent >= layout->column) return false;
    if (!(token->flags & LAYOUT_IF_FITS)) return true;
    return measure(layout, i, LAYOUT_COLUMNS - indent, &forced) <= LAYOUT_COLUMNS - indent &&
           !forced;
}

void layout_flush(Layout *layout) {
    for (uint32_t i = 0; i < layout->tokens.len; i++) {
        const LayoutToken *token = &layout->tokens.at[i];
        LayoutLevel here = level(layout);
        int indent = here.indent - (token->flags & LAYOUT_DEDENT ? LAYOUT_INDENT : 0);
        switch (token->type) {
        case TEXT: write(layout, token); break;
        case TEXT_IF_BROKEN:
            if (here.block && !here.flat) write(layout, token);
            break;
        case COMMENT: write_comment(layout, token); break;
        case OPEN: open_group(layout, i); break;
        case CLOSE:
            if (here.block) layout->block_broken = !here.flat;
            (void)vec_pop(&layout->levels);
            break;
        default:
            if (breaks(layout, i, indent)) {
                if (!layout->line_start || layout->must_break)
                    new_line(layout, indent, token->flags & LAYOUT_BLANK);
                layout->next_indent = layout->column = indent;
            } else if (token->flags & LAYOUT_SPACE && !layout->line_start) {
                strbuf_char(layout->out, ' ');
                layout->column++;
            }
        }
    }
    layout->tokens.len = 0;
    strbuf_clear(&layout->pool);
}
