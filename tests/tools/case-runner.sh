#!/bin/sh
# The runner of cases is tested itself, on a stand-in for dslc that says what the case tells it:
# lines behind "//out " and "//err ", and the status behind "//exit ".
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
number=0

cat >"$work/dslc" <<'END'
#!/bin/sh
for file do :; done
case $* in *--diagnostics=json*) json=1 ;; *) json= ;; esac
sed -n 's,^//out *,,p' "$file"
if test -n "$json"; then sed -n 's,^//json ,,p' "$file" >&2; else sed -n 's,^//err ,,p' "$file" >&2; fi
case $* in *-words*) echo "$@" ;; esac
case $* in *-cat*) cat ;; esac
exit $(sed -n 's,^//exit ,,p' "$file")
END
chmod +x "$work/dslc"
DSLC=$work/dslc
export DSLC

# expect WHAT STATUS PATTERN: runs the case in "$work/case.adl"; its status and output must match.
expect() {
  number=$((number + 1))
  output=$("$CASE_RUNNER" --status "$work/case.adl")
  status=$?
  if test $status -eq "$2" && printf '%s\n' "$output" | grep -q -e "$3"; then
    echo "ok $number - $1"
  else
    printf '%s\n' "$output" | sed 's/^/# /'
    echo "not ok $number - $1"
  fi
}

case_of() { cat >"$work/case.adl"; }

case_of <<'END'
//out hello
//# stdout:
// | hello
END
expect 'output as expected' 0 '^ok 1 - case.adl'

case_of <<'END'
//out hello
//# stdout:
// | good bye
END
expect 'other output' 1 '^not ok 1'

case_of <<'END'
//out hello
END
expect 'output that nobody expects' 1 '^not ok 1'

case_of <<'END'
//err oops
END
expect 'errors that nobody expects' 1 '^not ok 1'

case_of <<'END'
//err oops
//exit 1
//# status: 1
//# stderr:
// | oops
END
expect 'status and standard error' 0 '^ok 1'

case_of <<'END'
//exit 1
END
expect 'another status' 1 'status 1 instead of 0'

case_of <<'END'
let x = y; //~ E0201 not defined
//json {"file":"case.adl","line":1,"col":9,"code":"E0201","message":"'y' is \"not\" defined","notes":[]}
//exit 1
END
expect 'the text of a mark does not fit' 1 'not marked: line 1: E0201'

case_of <<'END'
let x = y; //~ E0201 'y'
//~^ W0801 //~^ W0802 second
//json {"file":"case.adl","line":1,"col":9,"code":"E0201","message":"'y' is not defined","notes":[]}
//json {"file":"case.adl","line":1,"col":9,"code":"W0801","message":"x","notes":[{"line":9}]}
//json {"file":"case.adl","line":1,"col":9,"code":"W0802","message":"the second","notes":[]}
//exit 1
END
expect 'marks as reported' 0 '^ok 1'

case_of <<'END'
let x = y; //~ E0201
//exit 1
END
expect 'a mark that is not reported' 1 'marked, but not reported: line 1: E0201'

case_of <<'END'
//# args: run -words a %s %t/b %d
//# stdout:
// | run -words a case.adl
END
expect 'words are replaced' 1 "run -words a case.adl /tmp/adl-case-[^ ]*/b $work"

case_of <<'END'
//# args: -words
//# also: other -words
//# stdout:
// | -words case.adl
END
expect 'further command lines' 1 '^not ok 2 - case.adl (other -words)'

case_of <<'END'
//# args: -cat
//# stdin: some words
//# then: echo more words
//# stdout:
// | some words
// | more words
END
expect 'input, and a second program' 0 '^ok 1'

case_of <<'END'
//# no-such-directive: 3
END
expect 'a directive that does not exist' 1 'no such directive'

ADL_LACKS="llvm ptxas"
export ADL_LACKS
case_of <<'END'
//# needs: ptxas
END
expect 'what is needed and lacking' 0 '^ok 1 - case.adl # SKIP no ptxas'

case_of <<'END'
//out one
//out
//out two
//# stdout:
// | wrong
// a comment
//# status: 0
END
"$CASE_RUNNER" --bless "$work/case.adl" >/dev/null
expect 'rewritten expectations' 0 '^ok 1'
number=$((number + 1))
if test "$(sed -n '4,$p' "$work/case.adl")" = '//# stdout:
// | one
// |
// | two
// a comment
//# status: 0'; then echo "ok $number - nothing else is rewritten"
else echo "not ok $number - nothing else is rewritten"; fi

case_of <<'END'
END
expect 'an empty case' 0 '^ok 1'
rm "$work/case.adl"
expect 'a missing case' 1 '^not ok 1'

echo "1..$number"
