#!/bin/bash
# suite: test=user soak=root,user timeout=300
# tier: the door serves many alike whoever starts the box; 200 transfers in test, 500 and both users in soak
# shellcheck disable=SC2317 # the parts are called by name
# door_many.sh - a program that asks for hundreds of things at once gets every one of them, with the right bytes: also
# when it opens all its connections first and comes to each only after a while, when the door has fewer places or less
# memory than it opens connections (those wait in the kernel's queue), and on a busy machine. What the door closes it tells.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
. tests/lib_door.sh
. tests/lib_tier.sh
door_needs door_many curl openssl /usr/sbin/nginx /usr/bin/python3
door_ca && door_nginx
check "the origin is up" $? "$(cat "$work/nginx.err")"
all=$(by_tier 200 500) at_once=$(by_tier 150 300)
a_few=100 # curl itself needs descriptors, of which the box has as many as its door
head -c 20000 /dev/urandom >"$work/www/piece"
piece=$(sha256sum <"$work/www/piece" | cut -d' ' -f1)
rules=(--allow "$(tls_rule GET a.example.test "$nginx_tls")" --allow "$(plain_rule GET a.example.test "$nginx_plain")"
	--allow "GET a.example.test:8443 to=127.0.0.1:$nginx_tls ca=$work/ca.pem")
cat >"$work/ws/many.sh" <<'SH'
# many.sh ALL AT_ONCE FLAG...: prints how often which status and error came, and which bytes.
all=$1 at_once=$2
shift 2
rm -rf got && mkdir got && cd got || exit 1
curl -s -m 250 -Z --parallel-max "$at_once" "$@" -o '#1' -w '%{http_code} %{errormsg}\n' "https://a.example.test/piece?[1-$all]" 2>/dev/null |
	grep -v DL% | sed 's/ *$//' | sort | uniq -c | awk '{$1=$1; print}' | tr '\n' ' '
for f in *; do sha256sum <"$f" | cut -d' ' -f1; done | sort | uniq -c | awk '{$1=$1; print}'
SH
# many WORDS BOX AT_ONCE FLAG...
many() {
	local words=$1 box=$2
	shift 2
	same "$words" "$(in_box_time=280 in_box "$box" sh many.sh "$all" "$@")" "$all 200 $all $piece"
}
denied() { "$ostiary" log "$1" --denied 2>&1; }

plenty() {
	door_box many "${rules[@]}" >/dev/null
	check "a box starts" $?
	many "many at once, HTTP/1.1" many "$at_once" --http1.1
	many "many at once, HTTP/2" many "$at_once" --http2
	same "nothing of it was refused" "$(denied many)" ""
	"$ostiary" rm -f many >/dev/null
}

# With 3,000 descriptors the door has 64 places.
few() {
	(ulimit -n 3000 && door_box few "${rules[@]}" >/dev/null)
	check "a box starts with few descriptors" $?
	many "more at once than the door has places, HTTP/1.1" few $a_few --http1.1
	! is_soak || many "more at once than the door has places, HTTP/2" few $a_few --http2
	"$ostiary" rm -f few >/dev/null
	door_box small --limit door-memory=8M "${rules[@]}" >/dev/null
	check "a box starts with little memory for the door" $?
	many "more at once than the door has memory for, HTTP/1.1" small $a_few --http1.1
	! is_soak || many "more at once than the door has memory for, HTTP/2" small $a_few --http2
	"$ostiary" rm -f small >/dev/null
}

# A client that is slow with each: in the test build, whose limits are a tenth. 10 s for a head are 1 s there, and
# 5 minutes of silence 30 s.
late() {
	local weak=${OSTIARY_WEAK:-$top/out/weak/ostiary} n
	[ -x "$weak" ] || { check "the test build is there" 1 "$weak is missing" && return; }
	n=$(by_tier 40 300)
	cp tests/door/late_client.py "$work/ws/"
	export OSTIARY_SCALE=10
	ostiary=$weak door_box late "${rules[@]}" >/dev/null
	check "a box of the test build starts" $?
	# So that the door has heard who speaks first on this port; a first try may be too slow for a tenth of 3 s.
	ostiary=$weak within 60 in_box late curl -sf -o /dev/null https://a.example.test:8443/hello
	check "a port that is not HTTP's is spoken to" $?
	client() { ostiary=$weak in_box late /usr/bin/python3 late_client.py a.example.test "$@" 2>&1; }
	same "late with TLS" "$(client 443 "$n" 2 open shake ask)" "open 200=$n; shake 200=$n; ask 200=$n; "
	same "late on another port" "$(client 8443 "$n" 2 open ask)" "open 200=$n; ask 200=$n; "
	same "late without TLS" "$(client 80 "$n" 2 open)" "open 200=$n; "
	same "nothing of it was refused" "$(ostiary=$weak denied late | grep -v 'speak first')" ""
	same "half a head is answered 408 after its time" "$(client 443 2 0 half)" "half 408=2; "
	holds "and told" "$(ostiary=$weak denied late)" "did not come to its end within 10 s"
	"$weak" rm -f late >/dev/null
	unset OSTIARY_SCALE
}
run_parts plenty few late
exit $bad
