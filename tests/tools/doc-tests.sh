# Runs the examples of the documents and prints TAP.  Fenced blocks with these info strings count:
#
#   adl               a whole file whose tests pass; one without tests (README.md only) is checked
#   adl check         a whole file that is accepted without a warning
#   adl error=E0508   a whole file that is refused with this code and no other
#   adl warning=W0803 a whole file that is accepted with this warning and no other
#
# It also checks that the reference names every keyword, library function and option.
cd "$ADL_SOURCE_DIR" || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
number=0
line() { number=$((number + 1)); echo "$1 $number - $2"; }

# blocks DOCUMENT: writes each block to $work/N.adl and prints "N LINE INFO".
blocks() {
  awk -v work="$work" '
    inside && /^```[ \t]*$/ { if (file != "") close(file); inside = 0; next }
    inside { if (file != "") print >file; next }
    /^```/ {
      inside = 1
      file = ""
      start = NR
      info = substr($0, 4)
      if (info !~ /^adl( |$)/) next
      file = work "/" NR ".adl"
      printf "" >file
      print NR, info
    }
    END { if (inside) print start, "is not closed" }' "$1"
}

# one DOCUMENT LINE INFO: a block.
one() {
  file=$work/$2.adl
  command=check
  codes=
  case $3 in
  adl)
    what="its tests pass"
    if grep -q '^test ' "$file"; then
      command=test
    else
      what="is accepted"
      if test "$1" != README.md; then
        line "not ok" "$1:$2 has no tests"
        return
      fi
    fi ;;
  "adl check") what="is accepted" ;;
  "adl error="*) codes=${3#adl error=}; what="is refused with $codes" ;;
  "adl warning="*) codes=${3#adl warning=}; what="is accepted with $codes" ;;
  *) line "not ok" "$1:$2 $3"; return ;;
  esac
  if test "$command" = test; then
    case " $ADL_LACKS " in *" llvm "*) line "ok" "$1:$2 # SKIP no llvm"; return ;; esac
  fi
  output=$("$DSLC" "$command" "$file" 2>&1)
  status=$?
  wanted=0
  case $codes in E*)
    wanted=1
    # Some are found when the program is compiled only.
    if test $status -eq 0; then
      output=$("$DSLC" --emit=ir-opt -o "$work/output" "$file" 2>&1)
      status=$?
    fi ;;
  esac
  found=$(printf '%s\n' "$output" | sed -n 's/.*: \(error\|warning\)\[\([EW][0-9]*\)\].*/\2/p' |
    sort -u | tr '\n' ' ')
  if test "$status" -eq "$wanted" && test "${found% }" = "$codes"; then
    line "ok" "$1:$2 $what"
  else
    line "not ok" "$1:$2 $what (status $status)"
    printf '%s\n' "$output" | sed "s,$work/,,g; s/^/# /"
  fi
}

for document in lang/reference.md README.md; do
  blocks "$document" >"$work/list"
  while read -r at info; do one "$document" "$at" "$info"; done <"$work/list"
  rm -f "$work"/*.adl
done

# names WHAT: reads names, of which each must stand in the reference between backquotes or in code.
names() {
  missing=$(grep -v '^__' | sort -u | while read -r name; do
    grep -qE -e "(^|[^A-Za-z0-9_-])$name([^A-Za-z0-9_-]|\$)" lang/reference.md || echo "$name"
  done)
  if test -z "$missing"; then
    line "ok" "the reference has every $1"
  else
    line "not ok" "the reference has every $1"
    printf '%s\n' "$missing" | sed 's/^/# lacks /'
  fi
}
names "keyword" <<END_OF_NAMES
$(sed -n 's/^KEYWORD([A-Z_]*, "\([^"]*\)".*/\1/p' lang/keywords.def)
END_OF_NAMES
names "scalar type" <<END_OF_NAMES
$(sed -n 's/^SCALAR([A-Z0-9]*, "\([^"]*\)".*/\1/p' lang/scalars.def)
END_OF_NAMES
names "function of the library" <<END_OF_NAMES
$(sed -n 's/^\(BUILTIN\|MATH\)([A-Z0-9_]*, "\([^"]*\)".*/\2/p' lang/builtins.def lang/math.def
  sed -n 's/^\(fn\|const\) \([A-Za-z0-9_]*\).*/\2/p' $(ls stdlib/*.adl | grep -v derivatives))
END_OF_NAMES
names "option" <<END_OF_NAMES
$(sed -n 's/^OPTION("\([^"]*\)",.*, "..*")$/\1/p' lang/options.def)
END_OF_NAMES
echo "1..$number"
