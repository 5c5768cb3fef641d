#!/bin/bash
# suite: test=root,user soak=root,user timeout=300
# tier: the small disk is a case of root alone
# audit_full.sh - a log that cannot be written: the box waits, says so, and goes on when there is room, with nothing
# missing; with --audit-full stop it ends. By a limit on the size of files, and by root on a small disk as well.
set -u
. "$(dirname "$0")/lib_life.sh"
cc -static -pthread -O1 -D_GNU_SOURCE -o "$work/ws/calls" "$here/audit/calls.c" || exit 1
rec() { /usr/bin/python3 "$here/audit/records.py" "$boxes/$1/audit.jsonl" "${@:2}"; }
supervisor_of() { "$ostiary" ps --json | /usr/bin/python3 -c 'import json, sys; print(*[b["supervisor_pid"] for b in json.load(sys.stdin)["data"] if b["id"] == sys.argv[1]])' "$1"; }
size_of() { stat -c %s "$boxes/$1/audit.jsonl"; }
is_still() { # box: its log does not grow
	local a
	a=$(size_of "$1")
	[ "$a" -gt 40000 ] && sleep 0.5 && [ "$a" = "$(size_of "$1")" ]
}

# full BOX BEFORE GROW...: in BOX, whose log is limited already, make 4000 calls after BEFORE; GROW makes room.
full() {
	local box=$1 before=$2
	shift 2
	: >"$work/e" # words of the box before must not be taken for its own
	"$ostiary" exec "$box" -- ./calls refused 4000 >"$work/o" 2>"$work/e" &
	local calls=$!
	# Still is also who does not get the processor: that it is full is told.
	wait_for 120 grep -q 'cannot be written' "$work/e"
	wait_for 60 is_still "$box"
	check "$box: when the log is full, nothing more is written" $? "$(size_of "$box") bytes"
	kill -0 $calls 2>/dev/null
	check "$box: and the box waits" $? "$(cat "$work/o")"
	holds "$box: the user is told" "$(cat "$work/e")" "*the log of box $box cannot be written (*); the box waits until it can*"
	"$@"
	wait $calls
	same "$box: with room, every call gets its answer" "$(cat "$work/o")" 4000
	holds "$box: and the user is told" "$(cat "$work/e")" '*the log can be written again; the box goes on*'
	all_told() { [ "$(rec "$1" count method=unshare verdict=deny)" = "$2" ]; }
	wait_for 60 all_told "$box" $((before + 4000)) # what the witness told is written a moment later
	same "$box: nothing is missing" "$(rec "$box" count method=unshare verdict=deny)" $((before + 4000))
	same "$box: and the log is whole" "$("$ostiary" audit verify "$box" >/dev/null 2>&1; echo $?)" 0
	"$ostiary" rm -f "$box" >/dev/null 2>&1
}

box=$tag-limit
(ulimit -S -f 300 && "$ostiary" create -q -n "$box") >/dev/null 2>&1
"$ostiary" exec "$box" -- ./calls refused 1 >/dev/null 2>&1
has_log() { rec "$box" count kind=exec 2>/dev/null | grep -q '[1-9]'; }
wait_for 60 has_log
if ! rec "$box" count kind=exec | grep -q '[1-9]'; then
	skip audit_full 'this kernel does not tell of system calls'
	exit 0
fi
audit=$(pgrep -P "$(supervisor_of "$box")" -f '^ostiary-audit' | head -n 1)
full "$box" 1 prlimit --pid "$audit" --fsize=unlimited

box=$tag-stop
(ulimit -S -f 300 && "$ostiary" run -q --keep -n "$box" --audit-full stop -- ./calls refused 4000) >"$work/o" 2>&1
[ "$?" -ne 0 ] && ! grep -qx 4000 "$work/o"
check '--audit-full stop: the box ends' $? "$(cat "$work/o")"
holds '--audit-full stop: and says why' "$(cat "$work/o")" '*the log could not be written any more; the box was stopped*'
out=$("$ostiary" run --audit-full maybe -- true 2>&1)
same 'what there is not' "$?" 64
holds 'is told' "$out" '*--audit-full wants pause or stop, not "maybe"*'

# A small disk: only the log lies on it, because a box whose layers have no room is ended.
if [ "$(id -u)" != 0 ]; then
	skip 'a small disk' 'mounting one needs root'
else
	box=$tag-disk
	"$ostiary" run -q --keep -n "$box" -- true >/dev/null 2>&1
	export box tag work here ostiary boxes bad
	export -f full rec size_of is_still wait_for check ok not_ok same holds
	# shellcheck disable=SC2016 # for the inner shell
	unshare -m bash -c '
mkdir "$work/small" && mount -t tmpfs -o size=96k none "$work/small" || exit 77
cp -p "$boxes/$box/audit.jsonl" "$work/small/" && mount --bind "$work/small/audit.jsonl" "$boxes/$box/audit.jsonl" || exit 77
full "$box" 0 mount -o remount,size=8m "$work/small"
umount "$work/small"
exit $bad'
	code=$?
	[ $code = 77 ] && skip 'a small disk' 'no tmpfs can be mounted'
	[ $code = 0 ] || [ $code = 77 ] || bad=1
	"$ostiary" rm -f "$box" >/dev/null 2>&1
fi
for b in $("$ostiary" ps -a -q); do "$ostiary" rm -f "$b" >/dev/null 2>&1; done
exit $bad
