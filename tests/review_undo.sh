#!/bin/bash
# suite: test=user soak=root,user timeout=240
# tier: records are files of the caller, whoever it is
# review_undo.sh - `ostiary undo` and `history`: everything an apply did is taken back, done again, and taken back;
# what the user changed since is asked for; nothing but what was kept is ever restored.
set -u
. "$(dirname "$0")/lib_life.sh"
. "$here/lib_review.sh"
undo=$HOME/.local/state/ostiary/undo

# --- there and back ---------------------------------------------------------------------------------
fresh tree
echo one >changed
mkdir -p gone/deep was-dir closed
echo x >gone/deep/x
echo y >was-dir/y
echo f >was-file
echo m >mode
echo in >closed/in
ln -s changed link
chmod 640 changed
chmod 555 closed
box "$tag-t" 'echo two >changed; mkdir -p new/dir; echo n >new/dir/n; rm -r gone was-dir was-file; echo now >was-dir; mkdir was-file
	echo in >was-file/in; chmod 750 mode; ln -sf mode link; chmod 755 closed; echo more >closed/more; printf n >"$(printf "a\nb")"'
before=$(shot .)
say "$ostiary" apply "$tag-t" --yes
same 'applied' "$code" 0
after=$(shot .)
[ "$before" != "$after" ]
check 'the control: the tree has changed' $?
say "$ostiary" history
holds 'history lists it' "$out" "apply  $tag-t"
say "$ostiary" history --json
same 'as JSON too' "$(json '[(r["number"], r["what"], r["box"], r["root"], r["done"], r["undone"]) for r in d]' <<<"$out")" \
	"[(1, 'apply', '$tag-t', '$work/tree', True, False)]"
say "$ostiary" undo --dry-run
same 'a dry run tells and does nothing' "$code $(shot . | cksum)" "0 $(cksum <<<"$after")"
mkdir -p "$work/tree/below" && cd below || exit 1
say "$ostiary" undo
cd .. && rmdir below
same 'undo from a directory below' "$code" 0
same 'everything is as it was' "$(shot .)" "$before"
same 'the box has it pending again' "$("$ostiary" diff "$tag-t" --name-only | grep -c .)" 12
say "$ostiary" undo
same 'undo again finds nothing more to take back' "$code" 121
holds 'and says so' "$err" 'nothing was applied'
say "$ostiary" undo 1
holds 'an undone record says what does it again' "$err" 'ostiary undo 2'
say "$ostiary" undo 2
same 'undo of the undo does it again' "$code $(shot . | cksum)" "0 $(cksum <<<"$after")"
same 'and nothing is pending' "$("$ostiary" diff "$tag-t" --name-only)" ''
say "$ostiary" undo
same 'and once more back' "$code $(shot . | cksum)" "0 $(cksum <<<"$before")"
say "$ostiary" apply "$tag-t" --yes
same 'what was taken back can be applied again: our own writing is no conflict' "$code $(diff <(shot .) - <<<"$after")$err" "0 $err"

# --- by path ----------------------------------------------------------------------------------------
say "$ostiary" undo changed new
same 'only some paths' "$code $(cat changed) $(absent new) $(cat was-dir)" '0 one 1 now'
say "$ostiary" history --json
same 'the record is partly undone' "$(json '[(r["number"], r["undone"], r.get("undone_by")) for r in d][1]' <<<"$out")" "(5, False, 6)"
say "$ostiary" undo nosuchfile
same 'a path that no record has' "$code" 121
say "$ostiary" undo /etc/passwd
same 'a path elsewhere' "$code" 121
say "$ostiary" undo 4711
same 'a record that is none' "$code" 121
say "$ostiary" undo 5
same 'the rest of it' "$code $(shot . | cksum)" "0 $(cksum <<<"$before")"

# --- what changed since ----------------------------------------------------------------------------
fresh since
for f in a b c d; do echo 1 >$f; done
box "$tag-s" 'for f in a b c d; do echo 2 >$f; done'
say "$ostiary" apply "$tag-s" --yes
echo mine >a
rm b
say "$ostiary" undo
same 'what changed since is left, without a terminal: exit 1' "$code $(cat a c d | tr '\n' ' ')$(absent b)" '1 mine 1 1 1'
holds 'and named' "$err" 'since/a is left as it is: it was changed since'
holds 'deleted ones too' "$err" 'since/b is left as it is: it was deleted since'
n=$(records | tail -n 2 | head -n 1)
answer y,n "$ostiary" undo "$n"
same 'on a terminal each is asked for' "$code $(cat a) $(absent b)" '1 1 1'
say "$ostiary" undo "$n" --yes
same '--yes does not ask' "$code $(cat b)" '0 1'
say "$ostiary" undo --dry-run --json
python3 -m json.tool <<<"$out" >/dev/null 2>&1 || [ "$code" = 125 ]
check 'JSON' $? "$out"

# --- case 79: only what was kept is restored, or nothing --------------------------------------------
fresh evil
echo precious >a
box "$tag-e" 'echo worthless >a'
say "$ostiary" apply "$tag-e" --yes
object=$undo/objects/$(sha256sum <<<precious | sed 's/^\(..\)\(\S*\).*/\1\/\2/')
same 'the content is kept, and only its owner may read it' "$(stat -c %a "$object" "$undo")" $'400\n700'
say "$ostiary" run -q --rm --name "$tag-look" -- sh -c "ls '$undo' 2>&1; cat '$object' 2>&1"
[[ $out != *precious* ]]
check 'case 79: a box cannot reach it' $? "$out"
chmod 600 "$object"
echo attack! >"$object"
say "$ostiary" undo
same 'case 79: content that is not what was kept is not restored' "$code $(cat a)" '119 worthless'
holds 'and called damaged' "$err" damaged
echo precious >"$object"
say "$ostiary" undo
same 'the control: mended, it is restored' "$code $(cat a)" '0 precious'
rm -f "$object"
say "$ostiary" apply "$tag-e" --yes
rm -f "$object"
say "$ostiary" undo
same 'content that is gone: left, and said so' "$code $(cat a)" '1 worthless'

# --- the workspace moved or replaced ----------------------------------------------------------------
fresh move
echo 1 >a
box "$tag-m" 'echo 2 >a'
say "$ostiary" apply "$tag-m" --yes
n=$(records | tail -n 1)
cd "$work" && mv move moved
say "$ostiary" undo "$n"
same 'a directory that is gone' "$code" 119
mkdir move && echo 2 >move/a
say "$ostiary" undo "$n"
same 'another directory in its place is not touched' "$code $(cat move/a)" '119 2'
rm -r move
mv moved move
say "$ostiary" undo "$n"
same 'the control: moved back' "$code $(cat move/a)" '0 1'
say "$ostiary" rm --yes "$tag-m"
cd move || exit 1
say "$ostiary" undo $((n + 1))
same 'undo works when the box is gone' "$code $(cat a)" '0 2'

# --- pruning ----------------------------------------------------------------------------------------
mkdir -p "$HOME/.config/ostiary"
echo 'days 30' >"$HOME/.config/ostiary/undo"
sed -i 's/^when_us .*/when_us 1000000000000000/' "$undo"/[0-9]*/record
kept=$(records | wc -l)
say "$ostiary" gc
same 'gc removes old records, but the newest of each directory' "$code $(records | wc -l)" "0 4"
[ "$kept" -gt 4 ]
check 'the control: there were more' $?
echo 'dais 30' >"$HOME/.config/ostiary/undo"
say "$ostiary" gc
holds 'a line that is wrong is named' "$err" 'dais'
rm "$HOME/.config/ostiary/undo"

# --- a read-only directory that is no change itself -------------------------------------------------
fresh shut
mkdir -p cache/pkg open group
echo 1 >cache/pkg/one
echo 2 >cache/pkg/two
echo 3 >cache/pkg/three
echo 4 >group/four
chmod 444 cache/pkg/*
chmod 555 cache/pkg cache
chmod 2775 group
box "$tag-shut" 'chmod u+w cache/pkg; rm cache/pkg/one; chmod u+w cache/pkg/two; echo 22 >cache/pkg/two; chmod 444 cache/pkg/two; echo 5 >cache/pkg/five
	chmod 444 cache/pkg/five; chmod 555 cache/pkg; chmod u+w cache; mkdir cache/new; echo 6 >cache/new/six; chmod 555 cache/new cache; chmod 2755 group; rm group/four'
before=$(shot .)
same 'the directories are no change' "$("$ostiary" diff "$tag-shut" --name-only | tr '\n' ' ')" 'cache/new/six cache/pkg/five cache/pkg/one cache/pkg/two group group/four '
say "$ostiary" apply "$tag-shut" --yes --all
same 'what is in a read-only directory of yours lands' "$code $err" "0 $err"
same 'and it is read-only again' "$(stat -c %a cache cache/pkg cache/new) $(cat cache/pkg/two) $(absent cache/pkg/one) $(cat cache/new/six)" $'555\n555\n555 22 1 6'
same 'a directory keeps the bit that hands its group on' "$(stat -c %a group)" 2755
after=$(shot .)
say "$ostiary" undo
same 'and is taken back from there' "$code $(shot . | cksum)" "0 $(cksum <<<"$before")"
say "$ostiary" apply "$tag-shut" cache/pkg/one --yes --all
same 'one of them alone' "$code $(absent cache/pkg/one) $(stat -c %a cache/pkg)" '0 1 555'
say "$ostiary" undo
same 'and back' "$code $(shot . | cksum)" "0 $(cksum <<<"$before")"
say "$ostiary" apply "$tag-shut" --yes --all
same 'all of it once more' "$code $(shot . | cksum)" "0 $(cksum <<<"$after")"
chmod -R u+w cache

remove_boxes
nothing_left 'nothing is left of the boxes'
exit $bad
