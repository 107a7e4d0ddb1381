#include "source/source.h"

#include <string.h>

#include "base/num.h"

void sources_init(Sources *sources, Arena *arena) {
    *sources = (Sources){.arena = arena, .next = 1};
}

void sources_free(Sources *sources) {
    vec_free(&sources->files);
    *sources = (Sources){0};
}

static void index_lines(SourceFile *file, Arena *arena) {
    uint32_t count = 1;
    for (uint32_t i = 0; i < file->len; i++) count += file->text[i] == '\n';
    file->lines = ARENA_ARRAY(arena, uint32_t, count);
    for (uint32_t i = 0; i < file->len; i++)
        if (file->text[i] == '\n') file->lines[++file->nlines] = i + 1;
    file->nlines++;
}

SourceFile *sources_add(Sources *sources, const char *path, const char *text, size_t len) {
    /* One position more than bytes: the end of the file is a place too. */
    if (len >= UINT32_MAX - sources->next) return NULL;
    SourceFile *file = ARENA_NEW(sources->arena, SourceFile);
    file->path = arena_strndup(sources->arena, path, strlen(path));
    file->display = file->path;
    file->text = arena_strndup(sources->arena, text, len);
    file->len = (uint32_t)len;
    file->base = sources->next;
    sources->next += file->len + 1;
    index_lines(file, sources->arena);
    vec_push(&sources->files, file);
    return file;
}

const SourceFile *sources_file(const Sources *sources, Pos pos) {
    uint32_t low = 0, high = sources->files.len;
    if (pos == 0 || pos >= sources->next) return NULL;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (sources->files.at[middle]->base <= pos) low = middle;
        else high = middle;
    }
    return sources->files.at[low];
}

void sources_mark_library(Sources *sources, const SourceFile *file) {
    for (uint32_t i = 0; i < sources->files.len; i++)
        if (sources->files.at[i] == file) sources->files.at[i]->library = true;
}

bool sources_in_library(const Sources *sources, Pos pos) {
    const SourceFile *file = sources_file(sources, pos);
    return file && file->library;
}

void source_line_col(const SourceFile *file, Pos pos, uint32_t *line, uint32_t *col) {
    uint32_t offset = pos < file->base ? 0 : pos - file->base;
    if (offset > file->len) offset = file->len;
    uint32_t low = 0, high = file->nlines;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (file->lines[middle] <= offset) low = middle;
        else high = middle;
    }
    uint32_t start = file->lines[low];
    *line = low + 1;
    *col = (uint32_t)utf8_count(file->text + start, offset - start) + 1;
}
