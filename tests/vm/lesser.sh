#!/bin/bash
# suite: test=root soak=root timeout=900
# tier: in both; another kernel line wants another boot: 3 s of processor, half of what a kexec in fresh.sh takes.
#
# lesser.sh - what the program says on a machine that lacks something for good: a kernel started without
# Landlock and without the memory controller. guest-lesser is what runs inside.
. "$(dirname "$0")/lib-suite.sh"
export OSTIARY_VM_APPEND='lsm=yama cgroup_disable=memory'
vm_suite guest-lesser -- --timeout 850
