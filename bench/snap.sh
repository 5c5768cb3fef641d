# snap.sh - the part "snap" of `make bench`: snapshot and fork of a box in which nothing runs, of 10 MiB and of 1 GiB.
#
# Read in by bench/run.sh. What is frozen is put back by hand after each round, so that every round freezes all of it.
# "operation" is what the command itself measures (freezing, and for a fork the new box's directory); "command" is from
# fork to exit, which has the program's start in it. Sizes are interleaved.
# shellcheck shell=bash disable=SC2154

part_snap() {
	local who="$uid $home" n=${SNAP_ROUNDS:-15}
	cat >"$scratch/bin/snap" <<-'BENCH'
		#!/bin/bash
		# snap OURS ROUNDS: lines "what size operation_us command_us"
		ours=$1 rounds=$2 state=$HOME/.local/state/ostiary
		for mb in 10 1024; do
			"$ours" run -q -n "bench-$mb" -- bash -c 'for ((i = 0; i < $1 * 2; i++)); do head -c 512K /dev/zero >f$i; done' bash "$mb" || exit 1
		done
		back() { # MB: what was frozen is the upper again
			local box=$state/boxes/bench-$1 id
			id=$(awk '/^layer /{print $2}' "$box/stack") || return
			rmdir "$box/layers/ws/upper" && mv "$state/frozen/$id/ws" "$box/layers/ws/upper" && rm -rf "$box/stack" "$state/snapshots" "$state/frozen/$id"
		}
		for ((i = 0; i < rounds; i++)); do
			for mb in 10 1024; do
				for what in snapshot fork; do
					t0=${EPOCHREALTIME/./}
					got=$("$ours" $what "bench-$mb" --json)
					t1=${EPOCHREALTIME/./}
					us=${got##*took_us\":}
					echo "$what $mb ${us%%[,\}]*} $((t1 - t0))"
					[ $what = snapshot ] || "$ours" ps -a -q | grep -v '^bench-' | while read -r b; do rm -rf "${state:?}/boxes/${b:?}"; done
					back "$mb"
				done
			done
		done
		"$ours" ps -a -q | xargs "$ours" rm -f >/dev/null
	BENCH
	chmod 755 "$scratch/bin/snap"
	(cd "$ws" && as "$who" bash "$scratch/bin/snap" "$ours" "$n") >"$scratch/snap" 2>>"$scratch/errors"
	echo
	echo "snapshot and fork of a box in which nothing runs (ms, median of $n)"
	printf '  %-22s %12s %12s\n' '' operation command
	local what mb op all
	for what in snapshot fork; do
		for mb in 10 1024; do
			op=$(awk -v w=$what -v m=$mb '$1 == w && $2 == m { print $3 / 1000 }' "$scratch/snap" | sort -n | awk '{ v[NR] = $1 } END { if (NR) printf "%.2f", v[int((NR + 1) / 2)]; else print "-" }')
			all=$(awk -v w=$what -v m=$mb '$1 == w && $2 == m { print $4 / 1000 }' "$scratch/snap" | sort -n | awk '{ v[NR] = $1 } END { if (NR) printf "%.2f", v[int((NR + 1) / 2)]; else print "-" }')
			printf '  %-22s %12s %12s\n' "$what, $mb MiB" "$op" "$all"
			samples+=("{\"part\":\"snap\",\"name\":\"$what-$mb\",\"runs\":$n,\"operation_ms\":${op/#-/null},\"command_ms\":${all/#-/null}}")
			[ $mb = 10 ] || judge "$what of an idle 1 GiB box, ms" "$op" 2
		done
	done
}
