#!/bin/bash
# suite: test=any soak=root,user timeout=400
# tier: only root may search our processes for a value; in test the 30 s limit is scaled down to 6 s
# custody_sources.sh - where a box's secrets come from, and what becomes of a source that is no good: before the
# box starts, in one clear sentence, with nothing left behind. What arrives at the origin is the value; what stands
# in the box never is.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
. tests/lib_door.sh
. tests/lib_tier.sh
door_needs custody_sources curl openssl python3
door_ca
mkdir -p "$work/seen" "$work/home/.config/ostiary/identities" "$work/home/.aws" "$work/bin"
python3 "$top/tests/custody/trial_origin.py" "$work/seen" "$work/origin.pem" "$work/origin.key" >"$work/ports" 2>"$work/origin.err" &
door_pids+=($!)
within 60 grep -q h1= "$work/ports"
check "the origin is up" $? "$(cat "$work/origin.err")"
h1=$(sed 's/.*h1=\([0-9]*\).*/\1/' "$work/ports")
allow="* *.example.test:443 to=127.0.0.1:$h1 ca=$work/ca.pem"
policy=$work/home/.config/ostiary/policy
seen() { cat "$work/seen/received-$1" 2>/dev/null; }

# with HOST SPEC VARIABLE: one request with $VARIABLE as bearer, in a box of its own that has the secret SPEC; its
# output is what the variable holds in the box, then the answer's status.
with() {
	# shellcheck disable=SC2016
	(cd "$work/ws" && timeout -k 2 150 "$ostiary" run -q --level strict --allow "$allow" ${2:+--secret "$2"} -- \
		sh -c 'eval "v=\$$1"; echo "$v"; curl -s -m 60 -o /dev/null -w "%{http_code}\n" -H "Authorization: Bearer $v" "https://$2/"' \
		sh "$3" "$1") 2>"$work/err"
}
# arrives NAME HOST SPEC VARIABLE VALUE: the origin sees the value and the box never does.
arrives() {
	local got
	got=$(with "$2" "$3" "$4")
	same "$1: the request is answered" "$(tail -n 1 <<<"$got")" 200
	holds "$1: the origin sees the value" "$(seen "$2")" "$5"
	case $got in *"$5"*) false ;; *) true ;; esac
	check "$1: the box does not" $? "$got"
	same "$1: what it has is as long" "$(head -n 1 <<<"$got" | tr -d '\n' | wc -c)" "$(printf %s "$5" | wc -c)"
}
# refused NAME SPEC WORDS [FLAG...]: no box is started, the sentence has these words, nothing is left behind.
refused() {
	local name=$1 spec=$2 words=$3 got code
	shift 3
	got=$(cd "$work/ws" && timeout -k 2 150 "$ostiary" run -q "$@" ${spec:+--secret "$spec"} -- touch "$work/ran" 2>&1)
	code=$?
	[ "$code" -ne 0 ]
	check "$name: no box is started" $? "exit $code: $got"
	holds "$name: and the sentence says why" "$got" "$words"
	same "$name: nothing is left behind" "$("$ostiary" ps -a -q)" ""
}

# --- each source ------------------------------------------------------------------------------------

export FAKE_ENV_KEY=fake-value-from-environment-01
arrives "env" env.example.test FAKE_ENV_KEY@env.example.test FAKE_ENV_KEY "$FAKE_ENV_KEY"
arrives "env by another name" other.example.test 'KEY from env FAKE_ENV_KEY at other.example.test as bearer' KEY "$FAKE_ENV_KEY"

printf 'fake-value-from-a-file-0002\n' >"$work/key.txt"
chmod 600 "$work/key.txt"
arrives "file" file.example.test "KEY from file $work/key.txt at file.example.test as bearer" KEY fake-value-from-a-file-0002
cp "$work/key.txt" "$work/home/open.txt"
chmod 644 "$work/home/open.txt"
(cd "$work/ws" && "$ostiary" run --secret 'KEY from file ~/open.txt at x.example.test as bearer' -- true) >/dev/null 2>"$work/err"
holds "a file that everybody can read is told" "$(cat "$work/err")" "can be read by every user"

# shellcheck disable=SC2016
arrives "cmd" cmd.example.test "KEY from cmd 'printf %s fake-value-of-a-command-03' at cmd.example.test as bearer" KEY fake-value-of-a-command-03
arrives "cmd that leaves a process behind" daemon.example.test \
	"KEY from cmd 'sleep 20 & echo fake-value-with-a-daemon-04' at daemon.example.test as bearer" KEY fake-value-with-a-daemon-04
# shellcheck disable=SC2016
arrives "cmd sees HOME and PATH" home.example.test \
	"KEY from cmd 'test -n \"\$PATH\" && cat \"\$HOME/../key.txt\"' at home.example.test as bearer" KEY fake-value-from-a-file-0002
UNRELATED_TOKEN=unrelated-fake-token with unrelated.example.test \
	"KEY from cmd 'echo fake-value-\${UNRELATED_TOKEN:-is-not-there}' at unrelated.example.test as bearer" KEY >/dev/null
holds "cmd does not see other variables" "$(seen unrelated.example.test)" fake-value-is-not-there

cat >"$policy" <<-POLICY
	secret POLICY_KEY from env FAKE_ENV_KEY at policy.example.test as bearer
POLICY
arrives "a line of your policy" policy.example.test '' POLICY_KEY "$FAKE_ENV_KEY"
rm -f "$policy"

cat >"$work/home/.config/ostiary/identities/work" <<-IDENTITY
	secret WORK_KEY from file $work/key.txt at work.example.test as bearer
	allow * work.example.test:443 to=127.0.0.1:$h1 ca=$work/ca.pem
IDENTITY
# shellcheck disable=SC2016
got=$(cd "$work/ws" && "$ostiary" run -q --level strict --as work -- \
	sh -c 'curl -s -m 60 -o /dev/null -w "%{http_code}" -H "Authorization: Bearer $WORK_KEY" https://work.example.test/' 2>&1)
same "an identity brings its secrets and its rules" "$got" 200
holds "the origin sees its value" "$(seen work.example.test)" fake-value-from-a-file-0002
refused "an identity that does not exist" '' 'there is no identity "nobody"' --as nobody
refused "an identity that is a path" '' 'cannot be the name of an identity' --as ../policy

# --- AWS --------------------------------------------------------------------------------------------

cat >"$work/home/.aws/credentials" <<-AWS
	[default]
	aws_access_key_id = AKIAFAKEFAKEFAKEFAK7
	aws_secret_access_key = FAKEfakeFAKEfakeFAKEfakeFAKEfakeFAKEfak1
	[temporary]
	aws_access_key_id=ASIAFAKEFAKEFAKEFAK2
	aws_secret_access_key=FAKEfakeFAKEfakeFAKEfakeFAKEfakeFAKEfak2
	aws_session_token=FAKEsessionFAKEsessionFAKEsession==
	[half]
	aws_access_key_id = AKIAFAKEFAKEFAKEFAK3
AWS
chmod 600 "$work/home/.aws/credentials"
cat >"$work/home/.aws/config" <<-AWS
	[profile process]
	credential_process = printf '{"Version":1,"AccessKeyId":"ASIAFAKEFAKEFAKEFAK4","SecretAccessKey":"FAKEfakeFAKEfakeFAKEfakeFAKEfakeFAKEfak4","SessionToken":"FAKEtokenFAKEtokenFAKEtoken"}'
	[profile badprocess]
	credential_process = echo not json
	[profile role]
	role_arn = arn:aws:iam::000000000000:role/fake
	source_profile = default
AWS
aws_env() { # PROFILE
	(cd "$work/ws" && "$ostiary" run -q --secret "AWS from aws $1 at s3.example.test as sigv4 service=s3 region=eu-central-1" -- env 2>&1 | grep '^AWS' | sort)
}
got=$(aws_env default)
holds "aws: the box has an id that looks like one" "$got" 'AWS_ACCESS_KEY_ID=AKIA'
holds "aws: and a key" "$got" 'AWS_SECRET_ACCESS_KEY='
holds "aws: and the line's region" "$got" 'AWS_REGION=eu-central-1'
case $got in *AWS_SESSION_TOKEN*) false ;; *) true ;; esac
check "aws: no token where there is none" $? "$got"
for value in AKIAFAKEFAKEFAKEFAK7 FAKEfakeFAKEfakeFAKEfakeFAKEfakeFAKEfak1; do
	case $got in *$value*) false ;; *) true ;; esac
	check "aws: not the profile's own ($value)" $? "$got"
done
holds "aws: temporary keys have a token" "$(aws_env temporary)" 'AWS_SESSION_TOKEN='
holds "aws: credential_process is asked" "$(aws_env process)" 'AWS_ACCESS_KEY_ID=ASIA'
spec() { echo "AWS from aws $1 at s3.example.test as sigv4 service=s3 region=eu-central-1"; }
refused "aws: no such profile" "$(spec nobody)" 'there is no profile "nobody"'
refused "aws: half a key" "$(spec half)" 'neither aws_access_key_id and aws_secret_access_key nor credential_process'
refused "aws: a process that prints something else" "$(spec badprocess)" 'is not a JSON object'
refused "aws: a role" "$(spec role)" 'signs in elsewhere'

# --- logins -----------------------------------------------------------------------------------------

refused "login: nobody is logged in" 'LOGIN from login claude at api.anthropic.com as bearer' '.claude/.credentials.json cannot be read'
mkdir -p "$work/home/.claude"
echo '{"claudeAiOauth":{}}' >"$work/home/.claude/.credentials.json"
refused "login: a file without a login" 'LOGIN from login claude at api.anthropic.com as bearer' 'holds no login'
rm -r "$work/home/.claude"

# --- bad sources and bad values ---------------------------------------------------------------------

at='at x.example.test as bearer'
refused "a variable that is not set" FAKE_MISSING@x.example.test 'the variable FAKE_MISSING is not set'
FAKE_EMPTY='' refused "a variable that is empty" FAKE_EMPTY@x.example.test 'the variable FAKE_EMPTY is empty'
FAKE_SHORT=short refused "a value that is too short" FAKE_SHORT@x.example.test 'secret FAKE_SHORT (--secret)'
refused "a file that is not there" "KEY from file $work/nothing $at" 'cannot be read'
refused "a directory" "KEY from file $work $at" 'is not a file'
: >"$work/empty.txt"
refused "an empty file" "KEY from file $work/empty.txt $at" 'it is empty'
head -c 100000 /dev/zero | tr '\0' a >"$work/long.txt"
refused "a file that no key is as long as" "KEY from file $work/long.txt $at" 'longer than 16 KiB'
printf 'fake-value\rwith-cr-0005' >"$work/cr.txt"
refused "CR in a value" "KEY from file $work/cr.txt $at" 'secret KEY (--secret)'
printf 'fake-value\nwith-lf-0006' >"$work/lf.txt"
refused "LF in a value" "KEY from file $work/lf.txt $at" 'secret KEY (--secret)'
printf 'fake-value\0with-nul-0007' >"$work/nul.txt"
refused "NUL in a value" "KEY from file $work/nul.txt $at" 'secret KEY (--secret)'
for f in cr lf nul; do
	got=$(cd "$work/ws" && "$ostiary" run -q --secret "KEY from file $work/$f.txt $at" -- true 2>&1)
	case $got in *with-*) false ;; *) true ;; esac
	check "the sentence about $f does not show the value" $? "$got"
done
refused "a command that prints nothing" "KEY from cmd true $at" 'the command printed nothing'
refused "a command that fails" "KEY from cmd 'echo fake-half-a-value; echo no such entry >&2; exit 3' $at" 'the command failed with exit status 3: no such entry'
refused "a command that is not there" "KEY from cmd no-such-program-$$ $at" 'exit status 127'
refused "a command that is killed" "KEY from cmd 'kill -9 \$\$' $at" 'killed by signal 9'
# What is waited out: really in soak; in test by the test build (base/scale.h), which says the same.
scaled=${OSTIARY_WEAK:-$top/out/weak/ostiary}
if [ -x "$scaled" ]; then
	got=$(OSTIARY_SCALE=30s "$scaled" ps 2>&1)
	same "a scale that is no number ends the test build" "$? $got" '64 ostiary: OSTIARY_SCALE is "30s", and not a number from 1 to 100'
	same "and the build that people install has no such switch" "$(OSTIARY_SCALE=30s "$ostiary" ps -q 2>&1)" ''
else
	skip "a scaled clock" "the test build (make VARIANT=weak) was not made"
	scaled=$ostiary
fi
ostiary=$(by_tier "$scaled" "$ostiary") OSTIARY_SCALE=5 refused "a command that never ends" "KEY from cmd 'echo fake-value-that-hangs; echo \$\$ >$work/hung; sleep 300' $at" 'did not finish within 30 seconds'
hung_is_gone() { ! kill -0 "$(cat "$work/hung")"; }
within 60 hung_is_gone
check "and is not there any more" $?
ostiary=$(by_tier "$scaled" "$ostiary") OSTIARY_SCALE=5 refused "a command that prints without end" "KEY from cmd 'exec yes fake-value-without-end' $at" 'printed more than 16 KiB'
refused "a name that stands for two things" '' 'there twice and not the same: --secret, and --secret' \
	--secret "KEY from file $work/key.txt $at" --secret "KEY from cmd true $at"
FAKE_ENV_KEY=fake-value-from-environment-01 refused "a value on the command line" 'KEY=fake-value-on-the-line@x.example.test' '--secret'
refused "a form that does not exist" "KEY@x.example.test:nonsense" '--secret'

cat >"$policy" <<-POLICY
	secret KEY from file $work/key.txt at a.example.test as bearer
	# the same name again
	secret KEY from env FAKE_ENV_KEY at b.example.test as bearer
POLICY
refused "twice in your policy" '' 'user policy, line 1, and user policy, line 3'
cat >"$policy" <<-POLICY
	secret KEY from file $work/key.txt at a.example.test as bearer
	secret KEY from file $work/key.txt at b.example.test as bearer
POLICY
got=$(cd "$work/ws" && "$ostiary" explain --json -- true | python3 -c 'import json, sys; print([s["places"] for s in json.load(sys.stdin)["data"]["secrets"]])')
same "the same with more places is one secret" "$got" "[['a.example.test', 'b.example.test']]"
got=$(cd "$work/ws" && "$ostiary" explain --json --secret "KEY from env FAKE_ENV_KEY at c.example.test as basic" -- true |
	python3 -c 'import json, sys; print([(s["source"], s["places"], s["said_by"]) for s in json.load(sys.stdin)["data"]["secrets"]])')
same "a flag wins over a file" "$got" "[('env', ['c.example.test'], '--secret')]"
rm -f "$policy"

# --- profiles ---------------------------------------------------------------------------------------

got=$(cd "$work/ws" && env -u ANTHROPIC_API_KEY "$ostiary" explain --profile claude -- true 2>&1)
holds "a profile's secret without its variable is left out, and told" "$got" "ANTHROPIC_API_KEY is not set"
got=$(cd "$work/ws" && ANTHROPIC_API_KEY=sk-ant-api03-FAKEfakeFAKEfake "$ostiary" explain --profile claude -- true 2>&1)
holds "with it it is there" "$got" "from env at api.anthropic.com"
case $got in *FAKEfakeFAKEfake*) false ;; *) true ;; esac
check "explain shows no value" $? "$got"
got=$(cd "$work/ws" && ANTHROPIC_API_KEY=sk-ant-api03-FAKEfakeFAKEfake "$ostiary" run --profile claude -- sh -c 'echo "<$ANTHROPIC_API_KEY>"' 2>"$work/err")
holds "the box has something of the same shape" "$got" "<sk-ant-api03-"
case $got in *FAKEfakeFAKEfake*) false ;; *) true ;; esac
check "that is not the key" $? "$got"
holds "the banner counts it" "$(cat "$work/err")" "1 secret"
got=$(cd "$work/ws" && ANTHROPIC_API_KEY=x "$ostiary" run -q --profile claude -- sh -c 'echo "<$ANTHROPIC_API_KEY>"' 2>"$work/err")
same "a profile's variable that is no key is left out" "$got" "<>"

# --- exec, and a box that is woken ------------------------------------------------------------------

(cd "$work/ws" && "$ostiary" create -q -n waits --secret FAKE_ENV_KEY@x.example.test) >/dev/null
first=$(in_box waits printenv FAKE_ENV_KEY)
[ -n "$first" ] && [ "$first" != "$FAKE_ENV_KEY" ]
check "a command that is started later has the placeholder" $? "$first"
same "each of them the same" "$(in_box waits printenv FAKE_ENV_KEY)" "$first"
"$ostiary" stop waits >/dev/null
got=$(in_box waits printenv FAKE_ENV_KEY)
same "and after the box was woken the one it had" "$got" "$first"
"$ostiary" stop waits >/dev/null
got=$(env -u FAKE_ENV_KEY "$ostiary" exec waits -- true 2>&1)
holds "woken without its variable it says what is missing" "$got" "the variable FAKE_ENV_KEY is not set"
got=$(env -u FAKE_ENV_KEY "$ostiary" rules waits 2>&1)
holds "and its rules can be looked at all the same" "$got" "secret FAKE_ENV_KEY"
"$ostiary" rm -f waits >/dev/null
holds "a secret is not granted while a box runs" "$(
	cd "$work/ws" && "$ostiary" create -q -n plain >/dev/null
	"$ostiary" allow plain 'secret KEY from env at x.example.test as bearer' 2>&1
	"$ostiary" rm -f plain >/dev/null
)" "a secret is granted when a box starts"

# --- the vault --------------------------------------------------------------------------------------

if printf 'fake-value-from-the-vault-10' | "$ostiary" secret set VAULTED >"$work/err" 2>&1; then
	arrives "vault" vault.example.test 'VAULTED=vault@vault.example.test' VAULTED fake-value-from-the-vault-10
	refused "vault: no such entry" 'NOBODY=vault@x.example.test' 'secret NOBODY (--secret)'
	(cd "$work/ws" && "$ostiary" create -q -n vaulted --level strict --allow "$allow" --secret 'VAULTED=vault@rotated.example.test') >/dev/null
	printf 'fake-value-rotated-in-vault-11' | "$ostiary" secret rotate VAULTED >/dev/null 2>&1
	same "vault: rotate takes the new value" "$("$ostiary" rotate vaulted VAULTED 2>&1)" "vaulted: VAULTED has a fresh value"
	# shellcheck disable=SC2016
	in_box vaulted sh -c 'curl -s -m 60 -o /dev/null -H "Authorization: Bearer $VAULTED" https://rotated.example.test/'
	holds "vault: which the origin sees" "$(seen rotated.example.test)" fake-value-rotated-in-vault-11
	"$ostiary" rm -f vaulted >/dev/null
else
	check "vault: a value can be put there" 1 "$(cat "$work/err")"
fi

# --- somebody who does not want to wait -------------------------------------------------------------

(cd "$work/ws" && exec "$ostiary" run --secret "KEY from cmd 'sleep 25; echo fake-value-after-a-while' at x.example.test as bearer" -- true) 2>"$work/slow.err" &
slow=$!
within 60 grep -qs 'waiting for the box' "$work/slow.err"
check "a slow source is told" $? "$(cat "$work/slow.err")"
kill -INT "$slow" 2>/dev/null || true
kill -TERM "$slow"
wait "$slow"
[ $? -ne 0 ]
check "and the wait can be ended" $?
gone() { [ -z "$("$ostiary" ps -a -q)" ]; }
within 60 gone
check "with nothing left behind" $? "$("$ostiary" ps -a)"

# --- nothing of a value outside the keeper ----------------------------------------------------------

# The box's first process begins as a copy of the supervisor, so the supervisor's memory is looked through too.
cat >"$work/look.py" <<'PY'
"""look.py PID TEXT...: how often each text is in the memory of that process and of its children that are ours."""
import os, sys


def memory(pid):
    found = b""
    with open("/proc/%d/mem" % pid, "rb", 0) as mem, open("/proc/%d/maps" % pid) as maps:
        for line in maps:
            part = line.split()
            low, high = (int(x, 16) for x in part[0].split("-"))
            if part[1][0] != "r" or part[-1].startswith("[v") or high - low > 1 << 28:
                continue
            try:
                mem.seek(low)
                found += mem.read(high - low)
            except OSError:
                pass
    return found


top = int(sys.argv[1])
pids = [top] + [int(p) for p in open("/proc/%d/task/%d/children" % (top, top)).read().split()]
for pid in pids:
    name = open("/proc/%d/comm" % pid).read().strip()
    if name.startswith("ostiary-door") or "keeper" in name:
        continue
    data = memory(pid)
    for text in sys.argv[2:]:
        n = data.count(text.encode())
        if n:
            print("%s:%d:%s" % ("supervisor" if pid == top else name, n, text), end=" ")
PY
export FAKE_ENV_KEY=fake-value-to-be-looked-for-08
printf fake-value-to-be-looked-for-09 >"$work/key.txt"
mkdir -p "$work/home/.claude"
echo '{"claudeAiOauth":{"accessToken":"fake-value-to-be-looked-for-12","refreshToken":"fake-value-to-be-looked-for-13","expiresAt":4102444800000}}' >"$work/home/.claude/.credentials.json"
chmod 600 "$work/home/.claude/.credentials.json"
(cd "$work/ws" && OP_FAKE_SESSION=fake-session-of-a-manager-14 "$ostiary" create -q -n look --secret FAKE_ENV_KEY@x.example.test \
	--env FAKE_ENV_KEY --env "AWS_SECRET_ACCESS_KEY=fake-value-to-be-looked-for-15" \
	--secret "FILE from file $work/key.txt at x.example.test as bearer" \
	--secret "CMD from cmd 'cat $work/key.txt' at x.example.test as bearer" \
	--secret "$(spec default)" --secret "LOGIN from login claude at api.anthropic.com as bearer") >/dev/null
same "every kind is held" "$("$ostiary" secrets look --json | python3 -c 'import json, sys; print(sorted((s["name"], s["state"]) for s in json.load(sys.stdin)["data"]["secrets"]))')" \
	"[('AWS', 'held'), ('CMD', 'held'), ('FAKE_ENV_KEY', 'held'), ('FILE', 'held'), ('LOGIN', 'held')]"
if grep -rqs fake-value-to-be-looked-for "$work/home/.local"; then found=1; else found=0; fi
check "no file of ours holds a value" $found "$(grep -rls fake-value-to-be-looked-for "$work/home/.local")"
if [ "${VARIANT:-release}" = asan ]; then
	skip "no value is in the memory of our processes" "the sanitizer's shadow, terabytes of it, would be searched too"
elif [ "$(id -u)" = 0 ]; then
	supervisor=$("$ostiary" ps --json | python3 -c 'import json, sys; d = json.load(sys.stdin)["data"]; print([b for b in (d if isinstance(d, list) else d["boxes"]) if b["id"] == "look"][0]["supervisor_pid"])')
	holds "the searcher finds what is there" "$(python3 "$work/look.py" "$supervisor" x.example.test)" "supervisor:"
	same "no value is in the memory of the supervisor, the log's writer and the box's first process" \
		"$(python3 "$work/look.py" "$supervisor" fake-value-to-be-looked-for FAKEfakeFAKEfakeFAKEfake AKIAFAKEFAKEFAKEFAK7)" ""
	same "and what commands were given is the supervisor's alone" \
		"$(python3 "$work/look.py" "$supervisor" fake-session-of-a-manager-14)" "supervisor:1:fake-session-of-a-manager-14 "
else
	skip "no value is in the memory of our processes" "only root may look into them"
fi
"$ostiary" rm -f look >/dev/null
exit $bad
