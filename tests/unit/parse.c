/* The grammar: trees, precedence, messages, recovery, limits. */
#include "tests/unit/unit.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "source/load.h"
#include "tests/unit/parsed.h"

/* ---- helpers ------------------------------------------------------------------------------ */

static void expect_dump(const char *text, const char *dump) {
    Parsed p = parsed_begin(text, strlen(text));
    ck_assert_str_eq(parsed_messages(&p), "");
    ck_assert_str_eq(parsed_dump(&p), dump);
    parsed_end(&p);
}

/* The dump of an expression, as the value of a constant. */
static char *expr_dump(const char *expr) {
    StrBuf text = {0};
    strbuf_printf(&text, "const k = %s;", expr);
    Parsed p = parsed_begin(text.text, text.len);
    ck_assert_msg(diags_errors(p.session->diags) == 0, "%s: %s", expr, parsed_messages(&p));
    char *dump = strdup(parsed_dump(&p));
    parsed_end(&p);
    strbuf_free(&text);
    return dump;
}

static void expect_same(const char *expr, const char *with_parentheses) {
    char *a = expr_dump(expr), *b = expr_dump(with_parentheses);
    ck_assert_msg(strcmp(a, b) == 0, "%s is not %s:\n%s%s", expr, with_parentheses, a, b);
    free(a);
    free(b);
}

static void expect_messages(const char *text, const char *messages) {
    Parsed p = parsed_begin(text, strlen(text));
    ck_assert_str_eq(parsed_messages(&p), messages);
    parsed_end(&p);
}

/* Only the lines that begin a message, without the file's name. */
static void expect_heads(const char *text, const char *heads) {
    Parsed p = parsed_begin(text, strlen(text));
    StrBuf got = {0};
    strbuf_add(&got, "");
    for (const char *line = parsed_messages(&p); *line;) {
        const char *end = strchr(line, '\n');
        if (strncmp(line, "a.adl:", 6) == 0 && strstr(line, ": error[") &&
            strstr(line, ": error[") < end)
            strbuf_add_n(&got, line + 6, (size_t)(end + 1 - line - 6));
        line = end + 1;
    }
    ck_assert_str_eq(got.text, heads);
    strbuf_free(&got);
    parsed_end(&p);
}

static void expect_ok(const char *text) {
    expect_messages(text, "");
}

/* PREFIX, then N times BEFORE, MIDDLE, N times AFTER, then SUFFIX. */
static char *repeated(const char *prefix, const char *before, const char *middle, const char *after,
                      const char *suffix, int n) {
    StrBuf text = {0};
    strbuf_add(&text, prefix);
    for (int i = 0; i < n; i++) strbuf_add(&text, before);
    strbuf_add(&text, middle);
    for (int i = 0; i < n; i++) strbuf_add(&text, after);
    strbuf_add(&text, suffix);
    return text.text;
}

/* ---- trees -------------------------------------------------------------------------------- */

START_TEST(items_make_trees) {
    expect_dump("", "File\n");
    expect_dump("/// First.\n///\n/// Third.\nexport kernel fn f<T: float, U>(i: index,\n"
                "    /// The x.\n    x: Duplicated mut strided [n, _]T = 3) -> Const f64 { x }",
                "File\n"
                "  items: Fn exported kernel f \"First.\\n\\nThird.\"\n"
                "    generics: Generic T float\n"
                "    generics: Generic U\n"
                "    params: Param i\n"
                "      type: TypeName\n"
                "        path: Name index\n"
                "    params: Param x mut strided \"The x.\"\n"
                "      act: Activity Duplicated\n"
                "      type: TypeArray\n"
                "        dims: Name n\n"
                "        dims: DimAny\n"
                "        elem: TypeName\n"
                "          path: Name T\n"
                "      value: Int \"3\"\n"
                "    ret: Ret\n"
                "      act: Activity Const\n"
                "      type: TypeName\n"
                "        path: Name f64\n"
                "    body: Block\n"
                "      value: Name x\n");
}
END_TEST

START_TEST(operators_and_rules_make_trees) {
    expect_dump("export (a, b) = split f;", "File\n"
                                            "  items: ExportOp a b\n"
                                            "    value: Deriv split\n"
                                            "      operand: Name f\n");
    expect_dump("export d = dot<f32, m.T>;", "File\n"
                                             "  items: ExportOp d\n"
                                             "    value: TypeApply\n"
                                             "      callee: Name dot\n"
                                             "      types: TypeName\n"
                                             "        path: Name f32\n"
                                             "      types: TypeName\n"
                                             "        path: Field T\n"
                                             "          base: Name m\n");
    expect_dump("extern \"c\" fn f(x: f64);", "File\n"
                                              "  items: Extern f \"c\"\n"
                                              "    params: Param x\n"
                                              "      type: TypeName\n"
                                              "        path: Name f64\n");
    expect_dump("derivative m.f<T>(x: T) { forward(x, (a, _)) { } }", "File\n"
                                                                      "  items: Derivative\n"
                                                                      "    path: Field f\n"
                                                                      "      base: Name m\n"
                                                                      "    generics: Generic T\n"
                                                                      "    params: Param x\n"
                                                                      "      type: TypeName\n"
                                                                      "        path: Name T\n"
                                                                      "    rules: Rule forward\n"
                                                                      "      params: PatName x\n"
                                                                      "      params: PatTuple\n"
                                                                      "        parts: PatName a\n"
                                                                      "        parts: PatSkip\n"
                                                                      "      body: Block\n");
    expect_dump("struct S[n] { x: [n]f64, /// y\n y: (), }", "File\n"
                                                             "  items: Struct S\n"
                                                             "    sizes: Name n\n"
                                                             "    fields: FieldDecl x\n"
                                                             "      type: TypeArray\n"
                                                             "        dims: Name n\n"
                                                             "        elem: TypeName\n"
                                                             "          path: Name f64\n"
                                                             "    fields: FieldDecl y \"y\"\n"
                                                             "      type: TypeTuple\n");
    expect_dump("use a.b as c; use d: e, f; test \"t\" { } bench \"{{\" { }",
                "File\n"
                "  items: Use c\n"
                "    path: Field b\n"
                "      base: Name a\n"
                "  items: Use\n"
                "    path: Name d\n"
                "    names: Name e\n"
                "    names: Name f\n"
                "  items: Test \"t\"\n"
                "    body: Block\n"
                "  items: Test bench \"{\"\n"
                "    body: Block\n");
    expect_dump("const f: fn(Active [n]f64, mut f64) -> (f64, ok: Const bool) = g;",
                "File\n"
                "  items: Const f\n"
                "    type: TypeFn\n"
                "      params: Param\n"
                "        act: Activity Active\n"
                "        type: TypeArray\n"
                "          dims: Name n\n"
                "          elem: TypeName\n"
                "            path: Name f64\n"
                "      params: Param mut\n"
                "        type: TypeName\n"
                "          path: Name f64\n"
                "      ret: Ret\n"
                "        type: TypeTuple\n"
                "          parts: TypePart\n"
                "            type: TypeName\n"
                "              path: Name f64\n"
                "          parts: TypePart ok\n"
                "            act: Activity Const\n"
                "            type: TypeName\n"
                "              path: Name bool\n"
                "    value: Name g\n");
}
END_TEST

START_TEST(statements_make_trees) {
    expect_dump("fn f() {\n"
                "    let (a, _): Const f64 = 1;\n"
                "    var b = 2;\n"
                "    shared s: [4]f64;\n"
                "    b = 1; b **= 2;\n"
                "    f();\n"
                "    assert a, \"m\";\n"
                "    return; return a; break; continue;\n"
                "    for i in 0..n by 2 checkpoint(k) { }\n"
                "    while a checkpoint(all) { }\n"
                "    if a { } else if b { } else { }\n"
                "}",
                "File\n"
                "  items: Fn f\n"
                "    body: Block\n"
                "      stmts: Let\n"
                "        pattern: PatTuple\n"
                "          parts: PatName a\n"
                "          parts: PatSkip\n"
                "        act: Activity Const\n"
                "        type: TypeName\n"
                "          path: Name f64\n"
                "        value: Int \"1\"\n"
                "      stmts: Let var\n"
                "        pattern: PatName b\n"
                "        value: Int \"2\"\n"
                "      stmts: Shared s\n"
                "        type: TypeArray\n"
                "          dims: Int \"4\"\n"
                "          elem: TypeName\n"
                "            path: Name f64\n"
                "      stmts: Assign =\n"
                "        place: Name b\n"
                "        value: Int \"1\"\n"
                "      stmts: Assign **=\n"
                "        place: Name b\n"
                "        value: Int \"2\"\n"
                "      stmts: ExprStmt\n"
                "        value: Call\n"
                "          callee: Name f\n"
                "      stmts: Assert\n"
                "        cond: Name a\n"
                "        message: Str\n"
                "          pieces: StrText \"m\"\n"
                "      stmts: Return\n"
                "      stmts: Return\n"
                "        value: Name a\n"
                "      stmts: Break\n"
                "      stmts: Continue\n"
                "      stmts: For\n"
                "        pattern: PatName i\n"
                "        iter: Range\n"
                "          lo: Int \"0\"\n"
                "          hi: Name n\n"
                "          step: Int \"2\"\n"
                "        checkpoint: Name k\n"
                "        body: Block\n"
                "      stmts: While\n"
                "        cond: Name a\n"
                "        checkpoint: Name all\n"
                "        body: Block\n"
                "      value: If\n"
                "        cond: Name a\n"
                "        then: Block\n"
                "        other: If\n"
                "          cond: Name b\n"
                "          then: Block\n"
                "          other: Block\n");
}
END_TEST

static const struct {
    const char *expr, *dump;
} expressions[] = {
    {"[for i, (a, b) in zip(x, y) where a < b: a]", "Comp\n"
                                                    "      heads: Head\n"
                                                    "        pattern: PatName i\n"
                                                    "      heads: Head\n"
                                                    "        pattern: PatTuple\n"
                                                    "          parts: PatName a\n"
                                                    "          parts: PatName b\n"
                                                    "        iter: Call\n"
                                                    "          callee: Name zip\n"
                                                    "          args: Arg\n"
                                                    "            value: Name x\n"
                                                    "          args: Arg\n"
                                                    "            value: Name y\n"
                                                    "      where: Binary <\n"
                                                    "        left: Name a\n"
                                                    "        right: Name b\n"
                                                    "      body: Name a\n"},
    {"f(x, k: 2, for i: i)", "Call\n"
                             "      callee: Name f\n"
                             "      args: Arg\n"
                             "        value: Name x\n"
                             "      args: Arg k\n"
                             "        value: Int \"2\"\n"
                             "      args: Comp\n"
                             "        heads: Head\n"
                             "          pattern: PatName i\n"
                             "        body: Name i\n"},
    {"deferred grad[primal, wrt(a), batch()] m.f(Duplicated(x, dx), BatchDuplicated<2>(y), "
     "BatchDuplicated(z))",
     "Call\n"
     "      callee: Deriv grad deferred\n"
     "        options: Option primal\n"
     "        options: Option wrt has_args\n"
     "          args: Arg\n"
     "            value: Name a\n"
     "        options: Option batch has_args\n"
     "        operand: Field f\n"
     "          base: Name m\n"
     "      args: Arg\n"
     "        value: ActArg has_args\n"
     "          act: Activity Duplicated\n"
     "          args: Arg\n"
     "            value: Name x\n"
     "          args: Arg\n"
     "            value: Name dx\n"
     "      args: Arg\n"
     "        value: ActArg has_args\n"
     "          act: Activity BatchDuplicated\n"
     "            width: Int \"2\"\n"
     "          args: Arg\n"
     "            value: Name y\n"
     "      args: Arg\n"
     "        value: ActArg has_args\n"
     "          act: Activity BatchDuplicated\n"
     "          args: Arg\n"
     "            value: Name z\n"},
    {"grad f(Const, BatchDuplicatedNoNeed<N>)", "Call\n"
                                                "      callee: Deriv grad\n"
                                                "        operand: Name f\n"
                                                "      args: Arg\n"
                                                "        value: ActArg\n"
                                                "          act: Activity Const\n"
                                                "      args: Arg\n"
                                                "        value: ActArg\n"
                                                "          act: Activity "
                                                "BatchDuplicatedNoNeed\n"
                                                "            width: Name N\n"},
    {"launch[block(8)] k(0..n; a)", "Launch\n"
                                    "      options: Option block has_args\n"
                                    "        args: Arg\n"
                                    "          value: Int \"8\"\n"
                                    "      operand: Name k\n"
                                    "      ranges: Range\n"
                                    "        lo: Int \"0\"\n"
                                    "        hi: Name n\n"
                                    "      args: Arg\n"
                                    "        value: Name a\n"},
    {"a[1, 2.., ..3, .., 0..n by 2]", "Index\n"
                                      "      base: Name a\n"
                                      "      subs: Int \"1\"\n"
                                      "      subs: Range\n"
                                      "        lo: Int \"2\"\n"
                                      "      subs: Range\n"
                                      "        hi: Int \"3\"\n"
                                      "      subs: Range\n"
                                      "      subs: Range\n"
                                      "        lo: Int \"0\"\n"
                                      "        hi: Name n\n"
                                      "        step: Int \"2\"\n"},
    {"t.0.1.x", "Field x\n"
                "      base: Part .1\n"
                "        base: Part .0\n"
                "          base: Name t\n"},
    {"\"a{x}{y:.3f}b\"", "Str\n"
                         "      pieces: StrText \"a\"\n"
                         "      pieces: StrPart\n"
                         "        value: Name x\n"
                         "      pieces: StrPart \".3f\"\n"
                         "        value: Name y\n"
                         "      pieces: StrText \"b\"\n"},
    {"\"\"", "Str\n"},
    {"|x, (a, _): (f64, i64)| x", "Lambda\n"
                                  "      params: LambdaParam\n"
                                  "        pattern: PatName x\n"
                                  "      params: LambdaParam\n"
                                  "        pattern: PatTuple\n"
                                  "          parts: PatName a\n"
                                  "          parts: PatSkip\n"
                                  "        type: TypeTuple\n"
                                  "          parts: TypePart\n"
                                  "            type: TypeName\n"
                                  "              path: Name f64\n"
                                  "          parts: TypePart\n"
                                  "            type: TypeName\n"
                                  "              path: Name i64\n"
                                  "      body: Name x\n"},
    {"(true, 1.5, 2i, (), [], [1,])", "Tuple\n"
                                      "      parts: Bool true\n"
                                      "      parts: Float \"1.5\"\n"
                                      "      parts: Imag \"2\"\n"
                                      "      parts: Tuple\n"
                                      "      parts: Array\n"
                                      "      parts: Array\n"
                                      "        parts: Int \"1\"\n"},
};

START_TEST(expressions_make_trees) {
    for (size_t i = 0; i < sizeof expressions / sizeof *expressions; i++) {
        char *dump = expr_dump(expressions[i].expr);
        StrBuf expected = {0};
        strbuf_printf(&expected, "File\n  items: Const k\n    value: %s", expressions[i].dump);
        ck_assert_str_eq(dump, expected.text);
        strbuf_free(&expected);
        free(dump);
    }
}
END_TEST

START_TEST(contextual_words_are_names) {
    expect_ok("fn by(where: f64, test: f64) { let bench = kernel + derivative; shared = as; }\n"
              "fn checkpoint() { shared(1); test.by = where[bench]; shared s: f64; }\n"
              "const kernel = as; export kernel = grad test; struct test { by: as }\n");
}
END_TEST

START_TEST(spans_cover_the_text) {
    static const char text[] = "fn f() { let y = (a + b) * -c; }";
    Parsed p = parsed_begin(text, strlen(text));
    const AstFn *fn = AST_AS(Fn, p.file->items.at[0]);
    ck_assert_uint_eq(fn->node.span.begin, p.source->base);
    ck_assert_uint_eq(fn->node.span.end, p.source->base + strlen(text));
    const AstLet *let = AST_AS(Let, AST_AS(Block, fn->body)->stmts.at[0]);
    const AstBinary *product = AST_AS(Binary, let->value);
    ck_assert_uint_eq(product->node.span.begin, p.source->base + 17);
    ck_assert_uint_eq(product->node.span.end, p.source->base + 29);
    ck_assert_uint_eq(product->left->span.begin, p.source->base + 17);
    ck_assert_uint_eq(product->left->span.end, p.source->base + 24);
    parsed_end(&p);
}
END_TEST

/* ---- precedence --------------------------------------------------------------------------- */

START_TEST(precedence) {
    expect_same("-x ** 2", "-(x ** 2)");
    expect_same("x ** -1", "x ** (-1)");
    expect_same("x ** -y ** z", "x ** (-(y ** z))");
    expect_same("x ** -y * z", "(x ** (-y)) * z");
    expect_same("a ** b ** c", "a ** (b ** c)");
    expect_same("!a == b", "(!a) == b");
    expect_same("-a * b", "(-a) * b");
    expect_same("a * b + c", "(a * b) + c");
    expect_same("a + b * c", "a + (b * c)");
    expect_same("a - b - c", "(a - b) - c");
    expect_same("a / b * c", "(a / b) * c");
    expect_same("a @ b @ c", "(a @ b) @ c");
    expect_same("a % b @ c / d", "((a % b) @ c) / d");
    expect_same("a + b < c - d", "(a + b) < (c - d)");
    expect_same("a < b && c >= d", "(a < b) && (c >= d)");
    expect_same("a || b && c", "a || (b && c)");
    expect_same("a && b || c && d", "(a && b) || (c && d)");
    expect_same("|x| x + 1", "|x| (x + 1)");
    expect_same("|x| |y| x || y", "|x| (|y| (x || y))");
    expect_same("rate * grad f(x)", "rate * ((grad f)(x))");
    expect_same("grad grad f(x).w", "((grad (grad f))(x)).w");
    expect_same("grad m.f(x)[1]", "((grad (m.f))(x))[1]");
    expect_same("-f(x)[1].y", "-(((f(x))[1]).y)");
    expect_same("a[1..n - 1]", "a[1..(n - 1)]");
    expect_same("if a { 1 } else { 2 } + 3", "(if a { 1 } else { 2 }) + 3");
    expect_same("1 + { 2 } * 3", "1 + (({ 2 }) * 3)");
}
END_TEST

/* ---- messages ----------------------------------------------------------------------------- */

START_TEST(messages_are_exact) {
    expect_messages("fn f() {\n    let y = x + ;\n}\n",
                    "a.adl:2:17: error[E0101]: unexpected ';', expected an expression\n"
                    "   2 |     let y = x + ;\n"
                    "     |                 ^\n");
    expect_messages("fn f() {\n    let y = x\n    y\n}\n",
                    "a.adl:2:14: error[E0102]: ';' is missing at the end of the statement\n"
                    "   2 |     let y = x\n"
                    "     |              ^\n");
    expect_messages("fn f() {\n    if a = b { }\n}\n",
                    "a.adl:2:10: error[E0101]: unexpected '=', expected '{'\n"
                    "   2 |     if a = b { }\n"
                    "     |          ^\n"
                    "help: to compare, write ==\n");
    expect_messages("fn f() {\n    let x = (1, 2;\n}\n",
                    "a.adl:2:18: error[E0101]: unexpected ';', expected ')' or ','\n"
                    "   2 |     let x = (1, 2;\n"
                    "     |                  ^\n"
                    "a.adl:2:13: note: the '(' that is open stands here\n"
                    "   2 |     let x = (1, 2;\n"
                    "     |             ^\n");
    expect_messages("fn f() {\n    f(x) = 3;\n}\n",
                    "a.adl:2:5: error[E0111]: the result of a call cannot be assigned to\n"
                    "   2 |     f(x) = 3;\n"
                    "     |     ^^^^\n"
                    "help: an element is written with brackets: x[i] = e;\n");
    expect_messages("const k = grad f(Const, x);\n",
                    "a.adl:1:18: error[E0112]: an activity word alone stands among arguments\n"
                    "   1 | const k = grad f(Const, x);\n"
                    "     |                  ^^^^^\n"
                    "a.adl:1:25: note: this is an argument; write either a word for every "
                    "parameter or, as in Const(x), an argument for every parameter\n"
                    "   1 | const k = grad f(Const, x);\n"
                    "     |                         ^\n");
    expect_messages("fn f() {\n    let y = a & b;\n}\n",
                    "a.adl:2:15: error[E0104]: unexpected character '&'\n"
                    "   2 |     let y = a & b;\n"
                    "     |               ^\n"
                    "help: write && for 'and', band(a, b) for the bits of integers\n");
}
END_TEST

START_TEST(messages_name_what_is_expected) {
    expect_heads("x", "1:1: error[E0101]: unexpected name 'x', expected an item (fn, export, "
                      "const, struct, use, test ...)\n");
    expect_heads("fn 3() { }", "1:4: error[E0101]: unexpected number '3', expected a name\n");
    expect_heads("fn f(x: ) { }", "1:9: error[E0101]: unexpected ')', expected a type\n");
    expect_heads("fn f(x: f64 y: f64) { }",
                 "1:13: error[E0101]: unexpected name 'y', expected ')', ',' or '='\n");
    expect_heads("fn f() { let for = 3; }",
                 "1:14: error[E0101]: unexpected 'for', expected a name or a pattern\n");
    expect_heads("fn f() { let x 3; }",
                 "1:16: error[E0101]: unexpected number '3', expected ':' or '='\n");
    expect_heads("fn f() { a < b < c; }", "1:16: error[E0101]: unexpected '<', expected ';'\n");
    expect_heads("fn f() { g(a b); }",
                 "1:14: error[E0101]: unexpected name 'b', expected ')', ',' or ':'\n");
    expect_heads("fn f() { let g = || 3; }",
                 "1:18: error[E0101]: unexpected '||', expected an expression\n");
    expect_heads("fn f() { let t = \"{x + }\"; }",
                 "1:24: error[E0101]: unexpected '}', expected an expression\n");
    expect_heads("fn f() { let t = [for i in 0..n { 3 }]; }",
                 "1:33: error[E0101]: unexpected '{', expected ',', ':', 'by' or 'where'\n");
    expect_messages("const k = .5;\n",
                    "a.adl:1:11: error[E0101]: unexpected '.', expected an expression\n"
                    "   1 | const k = .5;\n"
                    "     |           ^\n"
                    "help: a decimal point has digits on both sides, as in 0.5\n");
    expect_heads("fn f() {",
                 "1:9: error[E0101]: unexpected end of file, expected a statement or '}'\n");
}
END_TEST

START_TEST(lexical_errors_have_no_echo) {
    expect_heads("fn f() { let a = 1.; let b = \"x; }",
                 "1:18: error[E0106]: a decimal point has digits on both sides: write 1.0\n"
                 "1:30: error[E0107]: the string is not finished on its line; a new line in it is "
                 "written \\n\n");
    expect_heads("fn f() {\n    let a = x ^ y;\n    let b = \"{f(\"a\")}\";\n}\n",
                 "2:15: error[E0104]: unexpected character '^'\n"
                 "3:17: error[E0109]: no string stands inside the braces of a string; give it a "
                 "name first\n");
}
END_TEST

/* ---- recovery ----------------------------------------------------------------------------- */

START_TEST(every_statement_is_told_once) {
    expect_heads("fn f() {\n"
                 "    let a = ;\n"
                 "    if x = 1 { g(); h(); }\n"
                 "    let b = ];\n"
                 "    g([for i in 0..n: { let c = ; i }]);\n"
                 "    while { } }\n"
                 "fn g() { let d = * 2; }\n"
                 "fn h( { g(); k(]); }\n"
                 "struct S { x: , y: f64 }\n"
                 "derivative f(x: f64) { forward x { } }\n"
                 "const k = 3\n"
                 "fn ok() { 1 }\n"
                 "}\n"
                 "fn end() { x y; }\n",
                 "2:13: error[E0101]: unexpected ';', expected an expression\n"
                 "3:10: error[E0101]: unexpected '=', expected '{'\n"
                 "4:13: error[E0101]: unexpected ']', expected an expression\n"
                 "5:33: error[E0101]: unexpected ';', expected an expression\n"
                 "6:15: error[E0101]: unexpected '}', expected '{'\n"
                 "7:18: error[E0101]: unexpected '*', expected an expression\n"
                 "8:7: error[E0101]: unexpected '{', expected a name or ')'\n"
                 "9:15: error[E0101]: unexpected ',', expected a type\n"
                 "10:32: error[E0101]: unexpected name 'x', expected '('\n"
                 "11:12: error[E0102]: ';' is missing at the end of the statement\n"
                 "13:1: error[E0101]: unexpected '}', expected an item (fn, export, const, struct, "
                 "use, test ...)\n"
                 "14:14: error[E0101]: unexpected name 'y', expected ';'\n");
}
END_TEST

START_TEST(a_missing_brace_is_told_once) {
    expect_heads("fn f() {\n    if a { b();\n\nfn g() { }\nfn h() { }\n",
                 "4:1: error[E0101]: unexpected 'fn', expected a statement or '}'\n");
    expect_heads("fn f() {\n    g([1, (2\n\nexport fn g() { }\n",
                 "4:1: error[E0101]: unexpected 'export', expected ')' or ','\n");
}
END_TEST

START_TEST(items_without_errors_stay) {
    static const char text[] = "fn a() { }\nfn b() { x y }\nfn c( { }\nfn d() { }\n";
    Parsed p = parsed_begin(text, strlen(text));
    ck_assert_uint_eq(diags_errors(p.session->diags), 2);
    ck_assert_uint_eq(p.file->items.len, 2);
    ck_assert_str_eq(AST_AS(Fn, p.file->items.at[1])->name.sym->text, "d");
    parsed_end(&p);
}
END_TEST

/* ---- odd files ---------------------------------------------------------------------------- */

START_TEST(odd_files_parse) {
    expect_ok("");
    expect_ok("\n");
    expect_ok("// only a comment");
    expect_ok("/// documentation of nothing");
    expect_ok("fn f() { }");
    expect_ok("\xEF\xBB\xBF"
              "fn f() { }\n");
    expect_dump("/// one\r\n/// two\r\nfn f() -> f64 {\r\n    // c\r\n    1.0\r\n}\r\n",
                "File\n"
                "  items: Fn f \"one\\ntwo\"\n"
                "    ret: Ret\n"
                "      type: TypeName\n"
                "        path: Name f64\n"
                "    body: Block\n"
                "      value: Float \"1.0\"\n");
    static const char zeros[] = "fn f() { let x = \"a\0b\"; // \0\n }";
    Parsed p = parsed_begin(zeros, sizeof zeros - 1);
    ck_assert_str_eq(parsed_messages(&p), "");
    parsed_end(&p);
}
END_TEST

START_TEST(deep_nesting_is_one_message) {
    static const struct {
        const char *prefix, *before, *middle, *after, *suffix;
    } rows[] = {
        {"const k = ", "(", "1", ")", ";"},
        {"const k = ", "[", "1", "]", ";"},
        {"const k = ", "{", "1", "}", ";"},
        {"const k = ", "f(", "1", ")", ";"},
        {"const k = ", "-", "1", "", ";"},
        {"const k = ", "1 + ", "1", "", ";"},
        {"const k = ", "x ** ", "1", "", ";"},
        {"const k = ", "|x| ", "1", "", ";"},
        {"const k = ", "grad ", "f", "", ";"},
        {"const k = ", "if a { 1 } else ", "{ 2 }", "", ";"},
        {"const k = f", "", "", "(1)", ";"},
        {"const k = f", "", "", "[1]", ";"},
        {"const k = f", "", "", ".a", ";"},
        {"const k: ", "[n]", "f64", "", " = 1;"},
        {"const k: ", "fn(", "f64", ")", " = 1;"},
        {"const k: ", "fn() -> ", "f64", "", " = 1;"},
        {"fn f() { let ", "(", "a", ")", " = 1; }"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *text = repeated(rows[i].prefix, rows[i].before, rows[i].middle, rows[i].after,
                              rows[i].suffix, 100000);
        Parsed p = parsed_begin(text, strlen(text));
        ck_assert_uint_eq(diags_errors(p.session->diags), 1);
        ck_assert_ptr_nonnull(strstr(parsed_messages(&p), "error[E0103]: this is nested too deep"));
        parsed_dump(&p);
        parsed_end(&p);
        free(text);
    }
}
END_TEST

START_TEST(moderate_nesting_parses) {
    char *text = repeated("const k = ", "(", "1", ")", ";", 999);
    expect_ok(text);
    free(text);
    text = repeated("const k = ", "1 + ", "1", "", ";", 1900);
    expect_ok(text);
    free(text);
}
END_TEST

START_TEST(all_programs_parse) {
    StrBuf path = {0};
    strbuf_printf(&path, "%s/tests/programs", getenv("ADL_SOURCE_DIR"));
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
        ParseSession parse = {session->arena, session->interner, session->diags, 1};
        AstFile *file = parse_file(&parse, source);
        ck_assert_uint_gt(file->items.len, 0);
        ck_assert_msg(diags_errors(session->diags) == 0, "%s", name.text);
        strbuf_free(&name);
        session_free(session);
        count++;
    }
    closedir(dir);
    strbuf_free(&path);
    ck_assert_int_ge(count, 15);
}
END_TEST

UNIT_MAIN("parse", items_make_trees, operators_and_rules_make_trees, statements_make_trees,
          expressions_make_trees,
          contextual_words_are_names, spans_cover_the_text, precedence, messages_are_exact,
          messages_name_what_is_expected, lexical_errors_have_no_echo, every_statement_is_told_once,
          a_missing_brace_is_told_once, items_without_errors_stay, odd_files_parse,
          deep_nesting_is_one_message, moderate_nesting_parses, all_programs_parse)
