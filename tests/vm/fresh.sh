#!/bin/bash
# suite: test=root timeout=1200
# tier: in test, one boot of Debian's own kernel with real boxes, three worlds in a row, 60 s of processor (98 s as three machines); soak boots one for each.
#
# fresh.sh - a fresh Debian: limits on cgroup v1, then on bare cgroup v2, then under systemd, which takes over from
# the shell that was pid 1. The machine without Landlock is lesser.sh: it wants another kernel line, so another boot.
. "$(dirname "$0")/lib-suite.sh"
vm_suite guest-cgroup1 guest-cgroup --systemd guest-systemd -- --timeout 1150
