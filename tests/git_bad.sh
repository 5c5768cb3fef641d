#!/bin/bash
# suite: test=user soak=root,user timeout=300
# tier: a repository in a bad state is the same for every user
# git_bad.sh - commits of a box and a host that is not ready for them: git at work there, a merge under way, a repository
# that is gone, a full disk, a kill in the middle. A sentence each time, nothing half landed, and undo still works.
set -u
. "$(dirname "$0")/lib_life.sh"
. "$here/lib_review.sh"

git config --global user.name Tester
git config --global user.email tester@example.net
git config --global init.defaultBranch main

# repo NAME: a repository with two files, and we are in it.
repo() {
	fresh "$1"
	git init -q && echo one >a && echo two >b && git add . && git commit -qm first
}
COMMIT='echo more >>a; echo new >c; git add -A; git commit -qm "from the box"'
# state: everything of the host that an apply may change, as text.
state() { (git for-each-ref && git ls-files -s && git status --porcelain && cat a b 2>/dev/null && ls) 2>&1; }
# left_alone NAME BOX: apply --yes leaves the branch, the files and the index; $err has the reason.
left_alone() {
	local head before
	head=$(git rev-parse main) before=$(git ls-files -s; cat a; ls)
	say "$ostiary" apply "$2" --yes
	same "$1: the branch stays" "$(git rev-parse main)" "$head"
	same "$1: so do files and index" "$(git ls-files -s; cat a; ls)" "$before"
	same "$1: the commits are fetched" "$(git log -1 --format=%s "refs/ostiary/$2/heads/main" 2>&1)" 'from the box'
	holds "$1: a merge is named" "$err" "git merge ostiary/$2/heads/main"
}

repo merge
box "$tag-merge" "$COMMIT"
git rev-parse HEAD >.git/MERGE_HEAD
left_alone 'a merge is under way' "$tag-merge"
holds 'a merge is under way: said' "$err" 'a merge is under way'
rm .git/MERGE_HEAD
say "$ostiary" apply "$tag-merge" --yes
same 'when it is over, apply again moves the branch' "$code $(git log -1 --format=%s) $(git status --porcelain)" '0 from the box '
say "$ostiary" undo
same 'and undo moves it back' "$(git log -1 --format=%s) $(git status --porcelain) $(cat a)" 'first  one'

repo rebase
box "$tag-rebase" "$COMMIT"
mkdir .git/rebase-merge
left_alone 'a rebase is under way' "$tag-rebase"
holds 'a rebase is under way: said' "$err" 'a rebase is under way'
rmdir .git/rebase-merge

repo dirty
box "$tag-dirty" "$COMMIT; echo loose >loose"
echo mine >>a
left_alone_dirty=$(git rev-parse main)
say "$ostiary" apply "$tag-dirty" --yes
same 'a file of yours is changed: the branch stays' "$(git rev-parse main) $(tail -n 1 a) $(absent c)" "$left_alone_dirty mine 1"
same 'what was not committed lands' "$(cat loose)" loose
holds 'and what is in the way is named' "$err" 'a'
git checkout -q a
say git merge -q "ostiary/$tag-dirty/heads/main"
same 'plain git merges it afterwards' "$code $(git log -1 --format=%s) $(tail -n 1 a)" '0 from the box more'

repo staged
box "$tag-staged" "$COMMIT"
echo mine >c && git add c
say "$ostiary" apply "$tag-staged" --yes
same 'a file of yours is staged: branch, file and index stay' "$(git log -1 --format=%s) $(cat c) $(git diff --cached --name-only)" 'first mine c'

repo lock
box "$tag-lock" "$COMMIT"
: >.git/index.lock
before=$(state)
say "$ostiary" apply "$tag-lock" --yes
same 'git is at work: nothing moves' "$(state)" "$before"
holds 'and the lock is named' "$err" 'index.lock'
same 'the lock is the user'\''s' "$(absent .git/index.lock)" 0
rm .git/index.lock
say "$ostiary" apply "$tag-lock" --yes
same 'without it the apply goes through' "$code $(git log -1 --format=%s)" '0 from the box'

repo reflock
box "$tag-reflock" "$COMMIT"
: >.git/refs/heads/main.lock
before=$(git ls-files -s; cat a; ls; git rev-parse main)
say "$ostiary" apply "$tag-reflock" --yes
same 'a locked branch: files and index are as they were' "$(git ls-files -s; cat a; ls; git rev-parse main)" "$before"
same 'nothing is left of the attempt' "$(absent .git/index.lock) $(git status --porcelain)" '1 '
rm .git/refs/heads/main.lock

repo gone
box "$tag-gone" "$COMMIT"
mv .git ../gone.git
say "$ostiary" diff "$tag-gone" --name-only
same 'a repository that is gone: diff still works' "$code" 0
say "$ostiary" apply "$tag-gone" --yes
same 'the files land, the commits wait' "$(tail -n 1 a) $(cat c) $(absent .git)" 'more new 1'
holds 'and that is said' "$err" 'stays in it'

repo other
box "$tag-other" "git checkout -qb side; $COMMIT; echo loose >loose"
say "$ostiary" apply "$tag-other" --yes
same 'the box is on another branch: yours and its files stay' "$(git symbolic-ref HEAD) $(cat a) $(absent c) $(cat loose)" 'refs/heads/main one 1 loose'
same 'and its branch is fetched' "$(git log -1 --format=%s "ostiary/$tag-other/heads/side")" 'from the box'

repo diverged
box "$tag-div" "$COMMIT"
echo host >d && git add d && git commit -qm mine
say "$ostiary" apply "$tag-div" --yes
same 'diverged: fetched, and nothing is a conflict' "$code $(git log -1 --format=%s) $(absent c)" '0 mine 1'
say git merge -q -m merged "ostiary/$tag-div/heads/main"
same 'and merged by plain git' "$code $(cat c d | tr '\n' ' ')" '0 new host '
say "$ostiary" diff "$tag-div" --exit-code
same 'after which the box has nothing left' "$code$out" 0

# --- a full disk, by the size that a file may have -------------------------------------------------------------------
repo full
box "$tag-full" 'head -c 400000 /dev/urandom >large; git add -A; git commit -qm "from the box"'
before=$(state)
say bash -c 'trap "" XFSZ; ulimit -f 100; exec "$@"' limited "$ostiary" apply "$tag-full" --yes
same 'no room for the objects: nothing has moved' "$(state)" "$before"
same 'and the exit status says so' "$([ "$code" != 0 ] && echo yes)" yes
same 'no half of a pack is named' "$(git fsck --full 2>&1)" ''
say "$ostiary" apply "$tag-full" --yes
same 'with room it goes through' "$code $(git log -1 --format=%s) $(git status --porcelain)" '0 from the box '

# --- kill -9 -----------------------------------------------------------------------------------------------------------
repo killed
box "$tag-kill" 'for i in 1 2 3 4 5 6 7 8; do echo $i >f$i; done; git add -A; git commit -qm "from the box"'
rounds=0
for ms in 5 15 30 50 70 90 110 130 150 170 190 220 250 300 350 400; do
	"$ostiary" apply "$tag-kill" --yes >/dev/null 2>&1 &
	pid=$!
	sleep "0.$(printf %03d "$ms")"
	kill -9 "$pid" 2>/dev/null
	wait "$pid" 2>/dev/null
	rounds=$((rounds + 1))
done
say "$ostiary" apply "$tag-kill" --yes
same "killed $rounds times, apply again ends where the box is" "$(git log -1 --format=%s) $(git status --porcelain) $(cat f8)" 'from the box  8'
same 'no lock, and the repository is whole' "$(absent .git/index.lock) $(git fsck --full --no-dangling 2>&1)" '1 '

remove_boxes
same 'rm leaves the fetched refs' "$(git -C "$work/killed" for-each-ref --format='%(refname)' refs/ostiary)" "refs/ostiary/$tag-kill/heads/main"
repo refs
box "$tag-refs" "$COMMIT"
say "$ostiary" apply "$tag-refs" --yes
say "$ostiary" rm --refs "$tag-refs"
same 'rm --refs takes them away, and nothing else' "$code $(git for-each-ref --format='%(refname)')" '0 refs/heads/main'

exit $bad
