#!/bin/bash
# run.sh - `make bench`: start, exec, many boxes, memory, work inside, the door and the log, beside other tools.
#
# Rounds are interleaved, figures are medians, processor time is that of all processes of a run. Prints
# tables with the targets beside and writes out/bench/results.json. Nothing here fails because it was
# slow. ROUNDS=40 WORK_ROUNDS=5 BOXES=100 change how long it takes; BENCH_ONLY="start exec" picks parts.
set -u
cd "$(dirname "$0")/.." || exit 1
top=$PWD
rounds=${ROUNDS:-40} work_rounds=${WORK_ROUNDS:-5} boxes=${BOXES:-100}
only=${BENCH_ONLY:-start exec many work snap door custody flood audit}
ours=${OSTIARY:-$top/out/release/ostiary}
me=$(id -u)
[ -x "$ours" ] || { echo "bench: $ours is not there; run make first." >&2; exit 1; }

# As root: a mount namespace of our own, so that the scratch directory can be memory and nothing we mount
# is seen by anybody else. The v2 mount is hidden in it where crun would refuse a mixed layout.
if [ "$me" = 0 ] && [ -z "${BENCH_INSIDE:-}" ]; then
	export BENCH_INSIDE=1
	exec unshare -m --propagation private bash bench/run.sh "$@"
fi

scratch=$(mktemp -d /var/tmp/ostiary-bench.XXXXXX) || exit 1
fs=$(stat -f -c %T "$scratch")
if [ "$me" = 0 ] && mount -t tmpfs -o mode=755,size=2g bench "$scratch"; then
	fs=tmpfs
	umount /sys/fs/cgroup/unified 2>/dev/null
fi
uid=$me
[ "$me" != 0 ] || uid=1000
home=$scratch/home root_home=$scratch/root-home ws=$scratch/ws
mkdir -p "$home" "$root_home" "$ws" "$scratch/bin" out/bench
chmod 755 "$scratch"

finish() {
	cd /
	local who
	for who in "$uid $home" "0 $root_home"; do
		[ "$me" = 0 ] || [ "${who%% *}" = "$me" ] || continue
		as "$who" "$ours" gc >/dev/null 2>&1
	done
	umount -l "$scratch" 2>/dev/null
	rm -rf "$scratch"
}
# as "UID HOME" CMD...: in the clean environment that everything here is run in.
as() {
	local who=$1 to=()
	shift
	[ "${who%% *}" = "$me" ] || to=(setpriv --reuid "${who%% *}" --regid "${who%% *}" --clear-groups)
	env -i PATH="$PATH" LANG=C.UTF-8 HOME="${who#* }" "${to[@]}" "$@"
}
trap finish EXIT
trap 'exit 130' INT TERM

gcc -O2 -static -nostdlib -o "$scratch/bin/stamp" bench/stamp.c &&
	gcc -D_GNU_SOURCE -std=gnu17 -O2 -static -o "$scratch/bin/timeit" bench/timeit.c || exit 1
cp "$scratch/bin/stamp" "$scratch/bin/timeit" "$ws/"
[ "$me" != 0 ] || chown -R "$uid:$uid" "$home" "$ws"
timeit=$scratch/bin/timeit

# --- rows --------------------------------------------------------------------------------------------

declare -A first end cpu runs failures in1 in2 in_cpu1 in_cpu2 paired
spec=''
row() { # name kind every uid dir argv...
	local line=$1
	shift
	line+=$(printf '\t%s' "$@")
	spec+=$line$'\n'
}
measure() { # rounds: run the rows so far and take in their medians
	local name n bad f e c a b x y r
	while IFS=$'\t' read -r name n bad f e c a b x y r; do
		runs[$name]=$n failures[$name]=$bad first[$name]=$f end[$name]=$e cpu[$name]=$c
		in1[$name]=$a in2[$name]=$b in_cpu1[$name]=$x in_cpu2[$name]=$y paired[$name]=$r
	done < <(printf '%s' "$spec" | env -i PATH="$PATH" LANG=C.UTF-8 HOME="$root_home" "$timeit" rounds "$1" "$home" 2>>"$scratch/errors")
	spec=''
}
is_good() { [ -n "${runs[$1]:-}" ] && [ "${failures[$1]}" -lt "${runs[$1]}" ]; }
ratio() { # a b
	awk -v a="$1" -v b="$2" 'BEGIN { if (b > 0 && a >= 0) printf "%.2f", a / b; else print "-" }'
}
ms() { # "12.34", or "-" when there is nothing
	awk -v v="$1" 'BEGIN { if (v < 0) print "-"; else printf "%.2f", v }'
}
has() { command -v "$1" >/dev/null 2>&1; }
wanted() { case " $only " in *" $1 "*) return 0 ;; esac; return 1; }

bwrap=(bwrap --unshare-user --unshare-pid --unshare-net --unshare-ipc --unshare-uts --unshare-cgroup
	--ro-bind / / --tmpfs /tmp --proc /proc --dev /dev --die-with-parent)
codex=$(find out/bench/node_modules/@openai -path '*/bin/codex' -type f -size +1M 2>/dev/null | head -n 1)
srt=out/bench/node_modules/@anthropic-ai/sandbox-runtime/dist/cli.js
echo "{\"network\":{\"allowedDomains\":[],\"deniedDomains\":[]},\"filesystem\":{\"denyRead\":[],\"allowWrite\":[\"$ws\"],\"denyWrite\":[]}}" >"$scratch/srt.json"

bundle() {
	mkdir -p "$scratch/bundle/rootfs"
	cp "$scratch/bin/stamp" "$scratch/bundle/rootfs/stamp"
	(cd "$scratch/bundle" && runc spec) || return 1
	sed -i -e 's/"terminal": true/"terminal": false/' -e 's/"sh"/"\/stamp"/' \
		-e '/"rlimits": \[/,/\],/d' "$scratch/bundle/config.json"
}
podman=(podman --root "$scratch/pod/root" --runroot "$scratch/pod/run" --storage-driver vfs --cgroup-manager cgroupfs)

results=() # json members
verdicts=()
judge() { # what value target unit
	local met=no
	[ "$2" = - ] && met='not measured'
	awk -v v="$2" -v t="$3" 'BEGIN { exit !(v != "-" && v + 0 <= t + 0) }' && met=yes
	verdicts+=("$(printf '%-62s %8s  <= %-6s %s' "$1" "$2" "$3" "$met")")
	results+=("$(printf '{"target":"%s","value":%s,"limit":%s,"met":%s}' "$1" \
		"$([ "$2" = - ] && echo null || echo "$2")" "$3" "$([ "$met" = yes ] && echo true || echo false)")")
}
samples=()
keep() { # part, name...
	local part=$1 n
	shift
	for n in "$@"; do
		is_good "$n" || continue
		samples+=("{\"part\":\"$part\",\"name\":\"$n\",\"runs\":${runs[$n]},\"failures\":${failures[$n]},\"first_ms\":${first[$n]},\"end_ms\":${end[$n]},\"cpu_ms\":${cpu[$n]},\"inner_ms\":${in1[$n]},\"inner_again_ms\":${in2[$n]},\"inner_cpu_ms\":${in_cpu1[$n]},\"inner_again_cpu_ms\":${in_cpu2[$n]}}")
	done
}

cat <<HEAD
$(uname -sr), $(nproc) processors, scratch on $fs, load $(cut -d' ' -f1 /proc/loadavg), $("$ours" version 2>/dev/null | head -n 1)
HEAD
awk -v n="$(nproc)" '{ exit !($1 > n) }' /proc/loadavg &&
	echo "The machine is busy with other things; compare processor time rather than wall time."

# --- start -------------------------------------------------------------------------------------------

part_start() {
	local stamp=$ws/stamp names
	row plain stamp 1 "$uid" "$ws" "$stamp"
	has unshare && row unshare stamp 1 "$uid" "$ws" unshare -Urmnpiuf --mount-proc "$stamp"
	has bwrap && row bubblewrap stamp 1 "$uid" "$ws" "${bwrap[@]}" --bind "$ws" "$ws" "$stamp"
	row ostiary stamp 1 "$uid" "$ws" "$ours" run -q --rm -- "$stamp"
	row ostiary-live stamp 1 "$uid" "$ws" "$ours" run -q --rm --live -- "$stamp"
	if [ "$me" = 0 ]; then
		row ostiary-root stamp 1 0 "$ws" "$ours" run -q --rm -- "$stamp"
		has bwrap && row bubblewrap-root stamp 1 0 "$ws" "${bwrap[@]}" --bind "$ws" "$ws" "$stamp"
		if has runc && bundle; then
			row runc-root stamp 4 0 "$ws" runc run -b "$scratch/bundle" "bench-r$$"
			has crun && row crun-root stamp 2 0 "$ws" crun run -b "$scratch/bundle" "bench-c$$"
		fi
		if has podman && tar -C "$scratch/bundle/rootfs" -c . 2>/dev/null | "${podman[@]}" import - bench >/dev/null 2>&1; then
			row podman-root stamp 8 0 "$ws" "${podman[@]}" --runtime "$(command -v crun || command -v runc)" run --rm \
				--network none --ulimit nofile=1024:1024 --ulimit nproc=4096:4096 localhost/bench /stamp
		fi
	fi
	[ -n "$codex" ] && row codex stamp 4 "$uid" "$ws" "$top/$codex" sandbox -- "$stamp"
	[ -e "$srt" ] && row srt stamp 8 "$uid" "$ws" node "$top/$srt" --settings "$scratch/srt.json" -- "$stamp"
	measure "$rounds"

	echo
	echo "Start of a command in a fresh box (ms): its first instruction, its end, processor time of all processes"
	printf '  %-18s %6s %9s %9s %9s   %s\n' '' runs first end cpu 'first / bubblewrap'
	local n base=${first[bubblewrap]:--1}
	names=(plain unshare bubblewrap ostiary ostiary-live bubblewrap-root ostiary-root crun-root runc-root podman-root codex srt)
	for n in "${names[@]}"; do
		[ -n "${runs[$n]:-}" ] || continue
		if is_good "$n"; then
			printf '  %-18s %6d %9s %9s %9s   %s\n' "$n" "${runs[$n]}" "$(ms "${first[$n]}")" "$(ms "${end[$n]}")" "$(ms "${cpu[$n]}")" \
				"$(ratio "${first[$n]}" "$base")"
		else
			printf '  %-18s %6s  does not work here\n' "$n" -
		fi
	done
	keep start "${names[@]}"
	judge "start with the door to the first instruction / bubblewrap, uid $uid" "$(ratio "${first[ostiary]:--1}" "$base")" 1.2
}

# --- exec --------------------------------------------------------------------------------------------

part_exec() {
	local who="$uid $home"
	(cd "$ws" && as "$who" "$ours" create -q --name bench-exec) >/dev/null 2>>"$scratch/errors"
	row plain-true end 1 "$uid" "$ws" /bin/true
	row exec-true end 1 "$uid" "$ws" "$ours" exec bench-exec -- /bin/true
	row plain-stamp stamp 1 "$uid" "$ws" "$ws/stamp"
	row exec-stamp stamp 1 "$uid" "$ws" "$ours" exec bench-exec -- "$ws/stamp"
	measure "$rounds"
	as "$who" "$ours" rm -f bench-exec >/dev/null 2>&1 || as "$who" "$ours" stop bench-exec >/dev/null 2>&1

	echo
	echo "exec in a living box (ms; processor time only of our client's side)"
	printf '  %-18s %6s %9s %9s %9s\n' '' runs first end cpu
	local n
	for n in plain-stamp exec-stamp plain-true exec-true; do
		is_good "$n" && printf '  %-18s %6d %9s %9s %9s\n' "$n" "${runs[$n]}" "$(ms "${first[$n]}")" "$(ms "${end[$n]}")" "$(ms "${cpu[$n]}")"
	done
	keep exec plain-stamp exec-stamp plain-true exec-true
	local value=-
	is_good exec-true && value=$(ratio "${end[exec-true]}" "${end[plain-true]}")
	judge "exec BOX -- /bin/true / plain exec" "$value" 3
}

# --- many boxes, and the memory of an idle one ----------------------------------------------------------

# private_kib: private memory of every process that runs our program.
private_kib() {
	local p sum=0 n=0 kib
	for p in /proc/[0-9]*; do
		case $(readlink "$p/exe" 2>/dev/null) in "$ours" | *memfd:ostiary*) ;; *) continue ;; esac
		kib=$(awk '/^Private_(Clean|Dirty):/ { s += $2 } END { print s + 0 }' "$p/smaps_rollup" 2>/dev/null)
		sum=$((sum + ${kib:-0})) n=$((n + 1))
	done
	echo "$sum $n"
}

part_many() {
	local who="$uid $home" one=() i line total bad each value=-
	local before after
	for i in 1 2 3 4 5 6 7 8 9 10 11; do
		# Twice as many in flight as there are processors: a start waits for the kernel's grace periods.
	local at_once=$((2 * $(nproc)))
	line=$(env -i PATH="$PATH" HOME="$root_home" "$timeit" many 1 1 "$uid" "$home" "$ws" "$ours" create -q --name "bench-one-$i" 2>>"$scratch/errors")
		one+=("${line%%$'\t'*}")
	done
	each=$(printf '%s\n' "${one[@]}" | sort -n | sed -n 6p)
	for i in 1 2 3 4 5 6 7 8 9 10 11; do as "$who" "$ours" rm -f "bench-one-$i" >/dev/null 2>&1; done

	read -r before _ < <(private_kib)
	line=$(env -i PATH="$PATH" HOME="$root_home" "$timeit" many "$boxes" "$at_once" "$uid" "$home" "$ws" "$ours" create -q --name 'bench-{}' 2>>"$scratch/errors")
	total=${line%%$'\t'*} bad=${line##*$'\t'}
	sleep 0.5
	local kib n
	read -r kib n < <(private_kib)
	after=$(awk -v a="$kib" -v b="$before" -v n="$boxes" 'BEGIN { printf "%.2f", (a - b) / n / 1024 }')
	local begin=$EPOCHREALTIME
	for ((i = 0; i < boxes; i++)); do as "$who" "$ours" rm -f "bench-$i" >/dev/null 2>&1; done

	echo
	echo "$boxes boxes alive together"
	printf '  %-44s %9.2f ms\n' 'one box, started alone (median of 11)' "$each"
	printf '  %-44s %9.2f ms, %s failed\n' "all, $at_once at a time" "$total" "$bad"
	printf '  %-44s %9s MiB (%s of our processes)\n' 'private memory per idle box' "$after" "$n"
	printf '  %-44s %9.0f ms\n' 'all removed again, one after the other' \
		"$(awk -v a="$begin" -v b="$EPOCHREALTIME" 'BEGIN { print (b - a) * 1000 }')"
	[ "$bad" = 0 ] && value=$(ratio "$total" "$each")
	judge "$boxes boxes started / one box" "$value" "$((boxes * 6 / 10))"
	[ "$n" -ge "$boxes" ] || after=-
	judge "private memory of our processes per idle box, MiB" "$after" 6
	samples+=("{\"part\":\"many\",\"boxes\":$boxes,\"one_ms\":$each,\"all_ms\":$total,\"failed\":$bad,\"private_mib\":${after/#-/null},\"processes\":$n}")
}

# --- work inside -----------------------------------------------------------------------------------------

prepare_work() {
	local d f
	mkdir -p "$ws/repo"
	(
		cd "$ws/repo" || exit 1
		for ((d = 1; d <= 100; d++)); do
			mkdir -p "d$d"
			for ((f = 1; f <= 50; f++)); do echo "int f${d}_$f(int x) { return x + $f; }" >"d$d/f$f.c"; done
		done
	)
	cat >"$ws/create.c" <<-'C'
		#include <fcntl.h>
		#include <stdio.h>
		#include <unistd.h>
		int main(void)
		{
		        char name[32];
		        for (int i = 0; i < 10000; i++) {
		                sprintf(name, "cr%d", i);
		                int fd = open(name, O_CREAT | O_WRONLY, 0644);
		                if (fd < 0 || write(fd, "x", 1) != 1)
		                        return 1;
		                close(fd);
		        }
		        for (int i = 0; i < 10000; i++) {
		                sprintf(name, "cr%d", i);
		                unlink(name);
		        }
		        return 0;
		}
	C
	gcc -O2 -w -static -o "$ws/create" "$ws/create.c"
	cat >"$ws/w.sh" <<-'W'
		case $1 in
		find) find /usr/lib /usr/share/doc >/dev/null 2>&1; exit 0 ;;
		walk) for i in 1 2 3 4 5 6 7 8 9 10; do find repo >/dev/null; done ;;
		git) cd repo && exec git status --porcelain ;;
		compile) for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
			gcc -O1 -c -o "bo$i.o" "repo/d$i/f1.c" || exit 1; done; rm -f bo*.o ;;
		create) exec ./create ;;
		esac
	W
	[ "$me" != 0 ] || chown -R "$uid:$uid" "$ws"
	(cd "$ws/repo" && as "$uid $home" sh -c 'git init -q . && git add -A && git -c user.email=a@b.invalid -c user.name=n commit -qm x') 2>>"$scratch/errors"
}

part_work() {
	local w n boxes_of=(native live cow bubblewrap srt) inner=("$ws/timeit" inner sh w.sh)
	prepare_work
	for w in find walk git compile create; do
		row "native-$w" inner 1 "$uid" "$ws" "${inner[@]}" "$w"
		row "live-$w" inner 1 "$uid" "$ws" "$ours" run -q --rm --live -- "${inner[@]}" "$w"
		row "cow-$w" inner 1 "$uid" "$ws" "$ours" run -q --rm -- "${inner[@]}" "$w"
		has bwrap && row "bubblewrap-$w" inner 1 "$uid" "$ws" "${bwrap[@]}" --bind "$ws" "$ws" --chdir "$ws" "${inner[@]}" "$w"
		[ -e "$srt" ] && row "srt-$w" inner 3 "$uid" "$ws" node "$top/$srt" --settings "$scratch/srt.json" -- "${inner[@]}" "$w"
	done
	measure "$work_rounds"

	echo
	echo "Work inside (ms, measured inside, so without the start): first time in a fresh box / again in the same box"
	local line kind
	for kind in 'processor time' 'wall time'; do
		echo "  $kind"
		printf '  %-11s %17s %17s %17s %17s %17s\n' '' 'find /usr/...' 'find workspace' 'git status 5000' '20 compiles' 'create+unlink 10k'
		for n in "${boxes_of[@]}"; do
			line=$(printf '  %-11s' "$n")
			for w in find walk git compile create; do
				if ! is_good "$n-$w"; then
					line+=$(printf ' %17s' -)
				elif [ "$kind" = 'wall time' ]; then
					line+=$(printf ' %17s' "$(printf '%.1f / %.1f' "${in1[$n-$w]}" "${in2[$n-$w]}")")
				else
					line+=$(printf ' %17s' "$(printf '%.1f / %.1f' "${in_cpu1[$n-$w]}" "${in_cpu2[$n-$w]}")")
				fi
			done
			echo "$line"
		done
	done
	for n in "${boxes_of[@]}"; do keep work "$n-find" "$n-walk" "$n-git" "$n-compile" "$n-create"; done
	# By processor time: on a busy machine wall time says more about the neighbours.
	local limit
	for w in find walk git compile create; do
		is_good "live-$w" && judge "$w with --live / native, processor time" "$(ratio "${in_cpu1[live-$w]}" "${in_cpu1[native-$w]}")" 1.1
	done
	for w in find walk git compile create; do
		case $w in find | walk | compile) limit=1.3 ;; *) limit=2.5 ;; esac
		is_good "cow-$w" && judge "$w copy-on-write / native, processor time" "$(ratio "${in_cpu1[cow-$w]}" "${in_cpu1[native-$w]}")" "$limit"
	done
}

# shellcheck source=bench/snap.sh
. bench/snap.sh
# shellcheck source=bench/door.sh
. bench/door.sh
# shellcheck source=bench/custody.sh
. bench/custody.sh
# shellcheck source=bench/flood.sh
. bench/flood.sh
# shellcheck source=bench/audit.sh
. bench/audit.sh
for part in start exec many work snap door custody flood audit; do wanted "$part" && "part_$part"; done

echo
echo "Targets"
[ ${#verdicts[@]} = 0 ] || printf '  %s\n' "${verdicts[@]}"
join() { local IFS=,; echo "$*"; }
printf '{"kernel":"%s","processors":%d,"scratch":"%s","targets":[%s],"samples":[%s]}\n' "$(uname -r)" "$(nproc)" "$fs" \
	"$(join ${results[@]+"${results[@]}"})" "$(join ${samples[@]+"${samples[@]}"})" >out/bench/results.json
echo
echo "Written to out/bench/results.json."
[ ! -s "$scratch/errors" ] || { echo "What the commands said on stderr (first lines):"; sort "$scratch/errors" | uniq -c | sort -rn | head -n 8; }
exit 0
