# lib_tier.sh - how much a suite does in the tier that runs it.
#
# Sourced by suites whose random search or repetition is short in `make test` and long in `make soak`. TIER is set by
# the runner (tools/test.py): check, test or soak; a suite that is started by hand does what `make test` does.
# shellcheck shell=bash

# by_tier SHORT LONG: print LONG in soak, SHORT elsewhere.
by_tier() {
	if [ "${TIER:-test}" = soak ]; then echo "$2"; else echo "$1"; fi
}
