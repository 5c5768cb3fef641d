#!/bin/sh
# fuzz.sh - run each fuzzer in out/fuzz/fuzz for SECONDS; called by `make fuzz`.
#
# What a fuzzer learned is kept in out/fuzz/corpus, so that the next run starts there. A crash leaves
# its input in out/fuzz/crash-* and the run fails.
set -u
seconds=${1:-30}
found=0 broken=0
for fuzzer in out/fuzz/fuzz/*; do
	case $fuzzer in *.d | *.o) continue ;; esac
	[ -x "$fuzzer" ] || continue
	name=${fuzzer##*/}
	found=$((found + 1))
	mkdir -p "out/fuzz/corpus/$name"
	set -- "out/fuzz/corpus/$name"
	[ ! -d "tests/fuzz/seeds/$name" ] || set -- "$@" "tests/fuzz/seeds/$name"
	printf '  %-24s %s s ... ' "$name" "$seconds"
	if "$fuzzer" -max_total_time="$seconds" -timeout=5 -rss_limit_mb=1024 -print_final_stats=1 \
		-artifact_prefix="out/fuzz/crash-$name-" "$@" \
		>"out/fuzz/$name.log" 2>&1; then
		runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "out/fuzz/$name.log")
		echo "${runs:-?} inputs, no fault"
	else
		broken=$((broken + 1))
		echo "FAULT"
		tail -n 30 "out/fuzz/$name.log"
	fi
done
[ "$found" -gt 0 ] || {
	echo "fuzz: tests/fuzz holds no fuzzer." >&2
	exit 1
}
echo "$found fuzzers, $broken with faults"
[ "$broken" = 0 ]
