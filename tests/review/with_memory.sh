#!/bin/bash
# with_memory.sh - run a command that must do with so much memory: with_memory.sh KIB COMMAND...
#
# The bound is on addresses. A sanitizer reserves terabytes of those, so in its build the bound is on what is in use,
# which is several times as much there, and the sanitizer ends a process that goes beyond it.
set -u
kib=$1
shift
if [ "${VARIANT:-release}" = asan ]; then
	ASAN_OPTIONS=${ASAN_OPTIONS:-}:quarantine_size_mb=1:hard_rss_limit_mb=$((kib / 1024 * 3))
	export ASAN_OPTIONS
else
	ulimit -v "$kib" || exit 125
fi
exec "$@"
