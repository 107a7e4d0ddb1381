# Compiles modules one by one and links their objects, and prints TAP: `deferred` derivatives of functions
# of other modules are left open by -c and made by dslc when it links; the numbers are those of a program
# that was compiled at once.
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
number=0
library="-L$ADL_BUILD_DIR/.libs -Wl,-rpath,$ADL_BUILD_DIR/.libs -ladl -lm"

# end NAME FAULT: a line for the test NAME, which failed if there is a FAULT.
end() {
  number=$((number + 1))
  if test -z "$2"; then echo "ok $number - $1"
  else
    echo "not ok $number - $1"
    echo "# $2"
    sed 's/^/# /' out | head -20
  fi
}

# good NAME COMMAND...: it succeeds.
good() {
  name=$1
  shift
  "$@" >out 2>&1 && fault= || fault="it fails: $*"
  end "$name" "$fault"
}

# fails NAME STATUS TEXT COMMAND...: it ends with STATUS and says TEXT.
fails() {
  name=$1 want=$2 text=$3
  shift 3
  "$@" >out 2>&1
  status=$?
  fault=
  test $status -eq "$want" || fault="the status is $status, not $want"
  grep -qF -e "$text" out || fault="$fault it does not say: $text"
  end "$name" "$fault"
}

# same NAME PROGRAM: what PROGRAM prints is what the program that was compiled at once prints.
same() {
  "$2" >out 2>&1
  cmp -s expected out && fault= || fault="it differs from the program that was compiled at once"
  end "$1" "$fault"
}

# ---- all forms ----
mkdir nn
echo 'fn square(x: f64) -> f64 { x * x }' >nn/tools.adl
cat >nn/layers.adl <<'END_OF_FILE'
use tools: square;
struct Net { W: [n, m]f64, b: [n]f64 }
extern fn j0(x: f64) -> f64;
extern fn j1(x: f64) -> f64;
derivative j0(x: f64) -> f64 { forward(x, dx) { -j1(x) * dx } }
fn loss(net: Net[n, m], x: [m]f64, k: i32) -> f64 {
    f64(k) * sum(tanh(net.W @ x + net.b)) + square(x[0])
}
fn layer(net: Net[n, m], x: [m]f64) -> [n]f64 { tanh(net.W @ x + net.b) }
fn grow(y: mut [n]f64, x: [n]f64) { for i in 0..n { y[i] += x[i] * y[i]; } }
fn three(x: [3]f64) -> [3]f64 { [x[0] * x[1], x[1] * x[2], j0(x[0])] }
fn turn(z: c128) -> c128 { z * z }
fn told(x: f64) -> f64 { print("told {x}"); x * x }
fn at(x: [n]f64, i: i64) -> f64 { x[i] * x[i] }
fn cube(x: f64) -> f64 { square(x) * x }
fn walk(x: f64, n: i64) -> f64 {
    var s = x;
    for i in 0..n { s = s + sin(s) / f64(n); }
    s
}
END_OF_FILE
cat >use.adl <<'END_OF_FILE'
use nn.layers as l;
use ad: value_and_grad;
export cube_grad = deferred grad l.cube;
fn outer(x: f64) -> f64 { x * deferred grad l.cube(x) }
fn both(net: l.Net[n, m], x: [m]f64) -> [n]f64 {
    let (forward, reverse) = deferred split[primal] l.layer;
    let (tape, y) = forward(net, x);
    let a = reverse([1.0, 2.0], tape);
    let b = reverse([0.0, 1.0], tape);
    y + a.net.b + b.net.W @ b.x
}
fn main() {
    let net = l.Net([[1.0, 2.0, 3.0], [0.5, 0.25, 0.125]], [0.1, 0.2]);
    let x = [0.1, 0.2, 0.3];
    let r = deferred grad[primal] l.loss(net, x, 3);
    print("{r.primal} {r.net.W} {r.net.b} {r.x}");
    print(both(net, x));
    var y = [1.0, 2.0];
    var dy = [1.0, 1.0];
    print(deferred grad l.grow(Duplicated(y, dy), Active([3.0, 4.0])));
    print("{y} {dy}");
    print(deferred jvp l.three(x, [1.0, 0.0, 0.0]));
    print(deferred grad[batch(2)] l.three(x, seed: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.5]]));
    print(deferred grad[holomorphic] l.turn(complex(1.0, 2.0)));
    print(deferred grad l.told(3.0));
    print(deferred jvp grad l.cube(2.0, 1.0));
    print([for i in 0..4: deferred grad l.cube(f64(i))]);
    print(grad outer(2.0));
    print(value_and_grad(l.cube, 3.0));
    print(deferred grad[checkpoint(sqrt), wrt(x)] l.walk(0.5, 20));
    print(deferred grad l.at(x, 7));
}
END_OF_FILE
for level in 0 2; do
  good "all at once, -O$level" "$DSLC" -O$level use.adl -o once
  ./once >expected 2>&1
  grep -q "nn/layers.adl:14: index 7 is out of range" expected && fault= || fault="it does not fail"
  end "an error has its place, -O$level" "$fault"
  good "one module, -O$level" "$DSLC" -O$level --verify -c use.adl
  good "the other, -O$level" "$DSLC" -O$level -c nn/layers.adl
  fails "a program without the other, -O$level" 1 adl_deferred__nn_layers_loss "$DSLC" use.o -o none
  test ! -f none && fault= || fault="there is a program"
  end "there is none then, -O$level" "$fault"
  good "a program of both, -O$level" "$DSLC" use.o layers.o -o both
  same "its numbers, -O$level" ./both
  good "in the other order, -O$level" "$DSLC" layers.o use.o -o both
  same "its numbers again, -O$level" ./both
  good "one object of both, -O$level" "$DSLC" -r use.o layers.o -o all.o
  good "linked by the C compiler, -O$level" $CC all.o -o all $library
  same "its numbers, by the C compiler, -O$level" ./all
  good "linked by dslc, -O$level" "$DSLC" all.o -o all
  same "its numbers, by dslc, -O$level" ./all
  good "an object and a source, -O$level" "$DSLC" -O$level use.o nn/layers.adl -o mixed
  same "their numbers, -O$level" ./mixed
done

# An object of objects that still lacks something can be completed.
echo 'fn nothing() { }' >nothing.adl
good "something else" "$DSLC" -c nothing.adl
good "an object that lacks the other" "$DSLC" -r use.o nothing.o -o lacks.o
good "it gets it later" "$DSLC" lacks.o layers.o -o late
same "the numbers then" ./late

# The sources are not needed: objects carry them.
mkdir elsewhere
mv use.adl nn nothing.adl elsewhere
good "without the sources" "$DSLC" use.o layers.o -o moved
same "without the sources: the numbers" ./moved
mv elsewhere/* .

# What the linker leaves in a program.
if command -v readelf >/dev/null 2>&1; then
  readelf -SW both >out
  grep -qF ' .adl ' out && fault="the section is in the program" || fault=
  end "no sources in programs" "$fault"
fi

# ---- a C program ----
cat >model.adl <<'END_OF_FILE'
fn rosen(x: [n]f64) -> f64 {
    sum(for i in 0..n - 1: 100.0 * (x[i + 1] - x[i] ** 2) ** 2 + (1.0 - x[i]) ** 2)
}
END_OF_FILE
cat >slope.adl <<'END_OF_FILE'
use model;
export slope = deferred grad[primal] model.rosen;
fn main() { }
END_OF_FILE
cat >program.c <<'END_OF_FILE'
#include "slope.h"
#include <stdio.h>
int main(void) {
    double x[] = {1.0, 2.0, 4.0}, dx[3], value;
    int status = slope(3, x, &value, dx);
    printf("%d %g %g %g %g\n", status, value, dx[0], dx[1], dx[2]);
    return 0;
}
END_OF_FILE
good "a derivative for C" "$DSLC" -c slope.adl -H slope.h
good "its function" "$DSLC" -c model.adl
good "both in one object" "$DSLC" -r slope.o model.o -o slopes.o
good "the C program" $CC -I"$ADL_SOURCE_DIR/runtime/include" program.c slopes.o -o program $library
./program >out
test "$(cat out)" = "0 101 -400 202 0" && fault= || fault="the numbers are wrong"
end "its value and gradient" "$fault"
fails "the C program without it" 1 adl_deferred__model_rosen \
  $CC -I"$ADL_SOURCE_DIR/runtime/include" program.c slope.o -o program $library

# ---- objects that do not fit ----
sed -i 's/x: \[n\]f64) -> f64/x: [n]f32) -> f32/; s/100.0/100.0f32/; s/1.0 - /1.0f32 - /' model.adl
good "other types" "$DSLC" -c model.adl
fails "other types than asked for" 1 "E0017" "$DSLC" slope.o model.o -o none
echo 'fn other(x: f64) -> f64 { x }' >model.adl
good "without the function" "$DSLC" -c model.adl
fails "the function is not there" 1 "rosen" "$DSLC" slope.o model.o -o none

# A rule that the one who asks has for the function: nothing is left open.
cat >model.adl <<'END_OF_FILE'
fn rosen(x: [n]f64) -> f64 { sum(x) }
END_OF_FILE
cat >ruled.adl <<'END_OF_FILE'
use model;
derivative model.rosen(x: [n]f64) -> f64 { reverse(x, seed) { 5.0 * x * seed } }
fn main() { print(deferred grad model.rosen([1.0, 2.0])); }
END_OF_FILE
good "a rule of the one who asks" "$DSLC" -c ruled.adl
good "it needs nothing else" "$DSLC" ruled.o -o ruled
./ruled >out
test "$(cat out)" = "[5.0, 10.0]" && fault= || fault="the numbers are wrong"
end "the rule counts" "$fault"

echo "1..$number"
