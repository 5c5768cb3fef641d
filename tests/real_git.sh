#!/bin/bash
# suite: test=root,user soak=root,user timeout=400
# tier: git looks at who owns a repository, which the id map of root changes
# real_git.sh - git in a box: plain repositories, linked worktrees and submodules as workspaces. What it
# commits stays in the box until it is taken out; the repository on the host does not change by one byte.
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
if ! has git; then
	skip 'git in a box' 'git is not installed'
	exit 0
fi
export GIT_CONFIG_NOSYSTEM=1
git config --global user.name 'Host Person'
git config --global user.email host@example.org
git config --global init.defaultBranch main
git config --global protocol.file.allow always
sum_of() { (cd "$1" && find . \( -type f -exec sha256sum {} + \) -o -print | sort | sha256sum); }

# --- a new repository ---------------------------------------------------------------------------------
cd "$work/ws" || exit 1
out=$(box -n new --keep -- sh -c 'git init -q . && echo a >a && git add a && git commit -q -m first && git log --format="%s by %an <%ae>"' 2>&1)
same 'init, add, commit, with a name to commit under' "$out" 'first by Host Person <host@example.org>'
[ ! -e .git ]
check 'nothing of it is on the host' $? "$(ls -A)"
same 'it is still there for the next command' "$("$ostiary" exec new -- git log --format=%s)" first
"$ostiary" rm -f new >/dev/null 2>&1

# --- a repository with history --------------------------------------------------------------------------
mkdir "$work/repo" && cd "$work/repo" && git init -q . && echo one >f && mkdir d && echo two >d/g && git add . && git commit -q -m one
for i in $(seq 20); do echo "$i" >"d/$i"; done
git add . && git commit -q -m many && git tag v1 && git branch side
before=$(sum_of "$work/repo")
out=$(box -n old --keep -- sh -c '
	git status --porcelain; git log --oneline | wc -l
	echo changed >f; git rm -q d/1; git mv d/2 d/moved; git commit -q -a -m "in the box"
	git checkout -q side && echo side >s && git add s && git commit -q -m side && git checkout -q main && git merge -q --no-edit side
	git stash list; git gc -q; git fsck --strict 2>&1 | grep -v dangling; git log --oneline | wc -l; git status --porcelain' 2>&1)
same 'status, commit, branch, merge, gc, fsck' "$(tr '\n' ' ' <<<"$out")" '2 5 '
same 'the repository on the host is untouched' "$(sum_of "$work/repo")" "$before"
"$ostiary" exec old -- git bundle create -q /tmp/b HEAD && "$ostiary" cp -q old:/tmp/b "$work/b"
git fetch -q "$work/b" HEAD && [ "$(git log --format=%s -n 1 FETCH_HEAD)" != '' ]
check 'what it committed can be taken out as a bundle' $? "$(git log --oneline FETCH_HEAD 2>&1)"
"$ostiary" rm -f old >/dev/null 2>&1

# --- a linked worktree ------------------------------------------------------------------------------------
git -C "$work/repo" worktree add -q "$work/linked" -b linked
cd "$work/linked" || exit 1
before=$(sum_of "$work/repo") && before_ws=$(sum_of "$work/linked")
out=$(box -n linked --keep -- sh -c 'git status --porcelain; echo new >n; git add n; git commit -q -m "from a worktree"; git log --format=%s -n 1; git branch --show-current; git worktree list | wc -l' 2>&1)
same 'a linked worktree as workspace: commit' "$(tr '\n' ' ' <<<"$out")" 'from a worktree linked 2 '
same 'the repository behind it is untouched' "$(sum_of "$work/repo")" "$before"
same 'so is the worktree' "$(sum_of "$work/linked")" "$before_ws"
same 'the commit is in the layer of the box' "$("$ostiary" exec linked -- git log --format=%s -n 1)" 'from a worktree'
[ -z "$("$ostiary" exec linked -- sh -c "cat '$work/repo/f'" 2>/dev/null)" ]
check 'the other worktree is not shown' $? 'its files can be read'
"$ostiary" rm -f linked >/dev/null 2>&1

# --- a submodule ------------------------------------------------------------------------------------------
mkdir "$work/part" && cd "$work/part" && git init -q . && echo part >p && git add . && git commit -q -m part
cd "$work/repo" && git submodule --quiet add "$work/part" sub 2>/dev/null && git commit -q -m 'with a part'
before=$(sum_of "$work/repo")
out=$(box -- sh -c 'git submodule status | grep -c sub; cd sub && echo x >x && git add x && git commit -q -m "in the part" && cd .. && git commit -q -a -m moved && git log --format=%s -n 1' 2>&1)
same 'a repository with a submodule' "$(tr '\n' ' ' <<<"$out")" '1 moved '
cd "$work/repo/sub" || exit 1
out=$(box -- sh -c 'git status --porcelain; echo y >y; git add y; git commit -q -m "from inside"; git log --format=%s -n 1' 2>&1)
same 'a submodule as workspace: commit' "$out" 'from inside'
same 'the repository that holds it is untouched' "$(sum_of "$work/repo")" "$before"

# --- --live, and what the host's settings bring ---------------------------------------------------------------
cd "$work/part" || exit 1
box --live -- sh -c 'echo live >l && git add l && git commit -q -m live' >/dev/null 2>&1
same '--live commits on the host' "$(git log --format=%s -n 1)" live
same 'and what it wrote is ours' "$(stat -c %u l .git/HEAD | sort -u)" "$(id -u)"
git config --global credential.helper 'store --file /secret'
git config --global core.sshCommand 'ssh -i /secret'
out=$(box -- git config --list 2>&1)
! grep -q secret <<<"$out"
check 'helpers and keys of your settings stay outside' $? "$out"
same 'no dubious ownership' "$(box -- git status --porcelain 2>&1)" ''

# Host git must not run what a box planted; here: the box's hook stays in its layer.
box -- sh -c 'printf "#!/bin/sh\ntouch /tmp/ran\n" >.git/hooks/post-commit; chmod +x .git/hooks/post-commit' >/dev/null 2>&1
[ ! -e .git/hooks/post-commit ]
check 'a hook written in the box is not on the host' $? "$(ls .git/hooks)"
exit $bad
