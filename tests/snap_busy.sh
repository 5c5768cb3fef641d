#!/bin/bash
# suite: test=root,user soak=root,user timeout=300
# tier: only root can make the small disk that runs full
# snap_busy.sh - snapshots of boxes in which something runs: it stands still while its layers are copied and goes on
# afterwards, whatever becomes of the copy or of the command that asked for it.
set -u
. "$(dirname "$0")/lib_life.sh"
. "$here/lib_snap.sh"

# count BOX: how far the counter in the box is.
count() { stat -c %s "$boxes/$1/layers/ws/upper/count" 2>/dev/null || echo 0; }
grows() { # BOX: does it count on?
	local was
	was=$(count "$1")
	wait_for 60 more_than "$1" "$was"
}
more_than() { [ "$(count "$1")" -gt "$2" ]; }
stopped() { # BOX: processes of it that are stopped
	local pid
	for pid in $(tree "$("$ostiary" ps --json | /usr/bin/python3 -c 'import json, sys
print(next(b["supervisor_pid"] for b in json.load(sys.stdin)["data"] if b["id"] == sys.argv[1]))' "$1")"); do
		grep -q '^State:[[:space:]]*[Tt]' "/proc/$pid/status" 2>/dev/null && echo "$pid"
	done
}

echo host >host
# A parent with children, of which one writes all the time.
# shellcheck disable=SC2016
o run -q -d -n "$tag-a" -- sh -c 'echo box >host; echo a >a; ln a second; mkdir -p d/e; echo deep >d/e/f; chmod 750 a
	ln -s nowhere link; mkfifo fifo; truncate -s 50M holes; mkdir -m 0 shut; touch -d @1000 old
	(while :; do printf x >>count; sleep 0.01; done) & sleep 300 & echo ready >ready; wait' >/dev/null
wait_for 60 test -e "$boxes/$tag-a/layers/ws/upper/ready"
grows "$tag-a"
check 'something runs in the box' $?
say "$ostiary" snapshot "$tag-a" "$tag-s" --json
holds 'a busy box is copied' "$out" '"copied":true'
grows "$tag-a"
check 'and goes on' $? "stopped: $(stopped "$tag-a")"
same 'nothing of it stands still' "$(stopped "$tag-a")" ''
same 'its list is as it was' "$(cat "$boxes/$tag-a/stack" 2>/dev/null)" ''
o create -n "$tag-b" --from "$tag-s" >/dev/null
in=$(o exec "$tag-b" -- sh -c 'cat host a d/e/f; stat -c "%h %a" a; readlink link; stat -c %Y old; test -p fifo && echo fifo
	test "$(stat -c %i a)" = "$(stat -c %i second)" && echo linked; stat -c %s holes; test "$(stat -c %b holes)" -lt 100 && echo holes
	stat -c %a shut')
same 'the copy has everything as it was' "$(tr '\n' ' ' <<<"$in")" 'box a deep 2 750 nowhere 1000 fifo linked 52428800 holes 0 '
n=$(o exec "$tag-b" -- sh -c 'wc -c <count')
check 'up to the moment it was taken' "$([ "$n" -gt 0 ] && [ "$n" -le "$(count "$tag-a")" ]; echo $?)" "$n"
o fork "$tag-a" --number 2 --name "$tag-f" >/dev/null 2>&1
same 'a busy box is forked' "$(o exec "$tag-f-2" -- cat host)" box
grows "$tag-a"
check 'and goes on after that too' $?

# --- a process that was stopped before stays so ------------------------------------------------------------
mark=4${tag//[!0-9]/} # a time that nobody else sleeps
o exec "$tag-a" -- sh -c "sleep $mark & echo \$! >pid; until grep -q sleep /proc/\$!/comm; do :; done; kill -STOP \$!"
pid=$(pgrep -x -f "sleep $mark" | head -n 1)
is_stopped() { grep -q '^State:[[:space:]]*T' "/proc/$1/status"; }
wait_for 60 is_stopped "$pid"
o snapshot "$tag-a" >/dev/null 2>&1
is_stopped "$pid"
check 'a process that somebody else stopped stays stopped' $?

# --- who asked is killed ----------------------------------------------------------------------------------
for i in 1 2 3 4 5 6; do
	"$ostiary" snapshot "$tag-a" "$tag-k$i" >/dev/null 2>&1 </dev/null &
	cli=$!
	sleep "0.00$i"
	kill -KILL "$cli" 2>/dev/null
	wait "$cli" 2>/dev/null
done
grows "$tag-a"
check 'a box goes on when the one who asked for a snapshot is killed' $? "stopped: $(stopped "$tag-a")"
same 'its processes too' "$(stopped "$tag-a" | grep -vx "$pid")" ''

# --- the box ends meanwhile ---------------------------------------------------------------------------------
"$ostiary" snapshot "$tag-a" "$tag-late" >/dev/null 2>"$work/late" </dev/null &
cli=$!
o stop --time 0 "$tag-a" >/dev/null
wait "$cli"
check 'a box can be ended while it is copied' "$(is_ended "$tag-a"; echo $?)"
same 'what it wrote is there' "$(o exec "$tag-a" -- cat d/e/f)" deep
away

# --- a full disk -------------------------------------------------------------------------------------------
# Of names rather than of bytes: a box ends by itself when the disk has too few bytes left.
if [ "$(id -u)" != 0 ]; then
	skip 'a full disk' 'only root can make a small one'
elif ! mkdir "$work/small" || ! mount -t tmpfs -o size=600m,nr_inodes=1600 none "$work/small" 2>/dev/null; then
	skip 'a full disk' 'no tmpfs can be mounted here'
else
	export XDG_STATE_HOME=$work/small
	boxes=$work/small/ostiary/boxes
	o run -q -d -n "$tag-full" -- sh -c 'mkdir many; cd many; seq 600 | xargs touch; cd ..
		while :; do printf x >>count; sleep 0.01; done' >/dev/null
	wait_for 60 more_than "$tag-full" 5
	say "$ostiary" snapshot "$tag-full" "$tag-room"
	same 'while there is room it is copied' "$code" 0
	n=$(find "$work/small/ostiary/frozen" -mindepth 1 -maxdepth 1 -type d | wc -l)
	say "$ostiary" snapshot "$tag-full" "$tag-none"
	holds 'a full disk is told of' "$err" 'is full'
	grows "$tag-full"
	check 'the box goes on' $?
	same 'nothing is left of the copy' "$(find "$work/small/ostiary/frozen" -mindepth 1 -maxdepth 1 -type d | wc -l)" "$n"
	same 'there is no such snapshot' "$(o snapshots -q)" "$tag-room"
	away
	unset XDG_STATE_HOME
	boxes=$state/boxes
	wait_for 60 no_orphans
	wait_for 60 umount "$work/small"
fi
nothing_left 'nothing is left of the boxes'
exit $bad
