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

# What the host's own settings and links make of a path.
repo hookdir
mkdir hk && echo true >hk/post-merge && git add -A && git commit -qm s && git config core.hooksPath hk
box "$tag-h1" 'git checkout -qb side; echo evil >hk/post-merge; git commit -qam tidy; git checkout -q main'
stays 'a hook where core.hooksPath leads' "$tag-h1" heads/side
repo hooklink
mkdir scripts && echo true >scripts/pre && git add -A && git commit -qm s && ln -s ../../scripts/pre .git/hooks/post-merge
box "$tag-h2" 'git checkout -qb side; echo evil >scripts/pre; git commit -qam tidy; git checkout -q main'
stays 'what a hook of the host leads to' "$tag-h2" heads/side
repo included
echo '[x]' >gitcfg && git add -A && git commit -qm s && git config include.path ../gitcfg
box "$tag-h3" 'git checkout -qb side; printf "[alias]\n x = !touch P\n" >gitcfg; git commit -qam tidy; git checkout -q main'
stays 'a file that the configuration includes' "$tag-h3" heads/side
repo branchlink
git checkout -qb dev && mkdir gh && echo k >gh/k && ln -s gh .github && git add -A && git commit -qm dev && git checkout -q main
box "$tag-h4" 'git checkout -q dev; mkdir gh/workflows; echo on >gh/workflows/x.yml; git add -A; git commit -qm tidy; git checkout -q main'
stays 'a link that another branch of the host has' "$tag-h4" heads/dev
repo below
git init -q .claude && echo '{}' >.claude/settings.json && git -C .claude add . && git -C .claude commit -qm s
box "$tag-h5" 'cd .claude; git checkout -qb side; echo "{1}" >settings.json; git commit -qam tidy; git checkout -q main'
say "$ostiary" diff "$tag-h5"
holds 'a repository below a directory that a row names: diff names it' "$out" 'committed: .claude/settings.json'
say "$ostiary" apply "$tag-h5" --yes
same 'and --yes leaves it' "$code $(git -C .claude for-each-ref --format='%(refname)')" '1 refs/heads/main'

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
same 'a branch that became a directory of branches' "$code $(git log -1 --format=%s) $(git for-each-ref --format='%(refname)' "refs/ostiary/$tag-r/heads" | tr '\n' ' ')" \
	"0 onmain refs/ostiary/$tag-r/heads/fix/two refs/ostiary/$tag-r/heads/main "
same 'what it was before is kept' "$(git for-each-ref --format='%(subject)' "refs/ostiary/$tag-r/was")" fix
holds 'and told' "$err" "refs/ostiary/$tag-r/was/"
"$ostiary" exec "$tag-r" -- sh -c 'echo 1 >>a; git stash -q' >/dev/null 2>&1
say "$ostiary" apply "$tag-r" --yes
first=$(git rev-parse "ostiary/$tag-r/stash/0")
"$ostiary" exec "$tag-r" -- sh -c 'echo 2 >>z; git stash -q' >/dev/null 2>&1
say "$ostiary" apply "$tag-r" --yes
same 'a second stash does not lose the first' "$(git rev-parse "ostiary/$tag-r/stash/1")" "$first"

# --- merges, ignored files, sparse checkouts, submodules, two at once ----------------------------------------------------
repo merges
box "$tag-m" 'git checkout -qb s1; echo 1 >f1; git add f1; git commit -qm f1; git checkout -qb s2 main; echo 2 >f2; git add f2; git commit -qm f2
	git merge -q --no-commit s1; echo "evil()" >payload.c; git add -A; git commit -qm "Merge branch s1"; git checkout -q main; echo st >>a; git stash -q'
say "$ostiary" diff "$tag-m" --all
holds 'what a merge brings of its own is shown' "$out" '+evil()'
holds 'and what is stashed' "$out" '+st'
echo '* -diff' >.gitattributes && git commit -qam attributes
say "$ostiary" diff "$tag-m" --all
holds 'whatever attributes say of it' "$out" '+evil()'

repo forced
echo dist/ >.gitignore && git add -A && git commit -qm ignore
box "$tag-f" 'mkdir dist; echo x >dist/x.js; echo y >dist/y.js; git add -f dist/x.js; git commit -qm dist'
say "$ostiary" apply "$tag-f" --yes
same 'a file that was added by force lands with its commit, output does not' "$(git log -1 --format=%s) $(git status --porcelain) $(cat dist/x.js) $(absent dist/y.js)" 'dist  x 1'

repo sparse
mkdir in out && echo i >in/i && echo o >out/x && git add -A && git commit -qm both && git sparse-checkout set in 2>/dev/null
box "$tag-v" 'git sparse-checkout disable; echo x >>out/x; git commit -qam out; git sparse-checkout set in'
say "$ostiary" apply "$tag-v" --yes
same 'a sparse checkout stays one' "$(git log -1 --format=%s) $(git status --porcelain) $(git ls-files -t out/x) $(absent out/x)" 'out  S out/x 1'

repo library
git init -q ../sublib && echo a >../sublib/a && git -C ../sublib add . && git -C ../sublib commit -qm lib
git submodule --quiet add "$work/sublib" lib && git -C lib checkout -q main && git commit -qm 'a submodule'
box "$tag-sub" 'cd lib; git checkout -q main; echo x >>a; git commit -qam inlib; cd ..; git add lib; git commit -qm bump'
say "$ostiary" apply "$tag-sub" --yes
same 'a submodule moves before what points to it' "$(git -C lib log -1 --format=%s) $(git log -1 --format=%s) $(git status --porcelain)" 'inlib bump '

repo shadow
mkdir sub && echo 1 >sub/x && git add -A && git commit -qm sub
box "$tag-sh" 'echo box >>sub/x; git commit -qam box; git init -q sub; git -C sub add x; git -C sub commit -qm n'
echo mine >>sub/x
say "$ostiary" apply "$tag-sh" --yes
same 'a nested repository of the box hides no file of the outer one' "$(git log -1 --format=%s) $(tail -n 1 sub/x)" 'sub mine'

repo selflink
ln -s . self && git add -A && git commit -qm self
box "$tag-sl" 'echo x >>a; git commit -qam m'
say "$ostiary" apply "$tag-sl" --yes
same 'a link to its own directory makes nothing dangerous' "$code $(git log -1 --format=%s)" '0 m'

repo headfile
mkdir fix && echo 'ref: refs/heads/main' >fix/HEAD && git add -A && git commit -qm fixture
box "$tag-hf" 'git checkout -qb side; mkdir -p fix/objects fix/refs; echo k >fix/objects/k; echo k >fix/refs/k; printf "[core]\n\tbare = false\n" >fix/config
	git add -f fix; git commit -qm notes; git checkout -q main; rm -rf fix/objects fix/refs fix/config'
stays 'the rest of a git directory beside a HEAD of the host' "$tag-hf" heads/side

repo otherbranch
git branch dev && echo m >m && echo more >>a && git add -A && git commit -qm 'on main'
box "$tag-ob" 'git checkout -q dev; echo x >x; git add x; git commit -qm onDev'
say "$ostiary" apply "$tag-ob" --yes
same 'a box that ends on an older branch takes nothing of the host back' "$(git log -1 --format=%s) $(git status --porcelain) $(cat m)" 'on main  m'

repo masked
echo '{"key":"sk_live_abcdefghijklmnopqrstuvwx1234"}' >credentials.json
box "$tag-ma" 'echo n >n; git add -A; git commit -qm all'
say "$ostiary" apply "$tag-ma" --yes
same 'a stand-in that was committed moves no branch' "$(git log -1 --format=%s) $(git ls-files credentials.json) $(grep -c sk_live_abcdef credentials.json)" 'first  1'
holds 'and that is said' "$err" 'stand-in'

repo bare
box "$tag-ba" 'echo x >>a; git commit -qam m; git config core.bare true'
say "$ostiary" apply "$tag-ba" --yes
same 'a repository that says it is bare is told' "$code" 1
holds 'with what makes it so' "$err" 'core.bare'
case $err in *'nothing pending'*) r=1 ;; *) r=0 ;; esac
check 'and the box is not said to be empty' $r "$err"

repo together
box "$tag-2" 'for i in 1 2 3 4 5 6; do echo $i >f$i; git add f$i; git commit -qm $i; done'
for i in 1 2 3; do
	"$ostiary" apply "$tag-2" --yes >/dev/null 2>&1 &
	"$ostiary" diff "$tag-2" >/dev/null 2>&1 &
done
wait
say "$ostiary" apply "$tag-2" --yes
same 'several applies and diffs at once end where the box is' "$(git log -1 --format=%s) $(git status --porcelain) $(git fsck --full --no-dangling 2>&1)" '6  '

# --- secrets -------------------------------------------------------------------------------------------------------------------
repo custody
echo .env >.gitignore && git add -A && git commit -qm ignore && echo 'STRIPE_KEY=sk_live_abcdefghijklmnopqrstuvwx1234' >.env
# shellcheck disable=SC2016 # for the shell in the box
box "$tag-k" 'W=$PWD; mkdir .git/x; cat >.git/x/go.sh <<S
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_PREFIX
mkdir -p /tmp/o
export GIT_OBJECT_DIRECTORY=/tmp/o GIT_ALTERNATE_OBJECT_DIRECTORIES=$W/.git/objects GIT_DIR=$W/.git GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@a GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@a
b=\$(git hash-object -w $W/.env); t=\$(printf "100644 blob \$b	notes.txt
" | git mktree); c=\$(git commit-tree -p HEAD -m "tidy up" \$t); echo "\$c refs/heads/tidy" >/tmp/pr
S
git init -q sub; cd sub; echo 1 >f; echo "f filter=x" >.gitattributes; git add -A; git commit -qm 1; touch -d 2035-01-01 f; git add f; git update-index --refresh; echo 2 >g; git add g
git config filter.x.clean "sh $W/.git/x/go.sh; cat"; cd ..; echo /tmp/o >.git/objects/info/alternates; ln -s /tmp/pr .git/packed-refs'
"$ostiary" diff "$tag-k" >/dev/null 2>&1
"$ostiary" apply "$tag-k" --yes >/dev/null 2>&1
found=$({ git cat-file --batch-all-objects --batch --buffer; git -C sub cat-file --batch-all-objects --batch --buffer; } 2>/dev/null | grep -c sk_live_abcdef)
same 'no secret of the workspace comes back in a commit' "$found" 0

remove_boxes
exit $bad
