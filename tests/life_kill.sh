#!/bin/bash
# suite: test=root,user soak=root,user timeout=900
# tier: who may kill whom, and who clears a control group, differs between the users; test kills less often than soak
# life_kill.sh - kill -9 of each of our processes at random moments, also while the box is built: no
# process of the box lives on, nothing is mounted, `ps` tells the truth, `gc` leaves nothing behind, the
# next start works, and whoever was attached hears a sentence instead of waiting for ever.
#
# OSTIARY_TEST_ROUNDS=N: how often each process is killed while it starts (default 5; 25 in soak).
set -u
. "$(dirname "$0")/lib_life.sh"
. "$here/lib_tier.sh"
rounds=${OSTIARY_TEST_ROUNDS:-$(by_tier 5 25)}
cc -O1 -D_GNU_SOURCE -o "$work/assassin" "$here/life/assassin.c" || exit 1

state_of() { "$ostiary" ps -a --json | python3 -c 'import json, sys
for b in json.load(sys.stdin)["data"]:
    if b["id"] == sys.argv[1]: print(b["state"])' "$1"; }
pid_of() { "$ostiary" ps -a --json | python3 -c 'import json, sys
for b in json.load(sys.stdin)["data"]:
    if b["id"] == sys.argv[1]: print(b["supervisor_pid"])' "$1"; }
init_of() { # supervisor's pid
	local pid
	for pid in $(below "$1"); do
		grep -q '^NSpid:.*[[:space:]]1$' "/proc/$pid/status" 2>/dev/null && echo "$pid"
	done
}
is_state() { [ "$(state_of "$1")" = "$2" ]; }

# --- while it starts -------------------------------------------------------------------------------
# What the attached client may exit with, per process that was killed. Where the killed process was not
# needed any more, or the command was over first, the box just ends: 0.
declare -A wanted=([cli]='137' [maker]='0 123 125' [supervisor]='0 125' [helper]='0 123 125' [init]='0 123 125' [command]='0 125 137')
box=$tag-start
for role in cli maker supervisor helper init command; do
	span=15000
	[ "$role" != maker ] || span=3000 # its whole life
	hits=0 wrong='' statuses=''
	for round in $(seq $((rounds * 4))); do
		# On a busy machine a short life may be over whenever we look: a few more, then, at once.
		[ "$round" -le "$rounds" ] || [ "$hits" = 0 ] || break
		[ "$round" -le "$rounds" ] || span=1
		answer=$("$work/assassin" "$role" $((RANDOM % span)) "$ostiary" run -q --name "$box" -- sleep 0.3 2>"$work/killed.err" </dev/null)
		read -r hit status <<<"$answer"
		[ "$hit" = hit ] && hits=$((hits + 1))
		statuses="$statuses $status"
		if [ "$hit" = hit ] && [[ " ${wanted[$role]} " != *" $status "* ]]; then
			wrong="round $round: the client ended with $status"
		elif [ "$status" != 0 ] && [ "$role" != cli ] && ! grep -q '^ostiary: ' "$work/killed.err"; then
			wrong="round $round: status $status without a word"
		elif [ "$(wc -l <"$work/killed.err")" -gt 1 ]; then
			wrong="round $round: more than one line: $(cat "$work/killed.err")"
		fi
		if [ "$role" = cli ]; then
			# Killing the CLI is detaching: the box goes on, and ends with its command.
			wait_for 60 no_orphans || wrong="round $round: a box lives on after its command"
		fi
		wait_for 60 no_orphans || wrong="round $round: processes live on: $(ps -o pid=,comm= -p "$(orphans | paste -sd,)")"
		[ -z "$("$ostiary" ps -q)" ] || wrong="round $round: ps lists $("$ostiary" ps -q), and no process lives"
		"$ostiary" gc >/dev/null 2>"$work/gc.err" || wrong="round $round: gc: $(cat "$work/gc.err")"
		now=$(left)
		[ -z "$now" ] || wrong="round $round: gc left $now"
		[ -z "$wrong" ] || break
	done
	[ -z "$wrong" ]
	check "kill -9 of the $role while the box starts, $rounds times" $? "$wrong"
	[ "$hits" -gt 0 ]
	check "the $role was hit" $? "never: $statuses"
	echo "# $role: $hits of $rounds hit; statuses $(tr ' ' '\n' <<<"$statuses" | sort | uniq -c | tr '\n' ' ')"
	say "$ostiary" run -q --rm --name "$box" -- true
	same "the next start works ($role)" "$code $err" '0 '
	"$ostiary" rm -f "$box" >/dev/null 2>&1
done
nothing_left 'after all of that nothing is left'

# --- in the two moments that are met by chance once in some hundred kills --------------------------------
# The weak build's pid 1 stands still there until its supervisor is gone: before it is tied to the supervisor's
# life, and with its filter on, when nobody but itself holds the listener and its own end would wait for an answer.
weak=${OSTIARY_WEAK:-$here/../out/weak/ostiary}
# stands_at MOMENT: does pid 1 of $client's box stand there? Sets $supervisor.
stands_at() {
	local init
	for supervisor in $(below "$client"); do
		init=$(init_of "$supervisor")
		[ -z "$init" ] || ! grep -qP "$1" "/proc/$init/status" 2>/dev/null || return 0
	done
	return 1
}
declare -A moment=([wait-tied]='^NoNewPrivs:\t1' [wait-built]='^Seccomp:\t2')
words='wait-tied wait-built'
[ -x "$weak" ] || { skip 'the two moments that are met by chance' "$weak is not built"; words=''; }
for word in $words; do
	for level in default files all off; do
		box=$tag-$word-$level
		OSTIARY_WEAKEN=$word "$weak" run -q --audit $level --name "$box" -- true </dev/null >/dev/null 2>"$work/killed.err" &
		client=$!
		wait_for 60 stands_at "${moment[$word]}"
		check "pid 1 is met at $word, --audit $level" $? "$(cat "$work/killed.err")"
		kill -9 "$supervisor"
		wait_for 60 is_gone $client || kill -9 $client
		wait $client
		same "kill -9 of the supervisor there: status and words ($word, $level)" "$? $(grep -c '^ostiary: ' "$work/killed.err")" '125 1'
		wait_for 60 no_orphans
		check "nothing of that box lives on ($word, $level)" $? "$(orphans)"
		for pid in $(orphans); do kill -9 "$pid"; done
		"$ostiary" gc >/dev/null 2>&1
		"$ostiary" rm -f "$box" >/dev/null 2>&1
	done
done
nothing_left 'and nothing else is left of it'

# --- while it runs, and while it writes --------------------------------------------------------------
for role in supervisor init command; do
	box=$tag-run-$role
	grows=$boxes/$box/layers/ws/upper/grows
	read -r hit status <<<"$(ASSASSIN_AFTER=$grows "$work/assassin" "$role" 300000 "$ostiary" run -q --name "$box" -- \
		sh -c 'setsid sleep 1234 & while :; do echo x >>grows; done' 2>"$work/killed.err" </dev/null)"
	case $role in
	command) same "kill -9 of the running $role: the client's status" "$hit $status" 'hit 137' ;;
	*) same "kill -9 of the running $role: the client's status" "$hit $status" 'hit 125' ;;
	esac
	same "and its words: one sentence ($role)" "$(grep -c '^ostiary: ' "$work/killed.err") of $(wc -l <"$work/killed.err")" '1 of 1'
	wait_for 60 no_orphans
	check "no process of the box lives on ($role)" $? "$(orphans)"
	[ -s "$grows" ]
	check "what it wrote is kept ($role)" $? "$(ls "$boxes/$box/layers/ws/upper" 2>&1)"
	case $role in
	supervisor) same "ps -a calls it dead" "$(state_of "$box")" dead ;;
	*) same "ps -a calls it exited ($role)" "$(state_of "$box")" exited ;;
	esac
	"$ostiary" gc >/dev/null 2>&1
	[ -e "$grows" ]
	check "gc does not delete changes ($role)" $? 'they are gone'
	say "$ostiary" exec "$box" -- sh -c 'test -s grows && echo awake'
	same "the box can be woken ($role)" "$code $out$err" '0 awake'
	"$ostiary" rm -f "$box" >/dev/null 2>&1
done
nothing_left 'after rm nothing is left of them'

# The CLI: killing it is detaching.
box=$tag-cli
read -r hit status <<<"$(ASSASSIN_AFTER=$boxes/$box/layers/ws/upper/begun "$work/assassin" cli 300000 "$ostiary" run -q --name "$box" -- \
	sh -c 'echo x >begun; exec sleep 1234' 2>/dev/null </dev/null)"
same 'kill -9 of the CLI of a running box' "$hit $status" 'hit 137'
is_up() { [ "$(state_of "$box")" = running ]; } # where there is much to do it may only have begun to start
wait_for 60 is_up
same 'the box goes on' "$(state_of "$box")" running
say "$ostiary" exec "$box" -- echo alive
same 'and answers' "$out" alive
say "$ostiary" rm "$box"
same 'rm of a running box is refused' "$code" 122
holds 'and says how to do it' "$err" 'rm --force'
same 'it still runs' "$(state_of "$box")" running
say "$ostiary" rm --force "$box"
same 'rm --force ends it' "$code $out$err" "0 $box"
nothing_left 'and leaves nothing'

# A terminal client.
if command -v script >/dev/null; then
	for role in supervisor init; do
		box=$tag-tty-$role
		script -qec "'$ostiary' run -t --name $box -- sh -c 'echo begun; exec sleep 1234'; echo status=\$?; stty -a | grep -ow -- '-\?icanon'" \
			/dev/null </dev/null >"$work/tty.$role" 2>&1 &
		client=$!
		wait_for 60 grep -q begun "$work/tty.$role"
		victim=$(pid_of "$box")
		[ "$role" = init ] && victim=$(init_of "$victim")
		kill -9 "$victim"
		wait_for 60 is_gone $client
		check "a terminal client does not hang when the $role is killed" $? 'it still waits'
		kill -9 $client 2>/dev/null
		wait $client 2>/dev/null
		said=$(tr -d '\r' <"$work/tty.$role")
		holds "its words ($role)" "$said" 'ostiary: '
		holds "its status ($role)" "$said" status=125
		holds "its terminal is as before ($role)" "$said" $'\n'icanon
		"$ostiary" rm -f "$box" >/dev/null 2>&1
	done
else
	skip 'a terminal client does not hang' 'script(1) is not installed'
fi

# --- in the middle of exec and cp ---------------------------------------------------------------------
for role in supervisor init; do
	box=$tag-exec-$role
	"$ostiary" create -q --name "$box" >/dev/null
	supervisor=$(pid_of "$box") init=$(init_of "$(pid_of "$box")")
	: >"$work/exec.out"
	"$ostiary" exec "$box" -- sh -c 'echo begun; sleep 1234' </dev/null >"$work/exec.out" 2>"$work/exec.err" &
	client=$!
	wait_for 60 grep -q begun "$work/exec.out"
	[ $role = init ] && kill -9 "$init" || kill -9 "$supervisor"
	wait_for 60 is_gone $client || kill -9 $client
	wait $client
	same "kill -9 of the $role during exec: status" $? 125
	same "and one sentence ($role, exec)" "$(grep -c '^ostiary: ' "$work/exec.err") of $(wc -l <"$work/exec.err")" '1 of 1'
	wait_for 60 no_orphans
	check "no process lives on ($role, exec)" $? "$(orphans)"
	say "$ostiary" exec "$box" -- sh -c 'head -c 300000000 /dev/zero >/tmp/big; echo again'
	same "the box is woken by the next exec ($role)" "$code $out" '0 again'

	supervisor=$(pid_of "$box") init=$(init_of "$(pid_of "$box")")
	mkdir -p "$work/to"
	# A FIFO's reader that never comes would be cheating: the copy is stopped in the middle instead.
	"$ostiary" cp -q "$box:/tmp/big" "$work/to/" >/dev/null 2>"$work/cp.err" &
	client=$!
	begun() { [ -n "$(ls -A "$work/to")" ]; }
	wait_for 60 begun
	[ $role = init ] && kill -9 "$init" || kill -9 "$supervisor"
	wait_for 60 is_gone $client || kill -9 $client
	wait $client
	status=$?
	if [ $status = 0 ]; then
		skip "kill -9 of the $role during cp" 'the copy was done before'
	else
		same "kill -9 of the $role during cp: status" $status 125
		same "and one sentence ($role, cp)" "$(grep -c '^ostiary: ' "$work/cp.err") of $(wc -l <"$work/cp.err")" '1 of 1'
		same "and no half file ($role, cp)" "$(ls -A "$work/to")" ''
	fi
	rm -rf "$work/to"
	wait_for 60 no_orphans
	check "no process lives on ($role, cp)" $? "$(orphans)"
	"$ostiary" rm -f "$box" >/dev/null 2>&1
done

box=$tag-exec
"$ostiary" create -q --name "$box" >/dev/null
read -r hit status <<<"$(ASSASSIN_AFTER=$boxes/$box/layers/ws/upper/begun "$work/assassin" cli 200000 "$ostiary" exec "$box" -- \
	sh -c 'echo x >begun; exec sleep 4321' 2>/dev/null </dev/null)"
same 'kill -9 of the CLI of an exec' "$hit $status" 'hit 137'
# Seen from the host: the box itself may not look at other processes' arguments.
runs_on() { tree "$(pid_of "$box")" | while read -r pid; do tr '\0' ' ' <"/proc/$pid/cmdline"; done | grep -q 'sleep 4321'; }
wait_for 60 runs_on
check 'the command goes on' $? "$(tree "$(pid_of "$box")" | tr '\n' ' ')"

# --- stop while exec runs --------------------------------------------------------------------------------
: >"$work/exec.out"
"$ostiary" exec "$box" -- sh -c 'echo begun; sleep 1234' </dev/null >"$work/exec.out" 2>"$work/exec.err" &
client=$!
wait_for 60 grep -q begun "$work/exec.out"
say "$ostiary" stop --time 1 "$box"
same 'stop while exec runs' "$code" 0
wait_for 60 is_gone $client || kill -9 $client
wait $client
status=$?
# 143: its command was asked to end, and did. Anything else wants words.
[ "$status" = 143 ] || { [ "$status" -ge 125 ] && grep -q '^ostiary: ' "$work/exec.err"; }
check 'the exec ends with the box' $? "status $status: $(cat "$work/exec.err")"
wait_for 60 no_orphans
check 'nothing of it lives on' $? "$(orphans)"
"$ostiary" rm --yes "$box" >/dev/null 2>&1

# --- rm, and the taking over of a home, cut short ---------------------------------------------------------
box=$tag-big
"$ostiary" run -q --keep --name "$box" -- bash -c 'mkdir d{1..40}; touch d{1..40}/f{1..50}'
read -r hit status <<<"$("$work/assassin" cli 2000 "$ostiary" rm --yes "$box" 2>/dev/null </dev/null)"
holds 'kill -9 of rm' "$hit" hit
state=$(state_of "$box")
[ -z "$state" ] || [ "$state" = exited ]
check 'the box is there or it is not' $? "$state"
say "$ostiary" rm --yes "$box"
"$ostiary" gc >/dev/null 2>&1
nothing_left 'gc finishes what rm began'

mkdir -p "$HOME/.config/ostiary/profiles"
printf 'extends default\npersist ~/.agent\n' >"$HOME/.config/ostiary/profiles/keeper.profile"
wrong='' taken=0
for round in $(seq "$(by_tier 4 10)"); do
	box=$tag-home-$round
	"$ostiary" create -q --profile keeper --name "$box" >/dev/null
	"$ostiary" exec "$box" -- bash -c "rm -rf ~/.agent; mkdir -p ~/.agent; touch ~/.agent/{1..300}-$round"
	victim=$(pid_of "$box")
	"$ostiary" stop "$box" >/dev/null 2>&1 &
	stopper=$!
	sleep "0.0$((RANDOM % 4))$((RANDOM % 10))"
	kill -9 "$victim" 2>/dev/null
	wait $stopper
	count=$("$ostiary" run -q --rm --profile keeper -- bash -c "ls ~/.agent 2>/dev/null | wc -l; ls ~/.agent 2>/dev/null | sed 's/.*-//' | sort -u | wc -l" | tr '\n' ' ')
	case $count in
	'300 1 ') taken=$((taken + 1)) ;;
	'0 0 ') [ $taken = 0 ] || wrong="$wrong $round: all is gone;" ;;
	*) wrong="$wrong $round: $count;" ;;
	esac
	"$ostiary" rm -f "$box" >/dev/null 2>&1
done
[ -z "$wrong" ]
check 'a home is taken over whole or not at all, whenever the supervisor is killed' $? "$wrong"
"$ostiary" gc >/dev/null 2>&1
nothing_left 'and no half of it is left'

# --- two at once --------------------------------------------------------------------------------------
# Who wins goes on until the others have been answered.
box=$tag-race
mkfifo "$work/held" && exec 9<>"$work/held"
for i in 1 2 3 4 5 6; do
	("$ostiary" run -q --rm --name "$box" -- cat <"$work/held" 2>"$work/race.$i.err"; echo $? >"$work/race.$i") 9>&- &
	racers="${racers:-} $!"
done
five_lost() { [ "$(cat "$work"/race.? 2>/dev/null | wc -l)" -ge 5 ]; }
wait_for 60 five_lost
exec 9>&-
# shellcheck disable=SC2086
wait $racers
same 'six starts under one name: one wins' "$(grep -lx 0 "$work"/race.? | wc -l)" 1
same 'the others are refused' "$(grep -lxE "125|122" "$work"/race.? | wc -l)" 5
same 'each with one sentence' "$(cat "$work"/race.?.err | grep -c "^ostiary: there is a box named $box already")" 5

"$ostiary" create -q --name "$box" >/dev/null
"$ostiary" stop "$box" >/dev/null
racers=''
for i in 1 2 3 4 5 6; do
	("$ostiary" exec "$box" -- echo "woken $i" </dev/null >"$work/wake.$i" 2>&1) &
	racers="$racers $!"
done
# shellcheck disable=SC2086
wait $racers
same 'six execs wake one sleeping box: all are answered' "$(cat "$work"/wake.? | grep -c '^woken')" 6
is_one() { [ "$(orphans | wc -l)" = 1 ]; } # who fills the pool of authorities goes again
wait_for 60 is_one
same 'by one supervisor' "$(orphans | wc -l)" 1
"$ostiary" stop "$box" >/dev/null &
"$ostiary" rm --force "$box" >/dev/null 2>"$work/rm.err"
same 'stop and rm --force at the same time' "$? $(cat "$work/rm.err")" '0 '
wait $!

# A box that somebody wakes the moment it ends has ended nevertheless.
wrong=''
for round in $(seq "$(by_tier 4 10)"); do
	box=$tag-again
	"$ostiary" create -q --name "$box" >/dev/null
	(sleep "0.00$((RANDOM % 10))"; exec "$ostiary" exec "$box" -- true </dev/null >/dev/null 2>&1) &
	waker=$!
	SAY_LIMIT=60 say "$ostiary" stop --time 0 "$box"
	[ "$code" = 0 ] || wrong="$wrong $round: status $code, $err;"
	wait $waker
	"$ostiary" rm -f "$box" >/dev/null 2>&1
done
[ -z "$wrong" ]
check 'stop of a box that is woken at that moment' $? "$wrong"
nothing_left 'at the end nothing is left'
exit $bad
