#!/bin/bash
# suite: test=user soak=root,user timeout=400
# tier: a protocol does not depend on who runs the keeper, so test runs it once
# custody_frames.sh - HTTP/2 around a secret, frame by frame: blocks that are cut in a placeholder, padding, priorities, pseudo
# headers that come twice, trailers with a slot's name, tables; answers that bring a value back in odd frames; and requests
# that are sent again (GOAWAY, REFUSED_STREAM, a connection that ends) with what the keeper put in. The origin writes down
# what reaches it: values in their slots and at their places, and nothing else.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
. tests/lib_door.sh
python=/usr/bin/python3
door_needs custody_frames openssl $python curl
$python -c 'import hpack' 2>/dev/null || { skip custody_frames "python's hpack is missing" && exit 0; }
door_ca
door_cert origin 'DNS:*.example.test'
mkdir "$work/state"
$python tests/custody/frames_origin.py "$work/state" "$work/origin.pem" "$work/origin.key" >"$work/port" 2>"$work/origin.err" &
door_pids+=($!)
within 60 test -s "$work/port"
check "the origin is up" $? "$(cat "$work/origin.err")"
port=$(cat "$work/port")
cp tests/custody/frames_client.py tests/door/h2raw.py "$work/ws/"

export KEY=sk-fake-Frame9dEfGh7jKlMnOpQrStUvWx0077 FIELD=wk-fake-Field9dEfGh7jKlMnOpQrStUvWx1188
export CRUMB=ck-fake-Crumb9dEfGh7jKlMnOpQrStUvWx2299
places=
for host in api goaway goaway-always refused refused-always hangup continued padding bytes trailed hinted unknown pushed; do
	places=$places${places:+,}$host.example.test
done
cat >"$work/policy" <<-RULES
	allow * *.example.test to=127.0.0.1:$port ca=$work/ca.pem
	secret KEY from env at $places as bearer
	secret FIELD from env at api.example.test as header X-Widget-Key
	secret CRUMB from env at api.example.test as cookie session
RULES
frames_box() {
	door_box "$1" --policy "$work/policy" >/dev/null 2>"$work/create.err"
	check "the box $1 starts" $? "$(cat "$work/create.err")"
}
frames_box frames
placeholder() { in_box frames printenv "$1"; }
key=$(placeholder KEY) field=$(placeholder FIELD) crumb=$(placeholder CRUMB)
[ -n "$key" ] && [ "$key" != "$KEY" ] && [ -n "$field" ] && [ "$field" != "$FIELD" ] && [ -n "$crumb" ] && [ "$crumb" != "$CRUMB" ]
check "what it has are placeholders" $?

# --- frames ------------------------------------------------------------------------------------------

# What must become of those that are not served; whatever is not here must be 200 and arrive, once.
cat >"$work/wanted" <<'WANTED'
another frame between head and continuation	goaway 1
another stream between head and continuation	goaway 1
continuation on another stream	goaway 1
a block without an end	closed
more padding than frame	goaway 1
depends on itself	reset 1|goaway 1
a placeholder in priority	403
path twice	reset 1
path twice, the other first	reset 1
authority twice	reset 1
authority twice, the other first	reset 1
authority twice, the same	reset 1
method twice	reset 1
scheme twice	reset 1
scheme http	400
a pseudo header behind the bearer	reset 1
an unknown pseudo header	reset 1
a status	reset 1
another authority	421
another host	400
host twice	400|reset 1
a placeholder as authority	421|400|403
a placeholder as scheme	400
a placeholder as method	400|403|501
a placeholder as protocol	501|reset 1
large letters	reset 1
a line end in the name	reset 1
a line end behind the placeholder	reset 1|400
a NUL behind the placeholder	reset 1|400
a blank behind the placeholder	403|400|reset 1
a foreign bearer besides it	403
connection names the field	reset 1|400
te names the field	reset 1|400|200
a cookie cut in its placeholder	403
a cookie of another name	403
another cookie of its name	403
the field has another's placeholder	403
the field as trailer	403
a foreign field as trailer	403
a foreign field as trailer with an underscore	403
a foreign key of another kind as trailer	403
a foreign field as trailer and none in the head	403
a placeholder in a trailer	403
a placeholder as a trailer's name	403
a pseudo header as trailer	reset 1
a second head	reset 1
a second head and its end	reset 1
its name by number, a foreign value	403
by its number when the table was emptied	goaway 9
an answer: pushed	502
WANTED
: >"$work/told"
for part in blocks padding pseudo crumbs trailers tables storm answers; do
	in_box frames $python frames_client.py "$part" >"$work/one" 2>"$work/client.err"
	check "the client came to the end of $part" $? "$(tail -n 1 "$work/client.err")"
	cat "$work/one" >>"$work/told"
done
# One line for each: ok, or what was wrong with it. What the box saw is searched for values, what the origin saw for the rest.
$python - "$work/told" "$work/wanted" "$work/state/seen" "$key" "$field" "$crumb" >"$work/judged" <<'PY'
import json, os, re, sys
told, wanted, seen = sys.argv[1:4]
stands = sys.argv[4:7]
values = [os.environ[n] for n in ("KEY", "FIELD", "CRUMB")]
want = dict(line.rstrip("\n").split("\t") for line in open(wanted))
arrived = {}
for line in open(seen, encoding="utf-8"):
    r = json.loads(line)
    at = [f.partition(":path: ")[2] for f in r["fields"] if ":path: " in f][0]
    arrived.setdefault(at, []).append(r)
def wrong_at_origin(r):
    rest = json.dumps(r)
    if any(s in rest or s.lower() in rest.lower() for s in stands):
        return "a placeholder arrived"
    if "foreign-credential" in rest:
        return "a foreign credential arrived"
    for f in r["fields"]:
        for name, value, shape in (("authorization", values[0], "!authorization: Bearer %s"), ("x-widget-key", values[1], "!x-widget-key: %s"),
                                   ("cookie", values[2], "!cookie: .*session=%s.*")):
            if value in f:
                if not re.fullmatch(shape % re.escape(value), f):
                    return "it is not in its slot, or may be indexed: " + f[:40]
                rest = rest.replace(value, "")
    return "a value arrived elsewhere" if any(v in rest for v in values) else ""
for line in open(told, encoding="utf-8"):
    name, what, came = json.loads(line)
    at = "/answer-" + name[11:] if name.startswith("an answer: ") else "/" + name.replace(" ", "-").replace(":", "")
    got = arrived.pop(at, [])
    why = "" if what in want.get(name, "200").split("|") else "it was " + what
    if any(v in came for v in values):
        why = "the value came down"
    if not why and what == "200" and len(got) != 1:
        why = "%d of it arrived" % len(got)
    if not why and what != "200" and got and not name.startswith("an answer: "):
        why = "it arrived"
    why = why or "".join(w for w in map(wrong_at_origin, got) if w)
    print("%s\t%s\t%s" % (name, what, why))
taken_back = arrived.pop("/taken-back", [])
for at, got in arrived.items():
    print("%s\t-\tnobody asked for it" % at)
print("heads that were taken back\t-\t" + "".join(w for w in map(wrong_at_origin, taken_back) if w))
PY
while IFS=$'\t' read -r name what why; do
	same "$name ($what)" "$why" ""
done <"$work/judged"
[ "$(wc -l <"$work/judged")" -ge 140 ]
check "all of them were judged" $? "$(wc -l <"$work/judged")"
# The slot that belongs to the name, for those that follow a storm of heads that were taken back.
same "control: values arrived in all three slots" "$(grep -c -e "authorization: Bearer $KEY" "$work/state/seen" | sed 's/^[1-9][0-9]*$/some/')$(grep -q "x-widget-key: $FIELD" "$work/state/seen" && echo " some")$(grep -q "session=$CRUMB" "$work/state/seen" && echo " some")" "some some some"
$python - "$work/state/seen" "$KEY" "$FIELD" >"$work/storm" <<'PY'
import json, sys
n = 0
for line in open(sys.argv[1], encoding="utf-8"):
    r = json.loads(line)
    at = [f for f in r["fields"] if ":path: /served-after-the-storm" in f]
    if not at:
        continue
    n += 1
    has = (sys.argv[2] in line, sys.argv[3] in line)
    if has != {"bearer": (True, False), "field": (False, True), "nothing": (False, False)}[at[0].split("-")[4]]:
        print("wrong:", at[0], has)
print(n)
PY
same "after a storm of heads that were taken back each has its own value" "$(cat "$work/storm")" 20
holds "the log has the alarms" "$("$ostiary" log frames --json)" '"kind":"alarm"'

# --- sent again --------------------------------------------------------------------------------------

ask() { in_box "${box:-frames}" sh -c 'curl -s -m 100 -w " %{http_code}" -H "Authorization: Bearer $KEY" "$@"' sh "$@"; }
# sent HOST VALUE: how often the value arrived there, and on how many connections.
sent() {
	$python - "$work/state/seen" "$1" "$2" <<'PY'
import json, sys
got = [r for r in map(json.loads, open(sys.argv[1], encoding="utf-8")) if r["host"] == sys.argv[2]]
good = [r for r in got if "!authorization: Bearer " + sys.argv[3] in r["fields"]]
print(len(good), "of", len(got), "on", len({r["connection"] for r in got}))
PY
}
same "a request that GOAWAY left out is served by another connection" "$(ask https://goaway.example.test/x)" "hello
 200"
same "with its value both times" "$(sent goaway "$KEY")" "2 of 2 on 2"
same "a request that was refused is sent again" "$(ask https://refused.example.test/x)" "hello
 200"
same "with its value both times, refused" "$(sent refused "$KEY" | cut -d' ' -f1-3)" "2 of 2"
got=$(ask -d some=body https://goaway-always.example.test/x)
same "one with a body is not" "${got##* }" 502
same "and arrived once" "$(sent goaway-always "$KEY")" "1 of 1 on 1"
got=$(ask https://goaway-always.example.test/x)
same "an origin that always says goodbye ends in 502" "${got##* }" 502
n=$(sent goaway-always "$KEY")
[ "${n%% *}" -gt 2 ] && [ "${n%% *}" -le 20 ] && [ "${n%% *}" = "$(cut -d' ' -f3 <<<"$n")" ]
check "after some attempts, each with its value" $? "$n"
case $got in *"$KEY"*) false ;; *) true ;; esac
check "what the origin said besides goodbye is not passed on" $?
same "a connection that ends while it is asked" "$(ask https://hangup.example.test/1 https://hangup.example.test/2 | tr -d '\n')" "hello 200hello 200"
n=$(sent hangup "$KEY")
same "is replaced, and the value sent again" "${n%% on*}" "3 of 3"

# --- revoked between two attempts ----------------------------------------------------------------------

refusing=refused-always.example.test
ask "https://$refusing/x" >"$work/refused.out" &
asking=$!
attempts() { [ "$(sent refused-always "$KEY" | cut -d' ' -f1)" = "$1" ]; }
within 60 attempts 1
check "an origin refuses again and again" $?
touch "$work/state/refuse-1" "$work/state/refuse-2"
within 60 attempts 3
check "and is asked again and again" $? "$(sent refused-always "$KEY")"
"$ostiary" revoke frames KEY >/dev/null
check "the secret is revoked meanwhile" $?
for n in $(seq 3 40); do touch "$work/state/refuse-$n"; done
wait "$asking"
holds "the request is refused" "$(cat "$work/refused.out")" " 403"
holds "with the reason" "$(cat "$work/refused.out")" "KEY was revoked"
same "and is not sent again" "$(sent refused-always "$KEY" | cut -d' ' -f1-3)" "3 of 3"
got=$(ask "https://$refusing/y")
same "nor is another" "${got##* } $(sent refused-always "$KEY" | cut -d' ' -f1)" "403 3"

# --- a fresh value between two attempts ----------------------------------------------------------------

frames_box again
rm -f "$work"/state/refuse-*
box=again ask "https://$refusing/z" >"$work/again.out" &
asking=$!
within 60 attempts 4
check "another box asks" $?
fresh=sk-fake-Fresh9dEfGh7jKlMnOpQrStUvWx0099
same "the secret gets a fresh value" "$(echo $fresh | "$ostiary" rotate again KEY - 2>&1)" "again: KEY has a fresh value"
before=$(wc -l <"$work/state/seen")
touch "$work"/state/refuse-{4..40}
wait "$asking"
later=$(tail -n "+$((before + 1))" "$work/state/seen")
same "what is sent again has no value that was replaced" "$(grep -c "$KEY" <<<"$later")" 0
[ "$(grep -c "$fresh" <<<"$later")" -ge 1 ]
check "but the fresh one" $? "$(cut -c 1-200 <<<"$later")"
n=$("$ostiary" log again --json | grep '"kind":"secret"' | grep -c "$refusing")
[ "$n" -ge 2 ]
check "and the keeper has a record of each time" $? "$n"
exit "$bad"
