#!/bin/bash
# suite: test=user soak=root,user timeout=400
# tier: what is kept, and who waits for whom, is the same for every user
# git_waits.sh - what would keep git or a person waiting, and what would be lost: FIFOs where git opens files, repositories
# below ignored directories, and `rm` beside an `apply`.
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

# --- repositories below what is ignored ---------------------------------------------------------------------------------
repo ignored
echo /build/ >.gitignore && git add . && git commit -qm ignore
box "$tag-i" 'echo x >>a; mkdir build; git init -q build/own; cd build/own; echo w >w; git add w; git commit -qm work'
say "$ostiary" diff "$tag-i"
holds 'diff names a repository below an ignored directory' "$out" 'a repository that only the box has: build/own; --all shows its commits'
say "$ostiary" diff --all "$tag-i"
holds 'and --all its commits' "$out" 'build/own: main: 1 new commit'
say "$ostiary" apply --yes "$tag-i"
say "$ostiary" rm "$tag-i"
same 'rm does not delete it without asking' "$code $([ -d "$boxes/$tag-i" ] && echo there)" '64 there'
holds 'and names it' "$err" 'commits in repositories of its own below ignored directories: build/own'
same 'ps says that the box holds something' "$("$ostiary" ps -a --json | json '[b["has_changes"] for b in d if b["id"] == "'"$tag-i"'"]')" '[True]'
say "$ostiary" rm --yes "$tag-i"
same 'with --yes it does' "$code $([ -d "$boxes/$tag-i" ] || echo gone)" '0 gone'
box "$tag-c" 'echo y >>a && mkdir build && git clone -q --no-hardlinks . build/dep && git init -q build/empty'
say "$ostiary" apply --yes "$tag-c"
say "$ostiary" rm "$tag-c"
same 'what a build cloned, and an empty one, are output like any other' "$code" 0

# --- rm beside apply ----------------------------------------------------------------------------------------------------
repo beside
box "$tag-b" 'echo x >>a; echo n >n'
# An apply that waits for its answer, on a terminal.
cat >"$work/asks.py" <<'PY'
import os, pty, sys, time
pid, fd = pty.fork()
if pid == 0:
    os.execvp(sys.argv[2], sys.argv[2:])
shown, work = b"", sys.argv[1]
while True:
    try:
        got = os.read(fd, 65536)
    except OSError:
        break
    shown += got
    if got and shown.rstrip().endswith(b"]"):
        open(work + "/asked", "w").close()
        while not os.path.exists(work + "/go"):
            time.sleep(0.02)
        os.write(fd, b"y\n")
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) & 255)
PY
python3 "$work/asks.py" "$work" "$ostiary" apply "$tag-b" &
applying=$!
wait_for 60 test -e "$work/asked"
check 'an apply asks' $? 'it does not'
say "$ostiary" rm --yes "$tag-b"
same 'rm beside it is refused' "$code $([ -d "$boxes/$tag-b" ] && echo there)" '122 there'
same 'with a sentence, which names no --force' "$(grep -c "box $tag-b is being applied .* has ended\$" <<<"$err")" 1
say "$ostiary" rm --force "$tag-b"
same 'with --force too' "$code" 122
: >"$work/go"
wait "$applying"
same 'the apply has what it was about' "$(cat n 2>/dev/null)" n
say "$ostiary" rm --yes "$tag-b"
same 'and then the box can go' "$code" 0
# And while it works: whichever comes first, neither ends half way.
for i in 1 2 3 4 5 6; do
	repo "race$i"
	box "$tag-r$i" "for n in \$(seq 200); do echo \$n >f\$n; done; $COMMIT"
	"$ostiary" apply --yes "$tag-r$i" >"$work/apply.out" 2>&1 &
	applying=$!
	[ "$i" -lt 4 ] || wait_for 60 test -e f1 || :
	say "$ostiary" rm --yes "$tag-r$i"
	wait "$applying"
	apply_code=$?
	case "$code $apply_code" in "0 0" | "122 0" | "0 121" | "0 122") true ;; *) false ;; esac
	check "apply beside rm, $i" $? "rm $code: $err; apply $apply_code: $(cat "$work/apply.out")"
	"$ostiary" rm --force "$tag-r$i" >/dev/null 2>&1
done
remove_boxes
exit $bad
