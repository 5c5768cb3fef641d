#!/bin/bash
# suite: test=user soak=root,user timeout=400
# tier: the keeper and its sources are the same for both users, so test runs it once
# custody_race.sh - revocation against everything that brings a fresh value at the same moment: a slow source, `rotate`, a
# refresh at the provider of a login, of an OAuth client in a file and in the vault. What is revoked stays revoked, its
# last word does not wait for a provider, and the host keeps the refresh token that came too late for the box.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
. tests/lib_door.sh
door_needs custody_race curl openssl python3
door_ca
door_cert provider 'DNS:api.anthropic.com,DNS:platform.claude.com,DNS:*.example.test'
mkdir -p "$work/state" "$HOME/.claude"
python3 tests/custody/token_server.py "$work/state" "$work/provider.pem" "$work/provider.key" >"$work/port" 2>"$work/provider.err" &
door_pids+=($!)
within 60 test -s "$work/port"
check "the provider is up" $? "$(cat "$work/provider.err")"
port=$(cat "$work/port")
happened() { grep -c "^$1" "$work/state/counts" 2>/dev/null || true; }
has_happened() { [ "$(happened "$1")" -ge "${2:-1}" ]; }
rule() { echo "allow * $1 to=127.0.0.1:$port ca=$work/ca.pem"; }
rules=$(for host in api.anthropic.com platform.claude.com crm.example.test tokens.example.test; do rule "$host"; done)
# race_box NAME LINE: a box with one secret.
race_box() {
	printf '%s\n%s\n' "$rules" "$2" >"$work/$1.policy"
	door_box "$1" --policy "$work/$1.policy" >/dev/null 2>"$work/err"
	check "a box starts: $1" $? "$(cat "$work/err")"
}
# ask BOX HOST TOKEN
ask() { in_box "$1" curl -sS -m 100 -w ' %{http_code}' -H "authorization: Bearer $3" "https://$2/x" 2>&1; }
revoked() { # NAME BOX SECRET: what has to be true of it for good
	holds "$1: the list says revoked" "$("$ostiary" secrets "$2" | grep "$3")" "revoked"
	holds "$1: it cannot get a value any more" "$(echo fake-value-of-tomorrow-01 | "$ostiary" rotate "$2" "$3" - 2>&1)" "was revoked"
}

# --- sources ------------------------------------------------------------------------------------------

# A command that waits for us each time but the first.
cat >"$work/slow.sh" <<SLOW
echo run >>$work/slow.runs
[ ! -e $work/slow.first ] || while [ -e $work/slow.hold ]; do sleep 0.05; done
touch $work/slow.first
echo fake-value-of-run-\$(wc -l <$work/slow.runs)-0123456789
SLOW
touch "$work/slow.hold"
race_box clock "secret CLOCKED from cmd 'sh $work/slow.sh' at crm.example.test as bearer refresh=1s"
clocked=$(in_box clock printenv CLOCKED)
runs() { [ "$(wc -l <"$work/slow.runs")" -ge "$1" ]; }
within 60 runs 2
check "the source is asked again by the clock" $? "$(cat "$work/slow.runs")"
same "revoked while it is asked" "$("$ostiary" revoke clock CLOCKED 2>&1)" "clock: CLOCKED revoked"
before=$(happened refused)
rm "$work/slow.hold"
holds "by the clock: refused" "$(ask clock crm.example.test "$clocked")" "CLOCKED was revoked"
revoked "by the clock" clock CLOCKED
same "by the clock: the origin saw nothing of it" "$(happened refused)" "$before"
"$ostiary" rm -f clock >/dev/null 2>&1

rm -f "$work"/slow.first "$work"/slow.runs
touch "$work/slow.hold"
race_box hand "secret HANDED from cmd 'sh $work/slow.sh' at crm.example.test as bearer"
"$ostiary" rotate hand HANDED >"$work/rotate.out" 2>&1 &
rotating=$!
within 60 runs 2
check "somebody rotates it" $?
same "revoked while it is rotated" "$("$ostiary" revoke hand --all 2>&1)" "hand: all revoked (1)"
rm "$work/slow.hold"
wait "$rotating"
[ $? -ne 0 ]
check "rotate fails" $?
holds "and says why" "$(cat "$work/rotate.out")" "revoked meanwhile"
revoked "by hand" hand HANDED
"$ostiary" rm -f hand >/dev/null 2>&1

# Many fresh values and one revocation in between, with requests all the time: none shows a value after it.
export STORMED=fake-value-of-the-storm-0000
race_box storm "secret STORMED from env at crm.example.test as bearer"
in_box storm sh -c 'while [ ! -e stop ]; do curl -sS -m 100 -o /dev/null -w "%{http_code}\n" -H "authorization: Bearer $STORMED" https://crm.example.test/x; done' >"$work/storm.codes" 2>&1 &
asking=$!
within 60 has_happened "refused nobody" 3
check "requests show it" $?
for n in 1 2 3; do
	(for i in $(seq 40); do echo "fake-value-of-the-storm-$n$i-00" | "$ostiary" rotate storm STORMED - || break; done) >"$work/rotate.$n" 2>&1 &
	eval "rotating_$n=$!"
done
within 60 grep -q "fresh value" "$work/rotate.1"
check "fresh values come" $?
"$ostiary" revoke storm STORMED >/dev/null
check "it is revoked in the middle" $?
after=$(happened "refused nobody")
refusals() { [ "$(grep -c 403 "$work/storm.codes")" -ge 10 ]; }
within 100 refusals
check "requests go on and are refused" $? "$(sort "$work/storm.codes" | uniq -c | tr '\n' ' ')"
wait "$rotating_1" "$rotating_2" "$rotating_3"
in_box storm touch stop
wait "$asking"
same "none of them showed a value" "$(happened "refused nobody")" "$after"
revoked "in a storm" storm STORMED
"$ostiary" rm -f storm >/dev/null 2>&1

# --- providers ----------------------------------------------------------------------------------------

x40=$(printf 'x%.0s' {1..40}) y40=$(printf 'y%.0s' {1..40})
# raced NAME BOX SECRET HOST TOKEN FAMILY: a request wants a token, the provider has given one and not sent it, it is revoked.
raced() {
	local name=$1 box=$2 secret=$3 host=$4 token=$5 family=$6 asking
	touch "$work/state/hold"
	ask "$box" "$host" "$token" >"$work/raced.out" &
	asking=$!
	within 60 has_happened "refresh $family"
	check "$name: a refresh is on its way" $? "$(cat "$work/state/counts")"
	same "$name: revoking does not wait for the provider" "$("$ostiary" revoke "$box" "$secret" 2>&1)" "$box: $secret revoked"
	wait "$asking"
	holds "$name: who waited for the token is refused" "$(cat "$work/raced.out")" "$secret was revoked"
	rm "$work/state/hold"
	holds "$name: and so is the next" "$(ask "$box" "$host" "$token")" "$secret was revoked"
	revoked "$name" "$box" "$secret"
	same "$name: nothing of it was used" "$(happened "served $family")" 0
}

login=$HOME/.claude/.credentials.json
echo "{\"claudeAiOauth\":{\"accessToken\":\"access-host-$x40\",\"refreshToken\":\"refresh-host-$y40\",\"expiresAt\":1000}}" >"$login"
chmod 600 "$login"
race_box login "secret CLAUDE_LOGIN from login claude at api.anthropic.com as bearer"
token=$(in_box login python3 -c 'import json,os; print(json.load(open(os.path.expanduser("~/.claude/.credentials.json")))["claudeAiOauth"]["accessToken"])')
raced login login CLAUDE_LOGIN api.anthropic.com "$token" host
within 60 grep -q ref-host- "$login"
check "login: the host keeps the refresh token that came too late" $? "$(cat "$login")"
"$ostiary" rm -f login >/dev/null 2>&1
race_box later "secret CLAUDE_LOGIN from login claude at api.anthropic.com as bearer"
token=$(in_box later python3 -c 'import json,os; print(json.load(open(os.path.expanduser("~/.claude/.credentials.json")))["claudeAiOauth"]["accessToken"])')
holds "login: it is still good for another box" "$(ask later api.anthropic.com "$token")" '{"hello": "host"} 200'
"$ostiary" rm -f later >/dev/null 2>&1

echo "{\"client_id\":\"crm\",\"client_secret\":\"crm-secret-0123456789\",\"refresh_token\":\"refresh-crm-$y40\"}" >"$work/crm.json"
chmod 600 "$work/crm.json"
oauth="at crm.example.test as oauth token=https://tokens.example.test/oauth/token"
race_box file "secret CRM from file $work/crm.json $oauth"
raced "a file" file CRM crm.example.test "$(in_box file printenv CRM)" crm
within 60 grep -q ref-crm- "$work/crm.json"
check "a file: it has the refresh token that came too late" $? "$(cat "$work/crm.json")"
holds "a file: and what else was in it" "$(cat "$work/crm.json")" crm-secret-0123456789
"$ostiary" rm -f file >/dev/null 2>&1
race_box file2 "secret CRM from file $work/crm.json $oauth"
holds "a file: it is still good for another box" "$(ask file2 crm.example.test "$(in_box file2 printenv CRM)")" '{"hello": "crm"} 200'
"$ostiary" rm -f file2 >/dev/null 2>&1

echo "{\"client_id\":\"v\",\"client_secret\":\"kept-secret-0123456789\",\"refresh_token\":\"refresh-plain-$y40\"}" | "$ostiary" secret set KEPT >/dev/null 2>"$work/err"
check "a refresh token goes into the vault" $? "$(cat "$work/err")"
race_box vault "secret KEPT from vault $oauth"
raced "the vault" vault KEPT crm.example.test "$(in_box vault printenv KEPT)" plain
"$ostiary" rm -f vault >/dev/null 2>&1
race_box vault2 "secret KEPT from vault $oauth"
holds "the vault: it has the refresh token that came too late" "$(ask vault2 crm.example.test "$(in_box vault2 printenv KEPT)")" '{"hello": "plain"} 200'
same "the vault: with the client's secret" "$(happened "refresh plain") $(happened "secret kept-secret-0123456789")" "2 2"
"$ostiary" rm -f vault2 >/dev/null 2>&1
same "no refresh token was used twice" "$(happened reuse)" 0
exit "$bad"
