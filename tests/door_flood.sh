#!/bin/bash
# suite: test=any soak=any timeout=240
# tier: once, as root where we are: only root may weigh the door's processes, which have the same rights either way; longer floods in soak
# shellcheck disable=SC2317 # the parts are called by name
# door_flood.sh - programs and origins that mean to stop or bloat the door of a box that has secrets. Beside each attack an
# honest program asks: every one of its requests is answered, no role dies, and the memory of all roles stays below
# a bound. Nothing here looks at a clock: how long a turn was is counted by the door itself, in bytes and steps, and told
# in the log at the end. `make bench` has the waits.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
. tests/lib_door.sh
. tests/lib_tier.sh
door_needs door_flood openssl /usr/bin/python3
honest=$(by_tier 6 40)
many=$(by_tier 4000 100000)
door_ca
# A certificate that is all names: nobody has to read it.
door_cert many "DNS:cert.example.test$(printf ',DNS:n%05d.example.test' $(seq 1 4500))"
cat "$work/many.pem" "$work/many.pem" "$work/many.pem" "$work/ca.pem" >"$work/chain.pem"
origin() { # name, arguments: its port in $work/NAME.port
	local name=$1
	shift
	/usr/bin/python3 "$top/tests/door/flood_origin.py" "$@" >"$work/$name.port" 2>"$work/$name.err" &
	door_pids+=($!)
	within 60 test -s "$work/$name.port"
	check "the origin is up: $name" $? "$(cat "$work/$name.err")"
}
origin flood h1
origin honest h1
origin h2 h2 "$work/origin.pem" "$work/origin.key"
origin cert h1 "$work/chain.pem" "$work/many.key"
port() { cat "$work/$1.port"; }
export FLOOD_KEY='sk-flood-Zq9AbCEfGhjKlMnOpQrStUvWx00777'
door_box flood --secret "FLOOD_KEY@api.example.test" \
	--allow "$(plain_rule '*' flood.example.test "$(port flood)")" --allow "$(plain_rule '*' honest.example.test "$(port honest)")" \
	--allow "$(tls_rule '*' h2.example.test "$(port h2)")" --allow "$(tls_rule '*' tls.example.test "$(port h2)")" \
	--allow "$(tls_rule '*' cert.example.test "$(port cert)")" \
	--allow "$(plain_rule '*' api.example.test "$(port flood)")" \
	--deny '* form.example.test form:Action=Delete*' --deny '* form.example.test body:xml/action=Delete*' \
	--deny '* form.example.test json:/a/b=c' --deny '* form.example.test/private/**' --deny '* form.example.test/x/*/y q:b=c' \
	--allow "$(plain_rule 'GET,POST' form.example.test "$(port flood)")" \
	--allow "$(plain_rule '*' body.example.test "$(port flood)") json:/a=b" >/dev/null
check "a box with a secret starts" $?
cp tests/door/flood_client.py tests/door/flood_bodies.py tests/door/h2raw.py "$work/ws/"
in_box flood /usr/bin/python3 flood_client.py none:any:1 1 >/dev/null 2>&1 # which opens the door

sup=$("$ostiary" ps --json | /usr/bin/python3 -c 'import json, sys; print([b["supervisor_pid"] for b in json.load(sys.stdin)["data"] if b["id"] == "flood"][0])')
roles() {
	local p
	# shellcheck disable=SC2013
	for p in $(cat "/proc/$sup/task/$sup/children"); do
		echo "$p $(cat "/proc/$p/comm")"
	done | grep -E 'ostiary-(egress|dial|keeper|audit|witness)' | sort | tr '\n' ' '
}
before=$(roles)
same "the roles of the door run" "$(echo "$before" | tr ' ' '\n' | grep -cE 'egress|dial|keeper|audit')" 4
# weigh: KiB that all of them have for themselves.
weigh() {
	local p
	for p in $(echo "$before" | tr ' ' '\n' | grep -E '^[0-9]+$'); do cat "/proc/$p/smaps_rollup"; done 2>/dev/null |
		awk '/^Private_/ { s += $2 } END { print s + 0 }'
}
is_weighed=
{ [ "$(id -u)" = 0 ] && [ "${VARIANT:-release}" != asan ]; } && is_weighed=1
heaviest=0
# flood WORDS MIB SPEC: the attack, in the box; what the roles weigh meanwhile is looked at again and again.
flood() {
	local words=$1 most=$2 now top_kib=0 got
	shift 2
	mkfifo "$work/hold.$$" 2>/dev/null
	timeout -k 2 600 "$ostiary" exec flood -- /usr/bin/python3 flood_client.py "$1" "$honest" stay <"$work/hold.$$" >"$work/flood.out" 2>"$work/flood.err" &
	local pid=$!
	exec 8>"$work/hold.$$"
	while kill -0 "$pid" 2>/dev/null && ! grep -q '^answered' "$work/flood.out"; do
		now=$([ -z "$is_weighed" ] || weigh)
		[ "${now:-0}" -le "$top_kib" ] || top_kib=$now
		sleep 0.05
	done
	now=$([ -z "$is_weighed" ] || weigh)
	[ "${now:-0}" -le "$top_kib" ] || top_kib=$now
	exec 8>&-
	wait "$pid"
	got=$(cat "$work/flood.out")
	case $got in
	"answered $((2 * honest)) of "*) check "$words: everybody else is answered" 0 ;;
	*) check "$words: everybody else is answered" 1 "$got $(tail -n 2 "$work/flood.err")" ;;
	esac
	echo "# $words: $got, at most $top_kib KiB"
	[ -z "$is_weighed" ] || {
		[ "$top_kib" -le $((most * 1024)) ]
		check "$words: all roles together have less than $most MiB" $? "$top_kib KiB"
	}
	[ "$top_kib" -le "$heaviest" ] || heaviest=$top_kib
	[ "$(roles)" = "$before" ]
	check "$words: no role has ended" $? "$(roles), before: $before"
}

# floods WORDS MIB SPEC...: all of them at once in `make test`; each alone, and longer, in `make soak`.
floods() {
	local words=$1 most=$2 spec
	shift 2
	if is_soak; then
		for spec; do flood "$words, $spec" "$most" "$spec"; done
	else
		flood "$words" "$most" "$(IFS=, && echo "$*")"
	fi
}

coded="nested thrice members members-bare blocks br zstd zstd-long"
codings() {
	local kind up=() down=()
	for kind in $coded; do
		up+=("post:$kind:$(by_tier 2 8)")
		down+=("get:$kind:$(by_tier 2 8)")
	done
	floods "requests in hostile codings" 64 "${up[@]}"
	floods "answers in hostile codings" 64 "${down[@]}"
	same "three codings are refused" "$(in_box flood /usr/bin/python3 flood_client.py post:thrice:1 0 2>&1)" "answered 0 of 0; attack 415=1"
}
# magic: what looks like the beginning of something packed, and is none, costs no more than its length.
magic() {
	local kind
	for kind in eight magic-zstd magic-gzip magic-head magic-zip; do
		same "a body of nothing but magic passes, both ways: $kind" \
			"$(in_box flood /usr/bin/python3 flood_client.py "post:$kind:1,get:$kind:1" 1 2>&1)" "answered 2 of 2; attack 200=2"
		in_box flood /usr/bin/python3 flood_client.py "gone:$kind:1" 1 >/dev/null 2>&1
	done
	# An exchange is in the log when it is over.
	# shellcheck disable=SC2016
	within 60 bash -c '[ "$("$1" log flood | grep -cE "(GET|POST) .*example.test/(eight|magic-)")" = 15 ]' - "$ostiary"
	check "they end also when the program has gone" $? "$("$ostiary" log flood | grep -cE '(GET|POST) .*example.test/(eight|magic-)')"
}
windows() {
	local n
	n=$(by_tier 60 400)
	flood "requests that pin windows of brotli" 64 "hold:br:$n"
	flood "requests that pin windows of zstd" 64 "hold:zstd:$n"
	floods "answers that pin windows" 64 "unread:hold-br:$n" "unread:hold-zstd:$n"
	grep -q '503=' "$work/flood.out"
	check "an answer that there is no memory for is a 503" $? "$(cat "$work/flood.out")"
	flood "answers that grow and that nobody reads" 64 "unread:zstd-long:$n"
	in_box flood /usr/bin/python3 flood_client.py get:br:1 1 >"$work/after" 2>&1
	same "afterwards there is memory again" "$(cat "$work/after")" "answered 2 of 2; attack 200=1"
}
# held: what is held for somebody is asked for before it grows. Beyond the account the one request hears so.
held() {
	flood "answers with tokens that come to no end" 64 "lend:any:600"
	[ "$(status_n 503)" -ge 300 ]
	check "those that there is no memory for are 503" $? "$(cat "$work/flood.out")"
	local kind
	for kind in head trailer packed body; do
		flood "requests that come to no end: $kind" 64 "unfinished:$kind:$(by_tier 400 1500)"
	done
	in_box flood /usr/bin/python3 flood_client.py get:br:1 1 >"$work/after" 2>&1
	same "afterwards there is memory for others" "$(cat "$work/after")" "answered 2 of 2; attack 200=1"
}
# conditions: bodies and heads that many conditions look into are read once, and a bounded number of times.
conditions() {
	flood "forms of very many fields" 64 "form:fields+names+semi+values+parts:$(by_tier 1 4)"
	is_soak || same "each of them is refused" "$(grep -o 'attack.*' "$work/flood.out")" "attack fields-403=1 names-403=1 parts-403=1 semi-403=1 values-403=1"
	flood "other bodies of very many values" 64 "form:amp+keys+deep+elements+roots:$(by_tier 1 4)"
	floods "heads that may be many requests" 64 heads:{override,list,query,path}:"$(by_tier 3 10)"
	same "a form of too many fields is refused in a sentence" "$(in_box flood /usr/bin/python3 -c '
import http.client
c = http.client.HTTPConnection("form.example.test", 80)
c.request("POST", "/form", "a&" * 5000, {"Content-Type": "application/x-www-form-urlencoded"})
r = c.getresponse()
print(r.status, b"more than 4096 fields" in r.read())' 2>&1)" "403 True"
}
slow() {
	floods "slow bodies, both ways" 64 "slow:up:$(by_tier 100 1000)" "get:slow:$(by_tier 50 500)"
	floods "chunks of one byte, both ways" 64 "chunks:up:$(by_tier 20000 300000)" "get:chunks:3"
}
idle() {
	flood "4096 idle connections" 96 "idle:any:4200"
	flood "idle TLS connections" 96 "idle-tls:any:$(by_tier 300 4200)"
}
frames() {
	floods "HTTP/2 frames from the box that carry nothing" 64 storm:{rapid-reset,ping,settings,continuation,bomb,empty}:"$many"
	floods "HTTP/2 frames from origins that carry nothing" 64 h2:{ping,settings,continuation,bomb,empty,window,interim,reset,trailers}:3
	flood "WebSocket pings, both ways" 64 "ws:any:$many"
}
heads() {
	floods "heads without end from the box" 64 "head:many:$many" head:long:1000000
	floods "heads, interim answers and trailers without end from origins" 64 get:{head,line,interim,trailers}:5
	flood "certificates without end" 64 cert:any:5
	grep -q "502=5" "$work/flood.out"
	check "are refused" $? "$(cat "$work/flood.out")"
	flood "objects of many keys" 64 "json:any:$(by_tier 50000 60000)"
}
# rules: a rule and a revocation count at once, however busy the door is.
rules() {
	timeout -k 2 600 "$ostiary" exec flood -- /usr/bin/python3 flood_client.py get:members:40 20 </dev/null >"$work/busy.out" 2>&1 &
	local pid=$!
	"$ostiary" allow flood 'GET new.example.test' >/dev/null 2>"$work/rule.err" && "$ostiary" deny flood 'GET new.example.test' >/dev/null 2>>"$work/rule.err"
	check "rules change under a flood" $? "$(cat "$work/rule.err")"
	"$ostiary" revoke flood FLOOD_KEY >/dev/null 2>"$work/rule.err"
	check "a secret is revoked under a flood" $? "$(cat "$work/rule.err")"
	wait "$pid"
	check "and the others are answered" $? "$(cat "$work/busy.out")"
}
# status_n STATUS: how often the last attack got it.
status_n() { sed -n "s/.* $1=\([0-9]*\).*/\1/p" "$work/flood.out" | grep . || echo 0; }
run_parts codings magic windows held conditions slow idle frames heads rules

# --- what the door counted ----------------------------------------------------------------------------------------------

"$ostiary" stop flood >/dev/null 2>&1
"$ostiary" log flood --kind door >"$work/sum" 2>&1
sum=$(grep -o 'longest turn.*' "$work/sum" | tail -n 1)
echo "# $sum"
number() { echo "$sum" | sed -n "s/.*$1 \([0-9]*\).*/\1/p"; }
[ "$(number 'longest turn')" -le $((320 << 10)) ]
check "no turn moved more than 320 KiB" $? "$sum"
[ "$(number 'bytes and')" -le 9000 ]
check "no turn had more than 9000 steps" $? "$sum"
[ "$(number 'memory at most')" -le $((44 << 20)) ]
check "the account was never overdrawn" $? "$sum"
[ "$(number 'refused')" -gt 0 ]
check "and said no when it was full" $? "$sum"
exit $bad
