#!/bin/bash
# suite: users=root timeout=1900
# systemd.sh - limits where systemd looks after the groups, as on a laptop: a scope of our own for every
# box, asked from the system's or the user's manager. guest-systemd is what runs inside.
. "$(dirname "$0")/lib-suite.sh"
vm_suite guest-systemd --systemd --timeout 1800
