# Compares what two runs of tests have printed: the lines before each `ok - NAME`, number by number.
#
#   awk -f same.awk EXPECTED GOT      prints a line "NAME|exact", "NAME|near" or "NAME|differs: ..."
#
# Near: to 1e-12 of the number, and 1e-13 of the largest in what was printed.
function value(text) { return text == "nan" ? "nan" : text + 0 }
function size_of(list, n,    k, size) {
    for (k = 1; k <= n; k++)
        if (list[k] ~ /^-?[0-9]/ && (list[k] < 0 ? -list[k] : list[k] + 0) > size)
            size = list[k] < 0 ? -list[k] : list[k] + 0
    return size
}
function compare(name, want, got,    a, b, n, k, size, d, verdict) {
    gsub(/[][(),:{}\n]+/, " ", want)
    gsub(/[][(),:{}\n]+/, " ", got)
    n = split(want, a, " ")
    if (split(got, b, " ") != n) { print name "|differs: not as many numbers"; return }
    size = size_of(a, n)
    verdict = "exact"
    for (k = 1; k <= n; k++) {
        if (a[k] "" == b[k] "") continue
        if (a[k] !~ /^-?[0-9]/ || b[k] !~ /^-?[0-9]/) d = 1e300
        else { d = a[k] - b[k]; if (d < 0) d = -d }
        if (d > 1e-12 * (a[k] < 0 ? -a[k] : a[k]) + 1e-13 * size) {
            print name "|differs: " a[k] " and " b[k]
            return
        }
        verdict = "near"
    }
    print name "|" verdict
}
/^(not )?ok - / {
    name = $0
    sub(/^(not )?ok - /, "", name)
    if (FNR == NR) { expected[name] = text; names++ }
    else { compare(name, expected[name], text); seen++ }
    text = ""
    next
}
FNR == 1 { text = "" }
{ text = text $0 "\n" }
END { if (names != seen) print "all|differs: " names " tests, then " seen }
