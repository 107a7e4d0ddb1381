# Asks for the derivatives of every case in every form, as forms-tests.sh does, in programs all of whose
# loops run on the simulator's device, and compares each number with the CPU's: bit for bit, but for
# those in tests/forms/rounded, which are near (tests/forms/same.awk).  Arguments are the files to be
# run, if not all.  Prints TAP.
cd "$ADL_SOURCE_DIR" || exit 1
number=0
launches=0
work=$(mktemp -d "${TMPDIR:-/tmp}/gpu-forms-XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
line() { number=$((number + 1)); echo "$1 $number - $2"; }
simulator=$ADL_BUILD_DIR/tests/ptxsim/.libs
list=tests/forms/rounded

run() { "$DSLC" test -O0 -w -I tests/grad -I tests/forms/told "$@" "$adl"; }

for adl in ${*:-tests/forms/of-*.adl}; do
  name=${adl##*/of-} name=${name%.adl}
  run > "$work/expected" 2> "$work/err"
  LD_LIBRARY_PATH=$simulator${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} ADL_DEVICE=gpu PTXSIM_TRACE=1 \
    run --target=ptx --launch-from=1 > "$work/out" 2> "$work/err"
  status=$?
  launches=$((launches + $(grep -c '^ptxsim: launch of' "$work/err")))
  awk -f tests/forms/same.awk "$work/expected" "$work/out" > "$work/compared"
  while IFS='|' read -r case verdict; do
    grep -qF "$name | $case | " $list && verdict=${verdict#near}
    case $verdict in
      '' | exact) line "ok" "$name: $case" ;;
      *) line "not ok" "$name: $case: $verdict" ;;
    esac
  done < "$work/compared"
  awk -F ' [|] ' -v file="$name" '$1 == file { print $2 }' $list | while read -r case; do
    grep -qF "test \"$case\" {" "$adl" || echo "$case"
  done > "$work/unknown"
  if test $status = 0 && grep -q '^[1-9][0-9]* passed, 0 failed$' "$work/out" &&
    ! test -s "$work/unknown"; then
    line "ok" "$name holds on the device"
  else
    line "not ok" "$name holds on the device (status $status)"
    sed "s/^/# $list has, but not the file: /" "$work/unknown"
    grep -A2 '^not ok' "$work/out" | sed 's/^/# /'
    grep -v '^ptxsim: ' "$work/err" | sed 's/^/# /' | head -5
  fi
done
test $# = 0 || launches=$((launches + 50000))
if test $launches -ge 50000; then line "ok" "$launches launches"
else line "not ok" "$launches launches"; fi
echo "1..$number"
