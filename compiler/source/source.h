/* Source files and positions. */
#ifndef ADL_SOURCE_SOURCE_H
#define ADL_SOURCE_SOURCE_H

#include "base/arena.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

/* A position in any source of a session: 0 is "nowhere"; each file owns a range of numbers. */
typedef uint32_t Pos;
typedef struct Span {
    Pos begin, end; /* end is one past the last byte */
} Span;

typedef struct SourceFile {
    const char *path;    /* as the user wrote it; "<stdin>" */
    const char *display; /* as shown in messages */
    const char *text;    /* valid UTF-8, zero-terminated */
    uint32_t len;
    Pos base;        /* position of text[0] */
    uint32_t *lines; /* offsets of line starts */
    uint32_t nlines;
    bool library; /* of the standard library: errors in it are told at the call */
} SourceFile;

typedef struct Sources {
    Arena *arena;
    VEC(SourceFile *) files;
    Pos next;
} Sources;

void sources_init(Sources *sources, Arena *arena);
void sources_free(Sources *sources);
/* Adds a text under a path; TEXT is copied.  NULL if the session's position space is full. */
SourceFile *sources_add(Sources *sources, const char *path, const char *text, size_t len);
void sources_mark_library(Sources *sources, const SourceFile *file);
bool sources_in_library(const Sources *sources, Pos pos);
const SourceFile *sources_file(const Sources *sources, Pos pos); /* NULL for nowhere */
/* Line and column (in code points), both from 1. */
void source_line_col(const SourceFile *file, Pos pos, uint32_t *line, uint32_t *col);
static inline Span span_join(Span a, Span b) {
    if (!a.begin) return b;
    if (!b.begin) return a;
    return (Span){a.begin < b.begin ? a.begin : b.begin, a.end > b.end ? a.end : b.end};
}

#endif
