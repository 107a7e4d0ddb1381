# Gives dslc bad input and prints TAP: of each the exit status and the text of the message must be
# right, nothing may be ended by a signal, and errors go to standard error alone.
#
# Each file of tests/bad is run with the arguments of its line "// run:", at -O0 and -O2.  It must end
# with the status behind "// status:"; each text behind "// stderr:" must stand in standard error, and
# standard output must be the text behind "// stdout:".  What is too large or odd for a file is made
# below.
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export LC_ALL=C
number=0
bad=$ADL_SOURCE_DIR/tests/bad

# end NAME FAULT: a line for the test NAME, which failed if there is a FAULT.
end() {
  number=$((number + 1))
  if test -z "$2"; then
    echo "ok $number - $1"
  else
    echo "not ok $number - $1"
    echo "# $2"
    sed 's/^/# stdout: /' "$work/stdout" | cut -c1-200 | head -5
    sed 's/^/# stderr: /' "$work/stderr" | cut -c1-200 | head -10
  fi
}

# result STATUS WANTED: what is wrong with the status and standard output (expected in $work/want).
result() {
  if test "$1" -ge 124; then echo "it was ended by a signal or the time limit (status $1)"
  elif test "$1" -ne "$2"; then echo "the status is $1, not $2"
  elif ! cmp -s "$work/want" "$work/stdout"; then echo "standard output is another"
  elif test "$1" -eq 0 && test -s "$work/stderr"; then echo "there are messages"
  fi
}

# lacks TEXT: says so if standard error lacks it.
lacks() { grep -qF -e "$1" "$work/stderr" || echo "standard error lacks: $1"; }

# bad NAME STATUS TEXT COMMAND...: runs it; no standard output is expected.
bad() {
  name=$1 wanted=$2 text=$3
  shift 3
  : >"$work/want"
  (cd "$work" && ulimit -c 0 && exec timeout 60 "$@" >stdout 2>stderr </dev/null)
  fault=$(result $? "$wanted")
  test -n "$fault" || test -z "$text" || fault=$(lacks "$text")
  end "$name" "$fault"
}

# good NAME OUTPUT COMMAND...: runs it; it succeeds with this line of output, without a message.
good() {
  name=$1
  echo "$2" >"$work/want"
  shift 2
  (cd "$work" && exec timeout 60 "$@" >stdout 2>stderr </dev/null)
  end "$name" "$(result $? 0)"
}

# ---- files of tests/bad ----

one_file() {
  name=$(basename "$1")
  wanted=$(sed -n 's,^// status: *,,p' "$1")
  arguments=$(sed -n 's,^// run: *,,p' "$1")
  sed -n 's,^// stdout: *,,p' "$1" >"$work/want"
  sed -n 's,^// stderr: *,,p' "$1" >"$work/texts"
  (cd "$work" && ulimit -c 0 &&
    exec timeout 60 "$DSLC" run "$2" "$1" $arguments >stdout 2>stderr </dev/null)
  fault=$(result $? "$wanted")
  while read -r text; do
    test -n "$fault" || fault=$(lacks "$text")
  done <"$work/texts"
  end "$name $2" "$fault"
}
case " $ADL_LACKS " in
*" llvm "*) echo "# no llvm: tests/bad is left out" ;;
*) for file in "$bad"/*.adl; do
    one_file "$file" -O0
    one_file "$file" -O2
  done ;;
esac

# ---- sources ----

check() { bad "$1" "$2" "$3" "$DSLC" check "$4"; }
cd "$work" || exit 1
printf 'fn f() -> i64 { 1 }\n// \377\376\n' >utf.adl
check "bytes that are not UTF-8" 2 "utf.adl:2:4: error[E0004]" utf.adl
printf 'fn f() -> str { "a\200b" }\n' >utf-string.adl
check "a string that is not UTF-8" 2 "utf-string.adl:1:19: error[E0004]" utf-string.adl
printf 'fn f() { }\n\000' >zero.adl
check "a zero byte" 1 "zero.adl:2:1: error[E0104]" zero.adl
printf 'fn f() -> str { "abc\n}\n' >string.adl
check "an unfinished string" 1 "string.adl:1:17: error[E0107]" string.adl
printf 'fn f() -> str { "abc' >string-end.adl
check "an unfinished string at the end" 1 "string-end.adl:1:17: error[E0107]" string-end.adl
printf 'fn f() -> str { "abc {1 + " }' >braces.adl
check "unfinished braces in a string" 1 "braces.adl:1:27: error[E0109]" braces.adl
printf 'fn f() { }\n/* abc /* */\n' >comment.adl
check "an unfinished comment" 1 "comment.adl:2:1: error[E0110]" comment.adl
printf 'fn f( { }\nfn g() -> i64 { 1 + }\nfn h() -> i64 { y }\n' >several.adl
check "several errors of syntax: the first" 1 "several.adl:1:" several.adl
check "several errors of syntax: the second" 1 "several.adl:2:" several.adl
: >empty.adl
printf '// nothing\n/* else */\n' >comments.adl
printf '\357\273\277fn main() { print(1); }\n' >mark.adl
printf 'fn main() {\r\n    print("a");\r\n}\r\n' >crlf.adl
printf 'fn main() {\r\n    print(y);\r\n}\r\n' >crlf-bad.adl
: >want
for file in empty.adl comments.adl; do
  check "$file is accepted" 0 "" $file
  bad "$file compiles" 0 "" "$DSLC" -c $file -o $file.o
  bad "$file has no main" 1 "main" "$DSLC" run $file
  good "$file has no tests" "0 passed, 0 failed" "$DSLC" test $file
done
good "a byte order mark is skipped" 1 "$DSLC" run mark.adl
good "lines that end in CR LF" a "$DSLC" run crlf.adl
check "a place in lines that end in CR LF" 1 "crlf-bad.adl:2:11: error[E0201]" crlf-bad.adl

# nested NAME BEFORE OPENING MIDDLE CLOSING BEHIND: 100,000 OPENINGs and CLOSINGs.
nested() {
  awk -v b="$2" -v o="$3" -v m="$4" -v c="$5" -v e="$6" 'BEGIN {
    printf "%s", b
    for (i = 0; i < 100000; i++) printf "%s", o
    printf "%s", m
    if (c != "") for (i = 0; i < 100000; i++) printf "%s", c
    print e
  }' >nested.adl
  check "100000 levels of $1" 1 "nested.adl:1:" nested.adl
  fault=$(lacks "error[E0103]: this is nested too deeply")
  end "100000 levels of $1: the message" "$fault"
}
nested "parentheses" "fn f() -> i64 { " "(" 1 ")" " }"
nested "brackets" "fn f() -> i64 { " "[" 1 "]" " }"
nested "parentheses that are not closed" "fn f() -> i64 { " "(" 1 "" ""
nested "unary minus" "fn f(x: i64) -> i64 { " "- " x "" " }"
nested "negation" "fn f(x: bool) -> bool { " "!" x "" " }"
nested "blocks" "fn f() -> i64 { " "{" 1 "}" " }"
nested "if" "fn f(c: bool) { " "if c { " "" "}" " }"
nested "else if" "fn f(c: bool) { " "if c { } else " "{ }" "" " }"
nested "for" "fn f() { " "for i in 0..2 { " "" "}" " }"
nested "tuple types" "fn f(x: " "(" i64 ",)" ") { }"
nested "array types" "fn f(x: " "[2]" i64 "" ") { }"
nested "sums" "fn f(x: f64) -> f64 { x" " + x" "" "" " }"
nested "powers" "fn f(x: f64) -> f64 { x" " ** x" "" "" " }"
nested "calls" "fn f(x: f64) -> f64 { " "sin(" x ")" " }"
nested "grad" "fn f(x: f64) -> f64 { " "grad " "f(x)" "" " }"
nested "lambdas" "fn f() -> i64 { " "|x| " 1 "" " }"
nested "indexing" "fn f(a: [2]i64) -> i64 { " "a[" 0 "]" " }"

awk 'BEGIN { for (i = 0; i < 100000; i++) printf "/*" }' >comments-deep.adl
check "100000 comments in each other" 1 "comments-deep.adl:1:1: error[E0110]" comments-deep.adl
awk 'BEGIN {
  for (i = 0; i < 1000000; i++) print "// a line that the compiler only has to read, many times over"
}' >large.adl
check "60 MB of comments" 0 "" large.adl
echo 'fn f() -> i64 { y }' >>large.adl
check "an error behind 60 MB" 1 "large.adl:1000001:17: error[E0201]" large.adl
awk 'BEGIN { printf "fn f() -> str { \""; for (i = 0; i < 50000000; i++) printf "x"; print "\" }" }' \
  >large.adl
check "a string of 50 MB" 0 "" large.adl
awk 'BEGIN { for (i = 0; i < 100000; i++) print "fn f" i "(x: f64) -> f64 { x * 2.0 + " i ".0 }" }' \
  >large.adl
check "100000 functions" 0 "" large.adl
awk 'BEGIN { for (i = 0; i < 100000; i++) print "fn f" i "() -> i64 { y" i " }" }' >large.adl
check "100000 errors" 1 "large.adl:1:18: error[E0201]" large.adl
rm -f large.adl nested.adl comments-deep.adl

# ---- files of the command line ----

cat >ok.adl <<'END'
export fn f(x: f64) -> f64 { 2.0 * x }
/// Prints what it is given.
fn main(
    /// numbers
    x: [n]f64 = [1.0],
    /// how often
    steps: i64 = 3, rate: f64 = 0.5, k: u8 = 2, quiet: bool = false, name: str = "a") {
    print("{x} {steps} {rate} {k} {quiet} {name}");
}
END
mkdir folder
bad "a folder as the source" 2 "'folder' is a directory" "$DSLC" check folder
bad "a source that is missing" 2 "cannot read 'nothing.adl': No such file or directory" \
  "$DSLC" check nothing.adl
bad "no source" 2 "no input file" "$DSLC"
bad "no source for run" 2 "" "$DSLC" run
bad "a name for the output in no folder" 2 "cannot write 'nowhere/ok.o': No such file" \
  "$DSLC" -c ok.adl -o nowhere/ok.o
bad "a folder as the output" 2 "cannot write 'folder'" "$DSLC" -c ok.adl -o folder
test ! -w /dev/full ||
  bad "a device that is full" 2 "cannot write '/dev/full'" "$DSLC" -c ok.adl -o /dev/full

# kept NAME FILE: FILE still holds "old", and nothing was left beside it.
kept() {
  fault=
  test "$(cat "$2" 2>/dev/null)" = old || fault="$2 was written"
  test -z "$(ls | grep -E '\.(tmp|temp)|~$')" || fault="a temporary file was left"
  end "$1" "$fault"
}
echo old >kept.o
bad "a header that cannot be written" 2 "cannot write 'nowhere/ok.h'" \
  "$DSLC" -c ok.adl -o kept.o -H nowhere/ok.h
kept "the old object stays" kept.o
echo 'export fn f(x: f64) -> f64 { y }' >wrong.adl
bad "a source with an error" 1 "E0201" "$DSLC" -c wrong.adl -o kept.o -H kept.o
kept "the old files stay" kept.o

# ---- options of dslc ----

bad "an unknown option" 2 "unknown option '--bogus'" "$DSLC" --bogus ok.adl
bad "an option with a slip" 2 "did you mean '--shared'?" "$DSLC" --sharde ok.adl
bad "an unknown level" 2 "'-O' does not take '9'" "$DSLC" -O9 ok.adl
bad "an unknown kind of output" 2 "did you mean '--emit=ir'?" "$DSLC" --emit=irr ok.adl
bad "an option without its argument" 2 "'-o' is followed by no argument" "$DSLC" ok.adl -o
bad "a number that is none" 2 "a number is expected" "$DSLC" check --max-errors=x ok.adl
bad "an unknown form of messages" 2 "text|json" "$DSLC" check --diagnostics=xml ok.adl
bad "an unknown group of warnings" 2 "did you mean 'unused'?" "$DSLC" check -Wunusde ok.adl
bad "an option of another command" 2 "'check' does not take '-o'" "$DSLC" check ok.adl -o x
bad "an unknown command" 2 "frobnicate" "$DSLC" frobnicate ok.adl
bad "a response file that is missing" 2 "nothing.txt" "$DSLC" check @nothing.txt

# ---- command lines of programs ----

case " $ADL_LACKS " in *" llvm "*) 
# In a library recursion that is too deep gives an error code, on every thread.
cat >deep.adl <<'END'
export fn deep(x: f64, k: i64) -> f64 { if k == 0 { x } else { sin(deep(x + 1.0, k - 1)) } }
END
cat >calls.c <<'END'
#include "deep.h"
#include <adl/adl.h>
#include <pthread.h>
#include <stdio.h>
static void *calls(void *arg) {
    double y = 0;
    int status = deep(1.0, 1000000000, &y);
    printf("%d %d %s\n", status == ADL_ERROR_DEPTH, deep(0.5, 10, &y), adl_strerror(status));
    return arg;
}
int main(void) {
    pthread_t thread;
    calls(NULL);
    if (pthread_create(&thread, NULL, calls, NULL) != 0) return 1;
    return pthread_join(thread, NULL);
}
END
bad "a library that calls itself" 0 "" "$DSLC" -c deep.adl -H deep.h
bad "its program" 0 "" $CC -I"$ADL_SOURCE_DIR/runtime/include" calls.c deep.o -o calls \
  -L"$ADL_BUILD_DIR/.libs" -Wl,-rpath,"$ADL_BUILD_DIR/.libs" -ladl -lm -lpthread
good "recursion that is too deep, in a library" '1 0 recursion too deep' ./calls
echo "1..$number"; exit 0 ;; esac
main() { name=$1; text=$2; shift 2; bad "$name" 2 "$text" "$DSLC" run -O0 ok.adl "$@"; }
main "an unknown parameter" "unknown option --stepz; did you mean --steps?" --stepz 4
main "a parameter without a value" "--steps needs a value" --steps
main "a word for an integer" '--steps: "x" is no value that i64 can hold' --steps x
main "a fraction for an integer" '--steps: "1.5" is no value that i64 can hold' --steps 1.5
main "an integer out of range" '--steps: "99999999999999999999" is no value' \
  --steps 99999999999999999999
main "too large for u8" '--k: "256" is no value that u8 can hold' --k 256
main "negative for u8" '--k: "-1" is no value that u8 can hold' --k=-1
main "a word for a float" '--rate: "abc" is no value that f64 can hold' --rate abc
main "nothing for a float" '--rate: "" is no value that f64 can hold' --rate ""
main "a value for a flag" '--quiet: "maybe" is no value that bool can hold' --quiet=maybe
main "a word too many" 'unexpected argument "more"' more
main "a short option" "unknown option -x" -x 3
main "no flag to turn off" "unknown option --no-steps" --no-steps
main "a file that is missing" "--x: cannot read nothing.csv: No such file or directory" \
  --x nothing.csv
main "a folder as a file" "folder.npy" --x folder.npy
main "a file of another kind" "the name must end in .npy, .csv, .tsv or .txt" --x a.bin
echo 'fn main(n: i64) { print(n); }' >required.adl
bad "a parameter that must be given" 2 "--n" "$DSLC" run -O0 required.adl

# --help goes to standard output, says everything, and succeeds.
(exec "$DSLC" run -O0 ok.adl --help >stdout 2>stderr)
fault=
test $? -eq 0 || fault="the status is not 0"
test ! -s stderr || fault="there are messages"
for text in "Usage:" "Prints what it is given." --x numbers --steps "how often" "default: 3" --rate \
  --k --quiet --name; do
  grep -qF -e "$text" stdout || fault="the help lacks: $text"
done
end "--help of a program" "$fault"
good "values in both forms" '[1.0] 4 0.25 7 true b=c' \
  "$DSLC" run -O0 ok.adl --steps 4 --rate=0.25 --k=7 --quiet --name b=c

# The same of an executable: its own name, its own statuses.
bad "an executable" 0 "" "$DSLC" -O0 ok.adl -o program
bad "an executable: an unknown parameter" 2 "program: unknown option --stepz" ./program --stepz 4
good "an executable: its values" '[1.0] 4 0.5 2 false a' ./program --steps 4
cat >fails.adl <<'END'
fn main(k: i64 = 7) -> i32 {
    let places = [1.0, 2.0];
    print("{places[k]}");
    5
}
END
bad "an executable that fails" 0 "" "$DSLC" -O0 fails.adl -o program
bad "an executable: an index out of range" 1 "fails.adl:3: index 7 is out of range 0..2 for places" \
  ./program

# ---- files of arrays ----

# npy NAME SHAPE TYPE ORDER BYTES: an .npy file with BYTES zero bytes of data.
npy() {
  header="{'descr': '$3', 'fortran_order': $4, 'shape': ($2), }"
  { printf '\223NUMPY\001\000\166\000'
    printf '%-117s\n' "$header"
    test "$5" -eq 0 || head -c "$5" /dev/zero
  } >"$1"
}
cat >read.adl <<'END'
fn main(x: [n]f64 = [], A: [r, c]f64 = zeros(0, 0), k: [m]i32 = []) {
    print("{n} {r} {c} {m} {x} {A} {k}");
}
END
read_file() { name=$1; text=$2; shift 2; bad "$name" 2 "$text" "$DSLC" run -O0 read.adl "$@"; }
npy good.npy "3," "<f8" False 24
good "an .npy file" '3 0 0 0 [0.0, 0.0, 0.0] [] (shape [0, 0]) []' "$DSLC" run -O0 read.adl --x good.npy
npy short.npy "3," "<f8" False 20
read_file "an .npy file that ends early" "short.npy" --x short.npy
npy none.npy "3," "<f8" False 0
read_file "an .npy file without data" "none.npy" --x none.npy
head -c 40 good.npy >header.npy
read_file "an .npy file that ends in its header" "header.npy" --x header.npy
head -c 5 good.npy >magic.npy
read_file "an .npy file of 5 bytes" "magic.npy" --x magic.npy
: >empty.npy
read_file "an .npy file of 0 bytes" "empty.npy" --x empty.npy
echo "no array at all, but more than ten bytes" >text.npy
read_file "a text that is called .npy" "text.npy" --x text.npy
npy rank.npy "3, 1" "<f8" False 24
read_file "an .npy file of another rank" "rank.npy" --x rank.npy
npy complex.npy "2," "<c16" False 24
printf '\000\000\000\000\000\000\340\077' >>complex.npy
read_file "an .npy file of complex numbers" "complex.npy" --x complex.npy
npy object.npy "3," "|O" False 24
read_file "an .npy file of objects" "object.npy" --x object.npy
npy huge.npy "9223372036854775807, 4" "<f8" False 24
read_file "an .npy file that claims to be huge" "huge.npy" --A huge.npy
npy negative.npy "-3," "<f8" False 24
read_file "an .npy file of a negative size" "negative.npy" --x negative.npy
npy wide.npy "2," "<f8" False 16
good "floats that are integers" '0 0 0 2 [] [] (shape [0, 0]) [0, 0]' "$DSLC" run -O0 read.adl --k wide.npy
printf '\223NUMPY\001\000\166\000%-117s\n' "{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }" \
  >half.npy
printf '\000\000\000\000\000\000\340\077' >>half.npy
read_file "a fraction in an array of integers" "half.npy" --k half.npy

table() { printf '%b' "$2" >"$1"; }
table uneven.csv '1,2,3\n4,5\n6,7,8\n'
read_file "rows of different lengths" "uneven.csv: line 2, column 3" --A uneven.csv
table word.csv '1,2,3\n4,five,6\n'
read_file "a word in a table" "word.csv: line 2, column 2" --A word.csv
table much.csv '1,2\n3,4,5\n'
read_file "a row that is too long" "much.csv: line 2, column 3" --A much.csv
table fraction.csv '1\n2.5\n'
read_file "a fraction for integers" "fraction.csv: line 2, column 1" --k fraction.csv
table range.csv '1\n3000000000\n'
read_file "an integer that does not fit" "range.csv: line 2, column 1" --k range.csv
table matrix.csv '1,2\n3,4\n'
read_file "a matrix for a vector" "matrix.csv" --x matrix.csv
table vector.csv 'a,b\n1,2\n'
good "a header is skipped" '0 1 2 0 [] [[1.0, 2.0]] []' "$DSLC" run -O0 read.adl --A vector.csv
table end.csv '1,2\r\n3,4\r\n'
good "a table with CR LF" '0 2 2 0 [] [[1.0, 2.0],' sh -c "'$DSLC' run -O0 read.adl --A end.csv | head -1"
mkdir directory.csv
read_file "a folder that is called .csv" "directory.csv" --x directory.csv
table words.txt '1 2\n3 x\n'
echo 'fn main() { print(load_text("words.txt")); }' >words.adl
bad "a word in a text of numbers" 1 "words.txt: line 2, column 3" "$DSLC" run -O0 words.adl
echo "1..$number"
