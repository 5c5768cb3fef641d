#!/bin/bash
# suite: test=user soak=root,user timeout=500
# tier: apply and undo are killed 40 times each in test, 200 times each as both users in soak
# review_kill.sh - kill -9 at any moment of apply and of undo, and disks that are full in the middle: running it again
# finishes, taking it back restores, nothing of ours is left in the tree.
set -u
# In memory, where it can be: hundreds of kills do not wait for a disk then. Which one it was is printed.
if [ -z "${REAPER:-}" ] && python3 - <<-'PY' 2>/dev/null; then
	import os, tempfile
	with tempfile.NamedTemporaryFile(dir="/dev/shm") as f:
	    os.setxattr(f.name, "user.overlay.opaque", b"y")
	assert os.statvfs("/dev/shm").f_bavail * os.statvfs("/dev/shm").f_frsize > 1 << 28
PY
	export REVIEW_TMP=${TMPDIR:-/tmp} TMPDIR=/dev/shm
fi
. "$(dirname "$0")/lib_life.sh"
. "$here/lib_review.sh"
. "$here/lib_tier.sh"
export COUNT=${REVIEW_KILLS:-$(by_tier 40 200)}

fresh kill
mkdir -p d/e was-dir closed gone/deep
for i in $(seq 1 25); do echo "$i" >"f$i"; echo "$i" >"d/f$i"; done
for i in $(seq 1 10); do echo "$i" >"gone/deep/f$i"; done
head -c 3000000 /dev/urandom >big
echo y >was-dir/y
echo f >was-file
mkdir shut
for i in $(seq 1 10); do echo "$i" >"shut/f$i"; done
chmod 555 shut
ln -s f1 link
box "$tag-k" 'for i in $(seq 1 25); do echo new >>f$i; echo new >d/f$i; echo made >d/e/m$i; done; rm -r gone was-dir was-file; echo now >was-dir
	mkdir was-file; echo in >was-file/in; chmod 750 f1; ln -sf f2 link; head -c 3000000 /dev/urandom >big; mkdir -p x/y/z; echo deep >x/y/z/w; chmod 555 x/y; rm f25
	chmod 755 shut; for i in $(seq 1 5); do rm shut/f$i; echo new >shut/n$i; done; chmod 555 shut'
# So many kills, and more until enough of them met it at work; within the time there is.
out=$(timeout 700 python3 "$here/review/kills.py" "$ostiary" "$tag-k" "$PWD" "$COUNT" "${RANDOM}" "${REVIEW_SECONDS:-240}" 2>&1)
code=$?
check "kill -9 on $(stat -f -c %T .): $out" $code "$out"
if [ $code = 0 ]; then
	read -r a _ _ u _ <<<"$out"
	[ "$a" -ge 3 ] && [ "$u" -ge 3 ]
	check 'the control: many were at work' $? "$out"
	between=${out#*; }
	[ "${between%% *}" -ge 2 ]
	check 'the control: some left the tree in between' $? "$out"
fi
chmod 755 x/y 2>/dev/null
same 'the read-only directory is read-only after all that' "$(stat -c %a shut)" 555
say "$ostiary" apply "$tag-k" --yes
same 'a last apply' "$code" 0
same 'no temporary file is left anywhere' "$(find . -name '.ostiary*')" ''
chmod 755 shut


# --- full in the middle ------------------------------------------------------------------------------
# By a limit on the size of files, which is what a quota looks like from inside.
limited() { # KIB COMMAND...
	local size=$1
	shift
	say bash -c 'trap "" XFSZ; ulimit -f "$1"; shift; exec "$@"' limited "$size" "$@"
}
fresh limit
for i in $(seq 1 20); do echo 1 >"f$i"; done
head -c 400000 /dev/urandom >old
box "$tag-l" 'for i in $(seq 1 20); do echo 2 >f$i; done; rm f3; head -c 500000 /dev/zero >z; echo small >old'
before=$(shot .)
limited 100 "$ostiary" apply "$tag-l" --yes
same 'the store of undo cannot take what is replaced: nothing is touched' "$code $(shot . | cksum)" "125 $(cksum <<<"$before")"
holds 'and that is said' "$err" 'nothing was touched'
say "$ostiary" history
same 'and leaves no record' "$(grep -c limit <<<"$out")" 0
limited 450 "$ostiary" apply "$tag-l" --yes
same 'the workspace cannot take a file: stopped' "$code" 125
holds 'and that is said, with what to do' "$err" 'File too large'
same 'what was not reached is as it was, and nothing of ours is left' "$(cat f20) $(find . -name '.ostiary*')" '1 '
say "$ostiary" undo --yes
same 'what had landed is taken back' "$(shot .)" "$before"
say "$ostiary" apply "$tag-l" --yes
same 'and with room it all lands' "$code $(cat f20 old) $(stat -c %s z)" $'0 2\nsmall 500000'

# By a disk that is full: a tmpfs in a mount namespace of our own.
cat >"$work/full.sh" <<-'SH'
	set -u
	ostiary=$1 box=$2 what=$3
	undo=$HOME/.local/state/ostiary/undo
	picture() { find . -type f ! -name .fill -exec sha256sum {} + | sort | sha256sum; }
	case $what in
	workspace)
	        mkdir -p "$HOME/full" && mount -t tmpfs -o size=1m none "$HOME/full" && cd "$HOME/full" || exit 8
	        for i in $(seq 1 30); do echo 1 >"f$i"; done
	        sleep 0.05
	        "$ostiary" run -q --name "$box" -- sh -c 'for i in $(seq 1 30); do head -c 30000 /dev/urandom >f$i; done; rm f7' || exit 8
	        head -c 600000 /dev/zero >.fill ;;
	undo)
	        mkdir -p "$undo" && mount -t tmpfs -o size=200k,mode=700 none "$undo" || exit 8 ;;
	esac
	picture
	"$ostiary" apply "$box" --yes
	echo "code $?"
	[ "$(find . -name '.ostiary*')" = "" ] && echo clean
	"$ostiary" undo --yes >&2
	picture
SH
fresh full
for i in $(seq 1 30); do head -c 30000 /dev/urandom >"f$i"; done
box "$tag-fu" 'for i in $(seq 1 30); do echo 2 >f$i; done'
if [ "$(id -u)" = 0 ]; then own=(unshare -m); else own=(unshare -rm); fi
for what in undo workspace; do
	name=$tag-fu
	[ $what = workspace ] && name=$tag-fw
	say "${own[@]}" bash "$work/full.sh" "$ostiary" "$name" "$what"
	if [ "$code" = 8 ]; then
		skip "$what is full" "no tmpfs, or no box, in a namespace here: $err"
		continue
	fi
	same "$what is full: stopped, nothing of ours left, and undo restores" "$(sed -n '2,4p' <<<"$out" | tr '\n' ' ')" "code 125 clean $(head -n 1 <<<"$out") "
	holds "$what is full: said" "$err" 'No space left'
done
say "$ostiary" apply "$tag-fu" --yes
same 'the control: with room it lands' "$code $(cat f30)" '0 2'

remove_boxes
nothing_left 'nothing is left of the boxes'
exit $bad
