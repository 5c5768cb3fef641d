#!/bin/bash
# suite: test=user soak=root,user timeout=240
# tier: what may not be read or written is refused to the user; root only repeats the rest
# review_bad.sh - bad input for diff, apply, undo, snapshot and fork: each gets a sentence and a status, and the
# host's tree, the box and the store of undo are each as before, by checksum.
# shellcheck disable=SC2016
cd "$(dirname "$0")/.." || exit 1
# shellcheck source=tests/lib.sh
. tests/lib.sh
state=$HOME/.local/state/ostiary
python=/usr/bin/python3

# --- sums -------------------------------------------------------------------------------------------------
# sum DIR...: names, kinds, modes, targets and contents of all that is below; reading an upper changes nothing.
sum() {
	local d
	for d in "$@"; do
		[ -d "$d" ] || { echo "$d is absent"; continue; }
		(cd "$d" && find . \( -path ./lock -o -name ctl -o -name audit.jsonl\* -o -name \*.lock \) -prune -o -printf '%p %y %m %l\n' | LC_ALL=C sort &&
			find . -type f -size -9M ! -name lock ! -name \*.lock ! -name audit.jsonl\* -exec cksum {} + | LC_ALL=C sort)
	done | cksum
}

# bad NAME STATUS PATTERN COMMAND...: that status ("no": 1, or one of ours that is not about words), a sentence of ours that holds the
# pattern, and nothing changed: $ws, the box's layers, the undo store.
say() {
	timeout -k 5 150 "$@" </dev/null >"$work/out" 2>"$work/err"
	code=$?
	err=$(tail -n 3 "$work/err")
}
bad() {
	local name=$1 status=$2 pattern=$3 before after why=''
	shift 3
	before=$(sum "$ws" "$upper" "$state/undo" "$state/frozen")
	say "$@"
	after=$(sum "$ws" "$upper" "$state/undo" "$state/frozen")
	if [ "$status" = no ]; then
		[ "$code" = 1 ] || { [ "$code" -ge 119 ] && [ "$code" -le 125 ]; } || why="status $code; "
	else
		[ "$code" = "$status" ] || why="status $code, wanted $status; "
	fi
	# shellcheck disable=SC2053
	[[ $err == 'ostiary: '* ]] && [[ $err == *$pattern* ]] || why="${why}it does not say \"$pattern\"; "
	[ "$before" = "$after" ] || why="${why}something changed; "
	[ -z "$why" ]
	check "$name" $? "$why$err"
}
ws=$work/ws upper=''
start() { # name, script
	timeout -k 2 150 "$ostiary" run -q --name "$1" --workspace "$ws" -- sh -c "$2" </dev/null >"$work/in.out" 2>&1 || cat "$work/in.out"
	upper=$(find "$state/boxes" -maxdepth 4 -path '*/layers/ws/upper' -newer "$work/mark" | head -n 1)
}
mark() { touch "$work/mark" && sleep 0.02; }
fresh() {
	"$ostiary" ps -a -q 2>/dev/null | while read -r b; do "$ostiary" rm -f "$b" >/dev/null 2>&1; done
	chmod -R u+rwX "$ws" 2>/dev/null
	rm -rf "$ws" && mkdir "$ws" && cd "$ws" || exit 1
	echo one >file && mkdir dir && echo in >dir/in && echo gone >old
	mark
}

# --- words ---------------------------------------------------------------------------------------------------
fresh
start words 'echo two >file; rm old; echo new >new'
"$ostiary" apply words --dry-run >/dev/null 2>&1 </dev/null # makes the store
for command in diff 'apply --yes' snapshot fork; do
	# shellcheck disable=SC2086
	bad "$command of a box that is not there" no 'no-such-box' "$ostiary" $command no-such-box
done
bad 'undo of a number that is not there' no '4711' "$ostiary" undo 4711
bad 'a path outside, by dots' no 'outside' "$ostiary" diff words ../outside
bad 'a path outside, absolute' no 'outside' "$ostiary" diff words /etc/passwd
bad 'apply of a path outside' no 'outside' "$ostiary" apply words ../../etc/passwd --yes
bad 'a class that is none' 64 'no-such-class' "$ostiary" apply words --yes=no-such-class
bad 'a turn that is not there' no '7' "$ostiary" diff words --turn 7
bad 'an unknown flag' 64 '--frobnicate' "$ostiary" diff words --frobnicate
bad 'a snapshot with a bad name' 64 'name' "$ostiary" snapshot words ../x
bad 'run --from a snapshot that is not there' no 'no-such-snapshot' "$ostiary" run -q --from no-such-snapshot -- true
before=$(sum "$ws")
say "$ostiary" apply words
[ "$before" = "$(sum "$ws")" ] || [ "$code" = 0 ]
check 'apply without a terminal and without --yes never half does it' $? "status $code $err"

# --- the workspace is another ------------------------------------------------------------------------------------
fresh
start moved 'echo two >file; rm old; echo new >new'
cd /
mv "$ws" "$work/elsewhere"
bad 'diff when the workspace was moved' no '' "$ostiary" diff moved
bad 'apply when the workspace was moved' no '' "$ostiary" apply moved --yes
same 'where it is now it is as it was' "$(cat "$work/elsewhere/file" "$work/elsewhere/old")" $'one\ngone'
mkdir "$ws" && echo 'of somebody else' >"$ws/file"
bad 'apply when another directory has its name' no '' "$ostiary" apply moved --yes
same 'and that one is as it was' "$(cat "$ws"/*)" 'of somebody else'
rm -rf "$ws"
mkdir "$work/third" && ln -s "$work/third" "$ws"
bad 'apply when a link to another directory has its name' no '' "$ostiary" apply moved --yes
rm -r "$ws" "$work/third"
mv "$work/elsewhere" "$ws"
cd "$ws" || exit 1
say "$ostiary" apply moved --yes
record=$(grep -o 'ostiary undo [0-9]*' "$work/err" | grep -o '[0-9]*$')
same 'moved back, apply is right again' "$code $(cat file new) $(ls old 2>/dev/null)" $'0 two\nnew '
mv "$ws" "$work/elsewhere"
cd /
bad 'undo when the workspace was moved' no '' "$ostiary" undo "$record"
mkdir "$ws" && echo 'of somebody else' >"$ws/file"
bad 'undo when another directory has its name' no '' "$ostiary" undo "$record"
rm -rf "$ws"
mv "$work/elsewhere" "$ws"
cd "$ws" || exit 1
say "$ostiary" undo
same 'moved back, undo is right again' "$code $(cat file old) $(ls new 2>/dev/null)" $'0 one\ngone '
fresh
start deleted 'echo two >file'
cd /
rm -rf "$ws"
bad 'diff when the workspace was deleted' no '' "$ostiary" diff deleted
bad 'apply when the workspace was deleted' no '' "$ostiary" apply deleted --yes
mkdir -p "$ws"

# --- layers ----------------------------------------------------------------------------------------------------------
fresh
start layers 'echo two >file; echo new >new'
mv "$upper" "$upper.away"
bad 'diff without its layer' no '' "$ostiary" diff layers
bad 'apply without its layer' no '' "$ostiary" apply layers --yes
mv "$upper.away" "$upper"
say "$ostiary" snapshot layers keep-me
same 'a snapshot of it' "$code" 0
frozen=$(find "$state/frozen" -mindepth 1 -maxdepth 1 -type d | head -n 1)
mv "$frozen" "$work/frozen.away"
bad 'diff without a frozen layer' no '' "$ostiary" diff layers
bad 'apply without a frozen layer' no '' "$ostiary" apply layers --yes
bad 'fork without a frozen layer' no '' "$ostiary" fork layers
bad 'run --from without its layer' no '' "$ostiary" run -q --from keep-me -- true
mv "$work/frozen.away" "$frozen"
list=$state/boxes/layers/stack
cp "$list" "$work/stack.good"
head -c 9 "$work/stack.good" >"$list"
bad 'diff with half a list of layers' no '' "$ostiary" diff layers
bad 'apply with half a list of layers' no '' "$ostiary" apply layers --yes
cp "$work/stack.good" "$list"
roots=$state/boxes/layers/roots
cp "$roots" "$work/roots.good"
head -c 12 "$work/roots.good" >"$roots"
bad 'diff with half a list of roots' no '' "$ostiary" diff layers
cp "$work/roots.good" "$roots"
say "$ostiary" apply layers --yes
same 'whole again, all of it is there' "$code $(cat file new)" $'0 two\nnew'

# --- a box that runs ----------------------------------------------------------------------------------------------------
fresh
timeout 600 "$ostiary" run -q --name busy --workspace "$ws" -- sh -c 'echo two >file; touch ready; sleep 500' </dev/null >"$work/in.out" 2>&1 &
busy=$!
is_ready() { [ -n "$(find "$state/boxes" -path '*/ws/upper/ready')" ]; }
within 60 is_ready
say "$ostiary" diff busy
[ "$code" = 0 ] && grep -q '^+two' "$work/out"
check 'diff of a running box tells what it wrote so far' $? "status $code $(cat "$work/out") $err"
say "$ostiary" apply busy file --yes
same 'apply of a running box takes what was asked for' "$code $(cat file)" '0 two'
say "$ostiary" undo
same 'and undo takes it back' "$code $(cat file)" '0 one'
"$ostiary" stop busy >/dev/null 2>&1
wait $busy

# --- names and sizes ---------------------------------------------------------------------------------------------------------
fresh
start names 'printf x >"$(printf "\377\376")"; mkdir "$(printf "\300")"; printf y >"$(printf "\300/in")"'
say "$ostiary" diff names "$(printf '\377\376')"
same 'a name that is no UTF-8 can be asked for' "$code" 0
say "$ostiary" apply names "$(printf '\300')" --yes
[ "$code" = 0 ] && [ "$(cat "$(printf '\300/in')")" = y ] && [ ! -e "$(printf '\377\376')" ]
check 'and applied alone' $? "status $code $err $(find . | cat -v | tr '\n' ' ')"
say "$ostiary" undo
[ "$code" = 0 ] && [ ! -e "$(printf '\300')" ]
check 'and taken back' $? "status $code $err"
say "$ostiary" diff names --json
"$python" -c 'import json, sys
t = open(sys.argv[1], encoding="utf-8").read()
try: json.loads(t)
except ValueError: [json.loads(l) for l in t.splitlines()]' "$work/out"
check 'and --json is JSON all the same' $? "$(head -c 200 "$work/out" | cat -v)"

fresh
start huge 'truncate -s 1T huge; echo end >>huge; echo two >file'
for words in '' --stat --json; do
	# shellcheck disable=SC2086
	bash "$top/tests/review/with_memory.sh" 500000 timeout 200 "$ostiary" diff huge $words </dev/null >"$work/out" 2>"$work/err"
	code=$?
	[ "$code" = 0 ] && grep -q huge "$work/out"
	check "a file of 1 TiB: diff $words" $? "status $code $(tail -n 2 "$work/err")"
done
bash "$top/tests/review/with_memory.sh" 500000 timeout 300 "$ostiary" apply huge file --yes </dev/null >"$work/out" 2>"$work/err"
same 'beside it, a small one lands' "$(cat file)" two
bash "$top/tests/review/with_memory.sh" 500000 timeout 300 "$ostiary" apply huge huge --yes </dev/null >"$work/out" 2>"$work/err"
code=$?
if [ -e huge ]; then
	[ "$(stat -c %s huge)" = 1099511627780 ] && [ "$(tail -c 4 huge)" = end ] && [ "$(stat -c %b huge)" -lt 10000 ]
	check 'it lands with its hole' $? "$(stat -c '%s bytes %b blocks' huge)"
else
	[ "$code" != 0 ] && [ "$code" -lt 124 ] && [[ $(cat "$work/err" "$work/out") == *huge* ]]
	check 'it is refused in a sentence' $? "status $code $(tail -n 2 "$work/err")"
fi
rm -f huge

# --- a full disk -----------------------------------------------------------------------------------------------------------------
cat >"$work/full.sh" <<'FULL'
# In a mount namespace of its own: $1 workspace on 10 MB (both sides of the change fit: what was removed may take a
# moment to give its space back, while the kernel still takes the box's mounts apart), $2 state on 400 MB. Prints NAME=STATUS words.
set -u
ws=$1 state=$2 ostiary=$3
export XDG_STATE_HOME=$state
cd "$ws" || exit 99
sum() { (cd "$1" && find . -printf '%p %y %m %l\n' | LC_ALL=C sort && find . -type f ! -name fill -exec cksum {} + | LC_ALL=C sort) | grep -v './fill' | cksum; }
result() { # name, status, words
	printf '%s\t%s\t%s\n' "$1" "$2" "$(printf '%s' "${3:-}" | tr '\n\t' '| ' | tail -c 250)"
}
echo one >file; head -c 3000000 /dev/urandom >large; mkdir dir; echo in >dir/in
"$ostiary" run -q --name full --workspace "$ws" -- sh -c 'echo two >file; rm large; head -c 3000000 /dev/zero >zz-a; head -c 3000000 /dev/zero >zz-b; echo last >zz-c' </dev/null >/dev/null 2>&1
upper=$(find "$state" -path '*/layers/ws/upper' | head -n 1)
before=$(sum .) box=$(sum "$upper")
head -c 5900000 /dev/zero >fill
said=$("$ostiary" apply full --yes 2>&1 </dev/null); code=$?
case $code in 0) r=1 ;; *) r=0 ;; esac
result 'apply on a full disk fails, and says so' $r "status $code $said"
case $said in *[Ss]pace*|*full*) r=0 ;; *) r=1 ;; esac
result 'with the reason' $r "$said"
[ "$box" = "$(sum "$upper")" ]; result 'the box is as before' $? ''
[ -z "$(find . -name '*ostiary*' -o -name '.*.tmp*' -o -name '*~')" ]; result 'no temporary file is left' $? "$(find .)"
said=$("$ostiary" undo 2>&1 </dev/null); code=$?
rm -f fill
[ "$before" = "$(sum .)" ] || said="$said $("$ostiary" undo 2>&1 </dev/null)"
[ "$before" = "$(sum .)" ]; result 'undo takes back the part that was done' $? "status $code $said $(find . -type f -printf '%p %s ')"
said=$("$ostiary" apply full --yes 2>&1 </dev/null); code=$?
[ "$code" = 0 ] && [ "$(cat file zz-c)" = "two
last" ] && [ ! -e large ]; result 'with space again, apply is right' $? "status $code $said"
after=$(sum .)
head -c 12000000 /dev/zero >fill 2>/dev/null
said=$("$ostiary" undo 2>&1 </dev/null); code=$?
middle=$(sum .)
rm -f fill
if [ "$code" = 0 ]; then
	result 'undo on a full disk' $([ "$before" = "$middle" ]; echo $?) "$said"
else
	case $said in *[Ss]pace*|*full*) r=0 ;; *) r=1 ;; esac
	result 'undo on a full disk says so' $r "$said"
	said=$("$ostiary" history 2>&1; "$ostiary" undo 2>&1 </dev/null); code=$?
	[ "$before" = "$(sum .)" ] || said="$said; $("$ostiary" history 2>&1; "$ostiary" undo 1 2>&1 </dev/null)"
	[ "$before" = "$(sum .)" ]; result 'with space again, undo is right' $? "status $code $said $(find . -type f -printf '%p %s ')"
fi
# The disk of the state.
box=$(sum "$upper"); told=$("$ostiary" diff full --name-only 2>&1 </dev/null)
now=$(sum .)
head -c 900000000 /dev/zero >"$state/fill" 2>/dev/null
for i in 1 2 3 4 5 6 7 8; do mkdir "$state/fill.$i" 2>/dev/null || break; head -c 4096 /dev/zero >>"$state/fill" 2>/dev/null; done
said=$("$ostiary" snapshot full later 2>&1 </dev/null); code=$?
if [ $code != 0 ]; then
	case $said in *[Ss]pace*|*full*) r=0 ;; *) r=1 ;; esac
	result 'snapshot on a full disk says so' $r "$said"
else
	result 'snapshot needs no space to speak of' 0 ''
fi
said=$("$ostiary" apply full --yes 2>&1 </dev/null); code=$?
if [ $code != 0 ]; then
	[ "$now" = "$(sum .)" ]; result 'apply without space for undo does nothing' $? "status $code $said"
else
	result 'apply had space for undo' 0 ''
fi
rm -rf "$state/fill" "$state"/fill.*
if [ "$now" = "$(sum .)" ]; then
	[ "$told" = "$("$ostiary" diff full --name-only 2>&1 </dev/null)" ]
	result 'with space again, the same changes are pending' $? "$("$ostiary" diff full --name-only 2>&1 </dev/null)"
	said=$("$ostiary" apply full --yes 2>&1 </dev/null); code=$?
	[ "$(sum .)" = "$after" ]; result 'and land' $? "status $code $said"
fi
FULL
enter=(unshare -m)
[ "$(id -u)" = 0 ] || enter=(unshare -Um "--map-user=$(id -u)" "--map-group=$(id -g)" --keep-caps)
mkdir -p "$work/small-ws" "$work/small-state"
"${enter[@]}" sh -c 'mount -t tmpfs -o size=10M,mode=700 small "$1" && mount -t tmpfs -o size=400M,mode=700 small "$2" || exit 99
	if [ "$(id -u)" = 0 ]; then exec bash "$4" "$1" "$2" "$3"; fi
	exec setpriv --ambient-caps=-all --inh-caps=-all bash "$4" "$1" "$2" "$3"' - "$work/small-ws" "$work/small-state" "$ostiary" "$work/full.sh" \
	>"$work/full.out" 2>"$work/full.err"
status=$?
if [ $status = 99 ] || { [ $status = 1 ] && [ ! -s "$work/full.out" ]; }; then
	skip 'a full disk' "no small filesystem can be mounted here: $(tail -n 1 "$work/full.err")"
else
	while IFS=$'\t' read -r name status words; do check "full disk: $name" "$status" "$words"; done <"$work/full.out"
	[ -s "$work/full.out" ]
	check 'the full disk was tried' $? "$(tail -n 3 "$work/full.err")"
fi
exit $bad
