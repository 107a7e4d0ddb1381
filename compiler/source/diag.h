/* Diagnostics are values: a code from lang/diags.def, a span, a text, notes.  They go to a Diags
   sink; rendering and counting happen there and nowhere else. */
#ifndef ADL_SOURCE_DIAG_H
#define ADL_SOURCE_DIAG_H

#include "base/strbuf.h"
#include "source/source.h"

#include <stdarg.h>
#include <stdio.h>

typedef enum DiagSeverity { DIAG_ERROR, DIAG_WARNING, DIAG_NOTE } DiagSeverity;

/* lang/diags.def: DIAG(NAME, "E0312", ERROR, "group", "one-line title", "explanation...") */
typedef enum DiagCode {
#define DIAG(name, code, severity, group, title, explain) DIAG_##name,
#include "lang/diags.def"
#undef DIAG
    DIAG_COUNT
} DiagCode;

typedef struct Diags Diags;
typedef enum DiagFormat { DIAG_FORMAT_TEXT, DIAG_FORMAT_JSON } DiagFormat;

Diags *diags_new(Arena *arena, const Sources *sources);
void diags_free(Diags *diags);
void diags_set_format(Diags *diags, DiagFormat format, bool color);
/* After LIMIT errors the rest is counted, not kept (default 50). */
void diags_set_limit(Diags *diags, uint32_t limit);
/* -Wgroup, -Wno-group, -Werror, -Werror=group.  False for an unknown group. */
bool diags_set_warning(Diags *diags, const char *option);

/* Reports; FORMAT is the text after the code.  Duplicates (same code and span; of remarks, also the
   same text) are dropped. */
void diag_report(Diags *diags, DiagCode code, Span span, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Adds a note (SPAN may be nowhere) or a suggestion to the diagnostic reported last. */
void diag_note(Diags *diags, Span span, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same as a suggestion: shown behind "help:". */
void diag_help(Diags *diags, Span span, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
uint32_t diags_errors(const Diags *diags);
/* Was the last error kept?  If not, notes and suggestions need not be made. */
bool diags_last_kept(const Diags *diags);
uint32_t diags_warnings(const Diags *diags);
/* Writes what was reported, sorted by file and position, and forgets it (counts stay). */
void diags_flush(Diags *diags, FILE *out);
/* The same into a text. */
void diags_render(Diags *diags, StrBuf *out);

/* The best of COUNT candidates for a misspelt NAME, or NULL ("did you mean"). */
const char *diag_closest(const char *name, const char *const *candidates, size_t count);

/* Row of a code for `dslc explain`; NULL if unknown. */
typedef struct DiagInfo {
    const char *code, *group, *title, *explain;
    DiagSeverity severity;
} DiagInfo;
const DiagInfo *diag_info(DiagCode code);
const DiagInfo *diag_info_by_code(const char *code);
/* The warning groups, each once, for --help; NULL from the INDEX on where they end. */
const char *diag_group(uint32_t index);

#endif
