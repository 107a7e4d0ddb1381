# Links every form of derivative (tests/c/forms.adl) with a C program that knows the answers, and prints
# TAP: with the address and the thread sanitizer, which see compiled code too (-fsanitize), under
# valgrind, and from C++.  The thread sanitizer must see all synchronisation from inside, and libgomp is
# not built for it: so that program has the runtime's sources compiled into it, with parallel loops on
# POSIX threads (tests/c/parallel.c) in place of OpenMP.  Faults on purpose show that it looks.
cd "$ADL_SOURCE_DIR/tests/c" || exit 1
number=0
line() { number=$((number + 1)); echo "$1 $number - $2"; }
trial=$(mktemp -d)
trap 'rm -rf "$trial"' EXIT

includes="-I$trial -I$ADL_SOURCE_DIR/runtime/include"
warnings="-Wall -Wextra -Wconversion -Wshadow -pedantic -Werror"
c="$CC -std=c11 $warnings -Wstrict-prototypes -g -O1 $includes"
library="-L$ADL_BUILD_DIR/.libs -Wl,-rpath,$ADL_BUILD_DIR/.libs -ladl -lm -lpthread"
OMP_NUM_THREADS=4
export OMP_NUM_THREADS

# tried NAME COMMAND...: whether it works; what it said is shown if not.
tried() {
  name=$1
  shift
  if "$@" >"$trial/out" 2>&1; then line "ok" "$name"
  else
    line "not ok" "$name (status $?)"
    head -60 "$trial/out" | sed 's/^/# /'
    return 1
  fi
}

# program NAME COMMAND...: its own lines of TAP, and that it ends well.
program() {
  name=$1
  shift
  status=0
  "$@" >"$trial/out" 2>"$trial/errors" || status=$?
  while read -r word count dash rest; do
    case $word in
      ok) line "ok" "$name: $rest" ;;
      not) line "not ok" "$name: $rest" ;;
      '#') echo "# $count $dash $rest" ;;
    esac
  done <"$trial/out"
  head -40 "$trial/errors" | sed 's/^/# /'
  if [ $status -eq 0 ] && grep -q '^1\.\.' "$trial/out"; then line "ok" "$name ends well"
  else line "not ok" "$name ends well (status $status)"; fi
}

# fault NAME SIGN COMMAND...: it fails, and says SIGN.
fault() {
  name=$1 sign=$2
  shift 2
  if ! "$@" >"$trial/out" 2>&1 && grep -q "$sign" "$trial/out"; then line "ok" "$name"
  else line "not ok" "$name"; fi
}

skip() { line "ok" "$1 # SKIP $2"; }

# builds SANITIZER: whether the C compiler has it, and its programs run here.
echo 'int main(void) { return 0; }' >"$trial/t.c"
builds() { $CC "-fsanitize=$1" "$trial/t.c" -o "$trial/t" 2>"$trial/out" && "$trial/t" 2>"$trial/out"; }

tried "forms.adl is compiled" "$DSLC" -c -O2 --cpu=baseline forms.adl -o "$trial/forms.o" \
  -H "$trial/forms.h"
tried "other.adl is compiled" "$DSLC" -c -O2 --cpu=baseline other.adl -o "$trial/other.o" \
  -H "$trial/other.h"

for part in structs structs-too views; do
  tried "$part.adl is compiled" "$DSLC" -c -O2 --cpu=baseline $part.adl -o "$trial/$part.o" \
    -H "$trial/$part.h"
done

# The headers: without a warning, alone, twice, beside each other.
printf '#include "%s"\n' forms.h other.h structs.h structs-too.h views.h forms.h >"$trial/both.c"
echo 'extern int nothing; int nothing = 0;' >>"$trial/both.c"
tried "the headers in C11" $c -fsyntax-only "$trial/both.c"
if [ -n "$CXX" ]; then
  cxx="$CXX $SANITIZER_FLAGS -std=c++17 $warnings -Wold-style-cast -g -O1 $includes"
  tried "the headers in C++17" $cxx -fsyntax-only -x c++ "$trial/both.c"
  tried "the C++ program" $cxx forms.cpp "$trial/forms.o" "$trial/other.o" $library -o "$trial/cpp" &&
    program "C++" "$trial/cpp"
else
  skip "the headers in C++17" "no C++ compiler"
fi

tried "the C program" $c forms.c "$trial/forms.o" $library -o "$trial/plain" &&
  program "plain" "$trial/plain"

tried "the C program of structs" $c structs.c "$trial/structs.o" "$trial/structs-too.o" $library \
  -o "$trial/structs" && program "structs" "$trial/structs"

tried "the C program of views" $c views.c "$trial/views.o" $library -o "$trial/views" &&
  program "views" "$trial/views"
tried "views.adl with --check" "$DSLC" -c -O2 --check --cpu=baseline views.adl \
  -o "$trial/views-check.o" -H "$trial/views.h"
tried "the C program of views, with --check" $c views.c "$trial/views-check.o" $library \
  -o "$trial/views" && program "views, --check" "$trial/views" check
tried "the language's side of views" "$DSLC" test views.adl

tried "memory.adl is compiled" "$DSLC" -c -O2 --cpu=baseline memory.adl -o "$trial/memory.o" \
  -H "$trial/memory.h"
tried "the program that counts memory" $c $SANITIZER_FLAGS memory.c "$trial/memory.o" $library \
  -o "$trial/memory" && program "memory" "$trial/memory"

for level in 0 2; do
  if [ -z "$SANITIZER_FLAGS" ] && ! builds address,undefined; then
    skip "address sanitizer, -O$level" "the C compiler has none"
    continue
  fi
  tried "for the address sanitizer, -O$level" "$DSLC" -c -O$level -fsanitize=address forms.adl \
    -o "$trial/address.o" -H "$trial/forms.h"
  tried "with it" $c -fsanitize=address,undefined -fno-sanitize-recover=all forms.c \
    "$trial/address.o" $library -o "$trial/address" &&
    program "address -O$level" "$trial/address"
  for part in structs views; do
    more=
    [ $part = views ] || more="$trial/structs-too.o"
    tried "$part for the address sanitizer, -O$level" "$DSLC" -c -O$level -fsanitize=address \
      $part.adl -o "$trial/$part-address.o" -H "$trial/$part.h"
    tried "with it" $c -fsanitize=address,undefined -fno-sanitize-recover=all $part.c \
      "$trial/$part-address.o" $more $library -o "$trial/$part-address" &&
      program "$part, address -O$level" "$trial/$part-address"
  done
  fault "it sees accesses beyond an array, -O$level" heap-buffer-overflow "$trial/address" overrun
done

runtime=
for source in "$ADL_SOURCE_DIR"/runtime/*/*.c; do
  [ "${source##*/}" = parallel.c ] || runtime="$runtime $source"
done
for level in 0 2; do
  if [ -n "$SANITIZER_FLAGS" ] || ! builds thread; then
    skip "thread sanitizer, -O$level" "the C compiler has none, or a build with others"
    continue
  fi
  tried "for the thread sanitizer, -O$level" "$DSLC" -c -O$level -fsanitize=thread forms.adl \
    -o "$trial/thread.o" -H "$trial/forms.h"
  tried "with it" $CC -std=gnu11 -g -O1 -fsanitize=thread $includes -I"$ADL_SOURCE_DIR/runtime" \
    forms.c parallel.c $runtime "$trial/thread.o" -lm -lpthread -o "$trial/thread" &&
    program "thread -O$level" "$trial/thread"
  fault "it sees races, -O$level" "data race" "$trial/thread" race
done

if command -v valgrind >/dev/null && [ -z "$SANITIZER_FLAGS" ]; then
  program "valgrind" valgrind -q --error-exitcode=9 --leak-check=full \
    --errors-for-leak-kinds=definite,indirect "$trial/plain"
else
  skip "valgrind" "no valgrind, or a build with sanitizers"
fi
echo "1..$number"
