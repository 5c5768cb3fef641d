#!/bin/bash
# suite: users=root timeout=1300
# lesser.sh - what the program says on a machine that lacks something for good: a kernel started without
# Landlock and without the memory controller. guest-lesser is what runs inside.
. "$(dirname "$0")/lib-suite.sh"
export OSTIARY_VM_APPEND='lsm=yama cgroup_disable=memory'
vm_suite guest-lesser --timeout 1200
