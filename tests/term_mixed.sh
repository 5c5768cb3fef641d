#!/bin/bash
# suite: test=user soak=root,user timeout=300
# tier: terminals are the same for both
# term_mixed.sh - half a terminal, full-screen programs, terminals made inside, a client that is stopped.
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
if ! has tmux; then
	skip 'half a terminal' 'tmux is not installed'
	exit 0
fi
cd "$work/ws" || exit 1
term_open 80 24
check 'a terminal to work in' $? 'tmux does not start'
client() { pgrep -P "$(tm display-message -p -t "$term" '#{pane_pid}')" | head -n 1; }

# --- only some of the three are the terminal --------------------------------------------------------------
term_type '"$OSTIARY" run -q -- sh -c "test -t 1 || echo not a termi""nal; sleep 50" | cat'
shows 'with output in a pipe there is no terminal inside' '^not a terminal'
term_key C-c
term_prompt
term_type 'echo status ${PIPESTATUS[0]}'
shows 'and Ctrl-C ends it' '^status 130'
term_prompt
term_clear
term_type '"$OSTIARY" run -q -- cat >typed; echo status $?'
term_front ostiary
term_type 'a typed line'
term_key C-d
shows 'with output in a file, what is typed goes in, and Ctrl-D ends it' '^status 0'
same 'and out' "$(cat typed)" 'a typed line'
term_prompt
term_clear
term_type '"$OSTIARY" run -q -- sh -c "read a; echo got \$a" </dev/null; echo status $?'
shows 'with input from /dev/null' '^status'
term_prompt
term_clear
term_type '"$OSTIARY" run -q -T -- sh -c "echo beg""un; exec sleep 50"; echo status $?'
term_wait '^begun'
term_key C-z
shows 'Ctrl-Z without a terminal inside stops the client' 'Stopped'
term_prompt
term_type 'fg'
term_front ostiary
term_key C-c
term_prompt
check 'fg continues it, Ctrl-C ends it' $? "$(term_tail)"
term_clear
term_type '"$OSTIARY" run -q -n two -- sh -c "echo out; echo err >&2; sleep 0.3" 2>errors; cat errors'
shows 'with stderr in a file the command still has a terminal' '^out'
term_prompt

# --- a client that is stopped and continued ---------------------------------------------------------------
term_clear
term_type '"$OSTIARY" run -q -n pause -e PS1="bo""x> " -- bash --norc --noprofile'
term_prompt 'box>'
pid=$(client)
kill -STOP "$pid"
tm resize-window -t main -x 91 -y 23
shows 'a stopped client gives the shell back' 'Stopped'
term_prompt
term_type 'stty -a >/dev/null; fg'
term_raw
term_key Enter
term_prompt 'box>'
answers 'continued, it is raw again and knows the new size' 'stty size' '^23 91'
term_type 'exit'
term_prompt
tm resize-window -t main -x 80 -y 24
answers 'the window has its size again' 'stty size' '^24 80'

# --- full-screen programs ------------------------------------------------------------------------------------
seq 1000 >numbers
if has less; then
	term_clear
	term_type '"$OSTIARY" run -q -- less numbers'
	shows 'less' '^numbers|^23'
	term_key Space
	shows 'less turns the page' '^46$'
	term_type '/77'
	shows 'less searches' '^77$'
	term_key q
	term_prompt
	check 'less ends' $? "$(term_tail)"
else
	skip 'less' 'less is not installed'
fi
if has top; then
	term_clear
	term_type '"$OSTIARY" run -q -- top'
	shows 'top' 'load average'
	shows 'top sees only the box' 'Tasks: +[1-9] total'
	term_key q
	term_prompt
	check 'top ends' $? "$(term_tail)"
else
	skip 'top' 'top is not installed'
fi
if has dialog; then
	term_clear
	term_type '"$OSTIARY" run -q -- dialog --msgbox hel""lo 8 30'
	shows 'dialog draws its frame' 'hello'
	term_key Enter
	term_prompt
	check 'dialog ends' $? "$(term_tail)"
fi

# --- terminals made inside -----------------------------------------------------------------------------------
if has script; then
	same 'script makes a terminal of its own' "$(box -- script -q -c tty /dev/null </dev/null 2>&1 | tr -d '\r')" /dev/pts/0
fi
same 'so does python' "$(box -- python3 -c '
import os, pty
pid, fd = pty.fork()
if pid == 0:
    os.execvp("sh", ["sh", "-c", "stty size >/dev/null && echo inner"])
print(os.read(fd, 100).decode().strip())' 2>&1)" inner
if has tmux; then
	term_clear
	term_type '"$OSTIARY" run -q -- tmux -f /dev/null new-session "PS1=\"in\"\"ner> \" bash --norc --noprofile"'
	shows 'tmux in the box, in tmux' '^inner> $'
	answers 'fills the window but for its status line' 'echo size $(stty size)' '^size 23 80'
	term_type 'exit'
	term_prompt
	check 'and ends' $? "$(term_tail)"
fi

# --- much at once --------------------------------------------------------------------------------------------
term_clear
term_type '"$OSTIARY" run -q -- sh -c "seq 200000; echo last li""ne"; echo status $?'
shows 'a flood of lines arrives to the end' '^last line' 120
shows 'and the code' '^status 0'
term_prompt
term_clear
term_type '"$OSTIARY" run -q -- yes'
term_wait '^y$'
term_key C-c
term_prompt
check 'Ctrl-C ends a flood' $? "$(term_tail 3)"
term_clear
term_type '"$OSTIARY" run --new -n flood -- yes'
term_wait '^y$'
term_key C-] d
shows 'a flood can be left' 'detached from flood'
"$ostiary" rm -f flood >/dev/null 2>&1
check 'and removed' $? "$("$ostiary" ps 2>&1)"
exit $bad
