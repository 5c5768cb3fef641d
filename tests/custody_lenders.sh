#!/bin/bash
# suite: test=user soak=root,user timeout=200
# tier: what an answer is read as does not depend on who runs the door, so test runs it once
# custody_lenders.sh - at a place that lends credentials (data/lenders) the box gets placeholders, in whatever form the
# answer comes; an answer that cannot be read with certainty is a 502, and words stay words. The origin writes down every
# token that it gave out; none of them may be in what the box got.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
. tests/lib_door.sh
door_needs custody_lenders curl openssl python3
door_ca
door_cert origin 'DNS:*.home.test,DNS:sts.amazonaws.com,DNS:iam.amazonaws.com,DNS:*.s3express-use1-az4.us-east-1.amazonaws.com,DNS:api.github.com,DNS:*.away.test'
: >"$work/lent"
python3 tests/custody/lenders_origin.py "$work/origin.pem" "$work/origin.key" "$work/lent" >"$work/port" 2>"$work/origin.err" &
door_pids+=($!)
within 60 test -s "$work/port"
check "the origin is up" $? "$(cat "$work/origin.err")"
to="to=127.0.0.1:$(cat "$work/port") ca=$work/ca.pem"
export KEY=fake-Lenders-Value-Of-40-Characters-00001
door_box t1 --allow "* *.home.test:443 $to" --allow "* *.amazonaws.com:443 $to" --allow "* api.github.com:443 $to" --allow "* *.away.test:443 $to" \
	--secret "KEY from env at *.home.test,*.amazonaws.com,api.github.com as bearer" >"$work/start" 2>&1
check "the box starts" $? "$(cat "$work/start")"
[ $bad = 0 ] || exit 1

# One process in the box asks for everything; a line of the list is: NAME, what is wanted (placeholder, 502, same, or gone:
# what the field of that name says is not in it), a host and path, the fields of the query.
cat >"$work/ws/ask.py" <<'PY'
import json, ssl, sys, http.client, urllib.parse
for name, wanted, place, query in json.load(open("cases.json")):
    host, _, path = place.partition("/")
    c = http.client.HTTPSConnection(host, timeout=100)
    mark = "&" if "?" in path else "?"
    try:
        c.request("GET", "/" + path + mark + urllib.parse.urlencode(query))
        r = c.getresponse()
        body = r.read()
        print(json.dumps([name, wanted, r.status, body.decode("latin-1"), str(r.getheaders())]), flush=True)
    except Exception as e:
        print(json.dumps([name, wanted, 0, str(e), ""]), flush=True)
    c.close()
PY
python3 - >"$work/ws/cases.json" <<'PY'
import json
cases = []
oauth = '{"access_token":"TOKEN","refresh_token":"TOKEN","expires_in":3600}'
sts = ("<AssumeRoleResponse><AssumeRoleResult><Credentials><AccessKeyId>KEYID</AccessKeyId><SecretAccessKey>SECRET</SecretAccessKey>"
       "<SessionToken>SESSION</SessionToken></Credentials></AssumeRoleResult></AssumeRoleResponse>")
def case(name, wanted, place, body, type="application/json", **more):
    cases.append([name, wanted, place, dict(body=body, type=type, **more)])
for t in ("application/json", "text/plain", "application/octet-stream", "text/html", "-", "text/javascript", "application/vnd.x+json",
          "application/json; charset=utf-8", "image/png"):
    case("OAuth as " + t, "placeholder", "a.home.test/oauth/token", oauth, t)
    if "json" not in t:
        case("STS as " + t, "placeholder", "sts.amazonaws.com/", sts, t)
case("OAuth compressed", "placeholder", "a.home.test/oauth/token", oauth, coding="gzip")
for p in ("token", "Token/", "token;x=1", "token.json", "access_token", "access_tokens", "tokens", "token/refresh", "oauth2/exchange", "v2/auth", "jwt/auth",
          "v1/auth/approle/login", "v1/aws/creds/role", "v1/database/creds/x", "-/user/org.couchdb.user:me", "-/npm/v1/tokens", "api/v4/users/1/personal_access_tokens",
          "api/v4/personal_access_tokens/1/rotate", "repos/a/b/actions/runners/registration-token", "app/installations/1/access_tokens",
          "v1/projects/x/serviceAccounts/y:generateAccessToken", "federation/credentials", "latest/meta-data/iam/security-credentials/role"):
    case("a place: " + p, "placeholder", "a.home.test/" + p, '{"token":"TOKEN","accessToken":"TOKEN"}')
for p in ("", "x", "x/y", "?Action=AssumeRole", "index.html"):
    case("STS at /" + p, "placeholder", "sts.amazonaws.com/" + p, sts, "text/xml")
    case("STS as JSON at /" + p, "placeholder", "sts.amazonaws.com/" + p, '{"Credentials":{"AccessKeyId":"KEYID","SecretAccessKey":"SECRET","SessionToken":"SESSION"}}')
case("IAM CreateAccessKey", "placeholder", "iam.amazonaws.com/", "<R><AccessKey><UserName>Bob</UserName><AccessKeyId>KEYID</AccessKeyId><SecretAccessKey>SECRET</SecretAccessKey></AccessKey></R>", "text/xml")
case("S3 Express", "placeholder", "b--use1-az4--x-s3.s3express-use1-az4.us-east-1.amazonaws.com/?session", sts, "application/xml")
case("S3 Express, escaped", "placeholder", "b--use1-az4--x-s3.s3express-use1-az4.us-east-1.amazonaws.com/?%73ession", sts, "application/xml")
for name in ("WebIdentityToken", "accessToken", "token", "ACCESS_ToKEN", "Access-Token", "client_token", "authorizationToken", "npmToken", "secret_id", "password",
             "client_secret", "idToken", "jwt", "private_key"):
    case("a name: " + name, "placeholder", "a.home.test/oauth/token", json.dumps({name: "TOKEN"}))
case("a token in a list", "placeholder", "a.home.test/oauth/token", '{"access_token":["TOKEN"]}')
case("a token in an object", "placeholder", "a.home.test/oauth/token", '{"client_secret":{"value":"TOKEN"}}')
case("a name with escapes", "placeholder", "a.home.test/oauth/token", '{"access\\u005ftoken":"TOKEN"}')
case("a form", "placeholder", "a.home.test/oauth/token", "access_token=TOKEN&scope=a", "application/x-www-form-urlencoded")
case("a form, its name escaped", "placeholder", "a.home.test/oauth/token", "access%5Ftoken=TOKEN&scope=a", "text/plain")
for name, body in (("namespaces", sts.replace("<Acc", "<a:Acc").replace("</Acc", "</a:Acc").replace("<Sec", "<a:Sec").replace("</Sec", "</a:Sec")),
                   ("capitals", sts.replace("SessionToken", "SESSIONTOKEN_").replace("SESSIONTOKEN_", "sessiontoken")),
                   ("attributes beside", sts.replace("<SessionToken>", '<SessionToken a="b">')),
                   ("an entity", sts.replace("SECRET<", "SECRET&#47;x<"))):
    case("XML with " + name, "placeholder", "sts.amazonaws.com/", body, "text/xml")
for name, body in (("CDATA", sts.replace("SECRET", "<![CDATA[SECRET]]>")), ("an attribute", '<R SessionToken="SESSION"/>'),
                   ("a document type", '<!DOCTYPE r [<!ENTITY a "SECRET">]><r>&a;</r>'), ("a comment", sts.replace("SECRET<", "SECRET<!-- x --><")),
                   ("a tag that is open", sts[:-10]), ("an entity of its own", sts.replace("SECRET<", "SECRET&x;<"))):
    case("XML with " + name, "502", "sts.amazonaws.com/", body, "text/xml")
for name, body, t in (("plain text", "TOKEN", "text/plain"), ("JSON that is cut", '{"access_token":"TOKEN', "application/json"), ("a page", "<html><br>TOKEN</html>", "text/html"),
                      ("JSON with something before", ")]}',\n" + oauth, "application/json"), ("lines of JSON", oauth + "\n" + oauth, "application/x-ndjson"),
                      ("YAML", "access_token: TOKEN\n", "text/yaml"), ("JSON in JSON", json.dumps({"body": oauth}), "application/json"), ("events", "data: " + oauth + "\n\n", "text/event-stream"),
                      ("JSON called XML", oauth, "text/xml"), ("binary", "\x01\x02TOKEN", "application/cbor")):
    case("what cannot be read: " + name, "502", "a.home.test/oauth/token", body, t)
# Shapes that no row names: what is a credential, its looks decide.
lend = [("Azure listKeys", "subscriptions/1/listKeys", '{"keys":[{"keyName":"key1","value":"TOKEN==","permissions":"FULL"}]}', '"FULL"'),
        ("Azure listConnectionStrings", "x/listConnectionStrings", '{"connectionStrings":[{"connectionString":"AccountEndpoint=https://x.home.test/;AccountKey=TOKEN;","description":"Primary"}]}', "Primary"),
        ("Entra addPassword", "v1.0/applications/1/addPassword", '{"displayName":"ci","keyId":"3f2504e0-4f89-41d3-9a0c-0305e82c3301","secretText":"TOKEN"}', "3f2504e0-4f89-41d3-9a0c-0305e82c3301"),
        ("OpenAI admin key", "v1/organization/admin_api_keys", '{"object":"organization.admin_api_key","id":"key_abcX93jfQ8ZaB1x9Kd02","value":"sk-admin-TOKEN"}', "key_abcX93jfQ8ZaB1x9Kd02"),
        ("OpenAI service account", "v1/organization/projects/p/service_accounts", '{"id":"svc_acct_abc","api_key":{"object":"organization.project.service_account.api_key","value":"TOKEN","name":"Secret Key"}}', "svc_acct_abc"),
        ("Conjur", "authn/home/me/authenticate", '{"protected":"TOKEN","payload":"TOKEN","signature":"TOKEN"}', "payload"),
        ("GitHub jitconfig", "repos/a/b/actions/runners/generate-jitconfig", '{"runner":{"id":23,"name":"New runner","labels":[{"id":5,"name":"self-hosted"}]},"encoded_jit_config":"TOKENTOKEN=="}', "self-hosted"),
        ("Vault unwrap", "v1/sys/wrapping/unwrap", '{"request_id":"3f2504e0-4f89-41d3-9a0c-0305e82c3301","data":{"anything":"TOKEN","phrase":"lent words TOKEN"}}', "3f2504e0-4f89"),
        ("Vault login", "v1/auth/kubernetes/login", '{"auth":{"client_token":"hvs.TOKEN","accessor":"0b1a8bQ8ZaB1x9Kd02mfLs","policies":["default"]}}', "0b1a8bQ8ZaB1x9Kd02mfLs"),
        ("Slack", "api/oauth.v2.access", '{"ok":true,"app_id":"A0KRD7HC3","authed_user":{"id":"U1234","access_token":"xoxp-TOKEN"},"access_token":"xoxb-TOKEN"}', "A0KRD7HC3"),
        ("Docker Hub", "v2/users/login", '{"token":"TOKEN","refresh_token":"TOKEN"}', "token"),
        ("Firebase", "v1/accounts:signInWithPassword", '{"localId":"ZY1rJK0eYLg93jfQ8ZaB1x9Kd02","idToken":"TOKEN","refreshToken":"TOKEN","expiresIn":"3600"}', "ZY1rJK0eYLg93jfQ8ZaB1x9Kd02"),
        ("Google signBlob", "v1/projects/-/serviceAccounts/x:signBlob", '{"keyId":"abc","signedBlob":"TOKEN"}', "keyId"),
        ("Cloudflare", "client/v4/user/tokens", '{"result":{"id":"ed17574386854bf78a67040be0a770b0","name":"ro","value":"TOKEN"},"success":true}', "ed17574386854bf78a67040be0a770b0"),
        ("Gitea", "api/v1/users/me/tokens", '{"id":1,"name":"ci","sha1":"TOKEN","token_last_eight":"abcdefgh"}', '"ci"'),
        ("DigitalOcean", "v2/registry/docker-credentials", '{"auths":{"registry.home.test":{"auth":"TOKEN"}}}', "registry.home.test"),
        ("Heroku", "oauth/authorizations", '{"access_token":{"id":"3f2504e0-4f89-41d3-9a0c-0305e82c3301","token":"TOKEN"},"scope":["global"]}', "3f2504e0-4f89"),
        ("Okta", "api/v1/sessions", '{"id":"TOKEN","userId":"00ubgaSA93jfQ8ZaB1x9","status":"ACTIVE"}', "00ubgaSA93jfQ8ZaB1x9"),
        ("RubyGems", "api/v1/oidc/api_key_roles/r/assume_role", '{"rubygems_api_key":"rubygems_TOKEN","name":"ci"}', "ci"),
        ("Kubernetes", "api/v1/namespaces/n/serviceaccounts/s/token", '{"kind":"TokenRequest","metadata":{"name":"s","uid":"3f2504e0-4f89-41d3-9a0c-0305e82c3301"},"status":{"token":"TOKEN","expirationTimestamp":"2026-11-17T21:38:00Z"}}', "TokenRequest"),
        ("Anthropic login", "api/oauth/claude_cli/create_api_key", '{"raw_key":"sk-ant-api03-TOKEN"}', "raw_key"),
        ("Keycloak", "admin/realms/r/clients/1/client-secret", '{"type":"secret","value":"TOKEN"}', "secret"),
        ("Cognito", "login/token", '{"AuthenticationResult":{"AccessToken":"TOKEN","TokenType":"Bearer"},"ChallengeParameters":{"SALT":"5a1b93jfQ8ZaB1x9Kd02","SRP_B":"8ac93jfQ8ZaB1x9Kd02d"},"Session":"TOKEN"}', "8ac93jfQ8ZaB1x9Kd02d"),
        ("a login of claude", "v1/oauth/token", '{"token_type":"Bearer","access_token":"sk-ant-oat01-TOKEN","refresh_token":"sk-ant-ort01-TOKEN","scope":"user:inference user:profile","organization":{"uuid":"3f2504e0-4f89-41d3-9a0c-0305e82c3301","name":"me"},"account":{"uuid":"9f2504e0-4f89-41d3-9a0c-0305e82c3301","email_address":"me@home.test"}}', "9f2504e0-4f89-41d3-9a0c-0305e82c3301"),
        ("a device login of codex", "api/accounts/deviceauth/token", '{"authorization_code":"ac_0vQ8ZaB1x9Kd02mfLs93jf","code_challenge":"Q8ZaB1x9Kd02mfLs93jf","code_verifier":"Ls93jfQ8ZaB1x9Kd02mf"}', "ac_0vQ8ZaB1x9Kd02mfLs93jf"),
        ("public keys", "oauth/token/keys", '{"keys":[{"kty":"RSA","kid":"x9Kd02mfLs93jfQ8ZaB1","n":"xGOr93jfQ8ZaB1x9Kd02mfLs","e":"AQAB"}]}', "xGOr93jfQ8ZaB1x9Kd02mfLs")]
for name, p, body, keep in lend:
    case("a shape: " + name, "placeholder", "a.home.test/" + p, body, keep=keep)
case("an error with a token", "placeholder", "a.home.test/oauth/token", '{"error":"x","hint":1,"access_token":"TOKEN"}', status="400")
case("a failure with one of no name", "placeholder", "a.home.test/oauth/token", '{"made":"TOKEN"}', status="503")
case("an error page with a token", "placeholder", "a.home.test/oauth/token", "<html><p>take TOKEN</html>", "text/html", status="403")
case("a failure that is packed", "placeholder", "a.home.test/oauth/token", "\x1f\x8b TOKEN", "application/gzip", status="500")
for name, body in (("a sentence", '{"note":"take TOKEN"}'), ("JSON of other names", json.dumps({"body": '{"made":"TOKEN"}'})), ("a name", '{"TOKEN":1}'),
                   ("an address", '{"url":"https://x.home.test/cb?refresh_token=TOKEN"}'), ("an address with a password", '{"clone_url":"https://me:TOKEN@x.home.test/r"}')):
    case("a token in " + name, "502", "a.home.test/oauth/token", body)
case("XML with text between", "502", "sts.amazonaws.com/", "<R>TOKEN<a/></R>", "text/xml")
case("XML with a token in an unnamed attribute", "502", "sts.amazonaws.com/", '<R made="TOKEN"/>', "text/xml")
case("XML with a token behind a name", "502", "sts.amazonaws.com/", "<R></R TOKEN>", "text/xml")
case("a cookie", "placeholder", "a.home.test/oauth/token", '{"ok":true}', field="set-cookie: sid=TOKEN; path=/")
case("control: a flag in a cookie", "same", "a.home.test/oauth/token", '{"ok":true}', field="set-cookie: seen=1; path=/")
case("a field", "502", "a.home.test/oauth/token", '{"ok":true}', field="x-subject-token: TOKEN")
case("a field with a known shape", "502", "a.home.test/oauth/token", '{"ok":true}', field="x-made: ghp_x9Kd02mfLs93jfQ8ZaB1x9Kd02mfLs93jfQ8")
case("a field of a request", "502", "a.home.test/oauth/token", '{"ok":true}', field="authorization: Bearer TOKEN")
case("a field of a session", "502", "a.home.test/oauth/token", '{"ok":true}', field="x-session-id: TOKEN")
case("control: a field of words", "same", "a.home.test/oauth/token", '{"ok":true}', field="surrogate-key: pages all of them")
case("a redirection with a query", "502", "a.home.test/oauth/token", "", "-", status="302", location="https://x.home.test/cb?a=1&access_token=TOKEN")
case("a redirection with an escaped one", "502", "a.home.test/oauth/token", "", "-", status="302", location="/x?to=%2Fcb%23id_token%3DTOKEN")
case("a redirection with a body", "placeholder", "a.home.test/oauth/token", "<a href=x>TOKEN</a>", "text/html", status="302", location="/cb?code=abcdefghijklmnop")
case("control: a pending login", "same", "a.home.test/oauth/token", '{"error":"authorization_pending","error_description":"AADSTS70016: Trace ID: 3f2504e0-4f89-41d3-9a0c-0305e82c3301 Timestamp: 2026-11-17 21:38:00Z","error_codes":[70016],"correlation_id":"3f2504e0-4f89-41d3-9a0c-0305e82c3301"}', status="400")
case("control: an error with its number", "same", "a.home.test/oauth/token", '{"type":"error","error":{"type":"rate_limit_error","message":"Slow down."},"request_id":"req_011CSHoEeqs5C35K2UUqR7Fy"}', status="429")
cases.append(["UTF-16", "502", "a.home.test/oauth/token", dict(body=oauth, type="application/json", utf16="1")])
cases.append(["two types", "502", "a.home.test/oauth/token", dict(body=oauth, type="application/json", type2="text/plain")])
cases.append(["a redirection", "502", "a.home.test/oauth/token", dict(body="", type="text/html", status="302", location="https://x.home.test/cb#access_token=TOKEN")])
case("control: an error", "same", "a.home.test/oauth/token", "<html>what?</html>", "text/html", status="400")
# Honest answers in which words stand where tokens would; what comes from elsewhere afterwards has the same words.
words = "function constructor document This field is required. %7B%22Version%22%3A%222012-10-17%22%2C%22Statement%22 3da541559918a808c2402bba5012f6c60b27661c"
policy = "%7B%22Version%22%3A%222012-10-17%22%2C%22Statement%22%3A%5B%7B%22Federated%22%3A%22arn%3Aaws%3Aiam%3A%3A1%3Aoidc-provider%2Fid%2FD539D4633E53DE1B71E2A09C%22%7D%5D%7D"
case("control: fields that are required", "same", "a.home.test/api/token/", '{"username":["This field is required."],"password":["This field is required."]}', status="400")
case("control: tokens of a language", "same", "a.home.test/tokens", '{"tokens":["function","constructor","document"]}')
case("control: a commit", "same", "api.github.com/repos/actions/token/commits/main", '{"sha":"3da541559918a808c2402bba5012f6c60b27661c"}')
case("control: a repository named like a token", "same", "api.github.com/repos/actions/create-github-app-token/commits/main", "any 3da541559918a808c2402bba5012f6c60b27661c", "text/plain")
case("control: IAM GetRole", "same", "iam.amazonaws.com/", "<R><Role><RoleName>a</RoleName><AssumeRolePolicyDocument>" + policy + "</AssumeRolePolicyDocument></Role></R>", "text/xml")
case("control: a picture", "same", "a.home.test/oauth/token", '{"picture":"https://x.home.test/u/x9Kd02mfLs93jfQ8ZaB1=s96-c"}')
case("control: true", "same", "a.home.test/oauth/token", "true")
case("control: OK", "same", "a.home.test/oauth/token", "OK", "text/plain")
case("words under a sure name", "placeholder", "a.home.test/oauth/token", '{"access_token":"trustworthy"}')
case("control: the same words from another host", "same", "api.github.com/any", words + " trustworthy", "text/plain")
# What was only guessed to be a token, and what others have, too, whatever its name, is looked for where it was lent.
for n, (name, text) in enumerate((("made", "7c1e41559918a808c2402bba5012f6c60b27661c"), ("access_token", "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"),
                                  ("access_token", "sha512-Qb9Kd02mfLs93jfQ8ZaB1x9Kd02mfLs93jfQ8ZaB1x9Kd02mfLs93jfQ8ZaB1x9Kd02mfLs93jfQ8ZaB1x9KdA=="),
                                  ("refresh_token", "5e2504e0-4f89-41d3-9a0c-0305e82c3301"), ("token", "dQw4w9WgXcQ"), ("session", "Zt5Kd02mfLs93jfQ8ZaB1x9Kd02mfLs93jfQ8"))):
    for known in ("", " once more"):
        case("lent: %d%s" % (n, known), "gone", "a.home.test/oauth/token", json.dumps({name: text}), gone=text)
    case("lent, from where it belongs: %d" % n, "gone", "a.home.test/any", "it is " + text, "text/plain", gone=text)
    case("control: lent, from another host: %d" % n, "same", "else.away.test/any", "it is " + text, "text/plain")
    case("an error that has its name: %d" % n, "placeholder", "a.home.test/oauth/token", json.dumps({"error": "x", "access_token": text}), status="400")
    case("control: then from another host: %d" % n, "same", "else.away.test/any", "it is " + text, "text/plain")
sure = "Vx7Kd02mfLs93jfQ8ZaB1x9Kd02mfLs93jfQ8ZaB1x9Kd"
case("lent with certainty", "gone", "a.home.test/oauth/token", json.dumps({"access_token": sure}), gone=sure)
case("lent with certainty, from another host", "gone", "else.away.test/any", "it is " + sure, "text/plain", gone=sure)
case("control: another path", "same", "a.home.test/v1/models", "just text", "text/plain")
case("control: nothing in it", "same", "a.home.test/oauth/token", '{"ok":true,"next_token":"0123456789abcdef"}')
case("control: empty", "same", "a.home.test/oauth/token", "", "-")
print(json.dumps(cases))
PY
in_box t1 python3 ask.py >"$work/answers" 2>"$work/answers.err"
check "the box asked" $? "$(cat "$work/answers.err")"
python3 - "$work/ws/cases.json" "$work/answers" "$work/lent" "$KEY" <<'PY'
import base64, json, sys
cases, lent = json.load(open(sys.argv[1])), [line.strip() for line in open(sys.argv[3])]
answers, bad = {a[0]: a for a in map(json.loads, open(sys.argv[2]))}, 0
def say(ok, name, why=""):
    global bad
    bad |= not ok
    print("ok " + name if ok else "not ok %s: %s" % (name, why[:300].replace("\n", "|")))
say(len(answers) == len(cases) > 140, "every case was answered", "%d of %d" % (len(answers), len(cases)))
say(len(lent) > 150, "control: tokens were given out", str(len(lent)))
for name, wanted, place, query in cases:
    _, _, status, body, location = answers.get(name, [0, 0, 0, "", ""])
    seen = body + location + body.replace("\x00", "")
    leaked = [t for t in lent if t in seen or t[4:24] in seen or t.upper() in seen.upper()]
    say(not leaked, name, "a token reached the box: " + body)
    if wanted == "502":
        say(status == 502, name + ": 502", "%d %s" % (status, body))
    elif wanted == "placeholder":
        say(status == int(query.get("status", 200)), name + ": passes", "%d %s" % (status, body))
        say(query.get("keep", "") in body, name + ": the rest stays", body)
    elif wanted == "gone":
        say(status == 200 and query["gone"] not in body, name + ": a placeholder", "%d %s" % (status, body))
    else:
        say(body == query["body"], name + ": as it is", "%d %s" % (status, body))
sys.exit(bad)
PY
[ $? = 0 ] || bad=1
exit $bad
