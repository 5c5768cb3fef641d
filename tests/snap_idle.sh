#!/bin/bash
# suite: test=user soak=root,user timeout=300
# tier: layers are frozen in the same way for both
# Snapshots of boxes in which nothing runs: nothing is copied, the box goes on as it was, others begin
# there; sizes add up; damage is told of; and running again never hides what an earlier box changed.
set -u
. "$(dirname "$0")/lib_life.sh"
. "$here/lib_snap.sh"

mkdir -p dir/sub
echo host >kept
echo host >changed
echo host >gone
echo host >dir/sub/deep

# --- a box that has ended -----------------------------------------------------------------------------
o run -q -n "$tag-a" -- sh -c 'echo box >changed; rm gone; echo new >new; ln new second; ln -s /etc/passwd link
	rm -r dir; mkdir dir; echo mine >dir/mine; chmod 711 .; echo memory >~/memory; mkdir -m 0 shut'
before=$(shows "$tag-a")
o stop "$tag-a" >/dev/null
inode=$(find "$boxes/$tag-a/layers/ws/upper/new" -printf %i)
say "$ostiary" snapshot "$tag-a" "$tag-one"
same 'a snapshot of a box that has ended prints its name' "$out" "$tag-one"
same 'nothing is copied: the file is the same file' "$(find "$frozen" -name new -printf %i 2>/dev/null)" "$inode"
same 'the box sees what it saw' "$(shows "$tag-a")" "$before"
same 'its home too' "$(o exec "$tag-a" -- sh -c 'cat ~/memory')" memory
same 'the host is as it was' "$(cat changed gone dir/sub/deep | tr '\n' ' ')" 'host host host '

# --- another box begins there -------------------------------------------------------------------------
o exec "$tag-a" -- sh -c 'echo later >later; echo later >changed; echo forgotten >~/memory'
o create --from "$tag-one" -n "$tag-b" >/dev/null
same 'a box made from the snapshot sees what was kept' "$(shows "$tag-b")" "$before"
same 'and its home' "$(o exec "$tag-b" -- sh -c 'cat ~/memory')" memory
say "$ostiary" run -q --rm --from "$tag-one" -- sh -c 'cat changed; ls gone'
holds 'run --from too' "$out" box
holds 'what was deleted stays deleted' "$err" gone
say "$ostiary" run -q --from "$tag-one" -- true
same 'a box from a snapshot that wrote nothing is not kept' "$(find "$boxes" -mindepth 1 -maxdepth 1 | wc -l)" 2
say "$ostiary" run --from "$tag-one" -w / -- true
holds 'another workspace is refused, with the reason' "$err" 'is of the workspace'
say "$ostiary" run --from "$tag-one" --live -- true
holds '--live is refused, with the reason' "$err" 'copy-on-write layers'
say "$ostiary" run --from "$tag-on" -- true
holds 'a snapshot that is not there is told of, with the nearest' "$err" "did you mean $tag-one"
say "$ostiary" snapshot "$tag-a" "$tag-one"
holds 'a name is used once' "$err" 'there is a snapshot named'
say "$ostiary" snapshot "$tag-a" ../x
holds 'a name that is a path is refused' "$err" 'cannot be a snapshot'
say "$ostiary" snapshot "$tag-none"
holds 'a box that is not there is told of' "$err" 'there is no box'

# --- a living box without a command -----------------------------------------------------------------------
o create -n "$tag-c" >/dev/null
o exec "$tag-c" -- sh -c 'echo 1 >one'
say "$ostiary" snapshot "$tag-c" "$tag-two" --json
holds 'a living box without a command is frozen, not copied' "$out" '"copied":false'
wait_for 60 is_ended "$tag-c" # its supervisor answers first, then ends
check 'and sleeps' $? 'it still runs'
same 'the next command wakes it' "$(o exec "$tag-c" -- cat one)" 1
o exec "$tag-c" -- sh -c 'echo 2 >two'
n=0
for i in 1 2 3 4 5 6; do
	o snapshot "$tag-c" >/dev/null 2>&1 &
	pid=$!
	[ "$(o exec "$tag-c" -- sh -c "echo $i >>count; cat one")" = 1 ] && n=$((n + 1))
	wait "$pid"
done
same 'a command that comes while the box goes to sleep is run' "$n" 6
same 'once' "$(o exec "$tag-c" -- sh -c 'wc -l <count')" 6

# --- sizes, removal, gc ---------------------------------------------------------------------------------
total=$(o gc --json | /usr/bin/python3 -c 'import json, sys
g = json.load(sys.stdin)["data"]["frozen"]
print(g["bytes"] if g["own_bytes"] + g["shared_bytes"] == g["bytes"] else "odd")')
du=$(du -s -B1 --exclude=lock "$frozen" 2>/dev/null | cut -f1)
same 'the sizes of frozen layers add up to what is on the disk' "$total" $((du - 512 * $(stat -c %b "$frozen")))
say "$ostiary" snapshots --json
check 'sizes and layers are listed' "$(/usr/bin/python3 -c 'import json, sys
v = json.loads(sys.argv[1])["data"]
assert v and all(s["own_bytes"] + s["shared_bytes"] == s["bytes"] for s in v)' "$out" 2>"$work/why"; echo $?)" "$(cat "$work/why")"
o rm -f "$tag-b" "$tag-c" >/dev/null
n=$(layers)
o snapshots -q | grep -v "$tag-one" | xargs "$ostiary" snapshots rm >/dev/null
check 'removing boxes and snapshots frees their layers' "$([ "$(layers)" -lt "$n" ]; echo $?)" "$n before, $(layers) after"
same 'and no others' "$(shows "$tag-a" | grep -c later)" 1
o run -q -n "$tag-d" --from "$tag-one" --keep -- true
o snapshots rm "$tag-one" >/dev/null
same 'a box outlives the snapshot it was made from' "$(o exec "$tag-d" -- cat changed)" box
away
same 'in the end nothing is left' "$(layers)" 0

# --- damage -----------------------------------------------------------------------------------------------
o run -q -n "$tag-e" -- sh -c 'echo e >e'
o run -q -n "$tag-f" -- sh -c 'echo f >f'
o snapshot "$tag-e" "$tag-e" >/dev/null
o snapshot "$tag-f" "$tag-f" >/dev/null
id=$(awk '/^layer /{print $2}' "$boxes/$tag-e/stack")
mv "${frozen:?}/${id:?}" "$work/away"
say "$ostiary" exec "$tag-e" -- true
holds 'a layer that is missing is told of' "$err" "$id is missing"
check 'the box is still there' "$([ -d "$boxes/$tag-e/layers" ]; echo $?)"
same 'another box is not concerned' "$(o exec "$tag-f" -- cat f)" f
mv "$work/away" "$frozen/$id"
same 'when it is back, so is the box' "$(o exec "$tag-e" -- cat e)" e
o stop "$tag-e" >/dev/null
cp "$boxes/$tag-e/stack" "$work/stack"
head -c 30 "$work/stack" >"$boxes/$tag-e/stack"
say "$ostiary" exec "$tag-e" -- true
holds 'a list that was cut is told of' "$err" 'is damaged'
say "$ostiary" gc
holds 'gc then removes no layer' "$err" 'no frozen layer is removed'
check 'none at all' "$([ -d "$frozen/$id" ]; echo $?)"
cp "$work/stack" "$boxes/$tag-e/stack"
same 'mended, it goes on' "$(o exec "$tag-e" -- cat e)" e
echo 'file x' >"$state/snapshots/$tag-bad"
say "$ostiary" run --from "$tag-bad" -- true
holds 'a snapshot that is damaged is told of' "$err" 'cannot be used'
o snapshots rm "$tag-bad" >/dev/null
away

# --- running again -------------------------------------------------------------------------------------------
o run -q -n "$tag-g" -- sh -c 'echo g >g'
say "$ostiary" run -n "$tag-h" -- cat g
holds 'a new box says that an earlier one holds changes' "$err" "box $tag-g holds changes of this workspace"
holds 'and is a new one' "$err" 'No such file'
say "$ostiary" run -q --resume -- cat g
same '--resume goes on in it' "$out" g
say "$ostiary" run --new -- true
[[ $err == *'holds changes'* ]]
check '--new does not speak of it' $((1 - $?)) "$err"
say "$ostiary" resume -q "$tag-g" -- sh -c 'cat g; echo more >more'
same 'resume runs a command over what it holds' "$out" g
same 'with its own command when none is named' "$(o resume -q "$tag-g"; o exec "$tag-g" -- cat g more | tr '\n' ' ')" 'g more '
say "$ostiary" resume "$tag-g"
holds 'a box that runs is not resumed' "$err" 'is running'
o stop "$tag-g" >/dev/null
# answer WORDS COMMAND...: on a terminal, with these words as answers to its questions; prints what was shown.
answer() {
	/usr/bin/python3 - "$@" <<-'ANSWER'
		import os, pty, select, sys, time
		answers, argv = sys.argv[1].split(), sys.argv[2:]
		pid, fd = pty.fork()
		if pid == 0:
		    os.execv(argv[0], argv)
		shown, asked, end = b"", 0, time.time() + 150
		while time.time() < end:
		    if fd not in select.select([fd], [], [], 1)[0]:
		        continue
		    try:
		        got = os.read(fd, 4096)
		    except OSError:
		        got = b""
		    if not got:
		        break
		    shown += got
		    if shown.count(b"[q]uit?") > asked and answers:
		        asked = shown.count(b"[q]uit?")
		        os.write(fd, answers.pop(0).encode() + b"\n")
		os.close(fd)
		print(shown.decode(errors="replace").replace("\r", ""), "status", os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
	ANSWER
}
got=$(answer 'c' "$ostiary" run -- cat g more)
holds 'on a terminal it is asked' "$got" "box $tag-g holds changes of this workspace that were not applied"
holds 'to go on goes on' "$got" $'g\nmore\n'
got=$(answer 'n' "$ostiary" run -n "$tag-n" -- cat g)
holds 'a new box is a new one' "$got" 'No such file'
got=$(PAGER='cat' answer 'd q' "$ostiary" run -- cat g)
holds 'the changes can be looked at first' "$got" '+g'
holds 'and to leave leaves' "$got" 'status 0'
got=$(answer 'x q' "$ostiary" run -- touch ran)
same 'an answer that is none is asked again' "$(grep -c 'not applied' <<<"$got")" 2
holds 'the question says which command the box had' "$got" '"cat g more", ended '
o rm -f "$tag-g" >/dev/null
say "$ostiary" run -- true
[[ $err == *'holds changes'* ]]
check 'when it is removed nothing is said' $((1 - $?)) "$err"

# --- running an agent again: what is asked for now, in a box of its own ---------------------------------------------
mkdir -p "$HOME/.config/ostiary/profiles"
for agent in one two; do
	printf 'extends default\ncommand %s-agent\nargs --always\n' $agent >"$HOME/.config/ostiary/profiles/$agent.profile"
	printf '#!/bin/sh\necho "%s:$*"; echo "$*" >>said\n' $agent >"$work/$agent-agent"
	chmod +x "$work/$agent-agent"
done
was=$PATH
PATH=$work:$PATH
o run -q -n "$tag-k" one -- -p 'first prompt' >/dev/null
say "$ostiary" run --resume one -- -p 'second prompt'
same '--resume AGENT -- WORDS says these words, not the first ones' "$out" 'one:--always -p second prompt'
say "$ostiary" run -q --resume one
same '--resume AGENT says nothing to it a second time' "$out" 'one:--always'
same 'in the box that holds the changes' "$("$ostiary" exec -q "$tag-k" -- cat said | tr '\n' '|')" '--always -p first prompt|--always -p second prompt|--always|'
o stop "$tag-k" >/dev/null
say "$ostiary" resume -q "$tag-k"
same 'resume BOX does not say the first prompt again either' "$out" 'one:--always'
say "$ostiary" resume -q "$tag-k" -- -p 'third prompt'
same 'resume BOX -- WORDS says these to the agent' "$out" 'one:--always -p third prompt'
say "$ostiary" resume -q "$tag-k" -- echo a command
same 'and a command is a command' "$out" 'a command'
o resume -q "$tag-k" >/dev/null
say "$ostiary" run -q --resume two -- -p hello
same '--resume of another agent starts none' "$code:$out" '64:'
holds 'and says whose box it is' "$err" "$tag-k, is not one of two (one, "
holds 'what it ran last' "$err" 'one-agent --always'
holds 'how old it is' "$err" 's ago)'
say "$ostiary" run -q --resume --allow 'GET a.example' --limit pids=99 one
same 'flags that shape a box are not dropped in silence' "$code:$out" '64:'
holds 'they are named' "$err" 'so --limit, --allow cannot be said now'
got=$(answer 'c n' "$ostiary" run -n "$tag-l" two -- -p hello)
holds 'on a terminal, to go on in the box of another agent is not offered' "$got" 'It is not one of the agent that you ask for'
holds 'and cannot be chosen' "$got" 'two:--always -p hello'
got=$(answer 'c' "$ostiary" run two)
holds 'a box of its own is taken before a newer one of another' "$got" "box $tag-l holds changes"
holds 'and to go on starts the agent that was asked for' "$got" 'two:--always'
say "$ostiary" run -n "$tag-m" one -- -p x
holds 'without a terminal the line says whose box it is' "$err" "box $tag-k holds changes of this workspace that were not applied (one, "
for box in k l m; do o rm -f "$tag-$box" >/dev/null; done

# --- the conversation of an agent ------------------------------------------------------------------------------------
printf 'extends default\ncommand talk-agent\nargs --always\npersist ~/.talk/said\nresume ~/.talk/said --continue last\n' \
	>"$HOME/.config/ostiary/profiles/talk.profile"
printf '#!/bin/sh\necho "talk:$*"; case "$*" in *-p*) mkdir -p ~/.talk/said/a/b && echo "$*" >~/.talk/said/a/b/c ;; esac\n' >"$work/talk-agent"
chmod +x "$work/talk-agent"
o run -q --keep -n "$tag-o" talk >/dev/null
say "$ostiary" resume -q "$tag-o"
same 'an agent that left no conversation starts anew' "$out" 'talk:--always'
say "$ostiary" resume -q "$tag-o" -- -p 'first prompt'
say "$ostiary" resume -q "$tag-o"
same 'one that left one goes on with it, as its profile says' "$out" 'talk:--always --continue last'
sed -i 's|resume ~/.talk/said|resume ~/.talk/*/a|' "$HOME/.config/ostiary/profiles/talk.profile"
say "$ostiary" resume -q "$tag-o"
same 'wherever it is' "$out" 'talk:--always --continue last'
sed -i 's|resume ~/.talk/[*]/a|resume ~/.talk/*/b|' "$HOME/.config/ostiary/profiles/talk.profile"
say "$ostiary" resume -q "$tag-o"
same 'but not elsewhere' "$out" 'talk:--always'
sed -i 's|resume ~/.talk/[*]/b|resume ~/.talk/said|' "$HOME/.config/ostiary/profiles/talk.profile"
say "$ostiary" run -q --resume talk
same 'with run --resume too, in the last box, which holds no changes' "$out" 'talk:--always --continue last'
say "$ostiary" run -q --resume talk -- -p again
same 'but not when something else is said' "$out" 'talk:--always -p again'
say "$ostiary" snapshot "$tag-o" "$tag-o"
say "$ostiary" resume -q "$tag-o"
same 'nor is it lost in a snapshot' "$out" 'talk:--always --continue last'
o snapshots rm "$tag-o" >/dev/null
o run -q --keep -n "$tag-p" talk >/dev/null
say "$ostiary" resume -q "$tag-p"
same 'what another box said is not its conversation' "$out" 'talk:--always'
o exec "$tag-p" -- sh -c 'mkdir -p ~/.talk && rm -rf ~/.talk/said && ln -s /etc ~/.talk/said' >/dev/null
o stop "$tag-p" >/dev/null
say "$ostiary" resume -q "$tag-p"
same 'a link is no conversation' "$out" 'talk:--always'
o exec "$tag-p" -- sh -c 'rm ~/.talk/said && mkdir -p ~/.talk/said/x && cd ~/.talk/said/x && mkfifo f && : >empty' >/dev/null
o stop "$tag-p" >/dev/null
say "$ostiary" resume -q "$tag-p"
same 'nor are a FIFO and an empty file' "$out" 'talk:--always'
sed -i 's/--continue last/--resume %TALK%/' "$HOME/.config/ostiary/profiles/talk.profile"
old=0a1b2c3d-0000-4000-8000-000000000001 new=0a1b2c3d-0000-4000-8000-000000000002
o exec "$tag-p" -- sh -c "cd ~/.talk/said/x && echo 1 >'\$(x).jsonl'" >/dev/null
o stop "$tag-p" >/dev/null
say "$ostiary" resume -q "$tag-p"
same 'a conversation without a name cannot be named' "$out" 'talk:--always'
o exec "$tag-p" -- sh -c "cd ~/.talk/said/x && echo 1 >s-$new.jsonl && touch -d 2001-01-01 s-$new.jsonl && echo 1 >$old && touch -d 2000-01-01 $old && echo 1 >later" >/dev/null
o stop "$tag-p" >/dev/null
say "$ostiary" resume -q "$tag-p"
same 'the newest that has one is' "$out" "talk:--always --resume $new"
sed -i 's/--resume %TALK%/--continue last/' "$HOME/.config/ostiary/profiles/talk.profile"
o rm -f "$tag-p" >/dev/null
o resume -q -d "$tag-o" -- sleep 1000 >/dev/null
say "$ostiary" run -q --resume talk
same 'a box that runs is not gone on in' "$code:$out" '122:'
holds 'it is named, with how to join it' "$err" "ostiary attach $tag-o joins it"
o rm -f "$tag-o" >/dev/null
say "$ostiary" run --resume -n "$tag-q" talk -- --hello
holds 'without any box a new one is started' "$out" 'talk:--always --hello'
holds 'which is said' "$err" 'there is no box of this workspace to go on in'
PATH=$was
rm -f "$HOME"/.config/ostiary/profiles/{one,two,talk}.profile
away

# --- what the host edits meanwhile ---------------------------------------------------------------------------
o create -n "$tag-i" >/dev/null
o exec "$tag-i" -- sh -c 'echo box >>changed'
echo edited >changed
echo edited >kept
echo fresh >fresh
same 'what the box changed stays its own, whatever the host does' "$(o exec "$tag-i" -- cat changed | tr '\n' ' ')" 'host box '
o snapshot "$tag-i" >/dev/null # it is woken by what follows, and a start looks anew
same 'after a start it sees what the host edited' "$(o exec "$tag-i" -- cat kept)" edited
same 'and what the host added' "$(o exec "$tag-i" -- cat fresh)" fresh
same 'the edit of the host is not lost' "$(cat changed)" edited
away
nothing_left 'nothing is left of the boxes'
exit $bad
