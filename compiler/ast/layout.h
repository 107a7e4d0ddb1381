/* Laying text out in lines of at most 100 columns.

   The caller adds texts, possible breaks and groups in order; layout_flush writes the lines.  A
   break becomes a new line if what follows, up to the next break at its level, does not fit; in a
   group that holds together, all of its breaks do or none.  A break may also be forced: the
   printer forces those that the author made, so that printing what was printed changes nothing. */
#ifndef ADL_AST_LAYOUT_H
#define ADL_AST_LAYOUT_H

#include "base/strbuf.h"
#include "base/vec.h"

#include <stdbool.h>

enum { LAYOUT_COLUMNS = 100, LAYOUT_INDENT = 4 };

/* Where the lines of a group begin. */
typedef enum LayoutGroup {
    LAYOUT_ALIGN,  /* below its first character */
    LAYOUT_LINE,   /* STEP columns right of the line on which it begins */
    LAYOUT_PARENT, /* STEP columns right of the group round it */
    LAYOUT_BLOCK /* one step right of the line on which the group round it begins; holds together */
} LayoutGroup;

enum {
    LAYOUT_SPACE = 1,       /* a space if it is no new line */
    LAYOUT_FORCED = 2,      /* a new line in any case */
    LAYOUT_IF_FITS = 4,     /* a new line only if what follows fits on it as a whole */
    LAYOUT_DEDENT = 8,      /* one step left of its group: before a closing brace */
    LAYOUT_BLANK = 16,      /* if it is a new line, an empty one before it */
    LAYOUT_AFTER_BLOCK = 32 /* forced only if the block before it stands on one line */
};

typedef struct LayoutToken {
    unsigned char type, flags;
    short step;
    unsigned at, len; /* of its text in the pool */
} LayoutToken;

typedef struct LayoutLevel {
    int indent, base;
    bool block, flat;
} LayoutLevel;

typedef struct Layout {
    StrBuf *out;
    StrBuf pool;
    VEC(LayoutToken) tokens;
    VEC(LayoutLevel) levels;
    int column, line_indent, next_indent;
    bool line_start;   /* nothing stands on the line yet */
    bool must_break;   /* a comment to the end of the line stands on it */
    bool block_broken; /* the block closed last took several lines */
} Layout;

void layout_init(Layout *layout, StrBuf *out);
void layout_free(Layout *layout);
void layout_text(Layout *layout, const char *text, size_t len);
/* Only where the group that holds together is broken: a comma before the closing brace. */
void layout_text_if_broken(Layout *layout, const char *text);
/* A comment to the end of its line.  COLUMN: where it stood; 0 if alone on its line. */
void layout_comment(Layout *layout, const char *text, size_t len, int column);
void layout_break(Layout *layout, int flags);
void layout_open(Layout *layout, LayoutGroup group, int step);
void layout_close(Layout *layout);
/* Writes all that was added; every group is closed. */
void layout_flush(Layout *layout);

#endif
