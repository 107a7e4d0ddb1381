#!/bin/sh
# Prints "N passed, N failed, N skipped" for the .trs files of a test run that are its arguments.
# A result that is missing (a program that could not be built or run) counts as one failure.
missing=0
for trs do
  shift
  if test -f "$trs"; then set -- "$@" "$trs"; else missing=$((missing + 1)); fi
done
cat /dev/null "$@" | awk -v failed="$missing" '
  /^:test-result: (PASS|XFAIL)/ { passed++ }
  /^:test-result: (FAIL|XPASS|ERROR)/ { failed++ }
  /^:test-result: SKIP/ { skipped++ }
  END { printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped }'
