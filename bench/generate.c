/* Writes an ADL program of a given length, the same for the same arguments.

       generate LINES [SEED]

   The program is many groups of functions as people write them: scalar functions, loops with a
   `var`, comprehensions, reductions, a struct, branches, calls within the group and to the group
   before, and in each group an exported function with its gradient.  What a group needs of others
   does not depend on how many there are, so the work of a good compiler is in proportion to LINES.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static long lines_left;
static uint64_t state = 1;

/* Below N. */
static unsigned pick(unsigned n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33) % n;
}

/* A constant between 0.25 and 4. */
static double constant(void) {
    return 0.25 * (1 + pick(16));
}

__attribute__((format(printf, 1, 2))) static void line(const char *form, ...) {
    va_list arguments;
    va_start(arguments, form);
    vprintf(form, arguments);
    va_end(arguments);
    putchar('\n');
    lines_left--;
}

static const char *scalar_function(void) {
    static const char *const names[] = {"sin", "cos",   "tanh", "atan",
                                        "exp", "log1p", "sqrt", "softplus"};
    return names[pick(sizeof names / sizeof *names)];
}

/* -- the members of group G -- */

static void write_scalars(long g) {
    line("/// A bump of height %.2f.", constant());
    line("fn bump%ld(x: f64, width: f64) -> f64 {", g);
    line("    let u = x / (width + %.2f);", constant());
    line("    let v = u * u + %.2f;", constant());
    line("    %s(v) / (1.0 + v)", scalar_function());
    line("}");
    line("%s", "");
    line("/// A bump with another slope on each side.");
    line("fn bent%ld(x: f64) -> f64 {", g);
    line("    if x > %.2f {", constant());
    line("        bump%ld(x, %.2f)", g, constant());
    line("    } else if x > -1.0 {");
    line("        bump%ld(x, 1.0) + 0.5 * x", g);
    line("    } else {");
    line("        -%.2f * abs(x)", constant());
    line("    }");
    line("}");
    line("%s", "");
}

/* A function of functions and its use with a lambda that captures. */
static void write_functions(long g) {
    line("/// f applied twice.");
    line("fn twice%ld(f: fn(f64) -> f64, x: f64) -> f64 { f(f(x)) }", g);
    line("%s", "");
    line("/// The larger of two, scaled: for any float type.");
    line("fn larger%ld<T: float>(a: T, b: T) -> T { if a > b { a } else { %.2f * b } }", g,
         constant());
    line("%s", "");
}

static void write_arrays(long g) {
    line("/// Weighted differences of neighbours.");
    line("fn differences%ld(x: [n]f64, w: f64) -> [n]f64 {", g);
    line("    let scale = %.2f * w;", constant());
    line("    [for i in 0..n: if i == 0 { x[i] } else { scale * (x[i] - x[i - 1]) }]");
    line("}");
    line("%s", "");
    line("/// A table of interactions.");
    line("fn table%ld(x: [n]f64, y: [m]f64) -> [n, m]f64 {", g);
    line("    let a = [for i in 0..n: bump%ld(x[i], %.2f)];", g, constant());
    line("    let b = [for j in 0..m: %s(abs(y[j]))];", scalar_function());
    line("    [for i in 0..n, j in 0..m: a[i] * b[j] + %.2f * (x[i] - y[j])]", constant());
    line("}");
    line("%s", "");
    line("/// Sums of the rows of a table, by a product.");
    line("fn mix%ld(A: [n, m]f64, x: [m]f64) -> [n]f64 {", g);
    line("    let y = A @ x;");
    line("    let top = max(for i in 0..n: abs(y[i]));");
    line("    y / (1.0 + top) + %s(abs(y))", scalar_function());
    line("}");
    line("%s", "");
}

static void write_loops(long g) {
    line("/// Steps of an integration, by Heun's method.");
    line("fn integrate%ld(start: f64, rate: f64, steps: i64) -> f64 {", g);
    line("    let h = %.2f / f64(steps);", constant());
    line("    var y = start;");
    line("    for t in 0..steps {");
    line("        let slope = -rate * y + %s(f64(t) * h);", scalar_function());
    line("        let ahead = y + h * slope;");
    line("        let other = -rate * ahead + bent%ld(ahead);", g);
    line("        y += 0.5 * h * (slope + other);");
    line("    }");
    line("    y");
    line("}");
    line("%s", "");
    line("/// Smooths x in place, a number of times.");
    line("fn smooth%ld(x: [n]f64, times: i64) -> [n]f64 {", g);
    line("    var u = x;");
    line("    for k in 0..times {");
    line("        let old = u;");
    line("        for i in 1..n - 1 {");
    line("            u[i] = old[i] + 0.25 * (old[i - 1] - 2.0 * old[i] + old[i + 1]);");
    line("        }");
    line("        if k %% 2 == 1 { u *= %.2f; }", 0.9 + 0.01 * pick(10));
    line("    }");
    line("    u");
    line("}");
    line("%s", "");
    line("/// The root of a function near x, by a few steps.");
    line("fn root%ld(x: f64) -> f64 {", g);
    line("    var z = x;");
    line("    var left = %u;", 5 + pick(10));
    line("    while left > 0 && abs(z * z - x) > 1e-12 {");
    line("        z = 0.5 * (z + x / z);");
    line("        left -= 1;");
    line("    }");
    line("    z");
    line("}");
    line("%s", "");
}

static void write_struct(long g) {
    line("/// Parameters of a layer.");
    line("struct Layer%ld { W: [n, m]f64, c: [n]f64, gain: f64 }", g);
    line("%s", "");
    line("/// One layer applied to x.");
    line("fn apply%ld(layer: Layer%ld[n, m], x: [m]f64) -> [n]f64 {", g, g);
    line("    let z = layer.W @ x + layer.c;");
    line("    layer.gain * tanh(z)");
    line("}");
    line("%s", "");
    line("/// Mean and spread, as a record.");
    line("fn summary%ld(x: [n]f64) -> (centre: f64, spread: f64) {", g);
    line("    let centre = sum(x) / f64(n);");
    line("    let spread = sum(for i: (x[i] - centre) ** 2) / f64(n);");
    line("    (centre, sqrt(spread + %.2f))", constant());
    line("}");
    line("%s", "");
}

static void write_export(long g) {
    line("/// The loss of group %ld: parameters p (n), data x (n).", g);
    line("export fn loss%ld(p: Active [n]f64, x: Const [n]f64) -> f64 {", g);
    line("    let layer = Layer%ld(W: table%ld(p, x), c: differences%ld(p, %.2f), gain: p[0]);", g,
         g, g, constant());
    line("    let y = apply%ld(layer, smooth%ld(x, %u));", g, g, 1 + pick(4));
    line("    let z = mix%ld(layer.W, y);", g);
    line("    let s = summary%ld(z - x);", g);
    line("    var penalty = 0.0;");
    line("    for i in 0..n {");
    line("        penalty += bent%ld(p[i]) * root%ld(1.0 + p[i] ** 2);", g, g);
    if (g > 0) line("        penalty += 0.1 * bump%ld(p[i], %.2f);", g - 1, constant());
    line("    }");
    line("    penalty += larger%ld(p[0], twice%ld(|t| 0.5 * t + p[0], %.2f));", g, g, constant());
    line("    s.centre ** 2 + s.spread + %.2f * penalty + integrate%ld(p[0], 0.5, 20)", constant(),
         g);
    line("}");
    line("%s", "");
    line("/// Its value and gradient.");
    line("export loss%ld_grad = grad[primal] loss%ld;", g, g);
    line("%s", "");
}

static void (*const members[])(long) = {write_scalars, write_functions, write_arrays,
                                        write_loops,   write_struct,    write_export};
enum { GROUP_MAX = 125 }; /* lines of a group, at most */

int main(int argc, char **argv) {
    lines_left = argc > 1 ? atol(argv[1]) : 0;
    if (lines_left < 1) {
        fprintf(stderr, "usage: generate LINES [SEED]\n");
        return 2;
    }
    if (argc > 2) state = (uint64_t)atoll(argv[2]);
    for (long g = 0; lines_left >= GROUP_MAX; g++)
        for (size_t i = 0; i < sizeof members / sizeof *members; i++) members[i](g);
    while (lines_left > 0) line("// The end is filled up to the number of lines.");
    return ferror(stdout) || fflush(stdout) ? 1 : 0;
}
