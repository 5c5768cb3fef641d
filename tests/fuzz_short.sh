#!/bin/bash
# suite: users=root timeout=900
# fuzz_short.sh - every fuzzer for a few seconds, from its seeds: what reads bytes from elsewhere neither crashes nor
# breaks its property. `make fuzz` goes on for longer.
set -u
cd "$(dirname "$0")/.." || exit 1
command -v clang >/dev/null || {
	echo 'skip the fuzzers: clang, which carries libFuzzer, is missing'
	exit 0
}
bad=0
if ! out=$(make -s -j"$(nproc)" VARIANT=fuzz fuzzers 2>&1); then
	echo "not ok the fuzzers are built: $(tail -n 3 <<<"$out" | tr '\n' ' ')"
	exit 1
fi
out=$(sh tools/fuzz.sh "${FUZZ_SHORT_SECONDS:-3}" 2>&1)
while read -r name _ _ _ inputs rest; do
	case $inputs in
	[0-9]*) echo "ok $name: $inputs $rest" ;;
	*)
		echo "not ok $name: $inputs $rest $(tail -n 5 "out/fuzz/$name.log" 2>/dev/null | tr '\n' ' ')"
		bad=1
		;;
	esac
done < <(grep -E '^  [a-z0-9_]+ +[0-9]+ s \.\.\. ' <<<"$out")
grep -qE '^[0-9]+ fuzzers, 0 with faults$' <<<"$out" || {
	echo "not ok all of them came to an end: $(tail -n 2 <<<"$out" | tr '\n' ' ')"
	bad=1
}
exit "$bad"
