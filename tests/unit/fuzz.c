/* The corpus of the parser's fuzzer: as it is, cut off anywhere, and damaged at random. */
#include "tests/unit/unit.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "source/load.h"
#include "source/session.h"
#include "tests/fuzz/parser.h"

static void for_each_file(const char *folder, void (*visit)(const SourceFile *source)) {
    StrBuf path = {0};
    strbuf_printf(&path, "%s/tests/%s", getenv("ADL_SOURCE_DIR"), folder);
    DIR *dir = opendir(path.text);
    ck_assert_ptr_nonnull(dir);
    for (struct dirent *entry; (entry = readdir(dir));) {
        if (!strstr(entry->d_name, ".adl")) continue;
        Session *session = session_new();
        StrBuf name = {0};
        strbuf_printf(&name, "%s/%s", path.text, entry->d_name);
        SourceFile *source =
            source_load(&session->sources, session->diags, name.text, (Span){0, 0});
        ck_assert_ptr_nonnull(source);
        visit(source);
        strbuf_free(&name);
        session_free(session);
    }
    closedir(dir);
    strbuf_free(&path);
}

static void run(const char *text, size_t len) {
    LLVMFuzzerTestOneInput((const uint8_t *)text, len);
}

static void whole(const SourceFile *source) {
    run(source->text, source->len);
}

static void cut(const SourceFile *source) {
    for (size_t len = 0; len < source->len; len += 1 + source->len / 97) run(source->text, len);
}

/* Characters and pieces of the text overwrite others. */
static void damaged(const SourceFile *source) {
    static const char letters[] = "(){}[]<>|;:,.+-*/%@!=\"\\ \n_a0xeif";
    if (!source->len) return;
    uint64_t state = source->len;
    char *copy = malloc(source->len);
    for (int round = 0; round < 40; round++) {
        memcpy(copy, source->text, source->len);
        for (int k = 0; k <= round % 8; k++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            size_t at = (size_t)(state >> 20) % source->len;
            size_t from = (size_t)(state >> 33) % source->len;
            size_t len = (size_t)(state >> 50) % 16;
            if (at + len > source->len || from + len > source->len) len = 0;
            if (k % 2)
                memmove(copy + at, copy + from, len);
            else
                copy[at] = letters[(state >> 44) % (sizeof letters - 1)];
        }
        run(copy, source->len);
    }
    free(copy);
}

START_TEST(corpus_parses) {
    for_each_file("fuzz/parser/good", whole);
    for_each_file("fuzz/parser/bad", whole);
    for_each_file("programs", whole);
}
END_TEST

START_TEST(corpus_cut_off_parses) {
    for_each_file("fuzz/parser/good", cut);
    for_each_file("fuzz/parser/bad", cut);
}
END_TEST

START_TEST(corpus_damaged_parses) {
    for_each_file("fuzz/parser/good", damaged);
    for_each_file("fuzz/parser/bad", damaged);
    for_each_file("programs", damaged);
}
END_TEST

UNIT_MAIN("fuzz", corpus_parses, corpus_cut_off_parses, corpus_damaged_parses)
