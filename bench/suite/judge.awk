# Completes the rows of `NAME time`: the aims of aims.tsv (the first file), verdicts.
#   awk -f judge.awk aims.tsv rows
# mem: memory that ADL takes to that of C, of which at least 100 KiB are counted; aim 1.5.
BEGIN { FS = OFS = "\t" }
FNR == 1 { file++ }
file == 1 {
    if (FNR > 1) {
        aim[$1, $2] = $3
        about[$1, $2] = $4
        enzyme[$1, $2, $6] = $5
    }
    next
}
FNR == 1 {
    print "program", "part", "sizes", "set_kib", "adl_us", "c_us", "fast_us", "ratio", "low", \
        "high", "aim", "to_fast", "to_primal", "c_to_primal", "about", "enzyme", "two", "mem_kib", \
        "c_mem_kib", "mem", "rounds", "differs", "memory", "verdict"
}
{
    key = $1 SUBSEP $2
    goal = key in aim ? aim[key] : $2 == "primal" ? 1.1 : 1.2
    published = (key SUBSEP $3) in enzyme ? enzyme[key, $3] : "-"
    mem = $15 / ($16 > 100 ? $16 : 100)
    print $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, goal, $11, $12, $13, \
        key in about ? about[key] : "-", published, $14, $15, $16, sprintf("%.2f", mem), $17, $18, \
        mem <= 1.5 ? "met" : "missed", $19 == "WRONG" ? "WRONG" : $8 <= goal ? "met" : "missed"
}
