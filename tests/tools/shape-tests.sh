# What the optimiser makes of the programs of tests/programs and of their derivatives, and prints TAP.
# So that what makes them fast is not lost: each row of tests/shapes/programs says how often a line of
# the final IR (--emit=ir-opt -O3) fits a pattern.  A row: program, what of it (- for itself), pattern,
# how often (a number, or <= and a number), why; by tabs.
#
# And what it makes of the small functions of tests/shapes/*.adl: "//# FUNCTION N OPERATION" says that
# there are N such instructions, "//# FUNCTION has OPERATION" and "//# FUNCTION lacks OPERATION"
# whether there is any.
cd "$ADL_SOURCE_DIR" || exit 1
trial=$(mktemp -d)
trap 'rm -rf "$trial"' EXIT
number=0
tab=$(printf '\t')

# emitted PROGRAM WHAT: the file with its IR, made once.
emitted() {
  file=$trial/$1.$(printf %s "$2" | tr -c 'a-z0-9' _)
  test -f "$file.ir" && return
  if test "$2" = -; then cp "tests/programs/$1.adl" "$file.adl"
  else printf 'use %s: %s;\nexport asked = %s;\n' "$1" "${2##* }" "$2" >"$file.adl"
  fi
  "$DSLC" --emit=ir-opt -O3 -w -I tests/programs "$file.adl" >"$file.ir" 2>"$file.err" || :
}

grep -v '^#' tests/shapes/programs >"$trial/rows"
while IFS=$tab read -r program what pattern times why; do
  number=$((number + 1))
  emitted "$program" "$what"
  found=$(grep -cE -- "$pattern" "$file.ir")
  case $times in
    '<='*) test "$found" -le "${times#<=}" ;;
    *) test "$found" -eq "$times" ;;
  esac && test -s "$file.ir" && verdict=ok || verdict='not ok'
  echo "$verdict $number - $program, $what: $why ($pattern: $found, wanted: $times)"
  test "$verdict" = ok || sed 's/^/# /' "$file.err"
done <"$trial/rows"

for adl in tests/shapes/*.adl; do
  "$DSLC" --verify --emit=ir-opt -O3 "$adl" >"$trial/ir" 2>"$trial/errors" ||
    sed 's/^/# /;20q' "$trial/errors"
  # FUNCTION OPERATION, a line for each instruction.
  awk '/^func @/ { name = $2; gsub(/^@|[(].*/, "", name); next }
    NF { sub(/^ *(%[^=]*= )?/, ""); print name, $1 }' "$trial/ir" >"$trial/all"
  grep '^//# ' "$adl" >"$trial/wanted"
  while read -r mark function many operation; do
    number=$((number + 1))
    count=$(grep -cxF "$function $operation" "$trial/all")
    case $many in
      has) test "$count" -gt 0 ;;
      lacks) test "$count" -eq 0 ;;
      *) test "$count" -eq "$many" ;;
    esac && grep -q "^$function " "$trial/all" && verdict=ok || verdict='not ok'
    echo "$verdict $number - $adl: $function: $many $operation (there are $count)"
  done <"$trial/wanted"
done
echo "1..$number"
