# Tests the derivatives of all that the language and the library have, and prints TAP.
#
# tests/generated/scalars is a table of the functions and operators of floats with points of their
# domains; the files of cases/ beside it have all else, one function for each case.  From each
# generated-tests.awk makes a file in the build folder, whose tests ask at each point:
#
# - has the value the same bits alone, beside jvp and beside grad, and a derivative the second time?
# - does jvp agree with central differences, and jvp of grad with those of grad?
# - do grad and jvp agree, <w, J v> = <J' w, v>, and grad of grad with jvp of grad?
# - do the reverse half of split, twice on one tape, and a batch of two agree with them?
# - does f32 agree with f64?  Is the argument as it was?
#
# Each file is compiled at -O0 and at -O3, and run by the interpreter of the IR, whose numbers must be
# those of -O0 but for rounding.  What a table of the language or the library names and no case tests
# is a failure, unless tests/generated/untested gives a reason.  Arguments are the cases to be run, if
# not all.  What was made is left in the folder generated-tests if a test failed.
cd "$ADL_SOURCE_DIR" || exit 1
work=$ADL_BUILD_DIR/generated-tests
rm -rf "$work"
mkdir -p "$work" || exit 1
number=0
failed=
line() {
  number=$((number + 1))
  echo "$1 $number - $2"
  test "$1" = ok || failed=yes
}

if ! awk -v out="$work" -f tests/tools/generated-tests.awk \
  tests/generated/scalars tests/generated/cases/*.adl >"$work/list"; then
  sed 's/^/# /' "$work/list" | tail -3
  line "not ok" "the tests are generated"
  echo "1..$number"
  exit 0
fi

# covered WHAT: reads names, of which each must be tested, or stand in `untested` with a reason.
covered() {
  missing=$(sort -u | while read -r name; do
    grep -qxF "covers $name" "$work/list" || grep -qE "^$name +[^ ]" tests/generated/untested ||
      echo "$name"
  done)
  if test -z "$missing"; then
    line "ok" "every $1 is tested"
  else
    line "not ok" "every $1 is tested"
    printf '%s\n' "$missing" | sed 's/^/# lacks /'
  fi
}
covered "row of lang/math.def" <<END
$(sed -n 's/^MATH([A-Z0-9_]*, "\([^"]*\)".*/\1/p' lang/math.def)
END
covered "row of lang/operators.def" <<END
$(sed -n 's/^OPERATOR(\([A-Z]*\),.*/\1/p' lang/operators.def)
END
covered "row of lang/builtins.def" <<END
$(sed -n 's/^BUILTIN([A-Z0-9_]*, "\([^"]*\)".*/\1/p' lang/builtins.def | grep -v '^__')
END
covered "function of the library" <<END
$(sed -n 's/^fn \([A-Za-z0-9_]*\).*/\1/p' stdlib/prelude.adl stdlib/linalg.adl | grep -v '^__')
END

# shown: the tests' lines of $output, numbered; what else it says becomes comments.
shown() {
  items=$(printf '%s\n' "$output" | grep -cE '^(not )?ok - ')
  printf '%s\n' "$output" | awk -v n="$number" -v how="$1" '
    /^(not )?ok - / { n++; sub(/ - /, " " n " - "); print $0 " " how; next }
    /^    / { print "# " $0 }'
  number=$((number + items))
  ! printf "%s\n" "$output" | grep -q "^not ok" || failed=yes
  printf '%s\n' "$output" | grep -qE '^[0-9]+ passed, [0-9]+ failed$' && test "$items" -gt 0 ||
    fails "$case $1 runs to its end (status $status)"
}
fails() {
  line "not ok" "$1"
  printf '%s\n' "$output" | tail -12 | sed 's/^/# /' | cut -c1-200
}

# same_numbers: shows where the compiled tests printed something else than the interpreted ones.  Not
# bit by bit: the interpreter takes sums one after the other and calls other mathematical functions.
same_numbers() {
  awk '
    function off(a, b) { a -= b; return a < 0 ? -a : a }
    { gsub(/[][,]/, " ") }
    NR == FNR { line[NR] = $0; lines = NR; next }
    {
      largest = 1
      n = split(line[FNR], word, " ")
      if (n != NF) { print "line " FNR; wrong = 1 }
      for (k = 1; k <= n; k++) if (off(word[k], 0) > largest) largest = off(word[k], 0)
      for (k = 1; k <= n; k++)
        if (word[k] != $k && !(off(word[k], $k) <= largest * (/f32/ ? 1e-5 : 1e-12))) {
          print word[k], $k
          wrong = 1
        }
    }
    END {
      if (NR != 2 * lines) { print "other lines"; wrong = 1 }
      exit wrong
    }' "$work/interpreted" "$work/compiled"
}

backend=yes
case " $ADL_LACKS " in *" llvm "*) backend= ;; esac
for case in ${*:-$(sed -n 's/^case //p' "$work/list")}; do
  file=$work/$case.adl
  output=$("$ORACLE" -I tests/generated "$file" 2>&1)
  status=$?
  shown "interpreted"
  printf '%s\n' "$output" >"$work/interpreted"
  test -n "$backend" || continue
  output=$("$DSLC" test -O0 -w -I tests/generated "$file" 2>&1)
  status=$?
  shown "-O0"
  printf '%s\n' "$output" >"$work/compiled"
  same_numbers >"$work/difference"
  if test $? -eq 0 || test $status -ne 0; then
    line "ok" "$case -O0 has the interpreter's numbers"
  else
    output=$(cat "$work/difference")
    fails "$case -O0 has the interpreter's numbers"
  fi
  output=$("$DSLC" test -O3 -w -I tests/generated "$file" 2>&1)
  status=$?
  shown "-O3"
done
echo "1..$number"
test -n "$failed" || rm -rf "$work"
