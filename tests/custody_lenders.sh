#!/bin/bash
# suite: test=user soak=root,user timeout=200
# tier: what an answer is read as does not depend on who runs the door, so test runs it once
# custody_lenders.sh - at a place that lends credentials (data/lenders) the box gets placeholders, in whatever form the
# answer comes; an answer that cannot be read with certainty is a 502. The origin writes down every token that it gave
# out; none of them may be in what the box got.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
. tests/lib_door.sh
door_needs custody_lenders curl openssl python3
door_ca
door_cert origin 'DNS:*.home.test,DNS:sts.amazonaws.com,DNS:iam.amazonaws.com,DNS:*.s3express-use1-az4.us-east-1.amazonaws.com,DNS:api.github.com'
: >"$work/lent"
python3 tests/custody/lenders_origin.py "$work/origin.pem" "$work/origin.key" "$work/lent" >"$work/port" 2>"$work/origin.err" &
door_pids+=($!)
within 60 test -s "$work/port"
check "the origin is up" $? "$(cat "$work/origin.err")"
to="to=127.0.0.1:$(cat "$work/port") ca=$work/ca.pem"
export KEY=fake-Lenders-Value-Of-40-Characters-00001
door_box t1 --allow "* *.home.test:443 $to" --allow "* *.amazonaws.com:443 $to" --allow "* api.github.com:443 $to" \
	--secret "KEY from env at *.home.test,*.amazonaws.com,api.github.com as bearer" >"$work/start" 2>&1
check "the box starts" $? "$(cat "$work/start")"
[ $bad = 0 ] || exit 1

# One process in the box asks for everything; a line of the list is: NAME, what is wanted (placeholder, 502 or same), a
# host and path, the fields of the query.
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
        print(json.dumps([name, wanted, r.status, body.decode("latin-1"), r.getheader("location", "")]), flush=True)
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
cases.append(["UTF-16", "502", "a.home.test/oauth/token", dict(body=oauth, type="application/json", utf16="1")])
cases.append(["two types", "502", "a.home.test/oauth/token", dict(body=oauth, type="application/json", type2="text/plain")])
cases.append(["a redirection", "502", "a.home.test/oauth/token", dict(body="", type="text/html", status="302", location="https://x.home.test/cb#access_token=TOKEN")])
case("control: an error", "same", "a.home.test/oauth/token", "<html>what?</html>", "text/html", status="400")
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
say(len(answers) == len(cases) > 90, "every case was answered", "%d of %d" % (len(answers), len(cases)))
say(len(lent) > 150, "control: tokens were given out", str(len(lent)))
for name, wanted, place, query in cases:
    _, _, status, body, location = answers.get(name, [0, 0, 0, "", ""])
    seen = body + location + body.replace("\x00", "")
    leaked = [t for t in lent if t in seen or t[4:24] in seen or t.upper() in seen.upper()]
    say(not leaked, name, "a token reached the box: " + body)
    if wanted == "502":
        say(status == 502, name + ": 502", "%d %s" % (status, body))
    elif wanted == "placeholder":
        say(status == 200, name + ": passes", "%d %s" % (status, body))
    else:
        say(body == query["body"], name + ": as it is", "%d %s" % (status, body))
sys.exit(bad)
PY
[ $? = 0 ] || bad=1
exit $bad
