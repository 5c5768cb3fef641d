#!/bin/bash
# suite: test=root,user soak=root,user timeout=900
# tier: who may write what is the matter of this suite, and root may write everything
# live.sh - a workspace that the box writes to directly: what runs by itself is read-only in it, what is
# new and dangerous is taken away, sockets and FIFOs are dead, git goes on working, and the run is undone.
set -u
. "$(dirname "$0")/lib_life.sh"
export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null
git_() { git -c user.name=t -c user.email=t@t -c init.defaultBranch=main "$@"; }
live() { say "$ostiary" run --live --name "$box" -- sh -c "$1"; }
listed() { cat "$boxes/$box/quarantine/list" 2>/dev/null; }
drop() { "$ostiary" rm "$box" >/dev/null 2>&1; }
gone() { [ ! -e "$1" ] && [ ! -L "$1" ]; }
if ! command -v git >/dev/null; then
	skip 'live workspaces' 'git is not installed'
	exit 0
fi

# --- a tree with everything in it --------------------------------------------------------------------
git_ init -q .
git_ commit -q --allow-empty -m first
mkdir -p .vscode src/deep .husky lib node_modules/p sub
echo '{}' >package.json
echo 'all:' >Makefile
echo tasks >.vscode/tasks.json
echo old >AGENTS.md
echo old >src/deep/CLAUDE.md
echo old >.husky/pre-commit
echo old >node_modules/p/AGENTS.md
echo one >a.txt
echo two >b.txt
chmod 640 b.txt
ln -s a.txt link
echo hook >.git/hooks/pre-push
chmod 755 .git/hooks/pre-push
ln .git/hooks/pre-push lib/alias
echo keep >.envrc
ln -s missing .nvimrc
git_ init -q sub
mkfifo pipe
python3 -c 'import socket; s = socket.socket(socket.AF_UNIX); s.bind("sock")'
tree() { find . -path './.git/objects' -prune -o -path ./sub/.git/objects -prune -o -printf '%y %m %p %l\n' | sort; find . -type f ! -path './.git/*' -exec sha256sum {} + | sort; cat .git/config .git/hooks/pre-push; }
before=$(tree)

# --- what explain tells of it --------------------------------------------------------------------------
say "$ostiary" explain --live -- true
same 'explain --live changes nothing' "$code $(tree | cksum)" "0 $(cksum <<<"$before")"
for path in .vscode .husky AGENTS.md src/deep/CLAUDE.md .envrc .git/config .git/hooks lib/alias; do
	grep -A1 "$PWD/$path\$\|$PWD/$path " <<<"$out" | tr -d '\n' | tr -s ' ' | grep -q 'protected in a live'
	check "explain --live lists $path as protected" $? "$out"
done
for path in pipe sock; do
	grep -A1 "$PWD/$path\$\|$PWD/$path " <<<"$out" | tr -d '\n' | tr -s ' ' | grep -q 'masked: a socket or FIFO'
	check "explain --live lists $path as masked" $? "$out"
done
same 'and what stays writable is not in the list' "$(grep -c "$PWD/\(package.json\|Makefile\|a.txt\|new\)" <<<"$out")" 0
say "$ostiary" explain --live --json -- true
same 'as JSON too' "$(python3 -c 'import json, sys
d = json.load(sys.stdin)["data"]
told = {m["target"][len(sys.argv[1]) + 1:] for m in d["mounts"] if "live workspace" in m["why"] or "masked:" in m["why"]}
print(sorted(set(sys.argv[2].split()) - told))' "$PWD" '.envrc .git/config .git/hooks .husky .vscode AGENTS.md lib/alias pipe sock src/deep/CLAUDE.md sub/.git/config sub/.git/hooks' <<<"$out")" '[]'
say "$ostiary" explain -- true
same 'copy-on-write needs none of it' "$(grep -c 'live workspace' <<<"$out")" 0

# --- what is there already (cases 60, 61, 66, 69, 73) ------------------------------------------------
box=$tag-a
live 'echo x >>a.txt && echo x >new && rm b.txt && echo x >>package.json && echo x >>Makefile && echo fine'
same 'control: plain files, package.json and Makefile can be changed' "$out $(cat new) $(tail -n1 a.txt)" 'fine x x'
gone b.txt
check 'control: and deleted' $? 'b.txt is still there'
holds 'the end says how it is taken back' "$err" 'ostiary undo'
say "$ostiary" undo --yes
same 'undo takes the run back' "$code $(cat a.txt) $(cat b.txt) $(stat -c %a b.txt) $(gone new && echo gone)" '0 one two 640 gone'
same 'the tree is as it was before, to the byte' "$(tree)" "$before"
drop

box=$tag-b
for f in .git/config .git/hooks/pre-push .git/hooks/pre-commit .vscode/tasks.json .vscode/new AGENTS.md src/deep/CLAUDE.md .husky/pre-commit .envrc lib/alias sub/.git/config sub/.git/hooks/post-checkout; do
	live "echo evil >>$f"
	[ "$code" != 0 ] && [[ $(cat "$f" 2>/dev/null) != *evil* ]]
	check "$f is not written" $? "$code $(cat "$f" 2>&1)"
	drop
done
live 'rm -f AGENTS.md; rm -rf .vscode .git/hooks; mv .git other; mv AGENTS.md x; mv .envrc x; ln -f a.txt AGENTS.md; ln AGENTS.md alias; cp a.txt .envrc; ln -sf /etc/passwd .git/hooks/pre-push; true'
same 'nor removed, renamed, replaced or linked' "$(tree)" "$before"
drop
live 'mount -t tmpfs x .vscode; umount AGENTS.md; umount -l .git/hooks; mount -o remount,rw .git/hooks; echo evil >>AGENTS.md; true'
same 'nor uncovered' "$(tree)" "$before"
drop
live 'echo x >node_modules/p/AGENTS.md && rm -rf node_modules && echo fine'
same 'control: installed packages are replaced as a whole' "$out" fine
"$ostiary" undo --yes >/dev/null 2>&1
same 'and come back by undo' "$(cat node_modules/p/AGENTS.md)" old
drop

# --- a parent that is renamed ------------------------------------------------------------------------
box=$tag-c
live 'mv src src2 && mkdir -p src/deep && echo evil >src/deep/CLAUDE.md && sleep 1; true'
gone src/deep/CLAUDE.md && [ "$(cat src2/deep/CLAUDE.md)" = old ]
check 'a protected file can be moved with its directory; what takes its place is taken away' $? "$(ls -R src src2; listed)"
holds 'and is in quarantine' "$(listed)" src/deep/CLAUDE.md
same 'with what it held' "$(cat "$boxes/$box"/quarantine/*CLAUDE.md)" evil
"$ostiary" undo --yes >/dev/null 2>&1
same 'undo puts the directory back' "$(cat src/deep/CLAUDE.md; gone src2 && echo gone)" $'old\ngone'
drop

# --- what is new (case 64, B4) -----------------------------------------------------------------------
box=$tag-d
live 'mkdir -p .claude x/.zed deep/1/2/3/4/5 nest/.git/hooks; echo e >.claude/settings.json; echo e >x/.zed/tasks.json; echo e >deep/1/2/3/4/5/.envrc; echo e >.mcp.json; echo e >nest/.git/hooks/pre-commit; printf "[core]\n fsmonitor = x\n" >nest/.git/config; mkdir .ostiary; echo e >.ostiary/policy; echo e >.GIT; ln -s /etc .idea; echo e >tmp && mv tmp CLAUDE.md; echo fine >plain; i=0; while [ -n "$(find . -name settings.json -o -path ./CLAUDE.md)" ] && [ $i -lt 450 ]; do i=$((i + 1)); sleep 0.2; done; find . -name settings.json -o -path ./CLAUDE.md'
for f in .claude/settings.json x/.zed/tasks.json deep/1/2/3/4/5/.envrc .mcp.json nest/.git/hooks/pre-commit nest/.git/config .ostiary/policy .GIT .idea CLAUDE.md; do
	gone "$f"
	check "new and dangerous, $f is taken away" $? 'it is there'
	holds "$f is in the list" "$(listed)" "/$f"
done
same 'while the box runs' "$out" ''
same 'control: a plain file stays' "$(cat plain)" fine
holds 'the user hears of it' "$err" 'was taken away'
holds 'and why' "$err" 'steers an agent'
same 'nothing in quarantine can be run' "$(find "$boxes/$box/quarantine" -type f -perm /111)" ''
holds 'a box with something in quarantine is kept, and ps says so' "$("$ostiary" ps -a | grep "$box")" '(live, 10 in quarantine)'
same 'as JSON too' "$("$ostiary" ps -a --json | python3 -c 'import json, sys; print([b["quarantined"] for b in json.load(sys.stdin)["data"] if b["id"] == sys.argv[1]])' "$box")" '[10]'
"$ostiary" undo --yes >/dev/null 2>&1
drop

box=$tag-e
live 'mkdir bare && cd bare && mkdir hooks && echo e >hooks/post-checkout && printf "[core]\n fsmonitor = x\n" >config && sleep 1 && mkdir objects refs && echo "ref: refs/heads/x" >HEAD && sleep 2; true'
gone bare/hooks/post-checkout && gone bare/config
check 'a directory that becomes a git directory is looked at again' $? "$(ls -R bare; listed)"
"$ostiary" undo --yes >/dev/null 2>&1
drop
live 'echo e >.envrc2; (while :; do echo e >deep.envrc; mv deep.envrc src/.envrc; done) & sleep 2; kill $!; echo e >src/.envrc; true'
gone src/.envrc
check 'the last look finds what a race leaves' $? 'it is there'
"$ostiary" undo --yes >/dev/null 2>&1
drop

# --- written only after it was looked at ---------------------------------------------------------------
# The box waits until the file is gone, so that the last look is not what found it.
box=$tag-w
until_gone='until_gone() { i=0; while test -e "$1" && [ $i -lt 900 ]; do i=$((i + 1)); sleep 0.1; done; test -e "$1" && echo "$1 is there"; true; }'
live "$until_gone"'; mkdir -p late/.git && printf "[core]\n bare = false\n" >late/.git/config && sleep 0.5 && cat late/.git/config >was && exec 3>>late/.git/config && printf " fsmonitor = x\n" >&3 && until_gone late/.git/config; head -n1 was'
same 'a git configuration that was harmless is taken away once it is not, even while it is open' "$out" '[core]'
holds 'and is in the list' "$(listed)" late/.git/config
"$ostiary" undo --yes >/dev/null 2>&1
drop
live "$until_gone"'; mkdir -p odd/modules/m odd/info && printf "[core]\n bare = true\n" >odd/modules/m/config && echo "a text" >odd/info/attributes && sleep 0.5 && mkdir odd/objects odd/refs && echo "ref: refs/heads/x" >odd/HEAD && sleep 0.5 && test -e odd/modules/m/config && printf " fsmonitor = x\n" >>odd/modules/m/config && echo "* filter=x" >>odd/info/attributes && until_gone odd/modules/m/config && until_gone odd/info/attributes; echo end'
same 'what is in a directory that became a git directory is watched from then on' "$out" end
"$ostiary" undo --yes >/dev/null 2>&1
drop
mkdir tools
echo plain >tools/pre-push
"$ostiary" create -q --live --name "$box" >/dev/null
printf '[core]\n\thooksPath = tools\n' >>.git/config
# When the setting is noticed nothing tells; so the box writes until a write is.
say "$ostiary" exec "$box" -- sh -c 'i=0; while test -e tools/pre-push && [ $i -lt 900 ]; do i=$((i + 1)); echo e >>tools/pre-push; sleep 0.1; done; test -e tools/pre-push && echo there; echo end'
same 'what a setting of the user names as hooks meanwhile is watched from then on' "$out" end
"$ostiary" stop "$box" >/dev/null 2>&1
"$ostiary" undo --yes >/dev/null 2>&1
rm -rf tools
git_ config --unset core.hooksPath
drop
live "$until_gone"'; many() { python3 -c "
import os, sys
for i in range(4000): open(sys.argv[1] + str(i), \"w\").write(\"x\")
" "$1"; }; mkdir heap && many heap/a && echo e >heap/.envrc && many heap/b && until_gone heap/.envrc; ls heap | wc -l'
same 'a dangerous file among thousands of others is taken away, and they are not' "$out" 8000
rm -rf heap
drop

# --- deeper than any scan (case 65), and a git directory that lies elsewhere -------------------------
box=$tag-l
live 'python3 -c "
import os
for i in range(600): os.mkdir(\"d\"); os.chdir(\"d\")
open(\".envrc\", \"w\").write(\"e\")
"; mkdir -p z; echo e >z/.envrc; i=0; while test -e z/.envrc && [ $i -lt 900 ]; do i=$((i + 1)); sleep 0.1; done; test -e z/.envrc && echo there'
deep=$(printf 'd/%.0s' $(seq 600)).envrc
gone "$deep" && [ -d "${deep%/.envrc}" ]
check 'six hundred directories deep it is found' $? "$(ls -A "${deep%/.envrc}" 2>&1 | cut -c1-100)"
same 'and what comes after it too' "$out$(ls -A z)" ''
rm -rf d z
drop
git_ worktree add -q --detach ../linked
cd ../linked || exit 1
box=$tag-m
live "cd \"\$(git rev-parse --git-common-dir)\" && echo e >>config; echo e >hooks/post-merge; echo e >>hooks/pre-push; true"
same 'the git directory of a linked worktree is protected too' "$(grep -c '^e$' ../ws/.git/config; gone ../ws/.git/hooks/post-merge && echo gone; cat ../ws/.git/hooks/pre-push)" $'0\ngone\nhook'
drop
# Its settings lie there too, and nothing of them in the work tree.
mkdir tools
echo plain >tools/pre-push
git_ config core.hooksPath tools
live 'echo e >>tools/pre-push; echo e >tools/post-merge; true'
same 'and hooks that its settings name in the work tree' "$(cat tools/pre-push; gone tools/post-merge && echo gone)" $'plain\ngone'
git_ config --unset core.hooksPath
drop
git_ config filter.x.clean 'sh tools/pre-push new/clean.sh %f'
live 'echo e >>tools/pre-push; mkdir new; echo e >new/clean.sh; echo e >new/plain; true'
same 'and programs that they name' "$(cat tools/pre-push new/plain; gone new/clean.sh && echo gone)" $'plain\ne\ngone'
git_ config --unset filter.x.clean
drop
cd ../ws || exit 1
git_ worktree remove --force ../linked

# --- sockets and FIFOs (B1, case 36) -----------------------------------------------------------------
box=$tag-f
rm sock
python3 - "$work" <<'P' &
import os, socket, sys, time
s = socket.socket(socket.AF_UNIX)
s.bind("sock")
s.listen(1)
s.settimeout(600)
try:
    s.accept()
    open(sys.argv[1] + "/reached", "w").close()
except OSError:
    pass
P
listener=$!
wait_for 60 test -S sock
live 'test -f pipe && test -f sock && echo masked; timeout 2 sh -c "echo x >pipe"; python3 -c "import socket; socket.socket(socket.AF_UNIX).connect(\"sock\")"; true'
same 'sockets and FIFOs are files without content' "$out" masked
gone "$work/reached"
check 'and nobody is reached' $? 'the listener was'
python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect("sock")'
wait_for 60 test -e "$work/reached"
check 'control: the host reaches it' $? 'it does not'
kill "$listener" 2>/dev/null
wait "$listener" 2>/dev/null
[ -p pipe ] && [ -S sock ]
check 'on the host they are what they were' $? "$(ls -l pipe sock)"
drop

# --- git works in there ------------------------------------------------------------------------------
box=$tag-g
live 'export GIT_CONFIG_GLOBAL=/dev/null; g() { git -c user.name=t -c user.email=t@t -c protocol.file.allow=always "$@"; }
g add a.txt && g commit -qm second && g checkout -qb topic && echo 2 >c.txt && g add c.txt && g commit -qm third && g clone -q . cloned && g -C cloned log --oneline | wc -l &&
g worktree add -q --detach wt main && ls wt/a.txt && g init -q --bare b.git && g -C wt status --short && g checkout -q main && g commit -q --allow-empty -m four && g rebase -q main topic && echo rebased; sleep 1'
holds 'git commits, clones, adds a worktree and rebases in a live workspace' "$out $err" rebased
same 'nothing of that is taken away' "$(listed)" ''
same 'the host sees the commits' "$(git log --oneline main | wc -l) $(git -C cloned log --oneline | wc -l)" '3 3'
git -C wt status --short >/dev/null
check 'and its own git reads the worktree' $? "$(git -C wt status 2>&1)"
"$ostiary" undo --yes >/dev/null 2>&1
same 'undo takes the commits back' "$(git log --oneline | wc -l; ls -d cloned wt b.git 2>/dev/null)" 1
drop

# --- what was committed is judged at the end ------------------------------------------------------------
say "$ostiary" run --live --name "$tag-c" -- sh -c 'g() { git -c user.name=t -c user.email=t@t "$@"; }
	mkdir -p .github/workflows; echo on >.github/workflows/x.yml; g add .github; g commit -qm one; g rm -qr .github; g commit -qm two'
holds 'that the git directory is the host'\''s is said at the start' "$err" "its git directory is the host's"
holds 'commits of a live run are counted at its end' "$err" '2 commits were made'
holds 'and what they bring is named, also when it is gone again' "$err" 'committed: .github/workflows/x.yml (runs in CI)'

# --- the host edits meanwhile ------------------------------------------------------------------------
box=$tag-h
(
	wait_for 60 test -e started
	echo mine >>b.txt
	echo more >>.envrc
	touch edited
) &
live 'touch started; for i in $(seq 120); do test -e edited && break; sleep 0.5; done; cat b.txt .envrc'
wait
same 'what the host writes into a file, the box reads' "$out" $'two\nmine\nkeep\nmore'
same 'a protected file that the host edits in place stays' "$(cat .envrc)" $'keep\nmore'
echo keep >.envrc
echo two >b.txt
rm -f started edited
drop


# --- rights that the box gives to others ---------------------------------------------------------------
# Whatever its umask is, and by whichever call: what the host's umask forbids does not stay, in the run and after it.
mkdir -p open node_modules/q
echo shared >open/file
chmod 664 open/file
chmod 755 open
mode() { stat -c %a "$@" | tr '\n' ' '; }
umask 022
was=$(mode .)
box=$tag-modes
"$ostiary" run --live --name "$box" -- sh -c 'umask 0; mkdir -m 777 wide; mkdir -p node_modules/q/in; echo x >made; echo x >node_modules/q/in/x
	chmod 777 open . node_modules/q; chmod 666 a.txt; echo more >>open/file
	python3 -c "import os, struct; os.setxattr(\"src\", \"system.posix_acl_default\", struct.pack(\"<I\" + \"HHi\" * 3, 2, 1, 7, -1, 4, 7, -1, 32, 7, -1))"
	while [ ! -e go ]; do sleep 0.1; done' </dev/null >"$work/modes" 2>&1 &
run=$!
narrow() { [ "$(mode wide made open . a.txt)" = "755 644 755 ${was}644 " ]; }
wait_for 60 narrow
check 'rights that others get are taken away while the box runs' $? "$(mode wide made open . a.txt)"
same 'rights that were there stay' "$(mode open/file)" '664 '
touch go
wait $run
same 'and in installed packages at the end' "$(mode node_modules/q node_modules/q/in node_modules/q/in/x)" '755 755 644 '
mkdir src/after
same 'a list that a directory hands on is taken away' "$(mode src/after)" '755 '
holds 'and said' "$(cat "$work/modes")" 'which your umask forbids'
drop
rm -rf wide made open go node_modules/q src/after

# What was so before was so in its place: neither a wide directory that is moved, nor an old file in the place of a wide
# one, nor a second name of it. And what others could not read they cannot read afterwards.
mkdir -p open inner && chmod 777 open && chmod 755 inner
echo x >open/edited && chmod 666 open/edited
echo x >was && chmod 666 was
echo x >was2 && chmod 666 was2
echo x >narrow1
echo x >narrow2
echo secret >private.txt && chmod 600 private.txt
echo secret >kept && chmod 640 kept
mkdir -p shut && chmod 700 shut && echo x >shut/in
for i in 1 2 3 4 5 6 7 8; do # neighbours by their inodes
	echo x >"public$i"
	echo x >"private$i" && chmod 600 "private$i"
done
box=$tag-moved
"$ostiary" run --live --name "$box" -- sh -c 'umask 0; chmod 644 public*; mv open inner/moved; mv narrow1 was; chmod 666 was; rm was2; ln narrow2 was2; chmod 666 was2
	echo y >inner/moved/new; cp inner/moved/edited inner/moved/e2; chmod 666 inner/moved/e2; mv inner/moved/e2 inner/moved/edited
	chmod 644 private.txt; cp kept kept2; chmod 644 kept2; mv kept2 kept; chmod 755 shut; echo plain >fresh; chmod 644 fresh
	while [ ! -e go ]; do sleep 0.1; done' </dev/null >"$work/moved" 2>&1 &
run=$!
narrow() { [ "$(mode inner/moved was narrow2 private.txt kept shut fresh)" = '755 644 644 600 640 700 644 ' ]; }
wait_for 60 narrow
check 'a wide directory that is moved, an old file in a wide place, a second name: put right; private files stay so' $? \
	"$(mode inner/moved was narrow2 private.txt kept shut fresh)"
touch go
wait $run
holds 'what others could read is said' "$(cat "$work/moved")" 'private.txt, which they could not before'
same 'files beside private ones keep their rights' "$(mode public?)" '644 644 644 644 644 644 644 644 '
drop
rm -rf open inner was was2 narrow1 narrow2 private.txt kept shut fresh go public? private?
# A program that makes a wide file anew leaves it wide.
echo x >team && chmod 664 team
box=$tag-edit
"$ostiary" run --live --name "$box" -- sh -c 'umask 002; rm team; echo y >team; touch said; while [ ! -e go ]; do sleep 0.1; done' </dev/null >/dev/null 2>&1 &
run=$!
wait_for 60 test -e said
touch go
wait $run
same 'a new file in the place of a wide one stays as wide' "$(mode team)" '664 '
drop
rm -f team said go

# A program with the rights of its group: none that the box made or touched; what lay there stays, and so do directories.
cp /usr/bin/true old-gid && chmod 2755 old-gid
cp /usr/bin/true kept-gid && chmod 2755 kept-gid
sleep 0.1 # the clock of files is coarse, and what is as old as the start counts as touched
box=$tag-gid
"$ostiary" run --live --name "$box" -- sh -c 'cp /usr/bin/id gid; chmod 2755 gid; mkdir dgid; chmod 2755 dgid; cp /usr/bin/id old-gid; chmod 2755 old-gid
	while [ ! -e go ]; do sleep 0.1; done' </dev/null >"$work/gid" 2>&1 &
run=$!
narrow() { [ "$(mode gid dgid old-gid kept-gid)" = '755 2755 755 2755 ' ]; }
wait_for 60 narrow
check 'no program of the box runs as somebody else' $? "$(mode gid dgid old-gid kept-gid)"
touch go
wait $run
holds 'which is said' "$(cat "$work/gid")" 'the rights of its owner or group'
drop
rm -rf gid dgid old-gid kept-gid go

# --- what is not covered, and how quick the second one is --------------------------------------------
box=$tag-i
mkdir -p target
head -c 40000000 /dev/zero >target/big
live 'echo x >target/y; echo x >z'
holds 'large output is not covered, and that is said' "$err" 'undo will not cover target'
drop
say "$ostiary" run -q --live --name "$box" -- true
same 'but not with -q' "$code $err" '0 '
say "$ostiary" undo --yes
same 'undo leaves it alone' "$(cat target/y 2>&1) $(gone z && echo gone)" 'x gone'
drop
rm -rf target
mkdir many
for i in $(seq 300); do echo "$i" >"many/$i"; done
box=$tag-n
live true
same 'a run that changes nothing leaves no record' "$("$ostiary" history | grep -c "$box")" 0
drop
live 'echo changed >many/7; rm many/8'
same 'of a second run only what changed is in the record' "$("$ostiary" undo --dry-run | grep -c many/)" 2
"$ostiary" undo --yes >/dev/null
same 'and comes back' "$(cat many/7 many/8)" $'7\n8'
drop

box=$tag-o
live_records() { "$ostiary" history 2>/dev/null | grep -c " live "; }
before_n=$(live_records)
say "$ostiary" run -q --live --name "$box" -- /no/such/command
same 'a run that could not start leaves no record either' "$code $(live_records)" "127 $before_n"
drop

# --- fewer watches than directories ------------------------------------------------------------------
box=$tag-p
limited() { unshare -U --map-current-user --keep-caps sh -c 'echo 3 >/proc/sys/user/max_inotify_watches && exec setpriv --ambient-caps=-all --inh-caps=-all "$@"' sh "$@"; }
if [ "$(id -u)" != 0 ] && limited true 2>/dev/null; then
	export -f limited; say bash -c 'limited "$@"' bash "$ostiary" run --live --name "$box" -- sh -c 'echo e >src/deep/.exrc; for i in $(seq 90); do test -e src/deep/.exrc || break; sleep 1; done; ls -A src/deep'
	holds 'where not everything can be watched, that is said' "$err" 'is looked through every two seconds'
	same 'and what is dangerous goes while the box runs' "$out" CLAUDE.md
	drop
else
	skip 'fewer watches than directories' 'their number cannot be limited here'
fi

# --- a supervisor that is killed ---------------------------------------------------------------------
box=$tag-j
"$ostiary" create -q --live --name "$box" >/dev/null
"$ostiary" exec "$box" -- sh -c 'echo x >many/1; echo x >>a.txt'
pid=$("$ostiary" ps --json | python3 -c 'import json, sys; print([b["supervisor_pid"] for b in json.load(sys.stdin)["data"] if b["id"] == sys.argv[1]][0])' "$box")
"$ostiary" exec "$box" -- sh -c 'echo e >late.tmp; sleep 0.2; mv late.tmp .cursorrules; sleep 30' >/dev/null 2>&1 &
client=$!
written() { [ -e late.tmp ] || [ -e .cursorrules ] || grep -q cursorrules "$boxes/$box/quarantine/list" 2>/dev/null; }
wait_for 60 written
sleep "0.$((RANDOM % 5))" # before, while and after it is moved and taken
kill -9 "$pid"
wait "$client" 2>/dev/null
wait_for 60 no_orphans
check 'nothing is left running' $? "$(orphans)"
gone .cursorrules
check 'what is dangerous is gone all the same' $? 'it is there'
say "$ostiary" undo --yes
same 'and the run is undone' "$(cat many/1) $(cat a.txt)" '1 one'
"$ostiary" rm -f "$box" >/dev/null 2>&1 || drop

# --- the quarantine lies on another filesystem -------------------------------------------------------
box=$tag-k
if [ -w /dev/shm ] && [ "$(stat -c %d /dev/shm)" != "$(stat -c %d .)" ]; then
	shm=$(mktemp -d /dev/shm/ostiary-live.XXXXXX)
	XDG_STATE_HOME=$shm live 'echo e >.envrc3; echo e >x.code-workspace; ln -s nowhere .zed; sleep 1; true'
	gone x.code-workspace && gone .zed
	check 'also across filesystems' $? "$out $err"
	holds 'a copy is kept' "$(cat "$shm"/ostiary/boxes/*/quarantine/list)" x.code-workspace
	same 'with the content' "$(cat "$shm"/ostiary/boxes/*/quarantine/*x.code-workspace)" e
	XDG_STATE_HOME=$shm "$ostiary" rm "$box" >/dev/null 2>&1
	wait_for 60 no_orphans
	rm -rf "$shm"
else
	skip 'across filesystems' 'there is no second one to write to'
fi
exit $bad
