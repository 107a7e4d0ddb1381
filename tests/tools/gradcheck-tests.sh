# Runs `dslc gradcheck` and prints TAP: right derivatives pass, each wrong one fails and is named, whatever
# its function takes; inputs come from the command line or from the seed.
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
number=0

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

# checked NAME STATUS ARGUMENT...: gradcheck ends with STATUS; what it prints is in out.
checked() {
  name=$1 want=$2
  shift 2
  "$DSLC" gradcheck "$@" >out 2>&1
  status=$?
  fault=
  test $status -eq "$want" || fault="the status is $status, not $want"
  end "$name" "$fault"
}

# says NAME TEXT...: each stands at the beginning of a line of out.
says() {
  name=$1
  shift
  fault=
  for text; do
    awk -v text="$text" 'index($0, text) == 1 { found = 1 } END { exit !found }' out ||
      fault="$fault no line begins with: $text;"
  done
  end "$name" "$fault"
}

cat >right.adl <<'END_OF_FILE'
struct Net { W: [n, m]f64, b: [n]f64 }

fn nll(w: Active [d]f64, X: Const [n, d]f64, y: Const [n]f64) -> f64 {
    let z = X @ w;
    sum(log1p(exp(-abs(z))) + max(z, 0.0) - y * z) / f64(n)
}
export nll_grad = grad[primal] nll;
const second = grad grad nll;

fn layer(net: Net[n, m], x: [m]f64, rate: f32) -> [n]f64 {
    f64(rate) * tanh(net.W @ x + net.b)
}
const (forward, reverse) = split layer;

fn mixed(p: (a: f64, b: [n]f64), k: i32) -> (f64, [n]f64) { (p.a * sum(p.b), p.b ** k) }
const tangent = jvp mixed;

fn powers(z: c128, w: [n]c128) -> c128 { sum(for i: w[i] * exp(z)) }
const slope = grad[holomorphic] powers(Active, Const);

fn grow(y: mut [n]f64, x: [2 * n]f64, at: [m]i64) {
    for i in 0..n { y[i] += x[2 * i] * y[i]; }
    for j in 0..m { y[at[j]] *= x[j]; }
}
export grow_grad = grad grow;

fn square<T: float>(x: [n]T) -> [n]T { x * x }
derivative square<T: float>(x: [n]T) -> [n]T {
    reverse(x, seed) { T(2.0) * x * seed }
}
export square32 = jvp square<f32>;

extern fn j0(x: f64) -> f64;
extern fn j1(x: f64) -> f64;
derivative j0(x: f64) -> f64 { forward(x, dx) { -j1(x) * dx } }

fn scaled(net: Net[n, m], z: (c128, f64)) -> (Net[n, m], c128) {
    (Net(W: z.1 * net.W, b: z.1 * net.b), z.0 * z.0)
}
derivative scaled(net: Net[n, m], z: (c128, f64)) -> (Net[n, m], c128) {
    forward(net, dnet, z, dz) {
        (Net(W: dz.1 * net.W + z.1 * dnet.W, b: dz.1 * net.b + z.1 * dnet.b), 2.0 * z.0 * dz.0)
    }
    reverse(net, z, seed) {
        let d = sum(seed.0.W * net.W) + sum(seed.0.b * net.b);
        (Net(W: z.1 * seed.0.W, b: z.1 * seed.0.b), (2.0 * conj(z.0) * seed.1, d))
    }
}

fn twice(f: fn(f64) -> f64, x: f64) -> f64 { f(f(x)) }
derivative twice(f: fn(f64) -> f64, x: f64) -> f64 { forward(f, x, dx) { dx } }
END_OF_FILE
for level in 0 2; do
  checked "right derivatives, -O$level" 0 -O$level --verify right.adl
  says "they are named, -O$level" "ok - nll_grad (grad nll): " "ok - second (grad grad nll): " \
    "ok - forward (split layer): " "ok - reverse (split layer): " "ok - tangent (jvp mixed): " \
    "ok - slope (grad powers): " "ok - grow_grad (grad grow): " "ok - square (derivative): " \
    "ok - square32 (jvp square<f32>): " "ok - j0 (derivative): " "ok - scaled (derivative): " \
    "skipped - twice (derivative): it takes a function" "11 passed, 0 failed, 1 skipped"
done

# What is wrong by a factor of 2, or in one part only.
cat >wrong.adl <<'END_OF_FILE'
fn square(x: [n]f64) -> [n]f64 { x * x }
derivative square(x: [n]f64) -> [n]f64 { forward(x, dx) { 4.0 * x * dx } }
const of_square = grad square;

fn cube(x: f64) -> f64 { x * x * x }
derivative cube(x: f64) -> f64 {
    forward(x, dx) { 3.0 * x * x * dx }
    reverse(x, seed) { 6.0 * x * x * seed }
}

struct Net { W: [n, m]f64, b: [n]f64 }
fn affine(net: Net[n, m], x: [m]f64) -> [n]f64 { net.W @ x + net.b }
derivative affine(net: Net[n, m], x: [m]f64) -> [n]f64 {
    forward(net, dnet, x, dx) { dnet.W @ x + net.W @ dx + 2.0 * dnet.b }
}

fn turn(z: c128) -> c128 { z * z }
derivative turn(z: c128) -> c128 { reverse(z, seed) { 2.0 * z * seed } }

fn parts(p: (a: f64, b: [n]f64)) -> [n]f64 { p.a * p.b }
derivative parts(p: (a: f64, b: [n]f64)) -> [n]f64 {
    reverse(p, seed) { (2.0 * sum(seed * p.b), p.a * seed) }
}

extern fn j0(x: f64) -> f64;
extern fn j1(x: f64) -> f64;
derivative j0(x: f64) -> f64 { forward(x, dx) { -2.0 * j1(x) * dx } }

fn fill(y: mut [n]f64, x: [n]f64) { for i in 0..n { y[i] = x[i]; } }
derivative fill(y: Duplicated mut [n]f64, x: [n]f64) {
    reverse(y, dy, x) { dy }
}

fn good(x: f64) -> f64 { x * x }
derivative good(x: f64) -> f64 { forward(x, dx) { 2.0 * x * dx } }
END_OF_FILE
for level in 0 2; do
  checked "wrong derivatives, -O$level" 1 -O$level wrong.adl
  says "each is named, -O$level" "not ok - square (derivative): 5.0e-01" \
    "not ok - of_square (grad square): " "    along x the derivative is" \
    "not ok - cube (derivative): " "    along x the forward and the reverse derivative do not agree" \
    "not ok - affine (derivative): " "    along net.b the derivative is" \
    "not ok - turn (derivative): " "    along im(z) the derivative is" \
    "not ok - parts (derivative): " "    along p.a the derivative is" \
    "not ok - j0 (derivative): " "not ok - fill (derivative): " "ok - good (derivative): " \
    "1 passed, 8 failed"
done

# Inputs.
cat >given.adl <<'END_OF_FILE'
fn root(x: [n]f64, k: i64) -> f64 {
    assert n == 2 && k == 7, "{n} {k}";
    sum(sqrt(x))
}
const root_grad = grad root;
fn sized(k: i64, A: [k, k]f64) -> f64 { sum(A * A) }
const sized_grad = grad sized;
END_OF_FILE
printf '4\n9\n' >x.csv
checked "inputs from the command line" 0 given.adl --x x.csv --k 7
says "inputs from the command line: both" "ok - root_grad" "ok - sized_grad"
checked "a function that fails" 1 given.adl
says "its error" "not ok - root_grad (grad root): it fails" "    given.adl:2: assertion failed: 3 " \
  "ok - sized_grad" "1 passed, 1 failed"
checked "an input that does not fit" 1 given.adl --A x.csv --k 7 --x x.csv
checked "an input that no function has" 2 given.adl --y 3
checked "a file that is not there" 2 given.adl --x none.csv
checked "a seed" 0 --seed 3 right.adl
cp out one
checked "another seed" 0 --seed 4 right.adl
cmp -s one out && fault="the numbers are the same" || fault=
end "other numbers" "$fault"
checked "the same seed" 0 --seed 3 right.adl
cmp -s one out && fault= || fault="the numbers are not the same"
end "the same numbers" "$fault"
# Functions of shared libraries.
echo 'double twice(double x) { return 2 * x; }' >twice.c
cat >twice.adl <<'END_OF_FILE'
extern fn twice(x: f64) -> f64;
derivative twice(x: f64) -> f64 { forward(x, dx) { 2.0 * dx } }
fn main() { print(twice(4.0)); }
END_OF_FILE
$CC -shared -fPIC -o libtwice.so twice.c && $CC -c twice.c
checked "a library by name" 0 -L. -ltwice twice.adl
checked "a library as a file" 0 libtwice.so twice.adl
checked "no library" 2 twice.o twice.adl
checked "no source" 2 libtwice.so
"$DSLC" run libtwice.so twice.adl >out 2>&1
test "$(cat out)" = 8.0 && fault= || fault="it does not print 8.0"
end "run with a library" "$fault"

echo 'fn main() { }' >nothing.adl
checked "no derivative" 0 nothing.adl
says "no derivative: totals" "0 passed, 0 failed"

echo "1..$number"
