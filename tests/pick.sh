#!/bin/bash
# suite: test=user soak=root,user timeout=120
# tier: which boxes are meant is the same for everybody; root in soak
# pick.sh - rm, stop and ps by pattern, --all and --filter: what is chosen, and that work nobody reviewed is not deleted
# without a word.
set -u
. "$(dirname "$0")/lib_life.sh"
cd "$work/ws" || exit 1
mkdir "$work/other"
o() { "$ostiary" "$@"; }
there() { o ps -a -q | sort | tr '\n' ' '; }

o run -q --keep --name "$tag-try-1" -- true
o run -q --name "$tag-try-2" -- sh -c 'echo work >file'
o run -q --keep -w "$work/other" --name "$tag-else" -- true
o create -q --name "$tag-lives" >/dev/null

# --- what is chosen -----------------------------------------------------------------------------------
pick() { o ps -q "$@" | sort | tr '\n' ' '; }
same 'by state' "$(pick --filter state=running)" "$tag-lives "
same 'a state means boxes that have ended, too' "$(pick --filter state=exited)" "$tag-else $tag-try-1 $tag-try-2 "
same 'by workspace' "$(pick --filter workspace="$work/other")" "$tag-else "
same 'by a relative one' "$(cd "$work/other" && pick --filter workspace=.)" "$tag-else "
same 'by changes' "$(pick --filter changes=yes)" "$tag-try-2 "
same 'by age' "$(pick --filter older=1h)/$(pick --filter younger=1h | wc -w)" '/4'
same 'by agent' "$(pick --filter agent=claude)/$(pick --filter agent=default | wc -w)" '/4'
same 'all must hold' "$(pick --filter state=exited --filter changes=no --filter workspace=.)" "$tag-try-1 "
for bad_one in state=asleep older=tomorrow changes=perhaps stat=running state= nothing; do
	say "$ostiary" rm --filter "$bad_one" --yes
	[ "$code" = 64 ] && [[ $err == *--filter* ]] && [ "$(there | wc -w)" = 4 ]
	check "a filter without sense deletes nothing: $bad_one" $? "status $code: $err"
done
say "$ostiary" rm --filter stat=running
holds 'and a slip is named' "$err" 'did you mean state='

# --- rm -----------------------------------------------------------------------------------------------
say "$ostiary" rm "$tag-try-*"
[ "$code" = 64 ] && [[ $err == *"$tag-try-2"*'--yes deletes it'* ]] && [ "$(there | wc -w)" = 4 ]
check 'a pattern does not delete unapplied work without a word: nothing goes' $? "status $code: $err; $(there)"
say "$ostiary" rm --all
[ "$code" = 64 ] && [ "$(there | wc -w)" = 4 ]
check 'nor does --all' $? "status $code: $err; $(there)"
say "$ostiary" rm "$tag-nothing-*" --yes
same 'a pattern that fits nothing' "$code" 121
say "$ostiary" rm --all "$tag-else"
same '--all and a name contradict each other' "$code" 64
say "$ostiary" rm
same 'no box at all is a mistake, not all of them' "$code" 64
say "$ostiary" rm --filter changes=no
[ "$code" = 0 ] && [ "$(there)" = "$tag-lives $tag-try-2 " ] && [[ $err == *'1 box that runs stays'* ]]
check 'what holds no work goes; what runs stays, and that is said' $? "status $code: $err; $(there)"

if command -v script >/dev/null; then
	printf 'n\n' | script -qec "$ostiary rm '$tag-try-*'" /dev/null >"$work/typed" 2>&1
	[ "$(there)" = "$tag-lives $tag-try-2 " ] && grep -q 'Delete it for good' "$work/typed"
	check 'at a terminal it asks, and no is no' $? "$(cat "$work/typed") $(there)"
	printf '\n' | script -qec "$ostiary rm $tag-try-2" /dev/null >"$work/typed" 2>&1
	[ "$(there)" = "$tag-lives $tag-try-2 " ] && grep -q 'Delete it for good' "$work/typed"
	check 'also for a box that is named; Enter is no' $? "$(cat "$work/typed")"
	printf 'y\n' | script -qec "$ostiary rm '$tag-try-*'" /dev/null >"$work/typed" 2>&1
	same 'yes is yes' "$(there)" "$tag-lives "
else
	not_ok 'at a terminal it asks' 'script is not installed'
fi
o run -q --name "$tag-named" -- sh -c 'echo work >file'
say "$ostiary" rm "$tag-named"
same 'without a terminal a box that is named stays while it holds work' "$code $(there)" "64 $tag-lives $tag-named "
holds 'and what to do is said' "$err" "nothing was deleted; ostiary diff BOX shows it, --yes deletes it"
say "$ostiary" rm "$tag-named" --yes
same '--yes is the answer' "$code $(there)" "0 $tag-lives "
o run -q --name "$tag-named" -- sh -c 'echo work >file'
say "$ostiary" rm --force "$tag-named"
same 'so is --force with a name' "$code $(there)" "0 $tag-lives "

# --- a box holds work until it was applied --------------------------------------------------------------
pending() { o ps -a --json | grep -o '"has_changes": *true' | wc -l; }
rm -f file
o run -q --name "$tag-applied" -- sh -c 'echo work >file'
same 'a box with work' "$(o ps -a | grep -c "$tag-applied.*changes") $(pending) $(pick --filter changes=yes)" "1 1 $tag-applied "
say "$ostiary" apply --yes "$tag-applied"
same 'apply takes it out' "$code $(cat file)" '0 work'
same 'then ps does not say that it holds changes' "$(o ps -a | grep -c "$tag-applied.*changes")" 0
same 'nor does its JSON' "$(pending)" 0
same 'nor a filter' "$(pick --filter changes=yes)/$(pick --filter changes=no)" "/$tag-applied $tag-lives "
if command -v script >/dev/null; then
	script -qec "$ostiary rm $tag-applied" /dev/null </dev/null >"$work/typed" 2>&1
	[ "$(there)" = "$tag-lives " ] && ! grep -q 'Delete it for good' "$work/typed"
	check 'and rm at a terminal does not ask' $? "$(cat "$work/typed")"
fi
git init -q repo && git -C repo -c user.name=t -c user.email=t@t commit -q --allow-empty -m first
o run -q -w repo --name "$tag-git" -- sh -c 'echo 1 >a && git add a && git -c user.name=t -c user.email=t@t commit -qm second'
same 'a commit is work' "$(pick --filter changes=yes)" "$tag-git "
say "$ostiary" apply --yes "$tag-git"
same 'until it was applied' "$code $(pick --filter changes=yes)/$(pick --filter changes=yes)" '0 /'
o rm "$tag-git" >/dev/null
echo same >equal
o run -q --name "$tag-equal" -- sh -c 'echo same >equal'
same 'a file that was written again with what it held is no work: the box goes' "$(there)" "$tag-lives "

# --- a workspace that is gone: the box may have the only copy ---------------------------------------------
mkdir gone
o run -q -w gone --name "$tag-gone" -- sh -c 'echo precious >x'
o run -q -w gone --keep --name "$tag-idle" -- true
mkfifo "$work/go"
(o run -q -w gone --name "$tag-ends" -- sh -c 'echo precious >y; read -r _' <"$work/go" >/dev/null 2>&1) &
ending=$!
exec 7>"$work/go"
has_written() { [ "$(o exec "$tag-ends" -- cat y 2>/dev/null)" = precious ]; }
wait_for 60 has_written
mv gone gone.old
exec 7>&-
wait "$ending"
same 'one that ends when its workspace was moved is kept' "$(pick -a --filter changes=yes)" "$tag-ends $tag-gone "
for what in moved another unreadable; do
	case $what in
	another) mkdir gone ;;
	unreadable) chmod 000 gone ;;
	esac
	same "$what: what it wrote is work" "$(pick -a --filter changes=yes)" "$tag-ends $tag-gone "
	say "$ostiary" rm "$tag-gone"
	same "$what: rm asks first" "$code" 64
	say "$ostiary" gc
	same "$what: gc and a filter leave it" "$(o rm --filter changes=no --filter state=exited >/dev/null; there)" "$tag-ends $tag-gone $tag-lives "
done
chmod 755 gone
same 'cp takes it out, with another directory in its place' "$(o cp "$tag-gone:x" "$work/out" 2>&1; cat "$work/out")" precious
rmdir gone
mv gone.old gone
o stop "$tag-gone" >/dev/null 2>&1
say "$ostiary" apply --yes "$tag-gone"
same 'moved back, it lands' "$code $(cat gone/x)" '0 precious'
o rm --yes "$tag-gone" "$tag-ends" >/dev/null

# --- stop, and the rest ---------------------------------------------------------------------------------
o create -q --name "$tag-more" >/dev/null
say "$ostiary" stop "$tag-*" --time 0
same 'stop by a pattern' "$code $(pick --filter state=running)" '0 '
say "$ostiary" stop --all
same 'stop when nothing runs' "$code$out" 0
o create -q --name "$tag-last" >/dev/null
say "$ostiary" rm --all --force --yes
same 'rm --all --force --yes: nothing is left' "$code $(there)" '0 '
say "$ostiary" rm --all
same 'and of nothing' "$code$out" 0
nothing_left 'no process, no mount'
exit $bad
