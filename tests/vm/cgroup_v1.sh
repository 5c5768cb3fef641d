#!/bin/bash
# suite: soak=root timeout=1300
# tier: fresh.sh has the same checks in test; here they have a machine of their own, with two processors.
#
# cgroup_v1.sh - limits where cgroup v1 has all controllers in one tree, as some machines do: one group
# must hold them all, since a second one would take the box out of the first.
. "$(dirname "$0")/lib-suite.sh"
vm_suite guest-cgroup1 -- --timeout 1200
