#!/bin/bash
# suite: test=root,user soak=root,user timeout=900 alone=yes
# tier: a box of root has a user id of its own, a user's has its owner's; alone, because what it takes other suites would miss
# limits_share.sh - fair shares: a hostile box takes whatever it shares with its owner, one thing at a time and all at
# once, while the owner watches files, uses pipes, passes descriptors, has memory and disk, and starts other boxes.
set -u
. "$(dirname "$0")/lib_life.sh"
. "$here/lib_tier.sh"
cp "$here/life/hostile.py" "$here/life/sharers.py" "$work/ws/" && cp "$here/life/owner.py" "$work/" || exit 1
is_user=''
[ "$(id -u)" = 0 ] || is_user=1
"$ostiary" create -q --name "$tag-look" --limit memory=100M >/dev/null
has_group=''
[ -n "$(box_groups)" ] && has_group=1
"$ostiary" rm -f "$tag-look" >/dev/null

# attack FLAGS... MODE: start it, and wait until it has what it can get. $box_pid is the client.
attack() {
	local mode=${!#}
	: >"$work/said"
	rm -f "$work/ws/"{leased,filled,big*,gone*,ghost*,shut}
	timeout -k 5 150 "$ostiary" run -q --rm --name "$tag-foe" "${@:1:$#-1}" -- python3 hostile.py "$mode" 60 \
		</dev/null >"$work/said" 2>&1 &
	box_pid=$!
	wait_for 60 grep -Eq 'took|refused|ostiary:' "$work/said"
}
over() { # end what attack began, if it did not end by itself
	"$ostiary" stop --time 0 "$tag-foe" >/dev/null 2>&1
	wait "$box_pid" 2>/dev/null
	wait_for 60 no_orphans
}
owner() { timeout 60 python3 "$work/owner.py" 2>&1; }
took() { local n; n=$(sed -n "s/^$1 took \([0-9]*\).*/\1/p" "$work/said" | tail -n 1); echo "${n:-0}"; }

# --- what the kernel counts per user -------------------------------------------------------------------------
for mode in instances watches flying pipes bigpipes; do
	attack $mode
	holds "$mode: the owner goes on" "$(owner)" fine
	say "$ostiary" run -q --rm --name "$tag-other" -- true
	same "$mode: another box starts" "$code $err" '0 '
	say "$ostiary" exec "$tag-foe" -- true
	[ "$code" = 0 ] || [ -z "$("$ostiary" ps -q)" ]
	check "$mode: exec works, or the box was ended for it" $? "status $code: $err"
	over
done
attack instances
half=$(($(cat /proc/sys/fs/inotify/max_user_instances) / 2))
[ "$(took instances)" -le "$half" ]
check 'instances: no more than half of what there are' $? "$(took instances) of $((half * 2))"
# A second box gets less, so that all together leave the owner half.
first=$(took instances)
say "$ostiary" run -q --rm --name "$tag-foe2" -- python3 hostile.py instances 0
[[ $out =~ took\ ([0-9]+) ]] && [ $((BASH_REMATCH[1] + first)) -le "$half" ] && [ "${BASH_REMATCH[1]}" -gt 0 ]
check 'instances: two boxes together no more than half' $? "$first and $out"
over
attack bigpipes
same 'pipes of 1 MiB are refused' "$(took bigpipes)" 0
over
if [ -n "$is_user" ]; then
	# A program of the owner with the usual limit of 1,024 descriptors.
	low() { (ulimit -Sn 1024 && owner | grep -q fine); }
	for mode in flying nested; do
		attack $mode
		wait_for 30 low
		check "$mode: a program with few descriptors can send one again" $? "$(cat "$work/said")"
		over
	done
	full_pipe() { python3 -c 'import fcntl, os; r, w = os.pipe(); raise SystemExit(fcntl.fcntl(w, 1032) < 65536 or fcntl.fcntl(w, 1031, 1 << 20) < 0)' 2>/dev/null; }
	for mode in pipes fifos parkedpipes; do
		attack $mode
		wait_for 30 full_pipe
		check "$mode: the owner has whole pipes again" $? "$(cat "$work/said")"
		over
	done
	# The owner takes all pipes itself, beside a fifth box that has 15 of them and one descriptor under way.
	for i in 1 2 3 4; do "$ostiary" create -q --name "$tag-idle$i" >/dev/null; done
	: >"$work/said"
	timeout -k 5 150 "$ostiary" run -q --rm --name "$tag-good" -- python3 -c '
import array, os, socket, time
pipes = [os.pipe() for _ in range(15)]
a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
a.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0]))])
print("has 15", flush=True)
while not os.path.exists("/tmp/done"): time.sleep(0.05)
print("lived", flush=True)' </dev/null >"$work/said" 2>&1 &
	box_pid=$!
	wait_for 60 grep -q 'has 15' "$work/said"
	timeout 100 python3 -c '
import os, resource, time
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
all_of_it = [os.pipe() for _ in range(1100)]
print("has all", flush=True)
time.sleep(100)' >"$work/pipes" 2>&1 &
	piper=$!
	wait_for 30 grep -q 'has all' "$work/pipes"
	! full_pipe
	check 'the owner has taken all pipes itself' $? "$(cat "$work/pipes")"
	sleep 4 # looks
	kill "$piper"
	wait "$piper" 2>/dev/null
	"$ostiary" exec "$tag-good" -- touch /tmp/done
	wait "$box_pid"
	same 'a box with few pipes and little under way is not ended for that' "$? $(tr '\n' ' ' <"$work/said")" '0 has 15 lived '
	for i in 1 2 3 4; do "$ostiary" rm -f "$tag-idle$i" >/dev/null; done
fi

# --- resource limits that are added up per user -----------------------------------------------------------------
python3 - >"$work/limits" <<'END'
import resource as r
for n in ("SIGPENDING", "MSGQUEUE", "MEMLOCK", "NPROC", "NOFILE"):
    print(n, r.getrlimit(getattr(r, "RLIMIT_" + n))[1])
END
cp "$work/limits" "$work/ws/limits"
say "$ostiary" run -q --rm --name "$tag-box" -- python3 -c '
import resource as r
def get(n): return r.getrlimit(getattr(r, "RLIMIT_" + n))[1]
for line in open("limits"):
    n, all_of_it = line.split()
    own, all_of_it = get(n), int(all_of_it)
    if own < 0 or (all_of_it >= 0 and own > max(all_of_it // 2, 256)):
        print(n, own, "of", all_of_it)
for n in ("RTPRIO", "NICE", "CORE"):
    if get(n) != 0:
        print(n, get(n))
print("looked")'
same 'signals, messages, locked memory, processes, descriptors: a share of each' "$code $out" '0 looked'

# --- open files of the machine ------------------------------------------------------------------------------------
attack descriptors
wait "$box_pid"
code=$?
[ "$code" = 120 ] && grep -q 'open descriptors, more than' "$work/said"
check 'descriptors: a box that holds a hundred thousand and more is ended' $? "status $code: $(tail -n 1 "$work/said")"
over

say "$ostiary" run -q --rm --name "$tag-box" -- python3 -c '
import os, resource, sys, time
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
most = min(hard - 20, 70000)
processes = 70000 // most
r, w = os.pipe()
for _ in range(processes):
    if os.fork() == 0:
        for _ in range(most):
            os.open("/dev/null", os.O_RDONLY)
        os.write(w, b"x")
        time.sleep(3)  # a few looks
        os._exit(0)
print(len([os.read(r, 1) for _ in range(processes)]) == processes, end=" ", flush=True)
for _ in range(processes):
    os.wait()
print("lived")'
same 'descriptors: with 70,000 of them, below its share, it goes on' "$code $out$err" '0 True lived'
# Idle boxes take no descriptors from the next one.
say "$ostiary" run -q --rm --name "$tag-box" -- sh -c 'ulimit -Hn'
first=$out
for i in 1 2 3; do "$ostiary" create -q --name "$tag-idle$i" >/dev/null; done
say "$ostiary" run -q --rm --name "$tag-box" -- sh -c 'ulimit -Hn'
same 'descriptors: the fourth box has as many as the first' "$code $out" "0 $first"
for i in 1 2 3; do "$ostiary" rm -f "$tag-idle$i" >/dev/null; done

# --- pid 1, leases ---------------------------------------------------------------------------------------------
attack pid1
same 'pid 1 cannot be limited, slowed down or pinned' "$(took pid1)" 0
say "$ostiary" exec "$tag-foe" -- echo served
same 'and serves on' "$code $out" '0 served'
over
# Sockets that linger for an hour, closed while their copies are looked at.
attack linger
say timeout 100 "$ostiary" exec "$tag-foe" -- echo served
same 'linger: whoever looks at a socket does not wait for it' "$code $out $(took linger)" '0 served 99'
over
attack pid1
echo text >"$work/file"
say "$ostiary" cp "$work/file" "$tag-foe:/tmp/file"
same 'cp too' "$code" 0
over
mkdir -p "$work/live" && cp "$here/life/hostile.py" "$work/live/"
attack --workspace "$work/live" --live lease
holds 'a lease on a live file is refused' "$(cat "$work/said")" 'lease refused'
: >>"$work/live/leased"
timeout 20 sh -c "echo more >>'$work/live/leased'"
check 'lease: the host can write the file' $? 'it waits'
over

# --- memory that no process has mapped ----------------------------------------------------------------------------
bound=640 # MiB of the 1,024 that it tries for, under a limit of 256: a busy machine looks late
for mode in memfd parked mapped shutmemfd shm sockets pinned deep cow headless slow; do
	attack --limit memory=256M $mode
	wait "$box_pid"
	code=$?
	if [ -n "$has_group" ]; then
		[ "$(took ${mode#shut})" -le $bound ] || [ "$code" != 0 ]
		check "$mode: the control group holds it" $? "$(took ${mode#shut}) MiB, status $code"
	else
		[ "$code" = 120 ] && [ "$(took ${mode#shut})" -le $bound ] && grep -q 'more than the memory limit of 256.0 MiB' "$work/said"
		check "$mode: counts as memory" $? "$(took ${mode#shut}) MiB, status $code: $(tail -n 1 "$work/said")"
	fi
	over
done
# What the kernel keeps for them: answers that nobody reads, and messages without a byte.
for mode in netlink messages; do
	attack --limit memory=64M $mode
	wait "$box_pid"
	code=$?
	[ "$code" != 0 ] && grep -q 'the memory limit of 64.0 MiB' "$work/said"
	check "$mode: counts as memory" $? "status $code: $(tail -n 1 "$work/said")"
	over
done

# --- memory that several processes have ---------------------------------------------------------------------------
# The sum over them is more than 2 GiB, and there are 256 MiB and a little.
: >"$work/said"
timeout -k 5 150 "$ostiary" run -q --rm --name "$tag-good" --limit memory=450M -- python3 sharers.py /tmp/done \
	</dev/null >"$work/said" 2>&1 &
box_pid=$!
have_it() { [ "$(grep -c 'has it' "$work/said")" = 8 ] || ! kill -0 "$box_pid" 2>/dev/null; }
wait_for 100 have_it
sleep 3 # three looks at an idle box
"$ostiary" exec "$tag-good" -- touch /tmp/done
wait "$box_pid"
same 'a box whose processes share their memory is not ended for the sum' "$? $(tail -n 1 "$work/said")" '0 lived'

# A child that has its parent's memory until it executes a program, as posix_spawn makes it: kept from that by a pipe.
: >"$work/said"
timeout -k 5 150 "$ostiary" run -q --rm --name "$tag-good" --limit memory=600M -- python3 -c '
import mmap, os
m = mmap.mmap(-1, 400 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
for at in range(0, 400 << 20, 4096): m[at] = 1
os.mkfifo("/tmp/gate")
print("spawns", flush=True)
child = os.posix_spawn("/bin/true", ["true"], {}, file_actions=[(os.POSIX_SPAWN_OPEN, 9, "/tmp/gate", os.O_RDONLY, 0)])
os.waitpid(child, 0)
print("lived", flush=True)' </dev/null >"$work/said" 2>&1 &
box_pid=$!
wait_for 60 grep -q spawns "$work/said"
sleep 3 # looks at a box that seems to be above its limit
"$ostiary" exec "$tag-good" -- sh -c ': >/tmp/gate'
wait "$box_pid"
same 'a child that has the very memory of its parent counts once' "$? $(tr '\n' ' ' <"$work/said")" '0 spawns lived '

# --- memory of somebody else --------------------------------------------------------------------------------------
# A box that has reserved a large piece of shared memory and uses little of it, beside somebody who fills /dev/shm.
if [ -z "$has_group" ] && [ "$(df -k --output=avail /dev/shm | tail -n 1)" -gt 1000000 ]; then
	: >"$work/said"
	timeout -k 5 150 "$ostiary" run -q --rm --name "$tag-good" --limit memory=256M -- sh -c 'python3 -c "
import mmap, os, time
m = mmap.mmap(-1, 900 << 20)
m[0] = 1
print(\"reserved\", flush=True)
while not os.path.exists(\"/tmp/done\"): time.sleep(0.05)
print(\"lived\", flush=True)"' </dev/null >"$work/said" 2>&1 &
	box_pid=$!
	wait_for 60 grep -q reserved "$work/said"
	shm=$(mktemp /dev/shm/ostiary-share.XXXXXX)
	head -c 600000000 /dev/zero >"$shm"
	sleep 3 # three looks at an idle box
	rm -f "$shm"
	"$ostiary" exec "$tag-good" -- touch /tmp/done
	wait "$box_pid"
	same 'a box is not ended for the shared memory of somebody else' "$? $(tr '\n' ' ' <"$work/said")" '0 reserved lived '
fi

# --- message queues -----------------------------------------------------------------------------------------------
cat >"$work/ws/queue.py" <<'PY'
import ctypes, os
libc = ctypes.CDLL("librt.so.1", use_errno=True)
q = libc.mq_open(b"/one", os.O_CREAT | os.O_RDWR, 0o600, None)
if q < 0:
    raise OSError(ctypes.get_errno(), "mq_open")
room = ctypes.create_string_buffer(8192)
print(libc.mq_send(q, b"text", 4, 0), libc.mq_receive(q, room, 8192, None), os.listdir("/dev/mqueue"), libc.mq_unlink(b"/one"))
PY
say "$ostiary" run -q --rm --name "$tag-box" -- python3 queue.py
same 'message queues work' "$code $out$err" "0 0 4 ['one'] 0"

# --- disk -------------------------------------------------------------------------------------------------------------
attack fallocate
holds 'a disk cannot be reserved in one call' "$(cat "$work/said")" 'fallocate refused'
over
# The same by other names, pages that pipes would pin, and a process that whoever counts cannot look into.
cat >"$work/ws/ways.py" <<'PY'
import ctypes, errno, fcntl, os, struct
libc = ctypes.CDLL(None, use_errno=True)
f = os.open("room", os.O_RDWR | os.O_CREAT)
for name in (0x40305828, 0x4030582a, 0x40305839):
    try:
        fcntl.ioctl(f, name, struct.pack("=hhxxxxqqiI16x", 0, 0, 0, 5000000, 0, 0))
        print("reserved", hex(name))
    except OSError:
        pass
print("blocks", os.fstat(f).st_blocks)
r, w = os.pipe()
data = ctypes.create_string_buffer(4096)
class Vec(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("len", ctypes.c_size_t)]
print("vmsplice", libc.vmsplice(w, ctypes.byref(Vec(ctypes.addressof(data), 4096)), 1, 0))
print("hidden", libc.prctl(4, 0, 0, 0, 0))
PY
say "$ostiary" run -q --rm --name "$tag-ways" -- python3 ways.py
same 'nor by an ioctl; pipes pin no pages; no process hides itself' "$(tr '\n' ' ' <<<"$out")" 'blocks 0 vmsplice -1 hidden -1 '
rm -f "$work/ws/ways.py"
say "$ostiary" run -q --rm --name "$tag-box" -- python3 -c 'import os
f = os.open("x", os.O_RDWR | os.O_CREAT)
os.posix_fallocate(f, 0, 5000000)
print(os.fstat(f).st_size, os.fstat(f).st_blocks * 512 >= 5000000)'
same 'programs that reserve some have it all the same' "$code $out" '0 5000000 True'
for mode in disk unnamed ghost shutfiles parkedfiles nestedfiles waitingfiles blockedfiles emptymessages; do
	attack --limit disk=60M $mode
	wait "$box_pid"
	same "$mode: a limit of the disk ends the box with 120" $? 120
	wrote=$(took "${mode/shutfiles/unnamed}")
	[ "$wrote" -le 500 ] # of 600; a busy machine looks late
	check "$mode: and not long after it is reached" $? "$wrote MiB of 60"
	over
done
# A file in /tmp that has no name any more is there once.
say "$ostiary" run -q --rm --name "$tag-box" --limit disk=60M -- python3 -c '
import tempfile, time
f = tempfile.TemporaryFile(dir="/tmp")
f.write(b"x" * 40000000)
f.flush()
time.sleep(1.5)
print("lived")'
same 'a deleted file in /tmp is counted once' "$code $out" '0 lived'
say "$ostiary" run -q --rm --name "$tag-box" --limit disk=60M -- sh -c 'head -c 90000000 /dev/zero >/tmp/x; sleep 100'
same 'what is in /tmp counts' "$code" 120
holds 'in words' "$err" 'more than the disk limit of 60.0 MiB'
say "$ostiary" run -q --rm --name "$tag-box" --limit disk=2M -- python3 hostile.py log 60
same 'the log counts' "$code" 120

# --- all at once ------------------------------------------------------------------------------------------------------
# The limits are the defaults but for two, for the sake of the machine that runs this: what the box may have of memory
# and disk. When it is ended for something, the next one begins.
seconds=$(by_tier 12 120)
end=$((SECONDS + seconds))
(
	while [ $SECONDS -lt $end ]; do
		timeout -k 5 60 "$ostiary" run -q --rm --name "$tag-foe-$SECONDS-$RANDOM" --limit memory=600M --limit disk=300M \
			-- python3 hostile.py all 8 </dev/null
	done
) >"$work/foes" 2>&1 &
foes=$!
timeout $((seconds + 60)) python3 "$work/owner.py" "$seconds" >"$work/owner.said" 2>&1 &
person=$!
started=0 refused=''
while [ $SECONDS -lt $end ]; do
	say "$ostiary" run -q --rm --name "$tag-mine-$RANDOM" -- sh -c 'echo fine'
	[ "$code $out" = '0 fine' ] || refused="$refused status $code: $err;"
	started=$((started + 1))
done
wait $person
holds 'all at once: the owner is never refused' "$(tail -n 3 "$work/owner.said")" fine
same "all at once: every other box starts" "$refused" ''
[ $started -ge 3 ]
check 'all at once: there were some' $? "$started"
wait $foes
ends=$(grep -c '^ostiary: ' "$work/foes")
echo "# $started boxes of the owner; the hostile one was ended $ends times: $(grep '^ostiary: ' "$work/foes" | cut -c1-60 | sort | uniq -c | sort -rn | head -n 5 | tr '\n' ';')"
for mode in instances flying pipes memfd; do
	grep -Eq "^$mode (begins|took)" "$work/foes"
	check "all at once: $mode was tried" $? "$(tail -n 5 "$work/foes")"
done
holds 'afterwards the owner has everything' "$(owner)" fine
nothing_left 'nothing is left of all these boxes'
exit $bad
