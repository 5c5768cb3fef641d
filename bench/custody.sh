# custody.sh - the part "custody" of `make bench`: what it costs that the agent never has a key.
#
# Read in by bench/run.sh after bench/door.sh, whose origin, client and counting of processor time it uses. The same
# small keep-alive request, through the same box, without a credential and with a placeholder that the keeper exchanges;
# signatures and the scrubber by programs of their own (bench/sign.c, bench/scan.c); revocation of 200 secrets, one
# after the other, while requests with another go on.
# shellcheck shell=bash disable=SC2154

custody_secrets_n=200 # of which each is revoked once; requests are measured in a box with as many as people have
custody_few=4

# custody_programs: what is measured apart from the network, built from the same sources as the door.
custody_programs() {
	make -s VARIANT=release all >/dev/null 2>>"$scratch/errors" || return 1
	local objects
	objects=$(find out/release/base out/release/wire out/release/policy out/release/keeper out/release/egress out/release/role out/release/gen -name '*.o' ! -name 'gen_*' | sort)
	# shellcheck disable=SC2086
	gcc -D_GNU_SOURCE -std=gnu17 -O2 -Isrc -Iout/release/gen -o "$scratch/bin/scan" bench/scan.c $objects \
		-lssl -lcrypto -lnghttp2 -lcares -lseccomp -ljansson -lz -lbrotlidec -lzstd -lsodium 2>>"$scratch/errors"
	# shellcheck disable=SC2086
	gcc -D_GNU_SOURCE -std=gnu17 -O2 -Isrc -Iout/release/gen -o "$scratch/bin/sign" bench/sign.c $objects \
		-lssl -lcrypto -lnghttp2 -lcares -lseccomp -ljansson -lz -lbrotlidec -lzstd -lsodium 2>>"$scratch/errors"
}

custody_box() { # name, how many secrets besides the one that is used
	local i
	{
		echo "allow GET $door_host:443 to=127.0.0.1:${door_port[origin-h1]} ca=$door_dir/ca.pem"
		echo "secret BENCH_KEY from file $door_dir/key at $door_host as bearer"
		for ((i = 0; i < $2; i++)); do
			echo "secret BENCH_OTHER_$i from file $door_dir/key$i at other.$door_host as bearer"
			echo "bench-$i-$RANDOM$RANDOM$RANDOM$RANDOM-0123456789abcdef" >"$door_dir/key$i"
		done
	} >"$door_dir/custody.policy"
	echo "bench-$RANDOM$RANDOM$RANDOM$RANDOM-0123456789abcdefABCDEF" >"$door_dir/key"
	chmod 600 "$door_dir"/key*
	[ "$me" != 0 ] || chown "$uid:$uid" "$door_dir"/key* "$door_dir/custody.policy"
	(cd "$ws" && as "$uid $home" taskset -c "$proxy_core" "$ours" create -q --name "$1" --level strict --policy "$door_dir/custody.policy") \
		>/dev/null 2>>"$scratch/errors" || return 1
	door_box=$1
	door_pid[ostiary]=$(as "$uid $home" "$ours" ps --json | tr '{' '\n' | sed -n '/"name": *"'"$1"'"/s/.*"supervisor_pid": *\([0-9]*\).*/\1/p')
	door_client ostiary -m first >/dev/null 2>>"$scratch/errors"
}

custody_revokes() {
	local load line names i
	has python3 || return 0
	for ((i = 0; i < custody_secrets_n; i++)); do names+=" BENCH_OTHER_$i"; done
	mkdir -p "$door_dir/top/tests/custody" "$door_dir/top/src/wire"
	cp tests/custody/revokes.py "$door_dir/top/tests/custody/"
	cp src/wire/msg.h "$door_dir/top/src/wire/"
	door_client ostiary -m keep -c 4 -t 15 -B BENCH_KEY >/dev/null 2>&1 </dev/null &
	load=$!
	# shellcheck disable=SC2086
	line=$(as "$uid $home" timeout 60 python3 -B "$door_dir/top/tests/custody/revokes.py" \
		"$home/.local/state/ostiary/boxes/$door_box/ctl" $names 2>>"$scratch/errors") &&
		read -r "door_v[revoke,p50]" "door_v[revoke,p99]" _ <<<"$line"
	kill "$load" 2>/dev/null
	wait "$load" 2>/dev/null
}

part_custody() {
	local proxy_core client_core cores r figure name
	cores=$(taskset -cp $$ | sed 's/.*: //' | tr ',' '\n' | awk -F- '{ for (i = $1; i <= ($2 == "" ? $1 : $2); i++) print i }')
	client_core=$(sed -n 1p <<<"$cores") proxy_core=$(sed -n 2p <<<"$cores")
	proxy_core=${proxy_core:-$client_core}
	door_dir=$scratch/custody door_targets=(ostiary) door_started=() door_box=
	mkdir -p "$door_dir/www" "$door_dir/tmp"
	head -c 200 /dev/zero | tr '\0' x >"$door_dir/www/small"
	door_ports
	gcc -D_GNU_SOURCE -std=gnu17 -O2 -pthread -o "$scratch/bin/load" bench/load.c bench/load_h2.c -lssl -lcrypto -lnghttp2 && door_certificates || return 1
	cp "$scratch/bin/load" "$ws/"
	[ "$me" != 0 ] || chown -R "$uid:$uid" "$door_dir" "$ws"
	PATH=$PATH:/usr/sbin door_configure
	has nginx || has /usr/sbin/nginx || return 1
	PATH=$PATH:/usr/sbin
	door_begin origin nginx -c "$door_dir/origin.conf" -p "$door_dir" -e stderr
	if door_wait origin && custody_box bench-few "$custody_few"; then
		for ((r = 0; r < door_rounds; r++)); do
			door_cell ostiary bare -m keep -c 16 -t "$door_seconds"
			door_cell ostiary swapped -m keep -c 16 -t "$door_seconds" -B BENCH_KEY
		done
		door_medians
		as "$uid $home" "$ours" rm -f bench-few >/dev/null 2>&1
		custody_box bench-keys "$custody_secrets_n" && custody_revokes
		echo
		echo "A request without a credential costs ${door_v[ostiary,bare,us]:--} us of processor time, with a placeholder that is exchanged ${door_v[ostiary,swapped,us]:--} us (errors: ${door_v[ostiary,bare,errors]:--}, ${door_v[ostiary,swapped,errors]:--})."
		echo "Revoking a secret under load, until nobody can use it: ${door_v[revoke,p50]:--} us, 99th percentile ${door_v[revoke,p99]:--} us ($custody_secrets_n secrets)."
		judge "custody: a swapped header, us more than without" "$(door_less "${door_v[ostiary,swapped,us]:--}" "${door_v[ostiary,bare,us]:--}")" 40
		judge "custody: revocation under load, median us" "${door_v[revoke,p50]:--}" 1000
		judge "custody: revocation under load, 99th percentile us" "${door_v[revoke,p99]:--}" 10000
	else
		echo "The box with secrets does not answer here; its figures are left out: $(tail -n 1 "$scratch/errors")"
	fi
	door_end
	if custody_programs; then
		taskset -c "$proxy_core" "$scratch/bin/scan" >"$door_dir/scan.out" 2>>"$scratch/errors"
		taskset -c "$proxy_core" "$scratch/bin/sign" header 20000 >"$door_dir/sign.out" 2>>"$scratch/errors"
		taskset -c "$proxy_core" "$scratch/bin/sign" chunks 500 >"$door_dir/chunks.out" 2>>"$scratch/errors"
		cat "$door_dir/scan.out" "$door_dir/sign.out" "$door_dir/chunks.out"
	fi
	for name in bare swapped; do
		[ -z "${door_v[ostiary,$name,us]:-}" ] || samples+=("{\"part\":\"custody\",\"name\":\"$name\",\"cpu_us\":${door_v[ostiary,$name,us]},\"per_second\":${door_v[ostiary,$name,rate]}}")
	done
}
