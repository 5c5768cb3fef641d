#!/bin/bash
# suite: test=user soak=root,user timeout=120
# tier: what git ignores does not depend on the caller
# review_ignore.sh - what the user's git ignores outside of the workspace: ignore files of the repository that the
# workspace is a directory of, its index, and the user's own ignore file. Never what a box or somebody else wrote.
set -u
. "$(dirname "$0")/lib_life.sh"
. "$here/lib_review.sh"
export GIT_CONFIG_NOSYSTEM=1
command -v git >/dev/null || {
	skip 'ignored output' 'git is not installed'
	exit 0
}
names() { "$ostiary" diff "$1" --name-only | tr '\n' ' '; }

# --- a workspace within a repository -----------------------------------------------------------------
fresh mono
git init -q -b main .
mkdir -p apps/web
printf '*.log\n/apps/web/out/\n*.keep\n!special.log\n' >.gitignore
printf '*.tmp\n!apps.log\n' >apps/.gitignore
echo '*.priv' >.git/info/exclude
echo 1 >apps/web/tracked.log
echo 1 >apps/web/untracked.log
git add -f apps/web/tracked.log
cd apps/web || exit 1
box "$tag-in" 'for f in new.log a.tmp b.priv special.log apps.log plain out.txt; do echo 2 >$f; done; echo 2 >>tracked.log; echo 2 >>untracked.log; mkdir out; echo 2 >out/o
	mkdir .husky; echo "#!/bin/sh" >.husky/pre-commit; echo "*" >.gitignore; mkdir deep; echo 2 >deep/x.log; echo "all:" >out/Makefile; echo 2 >deep/y'
same 'ignore files above the workspace count, its index too, and nothing but plain output is hidden' "$(names "$tag-in")" \
	'.gitignore .husky/pre-commit apps.log deep/y out.txt plain special.log tracked.log '
say "$ostiary" diff "$tag-in" --all --name-only
for f in new.log a.tmp b.priv out/o deep/x.log untracked.log; do holds "the control: $f is there" "$out" "$f"; done
say "$ostiary" apply "$tag-in" --yes
same 'what is hidden is not applied' "$(absent new.log) $(absent out) $(cat plain)" '1 1 2'
cd "$work/mono" && mkdir -p apps/dist/x && echo /apps/dist >>.gitignore && cd apps/dist/x || exit 1
box "$tag-dist" 'echo 2 >plain; echo 2 >n.log'
same 'who works in an ignored directory sees what changes there' "$(names "$tag-dist")" 'n.log plain '
mkdir -p "$work/loose/ws" && echo '*' >"$work/loose/.gitignore" && cd "$work/loose/ws" || exit 1
box "$tag-loose" 'echo 2 >plain'
same 'an ignore file above without a repository says nothing' "$(names "$tag-loose")" 'plain '
mkdir "$work/mono/sub" && cd "$work/mono/sub" && git init -q . || exit 1
box "$tag-own" 'echo 2 >n.log'
same 'nor one above a repository of its own' "$(names "$tag-own")" 'n.log '
rm -r .git && ln -s /nowhere .git
box "$tag-link" 'echo 2 >n.log'
same 'nor where .git is something odd' "$(names "$tag-link")" 'n.log '

# --- an ignored directory lands as a whole, or not -----------------------------------------------------
fresh whole
git init -q -b main . && printf 'dist/\n.vscode/\n' >.gitignore
box "$tag-whole" 'mkdir -p dist/.github/workflows .vscode; echo 1 >dist/o; echo "on: push" >dist/.github/workflows/x.yml; echo "{}" >.vscode/tasks.json'
say "$ostiary" diff "$tag-whole"
holds 'what somebody would run is named, also in an ignored directory' "$out" 'dist/.github/workflows/x.yml'
say "$ostiary" apply "$tag-whole" --yes=runs-in-ci,runs-on-open
same 'nothing of an ignored directory lands while its output stays' "$code $(absent dist)" '1 1'
holds 'and that is said' "$err" 'dist/.github/workflows/x.yml: it lies in an ignored directory, which stays in the box as a whole'
same 'one without output is no half' "$(cat .vscode/tasks.json)" '{}'
say "$ostiary" apply "$tag-whole" dist --yes=runs-in-ci
same 'named, all of it lands' "$code $(cat dist/o dist/.github/workflows/x.yml | tr '\n' ' ')" '0 1 on: push '
rm -r dist .vscode
box "$tag-whole2" 'mkdir -p dist/.github/workflows; echo 1 >dist/o; echo "on: push" >dist/.github/workflows/x.yml'
say "$ostiary" apply "$tag-whole2" --all --yes=runs-in-ci
same 'so it does with --all' "$code $(absent dist/o) $(absent dist/.github/workflows/x.yml)" '0 0 0'

# --- somebody else's repository above ------------------------------------------------------------------
if [ "$(id -u)" = 0 ]; then
	mkdir -p "$work/other/ws" && git init -q "$work/other" && echo plain >"$work/other/.gitignore" && cd "$work/other/ws" || exit 1
	box "$tag-mine" 'echo 2 >plain'
	same 'the control: one of ours hides' "$(names "$tag-mine")" ''
	chown -R 12345 "$work/other/.git"
	same 'a repository above that is somebody else'\''s hides nothing' "$(names "$tag-mine")" 'plain '
	chown -R 0 "$work/other/.git" && chown 12345 "$work/other/.gitignore"
	same 'nor does an ignore file that is somebody else'\''s' "$(names "$tag-mine")" 'plain '
fi

# --- the user's own ignore file -------------------------------------------------------------------------
fresh user
git init -q -b main .
box "$tag-user" 'for f in a.one b.two c.three d.four; do echo 2 >$f; done'
mkdir -p "$HOME/.config/git" "$work/conf/git"
same 'without one all is shown' "$(names "$tag-user")" 'a.one b.two c.three d.four '
echo '*.one' >"$HOME/.config/git/ignore"
same "git's default place" "$(names "$tag-user")" 'b.two c.three d.four '
echo '*.two' >"$work/conf/git/ignore"
same 'the same elsewhere' "$(XDG_CONFIG_HOME=$work/conf names "$tag-user")" 'a.one c.three d.four '
echo '*.three' >"$HOME/mine"
printf '[core]\n\texcludesFile = ~/mine\n' >"$HOME/.gitconfig"
same 'core.excludesFile of the settings' "$(names "$tag-user")" 'a.one b.two d.four '
printf '[core]\n\texcludesFile = %s\n' "$work/conf/git/ignore" >"$work/other.conf"
same 'and of others that the environment names' "$(GIT_CONFIG_GLOBAL=$work/other.conf names "$tag-user")" 'a.one c.three d.four '
git config core.excludesFile "$work/all" && echo '*' >"$work/all"
same 'not of the repository: a box could have brought it' "$(names "$tag-user")" 'a.one b.two d.four '
echo '!*.three' >.gitignore
same 'a file of the repository comes before it' "$(names "$tag-user")" 'a.one b.two c.three d.four '
rm .gitignore "$HOME/mine"
mkfifo "$HOME/mine"
same 'a FIFO in its place makes nobody wait' "$(names "$tag-user")" 'a.one b.two c.three d.four '
rm -r "$HOME/mine" "$HOME/.gitconfig" "$HOME/.config/git"

remove_boxes
nothing_left 'nothing is left of the boxes'
exit $bad
