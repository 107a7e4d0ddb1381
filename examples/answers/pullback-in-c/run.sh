#!/bin/sh
# DSLC: the compiler (default: dslc); CC, CFLAGS, LIBS: as for any C program.
set -eu
cd "$(dirname "$0")"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
"${DSLC:-dslc}" -c pullback-in-c.adl -o "$out/layer.o" -H "$out/layer.h"
${CC:-cc} ${CFLAGS:--O2} -I"$out" host.c "$out/layer.o" ${LIBS:--ladl} -lm -o "$out/host"
"$out/host"
