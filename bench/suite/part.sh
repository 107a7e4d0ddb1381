# The suite's part of bench/run, which reads this file: programs beside C with gradients by hand.

SUITE_CFLAGS=$strict SUITE_FAST=${fast#"$strict"} SUITE_LIBS=$mvec CC=$cc
ADL_CFLAGS=$cflags ADL_LIBS=$libs
export DSLC CC SUITE_CFLAGS SUITE_FAST SUITE_LIBS ADL_CFLAGS ADL_LIBS
suite=$here/suite data=$here/../tests/bench-spec programs=$here/../tests/programs
levels="small middle large huge" arguments="-t 2 -r 21 -p"
if [ -n "$quick" ]; then levels="small middle" arguments="-t 0.3 -r 9"; fi

# Whether a program is wanted.
chosen() {
  case " ${BENCH_PROGRAMS:-$1} " in *" $1 "*) ;; *) return 1 ;; esac
}

# sizes_of NAME [growth]: the sizes of a program at these levels.
sizes_of() {
  awk -F '\t' -v name="$1" -v levels=" $levels " \
    '$1 == name && index(levels, " " $2 " ") { print $3 }' "$suite/${2:-cases}.tsv"
}

: >"$work/suite.rows"
printf 'program\tmedian_ms\tmin_ms\tmax_ms\tcpu_ms\truns\tmib\taim_ms\tverdict\n' \
  >"$work/suite_compile.tsv"
for name in $(sed 1d "$suite/cases.tsv" | cut -f 1 | uniq); do
  chosen "$name" || continue
  if "$suite/build" "$name" "$work" 2>"$work/errors"; then
    blas=$("$work/$name" blas)
    "$work/$name" -d "$data" $arguments time $(sizes_of "$name") >>"$work/suite.rows" ||
      echo "bench/run: $name stopped" >&2
  else
    echo "bench/run: $name is not built:" >&2
    sed 3q "$work/errors" >&2
  fi
  [ "$name" != hand_simple ] || continue
  runs=9 startup "$name" 200 "$DSLC" -c -O3 --cpu=native "$programs/${name%_complicated}.adl" \
    -o "$work/timed.o" >>"$work/suite_compile.tsv"
done
awk -f "$suite/judge.awk" "$suite/aims.tsv" "$work/suite.rows" >"$work/suite.tsv"

say "Suite: microseconds of a call; ratio: ADL to C ($strict), median and
quartiles; to_fast: ADL to C with $fast;
to_primal: derivative to primal, beside C's, the aim for it and Enzyme's published;
two: one thread to two; mem: ADL to C"
awk -f "$here/table.awk" "$work/suite.tsv"
say "Misses, the worst first; geometric means of ratio"
awk -F '\t' 'NR > 1 && $NF != "met" { print $8 / $11 "\t" $0 }' "$work/suite.tsv" |
  sort -rn | cut -f 2- | awk -F '\t' -v OFS='\t' '
    BEGIN { print "program", "part", "sizes", "ratio", "aim", "to_primal", "c_to_primal" }
    { print $1, $2, $3, $8, $11, $13, $14 }' | awk -f "$here/table.awk"
awk -F '\t' 'NR > 1 { n[$2]++; log_sum[$2] += log($8) }
  END { for (part in n) printf "%s: %.3f (%d)\n", part, exp(log_sum[part] / n[part]), n[part] }' \
  "$work/suite.tsv" | sort
say "Time of dslc -c -O3 --cpu=native for each program as it stands"
awk -f "$here/table.awk" "$work/suite_compile.tsv"

# Time against size: the programs of growth.tsv.
: >"$work/growth.rows"
for name in $(sed 1d "$suite/growth.tsv" | cut -f 1 | uniq); do
  [ -x "$work/$name" ] || continue
  "$work/$name" -t 0.3 -r 7 time $(sizes_of "$name" growth) >>"$work/growth.rows" ||
    echo "bench/run: $name stopped" >&2
done
if [ -s "$work/growth.rows" ]; then
  awk -f "$suite/growth.awk" "$suite/growth.tsv" "$work/growth.rows" >"$work/suite_growth.tsv"
  say "Growth: nanoseconds for a unit of work; decade: time to that of a tenth of the work"
  awk -f "$here/table.awk" "$work/suite_growth.tsv"
fi

# Time against nesting depth: 4096 trips in all.
: >"$work/nest.rows"
for size in 4096,1 64,2 16,3 8,4 4,6 2,12; do
  chosen nest || break
  nest=$work/nest-$size
  mkdir -p "$nest"
  awk -v DEPTH="${size#*,}" -f "$suite/nest.awk" >"$nest/nest.adl"
  SUITE_PROGRAMS=$nest "$suite/build" nest "$nest" 2>"$work/errors" || sed 3q "$work/errors" >&2
  compile=$("$launch" -n 3 "$DSLC" -c -O3 --cpu=native "$nest/nest_gradient.adl" -I "$nest" \
    -o "$nest/timed.o" | cut -f 4) || compile=-
  "$nest/nest" -t 0.3 -r 7 time $size | sed "s/\$/	${compile:--}/" >>"$work/nest.rows" ||
    echo "bench/run: nest $size stopped" >&2
done
if [ -s "$work/nest.rows" ]; then
  awk -f "$suite/nesting.awk" "$work/nest.rows" >"$work/suite_nesting.tsv"
  say "Nesting: 4096 trips of a loop body in loops of that depth; compile: processor's milliseconds"
  awk -f "$here/table.awk" "$work/suite_nesting.tsv"
fi

# Peers, where they are installed.
python=$(command -v "${BENCH_PYTHON:-python3}") || python=
for peer in jax torch; do
  if [ -z "$python" ] || ! "$python" -c "import $peer" 2>"$work/errors"; then
    echo "bench/run: no $peer for ${python:-python3}: skipped (see BENCH_PYTHON)" >&2
    continue
  fi
  for name in $(sed 1d "$work/suite.tsv" | cut -f 1 | uniq); do
    status=0
    timeout "${BENCH_PEER_LIMIT:-300}" "$python" "$suite/peers.py" $peer "$data" "$name" \
      $(sizes_of "$name") >>"$work/peers.rows" 2>"$work/errors" || status=$?
    case $status in
      0 | 4) ;; # 4: not written for peers
      124) echo "bench/run: $peer is too slow for all sizes of $name" >&2 ;;
      *) sed "s/^/bench\/run: $peer, $name: /" "$work/errors" | tail -n 1 >&2 ;;
    esac
  done
done
if [ -s "$work/peers.rows" ]; then
  awk -f "$suite/peers.awk" "$work/suite.tsv" "$work/peers.rows" >"$work/suite_peers.tsv"
  say "Peers: microseconds of a call, on one thread; ratio: ADL to the peer (aim: 1)"
  awk -f "$here/table.awk" "$work/suite_peers.tsv"
fi
