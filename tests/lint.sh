#!/bin/bash
# suite: check=any test=any timeout=240
# tier: every checker over changed files before each commit, all scripts in test; the whole is a step of soak (lint-deep)
# lint.sh - files that changed since they last passed are clean for every checker (tier check; tools/lint.py says what
# counts as changed), and all scripts are (tier test).
set -u
cd "$(dirname "$0")/.." || exit 1
what=changed
[ "${TIER:-test}" = check ] || what=scripts
out=$(LINT_SECONDS=${LINT_SECONDS:-30} python3 tools/lint.py $what 2>&1)
status=$?
printf '%s\n' "$out" | sed 's/^/# /'
if [ "$status" = 0 ]; then
	echo "ok lint, $what"
else
	echo "not ok lint, $what: $(grep -m 3 -E 'FAILED|error|warning' <<<"$out" | tr '\n' ' ')"
fi
exit "$status"
