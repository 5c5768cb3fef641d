#!/bin/bash
# suite: test=user soak=root,user timeout=400
# tier: differences are found by content, whoever started the box; soak draws three times as many random trees
# review_diff.sh - `ostiary diff`: every kind of change told as git tells it and exact in a pipe, hostile
# names and contents harmless on a terminal, noise counted, classes named, errors in clear sentences.
set -u
. "$(dirname "$0")/lib_life.sh"
. "$here/lib_tier.sh"
pairs=$here/review/pairs.py
pty=$here/review/on_pty.py
json() { python3 -c "import json, sys; d = json.load(sys.stdin); d = d[\"data\"] if \"ostiary\" in d else d; print($1)"; }
diff() { say "$ostiary" diff "$@"; }
lacks() { # name, text, pattern of what must not be in it
	# shellcheck disable=SC2053
	if [[ $2 != *$3* ]]; then ok "$1"; else not_ok "$1" "\"$3\" is in \"$2\""; fi
}
text() { # name, text, part of it, to the letter
	if [[ $2 == *"$3"* ]]; then ok "$1"; else not_ok "$1" "\"$3\" is not in \"$2\""; fi
}
# change NAME SCRIPT: a box that does it to the workspace and is kept.
change() {
	say "$ostiary" run -q --keep -n "$1" -- sh -c "$2"
	[ "$code" = 0 ] || not_ok "the box $1 did its work" "$code $out $err"
}

command -v git >/dev/null || {
	skip 'the diff' 'git, which judges it, is not installed'
	exit 0
}

# --- exact: a patch program makes of the host's tree what the box has -----------------------------------
round() { # SEED WORD PROGRAM...
	local seed=$1 word=$2
	shift 2
	mkdir "$work/pairs" && python3 "$pairs" make "$work/pairs" 300 "$seed" "$word" || return 1
	cp -a "$work/pairs/before" "$work/tree" && chmod 755 "$work/pairs" && cd "$work/tree" || return 1
	"$ostiary" run -q --keep -n "$tag-pairs" --bind "$work/pairs/after" -- \
		sh -c "find . -mindepth 1 -delete && cp -a '$work/pairs/after/.' ." </dev/null >/dev/null 2>&1
	"$ostiary" diff "$tag-pairs" --binary >"$work/patch" 2>"$work/.err" || echo "diff: $(cat "$work/.err")"
	same "the host's tree is untouched (seed $seed)" "$(python3 "$pairs" same . "$work/pairs/before" | tail -n 1 | sed 's/.*, //')" '0 differ'
	"$@" <"$work/patch" >"$work/.out" 2>&1
	got=$(python3 "$pairs" same . "$work/pairs/after")
	check "$1 makes the box's tree of the host's by our diff (seed $seed, $word, $(tail -n 1 <<<"$got"))" $? "$got $(head -c 300 "$work/.out")"
	cd "$work/ws" || return 1
	"$ostiary" rm --yes "$tag-pairs" >/dev/null 2>&1
	chmod -R u+rwx "$work/tree" "$work/pairs"
	rm -rf "$work/tree" "$work/pairs"
}
for seed in $(by_tier 1 "1 2 3"); do
	round "$seed" any git apply -p1 --whitespace=nowarn
	if command -v patch >/dev/null; then
		round "$seed" easy patch -s -f -p1 --no-backup-if-mismatch
	else
		skip "patch makes the box's tree of the host's (seed $seed)" 'patch is not installed'
	fi
done

# The number of lines is no larger than git's own.
mkdir "$work/pairs" && python3 "$pairs" make "$work/pairs" 200 9 easy && cp -a "$work/pairs/before/." . &&
	say "$ostiary" run -q --keep -n "$tag-lines" --bind "$work/pairs/after" -- sh -c "cp -a '$work/pairs/after/.' ."
gits=$(cd "$work/pairs" && git diff --no-index --no-renames --numstat before after | awk '$1 != "-" && $3 !~ /null/ { n += $1 + $2 } END { print n }')
diff "$tag-lines" --json
ours=$(json 'sum(c["lines_added"] + c["lines_removed"] for c in d["changes"])' <<<"$out")
# Files that are only in one of the trees are in git's count and not in ours, which was copied over.
[ "$ours" -gt 0 ] && [ "$ours" -le "$gits" ]
check "no more lines differ than git finds ($ours, git $gits)" $? "$ours and $gits"
"$ostiary" rm --yes "$tag-lines" >/dev/null
rm -rf "$work/pairs" && find . -mindepth 1 -delete

# --- each kind of change -------------------------------------------------------------------------------
mkdir -p src dir/sub empty.d
printf 'one\ntwo\nthree\n' >src/a.txt
printf 'gone\n' >gone.txt
printf 'bin\0ary' >data.bin
printf 'x\r\ny\r\n' >crlf.txt
printf 'no newline' >nn.txt
printf '#!/bin/sh\n' >run.sh
ln -s src/a.txt link
seq 60 >moved.txt
: >void.txt
echo deep >dir/sub/f
before=$(find . | sort; cat src/a.txt)
b=$tag-kinds
change "$b" 'sed -i s/two/2/ src/a.txt; rm gone.txt; printf "bin\0more" >data.bin; printf "x\r\nz\r\n" >crlf.txt
	printf "no newline at all" >nn.txt; chmod +x run.sh; ln -sfn gone.txt link; mkdir -p new; sed s/30/thirty/ moved.txt >new/moved.txt; rm moved.txt
	echo now >void.txt; rm -r dir; echo a file >dir; mkdir lonely; : >empty.txt; mkfifo pipe; touch -d yesterday src'
same "the host has none of it" "$(find . | sort; cat src/a.txt)" "$before"
diff "$b"
same 'diff succeeds, and says nothing else' "$code$err" 0
holds 'a modified file' "$out" $'diff --git a/src/a.txt b/src/a.txt\n--- a/src/a.txt\n+++ b/src/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n'
holds 'a deleted file' "$out" $'diff --git a/gone.txt b/gone.txt\ndeleted file mode 100644\n--- a/gone.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n'
holds 'a binary file, with its sizes' "$out" $'Binary files a/data.bin and b/data.bin differ\n# 7 bytes -> 8 bytes\n'
holds 'carriage returns, exactly' "$out" $'\n-y\r\n+z\r\n'
holds 'a last line without a newline' "$out" $'-no newline\n\\\\ No newline at end of file\n+no newline at all\n\\\\ No newline at end of file\n'
holds 'a mode' "$out" $'diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755\n'
holds 'a link, by its target' "$out" $'120000\n--- a/link\n+++ b/link\n@@ -1 +1 @@\n-src/a.txt\n\\\\ No newline at end of file\n+gone.txt\n'
holds 'a rename with a change' "$out" $'rename from moved.txt\nrename to new/moved.txt\n--- a/moved.txt\n+++ b/new/moved.txt\n@@ -27,7 +27,7 @@\n'
holds 'similar by so much' "$out" 'similarity index 9'
holds 'an empty file that got a line' "$out" $'+++ b/void.txt\n@@ -0,0 +1 @@\n+now'
holds 'a file that is new and empty' "$out" $'diff --git a/empty.txt b/empty.txt\nnew file mode 100644\n'
holds 'a directory that became a file: its content' "$out" $'diff --git a/dir/sub/f b/dir/sub/f\ndeleted file mode'
holds 'and the file' "$out" $'diff --git a/dir b/dir\nnew file mode 100644\n'
holds 'an empty directory that is new' "$out" $'\nnew directory: lonely\n'
holds 'a FIFO, which is never applied' "$out" $'never applied: pipe: it is a device, FIFO or socket\nnew FIFO: pipe\n'
lacks 'a directory that was only touched is no change' "$out" 'a/src b/src'
lacks 'one that holds new files is not told besides' "$out" 'new directory: new'
printf '%s\n' "$out" | git apply --check --whitespace=nowarn -p1 --exclude=data.bin --include='*.txt' 2>"$work/.err"
check 'git apply takes the text files of it' $? "$(cat "$work/.err")"
cp -a . "$work/copy" && "$ostiary" diff "$b" --binary data.bin | git -C "$work/copy" apply && [ "$(tr '\0' 0 <"$work/copy/data.bin")" = bin0more ]
check 'and the binary one with --binary' $? "$("$ostiary" diff "$b" --binary data.bin)"
rm -rf "$work/copy"
diff "$b" -U0 src/a.txt
holds '-U0: no lines around' "$out" $'@@ -2 +2 @@\n-two\n+2'

# --- forms ----------------------------------------------------------------------------------------------
diff "$b" --stat
holds '--stat: a row' "$out" 'src/a.txt '
holds '--stat: lines' "$out" '|    2 +-'
holds '--stat: a binary file' "$out" 'Bin 7 -> 8 bytes'
holds '--stat: sums' "$out" 'files changed, '
diff "$b" --name-only
holds '--name-only' "$out" $'\ngone.txt\n'
lacks '--name-only: names and nothing else' "$out" ' '
"$ostiary" diff "$b" --name-only -z >"$work/names"
same '-z: NUL after each name' "$(tr '\0' '\n' <"$work/names" | sort)" "$(sort <<<"$out")"
diff "$b" --json
python3 -m json.tool <<<"$out" >/dev/null
check '--json is JSON' $? "$out"
same '--json: kinds' "$(json 'sorted((c["path"], c["what"]) for c in d["changes"] if c["path"] in ("gone.txt", "run.sh", "src/a.txt", "empty.txt", "new/moved.txt"))' <<<"$out")" \
	"[('empty.txt', 'added'), ('gone.txt', 'deleted'), ('new/moved.txt', 'renamed'), ('run.sh', 'mode'), ('src/a.txt', 'modified')]"
same '--json: lines and modes' "$(json '[(c["lines_added"], c["lines_removed"], c["before"]["mode"], c["after"]["kind"], c["class"]) for c in d["changes"] if c["path"] == "src/a.txt"]' <<<"$out")" \
	"[(1, 1, '0644', 'file', 'plain')]"
same '--json: box and workspace' "$(json '(d["box"], d["workspace"], d["turn"])' <<<"$out")" "('$b', '$work/ws', 0)"
diff "$b" --exit-code --stat
same '--exit-code: 1 with changes' "$code" 1
change "$tag-none" true
diff "$tag-none" --exit-code
same '--exit-code: 0 without' "$code$out" 0
diff "$tag-none" --json
same '--json without changes is JSON too' "$(json 'd["changes"]' <<<"$out")" '[]'

# --- paths ----------------------------------------------------------------------------------------------
say sh -c "cd src && '$ostiary' diff '$b' a.txt --name-only"
same 'a path from the current directory' "$out$err" src/a.txt
say sh -c "cd / && '$ostiary' diff '$b' src/a.txt --name-only"
same 'from the workspace, elsewhere' "$out$err" src/a.txt
diff "$b" "$work/ws/src" --name-only
same 'absolute, a directory' "$out$err" src/a.txt
diff "$b" src/../gone.txt ./run.sh --name-only
same 'two of them, with dots' "$out$err" $'gone.txt\nrun.sh'
diff gone.txt --name-only
same 'without a box: the newest, and a path that exists' "$code$err" 0
diff -- gone.txt --name-only
same 'after -- every word is a path' "$code" 119
diff "$b" /etc/passwd
same 'a path outside is refused' "$code$out" 119
holds 'in a sentence' "$err" "/etc/passwd is outside of what box $b sees copy-on-write: its workspace is "
diff "$b" ../../etc
same 'also by dots' "$code$out" 119
diff "$b" nowhere.txt
holds 'a path that nobody has' "$err" "there is no nowhere.txt, neither on the host nor in box $b"
diff "$tag-nobody"
holds 'a box that there is not' "$err" "there is no box \"$tag-nobody\""
same 'is an error' "$code" 121
diff "$b" --turn 9
holds 'a turn that there was not' "$err" 'turn 9'
diff --color=pink
same 'a wrong word is told' "$code" 64

# --- hostile names and contents (cases 76, 80) ------------------------------------------------------------
h=$tag-hostile
change "$h" 'printf "a\033]0;title\007b \342\200\256 rtl \342\200\213 c\177 \233 d\r\n" >evil.txt; printf "back\\\\slash\\\\x1b\n" >fine.txt
	printf x >"$(printf "esc\033[2Jname")"; printf x >"$(printf "new\nline")"; printf x >"$(printf "bad\377utf")"; printf x >"$(printf "rtl\342\200\256exe")"
	printf x >"--- a"; printf x >"a b"'
"$ostiary" diff "$h" >"$work/raw"
grep -qF "$(printf 'a\033]0;title\007b')" "$work/raw"
check 'in a pipe the content is exact' $? "$(cat -v "$work/raw")"
diff "$h"
holds 'a name with an escape' "$out" 'diff --git "a/esc\\033[[]2Jname" "b/esc\\033[[]2Jname"'
holds 'a name with a newline' "$out" '"b/new\\nline"'
holds 'a name that is no UTF-8' "$out" '"b/bad\\377utf"'
holds 'a name that turns the line around' "$out" '"b/rtl\\342\\200\\256exe"'
holds 'a name that looks like a header' "$out" $'+++ b/--- a\t\n'
holds 'a name with a blank ends at a tab' "$out" $'+++ b/a b\t\n'
cp -r . "$work/copy" && (cd "$work/copy" && git apply -p1 --whitespace=nowarn "$work/raw" 2>"$work/.err" && [ -e "$(printf 'new\nline')" ] && [ -e "$(printf 'bad\377utf')" ])
check 'git apply makes exactly these names' $? "$(cat "$work/.err")"
rm -rf "$work/copy"
for form in '' --stat --name-only; do
	# shellcheck disable=SC2086
	TERM=xterm timeout 150 python3 "$pty" "$ostiary" diff "$h" --no-pager $form </dev/null >"$work/tty"
	same "on a terminal: no control but colours and line ends ($form)" "$(sed 's/\x1b\[[0-9;]*m//g' "$work/tty" | LC_ALL=C tr -d '\r\n\t -~' | LC_ALL=C tr -d '\200-\377' | od -An -c)" ''
	same "no bidirectional or invisible character ($form)" "$(LC_ALL=C grep -c -e $'\342\200\256' -e $'\342\200\213' -e $'\233' "$work/tty")" 0
done
TERM=xterm timeout 150 python3 "$pty" "$ostiary" diff "$h" --no-pager </dev/null >"$work/tty"
holds 'what it held is visible' "$(sed 's/\x1b\[[0-9;]*m//g' "$work/tty")" 'a\\x1b]0;title\\x07b \\xe2\\x80\\xae rtl \\xe2\\x80\\x8b c\\x7f \\x9b d\\x0d'
text 'and an escape is marked, so that its spelling looks different' "$(cat -v "$work/tty")" '^[[7m\x1b^[[27m'
holds 'a backslash is only a backslash' "$(cat "$work/tty")" 'back\\slash\\x1b'
text 'colours' "$(cat -v "$work/tty")" '^[[32m+'
TERM=dumb timeout 150 python3 "$pty" "$ostiary" diff "$h" --no-pager </dev/null >"$work/tty"
lacks 'no colours where the terminal has none' "$(cat -v "$work/tty")" '32m'
holds 'and safe all the same' "$(cat -v "$work/tty")" 'a\\x1b]0;title'
diff "$h" --color=always
text '--color=always in a pipe: coloured' "$(cat -v <<<"$out")" '^[[32m+'
lacks 'and safe' "$out" $'\e]0;title'
timeout 150 python3 "$pty" "$ostiary" diff "$h" --name-only -z </dev/null >"$work/tty"
same '-z is not for a terminal' "$?" 64
diff "$h" --json
same '--json: exact names beside readable ones' "$(json 'sorted(c["quoted"] for c in d["changes"] if "bad" in c["path"] or "esc" in c["path"])' <<<"$out")" \
	"['\"bad\\\\377utf\"', '\"esc\\\\033[2Jname\"']"

# --- classes, ignored output, commits ---------------------------------------------------------------------
mkdir "$work/repo" && cd "$work/repo" && git init -q -b main . && git config user.email t@example.org && git config user.name t &&
	printf 'node_modules/\n*.log\n' >.gitignore && echo 1 >f && git add . && git commit -q -m one
g=$tag-git
change "$g" 'git config user.email t@example.org; git config user.name t; git config user.nickname "the box"; git notes add -m note; echo 2 >f; git commit -q -a -m two
	git checkout -q -b side; mkdir -p ci/.github/workflows; echo x >ci/.github/workflows/x.yml; git add ci; git commit -qm three; git checkout -q main; printf "#!/bin/sh\n" >.git/hooks/pre-commit; chmod +x .git/hooks/pre-commit
	git config core.hooksPath /tmp/x; mkdir -p node_modules/p .vscode; seq 100 >node_modules/p/a.js; seq 50 >node_modules/p/b.js; echo x >debug.log
	echo "{}" >.vscode/tasks.json; echo "all:" >Makefile; echo be good >AGENTS.md'
diff "$g"
holds 'a task of the editor is named by its class before its diff' "$out" $'runs on open: .vscode/tasks.json (*)\ndiff --git a/.vscode/tasks.json'
holds 'a build file' "$out" $'runs on build: Makefile '
holds 'what steers an agent' "$out" $'steers an agent: AGENTS.md '
holds 'ignored output is one counted line' "$out" $'# node_modules: 2 files, 433 B, ignored; --all shows them'
lacks 'and nothing of it is shown' "$out" 'node_modules/p/a.js'
holds 'the commits of a branch' "$out" $'# main: 1 new commit\n#   commit '
holds 'with what they say and touch' "$out" $'#       two\n'
holds 'a path that a commit brings, by its class' "$out" $'committed: ci/.github/workflows/x.yml (runs in CI), in side'
holds 'a setting of the box, as a command' "$out" "git config user.nickname 'the box'"
case $out in *'other ref'*'in the box'*) r=0 ;; *) r=1 ;; esac
check 'refs that never come are counted' $r "$out"
lacks 'and no file of it is told' "$out" 'a/.git/'
diff "$g" --all --name-only
holds '--all shows ignored files' "$out" node_modules/p/a.js
lacks 'but nothing of a git directory' "$out" .git/
diff "$g" node_modules/p --name-only
same 'an ignored directory that was named is shown' "$out" $'node_modules/p/a.js\nnode_modules/p/b.js'
diff "$g" .git/refs --name-only
same 'a part of the git directory is not, named or not' "$out" ''
diff "$g" --stat
holds '--stat names classes too' "$out" 'runs on open: .vscode/tasks.json'
holds 'and the commits' "$out" '# main: 1 new commit'
diff "$g" --json
same '--json: classes' "$(json 'sorted((c["path"], c["class"]) for c in d["changes"] if c["class"] != "plain")' <<<"$out")" \
	"[('.vscode/tasks.json', 'runs-on-open'), ('AGENTS.md', 'steers-agent'), ('Makefile', 'runs-on-build')]"
same '--json: ignored' "$(json '[(i["path"], i["files"]) for i in d["ignored"] if i["path"] == "node_modules"]' <<<"$out")" "[('node_modules', 2)]"
diff --classes
holds '--classes prints the tables' "$out" 'runs-on-commit'
mkdir -p "$HOME/.config/ostiary" && echo 'runs-on-build f' >"$HOME/.config/ostiary/classes"
diff "$g" f
holds "the user's own classes" "$out" 'runs on build: f'
echo 'walks-on-water f' >"$HOME/.config/ostiary/classes"
diff "$g" f
same 'a wrong line in them is an error' "$code$out" 119
holds 'that names the file' "$err" "$HOME/.config/ostiary/classes"
rm "$HOME/.config/ostiary/classes"

# --- git directories elsewhere, the home, further directories ---------------------------------------------
git worktree add -q "$work/tree" -b wt && cd "$work/tree" || exit 1
mkdir "$work/more" && echo m >"$work/more/m"
w=$tag-tree
say "$ostiary" run -q --keep -n "$w" --profile claude --bind "$work/more:cow" -- sh -c "echo 3 >f; echo 'echo hi' >'$work/repo/.git/hooks/post-commit'; echo n >'$work/more/m'; mkdir -p ~/.claude/projects; echo '{}' >~/.claude/projects/log; echo do >~/.claude/projects/AGENTS.md; echo x >~/.claude/history.jsonl; echo y >~/elsewhere"
same 'a box with several directories' "$code" 0
diff "$w"
holds 'the workspace comes first' "$out" $'diff --git a/f b/f\n'
lacks 'nothing of a git directory elsewhere' "$out" "hooks/post-commit"
holds 'a further directory' "$out" "| diff --git a/${work#/}/more/m b/${work#/}/more/m"
holds 'of the kept part of the home what the next agent obeys is named' "$out" '# steers an agent: ~/.claude/projects/AGENTS.md (*), added'
lacks 'and a transcript is not' "$out" 'agent: ~/.claude/projects/log'
holds 'and counted' "$out" "# ~: in all 3 files changed; ostiary diff $w '~' shows them"
lacks 'what does not outlive the box is not told' "$out" 'elsewhere'
printf '%s\n' "$out" >"$work/patch"
git -C "$work/tree" apply -p1 "$work/patch" && [ "$(cat f)" = 3 ] && [ "$(git status --porcelain)" = ' M f' ]
check "git apply takes the workspace's part of it and nothing else" $? "$(git status --porcelain)"
echo 1 >f
diff "$w" '~' --name-only
# shellcheck disable=SC2088 # the tilde is ours
holds 'the home in full, when it is named' "$out" '~/elsewhere'
diff "$w" --all
text 'with --all its kept part as a diff' "$out" $'\n| diff --git a/~/.claude/history.jsonl b/~/.claude/history.jsonl\n'
diff "$w" "$work/more" --name-only
same 'a further directory alone' "$out" "$work/more/m"

# --- while it runs, and when things are gone ---------------------------------------------------------------
cd "$work/ws" || exit 1
r=$tag-runs
"$ostiary" run -q -d -n "$r" -- sh -c 'echo early >early.txt; sleep 600' >/dev/null 2>&1
seen() { "$ostiary" diff "$r" --name-only 2>/dev/null | grep -qx early.txt; }
wait_for 60 seen
check 'a running box can be diffed' $? "$("$ostiary" diff "$r" 2>&1)"
"$ostiary" stop "$r" >/dev/null

# A file with a secret: what the box sees is a stand-in of ours and no change of the box's.
printf 'API_KEY=sk_live_51H8x9K2eZvKYlo2C0aBcDeFgHiJkLmNoPqRsTuVw\nMODE=test\n' >.env
m=$tag-mask
"$ostiary" run -q -d -n "$m" -- sh -c 'grep -c sk_live .env >seen; sleep 600' >/dev/null 2>&1
is_seen() { [ -n "$("$ostiary" diff "$m" seen --name-only 2>/dev/null)" ]; }
wait_for 60 is_seen
diff "$m" --name-only
same 'a stand-in that was not touched is no change' "$out" seen
"$ostiary" exec "$m" -- sh -c 'echo MORE=1 >>.env' >/dev/null 2>&1
diff "$m"
text 'one that the box changed is told' "$out" 'masked: .env holds stand-ins for secrets; it is not shown and never applied'
lacks 'and neither the secret nor its stand-in is shown' "$out" API_KEY
"$ostiary" stop "$m" >/dev/null
rm .env

# Turns: each exec apart.
"$ostiary" create -q -n "$tag-turns" --turns >/dev/null 2>&1
"$ostiary" exec "$tag-turns" -- sh -c 'echo 1 >t1' >/dev/null 2>&1
"$ostiary" exec "$tag-turns" -- sh -c 'echo 2 >t2; echo 11 >t1' >/dev/null 2>&1
diff "$tag-turns" --turn 1 --name-only
same 'the first turn' "$out$err" t1
diff "$tag-turns" --turn 2
text 'the second one, against the first' "$out" $'--- a/t1\n+++ b/t1\n@@ -1 +1 @@\n-1\n+11\n'
diff "$tag-turns" --name-only
same 'both together' "$out$err" $'t1\nt2'

mv "$work/ws" "$work/away" && cd "$work" || exit 1
diff "$b"
same 'a workspace that is gone is an error' "$code$out" 119
holds 'in a sentence' "$err" "the workspace $work/ws was deleted or moved since box $b was started"
mkdir "$work/ws"
diff "$b"
holds 'another directory in its place is none' "$err" 'is another directory now'
rmdir "$work/ws" && mv "$work/away" "$work/ws" && cd "$work/ws" || exit 1
diff "$b" --stat
same 'and back it is as before' "$code" 0
mv "$boxes/$b/layers/ws/upper" "$boxes/$b/layers/ws/lost"
diff "$b"
same 'a layer that is missing is an error' "$code$out" 125
holds 'that says so' "$err" 'the layer ws of the box'
mv "$boxes/$b/layers/ws/lost" "$boxes/$b/layers/ws/upper"
echo 'root broken' >>"$boxes/$h/roots"
diff "$h"
holds 'a damaged list of directories too' "$err" 'damaged'
same 'with its status' "$code" 119

# Another directory that is gone: the rest is shown.
mv "$work/more" "$work/less"
diff "$w"
text 'another directory that is gone is told' "$out" "# $work/more was deleted or moved: what the box changed there is not shown"
text 'and the rest shown' "$out" $'diff --git a/f b/f\n'
mv "$work/less" "$work/more"

# A file that may not be read, and a directory deeper than any path may be long.
d=$tag-deep
change "$d" 'echo x >locked; chmod 0 locked; echo y >open; perl -e "for (0..1499) { mkdir(qq(deep.\$_)) && chdir(qq(deep.\$_)) or exit 1 } open F, qq(>end); print F 1"'
diff "$d" --name-only
same 'a path of 15,000 bytes is told' "$(grep -c 'deep.1499/end$' <<<"$out")" 1
diff "$d" open locked
text 'what can be read is shown' "$out" $'+++ b/open\n'
if [ "$(id -u)" = 0 ]; then
	same 'root may read everything' "$code" 0
else
	text 'and what may not be read is named' "$out" 'locked'
	same 'with a status' "$code" 125
fi

# --- large, and many ----------------------------------------------------------------------------------------
l=$tag-large
change "$l" 'seq 4000000 >large.txt; dd if=/dev/zero of=hole bs=1 count=0 seek=20G 2>/dev/null; i=0; mkdir many; while [ $i -lt 500 ]; do echo $i >many/$i; i=$((i+1)); done'
diff "$l"
same 'large files do not stop it' "$code" 0
holds 'a large text is told by its size' "$out" $'Files /dev/null and b/large.txt differ\n# 30,888,896 bytes; over 16 MiB'
holds 'a sparse file too' "$out" $'Binary files /dev/null and b/hole differ\n# 21,474,836,480 bytes'
holds 'and many are all there' "$out" 'b/many/499'
bash "$here/review/with_memory.sh" 400000 "$ostiary" diff "$l" --stat >/dev/null 2>"$work/.err"
check 'within bounded memory' $? "$(cat "$work/.err")"

# --- the pager ------------------------------------------------------------------------------------------------
if command -v less >/dev/null; then
	TERM=xterm PAGER='sed s/^/PAGED:/' timeout 150 python3 "$pty" "$ostiary" diff "$l" many/1 </dev/null >"$work/tty"
	holds 'on a terminal it goes through $PAGER' "$(cat "$work/tty")" 'PAGED:'
	TERM=xterm OSTIARY_PAGER='sed s/^/OURS:/' PAGER='sed s/^/PAGED:/' timeout 150 python3 "$pty" "$ostiary" diff "$l" many/1 </dev/null >"$work/tty"
	holds '$OSTIARY_PAGER wins' "$(cat "$work/tty")" 'OURS:'
	TERM=xterm PAGER='sed s/^/PAGED:/' timeout 150 python3 "$pty" "$ostiary" diff "$l" many/1 --json </dev/null >"$work/tty"
	lacks 'never for --json' "$(cat "$work/tty")" 'PAGED:'
	TERM=xterm PAGER='head -n 1' timeout 150 python3 "$pty" "$ostiary" diff "$l" </dev/null >"$work/tty"
	same 'a pager that is left early is no failure' "$?" 0
	(unset PAGER OSTIARY_PAGER LESS && TERM=xterm timeout 150 python3 "$pty" "$ostiary" diff "$l" many/1 </dev/null >"$work/tty")
	holds 'less, and it does not stay for a short text' "$(cat -v "$work/tty")" '32m+1'
	lacks 'with its colours' "$(cat -v "$work/tty")" 'ESC[[]'
	if command -v tmux >/dev/null; then
		export TMUX_TMPDIR=$work
		unset PAGER OSTIARY_PAGER LESS
		tmux -L d -f /dev/null new-session -d -x 80 -y 24 "env TERM=screen-256color '$ostiary' diff '$l' many; echo left $?; sleep 600"
		page() { tmux -L d capture-pane -p 2>/dev/null | grep -qE "$1"; }
		wait_for 60 page '^:'
		check 'a long one is paged' $? "$(tmux -L d capture-pane -p)"
		tmux -L d send-keys q
		wait_for 60 page 'left 0'
		check 'and the terminal is back after q' $? "$(tmux -L d capture-pane -p)"
		tmux -L d kill-server
	else
		skip 'a long one is paged' 'tmux is not installed'
	fi
else
	skip 'the pager' 'less is not installed'
fi
"$ostiary" diff "$l" 2>/dev/null | head -n 1 >/dev/null
check 'a reader that leaves is no noise' 0

# --- what a run says ---------------------------------------------------------------------------------------
say "$ostiary" run -n "$tag-says" -- sh -c 'echo all: >Makefile; echo 1 >one; echo 2 >src/a.txt; rm gone.txt'
holds 'before: nothing lands before diff and apply' "$err" "nothing lands before: ostiary diff $tag-says, ostiary apply $tag-says"
holds 'after: how many files' "$err" "box $tag-says: 2 files added, 1 modified, 1 deleted"
holds 'after: which of them somebody would run' "$err" 'look before you apply: runs on build: Makefile'
holds 'after: what to do next' "$err" "box $tag-says is kept: ostiary diff $tag-says, ostiary apply $tag-says, ostiary rm $tag-says"
[ "$(sed -n '2,$p' <<<"$err" | wc -l)" -le 5 ]
check 'in five lines' $? "$err"

for box in $("$ostiary" ps -aq); do "$ostiary" rm -f "$box" >/dev/null 2>&1; done
nothing_left 'nothing is left'
exit $bad
