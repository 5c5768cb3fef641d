#!/bin/sh
# arrows.sh - fail when a room includes another that it may not know.
#
# Called by `make lint` and tests/arrows.sh; takes the folder that holds the rooms (default src). The
# table below is the only place where arrows are decided; DESIGN.md prints the same lines.
set -u
src=${1:-src}

# room: the rooms whose headers it may include, besides its own.
arrows() {
	cat <<-'TABLE'
		base:
		wire: base
		policy: base
		box: base wire policy
		workspace: base wire policy
		audit: base wire
		git: base wire policy workspace
		session: base wire policy box workspace audit git
		cli: base wire policy session box workspace audit git
		role: base wire
		egress: base wire policy role
		dial: base wire policy role
		keeper: base wire policy role
		door: base wire role egress dial keeper
	TABLE
}

if [ "$src" = --print ]; then
	arrows
	exit 0
fi

bad=0
for folder in "$src"/*/; do
	room=$(basename "$folder")
	allowed=$(arrows | sed -n "s/^$room:/ /p")
	if [ -z "$allowed" ]; then
		echo "$folder: this room is not in the table of tools/arrows.sh."
		bad=1
		continue
	fi
	# file:line:room/file.h for each include of ours
	found=$(grep -HnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' "$folder"*.[ch] 2>/dev/null |
		sed -E 's/^([^:]+:[0-9]+):[^"]*"([^"]*)".*/\1 \2/')
	[ -n "$found" ] || continue
	while read -r place header; do
		case $header in
		*..*)
			echo "$place: \"$header\" climbs; write \"room/file.h\"."
			bad=1
			continue
			;;
		*/*) target=${header%%/*} ;;
		*) continue ;; # made by the build, in out/*/gen
		esac
		[ "$target" = "$room" ] && continue
		case " $allowed " in
		*" $target "*) ;;
		*)
			echo "$place: $room may not include $target (\"$header\"). Allowed:$allowed."
			bad=1
			;;
		esac
	done <<-FOUND
		$found
	FOUND
done
[ "$bad" = 0 ] || echo "The arrows are listed in tools/arrows.sh and explained in DESIGN.md."
exit "$bad"
