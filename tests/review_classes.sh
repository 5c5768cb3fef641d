#!/bin/bash
# suite: test=root,user soak=root,user timeout=300
# tier: what may be read, and which modes land, differ between the users
# review_classes.sh - classes cannot be walked around: not by a directory, not by a second apply, not by
# a mode, not by a link; what cannot be read is named and left, and the rest lands.
set -u
. "$(dirname "$0")/lib_life.sh"
. "$here/lib_review.sh"
umask 022

# apply NAME ARGS...: with the words it says in $err and $out.
apply() { say "$ostiary" apply "$@"; }
# left PATH...: each was printed as left, and none is there.
left() {
	local p
	for p in "$@"; do
		holds "$p is printed as left" "$err" "  $p: "
		same "$p is not on the host" "$(absent "$p")" 1
	done
}

# --- a directory that is left is not made as the parent of something (E2) ----------------------------
fresh parents
box "$tag-a" 'mkdir s t; chmod 2755 s; echo x >s/x; echo y >t/y; mkdir s/deep; echo z >s/deep/z'
apply "$tag-a" --yes
same 'a directory with a setgid bit: the exit status says that something stayed' "$code" 1
left s s/x s/deep/z
same 'what is beside it landed' "$(cat t/y)" y
apply "$tag-a" --yes s/deep/z
left s/deep/z
same 'named by its path it is left too' "$(absent s)" 1
fresh parents2
box "$tag-b" 'mkdir -p b/objects/x b/refs; echo ref: refs/heads/main >b/HEAD; echo n >b/refs/note; echo all: >b/objects/x/Makefile; echo t >b/plain'
apply "$tag-b" --yes=runs-on-build,runs-on-commit
same 'a git directory that is new does not land, whatever is named' "$(absent b)" 1
holds 'and is said to stay' "$err" 'the box committed in b stays'

# --- no sequence of applies makes a git directory (E2) -----------------------------------------------
evil='printf "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n\tfsmonitor = touch canary; false\n" >data/config'
is_repo() { (cd data && env GIT_CEILING_DIRECTORIES="$work" git rev-parse --git-dir 2>/dev/null); }
fresh git-two
box "$tag-c" "mkdir data; echo ref: refs/heads/main >data/HEAD; $evil"
apply "$tag-c" --yes
box "$tag-d" 'mkdir -p data/refs/heads data/objects; echo n >data/refs/heads/note.txt; echo o >data/objects/o.txt'
apply "$tag-d" --yes
same 'head and config first, refs and objects second: no git directory' "$(is_repo)" ''
fresh git-turned
box "$tag-e" 'mkdir -p data/refs/heads data/objects; echo n >data/refs/heads/note.txt; echo o >data/objects/o.txt'
apply "$tag-e" --yes
same 'refs and objects alone are plain' "$code" 0
box "$tag-f" "echo ref: refs/heads/main >data/HEAD; $evil"
apply "$tag-f" --yes
same 'the other way round: no git directory' "$(is_repo)$(absent data/HEAD)" 1
left data/HEAD data/config
fresh git-hidden
mkdir data && echo ref: refs/heads/main >data/HEAD
box "$tag-g" "rm data/HEAD; mkdir -p data/refs data/objects; echo n >data/refs/n; echo o >data/objects/o; $evil"
apply "$tag-g" --yes data/refs data/objects data/config
same 'a HEAD that the box deleted and the host still has: no git directory' "$(is_repo)" ''
left data/config data/refs/n data/objects/o
fresh git-three
n=0
for part in 'mkdir data; echo ref: refs/heads/main >data/HEAD' 'mkdir data/refs; echo n >data/refs/n' 'mkdir data/objects; echo o >data/objects/o' "$evil"; do
	n=$((n + 1))
	box "$tag-h$n" "$part"
	apply "$tag-h$n" --yes
done
same 'part by part: no git directory' "$(is_repo)" ''
same 'and its configuration did not land' "$(absent data/config)" 1
fresh git-nested
box "$tag-i" 'd=.; for i in $(seq 20); do d=$d/g; mkdir -p $d/objects $d/refs; echo ref: refs/heads/main >$d/HEAD; echo x >$d/refs/x; echo x >$d/objects/x; echo x >$d/config; done'
apply "$tag-i" --yes
same 'twenty of them in each other: none lands' "$(find . -name HEAD -o -name config -o -name refs | head -n 3)" ''

# --- modes (E3) --------------------------------------------------------------------------------------
fresh modes
mkdir d wide && chmod 775 wide && echo m >m && echo g >g && chmod 664 g && echo all: >Makefile
mkdir -p deep/er && echo x >deep/er/package.json && mkdir quiet && echo q >quiet/q
box "$tag-j" 'umask 0; echo n >n; mkdir new; echo y >new/y; chmod 777 d wide m deep quiet; chmod 666 g; chmod 777 Makefile; echo x >x; chmod 755 x'
apply "$tag-j" --yes
same 'new files and directories obey the umask' "$(stat -c %a n new new/y x)" $'644\n755\n644\n755'
same 'bits that the host had stay, others come only if the umask allows them' "$(stat -c %a m g wide)" $'755\n664\n775'
holds 'a mode of which nothing is allowed is named' "$err" 'd: your umask forbids the rights that it adds'
holds 'the mode of a classed file has its class' "$err" 'Makefile: runs-on-build'
holds 'the mode of a directory that holds one has it too, however deep' "$err" 'deep: runs-on-build'
same 'and both are as they were' "$(stat -c %a Makefile deep)" $'644\n755'
holds 'a directory that holds nothing classed is plain' "$err" 'quiet: your umask forbids'
fresh modes-open
mkdir d && echo all: >d/Makefile && mkdir e && echo e >e/e
box "$tag-k" 'chmod 777 d e'
(
	umask 000
	"$ostiary" apply "$tag-k" --yes >"$work/modes.out" 2>&1
)
same 'with an open umask a plain directory gets its mode, a classed one waits' "$(stat -c %a d e)" $'755\n777'
fresh modes-narrow
box "$tag-l" 'echo n >n; mkdir s; echo x >s/x'
(
	umask 077
	"$ostiary" apply "$tag-l" --yes >"$work/modes.out" 2>&1
)
same 'a umask of 077 holds for what the box made with 022' "$(stat -c %a n s s/x)" $'600\n700\n600'
same 'and nothing of it is pending' "$("$ostiary" diff "$tag-l" --name-only)" ''

# --- links (E4) --------------------------------------------------------------------------------------
fresh links
mkdir -p scripts mk tools sub conf gh/workflows real far
echo x >scripts/env && ln -s scripts/env .envrc
echo all: >mk/rules && ln -s ../mk/rules sub/Makefile
ln -s one two && ln -s ../conf/tasks real/tasks && ln -s real/tasks one && mkdir .vscode && ln -s ../two .vscode/tasks.json && echo t >conf/tasks
ln -s gh .github && echo on: >gh/workflows/ci.yml
ln -s "$PWD/far" .claude && echo f >far/settings.json
ln -s ../later .idea && echo p >plain && ln -s plain other
git init -q . && git config core.hooksPath hk && ln -s tools hk && echo h >tools/pre-commit
box "$tag-m" 'for f in scripts/env mk/rules conf/tasks gh/workflows/ci.yml far/settings.json plain tools/pre-commit; do echo evil >>$f; done
	echo new >gh/workflows/new.yml; echo new >far/new; rm one; ln -s hidden one; echo h >hidden'
apply "$tag-m" --yes
for want in 'scripts/env: runs-on-open' 'mk/rules: runs-on-build' 'conf/tasks: runs-on-open' 'gh/workflows/ci.yml: runs-in-ci' 'gh/workflows/new.yml: runs-in-ci' \
	'far/settings.json: steers-agent' 'far/new: steers-agent' 'tools/pre-commit: runs-on-commit' 'one: runs-on-open'; do
	holds "through a link of the host: $want" "$err" "  $want"
done
same 'none of it landed' "$(grep -l evil scripts/env mk/rules conf/tasks gh/workflows/ci.yml far/settings.json tools/pre-commit)$(absent far/new)$(readlink one)" '1real/tasks'
same 'a link of no such name gives no class' "$(tail -n 1 plain)" evil
fresh links-missing
ln -s scripts/env .envrc
box "$tag-n" 'mkdir scripts; echo evil >scripts/env; echo fine >scripts/other'
apply "$tag-n" --yes
left scripts/env
same 'where a link leads to nothing yet, what would be there has the class; what is beside it lands' "$(cat scripts/other)" fine
fresh links-box
box "$tag-o" 'mkdir scripts; echo evil >scripts/env; ln -s scripts/env .envrc; ln -s x y; ln -s y x; ln -s y .vimrc'
apply "$tag-o" --yes
left .envrc scripts/env .vimrc
fresh links-crowd
mkdir s && echo x >s/env && ln -s s/env .envrc
box "$tag-p" 'for i in $(seq 300); do ln -s s/env a$i; done'
apply "$tag-p" --yes
box "$tag-q" 'echo evil >>s/env; for i in $(seq 300); do ln -s ../s/env s/b$i; done'
apply "$tag-q" --yes
holds 'three hundred other links do not hide the one' "$err" '  s/env: runs-on-open'
# Links that lead through each other, a thousand names at a time: bounded, and what they reach is not called plain.
fresh links-wind
mkdir d
cat >wind.py <<'PY'
import os
for i in range(400):
    os.symlink("d/../" * 800 + f"l{i + 1}", f"l{i}")
os.symlink("l390", ".envrc")
open("plain.txt", "w").write("x")
PY
box wind 'python3 wind.py; rm wind.py'
spent() { # COMMAND...: hundredths of a second of processor time
	local a b
	a=$(awk '{print $16 + $17}' /proc/$$/stat)
	"$@" >/dev/null 2>&1
	b=$(awk '{print $16 + $17}' /proc/$$/stat)
	echo $((b - a))
}
ticks=$(spent "$ostiary" diff --stat wind)
[ "$ticks" -lt 500 ] # it took 13 seconds
check 'links that wind through each other cost little' $? "$ticks hundredths of a second"
say "$ostiary" apply --yes wind
holds 'and make nothing plain' "$err" '  plain.txt: runs-on-open'
# A link of the host that leaves the workspace and comes back, by itself and through one that lies beyond it.
fresh links-away
mkdir tools
for f in env vim rvm; do echo old >tools/$f; done
ln -s ../links-away/tools/env .envrc
ln -s links-away/tools "$work/beyond"
ln -s ../beyond/vim .exrc
ln -s "$work/beyond/rvm" .rvmrc
box away 'for f in env vim rvm new; do echo new >tools/$f; done; ln -s /net/nowhere/x made'
say "$ostiary" apply --yes away
for f in env vim rvm; do
	holds "a link of the host that leaves the workspace and comes back lends its class: $f" "$err" "  tools/$f: runs-on-open"
done
same 'what no such link leads to lands' "$(cat tools/*)" $'old\nnew\nold\nold'
fresh links-workspace
mkdir -p packages/a node_modules/@x && echo 1 >packages/a/index.js && ln -s ../../packages/a node_modules/@x/a
box "$tag-r" 'echo 2 >packages/a/index.js'
apply "$tag-r" --yes
same 'a package of the workspace that node_modules links to is code like any other' "$code $(cat packages/a/index.js)" '0 2'

# --- what cannot be read (E5) ------------------------------------------------------------------------
fresh unreadable
echo one >a && echo theirs >shut && chmod 000 shut
box "$tag-s" 'echo two >a; echo s >secret; chmod 000 secret; mkdir -m 000 d0; mkdir e; echo x >e/x; chmod 600 e; rm -f shut; echo mine >shut; echo b >b'
say "$ostiary" diff "$tag-s" --stat
same 'diff of a file that nobody may read ends as one whose content could not be read' "$code" "$([ "$(id -u)" = 0 ] && echo 0 || echo 125)"
holds 'names it' "$out" secret
apply "$tag-s" --yes
same 'the rest lands' "$(cat a b)" $'two\nb'
if [ "$(id -u)" != 0 ]; then
	left secret d0
	holds 'with the reason' "$err" 'secret: it cannot be read with your rights'
	holds 'a directory that may not be entered is named' "$err" '  e'
	holds 'what the host has and nobody may read is left' "$err" 'shut: what the host has there cannot be read'
	same 'and is as it was' "$(stat -c %a shut)" 0
fi
chmod 700 e d0 2>/dev/null

# --- every row of every class: what is left is not there ---------------------------------------------
cat >"$work/rows.py" <<'PY'
# rows.py plant | judge JSON: a file for each row of the tables; what became of them.
import json, os, sys
rows = []
git = False
for line in open(os.environ["ROWS"]):
    if line.startswith("#"):
        git = "within git" in line
        if "keys of" in line: break
        continue
    words = line.split()
    if len(words) < 2 or words[0] == "plain": continue
    name = words[1].lstrip("=").lstrip("/").replace("**", "a").replace("*", "a").replace("?", "a")
    if name.endswith("/"): name += "some-file"
    rows.append((words[0], "r%d/%s%s" % (len(rows), ".git/" if git else "", name)))
if sys.argv[1] == "plant":
    for _, path in rows:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        open(path, "w").write("[x]\n\ty = z\n")
    open("plain.txt", "w").write("plain\n")
    sys.exit()
told = {c["path"]: c for c in json.load(open(sys.argv[2]))["data"]["changes"]}
bad = [p for p, c in told.items() if c["fate"] != "applied" and os.path.lexists(p)]
landed = [p for _, p in rows if os.path.lexists(p)]
classes = {}
for want, path in rows:
    if path in told: classes.setdefault(told[path]["class"], []).append(path)
print(len(rows) > 2500, len(bad), len(landed), " ".join(sorted(classes)), os.path.lexists("plain.txt"))
print("left and there:", bad[:5], "landed:", landed[:5], file=sys.stderr)
PY
fresh rows
"$ostiary" diff --classes >"$work/rows.txt"
cp "$work/rows.py" "$work/rows.txt" .
box "$tag-t" 'ROWS=rows.txt /usr/bin/python3 rows.py plant'
say "$ostiary" apply "$tag-t" --yes --json
printf '%s' "$out" >"$work/rows.json"
same 'a file for every row of the tables: nothing that was left exists, no row lands, the plain file beside them does' \
	"$(ROWS=rows.txt python3 rows.py judge "$work/rows.json" 2>"$work/rows.err")" \
	'True 0 0 configures-ostiary runs-in-ci runs-on-build runs-on-commit runs-on-open steers-agent True'
cat "$work/rows.err" | sed 's/^/# /'

# --- what can be run is named, and does not block (E6); a private home is no warning (A3) --------------
fresh programs
echo x >was && mkdir lib
sleep 0.05
say "$ostiary" run --name "$tag-u" -- sh -c 'printf "#!/bin/sh\n" >gen; printf x >exe; chmod 755 exe; chmod 755 was; echo text >text; printf "#!/usr/bin/python3\n" >lib/tool'
holds 'the end of a run names new programs' "$err" 'look before you apply: can be run: exe, gen, lib/tool, was'
holds 'diff --stat names them' "$("$ostiary" diff "$tag-u" --stat)" 'can be run (executable, or begins with #!): exe, gen, lib/tool, was'
apply "$tag-u" --yes
same 'they land' "$code $(cat exe gen | wc -c)" '0 11'
holds 'and apply names them' "$err" 'of these can be run (executable, or begin with #!): exe, gen, lib/tool, was'

fresh private
sleep 0.05
say "$ostiary" run --profile opencode --name "$tag-v" -- sh -c 'd=~/.local/share/opencode/snapshot/p; mkdir -p $d/objects $d/refs $d/hooks; echo ref: refs/heads/main >$d/HEAD
	printf "[core]\n\tfsmonitor = x\n" >$d/config; echo x >$d/hooks/pre-commit; echo x >x'
case $err in *'on commit'*) not_ok 'the agent'"'"'s own snapshot repository in its home is no warning' "$err" ;; *) ok 'the agent'"'"'s own snapshot repository in its home is no warning' ;; esac
say "$ostiary" diff "$tag-v" --stat
case $out in *'on commit'*) not_ok 'nor in diff' "$out" ;; *) ok 'nor in diff' ;; esac
say "$ostiary" run --profile claude --name "$tag-w" -- sh -c 'mkdir -p ~/.claude/projects/x/memory; echo {} >~/.claude/history.jsonl; echo {} >~/.claude/projects/x/1.jsonl; echo do >~/.claude/projects/x/memory/CLAUDE.md; echo y >y'
say "$ostiary" diff "$tag-w" --stat
case $out in *'agent: ~/.claude/history.jsonl'* | *1.jsonl*) not_ok 'a history and a transcript steer no agent' "$out" ;; *) ok 'a history and a transcript steer no agent' ;; esac
holds 'instructions that the next box gets do' "$out" 'steers an agent: ~/.claude/projects/x/memory/CLAUDE.md'

# --- deep and many: the number of system calls grows as the tree does (E5, case 78) -------------------
# calls COMMAND...: how many system calls it makes.
calls() {
	strace -f -c -S calls -o "$work/calls" "$@" >/dev/null 2>&1
	awk '$NF == "total" { print $4 }' "$work/calls"
}
# grows NAME LEVELS FILES: a box with a chain of directories and a crowd of files; calls of diff and apply in $diff_n, $apply_n.
grows() {
	fresh "$1"
	box "$tag-$1" "/usr/bin/python3 -c '
import os
for i in range($3): open(\"f%d\" % i, \"w\").write(\"x\")
for i in range($2):
    os.mkdir(\"d\"); os.chdir(\"d\")
    open(\"f\", \"w\").write(\"x\")
'"
	diff_n=$(calls "$ostiary" diff "$tag-$1" --stat)
	apply_n=$(calls "$ostiary" apply "$tag-$1" --yes)
}
if command -v strace >/dev/null && strace -f -c -o /dev/null true 2>/dev/null; then
	grows small 200 200
	small_diff=$diff_n small_apply=$apply_n
	grows large 1600 1600
	[ "$diff_n" -gt 3000 ] && [ "$diff_n" -lt $((small_diff * 10)) ]
	check 'diff of eight times the levels and files makes at most ten times the system calls' $? "$small_diff and $diff_n"
	[ "$apply_n" -gt 3000 ] && [ "$apply_n" -lt $((small_apply * 10)) ]
	check 'and so does apply' $? "$small_apply and $apply_n"
	same 'and all of it landed' "$(find . -type f | wc -l)" 3200
else
	skip 'the number of system calls' 'strace cannot trace here'
fi
remove_boxes
nothing_left 'nothing is left of the boxes'
exit $bad
