#!/bin/bash
# suite: test=user soak=root,user timeout=400
# tier: a protocol does not depend on who runs the door, so test runs it once
# door_h2.sh - HTTP/2 between the box and the door, held to the cases of h2spec by raw frames from inside the box, over
# TLS and in the clear; and what HTTP/2 clients do beside that: many streams, resets, large bodies both ways.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
. tests/lib_door.sh
door_needs door_h2 curl openssl /usr/sbin/nginx python3
door_ca && door_nginx && door_odd
check "origins are up" $? "$(cat "$work/nginx.err")"
nghttpd=
if has nghttpd; then
	nghttpd=$(free_port)
	nghttpd --htdocs="$work/www" "$nghttpd" "$work/origin.key" "$work/origin.pem" >"$work/nghttpd.log" 2>&1 &
	door_pids+=($!)
	listens "$nghttpd"
fi
door_cert h2 'DNS:*.h2.example.test'
python3 tests/door/h2_origin.py "$work/h2.pem" "$work/h2.key" >"$work/h2_origin" 2>/dev/null &
door_pids+=($!)
within 60 test -s "$work/h2_origin"
h2_origin=$(cat "$work/h2_origin")
cp tests/door/h2*.py "$work/ws/"
door_box h2 --allow "$(tls_rule '*' nginx.example.test "$nginx_tls")" \
	--allow "$(plain_rule '*' plain.example.test "$nginx_plain")" \
	--allow "$(tls_rule '*' nghttpd.example.test "${nghttpd:-1}")" \
	--allow "$(tls_rule '*' odd.example.test "$odd_tls")" \
	--allow "$(tls_rule '*' '*.h2.example.test' "$h2_origin")"
check "the box starts" $?
cu() { in_box h2 curl -sS -m 120 "$@" 2>&1; }

# --- the protocol ------------------------------------------------------------------------------------

spec() { # WHERE HOST PORT tls|plain
	local got line
	got=$(in_box_time=300 in_box h2 python3 h2spec.py "$2" "$3" "$4" 2>&1)
	while IFS= read -r line; do
		case $line in
		ok\ *) check "h2spec $1: ${line#ok }" 0 ;;
		not\ ok\ *) check "h2spec $1: ${line#not ok }" 1 ;;
		esac
	done <<<"$got"
	holds "h2spec $1 came to its end" "$got" " of "
}
spec tls nginx.example.test 443 tls
spec plain plain.example.test 80 plain

log=$work/nginx/access.log
[ "$(grep -c ' /hello HTTP' "$log")" -gt 50 ]
check "nginx has a log of what arrived" $? "$(tail -n 3 "$log")"
same "and nothing in it that had to be refused" "$(grep must-not-arrive "$log")" ""

# --- what clients do ---------------------------------------------------------------------------------

same "prior knowledge, in the clear" "$(cu --http2-prior-knowledge -w ' %{http_version}' http://plain.example.test/hello)" "hello from nginx
 2"
urls=()
for i in $(seq 60); do urls+=(-o /dev/null "https://nginx.example.test/big?$i"); done
same "sixty large answers at once on one connection" \
	"$(cu -Z --parallel-max 60 --no-progress-meter -w '%{http_code} %{size_download}\n' "${urls[@]}" | sort | uniq -c | tr -s ' ')" " 60 200 1048576"
head -c 5000000 /dev/urandom >"$work/ws/five"
out=$(cu -w '\n%{http_code}' --data-binary @five https://other.example.test/x)
same "a refusal reaches a client that is still sending" "${out##*$'\n'}" 403
same "large and slowly read" "$(in_box h2 sh -c 'curl -sS https://odd.example.test/big/20000000 | (sleep 1; wc -c)')" 20000000
same "a WebSocket on a stream (RFC 8441)" "$(in_box h2 python3 h2_websocket.py odd.example.test /websocket 2>&1)" "offered 1
agreed True
echoed hello
echoed in two parts
closed 1000
and the connection lives"
holds "one whose origin proves nothing is not agreed to" "$(in_box h2 python3 h2_websocket.py odd.example.test /websocket/wrong 2>&1)" "agreed False"
holds "one that no rule allows is not" "$(in_box h2 python3 h2_websocket.py other.example.test /websocket 2>&1)" "agreed False"
if [ -n "$nghttpd" ]; then
	same "nghttpd behind the door" "$(cu https://nghttpd.example.test/hello)" "hello from nginx"
	same "a large answer of nghttpd, whole" "$(cu https://nghttpd.example.test/big | sha256sum)" "$(sha256sum <"$work/www/big")"
	same "a large request to nghttpd" "$(cu -o /dev/null -w '%{http_code} %{size_upload}' --data-binary @five https://nghttpd.example.test/hello)" "200 5000000"
	same "HTTP/1.1 to HTTP/2" "$(cu --http1.1 https://nghttpd.example.test/hello)" "hello from nginx"
fi

# --- origins that are odd, and origins that are wrong ------------------------------------------------

for v in --http2 --http1.1; do
	for odd in hello interim trailers goodbye refused-once; do
		same "an origin that is odd: $odd ($v)" "$(cu $v "https://$odd.h2.example.test/$v")" hello
	done
	same "an origin that is odd: padded ($v)" "$(cu $v https://padded.h2.example.test/ | wc -c)" 20000
	for wrong in refused hang-up no-status large-letters newline connection huge-head push switch flood garbage; do
		out=$(cu $v -w '\n%{http_code}' "https://$wrong.h2.example.test/$v")
		same "an origin that is wrong: $wrong is 502 ($v)" "${out##*$'\n'}" 502
	done
	for wrong in reset cut short long window-overrun; do
		in_box h2 curl -sS -m 60 -o /dev/null $v "https://$wrong.h2.example.test/$v" >/dev/null 2>&1
		[ $? != 0 ]
		check "an answer that breaks off is not taken for whole: $wrong ($v)" $?
	done
done
out=$(cu -D - https://trailers.h2.example.test/)
holds "trailers arrive" "$out" "x-sum: 42"
[ "${out/content-type/}" = "$out" ]
check "but none that speaks of the body" $? "$out"
urls=()
for i in $(seq 20); do urls+=("https://one-at-a-time.h2.example.test/$i"); done
same "an origin that takes one at a time" "$(cu -Z --no-progress-meter "${urls[@]}" | sort | uniq -c | tr -s ' ')" " 20 hello"
same "and the door still works" "$(cu https://nginx.example.test/hello)" "hello from nginx"

if has h2load; then
	load() { in_box h2 h2load "$@" 2>&1 | sed -n 's/^requests: //p'; }
	same "20,000 requests on 10 connections" "$(load -n 20000 -c 10 -m 50 https://nginx.example.test/hello)" \
		"20000 total, 20000 started, 20000 done, 20000 succeeded, 0 failed, 0 errored, 0 timeout"
	same "uploads on many streams" "$(load -n 40 -c 2 -m 20 -d five https://nghttpd.example.test/hello)" \
		"40 total, 40 started, 40 done, 40 succeeded, 0 failed, 0 errored, 0 timeout"
fi
exit "$bad"
