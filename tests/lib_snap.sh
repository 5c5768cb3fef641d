# lib_snap.sh - what the suites of snapshots share, beyond lib_life.sh: where frozen layers lie, and
# what a box shows, as one text that two boxes can be compared by.
# shellcheck shell=bash disable=SC2034,SC2154
state=$HOME/.local/state/ostiary
frozen=$state/frozen

o() { timeout -k 5 150 "$ostiary" "$@" </dev/null; }

# shows BOX [DIR]: every name with type, mode and content, as the box sees it. Not how many names a file has: a
# squashed layer is made of second names, until the first are swept. What find may not enter it says on its other stream,
# which comes before or after the rest as it happens.
shows() {
	# shellcheck disable=SC2016 # for the shell in the box
	o exec "$1" -- sh -c 'cd "$1" && find . 2>/dev/null | LC_ALL=C sort | while read -r f; do
		printf "%s %s" "$f" "$(stat -c %f "$f") "
		if [ -L "$f" ]; then readlink "$f"; elif [ -f "$f" ]; then md5sum <"$f"; else echo; fi
	done' sh "${2:-.}" 2>&1
}

# layers: how many frozen layers there are.
layers() { find "$frozen" -mindepth 1 -maxdepth 1 -type d -name '????????????????' 2>/dev/null | wc -l; }

# ended BOX: wait until it is not running.
is_ended() { ! "$ostiary" ps -q | grep -qx -- "$1"; }

# away: remove every box and snapshot of the suite.
away() {
	"$ostiary" ps -a -q 2>/dev/null | xargs -r "$ostiary" rm -f >/dev/null 2>&1
	"$ostiary" snapshots -q 2>/dev/null | xargs -r "$ostiary" snapshots rm >/dev/null 2>&1
	"$ostiary" gc >/dev/null 2>&1 # some suites kill supervisors
}
