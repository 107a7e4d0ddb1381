#!/bin/sh
# Runs the example.  DSLC: the compiler (default: dslc).
set -eu
cd "$(dirname "$0")"
"${DSLC:-dslc}" run nist.adl
