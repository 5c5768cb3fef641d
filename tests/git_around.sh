#!/bin/bash
# suite: test=user soak=root,user timeout=300
# tier: what a commit brings is judged the same for every user
# git_around.sh - ways around the classes of commits and around the questions that are asked for them: links, shapes,
# decoys, work trees that share their refs, names that are commands. Found by attackers who had not built it.
set -u
. "$(dirname "$0")/lib_life.sh"
. "$here/lib_review.sh"

git config --global user.name Tester
git config --global user.email tester@example.net
git config --global init.defaultBranch main
git config --global protocol.file.allow always

repo() {
	fresh "$1"
	git init -q && echo one >a && echo '*.c text' >.gitattributes && git add . && git commit -qm first
}
# stays NAME BOX REF: diff names a class for the ref, apply --yes leaves it in the box.
stays() {
	say "$ostiary" diff "$2"
	holds "$1: diff names it" "$out" 'committed: '
	say "$ostiary" apply "$2" --yes
	same "$1: --yes leaves it" "$code $(git rev-parse -q --verify "refs/ostiary/$2/$3")" '1 '
}

# --- links and shapes in commits ---------------------------------------------------------------------------------------
SIDE='git checkout -qb side; mkdir -p gh/workflows; echo on >gh/workflows/x.yml'
repo link
box "$tag-l" "$SIDE; ln -s gh .github; git add -A; git commit -qm l; git checkout -q main"
stays 'a link in place of .github' "$tag-l" heads/side
repo decoys
box "$tag-d" "$SIDE; ln -s gh .github; i=0; while [ \$i -lt 400 ]; do ln -s gh \"!v\$i\"; i=\$((i + 1)); done; git add -A; git commit -qm l; git checkout -q main"
stays 'among 400 others' "$tag-d" heads/side
repo chain
box "$tag-c" 'git checkout -qb side; ln -s l1 .github; for i in 1 2 3 4 5 6; do ln -s l$((i + 1)) l$i; done; mkdir -p l7/workflows; echo on >l7/workflows/x.yml; git add -A; git commit -qm l; git checkout -q main'
stays 'a chain of links' "$tag-c" heads/side
repo dots
box "$tag-p" 'git checkout -qb side; mkdir -p deep/inner deep/gh/workflows; echo on >deep/gh/workflows/x.yml; ln -s deep/inner x; ln -s x/../gh .github; git add -A; git commit -qm l; git checkout -q main'
stays 'a link with .. after another link' "$tag-p" heads/side
repo hostlink
mkdir gh && ln -s gh .github && echo k >gh/k && git add -A && git commit -qm 'a link of my own'
box "$tag-h" 'git checkout -qb side; mkdir gh/workflows; echo on >gh/workflows/x.yml; git add -A; git commit -qm l; git checkout -q main'
stays 'what a link of the host leads to' "$tag-h" heads/side
repo shape
box "$tag-s" 'git checkout -qb side; git init -q --bare /tmp/bb; cp -r /tmp/bb x; rm -rf x/hooks; touch x/objects/k x/refs/k
	git -C x config core.bare false; git -C x config core.worktree ..; git -C x config core.fsmonitor "touch pwned"
	git add -f x; git commit -qm bare; git checkout -q main; rm -rf x'
stays 'a git directory committed as files' "$tag-s" heads/side

# --- what is asked, and what lands -----------------------------------------------------------------------------------------
DIRTY='echo "*.h text" >>.gitattributes; git add .gitattributes; git commit -qm plain; echo "* filter=evil" >>.gitattributes'
repo ontop
box "$tag-o" "$DIRTY"
say "$ostiary" apply "$tag-o" --yes
same 'an uncommitted change on top has its own class: --yes moves nothing' "$(git log -1 --format=%s) $(cat .gitattributes)" 'first *.c text'
answer yn "$ostiary" apply "$tag-o"
holds 'on a terminal it is asked for by name' "$out" '.gitattributes (runs on commit)'
same 'and no is no' "$(git log -1 --format=%s) $(cat .gitattributes)" 'first *.c text'
say "$ostiary" apply "$tag-o" --yes=runs-on-commit
same 'named by its class it lands' "$(git log -1 --format=%s) $(tail -n 1 .gitattributes)" 'plain * filter=evil'

repo owner
git worktree add -q wt -b side
box "$tag-w" "$DIRTY; cd wt; echo z >z; git add z; git commit -qm z"
say "$ostiary" apply "$tag-w" --yes
same 'also when another work tree has the refs' "$(git log -1 --format=%s) $(cat .gitattributes)" 'first *.c text'
same 'whose own branch moves' "$(git -C wt log -1 --format=%s) $(git -C wt status --porcelain)" 'z '

# --- work trees ----------------------------------------------------------------------------------------------------------------
repo trees
git worktree add -q wt -b side
box "$tag-t" 'cd wt; echo z >z; git add z; git commit -qm z'
say "$ostiary" apply "$tag-t" --yes
same 'a linked work tree moves with its files' "$code $(git -C wt log -1 --format=%s) $(git -C wt status --porcelain) $(cat wt/z)" '0 z  z'
repo newtree
box "$tag-n" 'git worktree add -q wt -b feat; echo x >>a; git commit -qam onmain; cd wt; echo f >f; git add f; git commit -qm onfeat'
say "$ostiary" apply "$tag-n" --yes
same 'a work tree that only the box has: main moves, its branch is fetched, its files stay' \
	"$(git log -1 --format=%s) $(git log -1 --format=%s "ostiary/$tag-n/heads/feat") $(absent wt)" 'onmain onfeat 1'
say git worktree add -q wt "ostiary/$tag-n/heads/feat"
same 'and git makes it' "$code $(cat wt/f)" '0 f'

# --- a link of the host's out of the workspace --------------------------------------------------------------------------
mkdir -p "$work/src/other" && cd "$work/src/other" && git init -q && echo o >o && git add . && git commit -qm other
repo outside
ln -s ../src dep && git add -A && git commit -qm link
box "$tag-x" 'rm dep; mkdir -p .github/workflows; echo on >.github/workflows/x.yml; git add -A; git commit -qm "main waits"
	mkdir dep; git init -q dep/other; cd dep/other; echo hi >evil; git add .; git commit -qm planted'
before=$(git -C "$work/src/other" for-each-ref; find "$work/src/other/.git/objects" | sort)
say "$ostiary" apply "$tag-x" --yes
same 'a repository beyond a link of the host is not reached' "$(git -C "$work/src/other" for-each-ref; find "$work/src/other/.git/objects" | sort)" "$before"

# --- names ---------------------------------------------------------------------------------------------------------------------
repo names
# shellcheck disable=SC2016 # for the shell in the box
box "$tag-q" 'git checkout -qb "x;touch\${IFS}P;#"; echo x >>a; git commit -qam m; git checkout -q main'
say "$ostiary" apply "$tag-q" --yes
words=$(sed -n 's/.*: \(git merge .*\) (or git cherry-pick)$/\1/p' <<<"$err")
rm -f P
(eval "$words") >/dev/null 2>&1
same 'a branch with a command in its name: what is told can be typed' "$(absent P) $(git log -1 --format=%s)" '1 m'

repo rooms
say "$ostiary" create -q -n "$tag-r"
"$ostiary" exec "$tag-r" -- sh -c 'git checkout -qb fix; echo f >f; git add f; git commit -qm fix; git checkout -q main' >/dev/null 2>&1
say "$ostiary" apply "$tag-r" --yes
"$ostiary" exec "$tag-r" -- sh -c 'git branch -qD fix; git checkout -qb fix/two; echo g >g; git add g; git commit -qm two; git checkout -q main; echo z >z; git add z; git commit -qm onmain' >/dev/null 2>&1
say "$ostiary" apply "$tag-r" --yes
same 'a branch that became a directory of branches' "$code $(git log -1 --format=%s) $(git for-each-ref --format='%(refname)' refs/ostiary | tr '\n' ' ')" \
	"0 onmain refs/ostiary/$tag-r/heads/fix/two refs/ostiary/$tag-r/heads/main "
"$ostiary" exec "$tag-r" -- sh -c 'echo 1 >>a; git stash -q' >/dev/null 2>&1
say "$ostiary" apply "$tag-r" --yes
first=$(git rev-parse "ostiary/$tag-r/stash/0")
"$ostiary" exec "$tag-r" -- sh -c 'echo 2 >>z; git stash -q' >/dev/null 2>&1
say "$ostiary" apply "$tag-r" --yes
same 'a second stash does not lose the first' "$(git rev-parse "ostiary/$tag-r/stash/1")" "$first"

remove_boxes
exit $bad
