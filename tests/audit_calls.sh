#!/bin/bash
# suite: test=user soak=root,user timeout=300
# tier: the witness tells of calls in the same way whoever started the box
# audit_calls.sh - the system calls of a box in its log: each kind is there, in order, with its words; hostile
# arguments; exact counts under floods, threads and signals; refusals are the same at every level; a witness that dies.
set -u
. "$(dirname "$0")/lib_life.sh"
. "$here/lib_tier.sh"
cc -static -pthread -O1 -D_GNU_SOURCE -o "$work/ws/calls" "$here/audit/calls.c" || exit 1
log_of() { echo "$boxes/$tag-$1/audit.jsonl"; }
rec() { # box, words of records.py
	/usr/bin/python3 "$here/audit/records.py" "$(log_of "$1")" "${@:2}"
}
run_box() { # name, flags and command
	timeout 400 "$ostiary" run -q --keep -n "$tag-$1" "${@:2}" 2>&1
}

# --- each kind ---------------------------------------------------------------------------------------

run_box kinds -- sh -c 'ls / >/dev/null; unshare -U true; setsid -w ./calls kills; ./calls exit 3; ./calls abort; ./calls trace; ./calls thread-exec; kill -9 $$' >/dev/null
if [ "$(rec kinds count kind=exec)" = 0 ]; then
	skip audit_calls 'this kernel does not tell of system calls'
	exit 0
fi
same 'the box begins and ends' "$(rec kinds show method kind=box | tr '\n' ' ')" 'start end '
holds 'the first program, with its arguments' "$(rec kinds show exe,note kind=exec path=/usr/bin/sh)" '/usr/bin/*sh sh -c "ls / >/dev/null; *'
same 'a program, its file, its arguments' "$(rec kinds show path,exe,note 'note=ls /')" "/usr/bin/ls $(readlink -f /usr/bin/ls) ls /"
same 'a refused call, with its answer' "$(rec kinds show kind,verdict,method,note method=unshare)" 'call deny unshare 0x10000000 = EPERM'
same 'an exit code' "$(rec kinds count kind=exit status=3)" 1
holds 'what a process cost' "$(rec kinds show cpu_us,peak_kib kind=exit status=3)" '[1-9]* [1-9]*'
same 'a process that a signal ended' "$(rec kinds show status,note kind=exit status=134)" '134 killed by SIGABRT'
same 'the main one too' "$(rec kinds show note kind=exit status=137 | sort -u)" 'killed by SIGKILL'
same 'signals to another group, and only those' "$(rec kinds show method,note kind=kill | sed 's/[0-9][0-9]*/N/' | tr '\n' '|')" 'kill pid N, SIGTERM|kill group N, SIGKILL|'
same 'tracing' "$(rec kinds show method,note method=ptrace)" 'ptrace PTRACE_TRACEME, pid 0, 0, 0'
same 'a program that a thread executed' "$(rec kinds show note 'note=from-a-thread exit 7')" 'from-a-thread exit 7'
same 'and its end' "$(rec kinds count kind=exit status=7)" 1
same 'everything in order' "$(rec kinds order)" 'in order'
parents=$(rec kinds show pid kind=exec path=/usr/bin/sh)
holds 'children name their parent' "$(rec kinds show ppid 'note=ls /')" "$parents"

if has_python=$(command -v /usr/bin/python3) && [ -n "$has_python" ]; then
	run_box net -- /usr/bin/python3 -c 'import socket
s = socket.socket(); s.bind(("127.0.0.1", 7311)); s.listen()
socket.create_connection(("127.0.0.1", 7311))
u = socket.socket(socket.AF_UNIX); u.bind("\0odd\nname")
v = socket.socket(socket.AF_INET6); v.bind(("::1", 7312))' >/dev/null
	same 'sockets' "$(rec net show kind,protocol,address,port kind=bind; rec net show kind,protocol,address,port kind=listen; rec net show kind,protocol,address,port kind=connect)" \
		"$(printf '%s\n' 'bind tcp 127.0.0.1 7311' 'bind unix @"odd\nname" -' 'bind tcp ::1 7312' 'listen tcp 127.0.0.1 7311' 'connect tcp 127.0.0.1 7311')"
fi

# --- hostile words -------------------------------------------------------------------------------------

run_box hostile -- ./calls hostile >/dev/null
note=$(rec hostile show note kind=exec | grep '^hostile exit')
# shellcheck disable=SC1003 # a backslash is meant
case $note in 'hostile exit 0 "a\nb\x1b[31m\"c\\d\xff e" "" hhhh'*'...') true ;; *) false ;; esac
check 'hostile arguments are quoted' $? "${note:0:200}"
[ ${#note} -gt 3900 ] && [ ${#note} -le 4096 ]
check 'and cut at a stated length' $? "${#note} characters"
# shellcheck disable=SC2016
! LC_ALL=C grep -q $'[\x01-\x09\x0b-\x1f\x7f]' "$(log_of hostile)"
check 'no control byte is in the log' $? 'there is one'
same 'pointers that lead nowhere' "$(run_box bad -- ./calls bad)" survived
holds 'are recorded as such' "$(rec bad show method,path kind=call)" '*(unreadable)*'
holds 'also in the middle of the arguments' "$(rec bad show note path=/does/not/exist)" '*fine (unreadable)*words words (unreadable)*'
same 'each of them' "$(rec bad count method=execve)" 5
same 'and refused mounts' "$(rec bad show note method=mount | cut -c1-12)" '(unreadable)'
same 'arguments that change while they are read' "$(run_box racing -- ./calls racing 2000)" survived
same 'are recorded each time' "$(($(rec racing count method=execve) + $(rec racing count kind=exec)))" 2001

# --- exact counts --------------------------------------------------------------------------------------

same 'a flood of 20000 refused calls' "$(run_box flood -- ./calls refused 20000)" 20000
same 'every one of them is in the log' "$(rec flood count method=unshare verdict=deny)" 20000
same 'and the log is whole' "$("$ostiary" audit verify "$tag-flood" >/dev/null 2>&1; echo $?)" 0
run_box threads -- ./calls threads 8000
same 'from eight threads' "$(rec threads count method=unshare verdict=deny)" 8000
out=$(run_box storm -- ./calls storm 500)
case $out in '500 stormy') true ;; *) false ;; esac
check 'connections under a storm of signals' $? "$out"
same 'one record each' "$(rec storm count kind=connect)" 500
timeout 400 "$ostiary" run -q --keep -n "$tag-bomb" --limit pids=60 --limit time="$(by_tier 2s 5s)" -- sh -c 'b() { b | b & }; b; sleep 10' >/dev/null 2>&1
same 'a fork bomb leaves a whole log' "$("$ostiary" audit verify "$tag-bomb" >/dev/null 2>&1; echo $?)" 0

# --- the same answers at every level ---------------------------------------------------------------------

"$ostiary" explain --seccomp --json | /usr/bin/python3 -c '
import json, sys
print("#include <errno.h>\n#include <stdio.h>\n#include <string.h>\n#include <sys/syscall.h>\n#include <unistd.h>\nint main(void)\n{")
for row in json.load(sys.stdin)["data"]["rows"]:
    if row["verdict" if "verdict" in row else "otherwise"] == "allow" or row["when"]:
        continue
    for name in row["calls"]:
        print("#ifdef SYS_%s\n        errno = 0; syscall(SYS_%s, -1, 0, 0, 0, 0, 0); printf(\"%s %%s\\n\", strerrorname_np(errno));\n#endif" % (name, name, name))
more = ["socket(17, 3, 0)", "socket(2, 3, 1)", "socket(16, 3, 15)", "socket(38, 5, 0)", "ioctl(0, 0x5412, \"x\")", "clone(0x10000000, 0, 0, 0, 0)",
        "unshare(0x20000)", "prctl(35, 1, 0)", "personality(0x40000)", "chmod(\"calls\", 04755)", "mknod(\"dev\", 0020666, 259)", "setsockopt(0, 6, 31, \"tls\", 4)", "ptrace(0x4206, 1, 0, 0x200000)"]
for i, call in enumerate(more):
    name, args = call.split("(", 1)
    print("        errno = 0; printf(\"%%d %%ld \", %d, syscall(SYS_%s, %s); puts(strerrorname_np(errno));" % (i, name, args))
print("        errno = 0; printf(\"unknown %ld \", syscall(999)); puts(strerrorname_np(errno));\n        return 0;\n}")' >"$work/refusals.c"
if cc -O0 -w -static -D_GNU_SOURCE -o "$work/ws/refusals" "$work/refusals.c" 2>"$work/cc.err"; then
	plain=$(run_box off --audit off -- ./refusals)
	n=$(wc -l <<<"$plain")
	[ "$n" -gt 80 ] && grep -q EPERM <<<"$plain" && grep -q ENOSYS <<<"$plain"
	check 'a table of refused calls' $? "$n lines: $plain"
	for level in default files all; do
		same "$n refusals are the same at level $level" "$(run_box "l$level" --audit "$level" -- ./refusals)" "$plain"
		same "and each is recorded at level $level" "$(rec "l$level" show method verdict=deny | wc -l)" "$n"
	done
	[ ! -s "$(log_of off)" ]
	check 'without --audit nothing is recorded' $? "$(head -c 300 "$(log_of off)" 2>/dev/null)"
else
	not_ok 'a table of refused calls' "$(cat "$work/cc.err")"
fi

# --- levels -------------------------------------------------------------------------------------------------

run_box files --audit files -- sh -c 'echo one >f1; cat f1 >/dev/null; mv f1 f2; rm f2; mkdir d; rmdir d' >/dev/null
ws=$PWD
same 'files: made, read, renamed, removed' "$(rec files show method,path kind=open | grep "$ws/" | grep -v calls | tr '\n' '|')" \
	"create $ws/f1|r $ws/f1|rename $ws/f1|unlink $ws/f2|create $ws/d|unlink $ws/d|"
run_box all --audit all -- cat /etc/hostname >/dev/null
for call in read write mmap brk; do
	[ "$(rec all count kind=call method=$call)" -gt 0 ]
	check "all: $call is told" $? "$(rec all show method kind=call | sort | uniq -c | sort -rn | head -n 5)"
done
out=$("$ostiary" run --audit much -- true 2>&1)
same 'a level that there is not' "$?" 64
holds 'is told' "$out" '*--audit wants off, default, files or all, not "much"*'

# --- a witness that dies ----------------------------------------------------------------------------------------

"$ostiary" create -q -n "$tag-dies" >/dev/null 2>&1
supervisor=$("$ostiary" ps --json | /usr/bin/python3 -c 'import json, sys; print(*[b["supervisor_pid"] for b in json.load(sys.stdin)["data"] if b["id"].endswith("-dies")])')
"$ostiary" exec "$tag-dies" -- ./calls refused 20000 >"$work/o" 2>&1 &
flood=$!
killed=0
while kill -0 $flood 2>/dev/null && [ $killed -lt 20 ]; do
	witness=$(pgrep -P "$supervisor" -f '^ostiary-witness' | head -n 1)
	[ -n "$witness" ] && kill -9 "$witness" 2>/dev/null && killed=$((killed + 1))
	sleep 0.05
done
wait $flood
same "while its witness was killed $killed times, every call got its answer" "$(cat "$work/o")" 20000
all_told() { [ "$(rec dies count method=unshare verdict=deny)" -ge 20000 ]; }
wait_for 60 all_told # what the witness told is written a moment later
told=$(rec dies count method=unshare verdict=deny)
[ "$killed" -gt 0 ] && [ "$told" -ge 20000 ] && [ "$told" -le $((20000 + killed)) ]
check 'none is missing in the log' $? "$told records, $killed killed"
same 'and the log is whole' "$("$ostiary" audit verify "$tag-dies" >/dev/null 2>&1; echo $?)" 0
audit=$(pgrep -P "$supervisor" -f '^ostiary-audit' | head -n 1)
kill -9 "$audit"

wait_for 60 is_gone "$supervisor"
check 'without its log the box ends' $? 'its supervisor is still there'
for b in $("$ostiary" ps -a -q); do "$ostiary" rm -f "$b" >/dev/null 2>&1; done
exit $bad
