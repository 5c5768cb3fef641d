#!/bin/bash
# suite: test=root soak=root,user timeout=300
# tier: terminals are the same for both; an sshd of root's may hand out terminals everywhere
# term_odd.sh - our row where the terminal is not a roomy window: over ssh, inside GNU screen, in one row, in 20 columns,
# and while each of them changes its size. What term_row.sh shows for 80 by 24 holds there too: the question is seen,
# answered by key, and the screen is as before.
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
. tests/lib_door.sh
. tests/lib_row.sh
if ! has tmux; then
	skip 'odd terminals' 'tmux is not installed'
	exit 0
fi
door_needs term_odd curl openssl /usr/sbin/nginx
row_origin
cd "$work/ws" || exit 1

# What is started in each: a shell in a box, by a script, because not every way there carries a line of quotes.
cat >"$work/begin.sh" <<SH
export HOME='$HOME' PATH='$PATH' LANG='$LANG' OSTIARY_PACKAGES=files
cd '$work/ws' || exit 1
exec '$ostiary' run --new --rm -n row --level strict --allow 'ask $rule' -e PS1='box> ' -- bash --norc --noprofile
SH

# question WHERE: one more in the box; it is seen, answered by key, and the screen is as before. The first lines may have
# gone up by one, where the cursor stood in the last row.
question() {
	term_type 'for i in $(seq 30); do echo line $i; done'
	term_wait '^line 30'
	term_prompt 'box>'
	local before up
	before=$(screen)
	up=$(sed 1d <<<"$before")
	asked "$2"
	row "$1: a question is in the last row" 'Ctrl-] y n a ?'
	same "$1: the box kept its lines" "$(screen | sed '$d')" "$up"
	key y
	status "$2" 200 "$1: Ctrl-] y lets it pass"
	row_gone "$1: the row is given back"
	within 60 is_screen "$up"
	check "$1: and the screen is as before" $? "$(term_tail)"
	term_clear
}
leave() {
	term_type 'exit'
	term_prompt
	within 60 is_not_running row
	check "$1: the box ends with its shell" $? "$("$ostiary" ps 2>&1)"
}

# --- over ssh ---------------------------------------------------------------------------------------------------------
over_ssh() {
	local me port
	me=$(id -un) port=$(free_port)
	case $(getent passwd "$me" | cut -d: -f7) in *nologin | */false) skip 'over ssh' "$me may not log in" && return ;; esac
	mkdir -p "$work/ssh"
	ssh-keygen -q -t ed25519 -N '' -f "$work/ssh/host" && ssh-keygen -q -t ed25519 -N '' -f "$work/ssh/mine"
	printf '%s\n' "Port $port" 'ListenAddress 127.0.0.1' "HostKey $work/ssh/host" 'PidFile none' \
		"AuthorizedKeysFile $work/ssh/mine.pub" 'StrictModes no' 'UsePAM no' 'PasswordAuthentication no' \
		'KbdInteractiveAuthentication no' 'PermitRootLogin prohibit-password' >"$work/ssh/conf"
	# An sshd of root's wants it. It stays, as it is after a boot: that of another suite may want it too.
	[ "$(id -u)" != 0 ] || [ -d /run/sshd ] || mkdir -m 755 /run/sshd
	/usr/sbin/sshd -D -e -f "$work/ssh/conf" </dev/null >"$work/ssh/log" 2>&1 &
	door_pids+=($!)
	listens "$port"
	check 'a server of ssh runs' $? "$(cat "$work/ssh/log")"
	local to="ssh -F none -tt -o BatchMode=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR -i $work/ssh/mine -p $port $me@127.0.0.1"
	term_open 80 24
	term_type "$to sh $work/begin.sh"
	term_prompt 'box>'
	if grep -q 'chown(/dev/pts.*failed' "$work/ssh/log"; then
		skip 'over ssh' 'an sshd of an ordinary user may not hand out terminals here'
		return
	fi
	term_is_at 'box>'
	check 'over ssh: a box' $? "$(term_tail) $(tail -n 3 "$work/ssh/log")"
	question 'over ssh' remote
	asked remote2
	row 'over ssh: another' 'hello?remote2'
	tm resize-window -t "$term" -x 100 -y 30
	size 'over ssh: the window is resized meanwhile' '29 100'
	row 'and the row is its last' 'hello?remote2'
	key n
	status remote2 403 'over ssh: Ctrl-] n refuses it'
	size 'over ssh: all rows are the box'\''s again' '30 100'
	leave 'over ssh'
	same 'over ssh: the terminal is as it was' "$(term_modes)" "$modes"
}

# --- inside GNU screen ------------------------------------------------------------------------------------------------
in_screen() {
	mkdir "$work/screens" && chmod 700 "$work/screens"
	term_open 80 24
	# It has an escape key of its own, and draws no line of its own.
	printf 'escape ^Oo\nstartup_message off\nvbell off\n' >"$work/screenrc"
	term_type "SCREENDIR=$work/screens $(type -P screen) -c $work/screenrc -- sh $work/begin.sh"
	term_prompt 'box>'
	check 'in screen: a box' $? "$(term_tail)"
	question 'in screen' inside
	asked inside2
	row 'in screen: another' 'hello?inside2'
	tm resize-window -t "$term" -x 60 -y 15
	size 'in screen: the window is resized meanwhile' '14 60'
	row 'and the row is its last, with what fits' '...ask.example.test..."? Ctrl-] y n a ?'
	key n
	status inside2 403 'in screen: Ctrl-] n refuses it'
	size 'in screen: all rows are the box'\''s again' '15 60'
	leave 'in screen'
}

# --- small ones ---------------------------------------------------------------------------------------------------------
narrow() {
	term_open 20 24
	term_type "sh $work/begin.sh"
	term_prompt 'box>'
	check '20 columns: a box' $? "$(term_tail)"
	asked narrow
	row '20 columns: the end of the host is what is left of the question' 'GET ...ample.test...'
	same '20 columns: on one row' "$(last_row | wc -m)" "$(($(last_row | wc -c)))"
	[ "$(last_row | wc -c)" -le 21 ]
	check '20 columns: that is as wide' $? "$(last_row)"
	size '20 columns: the box has a row less' '23 20'
	key '?'
	shows '20 columns: all of it is on more rows' 'a adds the rule'
	key y
	status narrow 200 '20 columns: Ctrl-] y lets it pass'
	size '20 columns: the box has its rows' '24 20'
	leave '20 columns'
}
one_row() {
	term_open 80 1
	term_type "sh $work/begin.sh"
	size 'one row: a box' '1 80'
	term_prompt 'box>'
	asked flat
	# Most of it has gone up already.
	said() { tm capture-pane -p -J -S -50 -t "$term" | tr -d '\n' | grep -qE 'in another terminal: ostiary approve row/[0-9]+ \(or refuse\)'; }
	within 60 said
	check 'one row: a question is a sentence' $? "$(tm capture-pane -p -S -50 -t "$term" | tail -n 5)"
	size 'one row: the box has it' '1 80'
	same 'one row: which waits' "$(waits)" 1
	tm resize-window -t "$term" -x 80 -y 24
	row 'made larger, the question has a row' 'hello?flat"? Ctrl-] y n a ?'
	size 'and the box the others' '23 80'
	tm resize-window -t "$term" -x 80 -y 1
	size 'made small again, the box has all of it' '1 80'
	tm resize-window -t "$term" -x 15 -y 24
	size 'nor is there a row in 15 columns' '24 15'
	tm resize-window -t "$term" -x 80 -y 24
	row 'it is there again' 'hello?flat"? Ctrl-] y n a ?'
	key y
	status flat 200 'and can be answered'
	row_gone 'and goes'
	term_prompt 'box>'
	leave 'one row'
}
# Changes of size as fast as they come, with a question open: the last one counts.
restless() {
	local i
	term_open 80 24
	term_type "sh $work/begin.sh"
	term_prompt 'box>'
	asked restless
	row 'restless: a question' 'hello?restless'
	for i in $(seq 20); do tm resize-window -t "$term" -x $((40 + i * 3)) -y $((3 + i)); done
	tm resize-window -t "$term" -x 90 -y 20
	size 'restless: the box has one row less than the last size' '19 90'
	row 'restless: the row is its last' 'hello?restless"? Ctrl-] y n a ?'
	same 'restless: and is there once' "$(screen | grep -c 'Ctrl-] y n a')" 1
	key y
	status restless 200 'restless: answered'
	size 'restless: the box has all of it' '20 90'
	leave 'restless'
}

term_open 80 24
modes=$(term_modes)
if [ -x /usr/sbin/sshd ] && has ssh; then over_ssh; else skip 'over ssh' 'openssh is not installed'; fi
if type -P screen >/dev/null; then in_screen; else skip 'in screen' 'screen is not installed'; fi
narrow
one_row
restless
exit $bad
