#!/bin/bash
# suite: test=user soak=root,user timeout=240
# tier: where a command is typed means the same for every user
# review_here.sh - which box diff, apply and undo mean when none is named: one of this workspace, and never another project's.
set -u
. "$(dirname "$0")/lib_life.sh"
. "$here/lib_review.sh"

mkdir -p "$work/one/sub" "$work/two" "$work/three"
echo one >"$work/one/file"
echo two >"$work/two/file"
in_dir() { # directory, command...
	local dir=$1
	shift
	say sh -c 'cd "$0" && exec "$@"' "$dir" "$@"
}
box_in() { # directory, name, words of a shell
	in_dir "$1" "$ostiary" run -q --name "$2" -- sh -c "$3"
	same "box $2 ran" "$code$err" 0
}

in_dir "$work/one" "$ostiary" diff
same 'no box at all: refused' "$code$out" 121
holds 'in a sentence' "$err" 'no box has worked in '

box_in "$work/two" "$tag-two" 'echo changed >file'
in_dir "$work/one" "$ostiary" diff
same 'only a box of another project: diff shows nothing of it' "$code$out" 121
holds 'and says how to name one' "$err" 'ostiary ps -a'
in_dir "$work/one" "$ostiary" apply --yes
same 'nor does apply take it' "$code$out" 121
same 'the other project is as it was' "$(cat "$work/two/file")" two
in_dir "$work/one" "$ostiary" apply --yes file
same 'also with a path that is there' "$code$out $(cat "$work/one/file" "$work/two/file" | tr '\n' ' ')" '121 one two '

box_in "$work/one" "$tag-one" 'echo mine >file'
in_dir "$work/one" "$ostiary" diff --name-only
same 'the box of this workspace, though another is newer or older' "$code$out" 0file
in_dir "$work/one/sub" "$ostiary" diff --name-only
same 'from below it too' "$code$out" 0file
ln -s "$work/one" "$work/link"
in_dir "$work/link" "$ostiary" diff --name-only
same 'and through a link' "$code$out" 0file
in_dir "$work" "$ostiary" diff
same 'above it there is none' "$code$out" 121

box_in "$work/one/sub" "$tag-sub" 'echo deep >deep'
in_dir "$work/one/sub" "$ostiary" diff --name-only
same 'the innermost workspace counts' "$code$out" 0deep
in_dir "$work/one" "$ostiary" diff --name-only
same 'for whoever stands in it only' "$code$out" 0file

box_in "$work/one" "$tag-idle" true
in_dir "$work/one" "$ostiary" diff --name-only
same 'a newer box without changes does not stand in the way' "$code$out" 0file
box_in "$work/one" "$tag-more" 'echo other >new'
in_dir "$work/one" "$ostiary" apply --yes
same 'two that hold changes: refused' "$code$out" 64
holds 'both are named' "$err" "$tag-more, $tag-one"
same 'and nothing landed' "$(cat "$work/one/file"; ls "$work/one/new" 2>/dev/null)" one
in_dir "$work/one" "$ostiary" apply --yes "$tag-one"
same 'by name it lands' "$code $(cat "$work/one/file")" '0 mine'
in_dir "$work/one" "$ostiary" apply --yes
same 'then the one that is left is meant' "$code $(cat "$work/one/new")" '0 other'
in_dir "$work/one" "$ostiary" diff
same 'none holds changes: the newest, which has none' "$code$out" 0
in_dir "$work/one/sub" "$ostiary" undo --yes
same 'undo in a workspace within another does not take that one back' "$code $(cat "$work/one/new" "$work/one/file" | tr '\n' ' ')" '121 other mine '
holds 'and says where nothing was applied' "$err" "nothing was applied in $work/one/sub"
in_dir "$work/one/sub" "$ostiary" apply --yes
same 'its own box lands' "$code $(cat "$work/one/sub/deep")" '0 deep'
in_dir "$work/one/sub" "$ostiary" undo --dry-run
holds 'then it is that record' "$err" "of box $tag-sub"
before=$(cat "$work/one/new" "$work/one/file")
in_dir "$work/one" "$ostiary" undo --yes
same 'outside of it two boxes could be meant: refused' "$code$out $(cat "$work/one/new" "$work/one/file")" "64 $before"
holds 'both are named with their records' "$err" "say which record is to be taken back, 2 of box $tag-more, 1 of box $tag-one"
in_dir "$work/one" "$ostiary" undo 2
same 'undo takes back what was named' "$code $(ls "$work/one/new" 2>/dev/null) $(cat "$work/one/sub/deep")" '0  deep'
in_dir "$work/one" "$ostiary" undo --dry-run
holds 'then the older one is meant' "$err" "apply of box $tag-one"
same 'which is the only one now' "$code" 0
in_dir "$work/one/sub" "$ostiary" undo
same 'and that of the inner workspace is taken back there' "$code $(ls "$work/one/sub/deep" 2>/dev/null)" '0 '
in_dir "$work/one/sub" "$ostiary" undo --yes
same 'nothing is left there, and nothing of the outer one goes' "$code $(cat "$work/one/file")" '121 mine'
in_dir "$work/three" "$ostiary" undo
same 'and nothing of another directory' "$code" 121
same 'the other project was never touched' "$(cat "$work/two/file")" two
exit $bad
