#!/bin/bash
# lib-boot.sh - run a script in a fresh Debian machine: qemu without KVM, no network, nothing shared.
#
# lib-boot.sh [--systemd] [--timeout S] [--memory M] JOB_DIR: boots, copies JOB_DIR to /job inside, runs
# /job/run as root there with its output here, and ends with the status of /job/run. Without --systemd
# a few lines of shell are pid 1 and cgroup v2 is mounted bare; with it systemd boots as on a laptop.
# 123: the machine cannot be built here (reason on the last line); 124: it did not end in time.
# The kernel's own messages go to out/vm/console.log.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$(cd "$here/../.." && pwd)
# shellcheck source=tests/vm/lib-image.sh
. "$here/lib-image.sh"

limit=120 memory=1024 systemd=''
while [ $# -gt 1 ]; do
	case $1 in
	--systemd) systemd=vm.systemd shift=1 ;;
	--timeout) limit=$2 shift=2 ;;
	--memory) memory=$2 shift=2 ;;
	*) echo "lib-boot.sh: what is $1?" >&2; exit 64 ;;
	esac
	shift "$shift"
done
job=${1:?a directory with a program named run}
cache=${OSTIARY_VM_CACHE:-$top/out/vm}

if ! vm_image "$cache"; then
	echo "${vm_why:-no room for the disk of the fresh machine}"
	exit 123
fi

work=$(mktemp -d "${TMPDIR:-/tmp}/ostiary-vm.XXXXXX") || exit 125
trap 'rm -rf "$work"' EXIT
mkdir "$work/job"
cp -a "$job/." "$work/job/"
cp "$here/guest-init" "$work/job/vm-init"
cp "$here/guest-run" "$work/job/vm-run"
cat >"$work/job/vm-job.service" <<-'UNIT'
	[Unit]
	Description=the job of this machine
	After=dbus.service systemd-logind.service systemd-user-sessions.service
	[Service]
	Type=oneshot
	ExecStart=/job/vm-run
	StandardOutput=null
	StandardError=null
UNIT
chmod 755 "$work/job/vm-init" "$work/job/vm-run" "$work/job/run"
(cd "$work" && find job | cpio -o -H newc --quiet -R 0:0) >"$work/job.cpio"
# The kernel unpacks archives that follow each other; each must start at a multiple of four.
cp "$cache/initrd" "$work/initrd"
truncate -s %4 "$work/initrd"
cat "$work/job.cpio" >>"$work/initrd"
rm -rf "$work/job" "$work/job.cpio"

: >"$work/output"
TMPDIR=$work timeout -k 5 "$limit" qemu-system-x86_64 -accel tcg,thread=multi -cpu max -smp 2 \
	-m "$memory" -machine q35 -nodefaults -no-user-config -no-reboot -display none -nic none \
	-kernel "$cache/vmlinuz" -initrd "$work/initrd" \
	-append "console=ttyS0 quiet loglevel=4 panic=-1 cryptomgr.notests random.trust_cpu=on mitigations=off $systemd systemd.show_status=0 ${OSTIARY_VM_APPEND:-}" \
	-drive "file=$cache/root.ext4,if=virtio,format=raw,snapshot=on" \
	-serial "file:$cache/console.log" -serial "file:$work/output" </dev/null &
qemu=$!
trap 'kill $qemu 2>/dev/null; rm -rf "$work"' EXIT INT TERM

# Show lines as they come; the last one carries the status.
status=''
while IFS= read -r line; do
	case $line in
	'VM-EXIT '*) status=${line#VM-EXIT } && break ;;
	*) printf '%s\n' "$line" ;;
	esac
done < <(tail -n +1 -f --pid=$qemu "$work/output" 2>/dev/null | tr -d '\r')
wait $qemu
ended=$?
trap 'rm -rf "$work"' EXIT
if [ -z "$status" ]; then
	[ $ended = 124 ] && { echo "the fresh machine did not end within $limit s"; exit 124; }
	echo "the fresh machine ended without a result; the end of $cache/console.log:"
	tail -n 5 "$cache/console.log"
	exit 125
fi
exit "$status"
