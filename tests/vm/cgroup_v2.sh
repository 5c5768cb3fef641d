#!/bin/bash
# suite: soak=root timeout=1900
# tier: fresh.sh has the same checks in test; here they have a machine of their own, with two processors.
#
# cgroup_v2.sh - limits on bare cgroup v2, for real: as root, as a user with and without delegation, and
# what the program says on a machine whose user namespaces are off. guest-cgroup is what runs inside.
. "$(dirname "$0")/lib-suite.sh"
vm_suite guest-cgroup -- --timeout 1800
