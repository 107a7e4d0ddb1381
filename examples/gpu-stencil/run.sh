#!/bin/sh
# Tests, compiles and runs the example.  DSLC: the compiler (default: dslc); ADL_DEVICE: gpu or cpu
# (default: what pays); DRIVER: a folder with a libcuda.so.1 that is to be used instead of the
# system's; ARGUMENTS: of the program.
set -eu
cd "$(dirname "$0")"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
"${DSLC:-dslc}" test stencil.adl
"${DSLC:-dslc}" --target=ptx stencil.adl -o "$out/stencil"
LD_LIBRARY_PATH="${DRIVER:+$DRIVER:}${LD_LIBRARY_PATH:-}" "$out/stencil" ${ARGUMENTS:-}
