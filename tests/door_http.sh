#!/bin/bash
# suite: test=user soak=root,user timeout=300
# tier: a protocol does not depend on who runs the door, so test runs it once
# door_http.sh - HTTP through the door with real clients and real servers: what is allowed arrives unchanged and
# in order, what is not is refused in words, what an origin does wrong hurts nobody.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
. tests/lib_door.sh
door_needs door_http curl openssl /usr/sbin/nginx python3
door_ca && door_nginx && door_odd
check "origins are up" $? "$(cat "$work/nginx.err")"
door_box web --allow "$(tls_rule 'GET,HEAD' nginx.example.test "$nginx_tls")" \
	--allow "$(plain_rule 'GET,HEAD' plain.example.test "$nginx_plain")" \
	--allow "$(tls_rule '*' odd.example.test "$odd_tls")" \
	--allow "$(plain_rule '*' oddplain.example.test "$odd_plain")"
check "a box with a door starts" $? "$(tail -n 3 "$work"/home/.local/state/ostiary/boxes/*/* 2>/dev/null)"
cu() { in_box web curl -sS -m 60 "$@" 2>&1; }

# --- allowed ---------------------------------------------------------------------------------------

same "TLS, HTTP/2 with the client, HTTP/2 with nginx" "$(cu https://nginx.example.test/hello)" "hello from nginx"
same "TLS, HTTP/1.1 with the client" "$(cu --http1.1 https://nginx.example.test/hello)" "hello from nginx"
same "HTTP/1.0" "$(cu --http1.0 https://nginx.example.test/hello)" "hello from nginx"
same "plain HTTP" "$(cu http://plain.example.test/hello)" "hello from nginx"
holds "the origin sees its own name and HTTP/2" "$(cu https://nginx.example.test/name)" "nginx.example.test HTTP/2.0 curl/"
same "a status that is not ours passes" "$(cu -o /dev/null -w '%{http_code}' https://nginx.example.test/teapot)" 418
for v in --http1.1 --http2 --http1.0; do
	same "1 MiB arrives whole ($v)" "$(cu $v https://nginx.example.test/big | sha256sum)" "$(sha256sum <"$work/www/big")"
done
same "HEAD has the length and no body" "$(cu -I --http1.1 https://nginx.example.test/big | tr -d '\r' | grep -i '^content-length')" "content-length: 1048576"
same "TLS 1.2" "$(cu --tls-max 1.2 https://nginx.example.test/hello)" "hello from nginx"
same "keep-alive: ten requests on one connection" "$(cu --http1.1 -o /dev/null -w '%{num_connects} ' https://nginx.example.test/hello -o /dev/null https://nginx.example.test/hello -o /dev/null https://nginx.example.test/hello)" "1 0 0 "
for p in https://odd.example.test http://oddplain.example.test; do
	same "chunks ($p)" "$(cu --http1.1 $p/chunked)" "one two three"
	same "a body that ends with its connection ($p)" "$(cu $p/to-close)" "until the end"
	same "early hints ($p)" "$(cu $p/hints)" "hello"
	same "many interim answers ($p)" "$(cu $p/continues)" "hello"
	echo "some words" >"$work/ws/words"
	holds "a body with a length ($p)" "$(cu --http1.1 --data-binary @words $p/echo)" '"body": "some words\n"'
	holds "a body in chunks ($p)" "$(cu --http1.1 -H 'transfer-encoding: chunked' --data-binary @words $p/echo)" '"body": "some words\n"'
	holds "Expect: 100-continue ($p)" "$(cu --http1.1 -H 'expect: 100-continue' --data-binary @words $p/echo)" '"body": "some words\n"'
	holds "HTTP/1.0 with a body ($p)" "$(cu --http1.0 --data-binary @words $p/echo)" '"body": "some words\n"'
done
holds "HTTP/2 to HTTP/1 with a body" "$(cu --http2 --data-binary @words https://odd.example.test/echo)" '"body": "some words\n"'
head -c 5000000 /dev/urandom >"$work/ws/five"
holds "5 MB go up whole" "$(cu --http1.1 --data-binary @five https://odd.example.test/echo)" "\"sha256\": \"$(sha256sum <"$work/ws/five" | cut -d' ' -f1)\""
holds "5 MB go up whole by HTTP/2" "$(cu --http2 --data-binary @five https://odd.example.test/echo)" "\"sha256\": \"$(sha256sum <"$work/ws/five" | cut -d' ' -f1)\""
same "20 MB come down whole, slowly read" "$(in_box web sh -c 'curl -sS https://odd.example.test/big/20000000 | (sleep 1; wc -c)')" 20000000
out=$(cu --http1.1 -H 'connection: close, x-mine' -H 'x-mine: 1' -H 'proxy-authorization: Basic eA==' https://odd.example.test/echo)
case $out in *x-mine* | *roxy-auth*) false ;; *'"method": "GET"'*) true ;; *) false ;; esac
check "what belongs to one connection stays there" $? "$out"

# --- refused ---------------------------------------------------------------------------------------

out=$(cu -w '\n%{http_code}' https://other.example.test/x)
holds "a host that no rule names is refused" "$out" "GET https://other.example.test/x was refused: denied by default"
holds "with the command that would allow it" "$out" "ostiary allow web 'GET other.example.test/x'"
same "as 403" "${out##*$'\n'}" 403
holds "a method that no rule allows is refused" "$(cu -X POST -d x https://nginx.example.test/hello)" "was refused"
out=$(cu -H 'accept: application/json' https://other.example.test/x)
python3 -c 'import json,sys; e = json.loads(sys.argv[1])["error"]; sys.exit(e["type"] != "ostiary_refused" or "other.example.test" not in e["allow"])' "$out"
check "in JSON for whoever accepts that" $? "$out"
holds "plain HTTP is judged by the same rules" "$(cu http://nginx2.example.test/x)" "was refused"
holds "a literal address of the world is refused" "$(cu http://192.0.2.1/)" "was refused"
same "a port that no rule names is refused at once" "$(in_box web curl -s -m 60 -o /dev/null -w '%{exitcode}' http://nginx.example.test:81/)" 7
holds "Host that differs from the name (case 86)" "$(cu -w '%{http_code}' -H 'host: odd.example.test' --http1.1 https://nginx.example.test/hello)" 421
holds "the same over plain HTTP" "$(cu -w '%{http_code}' -H 'host: oddplain.example.test' http://plain.example.test/hello)" 421
out=$(in_box web curl -s -m 60 -o /dev/null -w '%{exitcode}' --connect-to odd.example.test:443:nginx.example.test:443 https://odd.example.test/hello)
[ "$out" = 35 ] || [ "$out" = 56 ]
check "SNI that differs from the name that was looked up" $? "$out"

# --- origins that misbehave ------------------------------------------------------------------------

for p in https://odd.example.test http://oddplain.example.test; do
	for wrong in two-lengths length-and-chunks folded huge-head switch garbage nothing; do
		out=$(cu -w '\n%{http_code}' $p/$wrong)
		same "$wrong is 502 ($p)" "${out##*$'\n'}" 502
	done
	in_box web curl -sS -m 60 -o /dev/null $p/cut >/dev/null 2>&1
	[ $? != 0 ]
	check "an answer that is cut off is not taken for whole ($p)" $?
	in_box web curl -sS -m 60 -o /dev/null $p/reset >/dev/null 2>&1
	[ $? != 0 ]
	check "an answer that is reset is not taken for whole ($p)" $?
	same "an answer that nobody asked for reaches nobody ($p)" "$(cu --http1.1 $p/twice $p/hello)" "$(printf 'first\nhello')"
	holds "an answer before the end of the request ($p)" "$(cu --http1.1 -w '%{http_code}' --data-binary @five $p/early-answer)" 413
done
same "and the door still works" "$(cu https://nginx.example.test/hello)" "hello from nginx"
exit "$bad"
