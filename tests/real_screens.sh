#!/bin/bash
# suite: test=user soak=root,user timeout=1200
# tier: agents do not know who started their box; people start them as the user
# real_screens.sh - the screens of real agents while a question is open: each starts, asks a model on loopback through the
# door, runs a command with its own shell tool whose request has to be asked about, and the question stands in our row
# until Ctrl-] y answers it. Then, at rest, another question comes and goes, and the screen is the one that was there
# without it. No alarm is raised by any of them. In soak also from `npm i` in a project, and opencode.
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
. tests/lib_door.sh
. tests/lib_row.sh
. tests/lib_agents.sh # which goes to the workspace
door_needs real_screens curl openssl /usr/sbin/nginx
row_origin
row_time=300
label=''

python3 "$top/tests/mock_model.py" 0 'curl -s -m 250 http://ask.example.test/hello?tool >said.txt; echo all-of-""it-ran' \
	>"$work/model.port" 2>"$work/model.log" &
door_pids+=($!)
within 60 test -s "$work/model.port"
check 'a model on loopback' $? "$(cat "$work/model.log")"
model=$(cat "$work/model.port")

# Which model: by variables, or by a profile of the user's own that extends the built-in one.
mkdir -p "$HOME/.config/ostiary/profiles"
cat >"$HOME/.config/ostiary/profiles/codex.profile" <<'PROFILE'
extends codex
args -m gpt-5-codex -c model_provider=x -c 'model_providers.x={name="x",base_url="http://model.example.test/v1",wire_api="responses"}'
PROFILE
cat >"$HOME/.config/ostiary/profiles/pi.profile" <<'PROFILE'
extends pi
args --provider mock --model m
seed write ~/.pi/agent/models.json '{"providers":{"mock":{"baseUrl":"http://model.example.test","apiKey":"none","api":"anthropic-messages","models":[{"id":"m"}]}}}'
PROFILE
cat >"$work/ws/opencode.sh" <<'SH'
python3 -c '
import json, os
path = os.path.expanduser("~/.config/opencode/opencode.json")
settings = json.load(open(path))
settings["provider"] = {"mock": {"npm": "@ai-sdk/anthropic", "name": "m", "models": {"m": {"name": "m"}},
    "options": {"baseURL": "http://model.example.test/v1", "apiKey": "none"}}}
json.dump(settings, open(path, "w"))' && exec opencode -m mock/m
SH

# begin NAME: in a window of its own.
begin() {
	local flags='' what=$1
	case $1 in
	claude) flags='-e ANTHROPIC_BASE_URL=http://model.example.test -e ANTHROPIC_AUTH_TOKEN=none' ;;
	gemini) flags='-e GOOGLE_GEMINI_BASE_URL=http://model.example.test -e GEMINI_API_KEY=none -e GEMINI_MODEL=gemini-2.5-flash' ;;
	opencode) what='--profile opencode -- sh opencode.sh' ;;
	esac
	term=$1
	term_open 100 40 || return 1
	term_type "\"\$OSTIARY\" run --new -n $1 --level strict --allow 'ask $rule' --allow '* model.example.test:80 to=127.0.0.1:$model' $flags $what"
}
# text: what is on the screen, wherever on it: without empty lines, and without the banner, which may have gone up.
text() { screen | grep -v '^ *$' | tail -n 12; }
is_text() { [ "$(text)" = "$1" ]; }
# rest: nothing is drawn any more. Agents blink and count while they work.
is_at_rest() {
	local before
	before=$(screen)
	sleep 1
	is_screen "$before"
}
# tried NAME READY: the whole of it, in its window.
tried() {
	local name=$label$1 before
	term=$1 box=$1
	shows "$name: is there" "$2" 300
	within 120 is_at_rest
	# The line and its end apart, or an agent that is late takes both for something pasted.
	term_key -l 'please go'
	term_wait 'please go' 120
	term_key Enter
	row "$name: its tool asks, in our row" 'ask.example.test/hello?tool'
	same "$name: and nowhere else" "$(screen | sed '$d' | grep -c 'ostiary: allow')" 0
	key y
	shows "$name: answered by key, it goes on" 'DONE' 300
	row_gone "$name: the row is given back"
	holds "$name: its tool has the answer" "$("$ostiary" exec -T "$box" -- cat said.txt </dev/null 2>&1)" 'hello from nginx'
	within 120 is_at_rest
	check "$name: it is at rest" $? "$(term_tail)"
	before=$(text)
	asked "$1"
	row "$name: a question of something else in the box" "ask.example.test/hello?$1"
	size "$name: it has a row less" '39 100'
	key y
	status "$1" 200 "$name: which passes"
	row_gone "$name: the row is given back again"
	size "$name: it has all rows" '40 100'
	within 120 is_text "$before"
	check "$name: its screen is the one without a question" $? "$(diff <(echo "$before") <(text))"
	same "$name: no alarm" "$("$ostiary" log "$box" --json 2>/dev/null | grep -c '"kind":"alarm"')" 0
	"$ostiary" stop --time 3s "$box" >/dev/null 2>&1
	term_prompt
	check "$name: stop ends it" $? "$(term_tail)"
	same "$name: and leaves the terminal as it was" "$(term_modes)" "$modes"
	[ "$1" = opencode ] || resumed "$name"
	"$ostiary" rm -f "$box" >/dev/null 2>&1
	tm kill-session -t "=$1"
}
# resumed NAME: the box that was stopped goes on, and the agent where it was.
resumed() {
	term_clear
	term_type "\"\$OSTIARY\" resume $box"
	shows "$1: resume goes on with its conversation" 'please go' 300
	"$ostiary" stop --time 3s "$box" >/dev/null 2>&1
	term_prompt
	check "$1: and ends once more" $? "$(term_tail)"
}
all_tried() {
	local name
	for name in $there; do begin "$name"; done
	for name in $there; do
		case $name in
		claude) tried claude 'bypass permissions on' ;;
		codex) tried codex 'Ask Codex|for shortcuts|YOLO mode' ;;
		gemini) tried gemini 'Type your message' ;;
		opencode) tried opencode 'Ask anything' ;;
		pi) tried pi 'pi v[0-9]' ;;
		esac
	done
}

term_open 100 40
modes=$(term_modes)
there=${there//copilot/}
all_tried

# The same from `npm install` in a project of the home, as real_agents_work.sh does it.
if is_soak; then
	python3 "$top/tests/packages/registry.py" 0 "$work/requests" "$cache/lib/node_modules" >"$work/registry.out" 2>&1 &
	door_pids+=($!)
	within 120 grep -q '^ready' "$work/registry.out"
	check 'a registry on loopback' $? "$(cat "$work/registry.out")"
	mkdir -p "$HOME/agents"
	echo "registry=http://127.0.0.1:$(sed -n 's/^ready //p' "$work/registry.out")/" >"$HOME/.npmrc"
	echo '{"name":"agents","private":true}' >"$HOME/agents/package.json"
	for name in $there; do
		package=$(readlink "$cache/bin/$name" | sed -E 's|.*node_modules/((@[^/]*/)?[^/]*)/.*|\1|')
		(cd "$HOME/agents" && timeout 600 npm install --no-fund --no-audit "$package") >"$work/said" 2>&1
		check "$name: npm installs it in a project" $? "$(tail -n 3 "$work/said")"
	done
	PATH=$HOME/agents/node_modules/.bin:$PATH label='npm i, ' all_tried
fi
exit $bad
