#!/bin/bash
# suite: test=user soak=root,user timeout=300
# tier: the log is written by a role with the same rights for both users, so test runs it once
# door_log.sh - the log of a box that uses the network: one record per request, values of queries left out, a chain
# that shows a change, follow, what is told at the end; and a log that cannot be written stops the network.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
. tests/lib_door.sh
for tool in curl openssl /usr/sbin/nginx python3 prlimit; do
	has "$tool" || { skip door_log "$tool is missing" && exit 0; }
done
door_ca && door_nginx
check 'origins are up' $? "$(cat "$work/nginx.err")"
# Files of at most 1 MiB for the supervisor and its roles: the log's disk will be full.
tls=$(tls_rule 'GET,HEAD' nginx.example.test "$nginx_tls") plain=$(plain_rule '*' plain.example.test "$nginx_plain")
# Without the box's system calls, so that every line is one of the door's (tests/audit_calls.sh has the others).
(ulimit -S -f 1024 && door_box web --audit off --allow "$tls" --allow "$plain" --keep) >"$work/up" 2>&1
check 'a box with a door starts' $? "$(cat "$work/up")"
cu() { in_box web curl -sS -m 60 "$@" 2>&1; }
log=$HOME/.local/state/ostiary/boxes/web/audit.jsonl
"$ostiary" log web >"$work/out" 2>&1
holds 'a box that asked nothing' "$(cat "$work/out")" 'box web has asked nothing of the network'

# --- records -----------------------------------------------------------------------------------------

"$ostiary" log -f --json web >"$work/followed" 2>/dev/null &
follow=$!
cu -o /dev/null 'https://nginx.example.test/hello?token=hunter2&x=1'
cu -o /dev/null http://plain.example.test/hello
cu -o /dev/null -X POST -d secret=hunter2 https://nginx.example.test/post
cu -o /dev/null https://other.example.test/x
cu -o /dev/null https://other.example.test/y
records() { wc -l <"$log"; }
has_records() { [ "$(records)" -ge "$1" ]; }
within 60 has_records 5
same 'one record per request' "$(records)" 5
field() { # number of the record, names...
	sed -n "$1p" "$log" | python3 -c 'import json, sys; r = json.load(sys.stdin); print(*[r.get(n, "-") for n in sys.argv[1:]])' "${@:2}"
}
same 'an allowed one' "$(field 1 seq kind verdict method host port path status protocol address)" \
	"1 http allow GET nginx.example.test 443 /hello?token=*&x=* 200 h2 127.0.0.1:$nginx_tls"
same 'its bytes' "$(field 1 bytes_down)" 17
same 'over plain HTTP' "$(field 2 verdict host port protocol)" 'allow plain.example.test 80 http/1.1'
same 'a refused one, with its cure' "$(field 3 verdict method path status cure)" 'deny POST /post 403 allow POST nginx.example.test/post'
! grep -q hunter2 "$log"
check 'no value of a query or a body is kept' $? "$(grep hunter2 "$log")"
same 'only its owner can read it' "$(stat -c %a "$log")" 600
python3 -c '
import datetime, json, sys, time
t = datetime.datetime.fromisoformat(json.loads(open(sys.argv[1]).readline())["time"].replace("Z", "+00:00")).timestamp()
assert abs(time.time() - t) < 900' "$log"
check 'the time is the time' $? "$(field 1 time)"

out=$("$ostiary" log web)
same 'lines for people' "$(wc -l <<<"$out")" 6
grep -qE 'allow +200 +0 +17 +GET +nginx.example.test/hello' <<<"$out"
check 'verdict, status, sizes, what' $? "$out"
holds 'and the rule' "$out" '(denied by default)'
same 'only what was refused' "$("$ostiary" log --denied --json web | wc -l)" 3
! "$ostiary" log web | grep -q $'\033'
check 'no colours in a pipe' $? 'escape sequences'
same 'JSON is the log itself' "$("$ostiary" log --json web | sha256sum)" "$(sha256sum <"$log")"
out=$("$ostiary" log --verify web)
same 'the chain is whole' "$?:${out%%$'\n'*}" '0:5 records of box web, each holding the one before'
same 'and its end is the hash of the last line' "${out##*last: }" "$(tail -n 1 "$log" | tr -d '\n' | sha256sum | cut -d ' ' -f 1)"

# --- who asked ------------------------------------------------------------------------------------------

supervisor=$("$ostiary" ps --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["data"][0]["supervisor_pid"])')
door_box who --allow "$plain" --keep >"$work/up" 2>&1
check 'a box whose calls are recorded starts' $? "$(cat "$work/up")"
whos=$HOME/.local/state/ostiary/boxes/who/audit.jsonl
cw() { in_box who curl -sS -m 60 "$@" 2>&1; }
asked() { # path, names...: of the last request for it
	grep '"kind":"http"' "$whos" | grep "\"path\":\"$1\"" | tail -n 1 | python3 -c 'import json, sys
try: r = json.load(sys.stdin)
except ValueError: r = {}
print(*[r.get(n, "-") for n in sys.argv[1:]])' "${@:2}"
}
has_asked() { [ "$(asked "$1" path)" = "$1" ]; }
cw -o /dev/null http://plain.example.test/one
within 60 has_asked /one
if ! grep -q '"kind":"exec"' "$whos"; then
	skip 'the process that asked' 'this kernel does not tell of system calls'
else
	same 'the process that asked' "$(asked /one exe)" "$(in_box who readlink -f /usr/bin/curl)"
	thread='import http.client, threading
def get():
    c = http.client.HTTPConnection("plain.example.test")
    c.request("GET", "/thread")
    c.getresponse().read()
t = threading.Thread(target=get); t.start(); t.join()'
	in_box who /usr/bin/python3 -c "$thread"
	within 60 has_asked /thread
	case $(asked /thread path exe) in /thread\ */python3*) true ;; *) false ;; esac
	check 'one that asked in another thread' $? "$(asked /thread path exe)"
	watcher=$("$ostiary" ps --json | python3 -c 'import json, sys; print(*[b["supervisor_pid"] for b in json.load(sys.stdin)["data"] if b["id"] == "who"])')
	witness=$(pgrep -P "$watcher" -f '^ostiary-witness')
	holds 'the witness is filtered' "$(cat "/proc/$witness/status")" $'Seccomp:\t2'
	kill -9 "$witness"
	same 'a witness that is killed is replaced' "$(cw http://plain.example.test/hello)" 'hello from nginx'
	within 60 has_asked /hello
	case $(asked /hello exe) in */curl) true ;; *) false ;; esac
	check 'and the new one tells as well' $? "$(asked /hello exe)"
	many='import socket, threading
s = socket.create_server(("127.0.0.1", 7000)); s.listen(500)
u = socket.socket(socket.AF_UNIX); u.bind("\0here"); u.listen(500)
def dial():
    for i in range(100):
        a = socket.create_connection(("127.0.0.1", 7000)); a.close()
        b = socket.socket(socket.AF_UNIX); b.connect("\0here"); b.close()
def take(l):
    for i in range(800): l.accept()[0].close()
ts = [threading.Thread(target=dial) for i in range(8)] + [threading.Thread(target=take, args=(l,)) for l in (s, u)]
[t.start() for t in ts]; [t.join() for t in ts]; print("all")'
	same "connections inside the box, eight threads of them" "$(in_box who /usr/bin/python3 -c "$many" 2>&1)" all
fi
others=$(grep '"kind":"http"' "$whos" | grep -c '"path":"/hello')
"$ostiary" rm -f who >/dev/null 2>&1
n=$(records)

# --- a log that cannot be written ---------------------------------------------------------------------

audit=$(pgrep -P "$supervisor" -f '^ostiary-audit')
[ -n "$audit" ]
check 'the writer is a process of its own' $? 'no ostiary-audit below the supervisor'
holds 'it is filtered' "$(cat "/proc/$audit/status")" $'Seccomp:\t2'
# Whoever reads the log right after a request is told of it, however late its writer gets the processor.
kill -STOP "$audit"
cu -o /dev/null http://plain.example.test/late
"$ostiary" log --json web >"$work/waited" 2>&1 &
reader=$!
sleep 0.3
kill -0 "$reader" 2>/dev/null
check 'log waits for what is not written yet' $? "$(tail -n 1 "$work/waited")"
kill -CONT "$audit"
wait "$reader"
holds 'and then has it' "$(tail -n 1 "$work/waited")" '"path":"/late"'
in_box_time=500 in_box web sh -c 'until [ -e stop ]; do curl -s -m 60 -o /dev/null "http://plain.example.test/hello?[1-400]"; done' 2>/dev/null &
flood=$!
served() { echo $(($(grep -c 'GET /hello' "$work/nginx/access.log") - others)); }
is_still() {
	local a
	a=$(served)
	[ "$a" -gt 1500 ] && sleep 2 && [ "$a" = "$(served)" ]
}
within 200 is_still
check 'when the log is full, nothing more gets through' $? "$(served) requests were served, $(records) records"
size=$(stat -c %s "$log")
[ "$size" -le 1048576 ] && [ "$(records)" -le "$(served)" ]
check 'and the log is as large as it can be' $? "$size bytes"
same 'the box lives on' "$(in_box web echo alive)" alive
in_box web touch stop
prlimit --pid "$audit" --fsize=unlimited
wait "$flood"
same 'with room again, it goes on' "$(cu http://plain.example.test/hello)" 'hello from nginx'
told() { grep -c '"verdict":"allow".*"path":"/hello.*"status":200' "$log"; }
all_told() { [ "$(told)" -ge "$(served)" ]; }
within 120 all_told
check 'and every request that was served has its record' $? "$(told) records of $(served)"
"$ostiary" log --verify web >/dev/null
same 'in a whole chain' "$?" 0

# --- the end, and afterwards ---------------------------------------------------------------------------

"$ostiary" stop web >/dev/null
wait "$follow"
same 'follow ends with the box, and has seen everything' "$(sha256sum <"$work/followed")" "$(sha256sum <"$log")"
"$ostiary" log --verify web >/dev/null
same 'a box that has ended can be asked' "$?" 0
n=$(records)
in_box web curl -s -m 60 -o /dev/null https://third.example.test/ 2>/dev/null
within 60 has_records $((n + 1))
out=$("$ostiary" log --verify web)
same 'woken, it goes on with its chain' "$?:${out%% *}" "0:$((n + 1))"
"$ostiary" stop web >/dev/null
sed -i '3s/"POST"/"GET"/' "$log"
out=$("$ostiary" log --verify web)
same 'a changed record is found' "$?:$out" '1:broken: line 4 does not continue the one before it, which was changed after it was written'
sed -i 2d "$log"
out=$("$ostiary" log --verify web)
same 'a removed one too' "$?:${out%%:*}" '1:broken'
out=$(cd "$work/ws" && "$ostiary" run --rm --level strict -- curl -s -o /dev/null https://sum.example.test/x 2>&1)
holds 'the end of a run names what was refused, and the cure' "$out" "refused: sum.example.test; to allow it: --allow 'GET sum.example.test/x'"
exit $bad
