# lib_tier.sh - how much a suite does in the tier that runs it.
#
# Sourced by suites whose random search or repetition is short in `make test` and long in `make soak`. TIER is set by
# the runner (tools/test.py): check, test or soak; a suite that is started by hand does what `make test` does.
# shellcheck shell=bash

# is_soak: may this use what only the long run installs (0.9 GB of it: a browser, three more agents)?
is_soak() { [ "${TIER:-test}" = soak ]; }

# by_tier SHORT LONG: print LONG in soak, SHORT elsewhere.
by_tier() {
	if [ "${TIER:-test}" = soak ]; then echo "$2"; else echo "$1"; fi
}
