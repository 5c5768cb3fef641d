#!/bin/bash
# suite: test=user soak=root,user timeout=1800
# tier: test draws 2,000 attempts as user (each dimension comes up twenty times and more), soak 20,400 as root and 4,000 as user
# custody_trial.sh - the exfiltration trial: an attacker that owns the box tries, in soak 20,000 times and more, drawn with a
# seed, to get a placeholder out or a real value in. Origins keep every byte they receive, the attacker every byte it
# receives and everything it can read. Then a searcher of its own looks for the values and the placeholders, in every
# form: values only where they belong, nothing of them in the box; placeholders nowhere outside.
#
# TRIAL_SEED and TRIAL_COUNT choose another trial.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
. tests/lib_door.sh
. tests/lib_tier.sh
door_needs custody_trial openssl /usr/bin/python3 curl
python=/usr/bin/python3
seed=${TRIAL_SEED:-20261116}
long=4000
[ "$(id -u)" != 0 ] || long=20400
count=${TRIAL_COUNT:-$(by_tier 2000 $long)}
search() { $python "$top/tests/custody/trial_search.py" "$@"; }

# --- origins, secrets, box --------------------------------------------------------------------------

door_ca
door_cert origin 'DNS:*.example.test,DNS:api.anthropic.com'
mkdir -p "$work/received" "$work/ws/trial" "$work/ws/out"
cp tests/custody/trial_agent.py tests/custody/trial_writings.py "$work/ws/trial/"
$python tests/custody/trial_origin.py "$work/received" "$work/origin.pem" "$work/origin.key" >"$work/ports" 2>"$work/origin.err" &
door_pids+=($!)
within 60 test -s "$work/ports"
check "the trial's origins are up" $? "$(tail -n 3 "$work/origin.err")"
h1='' h2='' plain='' tcp=''
eval "$(tr ' ' '\n' <"$work/ports")"
[ -n "$h2" ] || h2=$h1

random_text() { # prefix, length
	printf '%s%s' "$1" "$($python -c 'import random,sys; r = random.Random(sys.argv[1]); print("".join(r.choice("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") for _ in range(int(sys.argv[2]))))' "$seed $1" "$2")"
}
TRIAL_BEARER=$(random_text sk-ant-api03- 60)
TRIAL_APIKEY=$(random_text sk-proj- 48)
TRIAL_BASIC=$(random_text ghp_ 36)
TRIAL_QUERY=$(random_text AIza 35)
export TRIAL_BEARER TRIAL_APIKEY TRIAL_BASIC TRIAL_QUERY
for name in TRIAL_BEARER TRIAL_APIKEY TRIAL_BASIC TRIAL_QUERY; do echo "$name=${!name}"; done >"$work/values"

# --- the searcher can find: before anything else ----------------------------------------------------

mkdir -p "$work/planted"
$python - "$top/tests/custody" "$work/planted" "$TRIAL_BEARER" <<'PLANT'
import gzip, os, sys
sys.path.insert(0, sys.argv[1])
from trial_writings import WRITINGS
for name, write in WRITINGS.items():
    open(os.path.join(sys.argv[2], name), "w").write("x" * 1000 + write(sys.argv[3]) + "y" * 1000)
open(os.path.join(sys.argv[2], "gzip"), "wb").write(b"abc" + gzip.compress(b"q" * 99 + sys.argv[3].encode()))
PLANT
missed=
for f in "$work"/planted/*; do search "$work/values" file "$f" >/dev/null && missed+=" ${f##*/}"; done
same "control: the searcher finds a planted value in $(find "$work/planted" -type f | wc -l) forms" "$missed" ""
rm -rf "$work/planted"
$python -c 'import sys, time; v = sys.stdin.read(); print("read", flush=True); time.sleep(600)' <"$work/values" >"$work/planted.read" &
planted=$!
door_pids+=("$planted")
within 60 test -s "$work/planted.read"
search "$work/values" memory "$planted" >/dev/null 2>&1
same "control: and in the memory of a process" $? 1
kill "$planted" 2>/dev/null
out=$(curl -sS -m 60 --cacert "$work/ca.pem" --resolve "bearer.example.test:$h1:127.0.0.1" -H "authorization: Bearer $TRIAL_BEARER" \
	-H 'x-reflect: authorization raw identity length' "https://bearer.example.test:$h1/" 2>&1)
holds "control: the origin does send the value back" "$out" "$TRIAL_BEARER"
rm -f "$work"/received/*

# --- the trial --------------------------------------------------------------------------------------

cat >"$work/policy" <<-RULES
	allow * bearer.example.test to=127.0.0.1:$h1 ca=$work/ca.pem
	allow * basic.example.test to=127.0.0.1:$h1 ca=$work/ca.pem
	allow * query.example.test to=127.0.0.1:$h1 ca=$work/ca.pem
	allow * apikey.example.test to=127.0.0.1:$h2 ca=$work/ca.pem
	allow * stranger.example.test to=127.0.0.1:$h1 ca=$work/ca.pem
	allow * stranger2.example.test to=127.0.0.1:$h2 ca=$work/ca.pem
	allow * api.anthropic.com to=127.0.0.1:$h1 ca=$work/ca.pem
	deny * denied.example.test
	ask * asked.example.test to=127.0.0.1:$h1 ca=$work/ca.pem
	allow * plain.example.test:80 to=127.0.0.1:$plain
	tcp tcp.example.test:7777 to=127.0.0.1:$tcp
	secret TRIAL_BEARER from env at bearer.example.test as bearer
	secret TRIAL_APIKEY from env at apikey.example.test as header x-api-key
	secret TRIAL_BASIC from env at basic.example.test as basic
	secret TRIAL_QUERY from env at query.example.test as query key
RULES
door_box trial --policy "$work/policy" 2>"$work/create.err"
check "a box with four secrets starts" $? "$(cat "$work/create.err")"
in_box trial env 2>/dev/null | grep '^TRIAL_' >"$work/placeholders"
same "it has a placeholder for each" "$(grep -c . "$work/placeholders")" 4
search "$work/values" file "$work/placeholders" >/dev/null
same "which is not the value" $? 0

(in_box_time=1700 in_box trial $python trial/trial_agent.py "$seed" "$count" "$work/ws/out" >"$work/agent.out" 2>&1 || echo "exit $?" >>"$work/agent.out") &
agent=$!
# The state directory is where the box's layers lie; the workspace's is what the attacker writes into.
upper=$(echo "$work"/home/.local/state/ostiary/boxes/trial*/layers/ws/upper)
[ -d "$upper" ] || upper=$(find "$work/home/.local/state/ostiary/boxes" -maxdepth 4 -type d -path '*layers/ws/upper' 2>/dev/null | head -n 1)
within 60 test -e "$upper/out/held"
check "the attacker is in the middle of a request" $? "$(tail -n 3 "$work/agent.out")"
within 60 grep -q "$TRIAL_BEARER" "$work/received/received-bearer.example.test"
check "whose credential has reached the origin" $? "$(ls "$work/received")"
# Every process whose parent chain leads to the box's first: all that run with its command line or below it.
box_pids() {
	$python - <<'PIDS'
import os
kids = {}
for p in filter(str.isdigit, os.listdir("/proc")):
    try:
        f = open("/proc/%s/stat" % p).read().rsplit(")", 1)[1].split()
        kids.setdefault(f[1], []).append(p)
    except OSError:
        pass
def below(p):
    for k in kids.get(p, []):
        yield k
        yield from below(k)
want = os.environ["TRIAL_MARK"]
for p in filter(str.isdigit, os.listdir("/proc")):
    try:
        if want.encode() in open("/proc/%s/cmdline" % p, "rb").read() and b"trial_agent" in open("/proc/%s/cmdline" % p, "rb").read() and b"exec" not in open("/proc/%s/cmdline" % p, "rb").read():
            print(p, *below(p))
    except OSError:
        pass
PIDS
}
# Where it writes is among its arguments, and tells it from the attacker of another run beside this one.
export TRIAL_MARK=$work/ws/out
mapfile -t pids < <(box_pids | tr ' ' '\n' | grep . | sort -u)
[ "${#pids[@]}" -gt 0 ]
check "its processes are found from outside" $?
out=$(search "$work/values" memory "${pids[@]}" 2>&1)
code=$?
if [ "$code" = 2 ] && [ "$(id -u)" != 0 ]; then
	skip "the box's memory in the middle of a request" "this user may not read it: $(one_line "$out")"
else
	same "the box's memory holds no value in the middle of a request" "$code $out" "0 "
fi
out=$(search "$work/placeholders" memory "${pids[@]}" 2>&1)
[ $? != 0 ]
check "control: it holds the placeholders" $? "$out"
touch "$work/received/go"
wait "$agent"
same "the attacker came to its end" "$(grep -v '^ostiary: ' "$work/agent.out" | tail -n 1)" "that is all"

# --- what came of it --------------------------------------------------------------------------------

sed 's/^/  /' "$upper/out/counts" 2>/dev/null | head -n 120
total=$(awk -F'\t' '$1 == "kind" { n += $3 } END { print n + 0 }' "$upper/out/counts" 2>/dev/null)
[ "${total:-0}" -ge "$count" ]
check "$count attempts and more were made" $? "${total:-0}"
none=
for want in kind/leak kind/echo kind/name 'kind/ws leak' 'kind/ws echo' kind/raw kind/file kind/proc kind/memory kind/core kind/hold \
	slot/authorization slot/x-api-key slot/user-agent slot/referer slot/cookie slot/x-custom slot/header-name slot/query slot/query-name slot/path \
	slot/body slot/json slot/form slot/multipart slot/trailer slot/declared slot/dns slot/sni slot/message slot/stream slot/plain \
	writing/raw writing/base64-0 writing/base64-1 writing/base64-2 writing/base64url-0 writing/base64url-1 writing/base64url-2 writing/hex \
	writing/hex-large writing/percent-all writing/percent-some writing/percent-twice writing/json writing/html writing/base32 \
	writing/lines-json writing/lines-json-twice writing/lines-json-crlf writing/lines-percent writing/lines-percent-crlf writing/lines-html \
	writing/lines-unicode writing/base64-twice writing/base64-of-hex writing/hex-of-base64 writing/base32-0 writing/base32-1 writing/base32-3 \
	writing/cut-head writing/cut-tail writing/octal writing/braces writing/percent-u writing/bytes-json writing/bytes \
	writing/pairs writing/pairs-blank writing/soft-lines slot/parts \
	split/whole split/halves split/bytes split/chunks split/chunk-bytes protocol/h1 protocol/h2 protocol/ws protocol/dns protocol/tls protocol/http protocol/tcp \
	coding/identity coding/gzip coding/deflate coding/br coding/twice frame/length frame/chunks frame/bytes frame/trailer frame/header \
	answer/200 answer/403; do
	awk -F'\t' -v w="$want" '$1 "/" $2 == w && $3 > 0 { f = 1 } END { exit !f }' "$upper/out/counts" 2>/dev/null || none+=" $want"
done
same "no dimension is empty" "$none" ""
# What the attacker took is written into the workspace's layer, so one search of all layers sees it too.
search "$work/values" file "$(dirname "$(dirname "$(dirname "$upper")")")/layers" >"$work/hits" 2>&1
code=$?
for what in traffic loot; do
	out=$(grep -aF " $upper/out/$what" "$work/hits" | sort | uniq -c | head -n 5)
	[ -s "$upper/out/$what" ] && [ "$code$out" = 0 ]
	check "no value in the $what of the box ($(stat -c %s "$upper/out/$what") bytes)" $? "$code $out"
done
same "nor in any file of it, seen from the host" "$(sort "$work/hits" | uniq -c | head -n 5)" ""
out=$(search "$work/placeholders" file "$upper/out/traffic" | cut -d' ' -f1 | sort -u | tr '\n' ' ')
holds "control: what came back holds the placeholders in their place" "$out" "TRIAL_APIKEY TRIAL_BASIC TRIAL_BEARER "

for pair in TRIAL_BEARER:bearer TRIAL_APIKEY:apikey TRIAL_BASIC:basic; do
	name=${pair%%:*} place=${pair##*:}.example.test
	grep "^$name=" "$work/values" >"$work/one"
	search "$work/one" file "$work/received/received-$place" >/dev/null
	same "control: $name reached $place" $? 1
	others=()
	for f in "$work"/received/received-*; do [ "${f##*/}" = "received-$place" ] || others+=("$f"); done
	out=$(search "$work/one" file "${others[@]}" 2>&1 | sort | uniq -c | head -n 5)
	same "and nobody else (${#others[@]} others)" "$out" ""
done
strangers=()
for f in "$work"/received/received-*; do [ "${f##*/}" = received-api.anthropic.com ] || strangers+=("$f"); done
# Nothing is held back in a raw stream, which is cut when a placeholder is whole: what speaks there is not known, so the end
# of a message is not either, and both ends may wait for the letters that would be held. A half of a placeholder may so have
# left before the piece that makes it whole is stopped; it is worth as little as the whole. Only its ends are excepted here.
out=$(search "$work/placeholders" file "${strangers[@]}" 2>&1 | grep -av '^[A-Z_]* \(first 32\|last 16\).*/received-tcp ' | sort | uniq -c | sort -rn | head -n 8)
same "no placeholder reached an origin that is not a model's (${#strangers[@]} origins)" "$out" ""
[ "$("$ostiary" log trial --json 2>/dev/null | grep -c '"kind": *"alarm"')" -gt 100 ]
check "alarms are in the log" $? "$("$ostiary" log trial --json 2>/dev/null | tail -n 1)"
exit "$bad"
