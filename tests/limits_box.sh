#!/bin/bash
# suite: test=root,user soak=root,user timeout=900
# tier: root has a control group where the user has rlimits and the watchdog
# limits_box.sh - memory, processes, files, time, inotify, namespaces and processor time of a box: held by
# whatever this machine offers, each end said in words and with its exit code, while the host stays well.
set -u
. "$(dirname "$0")/lib_life.sh"
cc -O1 -static -D_GNU_SOURCE -o "$work/ws/hog" "$here/life/hog.c" || exit 1
cc -O1 -static -D_GNU_SOURCE -o "$work/hog" "$here/life/hog.c" || exit 1

# What holds memory and processes here: a control group, or rlimits and the watchdog.
"$ostiary" create -q --name "$tag-look" --limit memory=100M --limit pids=100 >/dev/null
has_group=''
[ -n "$(box_groups)" ] && has_group=1
"$ostiary" rm -f "$tag-look" >/dev/null
echo "# limits are held by ${has_group:+a control group}${has_group:-rlimits and the watchdog}" | sed 's/group1/group/'
box() { say "$ostiary" run -q --rm --name "$tag-box" "$@"; }

# --- memory ------------------------------------------------------------------------------------------
box --limit memory=100M -- ./hog memory 50
same 'memory below the limit' "$code $out$err" '0 got 50'
if [ -n "$has_group" ]; then
	box --limit memory=100M -- ./hog shared 300
	same 'memory: a command that is killed for it ends the box with 120' "$code" 120
	same 'in words' "$err" 'ostiary: the memory limit of 100.0 MiB was reached and the kernel killed a process'
	say "$ostiary" run --rm --name "$tag-box" --limit memory=100M -- sh -c './hog shared 300; exit 3'
	same 'memory: a box that lives on has the status of its command' "$code" 3
	holds 'and says what was killed' "$err" 'ostiary: the memory limit of 100.0 MiB was reached'
	# Memory that no process has mapped counts too.
	# The smallest processes there are, and memory that none of them has mapped: pid 1, which is larger, goes last.
	box --limit memory=60M -- ./hog hidden 300
	same 'memory: the kernel kills a process of the command, not the first of the box' "$code $err" \
		'120 ostiary: the memory limit of 60.0 MiB was reached and the kernel killed a process'
	box --limit memory=60M -- sh -c 'head -c 30000000 /dev/zero >/dev/shm/a; ./hog memory 40'
	same 'memory: files in /dev/shm count' "$code" 137
else
	box --limit memory=100M -- ./hog memory 300 100
	same 'memory: one process that uses more ends the box with 120' "$code" 120
	holds 'in one sentence' "$err" 'more than the memory limit of 100.0 MiB'
	box --limit memory=100M -- sh -c './hog memory 60 100 & ./hog memory 60 100 & wait'
	same 'memory: several processes together end the box with 120' "$code" 120
	holds 'in words' "$err" 'more than the memory limit of 100.0 MiB'
	box --limit memory=100M -- python3 -c '
import subprocess, threading
ts = [threading.Thread(target=subprocess.run, args=(["./hog", "memory", "60", "100"],)) for _ in range(2)]
for t in ts: t.start()
for t in ts: t.join()'
	same 'memory: what threads start counts too' "$code" 120
fi
box --limit memory=100M -- sh -c 'head -c 300000000 /dev/zero >/tmp/x'
[ "$code" != 0 ]
check 'memory: /tmp is bounded by it' $? "status $code"
box --limit memory=100M -- sh -c 'head -c 300000000 /dev/zero >/dev/shm/x'
[ "$code" != 0 ]
check 'memory: /dev/shm too' $? "status $code"

# --- address space that is reserved and not used is no memory ---------------------------------------------
printf '#include <stdlib.h>\n#include <stdio.h>\nint main(void) { char *p = malloc(9); p[1] = 1; free(p); puts("ran"); return 0; }\n' >"$work/ws/small.c"
cc -fsanitize=address -o "$work/ws/small" "$work/ws/small.c"
check 'the compiler has a sanitizer' $?
box --limit memory=300M -- ./small
same 'memory: a program under AddressSanitizer starts' "$code $out" '0 ran'
box --limit memory=100M -- python3 -c '
import mmap
kept = [mmap.mmap(-1, 1 << 32, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000) for _ in range(64)]
kept.append(mmap.mmap(-1, 1 << 30))
for m in kept: m[0] = 1
print("ran")'
same 'memory: so does one that reserves 257 GiB, private and shared' "$code $out" '0 ran'

# --- processes: a fork bomb of at most 300 --------------------------------------------------------------
"$ostiary" run -q --rm --name "$tag-bomb" --limit pids=60 -- sh -c './hog forks 300; ./hog forks 20; sleep 1' </dev/null >"$work/bomb" 2>&1 &
bomb=$!
host=$("$work/hog" forks 50)
say "$ostiary" run -q --rm --name "$tag-other" -- ./hog forks 50
same 'pids: meanwhile the host can fork' "$host" 'got 50'
same 'pids: and so can another box' "$out" 'got 50'
wait $bomb
said=$(cat "$work/bomb")
[[ $said =~ refused\ at\ ([0-9]+) ]] && [ "${BASH_REMATCH[1]}" -le 60 ] && [ "${BASH_REMATCH[1]}" -ge 40 ]
check 'pids: the box is refused more than its limit' $? "$said"
holds 'pids: and works on below it' "$said" 'got 20'

# --- files, inotify, namespaces ------------------------------------------------------------------------
box --limit files=50 -- ./hog files 1000
[[ $out =~ refused\ at\ ([0-9]+) ]] && [ "${BASH_REMATCH[1]}" -lt 50 ]
check 'files: no more descriptors than the limit' $? "$out"
box --limit files=50 -- sh -c 'ulimit -Hn; ulimit -n 60'
holds 'files: nor can it be raised' "$out $code" '50 2'
# Descriptors that the same user has under way on sockets elsewhere count for whoever sends one, and the first process of a box does.
python3 -c 'import array, socket, time
a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
for _ in range(3):
    a.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0] * 40))])
print("under way", flush=True)
time.sleep(600)' >"$work/under" &
holder=$!
wait_for 60 grep -q 'under way' "$work/under"
box --limit files=50 -- sh -c 'ulimit -Hn; ulimit -n'
same 'files: a low limit is no matter of what else the user does' "$code $out" $'0 50\n50'
kill "$holder"
wait "$holder" 2>/dev/null
# Many boxes that begin at once have many descriptors under way, and an ordinary caller may have few.
( # the hard limit stays as it is
	ulimit -Sn 200
	for i in $(seq 24); do "$ostiary" run -q --rm -- true & done
	wait
) >"$work/many" 2>&1
same 'files: two dozen boxes at once of a caller with 200' "$(sort "$work/many" | uniq -c)" ''
box --limit inotify=20 -- ./hog watches 100
same 'inotify: no more watches than the limit' "$out" 'refused at 20: No space left on device'
mkdir "$work/watched"
same 'inotify: the host has its own' "$(cd "$work/watched" && "$work/hog" watches 100)" 'got 100'
box -- cat /proc/sys/user/max_user_namespaces
same 'namespaces: none may be made' "$out" 0
for kind in --user --net --mount --pid --ipc --uts --cgroup; do
	box -- unshare $kind true
	[ "$code" != 0 ]
	check "namespaces: unshare $kind fails" $? "$out$err"
done

# --- time -----------------------------------------------------------------------------------------------
box --limit time=1s -- sleep 100
same 'time: exit code 124' "$code" 124
same 'time: in words' "$err" 'ostiary: the time limit of 1 s is over'
[ "$ms" -ge 900 ]
check 'time: not before it was asked for' $? "$ms ms"
box --limit time=1s -- sh -c 'trap "" TERM HUP INT; setsid sleep 100 & while :; do sleep 0.1; done'
same 'time: a box that ignores signals ends too' "$code" 124
wait_for 60 no_orphans
check 'time: with everything in it' $? "$(orphans)"
box --limit time=18446744073709552 -- sh -c 'sleep 1; echo fine' # in milliseconds it does not fit 64 bits
same 'time: a limit beyond all time is none' "$code $out$err" '0 fine'
say "$ostiary" create -q --name "$tag-waits" --limit time=1s
wait_for 60 no_orphans
same 'time: also a box that waits' "$("$ostiary" ps -a --json | python3 -c 'import json, sys; print([(b["state"], b["exit_code"], b["why"]) for b in json.load(sys.stdin)["data"]])')" \
	"[('exited', 124, 'the time limit of 1 s is over')]"
"$ostiary" rm "$tag-waits" >/dev/null

# --- processor time ------------------------------------------------------------------------------------------
if [ -n "$has_group" ]; then
	box --limit cpu=0.25 -- ./hog cpu 2
	[ "$out" -le 800 ]
	check 'cpu: a quarter of a core' $? "$out ms in 2 s"
else
	skip 'cpu: a quarter of a core' 'no control group can be had here; explain says so'
	say "$ostiary" explain --limit cpu=0.25 -- true
	holds 'cpu: explain says that nothing holds it' "$out" cpu
fi

# --- limits that make no sense -----------------------------------------------------------------------------
for limit in memory=lots memory=-1 pids=x time=soon cpu=0 nonsense=1 memory 'memory=99999999999999999999G'; do
	box --limit "$limit" -- true
	[ "$code" = 64 ] && [ "$(grep -c '^ostiary: ' <<<"$err")" = 1 ]
	check "the limit $limit is refused" $? "status $code: $err"
done
if [ "${VARIANT:-release}" != asan ]; then
	box --limit memory=1M -- bash -c 'echo {1..100000} | wc -c'
	[ "$out" != 588895 ]
	check 'a limit too small to work in' $? "status $code: $out$err"
fi
box --limit pids=1 -- true
[ "$code" != 0 ] && [[ $err == 'ostiary: '* ]]
check 'no room for one process: words' $? "status $code: $err"
nothing_left 'nothing is left of all these boxes'
exit $bad
