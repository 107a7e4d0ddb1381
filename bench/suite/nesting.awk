# Rows of `nest time`, with the compile time behind them, as time against depth.
BEGIN {
    FS = OFS = "\t"
    print "depth", "trips", "part", "adl_us", "c_us", "ratio", "to_primal", "mem_kib", "compile_ms"
}
{
    split($3, size, ",")
    print size[2], size[1], $2, $5, $6, $8, $12, $15, $NF
}
