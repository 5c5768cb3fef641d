#!/bin/bash
# suite: test=user soak=root,user timeout=240
# tier: what is verified is a file of the caller, whoever it is
# audit_verify.sh - `ostiary audit verify` finds every change of a log: an edit, a gap, an added line, a cut in the
# middle of a line and at the end, a log or a head that is gone; and finds nothing where nothing was changed.
set -u
. "$(dirname "$0")/lib_life.sh"
box=$tag-v
"$ostiary" run -q --keep -n "$box" -- sh -c 'for i in 1 2 3 4 5; do ls / >/dev/null; done' >/dev/null 2>&1
log=$boxes/$box/audit.jsonl head=$boxes/$box/audit.head
if ! grep -q '"kind":"exec"' "$log" 2>/dev/null; then
	skip audit_verify 'this kernel does not tell of system calls'
	exit 0
fi
n=$(wc -l <"$log")
cp -p "$log" "$work/log"
cp -p "$head" "$work/head"
restore() {
	cp -p "$work/log" "$log"
	cp -p "$work/head" "$head"
}
found() { # name, pattern of what is to be said
	out=$("$ostiary" audit verify "$box" 2>&1)
	same "$1: found" "$?" 1
	holds "$1: and said where" "$out" "$2"
	[ "$("$ostiary" audit verify --json "$box" 2>/dev/null | /usr/bin/python3 -c 'import json, sys; print(json.load(sys.stdin)["data"]["whole"])')" = False ]
	check "$1: also in JSON" $? "$("$ostiary" audit verify --json "$box" 2>&1)"
	restore
	out=$("$ostiary" audit verify "$box" 2>&1)
	same "$1: and nothing once it is as it was" "$?:${out%% *}" "0:$n"
}

out=$("$ostiary" audit verify "$box")
same 'a log that nobody touched' "$?:${out%% *}" "0:$n"
same 'its last hash is that of its last line' "${out##*last: }" "$(tail -n 1 "$log" | tr -d '\n' | sha256sum | cut -d ' ' -f 1)"
same 'only its owner reads log and head' "$(stat -c %a "$log" "$head" | tr '\n' ' ')" '600 600 '

sed -i '4s/"kind":"./"kind":"-/' "$log"
found 'an edit' 'broken: line 5 does not continue the one before it*'
sed -i '4d' "$log"
found 'a gap' 'broken: line 4 says it is number 5*'
sed -i '4{p;p}' "$log"
found 'a line twice' 'broken: line 5 says it is number 4*'
sed -i '$d' "$log"
found 'the last line cut off' "broken: the log ends at line $((n - 1)) and had $n: the last 1 were cut off*"
head -n 3 "$work/log" >"$log"
found 'all but three lines cut off' "broken: the log ends at line 3 and had $n: the last $((n - 3)) were cut off*"
truncate -s -10 "$log"
found 'a cut in the last line' "broken: the log ends in the middle of line $n*"
sed -i '$s/"kind":"box"/"kind":"bot"/' "$log"
found 'an edit of the very last line' "broken: line $n is not the one that its head*"
printf '{"seq":%d,"prev":"%s","time":"2026-01-01T00:00:00.000000Z","box":"x","kind":"box"}\n' "$((n + 1))" "$(tail -n 1 "$log" | tr -d '\n' | sha256sum | cut -d ' ' -f 1)" >>"$log"
found 'a line added at the end' 'broken: 1 line stands after the end that its head tells of*'
rm "$log"
found 'a log that is gone' "broken: the log was removed; it had $n lines*"
rm "$head"
found 'a head that is gone' 'broken: the log*s head*is missing*'
echo nonsense >"$head"
found 'a head that was changed' 'broken: the log*s head*was changed*'
: >"$log"
found 'an emptied log' "broken: the log ends at line 0 and had $n*"

# What happened while nobody wrote stands in the log when it goes on.
sed -i '$d' "$log"
"$ostiary" exec "$box" -- true >/dev/null 2>&1
"$ostiary" stop "$box" >/dev/null 2>&1
holds 'a box that is woken says that its log was cut' "$(cat "$log")" '*the log had lost its last lines when the box was started*'
out=$("$ostiary" audit verify nobody-here 2>&1)
same 'a box that there is not' "$?" 121
out=$("$ostiary" audit burn "$box" 2>&1)
same 'nothing else can be done to a log' "$?" 64
"$ostiary" rm -f "$box" >/dev/null 2>&1
exit $bad
