#!/bin/bash
# suite: test=user soak=root,user timeout=300
# tier: logins are files of the caller, whoever that is; test has 12 rounds of boxes and host at once, soak 20
# custody_login.sh - logins and tokens: a provider that revokes a whole login when a refresh token is used twice
# (tests/custody/token_server.py) judges that host and boxes share one login; tokens that are born in a box's traffic go
# to the keeper; OAuth clients, service accounts and GitHub apps get tokens without their keys being in the box.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
. tests/lib_door.sh
. tests/lib_tier.sh
door_needs custody_login curl openssl python3
door_ca
door_cert provider 'DNS:api.anthropic.com,DNS:platform.claude.com,DNS:chatgpt.com,DNS:auth.openai.com,DNS:*.example.test,DNS:api.github.com'
mkdir -p "$work/state"
openssl genrsa -out "$work/gcp.key" 2048 2>/dev/null && openssl rsa -in "$work/gcp.key" -pubout -out "$work/state/gcp.pub" 2>/dev/null
openssl genrsa -out "$work/app.key" 2048 2>/dev/null && openssl rsa -in "$work/app.key" -pubout -out "$work/state/app.pub" 2>/dev/null
python3 tests/custody/token_server.py "$work/state" "$work/provider.pem" "$work/provider.key" >"$work/port" 2>"$work/provider.err" &
door_pids+=($!)
within 60 test -s "$work/port"
check "the provider is up" $? "$(cat "$work/provider.err")"
port=$(cat "$work/port")
happened() { grep -c "^$1" "$work/state/counts" 2>/dev/null || true; }
rule() { echo "allow * $1 to=127.0.0.1:$port ca=$work/ca.pem"; }

# --- the host's login of claude ---------------------------------------------------------------------

x40=$(printf 'x%.0s' {1..40}) y40=$(printf 'y%.0s' {1..40})
mkdir -p "$HOME/.claude" "$HOME/.codex"
login=$HOME/.claude/.credentials.json
echo "{\"claudeAiOauth\":{\"accessToken\":\"access-host-$x40\",\"refreshToken\":\"refresh-host-$y40\",\"expiresAt\":1000,\"scopes\":[\"a\"],\"subscriptionType\":\"max\"},\"other\":{\"kept\":true}}" >"$login"
chmod 600 "$login"
field() { python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))["claudeAiOauth"][sys.argv[2]])' "$login" "$1"; }
cat >"$work/claude.policy" <<-RULES
	$(rule api.anthropic.com)
	$(rule platform.claude.com)
	secret CLAUDE_LOGIN from login claude at api.anthropic.com as bearer
RULES
door_box one --policy "$work/claude.policy" 2>"$work/err"
check "a box with the host's login starts" $? "$(cat "$work/err")"
door_box two --policy "$work/claude.policy" 2>"$work/err"
check "and a second" $? "$(cat "$work/err")"
in_box one cat "$HOME/.claude/.credentials.json" >"$work/inside.json" 2>"$work/err"
inside() { python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))["claudeAiOauth"][sys.argv[2]])' "$work/inside.json" "$1"; }
token=$(inside accessToken 2>&1)
[ -n "$token" ] && ! grep -q "access-host-$x40\|refresh-host-$y40" "$work/inside.json"
check "the box has a login file with placeholders" $? "$(cat "$work/inside.json" "$work/err")"
use() { in_box "$1" curl -sS -m 60 -w ' %{http_code}' -H "authorization: Bearer $2" "https://api.anthropic.com/v1/messages" 2>&1; }
holds "a token that is old is refreshed on its way" "$(use one "$token")" '{"hello": "host"} 200'
same "with one call" "$(happened 'refresh host')" 1
case $(field refreshToken) in ref-host-*) true ;; *) false ;; esac
check "the host has the new refresh token" $? "$(cat "$login")"
holds "and the rest of its file as it was" "$(cat "$login")" '"other"'
same "with its rights" "$(stat -c %a "$login")" 600
holds "and is logged in" "$(curl -sS -m 60 --cacert "$work/ca.pem" --resolve "api.anthropic.com:$port:127.0.0.1" -H "authorization: Bearer $(field accessToken)" "https://api.anthropic.com:$port/x")" '"host"'
token2=$(in_box two python3 -c 'import json,os; print(json.load(open(os.path.expanduser("~/.claude/.credentials.json")))["claudeAiOauth"]["accessToken"])')
holds "the second box takes what the first got" "$(use two "$token2")" '{"hello": "host"} 200'
same "without a call of its own" "$(happened 'refresh host')" 1

# Tokens that live for some seconds, two boxes and the host at once.
# A token is refreshed after half of its life, so even the shorter run goes beyond that.
rounds=$(by_tier 12 20)
echo life=16 >"$work/state/config"
python3 - "$login" <<'OLD'
import json, sys
j = json.load(open(sys.argv[1]))
j["claudeAiOauth"]["expiresAt"] = 1000
json.dump(j, open(sys.argv[1], "w"))
OLD
"$ostiary" rm -f one two >/dev/null 2>&1
door_box one --policy "$work/claude.policy" && door_box two --policy "$work/claude.policy"
check "both boxes start again" $?
for b in one two; do
	in_box "$b" env rounds="$rounds" sh -c 'token=$(python3 -c "import json,os; print(json.load(open(os.path.expanduser(\"~/.claude/.credentials.json\")))[\"claudeAiOauth\"][\"accessToken\"])")
for i in $(seq $rounds); do curl -sS -m 60 -o /dev/null -w "%{http_code}\n" -H "authorization: Bearer $token" https://api.anthropic.com/v1/messages & sleep 0.9; done; wait' >"$work/$b.codes" 2>&1 &
	eval "pid_$b=$!"
done
# The agent on the host, as it does it: under its own lock, with what its file says.
python3 - "$login" "$work/ca.pem" "$port" $((rounds / 2)) >"$work/host.codes" 2>&1 <<'HOST'
import json, os, ssl, sys, time, http.client
login, ca, port = sys.argv[1], sys.argv[2], int(sys.argv[3])
lock = os.path.dirname(login) + ".lock"
def call(method, path, body=None, bearer=None):
    c = http.client.HTTPSConnection("127.0.0.1", port, context=ssl._create_unverified_context(), timeout=60)
    c.request(method, path, json.dumps(body) if body else None, {"content-type": "application/json", **({"authorization": "Bearer " + bearer} if bearer else {})})
    r = c.getresponse()
    return r.status, json.loads(r.read())
for i in range(int(sys.argv[4])):
    for _ in range(3000):
        try:
            os.mkdir(lock)
            break
        except FileExistsError:
            time.sleep(0.02)
    else:
        print("no lock")
        continue
    try:
        j = json.load(open(login))
        o = j["claudeAiOauth"]
        status, new = call("POST", "/v1/oauth/token", {"grant_type": "refresh_token", "refresh_token": o["refreshToken"]})
        if status == 200:
            o.update(accessToken=new["access_token"], refreshToken=new["refresh_token"], expiresAt=int(time.time() + new["expires_in"]) * 1000)
            json.dump(j, open(login + ".new", "w"))
            os.rename(login + ".new", login)
        print(status, call("GET", "/v1/x", bearer=o["accessToken"])[0])
    finally:
        os.rmdir(lock)
    time.sleep(1.5)
HOST
wait "$pid_one" "$pid_two"
same "host: every refresh and use was good" "$(sort -u "$work/host.codes")" "200 200"
same "box one: every request was served" "$(sort "$work/one.codes" | uniq -c | tr -s ' ')" " $rounds 200"
same "box two: every request was served" "$(sort "$work/two.codes" | uniq -c | tr -s ' ')" " $rounds 200"
same "no refresh token was used twice" "$(happened 'reuse')" 0
[ "$(happened 'refresh host')" -ge 4 ]
check "though they were refreshed again and again" $? "$(happened 'refresh host')"
rm -f "$work/state/config"

# A client in the box that refreshes by itself.
before=$(happened 'refresh host')
in_box one cat "$HOME/.claude/.credentials.json" >"$work/inside.json"
out=$(in_box one curl -sS -m 60 -H 'content-type: application/json' -d "{\"grant_type\":\"refresh_token\",\"refresh_token\":\"$(inside refreshToken)\"}" https://platform.claude.com/v1/oauth/token 2>&1)
holds "the box's own refresh is answered with its placeholders" "$out" "\"access_token\":\"$(inside accessToken)\""
[ "$(($(happened 'refresh host') - before))" -le 1 ]
check "and its placeholder never reached the provider" $? "$(happened 'unknown refresh token') unknown"
same "nor was anything unknown ever shown there" "$(happened 'unknown refresh token')" 0

# A provider that fails.
echo broken=1 >"$work/state/config"
"$ostiary" rm -f one two >/dev/null 2>&1
python3 - "$login" <<'OLD'
import json, sys
j = json.load(open(sys.argv[1]))
j["claudeAiOauth"]["expiresAt"] = 1000
json.dump(j, open(sys.argv[1], "w"))
OLD
door_box one --policy "$work/claude.policy"
in_box one cat "$HOME/.claude/.credentials.json" >"$work/inside.json"
out=$(use one "$(inside accessToken)")
holds "a refresh that fails is a refusal (S14)" "$out" " 403"
holds "that says why" "$out" "did not give a token"
rm -f "$work/state/config"
sleep 5.2
holds "and is tried again later" "$(use one "$(inside accessToken)")" '{"hello": "host"} 200'

# A login that begins in the box.
out=$(in_box one curl -sS -m 60 -H 'content-type: application/json' -d '{"grant_type":"authorization_code","code":"1"}' https://platform.claude.com/v1/oauth/token 2>&1)
born=$(python3 -c 'import json,sys; print(json.loads(sys.argv[1])["access_token"])' "$out" 2>&1)
case $born in acc-coded-0*) false ;; *) [ "${#born}" -gt 20 ] ;; esac
check "tokens that are born in the box's traffic are not what it sees" $? "$out"
holds "and work" "$(use one "$born")" '{"hello": "coded"} 200'
"$ostiary" rm -f one >/dev/null 2>&1
door_box fresh --allow "$(rule api.anthropic.com | cut -d' ' -f2-)" --allow "$(rule platform.claude.com | cut -d' ' -f2-)"
out=$(in_box fresh curl -sS -m 60 -H 'content-type: application/json' -d '{"grant_type":"authorization_code","code":"1"}' https://platform.claude.com/v1/oauth/token 2>&1)
born=$(python3 -c 'import json,sys; print(json.loads(sys.argv[1])["access_token"])' "$out" 2>&1)
case $born in acc-coded-0*) false ;; *) [ "${#born}" -gt 20 ] ;; esac
check "also in a box that was given nothing" $? "$out"
holds "where they work too" "$(use fresh "$born")" '{"hello": "coded"} 200'
back=$(python3 -c 'import json,sys; print(json.loads(sys.argv[1])["refresh_token"])' "$out" 2>&1)
out=$(in_box fresh curl -sS -m 60 -H 'content-type: application/json' -d "{\"grant_type\":\"refresh_token\",\"refresh_token\":\"$back\"}" https://platform.claude.com/v1/oauth/token 2>&1)
holds "and can be refreshed from there" "$out" access_token
same "with the real refresh token" "$(happened 'refresh coded')" 1
"$ostiary" rm -f fresh >/dev/null 2>&1

# --- OAuth clients, service accounts, GitHub apps ----------------------------------------------------

echo '{"client_id":"robot","client_secret":"robot-secret-0123456789","scope":"all"}' >"$work/robot.json"
echo "{\"client_id\":\"crm\",\"refresh_token\":\"refresh-crm-$y40\"}" >"$work/crm.json"
python3 - "$work" <<'ACCOUNT'
import json, sys
work = sys.argv[1]
json.dump({"type": "service_account", "project_id": "p", "private_key_id": "k1", "private_key": open(work + "/gcp.key").read(),
           "client_email": "robot@example.test", "client_id": "1", "token_uri": "https://tokens.example.test/token"}, open(work + "/sa.json", "w"))
ACCOUNT
chmod 600 "$work"/*.json "$work/app.key"
cat >"$work/tokens.policy" <<-RULES
	$(rule api.example.test)
	$(rule crm.example.test)
	$(rule tokens.example.test)
	$(rule gcp.example.test)
	$(rule api.github.com)
	secret ROBOT from file $work/robot.json at api.example.test as oauth token=https://tokens.example.test/oauth/token inject
	secret CRM from file $work/crm.json at crm.example.test as oauth token=https://tokens.example.test/oauth/token
	secret GCP from file $work/sa.json at gcp.example.test as gcp
	secret APP from file $work/app.key at api.github.com as github-app app=Iv1.test installation=7 repos=site,docs inject
RULES
door_box tok --policy "$work/tokens.policy" 2>"$work/err"
check "a box with four kinds of tokens starts" $? "$(cat "$work/err")"
get() { in_box tok curl -sS -m 60 -w ' %{http_code}' "$@" 2>&1; }
holds "client credentials, injected" "$(get https://api.example.test/x)" '{"hello": "robot"} 200'
holds "once for many requests" "$(get https://api.example.test/y)$(happened 'client robot')" ' 2001'
holds "a refresh token in a file" "$(in_box tok sh -c 'curl -sS -m 60 -w " %{http_code}" -H "authorization: Bearer $CRM" https://crm.example.test/x' 2>&1)" '{"hello": "crm"} 200'
holds "whose successor is in the file now" "$(cat "$work/crm.json")" 'ref-crm-'
holds "a GitHub app, narrowed to its repositories" "$(get https://api.github.com/repos/x)$(cat "$work/state/counts")" '{"hello": "app"} 200'
same "and to no other" "$(grep '^app ' "$work/state/counts")" "app site,docs"
echo "{\"client_id\":\"v\",\"refresh_token\":\"refresh-plain-$y40\"}" | "$ostiary" secret set KEPT >/dev/null 2>"$work/err"
check "a refresh token goes into the vault" $? "$(cat "$work/err")"
echo "secret KEPT from vault at crm.example.test as oauth token=https://tokens.example.test/oauth/token inject" >"$work/kept.policy"
for time in first second; do
	door_box kept --policy "$work/tokens.policy" --policy "$work/kept.policy" 2>"$work/err" >/dev/null
	holds "a $time box with it is served" "$(in_box kept sh -c 'curl -sS -m 60 -w " %{http_code}" -H "authorization: Bearer $KEPT" https://crm.example.test/x' 2>&1)" '{"hello": "plain"} 200'
	"$ostiary" rm -f kept >/dev/null 2>&1
done
same "since its successor is in the vault" "$(happened 'refresh plain') $(happened 'reuse')" "2 0"
# A client of Google as the box's program would be: it reads the account, signs, exchanges, uses.
cat >"$work/ws/gcp.py" <<'PY'
import base64, json, os, subprocess, sys, time, urllib.request, urllib.parse
account = json.load(open(os.environ["GOOGLE_APPLICATION_CREDENTIALS"]))
b64 = lambda b: base64.urlsafe_b64encode(b).rstrip(b"=")
now = int(time.time())
claims = {"iss": account["client_email"], "scope": "x", "aud": account["token_uri"], "iat": now, "exp": now + 3600}
text = b64(json.dumps({"alg": "RS256", "typ": "JWT", "kid": account["private_key_id"]}).encode()) + b"." + b64(json.dumps(claims).encode())
open("/tmp/k", "w").write(account["private_key"])
signature = subprocess.run(["openssl", "dgst", "-sha256", "-sign", "/tmp/k"], input=text, capture_output=True).stdout
body = urllib.parse.urlencode({"grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion": (text + b"." + b64(signature)).decode()}).encode()
got = json.load(urllib.request.urlopen(urllib.request.Request(account["token_uri"], body), timeout=100))
r = urllib.request.urlopen(urllib.request.Request("https://gcp.example.test/x", headers={"authorization": "Bearer " + got["access_token"]}), timeout=100)
print(r.read().decode(), got["access_token"][:5])
PY
holds "a service account: fake key in the box, real token beyond" "$(in_box tok /usr/bin/python3 gcp.py 2>&1)" '{"hello": "gcp"} ya29.'
same "its fake key was never taken for a real one" "$(happened 'bad assertion')" 0
! in_box tok sh -c 'cat "$GOOGLE_APPLICATION_CREDENTIALS"' | grep -qF "$(sed -n 5p "$work/gcp.key")"
check "and the real one is not in the box" $?
out=$("$ostiary" log tok --json 2>&1)
holds "the log has the keeper's own calls" "$out" '/app/installations/7/access_tokens'
! grep -q 'acc-robot\|robot-secret\|refresh-crm' <<<"$out"
check "and no token" $?

# --- bad input ---------------------------------------------------------------------------------------

bad_start() { # name, line, words
	out=$(door_box bad --secret "${2#secret }" 2>&1)
	code=$?
	[ $code != 0 ] && case $out in *"$3"*) true ;; *) false ;; esac
	check "$1" $? "$code $out"
	"$ostiary" rm -f bad >/dev/null 2>&1
}
echo '{"type":"service_account","client_email":"x@y"}' >"$work/nokey.json"
bad_start "a service account without a key" "secret G from file $work/nokey.json at gcp.example.test as gcp" 'private_key'
echo '{"nothing":1}' >"$work/nothing.json"
bad_start "OAuth without anything to exchange" "secret O from file $work/nothing.json at api.example.test as oauth token=https://t.example.test/t" 'refresh_token'
rm -f "$HOME/.codex/auth.json"
bad_start "a login that is not there" "secret C from login codex at chatgpt.com as bearer" 'codex'
exit "$bad"
