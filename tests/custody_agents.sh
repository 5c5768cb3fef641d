#!/bin/bash
# suite: test=user soak=root,user timeout=600
# tier: agents and keys are the same for both users
# custody_agents.sh - the agents at work with a key that they never have: the model stands on the host behind the
# provider's own name, serves only whoever shows the real key, and the box has a placeholder. Each agent runs in a
# terminal (tmux), calls its shell tool once, and says the last word. All of them are at work at once.
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
. tests/lib_door.sh
. tests/lib_agents.sh
has openssl || { skip 'custody_agents' 'openssl is missing' && exit 0; }
door_ca
door_cert model 'DNS:api.anthropic.com,DNS:api.openai.com,DNS:generativelanguage.googleapis.com,DNS:chatgpt.com'

# model NAME KEY: its port in $port, its log in $work/NAME.model.
model() {
	python3 "$top/tests/mock_model.py" 0 "echo made by $1 >made.txt; env >env.txt" "$work/model.pem" "$work/model.key" "$2" \
		>"$work/$1.port" 2>"$work/$1.model" &
	door_pids+=($!)
	within 60 test -s "$work/$1.port"
	port=$(cat "$work/$1.port")
}

# begin NAME VARIABLE KEY HOST FLAGS COMMAND: in a window of its own, which has its name.
begun=() # NAME VARIABLE KEY
begin() {
	local name=$1 variable=$2 key=$3 host=$4 flags=$5 command=$6
	begun+=("$name $variable $key")
	model "$name" "$key"
	cat >"$name.sh" <<-SH
		$command
		echo "ended with \$?"
	SH
	term=$name
	term_open 120 40
	term_type "export $variable=$key; clear"
	term_type "\"\$OSTIARY\" run -q --keep -n c-$name --profile $name $flags --allow '* $host to=127.0.0.1:$port ca=$work/ca.pem' -- sh $name.sh"
}

# ended NAME VARIABLE KEY: what came of it.
ended() {
	local name=$1 variable=$2 key=$3
	term=$name
	shows "$name: comes to its end" 'ended with' 300
	holds "$name: which is a good one" "$(term_screen)" 'ended with 0'
	term_prompt # the box is over; before that it may be about to end
	"$ostiary" cp -q "c-$name:made.txt" "$work/made-$name" 2>"$work/cp.err"
	same "$name: ran what the model wanted" "$(cat "$work/made-$name" "$work/cp.err" 2>/dev/null)" "made by $name"
	"$ostiary" cp -q "c-$name:env.txt" "$work/env-$name" 2>/dev/null
	holds "$name: with a $variable in its environment" "$(cat "$work/env-$name" 2>/dev/null)" "$variable="
	! grep -q "$key" "$work/env-$name"
	check "$name: that is not the key" $? "$(grep "$variable" "$work/env-$name")"
	holds "$name: the log names the secret that was used" "$("$ostiary" log "c-$name" --json 2>&1)" "$variable"
	! "$ostiary" log "c-$name" --json 2>/dev/null | grep -q "$key"
	check "$name: and not its value" $?
	same "$name: and no alarm" "$("$ostiary" log "c-$name" --json 2>/dev/null | grep '"kind":"alarm"' | grep '"verdict":"deny"')" ""
	"$ostiary" rm -f "c-$name" >/dev/null 2>&1
}

for name in $there; do
	case $name in
	claude)
		begin claude ANTHROPIC_API_KEY sk-ant-api03-FAKEfakeFAKEfakeFAKEfakeFAKEfakeFAKEfakeFAKEfakeFAKEfakeFAKEfakeFAKEfakeFAKEfakeFAKE-0123456789AA \
			api.anthropic.com '' 'claude --dangerously-skip-permissions -p go'
		;;
	codex)
		begin codex CODEX_API_KEY sk-proj-FAKEfakeFAKEfakeFAKEfakeFAKEfakeFAKEfakeFAKE0123 \
			api.openai.com '' 'codex exec --skip-git-repo-check --dangerously-bypass-approvals-and-sandbox -m gpt-5-codex go'
		;;
	gemini)
		begin gemini GEMINI_API_KEY AIzaFAKEfakeFAKEfakeFAKEfakeFAKEfake123 \
			generativelanguage.googleapis.com '' 'gemini --yolo -m gemini-2.5-flash -p go'
		;;
	opencode)
		begin opencode ANTHROPIC_API_KEY sk-ant-api03-FAKEfakeFAKEfakeFAKEfakeFAKEfakeFAKEfakeFAKEfakeFAKEfakeFAKEfakeFAKEfakeFAKEfakeFAKE-0123456789AA \
			api.anthropic.com '' 'opencode run -m anthropic/claude-sonnet-4-5 go'
		;;
	pi)
		begin pi ANTHROPIC_API_KEY sk-ant-api03-FAKEfakeFAKEfakeFAKEfakeFAKEfakeFAKEfakeFAKEfakeFAKEfakeFAKEfakeFAKEfakeFAKEfakeFAKE-0123456789AA \
			api.anthropic.com '' 'pi --provider anthropic --model claude-sonnet-4-5 -p go'
		;;
	esac
done
for one in "${begun[@]}"; do
	# shellcheck disable=SC2086 # three words
	ended $one
done
exit "$bad"
