#!/bin/bash
# suite: test=user soak=root,user timeout=400
# tier: streams and statuses are passed on in the same way for both
# real_pipes.sh - a box in a pipeline behaves as the command alone would: bytes, ends, codes, signals.
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
cd "$work/ws" || exit 1

# --- streams ----------------------------------------------------------------------------------------
same 'a pipe into the box and out again' "$(echo x | box -- cat)" x
box -- sh -c 'echo out; echo err >&2' >"$work/o" 2>"$work/e"
same 'stdout and stderr stay apart: stdout' "$(cat "$work/o")" out
same 'stdout and stderr stay apart: stderr' "$(cat "$work/e")" err
mkfifo "$work/asks"
box -- sh -c 'echo a; echo b >&2; read -r _; echo c' <"$work/asks" >"$work/o" 2>&1 &
exec 8>"$work/asks"
within 60 grep -q b "$work/o" # two pipes have no order of their own; what was read before does
echo >&8
exec 8>&-
wait $!
same 'stderr into stdout, in order' "$(tr -d '\n' <"$work/o")" abc

head -c 52428800 /dev/urandom >"$work/big"
sum=$(sha256sum <"$work/big")
same '50 MB of any bytes through a pipe, in' "$(cat "$work/big" | box -- sha256sum)" "$sum"
same '50 MB of any bytes from a file, both ways' "$(box -- cat <"$work/big" | sha256sum)" "$sum"
same '50 MB of any bytes through pipes, both ways' "$(cat "$work/big" | box -- cat | sha256sum)" "$sum"
box -- cat <"$work/big" >"$work/copy"
same '50 MB of any bytes into a file' "$(sha256sum <"$work/copy")" "$sum"
box -- sh -c 'cat >&2' <"$work/big" 2>"$work/copy"
same '50 MB of any bytes through stderr' "$(sha256sum <"$work/copy")" "$sum"
same 'a slow reader loses nothing' "$(box -- cat <"$work/big" | (sleep 1; sha256sum))" "$sum"
rm -f "$work/big" "$work/copy"

same 'a reader inside that leaves early' "$(yes | timeout 120 "$ostiary" run -q -- head -n 1)" y
same 'a reader outside that leaves early, and the box ends' "$(timeout 120 "$ostiary" run -q -- yes | head -n 1)" y
box -- sh -c 'yes; echo $? >&2' 2>"$work/e" | head -n 1 >/dev/null
same 'and the writer got SIGPIPE, as without a box' "$(cat "$work/e")" 141

box -- cat <&- >"$work/o" 2>&1
same 'stdin closed: cat ends' "$? $(cat "$work/o")" '0 '
box -- sh -c 'ls -l /proc/self/fd | grep -c "[0-9] -> "; exit 5' <&- >"$work/o"
same 'stdin closed: the command still has three descriptors' "$?" 5
box -- sh -c 'echo lost; exit 6' >&- 2>/dev/null
same 'stdout closed: code of the command' $? 6
box -- sh -c 'echo lost >&2; exit 6' 2>&-
same 'stderr closed: code of the command' $? 6
box -- sh -c 'exit 6' <&- >&- 2>&-
same 'all three closed' $? 6
same 'stdin from /dev/null' "$(box -- wc -c </dev/null)" 0
box -- sh -c 'echo gone' >/dev/null
same 'stdout to /dev/null' $? 0
mkfifo "$work/fifo" && exec 7<>"$work/fifo"
timeout 120 "$ostiary" run -q -- true <&7
same 'stdin that never ends does not hold the end up' $? 0
exec 7<&-

# --- words ------------------------------------------------------------------------------------------
same '10,000 arguments' "$(seq 10000 | xargs -n 10000 "$ostiary" run -q -- sh -c 'echo $#,$1,${10000}' x)" 10000,1,10000
long=$(head -c 100000 /dev/zero | tr '\0' a)
same 'an argument of 100 KB' "$(box -- sh -c 'echo ${#1}' x "$long")" 100000
same 'an empty argument and one with a line end' "$(box -- sh -c 'printf "%s|" "$@"' x '' $'a\nb' ' c ')" $'|a\nb| c |'
same 'an argument that is not UTF-8' "$(box -- printf '%s' $'\xff\xfe' | od -An -tx1)" ' ff fe'
same '-e NAME=VALUE' "$(box -e 'GREETING=a b=c' -- sh -c 'echo "$GREETING"')" 'a b=c'
same '-e NAME takes it from here' "$(GREETING=mine box -e GREETING -- sh -c 'echo "$GREETING"')" mine
same 'a variable that is not asked for stays out' "$(GREETING=mine box -- sh -c 'echo "${GREETING-unset}"')" unset
same 'an environment of 100 KB' "$(box -e "LONG=$long" -- sh -c 'echo ${#LONG}')" 100000

# --- codes ------------------------------------------------------------------------------------------
for code in 0 1 42 120 255; do
	box -- sh -c "exit $code"
	same "exit code $code" $? $code
done
box -- sh -c 'kill -KILL $$'
same 'killed inside: 128+9' $? 137
box -- sh -c 'kill -SEGV $$' 2>/dev/null
same 'a crash inside: 128+11' $? 139
box -- no-such-command-here 2>"$work/e"
same 'not found: 127' $? 127
holds 'and says so' "$(cat "$work/e")" no-such-command-here
box -- /etc/passwd 2>"$work/e"
same 'cannot be executed: 126' $? 126

# --- exec -------------------------------------------------------------------------------------------
name=pipe-$$
"$ostiary" create -q -n $name >/dev/null
check 'create' $? 'no box'
same 'exec: pipe both ways' "$(echo y | "$ostiary" exec $name -- cat)" y
"$ostiary" exec $name -- sh -c 'echo out; echo err >&2; exit 9' >"$work/o" 2>"$work/e"
same 'exec: code, stdout, stderr' "$? $(cat "$work/o") $(cat "$work/e")" '9 out err'
same 'exec: files stay between commands' "$("$ostiary" exec $name -- sh -c 'echo kept >f' && "$ostiary" exec $name -- cat f)" kept
same 'exec: where it starts' "$("$ostiary" exec -C /tmp $name -- pwd)" /tmp
same 'exec: its environment' "$("$ostiary" exec -e A=b $name -- sh -c 'echo $A')" b
# Each line must be here before the next is written.
"$ostiary" exec $name -- sh -c 'for i in 1 2 3; do echo $i; read -r _; done' <"$work/asks" >"$work/o" &
exec 8>"$work/asks"
streamed=''
for i in 1 2 3; do
	within 60 grep -qx $i "$work/o" || break
	streamed=$(tr -d '\n' <"$work/o")
	echo >&8
done
exec 8>&-
wait $!
same 'exec: output is streamed while it is written' "$streamed" 123
for i in 1 2 3 4 5 6 7 8; do
	"$ostiary" exec $name -- sh -c "sleep 0.2; echo $i" >"$work/o$i" &
done
wait
same 'exec: eight at once' "$(cat "$work"/o[1-8] | sort | tr -d '\n')" 12345678

# --- signals ----------------------------------------------------------------------------------------
for pair in INT:130 TERM:143 QUIT:131 USR1:138; do
	sig=${pair%:*}
	rm -f "$work/o"
	# Started by setsid, because a shell makes the jobs it puts into the background ignore SIGINT.
	python3 - "$sig" "$ostiary" "$work/o" <<'PY'
import os, signal, subprocess, sys, time
sig, ostiary, path = sys.argv[1:]
for s in (signal.SIGINT, signal.SIGQUIT, signal.SIGPIPE):
    signal.signal(s, signal.SIG_DFL)
p = subprocess.Popen([ostiary, "run", "-q", "--", "sh", "-c", "echo ready; exec sleep 30"],
                     stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
p.stdout.readline()
p.send_signal(getattr(signal, "SIG" + sig))
try:
    code = p.wait(60)
except subprocess.TimeoutExpired:
    p.kill()
    code = "it did not end"
code = 128 - code if isinstance(code, int) and code < 0 else code
open(path, "w").write(str(code))
PY
	same "SIG$sig to the CLI ends the command" "$(cat "$work/o" 2>/dev/null)" "${pair#*:}"
done
python3 - "$ostiary" >"$work/o" <<'PY'
import signal, subprocess, sys
p = subprocess.Popen([sys.argv[1], "run", "-q", "--", "sh", "-c",
                      "trap 'echo caught; exit 3' TERM; echo ready; while :; do sleep 0.1; done"],
                     stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
p.stdout.readline()
p.send_signal(signal.SIGTERM)
print(p.stdout.readline().strip(), p.wait(60))
PY
same 'a command that catches SIGTERM ends as it likes' "$(cat "$work/o")" 'caught 3'

# --- in the background --------------------------------------------------------------------------------
got=$("$ostiary" run -q -d -n bg-$$ -- sh -c 'i=0; while :; do i=$((i+1)); echo line $i; sleep 0.1; done')
same 'run -d prints the name' "$got" bg-$$
is_running bg-$$
check 'ps shows it' $? "$("$ostiary" ps)"
timeout 120 "$ostiary" logs -f bg-$$ >"$work/o" &
reader=$!
within 60 grep -q 'line 5' "$work/o"
check 'logs -f follows it' $? "$(tail -n 2 "$work/o")"
"$ostiary" stop --time 2s bg-$$ >/dev/null 2>&1
check 'stop' $? 'it failed'
wait $reader
same 'logs -f ends with the box' $? 0
within 60 is_not_running bg-$$
check 'ps no longer shows it' $? "$("$ostiary" ps)"
"$ostiary" run -q -d -n kept-$$ -- sh -c 'echo last words' >/dev/null
within 60 is_not_running kept-$$
same 'logs of a box that ended' "$("$ostiary" logs kept-$$)" 'last words'
same '--tail' "$("$ostiary" run -q -d -n tail-$$ -- seq 100 >/dev/null; within 60 is_not_running tail-$$; "$ostiary" logs --tail 2 tail-$$ | tr '\n' ' ')" '99 100 '
"$ostiary" run -q -n woken-$$ -- sh -c 'echo a >a; exit 3'
for _ in 1 2 3 4 5; do "$ostiary" cp -q woken-$$:a "$work/a" || break; done
same 'a box can be looked into as soon as it has ended' "$(cat "$work/a" 2>&1)" a
holds 'and keeps the story of its command' "$("$ostiary" ps -a 2>/dev/null | grep woken)" 'exited 3, changes'
"$ostiary" rm --yes bg-$$ kept-$$ tail-$$ woken-$$ >/dev/null 2>&1
check 'rm' $? 'it failed'
"$ostiary" rm --yes $name >"$work/o" 2>&1
[ $? != 0 ]
check 'rm does not end a box that runs' $? "$(cat "$work/o")"
"$ostiary" rm -f $name >/dev/null 2>&1
check 'rm -f does' $? 'it failed'
same 'nothing is left' "$("$ostiary" ps -a -q)" ''
exit $bad
