#!/bin/bash
# suite: test=user soak=root,user timeout=300
# tier: layers are frozen in the same way for both
# snap_turns.sh - boxes made with --turns: what each command changed is a layer of its own, listed, shown and taken
# back apart; what a later turn built on stays, and is told.
set -u
. "$(dirname "$0")/lib_life.sh"
. "$here/lib_snap.sh"
turns() { o turns "$1" --json | /usr/bin/python3 -c 'import json, sys
print(" | ".join("%d %s" % (t["turn"], t["command"]) for t in json.load(sys.stdin)["data"]))'; }
asleep() { is_ended "$tag-t" && [ ! -e "$boxes/$tag-t/turn" ]; }

echo host >file
mkdir dir
echo host >dir/x
o create --turns -n "$tag-t" >/dev/null
o exec "$tag-t" -- sh -c 'echo 1 >one; echo 1 >>file'
o exec "$tag-t" -- sh -c 'echo 2 >two; echo 2 >>file; rm dir/x'
o exec "$tag-t" -- true
o exec "$tag-t" -- sh -c 'echo 3 >three; echo 3 >dir/y'
wait_for 60 asleep
same 'each command that changed something is a turn' "$(turns "$tag-t")" \
	"1 sh -c echo 1 >one; echo 1 >>file | 2 sh -c echo 2 >two; echo 2 >>file; rm dir/x | 3 sh -c echo 3 >three; echo 3 >dir/y"
same 'together they are what the box sees' "$(o exec "$tag-t" -- sh -c 'cat file one two three; ls dir' | tr '\n' ' ')" 'host 1 2 1 2 3 y '
o stop "$tag-t" >/dev/null
say "$ostiary" diff --turn 2 --name-only "$tag-t"
same 'one turn is shown alone' "$(sort <<<"$out" | tr '\n' ' ')" 'dir/x file two '
say "$ostiary" diff --turn 2 "$tag-t" file
holds 'compared with what was there before it' "$out" '+2'
[[ $out == *$'\n+1'* ]]
check 'and not with the host' $((1 - $?)) "$out"
say "$ostiary" diff --turn 9 "$tag-t"
check 'a turn that never was is told of' "$([ "$code" != 0 ] && [ -n "$err" ]; echo $?)" "$code $err"

# --- taking back ------------------------------------------------------------------------------------------
say "$ostiary" undo --turn 2 --dry-run "$tag-t"
holds 'a dry run tells what would go' "$out" two
same 'and does nothing' "$(o exec "$tag-t" -- cat two)" 2
say "$ostiary" undo --turn 2 "$tag-t"
same 'a turn in the middle goes' "$code" 0
same 'what it made is gone, what it deleted is back, the rest stays' "$(o exec "$tag-t" -- sh -c 'cat file one three; ls dir; ls two' 2>/dev/null | tr '\n' ' ')" \
	'host 1 1 3 x y '
o exec "$tag-t" -- sh -c 'echo 4 >>three; echo 4 >four'
wait_for 60 asleep
say "$ostiary" undo --turn 2 "$tag-t"
same 'where a later turn changed the same file, the status says so' "$code" 1
holds 'and the file is named' "$err" 'three is left as it is'
same 'it stays as it is' "$(o exec "$tag-t" -- cat three | tr '\n' ' ')" '3 4 '
same 'the rest of that turn is gone' "$(o exec "$tag-t" -- ls dir | tr '\n' ' ')" 'x '
wait_for 60 asleep
n=$(turns "$tag-t" | tr '|' '\n' | wc -l)
say "$ostiary" undo --turn "$n" "$tag-t"
same 'the newest goes whole' "$(o exec "$tag-t" -- sh -c 'cat three; ls four' 2>/dev/null | tr '\n' ' ')" '3 '
say "$ostiary" undo --turn 99 "$tag-t"
holds 'a turn that is not there is told of' "$err" 'has no turn 99'
same 'the host was never touched' "$(cat file dir/x | tr '\n' ' ')" 'host host '

# --- something still runs ------------------------------------------------------------------------------------
o exec "$tag-t" -- sh -c 'echo s >started; sleep 300 >/dev/null 2>&1 &'
before=$(turns "$tag-t" | tr '|' '\n' | wc -l)
o exec "$tag-t" -- sh -c 'echo m >meanwhile'
holds 'a turn that is not over is listed, too' "$(turns "$tag-t")" " | $before sh -c echo s"
say "$ostiary" turns "$tag-t"
holds 'as one that is open' "$out" "$before     open"
say "$ostiary" undo --turn 1 "$tag-t"
holds 'while something runs no turn is taken back' "$err" 'a command runs'
o exec "$tag-t" -- sh -c 'kill $(pidof sleep)' 2>/dev/null || o exec "$tag-t" -- pkill sleep
o exec "$tag-t" -- true
wait_for 60 asleep
holds 'commands that ran at the same time are one turn' "$(turns "$tag-t")" 'meanwhile'
same 'it is a turn like any other' "$(o exec "$tag-t" -- cat started meanwhile | tr '\n' ' ')" 's m '

# --- run, and a supervisor that is killed ---------------------------------------------------------------------
o run -q --turns -n "$tag-r" -- sh -c 'echo main >main'
same 'the main command is turn 1' "$(turns "$tag-r")" '1 sh -c echo main >main'
o exec "$tag-r" -- sh -c 'echo second >second'
wait_for 60 is_ended "$tag-r"
o resume -q "$tag-r" -- sh -c 'echo third >third'
same 'exec and resume are turns after it' "$(turns "$tag-r" | tr '|' '\n' | wc -l)" 3
"$ostiary" exec "$tag-r" -- sh -c 'echo fourth >fourth; sleep 600' </dev/null >/dev/null 2>&1 &
cli=$!
wait_for 60 test -s "$boxes/$tag-r/layers/ws/upper/fourth"
kill -KILL "$(sed -n 's/^pid //p' "$boxes/$tag-r/meta")"
wait "$cli" 2>/dev/null
same 'what a turn wrote before its supervisor was killed is there' "$(o exec "$tag-r" -- cat fourth)" fourth
holds 'and is a turn of its own' "$(turns "$tag-r")" '4 sh -c echo fourth'

# --- many -----------------------------------------------------------------------------------------------------
o create --turns -n "$tag-m" >/dev/null
for i in $(seq 25); do o exec "$tag-m" -- sh -c "echo $i >f$i"; done
wait_for 60 is_ended "$tag-m"
same 'turns are not squashed together' "$(turns "$tag-m" | tr '|' '\n' | wc -l)" 25
same 'all is there' "$(o exec "$tag-m" -- sh -c 'ls | wc -l')" 27
away
nothing_left 'nothing is left of the boxes'
exit $bad
