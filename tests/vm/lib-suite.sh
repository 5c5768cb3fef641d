# shellcheck shell=bash
# lib-suite.sh - what the suites in this directory share: pack the programs, boot, pass the lines on.
#
# Sourced by *.sh here. vm_suite [--systemd] GUEST_SCRIPT... [-- lib-boot.sh's flags]: runs the scripts one
# after the other as root in one fresh machine, with the release build of ostiary and of the cgroup test in its
# path; those after --systemd when systemd has booted there. Their `ok`, `not ok` and `skip` lines are the suite's.
# The sanitizer build is left out: its libraries are not on that machine.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$(cd "$here/../.." && pwd)

vm_suite() {
	local job status name list=bare
	name=$(basename "$0" .sh)
	if [ "${VARIANT:-release}" = asan ]; then
		echo "skip vm_$name: the fresh machine has no sanitizer libraries"
		exit 0
	fi
	job=$(mktemp -d "${TMPDIR:-$HOME}/vm-job.XXXXXX") || exit 1
	# shellcheck disable=SC2064
	trap "rm -rf '$job'" EXIT
	trap 'exit 143' INT TERM
	while [ $# -gt 0 ]; do
		case $1 in
		--) shift && break ;;
		--systemd) list=systemd ;;
		*)
			install -m 755 "$here/$1" "$job/"
			echo "$1" >>"$job/$list"
			;;
		esac
		shift
	done
	cp "$here/guest-lib" "$job/"
	echo "${TIER:-test}" >"$job/tier"
	for program in out/release/ostiary out/release/unit/cgroup_test; do
		[ -x "$top/$program" ] || { echo "not ok vm_$name: there is no $program"; exit 1; }
		install -m 755 -s "$top/$program" "$job/"
	done
	# Killed as we may be, the machine must not outlive us.
	setpriv --pdeathsig TERM "$here/lib-boot.sh" --name "$name" "$@" "$job" &
	wait $! # so that a signal is heard at once
	status=$?
	case $status in
	0 | 1) ;; # 1: a test failed and has said so
	123) exit 0 ;; # cannot be had here, and has said so
	*) echo "not ok vm_$name: the fresh machine ended with status $status" ;;
	esac
	exit $status
}
