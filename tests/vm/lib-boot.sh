#!/bin/bash
# lib-boot.sh - run scripts in a fresh Debian machine: qemu, no network, nothing shared.
#
# lib-boot.sh [--timeout S] [--name NAME] JOB_DIR: boots, copies JOB_DIR to /job inside and runs there, as root and
# with their output here, the scripts of JOB_DIR that JOB_DIR/bare names, one a line: a few lines of shell are pid 1
# then and cgroup v2 is mounted bare; then those that JOB_DIR/systemd names, when systemd has booted as on a laptop.
# Ends with the worst status of them. 123: the machine cannot be had here (the last line is a `skip`); 124: it did
# not end in time. The kernel's own messages go to NAME.log beside the disk.
# By emulation, unless KVM was seen to start a kernel. In `make test` the machine has one processor of the simplest
# kind, which is a third cheaper to emulate; in soak two of the richest.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$(cd "$here/../.." && pwd)
# shellcheck source=tests/vm/lib-image.sh
. "$here/lib-image.sh"

# shellcheck source=tests/lib_tier.sh
. "$here/../lib_tier.sh"

limit=120 name=vm
while [ $# -gt 1 ]; do
	case $1 in
	--timeout) limit=$2 ;;
	--name) name=$2 ;;
	*) echo "lib-boot.sh: what is $1?" >&2; exit 64 ;;
	esac
	shift 2
done
job=${1:?a directory with scripts and their list}
cache=${SUITE_CACHE:-$top/out}/vm

vm_image "$cache"
case $? in
0) ;;
2) echo "skip vm: $vm_why"; exit 123 ;;
*) echo "not ok vm_image: ${vm_why:-the disk of the fresh machine cannot be built}"; exit 125 ;;
esac
if vm_has_kvm "$cache"; then
	cpu=(-accel kvm -cpu max -smp 2)
else
	mapfile -t cpu < <(by_tier '-accel tcg -cpu qemu64,+rdrand -smp 1' '-accel tcg,thread=multi -cpu max -smp 2' | tr ' ' '\n')
fi

qemu=''
work=$(mktemp -d "${TMPDIR:-$HOME}/vm.XXXXXX") || exit 125
trap '[ -z "$qemu" ] || kill $qemu 2>/dev/null; rm -rf "$work"' EXIT
trap 'exit 143' INT TERM
mkdir "$work/job"
cp -a "$job/." "$work/job/"
touch "$work/job/bare" "$work/job/systemd"
cp "$here/guest-init" "$work/job/vm-init"
cp "$here/guest-run" "$work/job/vm-run"
cat >"$work/job/vm-job.service" <<-UNIT
	[Unit]
	Description=the job of this machine
	After=dbus.service systemd-logind.service systemd-user-sessions.service
	[Service]
	Type=oneshot
	ExecStart=/job/vm-run $(tr '\n' ' ' <"$work/job/systemd") --off
	TimeoutStartSec=infinity
	StandardOutput=null
	StandardError=null
UNIT
chmod 755 "$work/job/vm-init" "$work/job/vm-run"
(cd "$work" && find job | cpio -o -H newc --quiet -R 0:0) >"$work/job.cpio"
# The kernel unpacks archives that follow each other; each must start at a multiple of four.
cp "$cache/initrd" "$work/initrd"
truncate -s %4 "$work/initrd"
cat "$work/job.cpio" >>"$work/initrd"
rm -rf "$work/job" "$work/job.cpio"

: >"$work/output"
# In the process group of the suite, and dying with whoever started it: nothing that ends us leaves a machine.
TMPDIR=$work setpriv --pdeathsig TERM timeout --foreground -k 5 "$limit" \
	setpriv --pdeathsig KILL qemu-system-x86_64 "${cpu[@]}" \
	-m 1024 -machine q35 -nodefaults -no-user-config -no-reboot -display none -nic none \
	-kernel "$cache/vmlinuz" -initrd "$work/initrd" \
	-append "console=ttyS0 quiet loglevel=4 oops=panic panic=-1 cryptomgr.notests random.trust_cpu=on mitigations=off systemd.show_status=0 ${OSTIARY_VM_APPEND:-}" \
	-drive "file=$cache/root.ext4,if=virtio,format=raw,snapshot=on" \
	-serial "file:$cache/$name.log" -serial "file:$work/output" </dev/null &
qemu=$!

# Show lines as they come; the last one carries the status.
status=''
while IFS= read -r line; do
	case $line in
	'VM-EXIT '*) status=${line#VM-EXIT } && break ;;
	*) printf '%s\n' "$line" ;;
	esac
done < <(tail -n +1 -f --pid=$qemu "$work/output" 2>/dev/null | stdbuf -oL tr -d '\r')
wait $qemu
ended=$?
qemu=''
if [ -z "$status" ]; then
	[ $ended = 124 ] && { echo "the fresh machine did not end within $limit s"; exit 124; }
	echo "the fresh machine ended without a result; the end of $cache/$name.log:"
	tail -n 5 "$cache/$name.log"
	exit 125
fi
exit "$status"
