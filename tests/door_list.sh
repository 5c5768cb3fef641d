#!/bin/bash
# suite: test=user soak=root,user timeout=300
# tier: rules and names do not depend on who runs the door, so test runs it once
# door_list.sh - every known way around a proxy, tried from inside a box (ATTACKS.md E1-E5, E8-E10, E15; the notes'
# list of forty). The origin writes down what reached it, and each kind has a control that must reach it.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
. tests/lib_door.sh
door_needs door_list curl openssl /usr/sbin/nginx python3
door_ca && door_nginx
check "the origin is up" $? "$(cat "$work/nginx.err")"
mkdir -p "$work/www/ok" "$work/www/secret"
cp tests/door/bypass.py "$work/ws/"
door_box list --deny 'DELETE *' --allow "$(tls_rule '*' allowed.example.test "$nginx_tls" '/ok/**')" \
	--allow "$(plain_rule '*' plain.example.test "$nginx_plain" '/ok/**')"
check "the box starts" $?
in_box_time=300 in_box list python3 bypass.py allowed.example.test denied.example.test plain.example.test >"$work/got" 2>"$work/got.err"
check "every way was tried" $? "$(tail -n 3 "$work/got.err")"

log=$work/nginx/access.log
got() { sed -n "s/^$1 //p" "$work/got"; }
reached() { grep -q "/$1[? ]" "$log"; }
while read -r name status; do
	case $name in
	control-*)
		# nginx has no such file: 404 is the origin's own answer.
		reached "$name" && [ "$status" = 404 ]
		check "$name reaches the origin" $? "$status"
		;;
	dns-* | http09 | upgrade-h2c) ;;
	reused)
		! reached reused && [ "$status" = 421 ] && reached reused-first
		check "another Host on a connection that was good is 421" $? "$status"
		;;
	sni-differs | tls11)
		case $status in error | closed) true ;; *) false ;; esac
		check "$name is hung up on" $? "$status"
		;;
	literal-*)
		! reached "$name"
		check "$name reaches nobody" $? "$status"
		case $status in 403 | 421 | error | 404) true ;; *) false ;; esac
		check "$name fails at once" $? "$status"
		;;
	*)
		! reached "$name"
		check "$name does not reach the origin" $?
		case $status in 400 | 403 | 405 | 414 | 421 | 431 | 501 | 505 | closed) true ;; *) false ;; esac
		check "$name is refused" $? "$status"
		;;
	esac
done <"$work/got"
! reached smuggled
check "nothing was smuggled" $?
! grep -q '/secret/' "$log"
check "no path left /ok" $? "$(grep /secret/ "$log" | head -n 3)"
case $(got http09) in 400 | closed | silence | 505) ! reached http09 ;; *) false ;; esac
check "HTTP/0.9 is no request" $? "$(got http09)"
# Without the upgrade it is an ordinary request, and is answered as one.
[ "$(got upgrade-h2c)" = 404 ]
check "an upgrade to h2c is not taken" $? "$(got upgrade-h2c)"
same "any name has a synthetic address" "$(got dns-a)" "0/1/198.18.0.1"
same "AAAA: no data" "$(got dns-aaaa)" "0/0/198.18.0.1"
same "HTTPS records, which would carry ECH and h3: no data" "$(got dns-https)" "0/0/198.18.0.1"
same "TXT, how data leaves: no data" "$(got dns-txt)" "0/0/198.18.0.1"
same "a resolver of one's own is ours too, and answers as itself" "$(got dns-elsewhere)" "0/1/203.0.113.53"
same "new names too fast: no such name" "$(got dns-flood)" capped
holds "which the log flags" "$("$ostiary" log list --denied 2>&1)" "too fast"
holds "each refusal is in the log" "$("$ostiary" log list --denied --json 2>&1)" '"path":"/ok/host-differs"'

# --- ports on which this machine listens ------------------------------------------------------------

# A box listens on the twelve lowest of them: other runs on this machine have many, so ours is as low as can be.
python3 -c '
import itertools, os, socket, sys
for port in itertools.count(1024):
    try:
        s = socket.create_server(("127.0.0.1", port))
        break
    except OSError:
        pass
open(sys.argv[1] + ".new", "w").write(str(port))
os.rename(sys.argv[1] + ".new", sys.argv[1])
while True:
    c = s.accept()[0]
    c.sendall(b"hello from the host\n")
    c.close()
' "$work/low.port" >/dev/null 2>&1 &
door_pids+=($!)
within 60 test -s "$work/low.port"
port=$(cat "$work/low.port")
cat >"$work/ws/tcp.py" <<-'PY'
	import socket, sys
	s = socket.create_connection((sys.argv[1], int(sys.argv[2])), 60)
	s.sendall(sys.argv[3].encode())
	print(s.makefile("rb").read().decode())
PY
door_box host
out=$(in_box host curl -s -m 60 "http://host.docker.internal:$port/")
holds "a port of the host: the refusal has the exact rule" "$out" "ostiary allow host 'GET host.docker.internal:$port/ to=127.0.0.1:$port'"
out=$(in_box host python3 tcp.py host.docker.internal "$port" "$(printf 'not http\r\n')" 2>&1)
rule="tcp host.docker.internal:$port to=127.0.0.1:$port"
holds "also for what is no HTTP" "$out" "ostiary allow host '$rule'"
"$ostiary" allow host "$rule" >/dev/null
holds "which works" "$(in_box host python3 tcp.py host.docker.internal "$port" "" 2>&1)" "hello from the host"

# --- a port that no rule names ------------------------------------------------------------------------

cat >"$work/ws/ports.py" <<-'PY'
	import socket, sys
	for word in sys.argv[1:]:
	    host, port = word.split(":")
	    try:
	        socket.create_connection((host, int(port)), 60)
	        print(word, "connected")
	    except OSError as e:
	        print(word, e.strerror)
PY
same "a port that no rule names is refused at once" "$(in_box host python3 ports.py collector.example.test:4317 db.example.test:5432 192.0.2.7:4318)" \
	"collector.example.test:4317 Connection refused
db.example.test:5432 Connection refused
192.0.2.7:4318 Connection refused"
named() { "$ostiary" log host --denied --json | grep -q "\"host\":\"$1\".*\"port\":$2.*no rule names port"; }
within 60 named collector.example.test 4317 && within 60 named db.example.test 5432 && within 60 named 192.0.2.7 4318
check "and in the log, by name or address" $? "$("$ostiary" log host --denied --json | tail -n 3)"
closing() { (cd "$work/ws" && "$ostiary" run --level strict -- python3 ports.py "$1" 2>&1); }
holds "and in the closing lines, with the rule for HTTP" "$(closing collector.example.test:4317)" "--allow '* collector.example.test:4317'"
holds "or for raw bytes" "$(closing db.example.test:5432)" "--allow 'tcp db.example.test:5432'"
same "a scan of all ports is told of in few lines" \
	"$(in_box host python3 ports.py $(seq -f scan.example.test:%g 20000 20400) | grep -c refused) $([ "$("$ostiary" log host --denied | grep -c scan.example.test)" -le 60 ] && echo few)" "401 few"
exit "$bad"
