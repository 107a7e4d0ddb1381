# Asks for the derivatives of every case in every form, and prints TAP: the `test` items of
# tests/forms/of-*.adl, of which each names its case (D001 to D331) and asks with forms.adl there;
# the functions are those of tests/grad.  Each file is compiled at -O0, and run by the interpreter
# of the IR behind the passes of -O3.  Each case must have a test, or stand in tests/forms/untested
# with a reason.  Arguments are the files to be run, if not all.  FORMS_LEVELS are the levels at
# which they are compiled; 3 takes minutes: LLVM meets all derivatives of a case in one function.
cd "$ADL_SOURCE_DIR" || exit 1
cases=331
number=0
line() { number=$((number + 1)); echo "$1 $number - $2"; }

# shown: the tests' lines of $output, numbered; what else it says becomes comments.
shown() {
  items=$(printf '%s\n' "$output" | grep -cE '^(not )?ok - ')
  printf '%s\n' "$output" | awk -v n="$number" -v at="$1" '
    /^(not )?ok - / { n++; sub(/ - /, " " n " - " at ": "); print; next }
    { print "# " $0 }'
  number=$((number + items))
  printf '%s\n' "$output" | grep -qE '^[0-9]+ passed, [0-9]+ failed$' && test "$items" -gt 0 ||
    line "not ok" "$1 runs to its end (status $status)"
}

backend=yes
case " $ADL_LACKS " in *" llvm "*) backend= ;; esac
for adl in ${*:-tests/forms/of-*.adl}; do
  output=$("$ORACLE" -O3 -I tests/grad -I tests/forms/quiet "$adl" 2>&1)
  status=$?
  shown "$adl interpreted"
  test -n "$backend" || continue
  for level in ${FORMS_LEVELS:-0}; do
    output=$("$DSLC" test --verify -O$level -w -I tests/grad -I tests/forms/quiet "$adl" 2>&1)
    status=$?
    shown "$adl -O$level"
  done
done

# Each case once in the list, or in the tests; and what the list says has it does.
missing=$(seq 1 $cases | while read -r case; do
  case=$(printf 'D%03d' "$case")
  tested=$(grep -hE "^test \"$case " tests/forms/of-*.adl | grep -c .)
  listed=$(grep -cE "^$case +[^ ]+ +[^ ]" tests/forms/untested)
  test "$((tested > 0))$listed" = 10 || test "$((tested > 0))$listed" = 01 ||
    echo "$case has $tested tests, and stands $listed times in tests/forms/untested"
  place=$(sed -nE "s/^$case +([^ ]+) .*/\1/p" tests/forms/untested)
  test -z "$place" || test "$place" = - || grep -q "$case" "$place" || echo "$case is not in $place"
done)
if test -z "$missing"; then
  line "ok" "every case is tested in all forms, or has a reason"
else
  line "not ok" "every case is tested in all forms, or has a reason"
  printf '%s\n' "$missing" | sed 's/^/# /'
fi
for how in KINK RULED COARSE INFINITE; do
  echo "# $how: less is asked at $(grep -hv '^use ' tests/forms/of-*.adl | grep -cw $how) points"
done
echo "1..$number"
