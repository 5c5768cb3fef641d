#!/bin/bash
# suite: test=user soak=root,user timeout=240
# tier: times and counts are read in the same way whoever started the box
# story_truth.sh - what report and timeline say of time, order and number, against a clock and a count that are not theirs.
set -u
. "$(dirname "$0")/lib_life.sh"
. "$here/lib_review.sh"
truth() { python3 "$here/story/truth.py" "$@"; }
now() { echo "${EPOCHREALTIME/./}"; }
# timed BOX COMMAND...: run it in a new box; $begin and $end are from outside, $took is what the box itself saw, in microseconds.
timed() {
	local name=$1
	shift
	begin=$(now)
	say "$ostiary" run -q --keep --name "$name" -- sh -c 'a=$(date +%s%N); eval "$1"; b=$(date +%s%N); echo $(((b - a) / 1000))' sh "$*"
	end=$(now)
	took=$out
	same "$name ran" "$code$err" 0
}
# span NAME BOX: its duration is between what was seen in the box and what was seen outside.
span() { same "$1" "$("$ostiary" report "$2" -o - | truth span "$took" $((end - begin)))" ''; }
# story BOX: order, ends and bounds of its timeline.
story() {
	same "$1: times never go back" "$("$ostiary" timeline "$1" --json | truth order)" ''
	same "$1: no change after the end" "$("$ostiary" timeline "$1" --json | truth ends)" ''
	same "$1: everything within the run" "$("$ostiary" timeline "$1" --json | truth within "$begin" "$end")" ''
}
# files_n BOX: how many files diff counts. card BOX WORDS: a figure of its report.
files_n() { "$ostiary" diff --stat "$1" | sed -n 's/^ \([0-9,]*\) files\{0,1\} changed,.*/\1/p'; }
card() { "$ostiary" report "$1" -o - | truth card "$2"; }

# --- short and long runs ----------------------------------------------------------------------------------------------
fresh runs
timed "$tag-short" 'true'
span 'the length of a short run' "$tag-short"
timed "$tag-long" 'sleep 1.3'
span 'of one of more than a second' "$tag-long"
timed "$tag-busy" 'for i in 1 2 3 4 5 6 7 8; do mkdir d$i; cp /etc/passwd d$i/a; mv d$i/a d$i/b; done; rm -r d3'
span 'of one that does something' "$tag-busy"
story "$tag-busy"

# The last thing that a box does is a change, many times: the kernel's clock for files is behind the log's.
story_fails=0
for i in 1 2 3 4 5 6; do
	timed "$tag-last$i" 'sleep 0.01; : >last' >/dev/null
	got=$("$ostiary" timeline "$tag-last$i" --json | truth ends)$("$ostiary" timeline "$tag-last$i" --json | truth order)
	[ -z "$got" ] || story_fails=$((story_fails + 1))
done
same 'a change at the very end stands before it' "$story_fails" 0

# --- a living box, a woken one, a killed one ---------------------------------------------------------------------------
begin=$(now)
say "$ostiary" create -q --name "$tag-alive"
"$ostiary" exec "$tag-alive" -- sh -c 'echo 1 >first; sleep 0.2'
took=200000
"$ostiary" exec "$tag-alive" -- sh -c ': >now'
"$ostiary" timeline "$tag-alive" --json >"$work/alive"
end=$(now)
same 'a living box: nothing of its story lies in the future' "$(truth within "$begin" "$end" <"$work/alive")" ''
"$ostiary" report "$tag-alive" -o "$work/alive.html" 2>/dev/null
end=$(now)
same 'its length so far' "$(truth span "$took" $((end - begin)) <"$work/alive.html")" ''
supervisor=$("$ostiary" ps --json | json "[b['supervisor_pid'] for b in d if b['id'] == '$tag-alive'][0]")
kill -KILL "$supervisor"
wait_for 60 is_gone "$supervisor"
wait_for 60 no_orphans
end=$(now)
sleep 1.2
span 'a killed box has not gone on until now' "$tag-alive"
"$ostiary" rm -f "$tag-alive" >/dev/null
"$ostiary" exec "$tag-long" -- sh -c 'echo woken >woken'
same 'woken again: times never go back' "$("$ostiary" timeline "$tag-long" --json | truth order)" ''
same 'and each change is within a run' "$("$ostiary" timeline "$tag-long" --json | truth ends)" ''

# --- as many as diff says ----------------------------------------------------------------------------------------------
fresh counts
git init -q .
printf 'a\n' >kept
mkdir gone
echo x >gone/one
echo target/ >.gitignore
git add . && git -c user.name=n -c user.email=e commit -qm one
box "$tag-count" 'echo b >>kept; rm -r gone; mkdir -p new/deep empty target; echo 1 >new/deep/file; echo 2 >target/out; echo 3 >moved
	mkdir -p .husky; echo x >.husky/pre-commit; echo seen >~/.bash_history; mkdir -p ~/.config/some; echo y >~/.config/some/thing
	git add -A; git -c user.name=n -c user.email=e commit -qm two'
all=$(files_n "$tag-count")
[ "${all:-0}" -ge 5 ]
check 'diff counts some files' $? "$all"
same 'the report counts the same ones' "$(card "$tag-count" 'files changed')" "$all"
rows=$("$ostiary" report "$tag-count" -o - | sed -n '/id="changes"/,/<\/section>/p' | grep -c '<td class="what-')
same 'and lists as many' "$rows" "$all"
"$ostiary" diff --name-only "$tag-count" | sort >"$work/diff.names"
"$ostiary" report "$tag-count" -o - | sed -n '/id="changes"/,/<\/section>/s/.*<td class="w mono">\([^<]*\)<.*/\1/p' | sed 's/.*&rarr; //; s,/$,,' | sort >"$work/report.names"
same 'of the same names' "$(cat "$work/report.names")" "$(cat "$work/diff.names")"
apply_begin=$(now)
say "$ostiary" apply "$tag-count" --yes --files kept
same 'one of them lands' "$code" 0
same 'then it is still one that the box changed' "$(card "$tag-count" 'files changed')" "$all"
same 'and is counted as applied' "$(card "$tag-count" 'of them applied since')" 1
same 'diff has the rest' "$(files_n "$tag-count")" $((all - 1))

# An apply stands where it was done: after the box, and not at the beginning of its second.
same 'after an apply: times never go back' "$("$ostiary" timeline "$tag-count" --json | truth order)" ''
same 'the apply is after all of the box' "$("$ostiary" timeline "$tag-count" --json | tail -n 1 | json 'd["kind"]')" apply
"$ostiary" timeline "$tag-count" --json --kind review | sed 's/"group":"review"/"group":"x"/' >"$work/apply"
same 'at the time of the outside clock' "$(truth within "$apply_begin" "$(now)" <"$work/apply")" ''
say "$ostiary" undo --yes
same 'and its undo after it' "$("$ostiary" timeline "$tag-count" --json | tail -n 1 | json 'd["kind"]')" undo
remove_boxes
nothing_left 'nothing is left of these boxes'
exit $bad
