# Runs the `test` items of ADL files, each file at -O0 for any processor and at -O3 for this one, and
# prints TAP: a line for each item and level, with the IR verified after every pass.  Also the files of tests/grad/errors, of which
# each must be refused with the code that its first line names, and of tests/grad/failures, of which
# each test must fail at run time with the text that it names.
cd "$ADL_SOURCE_DIR" || exit 1
number=0
line() { number=$((number + 1)); echo "$1 $number - $2"; }

# file FILE: its items; a file that does not compile is one failure.
file() {
  for options in -O0 '-O3 --cpu=native'; do
    level=${options%% *}
    output=$("$DSLC" test --verify $options "$1" 2>&1)
    status=$?
    # The items' lines, numbered, with the file's name; what stands below them becomes comments.
    items=$(printf '%s\n' "$output" | grep -cE '^(not )?ok - ')
    if test "$items" -eq 0; then
      line "not ok" "$1 $level compiles (status $status)"
      printf '%s\n' "$output" | sed 's/^/# /'
      continue
    fi
    printf '%s\n' "$output" | awk -v n="$number" -v at="$1 $level" '
      /^(not )?ok - / { n++; sub(/ - /, " " n " - " at ": "); print; next }
      { print "# " $0 }'
    number=$((number + items))
    # A runner that dies on the way has fewer lines than items: its last line is missing.
    printf '%s\n' "$output" | grep -qE '^[0-9]+ passed, [0-9]+ failed$' ||
      line "not ok" "$1 $level runs to its end (status $status)"
  done
}

refused() {
  code=$(sed -n '1s/.*expect: *\([EW][0-9]*\).*/\1/p' "$1")
  output=$("$DSLC" check "$1" 2>&1)
  if test $? -eq 1 && printf '%s\n' "$output" | grep -q "error\[$code\]"; then
    line "ok" "$1 is refused with $code"
  else
    line "not ok" "$1 is refused with $code"
    printf '%s\n' "$output" | sed 's/^/# /'
  fi
}

fails() {
  text=$(sed -n '1s/.*with "\(.*\)".*/\1/p' "$1")
  for options in -O0 '-O3 --cpu=native'; do
    level=${options%% *}
    output=$("$DSLC" test --verify $options "$1" 2>&1)
    status=$?
    if test $status -eq 1 && ! printf '%s\n' "$output" | grep -q '^ok' &&
      test "$(printf '%s\n' "$output" | grep -cF "$text")" = \
        "$(printf '%s\n' "$output" | grep -c '^not ok')"; then
      line "ok" "$1 $level: every test fails with $text"
    else
      line "not ok" "$1 $level: every test fails with $text (status $status)"
      printf '%s\n' "$output" | sed 's/^/# /'
    fi
  done
}

for adl in tests/grad/*.adl tests/programs/*.adl examples/*/*.adl examples/answers/*/*.adl stdlib/*.adl; do
  grep -q '^test ' "$adl" && file "$adl"
done
for adl in tests/grad/errors/*.adl; do
  test ! -f "$adl" || refused "$adl"
done
for adl in tests/grad/failures/*.adl; do
  test ! -f "$adl" || fails "$adl"
done
echo "1..$number"
