# Rows of peers.py (the second file) beside ADL's times in suite.tsv (the first).
BEGIN { FS = OFS = "\t" }
FNR == 1 {
    if (!file++) next
    print "program", "part", "sizes", "peer", "adl_us", "peer_us", "low", "high", "ratio", "verdict"
}
file == 1 { adl[$1, $2, $3] = $5; next }
($1, $2, $3) in adl {
    ratio = adl[$1, $2, $3] / $5
    print $1, $2, $3, $4, adl[$1, $2, $3], $5, $6, $7, sprintf("%.3f", ratio), \
        ratio <= 1 ? "met" : "missed"
}
