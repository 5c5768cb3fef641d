#!/bin/sh
# deb.sh - make a Debian package of what was built; called by `make deb` as deb.sh FOLDER VERSION.
#
# Uses dpkg-deb alone. ostiary is static; the libraries of ostiary-door are looked up on the machine that
# builds. The package is out/ostiary_VERSION_ARCH.deb. It installs no service, no setuid file and no user.
set -eu
built=$1 version=$2
arch=$(dpkg --print-architecture)
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
chmod 755 "$root"

put() { install -D -m "$1" "$2" "$root/$3"; }

put 755 "$built/ostiary" usr/bin/ostiary
put 755 "$built/ostiary-door" usr/libexec/ostiary/ostiary-door
strip --strip-unneeded "$root/usr/bin/ostiary" "$root/usr/libexec/ostiary/ostiary-door"
# Each library's package, in at least the version that it was built against.
depends=$(ldd "$built/ostiary-door" | awk '$3 ~ "^/" { print $3 }' | while read -r library; do
	dpkg -S "$library" "/usr$library" 2>/dev/null | cut -d: -f1
done | sort -u | while read -r package; do
	printf '%s (>= %s)\n' "$package" "$(dpkg-query -W -f '${Version}' "$package" | sed 's/^\(\([0-9]*:\)\?[0-9]*\.[0-9]*\).*/\1/')"
done | paste -sd, | sed 's/,/, /g')
put 644 packaging/apparmor.ostiary etc/apparmor.d/usr.bin.ostiary
put 644 completions/ostiary.bash usr/share/bash-completion/completions/ostiary
put 644 completions/ostiary.zsh usr/share/zsh/vendor-completions/_ostiary
put 644 completions/ostiary.fish usr/share/fish/vendor_completions.d/ostiary.fish
for page in README.md DESIGN.md SPECIFICATION.md CONTRIBUTING.md LICENSE docs/*.md docs/rooms/*.md; do
	[ "$page" = docs/NEXT.md ] || put 644 "$page" "usr/share/doc/ostiary/$page"
done
put 644 packaging/copyright usr/share/doc/ostiary/copyright
mkdir -p "$root/usr/share/man/man1"
gzip -9nc man/ostiary.1 >"$root/usr/share/man/man1/ostiary.1.gz"
{
	echo "ostiary ($version) unstable; urgency=medium"
	echo
	echo "  * See SPECIFICATION.md for what this version promises."
	echo
	echo " -- The Ostiary project <ostiary@example.org>  $(date -R -d "@${SOURCE_DATE_EPOCH:-$(stat -c %Y VERSION)}")"
} | gzip -9nc >"$root/usr/share/doc/ostiary/changelog.gz"

mkdir -p "$root/DEBIAN"
sed "s/@VERSION@/$version/; s/@ARCH@/$arch/; s/@SIZE@/$(du -sk "$root" | cut -f1)/; s/@DEPENDS@/$depends/" \
	packaging/control >"$root/DEBIAN/control"
echo /etc/apparmor.d/usr.bin.ostiary >"$root/DEBIAN/conffiles"
install -m 755 packaging/postinst packaging/postrm "$root/DEBIAN/"
(cd "$root" && find etc usr -type f ! -path 'etc/*' -exec md5sum {} +) >"$root/DEBIAN/md5sums"
chmod 644 "$root/DEBIAN/control" "$root/DEBIAN/conffiles" "$root/DEBIAN/md5sums"
find "$root" -type d -exec chmod 755 {} +

mkdir -p out
package=out/ostiary_${version}_$arch.deb
dpkg-deb --root-owner-group -Zxz --build "$root" "$package" >/dev/null
echo "$package"
