# Runs the tests of tests/grad, which are the derivative cases, and those of tests/programs, as programs
# whose loops and launches run on the simulator's device; of the latter all that can be.  What they
# assert is the mathematics, as on the CPU.  Prints TAP.
cd "$ADL_SOURCE_DIR" || exit 1
simulator=$ADL_BUILD_DIR/tests/ptxsim/.libs
number=0
work=$(mktemp -d "${TMPDIR:-/tmp}/gpu-grad-XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
line() { number=$((number + 1)); echo "$1 $number - $2"; }

launches=0
for file in tests/grad/*.adl tests/programs/*.adl; do
  name=${file##*/} least=64
  case $file in tests/programs/*) least=1 ;; esac
  grep -q '^test ' "$file" || continue
  case $name in
    # Many instructions for the simulator.
    checkpoints.adl | nesting.adl | precision.adl | resources.adl) continue ;;
  esac
  LD_LIBRARY_PATH=$simulator${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} ADL_DEVICE=gpu PTXSIM_TRACE=1 \
    "$DSLC" test --target=ptx --launch-from=$least "$file" > "$work/out" 2> "$work/err"
  status=$?
  passed=$(sed -n 's/^\([0-9]*\) passed, 0 failed$/\1/p' "$work/out")
  launches=$((launches + $(grep -c '^ptxsim: launch of' "$work/err")))
  if test $status = 0 && test "${passed:-0}" -gt 0; then line "ok" "$name, $passed tests"
  else
    line "not ok" "$name on the device (status $status)"
    grep -A2 '^not ok' "$work/out" | sed 's/^/# /'
    grep -v '^ptxsim: ' "$work/err" | sed 's/^/# /' | head -5
  fi
done
if test $launches -gt 500; then line "ok" "$launches launches"
else line "not ok" "$launches launches"; fi
echo "1..$number"
