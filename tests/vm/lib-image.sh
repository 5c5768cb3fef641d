# shellcheck shell=bash
# lib-image.sh - the disk of the fresh machine: Debian's cloud kernel and a small Debian with systemd.
#
# Sourced by lib-boot.sh, and run by tools/setup.sh as lib-image.sh DIR, so that no suite waits for it. vm_image DIR
# makes DIR/{vmlinuz,initrd,root.ext4} once (about 40 s, from the machine's own apt sources) and finds them there
# the next time; who comes meanwhile waits. Prints on stderr only; on failure leaves the reason in vm_why and nothing
# half-made in DIR, and returns 2 where it cannot be had here, 1 where it can and something broke. Needs root. Never
# touches the host's system.

vm_stamp=7 # raise it when something below changes what is on the disk
vm_packages=systemd,systemd-sysv,dbus,dbus-user-session,libpam-systemd,procps,util-linux,kmod
vm_why=''

vm_missing_tool() {
	local tool
	for tool in qemu-system-x86_64 busybox cpio mmdebstrap mke2fs dpkg-deb apt-get; do
		PATH=$PATH:/usr/sbin:/sbin command -v "$tool" >/dev/null || { echo "$tool"; return; }
	done
}

# The kernel comes from its package without being installed: the host's boot files are not ours.
vm_get_kernel() { # directory
	local name
	name=$(apt-cache depends linux-image-cloud-amd64 2>/dev/null | sed -n 's/.*Depends: \(linux-image-6[^ ]*\).*/\1/p' | head -n 1)
	if [ -z "$name" ]; then
		apt-get -qq update >&2
		name=$(apt-cache depends linux-image-cloud-amd64 2>/dev/null | sed -n 's/.*Depends: \(linux-image-6[^ ]*\).*/\1/p' | head -n 1)
	fi
	[ -n "$name" ] || return 1
	(cd "$1" && apt-get -qq -o APT::Sandbox::User=root download "$name" >&2) || return 1
	mkdir "$1/kernel"
	dpkg-deb -x "$1"/linux-image-*.deb "$1/kernel"
}

# First file system: enough to find the disk and go on there. The job is appended at boot time as a
# second archive, so this one is built once. Which modules a disk needs, and in which order, changes
# with the kernel: modprobe of the finished root says it.
vm_make_initrd() { # directory, after vm_make_root
	local dir=$1/initrd.d version module path
	version=$(basename "$1"/kernel/lib/modules/*)
	mkdir -p "$dir"/{bin,dev,proc,root,m,job}
	cp "$(command -v busybox)" "$dir/bin/busybox"
	for module in virtio_pci virtio_blk; do
		chroot "$1/root.d" modprobe -S "$version" --show-depends "$module" || return 1
	done | sed -n 's/^insmod \([^ ]*\).*/\1/p' | awk '!seen[$0]++' >"$1/modules"
	[ -s "$1/modules" ] || return 1
	while read -r path; do
		cp "$1/root.d$path" "$dir/m/" || return 1
	done <"$1/modules"
	sed 's,.*/,,' "$1/modules" >"$dir/m/order"
	cat >"$dir/init" <<-'INIT'
		#!/bin/busybox sh
		B=/bin/busybox
		$B mount -t devtmpfs dev /dev
		$B mount -t proc proc /proc
		while read -r m; do
			$B insmod "/m/$m"
		done </m/order
		n=0
		until [ -b /dev/vda ] || [ $n -gt 50 ]; do $B sleep 0.1; n=$((n + 1)); done
		$B mount -t ext4 /dev/vda /root || { echo 'the disk does not mount' >/dev/ttyS1; $B poweroff -f; }
		$B cp -a /job /root/
		$B umount /proc
		$B mount -o move /dev /root/dev
		exec $B switch_root /root /job/vm-init
	INIT
	chmod 755 "$dir/init"
	(cd "$dir" && find . | cpio -o -H newc --quiet) >"$1/initrd"
}

# The disk: a minimal Debian, the kernel's modules, one ordinary user.
vm_make_root() { # directory
	local root=$1/root.d version
	version=$(basename "$1"/kernel/lib/modules/*)
	mmdebstrap --quiet --mode=root --variant=minbase --include="$vm_packages" \
		"$(. /etc/os-release && echo "${VERSION_CODENAME:-bookworm}")" "$root" >&2 || return 1
	mkdir -p "$root/usr/lib/modules/$version/kernel"
	cp -a "$1/kernel/lib/modules/$version/." "$root/usr/lib/modules/$version/"
	chroot "$root" depmod "$version" || return 1
	chroot "$root" useradd -u 1000 -m -s /bin/bash user || return 1
	rm -rf "$root"/var/lib/apt/lists/* "$root"/usr/share/{doc,man,locale}/*
	# A machine that has booted before: nothing of its first boot is left to do, and no timer comes in between.
	echo 0123456789abcdef0123456789abcdef >"$root/etc/machine-id"
	touch "$root/etc/.updated" "$root/var/.updated"
	find "$root/etc/systemd/system" "$root/usr/lib/systemd/system" -path '*.wants/*' \
		\( -name '*.timer' -o -name '*getty*' -o -name 'systemd-update-utmp*' -o -name 'remote-fs.target' \
		-o -name 'e2scrub_reap*' -o -name 'kmod-static*' -o -name 'systemd-modules-load*' -o -name 'systemd-random-seed*' \) -delete
	rm -f "$root"/usr/lib/systemd/system-generators/* # they look for disks, consoles and hypervisors
	echo fresh >"$root/etc/hostname"
	mke2fs -q -t ext4 -O ^has_journal -m 0 -d "$root" "$1/root.ext4" 900M >/dev/null
}

vm_image() { # directory
	local dir=$1 tool build lock
	[ "$(cat "$dir/stamp" 2>/dev/null)" = "$vm_stamp" ] && return 0
	[ "$(uname -m)" = x86_64 ] || { vm_why='the fresh machine is an x86_64 one'; return 2; }
	tool=$(vm_missing_tool)
	[ -z "$tool" ] || { vm_why="$tool is not installed"; return 2; }
	[ "$(id -u)" = 0 ] || { vm_why='building the disk needs root'; return 2; }
	mkdir -p "$dir"
	exec {lock}>"$dir/lock"
	flock "$lock"
	[ "$(cat "$dir/stamp" 2>/dev/null)" = "$vm_stamp" ] && exec {lock}>&- && return 0
	rm -rf --one-file-system "$dir"/build.*
	build=$(mktemp -d "$dir/build.XXXXXX") || return 1
	local result=1
	if ! vm_get_kernel "$build"; then
		vm_why='the package of the cloud kernel cannot be downloaded' result=2
	elif ! vm_make_root "$build" || ! vm_make_initrd "$build"; then
		vm_why='the disk of the fresh machine cannot be built from the apt sources'
	else
		mv "$build"/kernel/boot/vmlinuz-* "$dir/vmlinuz"
		mv "$build/initrd" "$build/root.ext4" "$dir/"
		echo "$vm_stamp" >"$dir/stamp"
		result=0
	fi
	rm -rf --one-file-system "$build"
	exec {lock}>&-
	return $result
}

# vm_has_kvm DIR: does KVM start that kernel? There are machines where it is there and starts none. Found out once
# for each boot of this one, by looking at its first line, and kept in DIR/kvm.
vm_has_kvm() {
	local dir=$1 boot kept qemu said end=$((SECONDS + 10))
	[ -w /dev/kvm ] || return 1
	boot=$(cat /proc/sys/kernel/random/boot_id)
	kept=$(cat "$dir/kvm" 2>/dev/null)
	if [ "${kept% *}" != "$boot" ]; then
		kept="$boot no"
		said=$(mktemp "$dir/build.XXXXXX") || return 1
		(ulimit -c 0 && exec setpriv --pdeathsig KILL qemu-system-x86_64 -accel kvm -cpu max -m 256 -machine q35 -nodefaults \
			-no-user-config -no-reboot -display none -kernel "$dir/vmlinuz" -append 'earlyprintk=serial console=ttyS0 panic=-1' \
			-serial "file:$said") </dev/null >/dev/null 2>&1 &
		qemu=$!
		{ # quietly: bash tells of a process that ends by a signal
			while [ $SECONDS -lt $end ] && kill -0 $qemu; do
				grep -qa 'Linux version' "$said" && kept="$boot yes" && break
				sleep 0.1
			done
			kill -9 $qemu
			wait $qemu
		} 2>/dev/null
		rm -f "$said"
		echo "$kept" >"$dir/kvm"
	fi
	[ "$kept" = "$boot yes" ]
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
	dir=${1:?a directory}
	[ "$(cat "$dir/stamp" 2>/dev/null)" = "$vm_stamp" ] ||
		echo "Building the disk of the tests' virtual machine in $dir (a small Debian, from the apt sources)."
	vm_image "$dir" || { status=$?; echo "setup: no virtual machine: $vm_why." >&2; exit $status; }
	vm_has_kvm "$dir"
	exit 0
fi
