#!/bin/bash
# suite: check=any test=any soak=any timeout=60
# tier: text in, text out; no box is started
# import.sh - settings of srt and nono as lines of ours: what they come to, what is left out and named, and that an
# unknown key or a broken file writes nothing.
set -u
cd "$(dirname "$0")/.." || exit 1
ostiary=${OSTIARY:-out/release/ostiary}
case $ostiary in /*) ;; *) ostiary=$PWD/$ostiary ;; esac
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export HOME=$work
unset XDG_CONFIG_HOME XDG_STATE_HOME XDG_DATA_HOME
cd "$work" || exit 1
bad=0
check() { # name, status, words
	if [ "$2" = 0 ]; then echo "ok $1"; else
		echo "not ok $1: $(tr '\n' '|' <<<"$3" | head -c 400)"
		bad=1
	fi
}
take() { # format, file, flags...: sets $code, $out, $err
	out=$("$ostiary" import "$@" 2>"$work/err" </dev/null)
	code=$?
	err=$(cat "$work/err")
}
has() { # name, line...: each is a line of the output
	local name=$1 line lost=''
	shift
	for line; do grep -qxF -- "$line" <<<"$out" || lost="$lost [$line]"; done
	[ -z "$lost" ]
	check "$name" $? "missing:$lost in: $out"
}

# --- srt ------------------------------------------------------------------------------------------------
cat >srt.json <<'JSON'
{
  "network": {
    "allowedDomains": ["github.com", "*.packages.example", "api.example.com:8443", "github.com:22"],
    "deniedDomains": ["evil.example.com", "*:25"],
    "deniedDomainReasons": {"evil.example.com": "use the mirror"},
    "allowLocalBinding": true,
    "allowUnixSockets": [],
    "parentProxy": {"http": "http://proxy.example.com:3128"},
    "tlsTerminate": {"excludeDomains": ["pinned.example.com"]}
  },
  "filesystem": {
    "denyRead": ["~/.ssh"],
    "allowRead": ["~/.config/tool"],
    "allowWrite": [".", "/tmp", "~/.cache/tool"],
    "denyWrite": [".env"]
  },
  "credentials": {
    "envVars": [
      {"name": "GITHUB_TOKEN", "mode": "mask", "injectHosts": ["api.github.com", "github.com"]},
      {"name": "AWS_SECRET_ACCESS_KEY", "mode": "deny"},
      {"name": "LOOSE_TOKEN", "mode": "mask"}
    ]
  },
  "ripgrep": {"command": "rg"}
}
JSON
take srt srt.json
same_lines=$(grep -v '^#' <<<"$out")
has 'srt: hosts, a port, ssh, refusals with their reason, a host with its own certificates' \
	'allow * github.com' 'allow * *.packages.example' 'allow * api.example.com:8443' 'tcp github.com:22' \
	'deny * evil.example.com reason="use the mirror"' 'deny * *:25' 'splice pinned.example.com'
has 'srt: a masked variable is a secret, bound to its hosts' 'secret GITHUB_TOKEN from env at api.github.com,github.com as bearer,basic'
[ "$(grep -n '^deny' <<<"$out" | tail -n 1 | cut -d: -f1)" -lt "$(grep -n '^allow' <<<"$out" | head -n 1 | cut -d: -f1)" ]
check 'srt: refusals stand before grants, and so win' $? "$out"
[ $code = 1 ] && grep -q 'not carried over: network.parentProxy: .*--upstream-proxy' <<<"$err" && grep -q 'not carried over: credentials.envVars: LOOSE_TOKEN' <<<"$err" &&
	grep -q 'not carried over: ripgrep' <<<"$err"
check 'srt: what is left is named with what to do, and is in the status' $? "status $code: $err"
grep -q 'need.* a profile: --profile NAME' <<<"$err"
check 'srt: paths want a profile, and that is said' $? "$err"
printf '%s\n' "$out" >srt.policy
"$ostiary" policy check --policy srt.policy >/dev/null 2>"$work/err"
check 'srt: the file can be read as policy' $? "$(cat "$work/err")"
"$ostiary" policy check --policy srt.policy 'GET https://one.packages.example/x' >/dev/null 2>&1 &&
	! "$ostiary" policy check --policy srt.policy 'GET https://evil.example.com/' >/dev/null 2>&1
check 'srt: and decides as it did' $? "$same_lines"

take srt srt.json --profile imported
[ -f "$HOME/.config/ostiary/profiles/imported.profile" ] && [ "$out" = "$HOME/.config/ostiary/profiles/imported.profile" ]
check 'srt: as a profile' $? "status $code: $out $err"
out=$("$ostiary" profile show imported)
has 'srt: with its paths; the workspace and /tmp are there anyway' 'bind    ~/.config/tool ro' 'bind    ~/.cache/tool rw' 'extends default'
! grep -qE '^bind +(\.|/tmp)' <<<"$out"
check 'srt: and no others' $? "$out"
"$ostiary" profile show imported --json >/dev/null
check 'srt: the profile can be read' $? "$("$ostiary" profile show imported --json 2>&1)"
before=$(cksum <"$HOME/.config/ostiary/profiles/imported.profile")
take srt srt.json --profile imported
[ $code = 122 ] && [ "$(cksum <"$HOME/.config/ostiary/profiles/imported.profile")" = "$before" ]
check 'a profile that is there is not replaced' $? "status $code: $err"

# --- nono -----------------------------------------------------------------------------------------------
cat >nono.json <<'JSON'
{
  "$schema": "https://nono.sh/schemas/nono-profile.schema.json",
  "extends": "claude-code",
  "meta": {"name": "mine", "version": "1.0.0", "description": "my \"agent\" # one", "author": null},
  "filesystem": {
    "allow": ["$WORKDIR", "~/.cache/agent"],
    "read": ["$HOME/.gitconfig.d", {"path": "/opt/mac", "when": "macos"}, "/srv/*/x"],
    "deny": ["~/.ssh"],
    "unix_socket": ["/run/docker.sock"]
  },
  "network": {
    "allow_domain": ["index.example", {"domain": "api.github.com", "endpoints": [{"method": "GET", "path": "/repos/**"}]}],
    "deny_domain": ["*.ads.example.com"],
    "custom_credentials": {
      "telegram": {"upstream": "https://api.telegram.org", "credential_key": "telegram_bot_token", "inject_mode": "url_path", "path_pattern": "/bot{}/", "env_var": "BOT_TOKEN"},
      "openai": {"upstream": "https://api.openai.com/v1", "credential_key": "env://OPENAI_API_KEY"},
      "gemini": {"upstream": "https://generativelanguage.googleapis.com", "credential_key": "file:///srv/key", "inject_header": "x-goog-api-key", "env_var": "GEMINI_API_KEY"},
      "op": {"upstream": "https://api.example.com", "credential_key": "op://vault/item", "env_var": "OP_KEY"}
    },
    "upstream_proxy": null
  },
  "environment": {"allow_vars": ["LANG", "AWS_*"], "deny_vars": ["GH_TOKEN"], "set_vars": {"TOOL_HOME": "$HOME/tool", "WORDS": "a b"}},
  "binary": "agent",
  "command_args": ["--yolo"],
  "workdir": {"access": "readwrite"},
  "allow_gpu": true
}
JSON
take nono nono.json
has 'nono: hosts, endpoints, refusals' 'allow * index.example' 'allow GET api.github.com/repos/**' 'deny * *.ads.example.com'
has 'nono: credentials by where they stand' 'secret BOT_TOKEN from vault telegram_bot_token at api.telegram.org as path' \
	'secret OPENAI_API_KEY from env OPENAI_API_KEY at api.openai.com as bearer' \
	'secret GEMINI_API_KEY from file /srv/key at generativelanguage.googleapis.com as header x-goog-api-key'
for left in extends allow_gpu filesystem.unix_socket 'network.custom_credentials: op' 'environment.allow_vars: AWS_' 'filesystem.read: /opt/mac' 'filesystem.read: /srv/'; do
	grep -qF "not carried over: $left" <<<"$err"
	check "nono: $left is named" $? "$err"
done
! grep -q 'upstream_proxy' <<<"$err"
check 'nono: what says nothing is not named' $? "$err"
printf '%s\n' "$out" >nono.policy
"$ostiary" policy check --policy nono.policy >/dev/null 2>"$work/err"
check 'nono: the file can be read as policy' $? "$(cat "$work/err")"
take nono nono.json --profile from-nono
out=$("$ostiary" profile show from-nono)
has 'nono: as a profile' 'command agent' 'args    --yolo' 'pass    LANG' 'env     TOOL_HOME=%HOME%/tool' 'env     "WORDS=a b"' 'bind    ~/.cache/agent rw' 'bind    ~/.gitconfig.d ro'
"$ostiary" profile show from-nono --json | python3 -c 'import json, sys; d = json.load(sys.stdin)["data"]; assert d["about"].split() == ["my", "agent", "one"] and "WORDS=a b" in d["env"], d' 2>"$work/err"
check 'nono: which reads back as what was meant' $? "$(tail -n 1 "$work/err")"

# --- bad input ------------------------------------------------------------------------------------------
# refused NAME FORMAT TEXT PATTERN: 119, one sentence, nothing written.
refused() {
	printf '%s' "$3" >odd.json
	rm -f out.policy
	take "$2" odd.json -o out.policy
	[ $code = 119 ] && [ "$(wc -l <<<"$err")" = 1 ] && [[ $err == ostiary:*$4* ]] && [ -z "$out" ] && [ ! -e out.policy ]
	check "$1" $? "status $code: $err; $(ls)"
}
refused 'an unknown key at the top' srt '{"network": {"allowedDomains": ["a.org"]}, "netwrok": {}}' 'the key "netwrok"'
refused 'with the one that it may be' srt '{"filesystem": {"denyRaed": []}}' 'did you mean "filesystem.denyRead"'
refused 'an unknown key below, after good ones' srt '{"network": {"allowedDomains": ["a.org"], "newThing": true}}' 'the key "network.newThing"'
refused 'even when it says nothing' srt '{"network": {"newThing": null}}' 'the key "network.newThing"'
refused 'an unknown key of an entry' srt '{"credentials": {"envVars": [{"name": "A", "mode": "mask", "to": "x"}]}}' 'the key "to"'
refused 'an unknown key of nono' nono '{"network": {"allow_domains": ["a.org"]}}' 'did you mean "network.allow_domain"'
refused 'the other format' nono '{"network": {"allowedDomains": ["a.org"]}}' 'the key "network.allowedDomains"'
refused 'no JSON' srt '{"network": ' 'it is no JSON: line 1'
refused 'not an object' srt '["a.org"]' 'no JSON object'
refused 'a list where there is none' srt '{"network": {"allowedDomains": "a.org"}}' 'wants a list of strings'
refused 'numbers for hosts' srt '{"network": {"allowedDomains": [1, 2]}}' 'wants a list of strings'
refused 'a key twice' srt '{"network": {}, "network": {"allowedDomains": ["a.org"]}}' 'no JSON'
refused 'a key with an escape in it' srt '{"a\u001b[2Jb": 1}' 'the key "a*x1b'
refused 'a credential without a mode' srt '{"credentials": {"envVars": [{"name": "A"}]}}' 'a mode, deny or mask'
refused 'a deep document' srt "$(python3 -c 'print("[" * 5000 + "]" * 5000)')" 'no JSON'
printf '{"network": {"allowedDomains": ["a.org\\nallow * evil.example", "x y", "*.com", "http://a.org/", "b.org"]}}' >odd.json
take srt odd.json
[ "$(grep -c '^allow' <<<"$out")" = 1 ] && grep -qx 'allow \* b.org' <<<"$out" && ! grep -v '^#' <<<"$out" | grep -q evil
check 'a host that is none makes no line, and cannot smuggle one in' $? "$out"
printf '{"filesystem": {"allowWrite": ["~/a\\nallow * evil.example", "/srv/x y"]}}' >odd.json
take srt odd.json --profile smuggled
! grep -q '^allow' "$HOME/.config/ostiary/profiles/smuggled.profile" 2>/dev/null
check 'nor does a path' $? "$(cat "$HOME/.config/ostiary/profiles/smuggled.profile" 2>&1) $err"
head -c 2000000 /dev/zero | tr '\0' ' ' >odd.json
take srt odd.json
[ $code = 119 ]
check 'a file of 2 MB' $? "status $code: $err"
take tf srt.json
[ $code = 64 ]
check 'another format' $? "status $code: $err"
take srt srt.json -o srt.policy
[ $code = 122 ]
check 'a file that is there is not replaced' $? "status $code: $err"
exit $bad
