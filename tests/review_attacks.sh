#!/bin/bash
# suite: test=user soak=root,user timeout=900
# tier: what is planted is judged by name and content, whoever started the box
# review_attacks.sh - what a box leaves behind for the host to trip over: cases 60 to 79 of the attack list.
#
# Every case is done by a real box. Then three things are looked at, here, outside: what a plain copy of the
# box's files would have done (the control: it must do harm, else the case shows nothing), what `ostiary diff`
# calls it, and what is on the host after `ostiary apply --yes`. A table of all of it is printed at the end.
# shellcheck disable=SC2016 # the scripts are for the shell in the box
cd "$(dirname "$0")/.." || exit 1
# shellcheck source=tests/lib.sh
. tests/lib.sh
# shellcheck source=tests/lib_tier.sh
. tests/lib_tier.sh
git config --global user.name t
git config --global user.email t@example.test
git config --global safe.directory '*'
git config --global init.defaultBranch main
secret=$work/secret
mkdir "$secret" && echo "the user's own words" >"$secret/file"
canary=$work/canary
table=$work/table
: >"$table"
boxes=$HOME/.local/state/ostiary/boxes

# --- one case: a fresh workspace, a box, a plain copy -----------------------------------------------------

ws='' case='' n=0
fresh() { # case
	case=$1 n=$((n + 1)) ws=$work/ws$n
	mkdir -p "$ws/src"
	cd "$ws" || exit 1
	git init -q
	echo 'int main(void) { return 0; }' >src/main.c
	echo one >notes.txt
	git add -A && git commit -qm start
	rm -f "$canary"
}
inside() { # script: run it in a box named after the case
	timeout -k 2 400 "$ostiary" run -q --name "case$case" --workspace "$ws" -- sh -c "$1" </dev/null >"$work/in.out" 2>&1
}
upper() { find "$boxes" -maxdepth 4 -path "*/layers/ws/upper" 2>/dev/null | head -n 1; }
# What everybody does without a tool: take over what the agent wrote.
plain_copy() {
	rm -rf "$work/naive"
	cp -r --preserve=mode,links "$ws" "$work/naive"
	cp -r --preserve=mode,links "$(upper)/." "$work/naive/" 2>/dev/null
}
# What the diff of this case is, asked once: until something is applied it is always the same.
diff_of() {
	[ -e "$work/diff.$n" ] || timeout 200 "$ostiary" diff "case$case" --json --all >"$work/diff.$n" 2>"$work/diff.err" </dev/null
	cat "$work/diff.$n"
}
# class_of PATH: the class in `diff --json`, "" when it is not told.
class_of() {
	diff_of | /usr/bin/python3 -c '
import json, sys
want = sys.argv[1]
def walk(o):
    if isinstance(o, dict):
        if o.get("path") == want: print(o.get("class", "")); sys.exit()
        for v in o.values(): walk(v)
    elif isinstance(o, list):
        for v in o: walk(v)
text = sys.stdin.read()
try: walk(json.loads(text))
except ValueError:
    for line in text.splitlines(): walk(json.loads(line))
' "$1"
}
apply_yes() {
	rm -f "$work/diff.$n"
	timeout 300 "$ostiary" apply "case$case" --yes >"$work/apply.out" 2>&1 </dev/null
}
end() { "$ostiary" rm -f "case$case" >/dev/null 2>&1; }
# row NAME CONTROL REAL WHY: both statuses are 0 when it is as it should be.
row() {
	check "attack-$case control: $1" "$2" "a plain copy does no harm, so the case shows nothing"
	check "attack-$case $1" "$3" "${4:-} $(tail -n 3 "$work/apply.out" 2>/dev/null)"
	printf '%s\t%s\t%s\t%s\n' "$case" "$([ "$2" = 0 ] && echo lands || echo '?')" \
		"$([ "$3" = 0 ] && echo held || echo OPEN)" "$1" >>"$table"
}

# --- 60: hooks, and a hook that is a symlink ---------------------------------------------------------------

fresh 60
inside "printf '#!/bin/sh\ntouch $canary\n' >.git/hooks/pre-commit; chmod 755 .git/hooks/pre-commit
	printf '#!/bin/sh\ntouch $canary\n' >src/tool; chmod 755 src/tool; ln -s ../../src/tool .git/hooks/post-commit; echo two >notes.txt"
plain_copy
(cd "$work/naive" && git commit -qam naive)
[ -e "$canary" ]
control=$?
rm -f "$canary"
apply_yes
(git commit -qam real)
[ ! -e "$canary" ] && [ ! -e .git/hooks/pre-commit ] && [ ! -L .git/hooks/post-commit ] && [ "$(cat notes.txt)" = two ]
row 'a git hook is not swept in, notes.txt beside it is' $control $? "$(ls .git/hooks)"
apply_yes=$("$ostiary" apply case60 .git/hooks/pre-commit --yes=runs-on-commit 2>&1 </dev/null)
[ ! -e .git/hooks/pre-commit ]
check 'attack-60 nor does it land when its class and its path are named' $? "$apply_yes"
end

# --- 61: the keys of .git/config that run programs ------------------------------------------------------------

fresh 61
inside "git config core.fsmonitor 'touch $canary; false'; git config user.nickname harmless"
plain_copy
(cd "$work/naive" && git status >/dev/null 2>&1)
[ -e "$canary" ]
control=$?
rm -f "$canary"
cp .git/config "$work/config"
apply_yes
git status >/dev/null 2>&1
[ ! -e "$canary" ] && cmp -s .git/config "$work/config"
row 'core.fsmonitor in .git/config' $control $? "$(cat .git/config)"
end
for key in core.hooksPath core.sshCommand core.editor core.pager diff.external filter.x.clean alias.st credential.helper include.path url.x.insteadOf; do
	fresh 61
	inside "git config '$key' '/bin/true'"
	plain_copy
	grep -q /bin/true "$work/naive/.git/config"
	control=$?
	cp .git/config "$work/config"
	apply_yes
	cmp -s .git/config "$work/config"
	row "$key in .git/config" $control $? "$(cat .git/config)"
	end
done
fresh 61
inside "git config branch.main.description harmless"
told=$(timeout 200 "$ostiary" diff case61 2>&1 </dev/null)
apply_yes
grep -q "git config.* branch.main.description " <<<"$told" && [ -z "$(git config branch.main.description)" ]
check 'attack-61 a setting of the box is shown as the command that would make it' $? "$told"
end

# --- 62: git directories anywhere -------------------------------------------------------------------------------

fresh 62
inside "mkdir -p a/b/bare/objects a/b/bare/refs; echo 'ref: refs/heads/main' >a/b/bare/HEAD
	printf '[core]\nrepositoryformatversion = 0\nbare = false\nworktree = .\nfsmonitor = touch $canary; false\n' >a/b/bare/config
	git worktree add -q ../wt 2>/dev/null; git config extensions.worktreeConfig true; printf '[core]\npager = touch $canary\n' >.git/config.worktree"
plain_copy
(cd "$work/naive/a/b/bare" && git status >/dev/null 2>&1)
[ -e "$canary" ]
control=$?
rm -f "$canary"
apply_yes
[ ! -e a/b/bare ] && [ ! -e .git/config.worktree ]
row 'a git directory in a sub-folder, config.worktree' $control $? "$(ls -R a .git/config* 2>&1 | tr '\n' ' ')"
end

# --- 63: attributes and submodules --------------------------------------------------------------------------------

fresh 63
git config filter.evil.clean "touch $canary; cat"
inside "echo '*.c filter=evil' >.gitattributes; printf '[submodule \"x\"]\npath = x\nurl = ext::sh -c true\n' >.gitmodules"
plain_copy
(cd "$work/naive" && touch src/main.c && git add -A >/dev/null 2>&1)
[ -e "$canary" ]
control=$?
rm -f "$canary"
why=$(class_of .gitattributes)/$(class_of .gitmodules)
apply_yes
[ "$why" = runs-on-commit/runs-on-commit ] && [ ! -e .gitattributes ] && [ ! -e .gitmodules ]
row '.gitattributes and .gitmodules' $control $? "$why"
end

# --- 64-69: by name, whether it existed or not, at any depth --------------------------------------------------------

# files CASE CLASS PATH...: none lands by --yes, each is told with its class; a plain copy lands them all.
files() {
	local id=$1 class=$2 path script='' got='' landed=0 lacks=''
	shift 2
	fresh "$id"
	for path in "$@"; do script="$script mkdir -p \"\$(dirname '$path')\"; echo '# planted' >'$path';"; done
	inside "$script echo two >notes.txt"
	plain_copy
	for path in "$@"; do [ -e "$work/naive/$path" ] || landed=1; done
	for path in "$@"; do
		got=$(class_of "$path")
		[ "$got" = "$class" ] || lacks="$lacks $path is ${got:-not told};"
	done
	apply_yes
	for path in "$@"; do [ ! -e "$path" ] || lacks="$lacks $path landed;"; done
	[ "$(cat notes.txt)" = two ] || lacks="$lacks notes.txt did not land;"
	[ -z "$lacks" ]
	row "$class: $(echo "$@" | cut -c1-60)" $landed $? "$lacks"
	end
}
files 64 steers-agent .claude/settings.json .mcp.json
files 65 runs-on-open a/b/c/d/e/f/g/.vscode/tasks.json
fresh 65
inside 'mkdir -p a/b/c/d/e/f/g/.git/hooks; echo x >a/b/c/d/e/f/g/.git/hooks/pre-push; echo two >notes.txt'
plain_copy
[ -e "$work/naive/a/b/c/d/e/f/g/.git/hooks/pre-push" ]
control=$?
apply_yes
[ ! -e a/b/c/d/e/f/g/.git ] && [ "$(cat notes.txt)" = two ]
row 'a git directory that is seven levels deep' $control $? "$(find a)"
end
files 66 runs-on-open .vscode/tasks.json .vscode/settings.json .vscode/launch.json .vscode/extensions.json .idea/workspace.xml .zed/tasks.json \
	.nvim.lua .exrc .envrc mise.toml .tool-versions
files 67 runs-on-build package.json .npmrc .yarnrc setup.py conftest.py Makefile build.rs pyproject.toml .cargo/config.toml build.gradle CMakePresets.json
files 68 runs-in-ci .github/workflows/ci.yml .gitlab-ci.yml Jenkinsfile
files 69 steers-agent .mcp.json .claude/settings.json .codex/config.toml .cursor/rules .gemini/settings.json AGENTS.md CLAUDE.md sub/AGENTS.md

# --- 62 to 66 by detours: two applies, a mode, a link (E2 to E4) ------------------------------------------------------

fresh 62
inside "mkdir data; echo 'ref: refs/heads/main' >data/HEAD; printf '[core]\nrepositoryformatversion = 0\nbare = false\nworktree = .\nfsmonitor = touch $canary; false\n' >data/config"
plain_copy
apply_yes
end
inside "mkdir -p data/refs/heads data/objects; echo n >data/refs/heads/note.txt; echo o >data/objects/o.txt"
cp -r --preserve=mode,links "$(upper)/." "$work/naive/"
(cd "$work/naive/data" && git status >/dev/null 2>&1)
[ -e "$canary" ]
control=$?
rm -f "$canary"
apply_yes
([ ! -d data ] || cd data && git status >/dev/null 2>&1)
[ ! -e "$canary" ] && [ ! -e data/config ]
row 'a git directory in two halves, by two applies' $control $? "$(find data)"
end
fresh 60
mkdir tools && printf '#!/bin/sh\n' >tools/check.sh && chmod 755 tools/check.sh && ln -s ../../tools/check.sh .git/hooks/pre-commit
git add -A && git commit -qm tools
inside "echo 'touch $canary' >>tools/check.sh; echo two >notes.txt"
plain_copy
(cd "$work/naive" && git commit -qam naive)
[ -e "$canary" ]
control=$?
rm -f "$canary"
why=$(class_of tools/check.sh)
apply_yes
git commit -qam real
[ ! -e "$canary" ] && [ "$why" = runs-on-commit ] && [ "$(cat notes.txt)" = two ]
row 'the script that a hook of the host links to' $control $? "class $why"
end
fresh 66
mkdir scripts && echo : >scripts/env && ln -s scripts/env .envrc
inside "echo 'touch $canary' >>scripts/env"
plain_copy
(cd "$work/naive" && sh ./.envrc)
[ -e "$canary" ]
control=$?
rm -f "$canary"
why=$(class_of scripts/env)
apply_yes
sh ./.envrc
[ ! -e "$canary" ] && [ "$why" = runs-on-open ]
row 'what .envrc links to' $control $? "class $why"
end
fresh 67
echo all: >Makefile && chmod 644 Makefile
inside "umask 0; chmod 777 . src Makefile; echo x >new; mkdir open"
plain_copy
[ "$(stat -c %a "$work/naive/Makefile")" = 777 ] && [ -n "$(find "$work/naive" -name new -perm -002)" ]
control=$?
apply_yes
[ -z "$(find . -path ./.git -prune -o ! -type l -perm /022 -print)" ] && [ -e new ]
row 'rights for everybody' $control $? "$(find . -path ./.git -prune -o -perm /022 -print | head -n 3)"
end

# --- 70: what lies outside of the workspace -----------------------------------------------------------------------------

fresh 70
home_before=$(cd "$HOME" && find . -path ./.local -prune -o -print | sort | xargs -d '\n' ls -dl | cksum)
inside "mkdir -p ~/.ssh ~/.config/autostart ~/.config/systemd/user; for f in .bashrc .profile .ssh/authorized_keys .ssh/config .gitconfig .config/autostart/x.desktop .config/systemd/user/x.service; do echo planted >~/\$f; done; cat ~/.ssh/authorized_keys"
grep -q planted "$work/in.out"
control=$?
apply_yes
home_after=$(cd "$HOME" && find . -path ./.local -prune -o -print | sort | xargs -d '\n' ls -dl | cksum)
[ "$home_before" = "$home_after" ]
row 'start files, keys and units of the home' $control $? 'the host home changed'
end

# --- 71: links that lead out, read or written by the host afterwards -------------------------------------------------------

fresh 71
ln -s "$secret" theirs
inside "ln -s $secret/file leak; ln -s ../../../../../../..$secret/file up; mkdir d; ln -s $secret d/in; ln -s src/main.c fine; rm theirs; mkdir theirs; echo over >theirs/file"
plain_copy
[ "$(cat "$work/naive/leak")" = "the user's own words" ]
control=$?
told=$(timeout 200 "$ostiary" diff case71 2>&1 </dev/null)
apply_yes
[ ! -L leak ] && [ ! -L up ] && [ ! -L d/in ] && [ -L fine ] && grep -q "$secret/file" <<<"$told" && ! grep -q 'own words' <<<"$told" &&
	[ "$(cat "$secret/file")" = "the user's own words" ]
row 'links that lead out of the workspace' $control $? "$(ls -l leak up d/in fine 2>&1 | tr '\n' ' ')"
# The host's own link in the way: cp goes through it.
ln -sfn "$secret" "$work/naive/theirs2"
mkdir -p "$work/from/theirs2" && echo over >"$work/from/theirs2/other"
cp -r "$work/from/theirs2/other" "$work/naive/theirs2/other" && [ -e "$secret/other" ]
control=$?
rm -f "$secret/other"
[ "$(ls "$secret")" = file ]
row 'a link of the host in the way is not followed' $control $? "$(ls -l "$secret")"
end

# --- 72: a link swapped in between ------------------------------------------------------------------------------------------

fresh 72
mkdir d && echo mine >d/file && git add -A && git commit -qm d
timeout -k 2 900 "$ostiary" run -q --name case72 --workspace "$ws" -- sh -c "echo theirs >d/file; mkdir e; echo e >e/file; touch ready
	while :; do mv d x 2>/dev/null; ln -s $secret d; rm d; mv x d; mv e y; ln -s $secret e; rm e; mv y e; done" </dev/null >"$work/in.out" 2>&1 &
racer=$!
is_ready() { [ -e "$(upper)/ready" ]; }
within 60 is_ready
up=$(upper)
is_caught() { cat "$up/d/file" "$up/e/file" 2>/dev/null | grep -q 'own words'; }
within 150 is_caught
control=$?
held=0
races=$(by_tier 10 25)
for _ in $(seq "$races"); do
	apply_yes
	grep -rqs 'own words' "$ws" && held=1
	[ "$(cat "$secret/file")" = "the user's own words" ] && [ "$(ls "$secret")" = file ] || held=1
done
[ $held = 0 ]
row "a directory swapped for a link while apply runs, $races times" $control $? "$(grep -rl 'own words' "$ws")"
"$ostiary" stop case72 >/dev/null 2>&1
wait $racer
end

# --- 73: an alias of a protected file ---------------------------------------------------------------------------------------

fresh 73
inside "ln .git/config alias.txt && printf '[core]\n\tfsmonitor = touch $canary; false\n' >>alias.txt"
plain_copy
(cd "$work/naive" && git status >/dev/null 2>&1)
[ -e "$canary" ]
control=$?
rm -f "$canary"
apply_yes
git status >/dev/null 2>&1
[ ! -e "$canary" ] && ! grep -q fsmonitor .git/config && [ "$(stat -c %h .git/config)" = 1 ] && grep -q fsmonitor alias.txt
row 'a hard link to .git/config, written through' $control $? "$(cat .git/config)"
end

# --- 74: the roots are the user's choice ------------------------------------------------------------------------------------------

fresh 74
other=$(mktemp -d /tmp/ostiary-other.XXXXXX) && echo mine >"$other/file"
inside "mkdir -p $other && cd $other && echo theirs >file; cat $other/file"
grep -q theirs "$work/in.out"
control=$?
said=$(cd "$other" && "$ostiary" apply case74 "$other/file" --yes 2>&1 </dev/null)
status=$?
[ "$(cat "$other/file")" = mine ] && [ $status != 0 ]
row 'a directory that the box went to is no root' $control $? "status $status: $said"
rm -rf "$other"
end

# --- 75: names that look or fold alike -----------------------------------------------------------------------------------------------

fresh 75
odd=('.GIT/hooks/pre-commit' '.git./hooks/pre-commit' '.git /hooks/pre-commit' 'git~1/hooks/pre-commit' '.git::$INDEX_ALLOCATION/hooks/pre-commit'
	$'.g\u200cit/hooks/pre-commit' '.VSCode/Tasks.json' 'MAKEFILE' '.Claude/settings.json' 'agents.md')
script=''
for path in "${odd[@]}"; do script="$script mkdir -p \"\$(dirname '$path')\"; echo '# planted' >'$path';"; done
inside "$script"
plain_copy
lacks='' control=0
for path in "${odd[@]}"; do [ -e "$work/naive/$path" ] || control=1; done
apply_yes
for path in "${odd[@]}"; do [ ! -e "$path" ] || lacks="$lacks $(printf %q "$path") landed;"; done
[ -z "$lacks" ]
row 'names that fold to protected ones' $control $? "$lacks"
end

# --- 76: names as weapons against the terminal -----------------------------------------------------------------------------------------

fresh 76
inside 'printf x >"$(printf "a\033]0;owned\007b")"; printf x >"$(printf "n\nnotes.txt | 0")"; printf x >"$(printf "\377\376")"; printf x >"$(printf "\342\200\256txt.exe")"; printf "\033[2Jtext\n" >notes.txt'
plain_copy
find "$work/naive" | LC_ALL=C grep -q $'\033'
control=$?
for args in '' --stat --name-only --json; do
	# shellcheck disable=SC2086
	timeout 200 "$ostiary" diff case76 $args </dev/null
done >"$work/names.out" 2>&1
apply_yes
cat "$work/apply.out" >>"$work/names.out"
"$ostiary" history >>"$work/names.out" 2>&1
# A pipe gets contents as they are, and names never.
! grep -v '^+' "$work/names.out" | LC_ALL=C grep -q $'[\033\007\377\376]' && [ -e "$(printf 'a\033]0;owned\007b')" ] && ! grep -q '^notes.txt | 0' "$work/names.out"
row 'names with escapes, newlines, turned text' $control $? "$(LC_ALL=C grep -n $'[\033\007\377]' "$work/names.out" | head -n 3 | cat -v)"
end

# --- 77: marks of overlays and things that are no files ------------------------------------------------------------------------------------

fresh 77
inside 'mkfifo pipe; /usr/bin/python3 -c "import socket; socket.socket(socket.AF_UNIX).bind(\"sock\")" 2>/dev/null; mkdir -p gone; rm -rf src; mkdir src; echo new >src/new.c; chmod 4755 notes.txt; mknod dev c 1 3 2>/dev/null; /usr/bin/python3 -c "import os; os.setxattr(\"src/new.c\", \"user.overlay.whiteout\", b\"y\")" 2>/dev/null; echo done'
up=$(upper)
timeout 1 cat "$up/pipe" >/dev/null 2>&1
[ $? = 124 ]
control=$?
[ "$(id -u)" = 0 ] && mknod "$up/disk" b 7 99
told=$(timeout 200 "$ostiary" diff case77 --stat 2>&1 </dev/null)
status=$?
apply_yes
[ $status = 0 ] && [ ! -e pipe ] && [ ! -e sock ] && [ ! -e disk ] && [ ! -e dev ] && [ "$(ls src)" = new.c ] && [ ! -u notes.txt ] && grep -q pipe "$work/apply.out"
row 'a pipe, a socket, a device, setuid; an opaque directory is understood' $control $? "status $status $told"
end
fresh 77
inside 'echo two >notes.txt; mkdir moved; echo x >moved/x'
up=$(upper)
if /usr/bin/python3 -c 'import os, sys; os.setxattr(sys.argv[1], "user.overlay.redirect", b"/src")' "$up/moved" 2>/dev/null; then
	before=$(find . -type f ! -path './.git/*' -exec cksum {} + | sort | cksum)
	told=$(timeout 200 "$ostiary" diff case77 2>&1 </dev/null)
	status=$?
	apply_yes
	applied=$?
	[ $status != 0 ] && [ $applied != 0 ] && [ "$(find . -type f ! -path './.git/*' -exec cksum {} + | sort | cksum)" = "$before" ] && [ -n "$told" ]
	row 'a redirect in the layer is an error, not a guess' 0 $? "status $status and $applied: $told"
else
	skip 'attack-77 a redirect in the layer' 'no extended attributes here'
fi
end

# --- 78: size: sparse files, many files, deep trees ---------------------------------------------------------------------------------------------

# In soak 100,000 files, in test a tenth of them.
dirs=$(by_tier 10 100)
fresh 78
inside 'truncate -s 2T huge.bin; truncate -s 300M holes.bin; printf end >>holes.bin
	mkdir many; cd many; /usr/bin/python3 -c "
import os
for i in range('"$dirs"'):
    os.mkdir(str(i))
    for k in range(1000): os.close(os.open(\"%d/%d\" % (i, k), os.O_CREAT | os.O_WRONLY))
"; cd ..; /usr/bin/python3 -c "
import os
for i in range(300):
    os.mkdir(\"d\" * 200); os.chdir(\"d\" * 200)
open(\"end\", \"w\").write(\"deep\")
"'
up=$(upper)
find "$up" -name end -exec cat {} \; 2>&1 | grep -q 'too long'
control=$?
said=$(bash "$top/tests/review/with_memory.sh" 400000 timeout 600 "$ostiary" diff case78 --stat 2>&1 </dev/null | tail -n 5)
status=$?
[ $status = 0 ] && [ -n "$said" ]
row "diff of $dirs,000 files, 2 TiB and 300 levels of 200 bytes within 400 MB of memory" $control $? "status $status: $said"
bash "$top/tests/review/with_memory.sh" 400000 timeout 900 "$ostiary" apply case78 --yes >"$work/apply.out" 2>&1 </dev/null
[ "$(find many -type f | wc -l)" = $((dirs * 1000)) ] && [ "$(tail -c 3 holes.bin)" = end ] && [ "$(stat -c %b holes.bin)" -lt 10000 ]
row 'and apply: all files land, holes stay holes' $control $? "$(stat -c '%s bytes, %b blocks' holes.bin 2>&1)"
grep -q 'ddd.*: its path' "$work/apply.out"
deep=$?
timeout 300 "$ostiary" apply case78 --yes huge.bin >"$work/apply.out" 2>&1 </dev/null
[ $deep = 0 ] && { grep -q huge.bin "$work/apply.out" || { [ "$(stat -c %s huge.bin)" = 2199023255552 ] && [ "$(stat -c %b huge.bin)" -lt 1000 ]; }; }
row 'what is too deep is told, one by one; 2 TiB of holes land as holes' $control $?
timeout 900 "$ostiary" undo >"$work/undo.out" 2>&1 </dev/null
[ ! -e many ] && [ ! -e holes.bin ] && [ ! -e huge.bin ] && [ ! -e "$(printf 'd%.0s' $(seq 200))" ]
check 'attack-78 and all of it is taken back' $? "$(tail -n 2 "$work/undo.out")"
end
rm -rf "$ws"

# --- 79: undo restores what the user had ---------------------------------------------------------------------------------------------------------

fresh 79
echo precious >mine.txt && cp mine.txt mine.txt.orig # a backup where the agent can write is none
git add -A && git commit -qm mine
timeout -k 2 900 "$ostiary" run -q --name case79 --workspace "$ws" -- sh -c 'echo theirs >mine.txt; echo theirs >mine.txt.orig
	touch ready; while :; do find / -path "*ostiary/undo*" 2>/dev/null; echo theirs 1<>mine.txt; echo theirs 1<>mine.txt.orig; sleep 0.01; done' </dev/null >"$work/in.out" 2>&1 &
racer=$!
within 60 is_ready
apply_yes
[ "$(cat mine.txt mine.txt.orig | sort -u)" = theirs ]
control=$?
undone=0
"$ostiary" undo --yes >"$work/undo.out" 2>&1 </dev/null || "$ostiary" undo >>"$work/undo.out" 2>&1 </dev/null || undone=1
[ $undone = 0 ] && [ "$(cat mine.txt)" = precious ] && [ "$(cat mine.txt.orig)" = precious ] && ! grep -q ostiary/undo "$work/in.out"
row 'undo while the box writes, the store is out of its sight' $control $? "$(cat mine.txt) $(tail -n 2 "$work/undo.out") $(head -n 2 "$work/in.out")"
"$ostiary" stop case79 >/dev/null 2>&1
wait $racer
# A kept content that somebody damaged is not restored.
apply_yes
object=$(grep -rl precious "$HOME/.local/state/ostiary/undo/objects" | head -n 1)
chmod 600 "$object" && echo poison >"$object"
said=$("$ostiary" undo 2>&1 </dev/null)
status=$?
[ $status != 0 ] && ! grep -rq poison "$ws"
row 'a damaged content in the store is not put back' 0 $? "status $status: $said"
end

echo "# case  plain copy  ostiary  what"
while IFS=$'\t' read -r id plain verdict words; do
	printf '# %-5s %-11s %-8s %s\n' "$id" "$plain" "$verdict" "$words"
done <"$table"
exit $bad
