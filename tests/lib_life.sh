# lib_life.sh - what the suites of life, limits and bad input share: a home of their own, results in the
# runner's words, and answers to "is anything left of the boxes?".
#
# Source it first, with the suite's own arguments still in place. It starts the suite again under
# life/reaper.c, so that all orphans of the suite are known. Sets:
#   $ostiary   the program under test      $work   a directory that is gone afterwards
#   $here      the directory of the tests  $bad    1 after the first `not ok`
#   $HOME      $work/home, new             $tag    a short word for names of boxes, unique per suite
# shellcheck shell=bash disable=SC2034 # several of them are for the suites

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
ostiary=${OSTIARY:-$here/../out/release/ostiary}
case $ostiary in /*) ;; *) ostiary=$PWD/$ostiary ;; esac

if [ -z "${REAPER:-}" ]; then
	lib_tmp=$(mktemp -d "${TMPDIR:-/tmp}/ostiary-suite.XXXXXX") || exit 1
	chmod 755 "$lib_tmp"
	if ! "${CC:-cc}" -O1 -D_GNU_SOURCE -o "$lib_tmp/reaper" "$here/life/reaper.c"; then
		echo "not ok the suite's reaper: it does not compile"
		exit 1
	fi
	export LIB_TMP=$lib_tmp OSTIARY=$ostiary
	trap : TERM INT HUP # the reaper gets it too, and ends the suite
	"$lib_tmp/reaper" "$BASH" "$0" "$@"
	lib_status=$?
	if grep -qF " $lib_tmp" /proc/self/mountinfo; then
		echo "not ok nothing is mounted after the suite: $(grep -F " $lib_tmp" /proc/self/mountinfo | head -n 2)"
		exit 1
	fi
	chmod -R u+rwx "$lib_tmp" 2>/dev/null
	rm -rf "$lib_tmp"
	exit $lib_status
fi

work=$LIB_TMP
export HOME=$work/home
mkdir -p "$HOME" "$work/ws"
unset XDG_STATE_HOME XDG_DATA_HOME XDG_CONFIG_HOME XDG_RUNTIME_DIR
boxes=$HOME/.local/state/ostiary/boxes
tag=t$$x # its end is marked, or t12 would stand for the boxes of t123 too
bad=0
cd "$work/ws" || exit 1

ok() { echo "ok $*"; }
not_ok() { # name, why
	echo "not ok $1: $(tr '\n' ' ' <<<"${2:-no reason given}" | cut -c1-400)"
	bad=1
}
skip() { echo "skip $1: $2"; }
check() { # name, status, why
	if [ "$2" = 0 ]; then ok "$1"; else not_ok "$1" "${3:-}"; fi
}
same() { # name, got, wanted
	if [ "$2" = "$3" ]; then ok "$1"; else not_ok "$1" "got \"$2\", wanted \"$3\""; fi
}
holds() { # name, text, pattern of a part of it
	# shellcheck disable=SC2053 # a pattern is meant
	if [[ $2 == *$3* ]]; then ok "$1"; else not_ok "$1" "\"$3\" is not in \"$2\""; fi
}

# say COMMAND...: run it with no input; $out, $err, $code and $ms tell how it went. What takes longer than any busy
# machine needs has hung, and ends with 124.
say() {
	local start=$EPOCHREALTIME
	local said=$work/.said.$BASHPID # parts that run at once have their own
	timeout -k 5 "${SAY_LIMIT:-150}" "$@" </dev/null >"$said" 2>"$said.err"
	code=$?
	local end=$EPOCHREALTIME
	ms=$(((${end/./} - ${start/./}) / 1000))
	out=$(tr -d '\0' <"$said")
	err=$(tr -d '\0' <"$said.err")
	rm -f "$said" "$said.err"
}

# --- what is left ------------------------------------------------------------------------------

# orphans: pids below the reaper that are not the suite itself: supervisors, or boxes without one.
orphans() {
	local pid
	for pid in $(cat "/proc/$REAPER/task/$REAPER/children"); do
		[ "$pid" = $$ ] || is_gone "$pid" || echo "$pid"
	done
}

# tree PID: the pid and everything below it.
tree() {
	local child
	[ -e "/proc/$1" ] && echo "$1"
	for child in $(below "$1"); do tree "$child"; done
}

# below PID: the pids of its children.
below() { cat "/proc/$1/task/$1/children" 2>/dev/null; }

# box_groups: control groups of this suite's boxes (their names begin with $tag) that exist.
box_groups() { find /sys/fs/cgroup -type d -name "*$tag*" 2>/dev/null; }

# wait_for SECONDS COMMAND...: until it succeeds. The seconds are for a machine that is busy with something else.
wait_for() {
	local last=$((SECONDS + $1))
	shift
	until "$@"; do
		[ "$SECONDS" -gt "$last" ] && return 1
		sleep 0.02
	done
}
no_orphans() { [ -z "$(orphans)" ]; }
no_groups() { [ -z "$(box_groups)" ]; }
# A zombie that nobody has got round to is not alive.
is_gone() { [ ! -e "/proc/$1" ] || grep -q '^State:[[:space:]]*[ZX]' "/proc/$1/status" 2>/dev/null; }

# left: in words, what there is of boxes: processes, control groups, mounts, directories.
left() {
	wait_for 60 no_orphans || echo "processes: $(ps -o pid=,comm= -p "$(orphans | paste -sd,)" | tr '\n' ' ')"
	wait_for 60 no_groups || echo "control groups: $(box_groups | head -n 3 | tr '\n' ' ')"
	grep -F " $work" /proc/self/mountinfo
	[ -z "$(ls -A "$boxes" 2>/dev/null)" ] || echo "on disk: $(ls -A "$boxes" | head -n 3 | tr '\n' ' ')"
}
nothing_left() { same "$1" "$(left)" ''; }
