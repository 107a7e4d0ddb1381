/* The JSON form: one object per line and diagnostic.

     {"file":"a.adl","line":3,"col":9,"end":{"line":3,"col":10},"code":"E0312",
      "severity":"error","message":"...","notes":[{"kind":"help","message":"..."}]}

   Lines and columns count from 1, columns in code points; without a place, the first four members
   are missing.  Warnings have their "group". */
#include <string.h>

#include "source/diag-item.h"

static void member(StrBuf *out, const char *key, const char *text) {
    strbuf_printf(out, "\"%s\":", key);
    strbuf_json(out, text, strlen(text));
}

static void write_place(const Diags *diags, Span span, StrBuf *out) {
    const SourceFile *file = sources_file(diags->sources, span.begin);
    uint32_t line, col, end_line, end_col;
    if (!file) return;
    source_line_col(file, span.begin, &line, &col);
    source_line_col(file, span.end > span.begin ? span.end : span.begin, &end_line, &end_col);
    member(out, "file", file->display);
    strbuf_printf(out, ",\"line\":%u,\"col\":%u,\"end\":{\"line\":%u,\"col\":%u},", line, col,
                  end_line, end_col);
}

void diag_write_json(const Diags *diags, const DiagItem *item, StrBuf *out) {
    const DiagInfo *info = diag_info(item->code);
    strbuf_char(out, '{');
    write_place(diags, item->span, out);
    member(out, "code", info->code);
    strbuf_char(out, ',');
    member(out, "severity", diag_severity_name(item->severity));
    if (info->severity != DIAG_ERROR) {
        strbuf_char(out, ',');
        member(out, "group", info->group);
    }
    strbuf_char(out, ',');
    member(out, "message", item->text);
    strbuf_add(out, ",\"notes\":[");
    for (const DiagNote *note = item->notes; note; note = note->next) {
        strbuf_add(out, note == item->notes ? "{" : ",{");
        write_place(diags, note->span, out);
        member(out, "kind", note->is_help ? "help" : "note");
        strbuf_char(out, ',');
        member(out, "message", note->text);
        strbuf_char(out, '}');
    }
    strbuf_add(out, "]}\n");
}
