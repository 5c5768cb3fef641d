#!/bin/bash
# suite: test=any soak=any timeout=400
# tier: once, as root where we are: only root may weigh the door's processes, which have the same rights either way
# door_hostile.sh - programs and origins that mean harm, by dice: thousands of connections, given up at any moment,
# and answers that are wrong in every way. Afterwards the door has to be as it was: same processes, no descriptor
# and no memory left behind, and an honest request answered. The seed is printed: HOSTILE_SEED=N repeats it.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
. tests/lib_door.sh
door_needs door_hostile curl openssl /usr/sbin/nginx python3
seed=${HOSTILE_SEED:-$RANDOM}
echo "# HOSTILE_SEED=$seed"
door_ca && door_nginx && door_odd
check "origins are up" $? "$(cat "$work/nginx.err")"
hostile() { # name, arguments: its port in $work/name
	local name=$1
	shift
	python3 "$top/tests/door/hostile_origin.py" "$seed" "$@" >"$work/$name" 2>/dev/null &
	door_pids+=($!)
	within 60 test -s "$work/$name"
}
hostile h1 h1 "$work/origin.pem" "$work/origin.key" && hostile h2 h2 "$work/origin.pem" "$work/origin.key" && hostile plain h1
check "hostile origins are up" $?
door_box hostile --allow "$(tls_rule '*' nginx.example.test "$nginx_tls")" \
	--allow "$(tls_rule '*' odd.example.test "$odd_tls")" --allow "$(plain_rule '*' oddplain.example.test "$odd_plain")" \
	--allow "$(tls_rule '*' h1.example.test "$(cat "$work/h1")")" --allow "$(tls_rule '*' h2.example.test "$(cat "$work/h2")")" \
	--allow "$(plain_rule '*' plain.example.test "$(cat "$work/plain")")" \
	--allow "$(plain_rule '*' body.example.test "$odd_plain") json:/a=b" \
	--allow "ask $(plain_rule '*' ask.example.test "$odd_plain")" >/dev/null
check "a box with a door starts" $?
cp tests/door/hostile_client.py tests/door/h2raw.py "$work/ws/"
cu() { in_box hostile curl -sS -m 60 "$@" 2>&1; }
same "an honest request" "$(cu https://nginx.example.test/hello)" "hello from nginx"

sup=$("$ostiary" ps --json | python3 -c 'import json, sys; print([b["supervisor_pid"] for b in json.load(sys.stdin)["data"] if b["id"] == "hostile"][0])')
roles() {
	local p
	# shellcheck disable=SC2013
	for p in $(cat "/proc/$sup/task/$sup/children"); do
		echo "$p $(cat "/proc/$p/comm")"
	done | grep -E 'ostiary-(egress|dial|keeper)' | sort | tr '\n' ' '
}
before=$(roles)
same "three roles of the door run" "$(echo "$before" | wc -w)" 6
egress=$(echo "$before" | grep -oE '[0-9]+ ostiary-egress' | cut -d' ' -f1)
weigh() { awk '/^Private_/ { s += $2 } END { print s }' "/proc/$egress/smaps_rollup"; }
count() { find "/proc/$egress/fd" -mindepth 1 | wc -l; }
is_weighed=
[ "$(id -u)" != 0 ] || is_weighed=1

# --- what readers who do not read may cost --------------------------------------------------------------

cat >"$work/ws/unread.py" <<-'PY'
	import socket, sys
	held = []
	for i in range(8):
	    s = socket.create_connection(("no.example.test", 80), 60)
	    s.settimeout(0.5)
	    ask = b"GET /refused HTTP/1.1\r\nHost: no.example.test\r\n\r\n" * 500
	    try:
	        for j in range(400):
	            s.sendall(ask)
	    except OSError:
	        pass
	    held.append(s)
	print("all", flush=True)
	sys.stdin.read()
PY
if [ -n "$is_weighed" ] && [ "${VARIANT:-release}" != asan ]; then
	light=$(weigh)
	mkfifo "$work/hold"
	timeout -k 2 200 "$ostiary" exec hostile -- python3 unread.py <"$work/hold" >"$work/unread" 2>&1 &
	reader=$!
	exec 7>"$work/hold"
	within 60 grep -q all "$work/unread"
	check "requests whose answers nobody reads are not read either" $? "$(cat "$work/unread")"
	[ "$(weigh)" -le $((light + 4096)) ]
	check "and cost little memory" $? "$light KiB before, $(weigh) with them"
	exec 7>&-
	wait "$reader"
fi
same "an answer that ends with its connection waits for a slow reader" "$(in_box hostile sh -c 'curl -sS --http1.0 -m 60 http://oddplain.example.test/big/8000000 | (sleep 4; wc -c)')" 8000000
cat >"$work/ws/slow.py" <<-'PY'
	import socket, time
	a = socket.create_connection(("oddplain.example.test", 80), 60)
	a.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
	a.sendall(b"GET /big/3000000 HTTP/1.1\r\nHost: oddplain.example.test\r\n\r\n")
	time.sleep(1)
	got = 0
	while got < 3000000:
	    got += len(a.recv(1 << 16))
	for i in range(3):
	    b = socket.create_connection(("oddplain.example.test", 80), 60)
	    b.sendall(b"GET /hello HTTP/1.1\r\nHost: oddplain.example.test\r\nConnection: close\r\n\r\n")
	    print(b.recv(15).decode())
PY
same "after a slow reader the origin's connection serves others" "$(in_box hostile python3 slow.py 2>&1 | sort -u)" "HTTP/1.1 200 OK"
cat >"$work/ws/burst.py" <<-'PY'
	import socket
	all_of_them = []
	for i in range(400):
	    s = socket.create_connection(("oddplain.example.test", 80), 60)
	    s.sendall(b"GET /slow HTTP/1.1\r\nHost: oddplain.example.test\r\n\r\n")
	    all_of_them.append(s)
	words = {}
	for s in all_of_them:
	    line = s.recv(12).decode()
	    words[line] = words.get(line, 0) + 1
	print(words)
PY
same "400 new connections to one origin at once" "$(in_box hostile python3 burst.py 2>&1)" "{'HTTP/1.1 200': 400}"

# --- bytes on a WebSocket that was refused are no request -----------------------------------------------------

cat >"$work/ws/smuggle.py" <<-'PY'
	import sys, time
	from h2raw import *
	c = Conn(("odd.example.test", 443, True))
	raw = b"GET /echo/smuggled HTTP/1.1\r\nHost: odd.example.test\r\nX-Pad: "
	for stream, path in ((1, "/refuse-slowly"), (3, "/slow")):
	    c.send(HEADERS, END_HEADERS, stream, fields([
	        (":method", "CONNECT"), (":protocol", "websocket"), (":scheme", "https"), (":path", path),
	        (":authority", "odd.example.test"), ("sec-websocket-version", "13")]))
	    if stream == 1:
	        c.until(lambda f: f[2] == 1 and f[0] in (HEADERS, RST))
	    c.send(DATA, 0, stream, raw + b"y\r\n\r\n")
	    time.sleep(1.5)
	print("done")
PY
same "bytes on a refused WebSocket" "$(in_box hostile python3 smuggle.py 2>&1)" "done"
same "reach no origin as a request" "$(cu https://odd.example.test/seen)" "smuggled 0"

# --- a question that is longer than anybody reads ------------------------------------------------------------

long=http://ask.example.test/$(head -c 12000 /dev/zero | tr '\0' a)
door_box long --allow "ask $(plain_rule '*' ask.example.test "$odd_plain")" >/dev/null # one that has not asked much yet
same "a very long question is one too" "$(in_box long curl -s -m 2 -o /dev/null -w '%{http_code}' "$long" 2>/dev/null)" 000
same "and the door goes on" "$(cu https://nginx.example.test/hello)" "hello from nginx"

# --- names that nobody looked up -----------------------------------------------------------------------------

cat >"$work/ws/mint.py" <<-'PY'
	import socket, ssl
	ctx = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
	ctx.check_hostname, ctx.verify_mode = False, ssl.CERT_NONE
	def hello(name):
	    out = ssl.MemoryBIO()
	    try:
	        ctx.wrap_bio(ssl.MemoryBIO(), out, server_hostname=name).do_handshake()
	    except ssl.SSLWantReadError:
	        return out.read()
	def answer(s):
	    """22 is a handshake that goes on, 21 an alert."""
	    try:
	        return s.recv(1)
	    except OSError:
	        return b""
	# All say their names at once: what the door forgives by the second is little beside it.
	hellos = [hello(f"n{i}.example.test") for i in range(700)]
	socks = [socket.create_connection(("192.0.2.7", 443), 60) for _ in hellos]
	for s, h in zip(socks, hellos):
	    try:
	        s.sendall(h)
	    except OSError:
	        pass
	good = sum(answer(s) == b"\x16" for s in socks)
	print("some" if 500 <= good < 700 else good)
PY
same "certificates for made-up names have a limit" "$(in_box hostile python3 mint.py 2>&1)" some

# --- dice ---------------------------------------------------------------------------------------------------

in_box_time=300 in_box hostile /usr/bin/python3 hostile_client.py "$seed" 8 >"$work/out" 2>&1
holds "a first storm" "$(cat "$work/out")" "connections "
same "an honest request after it" "$(cu https://nginx.example.test/hello)" "hello from nginx"
if [ -n "$is_weighed" ]; then
	sleep 12 # whoever hung in a handshake or a head is gone
	weight=$(weigh) fds=$(count)
fi
in_box_time=300 in_box hostile /usr/bin/python3 hostile_client.py "$seed.2" 16 >"$work/out" 2>&1
holds "a second storm" "$(cat "$work/out")" "connections "
echo "# $(grep connections "$work/out")"
same "an honest request after both" "$(cu https://nginx.example.test/hello)" "hello from nginx"
same "by HTTP/1.1" "$(cu --http1.1 https://nginx.example.test/hello)" "hello from nginx"
same "a refusal" "$(cu -o /dev/null -w '%{http_code}' http://no.example.test/)" 403
same "every process is the one it was" "$(roles)" "$before"
if [ -n "$is_weighed" ]; then
	# The pool keeps 128 idle connections for a minute.
	is_back() { [ "$(count)" -le $((fds + 130)) ]; }
	within 60 is_back
	check "no descriptor stays" $? "$fds before, $(count) after"
	is_light() { [ "$(weigh)" -le $((weight + 8192)) ]; }
	[ "${VARIANT:-release}" = asan ] || within 60 is_light
	check "no memory stays" $? "$weight KiB before, $(weigh) after"
else
	skip "growth" "only root may weigh a process that is not dumpable"
fi
"$ostiary" log hostile --json >"$work/log" 2>"$work/log.err"
check "the log can be read and is whole" $? "$(tail -n 3 "$work/log.err")"
exit "$bad"
