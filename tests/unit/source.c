/* Positions, the collector of diagnostics, and both written forms. */
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "source/diag.h"
#include "source/load.h"
#include "source/session.h"
#include "source/source.h"

static const Span nowhere = {0, 0};

/* A session with one file, and what it renders. */
typedef struct Fixture {
    Session *session;
    SourceFile *file;
    StrBuf out;
} Fixture;

static Fixture begin(const char *text) {
    Fixture f = {.session = session_new()};
    f.file = sources_add(&f.session->sources, "a.adl", text, strlen(text));
    return f;
}

static const char *rendered(Fixture *f) {
    strbuf_clear(&f->out);
    strbuf_add(&f->out, "");
    diags_render(f->session->diags, &f->out);
    return f->out.text;
}

static void end(Fixture *f) {
    strbuf_free(&f->out);
    session_free(f->session);
}

static Span at(const Fixture *f, uint32_t offset, uint32_t len) {
    return (Span){f->file->base + offset, f->file->base + offset + len};
}

START_TEST(positions_belong_to_files) {
    Fixture f = begin("abc");
    Sources *sources = &f.session->sources;
    SourceFile *empty = sources_add(sources, "empty.adl", "", 0);
    SourceFile *last = sources_add(sources, "last.adl", "xy\n", 3);
    ck_assert_uint_eq(f.file->base, 1);
    ck_assert_ptr_null(sources_file(sources, 0));
    ck_assert_ptr_eq(sources_file(sources, f.file->base + 3), f.file); /* its end */
    ck_assert_ptr_eq(sources_file(sources, empty->base), empty);
    ck_assert_ptr_eq(sources_file(sources, last->base), last);
    ck_assert_ptr_eq(sources_file(sources, last->base + 3), last);
    ck_assert_ptr_null(sources_file(sources, last->base + 4));
    ck_assert_str_eq(last->path, "last.adl");
    ck_assert_uint_eq(last->nlines, 2);
    end(&f);
}
END_TEST

START_TEST(lines_and_columns_count_code_points) {
    Fixture f = begin("one\n\xC3\xA9\xE2\x82\xACz\r\n\nlast");
    const uint32_t expected[][3] = {{0, 1, 1},  {3, 1, 4},  {4, 2, 1},  {6, 2, 2},  {9, 2, 3},
                                    {10, 2, 4}, {12, 3, 1}, {13, 4, 1}, {17, 4, 5}, {99, 4, 5}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        uint32_t line, col;
        source_line_col(f.file, f.file->base + expected[i][0], &line, &col);
        ck_assert_uint_eq(line, expected[i][1]);
        ck_assert_uint_eq(col, expected[i][2]);
    }
    end(&f);
}
END_TEST

START_TEST(spans_join) {
    Span joined = span_join((Span){5, 7}, (Span){2, 3});
    ck_assert_uint_eq(joined.begin, 2);
    ck_assert_uint_eq(joined.end, 7);
    joined = span_join(nowhere, (Span){2, 3});
    ck_assert_uint_eq(joined.begin, 2);
    joined = span_join((Span){2, 3}, nowhere);
    ck_assert_uint_eq(joined.end, 3);
}
END_TEST

START_TEST(text_shows_line_and_carets) {
    Fixture f = begin("fn f() {\n    let x = y + 1;\n}\n");
    diag_report(f.session->diags, DIAG_INTERNAL, at(&f, 21, 1), "'%s' is not defined", "y");
    diag_note(f.session->diags, at(&f, 3, 1), "in this function");
    diag_note(f.session->diags, nowhere, "a note without a place");
    diag_help(f.session->diags, nowhere, "did you mean 'x'?");
    ck_assert_str_eq(rendered(&f), "a.adl:2:13: error[E0099]: 'y' is not defined\n"
                                   "   2 |     let x = y + 1;\n"
                                   "     |             ^\n"
                                   "a.adl:1:4: note: in this function\n"
                                   "   1 | fn f() {\n"
                                   "     |    ^\n"
                                   "note: a note without a place\n"
                                   "help: did you mean 'x'?\n");
    ck_assert_str_eq(rendered(&f), "");
    ck_assert_uint_eq(diags_errors(f.session->diags), 1);
    end(&f);
}
END_TEST

START_TEST(text_expands_tabs_and_wide_letters) {
    Fixture f = begin("a\tb\xE4\xBD\xA0\xCC\x81"
                      "c\x1B[1m");
    diag_report(f.session->diags, DIAG_INTERNAL, at(&f, 2, 6), "x");
    diag_report(f.session->diags, DIAG_INTERNAL, at(&f, 8, 1), "x");
    ck_assert_str_eq(rendered(&f), "a.adl:1:3: error[E0099]: x\n"
                                   "   1 | a   b\xE4\xBD\xA0\xCC\x81"
                                   "c\xEF\xBF\xBD[1m\n"
                                   "     |     ^^^\n"
                                   "a.adl:1:6: error[E0099]: x\n"
                                   "   1 | a   b\xE4\xBD\xA0\xCC\x81"
                                   "c\xEF\xBF\xBD[1m\n"
                                   "     |        ^\n");
    end(&f);
}
END_TEST

START_TEST(text_of_spans_over_lines_and_at_the_end) {
    Fixture f = begin("one two\r\nthree");
    diag_report(f.session->diags, DIAG_INTERNAL, at(&f, 4, 8), "from two to three");
    diag_report(f.session->diags, DIAG_INTERNAL, at(&f, 14, 0), "at the end");
    ck_assert_str_eq(rendered(&f), "a.adl:1:5: error[E0099]: from two to three\n"
                                   "   1 | one two\n"
                                   "     |     ^^^\n"
                                   "a.adl:2:6: error[E0099]: at the end\n"
                                   "   2 | three\n"
                                   "     |      ^\n");
    end(&f);
}
END_TEST

START_TEST(text_of_an_empty_file) {
    Fixture f = begin("");
    diag_report(f.session->diags, DIAG_INTERNAL, at(&f, 0, 0), "nothing here");
    ck_assert_str_eq(rendered(&f), "a.adl:1:1: error[E0099]: nothing here\n"
                                   "   1 |\n"
                                   "     | ^\n");
    end(&f);
}
END_TEST

START_TEST(text_cuts_long_lines) {
    char line[5001];
    memset(line, 'x', 5000);
    line[5000] = '\0';
    line[3000] = 'Y';
    Fixture f = begin(line);
    diag_report(f.session->diags, DIAG_INTERNAL, at(&f, 3000, 1), "far right");
    const char *text = rendered(&f);
    ck_assert_uint_lt(strlen(text), 400);
    const char *shown = strstr(text, "   1 | "), *caret = strchr(text, '^');
    ck_assert_ptr_nonnull(shown);
    ck_assert_ptr_nonnull(caret);
    const char *second = strchr(shown, '\n') + 1;
    ck_assert_int_eq(shown[caret - second], 'Y');
    end(&f);
}
END_TEST

START_TEST(color_is_only_added) {
    Fixture f = begin("abc");
    diags_set_format(f.session->diags, DIAG_FORMAT_TEXT, true);
    diag_report(f.session->diags, DIAG_INTERNAL, at(&f, 1, 1), "x");
    const char *text = rendered(&f);
    StrBuf bare = {0};
    for (; *text; text++) {
        if (*text == '\033') text = strchr(text, 'm');
        else strbuf_char(&bare, *text);
    }
    ck_assert_str_eq(bare.text, "a.adl:1:2: error[E0099]: x\n   1 | abc\n     |  ^\n");
    strbuf_free(&bare);
    end(&f);
}
END_TEST

START_TEST(reports_are_sorted_and_unique) {
    Fixture f = begin("abc");
    Diags *diags = f.session->diags;
    diag_report(diags, DIAG_INTERNAL, at(&f, 2, 1), "third");
    diag_report(diags, DIAG_INTERNAL, at(&f, 0, 1), "first");
    diag_report(diags, DIAG_INTERNAL, at(&f, 2, 1), "third again, dropped");
    diag_note(diags, nowhere, "this note is dropped too");
    diag_report(diags, DIAG_NO_INPUT, at(&f, 2, 1), "another code");
    diag_report(diags, DIAG_NO_INPUT, nowhere, "no place");
    diag_report(diags, DIAG_NO_INPUT, nowhere, "no place");
    diag_report(diags, DIAG_NO_INPUT, nowhere, "no place, other text");
    ck_assert_uint_eq(diags_errors(diags), 5);
    ck_assert_str_eq(rendered(&f), "dslc: error[E0006]: no place\n"
                                   "dslc: error[E0006]: no place, other text\n"
                                   "a.adl:1:1: error[E0099]: first\n"
                                   "   1 | abc\n"
                                   "     | ^\n"
                                   "a.adl:1:3: error[E0099]: third\n"
                                   "   1 | abc\n"
                                   "     |   ^\n"
                                   "a.adl:1:3: error[E0006]: another code\n"
                                   "   1 | abc\n"
                                   "     |   ^\n");
    end(&f);
}
END_TEST

START_TEST(errors_beyond_the_limit_are_counted) {
    Fixture f = begin("abcdef");
    diags_set_limit(f.session->diags, 2);
    for (uint32_t i = 0; i < 5; i++)
        diag_report(f.session->diags, DIAG_INTERNAL, at(&f, i, 1), "error %u", i);
    ck_assert_uint_eq(diags_errors(f.session->diags), 5);
    const char *text = rendered(&f);
    ck_assert_ptr_nonnull(strstr(text, "error 1"));
    ck_assert_ptr_null(strstr(text, "error 2"));
    ck_assert_ptr_nonnull(strstr(text, "dslc: 3 more errors not shown\n"));
    end(&f);
}
END_TEST

/* The first row of a warning, if the tables have one yet. */
static DiagCode any_warning(void) {
    for (int i = 0; i < DIAG_COUNT; i++)
        if (diag_info((DiagCode)i)->severity == DIAG_WARNING) return (DiagCode)i;
    return DIAG_COUNT;
}

START_TEST(warnings_follow_options) {
    Fixture f = begin("abc");
    Diags *diags = f.session->diags;
    DiagCode code = any_warning();
    ck_assert(!diags_set_warning(diags, "-Wno-such-group"));
    ck_assert(diags_set_warning(diags, "-Wall"));
    ck_assert(diags_set_warning(diags, "-Wno-all"));
    if (code == DIAG_COUNT) {
        end(&f);
        return;
    }
    char option[80];
    const char *group = diag_info(code)->group;
    diag_report(diags, code, at(&f, 0, 1), "off");
    ck_assert_uint_eq(diags_warnings(diags), 0);
    snprintf(option, sizeof option, "-W%s", group);
    ck_assert(diags_set_warning(diags, option));
    diag_report(diags, code, at(&f, 0, 1), "on");
    ck_assert_uint_eq(diags_warnings(diags), 1);
    ck_assert_ptr_nonnull(strstr(rendered(&f), "warning["));
    snprintf(option, sizeof option, "-Werror=%s", group);
    ck_assert(diags_set_warning(diags, option));
    diag_report(diags, code, at(&f, 1, 1), "as an error");
    ck_assert_uint_eq(diags_errors(diags), 1);
    ck_assert_ptr_nonnull(strstr(rendered(&f), "error["));
    snprintf(option, sizeof option, "-Wno-error=%s", group);
    ck_assert(diags_set_warning(diags, option));
    diag_report(diags, code, at(&f, 2, 1), "as a warning");
    ck_assert_uint_eq(diags_errors(diags), 1);
    ck_assert_str_eq(diag_group(0), group);
    end(&f);
}
END_TEST

START_TEST(json_is_one_object_a_line) {
    Fixture f = begin("ab\ncd");
    diags_set_format(f.session->diags, DIAG_FORMAT_JSON, false);
    diag_report(f.session->diags, DIAG_INTERNAL, at(&f, 3, 2), "say \"%s\"", "x");
    diag_note(f.session->diags, at(&f, 0, 1), "n");
    diag_help(f.session->diags, nowhere, "h");
    diag_report(f.session->diags, DIAG_NO_INPUT, nowhere, "no input file");
    ck_assert_str_eq(
        rendered(&f),
        "{\"code\":\"E0006\",\"severity\":\"error\",\"message\":\"no input file\",\"notes\":[]}\n"
        "{\"file\":\"a.adl\",\"line\":2,\"col\":1,\"end\":{\"line\":2,\"col\":3},"
        "\"code\":\"E0099\",\"severity\":\"error\",\"message\":\"say \\\"x\\\"\",\"notes\":["
        "{\"file\":\"a.adl\",\"line\":1,\"col\":1,\"end\":{\"line\":1,\"col\":2},"
        "\"kind\":\"note\",\"message\":\"n\"},{\"kind\":\"help\",\"message\":\"h\"}]}\n");
    end(&f);
}
END_TEST

START_TEST(closest_names) {
    const char *names[] = {"length", "width", "sum", "x", "softmax"};
    ck_assert_str_eq(diag_closest("lenght", names, 5), "length");
    ck_assert_str_eq(diag_closest("widht", names, 5), "width");
    ck_assert_str_eq(diag_closest("summ", names, 5), "sum");
    ck_assert_str_eq(diag_closest("soft_max", names, 5), "softmax");
    ck_assert_ptr_null(diag_closest("y", names, 5));
    ck_assert_ptr_null(diag_closest("frobnicate", names, 5));
    ck_assert_ptr_null(diag_closest("", names, 5));
    ck_assert_ptr_null(diag_closest("sum", names, 0));
}
END_TEST

START_TEST(codes_are_unique_and_explained) {
    ck_assert_str_eq(diag_info_by_code("E0001")->title, diag_info(DIAG_FILE_UNREADABLE)->title);
    ck_assert_ptr_null(diag_info_by_code("E9999"));
    for (int i = 0; i < DIAG_COUNT; i++) {
        const DiagInfo *info = diag_info((DiagCode)i);
        ck_assert_ptr_eq(diag_info_by_code(info->code), info);
        ck_assert_uint_eq(strlen(info->code), 5);
        ck_assert_int_eq(info->code[0], "EWR"[info->severity]);
        ck_assert_msg(*info->title && *info->explain, "%s has no text", info->code);
        ck_assert_msg(info->explain[strlen(info->explain) - 1] == '\n',
                      "the explanation of %s does not end its line", info->code);
        ck_assert_msg((*info->group != 0) == (info->severity != DIAG_ERROR),
                      "%s: warnings and remarks have a group, errors have none", info->code);
    }
}
END_TEST

static void write_file(const char *path, const char *text, size_t len) {
    FILE *out = fopen(path, "wb");
    ck_assert_ptr_nonnull(out);
    ck_assert_uint_eq(fwrite(text, 1, len, out), len);
    ck_assert_int_eq(fclose(out), 0);
}

START_TEST(loading_reports) {
    Fixture f = begin("");
    char path[] = "/tmp/adl-unit-XXXXXX";
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    close(fd);
    Session *s = f.session;
    write_file(path, "let x = 1;\n", 11);
    SourceFile *file = source_load(&s->sources, s->diags, path, nowhere);
    ck_assert_ptr_nonnull(file);
    ck_assert_str_eq(file->text, "let x = 1;\n");
    write_file(path, "ok\n// \xC3\xA9\xE9z\n", 10);
    ck_assert_ptr_null(source_load(&s->sources, s->diags, path, nowhere));
    ck_assert_ptr_null(source_load(&s->sources, s->diags, "/", nowhere));
    unlink(path);
    ck_assert_ptr_null(source_load(&s->sources, s->diags, path, nowhere));
    char expected[600];
    snprintf(expected, sizeof expected,
             "dslc: error[E0002]: '/' is a directory\n"
             "dslc: error[E0001]: cannot read '%s': No such file or directory\n"
             "%s:2:5: error[E0004]: the file is not UTF-8: byte 0xE9\n"
             "   2 | // \xC3\xA9\xEF\xBF\xBDz\n"
             "     |     ^\n",
             path, path);
    ck_assert_str_eq(rendered(&f), expected);
    end(&f);
}
END_TEST

UNIT_MAIN("source", positions_belong_to_files, lines_and_columns_count_code_points, spans_join,
          text_shows_line_and_carets, text_expands_tabs_and_wide_letters,
          text_of_spans_over_lines_and_at_the_end, text_of_an_empty_file, text_cuts_long_lines,
          color_is_only_added, reports_are_sorted_and_unique, errors_beyond_the_limit_are_counted,
          warnings_follow_options, json_is_one_object_a_line, closest_names,
          codes_are_unique_and_explained, loading_reports)
