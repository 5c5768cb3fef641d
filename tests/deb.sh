#!/bin/bash
# suite: test=any soak=any timeout=300
# tier: it needs what was built just now, which whoever started the run has
# deb.sh - the package holds what it should, where it should, and can be taken apart again.
set -u
cd "$(dirname "$0")/.." || exit 1
command -v dpkg-deb >/dev/null || {
	echo 'skip the Debian package: no dpkg-deb on this machine'
	exit 0
}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
bad=0
report() {
	if [ "$1" = 0 ]; then echo "ok $2"; else
		echo "not ok $2: $3"
		bad=1
	fi
}

out=$(sh packaging/deb.sh out/release "$(cat VERSION)" 2>&1)
report $? 'the package is built' "$out"
package=$(tail -n 1 <<<"$out")
dpkg-deb -x "$package" "$work/root" && dpkg-deb -e "$package" "$work/control"
report $? 'it unpacks' 'dpkg-deb refused it'

for path in usr/bin/ostiary usr/libexec/ostiary/ostiary-door etc/apparmor.d/usr.bin.ostiary usr/share/man/man1/ostiary.1.gz \
	usr/share/bash-completion/completions/ostiary usr/share/zsh/vendor-completions/_ostiary \
	usr/share/fish/vendor_completions.d/ostiary.fish usr/share/doc/ostiary/copyright; do
	[ -s "$work/root/$path" ]
	report $? "it holds /$path" 'the file is missing or empty'
done

list=$(dpkg-deb -c "$package")
! awk '{print $1}' <<<"$list" | grep -q '[sStT]'
report $? 'nothing in it is setuid, setgid or sticky' "$list"
! awk '{print $2}' <<<"$list" | grep -qv '^root/root$'
report $? 'everything in it belongs to root' "$list"
! awk '{print $1}' <<<"$list" | grep -qE '^.....w|^........w'
report $? 'nothing in it is writable by others' "$list"
! grep -qaE "OSTIARY_(WEAKEN|SCALE)" "$work/root/usr/bin/ostiary" "$work/root/usr/libexec/ostiary/ostiary-door"
report $? 'the packaged programs have no switch to weaken walls' 'OSTIARY_WEAKEN or OSTIARY_SCALE is in one of them'
if [ -x out/weak/ostiary ]; then
	grep -qa OSTIARY_WEAKEN out/weak/ostiary && grep -qa OSTIARY_WEAKEN out/weak/ostiary-door &&
		grep -qa OSTIARY_SCALE out/weak/ostiary && grep -qa OSTIARY_SCALE out/weak/ostiary-door
	report $? 'the weak build does have it (control)' 'the word is not in out/weak either'
fi
"$work/root/usr/bin/ostiary" version >"$work/version" 2>&1
report $? 'the packaged program runs' "$(cat "$work/version")"
grep -qx /etc/apparmor.d/usr.bin.ostiary "$work/control/conffiles"
report $? 'the profile is a conffile' "$(cat "$work/control/conffiles")"
sh -n "$work/control/postinst" && sh -n "$work/control/postrm"
report $? 'the maintainer scripts parse' 'sh -n refused one'
"$work/control/postinst" abort-upgrade && "$work/control/postrm" upgrade
report $? 'the maintainer scripts do nothing when there is nothing to do' "status $?"

if command -v apparmor_parser >/dev/null && [ -e /etc/apparmor.d/abi/4.0 ]; then
	apparmor_parser --skip-kernel-load --skip-cache "$work/root/etc/apparmor.d/usr.bin.ostiary" 2>"$work/aa"
	report $? 'apparmor_parser reads the profile' "$(cat "$work/aa")"
else
	echo 'skip apparmor_parser reads the profile: there is no AppArmor 4 on this machine'
fi
if command -v lintian >/dev/null; then
	lintian --fail-on error --suppress-tags statically-linked-binary,embedded-library "$package" >"$work/lintian" 2>&1
	report $? 'lintian finds no error' "$(head -n 5 "$work/lintian" | tr '\n' ' ')"
fi
exit $bad
