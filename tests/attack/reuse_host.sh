#!/bin/bash
# reuse_host.sh - the host's half of case 43, in a process namespace of its own: whoever dies in the box, the
# next process gets its number.
#
# Usage: reuse_host.sh COMMAND...: run the box's command and talk with reuse.c in it. Prints "thread NUMBER of
# PROCESS" and "caller NUMBER" for each round, as the host counts. Ends with 2 when numbers cannot be chosen here.
set -u
{ : >/proc/sys/kernel/ns_last_pid; } 2>/dev/null || exit 2
coproc "$@"
box=$COPROC_PID
exec 4<&"${COPROC[0]}" 5>&"${COPROC[1]}"

# outer NUMBER: of a thread that the box calls so, as we count.
outer() {
	local status
	for status in /proc/[0-9]*/task/[0-9]*/status; do
		# It may end while we look.
		{ grep -Eq "^NSpid:.*[[:space:]][0-9]+[[:space:]]$1\$" "$status" || continue; } 2>/dev/null
		status=${status%/status}
		echo "${status##*/} $(sed -n 's/^Tgid:[[:space:]]*//p' "$status/status")"
		return
	done
}

number=''
while read -r -t 60 word value <&4; do
	case $word in
	thread)
		read -r number process <<<"$(outer "$value")"
		echo "thread $number of $process"
		;;
	caller)
		read -r number _ <<<"$(outer "$value")"
		echo "caller $number"
		;;
	gone)
		# No program is started here: it would get the number. Nothing comes from the box either, which waits.
		while [ -e "/proc/$number" ]; do read -r -t 0.01 -u 4 _; done
		read -r -t 0.01 -u 4 _
		echo $((number - 1)) >/proc/sys/kernel/ns_last_pid || exit 2
		;;
	esac
	echo go >&5
done
exec 4<&- 5>&-
wait "$box"
