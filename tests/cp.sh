#!/bin/bash
# suite: test=root,user soak=root,user timeout=400
# tier: owners, and what may be read, differ between the users
# cp.sh - `ostiary cp` with a real box: both ways, hostile trees, planted links, sleeping boxes.
set -u
work=$(mktemp -d "$HOME/cp.XXXXXX") || exit 1
bad=0
box=cp-test-$$
live=cp-live-$$
finish() {
	cd /
	"$OSTIARY" rm -f "$box" >/dev/null 2>&1
	"$OSTIARY" rm -f "$live" >/dev/null 2>&1
	"$OSTIARY" rm -f "${repo:-$box}" >/dev/null 2>&1
	chmod -R u+rwx "$work" 2>/dev/null
	rm -rf "$work"
}
trap finish EXIT

check() { # name, status of the check, words when it failed
	if [ "$2" = 0 ]; then echo "ok $1"; else
		echo "not ok $1: ${3:-}"
		bad=1
	fi
}
# try WANTED-STATUS WORDS...: run cp, keep what it says
try() {
	local want=$1 got
	shift
	said=$("$OSTIARY" cp "$@" 2>&1)
	got=$?
	[ "$got" = "$want" ] || said="status $got, wanted $want: $said"
	[ "$got" = "$want" ]
}
in_box() { "$OSTIARY" exec "$box" -- sh -c "$1"; }

mkdir "$work/ws" && cd "$work/ws" || exit 1
echo host >here.txt
if ! said=$("$OSTIARY" create -q --name "$box" 2>&1); then
	echo "not ok a box to copy with: $said"
	exit 1
fi

# --- out ---------------------------------------------------------------------------------------------
in_box 'mkdir -p dist/sub && echo one >dist/a && echo two >dist/sub/b && chmod 750 dist/a && chmod 755 dist/sub/b &&
	ln -s sub/b dist/in && ln -s /etc/passwd dist/abs && ln -s ../here.txt dist/up && mkfifo dist/fifo &&
	touch "dist/new
line" && touch -d @1000000000 dist/a && echo changed >here.txt'
cd "$work" || exit 1
try 0 "$box:dist/a" one.txt
check 'a file out of the box' $? "$said"
[ "$(cat one.txt)" = one ] && [ "$(stat -c '%a %Y' one.txt)" = '750 1000000000' ]
check 'its content, mode and time' $? "$(stat -c '%a %Y' one.txt)"
[ "$(stat -c %u one.txt)" = "$(id -u)" ]
check 'it belongs to the caller' $? "$(stat -c %u one.txt)"
try 1 "$box:dist" out
check 'a tree with links out of it: status 1' $? "$said"
case $said in *abs*/etc/passwd*) ;; *) false ;; esac && case $said in *up*) ;; *) false ;; esac && case $said in *fifo*) ;; *) false ;; esac
check 'what was left out is named' $? "$said"
[ "$(cat out/sub/b)" = two ] && [ "$(stat -c %a out/sub/b)" = 755 ] && [ "$(readlink out/in)" = sub/b ] &&
	[ ! -e out/abs ] && [ ! -L out/abs ] && [ ! -L out/up ] && [ ! -e out/fifo ] && [ -e "out/new
line" ]
check 'the rest is there' $? "$(ls -lR out)"
mkdir into
try 0 "$box:$work/ws/here.txt" into/
check 'into a directory, by the whole path' $? "$said"
[ "$(cat into/here.txt)" = changed ] && [ "$(cat ws/here.txt)" = host ]
check "the box's own version, and the host's is untouched" $? "$(cat into/here.txt ws/here.txt)"
try 0 "$box:/etc/os-release" release
check 'a link that is named is followed, in the box' $? "$said"

# --- in ----------------------------------------------------------------------------------------------
mkdir -p tree/deep && echo data >tree/deep/file && ln -s deep/file tree/l && chmod 640 tree/deep/file
try 0 tree "$box:/tmp/"
check 'a tree into the box' $? "$said"
[ "$(in_box 'cat /tmp/tree/l; stat -c "%a" /tmp/tree/deep/file; stat -c %u /tmp/tree; id -u' | tr '\n' ' ' | awk '{print $1,$2,($3==$4)}')" = 'data 640 1' ]
check "content, mode and owner in the box" $? "$(in_box 'ls -lR /tmp/tree' 2>&1)"
try 0 one.txt "$box:from-host"
check 'a relative path is relative to the workspace' $? "$said"
[ "$(in_box 'cat from-host')" = one ] && [ ! -e ws/from-host ]
check 'and it lands in the copy-on-write layer only' $? "$(ls ws)"
ln -s /etc/passwd tree/away
try 1 tree "$box:/tmp/tree2"
check 'case 71: a link out of the tree does not go in' $? "$said"
try 119 one.txt "$box:/usr/bin/planted"
check 'a read-only place in the box is refused' $? "$said"
try 119 one.txt "$box:/nowhere/x"
check 'so is one that is not there' $? "$said"

# --- links that a box planted (B3) ---------------------------------------------------------------------
mkdir "$work/lws" "$work/outside" && echo precious >"$work/outside/f" && cd "$work/lws" || exit 1
"$OSTIARY" create -q --live --name "$live" >/dev/null 2>&1
check 'a live box' $? 'create --live failed'
"$OSTIARY" exec "$live" -- sh -c "echo evil >f; ln -s '$work/outside' dir; ln -s '$work/outside/f' file; ln -s ../outside rel"
[ -L dir ] && [ -L file ] && [ -L rel ]
check 'it planted its links on the host' $? "$(ls -l)"
try 122 "$live:f" dir
check 'B3: a planted link to a directory is not entered' $? "$said"
try 122 "$live:f" rel/f
check 'B3: neither is a relative one' $? "$said"
try 122 "$live:f" file
check 'B3: a planted link to a file is not written through' $? "$said"
"$OSTIARY" exec "$live" -- ln -s f inner
try 0 "$live:f" inner
check 'B3: one that stays inside is replaced' $? "$said"
[ "$(cat "$work/outside/f")" = precious ] && [ -L file ] && [ ! -L inner ] && [ "$(cat inner)" = evil ]
check 'B3: and what they pointed at is untouched' $? "$(cat "$work/outside/f")"
"$OSTIARY" exec "$live" -- ln -s "$work/outside/f" leak
try 122 leak "$box:/tmp/leak"
check 'B3: a planted link is not read from either' $? "$said"
mkdir sub && cd sub || exit 1
try 0 "$live:f" ../ok
check 'a path with .. in the workspace is fine' $? "$said"
try 0 "$live:f" ../../above
check 'and so is one above it' $? "$said"
cd "$work" || exit 1

# --- what comes out is judged as apply judges it --------------------------------------------------------
# A git directory never comes, by name or by shape; what somebody runs or obeys is named and wants --yes.
repo=cp-repo-$$
mkdir "$work/repo" && cd "$work/repo" || exit 1
git init -q . && git config user.name n && git config user.email n@example.invalid && echo 1 >f && git add f && git commit -qm 1
git init -q --bare kept.git
printf '#!/bin/sh\n' >kept.git/hooks/post-update
mkdir tools && echo plain >tools/env && ln -s tools/env .envrc
"$OSTIARY" create -q --name "$repo" >/dev/null 2>&1
check 'a box with a repository' $? 'create failed'
"$OSTIARY" exec "$repo" -- sh -c 'git config core.fsmonitor "touch PWNED; false"; echo touch PWNED >.git/hooks/pre-commit
	chmod 755 .git/hooks/pre-commit; echo touch PWNED >kept.git/hooks/post-update; mkdir -p .github/workflows src
	echo "on: push" >.github/workflows/ci.yml; echo 2 >f; echo code >src/a.c; echo evil >tools/env; chmod 777 src/a.c src
	git init -q --bare src/bare.git; echo touch PWNED >src/bare.git/hooks/update; mkdir -p src/sub && git init -q src/sub
	ln -s src .vscode; mkdir part && git init -q --bare part/x && rm part/x/HEAD && echo "ref: refs/heads/m" >HEAD2
	mkdir half && mkdir half/objects half/refs && echo touch PWNED >half/config'
kept() { (cat .git/config kept.git/hooks/post-update && ls -A .git/hooks .git kept.git/hooks) | sha256sum; }
was=$(kept)
try 1 "$repo:." .
check 'a workspace out over itself: what stays is said by status 1' $? "$said"
[ "$(kept)" = "$was" ] && [ ! -e .github/workflows/ci.yml ] && [ "$(cat tools/env)" = plain ] && [ ! -e src/bare.git ] &&
	[ ! -e src/sub/.git ] && [ ! -L .vscode ]
check 'no git directory, hook, link or workflow came with it' $? "$(kept) $was $(find . -name .git -prune -o -print | head -60)"
git status >/dev/null 2>&1 && [ ! -e PWNED ]
check 'git on the host runs nothing of the box afterwards' $? "$(ls)"
[ "$(cat f)" = 2 ] && [ "$(cat src/a.c)" = code ]
check 'plain files came' $? "$(cat f)"
for word in '\.git is a git directory' 'kept.git' 'src/bare.git' '.github/workflows/ci.yml runs in CI' 'tools/env' '.vscode' '--yes'; do
	printf '%s' "$said" | grep -qe "$word"
	check "left out and named: $word" $? "$said"
done
[ "$(stat -c %a src/a.c)" = 755 ] && [ "$(stat -c %a src)" = 755 ]
check 'modes obey the umask' $? "$(stat -c '%a %n' src src/a.c)"
try 122 "$repo:f" .git/hooks/pre-commit
check 'nothing is written below a git directory' $? "$said"
try 122 "$repo:f" kept.git/hooks/update
check 'nor below one that has another name' $? "$said"
try 122 "$repo:half" .git/modules
check 'nor a directory into one' $? "$said"
try 119 "$repo:.git" "$work/taken"
check 'a git directory that is named is refused' $? "$said"
try 119 "$repo:src/bare.git/." "$work/taken"
check 'so is the content of one' $? "$said"
[ ! -e "$work/taken" ] && [ ! -e .git/hooks/pre-commit ] && [ ! -e .git/modules ]
check 'and nothing of it is made' $? "$(ls -A "$work/taken" .git 2>&1)"
# What would complete one is left out, whichever of its parts is last.
mkdir "$work/late" && echo 'ref: refs/heads/main' >"$work/late/HEAD"
try 1 "$repo:half/." "$work/late"
check 'what would complete a git directory is left out' $? "$said"
[ ! -e "$work/late/refs" ] || [ ! -e "$work/late/objects" ]
check 'and the directory is none' $? "$(ls -A "$work/late")"
mkdir -p .github/workflows
try 1 "$repo:.github/workflows/ci.yml" .github/workflows/
check 'a classed file alone is left out too' $? "$said"
try 1 "$repo:f" .github/workflows/other.yml
check 'by where it would lie, not by its name in the box' $? "$said"
[ -z "$(ls -A .github/workflows)" ]
check 'nothing of it is there' $? "$(ls -A .github/workflows)"
try 0 --yes "$repo:.github/workflows/ci.yml" .github/workflows/
check '--yes copies it' $? "$said"
case $said in *ci.yml*copied*) ;; *) false ;; esac && [ "$(cat .github/workflows/ci.yml)" = 'on: push' ]
check 'and says so' $? "$said"
try 1 --yes "$repo:." .
check '--yes copies no git directory' $? "$said"
[ "$(kept)" = "$was" ] && [ ! -e src/bare.git ]
check 'git directories are as they were' $? "$(ls -A .git/hooks kept.git/hooks)"
try 0 "$repo:src/a.c" "$work/a.c"
check 'a plain file to somewhere outside' $? "$said"
cd "$work" && "$OSTIARY" rm -f "$repo" >/dev/null 2>&1

# --- interrupted ---------------------------------------------------------------------------------------
in_box 'head -c 400000000 /dev/zero >/tmp/big'
mkdir cut
"$OSTIARY" cp -q "$box:/tmp/big" cut/ 2>/dev/null &
pid=$!
for _ in $(seq 3000); do
	[ -n "$(ls -A cut)" ] && break
	[ -e "/proc/$pid" ] || break
	sleep 0.01
done
kill -TERM "$pid" 2>/dev/null
wait "$pid"
status=$?
if [ "$status" = 0 ]; then
	echo "skip an interrupted copy: it was done before the signal came"
else
	[ "$status" = 143 ] && [ -z "$(ls -A cut)" ]
	check 'an interrupted copy leaves nothing' $? "status $status, $(ls -A cut)"
fi
try 122 --max 1M "$box:/tmp/big" cut/
check '--max ends a copy that is too large' $? "$said"
[ -z "$(ls -A cut)" ]
check 'and leaves nothing' $? "$(ls -A cut)"

# --- a box that sleeps -----------------------------------------------------------------------------------
"$OSTIARY" stop "$box" >/dev/null 2>&1
try 0 "$box:from-host" awake.txt
check 'out of a box that has ended' $? "$said"
[ "$(cat awake.txt 2>/dev/null)" = one ]
check 'what it had written is there' $? 'content differs'
for _ in $(seq 300); do
	"$OSTIARY" ps 2>/dev/null | grep -q "$box" || break
	sleep 0.1
done
! "$OSTIARY" ps 2>/dev/null | grep -q "$box"
check 'it sleeps again' $? 'it is listed as running'

# A box that falls asleep at this very moment is woken and asked again. Each exec of such a box is a turn, and the end of
# a turn is sleep.
turns=cp-turns-$$
(cd "$work/ws" && "$OSTIARY" create -q --turns --name "$turns") >/dev/null 2>&1
"$OSTIARY" exec "$turns" -- sh -c 'echo t >turn'
said='' failed=0
for i in $(seq 1 25); do
	"$OSTIARY" exec -q "$turns" -- sh -c "echo $i >>turn" >/dev/null 2>&1 &
	other=$!
	said+=$("$OSTIARY" cp "$turns:turn" "turn.out" 2>&1) || failed=$((failed + 1))
	said+=$("$OSTIARY" cp "$turns:here.txt" "turn.out" 2>&1) || failed=$((failed + 1))
	wait "$other"
	said+=$("$OSTIARY" cp "$turns:turn" "turn.out" 2>&1) || failed=$((failed + 1))
done
[ "$failed" = 0 ] && [ -z "$said" ]
check 'a box that falls asleep at the moment of a copy is asked again' $? "$failed of 75 failed: $said"
"$OSTIARY" rm -f "$turns" >/dev/null 2>&1

# --- words -------------------------------------------------------------------------------------------------
try 64 one.txt two.txt
check 'no box named: usage' $? "$said"
try 64 "$box:a" "$live:b"
check 'two boxes named: usage' $? "$said"
try 64 "$live:f" -
check '"-" is refused' $? "$said"
try 64 "$live:f"
check 'one word only: usage' $? "$said"
try 121 "no-such-box-$$:f" x
check 'no such box' $? "$said"
try 119 "$live:nothing" x
check 'no such file in the box' $? "$said"
"$OSTIARY" exec "$live" -- sh -c 'mkdir esc && touch "esc/$(printf "\033]52;c;aGk=\007")" && ln -s "/$(printf "\033[2J")" esc/l'
try 1 "$live:esc" esc
check 'case 76: hostile names' $? "$said"
case $said in *$'\033'*) false ;; *) true ;; esac
check 'case 80: no escape reaches the terminal' $? 'an escape byte was printed'
left=$(find "$work" -name '.ostiary-cp.*')
[ -z "$left" ]
check 'no temporary file anywhere' $? "$left"
exit $bad
