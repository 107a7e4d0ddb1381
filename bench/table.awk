# Tab-separated rows as a table: the first column flush left, the others right.
BEGIN { FS = "\t" }
{
    for (i = 1; i <= NF; i++) {
        cell[NR, i] = $i
        if (length($i) > width[i]) width[i] = length($i)
    }
    if (NF > columns) columns = NF
}
END {
    for (row = 1; row <= NR; row++) {
        text = sprintf("%-" width[1] "s", cell[row, 1])
        for (i = 2; i <= columns; i++) text = text sprintf("  %" width[i] "s", cell[row, i])
        sub(/ +$/, "", text)
        print text
    }
}
