#!/bin/bash
# suite: test=user soak=root,user timeout=400
# tier: terminals are the same for both
# term_restore.sh - however a box's terminal ends, yours is as before; leaving and coming back; what the
# box writes cannot reach through the terminal.
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
if ! has tmux; then
	skip 'the terminal afterwards' 'tmux is not installed'
	exit 0
fi
cd "$work/ws" || exit 1
term_open 80 24
check 'a terminal to work in' $? 'tmux does not start'

client() { pgrep -P "$(tm display-message -p -t "$term" '#{pane_pid}')" | head -n 1; }
# A program that turns on all it can and then waits, or does what its argument says.
cat >messy.sh <<'SH'
stty raw -echo
printf '\033[?1049h\033[?1000h\033[?1006h\033[?25l\033[?1h\033=\033[?2004h\033[?1004h\033[?7l\033[4h\033[5;10r\033[31mmessy\r\n\033(0'
[ $# = 0 ] || exec sh -c "$1"
exec sleep 60
SH

# --- the terminal afterwards ---------------------------------------------------------------------------------
term_type 'echo quiet'
term_prompt
stty_before=$(term_stty) modes_before=$(term_modes)
# restored NAME: the shell is back and everything is as it was.
restored() {
	term_prompt
	check "$1: the shell is back" $? "$(term_tail)"
	same "$1: settings of the terminal" "$(term_stty)" "$stty_before"
	same "$1: screen, mouse, cursor, keys" "$(term_modes)" "$modes_before"
	term_clear
	term_type 'echo pla""in lqqk'
	shows "$1: letters are letters" '^plain lqqk'
	term_prompt
	term_type 'seq 30 | tail -n 3'
	shows "$1: the whole screen scrolls" '^30'
	term_prompt
	term_clear
}
messy() { # name, words after --
	term_type "\"\$OSTIARY\" run -q -n $1 -- sh messy.sh ${2:-}"
	[ -n "${2:-}" ] || term_wait '^messy'
}

term_type '"$OSTIARY" run -q -- true'
restored 'after a quiet end'
messy normal "'exit 3'"
restored 'after a program that left all modes on'
messy crash "'kill -SEGV \$\$'"
restored 'after a crash inside'
messy stopped
same 'meanwhile the modes are on' "$(term_modes | cut -d ' ' -f 1-3)" 'alt=1 mouse=1 cursor=0'
"$ostiary" stop --time 1s stopped >/dev/null 2>&1
check 'a box stopped from elsewhere' $? 'stop failed'
restored 'after a stop from elsewhere'
messy term
kill -TERM "$(client)"
restored 'after SIGTERM to the client'
is_running term
check 'SIGTERM to a client with a terminal is leaving' $? "$("$ostiary" ps)"
messy hup
kill -HUP "$(client)"
restored 'after SIGHUP to the client'
is_running hup
check 'so is SIGHUP' $? "$("$ostiary" ps)"
messy memory
"$ostiary" exec memory -- kill -9 -1
restored 'after everything in the box was killed'
messy sup
kill -9 "$("$ostiary" ps --json | python3 -c 'import json, sys
print(*[box["supervisor_pid"] for box in json.load(sys.stdin)["data"] if box["name"] == "sup"])')"
restored 'after the supervisor was killed'
within 60 is_not_running sup
check 'and its box is closed' $? "$("$ostiary" ps)"
for box in term hup; do "$ostiary" rm -f $box >/dev/null 2>&1; done

# Nobody can restore anything after SIGKILL; the shell puts its own settings back, and reset does the rest.
term_type '"$OSTIARY" run -q -n killed -- sh -c "echo stea""dy; sleep 60"'
term_wait '^steady'
kill -9 "$(client)"
term_prompt
check 'after SIGKILL to the client: the shell is back' $? "$(term_tail)"
same 'after SIGKILL to the client: settings of the terminal' "$(term_stty)" "$stty_before"
is_running killed
check 'killing the client is leaving: the box goes on' $? "$("$ostiary" ps)"
"$ostiary" rm -f killed >/dev/null 2>&1

# --- leaving and coming back -----------------------------------------------------------------------------------
term_clear
term_type '"$OSTIARY" run --new -n stay -e PS1="bo""x> " -- bash --norc --noprofile'
term_prompt 'box>'
term_type 'echo first th""ing; x=remembered'
term_wait '^first thing'
term_key C-] d
shows 'Ctrl-] d leaves' 'detached from stay; ostiary attach stay to come back'
term_prompt
same 'with the terminal as before' "$(term_stty)" "$stty_before"
is_running stay
check 'the box goes on' $? "$("$ostiary" ps)"
term_clear
term_type '"$OSTIARY" attach stay'
shows 'attach shows what was on the screen' '^first thing'
term_prompt 'box>'
answers 'it is the same shell, with the right size' 'echo $x, $(stty size)' '^remembered, 24 80'
term_key C-] d
term_prompt
tm resize-window -t main -x 100 -y 30
term_clear
term_type '"$OSTIARY" attach'
term_wait 'first thing'
term_key Enter
term_prompt 'box>'
answers 'attach brings the new size' 'stty size' '^30 100'

# Two at once: both see, both type.
term=second
term_open 100 30
term_type '"$OSTIARY" attach stay'
shows 'a second client' 'first thing'
term_prompt 'box>'
term_type 'echo from the sec""ond'
shows 'sees what it typed' '^from the second'
term=main
shows 'so does the first' '^from the second'
term_type 'echo from the fi""rst'
shows 'which types too' '^from the first'
term=second
shows 'and is seen' '^from the first'
term_key C-] d
term_prompt
check 'one leaves' $? "$(term_tail)"
term=main
term_type 'echo still he""re'
shows 'the other stays' '^still here'
term=second
term_type '"$OSTIARY" attach stay'
term_wait 'still here'
term_prompt 'box>'
term=main
term_type 'exit 5'
term_prompt
term_type 'echo status $?'
shows 'both get its end: the first' '^status 5'
term_prompt
term=second
term_prompt
term_type 'echo status $?'
shows 'both get its end: the second' '^status 5'
term_prompt
term_type '"$OSTIARY" attach stay'
shows 'attach to a box that is gone says so' 'no box|ended|not running'
tm kill-session -t =second
term=main

term_clear
term_type '"$OSTIARY" run -d -t -q -n det -e PS1="det> " -- bash --norc --noprofile'
term_wait '^det$'
term_prompt
term_type '"$OSTIARY" attach det --detach-key ctrl-q'
shows 'run -d -t, then attach' '^det> $'
term_key C-q d
shows 'another detach key' 'detached from det'
term_prompt
"$ostiary" rm -f det >/dev/null 2>&1

# A terminal that is closed is leaving too.
term=second
term_open 80 24
term_type '"$OSTIARY" run -q -n closed -e PS1="bo""x> " -- bash --norc --noprofile'
term_wait '^box> $'
tm kill-session -t =second
term=main
sleep 0.3
is_running closed
check 'closing the window is leaving' $? "$("$ostiary" ps)"
"$ostiary" rm -f closed >/dev/null 2>&1

# --- what reaches through the terminal ----------------------------------------------------------------------------
term_clear
tm set-option -g set-clipboard on
tm set-option -g allow-passthrough on 2>/dev/null
clip() { printf '\033]52;c;%s\007' "$(printf %s "$1" | base64)"; }
copied() { tm list-buffers -F '#{buffer_sample}' | grep -qE "$1"; }
clip outside >clip-outside
clip inside >clip-inside
{
	printf '\033Ptmux;\033\033]52;c;%s\007\033\\' "$(printf wrapped | base64)"
	printf '\033]52;p;%s\033\\' "$(printf other | base64)"
	printf '\302\235''52;c;%s\302\234' "$(printf eightbit | base64)"
	printf '\033]5'
} >clip-tricks
printf '2;c;%s\007' "$(printf split | base64)" >clip-rest
term_type 'cat clip-outside'
within 60 copied outside
check 'this terminal has a clipboard that programs can write' $? "$(tm list-buffers)"
term_prompt
term_type '"$OSTIARY" run -q -- sh -c "cat clip-inside clip-tricks; sleep 0.2; cat clip-rest; sleep 0.2; cat clip-inside; echo do""ne"'
term_wait 'done'
term_prompt
! copied 'inside|wrapped|other|eightbit|split'
check 'OSC 52 from the box never reaches it' $? "$(tm list-buffers)"
term_type '"$OSTIARY" run -q --terminal normal,clipboard -- cat clip-inside'
within 60 copied inside
check 'unless you allow it' $? "$(tm list-buffers)"
term_prompt

# The bytes themselves, as a terminal would get them.
if has script; then
	# A question whose answer is typed back, a window report, a file transfer, a print, a font, a reset.
	printf 'A\033[21tB\033P$qm\033\\C\033]1337;File=name=eA==;inline=0:eA==\007D\033[5iE\033[4iF\033]50;?\007G\033cH\033[31mI\033[0m\n' >reach
	script -q -e -c "'$ostiary' run -q -- cat reach" "$work/typescript" >/dev/null </dev/null
	bytes=$(cat -v "$work/typescript")
	holds 'text and colours pass' "$bytes" 'H^[[31mI^[[0m'
	holds 'reports, transfers, printing, fonts do not' "$bytes" 'ABCDEFG'
	script -q -e -c "'$ostiary' run -q -- printf '\\033[?2004h\\033[?1004h\\033[>1u'" "$work/typescript" >/dev/null </dev/null
	bytes=$(cat -v "$work/typescript")
	holds 'bracketed paste is switched off at the end' "$bytes" '^[[?2004l'
	holds 'focus reports too' "$bytes" '^[[?1004l'
else
	skip 'the bytes themselves' 'script is not installed'
fi
exit $bad
