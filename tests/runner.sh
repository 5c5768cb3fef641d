#!/bin/bash
# suite: check=any test=any soak=root,user timeout=120
# tier: a runner that passes what failed would make every other result worthless; cheap, so before each commit
# runner.sh - the test runner itself: nothing that fails, hangs, stays silent or leaves something behind counts as
# passed, and the run ends and cleans up whatever a suite does.
set -u
cd "$(dirname "$0")/.." || exit 1
# Network links of suites beside this one are not what its runs look at.
if [ "$(id -u)" = 0 ] && [ -z "${RUNNER_INSIDE:-}" ]; then
	RUNNER_INSIDE=1 exec unshare --net "$PWD/tests/runner.sh"
fi
base=$(mktemp -d) || exit 1
trap 'rm -rf "$base"' EXIT
trap 'exit 143' TERM INT HUP
# A tree of its own, and a place for its runs that their ordinary user can go to.
work=$base/tree
mkdir -p "$work/tests" "$work/tools" "$work/out" "$base/tmp"
chmod 755 "$base"
chmod 1777 "$base/tmp"
cp tools/*.py tools/phase.sh "$work/tools/"
export TEST_GROUPS=ostiary-left
export TEST_LINGER_S=2 TEST_POLITE_S=2 # its suites end at once or not at all
unset VARIANT TIER # of the run that this suite is part of
bad=0

suite() { # name, head, body
	printf '#!/bin/sh\n# suite: %s\n# tier: made for a test\n%s\n' "$2" "$3" >"$work/tests/$1.sh"
	chmod +x "$work/tests/$1.sh"
}
report() { # status, name, why
	if [ "$1" = 0 ]; then echo "ok $2"; else
		echo "not ok $2: $(tail -n 12 <<<"$3" | tr '\n' '|')"
		bad=1
	fi
}
run() { out=$(TMPDIR=$base/tmp python3 "$work/tools/test.py" "$@" 2>&1); status=$?; }
# expect NAME WANTED-LAST-LINE WANTED-STATUS WORD...
expect() {
	local name=$1 last=$2 want=$3
	shift 3
	run "$@"
	[ "$(tail -n 1 <<<"$out")" = "$last" ] && [ "$status" = "$want" ]
	report $? "$name" "status $status, wanted $want and '$last': $out"
}
says() { # name, words
	grep -qF -e "$2" <<<"$out"
	report $? "$1" "no '$2' in: $out"
}

# --- results -----------------------------------------------------------------------------------------------------

suite good 'test=any soak=any' 'echo ok one; echo ok two'
suite failing test=any 'echo ok one; echo "not ok two: on purpose"; exit 1'
suite silent test=any 'exit 0'
suite status test=any 'echo ok one; exit 3'
suite skipping test=any 'echo "skip one: no such machine"'
suite lacking test=any 'echo ok one; echo "skip two: tcpdump is not installed"'
suite nightly soak=any 'echo "ok tier $TIER"'

expect 'results are counted' '2 passed, 0 failed, 0 skipped' 0 good
expect 'a failed test fails the run' '1 passed, 1 failed, 0 skipped' 1 failing
says 'and names the command that runs the suite alone' 'make test T=failing U='
expect 'a silent suite fails' '0 passed, 1 failed, 0 skipped' 1 silent
expect 'a bad status without a failed test fails' '1 passed, 1 failed, 0 skipped' 1 status
expect 'skips alone are no success' '0 passed, 0 failed, 1 skipped' 1 skipping
expect 'no suite at all is no success' '0 passed, 1 failed, 0 skipped' 1 nothing-of-this-name
expect 'skips beside results pass' '2 passed, 0 failed, 1 skipped' 0 good skipping
says 'and are listed with their reason' 'one: no such machine'
expect 'a skip for a package that the set-up can install fails' '1 passed, 1 failed, 0 skipped' 1 lacking
echo tcpdump >"$work/out/.unavailable"
expect 'one that it could not have is a skip' '1 passed, 0 failed, 1 skipped' 0 lacking
rm "$work/out/.unavailable"

# --- tiers and names ---------------------------------------------------------------------------------------------

rm "$work/tests/"{failing,silent,status,skipping,lacking}.sh
expect 'a tier runs its own suites' '2 passed, 0 failed, 0 skipped' 0 --tier test
expect 'and no others' '3 passed, 0 failed, 0 skipped' 0 --tier soak
expect 'a suite that is asked for by name runs in any tier' '1 passed, 0 failed, 0 skipped' 0 --tier test nightly
expect 'one check can be asked for' '1 passed, 0 failed, 0 skipped' 0 good:two
expect 'a check that nobody has fails' '0 passed, 1 failed, 0 skipped' 1 good:three
expect 'two checks of one suite can be asked for' '2 passed, 0 failed, 0 skipped' 0 good:one good:two
suite mixed test=any 'echo ok one; echo "not ok two: on purpose"; exit 1'
expect 'a check passes though others of its suite fail' '1 passed, 0 failed, 0 skipped' 0 mixed:one
expect 'the one that fails fails' '0 passed, 1 failed, 0 skipped' 1 mixed:two
rm "$work/tests/mixed.sh"
expect 'an unknown name beside a known one fails' '2 passed, 1 failed, 0 skipped' 1 good nothing-of-this-name
run --table
says 'the table says which suite is in which tier, and why' 'nightly                  -          -          any        made for a test'

# --- what hangs, is killed, or fills something --------------------------------------------------------------------

suite slow 'test=any timeout=1' 'echo ok one; sleep 300'
expect 'a suite that hangs is ended and fails' '1 passed, 1 failed, 0 skipped' 1 slow
says 'and is named' 'slow ('
suite odd test=any 'echo ok one; kill -40 $$'
expect 'also by a signal without a name' '1 passed, 1 failed, 0 skipped' 1 odd
suite deaf 'test=any timeout=1' "trap '' TERM; echo ok one; while :; do sleep 300; done"
expect 'also one that does not listen to SIGTERM' '1 passed, 1 failed, 0 skipped' 1 deaf
# shellcheck disable=SC2016
suite killed test=any 'echo ok one; kill -9 $$'
expect 'a suite that is killed fails' '1 passed, 1 failed, 0 skipped' 1 killed
says 'and the signal is named' 'was killed by SIGKILL'
suite flood 'test=any' 'echo ok one; head -c 9000000 /dev/zero | tr "\\0" x; echo; echo "not ok two: on purpose"'
expect 'output that is cut is no success' '1 passed, 1 failed, 0 skipped' 1 flood
suite truncates test=any 'echo "not ok one: on purpose"; echo note >/dev/stderr; : >/dev/stdout; echo ok two'
expect 'a suite cannot take back what it printed' '1 passed, 1 failed, 0 skipped' 1 truncates
suite returns test=any 'printf "ok one\\rok two\\n"'
expect 'only a newline ends a line' '1 passed, 0 failed, 0 skipped' 0 returns
suite chatty 'test=any timeout=100' 'echo ok one; yes chatter'
expect 'endless output ends the suite' '1 passed, 1 failed, 0 skipped' 1 chatty
says 'and says so' 'printed more than'
suite greedy 'test=any timeout=100' 'echo ok one; dd if=/dev/zero of="$HOME/big" bs=1M count=40 2>/dev/null; sleep 2'
free=$(($(stat -f -c '%a * %S' "$base/tmp")))
out=$(TMPDIR=$base/tmp TEST_FREE_FLOOR=$((free + (1 << 34))) python3 "$work/tools/test.py" greedy 2>&1)
! grep -qF 'filled the disk' <<<"$out" # a floor this high asks for a share of gigabytes: not this suite's fault
report $? 'a suite is not blamed for a disk that others filled' "$out"
suite greedy 'test=any timeout=100' 'echo ok one; for i in $(seq 400); do head -c 1000000 /dev/zero >>"$HOME/big"; sleep 0.05; done; sleep 300'
if [ "$(id -u)" = 0 ]; then
	mkdir "$base/small"
	mount -t tmpfs -o size=96m,mode=1777 none "$base/small"
	out=$(TMPDIR=$base/small TEST_FREE_FLOOR=$((64 << 20)) python3 "$work/tools/test.py" greedy good 2>&1)
	umount "$base/small"
	[ "$(tail -n 1 <<<"$out")" = '3 passed, 1 failed, 0 skipped' ] && grep -qF 'filled the disk' <<<"$out"
	report $? 'a suite that fills the disk is ended and named, and the others go on' "$out"
else
	echo 'skip a suite that fills the disk is ended and named, and the others go on: it takes root to make a small one'
fi

# Elsewhere than in its HOME: on a small /var/tmp that the run sees.
if [ "$(id -u)" = 0 ]; then
	# shellcheck disable=SC2016
	suite elsewhere 'test=any timeout=100' 'echo ok one; exec 3>/var/tmp/big; for i in $(seq 400); do head -c 1000000 /dev/zero >&3 || break; sleep 0.05; done; sleep 300'
	out=$(TMPDIR=$base/tmp TEST_FREE_FLOOR=$((64 << 20)) unshare -m sh -c 'mount -t tmpfs -o size=96m,mode=1777 none /var/tmp && exec "$@"' sh \
		python3 "$work/tools/test.py" elsewhere good 2>&1)
	[ "$(tail -n 1 <<<"$out")" = '3 passed, 1 failed, 0 skipped' ] && grep -qF 'filled the disk' <<<"$out"
	report $? 'also one that fills another place than its own' "$out"
fi

# --- what is left behind ------------------------------------------------------------------------------------------

suite daemon test=any "echo ok one; setsid sh -c 'echo \$\$ >$base/tmp/daemon; exec sleep 321' </dev/null >/dev/null 2>&1 & sleep 0.5"
expect 'a daemon that stays behind fails its suite' '1 passed, 1 failed, 0 skipped' 1 daemon
says 'and is named' 'sleep 321'
! kill -0 "$(cat "$base/tmp/daemon")" 2>/dev/null
report $? 'and is gone' "$(cat "$base/tmp/daemon")"
if [ "$(id -u)" = 0 ]; then
	# shellcheck disable=SC2016
	suite mounter test=any 'echo ok one; mkdir "$HOME/m"; mount -t tmpfs none "$HOME/m"; mkdir '"$base"'/elsewhere; mount -t tmpfs none '"$base"'/elsewhere'
	expect 'mounts that stay behind fail the suite' '1 passed, 1 failed, 0 skipped' 1 mounter
	says 'and are named' "$base/elsewhere"
	! grep -qF "$base" /proc/self/mountinfo
	report $? 'and are gone' "$(grep -F "$base" /proc/self/mountinfo)"
	rmdir "$base/elsewhere"
	mkdir "$base/other"
	suite waits 'test=any timeout=100' "echo ok one; : >$base/tmp/waits; while [ -e $base/tmp/waits ]; do sleep 0.1; done"
	TMPDIR=$base/tmp python3 "$work/tools/test.py" waits >"$base/out.waits" 2>&1 &
	runner=$!
	for _ in $(seq 600); do [ -e "$base/tmp/waits" ] && break; sleep 0.1; done
	mount -t tmpfs none "$base/other"
	rm -f "$base/tmp/waits"
	wait $runner
	report $? "somebody else's mount is no fault of the run" "$(cat "$base/out.waits")"
	grep -qF "$base/other" /proc/self/mountinfo
	report $? 'and stays' "$(cat "$base/out.waits")"
	umount "$base/other"
	suite adder test=any 'echo ok one; useradd -M -N ostiary-left 2>/dev/null'
	expect 'a user that stays behind fails the run' '1 passed, 1 failed, 0 skipped' 1 adder
	! id ostiary-left >/dev/null 2>&1
	report $? 'and is gone' "$(id ostiary-left 2>&1)"
	# Two runs that had to make the ordinary user: in an /etc of their own, without anybody of uid 1000.
	mkdir "$base/etc" "$base/etc.work"
	cat >"$base/two.sh" <<-END
		mount -t overlay none -o lowerdir=/etc,upperdir=$base/etc,workdir=$base/etc.work /etc && sed -i /^[^:]*:[^:]*:1000:/d /etc/passwd || exit 9
		sed -i 's/^UID_MIN.*/UID_MIN 41000/' /etc/login.defs
		python3 $work/tools/test.py short waits >$base/out.waits 2>&1 &
		i=0; while [ ! -e $base/tmp/waits ] && [ \$i -lt 600 ]; do i=\$((i + 1)); sleep 0.1; done
		python3 $work/tools/test.py short
		id -u ostiary-test || echo 'not there'
		rm -f $base/tmp/waits; wait
		tail -n 1 $base/out.waits
		id ostiary-test >/dev/null 2>&1 || echo gone
	END
	suite waits 'test=root alone=yes timeout=100' "echo ok one; : >$base/tmp/waits; while [ -e $base/tmp/waits ]; do sleep 0.1; done"
	suite short test=user 'echo "ok one"'
	out=$(TMPDIR=$base/tmp unshare -m sh "$base/two.sh" 2>&1)
	said=$(tail -n 4 <<<"$out" | tr '\n' ' ')
	[[ $said =~ ^1\ passed,\ 0\ failed,\ 0\ skipped\ [0-9]+\ 2\ passed,\ 0\ failed,\ 0\ skipped\ gone\ $ ]]
	report $? 'two runs share the user that they made, and the last one takes it away' "$out"
	# On cgroup v1 a suite has groups of its own, and what is in them is its own; elsewhere lists are compared.
	group=$(find /sys/fs/cgroup -maxdepth 2 -type d \( -path '*/pids' -o -name init.scope \) 2>/dev/null | head -n 1)
	group=${group:-/sys/fs/cgroup}
	own='cd "/sys/fs/cgroup/pids$(sed -n s/^[0-9]*:pids://p /proc/self/cgroup)"'
	[ "$group" = /sys/fs/cgroup/pids ] || own="cd $group"
	if [ "$group" != /sys/fs/cgroup ] && mkdir "$group/ostiary-left" 2>/dev/null && rmdir "$group/ostiary-left"; then
		suite grouper test=any "echo ok one; $own; mkdir ostiary-left; [ $group != /sys/fs/cgroup/pids ] || mkdir ostiary-left/below; pwd >$base/tmp/group"
		expect 'a control group that stays behind fails the run' '1 passed, 1 failed, 0 skipped' 1 grouper
		says 'and is named' 'ostiary-left'
		[ ! -e "$(cat "$base/tmp/group")/ostiary-left" ]
		report $? 'and is gone' "$(cat "$base/tmp/group")"
	else
		echo 'skip a control group that stays behind fails the run: no group can be made here'
	fi
	if [ "$group" = /sys/fs/cgroup/pids ]; then
		suite beside test=any "echo ok one; mkdir $group/ostiary-left"
		expect "somebody else's control group is no fault of the run" '1 passed, 0 failed, 0 skipped' 0 beside
		rmdir "$group/ostiary-left"
		report $? 'and stays' "$out"
		suite grouper test=any "echo ok one; $own; mkdir ostiary-left; pwd >$base/tmp/group; kill -9 \$PPID; sleep 20"
		run grouper
		[ ! -e "$(cat "$base/tmp/group")" ]
		report $? 'groups of a suite that killed its guard are gone' "$(cat "$base/tmp/group")"
	fi
else
	echo 'skip mounts, users and control groups that stay behind: only root can leave them'
fi
# shellcheck disable=SC2016
suite files test=any 'echo ok one; mkdir -p "$HOME/a/b"; chmod 000 "$HOME/a"'
expect 'files without permissions are cleared away' '1 passed, 0 failed, 0 skipped' 0 files

# --- a suite against its guard ------------------------------------------------------------------------------------

# gone NAME: the process that wrote its number into tmp/alive does not live any more.
gone() {
	local i
	for i in $(seq 100); do kill -0 "$(cat "$base/tmp/alive")" 2>/dev/null || break; sleep 0.1; done
	! kill -0 "$(cat "$base/tmp/alive")" 2>/dev/null
	report $? "$1" "$(cat "$base/tmp/alive") lives"
}
alive="echo ok one; echo \$\$ >$base/tmp/alive"
suite homeless test=any "$alive; rm -rf \"\$HOME\"; exec sleep 2"
expect 'a suite that removes its HOME ends' '1 passed, 0 failed, 0 skipped' 0 homeless
suite many test=any 'echo ok one; for i in $(seq 400); do sh -c "sleep 300; : $(head -c 300 /dev/zero | tr "\\0" x)" & done'
expect 'hundreds of processes with long names are ended and some are named' '1 passed, 1 failed, 0 skipped' 1 many
says 'and counted' ' of them; '
if [ "$(id -u)" = 0 ]; then
	suite stops test=any "$alive; kill -STOP \$PPID"
	expect 'a guard that is stopped goes on' '1 passed, 0 failed, 0 skipped' 0 stops
	suite kills 'test=any' "$alive; sleep 1; kill -9 \$PPID; exec sleep 300"
	expect 'a suite that kills its guard fails' '1 passed, 1 failed, 0 skipped' 1 kills
	gone 'and does not live on'
	suite tells test=any "trap 'exit 0' TERM; echo ok one; kill -TERM \$PPID; sleep 20 & wait; echo 'not ok two: late'"
	expect 'one that tells its guard to end fails' '1 passed, 1 failed, 0 skipped' 1 tells
	suite robs test=any "echo ok one; rm -rf \"\$HOME/../logs\"; sleep 1"
	run robs good
	grep -qE 'robs .*(cannot be read|its guard)' <<<"$out" && [ "$status" = 1 ]
	report $? 'one that takes the logs away fails by name' "$out"
	# shellcheck disable=SC2016
	suite links test=any 'echo ok one; mkdir '"$base"'/victim; : >'"$base"'/victim/f; chmod 400 '"$base"'/victim/f; rm -rf "$HOME"; ln -s '"$base"'/victim "$HOME"'
	run links
	[ "$(stat -c %a "$base/victim/f")" = 400 ]
	report $? 'a link in the place of HOME is not followed' "$(stat -c '%a %n' "$base/victim/f" 2>&1)"
	rm -rf "$base/victim"
	suite remover test=root "rm -rf tests tools 2>/dev/null; touch stray 2>/dev/null; touch out/mark && echo ok one"
	expect 'a suite of root that removes the tree is held' '1 passed, 0 failed, 0 skipped' 0 remover
	[ -x "$work/tests/remover.sh" ] && [ -e "$work/tools/test.py" ] && [ ! -e "$work/stray" ] && [ -e "$work/out/mark" ]
	report $? 'the tree is read-only for it, out/ is not' "$(ls "$work" "$work/tests" "$work/tools" 2>&1)"
	rm "$work/tests/remover.sh" "$work/out/mark"
else
	echo 'skip attacks on the guard: only a suite of root could try them'
fi
# shellcheck disable=SC2016
suite faults test=any 'echo ok one; dir=$(echo "$UBSAN_OPTIONS" | sed "s,log_path=\(.*\)/report.*,\1,"); mkfifo "$dir/a"; mkdir "$dir/b"; ln -s /etc/shadow "$dir/c"'
expect 'odd files among the reports of sanitizers are not read' '1 passed, 0 failed, 0 skipped' 0 faults

# Killing the runner in the middle ends the suite too.
suite long test=any "echo \$\$ >$base/tmp/long; sleep 300"
for signal in TERM QUIT HUP KILL; do
	rm -f "$base/tmp/long"
	TMPDIR=$base/tmp python3 "$work/tools/test.py" long >"$base/out.long" 2>&1 &
	runner=$!
	for _ in $(seq 600); do [ -s "$base/tmp/long" ] && break; sleep 0.1; done
	kill -"$signal" "$runner"
	wait "$runner" 2>/dev/null
	for _ in $(seq 300); do kill -0 "$(cat "$base/tmp/long")" 2>/dev/null || break; sleep 0.1; done
	! kill -0 "$(cat "$base/tmp/long")" 2>/dev/null
	report $? "a runner that gets SIG$signal ends its suites" "$(cat "$base/out.long")"
done
run good
left=$(find "$base/tmp" -maxdepth 1 -name 'ostiary-test.*')
[ -z "$left" ]
report $? 'what a killed run left is cleared away by the next' "$left"

# --- side by side -------------------------------------------------------------------------------------------------

meet() { # own word, the other's
	echo ": >'$base/meet/$1'; i=0; while [ \$i -lt 100 ] && [ ! -e '$base/meet/$2' ]; do i=\$((i + 1)); sleep 0.1; done"
	echo "[ -e '$base/meet/$2' ] && echo ok met || echo 'not ok met: nobody came'"
}
shun() { # a room that holds one
	echo "mkdir '$base/meet/room' && echo ok empty || echo 'not ok empty: somebody was here'; sleep 1; rmdir '$base/meet/room'"
}
mkdir -m 1777 "$base/meet"
suite pair_a test=any "$(meet a b)"
suite pair_b test=any "$(meet b a)"
suite lone_a 'test=any alone=yes' "$(shun)"
suite lone_b 'test=any alone=yes' "$(shun)"
expect 'two suites run at a time' '2 passed, 0 failed, 0 skipped' 0 pair_
expect 'but for those that want to be alone' '2 passed, 0 failed, 0 skipped' 0 lone_

# --- bad heads ----------------------------------------------------------------------------------------------------

rm "$work/tests/"*.sh
suite good test=any 'echo ok one'
echo 'exit 0' >"$work/tests/headless.sh"
expect 'a script without a head fails' '1 passed, 1 failed, 0 skipped' 1
suite headless 'test=anybody' 'echo ok one'
expect 'one with an unknown user fails' '1 passed, 1 failed, 0 skipped' 1
for head in 'text=any' 'test=any Soak=root' 'test=any; soak=any' 'test=any timeout=1.5' 'test=any alone=true' 'test=root,any' 'test=any test=any'; do
	suite headless "$head" 'echo ok one'
	expect "a head that says '$head' fails" '1 passed, 1 failed, 0 skipped' 1
done
printf '#!/bin/sh\n# suite: test=any\necho ok one\n' >"$work/tests/headless.sh"
expect 'one that does not say why it is in its tier fails' '1 passed, 1 failed, 0 skipped' 1
says 'and is told so' "has no '# tier:' line"
exit $bad
