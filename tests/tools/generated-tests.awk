# Makes one ADL file of tests for each derivative case, in the folder `out`, and prints "case NAME"
# for each, and "covers NAME" for each function, operator or built-in that is tested.
# See generated-tests.sh.
#
# Of the file `scalars`: a case for each row.  Of *.adl: the text from each "//# NAME: POINTS" on is
# a case, whose function of that name maps a vector to an array; what stands before the first
# belongs to all cases of the file.

function fail(message) { print FILENAME ":" FNR ": " message; failed = 1; exit 1 }

function trim(words) { gsub(/^[ \t]+|[ \t]+$/, "", words); return words }

# The value of an option in `options`, or OTHERWISE.
function option(word, otherwise,   n, words, i) {
    n = split(options, words, " ")
    for (i = 1; i <= n; i++) {
        if (words[i] == word) return 1
        if (index(words[i], word "=") == 1) return substr(words[i], length(word) + 2)
    }
    return otherwise
}

# `name` as a function of a vector that gives a vector: `function_of`, whatever its rank.
function write_flat(function_of, scalar,   rank, sizes, product, k) {
    if (!match(code, "fn " name "(<T: float>)?\\(x: \\[n\\](T|f64)\\) -> \\[[^]]*\\]"))
        fail("'" name "' is no function of a vector x that gives an array")
    rank = split(substr(code, RSTART, RLENGTH), sizes, ",")
    emit("fn " function_of "(x: [n]" scalar ") -> [m]" scalar " {")
    product = "shape(y).0"
    for (k = 1; k < rank; k++) product = product " * shape(y)." k
    if (rank == 1) emit("    " name "(x)\n}")
    else emit("    let y = " name "(x);\n    reshape(y, " product ")\n}")
}

function emit(line) { print line >file }

function same(what, a, b) { emit("    verify.same(case, \"" what "\", " a ", " b ");") }

function slope(what, t, f, seed, y, tol) {
    emit("    verify.slope(case, \"" what "\", " t ", " f "(before" seed "), " f "(behind" seed "), " \
        y ", " tol ");")
}

function write_wide() {
    emit("    let w: [_]f64 = verify.direction(len(f64_of(x)), 2);")
    emit("    let y = f64_of(x);")
    emit("    let (y1, t) = jvp[primal] f64_of(x, v);")
    emit("    let (y2, g) = grad[primal] f64_of(x, seed: w);")
    emit("    print(\"{case} {x} {y} {t} {g}\");")
    same("the value beside jvp", "y", "y1")
    same("the value beside grad", "y", "y2")
    same("jvp twice", "jvp f64_of(x, v)", "jvp f64_of(x, v)")
    emit("    verify.close(case, \"jvp with the value and without\", t, jvp f64_of(x, v), y, 1e-12);")
    same("grad twice", "grad f64_of(x, seed: w)", "grad f64_of(x, seed: w)")
    emit("    verify.close(case, \"grad with the value and without\", g, grad f64_of(x, seed: w), x, 1e-12);")
    if (!option("kinked", 0))
        slope("jvp and differences", "t", "f64_of", "", "y", option("tol", "1e-6"))
    emit("    verify.transposed(case, \"jvp and grad\", w, t, g, v, " option("dot", "1e-12") ");")
    write_other_forms()
    if (option("first", 0) || option("kinked", 0)) return
    emit("    let h = jvp grad f64_of(x, v, w, zeros(len(w)));")
    emit("    print(\"{case} {x} {h}\");")
    slope("jvp grad and differences", "h", "grad f64_of", ", seed: w", "g", option("tol", "1e-5"))
    emit("    let k = grad grad f64_of(x, seed: w, seed2: v);")
    emit("    verify.close(case, \"grad grad and jvp grad\", k.x, h, g, 1e-11);")
}

# The same derivatives in the other forms in which they can be asked for.
function write_other_forms() {
    emit("    let (forward, reverse) = split[primal] f64_of;")
    emit("    let (tape, y3) = forward(x);")
    emit("    let g3 = reverse(w, tape);")
    same("the value beside a tape", "y", "y3")
    emit("    verify.close(case, \"reverse and grad\", g3, g, x, 1e-12);")
    same("reverse twice on one tape", "g3", "reverse(w, tape)")
    emit("    let lanes = grad[batch(2)] f64_of(x, seed: stack(2.0 * w, w));")
    emit("    verify.close(case, \"grad in the second lane\", lanes[1], g, x, 1e-12);")
    emit("    let tangents = jvp[batch(2)] f64_of(x, stack(2.0 * v, v));")
    emit("    verify.close(case, \"jvp in the second lane\", tangents[1], t, y, 1e-12);")
}

function write_narrow(   tol) {
    tol = option("f32", "1e-5")
    emit("    let (sx, sv, sw) = (f32(x), f32(v), f32(w));")
    emit("    let wide = f64(sx);")
    emit("    let (sy, st) = jvp[primal] f32_of(sx, sv);")
    emit("    let sg = grad f32_of(sx, seed: sw);")
    emit("    print(\"{case} f32 {x} {sy} {st} {sg}\");")
    same("the value of f32 beside jvp", "sy", "f32_of(sx)")
    emit("    verify.narrow(case, \"the value of f32\", sy, f64_of(wide), " tol ");")
    emit("    verify.narrow(case, \"jvp of f32\", st, jvp f64_of(wide, v), " tol ");")
    emit("    verify.narrow(case, \"grad of f32\", sg, grad f64_of(wide, seed: w), " tol ");")
    emit("    verify.transposed(case, \"jvp and grad of f32\", sw, st, sg, sv, 1e-5);")
}

# The case `name`, whose functions are `code`.
function write_tests(points,   n, point, i) {
    file = out "/" name ".adl"
    emit("use verify;" common code)
    write_flat("f64_of", "f64")
    if (!option("only64", 0)) write_flat("f32_of", "f32")
    emit("fn verify_at(x: [n]f64) {")
    emit("    let case = \"" name "\";")
    emit("    let kept = 2.0 * x;")
    emit("    let v: [n]f64 = verify.direction(n, 1);")
    emit("    let (before, behind) = (x - verify.STEP * v, x + verify.STEP * v);")
    write_wide()
    if (!option("only64", 0)) write_narrow()
    same("the argument", "2.0 * x", "kept")
    emit("}")
    n = split(points, point, ";")
    for (i = 1; i <= n; i++) emit("test \"" name " " i "\" { verify_at(" trim(point[i]) "); }")
    close(file)
    print "case " name
}

# ---- the table of scalar functions ----

# FIELD[k] of ROW, parted by single "|".
function split_row(row, field,   n, k) {
    gsub(/\|\|/, "\001", row)
    n = split(row, field, "|")
    for (k = 1; k <= n; k++) {
        gsub("\001", "||", field[k])
        field[k] = trim(field[k])
    }
    for (k = n + 1; k <= 4; k++) field[k] = ""
}

# The numbers of all points, with commas; sets `arity`.
function flat_points(points,   n, point, numbers, i, j, all) {
    n = split(points, point, ";")
    if (n < 2) fail("there are fewer than two points")
    arity = split(trim(point[1]), numbers, /[ \t]+/)
    for (i = 1; i <= n; i++) {
        if (split(trim(point[i]), numbers, /[ \t]+/) != arity) fail("points of different sizes")
        for (j = 1; j <= arity; j++) all = all (all == "" ? "" : ", ") numbers[j]
    }
    return all
}

function scalar_case(row,   field, all, formals, actuals, j) {
    split_row(row, field)
    print "covers " field[1]
    all = flat_points(field[2])
    options = field[4]
    for (j = 0; j < arity; j++) {
        formals = formals (j ? ", " : "") substr("abc", j + 1, 1)
        actuals = actuals (j ? ", " : "") "x[" arity " * i + " j "]"
    }
    if (field[3] == "") field[3] = field[1] "(" formals ")"
    gsub(/[abc]/, "&: T", formals)
    name = "scalar_" field[1]
    code = "\nfn at_one<T: float>(" formals ") -> T { " field[3] " }\n" \
        "fn " name "<T: float>(x: [n]T) -> [m]T {\n" \
        "    [for i in 0..n / " arity ": at_one(" actuals ")]\n}"
    write_tests("[" all "]")
    name = ""
}

# ---- cases in ADL ----

function end_case() {
    if (name != "") write_tests(points)
    name = ""
}

function begin_case(head,   n, part, colon) {
    n = split(head, part, "|")
    options = n > 1 ? part[2] : ""
    colon = index(part[1], ":")
    name = trim(substr(part[1], 1, colon - 1))
    points = substr(part[1], colon + 1)
    if (name !~ /^[a-z][a-z0-9_]*$/ || trim(points) == "") fail("a case is '//# NAME: POINTS'")
    if (name in seen) fail("'" name "' is there twice")
    seen[name] = 1
    code = ""
}

FNR == 1 { end_case(); table = FILENAME !~ /\.adl$/; common = "" }
table && !/^#/ && NF { scalar_case($0) }
table { next }
/^\/\/#/ { end_case(); begin_case(substr($0, 4)); next }
/^[ \t]*\/\// { next }
name == "" { common = common "\n" $0; next }
{ code = code "\n" $0; all_code = all_code "\n" $0 }
END {
    if (failed) exit 1
    end_case()
    # What is called in a case is tested by it.
    while (match(all_code, /[A-Za-z_][A-Za-z0-9_]*\(/)) {
        word = substr(all_code, RSTART, RLENGTH - 1)
        if (!(word in called)) print "covers " word
        called[word] = 1
        all_code = substr(all_code, RSTART + RLENGTH)
    }
}
