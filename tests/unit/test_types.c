/* The checker: types of expressions, sizes, what is chosen for calls, errors with their lines. */
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

#include "source/load.h"
#include "source/session.h"
#include "types/check.h"

typedef struct Checked {
    Session *session;
    Checker *checker;
    Program *program;
    StrBuf text;
} Checked;

static const char *stdlib_dir(void) {
    static char path[4096];
    const char *root = getenv("ADL_SOURCE_DIR");
    snprintf(path, sizeof path, "%s/stdlib", root ? root : ".");
    return path;
}

static Checked check_text(const char *text) {
    Checked c = {.session = session_new()};
    Session *s = c.session;
    CheckOptions options = {.stdlib_dir = stdlib_dir()};
    SourceFile *file = sources_add(&s->sources, "a.adl", text, strlen(text));
    c.checker = checker_new(s->arena, s->interner, &s->sources, s->diags, &options);
    c.program = check_program(c.checker, file, ~0u);
    return c;
}

static void checked_end(Checked *c) {
    strbuf_free(&c->text);
    checker_free(c->checker);
    session_free(c->session);
}

static const char *messages(Checked *c) {
    strbuf_clear(&c->text);
    strbuf_add(&c->text, "");
    diags_render(c->session->diags, &c->text);
    return c->text.text;
}

/* ---- helpers ------------------------------------------------------------------------------ */

/* The type of the result of the exported function `f`. */
static void expect_result(const char *text, const char *type) {
    Checked c = check_text(text);
    ck_assert_msg(diags_errors(c.session->diags) == 0, "%s\n%s", text, messages(&c));
    const Instance *f = NULL;
    for (uint32_t i = 0; i < c.program->roots.len; i++)
        if (!strcmp(c.program->roots.at[i].name, "f")) f = c.program->roots.at[i].instance;
    ck_assert_msg(f != NULL, "%s: no root f", text);
    const char *found = type_text(c.program->types, f->body->type);
    ck_assert_msg(!strcmp(found, type), "%s\nis %s, not %s", text, found, type);
    checked_end(&c);
}

/* The type of an expression over a few parameters. */
static void expect_type(const char *expr, const char *type) {
    StrBuf text = {0};
    strbuf_printf(
        &text,
        "struct P { u: [k]f64, v: f64 }\n"
        "export fn f(x: [n]f64, y: [n]f64, A: [n, m]f64, w: [q]f32, a: f64, b: f32, i: i64, "
        "j: i32, z: c128, m1: [n]bool, idx: [k]i64, s: str, p: P, t: (f64, i64), "
        "ps: [n](f64, i64), u: u8) { let r = %s; let _s = r; }\n",
        expr);
    Checked c = check_text(text.text);
    ck_assert_msg(diags_errors(c.session->diags) == 0, "%s\n%s", expr, messages(&c));
    const Tree *body = c.program->roots.at[0].instance->body;
    const char *found = type_text(c.program->types, body->stmts[0]->pattern.local->type);
    ck_assert_msg(!strcmp(found, type), "%s is %s, not %s", expr, found, type);
    checked_end(&c);
    strbuf_free(&text);
}

static void expect_clean(const char *text) {
    Checked c = check_text(text);
    const char *found = messages(&c);
    ck_assert_msg(!*found, "%s\n%s", text, found);
    checked_end(&c);
}

/* Exactly these messages: "a.adl:2:14: error[E0301]" each, in order, separated by blanks. */
static void expect_errors(const char *text, const char *wanted) {
    Checked c = check_text(text);
    const char *found = messages(&c);
    StrBuf heads = {0};
    strbuf_add(&heads, "");
    for (const char *line = found; *line;) {
        const char *end = strchr(line, '\n');
        const char *code = strstr(line, "[");
        unsigned row, col;
        if (!strncmp(line, "a.adl:", 6) && code && code < end && code[1] != '-' &&
            sscanf(line + 6, "%u:%u", &row, &col) == 2)
            strbuf_printf(&heads, "%s%u:%.5s", heads.len ? " " : "", row, code + 1);
        line = end ? end + 1 : line + strlen(line);
    }
    ck_assert_msg(!strcmp(heads.text, wanted), "%s\ngives %s, not %s:\n%s", text, heads.text,
                  wanted, found);
    strbuf_free(&heads);
    checked_end(&c);
}

/* Does the dump of the exported `f` contain this? */
static void expect_dump(const char *text, const char *part) {
    Checked c = check_text(text);
    ck_assert_msg(diags_errors(c.session->diags) == 0, "%s\n%s", text, messages(&c));
    StrBuf dump = {0};
    instance_dump(&dump, c.program->roots.at[0].instance);
    ck_assert_msg(strstr(dump.text, part) != NULL, "%s\nlacks %s:\n%s", text, part, dump.text);
    strbuf_free(&dump);
    checked_end(&c);
}

/* ---- expressions -------------------------------------------------------------------------- */

START_TEST(literals) {
    expect_type("1", "i64");
    expect_type("1.0", "f64");
    expect_type("0xff", "i64");
    expect_type("2i", "c128");
    expect_type("true", "bool");
    expect_type("\"a\"", "str");
    expect_type("7u8", "u8");
    expect_type("2.5f32", "f32");
    expect_type("2 * b", "f32");
    expect_type("1 + 2.0", "f64");
    expect_type("[1, 2.0]", "[2]f64");
    expect_type("[[1, 2], [3, 4]]", "[2, 2]i64");
    expect_type("[[1, 2], [3, 4.5]]", "[2, 2]f64");
    expect_type("[[[1, -2 ** 2]], [[pi, 4]]]", "[2, 1, 2]f64");
    expect_type("[[1, 2.0], [3, 4i]]", "[2, 2]c128");
    expect_type("[(1, 2.0), (3, 4)]", "[2](i64, f64)");
    expect_type("[[1, 2], [3, b]]", "[2, 2]f32");
    expect_type("pi * b", "f32");
    expect_type("-inf", "f64");
    expect_type("j + 1", "i32");
    expect_type("u / 2", "u8");
    expect_type("1.5 * w", "[q]f32");
    expect_type("z + 1", "c128");
    expect_type("(1, 2.0)", "(i64, f64)");
    expect_type("exp(1.0) * b", "f32");
    expect_type("b + 0.5 * log(2.0)", "f32");
    expect_type("sort(for k in 0..3: -k) == [-2, -1, 0]", "[3]bool");
    expect_type("sort(for k in 0..n: w[0]) * 2", "[n]f32");
}
END_TEST

START_TEST(operators) {
    expect_type("x + y", "[n]f64");
    expect_type("x + 1.0", "[n]f64");
    expect_type("x < y", "[n]bool");
    expect_type("m1 && x < 0.0", "[n]bool");
    expect_type("!m1", "[n]bool");
    expect_type("-A", "[n, m]f64");
    expect_type("a < 1.0 && i == 2", "bool");
    expect_type("s == \"a\"", "bool");
    expect_type("x ** 2", "[n]f64");
    expect_type("b ** 0.5", "f32");
    expect_type("i ** 2", "i64");
    expect_type("2.0 ** b", "f32");
    expect_type("z * a", "c128");
    expect_type("a ** z", "c128");
    expect_type("x @ A", "[m]f64");
    expect_type("A @ transpose(A)", "[n, n]f64");
    expect_type("x @ y", "f64");
    expect_type("i % 3", "i64");
    expect_type("if a > 0.0 { 1 } else { i }", "i64");
    expect_type("if a > 0.0 { 0.0 } else { b }", "f32");
    expect_type("{ let q2 = a; q2 * 2.0 }", "f64");
    expect_type("f16(a) * f16(a)", "f32");
}
END_TEST

START_TEST(conversions) {
    expect_type("f64(i)", "f64");
    expect_type("i32(a)", "i32");
    expect_type("f32(x)", "[n]f32");
    expect_type("i64(m1)", "[n]i64");
    expect_type("c128(a)", "c128");
    expect_type("f16(w)", "[q]f16");
    expect_type("f32(1)", "f32");
}
END_TEST

START_TEST(arrays) {
    expect_type("x[0]", "f64");
    expect_type("A[0]", "[m]f64");
    expect_type("A[.., 0]", "[n]f64");
    expect_type("A[i]", "[m]f64");
    expect_type("x[1..]", "[n - 1]f64");
    expect_type("x[..i]", "[i]f64");
    expect_type("x[1..n - 1]", "[n - 2]f64");
    expect_type("x[0..n by 2]", "[(n + 1) / 2]f64");
    expect_type("x[idx]", "[k]f64");
    expect_type("A[.., idx]", "[n, k]f64");
    expect_type("[x, y]", "[2, n]f64");
    expect_type("len(x)", "i64");
    expect_type("shape(A)", "(i64, i64)");
    expect_type("zeros(3)", "[3]f64");
    expect_type("zeros(i, 2)", "[i, 2]f64");
    expect_type("iota(4)", "[4]i64");
    expect_type("reshape(A, m, n)", "[m, n]f64");
    expect_type("concat(x, y, [1.0])", "[2 * n + 1]f64");
    expect_type("stack(x, y)", "[2, n]f64");
    expect_type("zip(x, y)", "[n](f64, f64)");
    expect_type("unzip(ps)", "([n]f64, [n]i64)");
    expect_type("ps[0]", "(f64, i64)");
    expect_type("ps.1", "[n]i64");
    expect_type("p.u", "[?]f64");
    expect_type("t.1", "i64");
    expect_type("argsort(x)", "[n]i64");
    expect_type("sort(for k in 0..3: -x[k])", "[3]f64");
    expect_type("zeros_like(p)", "P[?]");
}
END_TEST

START_TEST(comprehensions) {
    expect_type("[for k in 0..n: x[k]]", "[n]f64");
    expect_type("[for k: x[k] + y[k]]", "[n]f64");
    expect_type("[for k, l: A[k, l] * x[k]]", "[n, m]f64");
    expect_type("[for k in 1..n - 1: x[k]]", "[n - 2]f64");
    expect_type("[for e in x: e > 0.0]", "[n]bool");
    expect_type("[for row in A: sum(row)]", "[n]f64");
    expect_type("[for k: A[k]]", "[n, m]f64");
    expect_type("[for k: [for l: x[k] * y[l]]]", "[n, n]f64");
    expect_type("[for k where m1[k]: x[k]]", "[?]f64");
    expect_type("[for k: (x[k], k)]", "[n](f64, i64)");
    expect_type("[for (c, d) in ps: c * f64(d)]", "[n]f64");
    expect_type("[for k in 0..i, l in 0..3: 1]", "[i, 3]i64");
    expect_type("[for k in 0..3: P(u: x, v: a)]", "[3]P[n]");
}
END_TEST

START_TEST(reductions) {
    expect_type("sum(x)", "f64");
    expect_type("sum(A)", "f64");
    expect_type("sum(for k: x[k])", "f64");
    expect_type("sum(for k: A[k])", "[m]f64");
    expect_type("sum(for k in 0..n, l in 0..k: x[l])", "f64");
    expect_type("prod(w)", "f32");
    expect_type("prod(for k: A[k])", "[m]f64");
    expect_type("max(x)", "f64");
    expect_type("max(idx)", "i64");
    expect_type("max(a, 1.0)", "f64");
    expect_type("max(x, 0.0)", "[n]f64");
    expect_type("max(for k: A[k])", "[m]f64");
    expect_type("min(for k in 0..n, l in 0..k: x[l])", "f64");
    expect_type("argmax(x)", "i64");
    expect_type("argmax(A)", "(i64, i64)");
    expect_type("argmin(for k, l: A[k, l])", "(i64, i64)");
    expect_type("all(x == y)", "bool");
    expect_type("count(m1)", "i64");
    expect_type("count(for k: x[k] > 0.0)", "i64");
    expect_type("mean(A)", "f64");
    expect_type("norm(for k: A[k])", "[m]f64");
    expect_type("variance(x, ddof: 1)", "f64");
    expect_type("logsumexp(for k: x[k] + y[k])", "f64");
    expect_type("reduce(|c, d| c + d, 0.0, x)", "f64");
    expect_type("reduce(max, 0, idx)", "i64");
    expect_type("scan(|c, d| c * d, 1.0, x, exclusive: true)", "[n]f64");
    expect_type("accumulate(|c, d| c + d, zeros(4), idx, [for k in idx: 1.0])", "[4]f64");
    expect_type("accumulate(|c, d| c + d, A, idx, A[idx])", "[n, m]f64");
    expect_type("parts(|c, d| c + d, p, p)", "P[?]");
    expect_type("dot(x, y)", "f64");
    expect_type("dot(p, p)", "f64");
    expect_type("norm(p)", "f64");
    expect_type("softmax(for k: x[k])", "[n]f64");
}
END_TEST

START_TEST(calls) {
    expect_type("sqrt(x)", "[n]f64");
    expect_type("hypot(b, 1.0)", "f32");
    expect_type("atan2(x, 1.0)", "[n]f64");
    expect_type("sincos(a)", "(sin: f64, cos: f64)");
    expect_type("sincos(x)", "(sin: [n]f64, cos: [n]f64)");
    expect_type("abs(j)", "i32");
    expect_type("abs(z)", "f64");
    expect_type("exp(z)", "c128");
    expect_type("re(z)", "f64");
    expect_type("complex(a, 1)", "c128");
    expect_type("select(m1, x, 0.0)", "[n]f64");
    expect_type("clamp(i, 0, 5)", "i64");
    expect_type("shl(u, 2)", "u8");
    expect_type("identity(3)", "[3, 3]f64");
    expect_type("b * identity(2)", "[2, 2]f32");
    expect_type("linspace(0.0, 1.0, i)", "[i]f64");
    expect_type("onehot(1, 3) + [1.0f32, 2, 3]", "[3]f32");
    expect_type("near(x, y, 1e-9, atol: 0.0)", "bool");
    expect_type("stop(x)", "[n]f64");
    expect_type("load_text(\"a\")", "[?]f64");
    expect_type("time()", "f64");
    expect_type("P(x, 2.0).u", "[n]f64");
    expect_type("{ let g = |v| v * a; g(x) }", "[n]f64");
    expect_type("{ let g = sin; g(b) }", "f32");
}
END_TEST

/* ---- functions ---------------------------------------------------------------------------- */

START_TEST(generics) {
    expect_result("fn id<T: any>(x: T) -> T { x }\nexport fn f(x: [n]f64) -> [n]f64 { id(x) }",
                  "[n]f64");
    expect_result("fn map<T: any, U: any>(g: fn(T) -> U, x: [n]T) -> [n]U { [for v in x: g(v)] }\n"
                  "export fn f(x: [n]f64) -> [n]bool { map(|v| v > 0.0, x) }",
                  "[n]bool");
    expect_result("fn make<T: float>(n: i64) -> [n]T { zeros(n) }\n"
                  "export fn f() -> [3]f32 { make(3) }",
                  "[3]f32");
    expect_result("fn sq<A: array>(x: A) -> A { x * x }\n"
                  "export fn f(x: [n, m]f32) -> [n, m]f32 { sq(x) }",
                  "[n, m]f32");
    expect_result("fn conv<T: float>(k: i64) -> T { T(k) }\nexport fn f(k: i64) -> f32 { conv(k) }",
                  "f32");
}
END_TEST

START_TEST(functions_as_values) {
    expect_clean("fn dot2<T: float>(x: [n]T, y: Const [n]T) -> T { sum(x * y) }\n"
                 "export dot32 = dot2<f32>;\nexport g32 = grad[primal] dot2<f32>;\n"
                 "fn main() { print(g32([1.0f32], [2.0])); print(dot32([1], [2])); }\n");
    expect_clean("fn cube<T: float>(x: T) -> T { x * x * x }\n"
                 "export fn f(x: [n]f64, y: [n]f32) -> [n]f32 { print(grad cube(x) + grad sin(x)); "
                 "let h = |a: f32| a * a; grad cube(y) + grad h(y) }\n");
    expect_clean("fn twice(g: fn(f64) -> f64, x: f64) -> f64 { g(g(x)) }\n"
                 "export fn f(x: f64, a: f64) -> f64 { twice(|v| a * v, x) + twice(sin, x) + "
                 "twice(max2, x) }\nfn max2(x: f64) -> f64 { max(x, 2.0) }\n");
    expect_clean("fn compose(g: fn(f64) -> f64, h: fn(f64) -> f64) -> fn(f64) -> f64 { |x| h(g(x)) "
                 "}\nexport fn f(x: f64) -> f64 { let s = compose(sin, cos); compose(s, s)(x) }\n");
    expect_clean("fn step(g: fn([n]f64) -> [n]f64, s: [n]f64) -> [n]f64 { s + g(s) }\n"
                 "fn slope(s: [3]f64, k: f64) -> [3]f64 { [k * s[1], s[2], s[0]] }\n"
                 "export fn f(s: [3]f64) -> [3]f64 { step(|y| slope(y, 2.0), s) }\n");
    expect_dump("export fn f(A: [n, m]f64, x: [m]f64) -> [n]f64 { let g = |v| A @ v; g(x) }",
                "value call lambda: [n]f64");
    expect_errors("fn g(h: fn(f64) -> f64) -> f64 { h(1.0) }\n"
                  "fn f(x: f64) -> f64 { g(|a, b| a) + g(|a| true) + g(x) }\n",
                  "2:E0304 2:E0301 2:E0301");
}
END_TEST

START_TEST(defaults) {
    expect_clean(
        "fn g(x: [n]f64, k: i64 = n, tol: f64 = 1e-3, atol: f64 = tol) -> f64 { x[k - 1] * "
        "tol + atol }\nexport fn f(x: [n]f64) -> f64 { g(concat(x, x), atol: 2.0) + g(x, 1, 2.0) "
        "}\n");
    expect_errors("fn g(x: f64, y: f64 = true) -> f64 { x + y }\n", "1:E0324");
}
END_TEST

START_TEST(mutation) {
    expect_clean(
        "fn set(x: mut [n]f64, v: mut f64) { for i in 0..n { x[i] += v; } v = 0.0; }\n"
        "export fn f(y: mut [n]f64) -> f64 { var a = zeros(4); var s = (1.0, [1.0, 2.0]);\n"
        "set(a, s.0); set(a[1..3], s.1[0]); set(y, a[0]); (a[0], a[1]) = (a[1], a[0]); s.0 }\n");
    expect_dump("fn swap(a: mut [n]f64, b: mut [n]f64) { (a, b) = (b, a); }\n"
                "export fn f(x: mut [n]f64, i: i64, j: i64) { swap(x[i..i + 2], x[j..j + 2]); }",
                "apart 0, 1");
    expect_errors(
        "fn f(x: [n]f64) {\nlet y = x;\ny[0] = 1.0;\nx[0] = 1.0;\nfor i in 0..n { i = 2; }\n}\n",
        "3:E0311 4:E0311 5:E0311");
    expect_errors("fn f(x: [n]f64) -> f64 {\nvar s = 0.0;\nlet y = [for i: {\ns += x[i];\nvar t = "
                  "s;\nt += 1.0;\nt }];\n"
                  "y[0] + sum(for i: { var u = x[i]; u *= 2.0; u })\n}\n",
                  "4:E0328");
}
END_TEST

/* ---- sizes -------------------------------------------------------------------------------- */

START_TEST(sizes) {
    expect_result("export fn f(x: [n]f64, k: i64) -> [k]f64 { [for i in 0..k: x[i]] }", "[k]f64");
    expect_clean("fn g(n: i64, x: [2 * n]f64) -> [n]f64 { x[0..n] }\n"
                 "export fn f(x: [m]f64) -> [m]f64 { g(m, concat(x, x)) }\n");
    expect_dump("fn g(x: [n]f64, y: [n]f64) -> f64 { dot(x, y) }\n"
                "export fn f(a: [n]f64, b: [m]f64) -> f64 { g(a, b) }",
                "check n = m");
    expect_dump("export fn f(a: [n]f64, k: i64) -> [k]f64 { a }", "check k = n");
    expect_dump("export fn f(t: [n]f64) -> f64 { let k = i64(t[0]); sum(reshape(t, k, 2)) }",
                "check 2 * k = n");
    expect_dump("export fn f(x: [n]f64) -> f64 { let y: [k]f64 = x[1..]; f64(k) }", "size n - 1");
    expect_dump("export fn f(x: [n]f64, A: [m, p]f64) -> f64 { sum(for i: x[i] * A[i, 0]) }",
                "check n = m");
    expect_errors("fn g(x: [n]f64, y: [n]f64) -> f64 { dot(x, y) }\n"
                  "fn f(a: [n]f64) -> f64 {\ng(a, a[1..]) }\n",
                  "3:E0401");
    expect_errors("fn f(x: [n]f64) -> [n]f64 {\nvar y = x;\ny = concat(x, x[0..1]);\nx }\n",
                  "3:E0403");
}
END_TEST

START_TEST(structs) {
    expect_clean(
        "struct Dense { W: [n, m]f64, c: [m]f64 }\nstruct Net { a: Dense, b: Dense }\n"
        "fn apply(d: Dense[n, m], x: [n]f64) -> [m]f64 { x @ d.W + d.c }\n"
        "export fn f(net: Net, x: [n]f64) -> [_]f64 { apply(net.b, apply(net.a, x)) }\n"
        "fn main() { let d = Dense(W: zeros(2, 3), c: zeros(3)); print(f(Net(d, d), [1.0, 2.0])); "
        "var e = d; e.c[0] = 2.0; e.W = ones(2, 3); print(e); }\n");
    expect_errors("struct D { W: [n, m]f64, c: [m]f64 }\n"
                  "fn f() { let d = D(zeros(2, 3), zeros(4)); }\nfn g(d: D) -> f64 { d.w[0] + "
                  "D(d.W).c[0] }\n",
                  "2:E0401 3:E0309 3:E0307");
}
END_TEST

/* ---- errors ------------------------------------------------------------------------------- */

START_TEST(one_mistake_one_message) {
    expect_errors("fn f(x: [n]f64) -> f64 {\nlet y = foo(x);\nlet z = y + 1.0;\nlet (a, b) = "
                  "z;\nz[a] + b + sum(y)\n}\n",
                  "2:E0201");
    expect_errors("fn f(x: T) -> U {\nx + 1\n}\nfn g() -> f64 { f(1.0) }\n", "1:E0208 1:E0208");
    expect_errors("fn f(x: f64) -> f64 {\nlet g = |v| w + v;\ng(x) + g(x)\n}\n", "2:E0201");
}
END_TEST

START_TEST(parallel_and_jumps) {
    expect_errors("fn f(n: i64) -> i64 {\nwhile true { break; }\nfor i in 0..n { continue; }\n"
                  "sum(for i in 0..n: { for k in 0..3 { break; } return 1; i })\n}\n",
                  "4:E0327");
}
END_TEST

START_TEST(standard_library) {
    /* The form is chosen by the rank of what is made of literals. */
    expect_clean("use linalg: solve;\nexport fn f(A: [2, 2]f32) -> ([2, 2]f64, [2, 2]f32, [2]f32, "
                 "[2, 1]f64) { (solve([[2, 0], [0, 4]], [[2, 4], [4, 8]]), solve(A, [[2, 4], [4, "
                 "8.0]]), solve(A, [1, 2]), solve([[2.0, 0.0], [0.0, 4.0]], [[1.0], [2.0]])) }\n");
    expect_errors("use linalg: solve;\nfn f(A: [2, 2]f64) -> f64 { sum(solve(A, 2.0)) }\n",
                  "2:E0301");
    static const char *const names[] = {"prelude", "derivatives"};
    for (int i = 0; i < 2; i++) {
        Session *s = session_new();
        CheckOptions options = {.stdlib_dir = stdlib_dir()};
        char path[4200];
        snprintf(path, sizeof path, "%s/%s.adl", stdlib_dir(), names[i]);
        SourceFile *file = source_load(&s->sources, s->diags, path, (Span){0});
        Checker *c = checker_new(s->arena, s->interner, &s->sources, s->diags, &options);
        check_program(c, file, ~0u);
        StrBuf text = {0};
        strbuf_add(&text, "");
        diags_render(s->diags, &text);
        ck_assert_msg(text.len == 0, "%s", text.text);
        strbuf_free(&text);
        checker_free(c);
        session_free(s);
    }
}
END_TEST

START_TEST(deep_nesting) {
    StrBuf text = {0};
    strbuf_add(&text, "export fn f(x: f64) -> f64 { ");
    for (int i = 0; i < 300; i++) strbuf_add(&text, "(1 + ");
    strbuf_char(&text, 'x');
    for (int i = 0; i < 300; i++) strbuf_char(&text, ')');
    strbuf_add(&text, " }\n");
    expect_clean(text.text);
    strbuf_free(&text);
}
END_TEST

UNIT_MAIN("types", literals, operators, conversions, arrays, comprehensions, reductions, calls,
          generics, functions_as_values, defaults, mutation, sizes, structs,
          one_mistake_one_message, parallel_and_jumps, standard_library, deep_nesting)
