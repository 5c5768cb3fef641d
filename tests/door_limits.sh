#!/bin/bash
# suite: test=any soak=root,user timeout=800 alone=yes
# tier: only root may weigh the door's processes; 2,500 connections in test, 10,000 in soak; they fill the machine
# door_limits.sh - what a rule says beyond yes and no: rate=, bytes=, hosts=, headers, queries and bodies; what happens
# to a stream that is open when its rule goes; and that ten thousand connections leave nothing behind.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
. tests/lib_door.sh
. tests/lib_tier.sh
door_needs door_limits curl openssl /usr/sbin/nginx python3
door_ca && door_nginx && door_odd
check "origins are up" $? "$(cat "$work/nginx.err")"
to="to=127.0.0.1:$nginx_plain" odd="to=127.0.0.1:$odd_plain"
cat >"$work/rules" <<-RULES
	allow GET rate.example.test:80 $to rate=5/h
	allow GET bytes.example.test:80 $to bytes=1500K
	allow GET *.many.example.test:80 $to hosts=3
	allow GET header.example.test:80 $to h:x-team=blue
	allow GET query.example.test:80 $to q:format=json
	deny  POST graph.example.test:80/echo json:/query=*mutation* reason="no mutations"
	allow POST graph.example.test:80/echo $odd json:/query=*
	allow POST mcp.example.test:80/echo $odd json:/method=tools/call json:/params/name=read_*
	deny  POST aws.example.test:80/echo form:Action=Terminate*
	allow POST aws.example.test:80/echo $odd form:Action=*
	allow * odd.example.test:80 $odd
	allow GET tls.example.test:443 to=127.0.0.1:$nginx_tls ca=$work/ca.pem
	allow GET plain.example.test:80 $to
RULES
door_box limits --policy "$work/rules"
check "the box starts" $?
status() { in_box limits curl -s -m 60 -o /dev/null -w '%{http_code}' "$@" 2>/dev/null; }
words() { in_box limits curl -s -m 60 "$@" 2>&1; }

# --- how much -------------------------------------------------------------------------------------

same "rate=: five pass" "$(for i in 1 2 3 4 5; do status http://rate.example.test/hello; done)" 200200200200200
same "and the sixth is 429" "$(status http://rate.example.test/hello)" 429
holds "in words" "$(words http://rate.example.test/hello)" "allows 5 requests in 3600 s"
same "bytes=: the first MiB passes" "$(status http://bytes.example.test/big)" 200
in_box limits curl -s -m 60 -o /dev/null http://bytes.example.test/big
[ $? != 0 ]
check "the second is cut off in the middle" $?
same "and then there is nothing left" "$(status http://bytes.example.test/hello)" 429
same "hosts=: three names" "$(for i in a b c a; do status http://$i.many.example.test/hello; done)" 200200200200
same "and no fourth" "$(status http://d.many.example.test/hello)" 429
same "a rule that is added does not fill them up again" "$("$ostiary" allow limits 'GET new.example.test' >/dev/null; status http://rate.example.test/hello)" 429

# --- what is in it ----------------------------------------------------------------------------------

same "a header that fits" "$(status -H 'X-Team: blue' http://header.example.test/hello)" 200
same "one that does not" "$(status -H 'X-Team: red' http://header.example.test/hello)" 403
same "both at once" "$(status -H 'X-Team: blue' -H 'X-Team: red' http://header.example.test/hello)" 403
same "a query that fits" "$(status 'http://query.example.test/hello?format=json')" 200
same "the same name twice" "$(status 'http://query.example.test/hello?format=json&format=xml')" 403
json='content-type: application/json'
graph() { status -H "$json" --data-binary "$1" http://graph.example.test/echo; }
same "a GraphQL query" "$(graph '{"query":"query { me }"}')" 200
same "a mutation" "$(graph '{"query":"mutation { drop }"}')" 403
holds "with its reason" "$(words -H "$json" -d '{"query":"mutation { drop }"}' http://graph.example.test/echo)" "no mutations"
same "a mutation in a batch" "$(graph '[{"query":"query { me }"},{"query":"mutation { drop }"}]')" 403
same "the same key twice: unreadable, so denied" "$(graph '{"query":"query { me }","query":"mutation { drop }"}')" 403
same "escapes do not hide it" "$(graph '{"query":"\u006dutation { drop }"}')" 403
same "nor bytes after the end" "$(graph '{"query":"query { me }"} {"query":"mutation"}')" 403
printf '{"query":"mutation { drop }"}' | gzip >"$work/ws/m.gz"
printf '{"query":"query { me }"}' | gzip >"$work/ws/q.gz"
same "nor gzip" "$(status -H "$json" -H 'content-encoding: gzip' --data-binary @m.gz http://graph.example.test/echo)" 403
same "a query in gzip passes" "$(status -H "$json" -H 'content-encoding: gzip' --data-binary @q.gz http://graph.example.test/echo)" 200
python3 -c 'print("{\"query\":\"query { me }\",\"pad\":\"" + "x" * 9000000 + "\",\"z\":\"mutation\"}", end="")' >"$work/ws/large"
same "a body over the limit is denied, not judged by its beginning" "$(status -H "$json" --data-binary @large http://graph.example.test/echo)" 403
same "an MCP call that fits" "$(status -H "$json" -d '{"method":"tools/call","params":{"name":"read_file"}}' http://mcp.example.test/echo)" 200
same "another tool" "$(status -H "$json" -d '{"method":"tools/call","params":{"name":"run_shell"}}' http://mcp.example.test/echo)" 403
same "a form field" "$(status -d 'Action=DescribeInstances' http://aws.example.test/echo)" 200
same "a form field that is refused" "$(status -d 'Action=TerminateInstances' http://aws.example.test/echo)" 403
same "also when it is encoded" "$(status -d 'Action=%54erminateInstances' http://aws.example.test/echo)" 403
holds "the body that was read arrives whole" "$(words -H "$json" -d '{"query":"query { me }"}' http://graph.example.test/echo)" '"length": 24'

# --- a rule that goes -------------------------------------------------------------------------------

"$ostiary" exec limits -- curl -sS -N -m 200 http://odd.example.test/sse/cut >"$work/stream" 2>&1 </dev/null &
stream=$!
within 60 grep -q '"n":1' "$work/stream"
check "a stream is open" $? "$(cat "$work/stream")"
"$ostiary" deny limits '* odd.example.test' >/dev/null
within 60 sh -c "! kill -0 $stream 2>/dev/null"
check "it ends when its rule does" $?
kill "$stream" 2>/dev/null
wait "$stream"
[ $? != 0 ]
check "and is not taken for whole" $?
holds "which is in the log" "$("$ostiary" log limits --json)" "cut off because the rules changed"

# --- nothing grows ------------------------------------------------------------------------------------

cat >"$work/ws/many.py" <<-'PY'
	import socket, ssl, sys
	n, tls = int(sys.argv[1]), sys.argv[2] == "tls"
	host = "tls.example.test" if tls else "plain.example.test"
	addr = socket.gethostbyname(host)
	ctx = ssl.create_default_context() if tls else None
	bad = 0
	for i in range(n):
	    s = socket.create_connection((addr, 443 if tls else 80), 60)
	    if tls:
	        s = ctx.wrap_socket(s, server_hostname=host)
	    kind = i % 4
	    if kind != 3:  # every fourth only connects and goes
	        s.sendall(b"GET /hello HTTP/1.1\r\nHost: " + host.encode() + b"\r\nConnection: close\r\n\r\n")
	    if kind < 2 and not s.recv(100).startswith(b"HTTP/1.1 200"):
	        bad += 1
	    s.close()
	print("bad", bad)
PY
# The egress of this box: the child of its supervisor with that name.
sup=$("$ostiary" ps --json | python3 -c 'import json, sys; print([b["supervisor_pid"] for b in json.load(sys.stdin)["data"] if b["id"] == "limits"][0])')
egress=
for p in $(cat "/proc/$sup/task/$sup/children"); do
	grep -q egress "/proc/$p/comm" && egress=$p
done
if [ "$(id -u)" != 0 ]; then
	skip "growth" "only root may weigh a process that is not dumpable"
elif [ -z "$egress" ]; then
	check "egress runs" 1 "it is no child of $sup"
else
	weigh() { awk '/^Private_/ { s += $2 } END { print s }' "/proc/$egress/smaps_rollup"; }
	count() { find "/proc/$egress/fd" -mindepth 1 | wc -l; }
	# A quarter in test: there a leak shows from 840 bytes a connection on, in soak from 210.
	tls=$(by_tier 500 2000) plain=$(by_tier 2000 8000)
	in_box_time=400 in_box limits python3 many.py $((tls / 2)) tls >/dev/null &&
		in_box_time=400 in_box limits python3 many.py $((plain / 4)) plain >/dev/null
	sleep 1
	before=$(weigh) fds=$(count)
	same "$tls connections with TLS" "$(in_box_time=400 in_box limits python3 many.py "$tls" tls 2>&1)" "bad 0"
	same "$plain plain ones" "$(in_box_time=400 in_box limits python3 many.py "$plain" plain 2>&1)" "bad 0"
	is_back() { [ "$(count)" -le $((fds + 8)) ]; }
	within 60 is_back
	check "no descriptor stays" $? "$fds before, $(count) after"
	# A sanitizer keeps what was freed.
	is_light() { [ "$(weigh)" -le $((before + 2048)) ]; }
	[ "${VARIANT:-release}" = asan ] || within 60 is_light
	check "no memory stays" $? "$before KiB before, $(weigh) after"
fi
exit "$bad"
