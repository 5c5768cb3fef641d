# lib.sh - what the suites that drive real programs share: a scratch place, results, a terminal.
#
# Sourced by tests/real_*.sh and tests/term_*.sh from the top of the tree. Everything a suite makes lies
# in $work, HOME included, so boxes of the caller are never seen or touched. At the end all boxes of the
# suite are removed, its own tmux server is ended and $work is deleted.
# shellcheck shell=bash disable=SC2034
set -u

# Also right when a suite is started by hand; the runner's copy of the program may lie elsewhere.
ostiary=${OSTIARY:-$PWD/out/release/ostiary}
top=$PWD
bad=0
work=$(mktemp -d "${HOME:-/tmp}/t.XXXXXX") || exit 1
mkdir -p "$work/home" "$work/ws"
export HOME=$work/home TMUX_TMPDIR=$work LANG=${LANG:-C.UTF-8}
unset XDG_STATE_HOME XDG_DATA_HOME XDG_CONFIG_HOME XDG_RUNTIME_DIR TMUX

lib_finish() {
	cd /
	# The terminals first: a client that loses its terminal leaves its box running.
	[ ! -e "$work/tmux-$(id -u)/t" ] || tmux -L t kill-server 2>/dev/null
	local box
	for box in $("$ostiary" ps -a -q 2>/dev/null); do
		"$ostiary" rm -f "$box" >/dev/null 2>&1
	done
	chmod -R u+rwX "$work" 2>/dev/null
	within 60 rm -rf "$work"
}
trap lib_finish EXIT
trap 'exit 143' TERM INT HUP

# --- results --------------------------------------------------------------------------------------

one_line() { # words: at most 300 characters, without controls
	printf '%s' "$1" | tr '\n\t' '| ' | tr -d '\000-\037\177' | tail -c 300
}
check() { # name, status of the check, words when it failed
	if [ "$2" = 0 ]; then echo "ok $1"; else
		echo "not ok $1: $(one_line "${3:-}")"
		bad=1
	fi
}
skip() { echo "skip $1: $2"; }
same() { # name, got, wanted
	[ "$2" = "$3" ]
	check "$1" $? "got \"$2\", wanted \"$3\""
}
holds() { # name, text, part of it
	case $2 in *"$3"*) true ;; *) false ;; esac
	check "$1" $? "\"$3\" is not in: $2"
}
has() { command -v "$1" >/dev/null 2>&1; }

# within SECONDS COMMAND...: try it every 50 ms until it succeeds. The seconds are for a machine that is busy with
# something else: only what never comes costs them.
within() {
	local end=$((SECONDS + $1))
	shift
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.05
	done
}
# A command in a box, without banner, ended by force if it hangs.
box() { timeout -k 2 150 "$ostiary" run -q "$@"; }
is_running() { "$ostiary" ps -q 2>/dev/null | grep -qx -- "$1"; }
is_not_running() { ! is_running "$1"; }

# --- a terminal: one tmux server of our own, one window with a shell of the host ------------------

tm() { tmux -L t -f /dev/null "$@"; }

# term_open [COLUMNS ROWS]: a fresh window named $term; the one before is thrown away with what ran in it. Its shell
# counts its prompts in a file.
term=main
declare -A term_typed=()
term_open() {
	tm kill-session -t "=$term" 2>/dev/null
	: >"$work/prompts.$term"
	term_typed[$term]=0
	# A server whose last window was thrown away is about to end, and takes no new one then.
	within 60 tm new-session -d -s "$term" -x "${1:-80}" -y "${2:-24}" -c "$work/ws" \
		"env PS1='\$(echo >>\"$work/prompts.$term\")host> ' TERM=screen-256color OSTIARY='$ostiary' PATH='$PATH' bash --norc --noprofile -i" || return 1
	tm set-option -g status off
	tm set-option -g history-limit 5000
	tm resize-window -t "$term" -x "${1:-80}" -y "${2:-24}"
	term_prompt
}
term_prompts() { wc -l <"$work/prompts.$term"; }
# term_type LINE: be sure that whoever is to read it does so already (term_prompt, or a word of the program).
term_type() {
	term_typed[$term]=$(term_prompts)
	tm send-keys -t "$term" -l -- "$1" && tm send-keys -t "$term" Enter
}
term_key() { tm send-keys -t "$term" "$@"; }
term_screen() { tm capture-pane -p -J -t "$term"; }
term_tail() { term_screen | grep -v '^ *$' | tail -n "${1:-12}"; }
term_shows() { term_screen | grep -qE -- "$1"; }
# term_wait REGEX [SECONDS]: until the screen shows it. Words that are also typed are written with
# quotes in the middle (ab''cd), so that the echo of the line is not taken for its answer.
term_wait() { within "${2:-60}" term_shows "$1"; }
# term_prompt [PROMPT]: the last line ends in an empty prompt, so what is typed now goes to that shell. What is
# typed while a box's command runs belongs to the box, also when the command never reads it. The prompt of the host's
# shell is one that came after the line typed last, not the one that it was typed at.
# The last line is the last with anything on it, or the one with the cursor, as far as it: a program that was left may
# have drawn something beside and below it.
term_is_at() { [[ $(term_tail 1 | sed 's/ *$//') == *"$1" ]] || [[ $(term_line | sed 's/ *$//') == *"$1" ]]; }
term_line() {
	local x y
	read -r x y <<<"$(tm display-message -p -t "$term" '#{cursor_x} #{cursor_y}')"
	tm capture-pane -p -t "$term" -S "${y:-0}" -E "${y:-0}" | cut -c "1-${x:-1}"
}
term_is_back() { [ "$(term_prompts)" -gt "${term_typed[$term]:-0}" ] && term_is_at 'host>'; }
# shellcheck disable=SC2120 # the suites pass one
term_prompt() {
	local prompt=${1:-host>}
	if [ "$prompt" = 'host>' ]; then within 60 term_is_back; else within 60 term_is_at "$prompt"; fi
}
# term_front NAME: the shell of the host has this program in the foreground, so keys that make signals go to it and
# the terminal is no longer the shell's.
term_is_front() { [ "$(tm display-message -p -t "$term" '#{pane_current_command}')" = "$1" ]; }
term_front() { within 60 term_is_front "$1"; }
# term_raw: a client has the terminal, and passes every key on.
term_is_raw() { stty -a -F "$(tm display-message -p -t "$term" '#{pane_tty}')" | grep -q -- '-isig'; }
term_raw() { within 60 term_is_raw; }
term_lacks() { ! term_shows "$1"; }
# shows NAME REGEX [SECONDS]: the screen comes to show it.
shows() {
	term_wait "$2" "${3:-60}"
	check "$1" $? "no \"$2\" on the screen: $(term_tail)"
}
# answers NAME LINE REGEX: the line, typed to a shell again and again, is answered by it one day. For what takes a
# moment to get to the shell, such as a new size.
answers() {
	local i
	for i in 1 2 3 4 5 6 7 8 9 10; do
		term_type "$2"
		term_wait "$3" 3 && break
	done
	term_shows "$3"
	check "$1" $? "no \"$3\" on the screen: $(term_tail)"
}
# An empty screen with a prompt, of a shell here or in the box. What stood there before must be gone: it may be what is
# waited for next.
term_clear() {
	term_key C-l
	within 60 term_is_clear
	tm clear-history -t "$term"
}
term_is_clear() { [ "$(term_screen | grep -c '[^ ]')" -le 1 ]; }
# The terminal's settings as a program started by the shell finds them; at its prompt the shell has its own.
term_stty() {
	rm -f "$work/stty"
	term_type "stty -a >'$work/stty.new' && mv '$work/stty.new' '$work/stty'"
	within 60 test -e "$work/stty" && cat "$work/stty"
	term_prompt
}
# What tmux thinks of the pane: alternate screen, mouse, cursor keys, cursor, wrap.
term_modes() {
	tm display-message -p -t "$term" \
		'alt=#{alternate_on} mouse=#{mouse_any_flag} cursor=#{cursor_flag} keys=#{keypad_cursor_flag} keypad=#{keypad_flag} wrap=#{wrap_flag} insert=#{insert_flag}'
}
