#!/bin/bash
# suite: test=user soak=root,user timeout=300
# tier: what comes back does not depend on who runs the keeper, so test runs it once
# custody_scrub.sh - what comes back: an origin reflects the key it was shown in every writing, coding and frame that it
# knows. The box gets its placeholder in that very writing, and a searcher that shares no code with the program finds
# the value in nothing that the box received. The same requests from the host are the control: there the value is.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
. tests/lib_door.sh
door_needs custody_scrub openssl /usr/bin/python3 zstd
door_ca
/usr/bin/python3 "$top/tests/custody/echo_origin.py" "$work/origin.pem" "$work/origin.key" >"$work/ports" 2>"$work/origin.err" &
door_pids+=($!)
within 60 grep -q tls= "$work/ports"
check "the origin is up" $? "$(cat "$work/origin.err")"
tls=$(sed -n 's/tls=\([0-9]*\).*/\1/p' "$work/ports") tcp=$(sed -n 's/.*tcp=\([0-9]*\).*/\1/p' "$work/ports")
door_odd
cp tests/custody/echo_client.py tests/custody/trial_writings.py tests/door/sse_client.py "$work/ws/"
export FAKE_KEY='sk-fake-Zq9AbC+EfGh/jKl_MnOpQrStUvWx00777'
LONG_KEY=fake-long-$(printf '%04d-Long' {1..30} | tr -d '\n')
export LONG_KEY CERT_KEY=fake-Cert-Value-Of-Thirty-Two-00
door_cert named "DNS:$CERT_KEY.example.test"
/usr/bin/python3 "$top/tests/custody/echo_origin.py" "$work/named.pem" "$work/named.key" >"$work/named.ports" 2>"$work/origin.err" &
door_pids+=($!)
within 60 grep -q tls= "$work/named.ports"
check "an origin with a value in its certificate is up" $? "$(cat "$work/origin.err")"
printf 'key=%s\nlong=%s\ncert=%s\n' "$FAKE_KEY" "$LONG_KEY" "$CERT_KEY" >"$work/texts"

door_box scrub --secret "FAKE_KEY@api.example.test" --secret "LONG_KEY@long.example.test" \
	--secret "CERT_KEY@cert.example.test" --allow "$(tls_rule '*' wrong.example.test "$(sed -n 's/tls=\([0-9]*\).*/\1/p' "$work/named.ports")")" \
	--allow "$(tls_rule '*' long.example.test "$tls")" --allow "$(tls_rule '*' plain.example.test "$tls")" --allow "$(tls_rule '*' api.example.test "$tls")" --allow "$(tls_rule '*' odd.example.test "$odd_tls")" \
	--allow "tcp raw.example.test:2525 to=127.0.0.1:$tcp" >/dev/null
check "a box with a secret starts" $?
# shellcheck disable=SC2016
stand_in=$(in_box scrub sh -c 'printf %s "$FAKE_KEY"')
[ -n "$stand_in" ] && [ "$stand_in" != "$FAKE_KEY" ] && [ ${#stand_in} = ${#FAKE_KEY} ]
check "its key is a placeholder of the same length" $? "$stand_in"

# line_of CASE FILE: what the client said of it.
line_of() { awk -v c="$1" '$1 == c { print; exit }' "$work/$2"; }
# Cases that must come back with what was shown in them.
cases=()
for w in raw base64-0 base64-1 base64-2 base64url-0 base64url-1 base64url-2 hex hex-large percent-all percent-some percent-twice json html; do
	cases+=("writing=$w" "writing=$w&coding=gzip")
done
codings="gzip deflate raw-deflate members zstd twice"
if /usr/bin/python3 -c 'import brotli' 2>/dev/null; then codings="$codings br"; else skip "brotli" "python3-brotli is missing"; fi
for c in $codings; do
	cases+=("coding=$c" "coding=$c&frame=bytes")
done
for f in bytes header trailer error hint close; do
	cases+=("frame=$f")
done
cases+=("ws:" "tcp:2525")

in_box_time=150 in_box scrub /usr/bin/python3 echo_client.py api.example.test 443 "" "$stand_in" box.seen "${cases[@]}" >"$work/box.out" 2>"$work/box.err"
check "the box asked for all of it" $? "$(tail -n 3 "$work/box.err")"
"$ostiary" cp -q scrub:"$work/ws/box.seen" "$work/box.seen" 2>/dev/null || in_box scrub cat box.seen >"$work/box.seen"
(cd "$work" && ECHO_ADDRESS=127.0.0.1 ECHO_TCP=127.0.0.1 /usr/bin/python3 "$top/tests/custody/echo_client.py" api.example.test "$tls" \
	"$work/ca.pem" "$FAKE_KEY" "$work/host.seen" "${cases[@]/tcp:2525/tcp:$tcp}" >"$work/host.out" 2>"$work/host.err")
for one in "${cases[@]}"; do
	one=${one/tcp:2525/tcp}
	same "the placeholder stands where the key stood: $one" "$(line_of "$one" box.out)" "$one found"
	same "control, without the door it is the key: $one" "$(line_of "$one" host.out)" "$one found"
done
same "four fields of a head" "$(grep fields "$work/box.out")" "header fields with it: 4"
/usr/bin/python3 tests/custody/trial_search.py "$work/texts" file "$work/box.seen" >"$work/hits" 2>&1
check "the value is in nothing that the box received" $? "$(head -n 3 "$work/hits")"
/usr/bin/python3 tests/custody/trial_search.py "$work/texts" file "$work/host.seen" >"$work/hits" 2>&1
[ "$(awk '{ print $2 }' "$work/hits" | sort -u | wc -l)" -ge 3 ]
check "control: the searcher finds it in what the host received" $? "$(head -n 3 "$work/hits")"

# What cannot be read does not pass.
broken=("coding=unknown" "coding=cut" "coding=lie" "coding=cut&frame=bytes" "frame=name" "frame=trailer-name" "frame=grpc"
	"writing=percent-all&frame=name" "writing=percent-twice&frame=name" "writing=hex&frame=name" "frame=types")
in_box_time=150 in_box scrub /usr/bin/python3 echo_client.py api.example.test 443 "" "$stand_in" bad.seen "${broken[@]}" >"$work/bad.out" 2>"$work/box.err"
in_box scrub cat bad.seen >"$work/bad.seen"
for one in coding=unknown frame=name "writing=percent-all&frame=name" "writing=percent-twice&frame=name" "writing=hex&frame=name" frame=types; do
	same "502: $one" "$(line_of "$one" bad.out)" "$one 502"
done
for one in coding=cut coding=lie "coding=cut&frame=bytes" frame=trailer-name frame=grpc; do
	same "it breaks off: $one" "$(line_of "$one" bad.out)" "$one broke"
done
/usr/bin/python3 tests/custody/trial_search.py "$work/texts" file "$work/bad.seen" >"$work/hits" 2>&1
check "and the value is in none of it" $? "$(head -n 3 "$work/hits")"
"$ostiary" log scrub >"$work/log" 2>&1
holds "the log says why" "$(cat "$work/log")" "cannot be searched for secrets"

# A sentence of ours that quotes the names of a certificate.
in_box_time=150 in_box scrub /usr/bin/python3 echo_client.py wrong.example.test 443 "" "nothing-of-value" cert.seen writing=raw >/dev/null 2>&1
in_box scrub cat cert.seen >"$work/cert.seen"
holds "a certificate for another name is told" "$(cat "$work/cert.seen")" "is for another name"
# shellcheck disable=SC2016
holds "with the placeholder where its names have a value" "$(tr A-Z a-z <"$work/cert.seen")" "$(in_box scrub sh -c 'printf %s "$CERT_KEY"' | tr A-Z a-z)"
! grep -aqiF -e "$CERT_KEY" "$work/cert.seen"
check "and not the value" $?
! "$ostiary" log scrub 2>&1 | grep -aqiF -e "$CERT_KEY"
check "nor in the log" $?

# Files that are packed, in a body that has no coding: they cannot be written anew, so they do not pass.
packed=()
for k in gzip zlib zstd zip zip-stored tgz zip-in-gzip; do
	packed+=("pack=$k" "pack=$k&frame=bytes" "pack=$k&frame=close")
done
packed+=("pack=tar" "pack=tgz-large" "pack=tgz-large&value=none" "pack=zip-large&value=none" "pack=zstd-large&value=none")
in_box_time=150 in_box scrub /usr/bin/python3 echo_client.py api.example.test 443 "" "$stand_in" packed.seen "${packed[@]}" >"$work/packed.out" 2>"$work/box.err"
check "the box asked for files that are packed" $? "$(tail -n 3 "$work/box.err")"
(cd "$work" && ECHO_ADDRESS=127.0.0.1 /usr/bin/python3 "$top/tests/custody/echo_client.py" api.example.test "$tls" "$work/ca.pem" "$FAKE_KEY" \
	"$work/packed.host" "${packed[@]}" >"$work/packed.host.out" 2>"$work/host.err")
for k in gzip zlib zstd zip zip-stored tgz zip-in-gzip; do
	same "502: a file of $k" "$(line_of "pack=$k" packed.out)" "pack=$k 502"
	case $(line_of "pack=$k&frame=bytes" packed.out) in *" 502" | *" broke") true ;; *) false ;; esac
	check "nor does it pass byte by byte: $k" $? "$(line_of "pack=$k&frame=bytes" packed.out)"
	case $(line_of "pack=$k&frame=close" packed.out) in *" 502" | *" broke") true ;; *) false ;; esac
	check "nor without a length: $k" $? "$(line_of "pack=$k&frame=close" packed.out)"
done
same "a tar is text" "$(line_of pack=tar packed.out)" "pack=tar found"
case $(line_of pack=tgz-large packed.out) in *" 502" | *" broke") true ;; *) false ;; esac
check "a large one breaks off" $? "$(line_of pack=tgz-large packed.out)"
for k in tgz zip zstd; do
	holds "control: a large $k without it passes" "$(line_of "pack=$k-large&value=none" packed.out)" " 200 "
	same "control: byte for byte, $k" "$(awk -v c="pack=$k-large&value=none" '$1 == c { print $3 }' "$work/packed.out")" \
		"$(awk -v c="pack=$k-large&value=none" '$1 == c { print $3 }' "$work/packed.host.out")"
done
in_box scrub cat packed.seen >"$work/packed.seen"
unpacks() {
	/usr/bin/python3 - "$1" "$2" <<-'PY'
		import sys, zlib
		seen, key = open(sys.argv[1], "rb").read(), sys.argv[2].encode()
		found, at = key in seen, -1
		while not found and (at := seen.find(b"\x1f\x8b\x08", at + 1)) >= 0:
		    try:
		        found = key in zlib.decompressobj(31).decompress(seen[at:])
		    except zlib.error:
		        pass
		print("yes" if found else "no")
	PY
}
same "the value is in no file that the box received" "$(unpacks "$work/packed.seen" "$FAKE_KEY")" no
same "control: it is in what the host received" "$(unpacks "$work/packed.host" "$FAKE_KEY")" yes

# Ranges: a part may begin or end in the middle of the value, which stands at 100 to 140. Where it is shown, the whole is asked for.
out=$(in_box_time=150 in_box scrub /usr/bin/python3 echo_client.py api.example.test 443 "" "$stand_in" part.seen kept:0-239 kept:110-239 kept:0-120 kept:105-107 "kept:0-80,105-200" 2>&1)
for one in 0-239 110-239 0-120 105-107 0-80,105-200; do
	holds "a range is answered whole, with the placeholder: $one" "$out" "kept:$one 200 whole"
done
in_box scrub cat part.seen >"$work/part.seen"
pieces=$(/usr/bin/python3 - "$work/part.seen" "$FAKE_KEY" <<-'PY'
	import sys
	seen, key = open(sys.argv[1], "rb").read(), sys.argv[2].encode()
	print(sum(key[i:i + 6] in seen for i in range(8, len(key) - 5)))
PY
)
same "no piece of the value is in it" "$pieces" 0
out=$(in_box_time=150 in_box scrub /usr/bin/python3 echo_client.py plain.example.test 443 "" "nothing-of-value-in-a-page-of-one's-own" part.seen kept:105-107 kept:0-120 2>&1)
holds "elsewhere a range is a range" "$out" "kept:105-107 206"

# Tokens that are born in an answer.
out=$(in_box_time=150 in_box scrub /usr/bin/python3 echo_client.py api.example.test 443 "" "$stand_in" token.seen token:/oauth/token token:/form/token token:/long/oauth/token 2>&1)
holds "tokens in JSON become placeholders" "$out" "token:/oauth/token 200 hides all"
holds "tokens in a form too" "$out" "token:/form/token 200 hides all"
holds "an answer too long to be read is 502" "$out" "token:/long/oauth/token 502 hides all"
holds "the placeholder works where the token would" "$out" "whoami you showed access_token"
out=$(cd "$work" && ECHO_ADDRESS=127.0.0.1 /usr/bin/python3 "$top/tests/custody/echo_client.py" api.example.test "$tls" "$work/ca.pem" x "$work/token.host" token:/oauth/token token:/form/token 2>&1)
holds "control: the host sees the tokens" "$out" "token:/oauth/token 200 shows one"
holds "control: in a form too" "$out" "token:/form/token 200 shows one"

# Halves of it in two WebSocket messages: a message waits for nothing, but the second half is not the value's.
out=$(in_box_time=150 in_box scrub /usr/bin/python3 echo_client.py api.example.test 443 "" "$stand_in" halves.seen halves: 2>&1)
same "halves in two WebSocket messages" "$out" "halves: second half is mine"
in_box scrub cat halves.seen >"$work/halves.seen"
! grep -aqF -e "${FAKE_KEY:20}" "$work/halves.seen"
check "the second half of the value is in nothing that the box received" $?

# Guesses of the first letters, sent back by an origin that then waits: a right one looks like a wrong one. Where no
# value is shown, nothing waits for long; where one is, a line that is not whole waits, whatever is in it.
for one in plain:60:early api:3:late; do
	IFS=: read -r where most when <<<"$one"
	out=$(in_box_time=150 in_box scrub /usr/bin/python3 echo_client.py "$where.example.test" 443 "" "$stand_in" guess.seen "guess:$most:$FAKE_KEY" 2>&1)
	for n in 1 2 3 4 5 6 7 8; do
		holds "a right guess of $n letters looks like a wrong one, $where" "$out" "guess of $n same"
	done
	holds "that is $when, $where" "$out" "guess of 8 same $when"
done

# Nothing is held back without need.
same "an event stream arrives event by event" "$(in_box scrub python3 sse_client.py https://odd.example.test "s$RANDOM" 2>&1)" "events 20"
exit "$bad"
