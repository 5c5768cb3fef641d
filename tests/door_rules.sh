#!/bin/bash
# suite: test=root,user soak=root,user timeout=500
# tier: root reaches a second machine and may look into roles; 1,000 rule changes under load in test, 10,000 in soak
# door_rules.sh - who decides what a box may reach, and when: layers, flags, levels, a project's own file, rules
# that change while it runs, questions, what is learnt, and what becomes of the box when the door breaks.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
. tests/lib_door.sh
. tests/lib_tier.sh
door_needs door_rules curl openssl /usr/sbin/nginx python3
door_ca && door_nginx
check "origins are up" $? "$(cat "$work/nginx.err")"
mkdir -p "$work/home/.config/ostiary"
user_policy=$work/home/.config/ostiary/policy
to=to=127.0.0.1:$nginx_plain
status() { # box, url, more of curl: the status
	local b=$1 url=$2
	shift 2
	in_box "$b" curl -s -m 60 -o /dev/null -w '%{http_code}' "$@" "$url" 2>/dev/null
}
json() { python3 -c "import json, sys; d = json.load(sys.stdin); d = d[\"data\"] if \"ostiary\" in d else d; print($1)"; }

# --- layers ----------------------------------------------------------------------------------------

cat >"$user_policy" <<-POLICY
	# mine
	deny! * hard.example.test
	deny  * refused.example.test reason="not here"
	allow GET user.example.test $to
	allow GET both.example.test $to
POLICY
cat >"$work/more.policy" <<-POLICY
	allow GET file.example.test $to
	deny  * both.example.test
POLICY
(cd "$work" && "$ostiary" create -q -w ws --name layers2 --level strict --policy more.policy \
	--allow "GET both.example.test $to" --allow "GET flag.example.test $to" --deny 'GET flag.example.test/hello') >/dev/null
same "your own file counts" "$(status layers2 http://user.example.test/hello)" 200
same "--policy counts" "$(status layers2 http://file.example.test/hello)" 200
same "--allow wins over both" "$(status layers2 http://both.example.test/hello)" 200
same "--deny wins over --allow" "$(status layers2 http://flag.example.test/hello)" 403
same "and only where it speaks" "$(status layers2 http://flag.example.test/name)" 200
same "strict refuses what no line speaks of" "$(status layers2 http://other.example.test/)" 403
holds "a refusal says which line, why, and what would allow it" \
	"$(in_box layers2 curl -s -m 60 http://refused.example.test/x)" "denied by user policy:3"
holds "its reason too" "$(in_box layers2 curl -s -m 60 http://refused.example.test/x)" "not here"
holds "and the command" "$(in_box layers2 curl -s -m 60 http://refused.example.test/x)" "ostiary allow layers2 'GET refused.example.test/x'"
same "rules lists every layer" "$("$ostiary" rules layers2 --json | json '[r["layer"].split("/")[-1] for r in d["rules"] if r["layer"].split("/")[-1] in ("--deny", "--allow", "more.policy", "user policy")]')" \
	"['--deny', '--allow', '--allow', 'more.policy', 'more.policy', 'user policy', 'user policy', 'user policy', 'user policy']"
holds "why names the line" "$("$ostiary" why layers2 'GET http://user.example.test/x')" "allowed by user policy:4"
holds "policy check --box says the same" "$("$ostiary" policy check 'GET http://user.example.test/x' --box layers2)" "user policy:4"
"$ostiary" why layers2 'GET http://other.example.test/x' >/dev/null
same "why exits 1 for a refusal" $? 1
"$ostiary" rm -f layers2 >/dev/null

# --- while it runs ---------------------------------------------------------------------------------

door_box live >/dev/null
same "before: refused" "$(status live http://a.example.test/hello)" 403
"$ostiary" allow live "GET a.example.test $to" >/dev/null
same "allow is in force when it returns" "$(status live http://a.example.test/hello)" 200
"$ostiary" deny live 'GET a.example.test/hello' >/dev/null
same "the newest rule wins" "$(status live http://a.example.test/hello)" 403
"$ostiary" deny --undo live 'GET a.example.test/hello' >/dev/null
same "and can be taken back" "$(status live http://a.example.test/hello)" 200
out=$("$ostiary" allow live 'GET hard.example.test' 2>&1)
same "a deny! cannot be overridden" "$? $(grep -c 'user policy:2 says deny!' <<<"$out")" "122 1"
before=$("$ostiary" rules live --json)
out=$("$ostiary" allow live 'GTE a.example.test' 2>&1)
holds "a rule with a typo is refused, with its column" "$out" "column 7"
out=$("$ostiary" allow live 'secret X from env at a.example.test as bearer' 2>&1)
holds "a secret is no rule of run time" "$out" "granted when a box starts"
out=$("$ostiary" allow live "GET a.example.test ca=/nonexistent.pem" 2>&1)
holds "a missing ca= file is told" "$out" "ca=/nonexistent.pem"
same "and nothing changed" "$("$ostiary" rules live --json)" "$before"
"$ostiary" stop live >/dev/null
same "a box that was stopped still has its rules" "$(status live http://a.example.test/hello)" 200
"$ostiary" stop live >/dev/null
"$ostiary" deny live a.example.test >/dev/null
same "and takes more while it sleeps" "$(status live http://a.example.test/hello)" 403
"$ostiary" deny --undo live a.example.test >/dev/null

# One connection, kept open; each change must hold for the very next request on it.
cat >"$work/ws/asker.py" <<-'PY'
	import http.client, sys
	c = http.client.HTTPConnection("a.example.test", timeout=100)
	for line in sys.stdin:
	    c.request("GET", "/hello")
	    r = c.getresponse()
	    r.read()
	    print(r.status, flush=True)
PY
"$ostiary" cp "$work/ws/asker.py" live:/tmp/asker.py >/dev/null 2>&1
coproc ASK { "$ostiary" exec live -- python3 /tmp/asker.py 2>/dev/null; }
wrong=''
for i in $(seq 40); do
	if [ $((i % 2)) = 1 ]; then want=403 && "$ostiary" deny live 'GET a.example.test/hello' >/dev/null; else
		want=200 && "$ostiary" deny --undo live 'GET a.example.test/hello' >/dev/null
	fi
	echo >&"${ASK[1]}"
	read -r -t 100 got <&"${ASK[0]}"
	[ "$got" = $want ] || wrong="$wrong $i:$got"
done
eval "exec ${ASK[1]}>&-"
wait "$ASK_PID" 2>/dev/null
same "each of 40 changes holds for the next request on an open connection" "$wrong" ''

# Under load: two clients ask all the time, and nothing but 200 and 403 is ever seen.
in_box_time=500 in_box live sh -c 'end=$(($(date +%s) + 400)); while [ $(date +%s) -lt $end ] && [ ! -e /tmp/enough ]; do curl -s -m 60 -w "%{http_code}\n" -o /dev/null http://a.example.test/0 -o /dev/null http://a.example.test/hello; done' >"$work/load1" 2>&1 &
load=$!
answered() { wc -l <"$work/load1"; }
has_begun() { [ "$(answered)" -ge 1 ]; }
within 60 has_begun
begun=$(answered) changes=$(by_tier 1000 10000)
change() { timeout 360 python3 -B tests/door/changes.py "$work/home/.local/state/ostiary/boxes/live/ctl" "$1" a.example.test 2>&1; }
figures=$(change "$changes")
check "$changes changes under load, each confirmed" $? "$figures"
# A thousand changes may be over before a client has asked ten times: they go on until it has.
for i in $(seq 100); do
	[ $(($(answered) - begun)) -lt 10 ] || break
	change 200 >/dev/null
done
during=$(($(answered) - begun))
in_box live touch /tmp/enough
wait $load
echo "# a change is in force after (us): median, 99th percentile, maximum: $figures"
same "no request saw half a policy" "$(sort -u "$work/load1" | grep -vE '^(200|403|404)$' | tr '\n' ' ')" ''
[ "$during" -ge 10 ]
check "requests went on meanwhile" $? "$during were answered"

# --- files that break ------------------------------------------------------------------------------

before=$("$ostiary" rules live --json | json 'd["rules"]')
cp "$user_policy" "$work/good"
printf 'allow GET user.example.test\nalow * x.example.test\n' >"$user_policy"
out=$("$ostiary" policy reload live 2>&1)
holds "a broken file is told with line and column" "$out" "user policy, line 2, column 1"
same "and changes nothing" "$("$ostiary" rules live --json | json 'd["rules"]')" "$before"
out=$("$ostiary" run -q -w none -- true 2>&1)
holds "no box is started with it" "$out" "user policy, line 2, column 1"
(cat "$work/good" && echo "allow GET fresh.example.test $to") >"$user_policy"
"$ostiary" policy reload live >/dev/null
same "a good one counts after reload" "$(status live http://fresh.example.test/hello)" 200
rm "$user_policy"
"$ostiary" policy reload live >/dev/null
same "one that was removed counts no more" "$(status live http://fresh.example.test/hello)" 403
cp "$work/good" "$user_policy"
cp "$work/more.policy" "$work/gone.policy"
"$ostiary" create -q -w none --name gone --level strict --policy "$work/gone.policy" >/dev/null
rm "$work/gone.policy"
same "a --policy file that vanished still counts" "$(status gone http://file.example.test/hello)" 200
out=$("$ostiary" policy reload gone 2>&1)
holds "reload says that it is gone" "$out" "gone.policy"
same "and nothing changed" "$(status gone http://file.example.test/hello)" 200
"$ostiary" rm -f gone >/dev/null

# --- a project's own rules -------------------------------------------------------------------------

mkdir -p "$work/project"
echo 'deny * user.example.test' >"$work/project/.ostiary"
out=$("$ostiary" explain -w "$work/project" -- true 2>&1 | tr -s ' \n' ' ')
holds "an untrusted .ostiary is named" "$out" "ostiary trust $work/project"
holds "also at the start" "$("$ostiary" run -w "$work/project" -- true 2>&1)" "ostiary trust $work/project"
"$ostiary" create -q -w "$work/project" --name project --level strict >/dev/null
same "and does not count" "$(status project http://user.example.test/hello)" 200
holds "trust shows what it says" "$("$ostiary" trust "$work/project")" "deny * user.example.test"
"$ostiary" policy reload project >/dev/null
same "once trusted it counts" "$(status project http://user.example.test/hello)" 403
echo 'allow * other.example.test' >>"$work/project/.ostiary"
"$ostiary" policy reload project >/dev/null
same "after a change it counts no more" "$(status project http://user.example.test/hello)" 200
"$ostiary" trust "$work/project" >/dev/null && "$ostiary" policy reload project >/dev/null
same "a project cannot widen" "$(status project http://other.example.test/hello)" 403
echo "allow * other.example.test $to" >"$work/project/.ostiary"
out=$("$ostiary" trust "$work/project" 2>&1)
holds "nor redirect" "$out" "may not say to="
"$ostiary" rm -f project >/dev/null

# --- questions -------------------------------------------------------------------------------------

has_question() { [ "$("$ostiary" approvals ask --json | json 'len(d)')" = "${1:-1}" ]; }
question() { "$ostiary" approvals ask --json | json 'd[0]["id"]'; }
door_box ask --allow "ask GET ask.example.test $to" >/dev/null
status ask http://ask.example.test/hello >"$work/asked" &
asking=$!
within 60 has_question
check "a request that an ask rule speaks of waits" $? "$("$ostiary" approvals ask)"
holds "approvals says what" "$("$ostiary" approvals)" "ask.example.test/hello"
"$ostiary" approve "$(question)" >/dev/null
wait $asking
same "approved, it passes" "$(cat "$work/asked")" 200
within 60 has_question 0
check "and waits no more" $? "$("$ostiary" approvals)"
status ask http://ask.example.test/hello >"$work/asked" &
asking=$!
within 60 has_question
id=$(question)
"$ostiary" refuse "$id" >/dev/null
wait $asking
same "refused, it does not" "$(cat "$work/asked")" 403
out=$("$ostiary" approve "$id" 2>&1)
holds "an answer nobody waits for is told" "$out" "nobody waits"
status ask http://ask.example.test/hello >"$work/asked" &
asking=$!
within 60 has_question
"$ostiary" approve --always "$(question)" >/dev/null
wait $asking
holds "--always adds the rule, with where it leads" "$("$ostiary" rules ask)" "allow GET ask.example.test to=127.0.0.1"
same "and it is not asked again" "$(status ask http://ask.example.test/hello)" 200
out=$("$ostiary" approve nonsense 2>&1)
same "an ID that is none is bad usage" $? 64
"$ostiary" rm -f ask >/dev/null

(cd "$work/ws" && "$ostiary" create -q --name easy --allow "GET known.example.test $to") >/dev/null
same "easy: what a rule allows passes" "$(status easy http://known.example.test/hello)" 200
same "easy: the rest is refused where nobody is attached" "$(status easy http://unknown.example.test/)" 403
holds "why says so" "$("$ostiary" why easy 'GET http://unknown.example.test/')" "level easy"
if has script; then
	has_question() { [ "$("$ostiary" approvals easy --json | json 'len(d)')" = "${1:-1}" ]; }
	# Somebody who types nothing: a pipe that both ends of are ours, so that nobody has to wait for its writer.
	mkfifo "$work/keys"
	exec 9<>"$work/keys"
	script -qec "$ostiary exec -t easy -- curl -s -m 60 http://unknown.example.test/" "$work/typescript" <&9 9>&- >/dev/null 2>&1 &
	asking=$!
	within 60 has_question
	check "easy: somebody at a terminal is asked" $? "$(tail -c 300 "$work/typescript")"
	"$ostiary" refuse "$("$ostiary" approvals easy --json | json 'd[0]["id"]')" >/dev/null 2>&1
	told() { tr -d '\r' <"$work/typescript" | grep -q 'allow "GET http://unknown.example.test/"? Ctrl-\] y n'; }
	within 60 told
	check "and told how to answer" $? "$(tail -c 300 "$work/typescript")"
	kill $asking 2>/dev/null
	wait $asking 2>/dev/null
	exec 9>&-
else
	skip "easy: somebody at a terminal is asked" "script is missing"
fi
"$ostiary" rm -f easy >/dev/null

# --- learning --------------------------------------------------------------------------------------

door_box learn --allow "GET known.example.test $to" --allow "GET broken.example.test to=127.0.0.1:1" >/dev/null
for p in /r1 /r2; do status learn "http://mixed.example.test$p" >/dev/null; done
status learn http://mixed.example.test/w -d y=1 >/dev/null
status learn http://mixed.example.test/r2 -X DELETE >/dev/null
status learn http://broken.example.test/x >/dev/null
for p in /a /b; do status learn "http://one.example.test$p" >/dev/null; done
for p in 1 2 3 4 5 6; do status learn "http://many.example.test/api/v1/$p" >/dev/null; done
status learn http://known.example.test/hello >/dev/null
status learn http://post.example.test/x -d y=1 >/dev/null
status learn http://port.example.test:80/x >/dev/null
same "learn prints the fewest rules, each path with its own methods" "$("$ostiary" learn --refused learn | grep -v '^#' | sort)" "$(printf '%s\n' \
	'allow GET many.example.test/api/v1/**' 'allow GET one.example.test/a' 'allow GET one.example.test/b' \
	'allow GET port.example.test/x' 'allow POST post.example.test/x' 'allow GET mixed.example.test/r1' \
	'allow DELETE,GET mixed.example.test/r2' 'allow POST mixed.example.test/w' | sort)"
holds "and knows what never worked" "$("$ostiary" learn learn)" "# never worked: GET broken.example.test:80/x ("
never=$("$ostiary" learn learn --json | python3 -c 'import json, sys; print([(u["method"], u["host"], u["path"]) for u in json.load(sys.stdin)["data"]["never_worked"]])')
holds "also for programs" "$never" "('GET', 'broken.example.test', '/x')"
"$ostiary" learn --refused learn >"$work/learnt"
"$ostiary" policy check --policy "$work/learnt" >/dev/null
check "which can be read" $? "$(cat "$work/learnt")"
holds "why without a request tells of the last refusal" "$("$ostiary" why learn)" "port.example.test"
"$ostiary" rm -f learn >/dev/null
(cd "$work/ws" && "$ostiary" create -q --name free --level learn --deny 'refused.example.test') >/dev/null
same "learn: a deny still holds" "$(status free http://refused.example.test/)" 403
same "learn: a private address still needs a rule" "$([ "$(status free http://127.0.0.1/)" = 200 ] || echo refused)" refused
"$ostiary" rm -f free >/dev/null

# A public address of our own: a second machine at the other end of a cable, both in namespaces that end with us.
cat >"$work/public.sh" <<-'SH'
	unshare -n sleep 300 &
	far=$!
	trap 'kill $far' EXIT
	until ! [ /proc/self/ns/net -ef /proc/$far/ns/net ]; do sleep 0.02; done
	ip link set lo up && ip link add near type veth peer name far netns $far || exit 77
	ip addr add 11.0.0.1/24 dev near && ip link set near up
	nsenter -t $far -n sh -c 'ip addr add 11.0.0.2/24 dev far; ip link set far up; ip link set lo up'
	nsenter -t $far -n python3 -m http.server -d "$work/www" --bind 11.0.0.2 80 >/dev/null 2>&1 &
	server=$!
	trap 'kill $far $server' EXIT
	for i in $(seq 1000); do (exec 3<>/dev/tcp/11.0.0.2/80) 2>/dev/null && break || sleep 0.05; done
	cd "$work/ws" || exit 1
	"$ostiary" run -q --keep -n public --level learn -- curl -s -m 60 -o /dev/null -w '%{http_code}\n' http://11.0.0.2/hello
	"$ostiary" run -q --level strict -- curl -s -m 60 -o /dev/null -w '%{http_code}\n' http://11.0.0.2/hello
	"$ostiary" learn public
SH
if [ "$(id -u)" = 0 ] && has ip && has nsenter; then
	out=$(env work="$work" ostiary="$ostiary" timeout 240 unshare -n bash "$work/public.sh" 2>&1)
	if [ $? = 77 ]; then skip "learn: a public address passes" "no veth here"; else
		same "learn: a public address passes, is refused when strict, and becomes a rule" "$out" $'200\n403\nallow GET 11.0.0.2/hello'
	fi
	"$ostiary" rm -f public >/dev/null 2>&1
else
	skip "learn: a public address passes" "it takes root to make a second machine"
fi

# --- the end ---------------------------------------------------------------------------------------

out=$("$ostiary" run -w none --level strict -- curl -s -m 60 -o /dev/null http://never.example.test/x 2>&1)
holds "the end names the refused host and its cure" "$out" "refused: never.example.test; to allow it: --allow 'GET never.example.test/x'"
holds "the beginning says what is granted" "$out" "network: "

# supervisor BOX: its pid, or nothing: a box that is about to start has the number 0, which no kill may get.
supervisor() { "$ostiary" ps --json | json "*[b['supervisor_pid'] for b in d if b['id'] == '$1' and b['supervisor_pid']]"; }
# roles BOX: "role PID NAME" of each, by its supervisor; or in one line why there is none.
roles() {
	local sup p
	sup=$(supervisor "$1" 2>/dev/null)
	if [ -z "$sup" ]; then
		echo "box $1 does not run: $("$ostiary" ps -a 2>&1 | grep -E "^ostiary|$1")"
		return 1
	fi
	for p in $(cat /proc/"$sup"/task/"$sup"/children); do echo "role $p $(cat /proc/"$p"/comm 2>/dev/null)"; done
}
role_pid() { roles "$1" | awk -v name="ostiary-$2" '$1 == "role" && $3 == name { print $2; exit }'; }
for role in egress dial keeper; do
	door_box "die-$role" --allow "GET user.example.test $to" >/dev/null
	status "die-$role" http://user.example.test/hello >/dev/null
	pid=$(role_pid "die-$role" $role)
	same "ps calls $role by its whole name" "$(tr '\0' ' ' </proc/"$pid"/cmdline | sed 's/ *$//')" "ostiary-$role"
	# Attached when it dies: whoever comes later wakes the box. The word of the one before must not be taken for it.
	rm -f "$work/end"
	"$ostiary" exec "die-$role" -- sh -c 'echo up; exec sleep 300' >"$work/end" 2>&1 &
	attached=$!
	within 60 grep -q up "$work/end"
	if [ -z "$pid" ]; then
		check "$role runs" 1 "$(roles "die-$role")"
		kill $attached
		continue
	fi
	kill -9 "$pid"
	within 60 is_not_running "die-$role"
	check "when $role dies the box is stopped" $? "$(roles "die-$role" 2>&1)"
	wait $attached 2>/dev/null
	holds "and it is told ($role)" "$(cat "$work/end" <("$ostiary" ps -a --json))" "is gone"
	"$ostiary" rm -f "die-$role" >/dev/null 2>&1
done
door_box pause --on-door-fault pause --allow "GET user.example.test $to" >/dev/null
status pause http://user.example.test/hello >/dev/null
rm -f "$work/end"
"$ostiary" exec pause -- sh -c 'while :; do date +%s%N >/tmp/beat; sleep 0.05; done' >"$work/end" 2>&1 &
beating=$!
within 60 in_box pause test -s /tmp/beat
# A door that cannot answer for some seconds, because the machine is full, is not one that knows no names.
kill -STOP "$(role_pid pause egress)"
in_box pause sh -c 'echo asks; exec getent ahostsv4 user.example.test' >"$work/name" 2>&1 &
asking=$!
within 60 grep -q asks "$work/name"
sleep 6
kill -CONT "$(role_pid pause egress)"
wait $asking
check "an answer that takes some seconds is waited for" $? "$(cat "$work/name")"
kill -9 "$(role_pid pause egress)"
within 60 grep -q 'is paused' "$work/end"
check "--on-door-fault pause: the user is told" $? "$(cat "$work/end")"
is_still() { # what is told may be told before everything is stopped
	local first
	first=$(in_box pause cat /tmp/beat)
	sleep 1
	[ "$(in_box pause cat /tmp/beat)" = "$first" ]
}
within 60 is_still
check "the box stands still" $? "$(in_box pause cat /tmp/beat)"
same "and has no network" "$(status pause http://user.example.test/hello)" 000
out=$("$ostiary" allow pause x.example.test 2>&1)
holds "nor new rules" "$out" "closed for good"
"$ostiary" rm -f pause >/dev/null
wait $beating 2>/dev/null

door_box orphan >/dev/null 2>"$work/err"
check "a box to be orphaned starts" $? "$(cat "$work/err")"
same "its door answers" "$(status orphan http://x.example.test/)" 403
# Looked at once, and before anything is killed: what is missing is told with what became of the box.
had=$(roles orphan)
pids=$(awk '$1 == "role" && $3 ~ /^ostiary-(egress|dial|keeper|audit)$/ { print $2 }' <<<"$had")
[ "$(wc -w <<<"$pids")" = 4 ]
check "all four were there" $? "$had"
sup=$(supervisor orphan)
[ -z "$sup" ] || kill -9 "$sup"
all_gone() { for p in $pids; do [ ! -e "/proc/$p" ] || grep -q '^State:.Z' "/proc/$p/status" || return 1; done; }
within 60 all_gone
check "the roles die with the supervisor" $? "still there, of: $(tr "\n" " " <<<"$pids")"
"$ostiary" rm -f orphan >/dev/null 2>&1

if [ "$(id -u)" = 0 ]; then
	door_box held >/dev/null
	status held http://x.example.test/ >/dev/null
	odd=''
	for role in egress dial keeper; do
		pid=$(role_pid held $role)
		odd="$odd$(find "/proc/$pid/fd" -printf '%l\n' | grep -vE '^(socket:.*|anon_inode:.*|/dev/null|)$')"
		[ -s "/proc/$pid/environ" ] && [ -n "$(tr -d '\0' <"/proc/$pid/environ")" ] && odd="$odd environment of $role"
	done
	same "a role holds sockets and no file, and no environment" "$odd" ''
	"$ostiary" rm -f held >/dev/null
else
	skip "a role holds sockets and no file, and no environment" "only root may look"
fi

door_box quiet >/dev/null
in_box quiet true
# A process that fills the pool of authorities up comes and goes; a door would stay.
is_doorless() { roles quiet >"$work/had" && grep -q ostiary-init "$work/had" && ! grep -qvE 'ostiary-(init|audit|witness)$' "$work/had"; }
within 60 is_doorless
check "a box that uses no network has no door, only its log" $? "$(cat "$work/had")"
"$ostiary" rm -f quiet >/dev/null
exit $bad
