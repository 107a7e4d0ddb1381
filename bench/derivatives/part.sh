# The part `derivatives` of bench/run, which reads this file: forms of derivatives against each other.
if "$DSLC" -c -O3 --cpu=native "$here/derivatives/forms.adl" -o "$work/forms.o" \
  -H "$work/forms.h" 2>"$work/errors" &&
  $cc $strict $cflags -I"$work" "$here/derivatives/derivatives.c" "$work/forms.o" $libs $mvec -lm \
    -o "$work/derivatives" 2>>"$work/errors"; then
  arguments="-t 2 -r 21"
  [ -z "$quick" ] || arguments="-t 0.3 -r 9"
  "$work/derivatives" $arguments >"$work/derivatives.tsv" ||
    echo "bench/run: the derivatives stopped" >&2
  say "Derivatives: microseconds of a call; ratio: the first side to the second, median and
quartiles; kib: the most that the first side had from the allocator at once"
  awk -f "$here/table.awk" "$work/derivatives.tsv"
else
  echo "bench/run: the derivatives are not compiled:" >&2
  sed 3q "$work/errors" >&2
fi
