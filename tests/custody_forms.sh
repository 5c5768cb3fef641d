#!/bin/bash
# suite: test=user soak=root,user timeout=400
# tier: where a value goes does not depend on who runs the keeper, so test runs it once
# custody_forms.sh - every form of a secret, with the programs that people use: the origin gets the value in exactly the
# declared slot, the box has never had anything but the placeholder.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
. tests/lib_door.sh
door_needs custody_forms curl openssl git /usr/bin/python3
door_trial 'DNS:*.forms.test'
cp tests/custody/forms_client.py "$work/ws/"
cp tests/custody/forms_client.js "$work/ws/" 2>/dev/null

# A value each, so that a mix-up shows. One has what must be escaped wherever it goes.
export K_BEARER=fake-bearer-value-00000001 K_BASIC=fake-basic-value-000000002 K_HEADER=fake-header-value-00000003
export K_QUERY='fake/query+value=000000004' K_PATH=700001:fake-path-value-5 K_COOKIE=fake-cookie-value-00000006
export K_JSON='fake-json-"value\00000007' K_FORM='fake form&value=00000008' K_WS=fake-ws-value-0000000009
export K_INJECT=fake-inject-value-000000010 K_PASS=fake-inject-pass-0000000011 K_PLAIN=fake-plain-value-000000012
export K_TWO=fake-two-forms-value-000000013 K_HTTP2=fake-http2-value-0000000014 K_PARAM=fake-inject-query-00000015
export K_GRPC=fake-grpc-value-00000000016 K_META=fake-metadata-value-000017
names=(K_GRPC K_META K_BEARER K_BASIC K_HEADER K_QUERY K_PATH K_COOKIE K_JSON K_FORM K_WS K_INJECT K_PASS K_PLAIN K_TWO K_HTTP2 K_PARAM)
flags=()
for line in "K_BEARER from env at bearer.forms.test as bearer" "K_BASIC from env at basic.forms.test as basic" \
	"K_HEADER from env at header.forms.test as header X-Api-Key" "K_QUERY from env at query.forms.test as query key" \
	"K_PATH from env at path.forms.test as path" "K_COOKIE from env at cookie.forms.test as cookie sid" \
	"K_JSON from env at json.forms.test as json /auth/token" "K_FORM from env at form.forms.test as form secret" \
	"K_WS from env at ws.forms.test as ws /d/token" "K_INJECT from env at inject.forms.test as bearer inject" \
	"K_PASS from env at pass.forms.test as basic inject user=me" "K_PARAM from env at param.forms.test as query key inject" \
	"K_PLAIN from env at plain.forms.test:80 as bearer plain" "K_TWO from env at two.forms.test/in/** as bearer,header x-token" \
	"K_GRPC from env at grpc.forms.test as bearer" "K_META from env at grpc.forms.test as header x-token" \
	"K_HTTP2 from env at h2.forms.test as bearer"; do
	flags+=(--secret "$line")
done
grpc=
if /usr/bin/python3 -c 'import grpc' 2>/dev/null; then
	/usr/bin/python3 tests/door/grpc_origin.py "$work/origin.pem" "$work/origin.key" "$work/metadata" >"$work/grpc" 2>/dev/null &
	door_pids+=($!)
	within 60 test -s "$work/grpc" && grpc=$(cat "$work/grpc")
	cp tests/door/grpc_client.py "$work/ws/"
fi
door_box f1 --allow "* grpc.forms.test:443 to=127.0.0.1:${grpc:-1} ca=$work/ca.pem" --allow "* *.forms.test:443 to=127.0.0.1:$h1 ca=$work/ca.pem" --allow "* h2.forms.test:443 to=127.0.0.1:$h2 ca=$work/ca.pem" \
	--allow "* plain.forms.test:80 to=127.0.0.1:$plain" "${flags[@]}" >"$work/start" 2>&1
check "the box starts with a secret of every form" $? "$(cat "$work/start")"

# sees HOST TEXT: does the origin's record of that host hold it?
sees() { grep -aqF -- "$2" "$work/seen/received-$1.forms.test" 2>/dev/null; }
arrived() { # name, host, text, answer
	sees "$2" "$3"
	check "$1" $? "answer: ${4:-}; seen: $(tail -c 300 "$work/seen/received-$2.forms.test" 2>&1)"
}
sh_box() { in_box f1 sh -c "$1" 2>&1; }
client() { in_box f1 /usr/bin/python3 forms_client.py "$@" 2>&1; }

for name in "${names[@]}"; do
	got=$(in_box f1 printenv "$name")
	[ -n "$got" ] && [ "$got" != "${!name}" ] && [ ${#got} -ge 8 ]
	check "$name: the box has a placeholder" $? "$got"
done

# --- heads ------------------------------------------------------------------------------------------
# shellcheck disable=SC2016
{
got=$(sh_box 'curl -s -m 60 -w " %{http_code}" -H "Authorization: Bearer $K_BEARER" https://bearer.forms.test/a')
holds "bearer: served" "$got" " 200"
arrived "bearer: the value arrived in its slot" bearer "authorization: Bearer $K_BEARER" "$got"
got=$(sh_box 'curl -s -m 60 -w " %{http_code}" -H "Authorization: token $K_BEARER" https://bearer.forms.test/b')
arrived "bearer: GitHub's word for it" bearer "authorization: token $K_BEARER" "$got"
got=$(sh_box 'curl -s -m 60 -w " %{http_code}" -u "$K_BASIC:" https://basic.forms.test/charges')
arrived "basic: as the user, as Stripe wants it" basic "Basic $(printf '%s:' "$K_BASIC" | base64 -w0)" "$got"
got=$(sh_box 'curl -s -m 60 -w " %{http_code}" -u "me:$K_BASIC" https://basic.forms.test/')
arrived "basic: as the password" basic "Basic $(printf 'me:%s' "$K_BASIC" | base64 -w0)" "$got"
got=$(sh_box 'curl -s -m 60 -w " %{http_code}" -H "X-Api-Key: $K_HEADER" https://header.forms.test/')
arrived "header" header "x-api-key: $K_HEADER" "$got"
got=$(sh_box 'curl -s -m 60 -w " %{http_code}" -G --data-urlencode "key=$K_QUERY" -d a=1 https://query.forms.test/q')
arrived "query: encoded anew" query "/q?key=fake%2Fquery%2Bvalue%3D000000004&a=1" "$got"
got=$(sh_box 'curl -s -m 60 -w " %{http_code}" "https://path.forms.test/bot$K_PATH/getMe?x=1"')
arrived "path: behind a word, as Telegram wants it" path "/bot700001%3Afake-path-value-5/getMe?x=1" "$got"
got=$(sh_box 'curl -s -m 60 -w " %{http_code}" -b "a=1; sid=$K_COOKIE; b=2" https://cookie.forms.test/')
arrived "cookie: among others" cookie "cookie: a=1; sid=$K_COOKIE; b=2" "$got"
got=$(sh_box 'curl -s -m 60 -w " %{http_code}" -H "X-Token: $K_TWO" https://two.forms.test/in/x')
arrived "two forms: the second" two "x-token: $K_TWO" "$got"
got=$(sh_box 'curl -s -m 60 -w " %{http_code}" -H "X-Token: $K_TWO" https://two.forms.test/out/x')
holds "a place with a path is no other path" "$got" " 403"
got=$(sh_box 'curl -s -m 60 -w " %{http_code}" -H "Authorization: Bearer $K_HTTP2" https://h2.forms.test/two')
if [ -n "$h2" ]; then arrived "HTTP/2" h2 "authorization: Bearer $K_HTTP2" "$got"; else skip "HTTP/2" "python3-h2 is missing"; fi
got=$(sh_box 'curl -s -m 60 -w " %{http_code}" -H "Authorization: Bearer $K_PLAIN" http://plain.forms.test/')
arrived "plain: where the line says so" plain "authorization: Bearer $K_PLAIN" "$got"

# --- inject -----------------------------------------------------------------------------------------

got=$(sh_box 'curl -s -m 60 -w " %{http_code}" https://inject.forms.test/none')
arrived "inject: into a request without any credential" inject "authorization: Bearer $K_INJECT" "$got"
got=$(sh_box 'curl -s -m 60 -w " %{http_code}" -H "Authorization: Bearer of-my-own-0000" -H "X-Api-Key: mine-too-000" https://inject.forms.test/own')
holds "inject: a credential that is not ours: served" "$got" " 200"
! sees inject of-my-own-0000 && ! sees inject mine-too-000
check "inject: and taken out" $?
same "inject: twice the value" "$(grep -aoF "$K_INJECT" "$work/seen/received-inject.forms.test" | wc -l)" 2
got=$(sh_box 'curl -s -m 60 -w " %{http_code}" https://pass.forms.test/repo')
arrived "inject: basic with the line's user" pass "Basic $(printf 'me:%s' "$K_PASS" | base64 -w0)" "$got"
got=$(sh_box 'curl -s -m 60 -w " %{http_code}" "https://param.forms.test/p?a=1"')
arrived "inject: a query" param "/p?a=1&key=$K_PARAM" "$got"
got=$(sh_box 'cd /tmp && git init -q r 2>/dev/null; cd r && git ls-remote https://pass.forms.test/repo.git; true')
arrived "inject: git without any credential" pass "GET /repo.git/info/refs" "$got"
git_cred='protocol=https\nhost=basic.forms.test\nusername=me\npassword='
got=$(sh_box "cd /tmp && git -c credential.helper='!f() { echo username=me; echo password=\$K_BASIC; }; f' ls-remote https://basic.forms.test/git-repo.git; true")
sees basic "GET /git-repo.git/info/refs"
check "git with a credential helper asks" $? "$got $git_cred"
}
# --- bodies -----------------------------------------------------------------------------------------

json=application/json
got=$(client post json.forms.test /j $json "" 0 '{"auth":{"user":"me","token":"' @j:K_JSON '"},"n":[1,2]}')
holds "json: served" "$got" "200"
want='{"auth":{"user":"me","token":"fake-json-\"value\\00000007"},"n":[1,2]}'
arrived "json: escaped anew, the rest as it was" json "$want" "$got"
same "json: with its length" "$(grep -aci 'content-length: 70' "$work/seen/received-json.forms.test")" "$([ ${#want} = 70 ] && echo 1 || echo 0)"
before=$(grep -aoF 'fake-json-\"value\\00000007' "$work/seen/received-json.forms.test" | wc -l)
for how in ":1" ":7" "gzip:0" "gzip:5" "deflate:3" "gzip, gzip:9"; do
	got=$(client post json.forms.test "/j" $json "${how%:*}" "${how##*:}" ' {"n":{"token":"x"},"auth":{"token":"' @j:K_JSON '"}} ')
	holds "json: ${how%:*} in pieces of ${how##*:}" "$got" "200"
done
after=$(grep -aoF 'fake-json-\"value\\00000007' "$work/seen/received-json.forms.test" | tr -d '\r' | wc -l)
[ "$after" -gt "$before" ]
check "json: compressed bodies arrive as they are read" $? "$before $after"
! grep -aqi content-encoding "$work/seen/received-json.forms.test"
check "json: and say so" $?
got=$(client large json.forms.test /large $json "" 0 3000000 '{"text":"@@","auth":{"token":"' @j:K_JSON '"},"more":"@@"}')
holds "json: a long one is streamed" "$got" "200"
got=$(client large json.forms.test /bomb $json gzip 0 30000000 '{"text":"@@","auth":{"token":"' @j:K_JSON '"}}')
holds "json: a little that grows to a lot is refused" "$got" "413"
got=$(client post json.forms.test /twice $json "" 0 '{"auth":{"token":"a","token":"' @j:K_JSON '"}}')
holds "json: a key twice is refused" "$got" "400"
got=$(client post json.forms.test /broken $json "" 0 '{"auth":{"token":"' @j:K_JSON '"}')
holds "json: what is no JSON is refused" "$got" "400"
got=$(client post json.forms.test /other $json "" 0 '{"auth":{"tokens":"' @j:K_JSON '"}}')
holds "json: another field is a leak" "$got" "403"
! sees json /bomb && ! sees json "/twice" && ! sees json "/broken" && ! sees json /other
check "json: none of these left" $?

form=application/x-www-form-urlencoded
# shellcheck disable=SC2016
got=$(sh_box 'curl -s -m 60 -w " %{http_code}" --data-urlencode "secret=$K_FORM" -d a=1 https://form.forms.test/f')
arrived "form: encoded anew" form "secret=fake%20form%26value%3D00000008&a=1" "$got"
got=$(client post form.forms.test /split $form "" 1 'b=2&secret=' @f:K_FORM)
holds "form: the last field, byte by byte" "$got" "200"
same "form: arrived as well" "$(grep -aoE 'secret=|fake%20form%26value%3D00000008' "$work/seen/received-form.forms.test" | sort | uniq -c | tr -s ' \n' ' ')" " 2 fake%20form%26value%3D00000008 1 secret= "
got=$(client post form.forms.test /name $form "" 0 'secrets=1&x=' @f:K_FORM '&y=2')
holds "form: another field is a leak" "$got" "403"

got=$(client ws ws.forms.test /w 5 '{"op":2,"d":{"token":"' @K_WS '"}}')
holds "ws: a message in fragments" "$got" "101 answered"
arrived "ws: has the value" ws '{"op":2,"d":{"token":"'"$K_WS"'"}}' "$got"
got=$(client ws ws.forms.test /w 500 '{"op":2,"x":{"token":"' @K_WS '"}}')
holds "ws: elsewhere it is a leak" "$got" "close"

# --- clients ----------------------------------------------------------------------------------------

if [ -x "$(command -v node)" ] && in_box f1 node -e 0 2>/dev/null; then
	got=$(in_box f1 node -e 'fetch("https://bearer.forms.test/node", {headers: {Authorization: "Bearer " + process.env.K_BEARER}}).then(r => console.log(r.status), e => console.log(e.cause || e))' 2>&1)
	holds "node: fetch" "$got" 200
	sees bearer "GET /node"
	check "node: arrived" $?
else
	skip "node" "there is no node that runs in the box"
fi
got=$(in_box f1 /usr/bin/python3 -c 'import os, urllib.request as u
r = u.Request("https://header.forms.test/py", headers={"X-Api-Key": os.environ["K_HEADER"]})
print(u.urlopen(r, timeout=100).status)' 2>&1)
holds "python: urllib" "$got" 200

if [ -n "$grpc" ]; then
	# shellcheck disable=SC2016
	got=$(in_box f1 /usr/bin/python3 grpc_client.py unary grpc.forms.test /opentelemetry.proto.collector.trace.v1.TraceService/Export 100 \
		'authorization=Bearer $K_GRPC' 'x-token=$K_META' 'x-other=1' 2>&1 | tail -n 1)
	same "gRPC metadata: the call works, and what comes back in its trailers is the placeholder" "$got" "got 100 100 $(in_box f1 printenv K_META)"
	same "gRPC metadata: both values arrived" "$(grep -E '^(authorization|x-token|x-other):' "$work/metadata" | sort)" \
		$'authorization: Bearer '"$K_GRPC"$'\nx-other: 1\nx-token: '"$K_META"
	# shellcheck disable=SC2016
	got=$(in_box f1 /usr/bin/python3 grpc_client.py unary grpc.forms.test /opentelemetry.proto.collector.trace.v1.TraceService/Export 1 'x-other=$K_META' 2>&1 | tail -n 1)
	holds "gRPC metadata: under another name it is refused, as a gRPC status" "$got" PERMISSION_DENIED
else
	skip "gRPC metadata" "python3-grpcio is missing"
fi

# --- what nobody may see ----------------------------------------------------------------------------

log=$("$ostiary" log f1 --json 2>&1)
! grep -q 'fake-' <<<"$log"
check "the log shows no value" $?
holds "the log names the secrets that were shown" "$log" '"secrets":"K_BEARER"'
in_box f1 sh -c 'cat /proc/[0-9]*/environ 2>/dev/null; env' >"$work/env" 2>/dev/null
! grep -aq 'fake-' "$work/env"
check "no value is in the box's environment" $?
placeholder=$(in_box f1 printenv K_BEARER)
! grep -aqF "$placeholder" "$work"/seen/received-*
check "no placeholder reached an origin" $?
exit $bad
