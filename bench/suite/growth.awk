# Rows of `NAME time` (the second file) as time against work (growth.tsv, the first): nanoseconds
# for a unit of work, and the time to that of a tenth of the work.
BEGIN { FS = OFS = "\t" }
FNR == 1 { file++ }
file == 1 { work[$1, $3] = $4; next }
FNR == 1 {
    print "program", "part", "sizes", "work", "adl_us", "c_us", "adl_ns", "c_ns", "adl_decade", \
        "c_decade"
}
{
    n = work[$1, $3]
    adl[$1, $2, n] = $5
    c[$1, $2, n] = $6
    before = ($1 SUBSEP $2 SUBSEP n / 10) in adl
    print $1, $2, $3, n, $5, $6, sprintf("%.2f", 1e3 * $5 / n), sprintf("%.2f", 1e3 * $6 / n), \
        before ? sprintf("%.2f", $5 / adl[$1, $2, n / 10]) : "-", \
        before ? sprintf("%.2f", $6 / c[$1, $2, n / 10]) : "-"
}
