#!/bin/bash
# suite: check=any timeout=120
# tier: lint of what changed, before each commit; soak runs the whole of it as a step of its own (make lint-deep)
# lint.sh - what changed since it last passed is clean for every checker; tools/lint.py says what counts as changed.
set -u
cd "$(dirname "$0")/.." || exit 1
out=$(LINT_SECONDS=${LINT_SECONDS:-30} python3 tools/lint.py changed 2>&1)
status=$?
printf '%s\n' "$out" | sed 's/^/# /'
if [ "$status" = 0 ]; then
	echo 'ok lint of what changed'
else
	echo "not ok lint of what changed: $(grep -m 3 -E 'FAILED|error|warning' <<<"$out" | tr '\n' ' ')"
fi
exit "$status"
