#!/bin/bash
# suite: test=user soak=root,user timeout=900
# tier: agents do not know who started their box; people start them as the user
# real_agents.sh - the agents from npm, unmodified, each installed under the home's npm prefix: they start
# in a box, show their screens in a terminal without asking what the profile has answered, and end.
#
# No key and no network: what is awaited is the screen that a new user sees.
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
. tests/lib_par.sh || exit 1
. tests/lib_agents.sh # which goes to the workspace
par_max=3

# Questions that no profile may leave to the user: trust, permissions, updates, first choices.
dialogs='[Tt]rust (this|the) (folder|files|workspace|directory)|Do you trust|[Uu]pdate available|[Nn]ew version|Choose (the|your) .*(style|theme)|Select (a )?[Tt]heme|Yes, I accept|Would you like to enable|SyntaxError|Cannot find module|Failed to download|EACCES|EPERM|EROFS|panicked at|core dumped|Bad system call'

# begin NAME FLAGS WORDS: in a window of its own.
begin() {
	term=$1
	term_open 100 40 || return 1
	term_type "\"\$OSTIARY\" run -q -n $1 $2 $1 $3"
}
# leave NAME: Ctrl-C, twice for those that want to be sure.
leave() {
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12; do
		term_key C-c
		sleep 0.2
		term_key C-c
		within 5 term_is_at 'host>' && break
	done
	term_is_at 'host>'
	check "$1 ends when told to" $? "$(term_tail)"
}
# finished NAME REGEX [REGEX...]: it shows them all, asks nothing, and ends when told to.
finished() {
	local name=$1 want
	term=$1
	shift
	for want in "$@"; do
		shows "$name shows \"$want\"" "$want" 300
	done
	term_lacks "$dialogs"
	check "$name asks nothing and has no fault" $? "$(term_screen | grep -E "$dialogs")"
	leave "$name"
	term_type 'echo status $?.'
	shows "$name ends well" '^status (0|130)\.'
	same "$name leaves the terminal as it was" "$(term_modes)" "$modes_before"
	tm kill-session -t "=$name"
}
versioned() { # name
	local out
	out=$(timeout 180 "$ostiary" run -q "$1" -- --version </dev/null 2>&1)
	[ $? = 0 ] && grep -qE '[0-9]+\.[0-9]+\.[0-9]+' <<<"$out"
	check "$1 -- --version" $? "$out"
}

term_open 100 40
modes_before=$(term_modes)

# Together, for most of their start is waiting. codex gets a provider that needs no login and gemini a key
# that is none: so they show what comes after the question for one.
for name in $there; do
	case $name in
	codex) begin $name '' "-- -c model_provider=x -c 'model_providers.x={name=\"x\",base_url=\"http://127.0.0.1:9/v1\"}'" ;;
	gemini) begin $name '-e GEMINI_API_KEY=none' '' ;;
	*) begin "$name" '' '' ;;
	esac
done
for name in $there; do
	case $name in
	claude) finished $name 'Claude Code v[0-9]' 'bypass permissions on' 'Not logged in' ;;
	codex) finished $name 'OpenAI Codex' 'YOLO mode' 'Ask Codex|for shortcuts' ;;
	gemini) finished $name 'Gemini CLI v[0-9]' 'YOLO' 'Type your message' 'no sandbox' ;;
	opencode) finished $name 'Ask anything' ;;
	pi) finished $name 'pi v[0-9]' 'No models available|/login' ;;
	copilot) finished $name 'Copilot v[0-9]' 'Allow All|/login' ;;
	esac
done
for name in $there; do par versioned "$name"; done
par_wait

# Before it knows who you are, codex asks for that and nothing else.
case $there in *codex*)
	term=main
	term_type '"$OSTIARY" run -q codex'
	shows 'codex without a provider asks for a login' 'Sign in with' 180
	leave 'codex at its login'
	;;
esac

# An agent that is not there is named, with the way to get it.
said=$(PATH=/usr/bin:/bin "$ostiary" run claude -- --version 2>&1)
same 'an agent that is not installed: 127' $? 127
holds 'with what installs it' "$said" 'npm install -g @anthropic-ai/claude-code'
exit $bad
