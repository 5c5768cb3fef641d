# lib_row.sh - our row below a box's screen, seen in tmux. Sourced after lib.sh and lib_door.sh by tests/term_row.sh,
# tests/term_odd.sh and tests/real_screens.sh.
#
# row_origin starts an origin for which $rule is a rule without its verb; the box is called $box.
# shellcheck shell=bash disable=SC2034,SC2154
box=row

row_origin() {
	door_ca && door_nginx
	check 'an origin is up' $? "$(cat "$work/nginx.err")"
	rule="GET ask.example.test:80 to=127.0.0.1:$nginx_plain"
}
# asked NAME: a request of the box waits from now on; its status will be in $work/NAME.
asked() {
	rm -f "$work/$1"
	(timeout 150 "$ostiary" exec -T "$box" -- curl -s -o /dev/null -w '%{http_code}' "http://ask.example.test/hello?$1" </dev/null \
		>"$work/$1.new" 2>/dev/null; mv "$work/$1.new" "$work/$1") &
	door_pids+=($!)
}
status() { # name, wanted
	within 150 test -e "$work/$1"
	same "$3" "$(cat "$work/$1" 2>/dev/null)" "$2"
}
screen() { tm capture-pane -p -t "$term" | sed 's/ *$//'; }
last_row() { screen | sed -n "$(tm display-message -p -t "$term" '#{pane_height}')p"; }
is_last() { [[ $(last_row) == *"$1"* ]]; }
is_screen() { [ "$(screen)" = "$1" ]; }
# row NAME TEXT: the last row comes to hold it.
row() {
	within "${row_time:-60}" is_last "$2"
	check "$1" $? "the last row is \"$(last_row)\""
}
row_gone() {
	within 60 eval '! is_last "ostiary:"'
	check "$1" $? "the last row is \"$(last_row)\""
}
key() { term_key C-] "$1"; }
waits() { "$ostiary" approvals "$box" --json | grep -o "\"$box/[0-9]*\"" | wc -l; }
# size NAME ROWS COLUMNS: of the box's terminal, without typing anything.
is_size() { [ "$("$ostiary" exec -T "$box" -- stty size -F /dev/pts/0 </dev/null 2>/dev/null)" = "$1" ]; }
size() {
	within 60 is_size "$2"
	check "$1" $? "$("$ostiary" exec -T "$box" -- stty size -F /dev/pts/0 </dev/null 2>&1)"
}
