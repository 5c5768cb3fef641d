#!/bin/bash
# suite: test=user soak=root,user timeout=300
# tier: what a commit brings is judged the same for every user
# git_around.sh - ways around the classes of commits and around the questions that are asked for them: links, shapes,
# decoys, work trees that share their refs, names that are commands. Found by attackers who had not built it.
set -u
. "$(dirname "$0")/lib_life.sh"
. "$here/lib_review.sh"
. "$here/lib_git.sh"

# Here with attributes, which are a class of their own.
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
# Settings of the machine and of the user, and what they include.
repo machine
mkdir hk && echo true >hk/post-merge && git add -A && git commit -qm s && printf '[core]\n\thooksPath = hk\n' >"$work/system"
box "$tag-h6" 'git checkout -qb side; echo evil >hk/post-merge; git commit -qam tidy; git checkout -q main'
export GIT_CONFIG_SYSTEM=$work/system
stays "a hook where the machine's core.hooksPath leads" "$tag-h6" heads/side
unset GIT_CONFIG_SYSTEM
say "$ostiary" apply "$tag-h6" --yes
same 'the control: without that setting it is a plain file' "$code $(git log -1 --format=%s "ostiary/$tag-h6/heads/side")" '0 tidy'
cp "$HOME/.gitconfig" "$work/saved"
for i in include 'includeIf "gitdir:/elsewhere/"'; do
	repo "user-${i%% *}"
	mkdir hk && echo true >hk/post-merge && git add -A && git commit -qm s
	printf '[%s]\n\tpath = step\n' "$i" >>"$HOME/.gitconfig" && printf '[include]\n\tpath = ~/last\n' >"$HOME/step" && printf '[core]\n\thooksPath = hk\n' >"$HOME/last"
	box "$tag-h-${i%% *}" 'git checkout -qb side; echo evil >hk/post-merge; git commit -qam tidy; git checkout -q main'
	stays "a hook by what the user's settings reach through ${i%% *}" "$tag-h-${i%% *}" heads/side
	cp "$work/saved" "$HOME/.gitconfig"
done
# git has several places for its settings. hooked NAME: a repository with hooks in its tree, and we are in it.
hooked() {
	repo "$1"
	mkdir -p hk sub/hk && echo true | tee hk/post-checkout >sub/hk/post-checkout && git add -A && git commit -qm s
}
# kept NAME BOX FILE: the box changed a hook, named from here; --yes leaves it on the host as it was.
kept() {
	box "$2" "echo evil >$3; git commit -qam tidy || true"
	say "$ostiary" apply "$2" --yes
	same "$1" "$code $(cat "$3")" '1 true'
}
hooked linked
git config core.hooksPath hk && git worktree add -q ../linked-wt -b feat && cd ../linked-wt || exit 1
kept 'a linked work tree: the settings lie in the repository that it shares' "$tag-n1" hk/post-checkout
hooked linkedown
git config extensions.worktreeConfig true && git worktree add -q ../linkedown-wt -b feat && cd ../linkedown-wt || exit 1
git config --worktree core.hooksPath hk
kept 'a linked work tree with settings of its own' "$tag-n2" hk/post-checkout
hooked treewithin
git worktree add -q wt -b feat && git config core.hooksPath hk
kept 'a linked work tree within the workspace' "$tag-n3" wt/hk/post-checkout
hooked super
git submodule --quiet add "$work/linked" lib && git commit -qm lib && git -C lib config core.hooksPath hk
kept 'a submodule within the workspace' "$tag-n4" lib/hk/post-checkout
git -C lib config core.hooksPath ../sub/hk
kept 'a submodule whose hooks lie beside it' "$tag-n5" sub/hk/post-checkout
git -C lib config core.hooksPath hk && cd lib || exit 1
kept 'a submodule as workspace' "$tag-n6" hk/post-checkout
hooked nested
git init -q nest && cp -a hk nest/ && git -C nest add hk && git -C nest commit -qm n && git -C nest config core.hooksPath hk
kept 'a repository within the workspace' "$tag-n7" nest/hk/post-checkout
hooked folder
git config core.hooksPath sub/hk && cd sub || exit 1
kept 'a sub-folder of the repository' "$tag-n8" hk/post-checkout
hooked folderlink
ln -s ../../sub/hk/post-checkout .git/hooks/post-checkout && cd sub || exit 1
kept 'a sub-folder, with a hook that is a link into it' "$tag-n9" hk/post-checkout
hooked tilde
# shellcheck disable=SC2088 # for git
ln -s "$work" "$HOME/lnk" && git config core.hooksPath '~/lnk/tilde/hk'
kept 'a path from the home, in the settings of the repository' "$tag-n10" hk/post-checkout
git config core.hooksPath "$HOME/lnk/tilde/sub/hk"
kept 'a path through a link that lies outside' "$tag-n11" sub/hk/post-checkout
ln -s "$work/tilde/soon" "$HOME/soon" && git config core.hooksPath "$HOME/soon"
box "$tag-n12" 'mkdir soon; echo evil >soon/post-checkout'
say "$ostiary" apply "$tag-n12" --yes
same 'where nothing is yet' "$code $(absent soon/post-checkout)" '1 1'
git config core.hooksPath ../hk
kept 'a path from the git directory, where hooks of a push run' "$tag-n13" hk/post-checkout
hooked deep
printf '[include]\n\tpath = cfg/second\n' >.gitconfig && mkdir cfg && printf '[includeIf "gitdir:/elsewhere/"]\n\tpath = third\n' >cfg/second && printf '[core]\n\thooksPath = hk\n' >cfg/third
git add -A && git commit -qm c && git config include.path ../.gitconfig
kept 'what the settings of the repository include, to its end' "$tag-n14" hk/post-checkout
box "$tag-n15" 'printf "[alias]\n\tst = !touch P\n" >>cfg/third'
say "$ostiary" apply "$tag-n15" --yes
same 'and the last of these files' "$code $(grep -c alias cfg/third)" '1 0'
hooked homeinc
# shellcheck disable=SC2088 # for git
printf '[core]\n\thooksPath = hk\n' >"$HOME/shared.cfg" && git config include.path '~/shared.cfg'
kept 'what they include from the home' "$tag-n16" hk/post-checkout
hooked top
echo true >post-checkout && git add -A && git commit -qm t && git config core.hooksPath .
kept 'hooks at the top of the work tree' "$tag-n17" post-checkout
box "$tag-n18" 'echo x >>a; echo y >sub/y; echo z >Notes.txt'
say "$ostiary" apply "$tag-n18" --yes
same 'where not all that lies there is one' "$(cat sub/y Notes.txt | tr '\n' ' ')" 'y z '
hooked bare-hook
git init -q --bare srv && rm -rf srv/hooks/* && ln -s ../../sub/hk/post-checkout srv/hooks/post-receive
kept 'what a hook of a bare repository leads to' "$tag-n19" sub/hk/post-checkout
hooked control
git worktree add -q ../control-wt -b feat && cd ../control-wt || exit 1
box "$tag-n20" 'echo new >hk/post-checkout; git commit -qam tidy'
say "$ostiary" apply "$tag-n20" --yes
same 'the control: without a setting they are plain files' "$code $(cat hk/post-checkout)" '0 new'
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
answer n "$ostiary" apply "$tag-o"
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

# A HEAD on no branch: nothing else names its commits.
repo detached
git worktree add -q --detach host
box "$tag-de" 'git worktree add -q --detach wt; cd wt; echo f >f; git add f; git commit -qm spare; git worktree add -q --detach /tmp/out; cd /tmp/out; echo g >g; git add g; git commit -qm outside
	cd "$OLDPWD/../host"; mkdir -p .github/workflows; echo on >.github/workflows/x.yml; git add -A; git commit -qm linked; cd ..; git checkout -q --detach; echo h >h; git add h; git commit -qm own; git checkout -q main'
say "$ostiary" diff "$tag-de"
holds 'a detached HEAD of a work tree that the host has: diff names what it brings' "$out" 'committed: host/.github/workflows/x.yml (runs in CI), in the detached HEAD of host'
holds 'of one that only the box has: the sentence' "$out" 'wt: its files stay in the box: it is a linked work tree that only the box has'
say "$ostiary" apply "$tag-de" --yes
same 'its commits are fetched, also those of one outside of the workspace' \
	"$(git log -1 --format=%s "ostiary/$tag-de/worktrees/wt/HEAD") $(git log -1 --format=%s "ostiary/$tag-de/worktrees/tmp/out/HEAD")" 'spare outside'
same 'what runs in CI is not' "$code $(git rev-parse -q --verify "ostiary/$tag-de/worktrees/host/HEAD") $(absent host/.github)" '1  1'
say "$ostiary" apply "$tag-de" --yes=runs-in-ci
same 'until it is allowed' "$(git log -1 --format=%s "ostiary/$tag-de/worktrees/host/HEAD") $(absent host/.github)" 'linked 1'
holds 'and what its files wait for is told' "$err" "git -C host merge ostiary/$tag-de/worktrees/host/HEAD"

# --- one repository for another -------------------------------------------------------------------------------------------------
repo astray
git init -q ../astraylib && echo l >../astraylib/l && git -C ../astraylib add . && git -C ../astraylib commit -qm lib
git submodule --quiet add "$work/astraylib" lib && git init -q nest && echo n >nest/n && git -C nest add . && git -C nest commit -qm nest
mkdir plain && echo p >plain/p && git add lib plain && git commit -qm all
box "$tag-as" 'echo x >>a; git commit -qam outer; echo "gitdir: ../.git" >lib/.git; rm -rf nest/.git; ln -s ../.git nest/.git; echo "gitdir: ../.git" >plain/.git'
say "$ostiary" diff "$tag-as"
for i in lib nest plain; do
	grep -q "^# $i: .*its .git leads in the box to the repository of $PWD" <<<"$out"
	check "a $i whose .git leads to the outer repository: that is said" $? "$out"
done
before=$(git -C lib for-each-ref; git -C nest for-each-ref)
say "$ostiary" apply "$tag-as" --yes=runs-on-commit
same 'its history is offered to no other' "$(git -C lib for-each-ref; git -C nest for-each-ref)" "$before"
same 'and its own branch moves' "$(git log -1 --format=%s) $(git status --porcelain)" 'outer ?? nest/'

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
same 'and nothing is kept twice' "$(git for-each-ref --format='%(objectname)' "refs/ostiary/$tag-r" | sort | uniq -d)" ''
"$ostiary" exec "$tag-r" -- sh -c 'git stash drop -q; git stash drop -q; echo 3 >>a; git stash -q' >/dev/null 2>&1
second=$(git rev-parse "ostiary/$tag-r/stash/0")
say "$ostiary" apply "$tag-r" --yes
same 'a stash that was dropped and made anew loses neither' "$(git rev-parse "ostiary/$tag-r/stash/1") $(git rev-parse "ostiary/$tag-r/was/${second:0:12}")" "$first $second"
holds 'and that is told' "$err" "is kept as refs/ostiary/$tag-r/was/${second:0:12}"

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

# What the box committed and removed again is deleted on the host too, not left out.
mkdir -p ../cone && cp -a . ../cone/w && cd ../cone/w || exit 1
git sparse-checkout set in in/deep/er 2>/dev/null
box "$tag-v2" 'mkdir -p in/deep/er in/deep/not; echo 1 >in/new; echo 2 >in/deep/er/new; git add -A; git commit -qm new; rm in/new in/deep/er/new
	git update-index --add --cacheinfo 100644,$(git hash-object -w a),in/deep/not/x --cacheinfo 100644,$(git hash-object -w a),out/y; git commit -qm more; git update-index --skip-worktree out/y; git status --porcelain >/tmp/status'
say "$ostiary" apply "$tag-v2" --yes
same 'in a sparse checkout what was committed and removed is deleted' "$(git log -1 --format=%s) $(git status --porcelain | tr '\n' ' ')" 'more  D in/deep/er/new  D in/deep/not/x  D in/new '
same 'and what it leaves out is left out' "$(git ls-files -t out/y) $(absent out/y)" 'S out/y 1'
say "$ostiary" undo
same 'also after undo' "$(git log -1 --format=%s) $(git status --porcelain) $(absent out)" 'out  1'

repo library
git init -q ../sublib && echo a >../sublib/a && git -C ../sublib add . && git -C ../sublib commit -qm lib
git submodule --quiet add "$work/sublib" lib && git -C lib checkout -q main && git commit -qm 'a submodule'
box "$tag-sub" 'cd lib; git checkout -q main; echo x >>a; git commit -qam inlib; cd ..; git add lib; git commit -qm bump'
say "$ostiary" apply "$tag-sub" --yes
same 'a submodule moves before what points to it' "$(git -C lib log -1 --format=%s) $(git log -1 --format=%s) $(git status --porcelain)" 'inlib bump '

say "$ostiary" run --name "$tag-lines" -- sh -c 'cd lib; git checkout -q main; echo y >>a; git commit -qam inlib; cd ..; git add lib; git commit -qm bump'
holds 'the closing lines say in which repository a branch is' "$err" 'main in lib'

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

# --- work of the user's that was not committed -----------------------------------------------------------------------------
# holds_back NAME BOX WORDS: apply --yes leaves the branch, and says why.
holds_back() {
	local was
	was=$(git rev-parse main)
	say "$ostiary" apply "$2" --yes
	same "$1: main stays" "$(git rev-parse main)" "$was"
	holds "$1: and that is said" "$err" "$3"
}
UNTRACK='git update-index --force-remove a; echo a >.gitignore; git add .gitignore; git commit -qm u'
repo untrack
box "$tag-u1" "$UNTRACK"
echo work >>a
holds_back 'a changed file that the commits take out of the index' "$tag-u1" 'a is changed on the host'
git checkout -q HEAD 2>/dev/null
same 'and the work is there' "$(tail -n 1 a)" work
repo copied
echo work >>a
box "$tag-u2" "cp a b; mv b a; $UNTRACK"
holds_back 'also when the box copied it before' "$tag-u2" 'a is changed on the host'
repo untouched
box "$tag-u3" "$UNTRACK"
say "$ostiary" apply "$tag-u3" --yes
same 'a file without work of the user follows' "$code $(git log -1 --format=%s) $(git status --porcelain) $(cat a)" '0 u  one'
for i in skip-worktree assume-unchanged; do
	repo "bit-$i"
	git update-index "--$i" a && echo work >>a
	box "$tag-b-$i" "$UNTRACK"
	holds_back "$i hides no work" "$tag-b-$i" 'a is changed on the host'
done
repo cached
# shellcheck disable=SC2016 # for the shell in the box
box "$tag-u4" 'git update-index --cacheinfo 100644,$(echo other | git hash-object -w --stdin),a; git commit -qm c'
echo work >>a
holds_back 'a changed file that the commits set to something else' "$tag-u4" 'a is changed on the host'
repo ignored
echo 'x*' >.gitignore && git add -A && git commit -qm i && mkdir xd && echo work >x && echo work >xf && echo work >xd/w
# shellcheck disable=SC2016 # for the shell in the box
BLOB='$(echo other | git hash-object -w --stdin)'
box "$tag-i1" "git update-index --add --cacheinfo 100644,$BLOB,x; git commit -qm c"
holds_back 'an ignored file where the commits bring one' "$tag-i1" 'x is changed on the host'
box "$tag-i2" "git update-index --add --cacheinfo 100644,$BLOB,xf/below; git commit -qm c"
holds_back 'one where they bring a directory' "$tag-i2" 'xf is changed on the host, where the commits have xf/below'
box "$tag-i3" "git update-index --add --cacheinfo 100644,$BLOB,xd; git commit -qm c"
holds_back 'a directory of ignored files where they bring a file' "$tag-i3" 'xd is changed on the host'

GITLINK='git rm -rq --cached src; git update-index --add --cacheinfo 160000,1111111111111111111111111111111111111111,src; git commit -qm t'
repo gitlink
mkdir src && echo s >src/s && git add -A && git commit -qm src
box "$tag-g1" "$GITLINK"
say "$ostiary" diff "$tag-g1"
holds 'a new gitlink is named' "$out" 'committed: src ('
say "$ostiary" apply "$tag-g1" --yes
same 'and not taken by --yes' "$code $(git log -1 --format=%s)" '1 src'
echo work >src/new
say "$ostiary" apply "$tag-g1" --yes=runs-on-commit
same 'over a new file of the user main stays' "$(git log -1 --format=%s) $(git status --porcelain)" 'src ?? src/new'
holds 'and that is said' "$err" 'src/new is changed on the host, where the commits have src'
rm src/new && echo work >>src/s
say "$ostiary" apply "$tag-g1" --yes=runs-on-commit
same 'also over a changed one' "$(git log -1 --format=%s) $(git status --porcelain)" 'src  M src/s'
git checkout -q src/s
say "$ostiary" apply "$tag-g1" --yes=runs-on-commit
same 'without any it moves, when it is allowed' "$(git log -1 --format=%s)" t
repo bump
git submodule --quiet add "$work/sublib" lib && git commit -qm 'a submodule' && git submodule --quiet deinit -f lib && rm -rf .git/modules
# shellcheck disable=SC2016 # for the shell in the box
box "$tag-g2" 'git update-index --cacheinfo 160000,2222222222222222222222222222222222222222,lib; git commit -qm bump'
say "$ostiary" apply "$tag-g2" --yes
same 'a submodule that is not checked out moves on' "$code $(git log -1 --format=%s)" '0 bump'

# --- merges that bring an old state back ---------------------------------------------------------------------------------------
repo oldstate
mkdir -p .github/workflows && echo on >.github/workflows/old.yml && git add -A && git commit -qm h1 && git rm -rq .github && git commit -qm h2
# shellcheck disable=SC2016 # for the shell in the box
box "$tag-om" 'M1=$(git commit-tree -p HEAD -p HEAD~1 -m m "HEAD~1^{tree}"); M2=$(git commit-tree -p $M1 -p HEAD -m m "HEAD^{tree}"); git update-ref refs/heads/main $M2'
stays 'a merge that takes an old file from its second parent' "$tag-om" heads/main
same 'and main stays' "$(git log -1 --format=%s)" h2
# shellcheck disable=SC2016 # for the shell in the box
box "$tag-os" 'git stash store -m s $(git commit-tree -p HEAD -p HEAD~1 -m s "HEAD~1^{tree}")'
stays 'a stash of two old commits' "$tag-os" stash/0
# shellcheck disable=SC2016 # for the shell in the box
box "$tag-oi" 'git stash store -m s $(git commit-tree -p HEAD -p HEAD~1 -m s "HEAD^{tree}")'
stays 'one whose index is an old commit' "$tag-oi" stash/0
# shellcheck disable=SC2016 # for the shell in the box
box "$tag-ou" 'git stash store -m s $(git commit-tree -p HEAD -p HEAD -p HEAD~1 -m s "HEAD^{tree}"); I=$(git commit-tree -p HEAD -m i "HEAD^{tree}"); git stash store -m s $(git commit-tree -p HEAD -p $I -p HEAD~1 -m s "HEAD^{tree}")'
stays 'one whose untracked files are an old commit' "$tag-ou" stash/0
# shellcheck disable=SC2016 # for the shell in the box
box "$tag-oc" 'git checkout -q --orphan z; git rm -rqf .; git checkout -q main; A=$(git commit-tree -p HEAD~1 -p HEAD -m x "HEAD~1^{tree}"); git update-ref refs/heads/side $(git commit-tree -p $A -m y "HEAD~1^{tree}")'
stays 'a side branch whose first parents are all old' "$tag-oc" heads/side
repo ownmerge
git checkout -qb feature && echo f >f && git add f && git commit -qm f && git checkout -q main && mkdir -p .github/workflows && echo on >.github/workflows/mine.yml && git add -A && git commit -qm mine
box "$tag-ow" 'git merge -q --no-edit feature'
say "$ostiary" apply "$tag-ow" --yes
same 'a merge of the host own commits is no news' "$code $(git rev-list --count --merges main)" '0 1'

# --- links that leave, what is told ----------------------------------------------------------------------------------------------
for i in /etc ../../.. sub/../../../..; do
	repo "leave-${i//[^a-z]/_}"
	box "$tag-le-${i//[^a-z]/_}" "git checkout -qb side; mkdir sub; echo s >sub/s; ln -s $i leaves; git add -A; git commit -qm l; git checkout -q main"
	stays "a link to $i on a side branch" "$tag-le-${i//[^a-z]/_}" heads/side
done
repo inside
mkdir d
box "$tag-in" 'git checkout -qb side; mkdir d; ln -s ../a d/up; ln -s "$PWD/a" whole; ln -s a near; git add -A; git commit -qm l; git checkout -q main'
say "$ostiary" apply "$tag-in" --yes
same 'links within it are plain' "$code $(git log -1 --format=%s "ostiary/$tag-in/heads/side")" '0 l'

repo many
# shellcheck disable=SC2016 # for the shell in the box
box "$tag-mc" 'T=$(git rev-parse "HEAD^{tree}"); { i=0; while [ $i -lt 503 ]; do i=$((i + 1)); printf "commit refs/heads/main\nmark :%d\ncommitter T <t@example.net> %d +0000\ndata 2\nc\n" $i $((1700000000 + i)); [ $i = 1 ] && echo "from $(git rev-parse HEAD)"; echo "M 100644 inline n"; printf "data 4\n%04d\n" $i; done; } | git fast-import --quiet; git reset -q --hard'
say "$ostiary" diff "$tag-mc"
holds 'commits that are not shown are told' "$out" '3 older commits are not shown'

repo tagged
git tag -a -m 'of my own' mine
box "$tag-tg" 'git tag -a -m "words of the tag" v1; git tag -a -m "words around it" v2 v1'
say "$ostiary" diff "$tag-tg"
holds 'the message of a tag is shown' "$out" 'words of the tag'
holds 'also of a tag of a tag' "$out" 'words around it'
holds 'and where its commits are' "$out" 'whose commits the host has already'
case $out in *'told above'*) r=1 ;; *) r=0 ;; esac
check 'not that they were told' $r "$out"

repo behind
echo two >>a && git commit -qam second
box "$tag-bh" 'git reset -q --hard HEAD~1'
say "$ostiary" apply "$tag-bh" --yes
holds 'a box that is behind is told so' "$err" 'the box stands on commit'
same 'and nothing moves' "$(git log -1 --format=%s) $(tail -n 1 a) $(git status --porcelain)" 'second two '

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
