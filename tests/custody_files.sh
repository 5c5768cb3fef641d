#!/bin/bash
# suite: test=root,user soak=root,user timeout=400
# tier: whose files they are, and what their owner is in the box, differs between root and user
# custody_files.sh - where agents look for credentials they find placeholders: in the files of well-known programs, and
# in files of the workspace that held real ones. The host's files stay as they are, and no value is anywhere in the box.
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
cd "$work/ws" || exit 1

# Every value of this suite has this mark in it, in one of two spellings.
mark=fakeVALUE
export GITHUB_TOKEN=ghp_fakeVALUEfakeVALUEfakeVALUEfakeVALUE
export NPM_TOKEN=npm_fakeVALUEfakeVALUEfakeVALUEfakeVALUE
export DOCKER_PASS=fakeVALUEdocker1234
export PYPI_TOKEN=pypi-fakeVALUEfakeVALUEfakeVALUEfakeVALUEfakeVALUEfakeVALUE
export GIT_PASS=fakeVALUEgitpassword
mkdir -p "$HOME/.aws" "$HOME/.claude" "$HOME/.codex"
printf '[default]\naws_access_key_id = AKIAFAKEVALUEFAKEVAL\naws_secret_access_key = fakeVALUEfakeVALUEfakeVALUEfakeVALUE0000\n' >"$HOME/.aws/credentials"
printf '[default]\nregion = eu-central-1\n' >"$HOME/.aws/config"
cat >"$work/policy" <<'E'
secret GITHUB_TOKEN from env at api.github.com,github.com as bearer,basic
secret GIT_PASS from env at git.example.org,git.example.net:8443 as basic inject user=me
secret NPM_TOKEN from env at npm.example.org as bearer
secret DOCKER_PASS from env at ghcr.io as basic user=bob
secret PYPI_TOKEN from env at upload.example.org as basic
secret AWS from aws default at *.amazonaws.com as sigv4
E

# --- credential files ------------------------------------------------------------------------------

cat >"$work/ws/show.sh" <<'E'
cd ~ || exit 1
for f in .netrc .git-credentials .gitconfig .npmrc .docker/config.json .pypirc .aws/credentials .aws/config .config/gh/hosts.yml .config/gh/config.yml; do
	echo "== $f $(stat -c '%a %U' "$f")"
	cat "$f"
	echo
done
echo "== env"
env
echo "== search"
grep -rls "fakeVALUE\|FAKEVALUE" / --exclude-dir=proc --exclude-dir=sys --exclude-dir=dev --exclude-dir=usr 2>/dev/null | grep -v show.sh
grep -ls "fakeVALUE" /proc/[0-9]*/environ 2>/dev/null | grep -v self
true
E
box --policy "$work/policy" -- sh ./show.sh >"$work/shown" 2>"$work/err"
check 'a box with six secrets starts' $? "$(cat "$work/err")"
part() { sed -n "/^== ${1//\//\\/} /,/^== /p" "$work/shown"; }
value() { sed -n "s/^$1=//p" "$work/shown"; }
github=$(value GITHUB_TOKEN) git=$(value GIT_PASS) npm=$(value NPM_TOKEN) docker=$(value DOCKER_PASS) pypi=$(value PYPI_TOKEN)
same 'placeholders are as long as the values' "${#github} ${#git} ${#npm} ${#docker} ${#pypi}" "${#GITHUB_TOKEN} ${#GIT_PASS} ${#NPM_TOKEN} ${#DOCKER_PASS} ${#PYPI_TOKEN}"
for f in .netrc .git-credentials .gitconfig .npmrc .docker/config.json .pypirc .aws/credentials .config/gh/hosts.yml; do
	holds "$f is the box's own and nobody else's" "$(part "$f" | head -1)" '== '"$f 600 "
done
holds '.netrc for git and curl' "$(part .netrc)" "machine git.example.org login me password $git"
holds '.netrc for github' "$(part .netrc)" "machine github.com login x-access-token password $github"
holds '.netrc for a package index' "$(part .netrc)" "machine upload.example.org login __token__ password $pypi"
holds '.git-credentials' "$(part .git-credentials)" "https://me:$git@git.example.net:8443"
holds '.gitconfig uses them' "$(part .gitconfig)" '[credential "https://git.example.org"]'
holds 'and keeps what was seeded' "$(part .gitconfig)" 'directory = *'
holds 'ssh remotes become https where the credential is injected' "$(part .gitconfig)" 'insteadOf = git@git.example.org:'
same 'and nowhere else' "$(part .gitconfig | grep -c 'git@github.com')" 0
holds '.npmrc' "$(part .npmrc)" "//npm.example.org/:_authToken=$npm"
same '.docker/config.json' "$(part .docker/config.json | sed '/^==/d' | python3 -c 'import base64, json, sys; print(base64.b64decode(json.load(sys.stdin)["auths"]["ghcr.io"]["auth"]).decode())')" "bob:$docker"
holds '.pypirc' "$(part .pypirc)" "password = $pypi"
holds '.aws/credentials' "$(part .aws/credentials)" "aws_access_key_id = $(value AWS_ACCESS_KEY_ID)"
holds 'with the secret key' "$(part .aws/credentials)" "aws_secret_access_key = $(value AWS_SECRET_ACCESS_KEY)"
holds "the host's region" "$(part .aws/config)" 'region = eu-central-1'
holds "gh's login" "$(part .config/gh/hosts.yml)" "oauth_token: $github"
case $(value AWS_ACCESS_KEY_ID) in AKIA????????????????) true ;; *) false ;; esac
check "a placeholder of AWS looks like AWS's" $? "$(value AWS_ACCESS_KEY_ID)"
same 'no value is in any file or environment of the box' "$(sed -n '/^== search/,$p' "$work/shown" | sed 1d)" ''
grep -q "$mark" "$work/shown"
same 'nor in anything that was printed' $? 1
cp "$work/ws/show.sh" "$work/ws/control.txt"
echo "$mark" >>"$work/ws/control.txt"
holds 'the search finds what it is shown' "$(box --policy "$work/policy" -- sh ./show.sh 2>/dev/null | sed -n '/^== search/,$p')" control.txt
rm "$work/ws/control.txt" "$work/ws/show.sh"
if has git; then
	out=$(box --policy "$work/policy" -- sh -c 'git ls-remote --get-url git@git.example.org:a/b.git; printf "protocol=https\nhost=git.example.org\n\n" | GIT_TERMINAL_PROMPT=0 git credential fill' 2>&1)
	holds 'git itself rewrites the remote' "$out" 'https://git.example.org/a/b.git'
	holds 'and finds the placeholder' "$out" "username=me"
fi

# --- the host's logins -----------------------------------------------------------------------------

printf '{"claudeAiOauth":{"accessToken":"sk-ant-oat01-fakeVALUEfakeVALUEfakeVALUEfakeVALUEfakeVALUE","refreshToken":"sk-ant-ort01-fakeVALUEfakeVALUEfakeVALUEfakeVALUEfakeVALUE","expiresAt":%s000,"scopes":["user:inference","user:profile"],"subscriptionType":"max"},"mcpOAuth":{"x":{"accessToken":"fakeVALUEmcp"}}}' $(($(date +%s) + 7200)) >"$HOME/.claude/.credentials.json"
chmod 600 "$HOME/.claude/.credentials.json"
before=$(sha256sum <"$HOME/.claude/.credentials.json")
echo 'secret CLAUDE_LOGIN from login claude at api.anthropic.com as bearer' >"$work/login"
out=$(box --policy "$work/login" -- sh -c 'cat ~/.claude/.credentials.json; stat -c " mode=%a" ~/.claude/.credentials.json' 2>&1)
if [ $? = 0 ]; then
	same "claude's login has the host's fields" "$(sed 's/ mode=.*//' <<<"$out" | python3 -c 'import json, sys, time
j = json.load(sys.stdin)
o = j["claudeAiOauth"]
print(sorted(j), o["accessToken"][:13], o["refreshToken"][:13], o["expiresAt"] / 1000 > time.time() + 86400 * 365, o["scopes"], o["subscriptionType"])')" \
		"['claudeAiOauth'] sk-ant-oat01- sk-ant-ort01- True ['user:inference', 'user:profile'] max"
	holds 'and is private' "$out" mode=600
	case $out in *"$mark"*) false ;; *) true ;; esac
	check 'and holds no token' $? "$out"
else
	check "a box with claude's login starts" 1 "$out"
fi
python3 - "$HOME/.codex/auth.json" <<'E'
import base64, json, sys
claims = {"email": "fakeVALUE@example.org", "https://api.openai.com/auth": {"chatgpt_plan_type": "team"}}
part = lambda j: base64.urlsafe_b64encode(json.dumps(j).encode()).decode().rstrip("=")
token = lambda j: part({"alg": "none"}) + "." + part(j) + ".ZmFrZVZBTFVF"
json.dump({"OPENAI_API_KEY": None, "tokens": {"id_token": token(claims), "access_token": token({"sub": "fakeVALUE"}),
    "refresh_token": "rt_fakeVALUEfakeVALUE", "account_id": "account-1"}, "last_refresh": "2026-01-01T00:00:00Z"}, open(sys.argv[1], "w"))
E
echo 'secret CODEX_LOGIN from login codex at chatgpt.com as bearer' >"$work/codex"
out=$(box --policy "$work/codex" -- cat "$HOME/.codex/auth.json" 2>&1)
same "codex's login has the host's fields, account and plan" "$(python3 -c 'import base64, json, sys
t = json.load(sys.stdin)["tokens"]
c = json.loads(base64.urlsafe_b64decode(t["id_token"].split(".")[1] + "=="))
print(sorted(t), t["account_id"], c["https://api.openai.com/auth"]["chatgpt_plan_type"], "fakeVALUE" in json.dumps([t, c]))' <<<"$out")" \
	"['access_token', 'account_id', 'id_token', 'refresh_token'] account-1 team False"
same 'and none of its tokens' "$(python3 -c 'import json, sys
a, b = json.load(open(sys.argv[1]))["tokens"], json.load(sys.stdin)["tokens"]
print([k for k in a if k != "account_id" and a[k] == b[k]])' "$HOME/.codex/auth.json" <<<"$out")" '[]'
rm "$HOME/.codex/auth.json" "$HOME/.claude/.credentials.json.lock" 2>/dev/null
out=$(OPENAI_API_KEY=sk-proj-fakeVALUEfakeVALUEfakeVALUEfakeVALUE box --profile codex -- sh -c 'echo "{\"OPENAI_API_KEY\": \"$OPENAI_API_KEY\"}"; cat ~/.codex/auth.json' 2>&1)
same 'codex finds an API key in its file' "$(head -1 <<<"$out")" "$(tail -n +2 <<<"$out" | tr -d '\n' | sed 's/{ */{/')"
out=$(ANTHROPIC_API_KEY=sk-ant-api03-fakeVALUEfakeVALUEfakeVALUEfakeVALUE box --profile claude -- sh -c 'echo "$ANTHROPIC_API_KEY" | tail -c 21; cat ~/.claude.json' 2>&1)
holds 'claude need not ask about a key that is new to it' "$(tail -n +2 <<<"$out" | tr -d ' \n')" "\"approved\":[\"$(head -1 <<<"$out")\"]"
same "the host's own login is as it was" "$(sha256sum <"$HOME/.claude/.credentials.json")" "$before"

# --- the workspace ---------------------------------------------------------------------------------

mkdir -p services/api deep/a/b .claude
cat >.env <<'E'
# settings
export OTHER_TOKEN=fakeVALUEother1234
GITHUB_TOKEN=ghp_fakeVALUEfakeVALUEfakeVALUEfakeVALUE
DATABASE_URL="postgres://app:fakeVALUEdb@db.example.org/app"
AWS_SECRET_ACCESS_KEY=fakeVALUEfakeVALUEfakeVALUEfakeVALUE0000
REF=${OTHER_TOKEN}
PORT=3000
E
echo 'API_KEY=<your key here>' >.env.example
printf '{"mcpServers": {"x": {"command": "y", "env": {"X_API_KEY": "fakeVALUEmcp12345", "MODE": "dev"}}}}\n' >services/api/mcp.json
printf '{"version": 4, "resources": [{"attributes": {"password": "fakeVALUEtfstate", "id": "db-1"}}]}\n' >deep/a/terraform.tfstate
printf 'services:\n  web:\n    environment:\n      STRIPE: sk_live_fakeVALUEfakeVALUE00\n      LABEL: plain\n' >docker-compose.yml
printf -- '-----BEGIN PRIVATE KEY-----\nfakeVALUEpem\n-----END PRIVATE KEY-----\n' >server.pem
chmod 640 .env
touch -d '2020-01-02 03:04:05' .env
if has git; then
	git init -q . && git remote add origin 'https://me:fakeVALUEgitpassword@git.example.org/a/b.git' && git remote add up 'https://x:fakeVALUEupstream@up.example.org/a.git'
fi
tree() { find . -type f ! -path './.git/objects/*' -printf '%p %m %T@ ' -exec sha256sum {} \; | sort; }
before=$(tree)
"$ostiary" run --keep -n "told$$" --policy "$work/policy" -- sh -c 'cat .env services/api/mcp.json deep/a/terraform.tfstate docker-compose.yml; stat -c "%a %Y" .env; cat .git/config 2>/dev/null; cat .env.example' >"$work/masked" 2>"$work/err"
check 'a box over a workspace with secrets starts' $? "$(cat "$work/err")"
same 'none of them is in the box' "$(grep -c "$mark" "$work/masked")" 0
same 'but the settings are' "$(grep -cF -e 'PORT=3000' -e 'REF=${OTHER_TOKEN}' -e '"MODE": "dev"' -e '"id": "db-1"' -e 'LABEL: plain' "$work/masked")" 5
same 'a stand-in is as long as the value' "$(sed -n 's/^export OTHER_TOKEN=//p' "$work/masked" | tr -d '\n' | wc -c)" 18
holds "a shape's prefix stays" "$(grep STRIPE "$work/masked")" 'sk_live_'
holds 'a blank to fill in is no secret' "$(cat "$work/masked")" '<your key here>'
holds 'mode and time are those of the file' "$(cat "$work/masked")" "640 $(date -d '2020-01-02 03:04:05' +%s)"
holds 'the user is told, a line for each file' "$(cat "$work/err")" 'masked 4 values in .env; ostiary explain shows them'
holds 'also of what is only listed' "$(cat "$work/err")" 'server.pem is a private key and is shown as it is'
same "the host's files are as they were" "$(tree)" "$before"
"$ostiary" rm --yes "told$$" >/dev/null
box -- true
same 'a box that changed nothing leaves nothing' "$("$ostiary" ps -a -q | wc -l)" 0
got=$(box --policy "$work/policy" -- sh -c 'echo "$GITHUB_TOKEN $AWS_SECRET_ACCESS_KEY"; . ./.env; echo "$GITHUB_TOKEN $AWS_SECRET_ACCESS_KEY"')
same 'a variable of a granted name has the placeholder that works' "$(sed -n 1p <<<"$got")" "$(sed -n 2p <<<"$got")"
if has git; then
	got=$(box --policy "$work/policy" -- sh -c 'echo "https://me:$GIT_PASS@git.example.org/a/b.git"; git config remote.origin.url; git config remote.up.url')
	same 'so has the URL of a remote' "$(sed -n 1p <<<"$got")" "$(sed -n 2p <<<"$got")"
	case $(sed -n 3p <<<"$got") in https://x:?????????????????@up.example.org/a.git) true ;; *) false ;; esac
	check 'and any other remote a stand-in' $? "$got"
fi
holds 'explain names what is hidden' "$("$ostiary" explain --json -- true 2>&1)" 'masked: 4 values of OTHER_TOKEN'
out=$("$ostiary" run --keep -n "shown$$" --no-mask -- grep -c "$mark" .env 2>"$work/err")
same '--no-mask shows them as they are' "$out" 4
holds 'with a warning' "$(cat "$work/err")" '.env holds secrets and is shown as it is (--no-mask)'
"$ostiary" rm --yes "shown$$" >/dev/null

# A box that changes such a file keeps its own change, over the stand-ins, from start to start.
name=keep$$
"$ostiary" create -q -n "$name" >/dev/null 2>"$work/err"
check 'a box that stays' $? "$(cat "$work/err")"
first=$("$ostiary" exec -q "$name" -- cat .env </dev/null)
"$ostiary" exec -q "$name" -- sh -c 'echo MINE=1 >>.env' </dev/null
"$ostiary" stop "$name" >/dev/null
second=$("$ostiary" exec -q "$name" -- cat .env </dev/null)
same 'its own change is there when it is woken' "$second" "$first
MINE=1"
holds 'what it did not touch is hidden again' "$("$ostiary" exec -q "$name" -- cat services/api/mcp.json </dev/null)" '"MODE": "dev"'
case $second$("$ostiary" exec -q "$name" -- cat services/api/mcp.json docker-compose.yml deep/a/terraform.tfstate </dev/null) in *"$mark"*) false ;; *) true ;; esac
check 'and no value is in it' $?
out=$("$ostiary" cp "$name:.env" . 2>&1)
[ $? != 0 ]
check 'it is not copied over your own file' $? "$out"
holds 'which is said' "$out" 'stand-ins for its secrets'
mkdir "$work/else"
out=$("$ostiary" cp --yes "$name:.env" "$work/else/" 2>&1)
same 'but somewhere else it is, with a word about it' "$(grep -c MINE=1 "$work/else/.env"):$(grep -c stand-ins <<<"$out")" '1:1'
state=$HOME/.local/state/ostiary/boxes/$name
grep -q "^masked .*\.env" "$state/masked"
check 'the list says that its file is a masked one' $? "$(cat "$state/masked")"
same 'with the content that we wrote' "$(grep -c "$(sha256sum <<<"$first" | cut -c1-64)" "$state/masked")" 1
"$ostiary" rm -f "$name" >/dev/null 2>&1
# Placeholders are new at every start; a copy that the box did not touch follows.
"$ostiary" create -q -n "$name" --policy "$work/policy" >/dev/null 2>&1
for start in first second; do
	got=$("$ostiary" exec -q "$name" -- sh -c 'echo "$GITHUB_TOKEN"; sed -n "s/^GITHUB_TOKEN=//p" .env; sed -n "s/.*oauth_token: //p" ~/.config/gh/hosts.yml | sort -u' </dev/null)
	same "$start start: variable, workspace and gh's login agree" "$(sort -u <<<"$got" | wc -l):$(grep -c "$mark" <<<"$got")" '1:0'
	"$ostiary" stop "$name" >/dev/null
done
"$ostiary" rm -f "$name" >/dev/null 2>&1
# A box whose supervisor was killed holds nothing but copies of ours, and gc knows it.
"$ostiary" run -q -d -n "$name" -- sleep 300 >/dev/null 2>&1
sed -i 's/^kept .*/kept 0/' "$state/meta"
pid=$(sed -n 's/^pid //p' "$state/meta")
if [ -n "$pid" ] && kill -9 "$pid" 2>/dev/null && within 60 is_not_running "$name"; then
	[ -e "$state/layers/ws/upper/.env" ]
	check 'a killed supervisor leaves the copies' $?
	# Its processes end by themselves, and gc leaves alone what still runs.
	is_taken() { "$ostiary" gc >"$work/gc" 2>&1 && [ ! -e "$state" ]; }
	within 60 is_taken
	check 'and gc takes such a box away' $? "$(cat "$work/gc")"
else
	check 'the supervisor of a box is killed' 1 "pid ${pid:-unknown}"
fi
"$ostiary" rm -f "$name" >/dev/null 2>&1
# What a box put in the way is not followed.
"$ostiary" create -q -n "$name" >/dev/null 2>&1
"$ostiary" exec -q "$name" -- sh -c 'rm -rf services && ln -s / services && rm -rf ~/.config && ln -s /etc ~/.config' </dev/null
"$ostiary" stop "$name" >/dev/null
out=$("$ostiary" exec -q "$name" -- readlink services </dev/null 2>&1)
same 'a link that the box made stays its own' "$out" /
"$ostiary" rm -f "$name" >/dev/null 2>&1

# A token that is shown to a place of a granted secret becomes the placeholder that works there.
printf '//npm.example.org/:_authToken=fakeVALUEnpm1\n//else.example.org/:_authToken=fakeVALUEnpm2\n' >.npmrc
printf 'machine git.example.org\n  login me\n  password fakeVALUEnetrc1\nmachine x.example.org login me password fakeVALUEnetrc2\n' >.netrc
got=$(box --policy "$work/policy" -- sh -c 'cat .npmrc .netrc; echo "$NPM_TOKEN"; echo "$GIT_PASS"')
holds 'a registry in .npmrc' "$got" "//npm.example.org/:_authToken=$(tail -2 <<<"$got" | head -1)"
holds 'a machine in .netrc' "$got" "password $(tail -1 <<<"$got")"
same 'and any other is worth nothing' "$(grep -c "$mark" <<<"$got")" 0
rm .npmrc .netrc
# Directories that are bound beside the workspace.
mkdir -p "$work/beside"
echo "A_TOKEN=${mark}beside" >"$work/beside/.env"
for mode in cow rw; do
	same "a directory bound $mode" "$(box --bind "$work/beside:$mode" -- grep -c "$mark" "$work/beside/.env")" 0
done
same 'is as it was' "$(cat "$work/beside/.env")" "A_TOKEN=${mark}beside"
if has git; then
	(
		cd "$work" && git init -q main && cd main && git remote add origin "https://me:${mark}worktree@up.example.org/a.git" &&
			git -c user.name=a -c user.email=a@example.org commit -q --allow-empty -m x && git worktree add -q "$work/tree" -b side
	) 2>/dev/null
	got=$(box -w "$work/tree" -- git -C "$work/tree" config remote.origin.url 2>&1)
	case $got in *"$mark"*) false ;; https://me:*@up.example.org/a.git) true ;; *) false ;; esac
	check 'a remote of a worktree' $? "$got"
fi

out=$("$ostiary" run -q --live -- sh -c 'cat .env; echo x >>.env; mv .env away; rm -f .env; cat .git/config 2>/dev/null' 2>&1)
same '--live: none of them is in the box either' "$(grep -c "$mark" <<<"$out")" 0
holds '--live: the rest of the file is' "$out" PORT=3000
same '--live: and the files are as they were' "$(tree)" "$before"
rm -f ./.env ./.env.example server.pem docker-compose.yml
rm -rf services deep .git .claude

# --- settings that are copied ----------------------------------------------------------------------

mkdir -p "$HOME/.config/ostiary/profiles" "$HOME/.tool"
printf 'model = "x"\n[mcp.env]\nGITHUB_TOKEN = "ghp_fakeVALUEfakeVALUEfakeVALUEfakeVALUE"\nOTHER_API_KEY = "fakeVALUEsetting"\n' >"$HOME/.tool/config.toml"
printf 'extends default\nabout a tool\nseed copy ~/.tool\n' >"$HOME/.config/ostiary/profiles/tool.profile"
if "$ostiary" profile show tool >/dev/null 2>&1 && out=$(box --profile tool --policy "$work/policy" -- sh -c 'cat ~/.tool/config.toml; echo "$GITHUB_TOKEN"' 2>&1); then
	same 'copied settings hold no value' "$(grep -c "$mark" <<<"$out")" 0
	holds 'and everything else' "$out" 'model = "x"'
	same 'a granted name has its placeholder there' "$(sed -n 's/^GITHUB_TOKEN = "\(.*\)"/\1/p' <<<"$out")" "$(tail -1 <<<"$out")"
else
	check 'a profile that copies settings' 1 "$out"
fi

# --- what is hidden from the look -------------------------------------------------------------------

mkdir -p hidden/conf
echo "API_KEY=${mark}locked1234" >hidden/.env.locked
chmod 000 hidden/.env.locked
echo "API_KEY=${mark}linked1234" >hidden/conf/production
ln -s conf/production hidden/.env
out=$("$ostiary" run -- sh -c 'chmod 600 hidden/.env.locked; cat hidden/.env.locked; cat hidden/.env hidden/conf/production' 2>"$work/err")
same 'neither a file without read permission nor one behind a link shows its value' "$(grep -c "$mark" <<<"$out")" 0
same 'control: both are there' "$(grep -c API_KEY <<<"$out")" "$([ "$(id -u)" = 0 ] && echo 3 || echo 2)"
rm -rf hidden

# --- the scan has bounds ---------------------------------------------------------------------------

mkdir -p node_modules/x many
echo "API_KEY=${mark}12345" >node_modules/x/.env
head -c 1200000 /dev/zero | tr '\0' 'a' >many/.env
for i in $(seq 300); do echo "A_TOKEN=${mark}1234" >"many/$i.env"; done
printf 'token=%.0s' $(seq 100000) >many/.env.line
ln -s /etc/hostname .env.link
out=$("$ostiary" run --keep -- sh -c 'cat many/1.env node_modules/x/.env' 2>"$work/err")
check 'a workspace with hundreds of such files starts' $? "$(cat "$work/err")"
same 'a file in node_modules is not looked at' "$(tail -1 <<<"$out")" "API_KEY=${mark}12345"
holds 'files are counted and not all told' "$(cat "$work/err")" 'more files with secrets'
exit "$bad"
