# Compiles the programs of tests/gpu with --target=ptx and runs each on the simulator's device, on
# the CPU because ADL_DEVICE says so, and without a device; each must print what the same program
# compiled for the CPU prints.  Prints TAP.  Lines of a program that are read here:
#   //# needs: libdevice     skipped where configure found no CUDA Toolkit
#   //# args: WORDS          its command line
#   //# options: WORDS       for the compiler
#   //# launches: N          so many kernels are launched
#   //# stays: N             so many loops and launches stay on the CPU
#   //# products: N          so many go to cuBLAS, and none where that is missing
#   //# kernels: N           so many launches that the program itself says
#   //# looks: N             so many ask whether a check failed
#   //# to device: N         so many arrays are copied there; the same with `to host`
#   //# fails: TEXT          it ends with this message, on the device too
#   //# set: NAME=VALUE      in the environment, on the device
cd "$ADL_SOURCE_DIR" || exit 1
number=0
line() { number=$((number + 1)); echo "$1 $number - $2"; }
work=$(mktemp -d "${TMPDIR:-/tmp}/gpu-tests-XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
simulator=$ADL_BUILD_DIR/tests/ptxsim/.libs

wish() { sed -n "s|^//# $1: *||p" "$program"; }

# same NAME: what was printed, and the status, are the CPU's.
same() {
  if test "$status" = "$wanted" && cmp -s "$work/out" "$work/expected"; then
    line "ok" "$name $1"
  else
    line "not ok" "$name $1 (status $status, not $wanted)"
    diff "$work/out" "$work/expected" | head -10 | sed 's/^/# /'
    sed 's/^/# /' "$work/err" | head -10
  fi
}

# counted WISH TEXT: lines of the simulator with TEXT.
counted() {
  count=$(wish "$1")
  test -n "$count" || return
  found=$(grep -c "^ptxsim: $2" "$work/err")
  if test "$found" = "$count"; then line "ok" "$name $1: $count"
  else line "not ok" "$name $1: $found, not $count"; fi
}

# What the compiler has said of them.
stays() {
  count=$(wish stays)
  test -n "$count" || return
  "$DSLC" -w --target=ptx --remarks=gpu -c "$program" -o "$work/device.o" 2> "$work/err"
  found=$(grep -c 'note.*stays on the CPU' "$work/err")
  if test "$found" = "$count"; then line "ok" "$name: $count stay on the CPU"
  else
    line "not ok" "$name: $found stay on the CPU, not $count"
    grep -A1 'stays on the CPU' "$work/err" | sed 's/^/# /'
  fi
}

run_program() {
  LD_LIBRARY_PATH=$simulator${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} PTXSIM_TRACE=1 \
    env ADL_DEVICE=gpu $(wish set) "$work/device" $args > "$work/out" 2> "$work/err"
  status=$?
  text=$(wish fails)
  if test -n "$text"; then
    if test $status -eq 1 && grep -qF "$text" "$work/err"; then line "ok" "$name $level fails"
    else
      line "not ok" "$name $level fails with $text (status $status)"
      sed 's/^/# /' "$work/err"
    fi
    return
  fi
  same "$level on the device"
}

# Where there is no cuBLAS, or none that starts, kernels make the products.
without_cublas() {
  mkdir -p "$work/alone"
  ln -sf "$simulator/libcuda.so.1" "$work/alone/libcuda.so.1"
  LD_LIBRARY_PATH=$work/alone PTXSIM_TRACE=1 ADL_DEVICE=gpu "$work/device" $args \
    > "$work/out" 2> "$work/err"
  status=$?
  same "without cuBLAS"
  LD_LIBRARY_PATH=$simulator PTXSIM_NO_CUBLAS=1 PTXSIM_TRACE=1 ADL_DEVICE=gpu "$work/device" $args \
    > "$work/out" 2>> "$work/err"
  status=$?
  same "with a cuBLAS that does not start"
  if grep -q 'product of' "$work/err"; then line "not ok" "$name without cuBLAS uses it"; fi
}

program() {
  program=$1 name=${1##*/}
  args=$(wish args)
  if test "$(wish needs)" = libdevice && test -z "$CUDA_DIR"; then
    line "ok" "$name # SKIP no libdevice"
    return
  fi
  for level in -O0 -O2; do
    if ! "$DSLC" $level $(wish options) "$program" -o "$work/host" 2> "$work/err" ||
      ! "$DSLC" $level $(wish options) --verify --target=ptx "$program" -o "$work/device" 2>> "$work/err"; then
      line "not ok" "$name $level compiles"
      sed 's/^/# /' "$work/err"
      continue
    fi
    "$work/host" $args > "$work/expected" 2> "$work/expected-err"
    wanted=$?
    run_program
    test $level = -O0 && continue
    counted launches 'launch of'
    counted products 'product of'
    counted kernels 'launch of adl_kernel_'
    counted looks 'to the host: 4 bytes'
    counted 'to device' 'to the device: [0-9]\{2,\} bytes'
    counted 'to host' 'to the host: [0-9]\{2,\} bytes'
    test -z "$(wish products)" || without_cublas
    test -z "$(wish set)" || continue
    ADL_DEVICE=cpu "$work/device" $args > "$work/out" 2> "$work/err"
    status=$?
    same "with ADL_DEVICE=cpu"
  done
}

for adl in tests/gpu/*.adl; do
  program "$adl"
  stays
done

# Where there is an assembler, it takes all of them for all architectures.
for adl in tests/gpu/*.adl examples/gpu-*/*.adl; do
  if test -z "$PTXAS"; then line "ok" "$adl is assembled # SKIP no ptxas"
  elif "$DSLC" --target=ptx:sm_75,sm_80,sm_90,sm_100 "$adl" -o "$work/device" 2> "$work/err"; then
    line "ok" "$adl is assembled"
  else
    line "not ok" "$adl is assembled"
    sed 's/^/# /' "$work/err" | head -10
  fi
done

# Which device it is, is said once; what is wished for must be there.
program=tests/gpu/maps.adl
"$DSLC" --target=ptx "$program" -o "$work/device" || line "not ok" "maps.adl compiles"
says() {
  if test "$1" = "$2" && test "$(grep -c "$3" "$work/err")" = 1; then line "ok" "$4"
  else
    line "not ok" "$4 (status $1)"
    sed 's/^/# /' "$work/err"
  fi
}
LD_LIBRARY_PATH=$simulator ADL_DEVICE=gpu "$work/device" > "$work/out" 2> "$work/err"
says $? 0 '^adl: running on PTX simulator (sm_90)$' "tells the device once"
ADL_DEVICE=cpu "$work/device" > "$work/out" 2> "$work/err"
says $? 0 '^adl: running on the CPU (ADL_DEVICE=cpu)$' "tells that it is the CPU"
LD_LIBRARY_PATH=$simulator PTXSIM_DEVICES=0 "$work/device" > "$work/out" 2> "$work/err"
says $? 0 '^adl: running on the CPU (cuInit: ' "runs without a device"
LD_LIBRARY_PATH=$simulator PTXSIM_DEVICES=0 ADL_DEVICE=gpu "$work/device" > "$work/out" 2> "$work/err"
says $? 1 'no device to run on: cuInit: ' "fails if a device is wished for and there is none"
LD_LIBRARY_PATH=$simulator PTXSIM_CC=70 ADL_DEVICE=gpu "$work/device" > "$work/out" 2> "$work/err"
says $? 1 'there is no code for PTX simulator (sm_70) (sm_70) in this program' "fails on a device that is too old"
ADL_DEVICE=tpu "$work/device" > "$work/out" 2> "$work/err"
says $? 1 "ADL_DEVICE is 'tpu', but not gpu or cpu" "refuses another ADL_DEVICE"
LD_LIBRARY_PATH=$simulator PTXSIM_MEMORY=4000 ADL_DEVICE=gpu "$work/device" > "$work/out" 2> "$work/err"
says $? 1 'maps.adl:[0-9]*: .*cuMemAlloc of 8000 bytes: out of memory' "tells that the device has no memory left"

# What one derivative cannot be on the device keeps no other from it: with --check, sums in a parallel
# body are added with care, which their transpose would have to run again.
if "$DSLC" --check --verify --target=ptx --remarks=gpu tests/gpu/adjoints.adl -o "$work/device" 2> "$work/err" &&
  test "$(grep -c 'the launched .* can run on the device' "$work/err")" = 9 &&
  grep -q 'the launched `grad of dots` stays on the CPU' "$work/err"; then
  line "ok" "launches what can be made"
else
  line "not ok" "launches what can be made"
  sed 's/^/# /' "$work/err" | head -10
fi
if "$DSLC" -g --verify --target=ptx tests/gpu/gradients.adl -o "$work/device" 2> "$work/err"; then
  line "ok" "compiles with -g"
else
  line "not ok" "compiles with -g"
  sed 's/^/# /' "$work/err" | head -10
fi

# Machine code beside the PTX, where there is an assembler: the simulator is given what fits and, since
# it runs none, then the PTX.
if test -n "$PTXAS"; then
  "$DSLC" --target=ptx:sm_80,sm_90 "$program" -o "$work/device" || line "not ok" "maps.adl compiles"
  LD_LIBRARY_PATH=$simulator ADL_DEVICE=gpu "$work/device" > "$work/out" 2> "$work/err"
  says $? 0 '^ptxsim: cuModuleLoadDataEx: machine code' "loads the machine code of its kind"
  LD_LIBRARY_PATH=$simulator PTXSIM_CC=75 ADL_DEVICE=gpu "$work/device" > "$work/out" 2> "$work/err"
  status=$?
  if test $status = 0 && ! grep -q 'machine code' "$work/err"; then line "ok" "loads PTX on other kinds"
  else line "not ok" "loads PTX on other kinds (status $status)"; fi
else
  line "ok" "machine code # SKIP no ptxas"
fi

# An object for a C program, which may have a context and a stream of its own.
for level in -O0 -O2; do
  if "$DSLC" $level --target=ptx -c tests/gpu/c/model.adl -o "$work/model.o" -H "$work/model.h" &&
    $CC -std=gnu11 -Wall -Wextra -Werror -I"$work" -Iruntime/include tests/gpu/c/model.c \
      "$work/model.o" -o "$work/model" -L"$ADL_BUILD_DIR/.libs" \
      -Wl,-rpath,"$ADL_BUILD_DIR/.libs" -ladl -lm -ldl 2> "$work/err"; then
    for way in primary own cpu; do
      device=gpu launches=yes
      test $way = cpu && device=cpu launches=no
      LD_LIBRARY_PATH=$simulator ADL_DEVICE=$device PTXSIM_TRACE=1 "$work/model" $way \
        > "$work/out" 2> "$work/err"
      status=$?
      seen=no
      grep -q 'launch of' "$work/err" && seen=yes
      # It prints nothing on its own account.
      if test $status = 0 && test $seen = $launches && ! grep -qv '^ptxsim: ' "$work/err"; then
        line "ok" "a C program, $way, $level"
      else
        line "not ok" "a C program, $way, $level (status $status, launches: $seen)"
        sed 's/^/# /' "$work/err" | head -10
      fi
    done
  else
    line "not ok" "model.c compiles"
    sed 's/^/# /' "$work/err"
  fi
done

# The programs of bench/gpu, with few elements: the device gives what the CPU gives, to nine digits.
status=0
ADL_DEVICE=cpu sh bench/gpu/run --check > "$work/expected" 2> "$work/err" || status=$?
if test $status = 0; then
  LD_LIBRARY_PATH=$simulator PTXSIM_TRACE=1 ADL_DEVICE=gpu sh bench/gpu/run --check \
    > "$work/out" 2> "$work/err" || status=$?
fi
launches=$(grep -c '^ptxsim: launch of' "$work/err")
if test $status = 0 && cmp -s "$work/out" "$work/expected" && test "$launches" -ge 60; then
  line "ok" "bench/gpu"
else
  line "not ok" "bench/gpu (status $status, $launches launches)"
  diff "$work/out" "$work/expected" | sed 's/^/# /'
  grep -v '^ptxsim: ' "$work/err" | head -10 | sed 's/^/# /'
fi
echo "1..$number"
