# Checks who includes whom, by the ranks that HACKING.md lists: a file of compiler/ or lang/ sees its
# own part and parts of lower rank, only codegen sees LLVM, the compiler and the runtime share the
# headers named below, only driver and tools read the environment or end the process.  Prints TAP.
# Tables (lang/*.def) belong to everybody.
cd "$ADL_SOURCE_DIR" || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
number=0

# ranks FILE: "PART RANK" a line, from the sentence "Ranks: base 0, source 1, ast and ir 2, …."
ranks() {
  tr '\n' ' ' <"$1" | sed -n 's/.*Ranks: \([^.]*\)\..*/\1/p' | tr ',' '\n' |
    awk '{ for (i = 1; i < NF; i++) if ($i != "and") print $i, $NF }'
}

# sources ROOT: the files to look at, by name.
sources() {
  find "$1/compiler" "$1/lang" -name '*.[chy]' -o -name '*.re' -o -name '*.def' | sort
}

# faults ROOT RANKS: a line "RULE FILE:LINE: TEXT" for each violation; RULE is the part or a word.
faults() {
  sources "$1" | while read -r path; do
    file=${path#"$1"/}
    case $file in lang/*) part=lang ;; *) part=${file#compiler/}; part=${part%%/*} ;; esac
    awk -v file="$file" -v part="$part" -v ranks="$2" '
      function fault(rule, text) { print rule, file ":" NR ": " text }
      BEGIN {
        n = split(ranks, r, /[ \n]+/)
        for (i = 1; i < n; i += 2) rank[r[i]] = r[i + 1]
        if (!(part in rank)) fault(part, "HACKING.md gives this part no rank")
      }
      # Code without comments and texts: a comment over several lines is tracked in "inside".
      {
        code = $0
        if (inside) { if (!sub(/^.*\*\//, "", code)) next; inside = 0 }
        quoted = code
        gsub(/\/\*[^*]*(\*+[^\/*][^*]*)*\*+\//, " ", code)
        gsub(/"([^"\\]|\\.)*"/, "\"\"", code)
        sub(/\/\/.*/, "", code)
        if (sub(/\/\*.*/, "", code)) inside = 1
      }
      /^[ \t]*#[ \t]*include/ && quoted ~ /include[ \t]*"/ {
        split(quoted, piece, "\"")
        name = piece[2]
        other = name
        sub(/\/.*/, "", other)
        if (name ~ /^lang\/[a-z]*\.def$/) next
        if (other == "runtime") {
          if (name !~ /^runtime\/(layout\.h|calls\.def|include\/adl\/adl\.h)$/)
            fault("runtime", "the compiler does not share " name)
        } else if (!(other in rank)) fault(part, "no part has " name)
        else if (other != part && rank[other] >= rank[part])
          fault(part, name " is of rank " rank[other] ", this file of rank " rank[part])
      }
      /^[ \t]*#[ \t]*include/ { if (quoted ~ /[<"]llvm/ && part != "codegen") fault("llvm", quoted) }
      /^[ \t]*#/ { next }
      code ~ /(^|[^A-Za-z0-9_.>])(getenv|secure_getenv|setenv|unsetenv|putenv|_?exit|_Exit|quick_exit|abort)[ \t]*\(/ ||
      code ~ /(^|[^A-Za-z0-9_.>])environ([^A-Za-z0-9_(]|$)/ {
        # base/fatal.c is how every part gives up on itself.
        if (part != "driver" && part != "tools" && file != "compiler/base/fatal.c")
          fault("process", code)
      }' "$path"
  done
}

# report RULE WHAT FOUND: one line of TAP.
report() {
  number=$((number + 1))
  lines=$(printf '%s\n' "$3" | sed -n "s/^$1 //p")
  if test -z "$lines"; then
    echo "ok $number - $2"
  else
    printf '%s\n' "$lines" | sed 's/^/# /'
    echo "not ok $number - $2"
  fi
}

# The check itself, on files of which each breaks one rule.
mkdir -p "$work/compiler/low" "$work/compiler/high" "$work/compiler/other" "$work/lang"
echo 'Ranks: low 0, lang 1, high and other
2. The rest.' >"$work/HACKING.md"
cat >"$work/compiler/low/a.c" <<'END_OF_FILE'
#include "high/b.h"
#include <llvm-c/Core.h>
int exit_code; /* exit(1) in a comment */ const char *text = "abort()";
void f(void) { x->exit(1); getenv("HOME"); }
END_OF_FILE
cat >"$work/compiler/high/b.c" <<'END_OF_FILE'
#include "high/b.h"
#include "low/a.h"
#include "lang/words.def"
#include "lang/lexer.h"
#include "runtime/layout.h"
#include "runtime/core/text.h"
END_OF_FILE
echo '#include "other/c.h"' >"$work/compiler/high/b.h"
echo '#include "nowhere/c.h"' >"$work/compiler/other/c.h"
number=$((number + 1))
found=$(faults "$work" "$(ranks "$work/HACKING.md")")
expected='high compiler/high/b.h:1: other/c.h is of rank 2, this file of rank 2
llvm compiler/low/a.c:2: #include <llvm-c/Core.h>
low compiler/low/a.c:1: high/b.h is of rank 2, this file of rank 0
other compiler/other/c.h:1: no part has nowhere/c.h
process compiler/low/a.c:4: void f(void) { x->exit(1); getenv(""); }
runtime compiler/high/b.c:6: the compiler does not share runtime/core/text.h'
if test "$(printf '%s\n' "$found" | sort)" = "$expected"; then
  echo "ok $number - every rule is seen to be broken"
else
  printf '%s\n' "$found" | sort | sed 's/^/# /'
  echo "not ok $number - every rule is seen to be broken"
fi

all=$(ranks HACKING.md)
number=$((number + 1))
if test "$(printf '%s\n' "$all" | grep -c .)" -ge 10; then
  echo "ok $number - HACKING.md lists the ranks"
else
  echo "not ok $number - HACKING.md lists the ranks"
fi
found=$(faults . "$all")
for part in lang compiler/*/; do
  part=${part#compiler/}
  part=${part%/}
  report "$part" "$part includes its own part and parts of lower rank" "$found"
done
report llvm "only codegen includes LLVM" "$found"
report runtime "the compiler shares layout.h, calls.def and adl.h with the runtime" "$found"
report process "only driver and tools read the environment or end the process" "$found"
echo "1..$number"
