#!/bin/bash
# suite: test=user soak=root,user timeout=300
# tier: a protocol does not depend on who runs the door, so test runs it once
# door_streams.sh - what lasts: event streams in lockstep, WebSocket, gRPC both ways, raw TCP and spliced TLS. Each
# is proven by a peer that goes on only when what it sent has arrived at the other end.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
. tests/lib_door.sh
door_needs door_streams curl openssl /usr/sbin/nginx python3
door_ca && door_nginx && door_odd
check "origins are up" $? "$(cat "$work/nginx.err")"
cp tests/door/*_client.py "$work/ws/"
grpc=
if /usr/bin/python3 -c 'import grpc' 2>/dev/null; then
	/usr/bin/python3 tests/door/grpc_origin.py "$work/origin.pem" "$work/origin.key" >"$work/grpc" 2>/dev/null &
	door_pids+=($!)
	within 60 test -s "$work/grpc" && grpc=$(cat "$work/grpc")
fi
python3 -c '
import socket, threading
s = socket.create_server(("127.0.0.1", 0))
print(s.getsockname()[1], flush=True)
def serve(c):
    c.sendall(b"220 speaks first\n")
    for line in c.makefile("rb"):
        c.sendall(line.upper())
    c.close()
while True:
    threading.Thread(target=serve, args=(s.accept()[0],), daemon=True).start()
' >"$work/tcp" 2>/dev/null &
door_pids+=($!)
within 60 test -s "$work/tcp"
tcp=$(cat "$work/tcp")

door_box streams --allow "$(tls_rule '*' odd.example.test "$odd_tls")" \
	--allow "$(plain_rule '*' oddplain.example.test "$odd_plain")" \
	--allow "$(tls_rule '*' grpc.example.test "${grpc:-1}" '/opentelemetry.**')" \
	--allow "$(tls_rule '*' grpc.example.test "${grpc:-1}" '/test.Chat/**')" \
	--allow "tcp mail.example.test:2525 to=127.0.0.1:$tcp" \
	--allow "splice pinned.example.test:443 to=127.0.0.1:$nginx_tls"
check "the box starts" $?

for p in https://odd.example.test http://oddplain.example.test; do
	same "an event stream arrives event by event ($p)" "$(in_box streams python3 sse_client.py $p "k$RANDOM" 2>&1)" "events 20"
done
if has node; then
	cat >"$work/ws/sse.mjs" <<-'JS'
		const [base, key] = process.argv.slice(2);
		const response = await fetch(`${base}/sse/${key}`);
		let text = '', seen = 0;
		for await (const part of response.body) {
			text += Buffer.from(part).toString();
			for (let i; (i = text.indexOf('\n\n')) >= 0; text = text.slice(i + 2)) {
				seen = Number(/id: (\d+)/.exec(text)[1]);
				await fetch(`${base}/ack/${key}/${seen}`, { method: 'POST' });
			}
		}
		console.log('events', seen);
	JS
	same "the same with node's fetch" "$(in_box streams node sse.mjs https://odd.example.test "n$RANDOM" 2>&1)" "events 20"
fi

if /usr/bin/python3 -c 'import websockets' 2>/dev/null; then
	for p in wss://odd.example.test ws://oddplain.example.test; do
		out=$(in_box streams /usr/bin/python3 ws_client.py $p/websocket 2>&1)
		holds "WebSocket messages of every length come back ($p)" "$out" "echoed 'in three parts' extensions 0"
		holds "and it closes in order ($p)" "$out" "closed 1000"
		out=$(in_box streams /usr/bin/python3 ws_client.py $p/websocket/wrong 2>&1)
		holds "an origin that did not read our key is 502 ($p)" "$out" 502
		out=$(in_box streams /usr/bin/python3 ws_client.py $p/websocket/masked 2>&1)
		[ "${out/echoed/}" = "$out" ]
		check "a server's frame that is masked ends the connection ($p)" $? "$out"
	done
	holds "a WebSocket that no rule allows is refused" "$(in_box streams /usr/bin/python3 ws_client.py wss://other.example.test/websocket 2>&1)" 403
else
	skip "WebSocket" "python3-websockets is missing"
fi

if [ -n "$grpc" ]; then
	export_method=/opentelemetry.proto.collector.trace.v1.TraceService/Export
	rpc() { in_box streams /usr/bin/python3 grpc_client.py "$@" 2>&1 | tail -n 1; }
	same "OTLP over gRPC, with its trailers" "$(rpc unary grpc.example.test $export_method 100)" "got 100 100"
	same "gRPC with 3 MB" "$(rpc unary grpc.example.test $export_method 3000000)" "got 3000000 3000000"
	same "a conversation in lockstep, both ways" "$(rpc talk grpc.example.test)" "talked 0"
	same "a failure keeps its status and words" "$(rpc unary grpc.example.test /test.Chat/Fail 1)" "RESOURCE_EXHAUSTED no more: 100% used"
	out=$(rpc unary grpc.example.test /test.Other/Thing 1)
	holds "a refusal is a gRPC status that clients show" "$out" "PERMISSION_DENIED POST https://grpc.example.test/test.Other/Thing was refused"
	holds "with its cure" "$out" "ostiary allow streams"
else
	skip "gRPC" "python3-grpcio is missing"
fi

cat >"$work/ws/tcp.py" <<-'PY'
	import socket, sys
	s = socket.create_connection((sys.argv[1], int(sys.argv[2])), 60)
	f = s.makefile("rwb")
	print(f.readline().decode().strip())
	for n in range(3):
	    f.write(b"line %d\n" % n)
	    f.flush()
	    print(f.readline().decode().strip())
	s.shutdown(socket.SHUT_WR)
	print("end", f.read())
PY
same "a tcp rule passes a server that speaks first" "$(in_box streams python3 tcp.py mail.example.test 2525 2>&1 | tr '\n' ' ')" "220 speaks first LINE 0 LINE 1 LINE 2 end b'' "
out=$(in_box streams python3 tcp.py other.example.test 2525 2>&1)
case $out in *220*) false ;; *) true ;; esac
check "another name on that port gets nothing" $? "$out"
cp "$work/ca.pem" "$work/ws/pinned.pem"
same "a splice rule leaves TLS to the client: it sees the origin's own certificate" \
	"$(in_box streams curl -sS -m 60 --cacert pinned.pem https://pinned.example.test/hello 2>&1)" "hello from nginx"
in_box streams curl -sS -m 60 https://pinned.example.test/hello >/dev/null 2>&1
[ $? != 0 ]
check "which its bundle does not know" $?
exit "$bad"
