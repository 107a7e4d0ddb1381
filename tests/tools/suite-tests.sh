# Compiles the programs of tests/programs, links each with the same in C (bench/suite), compares both
# with the golden values of tests/bench-spec, and prints TAP.  Look-ups have none: there ADL and C,
# which share nothing, have to agree.
cd "$ADL_SOURCE_DIR" || exit 1
number=0
line() { number=$((number + 1)); echo "$1 $number - $2"; }

trial=$(mktemp -d)
trap 'rm -rf "$trial"' EXIT
export ADL_CFLAGS="-I$ADL_SOURCE_DIR/runtime/include"
export ADL_LIBS="-L$ADL_BUILD_DIR/.libs -Wl,-rpath,$ADL_BUILD_DIR/.libs -ladl"
export SUITE_CFLAGS="-O1 -Wall -Wextra -Werror" SUITE_DSLCFLAGS=-O3

# program NAME MODE PROBLEM...: a line for each part of each problem, numbered.
program() {
  name=$1
  shift
  if ! bench/suite/build "$name" "$trial" >"$trial/output" 2>&1; then
    line "not ok" "$name is built"
    sed 's/^/# /' "$trial/output"
    return
  fi
  "$trial/$name" -d "${spec:-tests/bench-spec}" "$@" >"$trial/output" 2>&1
  status=$?
  awk -v n="$number" -v name="$name" '
    /^(not )?ok - / { n++; sub(/ - /, " " n " - " name ", "); print; next }
    { print "# " $0 }' "$trial/output"
  number=$((number + $(grep -cE '^(not )?ok - ' "$trial/output")))
  test $status -le 1 && grep -q ok "$trial/output" || line "not ok" "$name ends well ($status)"
}

program ba check ba_n2_m10_p10 ba1_n49_m7776_p31843
program brusselator check more_brusselator
program burgers check more_burgers
program gmm check gmm_d2_K3_n1 gmm_d2_K5_n1000 gmm_d10_K5_n1000
program hand_complicated check hand_complicated_c2 hand_complicated_c100
program hand_simple check hand_simple_c2 hand_simple_c100
program kmeans check kmeans_k3_d2_n12 kmeans_k5_d3_n500
program kmeans_sparse check kmeans_sparse_k3
program lbm check more_lbm
program logreg check more_logreg
program lookup agree 1000,101,68 300,7,3
program lorenz check more_lorenz
program lstm check lstm_l1_c3_b2 lstm_l2_c1024_b14
program mlp check more_mlp
program nbody check more_nbody
program speelpenning check more_speelpenning

# The loop nest that is timed against its depth.
awk -v DEPTH=3 -f bench/suite/nest.awk >"$trial/nest.adl"
export SUITE_PROGRAMS="$trial"
program nest agree 8,3 1,3

# A golden value that is wrong in the tenth digit is noticed, by both sides.
mkdir "$trial/golden"
ln -s "$ADL_SOURCE_DIR/tests/bench-spec/data" "$trial/data"
cp tests/bench-spec/golden/more_logreg.F "$trial/golden"
awk 'NR == 3 { printf "%.17g\n", $1 * (1 + 3e-10); next } { print }' \
  tests/bench-spec/golden/more_logreg.J >"$trial/golden/more_logreg.J"
"$trial/logreg" -d "$trial" check more_logreg >"$trial/output"
if test $? -eq 1 && test "$(grep -c '^not ok - .* gradient' "$trial/output")" -eq 2 &&
  test "$(grep -c '^ok - .* primal' "$trial/output")" -eq 2
then line "ok" "a wrong golden value is noticed"
else
  line "not ok" "a wrong golden value is noticed"
  sed 's/^/# /' "$trial/output"
fi
echo "1..$number"
