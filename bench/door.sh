# door.sh - the part "door" of `make bench`: what a request through the door costs, beside other proxies.
#
# Read in by bench/run.sh, whose rows, as() and judge() it uses. Everything is on the loopback: an nginx as
# the origin and the client share one processor, each proxy has the other. What is compared is processor
# time of all processes of a proxy per request: that hardly moves when the machine is busy. Rounds are
# interleaved; figures are medians of DOOR_ROUNDS=3, each cell takes DOOR_SECONDS=1. DOOR_PEERS="haproxy"
# leaves the others out.
# HAProxy is a reverse proxy that terminates TLS on both sides and has one certificate: a ceiling, not a
# rival. It has no policy, no log, no box, and makes no certificates. It speaks HTTP/1.1 to the origin; ours
# speaks what the origin offers: "ostiary" has one with HTTP/2, "ostiary-h1" one without.
# shellcheck shell=bash disable=SC2154

door_rounds=${DOOR_ROUNDS:-3} door_seconds=${DOOR_SECONDS:-1} door_idle_n=200 door_names_n=40
door_host=bench.example.test door_peers=${DOOR_PEERS:-haproxy squid mitmdump srt}
declare -A door_port door_pid door_v
door_targets=() door_started=() door_box=

# --- the others ----------------------------------------------------------------------------------------

# door_begin NAME CMD...: on the proxies' processor, as the user, until the end of this part.
door_begin() {
	local name=$1 core=$proxy_core to=()
	shift
	[ "$name" != origin ] || core=$client_core
	[ "$uid" = "$me" ] || to=(setpriv --reuid "$uid" --regid "$uid" --clear-groups)
	(cd "$door_dir" && exec env -i PATH="$PATH:/usr/sbin" LANG=C.UTF-8 HOME="$door_dir" "${to[@]}" taskset -c "$core" "$@") \
		>"$door_dir/$name.log" 2>&1 </dev/null &
	door_pid[$name]=$!
	door_started+=($!)
}

door_ports() { # a run of free ports
	local base name i
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		base=$((20000 + RANDOM % 10000)) i=0
		for name in origin origin-h1 names direct haproxy squid mitmdump srt; do
			(exec 3<>"/dev/tcp/127.0.0.1/$((base + i))") 2>/dev/null && continue 2
			door_port[$name]=$((base + i)) i=$((i + 1))
		done
		return
	done
}

door_wait() { # name: until it listens
	local i
	for ((i = 0; i < 150; i++)); do
		(exec 3<>"/dev/tcp/127.0.0.1/${door_port[$1]}") 2>/dev/null && return 0
		kill -0 "${door_pid[$1]}" 2>/dev/null || return 1
		sleep 0.1
	done
	return 1
}

door_certificates() {
	local d=$door_dir
	{
		openssl ecparam -name prime256v1 -genkey -noout -out "$d/ca.key" &&
			openssl req -x509 -new -key "$d/ca.key" -days 30 -subj '/CN=bench authority' -out "$d/ca.pem" &&
			openssl ecparam -name prime256v1 -genkey -noout -out "$d/o.key" &&
			openssl req -new -key "$d/o.key" -subj "/CN=$door_host" -out "$d/o.csr" &&
			printf 'subjectAltName=DNS:%s,DNS:*.m.%s,DNS:h1.%s,DNS:localhost,IP:127.0.0.1\nextendedKeyUsage=serverAuth\n' \
				"$door_host" "$door_host" "$door_host" >"$d/ext" &&
			openssl x509 -req -in "$d/o.csr" -CA "$d/ca.pem" -CAkey "$d/ca.key" -CAcreateserial -days 30 \
				-extfile "$d/ext" -out "$d/o.pem" && cat "$d/o.pem" "$d/o.key" >"$d/o.both" &&
			cat "$d/ca.key" "$d/ca.pem" >"$d/ca.both"
	} 2>"$d/openssl.log" || { cat "$d/openssl.log" >>"$scratch/errors" && return 1; }
}

door_nginx() { # name server...
	local name=$1
	shift
	cat >"$door_dir/$name.conf" <<-C
		daemon off; worker_processes 1; pid $door_dir/$name.pid; error_log stderr;
		events { worker_connections 4096; }
		http {
			access_log off; default_type application/octet-stream; sendfile on; tcp_nodelay on; open_file_cache max=100;
			keepalive_requests 10000000; keepalive_timeout 300; http2_max_concurrent_streams 256;
			client_body_temp_path tmp; proxy_temp_path tmp; fastcgi_temp_path tmp; uwsgi_temp_path tmp; scgi_temp_path tmp;
			ssl_protocols TLSv1.2 TLSv1.3; ssl_certificate $door_dir/o.pem; ssl_certificate_key $door_dir/o.key;
			root $door_dir/www; $*
		}
	C
}

# The origin for "names" keeps no connection and gives no ticket, so that a name that was seen before
# costs the same on that side as a new one.
door_configure() {
	local d=$door_dir certgen
	door_nginx origin "server { listen 127.0.0.1:${door_port[origin]} ssl http2 backlog=4096; }
		server { listen 127.0.0.1:${door_port[origin-h1]} ssl backlog=4096; }
		server { listen 127.0.0.1:${door_port[names]} ssl; keepalive_timeout 0; ssl_session_tickets off; }"
	door_nginx direct "server { listen 127.0.0.1:${door_port[direct]} ssl http2 backlog=4096; }"
	cat >"$d/haproxy.cfg" <<-C
		global
		  nbthread 1
		  maxconn 4000
		defaults
		  mode http
		  timeout connect 5s
		  timeout client 60s
		  timeout server 60s
		  http-reuse always
		frontend f
		  bind 127.0.0.1:${door_port[haproxy]} ssl crt $d/o.both alpn h2,http/1.1
		  default_backend b
		backend b
		  server s 127.0.0.1:${door_port[origin]} ssl verify required ca-file $d/ca.pem sni str($door_host) verifyhost $door_host alpn http/1.1
	C
	certgen=$(dpkg -L squid-openssl 2>/dev/null | grep 'security_file_certgen$' | head -n 1)
	cat >"$d/squid.conf" <<-C
		http_port 127.0.0.1:${door_port[squid]} ssl-bump tls-cert=$d/ca.both generate-host-certificates=on dynamic_cert_mem_cache_size=16MB
		sslcrtd_program $certgen -s $d/ssl_db -M 16MB
		sslcrtd_children 4 startup=1 idle=1
		acl step1 at_step SslBump1
		ssl_bump peek step1
		ssl_bump bump all
		tls_outgoing_options cafile=$d/ca.pem
		acl here src 127.0.0.1
		http_access allow here
		cache deny all
		access_log none
		cache_log /dev/null
		cache_store_log none
		pid_filename $d/squid.pid
		coredump_dir none
		shutdown_lifetime 1 seconds
		visible_hostname bench
		via off
		pconn_timeout 300 seconds
	C
	[ -z "$certgen" ] || as "$uid $home" "$certgen" -c -s "$d/ssl_db" -M 16MB >/dev/null 2>&1
	# Only the proxy of sandbox-runtime, outside any sandbox: all of its cost is in there.
	cat >"$d/srt.mjs" <<-'M'
		import { readFileSync } from 'node:fs';
		const [base, port, ca] = process.argv.slice(2);
		const { createHttpProxyServer } = await import(base + '/http-proxy.js');
		const { createMitmCA } = await import(base + '/mitm-ca.js');
		createHttpProxyServer({ filter: () => true, mitmCA: await createMitmCA({}),
			tlsTerminateUpstreamCA: readFileSync(ca, 'utf8'), filterRequest: () => ({ action: 'allow' }),
		}).listen(Number(port), '127.0.0.1');
	M
}

door_peer() { [[ " $door_peers " = *" $1 "* ]] && has "$1"; }

door_others() {
	local name d=$door_dir
	PATH=$PATH:/usr/sbin
	has nginx && has openssl || return 1
	door_begin origin nginx -c "$d/origin.conf" -p "$d" -e stderr
	door_wait origin || return 1
	door_begin direct nginx -c "$d/direct.conf" -p "$d" -e stderr
	door_peer haproxy && door_begin haproxy haproxy -db -f "$d/haproxy.cfg"
	door_peer squid && door_begin squid squid -N -f "$d/squid.conf"
	door_peer mitmdump && door_begin mitmdump mitmdump -q --listen-host 127.0.0.1 -p "${door_port[mitmdump]}" --set "confdir=$d/mitm" \
		--set "ssl_verify_upstream_trusted_ca=$d/ca.pem" --set flow_detail=0
	[ -e "$srt" ] && has node && [[ " $door_peers " = *" srt "* ]] &&
		door_begin srt node "$d/srt.mjs" "$top/${srt%/cli.js}/sandbox" "${door_port[srt]}" "$d/ca.pem"
	for name in direct haproxy squid mitmdump srt; do
		[ -n "${door_pid[$name]:-}" ] || continue
		if door_wait "$name"; then
			door_targets+=("$name")
		else
			echo "$name did not start: $(tail -n 1 "$d/$name.log")" >>"$scratch/errors"
		fi
	done
}

door_end() {
	local p
	[ -z "$door_box" ] || as "$uid $home" "$ours" rm -f "$door_box" >/dev/null 2>&1
	for p in "${door_started[@]}"; do door_tree "$p" | xargs -r kill 2>/dev/null; done
	sleep 0.3
	for p in "${door_started[@]}"; do
		door_tree "$p" | xargs -r kill -9 2>/dev/null
		wait "$p" 2>/dev/null
	done
}

# --- ours -----------------------------------------------------------------------------------------------

door_rules() {
	rules=(--level strict --allow "GET $door_host:443 to=127.0.0.1:${door_port[origin]} ca=$door_dir/ca.pem"
		--allow "GET h1.$door_host:443 to=127.0.0.1:${door_port[origin-h1]} ca=$door_dir/ca.pem"
		--allow "GET *.m.$door_host:443 to=127.0.0.1:${door_port[names]} ca=$door_dir/ca.pem")
}

door_ours() {
	local rules began at i seen=()
	door_rules
	(cd "$ws" && as "$uid $home" taskset -c "$proxy_core" "$ours" create -q --name bench-door "${rules[@]}") \
		>/dev/null 2>>"$scratch/errors" || return 1
	door_box=bench-door
	door_pid[ostiary]=$(as "$uid $home" "$ours" ps --json | tr '{' '\n' | sed -n '/"name": *"bench-door"/s/.*"supervisor_pid": *\([0-9]*\).*/\1/p')
	door_pid[ostiary-h1]=${door_pid[ostiary]}
	door_client ostiary -m first >/dev/null 2>>"$scratch/errors" || return 1
	door_targets+=(ostiary ostiary-h1)
	for i in 1 2 3 4 5; do
		began=$EPOCHREALTIME
		at=$(cd "$ws" && as "$uid $home" timeout 20 "$ours" run -q --rm "${rules[@]}" -- "$ws/load" -m first -h "$door_host" 2>>"$scratch/errors") || continue
		seen+=("$(awk -v a="$began" -v b="$at" 'BEGIN { printf "%.1f", (b - a) * 1000 }')")
	done
	door_v[first]=$(printf '%s\n' "${seen[@]}" | sort -n | sed -n "$(((${#seen[@]} + 1) / 2))p")
}

# --- measuring ------------------------------------------------------------------------------------------

door_tree() {
	local c
	echo "$1"
	for c in $(cat "/proc/$1/task/"*/children 2>/dev/null); do door_tree "$c"; done
}

# door_processes TARGET: all that work for it. Of ours the supervisor and the roles, not what is in the box.
door_processes() {
	local p name
	if [[ $1 != ostiary* ]]; then
		door_tree "${door_pid[$1]}"
		return
	fi
	echo "${door_pid[$1]}"
	for p in $(cat "/proc/${door_pid[$1]}/task/"*/children 2>/dev/null); do
		read -r name <"/proc/$p/comm" || continue
		case $name in ostiary-init | ostiary-door) ;; *) echo "$p" ;; esac # the box; one that makes an authority
	done 2>/dev/null
}

door_private() { # target [name]: KiB of its processes, or of those with that name
	local p name sum=0 kib
	for p in $(door_processes "$1"); do
		read -r name <"/proc/$p/comm" || continue
		[ -z "${2:-}" ] || [ "$name" = "$2" ] || continue
		kib=$(awk '/^Private_(Clean|Dirty):/ { s += $2 } END { print s + 0 }' "/proc/$p/smaps_rollup" 2>/dev/null)
		sum=$((sum + ${kib:-0}))
	done 2>/dev/null
	echo "$sum"
}

door_client() { # target args...
	local t=$1 load=("$scratch/bin/load" -C "$client_core") who="$uid $home" origin=origin
	shift
	case " $* " in *" -m names "*) origin=names ;; esac
	case $t in
	ostiary) as "$who" timeout 30 "$ours" exec "$door_box" -- "$ws/load" -C "$client_core" -h "$door_host" "$@" ;;
	ostiary-h1) as "$who" timeout 30 "$ours" exec "$door_box" -- "$ws/load" -C "$client_core" -h "h1.$door_host" "$@" ;;
	direct | haproxy) as "$who" timeout 30 "${load[@]}" -h "$door_host" -a 127.0.0.1 -p "${door_port[$t]}" "$@" ;;
	*) as "$who" timeout 30 "${load[@]}" -h "$door_host" -x "${door_port[$t]}" -p "${door_port[$origin]}" "$@" ;;
	esac
}

# door_log_cpu PIDS: processor time of the one among them that writes the log. There is no switch for the log,
# because nothing passes unlogged; without that process what is left still holds what it costs egress to tell it,
# so the figure is an upper bound of one without a log.
door_log_cpu() {
	local p name sum=0
	for p in $1; do
		read -r name <"/proc/$p/comm" || continue
		[ "$name" != ostiary-audit ] || sum=$((sum + $("$scratch/bin/load" cpu "$p")))
	done 2>/dev/null
	echo "$sum"
}

# door_cell TARGET CELL ARGS...: one line to the table of raw figures.
door_cell() {
	local t=$1 cell=$2 pids before after line log log_before
	shift 2
	pids=$(door_processes "$t")
	# shellcheck disable=SC2086
	before=$("$scratch/bin/load" cpu $pids) log_before=$(door_log_cpu "$pids")
	line=$(door_client "$t" "$@" 2>>"$scratch/errors" </dev/null)
	# shellcheck disable=SC2086
	after=$("$scratch/bin/load" cpu $pids) log=$(($(door_log_cpu "$pids") - log_before))
	echo "$t $cell $((after - before)) ${line:-0 1 0 0 0 0}" >>"$door_dir/raw"
	echo "$t $cell-unlogged $((after - before - log)) ${line:-0 1 0 0 0 0}" >>"$door_dir/raw"
}

door_idle() { # target: private memory per open connection that does nothing
	local t=$1 i name='' before after pid
	[[ $t != ostiary* ]] || name=ostiary-egress
	door_v[$t,idle]=$(door_private "$t" "$name")
	mkfifo "$door_dir/hold.$t"
	exec 8<>"$door_dir/hold.$t"
	before=${door_v[$t,idle]}
	: >"$door_dir/held"
	door_client "$t" -m idle -c "$door_idle_n" <"$door_dir/hold.$t" >"$door_dir/held" 2>>"$scratch/errors" 8>&- &
	pid=$!
	for ((i = 0; i < 200; i++)); do
		[ ! -s "$door_dir/held" ] || break
		kill -0 "$pid" 2>/dev/null || break
		sleep 0.1
	done
	sleep 0.2
	after=$(door_private "$t" "$name")
	[ ! -s "$door_dir/held" ] || [ "$before" = 0 ] ||
		door_v[$t,held]=$(awk -v a="$after" -v b="$before" -v n="$door_idle_n" 'BEGIN { printf "%.1f", (a - b) / n }')
	exec 8>&-
	wait "$pid" 2>/dev/null
}

# door_medians: of the raw figures into door_v[TARGET,CELL,FIELD].
door_medians() {
	local key value
	while read -r key value; do door_v[$key]=$value; done < <(awk '
		function put(k, v) { all[k] = all[k] " " v }
		function median(s,   a, n, i, j, x) {
			n = split(s, a, " ")
			for (i = 2; i <= n; i++) for (j = i; j > 1 && a[j - 1] + 0 > a[j] + 0; j--) { x = a[j]; a[j] = a[j - 1]; a[j - 1] = x }
			return a[int((n + 1) / 2)]
		}
		{ k = $1 "," $2; errors[k] += $5
		  if ($4 < 1) next
		  put(k ",us", $3 / 1000 / $4); put(k ",rate", $4 / $6); put(k ",p50", $8); put(k ",p99", $9)
		  put(k ",mb", $7 / $6 / 1e6); put(k ",core", $3 > 0 ? $7 / ($3 / 1e9) / 1e6 : 0) }
		END { for (k in all) printf "%s %.1f\n", k, median(all[k]); for (k in errors) print k ",errors", errors[k] }' "$door_dir/raw")
}

# --- the part -------------------------------------------------------------------------------------------

door_measure() {
	local r t n
	for t in "${door_targets[@]}"; do
		door_client "$t" -m keep -c 2 -t 0.3 >/dev/null 2>&1 </dev/null
		case $t in squid | srt) ;; *) door_client "$t" -m h2 -c 4 -s 16 -n 200 >/dev/null 2>&1 </dev/null ;; esac
		door_idle "$t"
	done
	for ((r = 0; r < door_rounds; r++)); do
		for t in "${door_targets[@]}"; do door_cell "$t" seq -m keep -t "$door_seconds"; done
		for t in "${door_targets[@]}"; do door_cell "$t" small -m keep -c 16 -t "$door_seconds"; done
		for t in "${door_targets[@]}"; do door_cell "$t" large -m keep -c 4 -u /1m -t "$door_seconds"; done
		for t in "${door_targets[@]}"; do door_cell "$t" new -m new -c 8 -t "$door_seconds"; done
		for t in "${door_targets[@]}"; do
			case $t in
			direct | haproxy | ostiary-h1) continue ;; # one certificate; the same as ostiary
			esac
			n=$door_names_n
			[ "$t" != srt ] || n=6 # 0.2 s each
			door_cell "$t" fresh -m names -c 4 -n "$n" -T "r$r"
			door_cell "$t" again -m names -c 4 -n "$n" -T "r$r"
		done
		for t in "${door_targets[@]}"; do
			case $t in squid | srt) continue ;; esac # no HTTP/2
			door_cell "$t" h2 -m h2 -c 4 -s 16 -t "$door_seconds"
		done
	done
}

# door_changes: 10,000 changes of rules over one connection, while clients in the box ask all the time. After
# everything else: the rules stay.
door_changes() {
	local load line
	[ -n "$door_box" ] && has python3 || return 0
	door_client ostiary -m keep -c 4 -t 20 >/dev/null 2>&1 </dev/null &
	load=$!
	# The supervisor talks to its own user only, who may not be able to read our tree.
	mkdir -p "$door_dir/top/tests/door" "$door_dir/top/src/wire"
	cp tests/door/changes.py "$door_dir/top/tests/door/"
	cp src/wire/msg.h "$door_dir/top/src/wire/"
	line=$(as "$uid $home" timeout 60 python3 -B "$door_dir/top/tests/door/changes.py" \
		"$home/.local/state/ostiary/boxes/$door_box/ctl" 10000 "$door_host" 2>>"$scratch/errors") &&
		read -r "door_v[change,p50]" "door_v[change,p99]" _ <<<"$line"
	kill "$load" 2>/dev/null
	wait "$load" 2>/dev/null
}

door_table() {
	local t c line v
	echo
	echo "Requests through a TLS-terminating proxy: processor time of all its processes in us (and how many per second)"
	printf '  %-10s %17s %17s %17s %13s %13s %17s\n' '' 'keep-alive' 'new connection' 'h2 stream' 'new name' 'name again' '1 MiB: MB/s core'
	for t in "${door_targets[@]}"; do
		line=$(printf '  %-10s' "$t")
		for c in small new h2; do
			v=${door_v[$t,$c,us]:--}
			[ "$v" = - ] || v="$v ($(printf '%.0f' "${door_v[$t,$c,rate]}"))"
			line+=$(printf ' %17s' "$v")
		done
		line+=$(printf ' %13s %13s' "${door_v[$t,fresh,us]:--}" "${door_v[$t,again,us]:--}")
		v=${door_v[$t,large,core]:--}
		[ "$v" = - ] || v="$v ($(printf '%.0f' "${door_v[$t,large,mb]}"))"
		printf '%s %17s\n' "$line" "$v"
	done
	echo
	echo "One client, one request after the other (us); private memory (of ours: egress)"
	printf '  %-10s %9s %9s %17s %13s %19s %9s\n' '' p50 p99 'p50 over direct' 'idle MiB' 'KiB per connection' errors
	for t in "${door_targets[@]}"; do
		v=0
		for c in seq small large new fresh again h2; do v=$((v + ${door_v[$t,$c,errors]:-0})); done
		printf '  %-10s %9.0f %9.0f %17.0f %13s %19s %9s\n' "$t" "${door_v[$t,seq,p50]:-0}" "${door_v[$t,seq,p99]:-0}" \
			"$(awk -v a="${door_v[$t,seq,p50]:-0}" -v b="${door_v[direct,seq,p50]:-0}" 'BEGIN { print a - b }')" \
			"$(awk -v k="${door_v[$t,idle]:-0}" 'BEGIN { if (k > 0) printf "%.1f", k / 1024; else print "-" }')" "${door_v[$t,held]:--}" "$v"
	done
	[ -z "${door_v[first]:-}" ] ||
		echo "  A fresh box, from the command line to the whole of its first answer: ${door_v[first]} ms (median of 5)."
	[ -z "${door_v[change,p50]:-}" ] ||
		echo "  A change of rules under load, until it is in force: ${door_v[change,p50]} us, 99th percentile ${door_v[change,p99]} us (10,000 changes)."
}

door_less() { # a b: a - b, or -
	awk -v a="$1" -v b="$2" 'BEGIN { if (a == "-" || b == "-") print "-"; else printf "%.2f", a - b }'
}

door_judge() {
	local o=ostiary h=haproxy v with
	for o in ostiary ostiary-h1; do
		with=${o#ostiary} with=${with:+, HTTP/1.1 origin}
		judge "door: keep-alive request, policy and log on / HAProxy$with" "$(ratio "${door_v[$o,small,us]:--1}" "${door_v[$h,small,us]:-0}")" 1.7
		judge "door: keep-alive request, without the log's writer / HAProxy$with" "$(ratio "${door_v[$o,small-unlogged,us]:--1}" "${door_v[$h,small,us]:-0}")" 1.3
		judge "door: h2 request / HAProxy$with" "$(ratio "${door_v[$o,h2,us]:--1}" "${door_v[$h,h2,us]:-0}")" 1.7
		judge "door: 1 MiB, HAProxy's MB/s per core / ours$with" "$(ratio "${door_v[$h,large,core]:--1}" "${door_v[$o,large,core]:-0}")" 1.25
	done
	o=ostiary
	judge "door: keep-alive request / sandbox-runtime" "$(ratio "${door_v[$o,small,us]:--1}" "${door_v[srt,small,us]:-0}")" 0.17
	judge "door: new connection / HAProxy" "$(ratio "${door_v[$o,new,us]:--1}" "${door_v[$h,new,us]:-0}")" 1.5
	v=$(door_less "${door_v[$o,fresh,us]:--}" "${door_v[$o,again,us]:--}")
	[ "$v" = - ] || v=$(awk -v v="$v" 'BEGIN { printf "%.2f", v / 1000 }')
	judge "door: a name never seen before, ms more than one seen" "$v" 0.3
	judge "door: p50 of one client, us more than with HAProxy" "$(door_less "${door_v[$o,seq,p50]:--}" "${door_v[$h,seq,p50]:--}")" 60
	v=-
	[ "${door_v[$o,idle]:-0}" = 0 ] || v=$(awk -v k="${door_v[$o,idle]}" 'BEGIN { printf "%.2f", k / 1024 }')
	judge "door: private memory of egress, idle, MiB" "$v" 8
	judge "door: private memory per idle connection, KiB" "${door_v[$o,held]:--}" 48
	judge "door: a change of rules under load, 99th percentile, us" "${door_v[change,p99]:--}" 2000
}

part_door() {
	local t c proxy_core client_core cores
	cores=$(taskset -cp $$ | sed 's/.*: //' | tr ',' '\n' | awk -F- '{ for (i = $1; i <= ($2 == "" ? $1 : $2); i++) print i }')
	client_core=$(sed -n 1p <<<"$cores") proxy_core=$(sed -n 2p <<<"$cores")
	proxy_core=${proxy_core:-$client_core}
	door_dir=$scratch/door
	mkdir -p "$door_dir/www" "$door_dir/tmp" "$door_dir/mitm"
	head -c 200 /dev/zero | tr '\0' x >"$door_dir/www/small"
	head -c 1048576 /dev/urandom >"$door_dir/www/1m"
	door_ports
	gcc -D_GNU_SOURCE -std=gnu17 -O2 -pthread -o "$scratch/bin/load" bench/load.c bench/load_h2.c -lssl -lcrypto -lnghttp2 && door_certificates || return 1
	cp "$scratch/bin/load" "$ws/"
	[ "$me" != 0 ] || chown -R "$uid:$uid" "$door_dir" "$ws"
	door_configure
	if door_others; then
		door_ours || echo "The door does not answer here; its row is left out."
		door_measure
		door_changes
		door_medians
		door_table
		door_judge
		for t in "${door_targets[@]}"; do
			for c in seq small large new fresh again h2; do
				[ -z "${door_v[$t,$c,us]:-}" ] || samples+=("{\"part\":\"door\",\"name\":\"$t-$c\",\"cpu_us\":${door_v[$t,$c,us]},\"per_second\":${door_v[$t,$c,rate]},\"p50_us\":${door_v[$t,$c,p50]},\"p99_us\":${door_v[$t,$c,p99]},\"errors\":${door_v[$t,$c,errors]}}")
			done
		done
	else
		echo "The part door needs nginx and openssl; it is left out."
	fi
	door_end
}
