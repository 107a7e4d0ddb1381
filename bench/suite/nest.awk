# Writes a program whose loop body stands in DEPTH loops of n trips each.
#   awk -v DEPTH=3 -f nest.awk
BEGIN {
    print "/// Euler steps of s' = x - s^2, n ** " DEPTH " times."
    print "export fn nest(x: Active f64, n: i64) -> f64 {"
    print "    var s = 0.5;"
    for (i = 0; i < DEPTH; i++) printf "%*sfor i%d in 0..n {\n", 4 + 4 * i, "", i
    printf "%*ss += 0.001 * (x - s * s);\n", 4 + 4 * DEPTH, ""
    for (i = DEPTH - 1; i >= 0; i--) printf "%*s}\n", 4 + 4 * i, ""
    print "    s"
    print "}"
}
