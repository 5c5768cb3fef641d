#!/bin/bash
# suite: soak=root timeout=3600
# tier: timed random search with sanitizers, minutes of it; check and test replay the seeds (replay/*)
# fuzz.sh - every fuzzer for a while, from its seeds: no reader of outside bytes crashes or breaks its property.
#
# FUZZ_SECONDS for each, two at a time on two processors. `make fuzz` is the same without the test runner.
set -u
cd "$(dirname "$0")/.." || exit 1
[ "${VARIANT:-release}" != asan ] || {
	echo 'skip the fuzzers: they have sanitizers of their own, in the ordinary run'
	exit 0
}
command -v clang >/dev/null || {
	echo 'skip the fuzzers: clang, which carries libFuzzer, is not installed'
	exit 0
}
bad=0
if ! out=$(make -s -j"$(nproc)" VARIANT=fuzz fuzzers 2>&1); then
	echo "not ok the fuzzers are built: $(tail -n 3 <<<"$out" | tr '\n' ' ')"
	exit 1
fi
out=$(sh tools/fuzz.sh "${FUZZ_SECONDS:-20}" 2>&1)
while read -r name inputs rest; do
	case $inputs in
	[0-9]*) echo "ok $name: $inputs $rest" ;;
	*)
		echo "not ok $name: $inputs $rest $(tail -n 5 "out/fuzz/$name.log" 2>/dev/null | tr '\n' ' ')"
		bad=1
		;;
	esac
done < <(grep -E '^  [a-z0-9_]+ ' <<<"$out")
grep -qE '^[0-9]+ fuzzers, 0 with faults$' <<<"$out" || {
	echo "not ok all of them came to an end: $(tail -n 2 <<<"$out" | tr '\n' ' ')"
	bad=1
}
exit "$bad"
