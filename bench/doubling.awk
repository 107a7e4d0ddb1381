# Adds to tab-separated rows, under a line of names, a column with the ratio to the row of the same
# key with half the lines, and, if AIM is given, one that says whether the ratio is at most AIM.
# Column 1 has the lines, columns 2 to KEYS the key, column TIME the milliseconds.  Where the time
# of half the lines is under FLOOR there is no ratio: it would be noise.
BEGIN { FS = OFS = "\t" }
NR == 1 {
    print $0, "doubling" (AIM ? OFS "verdict" : "")
    next
}
{
    key = ""
    for (i = 2; i <= KEYS; i++) key = key $i FS
    time[$1, key] = $TIME
    half = $1 / 2
    ratio = "-"
    if ($TIME != "-" && time[half, key] != "-" && time[half, key] + 0 > FLOOR + 0)
        ratio = sprintf("%.2f", $TIME / time[half, key])
    verdict = ratio == "-" ? "-" : ratio + 0 <= AIM + 0 ? "met" : "missed"
    if (AIM) print $0, ratio, verdict
    else print $0, ratio
}
