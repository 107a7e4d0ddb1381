# Sourced by tests of PTX: assembles it where PTXAS names an assembler.
#
# assemble NAME FILE.ptx ARCH...: a message and a false status if it is refused for an architecture, or
# if more bytes are spilled for one of them than tests/ptxsim/spills records for NAME (none if it does
# not name it).  Without an assembler nothing is done.
assemble() {
  test -n "$PTXAS" || return 0
  text=$2
  most=$(awk -v name="$1" '$1 == name { most = $2 } END { print most + 0 }' tests/ptxsim/spills)
  name=$1
  shift 2
  for arch; do
    "$PTXAS" -v -arch=$arch "$text" -o /dev/null 2> "$work/assembled-$arch" || : > "$work/refused-$arch" &
  done
  wait
  for arch; do
    if test -e "$work/refused-$arch"; then
      rm -f "$work"/refused-*
      echo "$PTXAS refuses $name for $arch:"
      grep -v '^ptxas info' "$work/assembled-$arch" | head -5
      return 1
    fi
    spilled=$(grep -o '[0-9]* bytes spill stores' "$work/assembled-$arch" | awk '{ s += $1 } END { print s + 0 }')
    test -z "$RECORD_SPILLS" || echo "$name $spilled $arch" >> "$RECORD_SPILLS"
    test -n "$RECORD_SPILLS" || test "$spilled" -le "$most" && continue
    echo "$name spills $spilled bytes for $arch, more than the $most that are recorded"
    return 1
  done
}
