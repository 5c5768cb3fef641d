#!/bin/bash
# suite: test=user soak=root,user timeout=240
# tier: conflicts are found by content, whoever started the box
# review_conflict.sh - the host and the box change the same things: shown, never overwritten, merged where a base is
# known; and a host that changes while apply runs (case 72).
set -u
. "$(dirname "$0")/lib_life.sh"
. "$here/lib_review.sh"

# --- every kind -------------------------------------------------------------------------------------
fresh kinds
for f in clear both deleted equal kind mode; do echo 1 >$f; done
mkdir dir
echo 1 >dir/old
box "$tag-k" 'for f in clear both equal kind; do echo 2 >$f; done; rm deleted; rm -r dir; echo box >added; mkdir newdir; echo box >newdir/x; chmod 600 mode'
for f in both deleted; do echo host >$f; done
echo 2 >equal
rm kind
mkdir kind
echo host >added
echo host >newdir
echo host >dir/new
chmod 640 mode
say "$ostiary" apply "$tag-k" --yes
same 'exit 1' "$code" 1
same 'what the host did not touch lands' "$(cat clear)" 2
same 'what both changed is left' "$(cat both)" host
same 'what the box deleted and the host changed stays' "$(cat deleted)" host
same 'what both made equal is no conflict' "$(grep -c '  equal:' <<<"$err") $(cat equal)" '0 2'
same 'what both added is left' "$(cat added)" host
same 'a directory in its place is left' "$(stat -c %F kind newdir)" $'directory\nregular file'
same 'a new file in a directory that the box deleted keeps it' "$(cat dir/new) $(ls dir)" 'host new'
same 'a mode that both changed' "$(stat -c %a mode)" 640
for f in both deleted added mode; do holds "named: $f" "$err" "  $f: "; done
holds 'and what to do' "$err" '--3way'
say "$ostiary" diff "$tag-k" --name-only
same 'they are pending still' "$(grep -xc -e both -e deleted -e added -e mode <<<"$out")" 4

fresh gone
echo 1 >gone
echo 1 >here
box "$tag-go" 'echo 2 >gone; echo 2 >here'
rm gone
say "$ostiary" apply "$tag-go" --yes
same 'what the host deleted is not brought back' "$code $(ls | tr '\n' ' ')$(cat here)" '1 here 2'
holds 'but named' "$err" '  gone: you deleted or moved it'

# --- merging: no base, a base in git (loose and packed), a base in what was applied ----------------
fresh nobase
seq 1 30 >text
box "$tag-nb" 'sed -i s/^3$/three/ text'
sed -i 's/^25$/twenty-five/' text
say "$ostiary" apply "$tag-nb" --yes --3way
same 'without a base it is not merged' "$code $(sed -n '3p;25p' text | tr '\n' ' ')" '1 3 twenty-five '
holds 'and says why' "$err" 'no common base'

if command -v git >/dev/null; then
	git config --global user.name t
	git config --global user.email t@example.test
	git config --global init.defaultBranch main
	for kind in loose packed; do
		fresh "git-$kind"
		git init -q
		mkdir sub
		seq 1 30 >sub/text
		seq 1 30 >same
		git add -A && git commit -qm 1
		seq 1 31 >sub/other && git add -A && git commit -qm 2
		if [ "$kind" = packed ]; then
			for i in 1 2 3; do sed -i "s/^1$i$/x$i/" sub/text && git commit -qam "more $i"; done
			git gc -q --aggressive
			git cat-file --batch-check --batch-all-objects | grep -q blob || not_ok 'packed' 'nothing is'
		fi
		box "$tag-g$kind" 'sed -i s/^3$/three/ sub/text; sed -i s/^5$/box/ same; printf "a\0b" >sub/other'
		sed -i 's/^25$/twenty-five/' sub/text
		sed -i 's/^5$/host/' same
		printf 'a\0c' >sub/other
		cp same "$work/same.before"
		say "$ostiary" apply "$tag-g$kind" --yes --3way
		same "$kind: different places are merged" "$(sed -n '3p;25p' sub/text | tr '\n' ' ')" 'three twenty-five '
		same "$kind: the same place is not" "$code $(diff same "$work/same.before" && echo untouched)" '1 untouched'
		holds "$kind: and says so" "$err" 'same: both sides changed the same lines'
		holds "$kind: nor is what is no text" "$err" 'no text'
		[ "$(grep -c '<<<<' same)" = 0 ]
		check "$kind: marks of a conflict are never written" $?
		say "$ostiary" diff "$tag-g$kind" --name-only
		same "$kind: what was merged is not pending" "$(grep -xc sub/text <<<"$out")" 0
		say "$ostiary" undo
		same "$kind: undo brings the host's own version back" "$code $(sed -n '3p;25p' sub/text | tr '\n' ' ')" '0 3 twenty-five '
	done
	# The base must be older than the box: what the user committed since would be thrown away with it.
	fresh committed
	git init -q
	seq 1 30 >text
	git add -A && git commit -qm 1
	box "$tag-gc" 'sed -i s/^3$/three/ text'
	sed -i 's/^25$/twenty-five/' text
	git commit -qam 2
	say "$ostiary" apply "$tag-gc" text --yes --3way
	same 'a base that is younger than the box is none' "$code $(sed -n '3p;25p' text | tr '\n' ' ')" '1 3 twenty-five '
else
	skip 'merging with git' 'git is not installed'
fi

fresh applied
seq 1 30 >text
sleep 0.05
say "$ostiary" create -q --name "$tag-ap"
say "$ostiary" exec "$tag-ap" -- sed -i 's/^3$/three/' text
say "$ostiary" apply "$tag-ap" --yes
sed -i 's/^25$/twenty-five/' text
say "$ostiary" exec "$tag-ap" -- sed -i 's/^10$/ten/' text
say "$ostiary" apply "$tag-ap" --yes
same 'the user edits after an apply, and the box too: a conflict' "$code $(sed -n '3p;10p;25p' text | tr '\n' ' ')" '1 three 10 twenty-five '
say "$ostiary" apply "$tag-ap" --yes --3way
same 'whose base is what was applied' "$code $(sed -n '3p;10p;25p' text | tr '\n' ' ')" '0 three ten twenty-five '
"$ostiary" rm --force "$tag-ap" >/dev/null 2>&1

# --- case 72: somebody swaps directories and links while apply and undo run ------------------------
fresh race
mkdir -p a/b "$work/outside"
for i in $(seq 1 60); do echo 1 >"a/b/f$i"; done
echo precious >"$work/outside/f1"
box "$tag-race" 'for i in $(seq 1 60); do echo evil >a/b/f$i; echo evil >a/b/g$i; done'
cat >"$work/racer.py" <<-'PY'
	import os, sys, time
	top, outside, stop = sys.argv[1:4]
	n = 0
	os.chdir(top)
	while not os.path.exists(stop):
	    try:
	        os.rename("a/b", "a/real")
	        os.symlink(outside, "a/b")
	        n += 1
	        os.unlink("a/b")
	        os.rename("a/real", "a/b")
	        os.rename("a/b/f1", "a/b/.f1")
	        os.symlink(outside + "/f1", "a/b/f1")
	        os.unlink("a/b/f1")
	        os.rename("a/b/.f1", "a/b/f1")
	    except OSError:
	        time.sleep(0.0001)
	        for was, now in (("a/real", "a/b"), ("a/b/.f1", "a/b/f1")):
	            if os.path.lexists(was):
	                if os.path.islink(now):
	                    os.unlink(now)
	                try:
	                    os.rename(was, now)
	                except OSError:
	                    pass
	print(n)
PY
python3 "$work/racer.py" "$PWD" "$work/outside" "$work/stop" >"$work/swaps" 2>"$work/racer.err" &
racer=$!
for i in $(seq 1 40); do
	timeout 150 "$ostiary" apply "$tag-race" --yes >/dev/null 2>&1 </dev/null
	timeout 150 "$ostiary" undo --yes >/dev/null 2>&1 </dev/null
done
: >"$work/stop"
wait "$racer"
[ "$(cat "$work/swaps")" -gt 100 ]
check 'case 72: the racer swapped often' $? "$(cat "$work/swaps" "$work/racer.err")"
same 'case 72: nothing was written through its links' "$(ls "$work/outside") $(cat "$work/outside/f1")" 'f1 precious'
# The control: a writer that goes by path is led outside by the same swap.
mv a/b a/real && ln -s "$work/outside" a/b && echo evil >a/b/f1
same 'case 72: the control' "$(cat "$work/outside/f1")" evil

remove_boxes
nothing_left 'nothing is left of the boxes'
exit $bad
