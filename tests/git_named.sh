#!/bin/bash
# suite: test=user soak=root,user timeout=300
# tier: what the host's git settings name is judged the same for every user
# git_named.sh - files of the workspace that a setting of the host's git makes git run or obey, by the repository's settings,
# the user's and the machine's: --yes leaves them as they are, however the setting writes their names.
set -u
. "$(dirname "$0")/lib_life.sh"
. "$here/lib_review.sh"
. "$here/lib_git.sh"

n=0
# with NAME: a repository with programs in its tree, and we are in it.
with() {
	n=$((n + 1))
	repo "r$n"
	mkdir -p tools/deep 'my tools' && for f in clean.sh watch tools/clean.sh tools/watch tools/deep/x tools/__main__.py tools/clean.py tools/__init__.py 'my tools/x.sh'; do echo true >"$f"; done
	git add -A && git commit -qm tools
}
# left NAME FILE: the box changed it; --yes leaves it, and takes what is beside it.
left() {
	box "$tag-$n" "echo evil >'$2'; echo more >>b"
	say "$ostiary" apply "$tag-$n" --yes
	same "$1" "$code $(cat "$2") $(tail -n 1 b)" '1 true more'
	"$ostiary" rm --force "$tag-$n" >/dev/null
}
# named KEY VALUE FILE: by the repository's own settings.
named() {
	with
	git config "$1" "$2"
	left "$1 = $2" "$3"
}

# --- which settings -----------------------------------------------------------------------------------------------------
named core.fsmonitor tools/watch tools/watch
named core.sshCommand 'ssh -F tools/clean.sh' tools/clean.sh
named core.editor './tools/watch --wait' tools/watch
named core.pager 'sh tools/clean.sh | less' tools/clean.sh
named core.askPass tools/watch tools/watch
named sequence.editor tools/watch tools/watch
named gpg.program tools/watch tools/watch
named gpg.ssh.program tools/watch tools/watch
named credential.helper '!tools/watch' tools/watch
named credential.https://example.test.helper '!sh tools/clean.sh' tools/clean.sh
named filter.x.clean 'sh tools/clean.sh %f' tools/clean.sh
named filter.x.smudge 'tools/clean.sh' tools/clean.sh
named filter.x.process tools/watch tools/watch
named diff.external tools/watch tools/watch
named diff.x.textconv 'sh tools/clean.sh' tools/clean.sh
named merge.x.driver 'tools/watch %O %A %B' tools/watch
named mergetool.x.cmd 'tools/watch "$BASE"' tools/watch
named remote.origin.uploadpack tools/watch tools/watch
named init.templateDir tools/deep tools/deep/x
named trailer.sign.cmd tools/watch tools/watch
named unheard.of tools/watch tools/watch

# --- how it is written --------------------------------------------------------------------------------------------------
named alias.a '!tools/clean.sh' tools/clean.sh
named alias.a '!cd tools && ./watch' tools/watch
named alias.a '!cd tools; sh watch' tools/watch
named alias.a '!sh clean.sh' clean.sh
named alias.a '!sh watch' watch
named alias.a '!f() { "$(git rev-parse --show-toplevel)/tools/watch" "$@"; }; f' tools/watch
named alias.a '!D=tools; $D/watch' tools/watch
named alias.a '!PATH=tools:$PATH watch' tools/watch
named alias.a "!sh -c 'exec tools/watch \"\$1\"' -" tools/watch
named alias.a '!sh "my tools/x.sh"' 'my tools/x.sh'
named alias.a '!sh my\ tools/x.sh' 'my tools/x.sh'
named alias.a '!for f in tools/*; do sh $f; done' tools/watch
named alias.a '!for f in tools/deep/../{watch,clean.sh}; do sh $f; done' tools/watch
named alias.a '!python3 tools' tools/__main__.py
named alias.a '!python3 -m tools' tools/__main__.py
named alias.a '!python3 -m tools.clean' tools/clean.py
named alias.a '!python3 -m tools.clean' tools/__init__.py
named alias.a '!ssh -Ftools/watch host' tools/watch
named alias.a '-c core.pager=tools/watch log' tools/watch
named alias.a '!tools/deep/../watch' tools/watch
named alias.a '!sh <tools/watch' tools/watch
with
git config core.fsmonitor "$PWD/tools/watch"
left 'an absolute path' tools/watch
with
# shellcheck disable=SC2088 # for git
ln -s "$work" "$HOME/lnk" && git config core.fsmonitor '~/lnk/'"r$n/tools/watch"
left 'a path from the home, through a link' tools/watch
with
ln -s "$PWD/tools/watch" "$HOME/watch-me" && git config core.fsmonitor "$HOME/watch-me"
left 'a link that lies outside' tools/watch
with
mkdir -p "$HOME/bin" && ln -s "$PWD/tools/watch" "$HOME/bin/watch-too" && ln -s "$PWD/tools/clean.sh" "$HOME/bin/git-credential-mine"
path=$PATH
export PATH=$HOME/bin:$PATH
git config core.pager watch-too
left 'a link in a directory of PATH' tools/watch
with
git config credential.helper mine
rm "$HOME/bin/git-credential-mine" && ln -s "$PWD/tools/clean.sh" "$HOME/bin/git-credential-mine"
left 'a helper by its short name' tools/clean.sh
export PATH=$path

# --- where it is written ------------------------------------------------------------------------------------------------
cp "$HOME/.gitconfig" "$work/saved"
with
git config --global core.fsmonitor tools/watch
left "the user's settings" tools/watch
cp "$work/saved" "$HOME/.gitconfig"
with
printf '[core]\n\tfsmonitor = tools/watch\n' >"$work/system"
export GIT_CONFIG_SYSTEM=$work/system
left "the machine's" tools/watch
unset GIT_CONFIG_SYSTEM
with
printf '[core]\n\tfsmonitor = tools/watch\n' >"$work/more" && git config include.path "$work/more"
left 'a file that they include' tools/watch
with
git config core.fsmonitor ../tools/watch && cd tools || exit 1
left 'a sub-folder of the repository' watch
with
git worktree add -q "../w$n" -b feat && git config core.fsmonitor tools/watch && cd "../w$n" || exit 1
left 'a linked work tree' tools/watch
fresh plain
mkdir tools && echo true >tools/watch && echo >b
git config --global alias.a "!$PWD/tools/watch"
n=$((n + 1))
left 'a directory that is no repository, by the settings of the user' tools/watch
cp "$work/saved" "$HOME/.gitconfig"

# --- attributes, commits, and what is not named -------------------------------------------------------------------------
with
echo '*.c text' >attr && git add attr && git commit -qm attr && git config core.attributesFile attr
box "$tag-$n" "echo '*.c filter=x' >>attr; echo more >>b"
say "$ostiary" apply "$tag-$n" --yes
same 'core.attributesFile is judged like .gitattributes' "$code $(cat attr) $(tail -n 1 b)" '1 *.c text more'
box "$tag-$n-b" "echo '*.h text' >>attr"
say "$ostiary" apply "$tag-$n-b" --yes
same 'and lands when it names no filter' "$code $(tail -n 1 attr)" '0 *.h text'
with
git config filter.x.clean 'sh tools/clean.sh %f'
box "$tag-$n" 'git checkout -qb side; echo evil >tools/clean.sh; git commit -qam tidy; git checkout -q main'
say "$ostiary" diff "$tag-$n"
holds 'a commit that brings it: diff names it' "$out" 'committed: tools/clean.sh (runs on commit)'
say "$ostiary" apply "$tag-$n" --yes
same 'and --yes leaves it' "$code $(git rev-parse -q --verify "refs/ostiary/$tag-$n/heads/side")" '1 '
with
git config alias.lg 'log --graph --pretty=format:%h' && git config alias.st 'status -sb' && git config core.pager 'less -F' && git config gitflow.prefix.feature feature/
git config alias.l '!git log --oneline | head' && git config credential.helper store && git config safe.directory "$PWD" && git config blame.ignoreRevsFile revs
box "$tag-$n" 'mkdir -p feature src/log src/status; for f in feature/f src/log/a.c src/status/b.c src/git.c src/head src/less revs tools/watch tools/clean.sh; do echo new >$f; done'
say "$ostiary" apply "$tag-$n" --yes
same 'the control: settings as people have them make nothing ask' "$code $(cat tools/watch src/head revs | sort -u)" '0 new'
remove_boxes
exit $bad
