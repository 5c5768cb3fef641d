#!/bin/bash
# suite: users=root,user timeout=400
# custody_adversary.sh - one attack at a time, each with a name, by somebody who owns the box and has read the program: ways
# to get a value in (answers in parts, codings that lie, odd alphabets, odd places of a head), to read one by asking the
# door many times, and to use one where it does not belong. Each attack works without the door: that is the control.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
. tests/lib_door.sh
for tool in openssl /usr/bin/python3 zstd; do
	has "$tool" || { skip "custody_adversary" "$tool is missing" && exit 0; }
done
python=/usr/bin/python3
door_ca
$python tests/custody/adversary_origin.py "$work/received" "$work/origin.pem" "$work/origin.key" >"$work/ports" 2>"$work/origin.err" &
door_pids+=($!)
within 10 grep -q tls= "$work/ports"
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

in_box_time=200 in_box adversary $python adversary_agent.py fetch api.example.test 443 "" "$key" in.seen >"$work/in.err" 2>&1
check "the attacker asked for everything" $? "$(tail -n 3 "$work/in.err")"
in_box adversary cat in.seen >"$work/in.seen"
(cd "$work/ws" && ADVERSARY_ADDRESS=127.0.0.1 timeout 200 $python adversary_agent.py fetch api.example.test "$tls" "$work/ca.pem" "$ADV_KEY" "$work/host.seen" >"$work/host.err" 2>&1)
# judge SEEN VALUE: `taken` or `held` for each attack: six letters of the value in a row, behind what any key of its kind begins with, are taken.
cat >"$work/judge.py" <<-'PY'
	import json, sys
	sys.path.insert(0, sys.argv[1])
	from adversary_attacks import loot
	value = sys.argv[3].encode()
	for line in open(sys.argv[2], encoding="utf-8"):
	    name, raws = json.loads(line)
	    have = loot(name, [r.encode("latin-1") for r in raws])
	    taken = max((n for i in range(8, len(value)) for n in range(6, len(value) - i + 1) if value[i:i + n] in have), default=0)
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

in_box_time=100 in_box adversary $python adversary_agent.py guess stranger.example.test 443 "" \
	ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789- sk-fake- 777 "${#ADV_KEY}" guess.seen >"$work/guess.err" 2>&1
guessed=$(in_box adversary cat guess.seen)
same "held: reading a value letter by letter at the edges of answers of one's own" "$(cut -d' ' -f1,2 <<<"$guessed")" "sk-fake- 777"
[ "${guessed##* }" -ge 62 ]
check "control: it could ask" $? "$guessed $(tail -n 1 "$work/guess.err")"
exit "$bad"
