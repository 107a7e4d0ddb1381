#!/bin/sh
# Compiles and runs the example.  DSLC: the compiler (default: dslc).
set -eu
cd "$(dirname "$0")"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
"${DSLC:-dslc}" -O3 logistic.adl -o "$out/logistic"
"$out/logistic" --X data/x.csv --y data/y.csv
