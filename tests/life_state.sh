#!/bin/bash
# suite: test=root,user soak=root,user timeout=400
# tier: what is left on disk and in control groups is owned differently
# life_state.sh - what a box remembers: changes after its end, a kept box woken by exec, names, `ps`, and
# the home of a profile, of which only the listed paths outlive a box.
set -u
. "$(dirname "$0")/lib_life.sh"
json() { python3 -c "import json, sys; d = json.load(sys.stdin); d = d[\"data\"] if \"ostiary\" in d else d; print($1)"; }

# --- create, exec, stop, exec, cp, rm ---------------------------------------------------------------
echo host >file
box=$tag-life
say "$ostiary" create -q --name "$box"
same 'create prints the name' "$code $out$err" "0 $box"
say "$ostiary" exec "$box" -- sh -c 'echo changed >file; echo new >made; rm -f gone; mkdir d; echo deep >d/x; echo note >~/note; echo out; echo err >&2; exit 7'
same "exec passes the status on" "$code" 7
same 'and keeps output and errors apart' "$out|$err" 'out|err'
same 'the host does not see the change' "$(cat file; ls)" $'host\nfile'
say "$ostiary" ps --json
python3 -m json.tool <<<"$out" >/dev/null
check 'ps --json is JSON' $? "$out"
same 'ps: what it says of the box' "$(json '[(b["id"], b["name"], b["state"], b["tier"], b["workspace"], b["command"], b["supervisor_pid"] > 1) for b in d]' <<<"$out")" \
	"[('$box', '$box', 'running', 'ns', '$work/ws', '', True)]"
say "$ostiary" ps
same 'ps as a table, for people' "$(awk 'NR == 2 { print $1, $2 }' <<<"$out")" "$box running"
say "$ostiary" stop "$box"
same 'stop prints the name' "$code $out$err" "0 $box"
say "$ostiary" stop "$box"
same 'stop of a stopped box is fine' "$code" 0
same 'ps does not list it' "$("$ostiary" ps -q)" ''
same 'ps -a does' "$("$ostiary" ps -aq)" "$box"
same 'and says that it ended and holds changes' "$("$ostiary" ps -a --json | json '[(b["state"], b["has_changes"], b["kept"], b["supervisor_pid"], b["ended"] >= b["created"]) for b in d]')" \
	"[('exited', True, True, 0, True)]"
wait_for 60 no_orphans
check 'no process is left of a stopped box' $? "$(orphans)"

say "$ostiary" exec "$box" -- sh -c 'cat file made d/x ~/note'
same 'exec wakes it, and what it had written is there' "$out$err" $'changed\nnew\ndeep\nnote'
same 'the host still does not see it' "$(cat file; ls)" $'host\nfile'
say "$ostiary" exec "$box" -- sh -c 'rm made; echo 2 >second'
"$ostiary" stop "$box" >/dev/null
say "$ostiary" exec "$box" -- sh -c 'ls; cat second'
same 'and a second time, deletions too' "$out$err" $'d\nfile\nsecond\n2'
"$ostiary" stop "$box" >/dev/null
say "$ostiary" cp "$box:d" "$work/taken"
same 'cp out of the sleeping box' "$code $(cat "$work/taken/x")" '0 deep'
say "$ostiary" cp file "$box:put"
same 'cp into it' "$code $err" '0 '
say "$ostiary" exec "$box" -- cat put
same 'it is there' "$out" host
mkdir elsewhere
same 'it is the same box from wherever it is woken' "$(cd elsewhere && "$ostiary" exec "$box" -- sh -c 'pwd; cat put' 2>&1)" "$work/ws"$'\nhost'
"$ostiary" stop "$box" >/dev/null
same 'also when it slept' "$(cd / && "$ostiary" exec "$box" -- sh -c 'pwd; cat put' 2>&1)" "$work/ws"$'\nhost'
rmdir elsewhere
echo later >later
say "$ostiary" exec "$box" -- cat later
same 'a new file of the host is seen below the changes' "$out" later
say "$ostiary" rm "$box"
same 'rm of the woken, running box is refused' "$code" 122
"$ostiary" stop "$box" >/dev/null
say "$ostiary" rm --yes "$box"
same 'rm' "$code $out$err" "0 $box"
say "$ostiary" exec "$box" -- true
same 'after rm there is no such box' "$code" 121
nothing_left 'and nothing of it'
rm -f later

# --- kept or not ------------------------------------------------------------------------------------------
"$ostiary" run -q --name "$tag-plain" -- true
same 'run without changes leaves no box' "$("$ostiary" ps -aq)" ''
say "$ostiary" run --name "$tag-changed" -- touch x
same 'run with changes keeps it' "$("$ostiary" ps -aq)" "$tag-changed"
holds 'and says where' "$err" "box $tag-changed is kept: ostiary diff $tag-changed"
"$ostiary" run -q --rm --name "$tag-rm" -- touch x
"$ostiary" run -q --keep --name "$tag-keep" -- sh -c 'exit 3'
same '--rm discards, --keep keeps' "$("$ostiary" ps -aq | sort | tr '\n' ' ')" "$tag-changed $tag-keep "
same '--keep remembers the status' "$("$ostiary" ps -a --json | json "[b['exit_code'] for b in d if b['id'] == '$tag-keep']")" '[3]'
say "$ostiary" gc
same 'gc keeps what was asked for or holds changes' "$("$ostiary" ps -aq | wc -l)" 2
say "$ostiary" gc --json
python3 -m json.tool <<<"$out" >/dev/null
check 'gc --json is JSON' $? "$out"
say "$ostiary" logs "$tag-changed"
same 'logs of an ended box' "$code" 0
"$ostiary" rm --yes "$tag-changed" "$tag-keep" >/dev/null
"$ostiary" run -q --live --name "$tag-live" -- sh -c 'echo live >file'
same '--live writes to the host and keeps no box' "$(cat file) $("$ostiary" ps -aq)" 'live '
same 'and the file is the owner'"'"'s' "$(stat -c %u file)" "$(id -u)"
say "$ostiary" run -d -q --name "$tag-d" -- sh -c 'echo first; sleep 0.5; echo last'
same 'run -d prints the name' "$code $out$err" "0 $tag-d"
wait_for 60 no_orphans
same 'it ends by itself, and stays, for nobody has seen what it said' "$("$ostiary" ps -a --json | json '[(b["id"], b["state"], b["exit_code"]) for b in d]')" "[('$tag-d', 'exited', 0)]"
same 'which logs shows' "$("$ostiary" logs "$tag-d")" $'first\nlast'
"$ostiary" rm --yes "$tag-d" >/dev/null

# --- names ---------------------------------------------------------------------------------------------------
for name in -x .x a/b '' 'a b' "$(printf 'x%.0s' $(seq 41))" $'a\nb' ..; do
	say "$ostiary" run -q --name "$name" -- true
	[ "$code" = 64 ] && [[ $err == 'ostiary: '* ]]
	check "a name that cannot be: $(printf %q "$name" | cut -c1-12)" $? "status $code: $err"
done
"$ostiary" create -q --name "$tag-one" >/dev/null
say "$ostiary" create -q --name "$tag-one"
same 'a name in use is refused' "$code" 122
say "$ostiary" exec "$tag-o" -- echo prefix
same 'the beginning of a name is enough' "$out" prefix
"$ostiary" create -q --name "$tag-other" >/dev/null
say "$ostiary" exec "$tag-o" -- true
same 'unless it is the beginning of two' "$code" 121
holds 'which is said' "$err" '2 boxes begin with'
say "$ostiary" exec "$tag-onf" -- true
holds 'a mistyped name is suggested' "$err" "did you mean $tag-one?"
say "$ostiary" create -q
made=$out
[[ $made =~ ^[a-z]+-[0-9a-f]{4}$ ]]
check 'a made-up name is short' $? "$made"
"$ostiary" rm -f "$tag-one" "$tag-other" "$made" >/dev/null
nothing_left 'nothing is left of the named boxes'

# --- the home of a profile --------------------------------------------------------------------------------
mkdir -p "$HOME/.config/ostiary/profiles"
cat >"$HOME/.config/ostiary/profiles/keeper.profile" <<-'END'
	extends default
	about   a test
	persist ~/.agent/sessions ~/.agent/history
	seed    write ~/.agent/settings "from the profile\n"
END
run() { "$ostiary" run -q --rm --profile keeper -- sh -c "$1" 2>&1; }
same 'a fresh home is seeded' "$(run 'cat ~/.agent/settings; ls -A ~/.agent')" $'from the profile\nsettings'
run 'mkdir -p ~/.agent/sessions; echo 1 >~/.agent/sessions/a; echo h >~/.agent/history
	echo planted >~/.agent/settings; echo planted >~/.bashrc; echo planted >~/.agent/hook; echo planted >~/.gitconfig
	mkdir -p ~/.config; echo planted >~/.config/x'
same 'the listed paths outlive the box' "$(run 'cat ~/.agent/sessions/a ~/.agent/history')" $'1\nh'
same 'the seed is the profile'"'"'s again' "$(run 'cat ~/.agent/settings')" 'from the profile'
same 'nothing else was planted' "$(run 'grep -rl planted ~ ; ls ~/.agent/hook ~/.bashrc ~/.config/x 2>&1 | grep -vc "No such"')" 0
run 'rm -r ~/.agent/sessions; ln -s /etc/passwd ~/.agent/sessions; rm ~/.agent/history; ln -s ../.bashrc ~/.agent/history; ln ~/.gitconfig ~/.agent/link'
same 'a link is not followed when the home is taken over' "$(run 'test -f ~/.agent/sessions && echo reads; cat ~/.agent/history 2>/dev/null | head -n 1')" \
	"$(run 'test -L ~/.agent/sessions && test -f ~/.agent/sessions && echo reads')"
run 'rm -rf ~/.agent/sessions ~/.agent/history; mkdir -p ~/.agent/sessions; echo 2 >~/.agent/sessions/b'
same 'what was deleted stays deleted' "$(run 'ls ~/.agent/sessions')" b
same 'another profile does not see it' "$("$ostiary" run -q --rm -- sh -c 'ls -A ~/.agent 2>&1 | grep -c "No such"')" 1

# Two boxes of one profile at once: both see what was there, both may add.
"$ostiary" create -q --profile keeper --name "$tag-a" >/dev/null
"$ostiary" create -q --profile keeper --name "$tag-b" >/dev/null
"$ostiary" exec "$tag-a" -- sh -c 'echo a >~/.agent/sessions/from-a'
"$ostiary" exec "$tag-b" -- sh -c 'echo b >~/.agent/sessions/from-b'
same 'two boxes of one profile do not see each other' "$("$ostiary" exec "$tag-b" -- sh -c 'ls ~/.agent/sessions | tr "\n" " "')" 'b from-b '
"$ostiary" rm -f "$tag-a" "$tag-b" >/dev/null
same 'what both wrote is there for the third' "$(run 'ls ~/.agent/sessions | tr "\n" " "')" 'b from-a from-b '
say "$ostiary" gc
[ "$code" = 0 ]
check 'gc takes the old layers' $? "$code: $err"
same 'and leaves the newest' "$(run 'ls ~/.agent/sessions | tr "\n" " "')" 'b from-a from-b '

# While a box starts its processes are kept off each other's processor; afterwards all may run wherever their caller may.
processors() { sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' "/proc/$1/status" 2>/dev/null; }
family() {
	local child
	echo "$1"
	for child in $(cat "/proc/$1/task/$1/children" 2>/dev/null); do family "$child"; done
}
kept_off() {
	local pid
	for pid in $(family "$1"); do
		[ "$(processors "$pid")" = "$2" ] || echo "$(tr '\0' ' ' <"/proc/$pid/cmdline") may use $(processors "$pid"), not $2"
	done
}
nobody_kept_off() { [ -z "$(kept_off "$@")" ]; }
for mine in "$(processors $$)" "$(processors $$ | grep -o '^[0-9]*')"; do
	taskset -c "$mine" "$ostiary" run -q -d --name "$tag-cpus" -- sleep 60 >/dev/null
	supervisor=$("$ostiary" ps --json | json '[b["supervisor_pid"] for b in d if b["name"].endswith("-cpus")][0]')
	all_there() { [ "$(family "$supervisor" | wc -l)" -ge 4 ]; }
	wait_for 60 all_there
	check "a box of a caller that may use $mine: its processes" $? "$(family "$supervisor" | wc -l)"
	wait_for 60 nobody_kept_off "$supervisor" "$mine"
	check 'they may use just that' $? "$(kept_off "$supervisor" "$mine")"
	"$ostiary" rm -f "$tag-cpus" >/dev/null
done

# --- what is said of a box that is gone by then --------------------------------------------------------------
# The command line is stopped as soon as the box can be found, and goes on when the box is gone.
banners=0
for i in 1 2 3 4 5 6 7 8; do
	"$ostiary" run -n "$tag-brief$i" -- true >/dev/null 2>"$work/banner" &
	cli=$!
	until [ -e "$boxes/$tag-brief$i/ctl" ] || is_gone $cli; do :; done
	kill -STOP $cli 2>/dev/null
	wait_for 60 test ! -d "$boxes/$tag-brief$i"
	kill -CONT $cli 2>/dev/null
	wait $cli
	banners=$((banners + $(grep -c "^ostiary: box $tag-brief$i, tier ns, .* copy-on-write" "$work/banner")))
done
same 'a box that ends at once, and is gone before anybody looks, has its banner' $banners 8

# A first process that takes nothing any more makes nobody wait: not who asks, and not who ends it.
"$ostiary" run -q -d --name "$tag-deaf" -- sleep 600 >/dev/null
supervisor=$("$ostiary" ps --json | json '[b["supervisor_pid"] for b in d if b["name"].endswith("-deaf")][0]')
for first in $(family "$supervisor"); do
	[ "$(cat "/proc/$first/comm")" = ostiary-init ] && break
done
kill -STOP "$first"
say python3 -c 'import socket, struct, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.connect(sys.argv[1])
s.send(struct.pack(">III", 2, 80, 24))  # attach
s.recv(65536)
for _ in range(5000):
    s.send(struct.pack(">II", 9, 10))  # a signal for the command
print("sent")' "$boxes/$tag-deaf/ctl"
same 'a first process that stands still: thousands of signals for it are taken' "$code $out" '0 sent'
same 'and the box is asked how it is' "$(timeout 150 "$ostiary" ps --json | json '[b["state"] for b in d if b["name"].endswith("-deaf")]')" "['running']"
say "$ostiary" exec "$tag-deaf" -- true
same 'what cannot be asked for any more is refused' "$code" 125
holds 'in a sentence' "$err" 'ostiary: ask the box to start a command: *'
say "$ostiary" rm -f "$tag-deaf"
same 'and it ends' "$code" 0
nothing_left 'nothing is left of these boxes'
exit $bad
