#!/bin/bash
# suite: test=user soak=root,user timeout=900
# tier: a git directory is read in a box and with the caller's rights; what git makes of it is the same for both
# git_attacks.sh - a box writes to its git directory so that the user's next git command does harm: cases 60 to 62 and 97
# to 100 of the attack list. Commits that carry what review refused, forged objects and refs, git's own state, bad objects.
#
# Each attack is done by a real box and looked at three times. A plain copy of the box's layer: there the harm must be
# done, else the case shows nothing. `ostiary diff`: it names every path with a class that a commit would bring. After
# `ostiary apply --yes`: the harm is not done, the git directory is what it was but for new objects and refs/ostiary,
# git fsck finds nothing, and the user's own git works and runs nothing of the box's. A table is printed at the end.
# shellcheck disable=SC2016,SC2034,SC2317 # scripts for the shell in the box; variables and functions used by name
cd "$(dirname "$0")/.." || exit 1
# shellcheck source=tests/lib.sh
. tests/lib.sh
has git || {
	skip 'attacks through git' 'git is not installed'
	exit 0
}
export GIT_CONFIG_NOSYSTEM=1
git config --global user.name t
git config --global user.email t@example.test
git config --global safe.directory '*'
git config --global init.defaultBranch main
git config --global protocol.file.allow always
git config --global advice.detachedHead false
git config --global gc.auto 0
boxes=$HOME/.local/state/ostiary/boxes
canary=$work/canary
table=$work/table
: >"$table"
evil=.github/workflows/evil.yml
n=0 ws='' box=''

# --- the stage ------------------------------------------------------------------------------------------------------

fresh() { # a repository with two commits, a branch and a tag
	n=$((n + 1)) ws=$work/ws$n box=ga$n
	mkdir -p "$ws/src" && cd "$ws" || exit 1
	git init -q
	echo 'int main(void) { return 0; }' >src/main.c
	echo one >notes.txt
	git add -A && git commit -qm one
	git branch side && git tag v0
	echo two >notes.txt && git commit -qam two
	rm -f "$canary"
}
# What every box script can use. The canary is a path of the host's: nothing in a box can make it.
prelude() {
	cat <<-BOX
		set -e
		export GIT_AUTHOR_NAME=b GIT_AUTHOR_EMAIL=b@example.test GIT_COMMITTER_NAME=b GIT_COMMITTER_EMAIL=b@example.test
		canary='$canary' evil='$evil'
		evil() { mkdir -p "\$(dirname "\$evil")"; echo 'on: push' >"\$evil"; }
		commit() { git add -A && git commit -qm "\${1:-agent}"; }
		hook() { mkdir -p "\$(dirname "\$1")"; printf '#!/bin/sh\ntouch %s\n' "\$canary" >"\$1"; chmod 755 "\$1"; }
		# A commit on top of HEAD that has evil.yml, on no branch; its name.
		evil_commit() (
			export GIT_INDEX_FILE=/tmp/index.\$\$
			git read-tree HEAD
			git update-index --add --cacheinfo 100644,\$(echo 'on: push' | git hash-object -w --stdin),\$evil
			git commit-tree -p HEAD -m hidden \$(git write-tree)
		)
	BOX
}
inside() { timeout -k 2 200 "$ostiary" run -q -n "$box" --workspace "$ws" -- sh -c "$(prelude)
$1" </dev/null >"$work/in.out" 2>&1; }
plain_copy() {
	rm -rf "$work/naive" && cp -a "$ws" "$work/naive" || return 1
	python3 "$top/tests/review/layer_copy.py" "$(find "$boxes" -maxdepth 4 -path '*/layers/ws/upper' | head -n 1)" "$work/naive"
}
# state DIR: every git directory of a tree, but for objects and what apply may add.
state() {
	(cd "$1" && find . \( -path '*/objects' -o -path '*/refs/ostiary' -o -path '*/logs/refs/ostiary' \) -prune -o \
		-path '*.git/*' \( -type f -printf '%p %m ' -exec sha256sum {} \; -o -type l -printf '%p -> %l\n' -o -printf '%p %m\n' \) | LC_ALL=C sort)
}
# objects DIR: what is in their object directories. Files may come, none may go or change.
objects() { (cd "$1" && find . -path '*/objects/*' -type f -exec sha256sum {} + | LC_ALL=C sort); }
new_objects() { # before, after: the names that came; false when something went
	[ -z "$(comm -23 "$1" "$2")" ] || return 1
	comm -13 "$1" "$2" | sed 's/^[^ ]*  //' | grep -vE '/objects/([0-9a-f]{2}/[0-9a-f]{38,62}|pack/pack-[0-9a-f]*\.(pack|idx|rev))$'
	[ "${PIPESTATUS[2]}" = 1 ]
}
# everyday: what a person does next; all of it works.
everyday() {
	git status >/dev/null && git log --oneline --all >/dev/null && git checkout -q -b "today$n" && git checkout -q main &&
		echo more >>mine.txt && git add mine.txt && git commit -qm mine && git stash list >/dev/null && git gc -q --auto
}

# --- one attack -----------------------------------------------------------------------------------------------------

lacks=''
need() { # what, command...: one more thing that must hold
	local what=$1
	shift
	"$@" || lacks="$lacks $what;"
}
says() { grep -qF -- "committed: $1 (" "$work/diff.out"; }
sound() { git fsck --strict --no-progress --no-dangling >"$work/fsck.out" 2>&1; }
no_canary() { [ ! -e "$canary" ]; }
row() { # case, title, control, held
	check "attack-$1 control: $2" "$3" "a plain copy does no harm, so the case shows nothing: $(cat "$work/in.out" "$work/harm.out" 2>/dev/null | tail -n 3)"
	check "attack-$1 $2" "$4" "$lacks $(tail -n 3 "$work/apply.out")"
	printf '%s\t%s\t%s\t%s\n' "$1" "$([ "$3" = 0 ] && echo lands || echo '?')" "$([ "$4" = 0 ] && echo held || echo OPEN)" "$2" >>"$table"
}
prepare=true
# attack CASE TITLE HARM PATH... <SCRIPT: ${HARM} is a function that does what the user would do in a tree, and is true
# when that did harm; the paths are those that diff must name. ${prepare} sets the host's repository up before.
attack() {
	local id=$1 title=$2 harm=$3 script path control
	shift 3
	script=$(cat)
	fresh
	$prepare
	git status >/dev/null
	state . >"$work/state" && objects . >"$work/objects"
	inside "$script" || {
		check "attack-$id $title" 1 "the box could not do it: $(tail -n 3 "$work/in.out")"
		return
	}
	plain_copy
	(cd "$work/naive" && $harm) >"$work/harm.out" 2>&1
	control=$?
	rm -f "$canary"
	lacks=''
	timeout 200 "$ostiary" diff "$box" >"$work/diff.out" 2>&1 </dev/null
	for path in "$@"; do need "diff does not name $path as committed" says "$path"; done
	timeout 300 "$ostiary" apply "$box" --yes >"$work/apply.out" 2>&1 </dev/null
	state . >"$work/state.now" && objects . >"$work/objects.now"
	need "the git directory is another: $(diff "$work/state" "$work/state.now" | grep '^[<>]' | cut -d' ' -f1,2 | tr '\n' ' ')" cmp -s "$work/state" "$work/state.now"
	need "objects: $(new_objects "$work/objects" "$work/objects.now" | tr '\n' ' ')" new_objects "$work/objects" "$work/objects.now" >/dev/null
	need 'evil.yml is in the tree' test ! -e "$evil"
	need "git fsck: $(sound || head -n 2 "$work/fsck.out")" sound
	(cd "$ws" && $harm) >>"$work/harm.out" 2>&1
	need 'the harm is done' test $? != 0
	git reset -q --hard 2>/dev/null
	need 'git does not work any more' everyday
	need 'something of the box ran' no_canary
	[ -z "$lacks" ]
	row "$id" "$title" "$control" $?
	"$ostiary" rm -f "$box" >/dev/null 2>&1
	cd "$work" && rm -rf "$ws"
	prepare=true
}

# --- harms ----------------------------------------------------------------------------------------------------------

carried() { git rev-list --objects --all | grep -qi 'evil\.yml'; }
lib_carried() { git -C lib rev-list --objects --all | grep -q evil.yml; }
next_commit() { echo x >>notes.txt && git add notes.txt && git commit -qm next && git ls-tree -r --name-only HEAD | grep -q evil.yml; }
at_status() { git status && [ -e "$canary" ]; }
at_commit() { git commit -q --allow-empty -m x; [ -e "$canary" ]; }
at_checkout() { git checkout -q side && git checkout -q main; [ -e "$canary" ]; }
unsound() { ! git fsck --strict --no-progress --no-dangling; }

# --- 97: what a commit carries ----------------------------------------------------------------------------------------

attack 97 'committed on main, removed from the tree' carried "$evil" <<'BOX'
evil; echo b >>notes.txt; commit; rm -r .github
BOX
attack 97 'the same behind assume-unchanged' carried "$evil" <<'BOX'
evil; commit; rm -r .github; git update-index --assume-unchanged "$evil"
BOX
attack 97 'the same behind skip-worktree' carried "$evil" <<'BOX'
evil; commit; rm -r .github; git update-index --skip-worktree "$evil"
BOX
attack 97 'came with one commit and went with the next' carried "$evil" <<'BOX'
evil; commit came; git rm -q "$evil"; git commit -qm went
BOX
attack 97 'on a side branch' carried "$evil" <<'BOX'
git checkout -q side; evil; commit; git checkout -q main
BOX
attack 97 'on a new branch that nobody has checked out' carried "$evil" <<'BOX'
git branch quiet $(evil_commit)
BOX
attack 97 'in the second parent of a merge that took nothing from it' carried "$evil" <<'BOX'
git checkout -q -b other; evil; commit; git checkout -q main; git merge -q -s ours --no-edit other; git branch -qD other
BOX
attack 97 'in a tag' carried "$evil" <<'BOX'
git tag light $(evil_commit)
BOX
attack 97 'in an annotated tag of a tag' carried "$evil" <<'BOX'
git tag -a -m x inner $(evil_commit); git tag -a -m x outer inner; git tag -d inner >/dev/null
BOX
attack 97 'in a tag that names a tree' carried <<'BOX'
git tag tree $(evil_commit)^{tree}
BOX
attack 97 'in a stash' carried "$evil" <<'BOX'
evil; git add -A; git stash -q
BOX
attack 97 'in the untracked part of a stash' carried "$evil" <<'BOX'
evil; git stash -q -u
BOX
in_older_stash() { git rev-list --objects 'stash@{1}' | grep -q evil.yml; }
attack 97 'in an older stash' in_older_stash "$evil" <<'BOX'
evil; git add -A; git stash -q; echo x >>notes.txt; git stash -q
BOX
attack 97 'in packed refs' carried "$evil" <<'BOX'
evil; commit; rm -r .github; git branch more; git pack-refs --all --prune; git repack -adq
BOX
attack 97 'under a name in other letters' carried .GitHub/Workflows/Evil.yml <<'BOX'
evil=.GitHub/Workflows/Evil.yml; evil; commit; rm -r .GitHub
BOX
attack 97 'staged and not committed, gone from the tree' next_commit <<'BOX'
evil; git add -A; rm -r .github
BOX
attack 97 'on a detached HEAD' carried <<'BOX'
git checkout -q --detach; evil; commit; rm -r .github
BOX
attack 97 'in a remote-tracking ref' carried <<'BOX'
git update-ref refs/remotes/origin/main $(evil_commit)
BOX
attack 97 'in a ref of no kind, and in notes' carried <<'BOX'
git update-ref refs/wip/x $(evil_commit); git update-ref refs/notes/commits $(evil_commit)
BOX
attack 97 'in a ref that calls itself one of ours' carried <<'BOX'
git update-ref refs/ostiary/ga0/heads/main $(evil_commit)
BOX
with_module() {
	git init -q "$work/lib$n" && echo l >"$work/lib$n/l" && git -C "$work/lib$n" add l && git -C "$work/lib$n" commit -qm l &&
		git submodule --quiet add "$work/lib$n" lib && git commit -qm lib
}
prepare=with_module attack 97 "in a submodule's repository" lib_carried "lib/$evil" <<'BOX'
cd lib; evil; commit; rm -r .github; cd ..; git commit -qam 'the module'
BOX
with_worktree() { echo wt >>.git/info/exclude && git worktree add -q wt side; }
prepare=with_worktree attack 97 'in a linked worktree' carried "wt/$evil" <<'BOX'
cd wt; evil; commit; rm -r .github
BOX

# --- 98: objects and refs that are not what they say ------------------------------------------------------------------

back_to_evil() { rm src/main.c && git checkout -q -- src/main.c && grep -q evil src/main.c; }
attack 98 'a loose object overwritten with another content' back_to_evil <<'BOX'
id=$(git rev-parse HEAD:src/main.c); o=.git/objects/$(echo $id | cut -c1-2)/$(echo $id | cut -c3-); chmod u+w $o
python3 -c 'import sys, zlib; d = b"evil\n"; open(sys.argv[1], "wb").write(zlib.compress(b"blob %d\0" % len(d) + d))' $o
BOX
head_has_it() { git ls-tree -r --name-only HEAD | grep -q evil.yml; }
attack 98 'refs/replace for the current commit' head_has_it <<'BOX'
git replace HEAD $(evil_commit)
BOX
attack 98 'a branch moved inside packed-refs' carried "$evil" <<'BOX'
id=$(evil_commit); git pack-refs --all --prune; sed -i "s,^[0-9a-f]* refs/heads/side,$id refs/heads/side," .git/packed-refs
BOX
is_cut() { [ "$(git rev-list --count main)" -lt 2 ]; }
attack 98 'info/grafts that cut the history' is_cut <<'BOX'
git rev-parse HEAD >.git/info/grafts
BOX
attack 98 'a shallow file that cuts the history' is_cut <<'BOX'
git rev-parse HEAD >.git/shallow
BOX
knows_evil() { git cat-file -e "$(echo evil | git hash-object --stdin)"; }
attack 98 'alternates that lead into the workspace' knows_evil <<'BOX'
mkdir store; echo evil | GIT_OBJECT_DIRECTORY=$PWD/store git hash-object -w --stdin; mkdir -p .git/objects/info; echo ../../store >.git/objects/info/alternates
BOX
is_moved() { [ "$(git symbolic-ref HEAD)" != refs/heads/main ]; }
attack 98 'HEAD on another branch' is_moved <<'BOX'
git symbolic-ref HEAD refs/heads/side
BOX
is_lost() { ! git rev-parse -q --verify side || [ "$(git rev-list --count main)" -lt 2 ]; }
attack 98 'a branch deleted, and one moved back' is_lost <<'BOX'
git branch -qD side; git reset -q --hard HEAD~1; echo two >notes.txt
BOX
no_logs() { [ -z "$(git reflog)" ]; }
attack 98 'the reflogs removed' no_logs <<'BOX'
rm -r .git/logs; git reflog expire --expire=now --all
BOX
has_ref() { [ -e '.git/refs/heads/a..b' ] || [ -e .git/refs/heads/-x ] || [ -L .git/refs/heads/link ]; }
attack 98 'refs with names and contents that git would not write' has_ref <<'BOX'
cd .git/refs/heads; cat main >a..b; cat main >-x; echo 'ref: ../../../../../etc/passwd' >out; ln -s ../../../notes.txt link; printf 'x\n' >junk; mkdir -p 'sp ace'; cat main >'sp ace/x~1'
BOX

# --- 99: what git keeps for itself ------------------------------------------------------------------------------------

attack 99 'files in the index alone' next_commit <<'BOX'
git update-index --add --cacheinfo 100644,$(echo 'on: push' | git hash-object -w --stdin),"$evil"
BOX
is_locked() { ! git commit -q --allow-empty -m x || ! git config x.y z || ! git tag locked; }
attack 99 'lock files' is_locked <<'BOX'
cd .git; touch index.lock HEAD.lock config.lock packed-refs.lock shallow.lock refs/heads/main.lock refs/tags/locked.lock
BOX
with_rerere() {
	git config rerere.enabled true && git checkout -q -b theirs && echo theirs >notes.txt && git commit -qam theirs &&
		git checkout -q main && echo ours >notes.txt && git commit -qam ours
}
merges_evil() { git merge -q theirs; grep -q evil notes.txt; }
prepare=with_rerere attack 99 'a merge that rr-cache resolves' merges_evil <<'BOX'
git config rerere.enabled true; git merge -q theirs || true; echo evil >notes.txt; git add notes.txt; git commit -qm merged; git reset -q --hard HEAD~1
BOX
with_filter() { git config filter.x.clean "touch $canary; cat"; }
at_add() { echo more >>notes.txt && git add notes.txt && [ -e "$canary" ]; }
prepare=with_filter attack 99 'info/attributes that names a filter of the user' at_add <<'BOX'
mkdir -p .git/info; echo '*.txt filter=x' >.git/info/attributes
BOX
is_hidden() { echo x >new.txt && ! git status --porcelain | grep -q new.txt; }
attack 99 'info/exclude that hides new files' is_hidden <<'BOX'
mkdir -p .git/info; echo '*' >>.git/info/exclude
BOX
is_sparse() { git status && git read-tree -mu HEAD && [ ! -e notes.txt ]; }
attack 99 'a sparse checkout' is_sparse <<'BOX'
mkdir -p .git/info; echo /src/ >.git/info/sparse-checkout; git config core.sparseCheckout true
BOX
goes_on() { GIT_EDITOR=true git rebase --continue; [ -e "$canary" ]; }
attack 99 'a rebase under way with a line that runs something' goes_on <<'BOX'
printf '#!/bin/sh\nprintf "break\\nexec touch %s\\n" >"$1"\n' "$canary" >/tmp/ed; chmod 755 /tmp/ed; GIT_SEQUENCE_EDITOR=/tmp/ed git rebase -q -i HEAD~1
BOX
pulls_evil() { git pull -q --ff-only; [ -e "$evil" ]; }
attack 99 'branch.main.remote names a bundle in the workspace' pulls_evil <<'BOX'
git branch tmp $(evil_commit); git bundle create -q team.bundle main..tmp; git branch -qD tmp; git config branch.main.remote ./team.bundle; git config branch.main.merge refs/heads/tmp
BOX
fetches_evil() { git fetch -q origin; carried; }
attack 99 'remotes/origin in the old form' fetches_evil <<'BOX'
git branch tmp $(evil_commit); git bundle create -q team.bundle main..tmp; git branch -qD tmp; mkdir -p .git/remotes; printf 'URL: ./team.bundle\nPull: refs/heads/tmp:refs/heads/got\n' >.git/remotes/origin
BOX

# --- 60, 61: hooks and settings ---------------------------------------------------------------------------------------

attack 60 'hooks of every kind' at_checkout <<'BOX'
for h in pre-commit post-commit post-checkout post-merge reference-transaction post-index-change pre-auto-gc fsmonitor-watchman; do hook .git/hooks/$h; done
BOX
attack 60 'the directory of hooks as a link' at_commit <<'BOX'
mkdir tools; hook tools/pre-commit; rm -rf .git/hooks; ln -s ../tools .git/hooks
BOX
attack 60 'core.hooksPath' at_commit <<'BOX'
hook tools/pre-commit; git config core.hooksPath tools
BOX
attack 61 'core.fsmonitor' at_status <<'BOX'
git config core.fsmonitor "touch $canary; false"
BOX
attack 61 'an included file with core.fsmonitor' at_status <<'BOX'
printf '[core]\n\tfsmonitor = "touch %s; false"\n' "$canary" >team.cfg; git config include.path ../team.cfg
BOX
attack 61 'config.worktree with core.fsmonitor' at_status <<'BOX'
git config extensions.worktreeConfig true; git config --worktree core.fsmonitor "touch $canary; false"
BOX
aliased() { git st; [ -e "$canary" ]; }
attack 61 'an alias' aliased <<'BOX'
git config alias.st "!touch $canary"
BOX
module_runs() { git submodule --quiet update --init; [ -e "$canary" ]; }
with_old_module() { with_module && git submodule --quiet deinit -f lib; }
prepare=with_old_module attack 61 'submodule.lib.update that runs something' module_runs <<'BOX'
git config submodule.lib.url ./none; git config submodule.lib.active true; git config submodule.lib.update "!touch $canary; :"; git config submodule.lib.url "$(git config -f .gitmodules submodule.lib.url)"
BOX

# --- 62: git directories elsewhere --------------------------------------------------------------------------------------

lists_it() { git worktree list | grep -q evilwt; }
attack 62 'administration of a worktree' lists_it <<'BOX'
mkdir -p .git/worktrees/w evilwt; cp .git/HEAD .git/worktrees/w/HEAD; echo ../.. >.git/worktrees/w/commondir; echo "$PWD/evilwt/.git" >.git/worktrees/w/gitdir; echo "gitdir: $PWD/.git/worktrees/w" >evilwt/.git
BOX
in_sub() { git -C sub status; [ -e "$canary" ]; }
attack 62 'administration of a submodule, and a pointer to it' in_sub <<'BOX'
mkdir .git/modules; git init -q --separate-git-dir=.git/modules/sub sub; git -C sub config core.fsmonitor "touch $canary; false"; echo 'gitdir: ../.git/modules/sub' >sub/.git
BOX
attack 62 'commondir' at_status <<'BOX'
cp -r .git store; git config -f store/config core.fsmonitor "touch $canary; false"; echo ../store >.git/commondir
BOX
attack 62 '.git replaced by a link into the workspace' at_commit <<'BOX'
mv .git repo; ln -s repo .git; hook repo/hooks/pre-commit
BOX
attack 62 '.git replaced by a pointer into the workspace' at_commit <<'BOX'
mv .git repo; echo 'gitdir: repo' >.git; hook repo/hooks/pre-commit
BOX
in_src() { git -C src status; [ -e "$canary" ]; }
attack 62 'a .git of its own in a directory of the project' in_src <<'BOX'
git init -q src; git -C src config core.fsmonitor "touch $canary; false"
BOX
in_bare() { git -C fixtures/repo status; [ -e "$canary" ]; }
attack 62 'a bare repository among the files' in_bare <<'BOX'
git init -q --bare fixtures/repo; git -C fixtures/repo config core.bare false; git -C fixtures/repo config core.worktree .; git -C fixtures/repo config core.fsmonitor "touch $canary; false"
BOX
in_data() { git -C data status; [ -e "$canary" ]; }
with_data() { mkdir data && echo d >data/own && git add data && git commit -qm data; }
prepare=with_data attack 62 'a directory of the project that becomes a git directory' in_data <<'BOX'
cd data; mkdir -p objects refs; echo 'ref: refs/heads/main' >HEAD; printf '[core]\nrepositoryformatversion = 0\nbare = false\nworktree = .\nfsmonitor = touch %s; false\n' "$canary" >config; echo more >>own
BOX

# Over two applies of one box that goes on (finding E2).
fresh
mkdir data && echo d >data/own && git add data && git commit -qm data
"$ostiary" create -q -n "$box" --workspace "$ws" >/dev/null 2>&1
config="[core]\nrepositoryformatversion = 0\nbare = false\nworktree = .\nfsmonitor = touch $canary; false\n"
"$ostiary" exec "$box" -- sh -c "cd data; echo 'ref: refs/heads/main' >HEAD; printf '$config' >config" >"$work/in.out" 2>&1
timeout 300 "$ostiary" apply "$box" --yes --yes=runs-on-commit >"$work/apply.out" 2>&1 </dev/null
"$ostiary" exec "$box" -- sh -c 'mkdir -p data/objects/pack data/refs/heads; echo n >data/refs/heads/note.txt; echo n >data/objects/pack/n' >>"$work/in.out" 2>&1
"$ostiary" stop "$box" >/dev/null 2>&1
plain_copy
(cd "$work/naive" && git -C data status >/dev/null 2>&1; [ -e "$canary" ])
control=$?
rm -f "$canary"
timeout 300 "$ostiary" apply "$box" --yes >>"$work/apply.out" 2>&1 </dev/null
git -C data status >/dev/null 2>&1
lacks=''
need 'core.fsmonitor ran' no_canary
need 'data is a git directory' test "$(git -C data rev-parse --show-toplevel)" = "$(pwd -P)"
[ -z "$lacks" ]
row 62 'a git directory made by two applies' $control $?
"$ostiary" rm -f "$box" >/dev/null 2>&1

# --- 100: objects that no git should take -------------------------------------------------------------------------------

attack 100 'a tree with .git in it' unsound <<'BOX'
t=$(printf '100644 blob %s\tconfig\n' $(git hash-object -w notes.txt) | git mktree); t=$(printf '040000 tree %s\t.git\n' $t | git mktree); git branch bad $(git commit-tree -m bad $t)
BOX
attack 100 'a tree with .. in it' unsound <<'BOX'
b=$(git hash-object -w notes.txt); t=$(python3 -c 'import sys; sys.stdout.buffer.write(b"100644 ..\0" + bytes.fromhex(sys.argv[1]))' $b | git hash-object -t tree -w --stdin --literally); git branch bad $(git commit-tree -m bad $t)
BOX
attack 100 'a tree with one name twice' unsound <<'BOX'
b=$(git hash-object -w notes.txt); t=$(python3 -c 'import sys; e = b"100644 a\0" + bytes.fromhex(sys.argv[1]); sys.stdout.buffer.write(e + e)' $b | git hash-object -t tree -w --stdin --literally); git branch bad $(git commit-tree -m bad $t)
BOX
attack 100 'a commit without an author' unsound <<'BOX'
id=$(printf 'tree %s\n\nx\n' $(git rev-parse HEAD^{tree}) | git hash-object -t commit -w --stdin --literally); echo $id >.git/refs/heads/bad
BOX
attack 100 'a commit whose tree is not there' unsound <<'BOX'
echo x >new; commit; id=$(git rev-parse HEAD^{tree}); rm -f .git/objects/$(echo $id | cut -c1-2)/$(echo $id | cut -c3-)
BOX
attack 100 'an object cut short' unsound <<'BOX'
echo 'a new file' >new; commit; id=$(git rev-parse HEAD:new); o=.git/objects/$(echo $id | cut -c1-2)/$(echo $id | cut -c3-); chmod u+w $o; truncate -s 8 $o
BOX
attack 100 'a .gitmodules that is a link' unsound <<'BOX'
t=$(printf '120000 blob %s\t.gitmodules\n' $(printf notes.txt | git hash-object -w --stdin) | git mktree); git branch bad $(git commit-tree -m bad $t)
BOX

# --- finding A2: both sides commit ----------------------------------------------------------------------------------------

fresh
state . >"$work/state"
inside 'echo agent >agent.txt; commit "of the agent"'
echo mine >mine.txt && git add mine.txt && git commit -qm mine
mine=$(git rev-parse HEAD)
timeout 300 "$ostiary" apply "$box" --yes >"$work/apply.out" 2>&1 </dev/null
said=$(cat "$work/apply.out")
! grep -q '\.git/\|conflict' "$work/apply.out"
check 'diverged histories: nothing below .git is a conflict' $? "$said"
holds 'diverged histories: the sentence says what to type' "$said" "git merge ostiary/$box/heads/main"
same "diverged histories: the user's branch is where it was" "$(git rev-parse main)" "$mine"
same 'diverged histories: nothing lies around' "$(git status --porcelain)" ''
git merge -q --no-edit "ostiary/$box/heads/main" 2>"$work/merge.out"
check 'diverged histories: and it works' $? "$(cat "$work/merge.out")"
same 'diverged histories: both are there' "$(cat agent.txt mine.txt)" $'agent\nmine'
sound
check 'diverged histories: the repository is whole' $? "$(cat "$work/fsck.out")"
"$ostiary" rm -f "$box" >/dev/null 2>&1

echo "# case  plain copy  ostiary  what"
while IFS=$'\t' read -r id plain verdict words; do
	printf '# %-5s %-11s %-8s %s\n' "$id" "$plain" "$verdict" "$words"
done <"$table"
exit $bad
