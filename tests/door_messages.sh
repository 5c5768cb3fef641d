#!/bin/bash
# suite: test=user soak=root,user timeout=180
# tier: the door is one process with the same rights for both users, so test runs it once
# door_messages.sh - rules that look into the messages of a WebSocket, with a real library at both ends: a message that a
# line refuses never reaches the origin and ends the connection in words; one that is asked about waits for a person.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
. tests/lib_door.sh
door_needs door_messages python3
/usr/bin/python3 -c 'import websockets' || { skip door_messages "python3-websockets is missing" && exit 0; }
/usr/bin/python3 tests/door/ws_origin.py "$work/came" >"$work/port" 2>"$work/origin.err" &
door_pids+=($!)
within 60 test -s "$work/port"
check "the origin is up" $? "$(cat "$work/origin.err")"
to="to=127.0.0.1:$(cat "$work/port")"
cat >"$work/rules" <<-RULES
	allow GET  any.example.test:80 $to
	deny  GET  json.example.test:80 json:/op=delete reason="nothing is deleted here"
	allow GET  json.example.test:80 $to
	deny  *    text.example.test:80 "body:text=*secret plan*"
	allow GET  text.example.test:80 $to
	deny  GET  graph.example.test:80 body:graphql=mutation*
	allow GET  graph.example.test:80 $to
	ask   GET  ask.example.test:80 json:/op=pay
	allow GET  ask.example.test:80 $to
	allow GET  late.example.test:80 $to
	deny  POST post.example.test:80 json:/op=delete
	allow GET  post.example.test:80 $to
	allow GET  only.example.test:80 json:/op=read $to
RULES
cp tests/door/ws_messages.py "$work/ws/"
door_box talk --policy "$work/rules"
started=$?
check "the box starts" "$started"
[ "$started" = 0 ] || exit 1
talk() { # HOST MESSAGE...: what became of each
	local host=$1
	shift
	in_box talk /usr/bin/python3 ws_messages.py "ws://$host.example.test/socket" "$@" 2>&1
}
came() { # MESSAGE: how often the origin saw it, as a line of JSON
	grep -cxF -- "$1" "$work/came"
}

# --- refused ---------------------------------------------------------------------------------------

same "messages that no line speaks of pass" "$(talk json '{"op": "read"}' ping 'parts:{"op": |"write"}' '' | tail -n 4)" $'echo {"op": "read"}\necho ping\necho {"op": "write"}\necho '
out=$(talk json '{"op": "read"}' '{"op": "delete", "id": 7}' '{"op": "read"}')
holds "a message that a line refuses ends the connection" "$out" "closed 1008 a WebSocket message was denied by"
holds "with the words of the line" "$out" "nothing is deleted here"
log=$("$ostiary" log talk --json | grep '"host":"json.example.test"' | tail -n 1)
holds "the log has the verdict" "$log" '"verdict":"deny"'
holds "the line" "$log" 'rules:2"'
holds "and the sentence" "$log" "a WebSocket message was denied by"
refused() { # NAME HOST MESSAGE
	holds "$1" "$(talk "$2" "$3" after)" "closed 1008"
}
refused "in fragments, with pings between them" json 'parts:{"op|": "del|ete"}'
refused "in other letters of its key" json '{"OP": "delete"}'
refused "in other letters of its value" json '{"op": "DELETE"}'
refused "with escapes" json '{"\u006fp": "d\u0065lete"}'
refused "in a batch" json '[{"op": "read"}, {"op": "delete"}]'
refused "said twice" json '{"op": "delete", "op": "read"}'
refused "behind a comment" json '/* */ {"op": "delete"}'
refused "behind a number of the protocol" json '42["x", {"op": "delete"}]'
refused "broken JSON" json '{"op": "delete"'
refused "a binary message" json "hex:$(printf '{"op": "delete"}' | od -An -tx1 | tr -d ' \n')"
refused "one over the limit" json long:8500000
same "nothing of it reached the origin" "$(grep -ci 'del' "$work/came")" 0
same "one of 1 MiB passes" "$(talk json long:1048576)" "echo 1048585"
refused "text by body:text" text 'this is the secret plan.'
refused "in fragments" text 'parts:this is the sec|ret p|lan.'
same "other text passes, with brackets too" "$(talk text 'hello {you}' '[' '{"a": 1}')" $'echo hello {you}\necho [\necho {"a": 1}'
refused "a mutation over a subscription protocol" graph '{"id": "1", "type": "subscribe", "payload": {"query": "mutation { drop }"}}'
refused "a query that the server keeps" graph '{"id": "1", "type": "subscribe", "payload": {"extensions": {"persistedQuery": {}}}}'
same "the rest of that protocol passes" "$(talk graph '{"type": "connection_init", "payload": {}}' '{"id": "1", "type": "subscribe", "payload": {"query": "query { me }"}}' '{"id": "1", "type": "complete"}' | grep -c ^echo)" 3
same "a line for another method does not hold" "$(talk post '{"op": "delete"}')" 'echo {"op": "delete"}'
same "nor does any where no line looks" "$(talk any '{"op": "delete"}' hex:00ff '{' | grep -c ^echo)" 3
holds "a line that allows by message alone does not open the connection" "$(talk only '{"op": "read"}')" 403

# --- asked -----------------------------------------------------------------------------------------

"$ostiary" exec talk -- sleep 1000 </dev/null >/dev/null 2>"$work/attached" &
door_pids+=($!)
question() { "$ostiary" approvals talk --json | python3 -c '
import json, sys
d = json.load(sys.stdin)
d = d["data"] if "ostiary" in d else d
print(d[0]["id"])' 2>/dev/null; }
asked() { [ -n "$(question)" ]; }
answer() { # VERB: the next question
	within 100 asked || return 1
	"$ostiary" "$1" "$(question)" >/dev/null 2>&1
}
talk ask '{"op": "pay", "n": 1}' '{"op": "look"}' >"$work/paid" &
asking=$!
within 100 asked
check "a person is asked about a message" $? "$(cat "$work/attached" "$work/paid")"
same "which waits" "$(came '"{\"op\": \"pay\", \"n\": 1}"')" 0
answer approve
wait "$asking"
same "yes lets it and what follows pass" "$(grep ^echo "$work/paid")" $'echo {"op": "pay", "n": 1}\necho {"op": "look"}'
talk ask '{"op": "look"}' '{"op": "pay", "n": 2}' >"$work/paid" &
asking=$!
answer refuse
wait "$asking"
holds "no ends the connection" "$(cat "$work/paid")" "closed 1008"
same "and the message never left" "$(came '"{\"op\": \"pay\", \"n\": 2}"')" 0
talk ask '{"op": "pay", "n": 3}' >"$work/paid" &
asking=$!
within 100 asked
"$ostiary" allow talk "GET ask.example.test:80 json:/op=pay $to" >/dev/null
wait "$asking"
same "a rule that is added answers for it" "$(grep ^echo "$work/paid")" 'echo {"op": "pay", "n": 3}'

# --- a rule that comes while it is open --------------------------------------------------------------

talk late '{"op": "delete", "n": 1}' wait:go '{"op": "delete", "n": 2}' >"$work/late" &
asking=$!
within 100 in_box talk test -e go.reached
"$ostiary" deny talk 'GET late.example.test:80 json:/op=delete' >/dev/null
in_box talk touch go
wait "$asking"
holds "a line that is added holds for the next message" "$(cat "$work/late")" "closed 1008"
same "which never left" "$(came '"{\"op\": \"delete\", \"n\": 2}"')" 0
exit "$bad"
