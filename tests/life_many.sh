#!/bin/bash
# suite: test=root,user soak=root,user timeout=900 alone=yes
# tier: soak starts the 1,000 boxes of the promise, 100 together; test a tenth; root counts what the kernel holds, on the whole machine
# life_many.sh - 1,000 boxes started and stopped, 100 alive together: nothing grows.
#
# OSTIARY_TEST_BOXES=N makes it fewer; `make test` starts 100, and has 20 alive together.
set -u
. "$(dirname "$0")/lib_life.sh"
. "$here/lib_tier.sh"
many=${OSTIARY_TEST_BOXES:-$(by_tier 100 1000)}
together=$(by_tier 20 100)

# Namespaces that the kernel holds and no process is in: a leak shows there (only root may ask). Those
# that have a process do not count, because boxes of other users of this machine come and go meanwhile.
slab() { awk -v want="$1" '$1 == want { print $2; exit }' /proc/slabinfo 2>/dev/null; }
inhabited() { find /proc/[0-9]*/ns -name "$1" -printf '%l\n' 2>/dev/null | sort -u | wc -l; }
empty_namespaces() { # kind
	local held
	held=$(slab "${1}_namespace")
	[ -n "$held" ] && echo $((held - $(inhabited "$1")))
}
kernel_counts() {
	local kind
	for kind in net user pid uts; do
		echo "$kind $(empty_namespaces $kind)"
	done
}
grew() { # before, after, allowed
	[ -n "$1" ] && [ -n "$2" ] && [ $(($2 - $1)) -gt "$3" ]
}

# --- one after the other, and four at once ----------------------------------------------------------
"$ostiary" run -q --rm --name "$tag-warm" -- true
check 'a first box' $? 'run -- true failed'
mounts_before=$(wc -l </proc/self/mountinfo)
# Authorities and masks are kept between boxes; a new mask comes with every change of the host's /etc, which is
# not ours to stop. Both are counted below.
# The logs of boxes that are gone stay for a while; how many is looked at below.
files() { find "$HOME" \( -path "*/ostiary/ca" -o -path "*/ostiary/logs" -o -path "*/ostiary/etc-mask/*" \) -prune -o -print | sort; }
files_before=$(files)
kernel_before=$(kernel_counts)

# shellcheck disable=SC2016 # for the inner shell
round='i=$1
until [ "$i" -gt "$2" ]; do
	"$OSTIARY" run -q --rm --name "'$tag'-$i" -- true </dev/null || echo "box $i: status $?"
	i=$((i + 1))
done'
start=$EPOCHREALTIME
part=$((many / 8))
bash -c "$round" - 1 $((part * 4)) >"$work/failed.0" 2>&1
for lane in 4 5 6 7; do
	bash -c "$round" - $((part * lane + 1)) $((part * lane + part)) >"$work/failed.$lane" 2>&1 &
	lanes="${lanes:-} $!"
done
# shellcheck disable=SC2086 # several pids
wait $lanes
end=$EPOCHREALTIME
took=$(((${end/./} - ${start/./}) / 1000))
failed=$(cat "$work"/failed.*)
[ -z "$failed" ]
check "$((part * 8)) boxes, half of them four at a time" $? "$(wc -l <<<"$failed") failed: $(head -n 2 <<<"$failed")"
echo "# $((part * 8)) boxes took $took ms" # a figure, not a test: machines are noisy

nothing_left 'no process, control group, mount or box directory is left'
same 'not one file more' "$(files)" "$files_before"
logs=$(find "$HOME/.local/state/ostiary/logs" -mindepth 1 -maxdepth 1 2>/dev/null | wc -l)
[ "$logs" -le 400 ]
check 'and their logs, of which there are never many' $? "$logs logs"
masks=$(find "$HOME/.local/state/ostiary/etc-mask" -mindepth 1 -maxdepth 1 | wc -l)
[ "$masks" -le 8 ]
check 'and few masks of /etc' $? "$masks"
# The pool of authorities is filled in the background: it changes, and stays small.
pool_is_small() { [ "$(ls "$HOME/.local/state/ostiary/ca" | wc -l)" -le 40 ]; }
wait_for 60 pool_is_small
check 'and a pool of authorities that stays small' $? "$(ls "$HOME/.local/state/ostiary/ca" | wc -l) in it"
mounts_after=$(wc -l </proc/self/mountinfo)
! grew "$mounts_before" "$mounts_after" 20
check 'not one mount more' $? "$mounts_before before, $mounts_after after"
if [ -n "$(slab net_namespace)" ]; then
	# The kernel takes network namespaces down in the background.
	settled() {
		while read -r kind count; do
			grew "$count" "$(empty_namespaces "$kind")" $((many / 5)) && return 1
		done <<<"$kernel_before"
		return 0
	}
	wait_for 60 settled
	check 'the kernel holds no namespace more' $? "before: $kernel_before after: $(kernel_counts)"
else
	skip 'the kernel holds no namespace more' 'only root may read /proc/slabinfo'
fi

# --- a hundred together ------------------------------------------------------------------------------
start=$EPOCHREALTIME
for i in $(seq $together); do
	"$ostiary" create -q --name "$tag-$i" >/dev/null 2>>"$work/create.err" || echo "box $i" >>"$work/create.failed"
done
end=$EPOCHREALTIME
took=$(((${end/./} - ${start/./}) / 1000))
[ ! -e "$work/create.failed" ]
check "$together boxes made" $? "$(head -n 2 "$work/create.failed" "$work/create.err" 2>/dev/null)"
echo "# $together boxes were made in $took ms"
same 'ps lists them all' "$("$ostiary" ps -q | grep -c "^$tag-")" "$together"
same 'as many supervisors live' "$(orphans | wc -l)" "$together"

wrong=''
for i in $(seq $together); do
	said=$("$ostiary" exec "$tag-$i" -- sh -c "echo \$((i + $i))" 2>&1 </dev/null)
	[ "$said" = "$i" ] || wrong="$wrong $i:$said"
done
[ -z "$wrong" ]
check 'each answers exec' $? "$(head -c 300 <<<"$wrong")"

# Our own memory per idle box: the promise is 6 MiB for all roles.
if [ "${VARIANT:-release}" != asan ]; then
	sum=0 seen=0
	for pid in $(orphans); do
		for role in $pid $(below "$pid"); do
			private=$(awk '/^Private_(Clean|Dirty):/ { s += $2 } END { print s }' "/proc/$role/smaps_rollup" 2>/dev/null)
			[ -n "$private" ] && [ "$private" -gt 0 ] && sum=$((sum + private)) && seen=$((seen + 1))
		done
	done
	if [ "$seen" -ge $((together * 2)) ]; then
		echo "# $((sum / together)) KiB of private memory per idle box"
		[ $((sum / together)) -le 6144 ]
		check 'at most 6 MiB of private memory per idle box' $? "$((sum / together)) KiB"
	else
		skip 'at most 6 MiB of private memory per idle box' 'the processes are not dumpable, so only root may look'
	fi
fi

names=$(seq -f "$tag-%g" $together)
# shellcheck disable=SC2086 # a list of names
SAY_LIMIT=300 say "$ostiary" stop --time 1 $names
same 'all are stopped by one command' "$code" 0
wait_for 60 no_orphans
check 'all supervisors are gone' $? "$(orphans | wc -l) live"
same 'ps lists none' "$("$ostiary" ps -q)" ''
same 'ps -a lists them as ended' "$("$ostiary" ps -aq | grep -c "^$tag-")" "$together"
# shellcheck disable=SC2086
say "$ostiary" rm --yes $names
same 'all are removed by one command' "$code" 0
nothing_left 'and nothing is left of them'
exit $bad
