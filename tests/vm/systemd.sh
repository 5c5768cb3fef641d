#!/bin/bash
# suite: soak=root timeout=1900
# tier: fresh.sh has the same checks in test; here they have a machine of their own, with two processors.
#
# systemd.sh - limits where systemd looks after the groups, as on a laptop: a scope of our own for every
# box, asked from the system's or the user's manager. guest-systemd is what runs inside.
. "$(dirname "$0")/lib-suite.sh"
vm_suite --systemd guest-systemd -- --timeout 1800
