#!/bin/bash
# suite: test=user soak=root,user timeout=300
# tier: a repository in a bad state is the same for every user
# git_bad.sh - commits of a box and a host that is not ready for them: git at work there, a merge under way, a repository
# that is gone, a full disk, a kill in the middle. A sentence each time, nothing half landed, and undo still works.
set -u
. "$(dirname "$0")/lib_life.sh"
. "$here/lib_review.sh"
. "$here/lib_git.sh"

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
same 'diverged: fetched, nothing is a conflict, and the status says that something waits' "$code $(git log -1 --format=%s) $(absent c)" '1 mine 1'
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

# One that is killed while it holds the index: undo and the next apply take its lock away, and no other's. The box's
# commit has files enough that the lock is there for a while.
many='i=0; while [ $i -lt 400 ]; do echo $i >f$i; i=$((i + 1)); done; git add -A; git commit -qm "from the box"'
# killed_with_lock BOX: true when the apply was killed while its lock was there.
killed_with_lock() {
	"$ostiary" apply "$1" --yes >/dev/null 2>&1 &
	local pid=$!
	while kill -0 "$pid" 2>/dev/null && [ ! -e .git/index.lock ]; do :; done
	kill -9 "$pid" 2>/dev/null
	wait "$pid" 2>/dev/null
	[ -e .git/index.lock ]
}
repo locked
box "$tag-lk" "$many"
killed_with_lock "$tag-lk"
check 'an apply is killed while it has the index' $? 'no lock was left'
say "$ostiary" undo --dry-run
same 'a dry run leaves the lock' "$(absent .git/index.lock)" 0
say "$ostiary" undo
same 'undo takes the lock away, and what had landed' "$(absent .git/index.lock) $(git log -1 --format=%s) $(git status --porcelain) $(find . -name 'f*' -path './f*') $(find .git -maxdepth 1 -name 'index.*')" '1 first   '
killed_with_lock "$tag-lk"
say "$ostiary" apply "$tag-lk" --yes
same 'so does the next apply' "$code $(absent .git/index.lock) $(git log -1 --format=%s) $(git status --porcelain) $(cat f399)" '0 1 from the box  399'
say "$ostiary" undo
# The index is replaced, and the branch has not moved: made by hand, as a kill in between leaves it.
ids="$(git rev-parse main) $(git rev-parse "refs/ostiary/$tag-lk/heads/main" 2>/dev/null)"
say "$ostiary" apply "$tag-lk" --yes
new=$(git rev-parse main)
git update-ref refs/heads/main "${ids%% *}"
cp .git/index ../next && git read-tree "${ids%% *}" && cp .git/index .git/index.lock.before && mv ../next .git/index
printf 'ostiary\nrefs/heads/main %s\n' "$new" >.git/index.lock
echo "$PWD/.git" >>"$HOME/.local/state/ostiary/undo/git-locks"
say "$ostiary" undo
same 'an index that was replaced too early is as it was' "$(absent .git/index.lock) $(git log -1 --format=%s) $(git status --porcelain)" '1 first '
for words in '' 'ostiar' 'DIRC'; do
	printf %s "$words" >.git/index.lock
	echo "$PWD/.git" >>"$HOME/.local/state/ostiary/undo/git-locks"
	say "$ostiary" apply "$tag-lk" --yes
	same "a lock that says \"$words\" stays" "$(cat .git/index.lock) $(git log -1 --format=%s)" "$words first"
	rm .git/index.lock
done
printf 'ostiary\nrefs/heads/main %s\n' "$new" >.git/index.lock
exec 8<.git/index.lock && flock 8
say "$ostiary" apply "$tag-lk" --yes
same 'so does one of ours whose holder lives' "$(absent .git/index.lock) $(git log -1 --format=%s)" '0 first'
exec 8<&-

# --- what a box can make diff, apply and gc do ------------------------------------------------------------------------------
# A file of holes over a commit: sizes are compared before anything is read.
repo holes
box "$tag-holes" 'echo 2 >f; git add f; git commit -qm 2; truncate -s 15T f || truncate -s 2T f'
SAY_LIMIT=60 say "$ostiary" diff --stat "$tag-holes"
same 'a file of terabytes of holes over a commit: diff ends' "$code" 0
SAY_LIMIT=60 say "$ostiary" apply "$tag-holes" --yes --files
[ "$code" != 124 ] && [ "$code" != 137 ]
ended=$?
same 'and so does apply' "$ended" 0
rm -f f

# Content that only the box's index has, and notes, are work: gc and the end of a run keep the box.
repo index
box "$tag-index" 'echo only here >x; git add x; rm x'
say "$ostiary" gc
holds 'gc keeps a box with staged content alone' "$("$ostiary" ps -a 2>&1)" "$tag-index"
repo notes
box "$tag-notes" 'git notes add -m "a note"'
say "$ostiary" gc
holds 'and one with notes alone' "$("$ostiary" ps -a 2>&1)" "$tag-notes"
repo nothing
box "$tag-nothing" 'echo staged >>a; git add a; git reset -q --hard'
say "$ostiary" gc
case $("$ostiary" ps -a 2>&1) in *"$tag-nothing"*) not_ok 'a box without work is gone' "$("$ostiary" ps -a)" ;; *) ok 'a box without work is gone' ;; esac

# Many branches are told by few calls of git, and what cannot be told is said, with the status for that.
repo many
box "$tag-many" 'i=0; while [ $i -lt 700 ]; do i=$((i + 1)); echo "commit refs/heads/b$i
committer A <a@b> $i +0000
data 2
c
from refs/heads/main^0
M 100644 inline f$i
data 2
x
"; done | git fast-import --quiet --force'
say "$ostiary" diff "$tag-many"
same 'each of 700 branches is told with its commit' "$code $(grep -c '^#* *b[0-9]*: 1 new commit' <<<"$out") $(grep -c 'commit [0-9a-f]\{40\}$' <<<"$out")" '0 700 700'
repo wide
box "$tag-wide" 'for i in 1 2 3; do yes "a line of text" | head -c 30000000 >t$i; done; git add .; git commit -qm wide; git checkout -qb small main~1; echo s >s; git add s; git commit -qm small'
say "$ostiary" diff --all "$tag-wide"
same 'a commit that is too large to be shown: status 125' "$code" 125
holds 'it is said of the ref' "$out" 'its commits cannot be shown'
holds 'and the others are shown' "$out" 'small'

# Files do not go back when their branch cannot.
repo pruned
box "$tag-pruned" "$COMMIT"
say "$ostiary" apply "$tag-pruned" --yes
say "$ostiary" undo
redo=$(sed -n 's/.*do them again: ostiary undo \([0-9]*\).*/\1/p' <<<"$err")
git reflog expire --expire=now --all && git gc -q --prune=now
before=$(state)
say "$ostiary" undo "$redo"
[ "$code" != 0 ]
same 'undo of an undo whose commit was pruned is refused, and no file is touched' "$? $(state)" "0 $before"
holds 'with a sentence' "$err" 'does not have any more'

# A part of a repository, and a path that git cannot tell in a line.
mkdir part && cd part || exit 1
say "$ostiary" run --rm --name "$tag-part" -- true
holds 'a box in a part of a repository says that git is not there' "$err" 'which is not in the box'
cd ..
say "$ostiary" run --rm --name "$tag-top" -- true
case $err in *'which is not in the box'*) not_ok 'and at its top nothing' "$err" ;; *) ok 'and at its top nothing' ;; esac
repo 'line
end'
box "$tag-nl" "$COMMIT"
say "$ostiary" diff "$tag-nl"
holds 'a line end in the path of a repository is said' "$out" 'a line ends in the path'

# --- old histories ---------------------------------------------------------------------------------------------------------
# Faults that old programs left and that change no file and no name are taken; others are not. One branch each.
repo old
# shellcheck disable=SC2016 # for the shell in the box
box "$tag-old" 'b=$(git hash-object -w a); d=$(git rev-parse HEAD^{tree})
raw() { python3 -c "import sys; sys.stdout.buffer.write(eval(sys.argv[1]))" "$1" | git hash-object -t tree -w --stdin --literally; }
com() { printf "tree %s\n$2\n\nm\n" "$d" | git hash-object -t commit -w --stdin --literally >.git/refs/heads/"$1"; }
E="bytes.fromhex(\"$b\")"
git update-ref refs/heads/good-mode $(git commit-tree -m z $(raw "b\"100644 a\0\" + $E + b\"040000 sub\0\" + bytes.fromhex(\"$d\")"))
n=0; for a in "A U <a@b> 1 +051800" "A U <a@b>1 +0000" "A U <a@b> 01 +0000" "A U 1 +0000" "A <x <a@b> 1 +0000" "<a@b> 1 +0000" "A U<a@b> 1 +0000" "A> U <a@b> 1 +0000"; do n=$((n + 1)); com good-$n "author $a\ncommitter $a"; done
git update-ref refs/heads/bad-slash $(git commit-tree -m bad $(raw "b\"100644 x/y\0\" + $E"))
git update-ref refs/heads/bad-dot $(git commit-tree -m bad $(raw "b\"100644 .\0\" + $E"))
git update-ref refs/heads/bad-order $(git commit-tree -m bad $(raw "b\"100644 b\0\" + $E + b\"100644 a\0\" + $E"))
A="A <a@b> 1 +0000"; com bad-authors "author $A\nauthor $A\ncommitter $A"; com bad-committer "author $A"; com bad-date "author A <a@b> x +0000\ncommitter $A"'
say "$ostiary" apply "$tag-old" --yes
same 'harmless faults of old histories are taken, others are not' "$(git for-each-ref --format='%(refname:lstrip=4)' "refs/ostiary/$tag-old" | tr '\n' ' ')" \
	'good-1 good-2 good-3 good-4 good-5 good-6 good-7 good-8 good-mode '
for i in slash:fullPathname dot:hasDot order:treeNotSorted authors:multipleAuthors committer:missingCommitter date:badDate; do
	holds "bad-${i%:*} is refused by its fault" "$err" "bad-${i%:*} stays in the box: it was refused: object *${i#*:}"
done

remove_boxes
same 'rm leaves the fetched refs' "$(git -C "$work/killed" for-each-ref --format='%(refname)' refs/ostiary)" "refs/ostiary/$tag-kill/heads/main"
repo refs
box "$tag-refs" "$COMMIT"
say "$ostiary" apply "$tag-refs" --yes
say "$ostiary" rm --refs "$tag-refs"
same 'rm --refs takes them away, and nothing else' "$code $(git for-each-ref --format='%(refname)')" '0 refs/heads/main'

exit $bad
