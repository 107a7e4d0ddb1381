# Makes kernels of the tests of a file: one for each `test "NAME" {`, up to its `}` in the first
# column, called case_1 and so on, with the name in a comment in front.  What the body asserts then
# stops the kernel if it does not hold, and its last statement says that it was reached.  Floats
# written in the body are hidden behind a parameter, since the compiler could compute it all else.
#
#   awk -v leave='|NAME|NAME|' [-v only=NUMBER] -f cases.awk FILE
#
# Tests in `leave` are left out; with `only` all but one are.
function hidden(line,    out, at, text) {
    while (match(line, /(^|[^A-Za-z0-9_.])([0-9]+\.[0-9]+(e[-+]?[0-9]+)?|[0-9]+e[-+]?[0-9]+)/)) {
        at = RSTART
        text = substr(line, RSTART, RLENGTH)
        if (text !~ /^[0-9]/) { at++; text = substr(text, 2) }
        out = out substr(line, 1, at - 1)
        out = out (substr(line, at + length(text)) ~ /^[A-Za-z]/ ? text : "hidden_(" text ", s_)")
        line = substr(line, at + length(text))
    }
    return out line
}
BEGIN {
    print "fn hidden_<T: float>(x: T, s: i64) -> T { if s > 0 { x + x } else { x } }"
}
/^test "/ {
    name = $0
    sub(/^test "/, "", name)
    sub(/" \{.*$/, "", name)
    number++
    inside = 1
    out = index(leave, "|" name "|") != 0 || (only && number != only)
    body = $0
    sub(/^test "[^"]*" \{/, "", body)
    if (!out) {
        print "// " name
        printf "export kernel fn case_%d(i_: index, s_: i64, done_: mut [n_]i32) {\n", number
    }
    if (body ~ /\}$/) {
        sub(/\}$/, "", body)
        if (!out) print hidden(body) "\n    done_[i_] = 1;\n}"
        inside = 0
    }
    next
}
inside && /^\}/ {
    if (!out) print "    done_[i_] = 1;\n}"
    inside = 0
    next
}
inside { if (!out) print hidden($0); next }
{ print }
