#!/bin/bash
# suite: test=user soak=root,user timeout=300
# tier: what git on the host made of a box's commits is the same for every user
# git_merged.sh - a box's commits and a host that goes on by itself: files that git converts, files that git wrote again,
# commits that the person merged with plain git. What the host has is not offered again, and what is left is told by its status.
set -u
. "$(dirname "$0")/lib_life.sh"
. "$here/lib_review.sh"
. "$here/lib_git.sh"

# lacks NAME TEXT PATTERN: the pattern is in no part of it.
lacks() {
	# shellcheck disable=SC2053 # a pattern is meant
	if [[ $2 != *$3* ]]; then ok "$1"; else not_ok "$1" "\"$3\" is in \"$2\""; fi
}
# plain NAME BOX: diff shows the commit, and no file of it as not committed.
plain() {
	say "$ostiary" diff "$2"
	holds "$1: the commit is shown" "$out" '1 new commit'
	lacks "$1: its files are not called uncommitted" "$out" 'not committed'
}
# loose NAME BOX: some file is.
loose() {
	say "$ostiary" diff "$2"
	holds "$1: that is told" "$out" '# not committed'
}

# --- files that git converts ---------------------------------------------------------------------------------------------
repo eol
printf '*.txt text eol=crlf\n*.l text eol=lf\n' >.gitattributes && git add . && git commit -qm attributes
box "$tag-e1" 'printf "x\r\ny\r\n" >t.txt; printf "p\n" >t.l; git add t.txt t.l; git commit -qm crlf; git cat-file blob HEAD:t.txt | grep -c "$(printf "\r")" >/tmp/n; [ "$(cat /tmp/n)" = 0 ]'
plain 'eol=crlf' "$tag-e1"
box "$tag-e2" 'printf "x\r\ny\r\n" >t.txt; git add t.txt; git commit -qm crlf; printf "x\r\nz\r\n" >t.txt'
loose 'another content with converted line ends' "$tag-e2"
box "$tag-e3" 'printf "x\r\n" >t.bin; git add t.bin; git commit -qm raw; printf "x\n" >t.bin'
loose 'line ends where no attribute converts them' "$tag-e3"
repo autocrlf
git config core.autocrlf true
box "$tag-e4" 'printf "x\r\ny\r\n" >t; git add t 2>/dev/null; git commit -qm crlf; git cat-file blob HEAD:t | grep -q "$(printf "\r")" && exit 1; true'
plain 'core.autocrlf of the repository' "$tag-e4"
repo encoding
printf '*.u working-tree-encoding=UTF-16LE\n' >.gitattributes && git add . && git commit -qm attributes
box "$tag-e5" 'printf "a\0b\0\n\0" >t.u; git add t.u; git commit -qm wide; [ "$(git cat-file blob HEAD:t.u)" = ab ]'
plain 'working-tree-encoding' "$tag-e5"
box "$tag-e6" 'printf "x\r\n" >s.txt; echo "*.txt text" >>.gitattributes; git add s.txt'
say "$ostiary" diff "$tag-e6"
lacks 'what is staged and converted is not told as the index alone' "$out" 'staged: s.txt'
repo filtered
# shellcheck disable=SC2016 # for the shell in the box
box "$tag-e7" 'git config filter.x.clean "touch $PWD/ran /tmp/ran; tr a-z A-Z"; git config filter.x.smudge cat; echo "*.f filter=x text" >.gitattributes
	echo word >t.f; git add t.f; git commit -qm f; rm -f ran; [ "$(git cat-file blob HEAD:t.f)" = WORD ]'
loose 'a filter is not run to find out' "$tag-e7"
same 'nowhere on the host' "$(absent ran)" 1

# --- files that the host wrote again with what its HEAD has ----------------------------------------------------------------
repo again
box "$tag-a1" "$COMMIT"
cp a ../kept && echo other >a && cat ../kept >a && touch b
say "$ostiary" apply "$tag-a1" --yes
same 'the same content is no conflict: the branch moves' "$code $(git log -1 --format=%s) $(git status --porcelain) $(tail -n 1 a)" '0 from the box  more'
say "$ostiary" undo
same 'and undo leads back' "$(git log -1 --format=%s) $(git status --porcelain) $(cat a)" 'first  one'
repo checkout
git checkout -qb other && echo elsewhere >a && git commit -qam other && git checkout -q main
box "$tag-a2" "$COMMIT"
git checkout -q other && git checkout -q main
say "$ostiary" apply "$tag-a2" --yes
same 'also when git wrote it' "$code $(git log -1 --format=%s) $(git status --porcelain) $(tail -n 1 a)" '0 from the box  more'
repo linked
ln -s a l && git add l && git commit -qm l
box "$tag-a3" 'rm l; ln -s b l; git commit -qam "from the box"'
rm l && ln -s a l
say "$ostiary" apply "$tag-a3" --yes
same 'a link too' "$code $(git log -1 --format=%s) $(git status --porcelain) $(readlink l)" '0 from the box  b'
repo worked
box "$tag-a4" "$COMMIT"
echo mine >>a
say "$ostiary" apply "$tag-a4" --yes
same 'another content is one: nothing moves, and the status says so' "$code $(git log -1 --format=%s) $(tail -n 1 a)" '1 first mine'
repo ignoredfile
echo x >.gitignore && git add -A && git commit -qm i
box "$tag-a5" 'echo box >x; git add -f x; git commit -qm "from the box"'
echo mine >x
say "$ostiary" apply "$tag-a5" --yes
same 'so is a file that git does not look at' "$code $(git log -1 --format=%s) $(cat x)" '1 i mine'

# --- merged by plain git ----------------------------------------------------------------------------------------------------
# both NAME: a and the box's branch have diverged in one file, and the commits are here.
TOP='sed -i "1s/.*/from the box/" a; git commit -qam "from the box"'
both() {
	fresh "$1"
	git init -q && seq 20 >a && git add a && git commit -qm first
	box "$tag-$1" "$TOP; $2"
	sed -i '20s/.*/mine/' a && git commit -qam mine
	say "$ostiary" apply "$tag-$1" --yes
	same "$1: diverged, so that something waits" "$code $(git log -1 --format=%s "ostiary/$tag-$1/heads/main")" '1 from the box'
}
both merged true
git merge -q --no-edit "ostiary/$tag-merged/heads/main"
same 'the merge has both' "$(sed -n '1p;20p' a | tr '\n' ' ')" 'from the box mine '
say "$ostiary" diff "$tag-merged"
same 'after a merge the file is not offered again' "$code$out" 0
say "$ostiary" apply "$tag-merged" --yes
same 'apply has nothing to do' "$code $(sed -n '1p;20p' a | tr '\n' ' ')" '0 from the box mine '
holds 'and says so' "$err" 'nothing pending'
same 'the box holds no work any more' "$("$ostiary" ps -aq --filter changes=yes | grep -e "-merged")" ''
sed -i '10s/.*/later/' a
say "$ostiary" diff "$tag-merged"
same 'nor when the person goes on' "$code$out" 0
git checkout -q -b later && git commit -qam later && git checkout -q main
say "$ostiary" diff "$tag-merged"
same 'nor on another branch' "$code$out" 0
both ontop 'sed -i "2s/.*/loose/" a'
git merge -q --no-edit "ostiary/$tag-ontop/heads/main"
say "$ostiary" diff "$tag-ontop" --name-only
same 'what the box did not commit is still offered' "$out" a
holds 'and the box holds work' "$("$ostiary" ps -aq --filter changes=yes)" "$tag-ontop"
repo forward
box "$tag-forward" "$COMMIT"
mkdir .git/rebase-merge
say "$ostiary" apply "$tag-forward" --yes
rmdir .git/rebase-merge
git merge -q --ff-only "ostiary/$tag-forward/heads/main"
echo after >>a
say "$ostiary" diff "$tag-forward" --name-only
same 'after a fast-forward by plain git, work that follows is not taken back' "$out" ''
repo reverted
echo dirt >>a
box "$tag-reverted" 'git checkout -q a; git status >/dev/null'
say "$ostiary" diff "$tag-reverted" --name-only
same 'a box that put a file back to what HEAD has is shown' "$out" a
echo more >>a
say "$ostiary" diff "$tag-reverted" --name-only
same 'also when the host went on' "$out" a

# --- what of the git directory stays ------------------------------------------------------------------------------------------
repo planted
box "$tag-p1" 'mkdir -p .git/hooks; echo "touch pwned" >.git/hooks/pre-commit; chmod 755 .git/hooks/pre-commit; echo "*.o" >>.git/info/exclude; git config core.fsmonitor ./x; git config user.nick me'
say "$ostiary" diff "$tag-p1"
holds 'a planted hook is mentioned' "$out" '# 2 files of its git directory stay in the box: hooks/pre-commit, info/exclude'
holds 'a setting is the command that makes it' "$out" 'git config user.nick me'
holds 'with a word when git would run something' "$out" 'runs on commit) git config core.fsmonitor ./x'
say "$ostiary" apply "$tag-p1" --yes
same 'none of it lands' "$(absent .git/hooks/pre-commit) $(git config core.fsmonitor)$(git config user.nick) $(grep -c '\*.o' .git/info/exclude)" '1  0'
echo true >.git/hooks/post-merge && chmod 755 .git/hooks/post-merge
box "$tag-p2" 'rm .git/hooks/post-merge; echo false >.git/hooks/"a
b"'
say "$ostiary" diff "$tag-p2"
holds 'also one that is gone, and any name is quoted' "$out" 'stay in the box: hooks/a?x0ab, hooks/post-merge'
box "$tag-p3" 'touch .git/hooks/post-merge; git status >/dev/null'
say "$ostiary" diff "$tag-p3"
lacks 'a hook that was only touched is not' "$out" 'git directory'

# --- the end of a run ----------------------------------------------------------------------------------------------------------
repo closing
say "$ostiary" run --name "$tag-cl" -- sh -c 'echo x >>a; git commit -qam m; git config core.bare true'
holds 'commits that cannot be read are not passed over at the end of a run' "$err" "box $tag-cl: what it committed cannot be told now: "
say "$ostiary" run --new --name "$tag-cr" -- sh -c 'echo x >>a; git commit -qam m; rm -f .git/objects/$(git rev-parse HEAD:a | sed "s,^..,&/,")'
holds 'nor are those of a branch that is refused' "$err" "box $tag-cr: what it committed cannot be told now: main: "

# --- each ref is asked for ------------------------------------------------------------------------------------------------------
repo asked
box "$tag-q" 'git branch side; git tag v1; git commit -q --allow-empty -m empty'
answer n,n,n,n "$ostiary" apply "$tag-q"
same 'on a terminal a ref that brings no file is asked for too' "$(git for-each-ref refs/ostiary) $(git log -1 --format=%s)" ' first'
same 'and who says no gets what was asked for' "$code" 0
say "$ostiary" apply "$tag-q" --yes
same '--yes takes what is plain' "$code $(git log -1 --format=%s) $(git for-each-ref --format='%(refname:lstrip=3)' refs/ostiary | tr '\n' ' ')" "0 empty heads/main heads/side tags/v1 "
same 'and no branch or tag of the host but the one at hand' "$(git for-each-ref --format='%(refname)' refs/heads refs/tags)" refs/heads/main

# --- what is on top of a commit is not in the answer about the commit ---------------------------------------------------------------
repo overit
box "$tag-t1" 'echo hello >tool; echo 2 >>b; git add -A; git commit -qm "from the box"; printf "#!/bin/sh\ntouch P\n" >tool; chmod +x tool; rm b'
answer d,y,d,n "$ostiary" apply "$tag-t1"
holds 'changed plain files on top of a commit are named' "$out" 'added    tool (plain), not committed'
holds 'also one that goes' "$out" 'deleted  b (plain), not committed'
holds 'and shown' "$out" '+touch P'
same 'who takes the commit has not taken them' "$(absent tool) $(cat b) $(git log -1 --format=%s) $(git log -1 --format=%s "ostiary/$tag-t1/heads/main")" '1 two first from the box'
answer y "$ostiary" apply "$tag-t1"
same 'who says yes gets them' "$code $(cat tool | tail -n 1) $(absent b) $(git log -1 --format=%s)" '0 touch P 1 from the box'
repo asitis
box "$tag-t2" "$COMMIT"
answer y "$ostiary" apply "$tag-t2"
same 'a commit without anything on top is one question' "$code $(git log -1 --format=%s) $(tail -n 1 a) $(grep -c '\[y/N' <<<"$out")" '0 from the box more 1'

# --- the box's word hides nothing ----------------------------------------------------------------------------------------------------
fresh hidden
# shellcheck disable=SC2016 # a keyword of git
git init -q && { echo '# $Id$' && seq 9; } >x.txt && git add -A && git commit -qm first
box "$tag-h1" 'sed -i s/5/five/ x.txt; git commit -qam "from the box"'
say "$ostiary" apply "$tag-h1" --yes
sed -i s/9/nine/ x.txt && git commit -qam mine
# shellcheck disable=SC2016
say "$ostiary" exec "$tag-h1" sh -c 'echo "*.txt ident" >.git/info/attributes; sed -i "s/^# .Id.*/# \$Id: PAYLOAD \$/" x.txt'
say "$ostiary" stop "$tag-h1"
say "$ostiary" diff "$tag-h1"
holds 'attributes of the box hide no change of a file that was taken' "$out" '+# $Id: PAYLOAD $'
say "$ostiary" diff "$tag-h1" --json
same 'nor from programs' "$(json '[c["path"] for c in d["changes"]]' <<<"$out")" "['x.txt']"

# --- holes ---------------------------------------------------------------------------------------------------------------------------
# cheap NAME BOX: diff takes little processor time, whatever the box has staged.
cheap() {
	say bash -c 'ulimit -t 10; exec "$@"' - "$ostiary" diff --stat "$2"
	same "$1" "$code" 0
	holds "$1: and is told" "$out" 'plain files are staged'
}
repo holes
# shellcheck disable=SC2016 # for the shell in the box
box "$tag-o1" 'for i in $(seq 60); do echo $i >f$i; done; git add -A; for i in $(seq 60); do truncate -s 256M f$i; done'
cheap 'files of holes are not read when their sizes say enough' "$tag-o1"
repo lying
# shellcheck disable=SC2016
box "$tag-o2" 'python3 -c "
import os, zlib
os.makedirs(\".git/objects/aa\", exist_ok=True)
open(\".git/objects/aa/\" + \"b\" * 38, \"wb\").write(zlib.compress(b\"blob 268435456\\0x\"))"
	for i in $(seq 60); do truncate -s 256M f$i; echo "100644 aa$(printf %038d 0 | tr 0 b)	f$i"; done | git update-index --add --index-info'
cheap 'nor many of them when the box lies about sizes' "$tag-o2"

# --- a host that loses what it had ------------------------------------------------------------------------------------------------
# note BOX: which file the note is: a new one is written when git was asked again. work BOX: is it said to hold work?
note() { stat -c %i "$HOME/.local/state/ostiary/boxes/$1/git-landed"; }
work() { "$ostiary" ps -aq --filter changes=yes | grep -cx -e "$1"; }
# kept NAME BOX: ps says that it holds work, and rm does not delete it without a word.
kept() {
	same "$1: the box holds work again" "$(work "$2")" 1
	say "$ostiary" rm "$2" </dev/null
	same "$1: and rm does not delete it unasked" "$code $("$ostiary" ps -aq | grep -cx -e "$2")" '64 1'
}
repo undone
box "$tag-u1" 'git checkout -qb side; echo w >w; git add -A; git commit -qm work; git checkout -q main'
say "$ostiary" apply "$tag-u1" --yes
same 'what was taken is not pending' "$(work "$tag-u1")" 0
was=$(note "$tag-u1")
echo on >>a && git commit -qam on
same 'nor when the host goes on, and git in the box is not asked again' "$(work "$tag-u1") $(note "$tag-u1")" "0 $was"
say "$ostiary" undo
kept 'undo' "$tag-u1"
say "$ostiary" apply "$tag-u1" --yes
same 'taken again, it is not' "$(work "$tag-u1")" 0
git update-ref -d "refs/ostiary/$tag-u1/heads/side"
kept 'a ref that was deleted' "$tag-u1"
repo stashed
box "$tag-u2" 'echo w >>a; git stash -q; echo x >>a; git stash -q'
say "$ostiary" apply "$tag-u2" --yes
same 'stashes that were taken are not pending' "$(work "$tag-u2")" 0
git update-ref -d "refs/ostiary/$tag-u2/stash/1"
kept 'a stash' "$tag-u2"
repo tagged
git branch side && git tag -am t t
box "$tag-u3" 'git commit -q --allow-empty -m other; git reset -q --hard HEAD~1; git gc -q'
same 'what the host had before is not pending' "$(work "$tag-u3")" 0
git branch -qD side
kept 'a branch of the host that the box has' "$tag-u3"
git branch side && git tag -d t >/dev/null
kept 'a tag' "$tag-u3"
repo cloned
box "$tag-u4" 'git checkout -q --detach; echo w >>a; git commit -qam work'
say "$ostiary" apply "$tag-u4" --yes --files
say "$ostiary" apply "$tag-u4" --yes
same 'a detached HEAD that was taken is not pending' "$(work "$tag-u4")" 0
rm -rf .git && git init -q && git add -A && git commit -qm anew
kept 'another repository' "$tag-u4"

remove_boxes
exit $bad
