#!/bin/bash
# suite: test=user soak=root,user timeout=300
# tier: terminals are the same for both
# term_shell.sh - a person at a terminal: shells, job control, window sizes, keys, paste, vim, all in tmux.
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
if ! has tmux; then
	skip 'a person at a terminal' 'tmux is not installed'
	exit 0
fi
cd "$work/ws" || exit 1
term_open 80 24
check 'a terminal to work in' $? 'tmux does not start'

# A job that says when it is in front, so that the keys that follow are for it, and when it no longer is.
cat >job.py <<'PY'
import os, signal, sys, time
signal.signal(signal.SIGINT, signal.SIG_DFL)
was_front = False
while True:
    is_front = os.tcgetpgrp(0) == os.getpgrp()
    if is_front != was_front:
        print(sys.argv[1] + (" in front" if is_front else " behind"), flush=True)
    was_front = is_front
    time.sleep(0.05)
PY

# --- job control --------------------------------------------------------------------------------------
term_type '"$OSTIARY" run -n jobs -e PS1="bo""x> " -- bash --norc --noprofile'
shows 'a shell in the box shows its prompt' '^box> $'
shows 'and before it one line says what the box is' 'ostiary: box jobs, tier ns'
term_lacks 'no job control|cannot set terminal process group'
check 'it has job control' $? "$(term_tail)"
term_type 'python3 job.py 1'
term_wait '^1 in front'
term_key C-z
shows 'Ctrl-Z stops a job' '\[1\]\+ +Stopped +python3 job.py 1'
term_type 'bg'
shows 'bg' '\[1\]\+ python3 job.py 1 &'
term_wait '1 behind'
term_clear
term_type 'jobs'
shows 'jobs' '\[1\]\+ +Running +python3 job.py 1'
term_clear
term_type 'fg'
term_wait '^1 in front'
term_key C-c
term_prompt 'box>'
term_clear
term_type 'echo status $?, jobs: $(jobs | wc -l)'
shows 'fg, then Ctrl-C ends it' 'status 130, jobs: 0'
term_type 'sh -c "echo le""ft >&2; exec sleep 100" | sh -c "echo ri""ght; exec sleep 101"'
term_wait '^left'
term_wait '^right'
term_key C-c
term_prompt 'box>'
term_type 'echo pipe $? $(pgrep -c sleep)'
shows 'Ctrl-C ends a whole pipeline' '^pipe 130 0'
term_type 'sh -c "echo rea""ds; exec cat"'
term_wait '^reads'
term_type 'one li''ne'
within 60 eval '[ "$(term_screen | grep -c "^one line")" = 2 ]' # typed, and written by it
term_key C-d
term_prompt 'box>'
term_type 'echo cat ended with $?'
shows 'Ctrl-D is the end of input' '^cat ended with 0'
term_key C-\\
term_type 'echo still he""re'
shows 'Ctrl-\ does not hurt the shell' '^still here'

# --- the terminal as programs see it ---------------------------------------------------------------------
term_clear
term_type 'tty; test -t 0 && test -t 1 && test -t 2 && echo all th""ree'
shows 'it is a terminal of its own' '^/dev/pts/0'
shows 'on all three descriptors' '^all three'
term_type 'echo to the terminal 2>&1 >/dev/tty | cat; echo x | (read -r a </dev/tty; echo got=$a)'
shows '/dev/tty: writing' '^to the terminal'
term_type 'typed'
shows '/dev/tty: reading while stdin is a pipe' '^got=typed'
term_type 'stty size; echo $LINES,$COLUMNS; tput colors'
shows 'the size of the window' '^24 80'
shows 'the type of the terminal' '^256'
tm resize-window -t main -x 100 -y 30
answers 'a resized window' 'stty size' '^30 100'
term_type "trap 'echo win''ch' WINCH; echo tr''ap is set"
shows 'a shell that waits for it' '^trap is set'
tm resize-window -t main -x 90 -y 28
shows 'SIGWINCH arrives' '^(box> )?winch'
term_type 'trap - WINCH; stty size'
shows 'and the size is right' '^28 90'
term_clear
term_type "printf '\\033[31mr''ed\\033[0m \\033[38;2;1;2;3mtr''ue\\033[0m\\n'"
term_wait '^red true'
text=$(tm capture-pane -p -e -t main | cat -v)
holds 'colours' "$text" '^[[31mred'
holds '24-bit colours' "$text" '^[[38;2;1;2;3mtrue'
term_type "printf '\\033]2;a ti''tle\\033\\\\'"
within 60 eval '[ "$(tm display-message -p -t main "#{pane_title}")" = "a title" ]'
check 'a window title' $? "$(tm display-message -p -t main '#{pane_title}')"
term_type "printf 'umlaut \\303\\244 wide \\346\\274\\242\\n'"
shows 'UTF-8' '^umlaut ä wide 漢'

# --- keys and paste --------------------------------------------------------------------------------------
cat >keys.py <<'PY'
import os, sys, termios, tty
before = termios.tcgetattr(0)
tty.setraw(0)
sys.stdout.write("\x1b[?2004hready\r\n")
sys.stdout.flush()
got = b""
while not got.endswith(b"q"):
    got += os.read(0, 1000)
termios.tcsetattr(0, termios.TCSANOW, before)
print("\x1b[?2004l" + got.hex())
PY
term_clear
term_type 'python3 keys.py'
shows 'a program in raw mode' '^ready'
term_key C-c C-z 'C-\' C-d Up F5 q
shows 'gets Ctrl-C, Ctrl-Z and the others as bytes' '^031a1c04(1b5b41|1b4f41)1b5b31357e71'
term_clear
term_type 'python3 keys.py'
term_wait '^ready'
printf 'two\nlines' | tm load-buffer -b p -
tm paste-buffer -p -b p -t main
term_key q
shows 'a paste comes in brackets' '^1b5b3230307e74776f0[ad]6c696e65731b5b3230317e71'
term_clear
term_type 'python3 keys.py'
term_wait '^ready'
term_key C-] x q
shows 'the detach key followed by another is typed' '^1d7871'
term_clear
# A pty holds 4 KB; more than that must wait and not be lost.
term_type 'stty -icanon -echo; echo wa""its; head -c 65536 | tr -d "\n" | wc -c; stty icanon echo'
term_wait '^waits'
head -c 65536 /dev/zero | tr '\0' x | tm load-buffer -b big -
tm paste-buffer -b big -t main
shows 'a paste of 64 KB arrives whole' '^65536' 120

# --- vim -------------------------------------------------------------------------------------------------
term_clear
echo one >note.txt
if has vim; then
	term_type 'vim -u NONE -N note.txt'
	term_wait '"note.txt"'
	term_key c w t w o Escape
	shows 'vim edits' '^two'
	tm resize-window -t main -x 70 -y 20
	term_type ':wq'
	shows 'vim leaves the screen as it was' 'box> $'
	term_type 'cat note.txt'
	shows 'the change is in the box' '^two'
	answers 'vim saw no less than the shell of the new size' 'stty size' '^20 70'
	same 'and not on the host' "$(cat note.txt)" one
	"$ostiary" cp -q jobs:note.txt "$work/note.txt"
	same 'ostiary cp brings it out' "$(cat "$work/note.txt")" two
else
	skip 'vim' 'vim is not installed'
fi

# --- more terminals into the same box ---------------------------------------------------------------------
term=second
term_open 80 24
term_type '"$OSTIARY" exec -t -e PS1="ex""ec> " jobs -- bash --norc --noprofile'
shows 'exec -t gives a second terminal' '^exec> $'
term_type 'tty; stty size; cat note.txt'
shows 'of its own' '^/dev/pts/1'
shows 'with its own size' '^24 80'
term_type 'python3 job.py 2'
term_wait '^2 in front'
term_key C-z
shows 'and its own job control' '\[1\]\+ +Stopped +python3 job.py 2'
term_type 'kill %1; wait; clear; exit 7'
term_prompt
term_type 'echo status $?'
shows 'its code is ours' '^status 7'
term_prompt
term_type '"$OSTIARY" exec jobs -- tty'
shows 'exec on a terminal gives one' '^/dev/pts/'
term_prompt
term_type '"$OSTIARY" exec -T jobs -- tty'
shows 'exec -T does not' '^not a tty'
tm kill-session -t =second
term=main

term_type 'exit 42'
term_prompt
term_type 'echo status $?'
shows 'the code of the shell is ours' '^status 42'
term_prompt

# --- ostiary shell, and short lives --------------------------------------------------------------------------
term_clear
term_type 'SHELL=/bin/bash "$OSTIARY" shell --new -n sh'
shows 'ostiary shell' '\[box\] .*\$ $'
term_type 'echo $HOME; exit'
term_prompt
term_clear
term_type '"$OSTIARY" run -q -- sh -c "echo fir""st; exec sleep 100"'
term_wait '^first'
term_key C-c
term_prompt
term_type 'echo status $?'
shows 'Ctrl-C to a lone command' '^status 130'
term_prompt
term_type '"$OSTIARY" run -q -- sh -c "echo sec""ond; exec sleep 100"'
term_wait '^second'
term_key 'C-\'
term_prompt
term_type 'echo status $?'
shows 'Ctrl-\ to a lone command' '^status 131'
term_prompt
term_type 'echo piped | "$OSTIARY" run -q -- sh -c "cat; tty"'
shows 'with a pipe there is no terminal' '^not a tty'
term_prompt
term_type '"$OSTIARY" run -q -- sh -c "echo at the en""d"; echo status $?'
shows 'a short command shows all it wrote' '^at the end'
term_prompt
term_type 'for i in 1 2 3 4 5 6 7 8 9 10; do "$OSTIARY" run -q -- echo -n "$i,"; done; echo'
shows 'ten times' '^1,2,3,4,5,6,7,8,9,10,$' 120
term_prompt
term_type '"$OSTIARY" run -q -- sh -c "echo in ba""ck" &'
shows 'in the background of a shell it does not stop' '^(host> )?in back'
term_type ''
term_prompt
term_type 'TERM=xterm-unheard-of "$OSTIARY" run -q -- sh -c "tput colors; echo as \$TERM"'
shows 'a terminal that the box has no description of is taken for a usual one' '^as xterm-256color'
term_prompt
term_type 'wait; "$OSTIARY" run -t -q -- tty | cat'
shows '-t gives a terminal in a pipeline' '^/dev/pts/0'
exit $bad
