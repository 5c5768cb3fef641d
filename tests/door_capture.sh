#!/bin/bash
# suite: test=root,user soak=root,user timeout=240
# tier: namespaces and capture are set up in different ways by root and a user, and root looks into pid 1 besides
# door_capture.sh - where a program in a box ends up when it wants the network: its TCP connections at the
# door, its own servers with itself, everything else (UDP, ICMP, raw, IPv6, vsock, the host's loopback:
# cases 82, 87, 96, E9) refused at once. And the box holds no end of the door (E14).
set -u
. "$(dirname "$0")/lib_life.sh"

cc -static -O1 -D_GNU_SOURCE -o "$work/ws/capture" "$here/door/capture.c" || exit 1

# Somebody on the host's loopback whom nobody may reach, by TCP and by UDP on one port.
python3 - "$work/port" "$work/reached" <<'PY' &
import os, select, socket, sys
tcp = socket.socket(); tcp.bind(("127.0.0.1", 0)); tcp.listen()
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); udp.bind(tcp.getsockname())
with open(sys.argv[1] + ".new", "w") as f: f.write(str(tcp.getsockname()[1]))
os.rename(sys.argv[1] + ".new", sys.argv[1])
select.select([tcp, udp], [], [], 600)[0] and open(sys.argv[2], "w").write("reached")
PY
host=$!
wait_for 60 test -s "$work/port"
port=$(cat "$work/port")
out=$("$ostiary" run -q --rm -- ./capture "$port" 2>&1)
status=$?
printf '%s\n' "$out"
[ "$status" = 0 ] || bad=1
case $out in *'two links'*) ;; *) not_ok 'the visitor came to its end' "$out" ;; esac
[ ! -e "$work/reached" ]
check 'nothing of it reached the host' $? 'its listener on loopback was'
exec 9<>"/dev/tcp/127.0.0.1/$port"
exec 9>&-
wait_for 60 test -e "$work/reached"
check 'and it could have been reached (control)' $? 'the listener did not answer the host either'
kill "$host" 2>/dev/null
wait "$host" 2>/dev/null

# --- the very first thing a program does --------------------------------------------------------------------
# The link must carry before the first instruction of the box, or its first packet is lost for a second.
cat >"$work/first.c" <<'C'
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
int main(void)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(443), .sin_addr.s_addr = htonl(0xcb007107)};
	struct tcp_info i = {0};
	socklen_t n = sizeof i;
	int s = socket(AF_INET, SOCK_STREAM, 0);
	if (connect(s, (struct sockaddr *)&a, sizeof a) < 0 || getsockopt(s, IPPROTO_TCP, TCP_INFO, &i, &n) < 0)
		return 1;
	return i.tcpi_total_retrans ? 2 : 0; /* what was lost was sent again */
}
C
cc -static -O1 -o "$work/ws/first" "$work/first.c" || exit 1
late=''
for round in $(seq 20); do
	"$ostiary" run -q --rm -- ./first </dev/null >/dev/null 2>&1 || late="$late round $round: $?;"
done
[ -z "$late" ]
check 'the first connection of twenty boxes is taken at once' $? "$late"
late='' pids=()
for round in $(seq 20); do
	"$ostiary" run -q --rm -- ./first </dev/null >/dev/null 2>&1 &
	pids+=($!)
done
for pid in "${pids[@]}"; do
	wait "$pid" || late="$late status $?;"
done
[ -z "$late" ]
check 'also when they are started together' $? "$late"

# --- the box's end -------------------------------------------------------------------------------------------
"$ostiary" create -q --name "$tag" >/dev/null
out=$("$ostiary" exec "$tag" -- sh -c 'cat /etc/resolv.conf; ls -l /proc/self/fd')
holds 'the door is the name server' "$out" '*nameserver 198.18.0.1*'
[[ $out != *socket:* ]]
check 'a command has no socket that it did not make' $? "$out"
if [ "$(id -u)" = 0 ]; then
	supervisor=$("$ostiary" ps --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["data"][0]["supervisor_pid"])')
	init=''
	for pid in $(below "$supervisor"); do
		! grep -q '^NSpid:.*[[:space:]]1$' "/proc/$pid/status" || init=$pid
	done
	same 'pid 1 has one socket: its supervisor' "$(find "/proc/$init/fd" -lname 'socket:*' | wc -l)" 1
	same 'and no namespace' "$(find "/proc/$init/fd" -lname 'net:*' -o -lname 'user:*' | wc -l)" 0
	# Nobody is left in the door's namespace: it lives by its sockets alone.
	spaces=$(for pid in $(below "$supervisor") "$supervisor"; do readlink "/proc/$pid/ns/net"; done | sort -u | wc -l)
	[ "$spaces" -ge 2 ]
	check 'the box is in a network of its own' $? "$spaces"
	same 'its end is in the namespace of no process' "$(nsenter -t "$init" -n ip -o link show eth0 2>/dev/null | grep -c 'link-netnsid')" 1
fi
"$ostiary" rm -f "$tag" >/dev/null 2>&1

nothing_left 'nothing is left'
exit $bad
