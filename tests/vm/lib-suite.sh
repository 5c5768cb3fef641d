# shellcheck shell=bash
# lib-suite.sh - what the suites in this directory share: pack the programs, boot, pass the lines on.
#
# Sourced by *.sh here. vm_suite GUEST_SCRIPT [lib-boot.sh's flags]: runs GUEST_SCRIPT as root in the fresh
# machine with the release build of ostiary and of the cgroup test in its path. Its `ok`, `not ok` and `skip`
# lines are the suite's. The sanitizer build is left out: its libraries are not on that machine.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$(cd "$here/../.." && pwd)

vm_suite() { # guest script, flags of lib-boot.sh
	local script=$1 job status name
	shift
	name=$(basename "$0" .sh)
	if [ "${VARIANT:-release}" = asan ]; then
		echo "skip vm_$name: the fresh machine has no sanitizer libraries"
		exit 0
	fi
	job=$(mktemp -d) || exit 1
	# shellcheck disable=SC2064
	trap "rm -rf '$job'" EXIT
	cp "$here/$script" "$job/run"
	cp "$here/guest-lib" "$job/"
	for program in out/release/ostiary out/release/unit/cgroup_test; do
		[ -x "$top/$program" ] && install -m 755 "$top/$program" "$job/"
	done
	"$here/lib-boot.sh" "$@" "$job"
	status=$?
	case $status in
	0 | 1) ;; # 1: a test failed and has said so
	123) echo "skip vm_$name: the fresh machine cannot be built here, see the line above" ;;
	*) echo "not ok vm_$name: the fresh machine ended with status $status" ;;
	esac
	[ $status = 0 ] || [ $status = 123 ]
}
