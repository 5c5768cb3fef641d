#!/bin/bash
# soak.sh - everything the long way, for a night; called by `make soak`.
#
# Each step runs whatever the one before said, and the end is a table: what each step said last and how long it took.
# Words that are given (make soak T=NAME) run only those suites, in the tier soak.
set -u
cd "$(dirname "$0")/.." || exit 1
mkdir -p out/soak
failed=0 passed=0 table='' skips=''

step() { # name, command...
	local name=$1 begin=$SECONDS log status last
	shift
	log=out/soak/${name// /-}.log
	printf '\n=== %s\n' "$name"
	"$@" 2>&1 | tee "$log"
	status=${PIPESTATUS[0]}
	last=$(grep -av '^ *$' "$log" | tail -n 1)
	table+=$(printf '  %-16s %6d s  %-7s %s' "$name" $((SECONDS - begin)) "$([ "$status" = 0 ] && echo ok || echo FAILED)" "$last")$'\n'
	skips+=$(sed -n '/^Skipped:$/,/^$/p' "$log" | sed "1s/.*/  $name:/;/^$/d")$'\n'
	if [ "$status" = 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
}

if [ $# -gt 0 ]; then
	exec make --no-print-directory soak-suites T="$*"
fi
step 'suites' make --no-print-directory soak-suites
step 'sanitizers' make --no-print-directory asan TIER=soak
step 'lint' make --no-print-directory lint-deep
printf '\nSkipped:\n%s\nSteps:\n%s\n%s s in all\n' "$skips" "$table" "$SECONDS"
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]
