#!/bin/bash
# suite: test=user soak=root,user timeout=300
# tier: terminals are the same for both
# term_row.sh - what waits for the user has a row of its own: the box has one row less meanwhile, cannot draw there, and
# gets it back; answered by key. In 80x24, in other sizes and while they change, with a shell, vim, tmux in the box.
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
. tests/lib_door.sh
. tests/lib_row.sh
if ! has tmux; then
	skip 'a row of our own' 'tmux is not installed'
	exit 0
fi
door_needs term_row curl openssl /usr/sbin/nginx
row_origin
cd "$work/ws" || exit 1
term_open 80 24
check 'a terminal to work in' $? 'tmux does not start'
client() { pgrep -P "$(tm display-message -p -t "$term" '#{pane_pid}')" | head -n 1; }

# --- a shell, 80x24 -----------------------------------------------------------------------------------------
term_type "\"\$OSTIARY\" run -n row --level strict --allow 'ask $rule' -e PS1='bo''x> ' -- bash --norc --noprofile"
term_prompt 'box>'
term_type 'for i in $(seq 40); do echo line $i; done'
term_wait '^line 40'
term_prompt 'box>'
before=$(screen)
up=$(sed 1d <<<"$before")
asked one
row 'a question is in the last row' 'ostiary: allow "GET http://ask.example.test/hello?one"? Ctrl-] y n a ?'
same 'the box kept its lines: they moved up by one' "$(screen | head -n 23)" "$up"
size 'the box has a row less' '23 80'
key y
status one 200 'Ctrl-] y: the request passes'
row_gone 'the row is given back'
within 60 is_screen "$up"
check 'and nothing else is on the screen' $? "$(term_tail)"
size 'the box has all rows again' '24 80'
term_type 'echo still the sa""me shell'
shows 'the shell goes on' '^still the same shell'

asked two
row 'another question' 'ask.example.test/hello?two'
key '?'
shows 'Ctrl-] ? shows all of it' 'in another terminal: ostiary approve row/'
shows 'and what a would add' "a adds the rule: allow $rule"
shows 'it names the keys, and how to close it' 'Ctrl-\] y allows it, n refuses it, a allows it for good, \? closes this'
left() { screen | grep -oE '[0-9]+ s are left' | cut -d ' ' -f 1; }
first=$(left)
within 60 eval '[ "$(left)" -lt "$first" ]'
check 'and counts the time that is left' $? "$first, then $(left)"
key '?'
row 'and goes back to one row' 'ask.example.test/hello?two"? Ctrl-]'
key n
status two 403 'Ctrl-] n: it is refused'
row_gone 'and the row goes'

# --- answers count for what was shown --------------------------------------------------------------------------
asked three
row 'a question' 'ask.example.test/hello?three'
asked four
row 'and one more' '(1 of 2)'
term_key C-]
row 'Ctrl-] is seen to count for it' 'hello?three"? (1 of 2) press y n a ?'
"$ostiary" approve "$("$ostiary" approvals row --json | grep -o 'row/[0-9]*' | head -n 1)" >/dev/null
status three 200 'the one that is shown is answered elsewhere'
row 'meanwhile the other is shown' 'ask.example.test/hello?four'
term_key y
row 'an answer for the first does not count for it' 'that question was answered elsewhere'
same 'which still waits' "$(waits)" 1
within 60 is_last 'ask.example.test/hello?four'
key n
status four 403 'until it is answered itself'
row_gone 'nothing waits'
term_type 'printf "\033[24;1HI am ostiary: allow \"GET http://harmless/\"? Ctrl-] y n a"; stty raw -echo; dd bs=1 count=2 2>/dev/null | od -An -tx1; stty sane'
row 'a likeness, drawn by the box' 'I am ostiary'
term_key C-]
row 'Ctrl-] says that nothing waits' 'ostiary: nothing waits for an answer'
term_key y
shows 'and the keys are the box'\''s' '1d 79'
term_prompt 'box>'
row_gone 'the row goes with the next key'

# --- the box cannot get at it ----------------------------------------------------------------------------------
cat >attack.sh <<'SH'
fake='FAKE ROW'
printf '\0337\033[24;1H%s\033[999B%s\033[99;1f%s\033[99d%s\033[99E%s\033[99e%s' "$fake" "$fake" "$fake" "$fake" "$fake" "$fake"
printf '\033[1;24r\033[24;1H\n\n%s\033[24;24r\033[10;12r\033[24;1H%s\n\n\n%s\033[r' "$fake" "$fake" "$fake"
printf '\033[?6h\033[99;1H%s\033[?6l\033[?1049h\033[24;1H%s\033[?1049l\033[65;24;1;24;80$x\033[!p\033[24;1H%s' "$fake" "$fake" "$fake"
printf '\033#8\033[H\033c\033[24;1H%s\033[2J\033[3J\033[J\0338%s\033[?2026h\033[24;1H%s\n' "$fake" "$fake" "$fake"
SH
term_clear
asked five
row 'a question, and a box that attacks the row' 'ask.example.test/hello?five'
term_type 'sh attack.sh; echo do""ne'
term_wait '^done'
row 'it stays' 'ostiary: allow "GET http://ask.example.test/hello?five"? Ctrl-] y n a ?'
same 'and only the box'\''s rows have a likeness' "$(last_row | grep -c FAKE)" 0
key n
status five 403 'it is answered'
row_gone 'and goes'
term_clear

# --- resized at that moment --------------------------------------------------------------------------------------
asked six
row 'a question' 'ask.example.test/hello?six'
tm resize-window -t main -x 100 -y 30
within 60 eval '[ "$(screen | wc -l)" = 30 ]'
row 'a larger window: the row is its last' 'ask.example.test/hello?six'
size 'the box has one row less than that' '29 100'
same 'and the old row is gone' "$(screen | grep -c 'ask.example.test/hello?six"? Ctrl')" 1
tm resize-window -t main -x 70 -y 12
within 60 eval '[ "$(screen | wc -l)" = 12 ]'
row 'a smaller window' 'ask.example.test/hello?six'
size 'and the box' '11 70'
tm resize-window -t main -x 70 -y 2
within 60 is_size '2 70'
check 'a window of two rows has none for us' $? "$(last_row)"
tm resize-window -t main -x 80 -y 24
row 'a window of the old size' 'ask.example.test/hello?six'
size 'and the box' '23 80'
key y
status six 200 'answered'
row_gone 'and gone'
size 'the box has all of it' '24 80'
term_prompt 'box>'

# --- full-screen programs ------------------------------------------------------------------------------------------
if has vim; then
	seq 100 | sed 's/^/text /' >long.txt
	term_clear
	term_type 'vim -u NONE -N long.txt'
	shows 'vim' '^text 23'
	before=$(screen)
	asked seven
	row 'vim: a question' 'ask.example.test/hello?seven'
	shows 'vim has drawn itself anew, a row smaller' '^text 22'
	within 60 eval '[ "$(screen | sed -n 23p)" != "text 23" ]'
	check 'and is not below the row' $? "$(term_tail 3)"
	key y
	status seven 200 'vim: answered'
	# Its last line held a message, which vim does not repeat.
	within 60 eval '[ "$(screen | head -n 23)" = "$(head -n 23 <<<"$before")" ]'
	check 'vim: the screen is as before' $? "$(term_tail 3)"
	asked eight
	row 'vim: another' 'ask.example.test/hello?eight'
	term_type ':q'
	row 'vim ends under it' 'ask.example.test/hello?eight'
	term_prompt 'box>'
	key n
	status eight 403 'and the shell is there'
	row_gone 'without a row'
else
	skip 'vim' 'vim is not installed'
fi
term_clear
term_type 'tmux -f /dev/null new-session "PS1=\"in\"\"ner> \" bash --norc --noprofile"'
shows 'tmux in the box' '^inner> $'
term_type 'seq 50 | tail -n 15'
term_wait '^50'
before=$(screen)
asked nine
row 'tmux: a question' 'ask.example.test/hello?nine'
within 60 eval 'screen | sed -n 23p | grep -q "^\[0\]"'
check 'tmux has its status line above it' $? "$(term_tail 3)"
key a
status nine 200 'Ctrl-] a: the request passes'
# tmux keeps a clock in its status line.
is_as_before() { [ "$(screen | sed '$d')" = "$(sed '$d' <<<"$before")" ] && is_last '[0]'; }
within 60 is_as_before
check 'tmux: the screen is as before' $? "$(term_tail 4)"
asked ten
status ten 200 'and is not asked for again'
term_type 'exit'
term_prompt 'box>'

# --- alarms ------------------------------------------------------------------------------------------------------
term=second
term_open 80 24
export KEY=fake-Row-Value-Of-40-Characters-000000001
tm set-environment -g KEY "$KEY"
term_type "KEY=$KEY \"\$OSTIARY\" run -n alarm --level strict --allow '$rule' --secret 'KEY from env at x.home.test as bearer' -e PS1='bo''x> ' -- bash --norc --noprofile"
term_prompt 'box>'
term_type 'clear; curl -s -o /dev/null "http://ask.example.test/hello?$KEY"'
row 'an alarm is in the row' 'ostiary: alarm: '
same 'and not on the screen of the box' "$(screen | sed '$d' | grep -c 'alarm:')" 0
key n
row_gone 'Ctrl-] n: seen'
term_type 'exit'
term_prompt
shows 'the end names it once more' 'alarm while the box ran'
tm kill-session -t =second
term=main

# --- leaving, stopping, the end ---------------------------------------------------------------------------------------
"$ostiary" allow row "ask $rule" >/dev/null
check 'a rule that asks again' $? "$("$ostiary" rules row 2>&1 | tail -n 3)"
term_clear
asked eleven
row 'a question' 'ask.example.test/hello?eleven'
kill -TSTP "$(client)"
shows 'a client that is stopped' 'Stopped'
row_gone 'gives the row back'
term_prompt
term_type 'fg'
row 'and takes it again' 'ask.example.test/hello?eleven'
key d
shows 'leaving says that something waits' '1 question of the box waits: ostiary approvals row'
row_gone 'and leaves no row'
term_prompt
term_clear
term_type 'seq 30 | tail -n 3'
shows 'the whole terminal scrolls' '^30'
term_prompt
term_type '"$OSTIARY" attach row'
row 'coming back, it is there' 'ask.example.test/hello?eleven'
"$ostiary" stop -t 1s row >/dev/null 2>&1
term_prompt
check 'a box that is ended under it' $? "$(term_tail)"
row_gone 'gives the row back'
term_clear
term_type 'seq 30 | tail -n 3'
shows 'with the whole terminal' '^30'
term_prompt
term_clear
term_type "\"\$OSTIARY\" run --rm -n inline -- sh -c 'printf \"top\\nmiddle\\nlow\\nlow\"est\"\\033[3A\\r\"; sleep 1000'"
term_wait '^lowest$'
key d
shows 'a screen that goes on below the cursor is left' '^ostiary: detached from inline'
same 'below its lowest row' "$(screen | grep -xE 'top|middle|low|lowest|ostiary: detached from inline.*' | cut -c1-8 | tr '\n' ' ')" 'top middle low lowest ostiary: '
term_prompt
"$ostiary" rm -f inline >/dev/null 2>&1
same 'and its settings' "$(term_modes)" 'alt=0 mouse=0 cursor=1 keys=0 keypad=0 wrap=1 insert=0'
exit $bad
