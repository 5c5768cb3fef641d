#!/bin/bash
# suite: test=root,user soak=root,user timeout=240
# tier: owners and modes of what lands differ between the users
# review_apply.sh - `ostiary apply`: what lands, in which way it is asked for, what never lands, and that
# afterwards nothing is pending.
set -u
. "$(dirname "$0")/lib_life.sh"
. "$here/lib_review.sh"

# --- plain ones -------------------------------------------------------------------------------------
fresh plain
echo one >changed
echo same >same
mkdir -p gone/deep was-dir
echo x >gone/deep/x
echo y >was-dir/y
echo f >was-file
echo m >mode
ln -s same link
box "$tag-p" 'echo two >changed; touch same; mkdir -p new/dir empty; echo n >new/dir/n; rm -r gone was-dir was-file
	echo now >was-dir; mkdir was-file; echo in >was-file/in; chmod 750 mode; ln -sf changed link; ln -s new/dir inward
	printf "\tname" >"$(printf "tab\tand\nline")"'
before=$(shot .)
say "$ostiary" apply "$tag-p"
same 'without a terminal and without --yes it refuses' "$code" 64
holds 'and says what to do' "$err" '--yes applies plain changes'
same 'nothing was done' "$(shot .)" "$before"
say "$ostiary" apply "$tag-p" --dry-run
same 'a dry run tells' "$code $(grep -c . <<<"$out")" "0 14"
same 'and does nothing' "$(shot .)" "$before"
say "$ostiary" apply "$tag-p" --yes
same '--yes applies them' "$code" 0
holds 'and says how to take them back' "$err" 'ostiary undo 1'
holds 'and that the box can go' "$err" "ostiary rm $tag-p"
same 'content' "$(cat changed new/dir/n was-dir was-file/in)" $'two\nn\nnow\nin'
same 'deletions' "$(absent gone)" 1
same 'links' "$(readlink link inward)" $'changed\nnew/dir'
same 'modes' "$(stat -c %a mode empty)" $'750\n755'
same 'a name with a tab and a newline' "$(cat "$(printf 'tab\tand\nline')")" $'\tname'
same 'they belong to the user' "$(stat -c %u changed new was-dir | sort -u)" "$(id -u)"
same 'nothing is pending any more' "$("$ostiary" diff "$tag-p" --name-only)" ''
same 'nothing of ours is left in the tree' "$(find . -name '.ostiary*')" ''
say "$ostiary" apply "$tag-p" --yes
same 'applying again is nothing' "$code $(records | wc -l)" "0 1"
echo mine >changed
same 'what the user edits afterwards is the user'"'"'s: nothing is pending' "$("$ostiary" diff "$tag-p" --name-only)" ''
say "$ostiary" gc
holds 'gc removes a box that has nothing pending' "$out" "$tag-p"

# --- paths and classes ------------------------------------------------------------------------------
fresh classes
mkdir src
echo 1 >src/a
echo 1 >b
box "$tag-c" 'echo 2 >src/a; echo 2 >b; echo all: >Makefile; mkdir -p .github/workflows .vscode; echo on: >.github/workflows/ci.yml
	echo "{}" >.vscode/tasks.json; echo do >CLAUDE.md; mkdir -p target/x; echo y >target/x/i.o'
say "$ostiary" apply "$tag-c" src --yes
same 'only the paths that were named' "$code $(cat src/a b)" $'0 2\n1'
say "$ostiary" apply "$tag-c" ../elsewhere --yes
same 'a path outside is refused' "$code" 119
say "$ostiary" apply "$tag-c" --yes
same '--yes alone leaves the other classes: exit 1' "$code $(ls -A | tr '\n' ' ')" '1 b src '
holds 'they are named' "$err" '--yes=runs-on-open,runs-on-build,runs-in-ci,steers-agent'
say "$ostiary" apply "$tag-c" --yes=runs-on-bild
same 'a class that does not exist' "$code" 64
holds 'has a suggestion' "$err" 'did you mean runs-on-build'
say "$ostiary" apply "$tag-c" --yes=runs-on-build,runs-in-ci
same 'those that were named land' "$code $(ls -A | tr '\n' ' ')" '1 .github Makefile b src '
say "$ostiary" apply "$tag-c" --yes=runs-on-open,steers-agent
same 'and the rest' "$code $(ls -A | tr '\n' ' ')" '0 .github .vscode CLAUDE.md Makefile b src '
holds 'ignored output stays and is counted' "$err" '1 ignored file'
say "$ostiary" apply "$tag-c" target --yes
same 'unless it is named' "$code $(cat target/x/i.o)" '0 y'
rm -r target
box "$tag-i" 'mkdir target; echo z >target/z'
say "$ostiary" apply "$tag-i" --all --yes
same 'or --all is given' "$code $(cat target/z)" '0 z'

# --- asked on a terminal ----------------------------------------------------------------------------
fresh asked
echo 1 >a
box "$tag-a" 'echo 2 >a; echo all: >Makefile; echo do >AGENTS.md'
answer n,n,n "$ostiary" apply "$tag-a"
same 'no, no, no' "$code $(cat a) $(ls | tr '\n' ' ')" '0 1 a '
holds 'each class is asked for by name' "$out" 'change that runs on build'
holds 'with its files and why' "$out" 'Makefile  (make)'
answer y,n,y "$ostiary" apply "$tag-a"
same 'yes, no, yes' "$code $(cat a) $(ls | tr '\n' ' ')" '0 2 AGENTS.md a '
answer d,y "$ostiary" apply "$tag-a"
holds 'd shows the diff' "$out" '+all:'
same 'and asks again' "$(cat Makefile)" 'all:'

# --- hunks ------------------------------------------------------------------------------------------
fresh hunks
seq 1 40 >text
printf 'a\0b' >binary
box "$tag-h" 'sed -i "s/^3$/three/; s/^20$/twenty/; s/^38$/$(printf "\033]0;evil\007")/" text; printf "a\0c" >binary; echo n >new'
say "$ostiary" apply "$tag-h" --hunks
same '--hunks without a terminal is refused' "$code" 64
NO_COLOR=1 answer n,n,y,n,y "$ostiary" apply "$tag-h" --hunks
same 'two hunks of three' "$(diff <(seq 1 40) text; ls | tr '\n' ' ')" $'3c3\n< 3\n---\n> three\n38c38\n< 38\n---\n> \033]0;evil\007\nbinary text '
[[ $out != *$'\033]0;'* ]]
check 'escapes of the box do not reach the terminal' $? "$out"
holds 'but are shown' "$out" '\x1b]0;evil'
same 'the rest of the file is pending' "$("$ostiary" diff "$tag-h" --name-only | tr '\n' ' ')" 'binary new text '
answer y,y,a "$ostiary" apply "$tag-h" --hunks
same 'then all of it' "$code $(sed -n '3p;20p' text | tr '\n' ' ')$(cat new)" '0 three twenty n'
same 'and nothing is pending' "$("$ostiary" diff "$tag-h" --name-only)" ''

# --- what never lands -------------------------------------------------------------------------------
fresh never
echo 1 >ok
box "$tag-n" 'echo 2 >ok; ln -s /etc/passwd out; ln -s ../../x up; mkfifo ff; echo >suid; mkdir setgid; chmod 2755 setgid; chmod 4755 suid 2>/dev/null
	python3 -c "import socket; socket.socket(socket.AF_UNIX).bind(\"sock\")" 2>/dev/null || :; mkdir d; ln -s .. d/inside; ln -s ../.. d/outside'
say "$ostiary" apply "$tag-n" --yes
same 'exit 1, and only what is harmless lands (cases 71, 77)' "$code $(find . -mindepth 1 ! -name suid | sort | tr '\n' ' ')" '1 ./d ./d/inside ./ok '
[ ! -u suid ]
check 'a setuid bit never lands' $? "$(stat -c %a suid 2>/dev/null)"
for what in out up ff setgid d/outside; do holds "named: $what" "$err" "  $what: "; done
same 'the control: the harmless file' "$(cat ok)" 2

# --- a running box, a missing or foreign workspace -------------------------------------------------
fresh running
echo 1 >a
sleep 0.05
say "$ostiary" create -q --name "$tag-r"
say "$ostiary" exec "$tag-r" -- sh -c 'echo 2 >a'
say "$ostiary" apply "$tag-r" --yes
same 'a running box' "$code $(cat a)" '0 2'
holds 'is told to go on' "$err" 'goes on running'
say "$ostiary" exec "$tag-r" -- sh -c 'echo 3 >a; cat a'
same 'it goes on' "$code $out" '0 3'
say "$ostiary" apply "$tag-r" --yes
same 'and what it writes later is no conflict with what we wrote' "$code $(cat a)" '0 3'
"$ostiary" rm --force "$tag-r" >/dev/null 2>&1
fresh moved
echo 1 >a
box "$tag-m" 'echo 2 >a'
cd "$work" || exit 1
mv moved away
say "$ostiary" apply "$tag-m" --yes
same 'a workspace that is gone is refused' "$code" 119
mkdir moved
say "$ostiary" apply "$tag-m" --yes
same 'and one that is another directory' "$code $(ls moved)" '119 '
rmdir moved
mv away moved
say "$ostiary" apply "$tag-m" --yes
same 'the control: moved back' "$code $(cat moved/a)" '0 2'
say "$ostiary" apply nosuchbox --yes
same 'an unknown box' "$code" 121

# --- JSON, sizes ------------------------------------------------------------------------------------
fresh json
echo 1 >a
box "$tag-j" 'echo 2 >a; echo all: >Makefile; truncate -s 3G sparse; printf end >>sparse'
say "$ostiary" apply "$tag-j" --yes --json
same 'JSON' "$(json '([(c["path"], c["fate"]) for c in d["changes"]], d["records"] != [])' <<<"$out")" \
	"([('Makefile', 'not-approved'), ('a', 'applied'), ('sparse', 'applied')], True)"
same 'a file of 3 GiB that is nearly all hole' "$(stat -c %s sparse) $(tail -c 3 sparse) $([ "$(stat -c %b sparse)" -lt 4096 ] && echo holes)" '3221225475 end holes'

remove_boxes
nothing_left 'nothing is left of the boxes'
exit $bad
