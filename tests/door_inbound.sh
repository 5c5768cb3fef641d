#!/bin/bash
# suite: test=user soak=root,user timeout=300
# tier: once in test, as a user: the relay and the ports are the same for both, and nobody needs a privilege
# door_inbound.sh - servers in a box, reached from the host: --publish, forward, ports. HTTP, HTTP/2, WebSocket
# and raw bytes; two boxes on one port; the end of a box, of a forward and of the relay; a box that misbehaves.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
has python3 && has curl || { skip door_inbound 'python3 or curl is missing' && exit 0; }
cd "$work/ws" || exit 1
python=$(PATH=/usr/bin:/bin command -v python3)

# first_at BOX [PORT]: where the box's port is on the host.
first_at() {
	"$ostiary" ports --json "$1" | "$python" -c '
import json, sys
want = int(sys.argv[1]) if len(sys.argv) > 1 else None
print(next((r["at"][0] for r in json.load(sys.stdin)["data"] if r["at"] and want in (None, r["port"])), ""))' "${@:2}"
}
get() { curl -sS -m 200 "$@" 2>&1; }
box_up() { # name, flags... -- command...
	"$ostiary" run -q -d -n "$@" >"$work/up" 2>&1
}
answers() { curl -s -m 60 -o /dev/null "$1"; }
silent() { ! curl -s -m 60 -o /dev/null "$1"; }

# --- publish ----------------------------------------------------------------------------------------

echo 'from one' >one.txt
echo 'from two' >two.txt
box_up one --publish 0:3000 -- "$python" -m http.server 3000
check 'a box with a published port' $? "$(cat "$work/up")"
box_up two --publish 0:3000 -- "$python" -m http.server 3000 --bind ::1
check 'a second one beside it, on the same port' $? "$(cat "$work/up")"
one=$(first_at one) two=$(first_at two)
within 60 answers "http://$one/"
within 60 answers "http://$two/"
same 'the first server answers' "$(get "http://$one/one.txt")" 'from one'
same 'the second too, though it knows only ::1' "$(get "http://$two/two.txt")" 'from two'
[ "$one" != "$two" ]
check 'at different ports' $? "$one $two"
case $one in 127.0.0.1:*) true ;; *) false ;; esac
check 'on loopback only' $? "$one"
head -c 20000000 /dev/urandom >big
"$ostiary" cp -q big "one:$PWD/big"
same '20 MB arrive whole' "$(get "http://$one/big" | sha256sum)" "$(sha256sum <big)"
pids=()
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	get -o "$work/got.$i" "http://$one/big" &
	pids+=($!)
done
wait "${pids[@]}"
same 'twenty at once' "$(cat "$work"/got.* | wc -c)" 400000000
rm -f "$work"/got.*

out=$("$ostiary" ports one)
holds 'ports: what listens' "$out" '3000  0.0.0.0'
holds 'ports: where it is' "$out" "$one"
box_up bare -- "$python" -m http.server 3000
within 60 sh -c "'$ostiary' ports bare | grep -q 3000"
holds 'ports: the command for what is not published' "$("$ostiary" ports bare)" 'ostiary forward bare 3000'
"$ostiary" rm -f bare >/dev/null

out=$("$ostiary" run -q --rm --publish "${one##*:}:80" -- true 2>&1)
same 'a named port that is taken: no box' "$?" 125
holds 'and the cure' "$out" '0:80 takes a free port'
box_up third --publish "${one##*:}" -- sleep 600
third=$(first_at third)
[ -n "$third" ] && [ "$third" != "$one" ]
check 'a port that is only wanted is replaced by a free one' $? "$third"
curl -s -m 60 -o /dev/null "http://$third/"
ended=$?
[ "$ended" != 0 ] && [ "$ended" != 28 ] # curl's word for its own patience
check 'a connection to a port where nothing listens is ended' $? "curl says $ended"
"$ostiary" rm -f third >/dev/null
for bad_word in 0.0.0.0:3000 '[::]:3000' 192.0.2.7:3000; do
	out=$("$ostiary" run -q --rm --publish "$bad_word" -- true 2>&1)
	same "--publish $bad_word wants a reason" "$?" 64
done
for bad_word in 0 70000 a:b 1:2:3 3000: ''; do
	"$ostiary" run -q --rm --publish "$bad_word" -- true >/dev/null 2>&1
	same "--publish '$bad_word' is bad usage" "$?" 64
done

# --- forward ----------------------------------------------------------------------------------------

"$ostiary" forward one 3000:0 >"$work/forward" 2>"$work/forward.err" &
forward=$!
within 60 grep -q ' at ' "$work/forward"
at=$(sed -n 's/^3000 at //p' "$work/forward")
same 'forward says where' "$(get "http://$at/one.txt")" 'from one'
kill "$forward"
wait "$forward" 2>/dev/null
within 60 silent "http://$at/"
check 'when the command ends, the port is closed' $? "$at still answers"
same 'and the published one is not' "$(get "http://$one/one.txt")" 'from one'
out=$("$ostiary" forward -d one 3000:0)
at=${out#3000 at }
same 'forward -d stays' "$(get "http://$at/one.txt")" 'from one'
for bad_word in 0 x 3000:x 70000 127.0.0.1:3000 ''; do
	"$ostiary" forward -d one "$bad_word" >/dev/null 2>&1
	same "forward '$bad_word' is bad usage" "$?" 64
done
"$ostiary" forward nobody 3000 >/dev/null 2>&1
same 'forward to no box' "$?" 121

# --- other protocols ---------------------------------------------------------------------------------

if "$python" -c 'import websockets' 2>/dev/null; then
	cat >ws_server.py <<-'PY'
		import asyncio, websockets
		async def echo(ws, *rest):
		    async for m in ws:
		        await ws.send(m)
		async def main():
		    async with websockets.serve(echo, "127.0.0.1", 4000, max_size=None, ping_interval=None):
		        await asyncio.Future()
		asyncio.run(main())
	PY
	cat >ws_client.py <<-'PY'
		import asyncio, sys, websockets
		async def main():
		    async with websockets.connect("ws://" + sys.argv[1], max_size=None, open_timeout=100, close_timeout=100, ping_interval=None) as ws:
		        for m in ["hello", "x" * 3000000, b"\0\xff" * 1000]:
		            await ws.send(m)
		            assert await ws.recv() == m
		        for i in range(1000):
		            await ws.send(str(i))
		        assert [await ws.recv() for i in range(1000)] == [str(i) for i in range(1000)]
		    print("ok")
		asyncio.run(asyncio.wait_for(main(), 150))
	PY
	box_up ws --publish 0:4000 -- "$python" ws_server.py
	# Until it listens itself: 4000 is 0FA0, and 0A is listening.
	within 60 "$ostiary" exec ws -- grep -q ':0FA0 [0-9:]* 0A ' /proc/net/tcp
	same 'WebSocket' "$("$python" ws_client.py "$(first_at ws)" 2>&1 | tail -n 1)" ok
	"$ostiary" rm -f ws >/dev/null
else
	skip 'WebSocket' 'python3-websockets is missing'
fi
if [ -x /usr/sbin/nghttpd ] && curl --version | grep -q HTTP2; then
	echo 'over two' >h2.txt
	box_up h2 --publish 0:4001 -- /usr/sbin/nghttpd --no-tls -d "$PWD" 4001
	at=$(first_at h2)
	# Until it listens itself: 4001 is 0FA1. Which of the two families it takes is its own affair.
	within 60 "$ostiary" exec h2 -- grep -qs ':0FA1 [0-9:]* 0A ' /proc/net/tcp /proc/net/tcp6
	check 'a server of HTTP/2 listens' $? "$("$ostiary" ports h2 2>&1)"
	same 'HTTP/2' "$(get --http2-prior-knowledge -w '%{http_version}' "http://$at/h2.txt")" $'over two\n2'
	"$ostiary" rm -f h2 >/dev/null
else
	skip 'HTTP/2' 'nghttpd is missing'
fi

# --- a box that misbehaves ----------------------------------------------------------------------------

# A server that never reads: what its client sends is held up, and piles up nowhere.
cat >deaf.py <<-'PY'
	import socket, time
	s = socket.create_server(("127.0.0.1", 4002))
	held = []
	while True:
	    held.append(s.accept())
PY
box_up deaf --publish 0:4002 --limit memory=256M -- "$python" deaf.py
at=$(first_at deaf)
# Until it listens itself: 4002 is 0FA2. The port on the host is there before.
within 60 "$ostiary" exec deaf -- grep -q ':0FA2 [0-9:]* 0A ' /proc/net/tcp
supervisor=$("$ostiary" ps --json | "$python" -c 'import json,sys; print([b["supervisor_pid"] for b in json.load(sys.stdin)["data"] if b["id"]=="deaf"][0])')
relay=$(pgrep -P "$supervisor" -f '^ostiary-relay')
[ -n "$relay" ]
check 'the relay is a process of its own' $? 'no ostiary-relay below the supervisor'
out=$("$python" - "$at" <<-'PY'
	import socket, sys, time
	host, port = sys.argv[1].rsplit(":", 1)
	total, socks = 0, []
	for i in range(20):
	    s = socket.create_connection((host, int(port)))
	    s.setblocking(False)
	    socks.append(s)
	end = time.time() + 2
	while time.time() < end:
	    for s in socks:
	        try:
	            total += s.send(b"x" * 65536)
	        except BlockingIOError:
	            time.sleep(0.001)
	print(total)
PY
)
rss=$(awk '/RssAnon/ { print $2 }' "/proc/$relay/status")
[ "$out" -lt 400000000 ] && { [ "$rss" -lt 8192 ] || [ "${VARIANT:-release}" = asan ]; }
check 'twenty clients of a deaf server cost little memory' $? "$out bytes sent, relay holds $rss KiB"
# What the relay can do when it is taken over: nothing that its filter does not list, and no file.
holds 'the relay is filtered' "$(cat "/proc/$relay/status")" $'Seccomp:\t2'
holds 'has no capability' "$(cat "/proc/$relay/status")" $'CapPrm:\t0000000000000000'
# Its end closes ports and nothing else.
kill -9 "$relay"
within 60 silent "http://$at/"
check 'a relay that is killed takes its ports along' $? "$at still answers"
same 'and the box goes on' "$("$ostiary" exec -q deaf -- echo alive)" alive
out=$("$ostiary" forward -d deaf 4002:0 2>&1)
holds 'and can be published again' "$out" '4002 at 127.0.0.1:'

# --- the end ------------------------------------------------------------------------------------------

"$ostiary" stop one two deaf >/dev/null
within 60 silent "http://$one/" && within 60 silent "http://$two/"
check "the box's end closes its ports" $? "$one or $two still answers"
left=$(pgrep -P "$supervisor" 2>/dev/null)
same 'no process is left' "$left" ''
"$ostiary" ports one >/dev/null 2>&1
same 'ports of a box that has ended' "$?" 121
# Woken, it publishes again what it was started with.
"$ostiary" exec -q one -- true
at=$(first_at one)
case $at in 127.0.0.1:*) true ;; *) false ;; esac
check 'a box that is woken has its port again' $? "$at"
exit $bad
