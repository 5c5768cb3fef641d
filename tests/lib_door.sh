# lib_door.sh - origins behind the door for the suites tests/door_*.sh: a CA, nginx with TLS and HTTP/2, and
# the odd server of tests/door/origin.py, all on loopback.
#
# Sourced after tests/lib.sh. A rule says where a made-up name lives: `to=127.0.0.1:PORT ca=FILE`. Everything
# started here is ended by its pid.
# shellcheck shell=bash disable=SC2034,SC2154
door_pids=()
door_finish() {
	local p
	for p in "${door_pids[@]}"; do kill "$p" 2>/dev/null; done
	for p in "${door_pids[@]}"; do wait "$p" 2>/dev/null; done
	lib_finish
}
trap door_finish EXIT

# free_port: one that nobody listens on now and that this suite has not been given yet. Below the ports that the kernel
# hands out by itself, and apart from those of the suite that runs beside this one ($SUITE_PORTS).
free_port() {
	python3 - "${SUITE_PORTS:-20000}" "$work/ports.given" <<-'PY'
		import random, socket, sys
		base, given = int(sys.argv[1]), sys.argv[2]
		try:
		    taken = set(open(given).read().split())
		except FileNotFoundError:
		    taken = set()
		while True:
		    port = base + random.randrange(1000)
		    if str(port) in taken:
		        continue
		    taken.add(str(port))
		    try:
		        socket.socket().bind(("127.0.0.1", port))
		        break
		    except OSError:
		        pass
		open(given, "a").write(f"{port}\n")
		print(port)
	PY
}

# listens PORT: wait until somebody does, on loopback.
listens() { within 60 bash -c "exec 3<>/dev/tcp/127.0.0.1/$1"; }

# door_cert NAME SAN [openssl x509 options...]: $work/NAME.pem and .key, signed by $work/ca.pem.
door_cert() {
	local name=$1 san=$2
	shift 2
	openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$work/$name.key" \
		-subj "/CN=$name" -out "$work/$name.csr" 2>/dev/null
	openssl x509 -req -in "$work/$name.csr" -CA "$work/ca.pem" -CAkey "$work/ca.key" -CAcreateserial \
		-extfile <(printf 'subjectAltName=%s\n' "$san") -out "$work/$name.pem" -days 30 "$@" 2>/dev/null
}
door_ca() {
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$work/ca.key" -days 30 \
		-subj "/CN=test authority" -out "$work/ca.pem" 2>/dev/null
	door_cert origin 'DNS:*.example.test,DNS:example.test,IP:127.0.0.1'
}

# door_nginx: $nginx_tls (h2 and h1) and $nginx_plain, files below $work/www.
door_nginx() {
	nginx_tls=$(free_port) nginx_plain=$(free_port)
	mkdir -p "$work/www" "$work/nginx"
	echo "hello from nginx" >"$work/www/hello"
	head -c 1048576 /dev/urandom >"$work/www/big"
	cat >"$work/nginx.conf" <<-CONF
		daemon off; master_process off; pid $work/nginx/pid; error_log $work/nginx/error.log;
		events { worker_connections 1024; }
		http {
			access_log $work/nginx/access.log; default_type text/plain;
			client_body_temp_path $work/nginx; proxy_temp_path $work/nginx; fastcgi_temp_path $work/nginx;
			uwsgi_temp_path $work/nginx; scgi_temp_path $work/nginx;
			server {
				listen 127.0.0.1:$nginx_tls ssl http2; listen 127.0.0.1:$nginx_plain;
				ssl_certificate $work/origin.pem; ssl_certificate_key $work/origin.key;
				root $work/www;
				location = /name { return 200 "\$host \$server_protocol \$http_user_agent\n"; }
				location /teapot { return 418 "short and stout\n"; }
			}
		}
	CONF
	/usr/sbin/nginx -c "$work/nginx.conf" -p "$work/nginx" 2>>"$work/nginx.err" &
	door_pids+=($!)
	listens "$nginx_tls"
}

# door_odd: $odd_tls and $odd_plain, the server of tests/door/origin.py.
door_odd() {
	python3 "$top/tests/door/origin.py" 0 "$work/origin.pem" "$work/origin.key" >"$work/odd_tls" 2>/dev/null &
	door_pids+=($!)
	python3 "$top/tests/door/origin.py" 0 >"$work/odd_plain" 2>/dev/null &
	door_pids+=($!)
	within 60 test -s "$work/odd_tls" -a -s "$work/odd_plain" || return 1
	odd_tls=$(cat "$work/odd_tls") odd_plain=$(cat "$work/odd_plain")
}

# tls_rule METHODS NAME PORT [PATH]: the words after allow.
tls_rule() { echo "$1 $2:443${4:-} to=127.0.0.1:$3 ca=$work/ca.pem"; }
plain_rule() { echo "$1 $2:80${4:-} to=127.0.0.1:$3"; }

# door_box NAME FLAG...: a box that waits, in which `in_box NAME CMD...` runs things.
door_box() {
	local name=$1
	shift
	(cd "$work/ws" && "$ostiary" create -q --name "$name" --level strict "$@")
}
in_box() {
	local name=$1
	shift
	timeout -k 2 "${in_box_time:-150}" "$ostiary" exec "$name" -- "$@" </dev/null
}

# door_needs NAME TOOL...: the suite NAME is skipped where one is missing.
door_needs() {
	local name=$1 tool
	shift
	for tool; do
		has "$tool" || { skip "$name" "$tool is missing" && exit 0; }
	done
}

# door_trial SAN: the origin that writes down what reaches it ($work/seen); $h1, $h2, $plain and $tcp are its ports.
door_trial() {
	door_ca
	door_cert origin "$1"
	mkdir -p "$work/seen"
	/usr/bin/python3 "$top/tests/custody/trial_origin.py" "$work/seen" "$work/origin.pem" "$work/origin.key" >"$work/ports" 2>"$work/origin.err" &
	door_pids+=($!)
	within 60 grep -q h1= "$work/ports"
	check "the origin is up" $? "$(cat "$work/origin.err")"
	h1=$(sed -n 's/.*h1=\([0-9]*\).*/\1/p' "$work/ports")
	h2=$(sed -n 's/.* h2=\([0-9]*\).*/\1/p' "$work/ports")
	plain=$(sed -n 's/.*plain=\([0-9]*\).*/\1/p' "$work/ports")
	tcp=$(sed -n 's/.*tcp=\([0-9]*\).*/\1/p' "$work/ports")
}

# run_parts FUNCTION...: the parts of a suite, which do not need each other. When one check is wanted (SUITE_CHECK), only the
# parts whose text contains it; when none does, since names may be put together at run time, all of them.
run_parts() {
	local part wanted=()
	for part; do
		case $(declare -f "$part") in *"${SUITE_CHECK:-}"*) wanted+=("$part") ;; esac
	done
	[ ${#wanted[@]} -gt 0 ] || wanted=("$@")
	for part in "${wanted[@]}"; do "$part"; done
}
