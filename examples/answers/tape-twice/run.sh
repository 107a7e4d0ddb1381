#!/bin/sh
# DSLC: the compiler (default: dslc); CC, CFLAGS, LIBS: as for any C program.
set -eu
cd "$(dirname "$0")"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
"${DSLC:-dslc}" run tape-twice.adl
"${DSLC:-dslc}" -c tape-twice.adl -o "$out/swing.o" -H "$out/swing.h"
${CC:-cc} ${CFLAGS:--O2} -I"$out" threads.c "$out/swing.o" ${LIBS:--ladl} -lm -lpthread -o "$out/threads"
"$out/threads"
