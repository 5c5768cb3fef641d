#!/bin/bash
# suite: test=root timeout=1200
# tier: in test, the three worlds of control groups with real boxes on Debian's own kernel, in one boot; soak gives
# tier: each a machine of its own (cgroup_v1, cgroup_v2, systemd). As root: only root can build the disk.
#
# fresh.sh - a fresh Debian: limits on cgroup v1, then on bare cgroup v2, then under systemd, which takes over from
# the shell that was pid 1. The machine without Landlock is lesser.sh: it wants another kernel line, so another boot.
. "$(dirname "$0")/lib-suite.sh"
vm_suite guest-cgroup1 guest-cgroup --systemd guest-systemd -- --timeout 1150
