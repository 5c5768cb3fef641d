#!/bin/bash
# suite: test=user soak=root,user timeout=300
# tier: what the host is like when commits come is the same for every user
# git_host.sh - the host that gets a box's commits, by every sentence of docs/commits.md that no other suite tries: what is
# under way there, which work tree has the branch, files without commits, a repository that only the box has, no git.
set -u
. "$(dirname "$0")/lib_life.sh"
. "$here/lib_review.sh"
. "$here/lib_git.sh"

# waits NAME BOX WORDS: apply --yes fetches the commits and leaves branch, index and files; the sentence has the words.
waits() {
	local before
	before=$(git rev-parse main; git ls-files -s; cat a; ls)
	say "$ostiary" apply "$2" --yes
	same "$1: branch, index and files stay" "$(git rev-parse main; git ls-files -s; cat a; ls)" "$before"
	same "$1: the commits are here" "$(git log -1 --format=%s "ostiary/$2/heads/main")" 'from the box'
	holds "$1: the sentence" "$err" "$3"
}

# --- what is under way --------------------------------------------------------------------------------------------------
repo busy
box "$tag-busy" "$COMMIT"
git checkout -qb theirs && echo x >b && git commit -qam theirs && git checkout -q main
git bisect start >/dev/null 2>&1
waits 'a bisect' "$tag-busy" 'a bisect is under way'
git bisect reset >/dev/null 2>&1
for i in CHERRY_PICK_HEAD:cherry-pick REVERT_HEAD:revert; do
	git rev-parse theirs >".git/${i%:*}"
	waits "a ${i#*:}" "$tag-busy" "a ${i#*:} is under way"
	rm ".git/${i%:*}"
done
mkdir .git/rebase-apply
waits 'git am' "$tag-busy" 'a rebase or `git am` is under way'
rmdir .git/rebase-apply
git worktree add -q -f ../busy-too main
waits 'another work tree has the branch' "$tag-busy" "the branch is checked out in $work/busy-too too"
git worktree remove ../busy-too
say "$ostiary" apply "$tag-busy" --yes
same 'when nothing of that is left, the branch moves' "$code $(git log -1 --format=%s) $(git status --porcelain)" '0 from the box '

# --- what waits with a commit ---------------------------------------------------------------------------------------------
repo ontop
box "$tag-top" "$COMMIT; echo again >>a; echo loose >loose"
echo mine >>a
say "$ostiary" apply "$tag-top" --yes
same 'an uncommitted change to a path of waiting commits waits with them, another lands' "$(tail -n 1 a) $(absent c) $(cat loose)" 'mine 1 loose'
holds 'and what it waits for is told' "$err" "a: it comes with the commits that it is part of: git merge ostiary/$tag-top/heads/main"
say "$ostiary" apply "$tag-top" a --yes
holds 'a path of a commit alone is refused with a sentence' "$err" 'land as a whole'
repo files
box "$tag-files" "$COMMIT; echo again >>a"
say "$ostiary" apply "$tag-files" --yes --files
same 'with --files the files land without their commits' "$(tail -n 1 a) $(cat c) $(git log -1 --format=%s) $(git for-each-ref refs/ostiary)" 'again new first '

# --- the other branch, a tag that moved, a branch of the user's own name ------------------------------------------------
repo names
git tag v1
box "$tag-names" "git checkout -qb side; $COMMIT; git tag -f v1; git checkout -q main; git branch -qD side; git branch keep v1"
was=$(git rev-parse v1)
say "$ostiary" apply "$tag-names" --yes
same 'a tag of the box with the name of one of yours moves nothing' "$(git rev-parse v1)" "$was"
same 'it has a name of its own' "$(git log -1 --format=%s "ostiary/$tag-names/tags/v1")" 'from the box'
same 'so has a branch that is new' "$(git log -1 --format=%s "ostiary/$tag-names/heads/keep") $(git rev-parse -q --verify keep)" 'from the box '
box "$tag-again" true
"$ostiary" rm -f "$tag-names" >/dev/null 2>&1
box "$tag-names" 'echo z >z; git add z; git commit -qm "of another box"'
say "$ostiary" apply "$tag-names" --yes
same 'a new box of an old name replaces the old refs' "$(git for-each-ref --format='%(refname:lstrip=3) %(subject)' "refs/ostiary/$tag-names")" 'heads/main of another box'

# --- a repository that only the box has -----------------------------------------------------------------------------------
fresh only
echo p >p
box "$tag-only" 'git init -q; git add -A; git commit -qm made; git config core.fsmonitor "touch P"; echo true >.git/hooks/pre-commit; chmod 755 .git/hooks/pre-commit
	git init -q sub; cd sub; echo s >s; git add s; git commit -qm inner; git branch more'
say "$ostiary" apply "$tag-only" --yes
same 'a repository that only the box has is not made by --yes' "$(absent .git) $(absent sub/.git)" '1 1'
holds 'and that is said' "$err" 'on a terminal'
answer y,y,y,y,y,y,y,y "$ostiary" apply "$tag-only"
same 'on a terminal it is made by the host, with the commits' "$(git log -1 --format=%s "ostiary/$tag-only/heads/main") $(git -C sub log -1 --format=%s "ostiary/$tag-only/heads/more")" 'made inner'
same 'without the configuration and the hooks of the box' "$(git config core.fsmonitor) $(absent .git/hooks/pre-commit)" ' 1'
say "$ostiary" undo
same 'undo takes its refs away' "$(git for-each-ref; git -C sub for-each-ref)" ''

# --- no git, and a host's repository that cannot be read -------------------------------------------------------------------
repo nogit
box "$tag-nogit" "$COMMIT; echo loose >loose"
mkdir "$work/empty"
say env PATH="$work/empty" "$ostiary" diff "$tag-nogit" --no-pager
holds 'without git: diff says that commits wait' "$out" 'there is no git on this machine'
say env PATH="$work/empty" "$ostiary" apply "$tag-nogit" --yes
same 'without git: the working tree still lands' "$(cat loose) $(git log -1 --format=%s)" 'loose first'
holds 'and the commits are said to wait' "$err" 'there is no git on this machine'
repo broken
box "$tag-broken" "$COMMIT"
mv .git/HEAD ../head && echo nonsense >.git/HEAD
say "$ostiary" apply "$tag-broken" --yes
same 'a repository of the host that git cannot read: a sentence' "$([ "$code" != 0 ] && echo yes) $(grep -c 'HEAD, objects or refs are missing or damaged' <<<"$err") $(git -C "$work/files" rev-parse -q --verify "ostiary/$tag-broken/heads/main")" 'yes 1 '
mv ../head .git/HEAD
say "$ostiary" apply "$tag-broken" --yes
same 'mended, it is served' "$(git log -1 --format=%s "ostiary/$tag-broken/heads/main")" 'from the box'

remove_boxes
exit $bad
