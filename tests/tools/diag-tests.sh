# The rendered text of every diagnostic: the cases of tests/diag.
exec "$CASE_RUNNER" "$ADL_SOURCE_DIR/tests/diag"
