#!/bin/bash
# suite: test=user soak=root,user timeout=400
# tier: what is kept, and who waits for whom, is the same for every user
# git_waits.sh - what would keep git or a person waiting: FIFOs where git opens files.
set -u
. "$(dirname "$0")/lib_life.sh"
. "$here/lib_review.sh"
. "$here/lib_git.sh"

# --- FIFOs --------------------------------------------------------------------------------------------------------------
# Without the stand-ins each of these waits until git's patience is over, and the commit is not told.
i=0
for at in .gitattributes .gitignore .gitmodules .mailmap sub/.gitattributes .git/info/attributes .git/info/exclude .git/packed-refs; do
	i=$((i + 1))
	repo "fifo$i"
	box "$tag-f$i" "mkdir sub; echo s >sub/s; $COMMIT; mkdir -p .git/info; rm -f $at; mkfifo $at"
	say "$ostiary" diff "$tag-f$i"
	holds "a FIFO in place of $at: the commit is told" "$out" '# main: 1 new commit'
done
repo included
box "$tag-fi" "$COMMIT; mkfifo pipe; git config include.path ../pipe"
say "$ostiary" diff "$tag-fi"
holds 'a FIFO that the configuration includes' "$out" '# main: 1 new commit'
repo frozen
box "$tag-ff" "$COMMIT; mkfifo .gitattributes"
"$ostiary" snapshot "$tag-ff" "$tag-snap" >/dev/null 2>&1
say "$ostiary" exec "$tag-ff" -- sh -c 'echo again >>b'
"$ostiary" stop "$tag-ff" >/dev/null 2>&1
say "$ostiary" diff "$tag-ff"
holds 'a FIFO in a layer that was frozen' "$out" '# main: 1 new commit'
repo many
box "$tag-fm" 'for n in $(seq 60); do git init -q n$n; echo x >n$n/x; git -C n$n add x; git -C n$n commit -qm x; mkfifo n$n/.gitattributes; done; '"$COMMIT"
say "$ostiary" diff --stat "$tag-fm"
same 'FIFOs in 60 nested repositories: all of them are told' "$code $(grep -cE '^# (n[0-9]+: )?main: 1 new commit' <<<"$out")" '0 61'
repo toomany
box "$tag-ft" "$COMMIT; mkdir p; python3 -c 'import os
for n in range(4097): os.mkfifo(\"p/%d\" % n)'"
say "$ostiary" diff "$tag-ft"
holds 'more of them than anybody needs are refused with a sentence' "$out$err" 'more than 4096 FIFOs'
remove_boxes
exit $bad
