#!/bin/bash
# suite: test=user soak=root,user timeout=120
# tier: connections to origins are kept alike whoever starts the box; both users in soak
# door_reuse.sh - a connection to an origin serves the next request only if the origin has surely read the last
# one, and what it says unasked is nobody's answer (finding C3, CL.0 request smuggling).
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
. tests/lib_door.sh
door_needs door_reuse python3
log=$work/seen
python3 tests/door/reuse_origin.py "$log" >"$work/port" 2>"$work/err" &
door_pids+=($!)
within 60 test -s "$work/port"
check "the origin is up" $? "$(cat "$work/err")"
to=to=127.0.0.1:$(cat "$work/port")
door_box reuse --deny "* a.example.test/denied" --allow "* a.example.test $to" >/dev/null
cat >"$work/ws/pairs.py" <<-'PY'
	# pairs.py METHOD PATH BODY: a request, then an honest GET /honest on the same connection; prints both answers.
	import http.client, sys
	method, path, body = sys.argv[1:4]
	c = http.client.HTTPConnection("a.example.test", 80, timeout=60)
	chunks = {"encode_chunked": True} if body.startswith("chunked:") else {}
	body = body.removeprefix("chunked:").encode().decode("unicode_escape").encode()
	headers = {"Transfer-Encoding": "chunked"} if chunks else {}
	c.request(method, path, [body] if chunks else body or None, headers, **chunks)
	r = c.getresponse()
	print(r.status, r.read().decode().strip() if method != "HEAD" else r.read() or "head", sep=" ", end="; ")
	for _ in range(3):
	    c.request("GET", "/honest")
	    r = c.getresponse()
	    print(r.status, r.read().decode().strip(), end="; ")
	print()
PY
pairs() { in_box reuse python3 pairs.py "$@" 2>&1; }
honest="200 answer to /honest; 200 answer to /honest; 200 answer to /honest; "
smuggled='GET /denied HTTP/1.1\r\nHost: a.example.test\r\n\r\n'
for method in GET DELETE OPTIONS POST PUT PATCH; do
	same "a body on $method is nobody's request" "$(pairs "$method" /x "$smuggled")" "200 answer to /x; $honest"
done
same "a body on HEAD is nobody's request" "$(pairs HEAD /x "$smuggled")" "200 head; $honest"
same "a chunked body on GET is nobody's request" "$(pairs GET /x "chunked:$smuggled")" "200 answer to /x; $honest"
same "nor one behind other bytes" "$(pairs POST /x "aaaa\r\n$smuggled")" "200 answer to /x; $honest"
same "two answers to one question are one" "$(pairs GET /twice '')" "200 answer to /twice; $honest"

# A second answer that comes while the connection waits in the pool.
cat >"$work/ws/late.py" <<-'PY'
	import http.client, sys
	c = http.client.HTTPConnection("a.example.test", 80, timeout=60)
	c.request("GET", "/late")
	print(c.getresponse().read().decode().strip(), flush=True)
	sys.stdin.readline()
	c.request("GET", "/honest")
	print(c.getresponse().read().decode().strip(), flush=True)
PY
mkfifo "$work/go"
(timeout -k 2 120 "$ostiary" exec reuse -- python3 late.py <"$work/go" >"$work/late" 2>&1) &
late=$!
exec 4>"$work/go"
within 60 grep -q 'answer to /late' "$work/late"
touch "$log.late"
within 60 grep -q 'said it' "$log"
echo go >&4
exec 4>&-
wait "$late"
same "an answer that nobody asked for is not the next one's" "$(tr '\n' ' ' <"$work/late")" "answer to /late answer to /honest "

# Honest requests still share one connection.
: >"$log"
in_box reuse python3 -c '
import http.client
c = http.client.HTTPConnection("a.example.test", 80, timeout=60)
for k in range(5):
    c.request("POST", "/reads", b"plain text")
    c.getresponse().read()
    c.request("GET", "/x")
    c.getresponse().read()'
same "honest requests share a connection" "$(grep -c . "$log") $(cut -d' ' -f1 "$log" | sort -u | wc -l)" "10 1"
exit $bad
