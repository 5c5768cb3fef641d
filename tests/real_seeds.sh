#!/bin/bash
# suite: test=user soak=root,user timeout=400
# tier: seeds are files of the caller, whoever it is
# real_seeds.sh - a home as years of agents leave it, full of logins and keys: every profile brings its agent's
# settings into the box and none of the secrets, and nothing that would run a command of the host.
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
cd "$work/ws" || exit 1

put() { # path below the home; content from stdin
	mkdir -p "$(dirname "$HOME/$1")"
	cat >"$HOME/$1"
	chmod 600 "$HOME/$1"
}
put .claude.json <<-'JSON'
	{"theme": "light-daltonized", "numStartups": 7, "oauthAccount": {"emailAddress": "SECRETMARK@example.org", "accountUuid": "SECRETMARK"},
	 "primaryApiKey": "sk-ant-SECRETMARK", "customApiKeyResponses": {"approved": ["SECRETMARK"]}, "userID": "SECRETMARK",
	 "mcpServers": {"db": {"command": "/host/SECRETMARK", "env": {"TOKEN": "SECRETMARK"}}},
	 "projects": {"/other/SECRETMARK": {"history": ["SECRETMARK"], "mcpServers": {"x": {"env": {"K": "SECRETMARK"}}}}}}
JSON
put .claude/settings.json <<-'JSON'
	{"model": "opus", "apiKeyHelper": "/bin/SECRETMARK", "env": {"ANTHROPIC_API_KEY": "SECRETMARK"}, "statusLine": {"type": "command", "command": "SECRETMARK"},
	 "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "SECRETMARK"}]}]}, "permissions": {"allow": ["Bash(SECRETMARK)"]}}
JSON
echo '{"claudeAiOauth": {"accessToken": "SECRETMARK"}}' | put .claude/.credentials.json
echo 'my own instructions' | put .claude/CLAUDE.md
echo '{"message": "SECRETMARK"}' | put .claude/history.jsonl
echo 'SECRETMARK' | put .claude/projects/-other/session.jsonl
echo '{"tokens": {"access_token": "SECRETMARK"}, "OPENAI_API_KEY": "SECRETMARK"}' | put .codex/auth.json
printf 'model = "x"\n[mcp_servers.a]\ncommand = "a"\nenv = { KEY = "SECRETMARK" }\n' | put .codex/config.toml
echo 'codex instructions' | put .codex/AGENTS.md
echo '{"access_token": "SECRETMARK"}' | put .gemini/oauth_creds.json
echo '{"ui": {"theme": "GitHub"}, "mcpServers": {"a": {"env": {"K": "SECRETMARK"}}}, "telemetry": {"target": "SECRETMARK"}}' | put .gemini/settings.json
echo 'GEMINI_API_KEY=SECRETMARK' | put .gemini/.env
echo '{"active": "SECRETMARK@example.org"}' | put .gemini/google_accounts.json
echo '{"theme": "nord", "provider": {"a": {"options": {"apiKey": "SECRETMARK"}}}, "mcp": {"b": {"environment": {"K": "SECRETMARK"}}}, "plugin": ["SECRETMARK"]}' |
	put .config/opencode/opencode.json
echo '{"anthropic": {"type": "api", "key": "SECRETMARK"}}' | put .local/share/opencode/auth.json
echo '{"theme": "dark", "packages": ["SECRETMARK"], "extensions": ["SECRETMARK"]}' | put .pi/agent/settings.json
echo '{"anthropic": {"refresh": "SECRETMARK"}}' | put .pi/agent/auth.json
echo '{"providers": {"x": {"apiKey": "SECRETMARK"}}}' | put .pi/agent/models.json
echo '{"theme": "dark", "copilot_tokens": {"x": "SECRETMARK"}, "logged_in_users": [{"login": "SECRETMARK"}], "last_logged_in_user": {"login": "SECRETMARK"}}' |
	put .copilot/config.json
echo '{"mcpServers": {"a": {"env": {"K": "SECRETMARK"}}}}' | put .copilot/mcp-config.json
printf 'openai-api-key: SECRETMARK\n' | put .aider.conf.yml
printf 'OPENAI_API_KEY=SECRETMARK\n' | put .env
printf 'OPENAI_API_KEY: SECRETMARK\nGOOSE_MODEL: x\n' | put .config/goose/config.yaml
printf 'OPENAI_API_KEY: SECRETMARK\n' | put .config/goose/secrets.yaml
echo '{"chat.defaultModel": "x", "mcp": "SECRETMARK"}' | put .kiro/settings/cli.json
echo '{"mcpServers": {"a": {"env": {"K": "SECRETMARK"}}}}' | put .kiro/settings/mcp.json
echo SECRETMARK | put .local/share/kiro-cli/data.sqlite3
echo 'export KEY=SECRETMARK' | put .bashrc
echo 'export KEY=SECRETMARK' | put .profile
echo 'machine x password SECRETMARK' | put .netrc
printf '[user]\n\tname = Me Myself\n\temail = me@example.org\n[credential]\n\thelper = store --file SECRETMARK\n[url "https://SECRETMARK@example.org"]\n\tinsteadOf = x\n[http]\n\textraHeader = Authorization: SECRETMARK\n' | put .gitconfig

echo SECRETMARK >control
same 'the search finds what it is shown' "$(box -- grep -rls SECRETMARK "$work/ws" 2>&1)" "$work/ws/control"
rm control
profiles=$("$ostiary" profile ls --json | python3 -c 'import json, sys; print(*[p["name"] for p in json.load(sys.stdin)["data"]])')
[ "$(wc -w <<<"$profiles")" -ge 10 ]
check 'there are profiles to look at' $? "$profiles"
export KEY=SECRETMARK ANTHROPIC_API_KEY=SECRETMARK OPENAI_API_KEY=SECRETMARK GEMINI_API_KEY=SECRETMARK GH_TOKEN=SECRETMARK AWS_SECRET_ACCESS_KEY=SECRETMARK
for profile in $profiles; do
	leak=$(box --profile "$profile" -- sh -c 'grep -rls SECRETMARK ~ /tmp /run /etc /dev/shm; env | grep SECRETMARK; grep -ls SECRETMARK /proc/[0-9]*/environ' 2>&1)
	same "$profile: no secret in files or environment" "$leak" ''
done

# What is worth keeping is kept.
in_profile() { box --profile "$1" -- sh -c "$2" 2>&1; }
holds 'claude: theme' "$(in_profile claude 'cat ~/.claude.json')" light-daltonized
holds 'claude: model' "$(in_profile claude 'cat ~/.claude/settings.json')" opus
same 'claude: own instructions' "$(in_profile claude 'cat ~/.claude/CLAUDE.md')" 'my own instructions'
same 'codex: own instructions' "$(in_profile codex 'cat ~/.codex/AGENTS.md')" 'codex instructions'
holds 'gemini: theme' "$(in_profile gemini 'cat ~/.gemini/settings.json')" GitHub
holds 'opencode: theme' "$(in_profile opencode 'cat ~/.config/opencode/opencode.json')" nord
holds 'git: name' "$(in_profile claude 'git config user.name')" 'Me Myself'
for profile in claude codex gemini opencode copilot; do
	case $profile in
	claude) file=.claude.json ;; codex) file=.codex/config.toml ;; gemini) file=.gemini/settings.json ;;
	opencode) file=.config/opencode/opencode.json ;; copilot) file=.copilot/config.json ;;
	esac
	sum=$(sha256sum "$HOME/$file")
	box --rm --profile "$profile" -- sh -c "echo broken >~/$file; rm -rf ~/.[a-z]*" >/dev/null 2>&1
	same "$profile: a box that destroys its settings does not touch yours" "$(sha256sum "$HOME/$file")" "$sum"
	out=$(in_profile "$profile" "cat ~/$file")
	case $out in broken) false ;; *) true ;; esac
	check "$profile: and the next box starts with good ones" $? "$out"
done
exit $bad
