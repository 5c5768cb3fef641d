#!/bin/bash
# suite: test=user soak=root,user timeout=400
# tier: the user's own git does the work; its owner is the only difference
# git_work.sh - work with git as agents and people do it: an agent commits on main, on a branch, rebases, tags, stashes,
# works in a linked worktree and in a submodule; the person takes it with `ostiary apply` and goes on with plain git. After
# an apply `git status` on the host shows what it showed in the box, and `ostiary undo` moves the branch back.
# shellcheck disable=SC2016
cd "$(dirname "$0")/.." || exit 1
# shellcheck source=tests/lib.sh
. tests/lib.sh
has git || {
	skip 'work with git' 'git is not installed'
	exit 0
}
export GIT_CONFIG_NOSYSTEM=1
git config --global user.name 'A User'
git config --global user.email user@example.test
git config --global safe.directory '*'
git config --global init.defaultBranch main
git config --global protocol.file.allow always
git config --global advice.detachedHead false
agent='export GIT_AUTHOR_NAME=agent GIT_AUTHOR_EMAIL=a@example.test GIT_COMMITTER_NAME=agent GIT_COMMITTER_EMAIL=a@example.test; set -e'
n=0 box='' ws=''
fresh() { # a small project with two commits
	n=$((n + 1)) ws=$work/w$n box=gw$n
	mkdir -p "$ws/src" && cd "$ws" || exit 1
	git init -q
	printf 'one\ntwo\nthree\nfour\nfive\nsix\n' >src/text
	echo read >README
	echo build/ >.gitignore
	git add -A && git commit -qm first
	echo second >>README && git commit -qam second
	git status >/dev/null
}
# inside SCRIPT: what the agent does. ${in_box} is what git status says there at the end.
inside() {
	sleep 0.05
	timeout -k 2 200 "$ostiary" run -q -n "$box" --workspace "$ws" -- sh -c "$agent
$1
cd '$ws'; git status --porcelain" </dev/null >"$work/status" 2>"$work/in.err" || check 'the agent did its work' 1 "$(tail -n 3 "$work/in.err")"
	in_box=$(cat "$work/status")
}
apply() {
	said=$(timeout 300 "$ostiary" apply "$box" --yes "$@" 2>&1 </dev/null)
	code=$?
}
undo() {
	said=$(timeout 300 "$ostiary" undo 2>&1 </dev/null)
	code=$?
}
subjects() { git log --format=%s "$@" | tr '\n' ' '; }
whole() { # name: git's own opinion of the repository
	git fsck --strict --no-progress --no-dangling >"$work/fsck" 2>&1
	check "$1: the repository is whole" $? "$(head -n 3 "$work/fsck")"
}
tree() { find . -name .git -prune -o -type f -printf '%p %m ' -exec sha256sum {} \; -o -type l -printf '%p %l\n' | sort; }
gone() { "$ostiary" rm -f "$box" >/dev/null 2>&1; }

# --- on the branch that is checked out -----------------------------------------------------------------------------------

fresh
before=$(tree) head=$(git rev-parse HEAD)
inside 'sed -i s/two/zwei/ src/text; echo new >src/new; git add -A; git commit -qm "from the agent"
git mv README README.md; chmod 755 src/new; git commit -qam "and more"; echo loose >loose; echo seven >>src/text'
diff=$(timeout 200 "$ostiary" diff "$box" 2>&1 </dev/null)
holds 'on main: diff tells the commits' "$diff" 'from the agent'
holds 'on main: and what was not committed' "$diff" '+seven'
apply
same 'on main: apply' "$code" 0
same 'on main: the branch moved' "$(subjects)" 'and more from the agent second first '
same 'on main: git status says what it said in the box' "$(git status --porcelain)" "$in_box"
same 'on main: so says the tree' "$(cat loose README.md; tail -n 1 src/text; stat -c %a src/new)" $'loose\nread\nsecond\nseven\n755'
whole 'on main'
same 'on main: nothing is pending' "$(timeout 200 "$ostiary" diff "$box" --name-only 2>/dev/null </dev/null)" ''
echo mine >mine && git add mine && git commit -qm mine
check 'on main: the person commits on top' $? "$(git status --porcelain)"
git reset -q HEAD~1 && rm mine
undo
same 'on main: undo moves the branch back' "$code $(git rev-parse HEAD)" "0 $head"
same 'on main: and the files' "$(tree)" "$before"
same 'on main: with nothing left in the index' "$(git status --porcelain)" ''
whole 'on main, after undo'
apply
same 'on main: it can be applied again' "$(subjects)" 'and more from the agent second first '
undo
gone

# What happened on the host meanwhile: its index was written anew, something else is staged, something else is dirty.
fresh
inside 'echo new >src/new; git add -A; git commit -qm "from the agent"'
touch -d 2001-02-03 README && git update-index --refresh >/dev/null
echo staged >staged && git add staged && echo dirty >>README
apply
same 'beside work of yours: the branch moved' "$(subjects)" 'from the agent second first '
same 'beside work of yours: which is as it was' "$(git status --porcelain)" $' M README\nA  staged'
undo
same 'beside work of yours: also after undo' "$(git status --porcelain) $(subjects)" $' M README\nA  staged second first '
gone

# --- on another branch ----------------------------------------------------------------------------------------------------

fresh
inside 'git checkout -q -b fix; sed -i s/three/drei/ src/text; git commit -qam "the fix"; echo more >>README; git commit -qam "more of it"'
before=$(tree)
apply
holds 'on a branch: the sentence says what to type' "$said" "git merge ostiary/$box/heads/fix"
same 'on a branch: your branch and files stay' "$(git symbolic-ref HEAD) $(subjects)$(tree)" "refs/heads/main second first $before"
same 'on a branch: nothing lies around' "$(git status --porcelain)" ''
same 'on a branch: the commits are there' "$(subjects "ostiary/$box/heads/fix")" 'more of it the fix second first '
git cherry-pick "ostiary/$box/heads/fix~1" >/dev/null 2>&1
same 'on a branch: one of them is picked' "$(subjects) $(grep -c drei src/text)" 'the fix second first  1'
git reset -q --hard HEAD~1
git merge -q "ostiary/$box/heads/fix" 2>"$work/merge"
same 'on a branch: or all merged' "$? $(subjects)$(git status --porcelain)" '0 more of it the fix second first '
whole 'on a branch'
undo
same 'on a branch: undo takes the ref away and leaves what you merged' "$(git for-each-ref refs/ostiary) $(subjects)" ' more of it the fix second first '
gone

# --- both go on, and the box's commits are merged ----------------------------------------------------------------------------

fresh
inside 'sed -i s/two/zwei/ src/text; git commit -qam "of the agent"'
echo mine >mine && git add mine && git commit -qm mine
apply
holds 'diverged: the sentence says what to type' "$said" "git merge ostiary/$box/heads/main"
same 'diverged: your branch stays' "$(subjects)$(git status --porcelain)" 'mine second first '
git merge -q --no-edit "ostiary/$box/heads/main" 2>"$work/merge"
check 'diverged: the merge works' $? "$(cat "$work/merge")"
same 'diverged: both are in it' "$(cat mine; grep -c zwei src/text)" $'mine\n1'
apply
same 'diverged: then nothing is pending' "$code $(git status --porcelain)" '0 '
gone

# A rebase in the box: history that the host has is not the box's any more.
fresh
git checkout -q -b topic && echo t >t && git add t && git commit -qm topic && git checkout -q main && echo m >m && git add m && git commit -qm ahead && git checkout -q topic
inside 'git rebase -q main; echo t2 >t2; git add t2; git commit -qm "after the rebase"'
was=$(git rev-parse topic)
apply
same 'rebased: your branch is not rewritten' "$(git rev-parse topic)" "$was"
holds 'rebased: the new history has a name' "$said" "ostiary/$box/heads/topic"
git reset -q --hard "ostiary/$box/heads/topic"
same 'rebased: and is yours with one command' "$(subjects)$(git status --porcelain)" 'after the rebase topic ahead second first '
whole 'rebased'
gone

# --- tags and stashes -----------------------------------------------------------------------------------------------------------

fresh
inside 'echo r >r; git add r; git commit -qm release; git tag light; git tag -a -m "version one" v1; echo s >>README; echo u >untracked; git stash -q -u; echo s2 >>src/text; git stash -q'
apply
same 'tags: they are under our name' "$(git cat-file -t "ostiary/$box/tags/v1") $(git rev-parse "ostiary/$box/tags/light")" "tag $(git rev-parse main)"
same 'tags: and none is yours' "$(git tag)" ''
git fetch -q . "refs/ostiary/$box/tags/v1:refs/tags/v1"
same 'tags: until you take it' "$(git describe)" v1
same 'stashes: the list of yours is empty' "$(git stash list)" ''
git stash apply -q "ostiary/$box/stash/0" 2>"$work/stash"
same 'stashes: the newest' "$(git status --porcelain)" ' M src/text'
git checkout -q . && git stash apply -q "ostiary/$box/stash/1" 2>>"$work/stash"
same 'stashes: the older one, with its untracked file' "$(git status --porcelain)" $' M README\n?? untracked'
git checkout -q . && rm untracked
whole 'tags and stashes'
gone

# --- a linked worktree: in the workspace, and as the workspace ------------------------------------------------------------------

fresh
echo trees/ >>.git/info/exclude
git worktree add -q -b side trees/side
inside 'cd trees/side; echo side >s; git add s; git commit -qm "in the worktree"; echo loose >loose'
apply
same 'a worktree: its branch moved' "$(subjects side)" 'in the worktree second first '
same 'a worktree: its tree has it' "$(git -C trees/side status --porcelain; cat trees/side/s)" $'?? loose\nside'
same 'a worktree: the other is as it was' "$(subjects)$(git status --porcelain)" 'second first '
whole 'a worktree'
undo
same 'a worktree: undo' "$(subjects side)$(git -C trees/side status --porcelain)" 'second first '
gone
main=$ws
git worktree add -q -b out "$work/out$n"
cd "$work/out$n" && ws=$PWD box=gw${n}out || exit 1
inside 'echo o >o; git add o; git commit -qm "from outside"'
apply
same 'a worktree as the workspace: its branch moved' "$(subjects)$(git status --porcelain)" 'from outside second first '
same 'a worktree as the workspace: the repository has it' "$(git -C "$main" log -1 --format=%s out)" 'from outside'
same 'a worktree as the workspace: and nothing else of the box' "$(git -C "$main" status --porcelain; find "$main/.git/hooks" -type f ! -name "*.sample")" ''
whole 'a worktree as the workspace'
gone

# --- a submodule -------------------------------------------------------------------------------------------------------------------

fresh
git init -q "$work/lib$n" && (cd "$work/lib$n" && echo l >l && git add l && git commit -qm lib)
git submodule --quiet add "$work/lib$n" lib && git commit -qm 'add lib'
git -C lib checkout -q main && git status >/dev/null
inside 'cd lib; echo l2 >>l; git commit -qam "in the module"; cd ..; echo use >use; git add -A; git commit -qm "use it"'
apply
same 'a submodule: its branch moved' "$(subjects -1 main) $(git -C lib log -1 --format=%s)" 'use it  in the module'
same 'a submodule: the commit that names it is there' "$(git rev-parse HEAD:lib)" "$(git -C lib rev-parse HEAD)"
same 'a submodule: git status says what it said in the box' "$(git status --porcelain)" "$in_box"
whole 'a submodule'
(cd lib && whole 'in the submodule')
undo
same 'a submodule: undo' "$(subjects) $(git -C lib log --format=%s | tr '\n' ' ')$(git status --porcelain)" 'add lib second first  lib '
gone

# A submodule whose commit is not taken: what points to it waits.
fresh
git init -q "$work/lib$n" && (cd "$work/lib$n" && echo l >l && git add l && git commit -qm lib)
git submodule --quiet add "$work/lib$n" lib && git commit -qm 'add lib'
git -C lib checkout -q main && git status >/dev/null
inside 'cd lib; mkdir -p .github/workflows; echo x >.github/workflows/x.yml; git add -A; git commit -qm "in the module"; cd ..; git add -A; git commit -qm "use it"'
apply
same 'a submodule with what runs in CI: neither branch moved' "$(subjects) $(git -C lib log --format=%s)" 'add lib second first  lib'
same 'a submodule with what runs in CI: nothing lies around' "$(git status --porcelain)" ''
holds 'a submodule with what runs in CI: it is named' "$said" '.github/workflows/x.yml'
apply --yes=runs-in-ci
same 'a submodule with what runs in CI: both move when it is allowed' "$(subjects -1) $(git -C lib log -1 --format=%s) $(git status --porcelain)" 'use it  in the module '
gone

# --- a repository that only the box has, and a person who has none -------------------------------------------------------------------

mkdir "$work/plain" && cd "$work/plain" && ws=$PWD box=gwplain && echo p >p || exit 1
inside 'git init -q; git add -A; git commit -qm "a new repository"; echo q >q; printf "#!/bin/sh\n" >.git/hooks/pre-commit'
apply
same 'git init in the box: its files land, no repository does' "$(cat q; ls -A)" $'q\np\nq'
gone
nothing=$(find "$work" -name 'ostiary*' -path '*/.git/*' ! -path '*/refs/ostiary*' ! -path '*/logs/*')
same 'nothing of ours is left in any git directory' "$nothing" ''
exit $bad
