#!/bin/sh
# Compiles and runs the example.  DSLC: the compiler (default: dslc); CC, CFLAGS: as for any C
# program; DRIVER: a folder with a libcuda.so.1 that is to be used instead of the system's.
set -eu
cd "$(dirname "$0")"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
"${DSLC:-dslc}" --emit=ptx axpy.adl -o "$out/axpy.ptx"
${CC:-cc} ${CFLAGS:--O2} host.c -ldl -lm -o "$out/host"
LD_LIBRARY_PATH="${DRIVER:+$DRIVER:}${LD_LIBRARY_PATH:-}" "$out/host" "$out/axpy.ptx"
