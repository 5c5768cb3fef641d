#!/bin/sh
# fuzz.sh - run each fuzzer in out/fuzz/fuzz for SECONDS, as many at a time as there are processors.
#
# Called by `make fuzz` and tests/fuzz.sh. What a fuzzer learned is kept in out/fuzz/corpus, so that the next run starts
# there. A crash leaves its input in out/fuzz/crash-* and the run fails. Called as `fuzz.sh --one SECONDS FUZZER` by
# itself.
set -u

one() { # seconds, fuzzer
	name=${2##*/}
	mkdir -p "out/fuzz/corpus/$name"
	set -- "$1" "$2" "out/fuzz/corpus/$name"
	[ ! -d "tests/fuzz/seeds/$name" ] || set -- "$@" "tests/fuzz/seeds/$name"
	seconds=$1 fuzzer=$2
	shift 2
	if "$fuzzer" -max_total_time="$seconds" -timeout=25 -rss_limit_mb=1024 -print_final_stats=1 \
		-artifact_prefix="out/fuzz/crash-$name-" "$@" >"out/fuzz/$name.log" 2>&1; then
		runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "out/fuzz/$name.log")
		printf '  %-24s %s inputs in %s s, no fault\n' "$name" "${runs:-?}" "$seconds"
	else
		: >"out/fuzz/$name.fault"
		printf '  %-24s FAULT\n%s\n' "$name" "$(tail -n 30 "out/fuzz/$name.log" | sed 's/^/    /')"
		return 1
	fi
}

if [ "${1:-}" = --one ]; then
	one "$2" "$3"
	exit
fi

seconds=${1:-30}
list=$(find out/fuzz/fuzz -maxdepth 1 -type f -perm -u+x ! -name '*.d' ! -name '*.o' 2>/dev/null | sort)
[ -n "$list" ] || {
	echo "fuzz: there is no fuzzer in out/fuzz/fuzz; 'make fuzz' builds them." >&2
	exit 1
}
rm -f out/fuzz/*.fault
printf '%s\n' "$list" | xargs -P "$(nproc)" -n 1 sh tools/fuzz.sh --one "$seconds"
broken=$(find out/fuzz -maxdepth 1 -name '*.fault' | wc -l)
echo "$(printf '%s\n' "$list" | wc -l) fuzzers, $broken with faults"
[ "$broken" = 0 ]
