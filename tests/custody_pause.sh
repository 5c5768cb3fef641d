#!/bin/bash
# suite: test=root,user soak=root,user timeout=300
# tier: who may attach to a process, and what holds it, differs between root and an ordinary user
# custody_pause.sh - a box that is paused stands still, whatever its processes have arranged, or is ended; and a box of
# honest programs goes on with resume as if nothing had been. The programs are in tests/custody/pause.c.
# shellcheck disable=SC2154
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
. tests/lib_door.sh
door_needs custody_pause cc
cc -O1 -D_GNU_SOURCE -pthread -o "$work/ws/pause" tests/custody/pause.c
check "the programs that do not want to stand still are built" $?
export ONE=fake-value-of-the-first-0001

# paused HOW: a box in which this runs loses the process that holds its keys, and is paused.
paused() {
	local supervisor p
	(cd "$work/ws" && timeout -k 2 400 "$ostiary" run --keep -n "$1" --limit pids=2500 --on-door-fault pause \
		--secret "ONE from env at *.one.test as bearer" -- ./pause "$1" </dev/null >"$work/$1.out" 2>"$work/$1.err") &
	pausing=$!
	within 90 test -s "$work/$1.out"
	check "$1: it works" $? "$(cat "$work/$1.err")"
	supervisor=$("$ostiary" ps --json | grep -o '"supervisor_pid": *[0-9]*' | grep -o '[0-9]*$')
	for p in $(cat "/proc/$supervisor/task/$supervisor/children"); do
		! grep -qs keeper "/proc/$p/comm" || kill -9 "$p"
	done
	within 90 grep -qs 'is paused' "$work/$1.err"
	check "$1: the box is paused" $? "$(tail -n 3 "$work/$1.err")"
}
# stands_still HOW [WORDS]: a command beside runs, and finds everybody else at rest.
stands_still() {
	local got
	got=$(in_box "$1" ./pause look 2>&1)
	same "$1: nobody is awake${2:-}" "$got" "all stand still"
}
# goes_on HOW: resume lets all of it go on to its end.
goes_on() {
	in_box "$1" touch enough >/dev/null 2>&1
	stands_still "$1" " after commands beside"
	"$ostiary" resume "$1" 2>"$work/$1.said"
	check "$1: resume lets it go on" $? "$(cat "$work/$1.said" "$work/$1.err")"
	wait "$pausing"
	same "$1: to its end" "$(tail -n 1 "$work/$1.out")" "went on"
}
stands_and_goes_on() {
	paused "$1"
	stands_still "$1"
	goes_on "$1"
	"$ostiary" rm -f "$1" >/dev/null 2>&1
}
# stands_or_ends HOW: the same of one that may be too quick to be held; then its box is ended, at any moment.
stands_or_ends() {
	local got
	paused "$1"
	if got=$(in_box "$1" ./pause look 2>&1 && in_box "$1" touch enough 2>&1 && in_box "$1" ./pause look 2>&1 &&
		"$ostiary" resume "$1" 2>&1); then
		wait "$pausing"
		same "$1: nobody is awake, or the box is ended for it" "$(tail -n 1 "$work/$1.out")" "went on"
	else
		within 60 is_not_running "$1" && wait "$pausing"
		holds "$1: nobody is awake, or the box is ended for it" "$got $(cat "$work/$1.err")" \
			"a paused box must not work on"
	fi
	"$ostiary" rm -f "$1" >/dev/null 2>&1
}

hang() { stands_and_goes_on hang; }
deep() { stands_and_goes_on deep; }
trace() { stands_and_goes_on trace; }
spawn() { stands_and_goes_on spawn; }
thread() { stands_and_goes_on thread; }
move() { stands_or_ends move; }
run() { stands_or_ends run; }
halt() {
	stands_and_goes_on halt
	! grep -q woken "$work/halt.out"
	check "halt: who was stopped before is not woken by resume" $? "$(tail -n 3 "$work/halt.out")"
}
# A snapshot of a busy box: it stands still as well, however deep. Otherwise one file is copied long after the other.
tear() {
	local got all least most
	(cd "$work/ws" && "$ostiary" run -q -d -n tear --limit pids=2500 -- sh -c 'i=0
		while [ $i -lt 20 ]; do head -c 4000000 /dev/zero >big.$i; : >letters.$i; i=$((i + 1)); done; exec ./pause tear' >/dev/null 2>"$work/tear.err")
	within 90 in_box tear test -e up
	check "tear: it writes" $? "$(cat "$work/tear.err")"
	timeout -k 2 150 "$ostiary" snapshot tear torn >/dev/null 2>"$work/tear.said"
	check "tear: a snapshot is made meanwhile" $? "$(cat "$work/tear.said")"
	got=$(cd "$work/ws" && box --rm --from torn -- sh -c 'cat letters.* | wc -c; stat -c %s letters.* | sort -n | sed -n "1p;\$p"' 2>&1)
	read -r all least most <<<"$(tr '\n' ' ' <<<"$got")"
	[ "${all:-0}" -gt 20 ] && [ $((most - least)) -le 1 ]
	check "tear: all of it is of one moment" $? "$got"
	"$ostiary" rm -f tear >/dev/null 2>&1
}
run_parts hang deep move run halt tear trace spawn thread
exit $bad
