#!/bin/bash
# suite: test=root,user soak=root,user timeout=600
# tier: root mounts small disks by its own right, the user in a user namespace
# limits_disk.sh - a box ends when its layers outgrow the disk limit, and before it fills the disk that
# holds them: tried on a small tmpfs in a mount namespace of our own.
set -u
. "$(dirname "$0")/lib_life.sh"
. "$here/lib_par.sh"

# What takes time is the look at the layers, every second or so: the boxes wait for it together.
box() { say "$ostiary" run -q --rm --name "$tag-$BASHPID" "$@"; }
limit_below() {
	box --limit disk=20M -- sh -c 'head -c 5000000 /dev/zero >small; sleep 2; echo fine'
	same 'below the limit' "$code $out$err" '0 fine'
}
limit_above() {
	box --limit disk=20M -- sh -c 'head -c 60000000 /dev/zero >big; sleep 140'
	same 'above it the box ends with 120' "$code" 120
	holds 'in words' "$err" 'more than the disk limit of 20.0 MiB'
}
limit_home() {
	box --limit disk=20M -- sh -c 'i=0; while [ $i -lt 60 ]; do head -c 1000000 /dev/zero >~/f$i; i=$((i+1)); done; sleep 140'
	same 'the home counts too' "$code" 120
}
limit_holes() {
	# A file without blocks takes none; so many names do.
	box --limit disk=20M -- sh -c 'truncate -s 1G sparse; sleep 2; echo fine'
	same 'a file with a hole takes what it takes' "$code $out$err" '0 fine'
}
par limit_below
par limit_above
par limit_home
par limit_holes
par_wait
nothing_left 'and nothing is left of them'

# --- the floor ---------------------------------------------------------------------------------------------
# on_small SIZE COMMAND: run it with the state directory on a tmpfs of that size, which only it sees.
on_small() {
	local size=$1
	shift
	mkdir -p "$work/small"
	local enter=(unshare -m)
	[ "$(id -u)" = 0 ] || enter=(unshare -Um "--map-user=$(id -u)" "--map-group=$(id -g)" --keep-caps)
	say "${enter[@]}" sh -c "mount -t tmpfs -o size=$size,mode=700 small '$work/small' || exit 99
		export XDG_STATE_HOME='$work/small'
		if [ \$(id -u) = 0 ]; then exec \"\$@\"; fi
		exec setpriv --ambient-caps=-all --inh-caps=-all \"\$@\"" - "$@"
}
on_small 280M true
if [ "$code" = 99 ] || [ "$code" = 1 ]; then
	skip 'the free-space floor' "no small filesystem can be mounted here: $err"
	exit $bad
fi
floor_full() {
	on_small 280M "$ostiary" run -q --rm --name "$tag-full" -- sh -c 'head -c 100000000 /dev/zero >big; sleep 140'
	same 'a disk that runs full ends the box with 120' "$code" 120
	same 'in words' "$err" "ostiary: the disk that holds its layers has less than 256.0 MiB left (ostiary rm $tag-full gives back what the box wrote)"
}
floor_roomy() {
	on_small 400M "$ostiary" run -q --rm --name "$tag-roomy" -- sh -c 'head -c 100000000 /dev/zero >big; sleep 2; echo fine'
	same 'above the floor it goes on' "$code $out$err" '0 fine'
}
par floor_full
par floor_roomy
par_wait

# --- the ballast: room for who clears up -------------------------------------------------------------------
# The host fills the disk, since only what is free counts; the box does nothing.
on_small 1200M sh -c '"$0" run -q -d --name "$1" -- sleep 140 >/dev/null || exit 97
	ballast=$XDG_STATE_HOME/ostiary/ballast
	i=0; until [ "$(stat -c %s "$ballast" 2>/dev/null)" = 67108864 ] || [ $i -gt 300 ]; do sleep 0.1; i=$((i + 1)); done
	stat -c "%s %b" "$ballast"
	free=$(stat -f -c "%a" "$XDG_STATE_HOME"); fallocate -l $(((free * 4096) - 200000000)) "$XDG_STATE_HOME/full"
	i=0; while "$0" ps -q | grep -q . && [ $i -lt 300 ]; do sleep 0.1; i=$((i + 1)); done
	ls "$XDG_STATE_HOME/ostiary" | grep ballast; "$0" ps -a --json | grep -o "gives back what the box wrote"
	"$0" rm -f "$1" >/dev/null' "$ostiary" "$tag-ballast"
same 'below 8 GiB a ballast is kept; it is given up when the disk is full, and the box says what to do' "$out" \
	$'67108864 131072\ngives back what the box wrote'

# A disk that is full before the box begins: one sentence, and nothing on it.
on_small 60k "$ostiary" run -q --rm --name "$tag-box" -- true
[ "$code" = 125 ] || [ "$code" = 120 ] || [ "$code" = 0 ]
check 'a full disk: our status' $? "status $code"
[ "$code" = 0 ] || { [ "$(wc -l <<<"$err")" = 1 ] && [[ $err == 'ostiary: '* ]]; }
check 'and one sentence' $? "$err"
on_small 60k sh -c 'mkdir -p $XDG_STATE_HOME/ostiary/boxes; head -c 100000 /dev/zero >$XDG_STATE_HOME/full 2>/dev/null
	"$0" run -q --rm -- true; code=$?; ls -A $XDG_STATE_HOME/ostiary/boxes; exit $code' "$ostiary"
same 'no block left: 125' "$code" 125
[ "$(wc -l <<<"$err")" = 1 ] && [[ $err == 'ostiary: '*'No space left on device'* ]]
check 'one sentence with the reason' $? "$err"
same 'nothing left behind' "$out" ''
on_small 10M sh -c 'mkdir -p $XDG_STATE_HOME/ostiary/boxes; cd $XDG_STATE_HOME; mount -o remount,nr_inodes=8 . 2>/dev/null || exit 98
	touch 1 2 3 4 5 6 7 8 2>/dev/null; cd /; "$0" run -q --rm -w "$1" -- true; code=$?; ls -A $XDG_STATE_HOME/ostiary/boxes; exit $code' "$ostiary" "$work/ws"
if [ "$code" = 98 ]; then
	skip 'no inode left' 'the tmpfs cannot be remounted'
else
	same 'no inode left: 125' "$code" 125
	[ "$(wc -l <<<"$err")" = 1 ] && [[ $err == 'ostiary: '* ]]
	check 'one sentence' $? "$err"
	same 'and nothing left behind there' "$out" ''
fi
nothing_left 'and nothing is left here'
exit $bad
