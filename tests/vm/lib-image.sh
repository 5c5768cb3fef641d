# shellcheck shell=bash
# lib-image.sh - the disk of the fresh machine: Debian's cloud kernel and a small Debian with systemd.
#
# Sourced by lib-boot.sh. vm_image DIR makes DIR/{vmlinuz,initrd,root.ext4} once (about 40 s, from the
# machine's own apt sources) and finds them there the next time; who comes meanwhile waits. Prints on stderr only; on
# failure leaves the reason in vm_why and nothing half-made in DIR. Needs root. Never touches the host's system.

vm_stamp=4 # raise it when something below changes what is on the disk
vm_packages=systemd,systemd-sysv,dbus,dbus-user-session,libpam-systemd,procps,util-linux,kmod,git,python3-minimal
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
# second archive, so this one is built once.
vm_make_initrd() { # directory
	local dir=$1/initrd.d modules name
	modules=$(echo "$1"/kernel/lib/modules/*/kernel)
	mkdir -p "$dir"/{bin,dev,proc,root,m,job}
	cp "$(command -v busybox)" "$dir/bin/busybox"
	for name in drivers/virtio/virtio drivers/virtio/virtio_ring drivers/virtio/virtio_pci_modern_dev \
		drivers/virtio/virtio_pci_legacy_dev drivers/virtio/virtio_pci drivers/block/virtio_blk; do
		cp "$modules/$name.ko" "$dir/m/" || return 1
	done
	cat >"$dir/init" <<-'INIT'
		#!/bin/busybox sh
		B=/bin/busybox
		$B mount -t devtmpfs dev /dev
		$B mount -t proc proc /proc
		for m in virtio virtio_ring virtio_pci_modern_dev virtio_pci_legacy_dev virtio_pci virtio_blk; do
			$B insmod /m/$m.ko
		done
		n=0
		until [ -b /dev/vda ] || [ $n -gt 50 ]; do $B sleep 0.1; n=$((n + 1)); done
		$B mount -t ext4 /dev/vda /root || { echo 'the disk does not mount' >/dev/ttyS1; $B poweroff -f; }
		$B cp -a /job /root/
		init=/job/vm-init
		if $B grep -q vm.systemd /proc/cmdline; then
			init=/sbin/init wants=/root/etc/systemd/system/multi-user.target.wants
			$B mkdir -p $wants
			$B cp /job/vm-job.service $wants/../
			$B ln -s ../vm-job.service $wants/
		fi
		$B umount /proc
		$B mount -o move /dev /root/dev
		exec $B switch_root /root $init
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
	: >"$root/etc/machine-id"
	echo fresh >"$root/etc/hostname"
	mke2fs -q -t ext4 -O ^has_journal -m 0 -d "$root" "$1/root.ext4" 900M >/dev/null
}

vm_image() { # directory
	local dir=$1 tool build
	[ "$(cat "$dir/stamp" 2>/dev/null)" = "$vm_stamp" ] && return 0
	tool=$(vm_missing_tool)
	[ -z "$tool" ] || { vm_why="$tool is not installed"; return 1; }
	[ "$(id -u)" = 0 ] || { vm_why='building the disk of the fresh machine needs root'; return 1; }
	mkdir -p "$dir"
	local lock
	exec {lock}>"$dir/lock"
	flock "$lock"
	[ "$(cat "$dir/stamp" 2>/dev/null)" = "$vm_stamp" ] && exec {lock}>&- && return 0
	build=$(mktemp -d "$dir/build.XXXXXX") || return 1
	if ! vm_get_kernel "$build"; then
		vm_why='the package of the cloud kernel cannot be downloaded'
	elif ! vm_make_initrd "$build" || ! vm_make_root "$build"; then
		vm_why='the disk of the fresh machine cannot be built from the apt sources'
	else
		mv "$build"/kernel/boot/vmlinuz-* "$dir/vmlinuz"
		mv "$build/initrd" "$build/root.ext4" "$dir/"
		echo "$vm_stamp" >"$dir/stamp"
	fi
	rm -rf --one-file-system "$build"
	exec {lock}>&-
	[ -z "$vm_why" ]
}
