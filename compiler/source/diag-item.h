/* What a Diags holds: shared by the collector and the writers, by nobody else. */
#ifndef ADL_SOURCE_DIAG_ITEM_H
#define ADL_SOURCE_DIAG_ITEM_H

#include "base/map.h"
#include "base/vec.h"
#include "source/diag.h"

typedef struct DiagNote DiagNote;
struct DiagNote {
    DiagNote *next;
    Span span;
    const char *text;
    bool is_help;
};

typedef struct DiagItem DiagItem;
struct DiagItem {
    DiagItem *same_place; /* an earlier one with the same span */
    DiagCode code;
    DiagSeverity severity; /* after -Werror */
    Span span;
    uint32_t order;
    const char *text;
    DiagNote *notes, *last_note;
};

struct Diags {
    Arena *arena;
    const Sources *sources;
    VEC(DiagItem *) items; /* not yet written */
    Map by_span;           /* all that were kept, also those written */
    DiagItem *last;        /* NULL if the last one was dropped */
    DiagFormat format;
    bool color;
    uint32_t limit, order;
    uint32_t errors, warnings;
    uint32_t unshown; /* errors beyond the limit that no flush has mentioned yet */
    bool disabled[DIAG_COUNT], as_error[DIAG_COUNT];
};

const char *diag_severity_name(DiagSeverity severity);
/* Append one diagnostic to OUT, in one form or the other. */
void diag_write_text(const Diags *diags, const DiagItem *item, StrBuf *out);
void diag_write_json(const Diags *diags, const DiagItem *item, StrBuf *out);

#endif
