#!/bin/bash
# suite: test=user soak=root,user timeout=1200
# tier: agents do not know who started their box; people start them as the user
# real_agents_work.sh - the agents at work: each asks a model, is told to run a command, runs it with its own
# shell tool without asking anybody, and says the last word. The model is tests/mock_model.py, in the same box.
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
. tests/lib_par.sh || exit 1
. tests/lib_agents.sh # which goes to the workspace
par_max=3
cp "$top/tests/mock_model.py" "$work/ws/"

# The command that the model wants: shows that the agent's tools reach the project and nothing else.
wanted() { echo "echo made by $1 >made.txt; ls -A $HOME/.ssh >>made.txt 2>&1; echo all-of-\"\"it-ran"; }
mkdir -p "$HOME/.ssh" && echo key >"$HOME/.ssh/id_ed25519"

# worked NAME FLAGS COMMAND: the model and the agent in one box, without a terminal.
worked() {
	local name=$1 flags=$2 said why
	cat >"$name.sh" <<-SH
		python3 mock_model.py 8123 '$(wanted "$name")' 2>mock.log &
		for i in \$(seq 300); do
			python3 -c 'import socket; socket.create_connection(("127.0.0.1", 8123))' 2>/dev/null && break
			sleep 0.1
		done
		$3
	SH
	# shellcheck disable=SC2086 # several flags
	said=$(timeout -k 5 300 "$ostiary" run -q --keep -n "w-$name" --profile "$name" $flags -- sh "$name.sh" </dev/null 2>&1)
	same "${label:-}$name: ends well" $? 0
	holds "${label:-}$name: heard the answer to what it did" "$said" DONE
	why=$("$ostiary" cp -q "w-$name:made.txt" "$work/made-$name" 2>&1)
	[ "$(head -n 1 "$work/made-$name" 2>/dev/null)" = "made by $name" ]
	check "${label:-}$name: ran the command in the project" $? "$why; it said: $said"
	holds "${label:-}$name: which saw no key" "$(tail -n 1 "$work/made-$name" 2>/dev/null)" 'No such file or directory'
	[ ! -e made.txt ]
	check "${label:-}$name: and changed nothing on the host" $? "$(ls)"
	"$ostiary" rm -f "w-$name" >/dev/null 2>&1
}

# all_worked: each has a box and a model of its own.
all_worked() {
	for name in $there; do
		case $name in
		claude)
			par worked claude '-e ANTHROPIC_BASE_URL=http://127.0.0.1:8123 -e ANTHROPIC_AUTH_TOKEN=none' \
				'claude --dangerously-skip-permissions -p go'
			;;
		codex)
			par worked codex '' "codex exec --skip-git-repo-check --dangerously-bypass-approvals-and-sandbox -m gpt-5-codex -c model_provider=x \\
				-c 'model_providers.x={name=\"x\",base_url=\"http://127.0.0.1:8123/v1\",wire_api=\"responses\"}' go"
			;;
		gemini)
			par worked gemini '-e GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:8123 -e GEMINI_API_KEY=none' 'gemini --yolo -m gemini-2.5-flash -p go'
			;;
		opencode)
			par worked opencode '' "python3 -c '
import json, os
path = os.path.expanduser(\"~/.config/opencode/opencode.json\")
settings = json.load(open(path))
settings[\"provider\"] = {\"mock\": {\"npm\": \"@ai-sdk/anthropic\", \"name\": \"m\", \"models\": {\"m\": {\"name\": \"m\"}},
    \"options\": {\"baseURL\": \"http://127.0.0.1:8123/v1\", \"apiKey\": \"none\"}}}
json.dump(settings, open(path, \"w\"))'
opencode run -m mock/m go"
			;;
		pi)
			par worked pi '' "mkdir -p ~/.pi/agent
echo '{\"providers\":{\"mock\":{\"baseUrl\":\"http://127.0.0.1:8123\",\"apiKey\":\"none\",\"api\":\"anthropic-messages\",\"models\":[{\"id\":\"m\"}]}}}' >~/.pi/agent/models.json
pi --provider mock --model m -p go"
			;;
		copilot)
			par worked copilot '-e COPILOT_PROVIDER_TYPE=anthropic -e COPILOT_PROVIDER_BASE_URL=http://127.0.0.1:8123 -e COPILOT_PROVIDER_API_KEY=none
				-e COPILOT_MODEL=claude-sonnet-4 -e COPILOT_OFFLINE=true' 'copilot --yolo -p go'
			;;
		esac
	done
	par_wait
}
all_worked

# The same from `npm install` in a project of the home: what an agent needs lies beside it. The packages are those of the
# cache, published by a registry on loopback, so the layout is npm's own. It takes minutes, so only in soak.
if is_soak; then
	python3 "$top/tests/packages/registry.py" 0 "$work/requests" "$cache/lib/node_modules" >"$work/registry.out" 2>&1 &
	registry=$!
	trap 'kill $registry 2>/dev/null; lib_finish' EXIT
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
	PATH=$HOME/agents/node_modules/.bin:$PATH label='npm i, ' all_worked
fi

# --- claude at a terminal: a night's work, left and looked at again -------------------------------------------
case $there in *claude*)
	term_open 100 40
	modes_before=$(term_modes)
	"$ostiary" run -q -d -t -n night --profile claude -e ANTHROPIC_BASE_URL=http://127.0.0.1:8123 -e ANTHROPIC_AUTH_TOKEN=none -- \
		claude --dangerously-skip-permissions >/dev/null
	check 'claude, started detached' $? "$("$ostiary" ps 2>&1)"
	"$ostiary" exec -T night -- python3 mock_model.py 8123 "$(wanted claude)" >/dev/null 2>&1 </dev/null &
	model=$!
	within 60 "$ostiary" exec -T night -- python3 -c 'import socket; socket.create_connection(("127.0.0.1", 8123))' </dev/null
	check 'with a model to talk to' $? "$("$ostiary" ps 2>&1)"
	term_type '"$OSTIARY" attach night'
	shows 'attach shows its screen' 'bypass permissions on' 180
	# The line and its end apart, or an agent that is late takes both for something pasted.
	term_key -l 'please go'
	term_wait 'please go'
	term_key Enter
	shows 'it works without asking' 'DONE' 180
	term_lacks 'Do you want to|1\. Yes'
	check 'and no question is left' $? "$(term_tail)"
	term_key C-] d
	shows 'Ctrl-] d leaves it, whatever keyboard it asked for' 'detached from night'
	term_prompt
	same 'with the terminal as it was' "$(term_modes)" "$modes_before"
	tm resize-window -t main -x 90 -y 30
	term_clear
	term_type '"$OSTIARY" attach night'
	shows 'coming back, its screen is drawn again' 'bypass permissions on' 120
	holds 'what it did is in the box' "$("$ostiary" exec -T night -- cat made.txt </dev/null)" 'made by claude'
	"$ostiary" stop --time 3s night >/dev/null 2>&1
	term_prompt
	check 'stop ends it' $? "$(term_tail)"
	wait $model
	;;
esac
exit $bad
