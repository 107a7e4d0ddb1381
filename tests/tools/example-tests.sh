# Runs every example as its README says, from its run.sh, and prints TAP.  C programs are compiled
# with all warnings as errors and, where the compiler has them, the sanitizers.
cd "$ADL_SOURCE_DIR" || exit 1
number=0
line() { number=$((number + 1)); echo "$1 $number - $2"; }

export CFLAGS="-std=c11 -O1 -g -Wall -Wextra -Werror -I$ADL_SOURCE_DIR/runtime/include"
simulator=$ADL_BUILD_DIR/tests/ptxsim/.libs
export LIBS="-L$ADL_BUILD_DIR/.libs -Wl,-rpath,$ADL_BUILD_DIR/.libs -ladl"
trial=$(mktemp -d)
trap 'rm -rf "$trial"' EXIT
echo 'int main(void) { return 0; }' >"$trial/t.c"
if $CC -fsanitize=address,undefined "$trial/t.c" -o "$trial/t" 2>/dev/null && "$trial/t"; then
  CFLAGS="$CFLAGS -fsanitize=address,undefined -fno-sanitize-recover=all"
else
  echo "# the C compiler has no sanitizers"
fi

# run FILE WHAT: the example, in the environment at hand.
run() {
  if output=$(sh "$1" 2>&1); then line "ok" "$1$2"
  else
    line "not ok" "$1$2 (status $?)"
    printf '%s\n' "$output" | tail -20 | sed 's/^/# /'
  fi
}

for file in examples/*/run.sh examples/answers/*/run.sh; do
  case $file in examples/gpu-*) continue ;; esac
  run "$file"
done
# Programs for GPUs: on the CPU, on the simulator (fewer rounds, which take it long), on a GPU.
for file in examples/gpu-*/run.sh; do
  arguments=
  case $file in
    *-stencil/*) arguments="--n 16 --steps 10 --rounds 2" ;;
    *-gmm/*) arguments="--steps 5" ;;
  esac
  ADL_DEVICE=cpu run "$file" ", the CPU"
  ADL_DEVICE=gpu DRIVER=$simulator ARGUMENTS=$arguments run "$file" ", the simulator"
  if test -e /dev/nvidiactl; then ADL_DEVICE=gpu run "$file" ", a GPU"
  else line "ok" "$file, a GPU # SKIP no GPU"; fi
done
# Compiled programs under valgrind, for a processor that it knows.
for name in logistic nist; do
  if ! command -v valgrind >/dev/null || test -n "$SANITIZER_FLAGS"; then
    line "ok" "$name under valgrind # SKIP no valgrind, or a build with sanitizers"
    continue
  fi
  arguments=
  test $name != logistic || arguments="--X data/x.csv --y data/y.csv --steps 10"
  if "$DSLC" -O2 --cpu=baseline "examples/$name/$name.adl" -o "$trial/$name" &&
    (cd "examples/$name" && valgrind -q --error-exitcode=9 --leak-check=full \
      --errors-for-leak-kinds=definite,indirect "$trial/$name" $arguments) >"$trial/out" 2>&1
  then line "ok" "$name under valgrind"
  else
    line "not ok" "$name under valgrind (status $?)"
    tail -20 "$trial/out" | sed 's/^/# /'
  fi
done
echo "1..$number"
