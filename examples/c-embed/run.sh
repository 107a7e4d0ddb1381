#!/bin/sh
# Compiles and runs the example.  DSLC: the compiler (default: dslc); CC, CFLAGS, LIBS: as for any C
# program (default: an installed libadl).
set -eu
cd "$(dirname "$0")"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
"${DSLC:-dslc}" -c rosenbrock.adl -o "$out/rosenbrock.o" -H "$out/rosenbrock.h"
${CC:-cc} ${CFLAGS:--O2} -I"$out" minimise.c "$out/rosenbrock.o" ${LIBS:--ladl} -lm -o "$out/minimise"
"$out/minimise"
