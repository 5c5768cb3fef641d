#!/bin/bash
# suite: users=root,user timeout=420
# review_kill.sh - kill -9 at any moment of apply and of undo, and disks that are full in the middle: running it again
# finishes, taking it back restores, nothing of ours is left in the tree.
set -u
. "$(dirname "$0")/lib_life.sh"
. "$here/lib_review.sh"
export COUNT=${REVIEW_KILLS:-200}

fresh kill
mkdir -p d/e was-dir closed gone/deep
for i in $(seq 1 25); do echo "$i" >"f$i"; echo "$i" >"d/f$i"; done
for i in $(seq 1 10); do echo "$i" >"gone/deep/f$i"; done
head -c 3000000 /dev/urandom >big
echo y >was-dir/y
echo f >was-file
ln -s f1 link
box "$tag-k" 'for i in $(seq 1 25); do echo new >>f$i; echo new >d/f$i; echo made >d/e/m$i; done; rm -r gone was-dir was-file; echo now >was-dir
	mkdir was-file; echo in >was-file/in; chmod 750 f1; ln -sf f2 link; head -c 3000000 /dev/urandom >big; mkdir -p x/y/z; echo deep >x/y/z/w; chmod 555 x/y; rm f25'
# As many as are killed while they work, within the time there is.
out=$(timeout 380 python3 "$here/review/kills.py" "$ostiary" "$tag-k" "$PWD" "$COUNT" "${RANDOM}" 2>&1)
code=$?
check "kill -9, $COUNT times each: $out" $code "$out"
if [ $code = 0 ]; then
	read -r a _ _ u _ <<<"$out"
	[ "$a" -ge $((COUNT / 2)) ] && [ "$u" -ge $((COUNT / 2)) ]
	check 'the control: most of them were at work' $? "$out"
	between=${out#*; }
	[ "${between%% *}" -ge 5 ]
	check 'the control: some left the tree in between' $? "$out"
fi
chmod 755 x/y 2>/dev/null
say "$ostiary" apply "$tag-k" --yes
same 'a last apply' "$code" 0
same 'no temporary file is left anywhere' "$(find . -name '.ostiary*')" ''

remove_boxes
nothing_left 'nothing is left of the boxes'
exit $bad
