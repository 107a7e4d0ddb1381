/* The printer: what it makes of sources, and that printing twice changes nothing. */
#include "tests/unit/unit.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "ast/print.h"
#include "source/load.h"
#include "tests/unit/parsed.h"

/* TEXT printed, with comments and breaks of the author, or as if it had no source. */
static StrBuf printed(const char *text, size_t len, bool bare) {
    Parsed p = parsed_begin(text, len);
    ck_assert_str_eq(parsed_messages(&p), "");
    StrBuf out = {0};
    strbuf_add(&out, "");
    if (bare)
        ast_print(&out, p.file, NULL, NULL);
    else
        ast_print(&out, p.file, p.source, &p.comments);
    parsed_end(&p);
    return out;
}

static char *dump_of(const char *text, size_t len) {
    Parsed p = parsed_begin(text, len);
    char *dump = strdup(parsed_dump(&p));
    parsed_end(&p);
    return dump;
}

/* Printing keeps the tree, and printing the result gives the same text. */
static void expect_stable(const char *name, const char *text, size_t len) {
    StrBuf once = printed(text, len, false), twice = printed(once.text, once.len, false);
    ck_assert_msg(strcmp(once.text, twice.text) == 0, "%s changes when it is printed again:\n%s",
                  name, twice.text);
    char *before = dump_of(text, len), *after = dump_of(once.text, once.len);
    ck_assert_msg(strcmp(before, after) == 0, "%s: the tree is another", name);
    StrBuf bare = printed(text, len, true);
    char *without = dump_of(bare.text, bare.len);
    ck_assert_msg(strcmp(before, without) == 0, "%s: the tree is another without a source", name);
    free(before);
    free(after);
    free(without);
    strbuf_free(&once);
    strbuf_free(&twice);
    strbuf_free(&bare);
}

static void expect(const char *text, const char *expected) {
    StrBuf out = printed(text, strlen(text), false);
    ck_assert_str_eq(out.text, expected);
    strbuf_free(&out);
    expect_stable(text, text, strlen(text));
}

static void expect_bare(const char *text, const char *expected) {
    StrBuf out = printed(text, strlen(text), true);
    ck_assert_str_eq(out.text, expected);
    strbuf_free(&out);
}

START_TEST(spaces_are_normal) {
    expect("", "");
    expect("const  k=1+2*- 3 ;", "const k = 1 + 2 * -3;\n");
    expect("fn f ( x:f64,y :mut[n]f64 )->f64{x}", "fn f(x: f64, y: mut [n]f64) -> f64 { x }\n");
    expect("fn f(){a[1 .. n,..]=b;for i in 0 .. n by 2{}}",
           "fn f() { a[1..n, ..] = b; for i in 0..n by 2 { } }\n");
    expect("fn f() {\n\ta();\n\n\n\n\tb();\n\n}\n\n\n\nfn g() { }\n",
           "fn f() {\n    a();\n\n    b();\n}\n\nfn g() { }\n");
    expect("struct S{a:f64,b:f64,}", "struct S { a: f64, b: f64 }\n");
    expect("struct S {\n a: f64, b: f64 }", "struct S {\n    a: f64,\n    b: f64,\n}\n");
    expect("use  a . b  as c; use a:b,c;", "use a.b as c;\nuse a: b, c;\n");
}
END_TEST

START_TEST(parentheses_stay_or_are_added) {
    expect("const k = (a + b) * c;", "const k = (a + b) * c;\n");
    expect("const k = (a * b) + c;", "const k = (a * b) + c;\n");
    expect("const k = ((a)) - (b - c);", "const k = (a) - (b - c);\n");
    expect_bare("const k = (a * b) + (c - d) - (e - f);", "const k = a * b + (c - d) - (e - f);\n");
    expect_bare("const k = (-x) ** 2 + -(x ** 2) + x ** (-1) + (a ** b) ** c + a ** (b ** c);",
                "const k = (-x) ** 2 + -x ** 2 + x ** -1 + (a ** b) ** c + a ** b ** c;\n");
    expect_bare("const k = (a < b) == (!c);", "const k = (a < b) == !c;\n");
    expect_bare("const k = (grad (grad f))(x) + (grad f).y + (grad (f(Const)))(x);",
                "const k = grad grad f(x) + (grad f).y + grad (f(Const))(x);\n");
    expect_bare("const k = (|x| x)(3);", "const k = (|x| x)(3);\n");
    expect("fn f() { (if a { 1 } else { 2 }); (if a { 1 } else { 2 }) + 3; }",
           "fn f() { (if a { 1 } else { 2 }); (if a { 1 } else { 2 }) + 3; }\n");
}
END_TEST

START_TEST(strings_are_escaped) {
    expect("const k = \"a\\n\\t\\r\\\\\\\"\\0\\x01\\xff{{x}}\";",
           "const k = \"a\\n\\t\\r\\\\\\\"\\0\\x01\\xff{{x}}\";\n");
    expect("const k = \"{ x }{f( a,[1])[ 0 ]:5d}\";", "const k = \"{x}{f(a, [1])[0]:5d}\";\n");
    expect("test \"\xC3\xA9 {{}}\" { }", "test \"\xC3\xA9 {{}}\" { }\n");
    expect("extern \"a\\x2eb\" fn f();", "extern \"a.b\" fn f();\n");
}
END_TEST

START_TEST(long_lines_are_broken) {
    expect(
        "const k = aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa + bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb "
        "* ccccccccccccc + ddddd;",
        "const k = aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n"
        "    + bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb * ccccccccccccc + ddddd;\n");
    expect("const k = function(aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, "
           "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb, cccccccccccccccc);",
           "const k = function(aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, "
           "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb,\n"
           "                   cccccccccccccccc);\n");
    expect("const kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk = "
           "function(aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, b);",
           "const kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk =\n"
           "    function(aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, b);\n");
    expect("fn f() { aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa(); "
           "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb(); }",
           "fn f() {\n"
           "    aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa();\n"
           "    bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb();\n"
           "}\n");
    expect(
        "const k = [for i in 0..nnnnnnnnnnnnnnnnnnnnnnnnnnnnnn, j in 0..mmmmmmmmmmmmmmmmmmmmmm: "
        "aaaaaaaaaaaaaa[i, j]];",
        "const k = [for i in 0..nnnnnnnnnnnnnnnnnnnnnnnnnnnnnn, j in 0..mmmmmmmmmmmmmmmmmmmmmm:\n"
        "    aaaaaaaaaaaaaa[i, j]];\n");
    expect(
        "const k = if aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa { bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb } else { "
        "ccccccccccccccccccccc };",
        "const k = if aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa { bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb }\n"
        "else { ccccccccccccccccccccc };\n");
}
END_TEST

START_TEST(breaks_of_the_author_stay) {
    expect("const k = [[1, 2],\n  [3, 4]];", "const k = [[1, 2],\n           [3, 4]];\n");
    expect("const k =\n  1;", "const k =\n    1;\n");
    expect("const k = a +\n b\n * c;", "const k = a\n    + b\n    * c;\n");
    expect("const k = f(\n a, b\n);", "const k = f(\n    a, b);\n");
    expect("fn f() {\n if a { 1 }\n else { 2 } }", "fn f() {\n    if a { 1 }\n    else { 2 }\n}\n");
    expect("fn f() {\n if a {\n 1 }\n else { 2 } }",
           "fn f() {\n    if a {\n        1\n    } else { 2 }\n}\n");
    expect("fn f() {\n let x = sum(for i in 0..n: {\n g(i) }); }",
           "fn f() {\n    let x = sum(for i in 0..n: {\n        g(i)\n    });\n}\n");
}
END_TEST

START_TEST(comments_stay) {
    expect("// head\n\n/// Doc.\nfn f() { } // tail\n// end\n",
           "// head\n\n/// Doc.\nfn f() { } // tail\n// end\n");
    expect("fn f() {\n// a\n\n/* b */\nx(); // c\n  // d\n}\n",
           "fn f() {\n    // a\n\n    /* b */\n    x();  // c\n    // d\n}\n");
    expect("const a = 1;      // one\nconst bb = 2;     // two\n",
           "const a = 1;      // one\nconst bb = 2;     // two\n");
    expect("const k = f(a, // x\n b /* y */, /* z */ c);",
           "const k = f(a, // x\n            b, /* y */ /* z */ c);\n");
    expect("struct S { a: f64, // x\n /// y\n b: f64 }",
           "struct S {\n    a: f64,        // x\n    /// y\n    b: f64,\n}\n");
    expect("fn f(/// the x\n x: f64) { }", "fn f(\n    /// the x\n    x: f64) { }\n");
    expect("const k = /// nothing\n 1;", "const k = // nothing\n    1;\n");
    expect("fn f() { }\r\n// a\r\n", "fn f() { }\n// a\n");
}
END_TEST

START_TEST(documentation_is_printed_without_a_source) {
    expect_bare("/// A.\n///\n/// B.\nconst k = 1;\nfn f(/// x\n x: f64) { }",
                "/// A.\n///\n/// B.\nconst k = 1;\n\nfn f(\n     /// x\n     x: f64) { }\n");
}
END_TEST

START_TEST(nodes_print_by_themselves) {
    static const char text[] = "export fn f(x: Active [n]f64) -> f64 { sum(x ** 2) }";
    Parsed p = parsed_begin(text, strlen(text));
    StrBuf out = {0};
    const AstFn *fn = AST_AS(Fn, p.file->items.at[0]);
    ast_print_node(&out, &fn->node);
    ck_assert_str_eq(out.text, "export fn f(x: Active [n]f64) -> f64");
    strbuf_clear(&out);
    ast_print_node(&out, AST_AS(Param, fn->params.at[0])->type);
    ck_assert_str_eq(out.text, "[n]f64");
    strbuf_clear(&out);
    ast_print_node(&out, AST_AS(Block, fn->body)->value);
    ck_assert_str_eq(out.text, "sum(x ** 2)");
    strbuf_free(&out);
    parsed_end(&p);
}
END_TEST

START_TEST(deep_trees_print) {
    static const char *const parts[] = {"-", "|x| ", "1 + ", "x ** "};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        StrBuf text = {0};
        strbuf_add(&text, "const k = ");
        for (int n = 0; n < 1900; n++) strbuf_add(&text, parts[i]);
        strbuf_add(&text, "1;");
        expect_stable(parts[i], text.text, text.len);
        strbuf_free(&text);
    }
}
END_TEST

/* Every file of a folder of the tests. */
static int for_each_file(const char *folder, void (*visit)(const char *name, const SourceFile *)) {
    StrBuf path = {0};
    strbuf_printf(&path, "%s/tests/%s", getenv("ADL_SOURCE_DIR"), folder);
    DIR *dir = opendir(path.text);
    ck_assert_ptr_nonnull(dir);
    int count = 0;
    for (struct dirent *entry; (entry = readdir(dir));) {
        if (!strstr(entry->d_name, ".adl")) continue;
        Session *session = session_new();
        StrBuf name = {0};
        strbuf_printf(&name, "%s/%s", path.text, entry->d_name);
        SourceFile *source =
            source_load(&session->sources, session->diags, name.text, (Span){0, 0});
        ck_assert_ptr_nonnull(source);
        visit(entry->d_name, source);
        strbuf_free(&name);
        session_free(session);
        count++;
    }
    closedir(dir);
    strbuf_free(&path);
    return count;
}

static void is_unchanged(const char *name, const SourceFile *source) {
    StrBuf out = printed(source->text, source->len, false);
    ck_assert_msg(strcmp(out.text, source->text) == 0, "%s is formatted differently", name);
    strbuf_free(&out);
    expect_stable(name, source->text, source->len);
}

START_TEST(programs_are_formatted_already) {
    ck_assert_int_ge(for_each_file("programs", is_unchanged), 15);
}
END_TEST

static void is_stable(const char *name, const SourceFile *source) {
    expect_stable(name, source->text, source->len);
}

START_TEST(everything_prints_stably) {
    ck_assert_int_ge(for_each_file("fuzz/parser/good", is_stable), 3);
}
END_TEST

UNIT_MAIN("print", spaces_are_normal, parentheses_stay_or_are_added, strings_are_escaped,
          long_lines_are_broken, breaks_of_the_author_stay, comments_stay,
          documentation_is_printed_without_a_source, nodes_print_by_themselves, deep_trees_print,
          programs_are_formatted_already, everything_prints_stably)
