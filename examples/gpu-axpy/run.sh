#!/bin/sh
# Tests, compiles and runs the example.  DSLC: the compiler (default: dslc); CC, CFLAGS: as for any C
# program; ADL_DEVICE: gpu or cpu (default: a GPU if there is one); DRIVER: a folder with a
# libcuda.so.1 that is to be used instead of the system's.
set -eu
cd "$(dirname "$0")"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
"${DSLC:-dslc}" test axpy.adl
"${DSLC:-dslc}" --target=ptx axpy.adl -o "$out/axpy"
"${DSLC:-dslc}" --emit=ptx axpy.adl -o "$out/axpy.ptx"
${CC:-cc} ${CFLAGS:--O2} host.c -ldl -lm -o "$out/host"
export LD_LIBRARY_PATH="${DRIVER:+$DRIVER:}${LD_LIBRARY_PATH:-}"
"$out/axpy"
# The C program has no CPU's version.
test "${ADL_DEVICE:-gpu}" = cpu || "$out/host" "$out/axpy.ptx"
