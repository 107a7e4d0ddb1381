# Runs the tests of tests/grad, which are the derivative cases, in kernels on the simulator's
# device: cases.awk makes a kernel of each, what it asserts stops the kernel if it does not hold.
# Those that make no sense there stand in cases-left-out, with the reason.  Prints TAP.
cd "$ADL_SOURCE_DIR" || exit 1
here=tests/ptxsim
number=0
work=$(mktemp -d "${TMPDIR:-/tmp}/ptx-cases-XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
line() { number=$((number + 1)); echo "$1 $number - $2"; }
. tests/tools/assemble.sh

# run FILE.adl NAME: compiles, runs and assembles its kernels; a false status: it does not compile.
run() {
  "$DSLC" --emit=ptx --verify -O1 "$1" -o "$work/cases.ptx" > "$work/err" 2>&1 || return 1
  "$ADL_BUILD_DIR/$here/cases" $((number + 1)) "$work/cases.ptx" \
    > "$work/out" 2> /dev/null
  sed "s/- case_/- $name /" "$work/out"
  number=$((number + $(grep -c '^\(not \)\{0,1\}ok ' "$work/out")))
  assembled "$2" "$work/cases.ptx" sm_75 # one of them: it takes longer than all else here
}

# assembled NAME FILE.ptx ARCH...: the result of assembling it.
assembled() {
  if test -z "$PTXAS"; then unassembled=$((unassembled + 1))
  elif said=$(assemble "$@"); then line "ok" "$1 is assembled"
  else
    line "not ok" "$1 is assembled"
    echo "$said" | sed 's/^/# /'
  fi
}

# What needs libdevice is found by trying one at a time.
one_by_one() {
  total=$(grep -c '^test "' "$file")
  k=0
  while test $((k += 1)) -le "$total"; do
    awk -v leave="$leave" -v only=$k -f $here/cases.awk "$file" > "$work/one.adl"
    grep -q '^export kernel fn case_' "$work/one.adl" || continue
    run "$work/one.adl" "$name-$k" && continue
    if grep -q 'needs libdevice' "$work/err"; then line "ok" "$name $k # SKIP no libdevice"
    else
      line "not ok" "$name $k compiles"
      sed 's/^/# /' "$work/err" | head -5
    fi
  done
}

unassembled=0
for file in tests/grad/*.adl; do
  name=${file##*/} name=${name%.adl}
  leave=$(awk -F ' [|] ' -v file="$name" '$1 == file { printf "|%s", $2 } END { print "|" }' \
    $here/cases-left-out)
  test "$leave" = "|*|" && continue
  # A name that is left out must be there.
  echo "$leave" | tr '|' '\n' | while read -r left; do
    test -z "$left" || grep -qF "test \"$left\" {" "$file" || echo "$left"
  done > "$work/unknown"
  if test -s "$work/unknown"; then
    line "not ok" "$name has what is left out"
    sed 's/^/# /' "$work/unknown"
  fi
  awk -v leave="$leave" -f $here/cases.awk "$file" > "$work/cases.adl"
  grep -q '^export kernel fn case_' "$work/cases.adl" || continue
  run "$work/cases.adl" "$name" || one_by_one
done
for file in kernels adjoints functions; do
  if "$DSLC" --emit=ptx -O2 $here/$file.adl -o "$work/$file.ptx" 2> "$work/err"; then
    assembled "$here/$file" "$work/$file.ptx" sm_75 sm_80 sm_90 sm_100
  elif grep -q 'needs libdevice' "$work/err"; then line "ok" "$file # SKIP no libdevice"
  else line "not ok" "$file compiles"; fi
done
test $unassembled = 0 || line "ok" "$unassembled texts are assembled # SKIP no ptxas"
echo "1..$number"
