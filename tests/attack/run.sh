#!/bin/bash
# suite: test=root,user soak=root,user timeout=700
# tier: the walls of a box of root and of a user are not the same: each case is judged for both
# run.sh - the attack suite: every case in the full box, and with exactly its own walls missing.
#
# Usage: run.sh [--as root|user] [--table FILE] [--keep]. A case counts as blocked by us only if it
# was seen to escape once the walls that are meant to stop it were left out of a test build; see
# docs/attacks.md. Plants what the attackers look for, and takes all of it away again.
set -u

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
# shellcheck source=tests/lib_tier.sh
. "$top/tests/lib_tier.sh"
as='' table='' keep=''
while [ $# -gt 0 ]; do
	case $1 in
	--as) as=$2 && shift ;;
	--table) table=$2 && shift ;;
	--keep) keep=1 ;;
	*)
		echo "usage: run.sh [--as root|user] [--table FILE] [--keep]" >&2
		exit 64
		;;
	esac
	shift
done
[ "$(id -u)" = 0 ] && now=root || now=user
as=${as:-$now}
if [ "$as" = root ] && [ "$now" = user ]; then
	echo "skip attack: the suite was asked to run as root by somebody who is not"
	exit 0
fi

strong=${OSTIARY:-$top/out/release/ostiary}
weak=${OSTIARY_WEAK:-$top/out/weak/ostiary}
for program in "$strong" "$weak"; do
	if [ ! -x "$program" ]; then
		echo "not ok attack: $program is missing; build it with make and make VARIANT=weak"
		exit 1
	fi
done

work=$(mktemp -d /tmp/ostiary-attack.XXXXXX) || exit 1
server=''
# Cases that kill a supervisor leave a dead box, whose control groups go with it. It is in the state directory of the attackers.
remove_boxes() {
	# shellcheck source=tests/attack/lib_box.sh
	. "$here/lib_box.sh"
	for dead in $("${become[@]}" "${user_env[@]}" "$work/bin/ostiary" ps -aq); do
		"${become[@]}" "${user_env[@]}" "$work/bin/ostiary" rm --force "$dead" >/dev/null
	done
	"${become[@]}" "${user_env[@]}" "$work/bin/ostiary" gc >/dev/null
}
finish() {
	exec 6>&- 7<&- 8<&-
	if [ -n "$server" ]; then
		wait "$server"
		remove_boxes
	fi
	if [ -n "$keep" ]; then
		echo "# left in $work"
	else
		chmod -R u+rwX "$work" 2>/dev/null
		rm -rf "$work"
	fi
}
trap finish EXIT
trap 'exit 130' INT TERM HUP

# --- build; the programs are static, because a box may hold no library at all --------------------

warnings='-Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wswitch-enum -Wvla'
mkdir -p "$work/bin" "$work/host" "$work/ws" "$work/home" "$work/tree" "$work/secret-dir" "$work/res"
build() { # output, sources...
	local out=$1
	shift
	# shellcheck disable=SC2086
	(cd "$here" && ${CC:-gcc} -std=gnu17 -O1 -D_GNU_SOURCE $warnings -static -o "$out" "$@") || {
		echo "not ok attack: $(basename "$out") does not compile"
		exit 1
	}
}
build "$work/ws/inside" inside.c attack.c tty.c ns.c mount.c kernel.c boot.c proc.c peer.c sysctl.c \
	sockets.c net.c paths.c ipc.c file.c state.c notify.c notify_trace.c storm.c reuse.c design.c limit.c share.c
build "$work/bin/plant" plant.c plant_run.c
# Copies that belong to the user, as after `make install`: case 28 tries to overwrite them.
cp "$strong" "$work/bin/ostiary"
cp "$weak" "$work/bin/ostiary-weak"

# --- who attacks ----------------------------------------------------------------------------------

canary="canary-$$-$(od -An -N8 -tx8 /dev/urandom | tr -d ' ')"
become=()
# A supplementary group that nobody has, so that a box which keeps it is seen to.
[ "$now" = root ] && become=(setpriv --groups 54321)
if [ "$now" = root ]; then
	printf '%s' "$canary" >"$work/tree/root-only"
	chmod 600 "$work/tree/root-only"
fi
if [ "$as" = user ] && [ "$now" = root ]; then
	uid=$(awk -F: '$3 >= 1000 && $3 < 60000 { print $3; exit }' /etc/passwd)
	uid=${uid:-65534}
	find "$work" ! -name root-only -exec chown "$uid:$uid" {} +
	become=(setpriv --reuid "$uid" --regid "$uid" --groups 54321)
fi
chmod 755 "$work" "$work/tree"

export work here as canary
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
"${become[@]}" mkfifo "$work/hold" "$work/ready"
"${become[@]}" "$work/bin/plant" serve "$work/secret-dir" "$work/ws" "$work/home" "$work/tree" \
	"$canary" <"$work/hold" >"$work/ready" &
server=$!
exec 6>"$work/hold"
read -r word <"$work/ready"
if [ "$word" != ready ]; then
	echo "not ok attack: the host's side could not be planted"
	exit 1
fi
[ -e "$work/tree/root-only" ] || sed -i '/^ROOT_FILE=/d' "$work/ws/.attack-env"
{
	echo "STARTED_AS=$as"
	echo "HELD_MS=$(by_tier 100 500)" # case 41t: races are short in test and long in soak
	echo "STATE_DIR=$work/xdg/state/ostiary"
	echo "DATA_DIR=$work/xdg/data/ostiary"
	echo "CONFIG_DIR=$work/xdg/config/ostiary"
} >>"$work/ws/.attack-env"
"${become[@]}" mkdir -p "$work/xdg/state/ostiary" "$work/xdg/data/ostiary" "$work/xdg/config/ostiary"

# The judge runs in a keyring of its own; where we may, in mounts that spread (case 26).
stage=()
[ "$now" = root ] && unshare -m true 2>/dev/null && stage=(unshare -m --propagation shared)
"${stage[@]}" "${become[@]}" "$work/bin/plant" keys "$work/ws/.attack-env" "$canary" \
	bash "$here/judge.sh"
status=$?
[ -z "$table" ] || cp "$work/res/table" "$table"
exit $status
