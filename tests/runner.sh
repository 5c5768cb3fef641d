#!/bin/bash
# suite: users=any timeout=60
# runner.sh - the test runner itself: nothing that fails, hangs or stays silent counts as passed.
set -u
cd "$(dirname "$0")/.." || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/tests" "$work/tools" "$work/out"
cp tools/test.sh "$work/tools/"
bad=0

suite() { # name, head, body
	printf '#!/bin/sh\n# suite: %s\n%s\n' "$2" "$3" >"$work/tests/$1.sh"
	chmod +x "$work/tests/$1.sh"
}
# expect NAME WANTED-LAST-LINE WANTED-STATUS WORD...
expect() {
	local name=$1 last=$2 want=$3 out status
	shift 3
	out=$(bash "$work/tools/test.sh" "$@" 2>&1)
	status=$?
	if [ "$(tail -n 1 <<<"$out")" = "$last" ] && [ "$status" = "$want" ]; then
		echo "ok $name"
	else
		echo "not ok $name: status $status, last line '$(tail -n 1 <<<"$out")', wanted $want and '$last'"
		bad=1
	fi
}

suite good users=any 'echo ok one; echo ok two'
suite failing users=any 'echo ok one; echo "not ok two: on purpose"; exit 1'
suite silent users=any 'exit 0'
suite status users=any 'echo ok one; exit 3'
suite slow 'users=any timeout=1' 'echo ok one; sleep 30'
suite skipping users=any 'echo "skip one: no such machine"'

expect 'results are counted' '2 passed, 0 failed, 0 skipped' 0 good
expect 'a failed test fails the run' '1 passed, 1 failed, 0 skipped' 1 failing
expect 'a silent suite fails' '0 passed, 1 failed, 0 skipped' 1 silent
expect 'a bad status without a failed test fails' '1 passed, 1 failed, 0 skipped' 1 status
expect 'a suite that hangs is ended and fails' '1 passed, 1 failed, 0 skipped' 1 slow
expect 'skips alone are no success' '0 passed, 0 failed, 1 skipped' 1 skipping
expect 'no suite at all is no success' '0 passed, 0 failed, 0 skipped' 1 nothing-of-this-name
expect 'skips beside results pass' '2 passed, 0 failed, 1 skipped' 0 good skipping

# Two that wait for each other, and two that must not meet.
meet() { # own word, the other's
	echo ": >'$work/meet/$1'; i=0; while [ \$i -lt 100 ] && [ ! -e '$work/meet/$2' ]; do i=\$((i + 1)); sleep 0.1; done"
	echo "[ -e '$work/meet/$2' ] && echo ok met || echo 'not ok met: nobody came'"
}
shun() { # a room that holds one
	echo "mkdir '$work/meet/room' && echo ok empty || echo 'not ok empty: somebody was here'; sleep 1; rmdir '$work/meet/room'"
}
mkdir -m 1777 "$work/meet"
suite pair_a users=any "$(meet a b)"
suite pair_b users=any "$(meet b a)"
suite lone_a 'users=any alone=yes' "$(shun)"
suite lone_b 'users=any alone=yes' "$(shun)"
expect 'two suites run at a time' '2 passed, 0 failed, 0 skipped' 0 pair_
expect 'but for those that want to be alone' '2 passed, 0 failed, 0 skipped' 0 lone_

echo 'exit 0' >"$work/tests/headless.sh"
expect 'a script without a head fails' '2 passed, 1 failed, 0 skipped' 1 good
exit $bad
