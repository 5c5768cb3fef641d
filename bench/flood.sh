# flood.sh - the part "flood" of `make bench`: how long others wait while a box or an origin floods the door.
#
# Read in by bench/run.sh, whose judge() it uses. For each attack of tests/door_flood.sh a program in the box makes it again
# and again, and meanwhile an honest one asks FLOOD_ASKS=200 times, and rules and secrets are changed FLOOD_CHANGES=20 times
# each over one connection to the supervisor (tests/door/flood_waits.py). Milliseconds, 99th percentile; they are worth
# something on a quiet machine only.
# shellcheck shell=bash disable=SC2154

flood_asks=${FLOOD_ASKS:-200} flood_changes=${FLOOD_CHANGES:-20}
flood_attacks=(none:any:1 post:nested:4 get:members:4 get:blocks:4 hold:br:60 unread:zstd-long:20 chunks:up:20000 idle:any:4200
	storm:rapid-reset:4000 storm:bomb:200 h2:ping:3 h2:continuation:3 ws:any:20000 get:interim:5 json:any:50000)
flood_pids=()

flood_origin() { # name, arguments: its port in $flood_dir/NAME.port
	local name=$1 i
	shift
	python3 -B tests/door/flood_origin.py "$@" >"$flood_dir/$name.port" 2>>"$scratch/errors" &
	flood_pids+=($!)
	for ((i = 0; i < 100; i++)); do
		[ ! -s "$flood_dir/$name.port" ] || return 0
		sleep 0.1
	done
	return 1
}

flood_box() {
	local i
	{
		echo "allow * flood.example.test:80 to=127.0.0.1:$(cat "$flood_dir/flood.port")"
		echo "allow * honest.example.test:80 to=127.0.0.1:$(cat "$flood_dir/honest.port")"
		echo "allow * body.example.test:80 to=127.0.0.1:$(cat "$flood_dir/flood.port") json:/a=b"
		echo "allow * h2.example.test:443 to=127.0.0.1:$(cat "$flood_dir/h2.port") ca=$flood_dir/ca.pem"
		for ((i = 0; i < flood_changes * ${#flood_attacks[@]}; i++)); do
			echo "secret FLOOD_KEY_$i from file $flood_dir/key at api.example.test as header x-key-$i"
		done
	} >"$flood_dir/policy"
	echo "flood-$RANDOM$RANDOM$RANDOM$RANDOM-0123456789abcdef" >"$flood_dir/key"
	chmod 600 "$flood_dir/key"
	cp tests/door/flood_client.py tests/door/flood_bodies.py tests/door/h2raw.py tests/door/flood_waits.py "$ws/"
	[ "$me" != 0 ] || chown -R "$uid:$uid" "$flood_dir" "$ws"
	(cd "$ws" && as "$uid $home" "$ours" create -q --name bench-flood --level strict --policy "$flood_dir/policy") >/dev/null 2>>"$scratch/errors"
}

flood_one() { # number of the attack
	local attack=${flood_attacks[$1]} ctl=$home/.local/state/ostiary/boxes/bench-flood/ctl names='' i busy line
	for ((i = $1 * flood_changes; i < ($1 + 1) * flood_changes; i++)); do names+=" FLOOD_KEY_$i"; done
	(cd "$ws" && as "$uid $home" timeout 120 "$ours" exec bench-flood -- python3 -B flood_waits.py asks "$attack" "$flood_asks") \
		>"$flood_dir/asks" 2>>"$scratch/errors" </dev/null &
	busy=$!
	for ((i = 0; i < 100; i++)); do
		grep -q begun "$flood_dir/asks" 2>/dev/null && break
		sleep 0.05
	done
	# shellcheck disable=SC2086
	line=$(as "$uid $home" timeout 100 python3 -B "$flood_dir/top/tests/door/flood_waits.py" changes "$ctl" $names 2>>"$scratch/errors")
	wait "$busy"
	printf '  %-24s %s %s\n' "${attack%:*}" "$(sed -n 2p "$flood_dir/asks")" "$line"
	flood_words+=" $(sed -n 2p "$flood_dir/asks") $line"
}

part_flood() {
	local i worst what
	has python3 || return 0
	flood_dir=$scratch/flood flood_words=''
	mkdir -p "$flood_dir/top/tests/door" "$flood_dir/top/src/wire"
	cp tests/door/flood_waits.py tests/door/flood_client.py tests/door/flood_bodies.py tests/door/h2raw.py "$flood_dir/top/tests/door/"
	cp src/wire/msg.h "$flood_dir/top/src/wire/"
	{
		openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$flood_dir/ca.key" -days 30 -subj '/CN=bench authority' -out "$flood_dir/ca.pem" &&
			openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$flood_dir/o.key" -subj /CN=o -out "$flood_dir/o.csr" &&
			openssl x509 -req -in "$flood_dir/o.csr" -CA "$flood_dir/ca.pem" -CAkey "$flood_dir/ca.key" -CAcreateserial -extfile <(echo 'subjectAltName=DNS:*.example.test') -out "$flood_dir/o.pem" -days 30
	} 2>/dev/null || return 1
	echo
	echo "Waits under a flood, 99th percentile in ms: another request, allow, deny, revoke"
	if flood_origin flood h1 && flood_origin honest h1 && flood_origin h2 h2 "$flood_dir/o.pem" "$flood_dir/o.key" && flood_box; then
		for ((i = 0; i < ${#flood_attacks[@]}; i++)); do flood_one "$i"; done
		for what in request allow deny revoke; do
			worst=$(tr ' ' '\n' <<<"$flood_words" | sed -n "s/^$what=//p" | sort -n | tail -n 1)
			judge "flood: worst 99th percentile of $what, ms" "${worst:--}" 100
		done
	else
		echo "The box that is flooded does not start here; its figures are left out: $(tail -n 1 "$scratch/errors")"
	fi
	as "$uid $home" "$ours" rm -f bench-flood >/dev/null 2>&1
	for i in "${flood_pids[@]}"; do kill "$i" 2>/dev/null; done
}
