# Tab-separated rows under a line of names as a JSON array of objects; "-" is null.
BEGIN { FS = "\t"; printf "[" }
NR == 1 {
    for (i = 1; i <= NF; i++) name[i] = $i
    next
}
{
    printf "%s\n    {", (NR > 2 ? "," : "")
    for (i = 1; i <= NF; i++) {
        text = $i
        if (text == "-") text = "null"
        else if (text !~ /^-?(0|[1-9][0-9]*)([.][0-9]+)?(e[-+]?[0-9]+)?$/) {
            gsub(/\\/, "\\\\", text)
            gsub(/"/, "\\\"", text)
            text = "\"" text "\""
        }
        printf "%s\"%s\": %s", (i > 1 ? ", " : ""), name[i], text
    }
    printf "}"
}
END { printf "\n  ]" }
